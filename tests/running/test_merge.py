"""Parts of one run made on machines without a shared disk."""

from __future__ import annotations

import json
import shutil

import pytest

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.cli import main
from diffspot_hf.errors import UsageError
from diffspot_hf.models.controls import Control
from diffspot_hf.running.folder import RunFolder, merge_folders
from diffspot_hf.running.rowset import RowSet
from diffspot_hf.running.runner import Settings, run
from diffspot_hf.running.store import read_lines

DIFFSPOT = benchmark("diffspot")


@pytest.fixture
def parts(pairs, tmp_path):
    """Three copies of one run, each with another third of the answers."""
    rows = RowSet(DIFFSPOT, str(pairs))
    whole = RunFolder(tmp_path / "whole")
    run(DIFFSPOT, rows, Control("oracle", DIFFSPOT, rows.truth), whole, Settings(DIFFSPOT.prompt, progress=False))
    made = []
    for number in range(3):
        part = RunFolder(shutil.copytree(whole.path, tmp_path / f"part-{number}"))
        lines = part.predictions.read_text().splitlines(keepends=True)
        part.predictions.write_text("".join(lines[number::3]))
        made.append(part)
    return whole, made, rows


def test_the_parts_together_are_the_whole(parts):
    whole, made, rows = parts
    merge_folders(made[0], made[1:], rows.ids)
    assert read_lines(made[0].predictions) == read_lines(whole.predictions)


def test_merging_twice_changes_nothing(parts):
    whole, made, _ = parts
    for _ in range(2):
        assert main(["merge", str(made[0].path), str(made[1].path), str(made[2].path)]) == 0
    assert read_lines(made[0].predictions) == read_lines(whole.predictions)


def test_parts_of_another_run_are_refused(parts):
    _, made, rows = parts
    card = json.loads(made[1].card_file.read_text())
    card["model"]["id"] = "other"
    made[1].card_file.write_text(json.dumps(card))
    with pytest.raises(UsageError, match=r"not a part of .* differ in model\.id"):
        merge_folders(made[0], made[1:], rows.ids)
