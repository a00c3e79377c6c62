"""How many rows go through the model at once, and preparing the next ones while the device is busy."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Generic, TypeVar

from ...errors import UsageError

LARGEST_AUTO = {"cpu": 8}
"""Largest batch that ``auto`` tries on a device type (our choice): a CPU gains little from more."""
LARGEST_AUTO_ELSEWHERE = 64

T = TypeVar("T")
C = TypeVar("C")


class BatchSize:
    """Rows to a batch: fixed, or found by doubling until memory is short or `largest` is reached.

    A found size is kept: after memory ran out at n rows, no later batch is larger than half of n. Rows come with the
    largest pictures first, so what fits once keeps fitting.
    """

    def __init__(self, asked: int | str, largest: int = LARGEST_AUTO_ELSEWHERE) -> None:
        self.auto = asked == "auto"
        if not self.auto and not (isinstance(asked, int) and asked >= 1):
            raise UsageError(f"--batch-size {asked}: give a positive number or auto")
        self.now = 1 if self.auto else int(asked)
        self._limit = largest if self.auto else self.now

    def start(self, rows: int) -> None:
        """``auto`` begins with `rows`, which an earlier session found, as far as they are allowed here."""
        if self.auto:
            self.now = max(1, min(rows, self._limit))

    def worked(self, rows: int) -> None:
        """`rows` rows went through at once; ``auto`` tries twice as many next."""
        if self.auto and rows >= self.now:
            self.now = min(2 * self.now, self._limit)

    def failed(self, rows: int) -> None:
        """Memory was short at `rows` rows. A fixed size stays: only the batch that failed is split."""
        if self.auto:
            self._limit = self.now = max(1, min(self._limit, rows // 2))


def halves(rows: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """The two halves of `rows` in order, the first never the smaller.

    >>> halves("abcde")
    ('abc', 'de')
    """
    middle = (len(rows) + 1) // 2
    return rows[:middle], rows[middle:]


class Ahead(Generic[T, C]):
    """Iterates over ``prepare(batch)`` for batches of `items`, prepared in a thread one step ahead of the consumer.

    `items` is consumed in that thread. `size` gives the length of the next batch at the time it is formed. An error in
    `items` or `prepare` is raised where the consumer would have received that batch. Use it as a context manager:
    leaving it stops the thread.
    """

    _END = object()

    def __init__(self, items: Iterable[T], prepare: Callable[[list[T]], C], size: Callable[[], int]) -> None:
        self._items, self._prepare, self._size = iter(items), prepare, size
        self._ready: queue.Queue[Any] = queue.Queue(maxsize=1)
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="diffspot-prepare", daemon=True)

    def _work(self) -> None:
        try:
            while not self._stop.is_set() and (batch := list(itertools.islice(self._items, self._size()))):
                self._offer(self._prepare(batch))
        except BaseException as error:
            self._error = error
        self._offer(self._END)

    def _offer(self, thing: Any) -> None:
        while not self._stop.is_set():
            try:
                return self._ready.put(thing, timeout=0.2)
            except queue.Full:
                continue

    def __enter__(self) -> Ahead[T, C]:
        self._thread.start()
        return self

    def __iter__(self) -> Iterator[C]:
        while (thing := self._ready.get()) is not self._END:
            yield thing
        if self._error is not None:
            raise self._error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()
