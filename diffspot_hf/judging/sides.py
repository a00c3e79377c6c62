"""Of which image each word of a statement speaks, and which words are claimed at all.

A statement is cut into sub-clauses, each token gets a side of the pair, and what is denied or said to be the same is
struck. What the words mean is left to `effects`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from .lexicon import Hit, Phrases, grammar, labelled, phrases_of, vocabulary
from .phrases import Sentence

PUNCTUATION = frozenset(",;:()|—–.")
ARROWS = frozenset({"->", "→"})
_HARD = frozenset(";.|")
_NOW, _NONE = grammar("now"), grammar("none")
_REACH = 16
"""Tokens over which a "from" waits for its "to" (our choice)."""


class Found(NamedTuple):
    """An effect at a token; `weak` if it may be a plain description."""

    at: int
    effect: str
    weak: bool


@dataclass
class Marks:
    """What is known of each token i of a statement: `sides[i]` A, B or N (a mere reference), `live[i]` whether it is
    claimed, `clause[i]` its sub-clause. `compares`: the images are set side by side. `alike`: spans of sameness.
    `denied`: tokens that a plain "not" denies of Image B. `found`, `colors` (place, side, names): later."""

    sides: list[str]
    live: list[bool]
    clause: list[int]
    hard: frozenset[int]
    compares: bool = False
    found: list[Found] = field(default_factory=list)
    colors: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    alike: list[tuple[int, int]] = field(default_factory=list)
    denied: set[int] = field(default_factory=set)


def flip(effect: str) -> str:
    """The effect seen the other way round: what is bolder in A is less bold in B."""
    return effect[:-1] + {"+": "-", "-": "+"}.get(effect[-1], effect[-1])


@cache
def _tools() -> tuple[Phrases, Phrases]:
    table = vocabulary("effects")["compare"]
    kept = {key: words for key, words in table.items() if key not in ("then", "tell", "turn")}
    return Phrases(labelled(kept)), phrases_of(table["turn"])


def read_sides(s: Sentence, sided: bool) -> Marks:
    """The marks of a statement, still without effects."""
    compare = {h.start: h for h in _tools()[0].find(s.tokens)}
    clause, hard = _clauses(s, compare)
    marks = Marks(["B"] * len(clause), [True] * len(clause), clause, frozenset(hard))
    _by_name(s, marks, compare)
    told = _by_word(s, marks, compare)
    spoken = any({"now", "before"} & set(h.labels) for h in compare.values())
    marks.compares = sided or told or spoken or any(t.raw in ARROWS for t in s.tokens)
    negated, deniers = _deny(s, marks)
    _equate(s, marks, negated, deniers)
    return marks


def _clauses(s: Sentence, compare: Mapping[int, Hit]) -> tuple[list[int], set[int]]:
    """Sub-clause number of each token, and the numbers of the sub-clauses that open after a hard break."""
    n = len(s.tokens)
    bearing = [0] * (n + 1)
    for hit in s.effects:
        if any(not label.startswith(("dim:", "state:")) for label in hit.labels):
            bearing[hit.start] = 1
    ahead = [0] * (n + 1)
    for k in range(n - 1, -1, -1):
        ahead[k] = 0 if s.tokens[k].raw in PUNCTUATION else bearing[k] + ahead[k + 1]
    numbers, hard = [], {0}
    number, behind, between = 0, 0, False
    for k, token in enumerate(s.tokens):
        labels = compare[k].labels if k in compare else ()
        strong = "strong" in labels
        joins = token.raw in grammar("and") and behind and ahead[k] and not between
        if token.raw in PUNCTUATION or strong or "cause" in labels or joins:
            number, behind, between = number + 1, 0, False
            if strong or token.raw in _HARD:
                hard.add(number)
        behind += bearing[k]
        between |= token.raw in grammar("between")
        numbers.append(number)
    return numbers, hard


def _by_name(s: Sentence, marks: Marks, compare: Mapping[int, Hit]) -> None:
    """Sides by the names of the images, in front of what they show ("in B it is red") or behind it ("red in B")."""
    tokens, sides, clause = s.tokens, marks.sides, marks.clause
    n, carry, position = len(tokens), "", 0
    while position < n:
        number, start = clause[position], position
        while position < n and clause[position] == number:
            position += 1
        if number in marks.hard:
            carry = ""
        span = range(start, position)
        named = [k for k in span if tokens[k].raw in ("§A", "§B")]
        first = next((k for k in span if tokens[k].raw not in PUNCTUATION and k not in compare), position)
        if named:
            leads = named[0] <= first
            current = tokens[named[0]].raw[1]
            for k in span:
                if tokens[k].raw in ("§A", "§B"):
                    current = tokens[k].raw[1]
                elif not leads:
                    current = tokens[next((f for f in named if f > k), named[-1])].raw[1]
                sides[k] = current
            carry = tokens[named[-1]].raw[1] if leads else ""
        elif carry:
            for k in span:
                sides[k] = carry
        arrow = next((k for k in span if tokens[k].raw in ARROWS), None)
        if arrow is not None:
            for k in span:
                sides[k] = "A" if k < arrow else "B"


def _by_word(s: Sentence, marks: Marks, compare: Mapping[int, Hit]) -> bool:
    """Sides by words: from … to, instead of, has become, was … now, than. True if two states are opposed."""
    tokens, sides, clause = s.tokens, marks.sides, marks.clause
    n, met = len(tokens), False
    for turn in _tools()[1].find(tokens):
        for k in range(turn.start):
            if clause[k] == clause[turn.start] and sides[k] == "B":
                sides[k] = "A"
    both = {"§A", "§B"} <= {t.raw for t in tokens}
    now = max((k for k, t in enumerate(tokens) if t.raw in _NOW), default=-1)
    for k, token in enumerate(tokens):
        hit = compare.get(k)
        if token.raw in grammar("be") and k < now and clause[k] != clause[now]:
            met = _paint(s, marks, k + 1, "A")
        if hit is None:
            continue
        if "before" in hit.labels:
            met = _paint(s, marks, hit.end, "A")
        elif "than" in hit.labels:
            _paint(s, marks, k, "N")
        elif "from" in hit.labels and sides[k] != "N" and not both:
            reach = range(k + 1, min(n, k + _REACH))
            end = next(
                (j for j in reach if (j in compare and "to" in compare[j].labels) or tokens[j].raw in ARROWS), None
            )
            if end is not None:
                met = True
                sides[k:end] = ["A"] * (end - k)
                for j in range(end, n):
                    if clause[j] != clause[end]:
                        break
                    sides[j] = "B"
    return met


def _paint(s: Sentence, marks: Marks, start: int, side: str) -> bool:
    """Gives the rest of the sub-clause from `start` on, up to a "now", to `side`."""
    for k in range(start, len(marks.sides)):
        if marks.clause[k] != marks.clause[start] or s.tokens[k].raw in _NOW:
            break
        marks.sides[k] = side
    return True


def covered(s: Sentence) -> set[int]:
    """Tokens inside longer phrases of effect, whose own "not" or "same" is no denial ("not the same")."""
    spans = [h for h in s.effects if any(x.startswith(("effect:", "gone:", "change:")) for x in h.labels)]
    return {k for h in spans if h.end - h.start > 1 for k in range(h.start, h.end)}


def _deny(s: Sentence, marks: Marks) -> tuple[set[int], set[int]]:
    """Strikes what is denied; returns the struck tokens and the places of the plain denials."""
    n, clause = len(s.tokens), marks.clause
    resume = [h.start for h in s.talk if "resume" in h.labels]
    again = [h for h in s.talk if "again" in h.labels]
    exempt = covered(s) | {k for h in again for k in range(h.start, h.end)}
    negated: set[int] = set()
    deniers: set[int] = set()
    for hit in s.talk:
        if "negator" not in hit.labels or hit.start in exempt or s.tokens[hit.start].glued:
            continue
        raw = s.tokens[hit.start].raw
        if raw == "not" and s.tokens[min(hit.start + 1, n - 1)].raw in ("only", "just", "merely"):
            continue
        if any(h.start > hit.start and clause[h.start] == clause[hit.start] for h in again):
            if raw != "no":  # "not bold any more"
                _paint(s, marks, hit.end, "A")
            continue
        if raw != "no":
            deniers.add(hit.start)
        narrow = raw in grammar("narrow") or "'" in raw
        wide = not narrow or any(t.raw in grammar("perceive") for t in s.tokens[hit.end : hit.end + 3])
        if wide and hit.start in negated:
            continue
        stop = next((r for r in resume if r > hit.start), n)
        for k in range(hit.end, stop):
            if clause[k] != clause[hit.start] and (not wide or _restarts(s, k)):
                break
            negated.add(k)
        negated |= _behind(s, marks, hit, max((r for r in resume if r < hit.start), default=-1))
        if not wide and any(t.raw == "§B" for t in s.tokens):
            marks.denied.update(k for k in range(hit.end, stop) if clause[k] == clause[hit.start])
    for k in negated:
        marks.live[k] = False
    return negated, deniers


def _behind(s: Sentence, marks: Marks, negator: Hit, back: int) -> set[int]:
    """What a negation behind it denies: "differences: none", and languages that put the negation last."""
    raw, clause = s.tokens[negator.start].raw, marks.clause
    far = raw in _NONE or not raw.isascii()
    struck: set[int] = set()
    for h in s.effects:
        near = back < h.start < negator.start and (far or clause[h.start] == clause[negator.start])
        if near and any(x.startswith("change:") for x in h.labels):
            struck.update(range(h.start, h.end))
    if not raw.isascii():
        struck.update(k for k in range(back + 1, negator.start) if clause[k] == clause[negator.start])
    return struck


def _equate(s: Sentence, marks: Marks, negated: set[int], deniers: set[int]) -> None:
    """Strikes what is said to be the same; a denied sameness is a vague difference."""
    n, clause = len(s.tokens), marks.clause
    resume = [h.start for h in s.talk if "resume" in h.labels]
    verbs = {clause[h.start] for h in s.words if "verb" in h.labels}
    exempt = covered(s)
    shared = [Hit(k, k + 1, ("same",)) for k, t in enumerate(s.tokens) if t.raw in ("§S", "§T")]
    for hit in (*(h for h in s.talk if "same" in h.labels), *shared):
        if hit.start in negated:
            if deniers.intersection(range(hit.start - 3, hit.start)):
                marks.found.append(Found(hit.start, "vague~", False))
            continue
        if hit.start in exempt or marks.sides[hit.start] == "N":
            continue
        number = clause[hit.start]
        since = max([c + 1 for c in verbs if c < number] + [c for c in marks.hard if c <= number], default=0)
        stop = next((r for r in resume if r > hit.start), n)
        back = max((r for r in resume if r < hit.start), default=-1)
        for k in range(back + 1, stop):
            same = clause[k] == number or (k < hit.start and clause[k] >= since)
            if same and s.tokens[hit.start].raw != "§S":
                marks.live[k] = False
        marks.alike.append((back + 1, stop))


def _restarts(s: Sentence, k: int) -> bool:
    """Whether a new statement of its own begins at the sub-clause of token k ("…, its corners are rounder")."""
    opens = any(t.raw in grammar("restart") for t in s.tokens[k : k + 2])
    return opens and any("verb" in h.labels for h in s.words if k < h.start < k + 8)
