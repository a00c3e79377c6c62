"""The kit of objects that commonality scenes are made of: names, pictures, sets, what they can do for each other."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ...errors import UsageError
from ...rows import inside

SETS = ("ground", "table", "cue")


@dataclass(frozen=True)
class Relation:
    """What a giver in one image can do for a taker in the other; `doubtful` kinds may stand in neither."""

    name: str
    statement: str
    pairs: Sequence[tuple[str, str]]
    doubtful: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Kit:
    """Kinds of objects by set (``ground`` and ``table`` fill scenes, ``cue`` is placed on purpose)."""

    folder: Path
    files: Mapping[str, str]
    sets: Mapping[str, Sequence[str]]
    relations: Sequence[Relation]

    def picture(self, kind: str) -> NDArray[np.uint8]:
        """The object as RGBA, shape (height, width, 4), cropped to what is visible."""
        if kind not in self.files:
            raise UsageError(f"{self.folder}: no object called {kind!r}")
        return _rgba(inside(self.folder, self.files[kind]))

    def relation(self, name: str) -> Relation:
        for relation in self.relations:
            if relation.name == name:
                return relation
        raise UsageError(
            f"{self.folder}: no relation called {name!r}; there are {', '.join(r.name for r in self.relations)}"
        )


@cache
def _rgba(path: Path) -> NDArray[np.uint8]:
    with Image.open(path) as image:
        return np.array(image.convert("RGBA"))


def load_kit(folder: Path) -> Kit:
    """The kit in `folder` (``kit.toml`` beside the pictures). Raises `UsageError` naming what is wrong in it."""
    path = folder / "kit.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not a readable kit ({error})") from error
    files: dict[str, str] = {}
    for name in SETS:
        for kind, file in data.get(name, {}).items():
            if kind in files:
                raise UsageError(f"{path}: {kind!r} stands in two sets; a kind belongs to one")
            inside(folder, file)
            files[kind] = file
    relations = [_relation(path, value, files) for value in data.get("relations", [])]
    return Kit(folder, files, {name: tuple(data.get(name, {})) for name in SETS}, relations)


def _relation(path: Path, value: Any, files: Mapping[str, str]) -> Relation:
    try:
        pairs = tuple((str(giver), str(taker)) for giver, taker in value["pairs"])
        made = Relation(value["name"], value["statement"], pairs, frozenset(value.get("doubtful", ())))
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path}: a relation has name, statement and pairs ({error!r})") from error
    if missing := sorted(({kind for pair in pairs for kind in pair} | made.doubtful) - set(files)):
        raise UsageError(f"{path}: relation {made.name!r} names unknown objects: {', '.join(missing)}")
    return made
