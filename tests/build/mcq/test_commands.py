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


MODEL = ["differential", "--photos", "{photos}", "--task", "attribute", "--out", "{out}"]
WRONG |= {
    "a model's words for the procedural editor": [*MODEL, "--instructor", "org/model", "--endpoint", "http://x/v1"],
    "instructions that are not there": [*MODEL, "--instructor", "none.jsonl"],
    "an endpoint for rules": [*MODEL, "--endpoint", "http://x/v1"],
    "a flux model for the procedural editor": [*MODEL, "--flux-model", "x"],
}


@pytest.mark.parametrize("words", WRONG.values(), ids=WRONG)
def test_a_wrong_call_is_exit_code_2(photos, tmp_path, capsys, words):
    filled = [word.format(photos=photos, out=tmp_path / "out") for word in words]
    assert main(["build", "dicobench", *filled]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")


def test_a_model_is_not_asked_for_words_that_the_editor_cannot_read(photos, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("diffspot_hf.models.load_model", pytest.fail)
    words = ["--photos", photos, "--instructor", "org/model", "--task", "attribute", "--out", tmp_path / "out"]
    assert main(["build", "dicobench", "differential", *map(str, words)]) == 2
    assert "which the procedural editor does not read; add --editor flux" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


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


@pytest.fixture
def built(photos, tmp_path):
    out = tmp_path / "items"
    words = ["build", "dicobench", "differential", "--photos", photos, "--task", "attribute", "--out", out]
    assert main([str(word) for word in words]) == 0
    return out


@pytest.mark.parametrize(("rejected", "code"), [((), 0), ((2,), 1)], ids=["all accepted", "one rejected"])
def test_what_people_accepted_becomes_a_data_set_and_the_rest_a_queue(built, tmp_path, capsys, rejected, code):
    rows = [json.loads(line) for line in (built / "test.jsonl").read_text().splitlines()]
    entries = [
        {"row_id": row["id"], "decision": "reject" if n in rejected else "accept", "checks": {}, "note": "too plain"}
        for n, row in enumerate(rows)
    ]
    export = {"format": "diffspot-hf/decisions", "version": 1, "mode": "verify", "decisions": entries}
    (tmp_path / "verify.json").write_text(json.dumps(export))
    words = ["review", built, "--decisions", tmp_path / "verify.json", "--out", tmp_path / "reviewed"]
    assert main(["build", "dicobench", *map(str, words)]) == code
    queue = (tmp_path / "reviewed" / "review" / "fallback.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in queue] == [rows[n]["id"] for n in rejected]
    if not rejected:
        assert main(["build", "dicobench", "check", str(tmp_path / "reviewed")]) == 0
    else:
        assert "no group is accepted in full" in capsys.readouterr().err


def test_runs_of_three_views_become_one_table(built, tmp_path, capsys):
    for view in ("full", "crop", "crop-resize"):
        words = ["--model", "oracle", "--data", built, "--view", view, "--out", tmp_path / view]
        assert main(["run", "dicobench", *map(str, words), "--no-progress"]) == 0
    named = [f"{view}={tmp_path / view}" for view in ("full", "crop", "crop-resize")]
    assert main(["build", "dicobench", "views", *named, "--out", str(tmp_path / "views")]) == 0, capsys.readouterr()
    written = sorted(path.suffix for path in (tmp_path / "views").iterdir())
    assert written == [".csv", ".json"]
    assert (
        main(["build", "dicobench", "views", named[0].replace("full", "whole", 1), "--out", str(tmp_path / "x")]) == 2
    )


def test_rows_that_a_view_cannot_show_are_refused_and_counted_and_the_rest_is_asked_and_scored(built, tmp_path, capsys):
    rows = [json.loads(line) for line in (built / "test.jsonl").read_text().splitlines()]
    rows[1]["bbox_2"] = None
    (built / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    box = {"x": 1500, "y": 0, "w": 200, "h": 50}
    (tmp_path / "cues.jsonl").write_text(json.dumps({"id": rows[3]["id"], "bbox_1": box, "bbox_2": box}))
    words = ["--model", "oracle", "--data", built, "--view", "crop", "--view-cues", tmp_path / "cues.jsonl"]
    words = [*map(str, words), "--out", str(tmp_path / "run"), "--no-progress"]
    for _ in ("begun", "again"):
        assert main(["run", "dicobench", *words]) == 0, capsys.readouterr()
        assert f"2 rows or files of {built} cannot be used and were left out" in capsys.readouterr().err
    card = json.loads((tmp_path / "run" / "run.json").read_text())["data"]
    assert (card["rows"], card["refused"], card["left_out"]) == (3, 2, [rows[1]["id"], rows[3]["id"]])
    assert main(["score", str(tmp_path / "run"), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert (scores["n_total"], scores["micro_accuracy"]) == (3, 1.0)
    assert main(["run", "dicobench", *words, "--strict"]) == 2
    assert f"row {rows[1]['id']}: no cue box for image 2" in capsys.readouterr().err


def test_a_view_that_no_row_can_be_shown_in_is_refused(built, tmp_path, capsys):
    rows = [json.loads(line) | {"bbox_1": None} for line in (built / "test.jsonl").read_text().splitlines()]
    (built / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["--model", "oracle", "--data", str(built), "--view", "crop", "--out", str(tmp_path / "run")]
    assert main(["run", "dicobench", *words]) == 2
    assert "no row can be asked, the first because: row" in capsys.readouterr().err
