"""What people do around a run, from the command line: rows that cannot be used are named, and the rest goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PIL import Image

import diffspot_hf
from diffspot_hf.cli import main

SAMPLES = Path(diffspot_hf.__file__).parent / "data"
GOOD = {"image_a": "a.png", "image_b": "b.png"}
REFUSED = {
    "outside": ({"image_b": "../b.png"}, "leaves the data folder"),
    "absolute": ({"image_b": "/etc/hostname"}, "absolute paths are refused"),
    "url": ({"image_b": "https://example.invalid/b.png"}, "no URLs"),
    "gone": ({"image_b": "none.png"}, "no such file"),
    "broken": ({"image_b": "broken.png"}, "image_b"),
    "a folder": ({"image_b": "folder.png"}, "folder.png"),
    "null": ({"image_b": None}, "a path relative to the manifest is expected"),
    "twice": ({"id": "first"}, "id 'first' stands twice, first in line 1"),
}


@pytest.fixture
def screens(tmp_path):
    folder = tmp_path / "screens"
    (folder / "folder.png").mkdir(parents=True)
    for name, colour in (("a.png", "white"), ("b.png", "silver")):
        Image.new("RGB", (40, 80), colour).save(folder / name)
    Image.new("RGB", (40, 80), "red").save(tmp_path / "b.png")
    (folder / "broken.png").write_bytes((folder / "a.png").read_bytes()[:40])
    rows = [GOOD | {"id": "first"}, *(GOOD | {"id": name} | change for name, (change, _) in REFUSED.items())]
    lines = [*map(json.dumps, rows), '{"id": "torn', json.dumps(GOOD | {"id": "last"})]
    (folder / "test.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_a_page_shows_what_can_be_shown_and_names_the_rest(screens, tmp_path, capsys):
    assert main(["page", "annotate", "--data", str(screens), "--out", str(tmp_path / "page")]) == 0
    said = capsys.readouterr().err.splitlines()
    assert len(said) == len(REFUSED) + 1
    for number, (line, (_, reason)) in enumerate(zip(said, REFUSED.values(), strict=False), start=2):
        assert line.startswith(f"refused: {screens / 'test.jsonl'}, line {number}")
        assert reason in line
    text = (tmp_path / "page" / "index.html").read_text()
    assert '"id": "first"' in text
    assert '"id": "last"' in text
    assert '"id": "gone"' not in text


def test_a_strict_page_stops_at_the_first(screens, tmp_path, capsys):
    assert main(["page", "annotate", "--data", str(screens), "--out", str(tmp_path / "page"), "--strict"]) == 2
    assert "line 2" in capsys.readouterr().err
    assert not (tmp_path / "page").exists()


@pytest.fixture
def study(tmp_path, capsys):
    """A run of the oracle on three screens, scored, and a manifest of both."""
    rows = (SAMPLES / "scry_design_diff" / "test.jsonl").read_text().splitlines()[:3]
    shutil.copytree(SAMPLES / "scry_design_diff" / "images", tmp_path / "data" / "images")
    (tmp_path / "data" / "test.jsonl").write_text("\n".join(rows) + "\n")
    run = ["--data", str(tmp_path / "data"), "--out", str(tmp_path / "runs/oracle"), "--no-progress"]
    assert main(["run", "scry", "--model", "oracle", *run]) == 0
    assert main(["score", str(tmp_path / "runs/oracle")]) == 0
    manifest = tmp_path / "manifest.json"
    assert main(["manifest", "make", str(tmp_path / "data"), str(tmp_path / "runs"), "--out", str(manifest)]) == 0
    capsys.readouterr()
    return manifest


def test_a_manifest_that_fits_its_files_is_sound(study, capsys):
    assert main(["manifest", "check", str(study)]) == 0
    assert "nothing changed" in capsys.readouterr().out


FORGED = {
    "a figure": ("runs", {"known_issue_recall": 0.99}, "known_issue_recall is 0.99 there, 1.0 by the files"),
    "a count": ("data", {"rows": 999}, "rows is 999 there, 3 by the files"),
    "the audit queue": ("runs", {"audit_queue": 5}, "audit_queue is 5 there, 0 by the files"),
    "another run": ("runs", {"path": "runs/none"}, "runs, runs/none: "),
}


@pytest.mark.parametrize(("part", "change", "message"), FORGED.values(), ids=FORGED)
def test_a_summary_that_the_files_do_not_bear_out_is_named(study, capsys, part, change, message):
    made = json.loads(study.read_text())
    made[part][0] |= change
    study.write_text(json.dumps(made))
    assert main(["manifest", "check", str(study)]) == 1
    assert message in capsys.readouterr().out


@pytest.mark.parametrize("name", ["diffspot", "scry_design_diff", "dicobench"])
def test_one_command_checks_every_built_set(name, capsys):
    assert main(["build", "check", str(SAMPLES / name)]) == 0
    assert "0 problems" in capsys.readouterr().out


def test_screens_that_people_annotated_cannot_be_checked_from_pixels(tmp_path, capsys):
    (tmp_path / "test.jsonl").write_text('{"id": "x", "issues": []}\n')
    assert main(["build", "check", str(tmp_path)]) == 2
    assert "no pixel proves what they marked" in capsys.readouterr().err
