"""The mobile screens that ship with the package: what each shows and whose work it is drawn with."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import UsageError

FOLDER = Path(__file__).parent / "screens"
SIZE = (390, 844)
"""Width and height of every screen in CSS pixels."""
SCALE = 2
"""Device pixels per CSS pixel."""


@dataclass(frozen=True)
class Screen:
    """One screen: its file below `FOLDER`, what it shows, its source and the licences that apply."""

    name: str
    shows: str
    source: str
    licence: str
    credits: tuple[str, ...]

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.html"


def load_screens(names: Sequence[str] | None = None) -> list[Screen]:
    """The screens called `names`, in the order of the list (default: all). Raises `UsageError` for an unknown name."""
    listed = tomllib.loads((FOLDER / "screens.toml").read_text(encoding="utf-8"))
    screens = {entry["name"]: _screen(entry, listed) for entry in listed["screen"]}
    if names is None:
        return list(screens.values())
    if unknown := [name for name in names if name not in screens]:
        raise UsageError(f"no screen called {', '.join(unknown)}; there are {', '.join(screens)}")
    return [screen for name, screen in screens.items() if name in names]


def _screen(entry: dict[str, str], listed: dict[str, dict[str, dict[str, str]]]) -> Screen:
    kit = listed["kits"].get(entry["source"])
    icons = listed["icons"][entry["icons"]]
    owner = f"{entry['source']} {kit['version']}" if kit else "diffspot-hf"
    licence = kit["licence"] if kit else "MIT"
    credits = (
        f"{owner} ({licence})",
        f"{icons['package']} {icons['version']} ({icons['licence']})",
        f"font {entry['font']} (OFL-1.1)",
    )
    source = entry["source"] if kit else "diffspot-hf"
    return Screen(entry["name"], entry["shows"], source, licence, credits)
