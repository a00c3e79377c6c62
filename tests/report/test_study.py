"""Manifest and number check: a changed byte and a wrong figure are named."""

from __future__ import annotations

import json

import pytest

from diffspot_hf.errors import UsageError
from diffspot_hf.report.check_numbers import check_numbers
from diffspot_hf.report.manifest import check, make


@pytest.fixture
def study(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "results.md").write_text("# Results\n")
    run = tmp_path / "runs" / "one"
    run.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({"prompt": {"sha256": "p"}, "data": {"fingerprint": "f"}}))
    scores = {"model": "m", "matched": 213, "predicted": 1340, "known_issue_recall": 213 / 557, "health": {"ok": 311}}
    (run / "scores.json").write_text(json.dumps(scores))
    return tmp_path


def test_an_untouched_study_checks(study):
    made = make([study / "docs", study / "runs"], study / "manifest.json", study / "manifest.md")
    assert [entry["path"] for entry in made["files"]] == [
        "docs/results.md",
        "runs/one/run.json",
        "runs/one/scores.json",
    ]
    assert made["runs"][0]["audit_queue"] == 1127
    assert check(study / "manifest.json") == []
    assert "runs/one/scores.json" in (study / "manifest.md").read_text()


CHANGES = {
    "a changed byte": (lambda s: (s / "docs/results.md").write_text("# results\n"), "docs/results.md: changed"),
    "a file gone": (lambda s: (s / "docs/results.md").unlink(), "docs/results.md: is gone"),
    "a new file": (lambda s: (s / "runs/one/judged.jsonl").write_text(""), "runs/one/judged.jsonl: is new"),
}


@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_named(study, change, message):
    make([study / "docs", study / "runs"], study / "manifest.json")
    change(study)
    problems = check(study / "manifest.json")
    assert len(problems) == 1
    assert problems[0].startswith(message)


def test_what_is_no_manifest_is_refused(study):
    with pytest.raises(UsageError, match="not a manifest"):
        check(study / "runs/one/scores.json")
    with pytest.raises(UsageError, match="not a readable manifest"):
        check(study / "nothing.json")
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        make([study / "nothing"], study / "manifest.json")


TABLE = """
<!-- numbers
row Kimi: runs/one/scores.json
column recall: known_issue_recall %
column matched: matched
column predicted: predicted
-->
| model | recall | matched | predicted | remark |
| ----- | -----: | ------: | --------: | ------ |
| **Kimi** | {recall} | {matched} | {predicted} | none |
"""


def table(study, recall="38.2", matched="213", predicted="1,340"):
    file = study / "results.md"
    file.write_text(TABLE.format(recall=recall, matched=matched, predicted=predicted))
    return file


def test_right_numbers_pass_at_the_precision_they_are_printed_with(study):
    assert check_numbers(table(study)) == (3, [])
    assert check_numbers(table(study, recall="38"))[1] == []
    assert check_numbers(table(study, recall="38.24"))[1] == []


@pytest.mark.parametrize("wrong", [{"recall": "38.3"}, {"recall": "38.25"}, {"matched": "214"}, {"predicted": "1,341"}])
def test_a_wrong_number_is_named_with_line_row_and_column(study, wrong):
    compared, problems = check_numbers(table(study, **wrong))
    assert (compared, len(problems)) == (3, 1)
    assert f"line 10, Kimi / {next(iter(wrong))}: printed {next(iter(wrong.values()))}" in problems[0]


def test_a_number_without_a_source_is_a_problem(study):
    file = table(study)
    file.write_text(file.read_text().replace("column matched: matched\n", "").replace("none", "7 rows"))
    problems = check_numbers(file)[1]
    assert [problem.split(": ", 1)[1] for problem in problems] == [
        "213 has no source (column is not marked)",
        "7 rows has no source (column is not marked)",
    ]


def test_a_table_without_a_mark_or_with_a_broken_one_is_refused(study):
    (study / "plain.md").write_text("| a |\n|---|\n| 1 |\n")
    with pytest.raises(UsageError, match="no table is marked"):
        check_numbers(study / "plain.md")
    (study / "odd.md").write_text("<!-- numbers\nrows Kimi\n-->\n| a |\n")
    with pytest.raises(UsageError, match="'rows Kimi' is neither"):
        check_numbers(study / "odd.md")
