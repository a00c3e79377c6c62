"""Checks a built data folder from its files alone: pictures, areas, letters, options, and what the options claim."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import UsageError
from ...rows import iter_jsonl, read_picture
from .claims import right_options
from .colours import check_new, named
from .groups import SIGNED
from .items import check_item
from .kit import Kit
from .patches import RGB, changed_box, lay, pixels
from .regions import MOST_AREA, Box, check_visible, clear_change, grow, read_box
from .scenes import LEAST_OTHERS
from .tasks import LETTERS, NONE

Objects = Sequence[Mapping[str, Any]]


def check_folder(folder: Path, kit: Kit | None = None) -> dict[str, Any]:
    """``{"items", "groups", "problems"}`` of the data set in `folder`; no problem means that it is sound.

    Checked are: ids, tasks, questions, options and answers, groups of five with every letter once, that an edit changes
    one picture, less than 5 % of it, as much as its row says and so that it can be seen, that no target is said to take
    on a colour which it had, that a pair without a cue is unedited, that boxes lie in their pictures, that the answer
    is what the row's instruction makes true (by its claims, and by ``review/signed.jsonl`` where there is one), and
    with `kit` (commonality items) that exactly the answer is true of the objects in ``scenes.json`` and each scene
    holds enough other objects.
    """
    problems: list[str] = []
    rows = [row for _, row in iter_jsonl(folder / "test.jsonl", lambda error: problems.append(str(error)))]
    scenes, signed = _scenes(folder), _signed(folder)
    seen: dict[str, RGB] = {}
    for row in rows:
        try:
            check_item(row)
            _check_pictures(folder, row, seen)
            _check_boxes(row, seen)
            _check_answer(row, signed)
            if row.get("track") == "commonality" and kit is not None:
                _check_claims(row, scenes, kit)
        except (UsageError, LookupError, TypeError, ValueError, AttributeError) as error:
            text = str(error) if isinstance(error, UsageError) else f"not written by the builder ({error!r})"
            problems.append(f"{row.get('id')}: {text}")
    ids = Counter(str(row.get("id")) for row in rows)
    problems += [f"{name}: {count} rows have this id" for name, count in ids.items() if count > 1]
    problems += _groups(rows)
    if not rows:
        problems.append(f"{folder}: no rows")
    return {"items": len(rows), "groups": len({str(row.get("group_id")) for row in rows}), "problems": problems}


def _scenes(folder: Path) -> dict[str, Objects]:
    path = folder / "scenes.json"
    if not path.is_file():
        return {}
    try:
        found: dict[str, Objects] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: not readable ({error})") from error
    return found


def _signed(folder: Path) -> dict[str, Any]:
    """What people signed as true of each item, by id."""
    path = folder / SIGNED
    if not path.is_file():
        return {}
    return {str(line.get("id")): line.get("statement") for _, line in iter_jsonl(path)}


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
        laid = lay(base, parts)
        changed = float((laid != base).any(axis=2).mean())
        covered = sum(part.shape[0] * part.shape[1] for _, _, part in parts) / (base.shape[0] * base.shape[1])
        if not 0 < changed < MOST_AREA or covered >= MOST_AREA:
            raise UsageError(f"the edit changes {changed:.2%} of the picture within {covered:.2%} of it")
        if not np.isclose(changed, row["edit_area_fraction"], atol=1e-9):
            raise UsageError(f"edit_area_fraction is {row['edit_area_fraction']}, the edit changes {changed}")
        _check_seen(row, side, base, laid)
    if edited != (row["answer"] != NONE):
        raise UsageError(f"the answer is {row['answer']}, and {edited} of its pictures are edited")
    if not edited and row["edit_area_fraction"] != 0:
        raise UsageError(f"edit_area_fraction is {row['edit_area_fraction']}, and nothing is edited")
    if row["track"] == "differential" and row["image_1"] != row["image_2"]:
        raise UsageError("the two pictures of a differential item have different bases")


def _check_seen(row: Mapping[str, Any], side: str, base: RGB, edited: RGB) -> None:
    """Raises `UsageError` when nobody could see the edit, or when it is said to give the target a colour that it had.

    A colour that all four edits speak of stands for the target ("the red cup has changed to blue").
    """
    size = (base.shape[1], base.shape[0])
    box, cue = changed_box(base, edited), row[f"bbox_{side}"]
    if box is None:
        raise UsageError("the edit changes nothing")
    window = grow(Box(*box), size).slices
    before, after = base[window], edited[window]
    check_visible(before, after, Box(*box) if cue is None else read_box(cue, size, f"bbox_{side}"))
    if row["task"] == "attribute":
        said = [named(option) for option in row["options"][:-1]]
        text = row["options"][LETTERS.index(row["answer"])]
        check_new(named(text) - reduce(and_, said), text, before[clear_change(before, after)])


def _check_boxes(row: Mapping[str, Any], seen: Mapping[str, RGB]) -> None:
    for side in "12":
        height, width = seen[row[f"image_{side}"]].shape[:2]
        box = row[f"bbox_{side}"]
        if box is not None:
            read_box(box, (width, height), f"bbox_{side}")
        elif row["track"] == "differential" and row["answer"] != NONE:
            raise UsageError(f"bbox_{side} is missing, and there is an edit to look at")


def _check_answer(row: Mapping[str, Any], signed: Mapping[str, Any]) -> None:
    """Compares the answer with the row's claims and instruction, and with what people signed."""
    index, claims = LETTERS.index(row["answer"]), row["claims"]
    if len(claims) != len(LETTERS) or [claim["kind"] == "nothing" for claim in claims] != [x == NONE for x in LETTERS]:
        raise UsageError("its claims do not stand for its five options")
    for letter, claim, option in zip(LETTERS, claims, row["options"], strict=True):
        if claim.get("statement", option) != option:
            raise UsageError(f"option {letter} is {option!r}, its claim says {claim['statement']!r}")
    if (row["instruction"] is None) != (row["answer"] == NONE):
        raise UsageError(f"the answer is {row['answer']}, and its instruction is {row['instruction']!r}")
    if claims[index].get("instruction", row["instruction"]) != row["instruction"]:
        made = claims[index]["instruction"]
        raise UsageError(f"the answer {row['answer']} is true after {made!r}, and the edit is {row['instruction']!r}")
    if (statement := signed.get(row["id"], row["options"][index])) != row["options"][index]:
        raise UsageError(f"the answer is {row['answer']}, and people signed {statement!r}")


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
    members: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        members.setdefault(str(row.get("group_id")), []).append(row)
    problems = []
    for name, group in members.items():
        letters = Counter(str(row.get("answer")) for row in group)
        if letters != Counter(LETTERS):
            problems.append(f"group {name}: the answers are {dict(letters)}, not each letter once")
        if len({json.dumps(row.get("options")) for row in group}) > 1:
            problems.append(f"group {name}: its items do not share their options")
    return problems
