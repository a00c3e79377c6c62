"""The audit queue is what matched nothing; decisions become rates with intervals; no cell becomes a formula."""

from __future__ import annotations

import csv
import json

import pytest

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.errors import UsageError
from diffspot_hf.report.audit import markdown, queue, read_decisions, safe_cell, summarize, write_csv
from diffspot_hf.running.folder import RunFolder
from diffspot_hf.running.rowset import RowSet
from diffspot_hf.running.runner import Settings, run
from diffspot_hf.running.score_run import score_run
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
    summary = summarize(files, scores)
    assert summary["real_among_decided"]["value"] == 6 / 9
    adjusted = summary["adjusted_precision"]
    assert (adjusted["numerator"], adjusted["denominator"]) == (scores["matched"] + 6, scores["matched"] + 9)
    assert summary["audited_specificity"] == {"value": 0.0, "numerator": 0, "denominator": 2} | {
        "ci95": summary["audited_specificity"]["ci95"]
    }
    assert adjusted["ci95"][0] < adjusted["value"] <= adjusted["ci95"][1]
    assert "adjusted precision" in markdown(summary)


def test_a_later_decision_on_the_same_entry_replaces_the_earlier(tmp_path):
    first = decisions(tmp_path, "controls", [{"row_id": "a", "decision": "unsure"}])
    entries = [{"row_id": "a", "decision": "clean"}, {"row_id": "b", "decision": "defect"}]
    second = decisions(tmp_path, "controls", entries, "second")
    summary = summarize([first, second])
    assert summary["controls"] == {"decided": 2, "clean": 1, "defect": 1, "unsure": 0}


BAD = {
    "nothing": "",
    "another format": '{"format": "x", "mode": "audit"}',
    "another mode": '{"format": "diffspot-hf/decisions", "mode": "vote"}',
    "an unknown decision": json.dumps(
        {"format": "diffspot-hf/decisions", "mode": "controls", "decisions": [{"row_id": "a", "decision": "maybe"}]}
    ),
    "no row": json.dumps({"format": "diffspot-hf/decisions", "mode": "audit", "decisions": [{"decision": "real"}]}),
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_what_is_no_decision_file_is_refused(tmp_path, text):
    (tmp_path / "d.json").write_text(text)
    with pytest.raises(UsageError, match="d.json"):
        read_decisions(tmp_path / "d.json")
