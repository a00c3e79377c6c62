"""Limits of what a server is asked hold for a run of several processes as a whole."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import pytest

pytestmark = pytest.mark.vlm


def right_order(seen):
    """Names plain colours when asked for them, else abstains."""
    colours = [picture.convert("RGB").getpixel((0, 0)) for picture in seen.pictures]
    plain = all(max(colour) > 200 and sorted(colour)[1] < 60 for colour in colours)
    return ", ".join("red" if c[0] > c[2] else "blue" for c in colours) if plain else "No differences."


LIMITS = {
    "shared": (2, ["--max-requests", "5", "--no-preflight"], 5, 5),
    "a process without a share asks nothing": (3, ["--max-requests", "2", "--no-preflight"], 2, 2),
    "preflights count": (2, ["--max-requests", "7"], 7, 3),
    "too few for two preflights": (2, ["--max-requests", "5"], 5, 3),
}


@pytest.mark.parametrize(("world", "words", "requests", "answered"), LIMITS.values(), ids=LIMITS)
def test_a_limit_is_that_of_all_processes(start_server, pairs, tmp_path, world, words, requests, answered):
    server, out, port = start_server(reply=right_order), tmp_path / "run", str(random.randint(20000, 40000))
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", str(world), "--master_port", port]
    options = ["--data", str(pairs), "--out", str(out), "--endpoint", server.url, "--concurrency", "1", "--no-progress"]
    process = subprocess.run(
        [*launcher, "-m", "diffspot_hf", "run", "diffspot", "--model", "served-model", *options, *words],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert process.returncode != 0
    assert len(server.requests) == requests
    assert f"ok {answered} · not asked {8 - answered} (of 8 rows), {answered} asked now" in process.stdout
    assert "is used up" in process.stderr
    (session,) = json.loads((out / "run.json").read_text())["sessions"]
    assert (session["asked"], session["route"]["requests"]) == (answered, requests)
