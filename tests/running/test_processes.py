"""Several processes on one run: nobody else may write meanwhile, and folders without a shared disk are joined."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from diffspot_hf.cli import main
from diffspot_hf.running.folder import RunFolder
from diffspot_hf.running.processes import share

pytestmark = pytest.mark.vlm
SCRIPT = str(Path(__file__).with_name("slow_run.py"))
N = 24
REFUSED = "another process is writing this run; wait for it or choose another --out"


@pytest.fixture(scope="module")
def data(tmp_path_factory, make):
    return make(tmp_path_factory.mktemp("processes"), N)


def start(world, *words):
    """A program in one process, or a launcher with `world` of them."""
    launcher = [sys.executable]
    if world > 1:
        port = str(random.randint(20000, 40000))
        launcher += ["-m", "torch.distributed.run", "--nproc_per_node", str(world), "--master_port", port]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen([*launcher, *words], env=environment, stdout=-1, stderr=-1, text=True)


def until_stored(process, wanted, *folders, patience=90):
    """Returns when `wanted` answers are stored in `folders`."""
    deadline = time.monotonic() + patience
    while sum(f.read_bytes().count(b"\n") for folder in folders for f in folder.glob("predictions*.jsonl")) < wanted:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "the run does not come forward"
        time.sleep(0.01)


def end(process):
    """SIGKILL to a launcher and its processes."""
    with contextlib.suppress(psutil.NoSuchProcess):
        family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
        psutil.wait_procs(family, timeout=10)
    process.communicate()


@pytest.mark.parametrize(("first", "second"), [(2, 1), (1, 2), (2, 2)])
def test_a_second_call_on_a_working_run_is_refused_and_costs_nothing(data, tmp_path, first, second):
    out, log, late = tmp_path / "run", tmp_path / "log", tmp_path / "late"
    working = start(first, SCRIPT, str(data), str(out), str(log), str(0.5 * first))
    try:
        until_stored(working, 3, out)
        files = sorted(file.name for file in out.iterdir())
        other = start(second, SCRIPT, str(data), str(out), str(late), "0")
        said = other.communicate(timeout=60)[1]
        assert other.returncode != 0
        assert REFUSED in said
        if working.poll() is None:  # a launcher takes its time to end
            assert sorted(file.name for file in out.iterdir()) == files
        assert not late.exists()
        assert working.wait(60) == 0
    finally:
        end(working)
    assert Counter(log.read_text().split()) == Counter(f"pair-{i}" for i in range(N))
    assert sorted(RunFolder(out).records()) == sorted(f"pair-{i}" for i in range(N))
    assert sorted(file.name for file in out.iterdir()) == ["predictions.jsonl", "run.json"]


def test_processes_without_a_shared_disk_say_how_to_join_their_folders(data, tmp_path, capsys):
    options = f"--model always-none --data {data} --no-progress"
    script = tmp_path / "call.sh"
    call = f'exec {sys.executable} -m diffspot_hf run diffspot {options} --out "{tmp_path}/part-$RANK"'
    script.write_text(f"#!/bin/sh\n{call}\n")
    script.chmod(0o755)
    process = start(3, "--no-python", str(script))
    said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert f"part-0: ok {N} (of {N} rows), {N} asked now" in said[0]
    assert f"16 of these answers are not in {tmp_path}/part-0" in said[1]
    assert f"{tmp_path}/part-1" in said[1]
    assert f"then: diffspot-hf merge {tmp_path}/part-0" in said[1]
    parts = [RunFolder(tmp_path / f"part-{rank}") for rank in range(3)]
    assert [len(part.records()) for part in parts] == [8, 8, 8]
    assert len({part.card_file.read_bytes() for part in parts[1:]}) == 1
    assert main(["merge", *(str(part.path) for part in parts)]) == 0
    assert f"{N} of {N} rows" in capsys.readouterr().out
    assert main(["run", "diffspot", *options.split(), "--out", str(parts[0].path)]) == 0
    assert "0 asked now" in capsys.readouterr().out


def test_without_a_shared_disk_a_stopped_run_goes_on_where_each_folder_stood(data, tmp_path):
    log, folders = tmp_path / "log", [tmp_path / "part-0", tmp_path / "part-1"]
    words = [SCRIPT, str(data), str(tmp_path / "part-{rank}"), str(log), "0.1"]
    process = start(2, *words)
    try:
        until_stored(process, 7, *folders)
    finally:
        end(process)
    stored = {i for folder in folders for i in RunFolder(folder).records()}
    asked = len(log.read_text().split())
    process = start(2, *words)
    assert process.communicate(timeout=90)
    assert process.returncode == 0
    assert not stored & set(log.read_text().split()[asked:])
    ids = [list(RunFolder(folder).records()) for folder in folders]
    assert Counter(ids[0] + ids[1]) == Counter(f"pair-{i}" for i in range(N))


def test_processes_that_loaded_different_models_are_refused_before_a_row_is_asked(data, tmp_path):
    out, log = tmp_path / "run", tmp_path / "log"
    process = start(2, SCRIPT, str(data), str(out), str(log), "0", "type-{rank}")
    assert 'process 1 is not like process 0: model.loaded.dtype ("type-0"' in process.communicate(timeout=60)[1]
    assert process.returncode != 0
    assert not log.exists()
    assert not out.exists()


def test_the_session_of_all_processes_is_counted_together(data, tmp_path):
    process = start(3, SCRIPT, str(data), str(tmp_path / "run"), str(tmp_path / "log"), "0")
    assert process.communicate(timeout=60)
    assert process.returncode == 0
    (session,) = json.loads((tmp_path / "run" / "run.json").read_text())["sessions"]
    assert (session["processes"], session["counted"], session["asked"]) == (3, 3, N)


@pytest.mark.parametrize("world", range(1, 6))
@pytest.mark.parametrize("total", range(9))
def test_the_shares_of_a_limit_are_the_limit(total, world):
    shares = [share(total, rank, world) for rank in range(world)]
    assert sum(shares) == total
    assert max(shares) - min(shares) <= 1
