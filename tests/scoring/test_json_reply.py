"""Reading issues. Cases: tests/cases/issue_replies_own.jsonl (ours)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffspot_hf.errors import UsageError
from diffspot_hf.scoring.boxes import FRAMES, write_box
from diffspot_hf.scoring.json_reply import read_issues


def cases(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def differs(case):
    """What is different from the expected reading, or ""."""
    got = read_issues(case["reply"], finish_reason=case["finish_reason"])
    if (got.state, got.dropped_boxes, len(got.issues)) != (case["state"], case["dropped_boxes"], len(case["issues"])):
        return f"{got}"
    for found, expected in zip(got.issues, case["issues"], strict=True):
        if found["labels"] != expected["labels"]:
            return f"{found}"
        for side in ("box_a", "box_b"):
            if found[side] != (expected[side] and pytest.approx(expected[side], abs=1e-6)):
                return f"{found}"
    return ""


def test_own_cases(repo):
    wrong = {
        case["why"]: differs(case) for case in cases(repo / "tests/cases/issue_replies_own.jsonl") if differs(case)
    }
    assert wrong == {}


def test_shared_cases(repo):
    path = repo.parent / "shared/cases/issue_replies.jsonl"
    if not path.exists():
        pytest.skip("no shared cases beside this checkout")
    assert {case["why"]: differs(case) for case in cases(path) if differs(case)} == {}


def test_the_note_and_a_finite_confidence_are_kept():
    issue = {"labels": ["other"], "note": "x", "confidence": 0.25}
    (kept,) = read_issues(json.dumps({"issues": [issue]})).issues
    assert (kept["note"], kept["confidence"]) == ("x", 0.25)
    (bare,) = read_issues('{"issues": [{"labels": ["other"], "note": 5, "confidence": NaN}]}').issues
    assert (bare["note"], bare["confidence"]) == ("", None)


@pytest.mark.parametrize("reply", ["", None, "I will not do this."])
def test_a_refusal_that_the_server_declares(reply):
    assert read_issues(reply, finish_reason="refusal").state == "refused"


def test_an_answer_beside_a_declared_refusal_is_an_answer():
    assert read_issues('{"issues": []}', finish_reason="refusal").state == "ok"


def test_clips_are_counted():
    reply = '{"issues": [{"labels": [], "box_a": {"x": -0.01, "y": 0, "w": 0.5, "h": 0.5}, "box_b": {"x": 0.9, "y": 0.7, "w": 0.1, "h": 0.3}}]}'  # noqa: E501
    assert read_issues(reply).clipped_boxes == 1


SIZES = {"original_sizes": [(1170, 2532), (1080, 2400)], "processed_sizes": [(644, 1400), (616, 1372)]}
fractions = st.floats(0, 1, allow_subnormal=False)


@st.composite
def inner_boxes(draw):
    x, y = draw(st.floats(0, 0.98)), draw(st.floats(0, 0.98))
    return {"x": x, "y": y, "w": draw(st.floats(0.01, 1 - x)), "h": draw(st.floats(0.01, 1 - y))}


@pytest.mark.parametrize("frame", FRAMES)
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_frame_comes_back(frame, data):
    boxes = {"box_a": data.draw(inner_boxes()), "box_b": data.draw(inner_boxes())}
    written = {
        side: write_box(box, frame, SIZES["original_sizes"][n], SIZES["processed_sizes"][n])
        for n, (side, box) in enumerate(boxes.items())
    }
    got = read_issues(json.dumps({"issues": [{"labels": ["other"], **written}]}), box_frame=frame, **SIZES)
    assert (got.state, got.dropped_boxes, got.clipped_boxes) == ("ok", 0, 0)
    for side, box in boxes.items():
        assert got.issues[0][side] == pytest.approx(box, abs=1e-9)


@pytest.mark.parametrize("frame", [frame for frame in FRAMES if "px" in frame])
def test_a_pixel_frame_without_its_size_says_what_is_missing(frame):
    reply = '{"issues": [{"labels": ["other"], "box_a": [1, 2, 3, 4]}]}'
    with pytest.raises(UsageError, match="width and height"):
        read_issues(reply, box_frame=frame)
    assert read_issues('{"issues": [{"labels": ["other"]}]}', box_frame=frame).state == "ok"


def test_a_frame_that_does_not_exist_is_refused():
    with pytest.raises(UsageError, match="xyxy_1000"):
        read_issues('{"issues": [{"box_a": [1, 2, 3, 4]}]}', box_frame="xyxy_999")


def test_without_a_frame_lists_are_dropped_and_nothing_is_rescaled():
    reply = (
        '{"issues": [{"labels": [], "box_a": [0.1, 0.1, 0.2, 0.2], "box_b": {"x": 100, "y": 100, "w": 50, "h": 50}}]}'
    )
    assert read_issues(reply).dropped_boxes == 2


def test_numbers_of_another_magnitude_are_not_taken_for_another_frame():
    fractions_in_thousandths = '{"issues": [{"labels": [], "box_a": [0.1, 0.1, 0.5, 0.5]}]}'
    (issue,) = read_issues(fractions_in_thousandths, box_frame="xyxy_1000").issues
    assert issue["box_a"] == pytest.approx({"x": 0.0001, "y": 0.0001, "w": 0.0004, "h": 0.0004})
    thousandths_in_fractions = '{"issues": [{"labels": [], "box_a": [100, 100, 500, 500]}]}'
    assert read_issues(thousandths_in_fractions, box_frame="xyxy_norm").dropped_boxes == 1


@settings(max_examples=150, deadline=None)
@given(
    st.text(max_size=200) | st.text("{}[]\"issues:labelbox_a,'/* \n", max_size=200), st.sampled_from(["stop", "length"])
)
def test_any_reply_has_a_state(reply, finish_reason):
    got = read_issues(reply, finish_reason=finish_reason)
    assert got.state in ("ok", "unparsed", "empty", "truncated", "refused")
    assert got.issues == [] or got.state in ("ok", "truncated")


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 400))
def test_a_cut_answer_keeps_a_prefix_of_the_issues(at):
    issues = [{"labels": [f"t{n}"], "note": "a {note}", "box_a": {"x": 0, "y": 0, "w": 1, "h": 1}} for n in range(4)]
    text = json.dumps({"issues": issues})
    got = read_issues(text[:at], finish_reason="length")
    assert [issue["labels"] for issue in got.issues] == [[f"t{n}"] for n in range(len(got.issues))]
    assert got.state == ("ok" if at >= len(text) else "truncated")
