"""Answers in batches. Each test of a complaint comes with a faulty variant that the same check rejects."""

from __future__ import annotations

import importlib.util
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from diffspot_hf.errors import RunFailure, UsageError
from diffspot_hf.models.hf.engine import model_generate, reply_text
from diffspot_hf.models.hf.inputs import Preparer, conversation
from diffspot_hf.models.transformers import TransformersModel
from diffspot_hf.types import Model, Picture, Request, Response

pytestmark = pytest.mark.vlm
ARCHITECTURES = ("idefics3", "llava", "gemma3")
WITH_TORCHVISION = ("qwen3_vl", "qwen2_5_vl") if importlib.util.find_spec("torchvision") else ()
Make = Callable[..., Request]


@pytest.fixture
def load(tiny: Callable[[str], Path]) -> Callable[..., TransformersModel]:
    def load_tiny(arch: str = "llava", preparer: type[Preparer] | None = None, **options: Any) -> TransformersModel:
        model = TransformersModel(str(tiny(arch)), **{"max_new_tokens": 12, "batch_size": 4} | options)
        if preparer is not None:
            fields = {name: value for name, value in vars(model.preparer).items() if not name.startswith("_")}
            model.preparer = preparer(**fields)  # type: ignore[misc]
        return model

    return load_tiny


def answers(model: TransformersModel, requests: Sequence[Request]) -> dict[str, tuple[str, str]]:
    return {r.id: (r.text, r.finish_reason) for r in model.generate(requests)}


# Faulty variants: what public harnesses did


class LeakyPreparer(Preparer):
    """Gives every row of a batch all pictures of the batch."""

    def tokenize(self, requests: Sequence[Request]) -> Any:
        everything = tuple(picture for request in requests for picture in request.pictures)
        return super().tokenize([Request(r.id, (r.text, *everything)) for r in requests])


class TurnedPreparer(Preparer):
    """Gives every row its pictures in the other order."""

    def tokenize(self, requests: Sequence[Request]) -> Any:
        return super().tokenize([Request(r.id, (r.text, *reversed(r.pictures))) for r in requests])


class FirstElementPreparer(Preparer):
    """Asks every row of a batch what the first one is asked."""

    def tokenize(self, requests: Sequence[Request]) -> Any:
        return super().tokenize([Request(r.id, (requests[0].text, *r.pictures)) for r in requests])


class RightPaddingPreparer(Preparer):
    """Pads where the reply will be written."""

    def tokenize(self, requests: Sequence[Request]) -> Any:
        self.processor.tokenizer.padding_side = "right"
        try:
            return super().tokenize(requests)
        finally:
            self.processor.tokenizer.padding_side = "left"


class CuttingPreparer(Preparer):
    """Cuts prompts to fit, as a tokenizer with truncation does."""

    def tokenize(self, requests: Sequence[Request]) -> Any:
        return super().tokenize([Request(r.id, (r.text[:20], *r.pictures)) for r in requests])


# What reaches the model


def colours_seen(model: TransformersModel, requests: Sequence[Request]) -> list[list[tuple[int, ...]]]:
    """For every row of a batch the distinct colours in its pixel tensors, in order, rounded to 0..255."""
    chunk = model.preparer(requests)
    images = model.processor.image_processor
    mean, std = (torch.tensor(getattr(images, name)).view(3, 1, 1) for name in ("image_mean", "image_std"))
    pixels = chunk.inputs["pixel_values"]
    rows = pixels if pixels.ndim == 5 else pixels.chunk(len(requests))
    found = []
    for row in rows:
        blocks = ((row * std + mean) * 255).round().int()
        colours = [tuple(block[:, 28, 28].tolist()) for block in blocks if block.float().std() or block.any()]
        found.append(list(dict.fromkeys(colours)))
    return found


def assert_each_row_has_its_own_pictures(model: TransformersModel, requests: Sequence[Request]) -> None:
    own = [[picture.rgb.getpixel((0, 0)) for picture in request.pictures] for request in requests]
    assert colours_seen(model, requests) == own


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5])
def test_the_processor_receives_exactly_each_rows_two_pictures(load, make_request: Make, arch: str, rows: int) -> None:
    assert_each_row_has_its_own_pictures(load(arch), [make_request(n) for n in range(rows)])


