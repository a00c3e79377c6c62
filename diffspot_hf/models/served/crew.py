"""Many requests at once behind an ordinary iterator: an event loop in a thread, stopped when the iterator is closed."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import itertools
import os
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, TypeVar

T = TypeVar("T")
P = TypeVar("P")
R = TypeVar("R")

STOCK = 16
"""Rows that are prepared, or being prepared, for the next free worker; each holds its pictures (our choice)."""
BLOCK = 8
"""Rows at most that change threads at once (our choice): at a thousand rows a second each such change counts."""
QUICK = 0.002
"""Seconds to prepare a row below which it is done where the row is taken, not spread over threads (our choice)."""
GATHER = 0.01
"""Seconds for which results are gathered before they change threads (our choice)."""
_END = object()


class Crew(Generic[T, P, R]):
    """`size` workers that `ask` about `items`, prepared in other threads a little ahead of them.

    `context` is entered in the event loop around all requests. `prepare` and the iteration over `items` run in other
    threads; `wanted` tells whether further items are to be taken. Items are asked about in their order. What `ask`
    returns is given out as it comes; None is left out.
    """

    def __init__(
        self,
        size: int,
        context: AbstractAsyncContextManager[Any],
        prepare: Callable[[T], P],
        ask: Callable[[P], Awaitable[R | None]],
        wanted: Callable[[], bool],
    ) -> None:
        self._size, self._context = size, context
        self._prepare, self._ask, self._wanted = prepare, ask, wanted
        self._slow = False

    def run(self, items: Iterable[T]) -> Iterator[R]:
        """The results in the order in which they come. Closing the iterator cancels what is in flight.

        An error in `items` is raised after what was taken before it is done; one in `ask` cancels the rest.
        """
        results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        problem: list[BaseException] = []
        cancel: queue.SimpleQueue[Callable[[], Any]] = queue.SimpleQueue()

        async def work() -> None:
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            assert task is not None
            cancel.put(lambda: loop.call_soon_threadsafe(task.cancel))
            await self._work(iter(items), results.put)

        def serve() -> None:
            try:
                asyncio.run(work())
            except asyncio.CancelledError:
                pass
            except BaseException as error:
                problem.append(_first(error))
            finally:
                results.put(_END)

        thread = threading.Thread(target=serve, name="diffspot-crew", daemon=True)
        thread.start()
        try:
            while (some := results.get()) is not _END:
                yield from some
        finally:
            with contextlib.suppress(RuntimeError):  # its loop has ended by itself
                cancel.get()()
            thread.join()
        if problem:
            raise problem[0]

    async def _work(self, items: Iterator[T], give: Callable[[list[R]], None]) -> None:
        block = max(1, min(BLOCK, self._size // 4))
        stock: asyncio.Queue[Any] = asyncio.Queue(maxsize=-(-STOCK // block))
        ready: collections.deque[P] = collections.deque()
        gathered: list[R] = []
        unread: list[Exception] = []
        loop, threads = asyncio.get_running_loop(), min(8, os.cpu_count() or 1)
        with (
            ThreadPoolExecutor(1, thread_name_prefix="diffspot-rows") as taker,
            ThreadPoolExecutor(threads, thread_name_prefix="diffspot-encode") as pool,
        ):

            async def feed() -> None:
                """Puts blocks of items in stock in their order, each prepared or being prepared."""
                try:
                    while self._wanted():
                        taken, prepared = await loop.run_in_executor(taker, self._take, items, block)
                        if not taken:
                            break
                        await stock.put(prepared or loop.run_in_executor(pool, self._prepared, taken))
                except Exception as error:
                    unread.append(error)  # raised below, once what is in flight has been answered
                await stock.put(_END)

            async def next_item() -> Any:
                while not ready:
                    prepared = await stock.get()
                    if prepared is _END:
                        stock.put_nowait(_END)  # for the next worker
                        return _END
                    ready.extend(prepared if isinstance(prepared, list) else await prepared)
                return ready.popleft()

            def flush() -> None:
                if gathered:
                    give(gathered.copy())
                    gathered.clear()

            async def work() -> None:
                while (prepared := await next_item()) is not _END:
                    if (result := await self._ask(prepared)) is not None:
                        if not gathered:
                            loop.call_later(GATHER, flush)
                        gathered.append(result)

            try:
                async with self._context, asyncio.TaskGroup() as group:
                    group.create_task(feed())
                    for _ in range(self._size):
                        group.create_task(work())
            finally:
                flush()  # what was answered before an error counts
            if unread:
                raise unread[0]

    def _take(self, items: Iterator[T], count: int) -> tuple[list[T], list[P]]:
        """The next items, and while that is quick also what is prepared of them."""
        taken = list(itertools.islice(items, count))
        return taken, self._prepared(taken) if taken and not self._slow else []

    def _prepared(self, items: list[T]) -> list[P]:
        began = time.perf_counter()
        prepared = [self._prepare(item) for item in items]
        self._slow = (time.perf_counter() - began) / len(items) > QUICK
        return prepared


def _first(error: BaseException) -> BaseException:
    """The error that ended a group of tasks, out of the groups that it was wrapped in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
