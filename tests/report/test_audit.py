"""The audit queue is what matched nothing; decisions become rates with intervals; no cell becomes a formula."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.cli import main
from diffspot_hf.errors import UsageError
from diffspot_hf.report.audit import Audited, audited, markdown, queue, summarize
from diffspot_hf.report.decisions import safe_cell, write_csv
from diffspot_hf.rows import iter_jsonl
from diffspot_hf.running.folder import RunFolder
from diffspot_hf.running.rowset import RowSet
from diffspot_hf.running.runner import Settings, run
from diffspot_hf.running.score_run import score_run
from diffspot_hf.running.store import write_lines
from diffspot_hf.types import Response

SCRY = benchmark("scry")
FALSE = {"labels": ["Typography"], "note": "=HYPERLINK(1)", "box_a": {"x": 0.9, "y": 0.9, "w": 0.05, "h": 0.05}}


class OracleAndOneMore:
    """Every true issue, and one more that is nowhere."""

    def __init__(self, rows):
        self.rows = rows

    def describe(self):
        return {"id": "oracle and one more"}

    def generate(self, requests):
        for request in requests:
            yield Response(id=request.id, text=json.dumps({"issues": [*self.rows.truth(request.id)["issues"], FALSE]}))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    rows = RowSet(SCRY, "sample")
    out = RunFolder(tmp_path_factory.mktemp("audit") / "run")
    run(SCRY, rows, OracleAndOneMore(rows), out, Settings(prompt=SCRY.prompt, progress=False))
    return out, rows, score_run(out, rows)


def test_the_queue_holds_exactly_the_unmatched(finished):
    out, rows, scores = finished
    entries = queue(out, rows)
    assert len(entries) == scores["predicted"] - scores["matched"] == len(rows)
    assert {entry["note"] for entry in entries} == {FALSE["note"]}
    assert entries[0]["prediction_index"] == len(rows.plain[0]["issues"])


def test_the_csv_starts_no_formula(finished, tmp_path):
    out, rows, _ = finished
    write_csv(queue(out, rows), tmp_path / "queue.csv")
    with (tmp_path / "queue.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(rows)
    assert {line["note"] for line in lines} == {"'=HYPERLINK(1)"}


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\t=1", "\r\n=1", "|cmd", "%0"])
def test_no_cell_starts_a_formula(text):
    assert safe_cell(text).startswith("'")


def decisions(tmp_path, mode, entries, name=None):
    file = tmp_path / f"{name or mode}.json"
    file.write_text(json.dumps({"format": "diffspot-hf/decisions", "version": 1, "mode": mode, "decisions": entries}))
    return file


def test_decisions_adjust_precision_and_specificity(finished, tmp_path):
    out, rows, scores = finished
    entries = queue(out, rows)[:10]
    answers = ["real"] * 6 + ["not_a_defect"] * 3 + ["unsure"]
    audit = [
        {"row_id": e["row_id"], "prediction_index": e["prediction_index"], "decision": d}
        for e, d in zip(entries, answers, strict=True)
    ]
    controls = [row["id"] for row in rows.plain if not row["issues"]]
    looked = [
        {"row_id": i, "decision": d} for i, d in zip(controls, ["clean", "defect", "clean", "unsure"], strict=False)
    ]
    files = [decisions(tmp_path, "audit", audit), decisions(tmp_path, "controls", looked)]
    summary = summarize(files, audited(out, rows))
    assert summary["real_among_decided"]["value"] == 6 / 9
    adjusted = summary["adjusted_precision"]
    assert (adjusted["numerator"], adjusted["denominator"]) == (scores["matched"] + 6, scores["matched"] + 9)
    specificity = summary["audited_specificity"]
    assert [specificity[key] for key in ("value", "numerator", "denominator")] == [0.0, 0, 2]
    assert adjusted["ci95"][0] < adjusted["value"] <= adjusted["ci95"][1]
    assert "adjusted precision" in markdown(summary)


def test_a_later_decision_on_the_same_entry_replaces_the_earlier(tmp_path):
    first = decisions(tmp_path, "controls", [{"row_id": "a", "decision": "unsure"}])
    entries = [{"row_id": "a", "decision": "clean"}, {"row_id": "b", "decision": "defect"}]
    second = decisions(tmp_path, "controls", entries, "second")
    summary = summarize([first, second])
    expected = {"queue": None, "decided": 2, "clean": 1, "defect": 1, "unsure": 0, "undecided": None, "replaced": 1}
    assert summary["controls"] == expected
    assert "Earlier decisions replaced by another one: 1." in markdown(summary)


# One run by hand: "a" and "b" are annotated, with 3 and 1 predictions of which a's first matches; the others are
# controls, of which "quiet" alone is right.
RUN = Audited(
    model="m",
    matched=1,
    predicted={"a": 3, "b": 1, "quiet": 0, "loud": 1, "unreadable": 0},
    queue={("a", 1): "1a", ("a", 2): "2a", ("b", 0): "0b", ("loud", 0): "0l"},
    controls={"quiet": True, "loud": False, "unreadable": False},
)


def real(*keys, decision="real"):
    return [{"row_id": row_id, "prediction_index": index, "decision": decision} for row_id, index in keys]


def found(**by_row):
    return [{"row_id": row_id, "decision": decision} for row_id, decision in by_row.items()]


ALL = real(("a", 1), ("a", 2)) + real(("b", 0), ("loud", 0), decision="not_a_defect")
COVERAGE = ("queue", "decided", "unsure", "undecided", "partial")
FIGURES = [
    pytest.param("adjusted_precision", [], (1, 1), (4, 0, 0, 4, True), (1 / 5, 1.0), id="nothing decided"),
    pytest.param("adjusted_precision", ALL[:1], (2, 2), (4, 1, 0, 3, True), (2 / 5, 1.0), id="one of four"),
    pytest.param("adjusted_precision", ALL, (3, 5), (4, 4, 0, 0, False), (3 / 5, 3 / 5), id="all decided"),
    pytest.param(
        "adjusted_precision",
        ALL[:3] + real(("loud", 0), decision="unsure"),
        (3, 4),
        (4, 3, 1, 0, True),
        (3 / 5, 4 / 5),
        id="one unsure",
    ),
    pytest.param("real_among_decided", [], (0, 0), (4, 0, 0, 4, True), (0.0, 1.0), id="0/0 has no value"),
    pytest.param("real_among_decided", ALL, (2, 4), (4, 4, 0, 0, False), (0.5, 0.5), id="half of the queue"),
    pytest.param("audited_specificity", [], (0, 0), (3, 0, 0, 3, True), (0.0, 1.0), id="no control looked at"),
    pytest.param(
        "audited_specificity",
        found(quiet="clean", unreadable="clean", loud="defect"),
        (1, 2),
        (3, 3, 0, 0, False),
        (0.5, 0.5),
        id="a reply that is not readable is never right",
    ),
    pytest.param(
        "audited_specificity",
        found(quiet="clean", unreadable="unsure"),
        (1, 1),
        (3, 1, 1, 1, True),
        (1 / 3, 1.0),
        id="open controls may be clean or not",
    ),
]


@pytest.mark.parametrize(("name", "entries", "count", "coverage", "bounds"), FIGURES)
def test_each_figure_says_how_much_was_decided(tmp_path, name, entries, count, coverage, bounds):
    mode = "controls" if name == "audited_specificity" else "audit"
    summary = summarize([decisions(tmp_path, mode, entries)], RUN)
    figure = summary[name]
    assert (figure["numerator"], figure["denominator"]) == count
    assert figure["value"] == (count[0] / count[1] if count[1] else None)
    assert tuple(figure[key] for key in COVERAGE) == coverage
    assert figure["bounds"] == pytest.approx(bounds)
    line = next(line for line in markdown(summary).splitlines() if line.startswith(f"| {name.replace('_', ' ')}"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[0].endswith("(partial)") == figure["partial"]
    assert cells[1:4] == ["–"] * 3 if count[1] == 0 else cells[2] == f"{count[0]}/{count[1]}"
    assert cells[4:8] == [str(number) for number in coverage[:4]]
    assert cells[8] == f"{100 * bounds[0]:.1f} to {100 * bounds[1]:.1f}"


def test_without_the_run_the_queue_is_not_known(tmp_path):
    summary = summarize([decisions(tmp_path, "audit", ALL)])
    figure = summary["real_among_decided"]
    assert [figure[key] for key in COVERAGE] == [None, 4, 0, None, None]
    assert figure["bounds"] is None
    assert "adjusted_precision" not in summary
    assert "real among decided (queue not known)" in markdown(summary)


def test_a_run_without_controls_has_no_specificity(tmp_path):
    figure = summarize([decisions(tmp_path, "audit", ALL)], replace(RUN, controls={}))["audited_specificity"]
    assert [figure[key] for key in ("value", "ci95", "partial", "bounds")] == [None, None, False, (None, None)]


TWICE = [
    pytest.param(real(("a", 1)) + real(("a", 1)), 0, 1, id="the same again is no contradiction"),
    pytest.param(real(("a", 1)) + real(("a", 1), decision="unsure"), 1, 0, id="another one replaces it"),
    pytest.param(real(("a", 1), decision="unsure") + real(("a", 1), ("a", 2)), 1, 2, id="each entry by itself"),
]


@pytest.mark.parametrize(("entries", "replaced", "real_ones"), TWICE)
def test_contradictions_are_counted(tmp_path, entries, replaced, real_ones):
    counts = summarize([decisions(tmp_path, "audit", entries)], RUN)["unmatched"]
    assert (counts["replaced"], counts["real"]) == (replaced, real_ones)


UNFIT = [
    pytest.param("audit", real(("z", 0)), "entry 1: row_id 'z' is no row of this run", id="an unknown row"),
    pytest.param("audit", real(("a", 1), ("a", 3)), "entry 2: row 'a' has no prediction 3", id="an unknown index"),
    pytest.param("audit", real(("a", 0)), "prediction 0 of row 'a' matches an annotated issue", id="a matched one"),
    pytest.param("controls", found(quiet="clean", a="clean"), "entry 2: row 'a' is no control", id="no control"),
    pytest.param("controls", found(z="clean"), "entry 1: row_id 'z' is no row", id="a control of another run"),
]


UNFIT.append(
    pytest.param(
        "audit",
        [real(("a", 1))[0] | {"about": "another"}],
        "entry 1: row 'a' has another prediction 1 in this run",
        id="another prediction at that place",
    )
)


@pytest.mark.parametrize(("mode", "entries", "message"), UNFIT)
def test_decisions_that_do_not_fit_the_run_are_refused(tmp_path, mode, entries, message):
    with pytest.raises(UsageError, match=message):
        summarize([decisions(tmp_path, mode, entries)], RUN)


@pytest.fixture
def filled(finished, tmp_path):
    """The queue's CSV with decisions in its last column, as a spreadsheet saves it."""
    out, rows, _ = finished

    def fill(words, delimiter=",", newline="\n", encoding="utf-8"):
        write_csv(queue(out, rows), tmp_path / "queue.csv")
        with (tmp_path / "queue.csv").open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        for line, word in zip(lines, words, strict=False):
            line["decision"] = word
        saved = tmp_path / "filled.csv"
        with saved.open("w", encoding=encoding, newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]), delimiter=delimiter, lineterminator=newline)
            writer.writeheader()
            writer.writerows(lines)
        return saved

    return fill


