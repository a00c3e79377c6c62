"""How many processes work on this run, and how they wait for each other.

`accelerate launch` and `torchrun` tell each process its place through the environment; a single process needs neither
torch nor accelerate.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from ..errors import RunFailure, UsageError, need

T = TypeVar("T")
PATIENCE = timedelta(days=7)
"""How long one process waits for the others (chosen): a slow row must not end a run."""


def share(total: int, rank: int, world: int) -> int:
    """What one of `world` processes has of `total`: the same as any other, but for one.

    >>> [share(7, rank, 3) for rank in range(3)]
    [3, 2, 2]
    """
    return total // world + (rank < total % world)


@dataclass
class Processes:
    """This process's `rank` among `world`."""

    rank: int = 0
    world: int = 1
    _state: Any = None

    @staticmethod
    def place() -> tuple[int, int]:
        """Rank and number of processes as the launcher says them; needs no library and waits for nobody."""
        try:
            return int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        except ValueError as error:
            raise UsageError(f"RANK and WORLD_SIZE must be numbers ({error})") from error

    @classmethod
    def from_environment(cls) -> Processes:
        rank, world = cls.place()
        if world <= 1:
            return cls()
        accelerate = need("accelerate", "vlm")
        torch = need("torch", "vlm")
        options: dict[str, Any] = {"timeout": PATIENCE}
        if not torch.cuda.is_available():
            options["cpu"] = True
        return cls(rank, world, accelerate.PartialState(**options))

    @property
    def is_main(self) -> bool:
        return self.rank == 0

    def wait(self) -> None:
        """Returns when every process has come here."""
        self.gather(None)

    def gather(self, value: T) -> list[T]:
        """The `value` of every process by rank, when every process has come here."""
        if self._state is None:
            return [value]
        try:
            gathered: list[T] = need("accelerate.utils", "vlm").gather_object([value])
        except RuntimeError as error:
            raise RunFailure(
                "another process of this run failed, its own message says why; the same command continues"
            ) from error
        return gathered

    def close(self) -> None:
        if self._state is not None:
            self._state.destroy_process_group()
            self._state = None
