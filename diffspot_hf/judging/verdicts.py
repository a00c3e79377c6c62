"""Can the change of a record look the way a claim says? The kinds of answer, best first:

``right`` the change or its visible effect; ``wrong`` the right kind, but another direction or value; ``cause`` the
right effect for a wrong reason; ``vague`` a difference without a kind; ``impossible`` what the change cannot produce.
"""

from __future__ import annotations

from collections.abc import Iterable

from .claims import Claim
from .lexicon import vocabulary
from .operators import OWN, Kind
from .profiles import bare
from .records import Record, measure

_MOVING = frozenset({"x", "y", "move", "wrap", "gap", "height", "size", "width", "lead", "overlap", "vague"})
_SHORTEST = 4
"""Letters that a quoted piece must have to show how a name is spaced (our choice)."""


def kind_of(claim: Claim, record: Record) -> Kind:
    """How the effects of `claim` stand to the change of `record`."""
    if record.operator == "letter_spacing" and (spaced := _respaced(claim, record)):
        return "right" if record.sign in (spaced, "~") else "wrong"
    values = (measure(record.operator, record.old), measure(record.operator, record.new))
    if "other~" in claim.effects and claim.numbers and claim.numbers == values:
        return "right"
    own = OWN.get(record.operator)
    found = own(claim, record) if own else None
    return found or _by_table(claim, record)


def flows(claim: Claim, record: Record) -> bool:
    """Whether the claim is that something moved the way the change pushes its neighbours."""
    flow = vocabulary("operators")[record.operator]["flow"]
    moves = {e for e in claim.effects if e[:-1] in ("y", "x", "move", "wrap")}
    if not flow or not moves or any(e[:-1] not in _MOVING for e in claim.effects):
        return False
    against = {"+": "y-", "-": "y+"}.get(record.sign, "") if flow == "=" else ""
    return against not in moves or {"y-", "y+"} <= moves


def _by_table(claim: Claim, record: Record) -> Kind:
    """The answer of the operator's lists of effects."""
    table, sign = vocabulary("operators")[record.operator], record.sign
    named, shows, cause = table["names"], table["shows"], table["cause"]
    effects = claim.effects
    if effects & {"light-", "light+"} and "weight=" not in named:
        effects = effects - {"weight+", "weight-"}  # "lighter" of anything but letters is of its colour
    if _any(effects, named, sign):
        return "right"
    if _any(effects, cause, sign):
        return "wrong" if _any(effects, [*named, *shows], sign, opposite=True) else "cause"
    if _any(effects, shows, sign):
        return "right"
    if _any(effects, [*named, *shows], sign, opposite=True):
        return "wrong"
    return "vague" if claim.vague else "impossible"


def _any(effects: Iterable[str], wanted: Iterable[str], sign: str, opposite: bool = False) -> bool:
    return any(_fits(effect, rule, sign, opposite) for effect in effects for rule in wanted)


def _fits(effect: str, wanted: str, sign: str, opposite: bool) -> bool:
    """Whether an effect is of the wanted axis, and of the right sign (or, for `opposite`, of any other).

    >>> _fits("size+", "size=", "+", False), _fits("size-", "size=", "+", False), _fits("size-", "size=", "+", True)
    (True, False, True)
    """
    rule = wanted[-1]
    if effect[:-1] != wanted[:-1]:
        return False
    if opposite:
        return rule in "=!" or effect[-1] == rule
    if rule == "~" or effect[-1] == "~" or (sign == "~" and rule in "=!"):
        return True
    return effect[-1] == {"=": sign, "!": {"+": "-", "-": "+"}.get(sign, "~")}.get(rule, rule)


def _respaced(claim: Claim, record: Record) -> str:
    """``+`` if the claim quotes a known text with more blanks in it, ``-`` with fewer, "" if neither."""
    for quote in claim.quotes:
        piece, blanks = bare(quote.text), len(quote.text.split()) - 1
        for name in record.profile.names:
            if len(piece) < _SHORTEST or piece not in bare(name):
                continue
            whole, inner = piece == bare(name), len(name.split()) - 1
            usual = inner if whole else 0 if piece in [bare(word) for word in name.split()] else min(blanks, inner)
            if blanks != usual:
                return "+" if blanks > usual else "-"
    return ""
