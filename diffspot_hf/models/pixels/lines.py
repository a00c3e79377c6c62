"""Lines and words of text out of glyphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import need
from .finding import BoxPx, union
from .ink import Glyph

cv2 = need("cv2", "pixel")


@dataclass(frozen=True)
class Line:
    """Glyphs that stand beside each other without a wide gap, left to right."""

    glyphs: tuple[Glyph, ...]

    @property
    def box(self) -> BoxPx:
        return union(glyph.box for glyph in self.glyphs)

    @property
    def mass(self) -> float:
        """Pixels of full ink: what a bolder weight raises and another colour does not."""
        return float(sum(int(glyph.cover.sum()) for glyph in self.glyphs)) / 255


_REACH = 200  # ours: pixels; no word space is wider


def lines(glyphs: list[Glyph]) -> list[Line]:
    """`glyphs` as lines, top to bottom, then left to right."""
    done: list[list[Glyph]] = []
    rows: list[list[Glyph]] = []
    for glyph in sorted(glyphs, key=lambda g: (g.box[0], g.box[1])):
        open_rows = [row for row in rows if glyph.box[0] - row[-1].right <= _REACH]
        if len(open_rows) < len(rows):
            done += [row for row in rows if glyph.box[0] - row[-1].right > _REACH]
            rows = open_rows
        best = max(rows, key=lambda row: _fits(row, glyph), default=None)
        if best is None or _fits(best, glyph) <= 0:
            rows.append([glyph])
        else:
            best.append(glyph)
    found = [Line(tuple(row)) for row in done + rows]
    return sorted(found, key=lambda line: (line.box[1] + line.box[3] // 2, line.box[0]))


def _fits(row: list[Glyph], glyph: Glyph) -> float:
    """How well `glyph` goes on `row`: the share of height that it has in common with the last one, 0 if it does not."""
    last = row[-1]
    shared = min(last.bottom, glyph.bottom) - max(last.box[1], glyph.box[1])
    lower, higher = sorted((last.box[3], glyph.box[3]))
    # Most glyphs are on other rows, and this is asked for each of them.
    if shared < -higher or glyph.box[0] - last.right > 1.2 * max(higher, *(g.box[3] for g in row[-4:])):
        return 0.0
    if shared >= 0.4 * lower:
        return shared / lower
    # A comma or a dash shares little with its neighbour, but lies within the line.
    top, bottom = min(g.box[1] for g in row[-6:]), max(g.bottom for g in row[-6:])
    return 0.4 if min(bottom, glyph.bottom) - max(top, glyph.box[1]) >= 0.8 * glyph.box[3] else 0.0


def words(line: Line) -> list[Line]:
    """`line` cut where a gap is as wide as a space."""
    height = max(6.0, float(np.percentile([g.box[3] for g in line.glyphs], 90)))
    parts: list[list[Glyph]] = [[line.glyphs[0]]]
    last = line.glyphs[0].right
    for glyph in line.glyphs[1:]:
        if glyph.box[0] - last > _SPACE * height:
            parts.append([])
        parts[-1].append(glyph)
        last = max(last, glyph.right)
    return [Line(tuple(part)) for part in parts]


_SPACE = 0.28  # ours: of the height of tall letters; a gap wider than this stands between words


def soft(cover: np.ndarray) -> np.ndarray:
    """`cover` (float32) blurred a little, so that text between two pixels still looks like itself."""
    return np.asarray(cv2.GaussianBlur(cover, (3, 3), 0.8))


def picture(line: Line, pad: int = 0) -> np.ndarray:
    """float32 (height, width), 0 to 1: the ink of a line, with `pad` empty pixels around it."""
    x, y, w, h = line.box
    canvas = np.zeros((h + 2 * pad, w + 2 * pad), np.float32)
    for glyph in line.glyphs:
        gx, gy, gw, gh = glyph.box
        view = canvas[gy - y + pad : gy - y + pad + gh, gx - x + pad : gx - x + pad + gw]
        np.maximum(view, glyph.cover.astype(np.float32) / 255, out=view)
    return canvas
