"""Things that sit elsewhere: one offset for all that changed, or several."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from ...errors import need
from .canvas import Pixels, level
from .finding import BoxPx, union
from .ink import Glyph, Page
from .lines import Line, lines, picture, soft, words
from .regions import contains

cv2 = need("cv2", "pixel")

_FAR = 80  # ours: pixels; a move beyond is looked for among equal glyphs only


@dataclass(frozen=True)
class Shift:
    """`offset` (dx, dy) in pixels explains the share `explained` of the changed pixels, on both sides."""

    offset: tuple[int, int]
    explained: float


def shifted(before: Pixels, after: Pixels, mask: np.ndarray, offsets: list[tuple[int, int]]) -> Shift | None:
    """The one of `offsets` that explains the change best.

    A changed pixel is explained if the first image shows it at the other place *and* the second shows there what it
    showed here; either alone would also hold for something that was painted over.
    """
    rows, columns = np.nonzero(mask)
    step = max(1, len(rows) // 20_000)
    rows, columns = rows[::step], columns[::step]
    best: Shift | None = None
    for dx, dy in offsets:
        forth = _equal(before, after, rows, columns, dx, dy)
        back = _equal(after, before, rows, columns, -dx, -dy)
        explained = min(forth, back)
        if best is None or explained > best.explained + 0.005:
            best = Shift((dx, dy), explained)
    return best


def _equal(source: Pixels, target: Pixels, rows: np.ndarray, columns: np.ndarray, dx: int, dy: int) -> float:
    """Share of the pixels (rows, columns) of `target` that equal `source` at (-dx, -dy) from there."""
    height, width = source.shape[:2]
    y, x = rows - dy, columns - dx
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    if not inside.any():
        return 0.0
    here = target[rows[inside], columns[inside]][None]
    difference = level(here, source[y[inside], x[inside]][None])
    # A pale change asks for a sharper look: a card that lost a fifth of its colour also looks like itself moved.
    pale = np.percentile(level(here, source[rows[inside], columns[inside]][None]), 75) < 24
    return float((difference <= (0 if pale else 4)).sum()) / len(rows)


def candidates(before: Page, after: Page, mask: np.ndarray, found: list[Moved]) -> list[tuple[int, int]]:
    """Offsets worth trying: those of words found again, and those at which the edge profiles agree best."""
    usual = Counter((round(piece.offset[0]), round(piece.offset[1])) for piece in found)
    offsets = [offset for offset, _ in usual.most_common(4)]
    along_x = _agreeing(before, after, mask, axis=0)
    along_y = _agreeing(before, after, mask, axis=1)
    offsets += [(dx, 0) for dx in along_x] + [(0, dy) for dy in along_y]
    offsets += [(dx, dy) for dx in along_x[:2] for dy in along_y[:2]]
    return [offset for offset in dict.fromkeys(offsets) if offset != (0, 0)]


def _agreeing(before: Page, after: Page, mask: np.ndarray, axis: int) -> list[int]:
    """Up to three offsets along one axis (0: x, 1: y) at which the edges of what changed line up."""
    profiles = []
    for page in (before, after):
        wide = page.crop.astype(np.int16)
        edge = np.abs(np.diff(wide, axis=1 - axis, prepend=wide.take([0], axis=1 - axis))).max(axis=2)
        profile = np.where(mask, edge, 0).sum(axis=axis).astype(float)
        profiles.append(profile - profile.mean())
    one, two = profiles
    reach = min(_FAR, len(one) - 1)
    scores = np.correlate(two, one, mode="full")[len(one) - 1 - reach : len(one) + reach]
    scores[reach] = -np.inf
    best = np.argsort(scores)[::-1][:3]
    return [int(index) - reach for index in best if scores[index] > 0]


@dataclass(frozen=True)
class Moved:
    """A word that the second image shows too, `offset` (dx, dy) pixels from where it was."""

    word: Line
    offset: tuple[float, float]
    color: tuple[int, int, int]
    """What it is painted with in the second image."""


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
    one, two = (_touched(page, mask, []) for page in (before, after))
    # A letter may stand still while the rest of its word moves away from it.
    one, two = _touched(before, mask, two), _touched(after, mask, one)
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
            found.append(Moved(part, offset, _painted(part, offset, after)))
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


def _touched(page: Page, mask: np.ndarray, other: list[Line]) -> list[Line]:
    """The words of `page` that hold a changed pixel or stand where `other` has one; neighbours stay together."""
    found = []
    boxes = [line.box for line in other]
    for line in lines([glyph for glyph in page.glyphs if is_letter(glyph)]):
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
    score = 1 - cv2.matchTemplate(target, template, cv2.TM_SQDIFF) / float((template**2).sum())
    best = float(score.max())
    if best < _FOUND:
        return None
    rows, columns = np.nonzero(score >= best - 0.03)
    x, y = part.box[:2]
    offsets = np.column_stack([columns - x, rows - y]).astype(float)
    away = np.min([np.abs(offsets - np.array(known)).sum(axis=1) for known in usual or [(0.0, 0.0)]], axis=0)
    if usual and len(part.glyphs) == 1 and part.box[3] < _SIGN and away.min() > 2:
        return None
    pick = int(np.argmin(away - 40 * score[rows, columns]))
    row, column = int(rows[pick]), int(columns[pick])
    if not _faithful(part, template, target[row : row + template.shape[0], column : column + template.shape[1]]):
        return None
    return offsets[pick, 0] + _between(score[row], column), offsets[pick, 1] + _between(score[:, column], row)


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


def _painted(part: Line, offset: tuple[float, float], after: Page) -> tuple[int, int, int]:
    colors = []
    for glyph in part.glyphs:
        x, y = round(glyph.box[0] + offset[0]), round(glyph.box[1] + offset[1])
        if x < 0 or y < 0 or x + glyph.box[2] > after.width or y + glyph.box[3] > after.height:
            continue
        view = after.crop[y : y + glyph.box[3], x : x + glyph.box[2]]
        solid = (glyph.cover >= 204) & (after.cover[y : y + glyph.box[3], x : x + glyph.box[2]] >= 0.8)
        if solid.any():
            colors.append(np.median(view[solid], axis=0))
    middle = np.median(colors, axis=0) if colors else np.array(part.glyphs[0].color)
    return int(middle[0]), int(middle[1]), int(middle[2])


def _changed(glyph: Glyph, mask: np.ndarray) -> bool:
    x, y, w, h = glyph.box
    return bool((mask[y : y + h, x : x + w] & (glyph.cover > 0)).any())


def is_letter(glyph: Glyph) -> bool:
    """Whether a piece of ink can be a letter or sign: not a rule, not a frame, not a picture."""
    _, _, w, h = glyph.box
    if min(w, h) <= 4 and max(w, h) > 28:
        return False
    if h > 120 or w > 500:
        return False
    return not (w > 24 and h > 16 and float(glyph.cover.mean()) < 40)


def box_of(found: list[Line]) -> BoxPx | None:
    return union(line.box for line in found) if found else None
