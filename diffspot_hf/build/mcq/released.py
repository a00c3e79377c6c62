"""Reads DiCoBench as its authors released it: an index, a question file for each task, pictures beside them.

``dataset_index.json`` lists the question files; each object in them has ``image``, ``output_image``, ``question``,
``A`` to ``E`` and ``answer``, and often ``mask``, ``expanded_mask`` and ``instruction``. The file name is the task.
Whether a mask is xywh or xyxy is not documented: each file is read in the frame that fits more of its pictures.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from ...errors import UsageError
from ...rows import Refuse, inside, read_picture, stop
from .patches import upright_size
from .tasks import BY_FILE, LETTERS, Task

INDEX = "dataset_index.json"
SNAPSHOT = (INDEX, "questions/*", "images/*", "images/**")
"""What is fetched of the authors' repository."""
_NEEDED = ("image", "output_image", "question", *LETTERS, "answer")
_MASKS = ("expanded_mask", "mask")

Frame = Literal["xywh", "xyxy"]
Box = dict[str, float]


def read_released(index: Path, refuse: Refuse = stop) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each usable item of the copy that `index` belongs to, with the words that say where it stood.

    Items, question files and index entries that cannot be used are given to `refuse`; the rest goes on.
    """
    root = index.parent
    for entry in _entries(index):
        try:
            path = _question_file(root, entry)
            task = _task(path)
            items = _load(path)
        except UsageError as error:
            refuse(error)
            continue
        yield from _items(root, path, task, items, refuse)


def _entries(index: Path) -> list[Any]:
    data = _load(index)
    entries = data.get("datasets") if isinstance(data, Mapping) else None
    if not isinstance(entries, list) or not entries:
        raise UsageError(f'{index}: expected {{"datasets": [{{"file": …}}]}}')
    return entries


def _question_file(root: Path, entry: Any) -> Path:
    name = entry.get("file") if isinstance(entry, Mapping) else entry
    if not isinstance(name, str):
        raise UsageError(f'{root / INDEX}: an entry without "file": {entry!r}')
    name = name if name.endswith(".json") else f"{name}.json"
    in_folder = (root / "questions" / name).is_file()
    return inside(root, f"questions/{name}" if in_folder else name)


def _task(path: Path) -> Task:
    task = BY_FILE.get(path.name)
    if task is None:
        raise UsageError(f"{path}: unknown task; the file names of the release are {', '.join(BY_FILE)}")
    return task


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not a readable JSON file ({error})") from error


def _items(root: Path, path: Path, task: Task, items: Any, refuse: Refuse) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(items, list):
        refuse(UsageError(f"{path}: expected a list of items, found {type(items).__name__}"))
        return
    frame = _frame(root, items)
    groups: dict[tuple[Any, ...], str] = {}
    for number, item in enumerate(items, start=1):
        identifier = f"{task.track}-{task.name}-{number:03d}"
        where = f"{path}, item {number} (id {identifier!r})"
        try:
            row = _row(root, task, item, frame)
        except UsageError as error:
            refuse(UsageError(f"{where}: {error}"))
            continue
        shared = (tuple(sorted(row["options"][:4])), item["image"] if task.track == "differential" else None)
        row["group_id"] = groups.setdefault(shared, f"{task.track}-{task.name}-g{len(groups) + 1:02d}")
        yield where, {"id": identifier, **row}


def _row(root: Path, task: Task, item: Any, frame: Frame) -> dict[str, Any]:
    if not isinstance(item, Mapping):
        raise UsageError(f"expected an object, found {type(item).__name__}")
    if missing := [key for key in _NEEDED if not isinstance(item.get(key), str) or not item[key].strip()]:
        raise UsageError(f"no text in {', '.join(missing)}")
    pictures = {side: read_picture(root, item[key]) for side, key in (("1", "image"), ("2", "output_image"))}
    box = _cue(item, frame, upright_size(pictures["1"]["bytes"], item["image"]))
    return {
        "track": task.track,
        "task": task.name,
        "image_1": pictures["1"],
        "image_2": pictures["2"],
        "question": item["question"],
        "options": [item[letter] for letter in LETTERS],
        "answer": item["answer"].strip(),
        # An item has one mask. On the commonality track it can belong to one picture only, and to which is unknown.
        "bbox_1": box if task.track == "differential" else None,
        "bbox_2": box if task.track == "differential" else None,
        "edit_area_fraction": None,
        "instruction": item.get("instruction") if isinstance(item.get("instruction"), str) else None,
    }


def _cue(item: Mapping[str, Any], frame: Frame, size: tuple[int, int]) -> Box | None:
    mask = _mask(item)
    if mask is None:
        return None
    box = _as_box(mask, frame)
    if box is None or not _fits(box, size):
        raise UsageError(f"the mask {list(mask)} ({frame}) is no box inside the picture of {size[0]} x {size[1]}")
    return box


def _mask(item: Mapping[str, Any]) -> Sequence[float] | None:
    """The four numbers of the grown mask, else of the mask, None if there is none. Raises on anything else."""
    for key in _MASKS:
        mask = item.get(key)
        if mask is None:
            continue
        if not isinstance(mask, list) or len(mask) != 4 or not all(_is_number(value) for value in mask):
            raise UsageError(f"{key} must be four numbers, found {mask!r}")
        return [float(value) for value in mask]
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _frame(root: Path, items: Sequence[Any]) -> Frame:
    """The frame in which more masks of a file lie inside their pictures; xywh where both do."""
    votes = {"xywh": 0, "xyxy": 0}
    for item in items:
        try:
            mask = _mask(item)
            if mask is None:
                continue
            size = upright_size(inside(root, item["image"]).read_bytes())
        except (UsageError, OSError, AttributeError, KeyError, TypeError):
            continue  # refused with its reason when the item itself is read
        for frame in votes:
            box = _as_box(mask, frame)  # type: ignore[arg-type]
            votes[frame] += box is not None and _fits(box, size)
    return "xyxy" if votes["xyxy"] > votes["xywh"] else "xywh"


def _as_box(mask: Sequence[float], frame: Frame) -> Box | None:
    x, y, third, fourth = mask
    width, height = (third, fourth) if frame == "xywh" else (third - x, fourth - y)
    return {"x": x, "y": y, "w": width, "h": height} if width > 0 and height > 0 else None


def _fits(box: Box, size: tuple[int, int]) -> bool:
    return box["x"] >= 0 and box["y"] >= 0 and box["x"] + box["w"] <= size[0] and box["y"] + box["h"] <= size[1]
