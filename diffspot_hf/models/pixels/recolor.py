"""Changes that leave every edge where it was: another colour, a fade, a turned or repainted gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .canvas import Pixels

_SAMPLE = 20_000  # ours: pixels looked at; enough for every fit below and a bound on time

# Ours: share of the change that may stay unexplained.
_SAME_MAP = 0.06
_SAME_FADE = 0.001


@dataclass(frozen=True)
class Recolor:
    """`both`: each colour of one side has one colour on the other. `onto`: the first side's do, not the other way
    round, so that something went flat (was removed). `off`: the reverse, something was added."""

    both: bool
    onto: bool
    off: bool


def sample(mask: np.ndarray) -> np.ndarray:
    """Flat indices of at most `_SAMPLE` pixels of `mask`, evenly spread."""
    index = np.flatnonzero(mask)
    return index[:: max(1, len(index) // _SAMPLE)]


def recolored(before: Pixels, after: Pixels, where: np.ndarray) -> Recolor:
    """Whether the colours at `where` (bool) were replaced by a fixed table, in which direction it can be read."""
    index = sample(where)
    a = before.reshape(-1, 3)[index].astype(np.float32)
    b = after.reshape(-1, 3)[index].astype(np.float32)
    forth, back = _unexplained(a, b), _unexplained(b, a)
    return Recolor(forth < _SAME_MAP and back < _SAME_MAP, forth < _SAME_MAP <= back, back < _SAME_MAP <= forth)


def _unexplained(source: np.ndarray, target: np.ndarray) -> float:
    """Share of the change from `source` to `target` (n, 3) that differs between pixels of one source colour."""
    change = target - source
    total = float((change**2).sum())
    if total == 0:
        return 0.0
    bucket = source.astype(np.int32) >> 4
    key = (bucket[:, 0] << 8) | (bucket[:, 1] << 4) | bucket[:, 2]
    _, group = np.unique(key, return_inverse=True)
    count = np.bincount(group)
    rest = 0.0
    for channel in range(3):
        # Inside a bucket of 16 levels a smooth table is a straight line; what is off that line is unexplained.
        rest += _within(source[:, channel], change[:, channel], group, count)
    # A colour that occurs once or twice proves nothing; if most of the change is of that kind, nothing is proven.
    lonely = float((change[count[group] < 3] ** 2).sum())
    return rest / (total - lonely) if lonely < 0.5 * total else 1.0


def _within(x: np.ndarray, y: np.ndarray, group: np.ndarray, count: np.ndarray) -> float:
    mean_x, mean_y = (np.bincount(group, v) / count for v in (x, y))
    dx, dy = x - mean_x[group], y - mean_y[group]
    xx, xy, yy = (np.bincount(group, v) for v in (dx * dx, dx * dy, dy * dy))
    explained = np.where(xx > 1e-6, np.minimum(xy**2 / np.maximum(xx, 1e-6), yy), 0)
    return float((yy - explained).sum())


@dataclass(frozen=True)
class Fade:
    """After = `keep` x before + (1 - keep) x `behind`, `rest` of the variance unexplained."""

    keep: float
    behind: tuple[float, float, float]
    rest: float


def faded(before: Pixels, after: Pixels, where: np.ndarray) -> Fade | None:
    """The one mixing factor that turns all colours at `where` into those after, or None.

    What lies behind may be flat or change evenly across the area, as a gradient does.
    """
    index = sample(where)
    a = before.reshape(-1, 3)[index].astype(np.float64)
    b = after.reshape(-1, 3)[index].astype(np.float64)
    rows, columns = np.divmod(index, before.shape[1])
    flat = np.ones((len(index), 1))
    slope = np.column_stack([np.ones(len(index)), columns, rows])
    for design in (flat, slope):
        a0, b0 = (side - design @ np.linalg.lstsq(design, side, rcond=None)[0] for side in (a, b))
        varied = float((a0**2).sum())
        if varied < 16 * a0.size:  # ours: less than 4 levels of variation cannot show a factor
            continue
        keep = float((a0 * b0).sum()) / varied
        rest = float(((b0 - keep * a0) ** 2).sum()) / max(float(((b - a) ** 2).sum()), 1e-9)
        if rest < _SAME_FADE and keep >= 0 and abs(keep - 1) > 0.01:
            behind = (b.mean(axis=0) - keep * a.mean(axis=0)) / (1 - keep)
            return Fade(keep, (float(behind[0]), float(behind[1]), float(behind[2])), rest)
    return None


_TURNS = 24  # ours: directions tried over half a turn, 7.5 degrees apart
_BINS = 24  # ours: steps that the colours along a direction are told in


@dataclass(frozen=True)
class Gradient:
    """An even change of colour over an area, along one direction.

    `angle`: degrees from the x axis, 0 to 180, clockwise on screen. `colors`: (bins, 3), the mean colour from one end
    to the other. `straight`: the share of the variance that the direction explains. `span`: levels between its colours.
    """

    angle: float
    colors: np.ndarray
    straight: float
    span: float

    @property
    def real(self) -> bool:
        """Whether the eye would call it a gradient (thresholds are ours)."""
        return self.span >= 12 and self.straight >= 0.85


def gradient(side: Pixels, where: np.ndarray) -> Gradient:
    """The direction along which the colours of `side` at `where` change most evenly.

    Two flat areas side by side also have a direction: they are told by the few colours that they have.
    """
    index = sample(where)[:_SAMPLE]
    colors = side.reshape(-1, 3)[index].astype(np.float64)
    rows, columns = np.divmod(index, side.shape[1])
    _, counts = np.unique(colors.astype(np.int64) @ (65536, 256, 1), return_counts=True)
    varied = float(((colors - colors.mean(axis=0)) ** 2).sum())
    if len(counts) < 6 or float(counts.max()) > 0.4 * len(index) or varied == 0:
        return Gradient(0.0, np.zeros((_BINS, 3)), 0.0, 0.0)
    best = Gradient(0.0, np.zeros((_BINS, 3)), -1.0, 0.0)
    for turn in range(_TURNS):
        angle = 180 * turn / _TURNS
        along = columns * np.cos(np.radians(angle)) + rows * np.sin(np.radians(angle))
        low, high = float(along.min()), float(along.max())
        bins = np.minimum(((along - low) / max(high - low, 1e-9) * _BINS).astype(int), _BINS - 1)
        count = np.maximum(np.bincount(bins, minlength=_BINS), 1)
        means = np.column_stack([np.bincount(bins, colors[:, c], minlength=_BINS) / count for c in range(3)])
        straight = 1 - float(((colors - means[bins]) ** 2).sum()) / varied
        if straight > best.straight:
            best = Gradient(angle, means, straight, float(np.ptp(means, axis=0).max()))
    return best


def turned(before: Gradient, after: Gradient) -> float:
    """By how many degrees `after` is turned, 0 to 180: 180 if its colours run the other way along the same line."""
    angle = abs(before.angle - after.angle)
    angle = min(angle, 180 - angle)
    if angle > 10:
        return angle
    as_it_was = float(np.abs(after.colors - before.colors).sum())
    other_way = float(np.abs(after.colors - before.colors[::-1]).sum())
    return 180.0 if other_way < 0.5 * as_it_was else 0.0
