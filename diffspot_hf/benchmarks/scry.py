"""Scry Design Diff: a reference screen and its implementation; list the defects with tags and boxes.

A row is a pair of mobile screens with the issues that people (or the builder) marked; a row without one is a control.
Source: the Scry paper; its prompt is not public, so the one below is ours, as is every choice marked so in `scoring`.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UsageError
from ..scoring.boxes import FRAMES, BoxFrame
from ..scoring.issue_scores import score_issues
from ..scoring.json_reply import read_issues
from ..scoring.tags import TAGS
from ..types import Picture, Prediction, Request, Response, Row

FRAME_WORDS: dict[BoxFrame, str] = {
    "xywh_norm": 'an object {"x", "y", "w", "h"}: left edge, top edge, width and height as fractions of the image from '
    "0 to 1, measured from its top left corner",
    "xyxy_norm": "a list [left, top, right, bottom] of fractions of the image from 0 to 1",
    "xyxy_1000": "a list [left, top, right, bottom] of whole numbers from 0 to 1000, where 1000 is the full width or "
    "height of the image",
    "yxyx_1000": "a list [top, left, bottom, right] of whole numbers from 0 to 1000, where 1000 is the full height or "
    "width of the image",
    "xyxy_px": "a list [left, top, right, bottom] in pixels of the image",
    "xyxy_px_processed": "a list [left, top, right, bottom] in pixels of the image as you see it",
}

PROMPT = """\
You are given two images of a mobile app. The first is the reference design of a screen, the second a screenshot of \
its implementation. The implementation may deviate from the reference, or it may not.

Compare the two and report every visible deviation as one issue. Answer with one JSON object and nothing else:
{{"issues": [{{"labels": ["Tag"], "note": "what deviates", "box_a": BOX, "box_b": BOX}}]}}

- labels: one or more of {tags}.
- note: one short sentence.
- box_a and box_b: where the issue is in the first and in the second image, each {frame}. Use null for an image in \
which there is nothing to mark.

