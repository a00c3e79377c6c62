"""Verification of runs over HTTP: it asks exactly what the run asked, and tells caches of replies from honest ones."""

from __future__ import annotations

import hashlib
import json
import time

import pytest
from PIL import Image

from diffspot_hf.cli import main

ISSUE = {"labels": ["Typography"], "note": "x", "box_a": [100, 100, 500, 500], "box_b": [100, 100, 500, 500]}


def letter(seen):
    """A letter that depends on every byte that was sent, pictures and texts in order; lists what it saw."""
    return "ABCDE"[int(hashlib.sha256(json.dumps(seen.parts).encode()).hexdigest(), 16) % 5]


def issues(seen):
    return json.dumps({"issues": [ISSUE]})


CASES = {
    "box frame": ("scry", issues, ("--box-frame", "xyxy_1000", "--limit", "3")),
    "shuffled": ("dicobench", letter, ("--shuffle-options", "3")),
    "view": ("dicobench", letter, ("--view", "crop", "--view-margin", "0.2")),
    "budget": ("dicobench", letter, ("--max-requests", "6")),
}


@pytest.fixture
def verify(tmp_path, capsys):
    """Verifies the run in `tmp_path / "run"` and returns the exit code and what was found."""

    def call(*words, of="run"):
        capsys.readouterr()
        code = main(["verify", str(tmp_path / of), "--json", *words])
        said = capsys.readouterr()
        return code, json.loads(said.out or "{}"), said.err

    return call


def run(server, tmp_path, benchmark, *words, data="sample"):
    options = ["--data", str(data), "--out", str(tmp_path / "run"), "--no-preflight", "--no-progress"]
    return main(
        ["run", benchmark, "--model", "served", "--endpoint", server.url, "--concurrency", "1", *options, *words]
    )


