"""The offline judge: does a free-text reply name the change, and what does it invent?

It follows the published criteria (correct by visible effect, in any words) with rules and a vocabulary instead of a
language model. It is unofficial and says so in everything it returns. It reads only the ground truth and the reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .claims import Claim, claims_of
from .linking import Link, link
from .records import Record, read_record
from .verdicts import flows, kind_of

NAME = "rules (unofficial)"
_BEST = ("correct", "partial", "missed")


class Reading(NamedTuple):
    """One claim as the judge sees it."""

    claim: Claim
    verdict: str
    invented: bool


def judge(*, mutation: Mapping[str, Any] | None, ground_truth_diff: str, reply: str) -> dict[str, Any]:
    """The official judge schema for one reply, and `judge`, the name of this unofficial judge.

    `mutation` is the record (type, element, property, direction, old_value, new_value, template), or None for a pair
    without a change. Never raises on any text.

    >>> record = {"type": "font_weight", "element": "the heading 'Autumn boots'", "old_value": "400", "new_value": "700"}
    >>> judge(mutation=record, ground_truth_diff="", reply="- The Autumn boots heading is bolder.")["summary"]["correct"]
    1
    """
    if mutation is None:
        invented = [c for c in claims_of(reply or "") if c.asserted]
        return _result([], _distinct(invented))
    record = read_record(mutation, ground_truth_diff)
    readings = [read_claim(claim, record) for claim in claims_of(reply or "", record.profile.names + record.profile.neighbours)]
    verdict = min((r.verdict for r in readings), key=_BEST.index, default="missed")
    best = sorted(r.claim.text for r in readings if r.verdict == verdict) if verdict != "missed" else []
    earned = {r.claim.group for r in readings if r.verdict != "missed"}
    invented = [r.claim for r in readings if r.invented and not (r.claim.group in earned and r.claim.possessive)]
    entry = {
        "gt": ground_truth_diff or str(mutation.get("template") or ""),
        "type": record.operator if not mutation.get("type") else str(mutation["type"]).removeprefix("mutate_"),
        "verdict": verdict,
        "vlm_match": best[0] if best else None,
    }
    return _result([entry], _distinct(invented))


def read_claim(claim: Claim, record: Record) -> Reading:
    """The verdict on one claim, and whether it is an invention."""
    tie, kind = link(claim, record.profile), kind_of(claim, record)
    verdict, invented = _verdict(tie, kind, claim, record)
    return Reading(claim, verdict, invented and claim.asserted)


def _verdict(tie: Link, kind: str, claim: Claim, record: Record) -> tuple[str, bool]:
    flow = flows(claim, record)
    if tie == "below" and record.operator == "border" and claim.effects & {"bwidth+", "bwidth-", "bcolor~", "bstyle~", "border~"}:
        tie = "pinned"  # "the line under the menu" is its lower border
    if tie == "pinned":
        if kind == "right":
            return "correct", False
        if kind in ("wrong", "cause", "vague"):
            return "partial", False
        return ("partial", False) if flow else ("missed", True)
    if tie == "below" and flow:
        return "correct", False
    if tie == "below":
        return ("partial", False) if kind == "vague" else ("missed", not flow)
    if tie == "area" and kind == "wrong" and record.operator == "text":
        return "missed", True
    if tie == "area":
        if kind in ("right", "wrong", "vague"):
            return "partial", False
        return "missed", not flow
    if tie == "none":
        if kind == "vague":
            return "missed", False
        if kind in ("right", "wrong", "cause"):
            return "partial", False
        return "missed", not flow
    if kind == "right" and record.operator == "text" and _both_values(claim, record):
        return "correct", False
    return "missed", not flow


def _both_values(claim: Claim, record: Record) -> bool:
    """Whether the claim quotes the old and the new text and names nothing else that it could be about."""
    from .linking import same_text

    told = {side: any(q.side == side and same_text(q.text, value) for q in claim.quotes) for side, value in (("A", record.old), ("B", record.new))}
    nouns = [c for c in claim.chunks if c.ids]
    return all(told.values()) and not nouns


def _distinct(claims: list[Claim]) -> list[str]:
    seen: dict[str, str] = {}
    for claim in claims:
        seen.setdefault(" ".join(claim.text.casefold().split()), claim.text)
    return list(seen.values())


def _result(mutations: list[dict[str, Any]], hallucinations: list[str]) -> dict[str, Any]:
    counts = {verdict: sum(m["verdict"] == verdict for m in mutations) for verdict in _BEST}
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