SAVED = [(",", "\n", "utf-8"), (";", "\r\n", "utf-8-sig"), ("\t", "\r\n", "utf-8")]


@pytest.mark.parametrize(("delimiter", "newline", "encoding"), SAVED)
def test_a_filled_in_queue_is_read_as_the_export_of_the_page_is(finished, filled, delimiter, newline, encoding):
    words = ["real", "Real defect", "not a defect", "UNSURE", " "]
    counts = summarize([filled(words, delimiter, newline, encoding)], audited(*finished[:2]))["unmatched"]
    assert [counts[key] for key in ("real", "not_a_defect", "unsure", "undecided")] == [2, 1, 1, len(finished[1]) - 4]


def test_a_wrong_word_in_a_filled_in_queue_is_refused_with_its_line(filled):
    with pytest.raises(UsageError, match="filled.csv, line 3: decision is 'maybe', not one of real"):
        summarize([filled(["real", "maybe"])])


def test_a_queue_of_another_run_is_refused(finished, filled):
    file = filled(["real"])
    file.write_text(file.read_text().replace(queue(*finished[:2])[0]["about"], "0" * 12))
    with pytest.raises(UsageError, match="line 2: row .* has another prediction"):
        summarize([file], audited(*finished[:2]))


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "row_id,decision\nx,real\n"])
def test_a_table_that_is_no_queue_is_refused(tmp_path, text):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(UsageError, match="no column .*prediction_index"):
        summarize([tmp_path / "x.csv"])


