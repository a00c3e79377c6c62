"""An instructor without a model: for each task a list of edits that the procedural editor can make of any target."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from .colours import PAINTS, lab, named, share
from .editors.masks import target_mask
from .instructions import Instruction, NoMore, Target
from .patches import RGB
from .regions import Box
from .tasks import Task

PRESENT = 0.15
"""From this share of its pixels on, a target has a colour already, and no rule paints it so (our choice)."""
SIDES = {"to the left": (-1, 0), "to the right": (1, 0), "higher up": (0, -1), "lower down": (0, 1)}
_STEP = 0.42  # of the target's size: further, and it would leave its region (our choice)
TRACES = {
    "scorch": ("Something has burnt", "Leave a scorch mark"),
    "crack": ("Something hard has struck", "Leave a chip with cracks around it"),
    "spill": ("Somebody has spilt a red drink", "Leave a puddle of dark red liquid"),
    "drops": ("The first drops of rain have fallen", "Leave many small wet spots"),
    "paw prints": ("A small animal with wet feet has walked", "Leave wet paw prints"),
    "scratches": ("Something with claws has scratched", "Leave parallel scratches"),
}


class Ruled:
    """Instructions by rules, in an order drawn from `seed` and the target's place. A target needs a name."""

    name = "rules"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def next(
        self,
        picture: RGB,
        target: Target,
        region: Box,
        task: Task,
        earlier: Sequence[Instruction],
        problem: str = "",
    ) -> Instruction:
        if not target.name:
            raise NoMore("a target needs a name for instructions by rules, such as 'the red cup'")
        made = _attribute(picture, target, region) if task.name == "attribute" else _RULES[task.name](target)
        random.Random(f"{self.seed}:{list(target.box)}").shuffle(made)
        if len(earlier) >= len(made):
            raise StopIteration
        return made[len(earlier)]


def _attribute(picture: RGB, target: Target, region: Box) -> list[Instruction]:
    """One repainting for each colour that neither the target's name nor its pixels have. The paint's lightness comes
    with it, so that yellow is no brown and pink no mauve."""
    pixels = picture[region.slices][target_mask(picture, region, target.box) > 0]
    lightness = float(np.median(lab(pixels)[:, 0]))
    has = {colour for colour in PAINTS if colour in named(target.name) or share(pixels, colour) >= PRESENT}
    return [
        Instruction(
            f"Change the colour of {target.name} to {colour}.",
            f"The colour of {target.name} has changed to {colour}.",
            {
                "op": "recolour",
                "rgb": list(rgb),
                "strength": 1.0,
                "lightness": round(2.55 * (float(lab(np.uint8(rgb))[0]) - lightness)),
            },
        )
        for colour, rgb in PAINTS.items()
        if colour not in has
    ]


def _entity(target: Target) -> list[Instruction]:
    width, height = target.box.w, target.box.h
    gone = Instruction(f"Take {target.name} away.", f"Of {target.name} nothing is left.", {"op": "remove"})
    return [
        gone,
        *(
            Instruction(
                f"Put a smaller second one of {target.name} beside it, {side}.",
                f"A second, smaller one of {target.name} has appeared beside it, {side}.",
                {"op": "add", "dx": 0.7 * dx * width, "dy": 0.7 * dy * height, "scale": 0.5},
            )
            for side, (dx, dy) in SIDES.items()
        ),
    ]


def _spatial(target: Target) -> list[Instruction]:
    moves = [
        Instruction(
            f"Move {target.name} a little {side}.",
            f"The place of {target.name} has changed: it is further {side}."
            if side.startswith("to ")
            else f"The place of {target.name} has changed: it is {side}.",
            {"op": "move", "dx": _STEP * dx * target.box.w, "dy": _STEP * dy * target.box.h},
        )
        for side, (dx, dy) in SIDES.items()
    ]
    turned = Instruction(
        f"Mirror {target.name} where it is.",
        f"In the same place, {target.name} is turned round, left for right.",
        {"op": "move", "flip": True},
    )
    return [*moves, turned]


def _reasoning(target: Target) -> list[Instruction]:
    return [
        Instruction(f"{text} on {target.name}.", f"{event} on {target.name}.", {"op": "trace", "kind": kind})
        for kind, (event, text) in TRACES.items()
    ]


_RULES = {"entity": _entity, "spatial": _spatial, "reasoning": _reasoning}
