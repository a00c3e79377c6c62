from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diffspot_hf.scoring.boxes import FRAMES, iou, read_box, write_box


def box(x, y, w, h):
    return {"x": x, "y": y, "w": w, "h": h}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (box(0, 0, 1, 1), box(0, 0, 1, 1)),
        (box("0.25", " .5 ", "1e-1", 0.5), box(0.25, 0.5, 0.1, 0.5)),
        (box(0.75, 0, 0.27, 1), box(0.75, 0, 0.25, 1)),
        (box(-0.02, 0, 0.52, 1), box(0, 0, 0.5, 1)),
        (box(-0.021, 0, 0.5, 1), None),
        (box(0, 0.5, 1, 0.53), None),
        (box(1.005, 0, 0.01, 1), None),
        (box(0, 1.005, 1, 0.01), None),
        (box(0, 0, 0, 1), None),
        (box(0, 0, 1, -1), None),
        (box(True, 0, 1, 1), None),
        (box(float("nan"), 0, 1, 1), None),
        (box(10**400, 0, 1, 1), None),
        (box("1_0", 0, 1, 1), None),
        (box("١", 0, 1, 1), None),
        (box(None, 0, 1, 1), None),
        ({"x": 0, "y": 0, "w": 1}, None),
        ([0, 0, 1, 1], None),
        ("0 0 1 1", None),
        (7, None),
    ],
    ids=str,
)
def test_reading_without_a_frame(value, expected):
    assert read_box(value)[0] == (expected and pytest.approx(expected))


@pytest.mark.parametrize(
    ("value", "frame", "expected"),
    [
        ([0.25, 0.5, 0.5, 0.25], "xywh_norm", box(0.25, 0.5, 0.5, 0.25)),
        (box(0.25, 0.5, 0.5, 0.25), "xywh_norm", box(0.25, 0.5, 0.5, 0.25)),
        ([0.25, 0.5, 0.75, 0.75], "xyxy_norm", box(0.25, 0.5, 0.5, 0.25)),
        ([250, 500, 750, 750], "xyxy_1000", box(0.25, 0.5, 0.5, 0.25)),
        ([500, 250, 750, 750], "yxyx_1000", box(0.25, 0.5, 0.5, 0.25)),
        ([100, 400, 300, 600], "xyxy_px", box(0.25, 0.5, 0.5, 0.25)),
        ([25, 100, 75, 150], "xyxy_px_processed", box(0.25, 0.5, 0.5, 0.25)),
        ({"x1": 250, "y1": 500, "x2": 750, "y2": 750}, "xyxy_1000", box(0.25, 0.5, 0.5, 0.25)),
        ({"ymin": 500, "xmin": 250, "ymax": 750, "xmax": 750}, "yxyx_1000", box(0.25, 0.5, 0.5, 0.25)),
        ({"left": 100, "top": 400, "right": 300, "bottom": 600}, "xyxy_px", box(0.25, 0.5, 0.5, 0.25)),
        (box(100, 100, 200, 200), "xyxy_1000", None),
        ([750, 500, 250, 750], "xyxy_1000", None),
        ([250, 500, 750], "xyxy_1000", None),
        ([250, 500, 750, "x"], "xyxy_1000", None),
        ([250, 500, 1050, 750], "xyxy_1000", None),
        ([250, 500, 1010, 750], "xyxy_1000", box(0.25, 0.5, 0.75, 0.25)),
    ],
    ids=str,
)
def test_reading_in_a_declared_frame(value, frame, expected):
    assert read_box(value, frame, (400, 800), (100, 200))[0] == (expected and pytest.approx(expected))


def test_a_tall_phone_screen_is_converted_side_by_side():
    assert read_box([0, 0, 1170, 100], "xyxy_px", (1170, 2532))[0] == pytest.approx(box(0, 0, 1, 100 / 2532))


@pytest.mark.parametrize(
    ("value", "clipped"),
    [
        (box(0.9, 0, 0.1, 1), False),
        (box(0.7, 0, 0.3, 1), False),
        (box(0.9, 0, 0.11, 1), True),
        (box(-1e-12, 0, 0.5, 1), False),
    ],
)
def test_rounding_is_no_clip_and_every_box_lies_inside(value, clipped):
    read, was_clipped = read_box(value)
    assert was_clipped is clipped
    assert read["x"] >= 0
    assert read["x"] + read["w"] <= 1


@st.composite
def inner_boxes(draw):
    x, y = draw(st.floats(0, 0.98)), draw(st.floats(0, 0.98))
    return box(x, y, draw(st.floats(0.01, 1 - x)), draw(st.floats(0.01, 1 - y)))


@given(inner_boxes(), st.sampled_from(FRAMES), st.integers(1, 5000), st.integers(1, 5000))
def test_write_then_read_is_the_same_box(original, frame, width, height):
    sizes = ((width, height), (height, width))
    assert read_box(write_box(original, frame, *sizes), frame, *sizes)[0] == pytest.approx(original, abs=1e-9)


@given(inner_boxes(), inner_boxes())
def test_iou_is_symmetric_bounded_and_one_with_itself(a, b):
    assert 0 <= iou(a, b) == iou(b, a) <= 1
    assert iou(a, a) == pytest.approx(1)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (box(0, 0, 1 / 64, 1 / 64), box(0, 0, 10 / 64, 1 / 64), 0.1),
        (box(0, 0, 0.5, 0.5), box(0.5, 0, 0.5, 0.5), 0.0),
        (box(0, 0, 0.5, 0.5), box(0.25, 0.25, 0.5, 0.5), 1 / 7),
        (box(0, 0, 0, 1), box(0, 0, 0, 1), 0.0),
        (box(0, 0, 1, 1), box(0, 0, 1, -1), 0.0),
        (box(0.1, 0.1, 0.7, 0.7), box(0.1, 0.1, 0.7, 0.7), 1.0),
        (box(0.5, 0.5, 1e-16, 1e-16), box(0.5, 0.5, 1e-16, 1e-16), 1.0),
        (box(0, 0, 1e-200, 1e-200), box(0, 0, 1e-200, 1e-200), 0.0),
        (None, box(0, 0, 1, 1), 0.0),
        (box(0, 0, 1, 1), None, 0.0),
    ],
)
def test_iou(a, b, expected):
    assert iou(a, b) == expected
