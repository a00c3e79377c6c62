"""What Scry sends, how it is configured, and the exact figures of its static controls on the sample."""

from __future__ import annotations

import json

import pytest
from PIL import Image

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.benchmarks.scry import Scry
from diffspot_hf.cli import main
from diffspot_hf.errors import UsageError
from diffspot_hf.options import ModelOptions
from diffspot_hf.report.scry import tables
from diffspot_hf.running.rowset import RowSet
from diffspot_hf.scoring.boxes import FRAMES, write_box
from diffspot_hf.types import ImageSeen, Response


@pytest.fixture(scope="module")
def rows():
    return RowSet(benchmark("scry"), "sample")


def test_the_alias_is_the_same_benchmark():
    assert isinstance(benchmark("scry_design_diff"), Scry)


def test_controls_and_screens_with_issues_are_asked_alike(rows):
    texts = {rows.request(i, Scry().prompt).text for i in rows.ids}
    assert len(texts) == 1
    row = rows.row(rows.ids[0])
    first, second = rows.request(rows.ids[0], "").pictures
    assert (first.data, second.data) == (row["image_a"]["bytes"], row["image_b"]["bytes"])


@pytest.mark.parametrize("frame", FRAMES)
def test_boxes_are_read_in_the_frame_they_were_asked_for(rows, frame):
    scry = Scry(frame)
    size, processed = (780, 1688), (390, 844)
    box = {"x": 0.25, "y": 0.5, "w": 0.25, "h": 0.125}
    asked = box if frame == "xywh_norm" else write_box(box, frame, size, processed)
    reply = json.dumps({"issues": [{"labels": ["Typography"], "note": "", "box_a": None, "box_b": asked}]})
    images = (ImageSeen(*size, "digest", *processed),) * 2
    prediction = scry.read({}, Response(id="x", text=reply, images=images))
    assert prediction.state == "ok"
    assert prediction.value[0]["box_b"] == pytest.approx(box)


def test_a_frame_is_declared_or_known_never_guessed():
    assert Scry().configured("oracle", ModelOptions()).box_frame == "xywh_norm"
    assert Scry().configured("Qwen/Qwen3-VL-8B-Instruct", ModelOptions()).box_frame == "xyxy_1000"
    assert Scry().configured("someone/else", ModelOptions(box_frame="yxyx_1000")).box_frame == "yxyx_1000"
    with pytest.raises(UsageError, match="say so with --box-frame"):
        Scry().configured("someone/else", ModelOptions())
    with pytest.raises(UsageError, match="unknown box frame"):
        Scry().configured("someone/else", ModelOptions(box_frame="corners"))


def test_an_unknown_frame_is_exit_code_2_before_any_row(capsys, tmp_path):
    code = main(["run", "scry", "--model", "someone/else", "--out", str(tmp_path / "run")])
    assert code == 2
    assert capsys.readouterr().err.startswith("error: someone/else: it is not known in which frame")
    assert not (tmp_path / "run").exists()


CONTROLS = {
    "oracle": (1.0, 1.0, 1.0, 1.0, 1.0),
    "oracle-notes": (1.0, 1.0, 1.0, 1.0, 1.0),
    "always-none": (0.0, 0.0, 0.0, 0.0, 1.0),
    "always-no-issue": (0.0, 0.0, 0.0, 0.0, 1.0),
    "always-generic": (0.0, 0.0, 0.0, 0.0, 0.0),
    "always-generic-issue": (0.0, 0.0, 0.0, 0.0, 0.0),
}
FIGURES = ("known_issue_recall", "diagnostic_precision", "issue_f1", "diff_screen_recall", "no_diff_specificity")