@pytest.mark.parametrize(
    ("state", "prediction", "right"),
    [("ok", [], True), ("ok", [FALSE], False), ("unparsed", [], False), ("truncated", [], False), (None, None, False)],
)
def test_a_control_is_right_exactly_when_score_says_so(tmp_path, state, prediction, right):
    rows = RowSet(SCRY, "sample")
    control = next(row["id"] for row in rows.plain if not row["issues"])
    out = RunFolder(tmp_path)
    card = {"benchmark": "scry", "model": {"id": "m"}, "data": rows.describe(), "prompt": {"sha256": ""}}
    out.card_file.write_text(json.dumps(card))
    write_lines(out.predictions, [{"id": control, "state": state, "prediction": prediction}] if state else [])
    scores = score_run(out, rows)
    run = audited(out, rows)
    assert run.controls[control] is right
    assert sum(run.controls.values()) == scores["rates"]["no_diff_specificity"]["numerator"]
    everyone = decisions(tmp_path, "controls", found(**dict.fromkeys(run.controls, "clean")))
    assert summarize([everyone], run)["audited_specificity"]["value"] == scores["no_diff_specificity"]


STALE = [
    pytest.param(None, "not scored yet", id="no scores"),
    pytest.param("{", "cannot be read", id="broken scores"),
    pytest.param("[" * 100_000, "cannot be read", id="deep scores"),
    pytest.param("[]", "not the scores of these predictions", id="scores of another kind"),
    pytest.param('{"matched": 0, "predicted": 1}', "not the scores of these predictions", id="old scores"),
]


