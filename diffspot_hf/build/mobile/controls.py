"""Controls: pairs of one screen without an issue, either verified identical or redrawn in a declared, harmless way."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image, ImageFilter

from ..browser import Browser, PageError
from .screens import FOLDER, SCALE, SIZE, Screen
from .stage import Pixels, decode, photograph

KINDS = ("identical", "identical", "identical", "resampled", "rounded")
"""The kinds that follow each other; three in five controls are identical (our choice)."""
RESAMPLED_LIMIT = 16
BLUR = 4
"""Levels by which a resampled control may differ, and the radius by which both sides are blurred before (our choice;
measured: up to 7)."""

HARMLESS = {
    "resampled": f"drawn at scale {SCALE + 1} and reduced to scale {SCALE}: only the antialiasing of edges differs",
    "rounded": "the lowest bit of every channel dropped: no value differs by more than one level",
}


def control(kind: str, screen: Screen, browser: Browser, reference: Pixels) -> tuple[Pixels, dict[str, Any] | None]:
    """The implementation side of a control and what is declared of it; None is declared of identical pairs.

    The second side is a render of its own in a fresh page. Raises `PageError` when the pair is not what `kind` says.
    """
    with browser.page(scale=SCALE + 1 if kind == "resampled" else SCALE) as page:
        browser.open(page, screen.file, FOLDER)
        session = page.context.new_cdp_session(page)
        picture = decode(photograph(session, SCALE + 1 if kind == "resampled" else SCALE))
    if kind == "resampled":
        size = (SIZE[0] * SCALE, SIZE[1] * SCALE)
        picture = np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS))
    elif kind == "rounded":
        picture = picture & 0xFE
    if problem := disagreement(kind, reference, picture):
        raise PageError("control", f"{screen.name}, {kind}: {problem}")
    if kind == "identical":
        return picture, None
    difference = np.abs(picture.astype(np.int16) - reference).max(axis=2)
    return picture, {
        "kind": kind,
        "what": HARMLESS[kind],
        "changed_pixels": int(np.count_nonzero(difference)),
        "largest_difference": int(difference.max()),
    }


def disagreement(kind: str, a: Pixels, b: Pixels) -> str | None:
    """What speaks against two pictures being a control of `kind`, from their pixels alone; None when nothing does."""
    if a.shape != b.shape:
        return f"sizes differ: {a.shape} and {b.shape}"
    difference = int(np.abs(a.astype(np.int16) - b).max())
    if kind == "identical":
        return f"pixels differ by up to {difference} levels" if difference else None
    if kind == "rounded":
        return None if difference <= 1 else f"pixels differ by up to {difference} levels, more than rounding does"
    if kind == "resampled":
        blurred = int(np.abs(_blur(a) - _blur(b)).max())
        return None if blurred <= RESAMPLED_LIMIT else f"blurred pictures differ by {blurred} levels"
    return f"unknown kind {kind!r}"


def _blur(pixels: Pixels) -> Any:
    return np.asarray(Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(BLUR))).astype(np.int16)
