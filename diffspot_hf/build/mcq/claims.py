"""What an option claims, as data, and whether it is true of two lists of objects. Says of itself nothing about pixels.

The builder writes the claims; the checker evaluates them afresh over all objects of both scenes. An item is sound when
exactly one option is true and it is the answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...errors import UsageError
from .kit import Kit

Object = Mapping[str, Any]

SAME_WITHIN, APART_BY = 20.0, 45.0
"""Degrees: two directions are the same within the first, different from the second on; between, an item is refused."""
LEAST_TURN, LEAST_SCALE = 15.0, 1.08
"""By how much the same object must be turned (degrees) or scaled between the images (our choice)."""


def is_true(claim: Mapping[str, Any], first: Sequence[Object], second: Sequence[Object], kit: Kit) -> bool:
    """Whether `claim` holds for the objects of the two images.

    Raises `UsageError` when that is not plain: a direction neither the same nor clearly another, an object that occurs
    twice where one is meant, a kind that a person could take for part of a relation.
    """
    kind = claim.get("kind")
    if kind == "instance":
        return _names(first, "look") & _names(second, "look") >= {claim["look"]}
    if kind == "category":
        return claim["object"] in _names(first, "kind") & _names(second, "kind")
    if kind == "spatial":
        turn = _turn(_direction(first, *claim["pair"]), _direction(second, *claim["pair"]))
        if SAME_WITHIN < turn < APART_BY:
            raise UsageError(
                f"the directions of {claim['pair']} are {turn:.0f} degrees apart: neither same nor different"
            )
        return turn <= SAME_WITHIN
    if kind == "reasoning":
        relation = kit.relation(claim["relation"])
        if unclear := (_names(first, "kind") | _names(second, "kind")) & relation.doubtful:
            raise UsageError(f"{', '.join(sorted(unclear))} could be taken for part of {relation.name}")
        return any(
            (giver in _names(one, "kind") and taker in _names(other, "kind"))
            for giver, taker in relation.pairs
            for one, other in ((first, second), (second, first))
        )
    raise UsageError(f"unknown claim {kind!r}")


def right_options(
    claims: Sequence[Mapping[str, Any]], first: Sequence[Object], second: Sequence[Object], kit: Kit
) -> list[int]:
    """Indices of the options that are true; the last, which claims nothing, is true when no other is."""
    found = [i for i, claim in enumerate(claims[:-1]) if is_true(claim, first, second, kit)]
    return found or [len(claims) - 1]


def looks_different(claim: Mapping[str, Any], first: Sequence[Object], second: Sequence[Object]) -> bool:
    """Whether an object of the same look differs in turn and in size between the images (instance items)."""
    one = next(o for o in first if o["look"] == claim["look"])
    other = next(o for o in second if o["look"] == claim["look"])
    ratio = max(one["size"], other["size"]) / min(one["size"], other["size"])
    return _turn(math.radians(one["angle"]), math.radians(other["angle"])) >= LEAST_TURN and ratio >= LEAST_SCALE


def shared_kinds(first: Sequence[Object], second: Sequence[Object]) -> set[str]:
    return _names(first, "kind") & _names(second, "kind")


def _names(objects: Iterable[Object], key: str) -> set[str]:
    return {str(thing[key]) for thing in objects}


def _direction(objects: Sequence[Object], middle: str, beside: str) -> float:
    """Angle in radians from the one object of kind `middle` to the one of kind `beside`."""
    places = []
    for kind in (middle, beside):
        found = [thing for thing in objects if thing["kind"] == kind]
        if len(found) != 1:
            raise UsageError(f"{len(found)} objects of the kind {kind!r} where one is meant")
        places.append(found[0]["middle"])
    (x0, y0), (x1, y1) = places
    return math.atan2(y1 - y0, x1 - x0)


def _turn(a: float, b: float) -> float:
    """The smaller angle between two directions, in degrees.

    >>> round(_turn(math.radians(170), math.radians(-170)))
    20
    """
    turn = abs(math.degrees(a - b)) % 360
    return min(turn, 360 - turn)
