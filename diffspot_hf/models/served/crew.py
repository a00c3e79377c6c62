"""Many requests at once behind an ordinary iterator: an event loop in a thread, stopped when the iterator is closed."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import itertools
import os
import queue
import threading
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

    def run(self, items: Iterable[T]) -> Iterator[R]:
        """The results in the order in which they come. Closing the iterator cancels what is in flight.

        An error in `items`, `prepare` or `ask` cancels the rest and is raised.
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
            while (result := results.get()) is not _END:
                yield result
        finally:
            with contextlib.suppress(RuntimeError):  # its loop has ended by itself
                cancel.get()()
            thread.join()
        if problem:
            raise problem[0]

    async def _work(self, items: Iterator[T], give: Callable[[R], None]) -> None:
        block = max(1, min(BLOCK, self._size // 4))
        stock: asyncio.Queue[Any] = asyncio.Queue(maxsize=-(-STOCK // block))
        ready: collections.deque[P] = collections.deque()
        loop, threads = asyncio.get_running_loop(), min(8, (os.cpu_count() or 1) + 1)
        with ThreadPoolExecutor(threads, thread_name_prefix="diffspot-encode") as pool:

            async def feed() -> None:
                """Puts blocks of items in stock in their order, each already being prepared."""
                while self._wanted() and (taken := await loop.run_in_executor(pool, _taken, items, block)):
                    await stock.put(loop.run_in_executor(pool, self._prepared, taken))
                await stock.put(_END)

            async def next_item() -> Any:
                while not ready:
                    prepared = await stock.get()
                    if prepared is _END:
                        stock.put_nowait(_END)  # for the next worker
                        return _END
                    ready.extend(await prepared)
                return ready.popleft()

            async def work() -> None:
                while (prepared := await next_item()) is not _END:
                    if (result := await self._ask(prepared)) is not None:
                        give(result)

            async with self._context, asyncio.TaskGroup() as group:
                group.create_task(feed())
                for _ in range(self._size):
                    group.create_task(work())

    def _prepared(self, items: list[T]) -> list[P]:
        return [self._prepare(item) for item in items]


def _taken(items: Iterator[T], count: int) -> list[T]:
    return list(itertools.islice(items, count))


def _first(error: BaseException) -> BaseException:
    """The error that ended a group of tasks, out of the groups that it was wrapped in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