@pytest.mark.parametrize(("text", "message"), STALE)
def test_scores_that_are_not_of_the_predictions_are_refused(finished, tmp_path, text, message):
    out, rows, _ = finished
    copy = RunFolder(tmp_path)
    copy.predictions.write_bytes(out.predictions.read_bytes())
    if text is not None:
        copy.scores.write_text(text)
    with pytest.raises(UsageError, match=message):
        audited(copy, rows)


class Oracle(OracleAndOneMore):
    """Every true issue and no other."""

    def generate(self, requests):
        for request in requests:
            issues = self.rows.truth(request.id)["issues"]
            yield Response(id=request.id, text=json.dumps({"issues": list(issues)}))


def test_a_run_that_leaves_nothing_to_audit_goes_on(tmp_path, capsys):
    rows = RowSet(SCRY, "sample", limit=4)
    out = RunFolder(tmp_path / "run")
    run(SCRY, rows, Oracle(rows), out, Settings(prompt=SCRY.prompt, progress=False))
    score_run(out, rows)
    assert main(["audit", "export", str(out.path), "--out", str(tmp_path / "audit")]) == 0
    assert "there is nothing to audit" in capsys.readouterr().out
    assert len((tmp_path / "audit" / "queue.csv").read_text().splitlines()) == 1
    empty, summary = tmp_path / "audit" / "no-audit-decisions.json", tmp_path / "summary.json"
    words = ["audit", "summarize", "--decisions", str(empty), "--run", str(out.path), "--out", str(summary)]
    assert main(words) == 0
    assert "| real among decided " in (shown := capsys.readouterr().out)
    assert "0/0" not in shown
    made = json.loads(summary.read_text())
    assert made["real_among_decided"]["value"] is None
    assert (made["adjusted_precision"]["value"], made["adjusted_precision"]["partial"]) == (1.0, False)


