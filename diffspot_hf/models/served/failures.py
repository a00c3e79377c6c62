"""What can go wrong with one request, in the terms in which a retry is decided."""

from __future__ import annotations

from typing import Literal

Kind = Literal["status", "unreachable", "cut", "garbled", "timeout"]
_TRANSIENT = frozenset({408, 409, 425, 429})


class Failure(Exception):
    """One request that brought no answer.

    ``status``: the server said no; ``unreachable``: nobody listens; ``cut``: the connection broke off; ``garbled``:
    what came is no chat completion; ``timeout``: nothing came in time. `retry_after` is in seconds, as the server asks.
    """

    def __init__(
        self, kind: Kind, message: str, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind, self.status, self.retry_after = kind, status, retry_after

    @property
    def is_transient(self) -> bool:
        """Whether asking again may help: not where the server understood the request and refused it."""
        return self.status is None or self.status in _TRANSIENT or self.status >= 500

    @property
    def is_about_the_account(self) -> bool:
        """Whether every further request would fail alike because money or quota is used up."""
        return self.status == 402 or (self.status == 429 and "insufficient_quota" in str(self))

    @property
    def is_denial(self) -> bool:
        """Whether the server turned us away: for a wrong key, URL or model's name, or for what this row holds."""
        return self.status in (401, 403, 404)


class Stop(Exception):
    """The run cannot go on now; what was not asked stays to be asked. The message says why."""
