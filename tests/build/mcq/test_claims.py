"""What an option claims is true of two lists of objects, false, or not plain; table of cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from diffspot_hf.build.mcq.claims import is_true, right_options
from diffspot_hf.build.mcq.kit import Kit, Relation
from diffspot_hf.errors import UsageError

KIT = Kit(Path(), {}, {}, [Relation("combination", "It opens it.", [("key", "padlock")], frozenset({"hairpin"}))])


def thing(kind, x=0, y=0, look="1"):
    return {"kind": kind, "look": f"{kind}/{look}", "middle": [x, y]}


def pair(dx, dy):
    return [thing("cup", 50, 50), thing("star", 50 + dx, 50 + dy), thing("tree", 9, 9)]


INSTANCE = {"kind": "instance", "look": "cup/1"}
CATEGORY = {"kind": "category", "object": "cup"}
SPATIAL = {"kind": "spatial", "pair": ["cup", "star"]}
REASONING = {"kind": "reasoning", "relation": "combination"}
CASES = {
    "the same look": (INSTANCE, [thing("cup")], [thing("tree"), thing("cup")], True),
    "the same kind with another look": (INSTANCE, [thing("cup")], [thing("cup", look="2")], False),
    "a kind in both": (CATEGORY, [thing("cup")], [thing("cup", look="2")], True),
    "a kind in one": (CATEGORY, [thing("cup")], [thing("tree")], False),
    "both to the right": (SPATIAL, pair(60, 5), pair(90, -8), True),
    "right and left": (SPATIAL, pair(60, 0), pair(-60, 0), False),
    "right and below": (SPATIAL, pair(60, 0), pair(0, 60), False),
    "across the turn of the circle": (SPATIAL, pair(-60, 4), pair(-60, -4), True),
    "key here, lock there": (REASONING, [thing("key")], [thing("padlock")], True),
    "lock here, key there": (REASONING, [thing("padlock")], [thing("key")], True),
    "key and lock in one image": (REASONING, [thing("key"), thing("padlock")], [thing("tree")], False),
    "two keys": (REASONING, [thing("key")], [thing("key")], False),
}


@pytest.mark.parametrize(("claim", "first", "second", "expected"), CASES.values(), ids=CASES)
def test_a_claim_is_true_or_false(claim, first, second, expected):
    assert is_true(claim, first, second, KIT) is expected


UNCLEAR = {
    "directions half apart": (SPATIAL, pair(60, 0), pair(50, 35), "neither same nor different"),
    "two of one kind": (SPATIAL, [*pair(60, 0), thing("cup", 1, 1)], pair(60, 0), "2 objects of the kind 'cup'"),
    "none of a kind": (SPATIAL, [thing("cup")], pair(60, 0), "0 objects of the kind 'star'"),
    "what could be part of a relation": (REASONING, [thing("hairpin")], [thing("padlock")], "hairpin could be taken"),
    "an unknown relation": ({"kind": "reasoning", "relation": "x"}, [], [], "no relation called 'x'"),
    "an unknown claim": ({"kind": "taste"}, [], [], "unknown claim 'taste'"),
}


@pytest.mark.parametrize(("claim", "first", "second", "message"), UNCLEAR.values(), ids=UNCLEAR)
def test_what_is_not_plain_is_refused(claim, first, second, message):
    with pytest.raises(UsageError, match=message):
        is_true(claim, first, second, KIT)


def test_the_last_option_is_right_when_no_other_is():
    claims = [CATEGORY, {"kind": "category", "object": "star"}, {"kind": "nothing"}]
    assert right_options(claims, [thing("cup")], [thing("tree")], KIT) == [2]
    assert right_options(claims, [thing("cup"), thing("star")], [thing("star"), thing("cup")], KIT) == [0, 1]
