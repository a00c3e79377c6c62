"""The second door: ``evaluate.load("…")`` by bare name and by path, offline, for the DiffSpot metrics."""

from __future__ import annotations

import os

import evaluate
import pytest

import diffspot_hf
from diffspot_hf.register import METRICS, seed_metrics

SAME = {"task_type": "no_diff", "difficulty": "no_diff", "operator": "", "domain": "travel"}
BOLD = {"task_type": "visual_diff", "difficulty": "hard", "operator": "mutate_font_weight", "domain": "travel"}


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_loads_by_bare_name_and_by_path(name, repo):
    by_name, by_path = evaluate.load(name), evaluate.load(str(repo / "metrics" / name))
    assert by_name.name == by_path.name == name
    assert type(by_name).__name__ == METRICS[name]


def test_a_fresh_process_finds_the_bare_name_from_an_empty_folder(python, tmp_path):
    code = "import diffspot_hf, evaluate\nprint(evaluate.load('diffspot_recall').name)"
    done = python(code, HF_HOME=str(tmp_path / "hf"))
    assert done.stdout.strip() == "diffspot_recall", done.stderr


def test_later_processes_need_no_import_of_ours(python, tmp_path):
    home = {"HF_HOME": str(tmp_path / "hf")}
    assert python("import diffspot_hf", **home).returncode == 0
    done = python("import evaluate\nprint(evaluate.load('no_diff_specificity').name)", **home)
    assert done.stdout.strip() == "no_diff_specificity", done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    tmp_path.chmod(0o500)
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    assert seed_metrics() == []


def test_a_cache_that_is_a_file_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "modules").write_text("")
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    assert seed_metrics() == []


def test_recall_takes_whole_rows_and_fills_what_is_empty():
    metric = evaluate.load("diffspot_recall")
    row = BOLD | {"id": "x", "page_id": None}
    scores = metric.compute(predictions=[True, False, True], references=[row, BOLD, SAME | {"operator": None}])
    assert (scores["diff_overall_recall"], scores["no_diff_specificity"]) == (0.5, 1.0)
    assert scores["by_operator"]["font_weight"]["n_pairs"] == 2
    assert scores["by_family"]["typography"]["recall"] == 0.5


def test_recall_in_batches_equals_recall_at_once():
    once = evaluate.load("diffspot_recall").compute(predictions=[True, False], references=[BOLD, SAME])
    metric = evaluate.load("diffspot_recall")
    metric.add(prediction=True, reference=BOLD)
    metric.add_batch(predictions=[False], references=[SAME])
    assert metric.compute() == once


def test_states_keep_failed_replies_from_being_right():
    metric = evaluate.load("diffspot_recall")
    scores = metric.compute(predictions=[True, True], references=[SAME, SAME], states=["ok", "empty"])
    assert scores["no_diff_specificity"] == 0.5
    assert scores["health"]["empty"] == 1
    with pytest.raises(ValueError, match="1 states for 2 predictions"):
        metric.compute(predictions=[True, True], references=[SAME, SAME], states=["ok"])


def test_a_reference_without_its_keys_is_named():
    with pytest.raises(ValueError, match="no difficulty"):
        evaluate.load("diffspot_recall").compute(predictions=[True], references=[{"task_type": "no_diff"}])


def test_specificity_counts_pairs_without_a_change_only():
    metric = evaluate.load("no_diff_specificity")
    scores = metric.compute(predictions=[0, 2, 1], references=[0, 0, 1])
    assert (scores["no_diff_specificity"], scores["n_no_diff"]) == (0.5, 2)
    assert scores["rates"]["no_diff_specificity"]["denominator"] == 2


def test_the_public_loader_refuses_an_unknown_name():
    with pytest.raises(diffspot_hf.UsageError, match="unknown data set 'nope'"):
        diffspot_hf.load_dataset("nope")


@pytest.mark.parametrize("name", ["diffspot_recall", "no_diff_specificity"])
def test_the_code_of_the_card_runs(name, repo):
    blocks = (repo / "metrics" / name / "README.md").read_text(encoding="utf-8").split("```python\n")[1:]
    assert blocks
    for block in blocks:
        exec(block.partition("```")[0], {})
