"""One row until it is answered: tries, waits, budgets, and a record of every try."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from ...errors import UsageError
from ...types import Attempt, Response
from .failures import Failure, Stop
from .messages import finish_detail, reply_fields

LONGEST_BACKOFF = 30.0
"""Seconds; waits double up to this (our choice)."""
LONGEST_RETRY_AFTER = 600.0
"""Seconds; a server that asks to wait longer ends the session, the run can be continued (our choice)."""
DENIALS = 10
"""Denials in a row, over all requests in flight, after which it is asked whether key and model's name still hold (our
choice)."""


@dataclass
class Budget:
    """What may be spent in one session; None is without limit. `requests` counts every try."""

    max_requests: int | None = None
    max_tokens: int | None = None
    requests: int = 0
    tokens: int = 0

    @property
    def spent(self) -> str | None:
        """Which limit is reached, or None."""
        if self.max_requests is not None and self.requests >= self.max_requests:
            return f"--max-requests {self.max_requests} is used up"
        if self.max_tokens is not None and self.tokens >= self.max_tokens:
            return f"--max-tokens-total {self.max_tokens} is used up ({self.tokens} tokens)"
        return None


@dataclass
class Standing:
    """How a server has dealt with us, over all calls: whether it ever took us in, and denials since it last did."""

    welcome: bool = False
    denied: int = 0

    def admit(self) -> None:
        self.welcome, self.denied = True, 0


@dataclass
class Asker:
    """Asks one row after the other through `chat`, with at most `max_retries` further tries each.

    `probe` is a question that no server minds, encoded as rows are: it tells a wrong key or name from an unwanted row.
    `timeout` and `backoff` (the first wait) are in seconds. `stopped_because` says why rows were left unasked.
    """

    chat: Callable[[Any], Awaitable[Any]]
    route: str
    budget: Budget
    standing: Standing
    probe: Any
    timeout: float
    max_retries: int
    backoff: float = 0.5
    stopped_because: str | None = None
    served_as: set[str] = field(default_factory=set)
    _answered: int = 0
    _not_before: float = 0.0
    _probing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, encoded: Any, blank: Response) -> Response | None:
        """`blank` filled in with the answer, or with the last error; None for a row that was not asked."""
        attempts: list[Attempt] = []
        began = time.monotonic()
        while True:
            await self._pause()
            if self.stopped_because or self.budget.spent:
                self.stopped_because = self.stopped_because or self.budget.spent
                return _failed(blank, attempts, began) if attempts else None
            start = time.monotonic()
            try:
                fields, detail = await self._once(encoded)
            except Failure as failure:
                attempts.append(Attempt(self.route, "error", time.monotonic() - start, str(failure)))
                try:
                    await self._judge(failure, len(attempts))
                except Stop as stop:
                    self.stopped_because = str(stop)
                    return None
                if not failure.is_transient or len(attempts) > self.max_retries:
                    return _failed(blank, attempts, began)
                await asyncio.sleep(self._wait(failure, len(attempts)))
            else:
                self._answered += 1
                self.standing.admit()
                attempts.append(Attempt(self.route, "ok", time.monotonic() - start, detail))
                return _filled(blank, attempts, began, **fields)

    async def _once(self, encoded: Any) -> tuple[dict[str, Any], str]:
        """What the reply gives of a `Response`, and how it ended where that has to be told."""
        self.budget.requests += 1
        try:
            async with asyncio.timeout(self.timeout):
                reply = await self.chat(encoded)
        except TimeoutError as error:
            raise Failure("timeout", f"no reply within {self.timeout:g} s") from error
        fields = reply_fields(reply)
        if name := reply.get("model"):
            self.served_as.add(str(name))
        usage = fields["usage"]
        if self.budget.max_tokens is not None and not usage:
            raise UsageError(
                f"{self.route}: reports no token counts, so --max-tokens-total cannot be kept; leave it out"
            )
        self.budget.tokens += usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
        return fields, finish_detail(reply)

    async def _judge(self, failure: Failure, tries: int) -> None:
        """Raises where it makes no sense to go on to further tries or rows."""
        if failure.kind == "unreachable" and not self._answered:
            raise UsageError(f"{self.route}: {failure}{_advice(failure)}")
        if failure.is_denial:
            await self._judge_denial(failure)
        if failure.is_about_the_account:
            raise Stop(f"{self.route}: {failure}")
        if failure.kind == "unreachable" and tries > self.max_retries:
            raise Stop(f"{self.route}: {failure}, {tries} times")
        if (failure.retry_after or 0) > LONGEST_RETRY_AFTER:
            raise Stop(f"{self.route}: asks to wait {failure.retry_after:.0f} s ({failure})")

    async def _judge_denial(self, failure: Failure) -> None:
        """Raises where the key or the model's name is at fault; returns where it is this row that is not wanted."""
        self.standing.denied += 1
        async with self._probing:  # one asks for all
            if self.stopped_because:
                raise Stop(self.stopped_because)
            if self.standing.welcome and self.standing.denied < DENIALS:
                return
            if not self.budget.spent and await self._is_welcome():
                return self.standing.admit()
            self.stopped_because = f"{self.route}: {failure}{_advice(failure)}"
        raise Stop(self.stopped_because) if self.standing.welcome else UsageError(self.stopped_because)

    async def _is_welcome(self) -> bool:
        try:
            await self._once(self.probe)
        except Failure as failure:
            return not failure.is_denial
        return True

    def _wait(self, failure: Failure, tries: int) -> float:
        """Seconds until the next try: as the server asks, else doubling; spread so that not all come back at once."""
        if failure.retry_after is not None:
            # It is the server that is busy, not this row: nobody asks before then.
            self._not_before = max(self._not_before, time.monotonic() + failure.retry_after)
            return failure.retry_after + random.uniform(0, self.backoff)
        return min(LONGEST_BACKOFF, self.backoff * 2.0 ** (tries - 1)) * random.uniform(0.5, 1.0)

    async def _pause(self) -> None:
        while (left := self._not_before - time.monotonic()) > 0:
            await asyncio.sleep(left)


def _advice(failure: Failure) -> str:
    if failure.kind == "unreachable":
        return "; is the server running?"
    return "; check the URL and the model's name" if failure.status == 404 else "; set DIFFSPOT_API_KEY (or HF_TOKEN)"


def _filled(blank: Response, attempts: list[Attempt], began: float, **fields: Any) -> Response:
    seconds = time.monotonic() - began
    return Response(blank.id, images=blank.images, attempts=tuple(attempts), seconds=seconds, **fields)


def _failed(blank: Response, attempts: list[Attempt], began: float) -> Response:
    return _filled(blank, attempts, began, text="", finish_reason="error", error=attempts[-1].detail)
