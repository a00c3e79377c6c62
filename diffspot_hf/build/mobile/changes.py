"""Which changes a named part of a screen allows: the one table behind the synthetic set.

Every change belongs to one operator; an operator says its family, its tags and how the change is told in one sentence.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import variants
from .variants import Part, Variants

ICON, COLOR, SPACING, SHAPE = "Icon/Nav", "Color/Background", "Spacing/Layout", "Shape/Size"
MISSING, TYPE, IMAGE = "Missing Content", "Typography", "Image/Asset"


@dataclass(frozen=True)
class Operator:
    """A kind of defect: family, parts it can befall, tags, and sentences with ``{name}`` and ``{detail}``."""

    name: str
    family: str
    kinds: frozenset[str]
    tags: tuple[str, ...]
    sentences: tuple[str, ...]
    variants: Callable[[Part], Variants]
    """Yields ``(change, detail)``: the change as the page applies it, the detail as the sentence tells it."""


@dataclass(frozen=True)
class Change:
    """One way to change one part, ready to be applied, labelled and told."""

    part: int
    element: str
    operator: str
    family: str
    labels: tuple[str, ...]
    note: str
    change: dict[str, Any] = field(hash=False)


def _kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


OPERATORS: tuple[Operator, ...] = (
    Operator(
        "icon_swapped",
        "icon",
        _kinds("icon"),
        (ICON,),
        ("Wrong icon: the {name} is now a {detail} icon.", "The {name} was replaced by a {detail} icon."),
        variants.swap_icon,
    ),
    Operator(
        "icon_missing",
        "missing",
        _kinds("icon"),
        (MISSING, ICON),
        ("The {name} is missing.", "There is no {name} any more."),
        variants.hide,
    ),
    Operator(
        "icon_color",
        "color",
        _kinds("icon"),
        (COLOR, ICON),
        ("The {name} is {detail}, it should keep its colour.", "Wrong colour: the {name} turned {detail}."),
        variants.recolor,
    ),
    Operator(
        "icon_size",
        "size",
        _kinds("icon"),
        (SHAPE, ICON),
        ("The {name} is {detail} than in the design.", "Size of the {name} is off, it looks {detail}."),
        variants.scale(0.62, 1.45),
    ),
    Operator(
        "part_missing",
        "missing",
        _kinds("text box block control chip tab figure group"),
        (MISSING,),
        ("The {name} is missing.", "The {name} is not there.", "Missing: the {name}."),
        variants.hide,
    ),
    Operator(
        "text_color",
        "color",
        _kinds("text"),
        (COLOR,),
        ("The {name} is {detail} instead of its own colour.", "Text colour of the {name} is wrong, it is {detail}."),
        variants.recolor,
    ),
    Operator(
        "fill",
        "color",
        _kinds("box chip"),
        (COLOR,),
        ("The {name} has a {detail} background.", "Wrong background on the {name}: it is {detail}."),
        variants.refill,
    ),
    Operator(
        "figure_color",
        "color",
        _kinds("figure"),
        (COLOR,),
        ("The colours of the {name} are wrong.", "The {name} is drawn in other colours."),
        variants.hue,
    ),
    Operator(
        "state",
        "state",
        _kinds("control chip"),
        (COLOR,),
        ("The {name} shows the wrong state.", "Wrong state: the {name} does not match the design."),
        variants.toggle,
    ),
    Operator(
        "tab_state",
        "state",
        _kinds("tab"),
        (COLOR, ICON),
        ("The {name} has the wrong active state.", "Active styling of the {name} does not match."),
        variants.toggle,
    ),
    Operator(
        "text_weight",
        "typography",
        _kinds("text"),
        (TYPE,),
        ("Font weight of the {name} is {detail}.", "The {name} is {detail}."),
        variants.weight,
    ),
    Operator(
        "text_size",
        "typography",
        _kinds("text"),
        (TYPE,),
        ("The text of the {name} is {detail}.", "Font size of the {name} is {detail}."),
        variants.size,
    ),
    Operator(
        "text_tracking",
        "typography",
        _kinds("text"),
        (TYPE,),
        ("Letter spacing of the {name} is {detail}.", "The letters of the {name} are set {detail}."),
        variants.tracking,
    ),
    Operator(
        "text_style",
        "typography",
        _kinds("text"),
        (TYPE,),
        ("The {name} is {detail}.", "The {name} should not be {detail}."),
        variants.slant,
    ),
    Operator(
        "moved",
        "spacing",
        _kinds("text box block control figure"),
        (SPACING,),
        ("The {name} has moved {detail}.", "The {name} sits too far {detail}."),
        variants.shift,
    ),
    Operator(
        "icon_moved",
        "spacing",
        _kinds("icon"),
        (SPACING, ICON),
        ("The {name} has moved {detail}.", "The {name} is not aligned, it moved {detail}."),
        variants.shift,
    ),
    Operator(
        "padding",
        "spacing",
        _kinds("box"),
        (SPACING,),
        ("The content of the {name} is {detail}.", "Padding of the {name} is off, its content is {detail}."),
        variants.pad,
    ),
    Operator(
        "spread",
        "spacing",
        _kinds("group"),
        (SPACING,),
        ("The items of the {name} are {detail}.", "Spacing in the {name} is wrong, the items are {detail}."),
        variants.spread,
    ),
    Operator(
        "corners",
        "shape",
        _kinds("box"),
        (SHAPE,),
        ("The {name} {detail}.", "Corner radius is wrong: the {name} {detail}."),
        variants.corners,
    ),
    Operator(
        "resized",
        "size",
        _kinds("box control figure"),
        (SHAPE,),
        ("The {name} is {detail} than in the design.", "Size of the {name} is off, it is {detail}."),
        variants.resize,
    ),
    Operator(
        "image_swapped",
        "image",
        _kinds("image"),
        (IMAGE,),
        ("The {name} shows a different picture.", "Wrong image: the {name} was replaced."),
        variants.swap_image,
    ),
    Operator(
        "image_blank",
        "image",
        _kinds("image"),
        (IMAGE, MISSING),
        ("The {name} did not load, there is only a grey box.", "Grey placeholder instead of the {name}."),
        variants.blank,
    ),
    Operator(
        "image_mirrored",
        "image",
        _kinds("image"),
        (IMAGE,),
        ("The {name} is flipped left to right.", "The {name} is mirrored."),
        variants.mirror,
    ),
    Operator(
        "image_corners",
        "shape",
        _kinds("image"),
        (SHAPE, IMAGE),
        ("The {name} {detail}.", "Wrong crop: the {name} {detail}."),
        variants.corners,
    ),
    Operator(
        "image_size",
        "size",
        _kinds("image"),
        (SHAPE, IMAGE),
        ("The {name} is {detail} than in the design.", "The {name} is drawn {detail}."),
        variants.scale(0.72),
    ),
)
FAMILIES = tuple(dict.fromkeys(operator.family for operator in OPERATORS))


def candidates(parts: list[Part], rng: random.Random) -> list[Change]:
    """One change for each part and each operator that fits it, in random order; variant and sentence drawn by `rng`."""
    found = []
    for part in parts:
        if part["extent"] is None:
            continue
        for operator in OPERATORS:
            if part["kind"] not in operator.kinds or operator.name in part["excluded"]:
                continue
            ways = list(operator.variants(part))
            if not ways:
                continue
            change, detail = rng.choice(ways)
            note = _grammar(rng.choice(operator.sentences).format(name=part["name"], detail=detail))
            found.append(
                Change(part["index"], part["name"], operator.name, operator.family, operator.tags, note, change)
            )
    rng.shuffle(found)
    return found


def _grammar(sentence: str) -> str:
    """`sentence` with a capital first and "an" before a vowel or the letter x.

    >>> _grammar("the bell was replaced by a eye icon.")
    'The bell was replaced by an eye icon.'
    """
    sentence = re.sub(r"\ba (?=[aeio]|x\b)", "an ", sentence)
    return sentence[0].upper() + sentence[1:]
