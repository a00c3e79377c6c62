"""The offline judge: does a free-text reply name the change, and what does it invent?

It follows the published criteria (correct by visible effect, in any words) with rules and a vocabulary instead of a
language model. It is unofficial and says so in everything it returns. It reads only the ground truth and the reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .claims import Claim, claims_of
from .linking import Link, link
from .naming import same_text
from .operators import Kind
from .records import Record, read_record
from .verdicts import flows, kind_of

NAME = "rules (unofficial)"
VERDICTS = ("correct", "partial", "missed")
"""Best first."""
_LETTERS = frozenset({"font_weight", "letter_spacing"})
_LINES = frozenset({"bwidth+", "bwidth-", "bcolor~", "bstyle~", "border~"})


class Reading(NamedTuple):
    """A claim, the verdict it earns, and whether it is an invention."""

    claim: Claim
    verdict: str
    invented: bool


def judge(*, mutation: Mapping[str, Any] | None, ground_truth_diff: str, reply: str) -> dict[str, Any]:
    """The official judge schema for one reply, and under `judge` the name of this unofficial judge.

    `mutation` is the record (type, element, property, direction, old_value, new_value, template), or None for a pair
    without a change. Never raises on any text.

    >>> record = {"type": "font_weight", "element": "the heading 'Boots'", "old_value": "400", "new_value": "700"}
    >>> said = judge(mutation=record, ground_truth_diff="", reply="- The Boots heading is bolder.")
    >>> said["summary"]["correct"], said["judge"]
    (1, 'rules (unofficial)')
    """
    if mutation is None:
        return _result([], [c for c in claims_of(reply or "") if c.asserted])
    record = read_record(mutation, ground_truth_diff)
    profile = record.profile
    readings = [read_claim(claim, record) for claim in claims_of(reply or "", profile.names + profile.neighbours)]
    verdict = min((r.verdict for r in readings), key=VERDICTS.index, default="missed")
    earned = {r.claim.group for r in readings if r.verdict != "missed"}
    named = sorted(r.claim.text for r in readings if r.verdict == verdict != "missed")
    entry = {
        "gt": ground_truth_diff or str(mutation.get("template") or ""),
        "type": str(mutation.get("type") or record.operator).removeprefix("mutate_"),
        "verdict": verdict,
        "vlm_match": named[0] if named else None,
    }
    return _result(
        [entry], [r.claim for r in readings if r.invented and not (r.claim.possessive and r.claim.group in earned)]
    )


def read_claim(claim: Claim, record: Record) -> Reading:
    """The verdict on one claim, and whether it is an invention."""
    tie, kind, flow = link(claim, record.profile), kind_of(claim, record), flows(claim, record)
    if tie == "below" and "border" in record.property and claim.effects & _LINES:
        tie = "pinned"  # "the line under the menu" is its lower border
    if tie == "area" and kind == "right" and record.operator in _LETTERS and _by_name(claim, record):
        tie = "pinned"  # who "is in bold type" is so by name
    if kind == "right" and record.operator == "text" and tie in ("other", "area") and _values(claim, record, tie):
        tie = "pinned"
    verdict = _verdict(tie, kind, flow, record.operator)
    silent = flow or (tie == "none" and kind == "vague")
    return Reading(claim, verdict, claim.asserted and verdict == "missed" and not silent)


def _verdict(tie: Link, kind: Kind, flow: bool, operator: str) -> str:
    """What a claim earns by what it speaks of and by what it says."""
    if tie == "pinned":
        return "correct" if kind == "right" else "partial" if kind != "impossible" or flow else "missed"
    if tie == "below":
        return "correct" if flow else "partial" if kind == "vague" else "missed"
    if tie == "area":
        near = kind in ("right", "vague") or (kind == "wrong" and operator != "text")
        return "partial" if near else "missed"
    if tie == "none":
        return "partial" if kind in ("right", "wrong", "cause") else "missed"
    return "missed"


def _by_name(claim: Claim, record: Record) -> bool:
    """Whether the claim speaks of what the changed text belongs to, by a word for nothing else on a page."""
    return any(set(c.ids) & record.profile.owners and not c.nouns for c in claim.chunks)


def _values(claim: Claim, record: Record, tie: Link) -> bool:
    """Whether the claim quotes the old and the new text, and names nothing else that it could be about."""
    values = {"A": record.old, "B": record.new}
    told = {q.side for q in claim.quotes if q.side in values and same_text(q.text, values[q.side])}
    return told == {"A", "B"} and (tie == "area" or not any(c.ids for c in claim.chunks))


def _result(mutations: list[dict[str, Any]], invented: list[Claim]) -> dict[str, Any]:
    """The schema, each invention once."""
    hallucinations = list({" ".join(c.text.casefold().split()): c.text for c in reversed(invented)}.values())[::-1]
    counts = {verdict: sum(m["verdict"] == verdict for m in mutations) for verdict in VERDICTS}
    return {
        "mutations": mutations,
        "hallucinations": hallucinations,
        "summary": {**counts, "hallucinated": len(hallucinations)},
        "judge": NAME,
    }


class RulesJudge:
    """The offline judge as an object of the package's `Judge` protocol."""

    name = NAME

    def judge(self, *, mutation: Mapping[str, Any] | None, ground_truth_diff: str, reply: str) -> dict[str, Any]:
        return judge(mutation=mutation, ground_truth_diff=ground_truth_diff, reply=reply)
