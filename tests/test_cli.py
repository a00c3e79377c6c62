"""The command line as a user meets it: one line for each thing that can be wrong, the right exit code for the rest."""

from __future__ import annotations

import json

import pytest

from diffspot_hf.cli import main


@pytest.fixture
def cli(capsys):
    def call(*words):
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


WRONG = {
    "unknown benchmark": (["run", "nope", "--model", "oracle"], "unknown benchmark 'nope'; there are diffspot"),
    "unknown model": (["run", "diffspot", "--model", "gpt9", "--data", "{pairs}"], "unknown model 'gpt9'"),
    "a letter on a benchmark without letters": (
        ["run", "diffspot", "--model", "always-B", "--data", "{pairs}"],
        "answers multiple choice questions",
    ),
    "data that is not there": (
        ["run", "diffspot", "--model", "oracle", "--data", "/nowhere"],
        "neither sample nor official nor an existing folder",
    ),
    "data without rows": (["run", "diffspot", "--model", "oracle", "--data", "{empty}"], "holds no rows"),
    "a prompt that is not there": (
        ["run", "diffspot", "--model", "oracle", "--data", "{pairs}", "--prompt", "/nowhere.txt"],
        "cannot be read",
    ),
    "no rows at all": (
        ["run", "diffspot", "--model", "oracle", "--data", "{pairs}", "--limit", "0"],
        "at least one row",
    ),
    "an output that cannot be written": (
        ["run", "diffspot", "--model", "oracle", "--data", "{pairs}", "--out", "/proc/run"],
        "cannot be written",
    ),
    "an odd share of failures": (
        ["run", "diffspot", "--model", "oracle", "--data", "{pairs}", "--max-failed", "some"],
        "a count, or a share",
    ),
    "a server for a model that has none": (
        ["run", "diffspot", "--model", "pixel-diff", "--data", "{pairs}", "--endpoint", "http://127.0.0.1:9/v1"],
        "--endpoint: pixel-diff would ignore this",
    ),
    "pictures for a model that sees none": (
        ["run", "diffspot", "--model", "oracle", "--data", "{pairs}", "--require-native", "--max-pixels", "5"],
        "--max-pixels, --require-native: oracle would ignore this",
    ),
    "a limit of requests to no server": (
        ["run", "diffspot", "--model", "tiny-vlm", "--data", "{pairs}", "--max-requests", "5"],
        "--max-requests: tiny-vlm would ignore this",
    ),
    "a dtype for a server": (
        ["run", "diffspot", "--model", "m", "--data", "{pairs}", "--endpoint", "http://x", "--dtype", "float32"],
        "--dtype: m, a served model, would ignore this",
    ),
    "judging what is no run": (["judge", "{empty}"], "no run here"),
    "scoring what is no run": (["score", "{empty}"], "no run here"),
    "importing what is not there": (
        ["import", "diffspot", "--predictions", "/nowhere.jsonl", "--data", "{pairs}", "--out", "{empty}/run"],
        "cannot be read",
    ),
}


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_call_is_one_line_and_exit_code_2(cli, pairs, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = cli(*(word.format(pairs=pairs, empty=tmp_path) for word in words))
    assert code == 2
    assert message in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert out == ""


def test_nothing_is_left_behind_by_a_refused_run(cli, pairs, tmp_path):
    code, _, _ = cli("run", "diffspot", "--model", "gpt9", "--data", pairs, "--out", tmp_path / "run")
    assert code == 2
    assert not (tmp_path / "run").exists()


def test_nothing_is_left_behind_when_the_model_is_refused_before_the_first_row(cli, pairs, tmp_path):
    out = tmp_path / "run"
    nowhere = ("--model", "theirs", "--endpoint", "http://127.0.0.1:9/v1", "--no-progress")
    code, _, err = cli("run", "diffspot", *nowhere, "--data", pairs, "--out", out)
    assert code == 2
    assert err.count("http://127.0.0.1:9/v1") == 1
    assert not out.exists()
    assert cli("run", "diffspot", "--model", "oracle", "--data", pairs, "--out", out)[0] == 0
    assert cli("run", "diffspot", *nowhere, "--data", pairs, "--out", out)[0] == 2
    assert len((out / "predictions.jsonl").read_text().splitlines()) == 8


EXACT = {"oracle": (1.0, 1.0), "always-none": (0.0, 1.0), "always-generic": (0.0, 0.0)}


@pytest.mark.parametrize(("model", "expected"), EXACT.items(), ids=EXACT)
def test_controls_reach_their_exact_figures_through_run_judge_score(cli, pairs, tmp_path, model, expected):
    out = tmp_path / "run"
    assert cli("run", "diffspot", "--model", model, "--data", pairs, "--out", out)[0] == 0
    assert cli("judge", out)[0] == 0
    code, text, _ = cli("score", out, "--json")
    scores = json.loads(text)
    assert code == 0
    assert (scores["diff_overall_recall"], scores["no_diff_specificity"]) == expected
    assert scores == json.loads((out / "scores.json").read_text())
    assert sum(scores["health"].values()) == scores["n_total"] == 8
    code, text, _ = cli("score", out)
    assert "not the official benchmark" in text
    assert "gemini-3.1-pro" in text


def test_scoring_before_judging_says_what_to_do(cli, pairs, tmp_path):
    cli("run", "diffspot", "--model", "oracle", "--data", pairs, "--out", tmp_path / "run")
    code, _, err = cli("score", tmp_path / "run")
    assert code == 2
    assert f"run diffspot-hf judge {tmp_path / 'run'}" in err


@pytest.fixture
def torn(make, tmp_path):
    """Eight pairs, of which one names a picture outside the folder and one line is cut."""
    folder = make(tmp_path / "torn", 8)
    lines = (folder / "test.jsonl").read_text().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | {"image_after": "../secret.png"})
    lines[5] = lines[5][:40]
    (folder / "test.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_rows_that_cannot_be_used_are_named_once_and_counted_on_every_run(cli, torn, tmp_path, caplog):
    for out in (tmp_path / "first", tmp_path / "second"):  # read anew, then from the cache
        caplog.clear()
        code, _, err = cli("run", "diffspot", "--model", "oracle", "--data", torn, "--out", out)
        said = [record.getMessage() for record in caplog.records]
        assert code == 0
        assert len(said) == 2
        assert any("line 3" in line and "secret.png" in line for line in said)
        assert any("line 6" in line for line in said)
        assert f"2 rows or files of {torn} cannot be used" in err
        assert json.loads((out / "run.json").read_text())["data"]["refused"] == 2


def test_strict_stops_at_the_first_row_that_cannot_be_used(cli, torn, tmp_path):
    predictions = _lines(tmp_path / "p.jsonl", [{"id": f"pair-{i}", "prediction": "None."} for i in range(8)])
    for words in (("run", "--model", "oracle"), ("import", "--predictions", predictions)):
        out = tmp_path / words[0]
        code, _, err = cli(words[0], "diffspot", *words[1:], "--data", torn, "--strict", "--out", out)
        assert code == 2
        assert "line 3" in err
        assert "line 6" not in err
        assert not out.exists()


def _lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_imported_predictions_are_judged_and_scored_like_a_run(cli, pairs, tmp_path):
    rows = [{"id": f"pair-{i}", "prediction": "No differences.", "model": "theirs"} for i in range(8)]
    file = _lines(tmp_path / "p.jsonl", rows)
    assert cli("import", "diffspot", "--predictions", file, "--data", pairs, "--out", tmp_path / "run")[0] == 0
    assert cli("judge", tmp_path / "run")[0] == 0
    scores = json.loads(cli("score", tmp_path / "run", "--json")[1])
    assert (scores["model"], scores["no_diff_specificity"], scores["diff_overall_recall"]) == ("theirs", 1.0, 0.0)


def test_missing_predictions_are_named_and_count_as_error(cli, pairs, tmp_path):
    file = _lines(tmp_path / "p.jsonl", [{"id": f"pair-{i}", "raw_response": "No differences."} for i in range(6)])
    code, _, err = cli("import", "diffspot", "--predictions", file, "--data", pairs, "--out", tmp_path / "run")
    assert code == 1
    assert "2 rows have no prediction and are never right: pair-6, pair-7" in err
    cli("judge", tmp_path / "run")
    scores = json.loads(cli("score", tmp_path / "run", "--json")[1])
    assert scores["health"]["error"] == 2
    assert scores["n_total"] == 8


BAD_IMPORTS = {
    "an unknown id": ([{"id": "other", "prediction": "x"}], "line 1: id other is not in the data"),
    "an id twice": ([{"id": "pair-0", "prediction": "x"}] * 2, "id pair-0 stands in lines 1 and 2"),
    "no reply": ([{"id": "pair-0"}], "has neither prediction nor raw_response"),
    "no id": ([{"prediction": "x"}], "line 1 has no id"),
    "two models": (
        [{"id": "pair-0", "prediction": "x", "model": "a"}, {"id": "pair-1", "prediction": "x", "model": "b"}],
        "rows of several models (a, b)",
    ),
}


@pytest.mark.parametrize(("rows", "message"), BAD_IMPORTS.values(), ids=BAD_IMPORTS)
def test_a_wrong_import_names_the_rows_and_writes_nothing(cli, pairs, tmp_path, rows, message):
    file = _lines(tmp_path / "p.jsonl", rows)
    code, _, err = cli("import", "diffspot", "--predictions", file, "--data", pairs, "--out", tmp_path / "run")
    assert code == 2
    assert message in err
    assert not (tmp_path / "run").exists()


def test_scores_of_other_rows_are_refused(cli, pairs, make, tmp_path):
    cli("run", "diffspot", "--model", "oracle", "--data", pairs, "--out", tmp_path / "run")
    make(tmp_path / "other", 5)
    code, _, err = cli("score", tmp_path / "run", "--data", tmp_path / "other")
    assert code == 2
    assert "not the rows of the run" in err


def test_the_sample_is_announced(cli, tmp_path):
    code, out, _ = cli("run", "diffspot", "--model", "always-none", "--out", tmp_path / "run")
    assert code == 0
    assert "sample of this package" in out


def test_a_subset_of_nothing_is_refused(cli, tmp_path):
    words = ("run", "dicobench", "--model", "oracle", "--subset", "tenth", "--out", tmp_path / "run")
    code, _, err = cli(*words)
    assert code == 2
    assert "of these 40 rows it chooses none" in err


def test_both_orders_are_told(cli, tmp_path):
    out = tmp_path / "run"
    assert cli("run", "dicobench", "--model", "oracle", "--both-orders", "--out", out)[0] == 0
    assert "100.0 % of the letters stay the same, 40 of 40 items right" in cli("score", out)[1]


def test_the_times_of_people_stay_with_an_imported_run(cli, tmp_path):
    ids = [f"differential-attribute-001-{n}" for n in range(1, 6)]
    lines = [
        {"id": name, "prediction": "" if n == 4 else "A", "seconds": 7.5 + n, "timed_out": n == 4, "time_limit": 30}
        for n, name in enumerate(ids)
    ]
    file = _lines(tmp_path / "p.jsonl", [line | {"model": "a person"} for line in lines])
    code, _, err = cli("import", "dicobench", "--predictions", file, "--out", tmp_path / "run")
    assert code == 1
    assert "35 rows have no prediction" in err
    records = [json.loads(line) for line in (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()]
    assert [(record["seconds"], record["notes"]["timed_out"]) for record in records] == [
        *((7.5 + n, False) for n in range(4)),
        (11.5, True),
    ]
    assert {record["notes"]["time_limit"] for record in records} == {30}
    assert json.loads((tmp_path / "run" / "run.json").read_text())["generation"] == {"time_limit": [30]}
    scores = json.loads(cli("score", tmp_path / "run", "--json")[1])
    assert (scores["health"]["missing"], scores["n_total"]) == (35, 40)
