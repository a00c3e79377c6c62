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


def edited(folder, change):
    card = json.loads(folder.card_file.read_text())
    change(card)
    folder.card_file.write_text(json.dumps(card))


LOADED = {"dtype": "float32", "attention": "sdpa", "processor": "Fast"}
ORIGINS = {
    "dtype": (lambda card: card["model"]["loaded"].update(dtype="bfloat16"), r"model\.loaded\.dtype"),
    "attention": (lambda card: card["model"]["loaded"].update(attention="eager"), r"model\.loaded\.attention"),
    "processor": (lambda card: card["model"]["loaded"].update(processor="Slow"), r"model\.loaded\.processor"),
    "revision": (lambda card: card["model"].update(revision="c0ffee"), r"model\.revision"),
    "transformers": (lambda card: card["versions"].update(transformers="4.0"), r"versions\.transformers"),
    "pillow": (lambda card: card["versions"].update(pillow="4.0"), r"versions\.pillow"),
}


@pytest.mark.parametrize(("change", "named"), ORIGINS.values(), ids=ORIGINS)
def test_parts_of_a_model_that_was_loaded_otherwise_are_refused(parts, change, named):
    _, made, rows = parts
    for part in made:
        edited(part, lambda card: card["model"].update(loaded=dict(LOADED)))
    edited(made[1], change)
    before = made[0].predictions.read_bytes()
    with pytest.raises(UsageError, match=f"not a part of .* differ in {named}"):
        merge_folders(made[0], made[1:], rows.ids)
    assert made[0].predictions.read_bytes() == before


def test_libraries_that_shape_no_answer_may_differ(parts):
    _, made, rows = parts
    edited(made[1], lambda card: card["versions"].update(datasets="1.0", torch="1.0"))  # nothing was loaded here
    assert len(merge_folders(made[0], made[1:], rows.ids)) == 8


def test_the_third_part_is_held_to_what_the_second_was_loaded_with(parts):
    _, made, rows = parts
    edited(made[1], lambda card: card["model"].update(loaded=LOADED))
    edited(made[2], lambda card: card["model"].update(loaded=LOADED | {"dtype": "bfloat16"}))
    with pytest.raises(UsageError, match=r"differ in model\.loaded\.dtype"):
        merge_folders(made[0], made[1:], rows.ids)


def test_the_sessions_of_all_parts_stand_on_the_card_once(parts):
    _, made, rows = parts
    edited(made[1], lambda card: card.update(sessions=[{"ended": "then", "route": {"requests": 3}}]))
    for _ in range(2):
        merge_folders(made[0], made[1:], rows.ids)
    assert len(made[0].card()["sessions"]) == 2


def test_a_part_with_the_file_of_a_rank_only_is_joined(parts):
    whole, made, rows = parts
    made[1].predictions.rename(made[1].file_of(1))
    merge_folders(made[0], made[1:], rows.ids)
    assert read_lines(made[0].predictions) == read_lines(whole.predictions)
