"""Proofs, before the first row is spent, that a model gets both pictures, in order.

With a processor at hand the order is proved on its tensors, without generating anything. A served model is asked to
name the colours of a red and a blue picture; what it answers decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from PIL import Image

from ..errors import UsageError
from ..images import encode_png
from ..types import Model, Picture, Request, Response

if TYPE_CHECKING:
    from .hf.inputs import Preparer

SIDE = (448, 224)  # pixels (width, height) of the test pictures: our choice; wide enough for any patch size
COLOURS = {"red": (220, 20, 20), "blue": (20, 40, 220)}
QUESTION = (
    "Two pictures follow. Each is filled with a single colour. Name the colour of the first picture, then the colour "
    "of the second one. Answer with these two words and nothing else."
)
_THOUGHTS = re.compile(r"^.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


class Asks(Protocol):
    """What is needed of a served model: to answer requests."""

    id: str

    def generate(self, requests: Iterable[Request]) -> Any: ...


def check(model: Model, sample: Sequence[Request] = ()) -> Mapping[str, Any]:
    """What `model.preflight` found out, for the run card; {} for a model that has nothing to prove.

    `sample` are some requests of the run, best those with the largest pictures. Raises `UsageError` if a proof fails.
    """
    prove = getattr(model, "preflight", None)
    return {} if prove is None else prove(sample)


def picture(colour: str, size: tuple[int, int] = SIDE) -> Picture:
    """A picture filled with ``red`` or ``blue``; `size` is (width, height) in pixels."""
    return Picture(encode_png(Image.new("RGB", size, COLOURS[colour])), name=f"{colour} test picture")


def prove_processor(preparer: Preparer, sample: Sequence[Request] = ()) -> Mapping[str, Any]:
    """Proves four things on the tensors that `preparer` makes: two pictures give two placeholders, swapping the
    pictures swaps the tensors, rows are padded on the left, and the requests of `sample` fit the context.

    Returns what was seen, with the processed size of each picture of `sample`, or of the test picture without it.
    Raises `UsageError` naming the processor if a proof fails.
    """
    red, blue = picture("red"), picture("blue")
    name = f"{preparer.name} ({type(preparer.processor).__name__})"
    free = replace(preparer, require_native=False, context=None)  # these limits are for the rows, not for our pictures
    one = _prepared(free, name, [Request("one test picture", (QUESTION, red))])
    two = _prepared(free, name, [Request("two test pictures", (QUESTION, red, blue))])
    turned = _prepared(free, name, [Request("two test pictures", (QUESTION, blue, red))])
    _prove_placeholders(free, name, one, two)
    _prove_order(name, one.inputs, two.inputs, turned.inputs)
    _prove_left_padding(free, name, red, blue)
    seen: dict[str, Any] = {
        "order": "swapping the pictures swaps the tensors",
        "padding": "left",
        "parts": _parts(free, red, blue),
    }
    shown = two.images
    if sample:
        chunk = preparer(sample)
        for failure in chunk.failures:  # any other is that row's own, and will be its answer
            if "exceed the context" in (failure.error or ""):
                raise UsageError(f"row {failure.id}: {failure.error}")
        if chunk.requests:
            shown = chunk.images
            seen["prompt_tokens"] = max(chunk.prompt_tokens)
    return seen | {"pictures": list(dict.fromkeys(_sight(image) for row in shown for image in row))}


def _prepared(preparer: Preparer, name: str, requests: list[Request]) -> Any:
    chunk = preparer(requests)
    if chunk.failures:
        raise UsageError(f"{name}: cannot take {requests[0].id}: {chunk.failures[0].error}")
    return chunk


def _prove_placeholders(preparer: Preparer, name: str, one: Any, two: Any) -> None:
    if preparer.image_token is None:
        raise UsageError(f"{name}: which token stands for a picture is not known, so nothing can be proved about it")
    counts = [int((chunk.inputs["input_ids"] == preparer.image_token).sum()) for chunk in (one, two)]
    if not counts[0]:
        raise UsageError(f"{name}: its chat template drops the picture")
    if counts[1] != 2 * counts[0]:
        raise UsageError(
            f"{name}: two pictures give {counts[1]} image tokens where one gives {counts[0]}; it does not take two"
        )


def _prove_order(name: str, one: Any, two: Any, turned: Any) -> None:
    """`one` holds red, `two` red and blue, `turned` blue and red, all of one size and in one row."""
    red = _pixels(name, one)
    (first, second), (turned_first, turned_second) = (_halves(name, _pixels(name, inputs)) for inputs in (two, turned))
    if _equal(first, second):
        raise UsageError(f"{name}: a red and a blue picture give equal tensors")
    if not _equal(first, turned_second) or not _equal(second, turned_first):
        raise UsageError(f"{name}: swapping two pictures does not swap its tensors; the order would be lost")
    if not _equal(first, red):
        raise UsageError(f"{name}: its first tensor is not the first picture; the order would be turned")


def _pixels(name: str, inputs: Any) -> Any:
    """The pixel tensor of one row: blocks (pictures, tiles or patches) along the first axis."""
    import torch

    pixels = inputs.get("pixel_values")
    while isinstance(pixels, (list, tuple)) and len(pixels) == 1:
        pixels = pixels[0]
    if isinstance(pixels, (list, tuple)) and len({p.shape for p in pixels}) == 1:
        pixels = torch.stack(list(pixels))
    if not isinstance(pixels, torch.Tensor):
        raise UsageError(f"{name}: gives no pixel tensors, so the order of pictures cannot be proved")
    while len(pixels) == 1 and pixels.ndim > 3:
        pixels = pixels[0]
    return pixels if pixels.ndim != 3 else pixels[None]


def _halves(name: str, pixels: Any) -> tuple[Any, Any]:
    if len(pixels) % 2:
        raise UsageError(f"{name}: {len(pixels)} pixel blocks for two pictures of one size; it does not take two")
    return pixels[: len(pixels) // 2], pixels[len(pixels) // 2 :]


def _equal(one: Any, other: Any) -> bool:
    """Whether two pixel tensors hold the same numbers; a picture alone may have one axis less than one of two."""
    return one.numel() == other.numel() and bool((one.flatten() == other.flatten()).all())


def _prove_left_padding(preparer: Preparer, name: str, red: Picture, blue: Picture) -> None:
    short, long = ((QUESTION * times, red, blue) for times in (1, 2))
    rows = [Request("a batch of test pictures", parts) for parts in (short, long)]
    mask = _prepared(preparer, name, rows).inputs["attention_mask"]
    if mask[0, 0] != 0 or mask[0, -1] != 1 or not mask[1].all():
        raise UsageError(f"{name}: pads a batch on the right; replies would not follow their prompts")


def _parts(preparer: Preparer, red: Picture, blue: Picture) -> str:
    """Whether texts and pictures reach the model in the order of the request; some templates put pictures first."""
    words = ("qwyjib", "vexpoz", "zumfra")  # unlike anything a template says
    inputs = preparer.tokenize([Request("parts", (words[0], red, words[1], blue, words[2]))])
    ids = inputs["input_ids"][0].tolist()
    text = preparer.processor.tokenizer.decode(ids)
    token = preparer.processor.tokenizer.convert_ids_to_tokens(preparer.image_token)
    between = [token in piece for piece in re.split("|".join(words), text)]
    return "in the order of the request" if between == [False, True, True, False] else "pictures moved before the text"


def _sight(image: Any) -> str:
    processed = f"{image.processed_width}x{image.processed_height}" if image.processed_width else "a size not known"
    tokens = f"{image.visual_tokens or 'unknown number of'} visual tokens"
    return f"a {image.width}x{image.height} picture is processed at {processed} ({tokens})"


def ask_colours(model: Asks) -> Mapping[str, Any]:
    """Asks `model` for the colours of a red and a blue picture, in both orders; returns what it answered.

    Raises `UsageError` if it errs: then it gets one picture only, gets them in another order, or cannot see.
    """
    orders = (("red", "blue"), ("blue", "red"))
    requests = [Request("-".join(order), (QUESTION, *map(picture, order))) for order in orders]
    replies: dict[str, Response] = {response.id: response for response in model.generate(requests)}
    for order in orders:
        response = replies.get("-".join(order))
        wanted = " then ".join(order)
        if response is None:
            raise UsageError(f"{model.id}: the budget is too small even for the two preflight requests; raise it")
        if response.finish_reason == "error":
            raise UsageError(f"{model.id}: cannot be asked about two pictures: {response.error}")
        if colours_named(response.text) != list(order):
            reply = " ".join(response.text.split())[:80]
            cut = ", cut at its token limit: raise --max-new-tokens" if response.finish_reason == "length" else ""
            raise UsageError(
                f"{model.id}: shown {wanted}, it answered {reply!r}{cut}; it does not see two pictures in order "
                "(--no-preflight to go on nevertheless, which is recorded)"
            )
    said = {" then ".join(order): replies["-".join(order)].text for order in orders}
    return {"order": "named the colours of two pictures in both orders", "replies": said}


def colours_named(reply: str) -> list[str]:
    """The colours red and blue in the order in which `reply`, apart from its thinking, first names them.

    >>> colours_named("<think>blue or red?</think>The first is **Red**, the second is blue.")
    ['red', 'blue']
    """
    words = re.findall(r"\b(red|blue)\b", _THOUGHTS.sub("", reply).lower())
    return list(dict.fromkeys(words))
