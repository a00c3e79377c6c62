"""What the parameters of a procedural operation may be. Checked before the first pixel is touched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....errors import UsageError
from ..regions import read_box

NUMBERS: Mapping[str, tuple[float, float]] = {
    "strength": (0, 1),
    "lightness": (-255, 255),
    "period": (1, 10_000),
    "angle": (-3600, 3600),
    "dx": (-100_000, 100_000),
    "dy": (-100_000, 100_000),
    "scale": (0, 20),
    "grow": (0, 100),
    "rim": (0, 100),
    "count": (1, 1000),
    "arms": (1, 100),
    "steps": (1, 100),
}
"""The least and the largest value of each number, both allowed; of `POSITIVE` ones 0 is not."""
POSITIVE = ("strength", "scale")
BLENDS = ("soft", "seamless")


def check_parameters(given: Mapping[str, Any], size: tuple[int, int], *, colour_top: float = 255) -> None:
    """Raises `UsageError` naming the first parameter that cannot be used on a picture of `size` (width, height).

    `colour_top` is the largest value of a colour: 255, or 1 where it is a share of the light.
    """
    for name in NUMBERS.keys() & given.keys():
        _number(name, given[name])
    for name in ("box", "source"):
        if name in given:
            read_box(given[name], size, name)
    for name in ("outline", "source_outline"):
        if given.get(name) is not None:
            _outline(name, given[name])
    if "rgb" in given and not _numbers(given["rgb"], 3, 0, colour_top):
        raise UsageError(f"rgb: three numbers from 0 to {colour_top} are expected, found {given['rgb']!r}")
    if given.get("donor") is not None and not _numbers(given["donor"], 2, -100_000, 100_000):
        raise UsageError(f"donor: two numbers, the shift in pixels, are expected, found {given['donor']!r}")
    if given.get("blend", "soft") not in BLENDS:
        raise UsageError(f"unknown blend {given['blend']!r}; there are {', '.join(BLENDS)}")
    if not isinstance(given.get("flip", False), bool):
        raise UsageError(f"flip must be true or false, found {given['flip']!r}")


def _number(name: str, value: Any) -> None:
    low, high = NUMBERS[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{name} must be a number, found {value!r}")
    if name in POSITIVE and not 0 < value <= high:
        raise UsageError(f"{name} must be positive and at most {high}, found {value}")
    if not low <= value <= high:
        raise UsageError(f"{name} must lie from {low} to {high}, found {value}")


def _numbers(value: Any, count: int, low: float, high: float) -> bool:
    """Whether `value` is a list of `count` numbers from `low` to `high` (so none of them is NaN or infinite)."""
    if not isinstance(value, list | tuple) or len(value) != count:
        return False
    return all(isinstance(n, int | float) and not isinstance(n, bool) and low <= n <= high for n in value)


def _outline(name: str, points: Any) -> None:
    if not isinstance(points, list | tuple) or len(points) < 3:
        raise UsageError(f"{name} must be a list of at least three points [x, y]")
    for point in points:
        if not _numbers(point, 2, -100_000, 100_000):
            raise UsageError(f"{name} must be a list of points [x, y] in pixels, found {point!r}")
