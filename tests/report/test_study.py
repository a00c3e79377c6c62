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


WRITTEN = [
    pytest.param("m2.json", "tables.md", [], id="any two names"),
    pytest.param("m2.json", "docs/deep/tables.md", [], id="in a folder of their own"),
    pytest.param("m2.json", None, ["m2.md: is new"], id="a file that make did not write is new"),
]


@pytest.mark.parametrize(("name", "markdown", "problems"), WRITTEN)
def test_exactly_what_make_wrote_is_not_called_new(study, name, markdown, problems):
    make([study], study / name, markdown and study / markdown)
    if problems:
        (study / "m2.md").write_text("")
    assert check(study / name) == problems
    assert make([study], study / name, markdown and study / markdown)["files"] is not None
    assert check(study / name) == []


def test_tables_outside_the_study_are_written_and_not_listed(study, tmp_path_factory):
    made = make([study], study / "m.json", tmp_path_factory.mktemp("elsewhere") / "tables.md")
    assert made["written"] == ["m.json"]
    assert check(study / "m.json") == []


def manifest(**changed):
    whole = {"format": "diffspot-hf/manifest", "files": [], "roots": [], "written": []}
    return json.dumps({key: value for key, value in (whole | changed).items() if value is not None})


NO_MANIFEST = [
    pytest.param("", "not a readable manifest", id="empty"),
    pytest.param("[" * 100_000, "not a readable manifest", id="deeply nested"),
    pytest.param("[]", "not a manifest", id="a list"),
    pytest.param('{"model": "m"}', "not a manifest", id="scores"),
    pytest.param(manifest(files=None), "files is missing", id="no files"),
    pytest.param(manifest(files={"a": 1}), "files is missing or no list", id="files as an object"),
    pytest.param(manifest(files=["a"]), "file 1: not an object with path", id="a file as text"),
    pytest.param(manifest(files=[{"path": 1}]), "file 1: not an object with path", id="a number as path"),
    pytest.param(manifest(files=[{"path": "a"}]), "file 1: not an object with path", id="no size"),
    pytest.param(manifest(roots=None), "roots is missing", id="no roots"),
    pytest.param(manifest(roots=[1]), "roots holds something other than paths", id="a number as root"),
    pytest.param(manifest(written=None), "written is missing", id="nothing written"),
    pytest.param(manifest(written=[None]), "written holds something other", id="nothing as written"),
]


@pytest.mark.parametrize(("text", "message"), NO_MANIFEST)
def test_a_broken_manifest_is_refused(study, text, message):
    (study / "m.json").write_text(text)
    with pytest.raises(UsageError, match=message):
        check(study / "m.json")


@pytest.mark.parametrize("path", ["nothing", "a\0b", "a" * 5000])
def test_a_path_without_a_file_is_gone(study, path):
    (study / "m.json").write_text(manifest(files=[{"path": path, "bytes": 1, "sha256": ""}], roots=[path]))
    assert check(study / "m.json") == [f"{path}: is gone"]


CARDS = [
    pytest.param({"name": "a job of another tool"}, id="no prompt"),
    pytest.param({"prompt": "text", "data": []}, id="prompt and data of another kind"),
    pytest.param([], id="a list"),
]


@pytest.mark.parametrize("card", CARDS)
def test_a_run_card_of_another_tool_is_a_file_like_any_other(study, card):
    (study / "docs" / "run.json").write_text(json.dumps(card))
    made = make([study], study / "m.json", study / "m.md")
    assert "docs/run.json" in [entry["path"] for entry in made["files"]]
    assert [run["path"] for run in made["runs"]] == ["runs/one"]


def test_a_run_without_counts_has_no_queue(study):
    (study / "runs/one/scores.json").write_text('{"model": "m", "predicted": null, "matched": "1"}')
    assert "audit_queue" not in make([study], study / "m.json")["runs"][0]
    (study / "runs/one/scores.json").unlink()
    assert "model" not in make([study], study / "m.json")["runs"][0]


BROKEN = [
    pytest.param("runs/one/run.json", "[" * 100_000, "run.json: cannot be read", id="a deep run card"),
    pytest.param("runs/one/run.json", "{", "run.json: cannot be read", id="a broken run card"),
    pytest.param("runs/one/scores.json", "[" * 100_000, "scores.json: cannot be read", id="deep scores"),
    pytest.param("runs/one/scores.json", "[]", "scores.json: not the scores of a run", id="scores as a list"),
    pytest.param("docs/test.jsonl", "[" * 100_000, "test.jsonl, line 1: not valid JSON", id="deep rows"),
]


@pytest.mark.parametrize(("name", "text", "message"), BROKEN)
def test_a_file_that_cannot_be_summarized_is_named(study, name, text, message):
    (study / name).write_text(text)
    with pytest.raises(UsageError, match=message):
        make([study], study / "m.json")


