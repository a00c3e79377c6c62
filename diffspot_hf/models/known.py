"""Facts about model families that a request or a score depends on, out of `known.toml`, each with its source."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from ..errors import UsageError
from ..scoring.boxes import FRAMES, BoxFrame

Thinking = Literal["never", "always", "switch"]
Pixels = Literal["area", "longest_edge", "fixed"]


@dataclass(frozen=True)
class Family:
    """What is known of the models whose id matches `pattern`; None is not known. `source` says from where."""

    name: str
    pattern: re.Pattern[str]
    source: tuple[str, ...]
    box_frame: BoxFrame | None = None
    thinking: Thinking | None = None
    pixels: Pixels | None = None

    @property
    def thinking_off(self) -> dict[str, Any]:
        """Template options (``--chat-template-kwargs``) that switch thinking off; {} where there is no switch."""
        return {"enable_thinking": False} if self.thinking == "switch" else {}


def lookup(model_id: str) -> Family | None:
    """The family of a Hub id, a served name or a folder; None if it is not known.

    >>> lookup("Qwen/Qwen3-VL-8B-Instruct").name
    'Qwen3-VL'
    >>> lookup("someone/else") is None
    True
    """
    return next((family for family in families() if family.pattern.search(model_id)), None)


def box_frame_of(model_id: str) -> BoxFrame | None:
    """The frame in which a model gives boxes; None if that is not known and must be declared with ``--box-frame``.

    >>> box_frame_of("Qwen/Qwen2.5-VL-7B-Instruct"), box_frame_of("google/gemma-3-4b-it")
    ('xyxy_px_processed', None)
    """
    family = lookup(model_id)
    return family.box_frame if family else None


@cache
def families() -> tuple[Family, ...]:
    """All families, in the order in which they are tried. Raises `UsageError` for an entry that is not well-formed."""
    table = tomllib.loads(files(__package__).joinpath("known.toml").read_text("utf-8"))
    return tuple(_family(entry) for entry in table["family"])


def _family(entry: dict[str, Any]) -> Family:
    allowed = {"box_frame": FRAMES, "thinking": get_args(Thinking), "pixels": get_args(Pixels)}
    for field, values in allowed.items():
        if entry.get(field, values[0]) not in values:
            raise UsageError(f"known.toml: {entry['name']}: {field} {entry[field]!r} is none of {', '.join(values)}")
    if not entry.get("source"):
        raise UsageError(f"known.toml: {entry['name']}: a fact without a source")
    pattern = re.compile(entry["pattern"], re.IGNORECASE)
    return Family(**entry | {"pattern": pattern, "source": tuple(entry["source"])})
