"""DiffSpot: two screenshots of one web page; name what changed, or say that nothing did.

A row is a pair with one CSS or text change on one element (`task_type` ``visual_diff``) or with none (``no_diff``).
Source: Zhang et al. 2026, arXiv 2605.29615. The prompt below is ours; the authors' can be given as a file.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from ..scoring.free_text import free_text_state, visible_reply
from ..scoring.rates import diffspot_rates, outcome_of
from ..types import Picture, Prediction, Request, Response, Row

PROMPT = """\
You are given two screenshots of the same web page. The first was taken before, the second after. \
There may be changes between them, or there may be none.

Compare the two carefully and list every difference you can see, one bullet point for each. In each bullet say
- which element it is: quote its visible text, or give its role and where it stands on the page;
- what about it is different: its wording, colour, transparency, size, weight, spacing, position, alignment, border, \
corners, or whether it is there at all;
- in which direction it changed from the first screenshot to the second, for example larger or smaller, darker or \
lighter, left or right.

Report only what you can see. If the two screenshots look the same to you, answer with the single sentence: \
No differences.
"""

NONE = "No differences."
_ELEMENTS = ("main heading", "first button", "navigation bar", "first paragraph", "footer link", "card on the left")
_CHANGES = (
    *("is bolder", "is larger", "is smaller", "is darker", "is lighter", "is more transparent", "moved to the right"),
    *("moved down", "has more space around it", "has rounder corners", "has a thicker border", "has another wording"),
)


class DiffSpot:
    """The benchmark's four steps; see `diffspot_hf.types.Benchmark`."""

    name = "diffspot"
    dataset = "diffspot"
    judged = True
    prompt = PROMPT
    prompt_version = "diffspot-hf-1"
    settings: Mapping[str, Any] = {}
    schema = None
    columns: Sequence[str] = ("id", "image_before", "image_after", "task_type", "difficulty", "ground_truth_diff")

    def configured(self, model: str, options: Any) -> DiffSpot:
        return self

    def request(self, row: Row, prompt: str) -> Request:
        """Text, then before, then after, in one user turn; the same bytes of text for every row.

        The data's own `user_query` is never sent.
        """
        before, after = (_picture(row, column) for column in ("image_before", "image_after"))
        return Request(id=row["id"], parts=(prompt, before, after))

    def read(self, row: Row, response: Response) -> Prediction:
        """The reply without its thinking. Free text has no wrong form, so the state is never ``unparsed``."""
        state = free_text_state(response.text, response.finish_reason)
        return Prediction(id=response.id, state=state, value=visible_reply(response.text))

    def scripted(self, kind: str, row: Row, seed: int) -> str:
        has_diff = row["task_type"] != "no_diff"
        if kind == "oracle":
            return f"- {row['ground_truth_diff']}" if has_diff else NONE
        if kind == "always-generic":
            return "- Something on the page looks different in the second screenshot."
        if kind == "random":
            draw = random.Random(f"{seed}:{row['id']}")
            if draw.random() < 0.5:
                return NONE
            return f"- The {draw.choice(_ELEMENTS)} {draw.choice(_CHANGES)} in the second screenshot."
        return NONE

    def score(self, rows: Sequence[Row], records: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Official and own figures; a row without a record is in state ``error`` and never correct."""
        outcomes = []
        for row in rows:
            record = records.get(row["id"], {})
            right = record.get("is_true_positive" if row["task_type"] != "no_diff" else "is_true_negative")
            outcomes.append(outcome_of(row, bool(right), record.get("state", "error")))
        return diffspot_rates(outcomes)


def _picture(row: Row, column: str) -> Picture:
    return Picture(data=row[column]["bytes"], name=f"row {row['id']}, {column} ({row[column]['path']})")
