"""The builders from the command line, on a photograph made on the spot."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from diffspot_hf.cli import main


@pytest.fixture
def photos(tmp_path):
    """A noisy photograph with one plain object, and its listing."""
    noise = np.random.default_rng(1).integers(90, 150, (900, 1600, 3), dtype=np.uint8)
    picture = Image.fromarray(noise).resize((1600, 900), Image.Resampling.BICUBIC)
    picture.paste((180, 40, 40), (700, 400, 760, 460))
    picture.save(tmp_path / "photo.png")
    line = {"image": "photo.png", "targets": [{"box": [700, 400, 60, 60], "name": "the red square"}]}
    (tmp_path / "photos.jsonl").write_text(json.dumps(line) + "\n")
    return tmp_path / "photos.jsonl"


def test_differential_items_are_built_checked_and_answered(photos, tmp_path, capsys):
    out = tmp_path / "items"
    words = ["build", "dicobench", "differential", "--photos", photos, "--task", "attribute", "--out", out]
    assert main([str(word) for word in words]) == 0, capsys.readouterr()
    assert main(["build", "dicobench", "check", str(out)]) == 0, capsys.readouterr()
    assert main(["run", "dicobench", "--model", "oracle", "--data", str(out), "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert main(["score", str(tmp_path / "run"), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert (scores["micro_accuracy"], scores["n_total"]) == (1.0, 5)


WRONG = {
    "an unknown task": ["differential", "--photos", "{photos}", "--task", "colour", "--out", "{out}"],
    "flux without a model": [
        *("differential", "--photos", "{photos}", "--task", "attribute", "--editor", "flux", "--out", "{out}"),
    ],
    "an unknown source": ["differential", "--source", "coco", "x", "--task", "attribute", "--out", "{out}"],
    "a missing listing": ["differential", "--photos", "none.jsonl", "--task", "attribute", "--out", "{out}"],
    "no view": ["views", "runs/x", "--out", "{out}"],
}


@pytest.mark.parametrize("words", WRONG.values(), ids=WRONG)
def test_a_wrong_call_is_exit_code_2(photos, tmp_path, capsys, words):
    filled = [word.format(photos=photos, out=tmp_path / "out") for word in words]
    assert main(["build", "dicobench", *filled]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("error: ")


@pytest.mark.parametrize(("good", "code"), [(4, 0), (1, 2)], ids=["enough", "too few"])
def test_listed_instructions_meet_their_photograph_and_refusals_are_shown(photos, tmp_path, capsys, good, code):
    lines = [
        {
            "image": "photo.png",
            "target": "the red square",
            "instruction": f"Paint it {n}.",
            "statement": f"It has colour {n}.",
            "operation": {"op": "recolour", "rgb": [40, 40 * n, 200] if n < good else ["x"]},
        }
        for n in range(5)
    ]
    (tmp_path / "i.jsonl").write_text("\n".join(map(json.dumps, lines)))
    words = ["--photos", photos, "--instructor", tmp_path / "i.jsonl", "--task", "attribute", "--out", tmp_path / "out"]
    assert main(["build", "dicobench", "differential", *map(str, words)]) == code
    shown = capsys.readouterr().err
    assert "rgb: three numbers" in shown
    assert f"refused; all of them are in {tmp_path / 'out' / 'build.json'}" in shown
    if code == 0:
        assert main(["build", "dicobench", "check", str(tmp_path / "out")]) == 0


def test_whatever_is_refused_stands_in_the_report_listed_lines_and_unmatched_instructions_too(photos, tmp_path, capsys):
    good = {"image": "photo.png", "target": "the red square", "instruction": "Paint it."}
    lines = [
        good | {"statement": f"It has colour {n}.", "operation": {"op": "recolour", "rgb": [40, 40 * n, 200]}}
        for n in range(4)
    ]
    lines += [
        good | {"statement": "It is gone.", "target": "the green square"},
        good | {"statement": "It is gone.", "image": "foto.png"},
        good | {"statement": ""},
    ]
    (tmp_path / "i.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with photos.open("a") as file:
        file.write('{"image": "none.png", "targets": []}\n')
    words = ["--photos", photos, "--instructor", tmp_path / "i.jsonl", "--task", "attribute", "--out", tmp_path / "out"]
    assert main(["build", "dicobench", "differential", *map(str, words)]) == 0
    refused = "\n".join(json.loads((tmp_path / "out" / "build.json").read_text())["refused"])
    for message in (
        "i.jsonl, line 5: the photographs hold no target named 'the green square' in 'photo.png'",
        "i.jsonl, line 6: the photographs hold no target named 'the red square' in 'foto.png'",
        "i.jsonl, line 7: image, instruction and statement must be texts",
        "none.png",
    ):
        assert message in refused
    assert "4 refused" in capsys.readouterr().err
