"""Workers with a browser each. What they give back comes in the order of what was asked, whoever was faster."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, util
from types import TracebackType
from typing import Any, TypeVar

from ...errors import UsageError
from ..browser import Browser

Task = TypeVar("Task")
Result = TypeVar("Result")

_browser: Browser | None = None


class Crew:
    """`size` browsers; a context manager. With one, everything happens in this process."""

    def __init__(self, size: int, options: dict[str, Any]) -> None:
        self.size = size
        self.options = options
        self._pool: ProcessPoolExecutor | None = None
        self._browser: Browser | None = None

    def __enter__(self) -> Crew:
        self._browser = Browser(**self.options)
        if self.size > 1:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.size, context, _start, (self.options,))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        if self._browser is not None:
            self._browser.close()

    @property
    def browser(self) -> Browser:
        """A browser of this process, for describing it and for a crew of one."""
        assert self._browser is not None
        return self._browser

    def map(self, work: Callable[[Browser, Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        """`work(browser, task)` of each task, in order. Raises what `work` raises."""
        if self._pool is None:
            for task in tasks:
                yield work(self.browser, task)
            return
        try:
            futures = [self._pool.submit(_run, work, task) for task in tasks]
            for future in futures:
                yield future.result()
        except BrokenProcessPool as error:
            raise UsageError("a worker process died (out of memory?); run the same command again to go on") from error


def _start(options: dict[str, Any]) -> None:
    global _browser
    _browser = Browser(**options)
    util.Finalize(None, _browser.close, exitpriority=10)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    """Ends this worker and its browser when the main process is gone; nobody else would."""
    connection.wait([sentinel])
    with contextlib.suppress(Exception):
        if _browser is not None:
            _browser.kill()
    os._exit(1)


def _run(work: Callable[[Browser, Task], Result], task: Task) -> Result:
    assert _browser is not None
    return work(_browser, task)
