"""SIGKILL at random moments: nothing finished is lost or asked again, and the end is that of an uninterrupted run."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

SCRIPT = Path(__file__).with_name("slow_run.py")
N = 24


@pytest.fixture(scope="module")
def data(tmp_path_factory, make):
    return make(tmp_path_factory.mktemp("kill"), N)


def answers(out: Path) -> dict[str, str]:
    """Every complete stored answer by id, over all writers' files; fails if one id has two."""
    found: dict[str, str] = {}
    for file in sorted(out.glob("predictions*.jsonl")):
        for line in file.read_bytes().split(b"\n")[:-1]:
            record = json.loads(line)
            assert record["id"] not in found, f"{record['id']} is stored twice"
            found[record["id"]] = record["prediction"]
    return found


def start(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command, env=os.environ | {"OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip


def kill_when_stored(command: list[str], out: Path, wanted: int, patience: float = 90) -> None:
    """Starts `command` and kills its whole process group once `wanted` answers are stored (or it ends by itself)."""
    process = start(command)
    deadline = time.monotonic() + patience
    try:
        while process.poll() is None:
            stored = sum(file.read_bytes().count(b"\n") for file in out.glob("predictions*.jsonl"))
            if stored >= wanted:
                break
            assert time.monotonic() < deadline, "the run does not come forward"
            time.sleep(0.01)
    finally:
        kill_tree(process.pid)
        process.communicate()


def kill_tree(pid: int) -> None:
    """SIGKILL to a process and all below it: a launcher's workers are in groups of their own."""
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
        psutil.wait_procs(family, timeout=10)


def finish(command: list[str]) -> None:
    process = start(command)
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 0, output.decode()


def torchrun(world: int, *words: str) -> list[str]:
    port = str(random.randint(20000, 40000))
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", str(world), "--master_port", port]
    return [*launcher, *words]


def test_ten_kills_of_one_process(data, tmp_path):
    out, log, whole = tmp_path / "run", tmp_path / "log", tmp_path / "whole"
    command = [sys.executable, str(SCRIPT), str(data), str(out), str(log), "0.01"]
    points = sorted(random.sample(range(1, N), 10))
    for point in points:
        before = answers(out)
        asked_before = len(log.read_text().split()) if log.exists() else 0
        kill_when_stored(command, out, point)
        assert before.items() <= answers(out).items()
        asked = log.read_text().split()[asked_before:]
        assert not set(asked) & set(before), f"asked again: {set(asked) & set(before)} (kill points {points})"
    finish(command)
    finish([sys.executable, str(SCRIPT), str(data), str(whole), str(tmp_path / "log2"), "0"])
    assert answers(out) == answers(whole)
    assert len(answers(out)) == N


@pytest.mark.vlm
def test_kills_and_resumes_on_one_two_and_three_processes(data, tmp_path):
    out, log, whole = tmp_path / "run", tmp_path / "log", tmp_path / "whole"
    words = [str(SCRIPT), str(data), str(out), str(log), "0.05"]
    for world, point in ((2, 5), (3, 11), (1, 16)):
        before = answers(out)
        asked_before = len(log.read_text().split()) if log.exists() else 0
        kill_when_stored(torchrun(world, *words), out, point)
        assert before.items() <= answers(out).items()
        assert not set(log.read_text().split()[asked_before:]) & set(before)
    finish(torchrun(2, *words))
    assert [file.name for file in out.glob("predictions*.jsonl")] == ["predictions.jsonl"]
    finish([sys.executable, str(SCRIPT), str(data), str(whole), str(tmp_path / "log2"), "0"])
    assert answers(out) == answers(whole)


@pytest.mark.vlm
@pytest.mark.parametrize("world", [1, 2, 3])
def test_processes_share_any_number_of_rows_without_gap_or_repeat(data, tmp_path, world):
    finish(torchrun(world, str(SCRIPT.with_name("counts_run.py")), str(data), str(tmp_path)))
    for n in range(18):
        asked = (tmp_path / f"log-{n}").read_text().split() if n else []
        assert sorted(asked) == sorted(f"pair-{i}" for i in range(n))
        assert sorted(answers(tmp_path / str(n))) == sorted(asked)


@pytest.mark.vlm
def test_three_kills_of_a_real_tiny_model(data, tmp_path):
    out, whole = tmp_path / "run", tmp_path / "whole"

    def command(folder: Path) -> list[str]:
        options = ["--max-new-tokens", "12", "--batch-size", "2", "--no-progress"]
        words = ["run", "diffspot", "--model", "tiny-vlm", "--data", str(data), "--out", str(folder), *options]
        return [sys.executable, "-m", "diffspot_hf", *words]

    for point in sorted(random.sample(range(1, N - 2), 3)):
        before = answers(out)
        kill_when_stored(command(out), out, point)
        assert before.items() <= answers(out).items()
    finish(command(out))
    finish(command(whole))
    assert answers(out) == answers(whole)
    assert len(answers(out)) == N
