"""Words of one side found again on the other, wherever they went and whatever colour they have."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...errors import need
from .finding import BoxPx, union
from .ink import Glyph, Page
from .lines import Line, lines, picture, soft, words
from .regions import contains

cv2 = need("cv2", "pixel")


@dataclass(frozen=True)
class Moved:
    """A word that the second image shows too, `offset` (dx, dy) pixels from where it was."""

    word: Line
    offset: tuple[float, float]


@dataclass(frozen=True)
class Pieces:
    """The touched ink of both sides as lines, and the words that both sides have."""

    lines_before: list[Line]
    lines_after: list[Line]
    found: list[Moved]
    share: float
    """Of the ink that changed, how much was found again."""


_WORDS = 40  # ours: words looked for in one region; more do not change the verdict


def _in_order(found: list[Moved]) -> list[Moved]:
    """`found` without the words that changed places with others of their line: those are twins, not the same word."""
    kept: list[Moved] = []
    rows: list[list[Moved]] = []
    for piece in sorted(found, key=lambda p: (p.word.box[1], p.word.box[0])):
        row = next((r for r in rows if abs(r[0].word.box[1] - piece.word.box[1]) <= piece.word.box[3] // 2), None)
        rows.append([piece]) if row is None else row.append(piece)
    for row in rows:
        row.sort(key=lambda p: p.word.box[0])
        places = [(p.word.box[0] + p.offset[0], p.word.box[1] + p.offset[1]) for p in row]
        best: list[list[int]] = []
        for index, (x, _) in enumerate(places):
            before = [run for run, (px, _) in zip(best, places, strict=False) if px < x]
            best.append([*max(before, key=len, default=[]), index])
        kept += [row[index] for index in max(best, key=len)]
    return kept


_SIGN = 20  # ours: pixels; a lone letter below this height looks like parts of others, an icon does not
_FOUND = 0.8  # ours: 1 less the squared difference over the word's own square, from which it is the same word


def pieces(before: Page, after: Page, mask: np.ndarray) -> Pieces:
    """The words of both sides of which any letter was touched, those of the first looked for in the second."""
    sides = [lines([glyph for glyph in page.glyphs if is_letter(glyph)]) for page in (before, after)]
    one, two = (_touched(side, mask, []) for side in sides)
    # A letter may stand still while the rest of its word moves away from it.
    one, two = _touched(sides[0], mask, two), _touched(sides[1], mask, one)
    if not one or not two:
        return Pieces(one, two, [], 0.0)
    parts = [word for line in one for word in words(line)]
    parts = parts[:: max(1, len(parts) // _WORDS)]
    target = np.zeros((after.height + 2, after.width + 2), np.float32)
    for line in two:
        for glyph in line.glyphs:
            x, y, w, h = glyph.box
            view = target[y + 1 : y + 1 + h, x + 1 : x + 1 + w]
            np.maximum(view, glyph.cover.astype(np.float32) / 255, out=view)
    target = soft(target)
    found: list[Moved] = []
    usual: list[tuple[float, float]] = []
    for part in sorted(parts, key=lambda part: (-min(len(part.glyphs), 3), part.box[1], part.box[0])):
        offset = _found(part, target, usual)
        if offset is not None and not _edited(part, offset, mask):
            usual.append(offset)
            found.append(Moved(part, offset))
    found = _in_order(found)
    mass = sum(part.mass for part in parts)
    share = sum(piece.word.mass for piece in found) / mass if mass else 0.0
    masses = sorted(sum(line.mass for line in side) for side in (one, two))
    return Pieces(one, two, found, share * masses[0] / masses[1])


def _edited(part: Line, offset: tuple[float, float], mask: np.ndarray) -> bool:
    """Whether a word that stayed where it was changed in a part of its ink only: in a letter, not as a word."""
    if max(abs(offset[0]), abs(offset[1])) > 0.3:
        return False
    x, y, w, h = part.box
    changed = mask[y : y + h, x : x + w][picture(part) > 0.3].mean()
    return bool(0 < changed < 0.4)


def _touched(side: list[Line], mask: np.ndarray, other: list[Line]) -> list[Line]:
    """The words of `side` that hold a changed pixel or stand where `other` has one; neighbours stay together."""
    found = []
    boxes = [line.box for line in other]
    for line in side:
        run: list[Glyph] = []
        for word in words(line):
            if any(_changed(g, mask) for g in word.glyphs) or any(contains(box, word.box) for box in boxes):
                run += word.glyphs
            elif run:
                found.append(Line(tuple(run)))
                run = []
        if run:
            found.append(Line(tuple(run)))
    return found


def _found(part: Line, target: np.ndarray, usual: list[tuple[float, float]]) -> tuple[float, float] | None:
    """Where in `target` (the soft ink of the second side, padded by one) `part` is: its offset, or None.

    Of places that are about as good, the one nearest to where earlier words went is taken.
    """
    template = soft(picture(part, 1))
    if template.shape[0] > target.shape[0] or template.shape[1] > target.shape[1]:
        return None
    x, y = part.box[:2]
    height, width = template.shape
    for dx, dy in dict.fromkeys((round(known[0]), round(known[1])) for known in usual[-4:]):
        # Where the words before it went is the first place to look, and mostly the last.
        row, column = y + dy, x + dx
        if 1 <= row < target.shape[0] - height and 1 <= column < target.shape[1] - width:
            near = _scores(target[row - 1 : row + height + 1, column - 1 : column + width + 1], template)
            at = np.unravel_index(int(near.argmax()), near.shape)
            there = target[row - 1 + at[0] : row - 1 + at[0] + height, column - 1 + at[1] : column - 1 + at[1] + width]
            if near[1, 1] == near.max() >= _SURELY and _faithful(part, template, there):
                return dx + _between(near[1], 1), dy + _between(near[:, 1], 1)
    score = _scores(target, template)
    best = float(score.max())
    if best < _FOUND:
        return None
    rows, columns = np.nonzero(score >= best - 0.03)
    offsets = np.column_stack([columns - x, rows - y]).astype(float)
    away = np.min([np.abs(offsets - np.array(known)).sum(axis=1) for known in usual or [(0.0, 0.0)]], axis=0)
    if usual and len(part.glyphs) == 1 and part.box[3] < _SIGN and away.min() > 2:
        return None
    pick = int(np.argmin(away - 40 * score[rows, columns]))
    row, column = int(rows[pick]), int(columns[pick])
    if not _faithful(part, template, target[row : row + template.shape[0], column : column + template.shape[1]]):
        return None
    return offsets[pick, 0] + _between(score[row], column), offsets[pick, 1] + _between(score[:, column], row)


def _scores(target: np.ndarray, template: np.ndarray) -> np.ndarray:
    """For each place of `target`, 1 less the squared difference from `template` over its own square."""
    return np.asarray(1 - cv2.matchTemplate(target, template, cv2.TM_SQDIFF) / float((template**2).sum()))


_SURELY = 0.9  # ours: as `_FOUND`, where there is no need to look further
_LETTER = 0.7  # ours: as `_FOUND`, for one letter; one other letter in a long word must not go unseen


def _faithful(part: Line, template: np.ndarray, there: np.ndarray) -> bool:
    """Whether each letter of a word, not only the word on the whole, is found again."""
    for glyph in part.glyphs:
        x, y = glyph.box[0] - part.box[0], glyph.box[1] - part.box[1]
        view = slice(y, y + glyph.box[3] + 2), slice(x, x + glyph.box[2] + 2)
        own = float((template[view] ** 2).sum())
        if float(((template[view] - there[view]) ** 2).sum()) > (1 - _LETTER) * own:
            return False
    return True


def _between(values: np.ndarray, at: int) -> float:
    """By how much the peak at index `at` lies off the pixel, from its two neighbours."""
    if not 0 < at < len(values) - 1:
        return 0.0
    left, here, right = (float(v) for v in values[at - 1 : at + 2])
    bend = left - 2 * here + right
    return float(np.clip(0.5 * (left - right) / bend, -0.5, 0.5)) if bend < 0 else 0.0


def _changed(glyph: Glyph, mask: np.ndarray) -> bool:
    x, y, w, h = glyph.box
    return bool((mask[y : y + h, x : x + w] & (glyph.cover > 0)).any())


def is_letter(glyph: Glyph) -> bool:
    """Whether a piece of ink can be a letter or sign: not a rule, not a frame, not a picture."""
    _, _, w, h = glyph.box
    if max(w, h) > 28 and (min(w, h) <= 4 or h > 8 * w):
        return False
    if h > 120 or w > 500:
        return False
    return not (w > 24 and h > 16 and float(glyph.cover.mean()) < 40)


_ICON = 15  # ours: layout pixels; a lone sign this tall is an icon, letters of running text are lower


def is_print(found: list[Line], density: int) -> bool:
    """Whether lines are rows of letters, by most of their ink: beside each other and about as tall as each other.

    Of one or two pieces of ink only their height tells letters from an icon; letters that touch are one piece, but a
    wide one.
    """
    letters = total = 0.0
    for line in found:
        heights = [glyph.box[3] for glyph in line.glyphs]
        apart = [right.box[0] >= left.right - 0.3 * left.box[2] for left, right in pairwise(line.glyphs)]
        small = line.box[3] < _ICON * density
        if len(heights) <= 2:
            # On the screen of a phone a lone small sign is a chevron or a dot far more often than a letter.
            lone = len(heights) == 1 and density > 1
            fine = all(apart) and ((small and not lone) or line.box[2] >= 2 * line.box[3])
        else:
            fine = max(heights) <= 3 * float(np.median(heights)) and sum(apart) >= 0.8 * len(apart)
            fine = fine and (small or line.box[2] >= 1.6 * line.box[3])
        total += line.mass
        letters += line.mass * fine
    return letters > 0.5 * total


def box_of(found: list[Line]) -> BoxPx | None:
    return union(line.box for line in found) if found else None
