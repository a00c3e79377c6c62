"""What happened to text whose words are no longer found as they were: weight, size, letter spacing, or other words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import need
from .finding import Kind
from .ink import Glyph
from .lines import Line, picture, soft, words
from .words import Pieces

cv2 = need("cv2", "pixel")


@dataclass(frozen=True)
class Type:
    """Ratios after / before of the touched text: `height` of its lines, `small` of its middle letter, `width` of all
    lines together, `stroke` width, `mass` of ink. `same` says how sure the words are the same (0 to 1)."""

    height: float
    small: float
    width: float
    stroke: float
    mass: float
    same: float


def measure(found: Pieces) -> Type:
    """How the touched lines of the two sides compare."""
    one, two = found.lines_before, found.lines_after
    height = _height(two) / _height(one)
    width = sum(line.box[2] for line in two) / sum(line.box[2] for line in one)
    mass = sum(line.mass for line in two) / max(1e-6, sum(line.mass for line in one))
    small = _small(two) / _small(one)
    return Type(height, small, width, _stroke(two) / _stroke(one), mass, same_words(one, two))


def _height(found: list[Line]) -> float:
    """Height in pixels of a line from its highest to its lowest ink: the middle of the wide lines."""
    widest = max(line.box[2] for line in found)
    return float(np.median([line.box[3] for line in found if line.box[2] >= 0.4 * widest]))


def _small(found: list[Line]) -> float:
    """Height in pixels of the middle letter. Letters that touch count as one, and as the taller."""
    return float(np.median([glyph.box[3] for line in found for glyph in line.glyphs]))


def _stroke(found: list[Line]) -> float:
    """Mean width in pixels of a stroke, measured along rows and columns of the ink."""
    mass, crossed = 0.0, 0.0
    for line in found:
        ink = picture(line, 1)
        mass += float(ink.sum())
        # The total rise along every row and column counts the strokes crossed.
        crossed += float(np.maximum(np.diff(ink, axis=1), 0).sum() + np.maximum(np.diff(ink, axis=0), 0).sum()) / 2
    return max(mass, 1e-6) / max(crossed, 1e-6)


def same_words(one: list[Line], two: list[Line]) -> float:
    """0 to 1: how alike the two texts are once size, weight and line breaks are put aside."""
    widths = [np.array([word.box[2] for line in side for word in words(line)], float) for side in (one, two)]
    if min(len(side) for side in widths) >= 6:
        return _same_widths(*(np.log(side / np.median(side)) for side in widths))
    if len(one) == len(two):
        weights = [line.box[2] for line in one]
        return float(np.average([resemblance(a, b) for a, b in zip(one, two, strict=True)], weights=weights))
    return resemblance(one[0], two[0])


def _same_widths(one: np.ndarray, two: np.ndarray) -> float:
    """How long a run of words of equal relative width the two sides share: 1 all, 0 what chance would give."""
    alike = np.abs(one[:, None] - two[None, :]) < 0.12
    longest = np.zeros((len(one) + 1, len(two) + 1), int)
    for i in range(len(one)):
        for j in range(len(two)):
            longest[i + 1, j + 1] = max(longest[i, j + 1], longest[i + 1, j], longest[i, j] + bool(alike[i, j]))
    share = 2 * longest[-1, -1] / (len(one) + len(two))
    return float(np.clip((share - 0.5) / 0.4, 0, 1))


def resemblance(one: Line, two: Line) -> float:
    """0 to 1: correlation of two lines brought to one size."""
    return correlated(picture(one), picture(two))


def correlated(one: np.ndarray, two: np.ndarray) -> float:
    """0 to 1: correlation of two drawings (float32, ink from 0 to 1) brought to one size."""
    a, b = one, cv2.resize(two, (one.shape[1], one.shape[0]), interpolation=cv2.INTER_AREA)
    a, b = (cv2.blur(side, (3, 3)) for side in (a, b))
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float(np.clip((a * b).sum() / size, 0, 1)) if size > 0 else 0.0


_GLYPHS = 30  # ours: letters of a line that are followed
_STEPS = np.arange(-0.5, 0.71, 0.03)  # ours: letter spacings tried, in heights of a small letter


@dataclass(frozen=True)
class Spacing:
    """`step`: pixels by which each letter stands further from the one before. `fit`, `still`: how well the second line
    is explained by that and by no step (0 to 1)."""

    step: float
    fit: float
    still: float


@dataclass(frozen=True)
class Verdict:
    """`kind` and `direction` as in `Finding`; `sure` is False where only what is left over spoke for it."""

    kind: Kind
    direction: str
    sure: bool
    facts: dict[str, float]


def judge(found: Pieces) -> Verdict:
    """Which change of type accounts for the touched lines.

    The measurements part the kinds: letter spacing changes the width of a line and not its ink; another weight changes
    the strokes and hardly the height; another size changes height, width and ink together; other words change width
    and ink alike and no longer resemble. All thresholds are ours, read off rendered pages.
    """
    m = measure(found)
    one, two = found.lines_before, found.lines_after
    few = 3 if len(one) == len(two) else 1
    tries = [spaced(a, b) for a, b in list(zip(one, two, strict=False))[:few]]
    step, fit, still = (float(np.median([getattr(t, name) for t in tries])) for name in ("step", "fit", "still"))
    facts = {**vars(m), "share": found.share, "step": step, "fit": fit, "still": still}
    facts = {key: round(float(value), 3) for key, value in facts.items()}

    single = len(one) == len(two) == 1

    def verdict(kind: Kind, direction: str, sure: bool = True) -> Verdict:
        return Verdict(kind, direction, sure, facts)

    stroke, height, width, small = (abs(float(np.log(v))) for v in (m.stroke, m.height, m.width, m.small))
    heavier = (m.mass - 1) * (m.stroke - 1) > 0.005
    if m.same >= 0.4 and heavier and stroke > 0.075 and stroke > 1.5 * max(min(height, small), 0.6 * width):
        return verdict("weight", "bolder" if m.stroke > 1 else "thinner")
    grown = (m.height >= 1) == (m.width >= 1) == (m.mass >= 1)
    if m.same >= 0.5 and grown and height > 0.05 and width > 0.03:
        return verdict("text_size", "larger" if m.width > 1 else "smaller")
    scaled = (m.height > 1) == (m.small > 1) == (m.stroke > 1) == (m.mass > 1)
    if scaled and min(height, small) > 0.08 and 0.2 * small < stroke < 1.4 * small:
        return verdict("text_size", "larger" if m.small > 1 else "smaller")
    if height < 0.1 and stroke < 0.08 and m.width > 1.04:
        inked = (m.mass - 1) / (m.width - 1)
        if inked < 0.15 or (inked < 0.45 and fit > 0.65 and fit > still + 0.1) or (inked < 0.6 and fit > 0.85):
            return verdict("letter_spacing", "wider", single or fit > 0.5)
    if (
        height < 0.13
        and m.width < 0.95
        and m.stroke > 0.97
        and m.width**0.5 < m.mass <= (1.03 if m.width > 0.85 else 1.15)
    ):
        return verdict("letter_spacing", "closer", single or fit > 0.3)
    if m.same >= 0.8 and grown and width > 0.03 and abs(m.mass - 1) > 0.03 and fit < 0.8:
        return verdict("text_size", "larger" if m.width > 1 else "smaller")
    return verdict("text", "", m.same < 0.4)


def spaced(one: Line, two: Line) -> Spacing:
    """The letter spacing that, given to the letters of `one`, best gives `two`.

    The letters are followed from left to right: each is looked for where the last one and the spacing put it, one
    pixel to either side, since text may stand between pixels.
    """
    small = float(np.median([g.box[3] for g in one.glyphs]))
    target = soft(picture(two, 6))
    top = two.box[1] - 6
    seen: list[tuple[float, int, np.ndarray, float]] = []
    last: Glyph | None = None
    for glyph in one.glyphs[:_GLYPHS]:
        letters = 0.0
        if last is not None:
            letters = _count(last, small) + (1 if glyph.box[0] - last.right > 0.36 * small else 0)
        template = soft(np.pad(glyph.cover.astype(np.float32) / 255, 1))
        row = glyph.box[1] - 1 - top + (two.box[1] - one.box[1])
        band = target[max(0, row - 1) : row + template.shape[0] + 1]
        if band.shape[0] >= template.shape[0] and band.shape[1] >= template.shape[1]:
            score = correlation(band, template).max(axis=0)
            seen.append((letters, glyph.box[0] - 1 - one.box[0] + 6, score, float(glyph.cover.sum())))
            last = glyph
    if len(seen) < 2:
        return Spacing(0.0, 0.0, 0.0)
    total = sum(weight for *_, weight in seen)

    def fit(step: float) -> float:
        offset, value = 0.0, 0.0
        for index, (letters, place, score, weight) in enumerate(seen):
            offset += letters * step
            reach = 3 if index == 0 else 1
            first = max(0, round(place + offset) - reach)
            window = score[first : max(first, round(place + offset) + reach + 1)]
            if len(window):
                at = int(window.argmax())
                value += weight * float(window[at])
                if window[at] > 0.6:
                    offset = first + at - place
        return value / total

    guess = (two.box[2] - one.box[2]) / max(sum(letters for letters, *_ in seen), 1)
    best = max((guess, *(_STEPS * small)), key=lambda step: fit(step) - 0.003 * abs(step - guess))
    return Spacing(best, fit(best), fit(0.0))


def correlation(image: np.ndarray, template: np.ndarray) -> np.ndarray:
    """Correlation of `template` with each place of `image`; 0 where there is hardly any ink to compare with."""
    score = cv2.matchTemplate(image, template, cv2.TM_CCOEFF_NORMED)
    there = cv2.matchTemplate(image**2, np.ones_like(template), cv2.TM_CCORR)
    return np.where((there > 0.15 * float((template**2).sum())) & np.isfinite(score), score, 0)


def _count(glyph: Glyph, small: float) -> int:
    """How many letters a piece of ink is: letters that touch are one piece."""
    width = glyph.box[2]
    return 1 if width <= 1.75 * small else max(1, round(width / (1.05 * small)))
