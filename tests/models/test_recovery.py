"""Rows asked again over HTTP: whose answer counts, what the score says of it, and what the run was before."""

from __future__ import annotations

import json

import pytest

from diffspot_hf.cli import main
from diffspot_hf.running.store import read_lines


def abstains(seen):
    return "No differences."


def names_all(seen):
    """A reply that is right about every row with a change: the row is known by its background."""
    button = f"The button 'Go {(seen.colours[0][0] - 20) // 10}'"
    changes = ("has a red background, not blue", "is set in bold", "is more transparent")
    return "\n".join(f"- {button} {change}." for change in changes)


@pytest.fixture
def run(pairs, tmp_path, capsys):
    """Runs at a server, without preflight; returns the exit code, the records by id and what was printed."""
    out = tmp_path / "run"

    def call(server, *words):
        options = ["--data", str(pairs), "--out", str(out), "--endpoint", server.url, "--concurrency", "1"]
        code = main(["run", "diffspot", "--model", "served-model", *options, "--no-preflight", "--no-progress", *words])
        return code, {record["id"]: record for record in read_lines(out / "predictions.jsonl")}, capsys.readouterr()

    call.out = out
    return call


@pytest.fixture
def score(run, capsys):
    def call():
        assert main(["judge", str(run.out)]) == 0
        capsys.readouterr()
        assert main(["score", str(run.out), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return call


NOT_VALID = {
    "truncated": lambda servers: servers.completion("- The button is red.", "length"),
    "empty": lambda servers: "",
    "refused": lambda servers: "I'm sorry, but I can't view the images.",
}


@pytest.mark.parametrize("state", NOT_VALID)
def test_what_another_server_gives_for_an_error_is_no_answer_unless_it_is_valid(
    run, start_server, servers, score, state
):
    refusing = [servers.Status(400, "bad request")] * 4
    run(start_server(*refusing, reply=abstains))
    before = score()
    other = start_server(reply=lambda seen: NOT_VALID[state](servers))
    code, records, _ = run(other, "--retry", "error")
    assert (code, len(other.requests)) == (1, 4)
    failed = [record for record in records.values() if record["state"] == "error"]
    assert len(failed) == 4
    assert all([a["state"] for a in record["attempts"]] == ["error", state] for record in failed)
    assert all(record["attempts"][1]["route"] == other.url for record in failed)
    assert score() == before


@pytest.mark.parametrize("state", NOT_VALID)
def test_at_its_own_server_an_error_becomes_whatever_the_model_answers(run, start_server, servers, score, state):
    server = start_server(*[servers.Status(400, "bad request")] * 4, reply=abstains)
    run(server)
    server.reply = lambda seen: NOT_VALID[state](servers)
    code, records, _ = run(server)
    assert code == 0
    assert sum(record["state"] == state for record in records.values()) == 4
    scores = score()
    assert scores["model"] == "served-model"
    assert "raw" not in scores


def test_retry_asks_only_failed_rows_of_an_unfinished_run(run, start_server, servers):
    refusing = [servers.Status(400, "bad request")] * 2
    run(start_server(*refusing, reply=abstains), "--max-requests", "5")
    other = start_server(reply=abstains)
    code, records, said = run(other, "--retry", "error")
    assert (code, len(other.requests), len(records)) == (1, 2, 5)
    assert "3 rows have no answer; the same command without --retry asks them" in said.err


def test_another_server_is_another_run_unless_its_failed_rows_are_asked_or_it_moved(run, start_server, score):
    first, other = start_server(reply=abstains), start_server(reply=abstains)
    run(first, "--max-requests", "3")
    code, records, said = run(other)
    assert (code, len(records), other.requests) == (2, 3, [])
    assert f"model.route.endpoint ({first.url} there, {other.url} now)" in said.err
    code, records, _ = run(other, "--endpoint-moved")
    assert (code, len(records), len(other.requests)) == (0, 8, 5)
    card = json.loads((run.out / "run.json").read_text())
    assert card["model"]["route"]["endpoint"] == card["options"]["endpoint"] == other.url
    assert card["moved_from"] == [first.url]
    assert score()["model"] == "served-model"


@pytest.mark.parametrize("words", [("--endpoint-moved", "--retry", "error"), ("--retry", "error")])
def test_there_must_be_a_run_whose_rows_failed(run, start_server, words):
    server = start_server(reply=abstains)
    code, records, said = run(server, *words)
    assert (code, records, server.requests) == (2, {}, [])
    assert said.err.count("\n") == 1


def test_raw_is_the_run_before_any_recovery(run, start_server, servers, score):
    refusing, rows = [servers.Status(400, "bad request")] * 2, iter(range(8))
    cut_first = lambda seen: servers.completion(names_all(seen), "length") if next(rows) < 2 else ""  # noqa: E731
    run(start_server(*refusing, reply=cut_first))
    before = score()
    assert {state: n for state, n in before["health"].items() if n} == {"empty": 4, "truncated": 2, "error": 2}
    assert before["n_tp"] > 0  # a truncated reply is judged, so raw must hold the reply and not only its state
    run(start_server(reply=lambda seen: ""), "--retry", "error")
    run(start_server(reply=abstains), "--retry", "error,empty,truncated")
    after = score()
    assert (after["model"], after["recovered_rows"]) == ("served-model + route recovery", 8)
    assert after["health"]["ok"] == 8
    assert after["raw"] == {name: before[name] for name in after["raw"]}
    assert after["n_tp"] == 0
