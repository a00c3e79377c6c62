"""Whole builds: the same seed gives the same pairs, whoever works and however often it is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from diffspot_hf.build.web import build, recheck
from diffspot_hf.errors import UsageError

pytestmark = pytest.mark.browser

STYLE = (
    "<style>body{margin:0;font:16px/24px 'DejaVu Sans',sans-serif}header{background:#134;color:#fff;padding:16px 24px;"
    "height:24px}main{padding:24px}.card{border:1px solid #889;border-radius:8px;padding:16px;width:320px;height:150px;"
    "float:left;margin:0 16px 16px 0}button{padding:8px 16px;border:0;border-radius:4px;background:#06c;color:#fff}"
    "</style>"
)
TOPICS = ("Ferries", "Tickets", "Harbour")
OPERATORS = ["font_weight", "color", "position"]
OPTIONS = {"operators": OPERATORS, "per_cell": 2, "no_diff": 2, "seed": 5, "progress": False}


def page(topic: str) -> str:
    cards = "".join(
        f"<div class=card><h2>{topic} {name}</h2><p>Read the {name} notes about {topic.lower()} here.</p>"
        f"<button>Open {name}</button></div>"
        for name in ("morning", "evening", "winter", "summer")
    )
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>{topic}</title>{STYLE}"
    return f"{head}<header>{topic} office</header><main>{cards}</main>"


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "harbour"
    folder.mkdir()
    for topic in TOPICS:
        (folder / f"{topic.lower()}.html").write_text(page(topic))
    return folder


@pytest.fixture(scope="module")
def built(pages, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("built") / "out"
    build(pages, out, **OPTIONS)
    return out


def rows_of(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / "test.jsonl").read_text().splitlines()]


def test_every_cell_is_full_and_an_independent_look_agrees(built):
    rows = rows_of(built)
    cells = Counter((row["operator"], row["difficulty"]) for row in rows)
    assert cells == {(o, t): 2 for o in OPERATORS for t in ("easy", "medium", "hard")} | {("", "no_diff"): 2}
    assert recheck(built) == []
    # Without any of this package's code: every changed pixel in the box, no-diff pairs identical.
    for row in rows:
        before, after = (np.asarray(Image.open(built / row[f"image_{side}"])) for side in ("before", "after"))
        ys, xs = np.nonzero((before != after).any(axis=2))
        if row["task_type"] == "no_diff":
            assert len(xs) == 0
        else:
            x, y, w, h = (row[f"target_bbox_{side}"] for side in "xywh")
            assert x <= xs.min() <= xs.max() < x + w
            assert y <= ys.min() <= ys.max() < y + h
            assert row["target_diff"] == len(xs)


OFFICIAL = {
    "id": str, "image_before": str, "image_after": str, "user_query": str, "ground_truth_diff": str,
    "mutations_text": list, "mutation_types": list, "mutation_dicts_json": list, "task_type": str, "difficulty": str,
    "domain": str,
    "pixel_diff": float, "target_diff": int, "outside_diff": int, "target_bbox_x": int, "target_bbox_y": int,
    "target_bbox_w": int, "target_bbox_h": int,
}  # fmt: skip
OURS = {"page_id", "operator", "family", "mechanism", "selector", "magnitude", "meta"}


def test_rows_have_the_official_columns_and_records(built):
    for row in rows_of(built):
        assert set(row) == set(OFFICIAL) | OURS
        assert {name: type(row[name]) for name in OFFICIAL} == OFFICIAL
        assert all(isinstance(row[name], str) for name in OURS)
        lists = [row[name] for name in ("mutations_text", "mutation_types", "mutation_dicts_json")]
        meta = json.loads(row["meta"])
        assert set(meta["captures"]) == {"before", "after"}
        assert meta["prepared"] == []
        if row["task_type"] == "no_diff":
            assert lists == [[], [], []]
            assert (row["pixel_diff"], row["target_diff"], row["outside_diff"], row["target_bbox_x"]) == (0, 0, 0, -1)
            assert meta["captures"]["before"] == meta["captures"]["after"]
            assert meta["loads"] == 2
        else:
            assert [len(found) for found in lists] == [1, 1, 1]
            record = json.loads(row["mutation_dicts_json"][0])
            assert set(record) == {"type", "element", "property", "direction", "old_value", "new_value", "template"}
            assert row["mutation_types"] == [f"mutate_{record['type']}"]
            assert record["element"] in record["template"]
            assert row["outside_diff"] == 0
            assert row["magnitude"]


def test_rows_share_no_element_and_spread_over_pages(built):
    rows = [row for row in rows_of(built) if row["operator"]]
    assert max(Counter((row["page_id"], row["selector"], row["operator"]) for row in rows).values()) == 1
    by_page = Counter(row["page_id"] for row in rows_of(built))
    assert max(by_page.values()) - min(by_page.values()) <= 1
    ways = Counter((row["operator"], json.loads(row["meta"])["direction"]) for row in rows)
    assert abs(ways["color", "lighter"] - ways["color", "darker"]) <= 2


def test_two_workers_give_the_same_rows_and_pixels(pages, built, tmp_path):
    build(pages, tmp_path / "out", workers=2, **OPTIONS)
    assert (tmp_path / "out" / "test.jsonl").read_bytes() == (built / "test.jsonl").read_bytes()
    for path in sorted((built / "images").iterdir()):
        one, other = (np.asarray(Image.open(folder / "images" / path.name)) for folder in (built, tmp_path / "out"))
        assert np.array_equal(one, other)


def test_other_seed_gives_other_pairs(pages, built, tmp_path):
    build(pages, tmp_path / "out", **OPTIONS | {"seed": 6, "operators": ["color"], "no_diff": 0, "per_cell": 1})
    mine = {row["id"] for row in rows_of(tmp_path / "out")}
    assert mine - {row["id"] for row in rows_of(built)}


def test_killed_build_goes_on_where_it_was(pages, built, tmp_path):
    out = tmp_path / "out"
    code = f"from diffspot_hf.build.web import build\nbuild({str(pages)!r}, {str(out)!r}, **{OPTIONS!r})"
    for wanted in ("survey.jsonl", "tasks.jsonl"):
        process = subprocess.Popen([sys.executable, "-c", code])
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            path = out / ".work" / wanted
            if path.exists() and path.read_bytes().count(b"\n") >= 2:
                break
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not json.loads((out / "build.json").read_text())["complete"]
    # A torn line and a stray picture, as a power cut would leave them.
    with (out / "test.jsonl").open("ab") as stream:
        stream.write(b'{"id": "torn')
    (out / "images" / ".part").write_bytes(b"half")
    build(pages, out, **OPTIONS)
    assert (out / "test.jsonl").read_bytes() == (built / "test.jsonl").read_bytes()
    assert sorted(path.name for path in (out / "images").iterdir()) == sorted(
        path.name for path in (built / "images").iterdir()
    )
    assert not (out / ".work").exists()


def test_finished_build_is_not_done_again(pages, built):
    before = (built / "report.json").stat().st_mtime_ns
    report = build(pages, built, **OPTIONS)
    assert report["rows"] == 20
    assert (built / "report.json").stat().st_mtime_ns == before


def test_fresh_renders_of_both_sides_equal_the_stored_pictures(pages, tmp_path):
    build(pages, tmp_path / "out", operators=["text"], per_cell=1, no_diff=1, progress=False)
    assert recheck(tmp_path / "out", pages) == []
    path = pages / "ferries.html"
    text = path.read_text()
    try:
        for file in pages.glob("*.html"):
            file.write_text(file.read_text().replace("#134", "#135"))
        assert any("another picture" in problem for problem in recheck(tmp_path / "out", pages))
    finally:
        for topic in TOPICS:
            (pages / f"{topic.lower()}.html").write_text(page(topic))
        assert path.read_text() == text


def test_cell_that_cannot_be_filled_is_an_error_or_a_named_gap(pages, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(UsageError, match=r"gradient/easy lacks 1, gradient/medium lacks 1"):
        build(pages, out, operators=["gradient", "color"], no_diff=0, progress=False)
    assert not json.loads((out / "build.json").read_text())["complete"]
    report = build(pages, out, operators=["gradient", "color"], no_diff=0, progress=False, allow_partial=True)
    assert report["missing"] == {"gradient/easy": 1, "gradient/medium": 1, "gradient/hard": 1}
    assert report["rows"] == 3
    assert "Not filled" in (out / "report.md").read_text()
    assert recheck(out) == []


def test_report_counts_what_was_refused(built):
    report = json.loads((built / "report.json").read_text())
    for one in report["operators"].values():
        assert one["captured"] >= one["kept"] >= 6
        assert one["box_over_own_box"]["median"] >= 1
    assert sum(report["domains"].values()) == sum(report["sources"].values()) == 20


def test_planted_faults_are_found(built, tmp_path):
    import shutil

    out = tmp_path / "out"
    shutil.copytree(built, out)
    rows = rows_of(out)
    row = next(row for row in rows if row["operator"] == "position")
    picture = np.array(Image.open(out / row["image_after"]))
    picture[799, 1279] ^= 1
    Image.fromarray(picture).save(out / row["image_after"], lossless=True)
    rows[0]["id"] = rows[1]["id"]
    (out / "test.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    problems = recheck(out)
    assert any("1 outside" in problem for problem in problems)
    assert any("not the one that was captured" in problem for problem in problems)
    assert any("the same id 2 times" in problem for problem in problems)
