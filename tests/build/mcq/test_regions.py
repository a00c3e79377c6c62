"""Boxes grow by twice their size and stay in the picture; an edit is measured before it counts."""

from __future__ import annotations

import numpy as np
import pytest

from diffspot_hf.build.mcq.regions import Box, check_edit, grow, read_box
from diffspot_hf.errors import UsageError

GROWN = {
    "in the middle": (Box(100, 100, 40, 20), Box(80, 90, 80, 40)),
    "at the top left corner": (Box(0, 0, 40, 20), Box(0, 0, 60, 30)),
    "at the bottom right corner": (Box(360, 280, 40, 20), Box(340, 270, 60, 30)),
    "as large as the picture": (Box(0, 0, 400, 300), Box(0, 0, 400, 300)),
}


@pytest.mark.parametrize(("box", "region"), GROWN.values(), ids=GROWN)
def test_a_region_is_twice_its_box_and_clipped(box, region):
    assert grow(box, (400, 300)) == region


NO_BOXES = {
    "outside": [390, 0, 20, 20],
    "of no width": [10, 10, 0, 20],
    "negative": [-1, 10, 20, 20],
    "three numbers": [1, 2, 3],
    "a truth value": [1, 2, True, 4],
    "not a number": [1, 2, float("nan"), 4],
    "a text": "1 2 3 4",
    "nothing": None,
}


@pytest.mark.parametrize("value", NO_BOXES.values(), ids=NO_BOXES)
def test_what_is_no_box_in_the_picture_is_refused(value):
    with pytest.raises(UsageError, match="target"):
        read_box(value, (400, 300), "target")


BASE = np.zeros((300, 400, 3), np.uint8)
REGION = Box(100, 100, 60, 50)


def edited(*boxes: Box) -> np.ndarray:
    made = BASE.copy()
    for box in boxes:
        made[box.slices] = 200
    return made


def test_an_edit_inside_its_region_is_measured_by_its_pixels():
    change = check_edit(BASE, edited(Box(110, 110, 20, 10)), REGION)
    assert change.box == (110, 110, 20, 10)
    assert change.fraction == 200 / 120_000


grain = BASE.copy()
grain[REGION.slices] = np.random.default_rng(0).integers(0, 16, (REGION.h, REGION.w, 1))

REFUSED = {
    "nothing changed": (BASE, REGION, "changed nothing"),
    "one pixel outside": (edited(Box(110, 110, 20, 10), Box(99, 100, 1, 1)), REGION, "1 pixels outside its region"),
    "too little to be seen": (edited(Box(110, 110, 3, 5)), REGION, "15 pixels, fewer than can be seen"),
    "grain": (grain, REGION, "too faint to be seen: 0 pixels differ clearly"),
    "a region of 5 %": (edited(Box(110, 110, 20, 10)), Box(0, 0, 100, 60), "5.0% of the picture, 5% or more"),
    "another size": (
        np.zeros((10, 10, 3), np.uint8),
        REGION,
        "changed the size of the picture from 400 x 300 to 10 x 10",
    ),
}


@pytest.mark.parametrize(("after", "region", "message"), REFUSED.values(), ids=REFUSED)
def test_an_edit_that_must_not_count_is_refused(after, region, message):
    with pytest.raises(UsageError, match=message):
        check_edit(BASE, after, region)
