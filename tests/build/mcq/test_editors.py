"""Both editors stay in their region, change something there, and give the same pixels for the same seed."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from diffspot_hf.build.mcq.editors.flux import Flux
from diffspot_hf.build.mcq.editors.procedural import OPERATIONS, Procedural
from diffspot_hf.build.mcq.editors.traces import TRACES
from diffspot_hf.build.mcq.instructions import Instruction, Target
from diffspot_hf.build.mcq.regions import Box, check_edit, grow
from diffspot_hf.errors import MissingExtra, UsageError

TARGET = Target(Box(222, 164, 36, 32), "the red disc")
REGION = grow(TARGET.box, (480, 360))
OUTLINE = [[240 + 16 * np.cos(a), 180 + 14 * np.sin(a)] for a in np.linspace(0, 2 * np.pi, 24)]
EDITS = {
    "recolour": {"op": "recolour", "rgb": [40, 60, 200]},
    "recolour a segmented target": {"op": "recolour", "rgb": [40, 60, 200], "outline": None},
    "texture of stripes": {"op": "texture", "pattern": "stripes"},
    "texture of dots": {"op": "texture", "pattern": "dots"},
    "texture of checks": {"op": "texture", "pattern": "checks"},
    "remove": {"op": "remove"},
    "remove with ground from a place": {"op": "remove", "donor": [90, 0]},
    "move": {"op": "move", "dx": 14},
    "move and turn round": {"op": "move", "dx": 9, "flip": True, "angle": 40},
    "scale down": {"op": "scale", "scale": 0.6},
    "scale up": {"op": "scale", "scale": 1.3},
    "add another": {"op": "add", "dy": -14, "scale": 0.5},
    "swap for something of the picture": {"op": "swap", "source": [100, 100, 30, 20], "blend": "seamless"},
    **{f"trace: {kind}": {"op": "trace", "kind": kind} for kind in TRACES},
}


def edit(photo, operation, seed=0):
    given = {"outline": OUTLINE} | operation
    instruction = Instruction("Do it.", "It is done.", {k: v for k, v in given.items() if v is not None})
    return Procedural().edit(np.asarray(photo), TARGET, REGION, instruction, seed)


@pytest.mark.parametrize("operation", EDITS.values(), ids=EDITS)
def test_every_operation_stays_in_its_region_and_repeats(photo, operation):
    before = np.asarray(photo)
    after = edit(photo, operation)
    assert check_edit(before, after, REGION).fraction > 0
    assert np.array_equal(after, edit(photo, operation))


def test_the_table_covers_every_operation():
    assert {operation["op"] for operation in EDITS.values()} == set(OPERATIONS)


def test_a_recolour_keeps_light_and_shade(photo):
    after = edit(photo, {"op": "recolour", "rgb": [40, 60, 200]}).astype(int)
    r, _, b = after[178:183, 236:244].reshape(-1, 3).mean(axis=0)
    assert b > r > 0
    assert abs(after[180, 240].sum() - np.asarray(photo)[180, 240].astype(int).sum()) < 180


def test_what_is_removed_gives_way_to_ground(photo):
    after = edit(photo, {"op": "remove"})[172:188, 232:248].reshape(-1, 3).mean(axis=0)
    ground = np.asarray(photo)[172:188, 300:316].reshape(-1, 3).mean(axis=0)
    assert np.abs(after - ground).max() < 15


def test_what_is_moved_is_at_its_new_place_and_no_longer_at_the_old(photo):
    after = edit(photo, {"op": "move", "dx": 15}).astype(int)
    assert after[180, 255, 0] - after[180, 255, 1] > 80
    assert after[180, 230, 0] - after[180, 230, 1] < 30


WRONG = {
    "no operation": ({}, "unknown operation None; there are add, move"),
    "an unknown one": ({"op": "melt"}, "unknown operation 'melt'"),
    "a colour of two numbers": ({"op": "recolour", "rgb": [1, 2]}, "rgb: three numbers"),
    "a pattern that there is not": ({"op": "texture", "pattern": "fur"}, "unknown pattern 'fur'"),
    "a trace that there is not": ({"op": "trace", "kind": "frost"}, "unknown trace 'frost'"),
    "out of the region": ({"op": "move", "dx": 200}, "does not fit into the region"),
    "ground outside the picture": ({"op": "remove", "donor": [4000, 0]}, "lies outside the picture"),
    "a source at the border": ({"op": "swap", "source": [0, 0, 20, 20]}, "at or outside the border"),
    "no number": ({"op": "move", "dx": "far"}, "dx must be a number, found 'far'"),
    "a colour out of range": ({"op": "recolour", "rgb": [1, 2, 300]}, "rgb: three numbers"),
    "no colour at all": ({"op": "texture", "rgb": None, "pattern": "x"}, "unknown pattern"),
    "a strength of zero": ({"op": "recolour", "rgb": [1, 2, 3], "strength": 0}, "strength must be positive"),
    "an infinite number": ({"op": "move", "dx": float("inf")}, "dx must lie from"),
    "a huge integer": ({"op": "move", "dx": 10**400}, "dx must lie from"),
    "a negative growth": ({"op": "remove", "grow": -1}, "grow must lie from 0"),
    "a period of zero": ({"op": "texture", "period": 0}, "period must lie from 1"),
    "an outline of two points": ({"op": "remove", "outline": [[1, 2], [3, 4]]}, "at least three points"),
    "an outline of numbers": ({"op": "remove", "outline": [1, 2, 3]}, "list of points"),
    "a box of three numbers": ({"op": "remove", "box": [1, 2, 3]}, "box: four numbers"),
    "a source that is not finite": ({"op": "swap", "source": [9, 9, float("nan"), 9]}, "source: four numbers"),
    "a blend that there is not": ({"op": "add", "blend": "magic"}, "unknown blend"),
    "a donor of words": ({"op": "remove", "donor": ["a", 1]}, "donor: two numbers"),
    "a spill of another scale": ({"op": "trace", "kind": "spill", "rgb": [90, 1, 1]}, "from 0 to 1"),
    "a move by nothing": ({"op": "move"}, "changes nothing"),
    "a scale of one": ({"op": "scale", "scale": 1}, "changes nothing"),
    "a scale of zero": ({"op": "scale", "scale": 0}, "scale must be positive"),
}


@pytest.mark.parametrize(("operation", "message"), WRONG.values(), ids=WRONG)
def test_an_edit_that_cannot_be_made_says_why(photo, operation, message):
    with pytest.raises(UsageError, match=message):
        edit(photo, operation)


needs_diffusers = pytest.mark.skipif(importlib.util.find_spec("diffusers") is None, reason="diffusers is not installed")


@needs_diffusers
@pytest.mark.vlm
@pytest.mark.filterwarnings("ignore")
def test_flux_repaints_the_region_only_and_follows_seed_and_words(photo, tiny_flux):
    picture = np.asarray(photo)
    editor = Flux(tiny_flux, size=64, steps=2, rim=3, options={"text_encoder_out_layers": (1, 2, 3)})

    def paint(text, seed, target=TARGET, region=REGION):
        return editor.edit(picture, target, region, Instruction(text, "It is done."), seed)

    first = paint("make it blue", 1)
    check_edit(picture, first, REGION)
    assert np.array_equal(first, paint("make it blue", 1))
    assert not np.array_equal(first, paint("make it blue", 2))
    assert not np.array_equal(first, paint("make it green", 1))
    corner = Box(0, 0, 40, 30)  # a region at the border of the picture
    check_edit(picture, paint("x", 0, Target(corner), corner), corner)


@needs_diffusers
def test_flux_names_a_model_that_cannot_be_loaded(tmp_path):
    with pytest.raises(UsageError, match="no Flux2KleinInpaintPipeline could be loaded"):
        Flux(tmp_path).load()


def test_flux_needs_its_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "diffusers", None)
    with pytest.raises(MissingExtra, match=r'pip install "diffspot-hf\[edit\]"'):
        Flux(tmp_path).load()


@pytest.mark.parametrize("options", [{"size": 100}, {"steps": 0}, {"window": 0.5}], ids=str)
def test_flux_refuses_settings_that_cannot_work(options):
    with pytest.raises(UsageError, match="size must be a multiple of 32"):
        Flux("x", **options)


def test_flux_shows_a_square_window_inside_the_picture(photo):
    picture = np.asarray(photo)
    assert Flux("x").seen(picture, REGION) == Box(168, 108, 144, 144)
    assert Flux("x").seen(picture, Box(0, 0, 40, 30)) == Box(0, 0, 80, 80)
    with pytest.raises(UsageError, match="does not fit into a square"):
        Flux("x").seen(picture, Box(0, 0, 400, 20))
