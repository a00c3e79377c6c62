"""A frozen page looked at once more: does it stand alone, stand still, and still look like what it was?"""

from __future__ import annotations

import base64
import io
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from ..browser import Browser, PageError
from .freeze_page import Frozen, script

# All limits below are our choice; the comments give what was measured on the template packages.
LEAST_STYLED = 0.6
"""Share of visible elements that look otherwise than the browser's default. 385 template pages with their styles: all
at 1.0; 45 of them without: 0.52 and below."""
LEAST_KNOWN = 0.5
"""Share of visible elements with a class that some selector names, asked only where a style sheet was lost."""
MOST_BLANK = 0.995
"""Share of the viewport in one colour."""
MOST_DIFFERENT = 0.3
"""Share of pixels by which the frozen page may differ from the living one (by more than `PIXEL_STEP` levels). 385
template pages: one at 0.05, all others below 0.005."""
PIXEL_STEP = 16
LOOK_SIZE = (80, 50)
TWIN_DIFFERENCE, TWIN_SHAPE = 2.0, 0.97
"""Mean grey levels between the thumbs, and share of equal elements in view, within which two pages are one."""


@dataclass(frozen=True)
class Look:
    """The frozen page's figures and its picture (`png`, and as a small grey `thumb` that tells twins)."""

    png: bytes
    thumb: str
    shape: list[str]  # of the elements in view: digests of tag and classes, sorted
    styled: float
    known: float
    blank: float
    different: float


def inspect_page(browser: Browser, file: Path, root: Path, frozen: Frozen, *, seconds: float) -> Look:
    """The look of the frozen page in `file`, or a `PageError` with the reason why it is of no use."""
    asked: list[str] = []
    with browser.page(seconds=seconds) as page:
        page.on("request", lambda request: asked.append(request.url))
        browser.open(page, file, root)
        first = browser.capture(page)
        if browser.capture(page) != first:
            raise PageError("moving", "two pictures of the frozen page differ")
        figures = page.evaluate(f"({script('measure.js')})")
    outside = [url for url in asked[1:] if not url.startswith("data:")]
    if outside:
        raise PageError("not self-contained", outside[0][:200])
    shown, living = (np.asarray(Image.open(io.BytesIO(png)).convert("RGB")) for png in (first, frozen.live))
    look = Look(
        png=first,
        thumb=_thumb(first),
        shape=sorted(f"{zlib.crc32(text.encode()):08x}" for text in figures["shape"]),
        styled=round(figures["styled"] / max(1, figures["seen"]), 3),
        known=round(figures["known"] / max(1, figures["classed"]), 3),
        blank=round(_largest_share(shown), 4),
        different=round(float((np.abs(shown.astype(np.int16) - living).max(2) > PIXEL_STEP).mean()), 4),
    )
    if look.blank > MOST_BLANK or not figures["seen"]:
        raise PageError("near-blank", f"{look.blank:.1%} of the viewport is one colour")
    if look.styled < LEAST_STYLED:
        raise PageError("unstyled", f"{look.styled:.0%} of {figures['seen']} visible elements have styles")
    if frozen.lost_styles and figures["classed"] and look.known < LEAST_KNOWN:
        raise PageError("unstyled", f"a style sheet is missing, and {look.known:.0%} of the classes in view are known")
    if look.different > MOST_DIFFERENT:
        raise PageError("changed by freezing", f"{look.different:.0%} of the pixels differ from the living page")
    return look


def are_twins(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """True when two pages (records with `thumb` and `shape`) are built the same and look nearly the same."""
    a, b = (np.frombuffer(base64.b64decode(look["thumb"]), dtype=np.uint8).astype(np.int16) for look in (one, other))
    difference = float(np.abs(a - b).mean())
    if difference > TWIN_DIFFERENCE:
        return False
    left, right = Counter(one["shape"]), Counter(other["shape"])
    shared, together = sum((left & right).values()), sum((left | right).values())
    return shared / max(1, together) > TWIN_SHAPE


def _thumb(png: bytes) -> str:
    with Image.open(io.BytesIO(png)) as image:
        return base64.b64encode(image.convert("L").resize(LOOK_SIZE, Image.Resampling.BOX).tobytes()).decode()


def _largest_share(pixels: np.ndarray) -> float:
    packed = (pixels[..., 0].astype(np.uint32) << 16) | (pixels[..., 1].astype(np.uint32) << 8) | pixels[..., 2]
    return float(np.unique(packed, return_counts=True)[1].max() / packed.size)