ROWS = [
    pytest.param([{"id": "a", "issues": [1, 2], "bucket": "multi"}], (2, {"multi": 1}), id="a bucket"),
    pytest.param([{"id": "a", "issues": [1], "split": "dense"}], (1, {"dense": 1}), id="a split, as the authors say"),
    pytest.param([{"id": "a", "issues": [1]}, {"id": "b"}], (1, {"single": 1, "no-tagged": 1}), id="neither of them"),
    pytest.param([{"id": "a"}, {"id": "b", "issues": None}], (0, {"no-tagged": 2}), id="no issues in the first row"),
    pytest.param([{"id": "a", "question": "?"}], (None, None), id="another benchmark"),
]


@pytest.mark.parametrize(("rows", "expected"), ROWS)
def test_data_is_summarized_by_what_its_rows_have(study, rows, expected):
    (study / "docs/test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    summary = make([study / "docs"], study / "m.json")["data"][0]
    counted = summary.get("buckets") and {name: count for name, count in summary["buckets"].items() if count}
    assert (summary["rows"], summary.get("issues"), counted) == (len(rows), *expected)


def test_what_is_not_there_is_refused(study):
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


PARTS = "<!-- numbers\nrow m: runs/one/scores.json\ncolumn n: x\n-->"
REFUSED = [
    pytest.param("| a |\n|---|\n| 1 |\n", "no table is marked", id="no mark"),
    pytest.param("<!-- numbers\nrows Kimi\n-->\n| a |\n", "line 1: 'rows Kimi' is neither", id="a broken mark"),
    pytest.param(f"{PARTS}\n", "line 1: no table follows", id="nothing follows"),
    pytest.param(f"# T\n{PARTS}\nText\n\n| m | n |\n", "line 2: no table follows", id="a text in between"),
    pytest.param(f"{PARTS} text\n| m | n |\n", "line 1: no table follows", id="a text on the line of the mark"),
    pytest.param(f"{PARTS}\n{PARTS}\n| m | n |\n", "line 1: no table follows", id="another mark in between"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_a_table_without_a_mark_or_a_mark_without_a_table_is_refused(study, text, message):
    (study / "odd.md").write_text(text)
    with pytest.raises(UsageError, match=message):
        check_numbers(study / "odd.md")


LONG = "0." + "3" * 500
CELLS = [
    pytest.param("1", "| 1 |", [], id="equal"),
    pytest.param("0.5", "| 1 |", [], id="a tie may go up"),
    pytest.param("0.5", "| 0 |", [], id="or to the even number"),
    pytest.param("1.5", "| 1 |", ["printed 1, runs/one/scores.json has 1.5 at x"], id="but nowhere else"),
    pytest.param("Infinity", "| 1 |", ["has inf at x, which is no finite number"], id="infinity"),
    pytest.param("NaN", "| 1 |", ["has nan at x, which is no finite number"], id="not a number"),
    pytest.param("1e999", "| 1 |", ["has inf at x, which is no finite number"], id="more than a float holds"),
    pytest.param("1e300", f"| {LONG} |", ["has 1000"], id="a huge float against many decimals"),
    pytest.param("9" * 4000, f"| {LONG} |", ["has 9999"], id="a huge whole number against many decimals"),
    pytest.param("9" * 40, f"| {'9' * 40} |", [], id="a long whole number"),
    pytest.param("1e-300", "| 0.0 |", [], id="a tiny one"),
    pytest.param("1", "| 1 | 7 |", ["7 stands in no column"], id="a number beyond the header"),
    pytest.param("1", "| 1 | good |", ["good stands in no column"], id="a word beyond the header"),
    pytest.param("1", "| 1 | |", ["an empty cell stands in no column"], id="nothing beyond the header"),
    pytest.param("1", "|| 7 |", ["7 stands in no column"], id="an empty cell before it"),
]


@pytest.mark.parametrize(("value", "cells", "messages"), CELLS)
def test_each_cell_is_compared_or_named(study, value, cells, messages):
    (study / "runs/one/scores.json").write_text(f'{{"x": {value}}}')
    (study / "t.md").write_text(f"{PARTS}\n\n\n|  | n |\n|---|---|\n| m {cells}\n")
    problems = check_numbers(study / "t.md")[1]
    assert len(problems) == len(messages)
    assert all(message in problem for message, problem in zip(messages, problems, strict=True))


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000])
def test_scores_that_cannot_be_read_are_named(study, text):
    (study / "runs/one/scores.json").write_text(text)
    with pytest.raises(UsageError, match="scores.json: cannot be read"):
        check_numbers(table(study))


def test_a_place_in_a_list_is_a_plain_number(study):
    (study / "runs/one/scores.json").write_text('{"x": [4]}')
    for key, expected in (("x.0", []), ("x.²", ["has no number at x.²"])):
        (study / "t.md").write_text(f"{PARTS.replace('n: x', f'n: {key}')}\n|  | n |\n|---|---|\n| m | 4 |\n")
        assert [problem.split("scores.json ")[1] for problem in check_numbers(study / "t.md")[1]] == expected