@pytest.mark.parametrize(("model", "expected"), CONTROLS.items(), ids=CONTROLS)
def test_static_controls_reach_their_exact_figures(capsys, tmp_path, rows, model, expected):
    out = str(tmp_path / "run")
    assert main(["run", "scry", "--model", model, "--out", out, "--no-progress"]) == 0
    capsys.readouterr()
    assert main(["score", out, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert tuple(scores[name] for name in FIGURES) == expected
    assert (scores["n_total"], sum(scores["health"].values())) == (len(rows), len(rows))
    assert main(["score", out]) == 0
    assert "Kimi" in capsys.readouterr().out


def test_the_generic_control_flags_every_control_and_predicts_one_issue_a_screen(capsys, tmp_path, rows):
    out = str(tmp_path / "run")
    main(["run", "scry", "--model", "always-generic", "--out", out, "--no-progress"])
    main(["score", out, "--json"])
    scores = json.loads((tmp_path / "run" / "scores.json").read_text())
    assert scores["predicted"] == len(rows)
    assert scores["flagged_controls"] == scores["n_controls"] == len(scores["flagged_control_ids"])


def test_a_failed_reply_has_no_issues_and_its_state():
    assert Scry().read({}, Response(id="x", text="", finish_reason="error")).state == "error"


def test_a_scry_run_needs_no_judge(capsys, tmp_path):
    out = str(tmp_path / "run")
    main(["run", "scry", "--model", "always-none", "--out", out, "--no-progress"])
    capsys.readouterr()
    assert main(["judge", out]) == 2
    assert "needs no judge" in capsys.readouterr().err


def own_screens(folder, issues):
    """One pair a list of issues."""
    (folder / "images").mkdir(parents=True)
    Image.new("RGB", (39, 84), "white").save(folder / "images/a.png")
    lines = [
        {"id": f"s{n}", "image_a": "images/a.png", "image_b": "images/a.png", "issues": each}
        for n, each in enumerate(issues)
    ]
    (folder / "test.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


BOX = {"x": 0.1, "y": 0.1, "w": 0.2, "h": 0.2}


def test_labels_of_the_data_are_read_as_those_of_a_reply(tmp_path, capsys):
    spelt = (["typography"], ["Colour / Background"], ["icon_nav", "Icon/Nav"], [" Typography ", "Typography"], ["New"])
    data = own_screens(tmp_path / "data", [[{"labels": list(labels), "note": "", "box_a": BOX}] for labels in spelt])
    assert main(["run", "scry", "--model", "oracle", "--data", str(data), "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    main(["score", str(tmp_path / "run"), "--json"])
    scores = json.loads(capsys.readouterr().out)
    assert (scores["known_issue_recall"], scores["diagnostic_precision"]) == (1.0, 1.0)
    labels = [row["issues"][0]["labels"] for row in RowSet(Scry(), str(data)).plain]
    assert labels == [["Typography"], ["Color/Background"], ["Icon/Nav"], ["Typography"], ["New"]]


@pytest.mark.parametrize("model", ["oracle", "always-generic", "pixel-diff"])
def test_built_in_models_answer_in_one_frame(capsys, tmp_path, model):
    words = ["run", "scry", "--model", model, "--box-frame", "xyxy_1000", "--out", str(tmp_path / "run")]
    assert main(words) == 2
    assert "answers in xywh_norm" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


ODD_BOXES = {
    "too large a number": (BOX | {"x": 10**400}, "numbers x, y, w, h"),
    "no number": (BOX | {"x": float("nan")}, "finite numbers"),
    "truth values": (BOX | {"w": True}, "numbers x, y, w, h"),
    "texts": (BOX | {"w": "0.1"}, "numbers x, y, w, h"),
    "pixels": ({"x": 10, "y": 10, "w": 20, "h": 20}, "fractions of the picture"),
}


@pytest.mark.parametrize(("box", "message"), ODD_BOXES.values(), ids=ODD_BOXES)
def test_a_box_that_is_none_costs_its_row_only(tmp_path, box, message):
    odd = {"labels": ["Typography"], "note": "", "box_a": box}
    data = own_screens(tmp_path, [[odd], []])
    rows = RowSet(Scry(), str(data))
    assert rows.ids == ["s1"]
    assert message in rows.refused[0]
    assert "line 1 (id 's0')" in rows.refused[0]


def imported(tmp_path, rows, frame, predictions, capsys):
    """Scores of the oracle's issues, given as other tools would write them, for as many rows as `predictions`."""
    file = tmp_path / "p.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in predictions))
    out = tmp_path / "run"
    code = main(["import", "scry", "--predictions", str(file), "--out", str(out), "--model", "m", *frame])
    said = capsys.readouterr().err
    assert code == (0 if len(predictions) == len(rows) else 1), said
    assert main(["score", str(out), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert main(["score", str(out)]) == 0
    return scores, capsys.readouterr().out, said


def as_written(rows, frame):
    """A prediction for each row of the sample: its true issues with boxes in `frame`."""
    size, processed = (780, 1688), (390, 844)
    lines = []
    for row in rows.plain:
        issues = [
            {
                "labels": issue["labels"],
                **{
                    side: issue[side] and (write_box(issue[side], frame, size, processed) if frame else issue[side])
                    for side in ("box_a", "box_b")
                },
            }
            for issue in row["issues"]
        ]
        seen = {"width": 780, "height": 1688, "sha256": "", "processed_width": 390, "processed_height": 844}
        lines.append({"id": row["id"], "prediction": {"issues": issues}, "images": [seen, seen]})
    return lines


@pytest.mark.parametrize("frame", [frame for frame in FRAMES if frame != "xywh_norm"])
def test_imported_boxes_are_read_in_the_frame_that_is_declared(tmp_path, capsys, rows, frame):
    lines = as_written(rows, frame)
    if frame != "xyxy_px_processed":  # only there the sizes after processing have to be given
        lines = [{key: value for key, value in line.items() if key != "images"} for line in lines]
    scores, _, _ = imported(tmp_path, rows, ["--box-frame", frame], lines, capsys)
    assert (scores["known_issue_recall"], scores["boxes"]["dropped"]) == (1.0, 0)


def test_imported_boxes_in_a_frame_that_was_not_declared_are_counted_where_the_figures_are_read(tmp_path, capsys, rows):
    lines = as_written(rows, "xyxy_1000")
    given = sum(bool(issue[side]) for row in rows.plain for issue in row["issues"] for side in ("box_a", "box_b"))
    scores, table, _ = imported(tmp_path, rows, [], lines, capsys)
    assert (scores["known_issue_recall"], scores["boxes"]) == (0.0, {"dropped": given, "clipped": 0})
    assert f"m: {given} boxes could not be used" in table


def test_rows_that_were_not_imported_are_missing_and_lower_the_coverage(tmp_path, capsys, rows):
    scores, _, said = imported(tmp_path, rows, [], as_written(rows, None)[:5], capsys)
    assert (scores["health"]["missing"], scores["health"]["error"], scores["coverage"]["numerator"]) == (35, 0, 5)
    assert "35 rows have no prediction" in said


def test_precision_is_called_so_only_where_the_truth_is_exhaustive(rows):
    records = {row["id"]: {"state": "ok", "prediction": row["issues"]} for row in rows.plain}
    exhaustive = Scry().score(rows.plain, records)
    assert (exhaustive["exhaustive"], exhaustive["precision"]) == (True, 1.0)
    known = Scry().score([*rows.plain[1:], rows.plain[0] | {"meta": '{"made_from": "annotations"}'}], records)
    assert known["exhaustive"] is False
    assert "precision" not in known
    head = {"benchmark": "scry", "health": {"ok": 40}}
    said = tables([exhaustive | head | {"model": "one"}, known | head | {"model": "two"}], published=False)
    assert "In the rows of one nothing is unlabelled" in said
    assert "two: the annotations are known positives" in said


def test_issues_saved_from_a_cut_reply_are_counted(rows):
    issue = {"labels": ["other"], "note": "", "box_a": None, "box_b": {"x": 0.1, "y": 0.1, "w": 0.2, "h": 0.2}}
    cut = json.dumps({"issues": [issue, issue, issue]})[:-40]
    prediction = Scry().read({}, Response(id="x", text=cut, finish_reason="length"))
    assert (prediction.state, prediction.notes["salvaged_issues"]) == ("truncated", 2)
    record = {"state": prediction.state, "prediction": prediction.value, "notes": dict(prediction.notes)}
    scores = Scry().score(rows.plain, {rows.ids[0]: record})
    assert scores["salvaged_issues"] == 2
    head = {"benchmark": "scry", "model": "m"}
    assert "m: 2 issues were read from replies that the limit of tokens cut" in tables([scores | head], published=False)


NO_ISSUES = {
    "no issues": ({}, "no value in column issues"),
    "null as issues": ({"issues": None}, "no value in column issues"),
    "an issue without a tag": ({"issues": [{"labels": [], "box_b": {"x": 0, "y": 0, "w": 1, "h": 1}}]}, "has no tag"),
    "an issue without a box": ({"issues": [{"labels": ["other"]}]}, "has no box on either side"),
}


@pytest.mark.parametrize(("given", "message"), NO_ISSUES.values(), ids=NO_ISSUES)
def test_what_no_report_could_match_and_what_is_no_control_is_refused(tmp_path, given, message):
    Image.new("RGB", (20, 20)).save(tmp_path / "a.png")
    row = {"image_a": "a.png", "image_b": "a.png"}
    lines = [row | {"id": "good", "issues": []}, row | {"id": "bad"} | given]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = RowSet(benchmark("scry"), str(tmp_path))
    assert found.ids == ["good"]
    assert message in found.refused[0]


def test_another_reading_is_printed_and_the_standard_scores_stay(tmp_path, capsys, rows):
    out = tmp_path / "run"
    assert main(["run", "scry", "--model", "pixel-diff", "--out", str(out), "--no-progress"]) == 0
    assert main(["score", str(out)]) == 0
    standard = (out / "scores.json").read_bytes()
    capsys.readouterr()
    for words, expected in (
        (["--iou-threshold", "0.9"], ("iou_threshold", 0.9)),
        (["--matching", "greedy"], ("method", "greedy")),
        (["--malformed-controls", "abstained"], ("malformed_controls", "abstained")),
    ):
        assert main(["score", str(out), "--json", *words]) == 0
        scores = json.loads(capsys.readouterr().out)
        assert scores["settings"][expected[0]] == expected[1]
    assert json.loads(standard)["settings"]["method"] == "maximum"
    assert (out / "scores.json").read_bytes() == standard
    assert main(["score", str(out), "--iou-threshold", "0.9"]) == 0
    assert "Another reading, not written: iou_threshold 0.9" in capsys.readouterr().out
    assert main(["score", str(out), "--iou-threshold", "7"]) == 2
    assert "iou_threshold" in capsys.readouterr().err
