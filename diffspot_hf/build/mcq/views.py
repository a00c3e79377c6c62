"""Three views of an item, to tell apart why large pictures are hard: too much beside the cue, or too small a cue.

``full`` shows the pictures as they are, ``crop`` only the surroundings of the cue, ``crop-resize`` the same crop
enlarged to the picture's size. The paper describes the three without numbers: margin and filter are our parameters.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from ...errors import UsageError
from ...rows import iter_jsonl
from ...running.run_card import differences
from ...types import Picture, Row
from .patches import png_bytes, upright_size
from .regions import read_box
from .tasks import TASKS

KINDS = ("full", "crop", "crop-resize")
FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}


@dataclass(frozen=True)
class View:
    """How both pictures of an item are shown. `margin` is added on each side, as a share of the box's longer side;
    `least` is the smallest side of a crop in pixels; `cues` are boxes by item id, out of the file `source`, that go
    before the rows' own."""

    kind: str = "crop"
    margin: float = 0.5
    filter: str = "lanczos"
    least: int = 64
    cues: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    source: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"unknown view {self.kind!r}; there are {', '.join(KINDS)}")
        if self.filter not in FILTERS:
            raise UsageError(f"unknown filter {self.filter!r}; there are {', '.join(FILTERS)}")
        if not 0 <= self.margin <= 10 or self.least < 1:
            raise UsageError(f"a view needs a margin from 0 to 10 and a positive least side, found {self}")

    def describe(self) -> dict[str, Any]:
        """Everything that the pictures depend on; boxes that were given, as a digest."""
        described = {name: getattr(self, name) for name in ("kind", "margin", "filter", "least")}
        if self.cues:
            text = json.dumps(self.cues, sort_keys=True)
            described["cues"] = hashlib.sha256(text.encode()).hexdigest()
        return described

    def apply(self, row: Row, pictures: Sequence[Picture]) -> list[Picture]:
        """The pictures of `row` in this view. Raises `UsageError` when the row has no cue box for one of them."""
        if self.kind == "full":
            return list(pictures)
        return [self._seen(row, side, picture) for side, picture in zip("12", pictures, strict=True)]

    def unfit(self, ids: Collection[str], rows: Iterable[Row]) -> dict[str, str]:
        """Of `rows` those that have no cue box in each of their pictures, by id, and why.

        Raises `UsageError` when there are boxes for items that are not among the `ids` of the data.
        """
        if unknown := sorted(set(self.cues) - set(ids)):
            raise UsageError(f"{self.source}: the data has no row {', '.join(unknown[:5])}, for which there are boxes")
        found = {}
        for row in rows if self.kind != "full" else ():
            try:
                for side in "12":
                    self._box(row, side, upright_size(row[f"image_{side}"]["bytes"]))
            except UsageError as error:
                found[row["id"]] = str(error)
        return found

    def _box(self, row: Row, side: str, size: tuple[int, int]) -> Mapping[str, float]:
        """The cue box of a picture of `size`. Raises `UsageError` naming row and file when there is none in it."""
        given, where = self.cues.get(row["id"]), f"row {row['id']}"
        box = given[f"bbox_{side}"] if given else row.get(f"bbox_{side}")
        if given:
            where += f", {self.source}"
        if box is None:
            raise UsageError(f"{where}: no cue box for image {side} (bbox_{side}), which the view {self.kind} needs")
        try:
            read_box(box, size, f"the cue box bbox_{side}")
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from error
        found: Mapping[str, float] = box
        return found

    def _seen(self, row: Row, side: str, picture: Picture) -> Picture:
        whole = picture.rgb
        left, top, right, bottom = self.window(self._box(row, side, whole.size), whole.size)
        part = whole.crop((left, top, right, bottom))
        if self.kind == "crop-resize":
            scale = min(whole.width / part.width, whole.height / part.height)
            size = (max(1, round(part.width * scale)), max(1, round(part.height * scale)))
            part = part.resize(size, FILTERS[self.filter])
        return Picture(data=png_bytes(np.asarray(part)), name=f"{picture.name}, {self.kind}")

    def window(self, box: Mapping[str, float], size: tuple[int, int]) -> tuple[int, int, int, int]:
        """The crop around `box` (xywh_px) as left, top, right, bottom in pixels, inside a picture of `size`.

        >>> View(margin=0.5).window({"x": 100, "y": 100, "w": 100, "h": 50}, (1000, 220))
        (50, 50, 250, 200)
        """
        around = self.margin * max(box["w"], box["h"])
        edges = []
        for start, length, limit in (("x", "w", size[0]), ("y", "h", size[1])):
            grow = max(around, (self.least - box[length]) / 2)
            edges.append((max(0, round(box[start] - grow)), min(limit, round(box[start] + box[length] + grow))))
        (left, right), (top, bottom) = edges
        return left, top, right, bottom


def view_of(options: Any) -> View | None:
    """The view that `options` ask for with ``view``, ``view_margin``, ``view_filter`` and ``view_cues`` (a file, see
    `read_cues`); None for full pictures."""
    kind = getattr(options, "view", None) or "full"
    given = {name: getattr(options, f"view_{name}", None) for name in ("margin", "filter", "cues")}
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        kinds = KINDS[2:] if name == "filter" else KINDS[1:]
        if kind not in kinds:
            raise UsageError(f"--view-{name} is for --view {' or '.join(kinds)}; with --view {kind} it changes nothing")
    if kind == "full":
        return None
    if "cues" in given:
        given |= {"cues": read_cues(Path(given["cues"])), "source": str(given["cues"])}
    return View(kind, **given)


