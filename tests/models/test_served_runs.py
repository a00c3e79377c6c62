"""Whole runs against a real local server, through the command line: failures counted, resumed, recovered, excused."""

from __future__ import annotations

import json

import pytest

from diffspot_hf.cli import main


def right_order(seen):
    """Names plain colours when asked for them, else abstains."""
    colours = [picture.convert("RGB").getpixel((0, 0)) for picture in seen.pictures]
    plain = all(max(colour) > 200 and sorted(colour)[1] < 60 for colour in colours)
    return ", ".join("red" if c[0] > c[2] else "blue" for c in colours) if plain else "No differences."


def test_a_run_over_http_ends_like_any_other(run, start_server):
    code, records, said = run(start_server(reply=right_order))
    assert code == 0
    assert len(records) == 8
    assert "ok 8" in said.out
    card = json.loads((run.out / "run.json").read_text())
    assert card["model"]["id"] == "served-model"
    assert card["preflight"]


def test_a_server_that_turns_the_images_is_refused_before_any_row(run, start_server):
    code, records, said = run(start_server(reply=lambda seen: ", ".join(right_order(seen).split(", ")[::-1])))
    assert (code, records) == (2, {})
    assert said.err.startswith("error: ")
    code, records, _ = run(start_server(reply=lambda seen: "No differences."), "--no-preflight")
    assert (code, len(records)) == (0, 8)
    assert json.loads((run.out / "run.json").read_text())["preflight"] == {"skipped": True}


def test_failed_rows_are_counted_and_asked_again_by_the_same_command(run, start_server, servers):
    refusing = [servers.Status(400, "bad request")] * 3
    server = start_server(*refusing, reply=right_order)
    code, records, said = run(server, "--no-preflight")
    assert code == 1
    assert sum(record["state"] == "error" for record in records.values()) == 3
    assert "3 rows have no answer; the same command asks" in said.err
    code, records, _ = run(server, "--no-preflight")
    assert code == 0
    assert len(server.requests) == 8 + 3
    assert {record["state"] for record in records.values()} == {"ok"}
    assert sorted(len(record["attempts"]) for record in records.values()) == [1] * 5 + [2] * 3


@pytest.mark.parametrize(("accepted", "expected"), [("3", 0), ("2", 1), ("40%", 0), ("0.3", 1)])
def test_the_share_of_failures_one_accepts(run, start_server, servers, accepted, expected):
    refusing = [servers.Status(400, "bad request")] * 3
    code, _, _ = run(start_server(*refusing, reply=right_order), "--no-preflight", "--max-failed", accepted)
    assert code == expected


def test_route_recovery_replaces_failed_rows_only_by_valid_ones_and_says_so(run, start_server, capsys):
    empty_first = iter([""] * 4)
    code, records, _ = run(start_server(reply=lambda seen: next(empty_first, "No differences.")), "--no-preflight")
    assert code == 0
    assert sum(record["state"] == "empty" for record in records.values()) == 4
    still_empty = iter(["", ""])
    other = start_server(reply=lambda seen: next(still_empty, "No differences."))
    code, records, _ = run(other, "--no-preflight", "--retry", "empty")
    assert (code, len(other.requests)) == (0, 4)
    assert sum(record["state"] == "empty" for record in records.values()) == 2
    recovered = [record for record in records.values() if record.get("retried_from") and record["state"] == "ok"]
    assert len(recovered) == 2
    assert len({attempt["route"] for attempt in recovered[0]["attempts"]}) == 2
    assert main(["judge", str(run.out)]) == 0
    capsys.readouterr()
    assert main(["score", str(run.out), "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["model"] == "served-model + route recovery"
    assert scores["recovered_rows"] == 2
    assert (scores["raw"]["health"]["empty"], scores["health"]["empty"]) == (4, 2)
    assert scores["raw"]["n_tn"] <= scores["n_tn"]


def test_a_budget_leaves_a_run_that_continues(run, start_server):
    server = start_server(reply=right_order)
    code, records, said = run(server, "--no-preflight", "--max-requests", "3")
    assert (code, len(records)) == (1, 3)
    assert "the same command continues" in said.err
    code, records, _ = run(server, "--no-preflight")
    assert (code, len(records), len(server.requests)) == (0, 8, 3 + 5)


def test_a_server_that_is_not_there_is_one_line_and_no_row(run, start_server):
    server = start_server(reply=right_order)
    server.stop()
    code, records, said = run(server)
    assert (code, records) == (2, {})
    assert said.err.count("\n") == 1
