"""Whole runs at a real local server that denies rows, obeys a schema, or ends replies in words of its own."""

from __future__ import annotations

import pytest

from diffspot_hf.cli import main
from diffspot_hf.running.store import read_lines


def colours_or_nothing(seen):
    """Names plain colours when asked for them, else abstains."""
    if not is_of_a_row(seen):
        return ", ".join("red" if colour[0] > colour[2] else "blue" for colour in seen.colours)
    return "No differences."


def is_of_a_row(seen):
    return len(seen.uris) == 2 and "Each is filled with a single colour" not in seen.text


@pytest.mark.parametrize("concurrency", ["1", "16"])
@pytest.mark.parametrize("preflight", [[], ["--no-preflight"]], ids=["preflight", "no preflight"])
def test_a_first_row_that_is_denied_costs_only_itself(run, start_server, servers, concurrency, preflight):
    first = []

    def policy(seen):
        if is_of_a_row(seen) and not first:
            first.append(seen.uris)
        return servers.Status(403, "content policy") if first and seen.uris == first[0] else servers.OK

    server = start_server(decide=policy, reply=colours_or_nothing)
    for _ in range(2):  # and the same command asks only this row again
        code, records, said = run(server, "--concurrency", concurrency, *preflight)
        assert code == 1
        assert sorted(record["state"] for record in records.values()) == ["error"] + ["ok"] * 7
        assert "1 rows have no answer" in said.err


def test_a_key_that_expires_leaves_a_run_that_continues(run, start_server, servers, make, tmp_path):
    data = str(make(tmp_path / "forty", 40))
    server = start_server(reply=colours_or_nothing)
    server.decide = lambda seen: servers.OK if len(server.requests) <= 12 else servers.Status(401, "expired")
    code, records, said = run(server, "--data", data)
    assert code == 1
    assert "stopped early" in said.err
    assert sum(record["state"] == "ok" for record in records.values()) == 10
    assert len(records) < 25
    server.decide = lambda seen: servers.OK
    code, records, _ = run(server, "--data", data)
    assert (code, {record["state"] for record in records.values()}, len(records)) == (0, {"ok"}, 40)


def test_an_end_for_an_unknown_reason_is_no_whole_answer_and_the_record_says_which(run, start_server, servers):
    server = start_server(reply=lambda seen: servers.completion("- The button is", "paused for review"))
    code, records, _ = run(server, "--no-preflight")
    assert (code, {record["state"] for record in records.values()}) == (0, {"truncated"})
    assert records["pair-0"]["attempts"][-1]["detail"] == "finish reason 'paused for review'"


@pytest.mark.parametrize("port", ["99999", "abc"])
def test_an_impossible_url_is_one_line_at_once(pairs, tmp_path, capsys, port):
    words = ["--data", str(pairs), "--out", str(tmp_path / "run"), "--endpoint", f"http://127.0.0.1:{port}/v1"]
    assert main(["run", "diffspot", "--model", "served-model", *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: --endpoint")
    assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_server_that_obeys_the_schema_passes_the_preflight(start_server, servers, tmp_path):
    def obeys(seen):
        return '{"issues": []}' if "response_format" in seen.body else colours_or_nothing(seen)

    server = start_server(reply=obeys)
    words = ["--limit", "3", "--box-frame", "xyxy_1000", "--endpoint", server.url, "--constrain-json", "--no-progress"]
    assert main(["run", "scry", "--model", "served-model", "--out", str(tmp_path / "run"), *words]) == 0
    records = read_lines(tmp_path / "run" / "predictions.jsonl")
    assert [record["state"] for record in records] == ["ok"] * 3
    assert sum("response_format" in seen.body for seen in server.requests) == 3
