"""What the preflight proves, each proof beside a model that must fail it."""

from __future__ import annotations

import importlib.util
import io
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from diffspot_hf.errors import UsageError
from diffspot_hf.images import encode_png
from diffspot_hf.models.decoding import size_in_header
from diffspot_hf.models.hf.inputs import Preparer
from diffspot_hf.models.preflight import (
    COLOURS,
    QUESTION,
    ask_colours,
    check,
    colours_named,
    picture,
    prove_processor,
)
from diffspot_hf.models.transformers import TransformersModel
from diffspot_hf.types import Picture, Request, Response

WITH_TORCHVISION = ("qwen3_vl", "qwen2_5_vl") if importlib.util.find_spec("torchvision") else ()
ARCHITECTURES = ("idefics3", "llava", "gemma3", *WITH_TORCHVISION)
vlm = pytest.mark.vlm


@vlm
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_sound_models_pass_without_their_weights(tiny, make_request, arch: str) -> None:
    model = TransformersModel(str(tiny(arch)))
    seen = check(model, [make_request(n, size=(1280, 800)) for n in range(2)])
    assert seen["padding"] == "left"
    assert seen["parts"] == "in the order of the request"
    (sight,) = seen["pictures"]
    assert re.fullmatch(r"a 1280x800 picture is processed at \d+x\d+ \(\d+ visual tokens\)", sight)
    assert "loaded" not in model.describe()


class Turned(Preparer):
    """Always turns the two pictures round."""

    def tokenize(self, requests: Sequence[Request]) -> Any:
        return super().tokenize([Request(r.id, (r.text, *reversed(r.pictures))) for r in requests])


class FirstTwice(Preparer):
    """Shows the first picture twice."""

    def tokenize(self, requests: Sequence[Request]) -> Any:
        return super().tokenize([Request(r.id, (r.text, *[r.pictures[0]] * len(r.pictures))) for r in requests])


class SecondLost(Preparer):
    """Drops all but the first picture."""

    def tokenize(self, requests: Sequence[Request]) -> Any:
        return super().tokenize([Request(r.id, (r.text, r.pictures[0])) for r in requests])


class SortedPictures(Preparer):
    """Puts the pictures of a row in an order of its own."""

    def tokenize(self, requests: Sequence[Request]) -> Any:
        return super().tokenize(
            [Request(r.id, (r.text, *sorted(r.pictures, key=lambda p: p.sha256))) for r in requests]
        )


class RightPadding(Preparer):
    def tokenize(self, requests: Sequence[Request]) -> Any:
        self.processor.tokenizer.padding_side = "right"
        return super().tokenize(requests)


class Blind(Preparer):
    """Gives the same tensors for every picture."""

    def tokenize(self, requests: Sequence[Request]) -> Any:
        inputs = super().tokenize(requests)
        inputs["pixel_values"] = inputs["pixel_values"] * 0
        return inputs


FAULTS = [
    (Turned, "not the first picture"),
    (FirstTwice, "equal tensors"),
    (SecondLost, "it does not take two|1 pictures are seen where 2 were given"),
    (SortedPictures, "does not swap its tensors"),
    (RightPadding, "pads a batch on the right"),
    (Blind, "equal tensors"),
]


@vlm
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize(("faulty", "message"), FAULTS, ids=[fault.__name__ for fault, _ in FAULTS])
def test_a_processor_that_loses_the_order_is_refused_by_name(tiny, arch: str, faulty, message: str) -> None:
    sound = TransformersModel(str(tiny(arch))).preparer
    prove_processor(sound)
    preparer = faulty(**{name: value for name, value in vars(sound).items() if not name.startswith("_")})
    with pytest.raises(UsageError, match=message) as caught:
        prove_processor(preparer)
    assert type(sound.processor).__name__ in str(caught.value)


def with_template(folder: Path, to: Path, change: Callable[[str], str]) -> TransformersModel:
    copied = Path(shutil.copytree(folder, to / "model"))
    file = copied / "chat_template.jinja"
    file.write_text(change(file.read_text()))
    return TransformersModel(str(copied))


@vlm
def test_a_template_that_drops_pictures_is_refused(tiny, tmp_path: Path) -> None:
    model = with_template(tiny("llava"), tmp_path, lambda text: text.replace("<image>", ""))
    with pytest.raises(UsageError, match="drops the picture|cannot take"):
        check(model)


@vlm
def test_a_template_that_moves_pictures_to_the_front_is_reported(tiny, tmp_path: Path) -> None:
    def pictures_first(text: str) -> str:
        pictures = "{% for part in message.content %}{% if part.type == 'image' %}<image>{% endif %}{% endfor %}"
        texts_only = text.replace("{% if part.type == 'image' %}<image>{% else %}", "{% if part.type == 'text' %}")
        return texts_only.replace("{% for part in", pictures + "{% for part in")

    model = with_template(tiny("llava"), tmp_path, pictures_first)
    assert check(model)["parts"] == "pictures moved before the text"


@vlm
@pytest.mark.parametrize(
    ("setting", "message"),
    [({"context": 150}, "exceed the context"), ({"require_native": True}, "--require-native")],
    ids=["prompt beyond the context", "picture would shrink"],
)
def test_a_sample_that_cannot_be_asked_as_wished_stops_the_run(tiny, make_request, setting, message) -> None:
    model = TransformersModel(str(tiny("llava")), max_new_tokens=2)
    prove_processor(model.preparer)
    for name, value in setting.items():
        setattr(model.preparer, name, value)
    with pytest.raises(UsageError, match=message):
        model.preflight([make_request(0, size=(300, 300), text="a long question " * 20)])


