"""How a named part of a screen can be changed: each function yields ``(change, detail)`` for one part.

The change is what `stage.js` applies, the detail completes the sentence that tells it. Magnitudes are our choice: large
enough that a careful reviewer sees each at normal size, small enough to be overlooked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .screens import SIZE

Part = Mapping[str, Any]
Variants = Iterator[tuple[dict[str, Any], str]]


def css(**styles: str) -> dict[str, Any]:
    """A change of style properties; ``_`` in a name stands for ``-``."""
    return {"css": {name.replace("_", "-"): value for name, value in styles.items()}}


def _plain(name: str) -> str:
    return re.sub(r"-(f|fill|2|on)$", "", name).replace("-", " ")


def swap_icon(part: Part) -> Variants:
    for other in part["swap"]:
        yield {"href": f"#{other}"}, _plain(other)


def swap_image(part: Part) -> Variants:
    for other in part["swap"]:
        yield {"src": other}, ""


def hide(part: Part) -> Variants:
    yield css(visibility="hidden"), ""


def blank(part: Part) -> Variants:
    yield css(object_position="-4000px 0", background="#d5d8de"), ""


def mirror(part: Part) -> Variants:
    yield css(transform="scaleX(-1)"), ""


def toggle(part: Part) -> Variants:
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


def recolor(part: Part) -> Variants:
    for value, name in _others(part["color"]):
        yield css(color=value), name


def refill(part: Part) -> Variants:
    if _rgb(part["background"]) or part["backgroundImage"] != "none":
        for value, name in _others(part["background"]):
            yield css(background=value), name


def hue(part: Part) -> Variants:
    for degrees in (110, 200):
        yield css(filter=f"hue-rotate({degrees}deg)"), ""


def scale(*factors: float) -> Callable[[Part], Variants]:
    def variants(part: Part) -> Variants:
        if part["transform"] == "none":
            for factor in factors:
                yield css(transform=f"scale({factor})"), "smaller" if factor < 1 else "larger"

    return variants


def resize(part: Part) -> Variants:
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
    yield from scale(0.75, 1.25)(part)


def corners(part: Part) -> Variants:
    shorter = min(part["width"], part["height"])
    if shorter < 18:
        return
    number = float(re.findall(r"[\d.]+", part["radius"])[0])
    radius = min(number * shorter / 100 if "%" in part["radius"] else number, shorter / 2)
    if radius >= 6:
        yield css(border_radius="0px"), "has square corners"
    if radius <= 4 or radius <= shorter / 5:
        yield css(border_radius=f"{shorter / 2:g}px"), "has fully rounded corners"


def shift(part: Part) -> Variants:
    if part["transform"] != "none":
        return
    step = 8 if part["kind"] in ("icon", "text") else 12
    for x, y, way in ((step, 0, "to the right"), (-step, 0, "to the left"), (0, step, "down"), (0, -step, "up")):
        left, top, right, bottom = part["extent"]
        if left + x >= 0 and top + y >= 0 and right + x <= SIZE[0] and bottom + y <= SIZE[1]:
            yield css(transform=f"translate({x}px, {y}px)"), way


def pad(part: Part) -> Variants:
    if part["width"] >= 120 and part["parts"] and part["padding"] >= 8:
        yield css(padding_left=f"{part['padding'] + 14:g}px"), "too far from the left edge"
        yield css(padding_left="1px"), "too close to the left edge"


def spread(part: Part) -> Variants:
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


def weight(part: Part) -> Variants:
    if part["weight"] >= 600:
        yield css(font_weight="400"), "regular instead of bold"
    elif part["weight"] <= 500:
        yield css(font_weight="800"), "too bold"


def size(part: Part) -> Variants:
    yield css(font_size=f"{part['size'] * 0.78:g}px"), "too small"
    yield css(font_size=f"{part['size'] * 1.25:g}px"), "too large"


def tracking(part: Part) -> Variants:
    if len(part["text"]) >= 5:
        yield css(letter_spacing="0.12em"), "too wide"
        yield css(letter_spacing="-0.08em"), "too tight"


def slant(part: Part) -> Variants:
    if len(part["text"]) >= 4:
        yield css(font_style="italic"), "italic"
        yield css(text_decoration="underline"), "underlined"
    if len(part["text"]) >= 4 and not part["upper"]:
        yield css(text_transform="uppercase"), "set in capitals"