def test_a_run_without_controls_has_none_to_audit(repo, tmp_path, capsys):
    sample = repo / "diffspot_hf" / "data" / "scry_design_diff"
    row = next(row for _, row in iter_jsonl(sample / "test.jsonl") if row["issues"])
    for side in ("image_a", "image_b"):
        (tmp_path / "data" / row[side]).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / row[side]).write_bytes((sample / row[side]).read_bytes())
    write_lines(tmp_path / "data" / "test.jsonl", [row])
    rows = RowSet(SCRY, str(tmp_path / "data"))
    out = RunFolder(tmp_path / "run")
    run(SCRY, rows, Oracle(rows), out, Settings(prompt=SCRY.prompt, progress=False))
    assert main(["audit", "export", str(out.path), "--mode", "controls", "--out", str(tmp_path / "audit")]) == 0
    assert "has no control: there is nothing to audit" in capsys.readouterr().out


def export(mode="audit", **entry):
    entry = {"row_id": "a", "decision": "real" if mode == "audit" else "clean"} | entry
    return json.dumps({"format": "diffspot-hf/decisions", "mode": mode, "decisions": [entry]})


BAD = {
    "nothing": ("", "not a readable decision file"),
    "deeply nested": ("[" * 100_000, "not a readable decision file"),
    "a list": ("[]", "not an export of the audit page"),
    "another format": ('{"format": "x", "mode": "audit"}', "not an export of the audit page"),
    "a list as format": ('{"format": ["x"], "mode": "audit"}', "not an export of the audit page"),
    "another mode": ('{"format": "diffspot-hf/decisions", "mode": "vote"}', "not an export of the audit page"),
    "a list as mode": ('{"format": "diffspot-hf/decisions", "mode": ["audit"]}', "not an export of the audit page"),
    "no decisions": ('{"format": "diffspot-hf/decisions", "mode": "audit"}', "decisions is missing, not a list"),
    "a number as decisions": (
        '{"format": "diffspot-hf/decisions", "mode": "audit", "decisions": 5}',
        "decisions is 5, not a list",
    ),
    "a number as entry": (
        '{"format": "diffspot-hf/decisions", "mode": "audit", "decisions": [5]}',
        "entry 1: 5 is no object",
    ),
    "an unknown decision": (export("controls", decision="maybe"), "entry 1: decision is 'maybe', not one of clean"),
    "a list as decision": (export("controls", decision=["clean"]), "entry 1: decision is a list, not one of clean"),
    "no row": (export(row_id=None, prediction_index=0), "entry 1: row_id is missing"),
    "a list as row": (export(row_id=["a"], prediction_index=0), "entry 1: row_id is a list"),
    "a long wrong row": (export(row_id=10**80, prediction_index=0), "entry 1: row_id is 10000"),
    "no index": (export(), "entry 1: prediction_index is missing"),
    "a text as index": (export(prediction_index="0"), "entry 1: prediction_index is '0', not a whole number"),
    "a truth value as index": (export(prediction_index=True), "entry 1: prediction_index is True"),
    "a fraction as index": (export(prediction_index=0.0), "entry 1: prediction_index is 0.0"),
    "an index below 0": (export(prediction_index=-1), "entry 1: prediction_index is -1"),
    "the index of a control": (export("controls", prediction_index=0), "entry 1: prediction_index is given"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_what_is_no_decision_file_is_refused_in_one_line(tmp_path, capsys, text, message):
    (tmp_path / "d.json").write_text(text)
    assert main(["audit", "summarize", "--decisions", str(tmp_path / "d.json")]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {tmp_path / 'd.json'}")
    assert message in error
    assert error.count("\n") == 1
    assert len(error) < len(str(tmp_path)) + 200
