"""What a session leaves however it ends, and what a call on a finished run leaves alone."""

from __future__ import annotations

import json
import shutil
from itertools import count

import pytest

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.cli import main
from diffspot_hf.errors import UsageError
from diffspot_hf.models.hf.batching import BatchSize
from diffspot_hf.models.transformers import TransformersModel
from diffspot_hf.running.folder import RunFolder
from diffspot_hf.running.rowset import RowSet
from diffspot_hf.running.runner import Settings, run
from diffspot_hf.running.store import read_lines
from diffspot_hf.types import Response

DIFFSPOT = benchmark("diffspot")
SETTINGS = Settings(prompt=DIFFSPOT.prompt, progress=False)


@pytest.fixture
def rows(pairs):
    return RowSet(DIFFSPOT, str(pairs))


class Counting:
    """Counts what it is asked; `stop` is raised in place of the answer after next."""

    def __init__(self, after=None, stop=KeyboardInterrupt, text="No differences."):
        self.after, self.stop, self.text = after, stop, text
        self.requests, self.batch_size, self.started_at = 0, 1, None

    def describe(self):
        return {"id": "counting", "route": {"requests": self.requests, "tokens": 7 * self.requests} | self._batch()}

    def _batch(self):
        return {"batch_size": self.batch_size, "batch_size_auto": True}

    def start_at(self, batch_size):
        self.started_at = self.batch_size = batch_size

    def generate(self, requests):
        for request, n in zip(requests, count(), strict=False):
            self.requests += 1
            if n == self.after:
                raise self.stop
            self.batch_size = min(2 * self.batch_size, 8)
            yield Response(id=request.id, text=self.text)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError, SystemExit], ids=lambda stop: stop.__name__)
def test_a_session_that_was_broken_off_stands_on_the_card(rows, tmp_path, stop):
    out = RunFolder(tmp_path / "run")
    with pytest.raises(stop):
        run(DIFFSPOT, rows, Counting(3, stop), out, SETTINGS)
    run(DIFFSPOT, rows, Counting(), out, SETTINGS)
    sessions = out.card()["sessions"]
    assert [(each["asked"], each["counted"], each["route"]["requests"]) for each in sessions] == [(3, 1, 4), (5, 1, 5)]
    assert [each["route"]["tokens"] for each in sessions] == [28, 35]


def test_two_runs_of_one_model_count_what_each_of_them_spent(rows, tmp_path):
    model = Counting()
    spent = []
    for name in ("run", "swapped"):
        run(DIFFSPOT, rows, model, RunFolder(tmp_path / name), SETTINGS)
        spent += [session["route"]["requests"] for session in RunFolder(tmp_path / name).card()["sessions"]]
    assert spent == [8, 8]


def test_a_found_batch_size_is_where_the_next_session_begins(rows, tmp_path):
    out = RunFolder(tmp_path / "run")
    with pytest.raises(KeyboardInterrupt):
        run(DIFFSPOT, rows, Counting(2), out, SETTINGS)
    again = Counting()
    run(DIFFSPOT, rows, again, out, SETTINGS)
    assert again.started_at == 4