@pytest.mark.parametrize("faulty", [LeakyPreparer, TurnedPreparer])
@pytest.mark.parametrize("arch", ["idefics3", "llava"])
def test_pictures_that_leak_or_turn_are_noticed(load, make_request: Make, arch: str, faulty: type[Preparer]) -> None:
    with pytest.raises(AssertionError):
        assert_each_row_has_its_own_pictures(load(arch, faulty), [make_request(n) for n in range(3)])


def assert_each_row_has_its_own_text(model: TransformersModel, requests: Sequence[Request]) -> None:
    ids = model.preparer(requests).inputs["input_ids"]
    for request, prompt in zip(requests, model.processor.tokenizer.batch_decode(ids), strict=True):
        assert prompt.count(request.text) == 1
        assert f"{request.text}!" not in prompt


@pytest.mark.parametrize("arch", [*ARCHITECTURES, *WITH_TORCHVISION])
def test_each_row_is_asked_its_own_question(load, make_request: Make, arch: str) -> None:
    assert_each_row_has_its_own_text(load(arch), [make_request(n) for n in range(4)])


@pytest.mark.parametrize("faulty", [FirstElementPreparer, CuttingPreparer])
def test_a_question_that_is_another_rows_or_cut_is_noticed(load, make_request: Make, faulty: type[Preparer]) -> None:
    with pytest.raises(AssertionError):
        assert_each_row_has_its_own_text(
            load("llava", faulty), [make_request(n, text="What differs between these?") for n in range(4)]
        )


def assert_batch_size_does_not_matter(load: Callable[..., Any], arch: str, make: Make, preparer: Any = None) -> None:
    requests = [make(n, size=(60 + 9 * (n % 3), 60)) for n in range(7)]
    alone = answers(load(arch, batch_size=1), requests)
    assert len(set(alone.values())) >= 4, "the replies are too alike for this to show anything"
    for size in (1, 2, 5):
        assert answers(load(arch, preparer, batch_size=size), requests) == alone, f"batch size {size}"


@pytest.mark.parametrize("arch", [*ARCHITECTURES, *WITH_TORCHVISION])
def test_batch_size_does_not_change_an_answer(load, make_request: Make, arch: str) -> None:
    assert_batch_size_does_not_matter(load, arch, make_request)


@pytest.mark.parametrize("faulty", [RightPaddingPreparer, FirstElementPreparer, TurnedPreparer])
def test_a_batch_that_changes_answers_is_noticed(load, make_request: Make, faulty: type[Preparer]) -> None:
    with pytest.raises(AssertionError, match="batch size"):
        assert_batch_size_does_not_matter(load, "llava", make_request, faulty)


def test_parts_keep_their_order_in_the_prompt(load, make_request: Make) -> None:
    first, second = make_request(3).pictures
    request = Request("r", ("alpha", first, "beta", second, "gamma"))
    assert [part["type"] for part in conversation(request)[0]["content"]] == ["text", "image", "text", "image", "text"]
    model = load("llava")
    prompt = model.processor.tokenizer.decode(model.preparer([request]).inputs["input_ids"][0])
    image = "<image>" * 16
    assert f"alpha{image}beta{image}gamma" in prompt


def test_control_tokens_in_a_text_are_plain_text(load, make_request: Make) -> None:
    model = load("llava")
    request = Request("r", ("before <image> <|im_end|> after", *make_request(0).pictures))
    chunk = model.preparer([request])
    assert chunk.images[0][0].visual_tokens == 16, "the text's placeholder was taken for a picture"
    assert "before <image> <|im_end|> after" in model.processor.tokenizer.decode(chunk.inputs["input_ids"][0])


def test_where_control_tokens_cannot_be_defused_the_row_says_so(load, make_request: Make) -> None:
    good, bad = make_request(0), Request("bad", ("a <image> here", *make_request(1).pictures))
    found = {r.id: r for r in load("idefics3").generate([good, bad])}
    assert found["bad"].finish_reason == "error"
    assert "'<image>'" in found["bad"].error
    assert found[good.id].error is None