def read_cues(path: Path) -> dict[str, dict[str, Any]]:
    """Cue boxes by item id out of a JSONL file, ``{"id", "bbox_1", "bbox_2"}`` a line, each box ``{x, y, w, h}`` in
    pixels of its picture. For data without boxes of its own, such as the commonality items of the release."""
    found: dict[str, dict[str, Any]] = {}
    for number, line in iter_jsonl(path):
        boxes = {side: line.get(side) for side in ("bbox_1", "bbox_2")}
        for side, box in boxes.items():
            try:
                read_box(box if isinstance(box, Mapping) else None, None, side)
            except UsageError as error:
                raise UsageError(f"{path}, line {number}: {error}") from error
        if not isinstance(line.get("id"), str) or line["id"] in found:
            raise UsageError(f"{path}, line {number}: an id that is missing or stands twice")
        found[line["id"]] = boxes
    return found


def tenth(rows: Iterable[Row], *, share: int = 10, seed: int = 0) -> list[str]:
    """Ids of a subset of floor(n / `share`) items a task, with the items of a group kept together.

    Groups are drawn with `seed`, whatever the order of the rows. Where the last one does not fit whole, as many of its
    items as are left to take are kept (floor(n/10) is rarely a multiple of five). Of the released counts that makes 74.
    """
    by_task: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in rows:
        groups = by_task.setdefault((row["track"], row["task"]), {})
        groups.setdefault(row.get("group_id") or row["id"], []).append(row["id"])
    chosen: list[str] = []
    for task in TASKS:
        groups = by_task.get(task.key, {})
        left = sum(map(len, groups.values())) // share
        names = sorted(groups)
        random.Random(f"{seed}:{task.label}").shuffle(names)
        for name in names:
            taken = sorted(groups[name])[:left]
            chosen += taken
            left -= len(taken)
    return chosen


def compare(rows: Sequence[Row], runs: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """One line a task and view, and one for all tasks: ``view, track, task, n, right, accuracy``.

    `runs` maps a view to the records of its run (by id). Only items that every run holds are counted, so that the views
    are compared on the same items.
    """
    shared = [row for row in rows if all(row["id"] in records for records in runs.values())]
    lines = []
    for view, records in runs.items():
        right: Counter[tuple[str, str]] = Counter()
        total: Counter[tuple[str, str]] = Counter()
        for row in shared:
            hit = records[row["id"]].get("prediction") == row["answer"]
            for key in ((row["track"], row["task"]), ("all", "all")):
                total[key] += 1
                right[key] += hit
        for key in [*(task.key for task in TASKS if total[task.key]), ("all", "all")]:
            accuracy = right[key] / total[key] if total[key] else None
            lines.append(
                {
                    "view": view,
                    "track": key[0],
                    "task": key[1],
                    "n": total[key],
                    "right": right[key],
                    "accuracy": accuracy,
                }
            )
    return lines


def check_views(cards: Mapping[str, Mapping[str, Any]]) -> None:
    """Raises `UsageError` unless each run card (by view) is of a DiCoBench run that was made with that view, and the
    cards agree in everything else that an answer depends on. The data may be another part of the items."""
    settings = {}
    for name, card in cards.items():
        if name not in KINDS:
            raise UsageError(f"unknown view {name!r}; there are {', '.join(KINDS)}")
        settings[name], view = _apart(name, card)
        if (kind := view.get("kind", "full")) != name:
            raise UsageError(f"the run given as {name} was made with the view {kind}")
    first = next(iter(settings))
    for name, other in settings.items():
        if differing := differences(settings[first], other):
            raise UsageError(f"the runs {first} and {name} are not comparable: {'; '.join(differing)}")
    crops = [_margins(cards[name]) for name in cards if name != "full"]
    if any(crop != crops[0] for crop in crops):
        raise UsageError(f"the runs crop and crop-resize cut differently: {crops[0]} and {crops[1]}")


def _apart(name: str, card: Mapping[str, Any]) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """A card without its view and its data, and the view."""
    generation = card.get("generation") if isinstance(card, Mapping) else None
    if not isinstance(generation, Mapping) or card.get("benchmark") != "dicobench":
        raise UsageError(f"the run given as {name} is no run of dicobench")
    view = generation.get("view") or {}
    if not all(isinstance(part, Mapping) for part in (view, card.get("model"), card.get("prompt"))):
        raise UsageError(f"the run given as {name} has no readable run.json")
    rest = {key: value for key, value in generation.items() if key != "view"}
    return {**card, "generation": rest, "data": {"fingerprint": None}}, view


def _margins(card: Mapping[str, Any]) -> dict[str, Any]:
    """What decides which crop a run saw."""
    return {key: card["generation"]["view"].get(key) for key in ("margin", "least", "cues")}


def write_comparison(lines: Sequence[Mapping[str, Any]], out: Path) -> tuple[Path, Path]:
    """Writes `lines` as ``views.json`` and ``views.csv`` into the folder `out`; returns both paths."""
    out.mkdir(parents=True, exist_ok=True)
    as_json, as_csv = out / "views.json", out / "views.csv"
    as_json.write_text(json.dumps(list(lines), indent=2) + "\n", encoding="utf-8")
    text = io.StringIO()
    writer = csv.DictWriter(text, ("view", "track", "task", "n", "right", "accuracy"), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    as_csv.write_text(text.getvalue(), encoding="utf-8")
    return as_json, as_csv