@pytest.mark.parametrize(("asked", "found", "begins"), [("auto", 4, 4), ("auto", 64, 8), (2, 4, 2)])
def test_a_found_batch_size_is_for_auto_and_within_what_the_device_allows(asked, found, begins):
    batch = BatchSize(asked, 8)
    batch.start(found)
    assert batch.now == begins
    batch.failed(batch.now)
    assert batch.now == (begins // 2 if asked == "auto" else asked)


@pytest.mark.vlm
def test_a_real_model_begins_where_it_is_told_to():
    model = TransformersModel("tiny-vlm", batch_size="auto")
    model.start_at(4)
    assert model.describe()["route"]["batch_size"] == 4


def test_a_call_on_a_finished_run_writes_nothing(rows, tmp_path):
    out = RunFolder(tmp_path / "run")
    run(DIFFSPOT, rows, Counting(), out, SETTINGS)
    before = {file: (file.stat().st_ino, file.stat().st_mtime_ns) for file in out.path.iterdir()}
    run(DIFFSPOT, rows, Counting(), out, SETTINGS)
    assert {file: (file.stat().st_ino, file.stat().st_mtime_ns) for file in out.path.iterdir()} == before


@pytest.mark.vlm
def test_a_finished_run_needs_no_model_folder_but_another_model_is_no_finished_run(
    pairs, tmp_path, monkeypatch, capsys
):
    from diffspot_hf.models.tiny import tiny_vlm_folder

    monkeypatch.chdir(tmp_path)
    shutil.copytree(tiny_vlm_folder(), "m")
    options = ["--data", str(pairs), "--out", "run", "--max-new-tokens", "4", "--no-progress"]
    assert main(["run", "diffspot", "--model", "m", *options]) == 0
    shutil.rmtree("m")
    for name, code in {"m": 0, "./m": 0, "n": 2, "./n": 2}.items():
        assert main(["run", "diffspot", "--model", name, *options]) == code, name
    (tmp_path / "run" / "predictions.jsonl").write_text("")
    capsys.readouterr()
    assert main(["run", "diffspot", "--model", "m", *options]) == 2
    assert capsys.readouterr().err.startswith("error: unknown model 'm'")


def test_half_an_emoji_in_a_reply_goes_all_the_way(rows, tmp_path, capsys):
    out, text = RunFolder(tmp_path / "run"), "- half \ud83d a smile"
    assert run(DIFFSPOT, rows, Counting(text=text), out, SETTINGS).n_unanswered == 0
    assert {record["raw_response"] for record in read_lines(out.predictions)} == {text}
    part = shutil.copytree(out.path, tmp_path / "part")
    assert main(["merge", str(out.path), str(part)]) == 0
    assert main(["judge", str(out.path)]) == 0
    assert main(["score", str(out.path)]) == 0
    for file in out.path.iterdir():
        file.read_text(encoding="utf-8")


def test_rows_that_were_not_asked_are_told_apart_from_the_others(pairs, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("diffspot_hf.models.load_model", lambda *_: Stopping(3))
    words = ["run", "diffspot", "--model", "stopping", "--data", str(pairs), "--out", str(tmp_path / "run")]
    assert main([*words, "--no-progress"]) == 1
    assert "ok 3 · not asked 5 (of 8 rows), 3 asked now" in capsys.readouterr().out


class Stopping(Counting):
    """Ends early as one does whose budget is spent."""

    def generate(self, requests):
        self.stopped_because = "enough"
        for request, _ in zip(requests, range(self.after), strict=False):
            yield Response(id=request.id, text=self.text)


@pytest.mark.parametrize("text", ["-1", "nan%", "nan.", "150%", "-5%", "1.5", "-0.1", "inf%", "many", "1e0", ""])
def test_a_count_or_share_of_failures_that_cannot_be_is_refused(text, capsys):
    assert main(["run", "diffspot", "--model", "oracle", f"--max-failed={text}"]) == 2
    assert capsys.readouterr().err == f"error: --max-failed {text}: a count, or a share like 5% or 0.05\n"


def test_a_folder_that_a_kill_left_before_its_card_can_be_begun(rows, tmp_path):
    out = RunFolder(tmp_path / "run")
    out.path.mkdir()
    out.predictions.touch()
    (out.path / ".run.json.1.part").write_text("{")
    assert run(DIFFSPOT, rows, Counting(), out, SETTINGS).n_unanswered == 0
    out.card_file.unlink()
    with pytest.raises(UsageError, match="holds no run"):
        run(DIFFSPOT, rows, Counting(), out, SETTINGS)


def test_a_card_that_is_none_is_one_line(pairs, tmp_path, capsys):
    words = ["run", "diffspot", "--model", "oracle", "--data", str(pairs), "--out", str(tmp_path), "--no-progress"]
    for text in ("{}", "12", "[]", json.dumps({"benchmark": "diffspot"})):
        (tmp_path / "run.json").write_text(text)
        for command in (words, ["judge", str(tmp_path)], ["score", str(tmp_path)], ["merge", str(tmp_path), "."]):
            assert main(command) == 2
            assert capsys.readouterr().err.count("\n") == 1