@vlm
def test_the_test_pictures_are_not_held_to_what_is_asked_of_the_rows(tiny, make_request) -> None:
    """They are larger than these rows: at 56x56 nothing shrinks, and less context is needed."""
    model = TransformersModel(str(tiny("idefics3")), max_new_tokens=2)
    model.preparer.context = 120
    assert model.preparer([Request("large", (QUESTION, *map(picture, COLOURS)))]).failures, "the limit must matter"
    model.preparer.require_native = True
    assert check(model, [make_request(0, size=(56, 56))])["prompt_tokens"] <= 118


@vlm
def test_a_broken_picture_in_the_sample_stops_nothing(tiny, make_request) -> None:
    """It is that row's error; which row is the largest must not matter."""
    first, second = make_request(0).pictures
    broken = Request("bad", ("x", first, Picture(second.data[:60], name="second.png")))
    assert check(TransformersModel(str(tiny("llava"))), [broken])["pictures"][0].startswith("a 448x224 picture")


@vlm
def test_a_row_of_each_size_is_looked_at_where_nothing_may_shrink(tiny, make_request) -> None:
    rows = [make_request(n, size=(56, 50 + n % 3)) for n in range(9)]
    looked: list[str] = []

    class Counting(Preparer):
        def tokenize(self, requests: Sequence[Request]) -> Any:
            looked.extend(request.id for request in requests)
            return super().tokenize(requests)

    model = TransformersModel(str(tiny("llava")), require_native=True)
    model.preparer = Counting(**{name: value for name, value in vars(model.preparer).items() if name[0] != "_"})
    model.check_pictures(rows)
    assert looked == ["row-0", "row-1", "row-2"]
    with pytest.raises(UsageError, match=r"--require-native.* picture at 56x56 instead of 40x90 pixels \(row row-9\)"):
        model.check_pictures([*rows, make_request(9, size=(40, 90))])
    model.require_native = False
    model.check_pictures([make_request(9, size=(40, 90))])


def turned(size: tuple[int, int], kind: str) -> bytes:
    exif, out = Image.Exif(), io.BytesIO()
    exif[0x0112] = 6
    Image.new("RGB", size).save(out, kind, exif=exif)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (encode_png(Image.new("RGB", (40, 30))), (40, 30)),
        (turned((40, 30), "PNG"), None),
        (turned((40, 30), "JPEG"), None),
        (turned((40, 30), "WEBP"), None),
        (turned((40, 30), "TIFF"), None),
        (b"no picture", None),
    ],
    ids=["plain", "turned png", "turned jpeg", "turned webp", "turned tiff", "broken"],
)
def test_a_size_is_read_from_the_header_only_where_that_is_the_upright_size(data: bytes, size: Any) -> None:
    assert size_in_header(Picture(data)) == size


def test_a_model_with_nothing_to_prove_passes() -> None:
    assert check(Answers()) == {}


# Served models


class Answers:
    """Answers the questions about colours with `replies`, in turn."""

    id = "served"

    def __init__(self, *replies: str, **fields: Any) -> None:
        self.replies, self.fields = replies, fields

    def generate(self, requests: Iterable[Request]) -> Iterator[Response]:
        for request, reply in zip(requests, self.replies, strict=False):
            yield Response(id=request.id, text=reply, **self.fields)

    def describe(self) -> dict[str, Any]:
        return {"id": self.id}


@pytest.mark.parametrize(
    "replies",
    [
        ("red blue", "blue red"),
        ("Red, then blue.", "The first is **BLUE**; the second is red."),
        ("<think>blue? red?</think>red, blue", "<think>red first?</think>\nblue, red"),
        ("the reply that opens no tag, blue first </think> red, blue", "blue, red"),
    ],
)
def test_a_served_model_that_names_both_orders_passes(replies: tuple[str, str]) -> None:
    said = ask_colours(Answers(*replies))["replies"]
    assert said == {"red then blue": replies[0], "blue then red": replies[1]}


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        (("red blue", "red blue"), "shown blue then red"),
        (("blue red", "red blue"), "shown red then blue"),
        (("red", "blue"), "does not see two pictures in order"),
        (("a cat", "a dog"), "answered 'a cat'"),
        (("", ""), "answered ''"),
        (("red blue",), "budget is too small"),
    ],
    ids=["always the same", "turned round", "one picture only", "guesses", "empty", "budget of one"],
)
def test_a_served_model_that_errs_is_refused(replies: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ask_colours(Answers(*replies))


def test_a_cut_reply_is_refused_with_the_remedy() -> None:
    with pytest.raises(UsageError, match="raise --max-new-tokens"):
        ask_colours(Answers("<think>", "<think>", finish_reason="length"))


def test_a_served_model_that_cannot_be_asked_says_why() -> None:
    refused = Answers("", "", finish_reason="error", error="At most 1 image(s) may be provided")
    with pytest.raises(UsageError, match="At most 1 image"):
        ask_colours(refused)


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        ("Red and blue", ["red", "blue"]),
        ("blue blue red", ["blue", "red"]),
        ("bored, infrared, bluebell", []),
        ("<thinking>red</thinking>blue", ["blue"]),
    ],
)
def test_colours_named(reply: str, named: list[str]) -> None:
    assert colours_named(reply) == named
