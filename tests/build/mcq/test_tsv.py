"""The TSV file holds what VLMEvalKit reads: list literals of base64 pictures, lettered options, both categories."""

from __future__ import annotations

import ast
import base64
import csv

import pytest

from diffspot_hf.build.mcq.tsv import write_tsv
from diffspot_hf.errors import UsageError

ROW = {
    "id": "x-1",
    "track": "commonality",
    "task": "spatial",
    "image_1": {"path": "a.png", "bytes": b"\x00one" * 40},
    "image_2": {"path": "b.png", "bytes": b"\x00two" * 40},
    "question": 'What about "this"\tand that?',
    "options": ["one", "two", "three", "four", "nothing"],
    "answer": "B",
    "group_id": "secret-group",
    "instruction": "secret words",
}


def test_a_row_is_written_as_the_harness_reads_it(tmp_path):
    csv.field_size_limit(1 << 24)
    assert write_tsv([ROW, ROW | {"id": "x-2"}], tmp_path / "d" / "x.tsv") == 2
    text = (tmp_path / "d" / "x.tsv").read_text(encoding="utf-8")
    assert "secret" not in text
    rows = list(csv.DictReader(text.splitlines(), delimiter="\t"))
    assert [row["index"] for row in rows] == ["0", "1"]
    first = rows[0]
    assert [base64.b64decode(picture) for picture in ast.literal_eval(first["image"])] == [
        b"\x00one" * 40,
        b"\x00two" * 40,
    ]
    assert [first[letter] for letter in "ABCDE"] == ROW["options"]
    assert (first["question"], first["answer"]) == (ROW["question"], "B")
    assert (first["category"], first["l2-category"], first["split"]) == ("commonality spatial", "commonality", "test")


def test_an_existing_file_is_not_written_over(tmp_path):
    (tmp_path / "x.tsv").touch()
    with pytest.raises(UsageError, match="exists"):
        write_tsv([ROW], tmp_path / "x.tsv")
