"""Builds differential items: a photograph and a target → six instructions → edits → a group of five.

Every edit is measured before it counts: pixels outside the region unchanged, something changed, under 5 % of the
picture. What fails is named and counted, the rest goes on; a target with fewer than four good edits goes to the
fallback list.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from ...errors import UsageError
from ...images import decode_rgb
from ...rows import inside, iter_jsonl, read_picture
from .colours import check_new, named
from .editors import Editor
from .groups import Group, SetWriter, Variant
from .instructions import Instruction, Instructor, Target, propose
from .patches import RGB, pixels, settle
from .regions import MOST_AREA, Box, check_edit, clear_change, grow, read_box
from .tasks import BY_KEY, NOTHING, Task

_PICTURES = (".jpg", ".jpeg", ".png", ".webp")
KEPT = 4
"""Edits of a target that become options."""


@dataclass(frozen=True)
class Photo:
    """A photograph (encoded) with the targets that may be edited in it.

    `listed` is its name where it was listed, `name` the one it gets in the data set.
    """

    name: str
    data: bytes
    targets: Sequence[Target]
    listed: str = ""


@dataclass
class Report:
    """What became of every target, instruction and edit."""

    refused: list[str] = field(default_factory=list)
    fallback: list[dict[str, Any]] = field(default_factory=list)
    targets: int = 0
    edits_tried: int = 0
    edits_kept: int = 0


def task_named(name: str, track: str) -> Task:
    """The task `name` of a track. Raises `UsageError` naming those there are."""
    task = BY_KEY.get((track, name))
    if task is None:
        known = ", ".join(key[1] for key in BY_KEY if key[0] == track)
        raise UsageError(f"unknown task {name!r} on the {track} track; there are {known}")
    return task


def build_differential(
    photos: Iterable[Photo],
    task: Task,
    instructor_of: Callable[[Photo, Target], Instructor],
    editor: Editor,
    out: Path,
    *,
    seed: int = 0,
    limit: int | None = None,
    refused: list[str] | None = None,
) -> dict[str, Any]:
    """Writes a group of five for each target that allows one into the data folder `out`; returns the report.

    What is refused is added to `refused`, which may hold what was refused when the photographs were listed.
    """
    writer, report = SetWriter(out, seed), Report([] if refused is None else refused)
    for photo in photos:
        for target in photo.targets:
            if limit is not None and len(writer.rows) >= limit * 5:
                break
            report.targets += 1
            group = make_group(photo, target, task, instructor_of(photo, target), editor, report, seed=seed)
            if group is not None:
                _add(writer, group, report, f"{photo.name}, target {list(target.box)}")
    made = {"track": task.track, "task": task.name, "seed": seed, "editor": dict(editor.describe()), **report.__dict__}
    return writer.finish(made)


def _add(writer: SetWriter, group: Group, report: Report, where: str) -> None:
    """Adds a group whose claims say which instruction made them true, so that answers can be checked against it."""
    variants = [replace(v, claim={**v.claim, "instruction": v.instruction}) for v in group.variants]
    try:
        writer.add(replace(group, variants=variants))
    except UsageError as error:
        report.edits_kept -= KEPT
        _refuser(report, where)(error)


def make_group(
    photo: Photo,
    target: Target,
    task: Task,
    instructor: Instructor,
    editor: Editor,
    report: Report,
    *,
    seed: int = 0,
    source: RGB | None = None,
) -> Group | None:
    """The group of five for one target, None if it allows none (the reasons are in `report`).

    `source` is the photograph before it was compressed to `photo.data`, where that is at hand: edits start from it and
    go through the same compression once, like the base.
    """
    where = f"{photo.name}, target {list(target.box)}"
    refuse = _refuser(report, where)
    base = pixels(photo.data, photo.name)
    size = (base.shape[1], base.shape[0])
    try:
        region = grow(read_box(list(target.box), size, "target"), size)
        _small_enough(region, size)
    except UsageError as error:
        refuse(error)
        return None
    picture = base if source is None else source
    instructions = propose(instructor, picture, target, region, task, refuse)
    good: list[Variant] = []
    for number, instruction in enumerate(instructions):
        report.edits_tried += 1
        try:
            made = _variant(base, picture, photo.data, target, region, instruction, editor, seed + number)
            if task.name == "attribute":
                _check_colour(instruction, target, base[region.slices], made.edited[region.slices])
            good.append(made)
        except UsageError as error:
            refuse(UsageError(f"{instruction.statement!r}: {error}"))
    if len(good) < KEPT:
        refuse(UsageError(f"{len(good)} good edits, {KEPT} are needed"))
        report.fallback.append({"photo": photo.name, "box": list(target.box), "task": task.name, "good": len(good)})
        return None
    chosen = random.Random(f"{seed}:{where}").sample(good, KEPT) if len(good) > KEPT else good
    report.edits_kept += KEPT
    none = Variant(NOTHING[task.key], None, 2, None, None, 0.0, region, region, {"kind": "nothing"})
    return Group(task, (photo.name, photo.data), (photo.name, photo.data), chosen, none)


def _variant(
    base: RGB,
    picture: RGB,
    data: bytes,
    target: Target,
    region: Box,
    instruction: Instruction,
    editor: Editor,
    seed: int,
) -> Variant:
    edited = _edited(editor, picture, target, region, instruction, seed)
    check_edit(picture, edited, region)
    final = settle(base, picture, edited, data, region.slices)
    change = check_edit(base, final, region)
    claim = {"kind": "edit", "statement": instruction.statement}
    return Variant(
        instruction.statement, instruction.text, 2, final, change.box, change.fraction, region, region, claim
    )


def _check_colour(instruction: Instruction, target: Target, before: RGB, after: RGB) -> None:
    """Raises `UsageError` when the target is said to take on a colour that it has already."""
    said = instruction.statement
    check_new(named(said) - named(target.name), said, before[clear_change(before, after)])


def _edited(editor: Editor, picture: RGB, target: Target, region: Box, instruction: Instruction, seed: int) -> RGB:
    """What the editor makes. Whatever it fails with becomes a `UsageError`: one edit fails, the rest goes on."""
    try:
        return editor.edit(picture, target, region, instruction, seed)
    except UsageError:
        raise
    except Exception as error:
        first = next(iter(str(error).splitlines()), "")
        raise UsageError(f"the editor failed ({type(error).__name__}: {first})") from error


def _small_enough(region: Box, size: tuple[int, int]) -> None:
    share = region.area / (size[0] * size[1])
    if share >= MOST_AREA:
        raise UsageError(f"its region takes {share:.1%} of the picture, {MOST_AREA:.0%} or more")


def _refuser(report: Report, where: str) -> Callable[[UsageError], None]:
    return lambda error: report.refused.append(f"{where}: {error}")


def unique_name(name: str, data: bytes) -> str:
    """A file name that keeps two different photographs of one name apart."""
    return f"{Path(name).stem}-{hashlib.sha256(data).hexdigest()[:8]}{Path(name).suffix.lower()}"


def listed_photos(listing: Path, refuse: Callable[[UsageError], None]) -> Iterator[Photo]:
    """Photographs of a JSONL file: ``{"image": path, "targets": [{"box": [x, y, w, h], "name": …}]}`` a line.

    Boxes are xywh_px. Targets outside their picture and pictures that cannot be read are given to `refuse`.
    """
    for number, line in iter_jsonl(listing, refuse):
        where = f"{listing}, line {number}"
        try:
            picture = read_picture(listing.parent, line.get("image", ""))
            size = decode_rgb(picture["bytes"], str(line.get("image"))).size
            wanted = line.get("targets")
            if not isinstance(wanted, list) or not wanted:
                raise UsageError('"targets" must be a list of objects with a box')
        except UsageError as error:
            refuse(UsageError(f"{where}: {error}"))
            continue
        targets = []
        for value in wanted:
            try:
                if not isinstance(value, Mapping):
                    raise UsageError(f"a target is an object with a box, found {value!r}")
                targets.append(Target(read_box(value.get("box"), size, "target"), str(value.get("name") or "")))
            except UsageError as error:
                refuse(UsageError(f"{where}: {error}"))
        if targets:
            yield Photo(unique_name(picture["path"], picture["bytes"]), picture["bytes"], targets, line["image"])


def vstar_photos(folder: Path, refuse: Callable[[UsageError], None]) -> Iterator[Photo]:
    """Photographs of a local copy of V*Bench: next to each picture a JSON file with ``target_object`` and ``bbox``.

    A box is xywh_px, as published converters of that data read it. Files without usable boxes are given to `refuse`.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    found = False
    for notes in sorted(folder.glob("*/*.json")):
        picture = next((p for p in sorted(notes.parent.glob(f"{notes.stem}.*")) if p.suffix.lower() in _PICTURES), None)
        if picture is None:
            continue
        found = True
        try:
            about = json.loads(notes.read_text(encoding="utf-8-sig"))
            data = inside(folder, str(picture.relative_to(folder))).read_bytes()
            size = decode_rgb(data, picture.name).size
            boxes, names = about.get("bbox"), about.get("target_object") or []
            if not isinstance(boxes, list) or not boxes:
                raise UsageError('no "bbox"')
            targets = [
                Target(read_box(box, size, "bbox"), str(names[i]) if i < len(names) else "")
                for i, box in enumerate(boxes)
            ]
        except (UsageError, OSError, ValueError, AttributeError) as error:
            refuse(UsageError(f"{notes}: {error}"))
            continue
        yield Photo(unique_name(picture.name, data), data, targets, picture.relative_to(folder).as_posix())
    if not found:
        raise UsageError(f"{folder}: no V*Bench pictures here (looked for */*.json with a picture beside it)")


