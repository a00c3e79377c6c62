"""What people do around a run, from the command line: rows that cannot be used are named, and the rest goes on."""

from __future__ import annotations

import json

import pytest
from PIL import Image

from diffspot_hf.cli import main

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