# What a response tells


def test_a_model_is_a_model(load) -> None:
    assert isinstance(load(), Model)


def test_a_response_says_how_it_ended_and_what_it_cost(load, make_request: Make) -> None:
    responses = list(load("idefics3", max_new_tokens=24).generate([make_request(n) for n in range(12)]))
    ends = {response.finish_reason for response in responses}
    assert ends == {"stop", "length"}, "this test needs replies of both kinds"
    for response in responses:
        tokens = response.usage["output_tokens"]
        assert tokens == 24 if response.finish_reason == "length" else tokens <= 24
        assert response.usage["input_tokens"] > 40
        assert response.seconds > 0
        assert [attempt.state for attempt in response.attempts] == ["ok"]


@pytest.mark.parametrize(
    ("arch", "size", "processed", "tokens"),
    [
        ("idefics3", (200, 100), (112, 56), 12),
        ("idefics3", (100, 200), (56, 112), 12),
        ("idefics3", (80, 60), (112, 112), 20),
        ("llava", (200, 100), (56, 56), 16),
        ("gemma3", (390, 844), (56, 56), 4),
    ],
)
def test_a_response_says_what_the_model_saw(load, make_request: Make, arch, size, processed, tokens) -> None:
    request = make_request(1, size=size)
    (response,) = load(arch).generate([request])
    for seen, picture in zip(response.images, request.pictures, strict=True):
        assert (seen.width, seen.height) == size
        assert (seen.processed_width, seen.processed_height) == processed
        assert seen.visual_tokens == tokens
        assert seen.sha256 == picture.sha256


def test_pictures_of_unlike_sizes_in_one_row_are_told_apart(load, make_request: Make) -> None:
    first, second = make_request(1, size=(200, 100)).pictures[0], make_request(1, size=(80, 60)).pictures[1]
    (response,) = load("idefics3").generate([Request("r", ("x", first, second))])
    assert [seen.visual_tokens for seen in response.images] == [12, 20]
    assert response.usage["input_tokens"] > 32


class _Added:
    def __init__(self, content: str, special: bool) -> None:
        self.content, self.special = content, special


class _Tokenizer:
    """Decodes token n to the n-th letter; 0 is a control token, 1 and 2 mark thinking and are control tokens too."""

    added_tokens_decoder = {  # noqa: RUF012
        0: _Added("<end>", True),
        1: _Added("<think>", True),
        2: _Added("</think>", True),
    }

    def decode(self, tokens: Sequence[int], **_: Any) -> str:
        return "".join(chr(96 + token) for token in tokens if token > 2)


def test_marks_of_thinking_stay_in_the_reply_even_as_control_tokens() -> None:
    assert reply_text(_Tokenizer(), [1, 8, 9, 2, 3, 4, 0]) == "<think>hi</think>cd"


# Pictures: caps, native size, broken ones


def test_max_pixels_is_really_applied_and_shown(load, make_request: Make) -> None:
    capped = load("idefics3", max_pixels=56 * 56)
    (response,) = capped.generate([make_request(0, size=(200, 200))])
    seen = response.images[0]
    assert (seen.processed_width, seen.processed_height) == (56, 56)
    assert seen.visual_tokens < 20
    assert capped.describe()["max_pixels"] == 56 * 56
    assert capped.describe()["loaded"]["image_size_option"] == {"longest_edge": 56}


def test_an_ignored_max_pixels_is_noticed(load, make_request: Make) -> None:
    faulty = load("idefics3")
    faulty.processor.image_processor.max_pixels = 56 * 56  # what several processors accept and never read
    (response,) = faulty.generate([make_request(0, size=(200, 200))])
    assert response.images[0].processed_width * response.images[0].processed_height > 56 * 56