If nothing deviates, answer {{"issues": []}}. Report only what you can see.
"""

_NUMBER = {"type": "number"}
_BOXES: dict[str, dict[str, Any]] = {
    "xywh_norm": {
        "type": "object",
        "properties": {side: {"type": "number", "minimum": 0, "maximum": 1} for side in ("x", "y", "w", "h")},
        "required": ["x", "y", "w", "h"],
        "additionalProperties": False,
    },
    "list": {"type": "array", "items": _NUMBER, "minItems": 4, "maxItems": 4},
}


class Scry:
    """The benchmark's four steps; see `diffspot_hf.types.Benchmark`. Boxes are asked for and read in `box_frame`."""

    name = "scry"
    dataset = "scry_design_diff"
    judged = False
    prompt_version = "diffspot-hf-1"
    columns: Sequence[str] = ("id", "image_a", "image_b", "issues", "bucket")

    def __init__(self, box_frame: BoxFrame = "xywh_norm") -> None:
        if box_frame not in FRAMES:
            raise UsageError(f"unknown box frame {box_frame!r}; there are {', '.join(FRAMES)}")
        self.box_frame = box_frame
        self.prompt = PROMPT.format(tags=", ".join(TAGS), frame=FRAME_WORDS[box_frame])
        self.settings: Mapping[str, Any] = {"box_frame": box_frame}
        self.reading: Mapping[str, Any] = {}
        """Keywords of `score_issues` that differ from the standard."""

    def with_reading(self, reading: Mapping[str, Any]) -> Scry:
        """The benchmark as it scores under another `reading` (keywords of `score_issues`)."""
        other = copy.copy(self)
        other.reading = dict(reading)
        return other

    def configured(self, model: str, options: Any) -> Scry:
        """The benchmark in the frame that `model` answers in: as declared, or as known; never guessed."""
        from ..models import BUILT_IN
        from ..models.known import box_frame_of

        answers_so = model in BUILT_IN and model != "tiny-vlm"
        if answers_so and options.box_frame not in (None, "xywh_norm"):
            raise UsageError(f"--box-frame {options.box_frame}: {model} answers in xywh_norm; leave it out")
        frame = options.box_frame or ("xywh_norm" if model in BUILT_IN else box_frame_of(model))
        if frame is None:
            raise UsageError(
                f"{model}: it is not known in which frame it gives boxes; say so with --box-frame "
                f"({', '.join(FRAMES)}). It is never guessed from the numbers"
            )
        return Scry(frame)

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the asked answer, for constrained decoding; lists are bounded so that each one ends."""
        box = _BOXES["xywh_norm" if self.box_frame == "xywh_norm" else "list"]
        issue = {
            "type": "object",
            "properties": {
                "labels": {"type": "array", "items": {"enum": list(TAGS)}, "minItems": 1, "maxItems": 3},
                "note": {"type": "string", "maxLength": 200},
                **{side: {"anyOf": [box, {"type": "null"}]} for side in ("box_a", "box_b")},
            },
            "required": ["labels", "note", "box_a", "box_b"],
            "additionalProperties": False,
        }
        issues = {"type": "array", "items": issue, "maxItems": 20}
        return {"type": "object", "properties": {"issues": issues}, "required": ["issues"]} | {
            "additionalProperties": False
        }

    def request(self, row: Row, prompt: str) -> Request:
        """Text, then reference, then implementation; the same bytes of text for screens with and without issues."""
        return Request(id=row["id"], parts=(prompt, _picture(row, "image_a"), _picture(row, "image_b")))

    def read(self, row: Row, response: Response) -> Prediction:
        if response.finish_reason == "error":
            return Prediction(id=response.id, state="error", value=[])
        original = [(seen.width, seen.height) for seen in response.images] or [None, None]
        processed = [
            (seen.processed_width, seen.processed_height) if seen.processed_width and seen.processed_height else None
            for seen in response.images
        ] or [None, None]
        found = read_issues(
            response.text,
            finish_reason=response.finish_reason,
            box_frame=self.box_frame,
            original_sizes=original,
            processed_sizes=processed,
        )
        notes = {"dropped_boxes": found.dropped_boxes, "clipped_boxes": found.clipped_boxes}
        if found.state == "truncated":
            notes["salvaged_issues"] = len(found.issues)
        return Prediction(id=response.id, state=found.state, value=found.issues, notes=notes)

    def scripted(self, kind: str, row: Row, seed: int) -> str:
        """The static controls of the paper: the oracle repeats tags and boxes, always-generic names one vague issue."""
        issues: list[Mapping[str, Any]] = []
        if kind == "oracle":
            issues = list(row["issues"])
        elif kind == "always-generic":
            issues = [{"labels": ["other"], "note": "Something looks different.", "box_a": None, "box_b": None}]
        elif kind == "random":
            draw = random.Random(f"{seed}:{row['id']}")
            for _ in range(draw.choice((0, 1, 2))):
                box = {"x": draw.uniform(0, 0.7), "y": draw.uniform(0, 0.8), "w": 0.3, "h": 0.2}
                issues.append({"labels": [draw.choice(TAGS)], "note": "A guess.", "box_a": box, "box_b": box})
        return json.dumps({"issues": issues}, ensure_ascii=False)

    def score(self, rows: Sequence[Row], records: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """All figures of `score_issues`; a row without a record is in state ``missing``.

        ``boxes`` counts what became of boxes as replies were read, ``salvaged_issues`` those that were complete in a
        reply cut at its limit. Where every row's ``meta`` says ``exhaustive``,
        nothing is unlabelled, and ``diagnostic_precision`` stands under ``precision`` as well.
        """
        found = [records.get(row["id"]) for row in rows]
        scores: dict[str, Any] = score_issues(
            predictions=[record["prediction"] or [] if record else [] for record in found],
            references=[row["issues"] for row in rows],
            states=[record["state"] if record else "missing" for record in found],
            buckets=[row["bucket"] for row in rows],
            **self.reading,
        )
        flagged = [
            row["id"]
            for row, record in zip(rows, found, strict=True)
            if not row["issues"] and record and record["prediction"]
        ]
        notes = [(record or {}).get("notes") or {} for record in found]
        exhaustive = bool(rows) and all(_is_exhaustive(row) for row in rows)
        return (
            scores
            | ({"precision": scores["diagnostic_precision"]} if exhaustive else {})
            | {
                "n_total": len(rows),
                "exhaustive": exhaustive,
                "boxes": {key: sum(note.get(f"{key}_boxes", 0) for note in notes) for key in ("dropped", "clipped")},
                "salvaged_issues": sum(note.get("salvaged_issues", 0) for note in notes),
                "flagged_control_ids": flagged,
            }
        )


def _is_exhaustive(row: Row) -> bool:
    """Whether the row says of itself that all its issues are known, as those do that the builder makes."""
    try:
        meta = json.loads(row.get("meta") or "null")
    except ValueError:
        return False
    return isinstance(meta, dict) and meta.get("exhaustive") is True


def _picture(row: Row, column: str) -> Picture:
    return Picture(data=row[column]["bytes"], name=f"row {row['id']}, {column} ({row[column]['path']})")
