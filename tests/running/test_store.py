"""The store: nothing appended is lost, a torn line never spoils the next one, one rule says which record counts."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from diffspot_hf.errors import UsageError
from diffspot_hf.running.folder import RunFolder
from diffspot_hf.running.store import Store, better, is_final, merged, read_lines, repair_tail, write_json, write_lines
from diffspot_hf.types import STATES


def record(identifier="a", state="ok", **more):
    attempts = [{"route": "x", "state": state, "at": len(more)}]
    return {"id": identifier, "state": state, "prediction": "", "attempts": attempts, **more}


def test_what_is_appended_is_read_back(tmp_path):
    with Store(tmp_path / "p.jsonl") as store:
        for i in range(3):
            store.append({"id": str(i), "text": "ü\n\u2028"})
    assert [r["id"] for r in read_lines(tmp_path / "p.jsonl")] == ["0", "1", "2"]


HALVES = {"first": "\ud83d", "second": "\ude00", "after a backslash": "\\\ud83d", "alone among others": "a\ud83d 😀 ü"}


@pytest.mark.parametrize("text", HALVES.values(), ids=HALVES)
def test_half_an_emoji_is_kept_in_valid_utf_8(tmp_path, text):
    with Store(tmp_path / "p.jsonl") as store:
        store.append({"id": text, "text": text})
    write_lines(tmp_path / "lines.jsonl", [{"id": text}])
    write_json(tmp_path / "value.json", {text: text})
    assert read_lines(tmp_path / "p.jsonl") == [{"id": text, "text": text}]
    assert read_lines(tmp_path / "lines.jsonl") == [{"id": text}]
    assert json.loads((tmp_path / "value.json").read_text(encoding="utf-8")) == {text: text}


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_torn_last_line_is_dropped_and_the_next_append_starts_a_new_one(tmp_path, cut):
    path = tmp_path / "p.jsonl"
    with Store(path) as store:
        store.append({"id": "whole"})
        store.append({"id": "torn"})
    path.write_bytes(path.read_bytes()[:-cut])
    assert [r["id"] for r in read_lines(path)] == ["whole"]
    with Store(path) as store:
        store.append({"id": "next"})
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == ["whole", "next"]


def test_a_long_torn_line_is_dropped_as_well(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'{"id": "a"}\n' + b"x" * 200_000)
    assert repair_tail(path) == 200_000
    assert path.read_bytes() == b'{"id": "a"}\n'


def test_a_broken_line_inside_the_file_is_named(tmp_path):
    (tmp_path / "p.jsonl").write_text('{"id": "a"}\nnot json\n{"id": "b"}\n')
    with pytest.raises(UsageError, match=r"p\.jsonl, line 2"):
        read_lines(tmp_path / "p.jsonl")


NO_RECORDS = {
    "number": ("12", "a JSON object"),
    "list": ("[1]", "a JSON object"),
    "null": ("null", "a JSON object"),
    "no id": ('{"a": 1}', "an id"),
    "id of another kind": ('{"id": 1, "state": "ok", "prediction": ""}', "an id"),
    "no state": ('{"id": "a", "prediction": ""}', "a state"),
    "unknown state": ('{"id": "a", "state": "good", "prediction": ""}', "a state"),
    "no prediction": ('{"id": "a", "state": "ok"}', "a prediction"),
    "attempts that are none": ('{"id": "a", "state": "ok", "prediction": "", "attempts": [1]}', "a list of attempts"),
    "too deep": ("[" * 100_000, "not valid JSON"),
}


@pytest.mark.parametrize(("line", "lacking"), NO_RECORDS.values(), ids=NO_RECORDS)
def test_valid_json_that_is_no_record_is_named(tmp_path, line, lacking):
    folder = RunFolder(tmp_path)
    folder.predictions.write_text(json.dumps(record()) + "\n" + line + "\n")
    with pytest.raises(UsageError, match=f"predictions.jsonl, line 2: .*{lacking}"):
        folder.records()


@pytest.mark.parametrize("line", ["12", '{"a": 1}', '{"id": "a"}', '{"id": "a", "judge_state": null}'])
def test_a_line_that_is_no_verdict_is_named(tmp_path, line):
    folder = RunFolder(tmp_path)
    folder.judged.write_text(line + "\n")
    with pytest.raises(UsageError, match=r"judged\.jsonl, line 1: not a record"):
        folder.judgements()


def test_a_second_writer_is_refused(tmp_path):
    with Store(tmp_path / "p.jsonl"), pytest.raises(UsageError, match="another process is writing"):
        Store(tmp_path / "p.jsonl")


def test_a_file_that_is_replaced_stays_locked(tmp_path):
    path = tmp_path / "p.jsonl"
    with Store(path) as store:
        store.replace([record("a")])
        with pytest.raises(UsageError, match="another process is writing"):
            Store(path)
        store.append(record("b"))
    assert [r["id"] for r in read_lines(path)] == ["a", "b"]
    Store(path).close()


def test_a_lock_on_a_file_that_was_replaced_meanwhile_counts_for_nothing(tmp_path, monkeypatch):
    path, opened = tmp_path / "p.jsonl", Path.open

    def slow_open(self, *args, **options):
        file = opened(self, *args, **options)
        if self == path and not path.stat().st_size:
            write_lines(path, [record("a")])  # between opening and locking
        return file

    path.touch()
    monkeypatch.setattr(Path, "open", slow_open)
    with Store(path) as store:
        store.append(record("b"))
    assert [r["id"] for r in read_lines(path)] == ["a", "b"]


def test_a_file_on_a_read_only_disk_can_be_held_but_not_written(tmp_path, monkeypatch):
    folder, opened = RunFolder(tmp_path), Path.open
    write_lines(folder.predictions, [record("a")])

    def read_only(self, mode="r", *args, **options):
        if set(mode) & set("wa+"):
            raise OSError(errno.EROFS, "Read-only file system")
        return opened(self, mode, *args, **options)

    monkeypatch.setattr(Path, "open", read_only)
    with folder.taken("a") as store, pytest.raises(UsageError, match="Read-only"):
        store.append(record("b"))
    with pytest.raises(UsageError, match="Read-only"):
        folder.merge("a")
    with pytest.raises(UsageError, match="cannot be written"):
        Store(tmp_path / "new.jsonl")
    assert list(folder.records()) == ["a"]


def test_an_unwritable_place_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        Store(tmp_path / "file" / "p.jsonl")
    with pytest.raises(UsageError, match="cannot be written"):
        write_json(tmp_path / "file" / "x.json", {})


@pytest.mark.parametrize("new", STATES)
@pytest.mark.parametrize("old", STATES)
def test_a_failed_row_gives_way_only_to_a_better_one(old, new):
    kept = better(record(state=old), record(state=new, later=True))
    rank = {"ok": 2, "error": 0}
    expected = new if rank.get(new, 1) > rank.get(old, 1) else old
    assert kept["state"] == expected
    assert [attempt["state"] for attempt in kept["attempts"]] == [old, new]


def test_only_errors_are_asked_again_by_the_same_command():
    assert [state for state in STATES if not is_final({"state": state})] == ["error"]


def test_merging_the_same_record_twice_changes_nothing():
    one = record("a", "error", n=1)
    assert merged([one, one]) == merged([one])


def test_the_ranks_files_become_one_in_the_order_of_the_data(tmp_path):
    folder = RunFolder(tmp_path)
    for rank, ids in enumerate(["ca", "bd"]):
        with Store(folder.file_of(rank)) as store:
            for identifier in ids:
                store.append(record(identifier))
    with folder.file_of(1).open("ab") as file:
        file.write(b'{"id": "torn')
    folder.merge("abcd")
    assert [r["id"] for r in read_lines(folder.predictions)] == list("abcd")
    assert folder.rank_files() == []
    assert list(folder.merge("abcd")) == list("abcd")


def test_a_rank_that_still_writes_keeps_its_file_and_the_rest_is_untouched(tmp_path):
    folder = RunFolder(tmp_path)
    for rank in (1, 2):
        with Store(folder.file_of(rank)) as store:
            store.append(record(str(rank)))
    with Store(folder.file_of(2)) as alive:
        before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
        with pytest.raises(UsageError, match="another process is writing this run"):
            folder.merge("12")
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
        alive.append(record("3"))
    assert sorted(folder.merge("123")) == ["1", "2", "3"]
    assert folder.rank_files() == []


CARDS = {
    "{}": "benchmark",
    "12": "benchmark",
    '{"benchmark": "diffspot", "model": 5}': r"model\.id",
    '{"benchmark": "diffspot", "model": {"id": "m"}, "prompt": {"sha256": ""}, "data": []}': r"data\.source",
}


@pytest.mark.parametrize(("text", "lacking"), CARDS.items())
def test_json_that_is_no_run_card_is_one_clear_error(tmp_path, text, lacking):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(UsageError, match=rf"run\.json: not the card of a run, which needs {lacking}"):
        RunFolder(tmp_path).card()