@dataclass
class ListedInstruction:
    """A line of a file of instructions: for the photograph `image`, there for the target of that name or for all."""

    where: str
    image: str
    target: str | None
    instruction: Instruction

    def is_for(self, photo: Photo, target: Target) -> bool:
        """`image` is the photograph's name as it was listed; one without a folder stands for every folder."""
        named = self.image == photo.listed or self.image == PurePosixPath(photo.listed).name
        return named and (self.target is None or self.target == target.name)


def instructions_for(lines: Iterable[ListedInstruction], photo: Photo, target: Target) -> list[Instruction]:
    """The instructions for one target, in the order of the file."""
    return [line.instruction for line in lines if line.is_for(photo, target)]


def name_unmatched(
    photos: Iterable[Photo], lines: Sequence[ListedInstruction], refuse: Callable[[UsageError], None]
) -> Iterator[Photo]:
    """The photographs; after the last one, each instruction that is for none of their targets is given to `refuse`."""
    matched: set[str] = set()
    for photo in photos:
        matched |= {line.where for line in lines if any(line.is_for(photo, target) for target in photo.targets)}
        yield photo
    for line in lines:
        if line.where not in matched:
            target = "no target" if line.target is None else f"no target named {line.target!r}"
            refuse(UsageError(f"{line.where}: the photographs hold {target} in {line.image!r}"))


def listed_instructions(path: Path, refuse: Callable[[UsageError], None]) -> list[ListedInstruction]:
    """Instructions of a JSONL file: ``{"image", "target", "instruction", "statement", "operation"}`` a line.

    ``image`` is the picture's name as in the listing of photographs. ``target`` is the target's name; a line without
    one is for all targets of its picture.
    """
    found = []
    for number, line in iter_jsonl(path, refuse):
        where = f"{path}, line {number}"
        texts = [line.get(key) for key in ("image", "instruction", "statement")]
        operation, target = line.get("operation") or {}, line.get("target")
        if not all(isinstance(text, str) and text.strip() for text in texts):
            refuse(UsageError(f"{where}: image, instruction and statement must be texts"))
        elif not isinstance(operation, Mapping):
            refuse(UsageError(f"{where}: operation must be an object"))
        elif not isinstance(target, str | None):
            refuse(UsageError(f"{where}: target must be a target's name, found {target!r}"))
        else:
            image, text, statement = map(str, texts)
            found.append(ListedInstruction(where, image, target, Instruction(text, statement, operation)))
    return found
