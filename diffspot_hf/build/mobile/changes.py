"""Which changes a named part of a screen allows: the one table behind the synthetic set.

Every change belongs to one operator; an operator says its family, its tags and how the change is told in one sentence.
Magnitudes are our choice: large enough that a careful reviewer sees each at normal size, small enough to be overlooked.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

ICON, COLOR, SPACING, SHAPE = "Icon/Nav", "Color/Background", "Spacing/Layout", "Shape/Size"
MISSING, TYPE, IMAGE = "Missing Content", "Typography", "Image/Asset"

Part = Mapping[str, Any]


@dataclass(frozen=True)
class Operator:
    """A kind of defect: family, parts it can befall, tags, and sentences with ``{name}`` and ``{detail}``."""

    name: str
    family: str
    kinds: frozenset[str]
    tags: tuple[str, ...]
    sentences: tuple[str, ...]
    variants: Callable[[Part], Iterator[tuple[dict[str, Any], str]]]
    """Yields ``(change, detail)``: the change as the page applies it, the detail as the sentence tells it."""


@dataclass(frozen=True)
class Change:
    """One way to change one part, ready to be applied, labelled and told."""

    part: int
    element: str
    operator: str
    family: str
    labels: tuple[str, ...]
    note: str
    change: dict[str, Any] = field(hash=False)


def css(**styles: str) -> dict[str, Any]:
    """A change of style properties; ``_`` in a name stands for ``-``."""
    return {"css": {name.replace("_", "-"): value for name, value in styles.items()}}


def _plain(name: str) -> str:
    return re.sub(r"-(f|fill|2|on)$", "", name).replace("-", " ")


def _swap_icon(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    for other in part["swap"]:
        yield {"href": f"#{other}"}, _plain(other)


def _swap_image(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    for other in part["swap"]:
        yield {"src": other}, ""


def _hide(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    yield css(visibility="hidden"), ""


def _blank(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    yield css(object_position="-4000px 0", background="#d5d8de"), ""


def _mirror(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    yield css(transform="scaleX(-1)"), ""


def _toggle(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    if part["state"]:
        yield {"state": part["state"]}, ""


PALETTE = {
    "red": (214, 40, 57),
    "orange": (240, 130, 30),
    "green": (24, 150, 86),
    "teal": (0, 140, 150),
    "blue": (30, 94, 220),
    "purple": (126, 60, 190),
    "pink": (226, 70, 140),
    "grey": (136, 142, 152),
}


def _rgb(value: str) -> tuple[float, float, float] | None:
    numbers = [float(n) for n in re.findall(r"[\d.]+", value)]
    if not value.startswith("rgb") or len(numbers) < 3 or (len(numbers) > 3 and numbers[3] == 0):
        return None
    return numbers[0], numbers[1], numbers[2]


def _others(value: str) -> Iterator[tuple[str, str]]:
    """Palette colours clearly unlike the CSS colour `value` (at least 110 of 441 apart in RGB), as (css, name)."""
    now = _rgb(value)
    for name, other in PALETTE.items():
        if now is None or sum((a - b) ** 2 for a, b in zip(now, other, strict=True)) ** 0.5 >= 110:
            yield "rgb({}, {}, {})".format(*other), name


def _recolor(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    for value, name in _others(part["color"]):
        yield css(color=value), name


def _refill(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    if _rgb(part["background"]) or part["backgroundImage"] != "none":
        for value, name in _others(part["background"]):
            yield css(background=value), name


def _hue(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    for degrees in (110, 200):
        yield css(filter=f"hue-rotate({degrees}deg)"), ""


def _scale(*factors: float) -> Callable[[Part], Iterator[tuple[dict[str, Any], str]]]:
    def variants(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
        if part["transform"] == "none":
            for factor in factors:
                yield css(transform=f"scale({factor})"), "smaller" if factor < 1 else "larger"

    return variants


def _resize(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    # The margin takes up what the box loses, so that nothing around it moves.
    width, height = part["width"], part["height"]
    if width >= 90:
        lost = round(width * 0.22)
        yield (
            css(width=f"{width - lost}px", min_width="0", box_sizing="border-box", margin_right=f"{lost}px"),
            "narrower",
        )
    if height >= 40:
        lost = round(height * 0.25)
        yield (
            css(height=f"{height - lost}px", min_height="0", box_sizing="border-box", margin_bottom=f"{lost}px"),
            "less tall",
        )
    yield from _scale(0.75, 1.25)(part)


def _round(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    shorter = min(part["width"], part["height"])
    if shorter < 18:
        return
    number = float(re.findall(r"[\d.]+", part["radius"])[0])
    radius = min(number * shorter / 100 if "%" in part["radius"] else number, shorter / 2)
    if radius >= 6:
        yield css(border_radius="0px"), "has square corners"
    if radius <= 4 or radius <= shorter / 5:
        yield css(border_radius=f"{shorter / 2:g}px"), "has fully rounded corners"


def _shift(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    if part["transform"] != "none":
        return
    step = 8 if part["kind"] in ("icon", "text") else 12
    for x, y, way in ((step, 0, "to the right"), (-step, 0, "to the left"), (0, step, "down"), (0, -step, "up")):
        left, top, right, bottom = part["extent"]
        if left + x >= 0 and top + y >= 0 and right + x <= 390 and bottom + y <= 844:
            yield css(transform=f"translate({x}px, {y}px)"), way


def _pad(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    if part["width"] >= 120 and part["parts"] and part["padding"] >= 8:
        yield css(padding_left=f"{part['padding'] + 14:g}px"), "too far from the left edge"
        yield css(padding_left="1px"), "too close to the left edge"


def _spread(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    if "flex" not in part["display"] or part["parts"] < 2:
        return
    for value, detail in (
        ("flex-end", "pushed to the right"),
        ("flex-start", "pushed to the left"),
        ("center", "bunched"),
    ):
        if value != part["justify"]:
            yield css(justify_content=value), detail
    yield css(gap="2px"), "too close together"
    yield css(gap="22px"), "too far apart"


def _weight(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    if part["weight"] >= 600:
        yield css(font_weight="400"), "regular instead of bold"
    elif part["weight"] <= 500:
        yield css(font_weight="800"), "too bold"


def _size(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    yield css(font_size=f"{part['size'] * 0.78:g}px"), "too small"
    yield css(font_size=f"{part['size'] * 1.25:g}px"), "too large"


def _tracking(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    if len(part["text"]) >= 5:
        yield css(letter_spacing="0.12em"), "too wide"
        yield css(letter_spacing="-0.08em"), "too tight"


def _slant(part: Part) -> Iterator[tuple[dict[str, Any], str]]:
    if len(part["text"]) >= 4:
        yield css(font_style="italic"), "italic"
        yield css(text_decoration="underline"), "underlined"
    if len(part["text"]) >= 4 and not part["upper"]:
        yield css(text_transform="uppercase"), "set in capitals"


def _kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


OPERATORS: tuple[Operator, ...] = (
    Operator(
        "icon_swapped",
        "icon",
        _kinds("icon"),
        (ICON,),
        ("Wrong icon: the {name} is now a {detail} icon.", "The {name} was replaced by a {detail} icon."),
        _swap_icon,
    ),
    Operator(
        "icon_missing",
        "missing",
        _kinds("icon"),
        (MISSING, ICON),
        ("The {name} is missing.", "There is no {name} any more."),
        _hide,
    ),
    Operator(
        "icon_color",
        "color",
        _kinds("icon"),
        (COLOR, ICON),
        ("The {name} is {detail}, it should keep its colour.", "Wrong colour: the {name} turned {detail}."),
        _recolor,
    ),
    Operator(
        "icon_size",
        "size",
        _kinds("icon"),
        (SHAPE, ICON),
        ("The {name} is {detail} than in the design.", "Size of the {name} is off, it looks {detail}."),
        _scale(0.62, 1.45),
    ),
    Operator(
        "part_missing",
        "missing",
        _kinds("text box block control chip tab figure group"),
        (MISSING,),
        ("The {name} is missing.", "The {name} is not there.", "Missing: the {name}."),
        _hide,
    ),
    Operator(
        "text_color",
        "color",
        _kinds("text"),
        (COLOR,),
        ("The {name} is {detail} instead of its own colour.", "Text colour of the {name} is wrong, it is {detail}."),
        _recolor,
    ),
    Operator(
        "fill",
        "color",
        _kinds("box chip"),
        (COLOR,),
        ("The {name} has a {detail} background.", "Wrong background on the {name}: it is {detail}."),
        _refill,
    ),
    Operator(
        "figure_color",
        "color",
        _kinds("figure"),
        (COLOR,),
        ("The colours of the {name} are wrong.", "The {name} is drawn in other colours."),
        _hue,
    ),
    Operator(
        "state",
        "state",
        _kinds("control chip"),
        (COLOR,),
        ("The {name} shows the wrong state.", "Wrong state: the {name} does not match the design."),
        _toggle,
    ),
    Operator(
        "tab_state",
        "state",
        _kinds("tab"),
        (COLOR, ICON),
        ("The {name} has the wrong active state.", "Active styling of the {name} does not match."),
        _toggle,
    ),
    Operator(
        "text_weight",
        "typography",
        _kinds("text"),
        (TYPE,),
        ("Font weight of the {name} is {detail}.", "The {name} is {detail}."),
        _weight,
    ),
    Operator(
        "text_size",
        "typography",
        _kinds("text"),
        (TYPE,),
        ("The text of the {name} is {detail}.", "Font size of the {name} is {detail}."),
        _size,
    ),
    Operator(
        "text_tracking",
        "typography",
        _kinds("text"),
        (TYPE,),
        ("Letter spacing of the {name} is {detail}.", "The letters of the {name} are set {detail}."),
        _tracking,
    ),
    Operator(
        "text_style",
        "typography",
        _kinds("text"),
        (TYPE,),
        ("The {name} is {detail}.", "The {name} should not be {detail}."),
        _slant,
    ),
    Operator(
        "moved",
        "spacing",
        _kinds("text box block control figure"),
        (SPACING,),
        ("The {name} has moved {detail}.", "The {name} sits too far {detail}."),
        _shift,
    ),
    Operator(
        "icon_moved",
        "spacing",
        _kinds("icon"),
        (SPACING, ICON),
        ("The {name} has moved {detail}.", "The {name} is not aligned, it moved {detail}."),
        _shift,
    ),
    Operator(
        "padding",
        "spacing",
        _kinds("box"),
        (SPACING,),
        ("The content of the {name} is {detail}.", "Padding of the {name} is off, its content is {detail}."),
        _pad,
    ),
    Operator(
        "spread",
        "spacing",
        _kinds("group"),
        (SPACING,),
        ("The items of the {name} are {detail}.", "Spacing in the {name} is wrong, the items are {detail}."),
        _spread,
    ),
    Operator(
        "corners",
        "shape",
        _kinds("box"),
        (SHAPE,),
        ("The {name} {detail}.", "Corner radius is wrong: the {name} {detail}."),
        _round,
    ),
    Operator(
        "resized",
        "size",
        _kinds("box control figure"),
        (SHAPE,),
        ("The {name} is {detail} than in the design.", "Size of the {name} is off, it is {detail}."),
        _resize,
    ),
    Operator(
        "image_swapped",
        "image",
        _kinds("image"),
        (IMAGE,),
        ("The {name} shows a different picture.", "Wrong image: the {name} was replaced."),
        _swap_image,
    ),
    Operator(
        "image_blank",
        "image",
        _kinds("image"),
        (IMAGE, MISSING),
        ("The {name} did not load, there is only a grey box.", "Grey placeholder instead of the {name}."),
        _blank,
    ),
    Operator(
        "image_mirrored",
        "image",
        _kinds("image"),
        (IMAGE,),
        ("The {name} is flipped left to right.", "The {name} is mirrored."),
        _mirror,
    ),
    Operator(
        "image_corners",
        "shape",
        _kinds("image"),
        (SHAPE, IMAGE),
        ("The {name} {detail}.", "Wrong crop: the {name} {detail}."),
        _round,
    ),
    Operator(
        "image_size",
        "size",
        _kinds("image"),
        (SHAPE, IMAGE),
        ("The {name} is {detail} than in the design.", "The {name} is drawn {detail}."),
        _scale(0.72),
    ),
)
FAMILIES = tuple(dict.fromkeys(operator.family for operator in OPERATORS))


def candidates(parts: list[Part], rng: random.Random) -> list[Change]:
    """One change for each part and each operator that fits it, in random order; variant and sentence drawn by `rng`."""
    found = []
    for part in parts:
        if part["extent"] is None:
            continue
        for operator in OPERATORS:
            if part["kind"] not in operator.kinds:
                continue
            variants = list(operator.variants(part))
            if not variants:
                continue
            change, detail = rng.choice(variants)
            note = _grammar(rng.choice(operator.sentences).format(name=part["name"], detail=detail))
            found.append(
                Change(part["index"], part["name"], operator.name, operator.family, operator.tags, note, change)
            )
    rng.shuffle(found)
    return found


def _grammar(sentence: str) -> str:
    """`sentence` with a capital first and "an" before a vowel or the letter x.

    >>> _grammar("the bell was replaced by a eye icon.")
    'The bell was replaced by an eye icon.'
    """
    sentence = re.sub(r"\ba (?=[aeio]|x\b)", "an ", sentence)
    return sentence[0].upper() + sentence[1:]
