"""Crops around the cue, the tenth of the items, and the comparison of views."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import ExifTags, Image

from diffspot_hf.build.mcq.patches import png_bytes, upright_size
from diffspot_hf.build.mcq.tasks import TASKS
from diffspot_hf.build.mcq.views import View, check_views, compare, read_cues, tenth, view_of, write_comparison
from diffspot_hf.errors import UsageError
from diffspot_hf.types import Picture

BOX = {"x": 1, "y": 1, "w": 9, "h": 9}
ROW = {"id": "r", "bbox_1": {"x": 100, "y": 60, "w": 40, "h": 20}, "bbox_2": {"x": 0, "y": 0, "w": 10, "h": 10}}


def pictures():
    y, x = np.mgrid[0:200, 0:400]
    picture = np.stack([x % 256, y, (x * y) % 256], axis=2).astype(np.uint8)
    return [Picture(png_bytes(picture)), Picture(png_bytes(picture))]


SIZES = {
    "full": (View("full"), [(400, 200), (400, 200)]),
    "a crop without margin": (View("crop", margin=0, least=1), [(40, 20), (10, 10)]),
    "a crop with margin, at the border clipped": (View("crop", margin=0.5, least=1), [(80, 60), (15, 15)]),
    "a crop of at least 64 pixels": (View("crop", margin=0), [(64, 64), (37, 37)]),
    "enlarged to the picture's height": (View("crop-resize", margin=0.5, least=1), [(267, 200), (200, 200)]),
    "enlarged to the picture's width": (View("crop-resize", margin=0, least=1), [(400, 200), (200, 200)]),
}


@pytest.mark.parametrize(("view", "sizes"), SIZES.values(), ids=SIZES)
def test_each_picture_is_cut_around_its_own_cue(view, sizes):
    assert [seen.rgb.size for seen in view.apply(ROW, pictures())] == sizes


def test_a_crop_is_those_pixels_of_the_picture():
    before, after = pictures()[0].rgb, View("crop", margin=0, least=1).apply(ROW, pictures())[0].rgb
    assert np.array_equal(np.asarray(after), np.asarray(before)[60:80, 100:140])


def test_the_filter_matters():
    nearest, smooth = (View("crop-resize", filter=name).apply(ROW, pictures())[0] for name in ("nearest", "lanczos"))
    assert nearest.sha256 != smooth.sha256


WRONG = {
    "an unknown view": dict(kind="zoom"),
    "an unknown filter": dict(filter="magic"),
    "a negative margin": dict(margin=-1),
    "no size at all": dict(least=0),
}


@pytest.mark.parametrize("options", WRONG.values(), ids=WRONG)
def test_a_view_that_there_is_not_is_refused(options):
    with pytest.raises(UsageError):
        View(**options)


@pytest.mark.parametrize("box", [None, {"x": 900, "y": 0, "w": 5, "h": 5}], ids=["no box", "a box outside"])
def test_a_row_without_a_usable_cue_box_is_an_error(box):
    with pytest.raises(UsageError, match="cue box"):
        View("crop", least=1).apply(ROW | {"bbox_2": box}, pictures())


def test_options_choose_the_view():
    assert view_of(SimpleNamespace()) is None
    assert view_of(SimpleNamespace(view="full")) is None
    wanted = SimpleNamespace(view="crop-resize", view_margin=0.2, view_filter="bilinear")
    assert view_of(wanted) == View("crop-resize", 0.2, "bilinear")


def test_boxes_from_a_file_go_before_those_of_the_row(tmp_path):
    path = tmp_path / "cues.jsonl"
    box = {"x": 10, "y": 20, "w": 30, "h": 40}
    path.write_text(json.dumps({"id": "r", "bbox_1": box, "bbox_2": box}))
    view = view_of(SimpleNamespace(view="crop", view_margin=0.0, view_cues=path))
    plain = View("crop", margin=0.0)
    assert [seen.rgb.size for seen in view.apply({"id": "r"}, pictures())] == [(57, 64)] * 2
    assert [seen.rgb.size for seen in view.apply(ROW | {"id": "x"}, pictures())] == [(64, 64), (37, 37)]
    assert view.describe() == plain.describe() | {"cues": view.describe()["cues"]}


IGNORED = {
    "a margin of the full picture": dict(view_margin=0.2),
    "cues of the full picture": dict(view="full", view_cues="x.jsonl"),
    "a filter of what is not resized": dict(view="crop", view_filter="bilinear"),
}


@pytest.mark.parametrize("options", IGNORED.values(), ids=IGNORED)
def test_an_option_that_would_be_ignored_is_refused(options):
    with pytest.raises(UsageError, match=f"--{list(options)[-1].replace('_', '-')} is for --view crop"):
        view_of(SimpleNamespace(**options))


LINES = {
    "no boxes": {"id": "r"},
    "a list": {"id": "r", "bbox_1": [1, 2, 3, 4], "bbox_2": None},
    "no id": {"bbox_1": BOX, "bbox_2": BOX},
    "no number": {"id": "r", "bbox_1": BOX, "bbox_2": BOX | {"x": float("nan")}},
    "an infinite number": {"id": "r", "bbox_1": BOX | {"w": float("inf")}, "bbox_2": BOX},
    "a negative width": {"id": "r", "bbox_1": BOX, "bbox_2": BOX | {"w": -10}},
    "no height": {"id": "r", "bbox_1": BOX, "bbox_2": BOX | {"h": 0}},
    "a negative place": {"id": "r", "bbox_1": BOX | {"y": -3}, "bbox_2": BOX},
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_file_of_boxes_that_cannot_be_used_says_where(tmp_path, line):
    (tmp_path / "cues.jsonl").write_text(json.dumps(line))
    with pytest.raises(UsageError, match="cues.jsonl, line 1"):
        read_cues(tmp_path / "cues.jsonl")


def row(number, **boxes):
    image = {"path": "x.png", "bytes": pictures()[0].data}
    return {"id": f"r{number}", "image_1": image, "image_2": image, "bbox_1": BOX, "bbox_2": BOX} | boxes


def test_rows_without_a_box_in_their_pictures_are_named_with_the_reason():
    outside = BOX | {"x": 395}
    view = View("crop", cues={"r3": {"bbox_1": BOX, "bbox_2": outside}}, source="cues.jsonl")
    rows = [row(0), row(1, bbox_2=None), row(2, bbox_1=outside), row(3, bbox_1=None)]
    assert view.unfit([f"r{n}" for n in range(5)], rows) == {
        "r1": "row r1: no cue box for image 2 (bbox_2), which the view crop needs",
        "r2": "row r2: the cue box bbox_1: [395, 1, 9, 9] is no box inside the picture of 400 x 200",
        "r3": "row r3, cues.jsonl: the cue box bbox_2: [395, 1, 9, 9] is no box inside the picture of 400 x 200",
    }
    assert View("full").unfit(["r1"], rows) == {}
    with pytest.raises(UsageError, match="cues.jsonl: the data has no row r3, for which there are boxes"):
        view.unfit(["r0", "r1"], rows)


def test_a_picture_that_is_turned_on_view_is_as_large_as_it_is_seen():
    image, out = Image.new("RGB", (40, 30)), io.BytesIO()
    exif = image.getexif()
    exif[ExifTags.Base.Orientation] = 6
    image.save(out, "JPEG", exif=exif)
    assert upright_size(out.getvalue()) == Picture(out.getvalue()).rgb.size == (30, 40)


ROWS = [
    {
        "id": f"{task.label}-{n}",
        "track": task.track,
        "task": task.name,
        "group_id": f"{task.label}-g{n // 5}",
        "answer": "A",
    }
    for task in TASKS
    for n in range(task.count)
]


def test_a_tenth_is_the_floor_of_each_task_and_keeps_groups_together():
    chosen = tenth(ROWS)
    assert len(chosen) == len(set(chosen)) == 74
    by_id = {row["id"]: row for row in ROWS}
    per_task = Counter((by_id[i]["track"], by_id[i]["task"]) for i in chosen)
    assert per_task == {task.key: task.count // 10 for task in TASKS}
    groups = Counter(by_id[i]["group_id"] for i in chosen)
    assert sum(size != 5 for size in groups.values()) <= len(TASKS)
    assert len(groups) == sum(math.ceil(task.count // 10 / 5) for task in TASKS)
    assert chosen == tenth(reversed(ROWS))
    assert tenth(ROWS, seed=1) != chosen


def test_views_are_compared_on_the_items_that_all_hold(tmp_path):
    rows = ROWS[:3]
    runs = {
        "full": {rows[0]["id"]: {"prediction": "A"}, rows[1]["id"]: {"prediction": "B"}},
        "crop": {
            rows[0]["id"]: {"prediction": "A"},
            rows[1]["id"]: {"prediction": "A"},
            rows[2]["id"]: {"prediction": None},
        },
    }
    lines = compare(rows, runs)
    everything = {line["view"]: (line["right"], line["n"]) for line in lines if line["task"] == "all"}
    assert everything == {"full": (1, 2), "crop": (2, 2)}
    as_json, as_csv = write_comparison(lines, tmp_path / "out")
    assert json.loads(as_json.read_text()) == lines
    assert [row["accuracy"] for row in csv.DictReader(as_csv.read_text().splitlines())] == ["0.5", "0.5", "1.0", "1.0"]


def card(kind="full", model="m", **view):
    generation = {"max_new_tokens": 9} | ({} if kind == "full" else {"view": {"kind": kind, **view}})
    prompt = {"sha256": "p"}
    return {"benchmark": "dicobench", "model": {"id": model}, "prompt": prompt, "generation": generation}


CARDS = {
    "another view": ({"full": card("crop")}, "made with the view crop"),
    "an unknown view": ({"zoom": card()}, "unknown view"),
    "another model": ({"full": card(), "crop": card("crop", "n")}, "model.id"),
    "another margin": ({"crop": card("crop", margin=1), "crop-resize": card("crop-resize", margin=2)}, "cut differ"),
    "another benchmark": ({"full": card() | {"benchmark": "scry"}}, "no run of dicobench"),
}


@pytest.mark.parametrize(("cards", "message"), CARDS.values(), ids=CARDS)
def test_runs_that_cannot_be_compared_are_refused(cards, message):
    with pytest.raises(UsageError, match=message):
        check_views(cards)


def test_runs_that_differ_in_the_view_alone_are_compared():
    check_views({kind: card(kind, margin=1) for kind in ("full", "crop", "crop-resize")})
