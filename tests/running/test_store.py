"""The store: nothing appended is lost, a torn line never spoils the next one, one rule says which record counts."""

from __future__ import annotations

import json

import pytest

from diffspot_hf.errors import UsageError
from diffspot_hf.running.folder import RunFolder
from diffspot_hf.running.store import Store, better, is_final, merged, read_lines, repair_tail, write_json
from diffspot_hf.types import STATES


def record(identifier="a", state="ok", **more):
    attempts = [{"route": "x", "state": state, "at": len(more)}]
    return {"id": identifier, "state": state, "prediction": "", "attempts": attempts, **more}


def test_what_is_appended_is_read_back(tmp_path):
    with Store(tmp_path / "p.jsonl") as store:
        for i in range(3):
            store.append({"id": str(i), "text": "ü\n\u2028"})
    assert [r["id"] for r in read_lines(tmp_path / "p.jsonl")] == ["0", "1", "2"]


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


def test_a_second_writer_is_refused(tmp_path):
    with Store(tmp_path / "p.jsonl"), pytest.raises(UsageError, match="another process is writing"):
        Store(tmp_path / "p.jsonl")


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
