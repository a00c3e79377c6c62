"""Findings in words: one plain bullet a finding, in the form in which a vision-language model is asked to answer."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

from .finding import BoxPx, Finding

NONE = "No differences."

_LONG = 60  # ours: letters of a quotation; enough to find the element by


def describe(found: Sequence[Finding], size: tuple[int, int]) -> str:
    """The reply to "what changed?": a bullet for each finding, or the sentence that nothing did.

    `size` is (width, height) of the first picture in pixels; places ("at the top right") are told in it.

    >>> describe([Finding("weight", "bolder", (900, 20, 60, 14), (900, 20, 66, 14), "text", "Sign in")], (1280, 800))
    '- The text "Sign in" at the top right is bolder in the second image.'
    """
    return "\n".join(f"- {sentence(finding, size)}" for finding in found) or NONE


def sentence(finding: Finding, size: tuple[int, int]) -> str:
    """One finding as a sentence that names what changed, where it is, and how it differs in the second image."""
    said = _SAY[finding.kind](finding, subject(finding, size))
    return said[0].upper() + said[1:]


def subject(finding: Finding, size: tuple[int, int]) -> str:
    """What changed and where: quoted by its text if that was read, else by what it looks like.

    >>> subject(Finding("moved", "left", (0, 0, 40, 10), None, "text"), (1280, 800))
    'the text at the top left'
    >>> subject(Finding("color", "darker", (0, 0, 1280, 60), None, "box"), (1280, 800))
    'the bar across the top'
    """
    box = finding.box_before or finding.box
    if finding.subject == "page":
        return "the page"
    bar = _bar(box, size) if finding.subject == "box" else ""
    if bar:
        return f"{bar} with {quoted(finding.text)}" if finding.text else bar
    place = where(box, size)
    if not finding.text:
        return f"the {finding.subject} {place}"
    if finding.subject in ("text", "items"):
        return f"the {finding.subject} {quoted(finding.text)} {place}"
    # A box that holds one line is known by it, as a button is; one that holds more is known as what holds them.
    what = f"the box with {quoted(finding.text)}" if finding.text.endswith("…") else quoted(finding.text)
    return f"{what} {place}"


def _bar(box: BoxPx, size: tuple[int, int]) -> str:
    """A box that runs along most of one edge of the picture, by that edge; "" for any other (thresholds are ours)."""
    (x, y, w, h), (width, height) = box, size
    if w >= 0.6 * width and h <= 0.2 * height:
        return "the bar across the top" if y <= 0.05 * height else (
            "the bar across the bottom" if y + h >= 0.95 * height else "")  # fmt: skip
    if h >= 0.6 * height and w <= 0.3 * width:
        return "the side bar on the left" if x <= 0.05 * width else (
            "the side bar on the right" if x + w >= 0.95 * width else "")  # fmt: skip
    return ""


def quoted(text: str) -> str:
    """`text` in double quotation marks, cut at a word if long."""
    if len(text) > _LONG:
        text = text[:_LONG].rsplit(" ", 1)[0] + "…"
    return '"' + text.replace('"', "'") + '"'


def where(box: BoxPx, size: tuple[int, int]) -> str:
    """The place of `box` (`xywh_px`) in a picture of `size`, in words.

    >>> where((600, 380, 40, 20), (1280, 800)), where((0, 780, 1280, 20), (1280, 800))
    ('in the middle', 'at the bottom')
    """
    width, height = size
    x, y = (box[0] + box[2] / 2) / width, (box[1] + box[3] / 2) / height
    row = "top" if y < 1 / 3 else "bottom" if y > 2 / 3 else ""
    column = "left" if x < 1 / 3 else "right" if x > 2 / 3 else ""
    if not row:
        return f"on the {column}" if column else "in the middle"
    return f"at the {row} {column}".rstrip()


def color_name(color: Sequence[int]) -> str:
    """A plain English name for an RGB colour.

    >>> color_name((255, 255, 255)), color_name((31, 41, 55)), color_name((220, 38, 38))
    ('white', 'dark gray', 'red')
    """
    hue, light, strength = colorsys.rgb_to_hls(*(c / 255 for c in color))
    chroma = (max(color) - min(color)) / 255
    if chroma < 0.12 or strength < 0.12:
        shades = ((0.08, "black"), (0.35, "dark gray"), (0.62, "gray"), (0.93, "light gray"), (2, "white"))
        return next(name for limit, name in shades if light <= limit)
    degrees = hue * 360
    hues = ((15, "red"), (42, "orange"), (68, "yellow"), (165, "green"), (195, "teal"), (246, "blue"), (290, "purple"))
    name = next((name for limit, name in hues if degrees <= limit), "pink" if degrees < 345 else "red")
    if light > 0.72:
        return f"light {name}"
    return f"dark {name}" if light < 0.27 else name


def _px(value: float) -> str:
    return f"{abs(round(value))} px"


def _shade(finding: Finding) -> str:
    """`darker in the second image`; with the names of both colours where they are not shades of one."""
    said = f"{finding.direction} in the second image"
    a, b = finding.evidence.get("before"), finding.evidence.get("after")
    if a is None or b is None or _hue(a) == _hue(b):
        return said
    return f"{said}: {color_name(b)} instead of {color_name(a)}"


def _hue(color: Sequence[int]) -> str:
    name = color_name(color).removeprefix("light ").removeprefix("dark ")
    return "gray" if name in ("black", "white") else name


def _color(f: Finding, who: str) -> str:
    if f.subject == "text":
        return f"{who} is {_shade(f)}."
    return f"the background of {who} is {_shade(f)}."


def _opacity(f: Finding, who: str) -> str:
    if f.direction == "fainter":
        return f"{who} is faded in the second image, paler and more transparent."
    return f"{who} is less faded in the second image, stronger and less transparent."


def _gradient(f: Finding, who: str) -> str:
    if f.direction == "reversed":
        return f"the colour gradient of {who} runs the opposite way in the second image: its colours have swapped ends."
    if f.direction == "turned":
        return f"the colour gradient of {who} runs in another direction in the second image: it is turned."
    if f.direction == "flat":
        return f"the colour gradient of {who} is gone in the second image: the background is one flat colour."
    if f.direction == "appeared":
        return f"the background of {who} has a colour gradient in the second image."
    return f"the colour gradient of {who} has other colours in the second image and is {f.direction}."


def _border(f: Finding, who: str) -> str:
    line = "the line" if f.subject == "line" else "the border"
    if f.direction in ("dashed", "solid"):
        other = "solid" if f.direction == "dashed" else "dashed"
        return f"{line} of {who} is {f.direction} in the second image instead of {other}."
    if f.direction in ("thicker", "thinner"):
        return f"{line} of {who} is {f.direction} in the second image."
    return f"{line} of {who} is {_shade(f)}."


def _corners(f: Finding, who: str) -> str:
    shape = "rounder" if f.direction == "rounder" else "squarer, less rounded"
    return f"the corners of {who} are {shape} in the second image."


def _weight(f: Finding, who: str) -> str:
    return f"{who} is {f.direction} in the second image."


def _text_size(f: Finding, who: str) -> str:
    return f"{who} is {f.direction} in the second image."


def _letter_spacing(f: Finding, who: str) -> str:
    way = "further apart" if f.direction == "wider" else "closer together"
    return f"the letters of {who} stand {way} in the second image."


def _line_spacing(f: Finding, who: str) -> str:
    way = "further apart" if f.direction == "wider" else "closer together"
    return f"the lines of {who} stand {way} in the second image."


def _text(f: Finding, who: str) -> str:
    if f.text_after and f.text_after != f.text:
        return f"{who} reads {quoted(f.text_after)} in the second image."
    return f"{who} reads differently in the second image: it has other characters."


def _moved(f: Finding, who: str) -> str:
    dx, dy = f.evidence.get("offset", (0, 0))
    ways = []
    if round(dy):
        ways.append(f"{_px(dy)} {'lower' if dy > 0 else 'higher'}")
    if round(dx):
        ways.append(f"{_px(dx)} further to the {'right' if dx > 0 else 'left'}")
    return f"{who} has moved {f.direction}: it sits {' and '.join(ways) or 'elsewhere'} in the second image."


def _spacing(f: Finding, who: str) -> str:
    amount, _, side = f.direction.partition(" ")
    sides = {"above": "above its content", "below": "below its content"}
    place = sides.get(side, f"to the {side} of its content")
    return f"{who} has {amount} space {place} in the second image."


def _alignment(f: Finding, who: str) -> str:
    if f.direction in ("left", "right"):
        return f"{who} have moved to the {f.direction} within their row in the second image."
    way = "further apart, towards the ends" if f.direction == "apart" else "closer together, away from the ends"
    return f"{who} stand {way} of their row in the second image."


def _box_size(f: Finding, who: str) -> str:
    return f"{who} is {f.direction} in the second image."


def _added(f: Finding, who: str) -> str:
    return f"{who} is new in the second image."


def _removed(f: Finding, who: str) -> str:
    return f"{who} is gone in the second image."


def _picture(f: Finding, who: str) -> str:
    if f.direction == "blank":
        return f"{who} is blank in the second image: a flat area stands in its place."
    if f.direction == "mirrored":
        return f"{who} is mirrored, flipped left to right, in the second image."
    return f"{who} shows something else in the second image."


def _canvas(f: Finding, who: str) -> str:
    (aw, ah), (bw, bh) = f.evidence["sizes"]
    return f"the second image is {bw} by {bh} pixels, the first {aw} by {ah}."


def _other(f: Finding, who: str) -> str:
    return f"{who} looks different in the second image."


_SAY = {
    "color": _color,
    "opacity": _opacity,
    "gradient": _gradient,
    "border": _border,
    "corners": _corners,
    "weight": _weight,
    "text_size": _text_size,
    "letter_spacing": _letter_spacing,
    "line_spacing": _line_spacing,
    "text": _text,
    "moved": _moved,
    "spacing": _spacing,
    "alignment": _alignment,
    "box_size": _box_size,
    "added": _added,
    "removed": _removed,
    "picture": _picture,
    "canvas": _canvas,
    "other": _other,
}