@pytest.mark.parametrize(("arch", "cap"), [("llava", 3000), ("gemma3", 3000), ("idefics3", 100), ("idefics3", 0)])
def test_max_pixels_that_cannot_be_applied_is_refused(load, arch: str, cap: int) -> None:
    with pytest.raises(UsageError, match="--max-pixels"):
        _ = load(arch, max_pixels=cap).processor


@pytest.mark.parametrize("size", [(1280, 800), (390, 844), (2000, 40)])
@pytest.mark.parametrize("cap", [100_000, 400_000])
def test_max_pixels_on_the_qwen_processor(size: tuple[int, int], cap: int) -> None:
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    from diffspot_hf.models.hf.geometry import cap_pixels, look

    class Processor:
        image_processor = Qwen2VLImageProcessorPil()

    cap_pixels(Processor.image_processor, cap, "Qwen")
    inputs = Processor.image_processor(Image.new("RGB", size), return_tensors="pt")
    ((seen,),) = look(Processor, inputs, [[size]], [int(inputs["image_grid_thw"].prod()) // 4])
    assert seen.size[0] * seen.size[1] <= cap
    assert seen.tokens == seen.size[0] * seen.size[1] // 28**2


def test_require_native_names_the_picture_that_would_shrink(load, make_request: Make) -> None:
    with pytest.raises(UsageError, match=r"--require-native.*56x56 instead of 80x60.*row-0"):
        list(load("llava", require_native=True).generate([make_request(0)]))


def test_require_native_lets_pictures_through_that_stay(load, make_request: Make) -> None:
    (response,) = load("llava", require_native=True).generate([make_request(0, size=(56, 56))])
    assert response.error is None


BROKEN = {
    "cut": lambda data: data[: len(data) // 2],
    "no picture": lambda data: b"nothing like a picture",
    "empty": lambda data: b"",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_picture_costs_its_own_row_only(load, make_request: Make, kind: str) -> None:
    good = [make_request(n) for n in range(3)]
    first, second = make_request(9).pictures
    bad = Request("bad", ("x", first, Picture(BROKEN[kind](second.data), name="second.png")))
    found = {r.id: r for r in load(batch_size=4).generate([good[0], bad, *good[1:]])}
    assert found["bad"].finish_reason == "error"
    assert "second.png" in found["bad"].error
    alone = answers(load(batch_size=1), good)
    assert {r.id: (found[r.id].text, found[r.id].finish_reason) for r in good} == alone


def test_a_row_the_processor_refuses_costs_itself_only(load, make_request: Make) -> None:
    class Picky(Preparer):
        def tokenize(self, requests: Sequence[Request]) -> Any:
            if any(request.id == "row-1" for request in requests):
                raise ValueError("absolute aspect ratio must be smaller than 200")
            return super().tokenize(requests)

    requests = [make_request(n) for n in range(4)]
    found = {r.id: r for r in load("llava", Picky).generate(requests)}
    assert [r.id for r in requests if found[r.id].error] == ["row-1"]
    assert "aspect ratio" in found["row-1"].error


def test_a_prompt_beyond_the_context_is_an_error_and_never_cut(load, make_request: Make) -> None:
    model = load("llava")
    model.preparer.context = 100
    long = make_request(0, text="x" * 200)
    found = {r.id: r for r in model.generate([make_request(1), long])}
    assert "exceed the context of 100 tokens" in found["row-0"].error
    assert found["row-1"].usage["input_tokens"] + 12 <= 100
    assert found["row-1"].error is None


def test_pictures_are_forgotten_once_their_row_is_answered(load, make_request: Make) -> None:
    requests = [make_request(n) for n in range(5)]
    list(load().generate(requests))
    assert not [p for r in requests for p in r.pictures if "rgb" in p.__dict__], "memory would grow with the rows"


# Memory


class Limited:
    """Stands for a device on which at most `most` rows fit; remembers the sizes it was given."""

    def __init__(self, most: int) -> None:
        self.most, self.tried = most, []

    def __call__(self, model: Any, inputs: Any, **options: Any) -> Any:
        rows = len(inputs["input_ids"])
        self.tried.append(rows)
        if rows > self.most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB (simulated)")
        return model_generate(model, inputs, **options)


def assert_memory_trouble_changes_nothing(got: list[Response], alone: dict[str, tuple[str, str]]) -> None:
    assert [r.id for r in got] == list(alone), "order lost, or a row answered twice"
    assert {r.id: (r.text, r.finish_reason) for r in got} == alone


def test_out_of_memory_halves_the_failing_batch_only(load, make_request: Make, caplog) -> None:
    requests = [make_request(n) for n in range(11)]
    alone = answers(load(batch_size=1), requests)
    device = Limited(3)
    with caplog.at_level(logging.WARNING, logger="diffspot_hf"):
        got = list(load(batch_size=5, generate_tokens=device).generate(requests))
    assert_memory_trouble_changes_nothing(got, alone)
    assert device.tried == [5, 3, 2, 5, 3, 2, 1]
    assert caplog.text.count("out of memory: batch of 5") == 2


def test_starting_over_after_memory_trouble_is_noticed(load, make_request: Make) -> None:
    requests = [make_request(n) for n in range(5)]
    alone = answers(load(batch_size=1), requests)
    engine = load(batch_size=4, generate_tokens=Limited(4)).engine
    got: list[Response] = []
    for size in (4, 2):  # as a loop does that shrinks the batch and runs the whole function again
        engine.batch.now = size
        got += engine.answer(requests[: 4 if size == 4 else 5])
    with pytest.raises(AssertionError, match="answered twice"):
        assert_memory_trouble_changes_nothing(got, alone)


def test_one_row_too_large_for_the_device_is_an_error_with_advice(load, make_request: Make) -> None:
    got = list(load(batch_size=2, generate_tokens=Limited(0)).generate([make_request(n) for n in range(3)]))
    assert [r.finish_reason for r in got] == ["error"] * 3
    assert all("--max-pixels" in r.error for r in got)


def test_auto_finds_a_batch_size_and_remembers_it(load, make_request: Make) -> None:
    device = Limited(5)
    model = load(batch_size="auto", generate_tokens=device, max_new_tokens=2)
    got = list(model.generate(make_request(n) for n in range(40)))
    assert len(got) == 40
    assert device.tried.count(8) <= 2, "a size that failed was tried again and again"
    assert device.tried[-2] == 4
    assert model.describe()["route"]["batch_size"] == 4


def test_a_row_that_fails_on_the_device_costs_itself_only(load, make_request: Make) -> None:
    def moody(model: Any, inputs: Any, **options: Any) -> Any:
        if len(inputs["input_ids"]) == 4 or any((inputs["input_ids"] == 33 - 33).sum(1) == 2):
            raise RuntimeError("shape mismatch (simulated)")
        return model_generate(model, inputs, **options)

    requests = [make_request(n) for n in range(4)]  # row n has n exclamation marks, and "!" is token 0
    model = load(batch_size=4, generate_tokens=moody)
    assert model.processor.tokenizer.convert_tokens_to_ids("!") == 0
    found = {r.id: r for r in model.generate(requests)}
    assert [i for i, r in found.items() if r.error] == ["row-2"]
    assert "shape mismatch" in found["row-2"].error


def test_a_model_that_can_never_generate_ends_the_run_early(load, make_request: Make) -> None:
    def never(model: Any, inputs: Any, **options: Any) -> Any:
        raise ValueError("unexpected argument (simulated)")

    with pytest.raises(RunFailure, match="cannot generate"):
        list(load(batch_size=2, generate_tokens=never).generate(make_request(n) for n in range(50)))


def test_a_dead_device_ends_the_run_instead_of_failing_every_row(load, make_request: Make) -> None:
    def dead(model: Any, inputs: Any, **options: Any) -> Any:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    with pytest.raises(RunFailure, match="the device failed"):
        list(load(generate_tokens=dead).generate([make_request(0)]))


# Loading


def test_nothing_is_loaded_for_no_request(load) -> None:
    model = load()
    assert list(model.generate(iter(()))) == []
    card = model.describe()
    assert "loaded" not in card
    assert "processor" not in vars(model)


def test_the_card_names_what_was_loaded(load) -> None:
    model = load("idefics3", name="tiny-vlm")
    before = model.describe()
    model.load()
    card = model.describe()
    assert {key: card[key] for key in before} == before, "loading must not change what identifies the model"
    assert card["id"] == "tiny-vlm"
    assert card["revision"].startswith("folder-")
    loaded = card["loaded"]
    assert loaded["architecture"] == "Idefics3ForConditionalGeneration"
    assert loaded["processor"] == "Idefics3Processor"
    assert loaded["image_processor"].startswith("Idefics3ImageProcessor")
    assert loaded["dtype"] == "float32"
    assert loaded["context"] == 32768
    assert len(loaded["chat_template_sha256"]) == 64
    assert loaded["generation"]["do_sample"] is False


def test_the_card_does_not_depend_on_batch_size(load) -> None:
    assert load(batch_size=1).describe() == load(batch_size=7).describe()


def test_requests_are_prepared_one_step_ahead_and_no_further(load, make_request: Make) -> None:
    taken: list[int] = []

    def rows() -> Any:
        for n in range(20):
            taken.append(n)
            yield make_request(n)

    stream = load(batch_size=2, max_new_tokens=2).generate(rows())
    next(stream)
    assert len(taken) <= 2 * 4
    stream.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("diffspot")], "a thread was left behind"
    assert len(taken) < 20


def test_an_error_in_the_rows_reaches_the_caller(load, make_request: Make) -> None:
    def rows() -> Any:
        yield make_request(0)
        yield make_request(1)
        raise UsageError("row 2 cannot be read")

    stream = load(batch_size=2).generate(rows())
    assert [next(stream).id, next(stream).id] == ["row-0", "row-1"], "what was asked before must be answered"
    with pytest.raises(UsageError, match="row 2"):
        next(stream)


def test_json_can_be_enforced(load, make_request: Make) -> None:
    pytest.importorskip("xgrammar")
    import json

    issue = {"type": "string", "enum": ["Typography", "other"]}
    schema = {
        "type": "object",
        "properties": {"issues": {"type": "array", "items": issue, "maxItems": 2}},
        "required": ["issues"],
        "additionalProperties": False,
    }
    model = load("idefics3", constrain_json=schema, max_new_tokens=60, batch_size=2)
    responses = list(model.generate(make_request(n) for n in range(4)))
    assert all(set(json.loads(r.text)) == {"issues"} for r in responses if r.finish_reason == "stop")
    assert any(r.finish_reason == "stop" for r in responses)
    assert len(model.describe()["constrain_json"]) == 64


def test_a_logits_processor_is_made_anew_for_every_batch(load, make_request: Make) -> None:
    made: list[Any] = []

    def factory() -> list[Any]:
        made.append(lambda ids, scores: scores)
        return [made[-1]]

    model = load(batch_size=2, max_new_tokens=2, logits_processor_factory=factory)
    list(model.generate(make_request(n) for n in range(5)))
    assert len(made) == 3


def test_a_template_option_that_is_read_reaches_the_template(load, tiny, make_request: Make, tmp_path: Path) -> None:
    folder = _copy(tiny("llava"), tmp_path)
    template = folder / "chat_template.jinja"
    template.write_text(template.read_text() + "{% if not enable_thinking %}<no-thinking>{% endif %}")
    lengths = []
    for thinking in (True, False):
        model = TransformersModel(str(folder), chat_template_kwargs={"enable_thinking": thinking}, max_new_tokens=2)
        assert model.describe()["chat_template_kwargs"] == {"enable_thinking": thinking}
        lengths.append(next(model.generate([make_request(0)])).usage["input_tokens"])
    assert lengths[1] == lengths[0] + len("<no-thinking>")


def _copy(folder: Path, to: Path) -> Path:
    import shutil

    return Path(shutil.copytree(folder, to / "model"))


def test_replacing_only_the_pool_keeps_the_lock(load) -> None:
    preparer = load().preparer
    assert replace(preparer, decoders=None).lock is preparer.lock, "two threads could enter one fast tokenizer"