@pytest.fixture
def items(tmp_path):
    """Twelve small items of multiple choice."""
    folder = tmp_path / "items"
    folder.mkdir()
    lines = []
    for i in range(12):
        names = [f"{i}-{side}.png" for side in "12"]
        for name, colour in zip(names, ((20 * i, 90, 40), (200, 20 * i, 90)), strict=True):
            Image.new("RGB", (160, 120), colour).save(folder / name)
        item = {"id": f"item-{i}", "track": "differential", "task": "attribute", "answer": "B"}
        options = [f"{word} of {i}" for word in ("One", "Two", "Three", "Four", "Nothing")]
        question = {"question": "What is the difference?", "options": options}
        lines.append(json.dumps(item | {"image_1": names[0], "image_2": names[1]} | question))
    (folder / "test.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def cues(tmp_path):
    """A cue box for each of the items, in a file."""
    box = {"x": 10, "y": 10, "w": 60, "h": 60}
    lines = [json.dumps({"id": f"item-{i}", "bbox_1": box, "bbox_2": box}) for i in range(12)]
    (tmp_path / "cues.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path / "cues.jsonl"


@pytest.mark.parametrize(("benchmark", "reply", "words"), CASES.values(), ids=CASES)
def test_an_honest_run_passes_whatever_its_settings(
    start_server, tmp_path, verify, items, cues, benchmark, reply, words
):
    if "--view" in words:
        words = (*words, "--view-cues", str(cues))
    server = start_server(reply=reply)
    run(server, tmp_path, benchmark, *words, data="sample" if benchmark == "scry" else items)
    asked = {json.dumps(seen.parts) for seen in server.requests}
    code, found, _ = verify("--rows", "12")
    assert (code, found["agreement"], found["differing"]) == (0, 1.0, [])
    again = [json.dumps(seen.parts) for seen in server.requests[len(asked) :]]
    assert asked == {sent for sent in again if "Reference number" not in sent}


def test_swapped_pictures_are_asked_swapped(start_server, tmp_path, verify, items):
    run(start_server(reply=letter), tmp_path, "dicobench", "--both-orders", data=items)
    for folder in ("run", "run/swapped"):
        assert verify("--rows", "8", of=folder)[1]["agreement"] == 1.0


def test_what_cannot_be_asked_as_it_was_is_refused(start_server, tmp_path, verify, items, cues):
    server = start_server(reply=letter)
    run(server, tmp_path, "dicobench", "--view", "crop", "--view-cues", str(cues), data=items)
    asked = len(server.requests)
    cues.write_text(cues.read_text().replace('"x": 10', '"x": 20'))
    code, _, said = verify()
    assert (code, len(server.requests)) == (2, asked)
    assert "view would differ" in said
    cues.unlink()
    code, _, said = verify()
    assert code == 2
    assert said.count("\n") == 1


@pytest.mark.parametrize("field", ["prompt_sha256", "images"])
def test_a_row_that_would_be_asked_otherwise_is_refused(start_server, tmp_path, verify, pairs, field):
    run(start_server(reply=lambda seen: "No differences."), tmp_path, "diffspot", data=pairs)
    file = tmp_path / "run" / "predictions.jsonl"
    records = [json.loads(line) for line in file.read_text().splitlines()]
    for record in records:
        record[field] = "0" * 64 if field == "prompt_sha256" else record["images"][::-1]
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    code, _, said = verify()
    assert code == 2
    assert ("another text" if field == "prompt_sha256" else "other pictures") in said
    for record in records:
        del record[field]  # as in runs by earlier versions
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert verify()[0] == 0


def test_rows_of_another_server_are_left_out_and_counted(start_server, servers, tmp_path, verify, pairs):
    refusing = [servers.Status(400, "bad request")] * 3
    run(start_server(*refusing, reply=lambda seen: "No differences."), tmp_path, "diffspot", data=pairs)
    other = start_server(reply=lambda seen: "- Another answer.")
    run(other, tmp_path, "diffspot", "--retry", "error", data=pairs)
    code, found, _ = verify()
    assert (code, found["rows"], found["left_out"], found["agreement"]) == (0, 5, 3, 1.0)
    assert len(other.requests) == 3


class Server:
    """How long a reply takes: 0.15 s to take in a beginning it does not know, 0.03 s to write the answer."""

    def __init__(self, prefixes=False, replies=False):
        self.prefixes, self.replies = (set() if prefixes else None), (set() if replies else None)

    def __call__(self, seen):
        whole, beginning = json.dumps(seen.parts), json.dumps(seen.parts[:3])
        if self.replies is None or whole not in self.replies:
            if self.prefixes is None or beginning not in self.prefixes:
                time.sleep(0.15)
            time.sleep(0.03)
        for known, new in ((self.prefixes, beginning), (self.replies, whole)):
            if known is not None:
                known.add(new)
        return "No differences."


@pytest.mark.parametrize("restarted", [False, True], ids=["warm", "restarted"])
@pytest.mark.parametrize("prefixes", [False, True], ids=["computes all", "keeps prefixes"])
def test_a_server_that_keeps_prefixes_is_no_cache_of_replies(
    start_server, tmp_path, verify, pairs, prefixes, restarted
):
    reply = Server(prefixes=prefixes)
    run(start_server(reply=reply), tmp_path, "diffspot", "--limit", "3", data=pairs)
    if restarted and prefixes:
        reply.prefixes.clear()
    code, found, _ = verify("--rows", "3")
    assert (code, found["cache_suspected"]) == (0, False)


@pytest.mark.parametrize("prefixes", [False, True], ids=["computes the rest", "keeps prefixes too"])
def test_a_cache_of_replies_is_noticed(start_server, tmp_path, verify, pairs, prefixes):
    run(start_server(reply=Server(prefixes, replies=True)), tmp_path, "diffspot", "--limit", "3", data=pairs)
    code, found, _ = verify("--rows", "3")
    assert (code, found["cache_suspected"], found["agreement"]) == (1, True, 1.0)
