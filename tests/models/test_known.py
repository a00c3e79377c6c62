"""Facts about model families: which are known, which must be declared, and that each has a source."""

from __future__ import annotations

import pytest

from diffspot_hf.errors import UsageError
from diffspot_hf.models.known import _family, box_frame_of, families, lookup
from diffspot_hf.scoring.boxes import FRAMES

FRAMES_BY_ID = [
    ("Qwen/Qwen2-VL-7B-Instruct", "xyxy_1000"),
    ("Qwen/Qwen2.5-VL-72B-Instruct-AWQ", "xyxy_px_processed"),
    ("unsloth/Qwen2.5-VL-3B-Instruct-bnb-4bit", "xyxy_px_processed"),
    ("Qwen/Qwen3-VL-2B-Instruct", "xyxy_1000"),
    ("Qwen/Qwen3-VL-235B-A22B-Thinking-FP8", "xyxy_1000"),
    ("/models/qwen3-vl-8b-instruct", "xyxy_1000"),
    ("Qwen/Qwen3.5-9B", "xyxy_1000"),
    ("Qwen/Qwen3.8-Flash-Next", "xyxy_1000"),
    ("zai-org/GLM-4.1V-9B-Thinking", "xyxy_1000"),
    ("zai-org/GLM-4.6V-Flash", "xyxy_1000"),
    ("OpenGVLab/InternVL3_5-8B-HF", "xyxy_1000"),
    ("google/gemini-3.5-flash", "yxyx_1000"),
    ("google/gemma-3-4b-it", None),
    ("HuggingFaceTB/SmolVLM2-2.2B-Instruct", None),
    ("llava-hf/llava-1.5-7b-hf", None),
    ("moonshotai/Kimi-VL-A3B-Instruct", None),
    ("Qwen/Qwen3-8B", None),
    ("someone/brand-new", None),
    ("", None),
]


@pytest.mark.parametrize(("model", "frame"), FRAMES_BY_ID)
def test_the_box_frame_of_a_model(model: str, frame: str | None) -> None:
    assert box_frame_of(model) == frame


@pytest.mark.parametrize(
    ("model", "thinking", "off"),
    [
        ("Qwen/Qwen3-VL-8B-Instruct", "never", {}),
        ("Qwen/Qwen3-VL-8B-Thinking", "always", {}),
        ("Qwen/Qwen3.5-2B", "switch", {"enable_thinking": False}),
        ("zai-org/GLM-4.5V", "switch", {"enable_thinking": False}),
        ("OpenGVLab/InternVL3-8B", None, {}),
    ],
)
def test_how_thinking_is_switched(model: str, thinking: str | None, off: dict[str, bool]) -> None:
    family = lookup(model)
    assert family is not None
    assert (family.thinking, family.thinking_off) == (thinking, off)


@pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
def test_every_family_is_well_formed(family) -> None:
    assert family.source
    assert all(": " in source for source in family.source), "each source says which fact it is for"
    facts = {"box_frame": "boxes", "thinking": "thinking", "pixels": "pixels"}
    for fact, word in facts.items():
        if getattr(family, fact) is not None:
            assert any(word in source.split(": ")[0] for source in family.source), f"{fact} has no source"
    assert family.box_frame is None or family.box_frame in FRAMES


def test_a_more_special_pattern_comes_before_a_more_general_one() -> None:
    names = [family.name for family in families()]
    assert names.index("Qwen3-VL Thinking") < names.index("Qwen3-VL")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"box_frame": "xyxy"}, "box_frame 'xyxy' is none of"),
        ({"thinking": "sometimes"}, "thinking 'sometimes'"),
        ({"pixels": "many"}, "pixels 'many'"),
        ({"source": []}, "without a source"),
    ],
)
def test_a_malformed_entry_is_refused(entry: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        _family({"name": "X", "pattern": "x", "source": ["boxes: y"]} | entry)
