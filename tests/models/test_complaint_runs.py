"""Complaints of harness users against whole runs: a real tiny model, or a real local server, through the real runner.

Each test holds one check against our run and against a faulty variant, for which the same check must fail. Numbers are
those of `tests/complaints.toml`.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from PIL import Image

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.errors import UsageError
from diffspot_hf.models.endpoint import EndpointModel
from diffspot_hf.models.hf.engine import model_generate
from diffspot_hf.models.hf.inputs import Preparer
from diffspot_hf.models.preflight import check as preflight
from diffspot_hf.models.transformers import TransformersModel
from diffspot_hf.options import ModelOptions
from diffspot_hf.running import asking, runner, store
from diffspot_hf.running.folder import RunFolder
from diffspot_hf.running.rowset import RowSet
from diffspot_hf.running.runner import Settings, run
from diffspot_hf.running.score_run import score_run
from diffspot_hf.running.verify import verify_run
from diffspot_hf.scoring.rates import health
from diffspot_hf.types import Prediction, Request

pytestmark = pytest.mark.vlm
DIFFSPOT, DICOBENCH = benchmark("diffspot"), benchmark("dicobench")
SCRY = benchmark("scry").configured("m", ModelOptions(box_frame="xyxy_1000"))


@pytest.fixture
def asked(pairs, tmp_path):
    """Runs `model` over rows into the folder `name`; returns the records by id, and the folder as `asked.out`."""

    def ask(model, name="run", *, bench=DIFFSPOT, data=str(pairs), limit=None, check=None, **settings):
        ask.out = RunFolder(tmp_path / name)
        ask.rows = RowSet(bench, str(data), limit)
        wanted = Settings(prompt=bench.prompt, progress=False, **settings)
        ask.summary = run(bench, ask.rows, model, ask.out, wanted, check=check)
        return ask.out.records()

    return ask


@pytest.fixture
def tiny_model(tiny):
    """A real model of random weights; `preparer` is the class that makes its inputs, `kind` that of the model."""

    def make(arch="llava", *, preparer=None, kind=TransformersModel, **options):
        model = kind(str(tiny(arch)), **{"max_new_tokens": 8, "batch_size": 4} | options)
        if preparer is not None:
            fields = {name: value for name, value in vars(model.preparer).items() if not name.startswith("_")}
            model.preparer = preparer(**fields)
        return model

    return make


def served(server, **options):
    return EndpointModel("served", endpoint=server.url, **{"concurrency": 1, "backoff": 0.01} | options)


def replies(records) -> dict[str, str]:
    return {identifier: record["raw_response"] for identifier, record in records.items()}


class Changed(Preparer):
    """Puts other requests in the place of those of a batch."""

    def change(self, requests):
        raise NotImplementedError

    def tokenize(self, requests) -> Any:
        return super().tokenize(self.change(requests))


class Leaky(Changed):
    def change(self, requests):
        everything = tuple(picture for request in requests for picture in request.pictures)
        return [Request(request.id, (request.text, *everything)) for request in requests]


class FirstForAll(Changed):
    def change(self, requests):
        return [Request(request.id, (requests[0].text, *request.pictures)) for request in requests]


class PadsRight(Preparer):
    def tokenize(self, requests) -> Any:
        self.processor.tokenizer.padding_side = "right"
        return super().tokenize(requests)


def test_01_images_leak_between_the_rows_of_a_batch(asked, tiny_model):
    alone = replies(asked(tiny_model(batch_size=1), "alone"))
    assert replies(asked(tiny_model(), "ours")) == alone
    assert replies(asked(tiny_model(preparer=Leaky), "theirs")) != alone


def test_02_right_padding_in_batched_generation(asked, tiny_model, make, tmp_path):
    data = make(tmp_path / "data", 8)
    for i in range(0, 8, 2):  # pictures of fewer tokens, so that prompts in a batch differ in length
        Image.new("RGB", (100, 50), (20 * i, 90, 30)).save(data / f"images/{i}-before.png")
    alone = replies(asked(tiny_model("idefics3", batch_size=1), "alone", data=data))
    assert len(set(alone.values())) > 1
    assert replies(asked(tiny_model("idefics3", batch_size=8), "ours", data=data)) == alone
    faulty = tiny_model("idefics3", batch_size=8, preparer=PadsRight)
    assert replies(asked(faulty, "theirs", data=data)) != alone


def test_03_the_first_row_of_a_batch_stands_for_all_of_it(asked, tiny_model):
    mcq = {"bench": DICOBENCH, "data": "sample", "limit": 6}  # here every row has a question of its own
    alone = replies(asked(tiny_model(batch_size=1), "alone", **mcq))
    assert replies(asked(tiny_model(batch_size=3), "ours", **mcq)) == alone
    assert replies(asked(tiny_model(batch_size=3, preparer=FirstForAll), "theirs", **mcq)) != alone


class StopsAtThe3rdBatch:
    """Stands for a machine that goes away while the model generates."""

    def __init__(self):
        self.batches = 0

    def __call__(self, model, inputs, **options):
        self.batches += 1
        if self.batches == 3:
            raise KeyboardInterrupt
        return model_generate(model, inputs, **options)


class GivesAllAtTheEnd(TransformersModel):
    def generate(self, requests):
        yield from list(super().generate(requests))


def test_04_a_crash_loses_the_run(asked, tiny_model):
    def kept(kind, name):
        with pytest.raises(KeyboardInterrupt):
            asked(tiny_model(kind=kind, batch_size=2, generate_tokens=StopsAtThe3rdBatch()), name)
        return asked.out.records()

    before = kept(TransformersModel, "ours")
    assert len(before) == 4
    after = asked(tiny_model(batch_size=2), "ours")
    assert (asked.summary.asked, len(after)) == (4, 8)
    assert before.items() <= after.items()
    assert kept(GivesAllAtTheEnd, "theirs") == {}


def test_05_the_cache_serves_another_models_answers(asked, tiny_model, monkeypatch):
    first, second = tiny_model(), tiny_model("idefics3")
    first.id = second.id = "the same name"
    before = asked(first)
    with pytest.raises(UsageError, match=r"model\.revision"):
        asked(second)
    assert replies(asked(second, "elsewhere")) != replies(before)
    monkeypatch.setattr(runner, "require_same", lambda *_: None)
    assert asked(second) == before, "a cache that knows rows only"
    assert asked.summary.asked == 0


def test_06_recovery_resurrects_rejected_answers(asked, start_server, monkeypatch):
    def recovered(name):
        firsts = iter(["", "", "- The button is red.", ""])
        asked(served(start_server(reply=lambda seen: next(firsts, "No differences."))), name)
        rejected = iter(["I'm sorry, but I can't view the images.", ""])
        other = served(start_server(reply=lambda seen: next(rejected, "- The button is blue.")))
        return asked(other, name, retry=("empty",))

    ours = recovered("ours")
    assert health(record["state"] for record in ours.values()) == health(["ok"] * 6 + ["empty"] * 2)
    assert sorted(len(record["attempts"]) for record in ours.values()) == [1] * 5 + [2] * 3
    monkeypatch.setattr(asking, "asked_again", lambda old, new: new)
    monkeypatch.setattr(store, "better", lambda old, new: new)
    theirs = recovered("theirs")
    assert any(record["state"] == "refused" for record in theirs.values()), "the last record wins"


class LoadsAtOnce(TransformersModel):
    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        self.load()


def test_07_everything_answered_already(asked, tiny_model):
    before = asked(tiny_model(), "run")
    ours = tiny_model()
    assert asked(ours, "run") == before
    assert asked.summary.asked == 0
    assert "loaded" not in ours.describe()
    theirs = tiny_model(kind=LoadsAtOnce)
    asked(theirs, "run")
    assert "loaded" in theirs.describe()


def test_08_a_torn_last_line_breaks_resuming(asked, tiny_model, monkeypatch):
    def resumed(name):
        whole = replies(asked(tiny_model(), name))
        file = asked.out.predictions
        file.write_bytes(file.read_bytes()[:-40])
        with contextlib.suppress(UsageError):
            asked(tiny_model(), name)
        lines = [line for line in file.read_bytes().split(b"\n") if line]
        return whole, [line for line in lines if _is_json(line)], lines

    whole, good, lines = resumed("ours")
    assert good == lines
    assert replies(asked.out.records()) == whole
    for module in ("store", "folder"):
        monkeypatch.setattr(f"diffspot_hf.running.{module}.repair_tail", lambda path: 0, raising=False)
        monkeypatch.setattr(f"diffspot_hf.running.{module}.is_torn", lambda path: False, raising=False)
    _, good, lines = resumed("theirs")
    assert good != lines


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


class Guesses(type(DICOBENCH)):
    """Takes A for what it cannot read."""

    def read(self, row, response):
        read = super().read(row, response)
        return read if read.state == "ok" else Prediction(read.id, "ok", "A")


def test_13_a_failed_extraction_becomes_a_guess(asked, start_server, servers):
    def scored(bench, name):
        said = iter(["B", "", "Hard to say.", "I'm sorry, but I can't view the images."])
        server = start_server(reply=lambda seen: next(said, "C"))
        server.decide = lambda seen: servers.Status(400, "no") if len(server.requests) == 6 else servers.OK
        records = asked(served(server), name, bench=bench, data="sample", limit=8)
        return records, score_run(asked.out, asked.rows)

    def assert_no_letter_that_was_not_said(records):
        for record in records.values():
            assert record["prediction"] == (record["raw_response"] if record["raw_response"] in tuple("BC") else None)

    records, scores = scored(DICOBENCH, "ours")
    assert_no_letter_that_was_not_said(records)
    states = health(["ok"] * 4 + ["empty", "unparsed", "refused", "error"])
    assert states.items() <= scores["health"].items()
    assert scores["n_total"] == sum(states.values()) == 8
    records, _ = scored(Guesses(), "theirs")
    with pytest.raises(AssertionError):
        assert_no_letter_that_was_not_said(records)


def test_15_a_limit_of_pixels_is_accepted_and_ignored(asked, tiny_model):
    def largest(model, name):
        records = asked(model, name)
        return max(i["processed_width"] * i["processed_height"] for r in records.values() for i in r["images"])

    assert largest(tiny_model("idefics3", max_pixels=56 * 56), "ours") <= 56 * 56
    faulty = tiny_model("idefics3")
    faulty.processor.image_processor.max_pixels = 56 * 56  # what several processors take and never read
    assert largest(faulty, "theirs") > 56 * 56


class ForgetsPixels(TransformersModel):
    def describe(self):
        return {name: value for name, value in super().describe().items() if name not in ("max_pixels", "loaded")}


def test_16_a_setting_that_was_not_kept(asked, tiny_model):
    def sizes_of_one_run(kind, name):
        with pytest.raises(KeyboardInterrupt):
            asked(tiny_model("idefics3", kind=kind, batch_size=2, generate_tokens=StopsAtThe3rdBatch()), name)
        records = asked(tiny_model("idefics3", kind=kind, max_pixels=56 * 56), name)
        return {image["processed_width"] for record in records.values() for image in record["images"]}

    with pytest.raises(UsageError, match=r"model\.max_pixels \(null there, 3136 now\)"):
        sizes_of_one_run(TransformersModel, "ours")
    assert asked.out.card()["model"]["max_pixels"] is None
    assert len(sizes_of_one_run(ForgetsPixels, "theirs")) == 2, "one run of two settings, and nothing says so"


def test_18_two_loaders_two_images(asked, start_server, tiny_model, make, tmp_path, monkeypatch):
    data = make(tmp_path / "data", 2)
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (80, 48), (200, 30, 60)).save(data / "images/0-after.png", exif=exif)

    def seen_by_the_server(name):
        server = start_server(reply=lambda seen: "No differences.")
        asked(served(server), name, data=data)
        return {picture.size for seen in server.requests for picture in seen.pictures}

    def seen_by_the_model(name):
        records = asked(tiny_model(), name, data=data)
        return {(image["width"], image["height"]) for record in records.values() for image in record["images"]}

    upright = {(64, 48), (72, 48), (48, 80)}
    assert seen_by_the_server("ours served") == seen_by_the_model("ours") == upright
    monkeypatch.setattr("diffspot_hf.images.ImageOps.exif_transpose", lambda image: image)
    assert seen_by_the_server("theirs served") != upright
    assert seen_by_the_model("theirs") != upright


def test_19_the_image_processor_changes_and_nobody_notices(asked, tiny_model, monkeypatch):
    def resumed(name):
        with pytest.raises(KeyboardInterrupt):
            asked(tiny_model("idefics3", batch_size=2, generate_tokens=StopsAtThe3rdBatch()), name)
        later = tiny_model("idefics3")  # of the same files, but a library that reads them in another way
        later.processor.image_processor.size = {"longest_edge": 56}
        return asked(later, name)

    with pytest.raises(UsageError, match=r"model\.loaded\.image_size_option"):
        resumed("ours")
    monkeypatch.setattr(runner, "require_same_loaded", lambda *_: None)
    assert len(resumed("theirs")) == 8


def test_20_temperature_0_is_not_deterministic_and_this_is_not_shown(asked, tiny_model, start_server):
    asked(tiny_model(), "ours")
    assert verify_run(asked.out, asked.rows, tiny_model(batch_size=1), n=4, progress=False)["passed"]
    said: list[str] = []

    def never_twice(seen):
        said.append("")
        return f"- The button has moved by {len(said)} pixels."

    moody = served(start_server(reply=never_twice))
    asked(moody, "theirs")
    found = verify_run(asked.out, asked.rows, moody, n=4, progress=False)
    assert (found["agreement"], found["passed"]) == (0.0, False)


def test_21_only_one_image_is_seen_or_their_order_is_lost(asked, tiny_model, start_server, servers):
    def names(order):
        return lambda seen: ", ".join(order(servers.names_colours(seen).split(", ")))

    assert len(asked(tiny_model(), "ours", check=preflight)) == 8
    assert len(asked(served(start_server(reply=names(list))), "ours served", check=preflight)) == 8
    for order in (reversed, lambda colours: colours[:1], lambda colours: colours[:1] * 2):
        server = start_server(reply=names(order))
        with pytest.raises(UsageError, match="does not see two pictures in order"):
            asked(served(server), "theirs", check=preflight)
        assert len(server.requests) == 2, "no row was spent"
    with pytest.raises(UsageError, match="equal tensors|does not take two"):
        asked(tiny_model(preparer=SeesOne), "theirs", check=preflight)


class SeesOne(Changed):
    def change(self, requests):
        return [Request(request.id, (request.text, *request.pictures[:1])) for request in requests]


class LoadsJson(type(SCRY)):
    """Reads a reply by `json.loads`, as it came."""

    def read(self, row, response):
        try:
            issues = json.loads(response.text)["issues"]
        except ValueError:
            return Prediction(response.id, "ok", [])
        return Prediction(response.id, "ok", issues)


def test_22_json_in_fences_cut_or_wrapped_in_thoughts(asked, start_server, servers):
    issue = '{"labels": ["Color"], "note": "", "box_a": [1, 2, 300, 400], "box_b": null}'
    whole, cut = f'{{"issues": [{issue}]}}', f'{{"issues": [{issue}, {{"labels": ["Col'
    said = {
        "fenced": (servers.completion(f"```json\n{whole}\n```"), "ok"),
        "after thoughts": (servers.completion(f'maybe {{"issues": []}}</think>{whole}'), "ok"),
        "cut": (servers.completion(cut, "length"), "truncated"),
    }

    def found(bench, name, reply):
        (record,) = asked(
            served(start_server(reply=lambda seen: reply)), name, bench=bench, data="sample", limit=1
        ).values()
        return record["state"], len(record["prediction"])

    for kind, (reply, state) in said.items():
        assert found(SCRY, f"ours {kind}", reply) == (state, 1)
        assert found(LoadsJson(SCRY.box_frame), f"theirs {kind}", reply) == ("ok", 0), "a lost issue passes for none"


def test_each_of_these_is_named_in_the_index(repo):
    import tomllib

    index = tomllib.loads((repo / "tests" / "complaints.toml").read_text(encoding="utf-8"))["complaint"]
    named = {name.rpartition("::")[2] for entry in index for name in entry.get("whole_run", [])}
    here = {name for name in globals() if name.startswith("test_") and name[5].isdigit()}
    assert named == here
    assert len(here) >= 15
