"""Checks a built data folder from its files alone: pictures, areas, letters, options, and what the options claim."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import UsageError
from ...rows import iter_jsonl, read_picture
from .claims import right_options
from .items import check_choice
from .kit import Kit
from .patches import RGB, lay, pixels
from .regions import MOST_AREA
from .scenes import LEAST_OTHERS
from .tasks import LETTERS, NONE

Objects = Sequence[Mapping[str, Any]]


def check_folder(folder: Path, kit: Kit | None = None) -> dict[str, Any]:
    """``{"items", "groups", "problems"}`` of the data set in `folder`; no problem means that it is sound.

    Checked are: options and answers, groups of five with every letter once, that an edit changes one picture, less than
    5 % of it and as much as its row says, that a pair without a cue is unedited, and with `kit` (commonality items)
    that exactly the answer is true of the objects in ``scenes.json`` and each scene holds enough other objects.
    """
    problems: list[str] = []
    rows = [row for _, row in iter_jsonl(folder / "test.jsonl", lambda error: problems.append(str(error)))]
    scenes = _scenes(folder)
    seen: dict[str, RGB] = {}
    for row in rows:
        try:
            check_choice(row.get("options"), row.get("answer"))
            _check_pictures(folder, row, seen)
            if row.get("track") == "commonality" and kit is not None:
                _check_claims(row, scenes, kit)
        except (UsageError, KeyError, TypeError, IndexError) as error:
            text = str(error) if isinstance(error, UsageError) else f"not written by the builder ({error!r})"
            problems.append(f"{row.get('id')}: {text}")
    problems += _groups(rows)
    if not rows:
        problems.append(f"{folder}: no rows")
    return {"items": len(rows), "groups": len({row.get("group_id") for row in rows}), "problems": problems}


def _scenes(folder: Path) -> dict[str, Objects]:
    path = folder / "scenes.json"
    if not path.is_file():
        return {}
    try:
        found: dict[str, Objects] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: not readable ({error})") from error
    return found


def _check_pictures(folder: Path, row: Mapping[str, Any], seen: dict[str, RGB]) -> None:
    edited = 0
    for side in "12":
        name = row[f"image_{side}"]
        if name not in seen:
            seen[name] = pixels(read_picture(folder, name)["bytes"], name)
        base, patches = seen[name], row.get(f"patches_{side}") or []
        if not patches:
            continue
        edited += 1
        parts = [(p["x"], p["y"], pixels(read_picture(folder, p["file"])["bytes"], p["file"])) for p in patches]
        changed = float((lay(base, parts) != base).any(axis=2).mean())
        covered = sum(part.shape[0] * part.shape[1] for _, _, part in parts) / (base.shape[0] * base.shape[1])
        if not 0 < changed < MOST_AREA or covered >= MOST_AREA:
            raise UsageError(f"the edit changes {changed:.2%} of the picture within {covered:.2%} of it")
        if not np.isclose(changed, row["edit_area_fraction"], atol=1e-9):
            raise UsageError(f"edit_area_fraction is {row['edit_area_fraction']}, the edit changes {changed}")
    if edited != (row["answer"] != NONE):
        raise UsageError(f"the answer is {row['answer']}, and {edited} of its pictures are edited")
    if row["track"] == "differential" and row["image_1"] != row["image_2"]:
        raise UsageError("the two pictures of a differential item have different bases")


def _check_claims(row: Mapping[str, Any], scenes: Mapping[str, Objects], kit: Kit) -> None:
    truth = row["truth"]
    both = [list(scenes[truth[f"objects_{side}"]]) for side in "12"]
    for thing in truth.get("changed", []):
        both[truth["side"] - 1][thing["index"]] = thing
    for side, objects in zip("12", both, strict=True):
        if (others := sum(not thing["role"] for thing in objects)) < LEAST_OTHERS:
            raise UsageError(f"image {side} shows {others} other objects, at least {LEAST_OTHERS} are needed")
    true = [LETTERS[index] for index in right_options(row["claims"], both[0], both[1], kit)]
    if true != [row["answer"]]:
        raise UsageError(f"the answer is {row['answer']}, true are {', '.join(true)}")


def _groups(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    members: dict[Any, list[Mapping[str, Any]]] = {}
    for row in rows:
        members.setdefault(row.get("group_id"), []).append(row)
    problems = []
    for name, group in members.items():
        letters = Counter(row.get("answer") for row in group)
        if letters != Counter(LETTERS):
            problems.append(f"group {name}: the answers are {dict(letters)}, not each letter once")
        if len({json.dumps(row.get("options")) for row in group}) > 1:
            problems.append(f"group {name}: its items do not share their options")
    return problems
