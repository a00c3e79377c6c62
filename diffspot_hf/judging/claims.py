"""From a reply to its claims: of what thing each speaks, and which visible effects it reports of it.

Effects are signed as a step from Image A to Image B: "bold in A" and "no longer bold" both mean less weight.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .colors import Oklch
from .inferring import excepted, infer
from .lexicon import grammar, lexicon
from .phrases import Chunk
from .reading import Statement, statements
from .spans import Parsed, Quote, Span, parse

_DENIED = re.compile(
    r"\bbut (?:it|they|this|that|she|he) (?:(?:is|are|was|were|does|do|did) not"
    r"|(?:isn|aren|wasn|weren|doesn|don|didn)['’]t)\W*$"
)
_MOST = 12
"""Claims read of one statement (our choice)."""


@dataclass(frozen=True)
class Claim:
    """One claimed difference.

    `parents` are the things named just before, for claims that name none. `asserted` says that a change is claimed, not
    only a state described. Colours are (side, basic names), values (side, colour), words (word, side).
    """

    text: str
    group: int
    chunks: tuple[Chunk, ...]
    parents: tuple[Chunk, ...]
    effects: frozenset[str]
    asserted: bool
    quotes: tuple[Quote, ...]
    parent_quotes: tuple[Quote, ...]
    colors: tuple[tuple[str, frozenset[str]], ...]
    values: tuple[tuple[str, Oklch], ...]
    words: tuple[tuple[str, str], ...]
    numbers: tuple[float, float] | None
    possessive: bool

    @property
    def vague(self) -> bool:
        """Whether it says that something differs, but not how."""
        return self.effects <= {"vague~", "text?", "family~"}


def claims_of(reply: str, names: Sequence[str] = ()) -> list[Claim]:
    """The claims of `reply` in reading order. `names` are the texts by which the record names things; where the reply
    uses them without quotation marks they are still no words of change.

    >>> [sorted(c.effects) for c in claims_of("- The heading is bolder.\\n- Nothing moved.")]
    [['weight+']]
    """
    found: list[Claim] = []
    above: Span | None = None
    place: tuple[int, str] = (-1, "")
    for statement in statements(reply):
        if (statement.group, statement.context) != place:
            place = (statement.group, statement.context)
            above = _above(statement.context, names)
        parsed = parse(statement, names)
        found += _claims(parsed, above)
        if parsed.whole().named and not _pronominal(parsed):
            above = parsed.whole()
    return found


def _above(context: str, names: Sequence[str]) -> Span | None:
    """The heading or parent item, if it may name the thing that its items speak of."""
    if not context or context == "§title":
        return None
    parsed = parse(Statement(context), names)
    effects = {f.effect for f in parsed.marks.found}
    return None if effects == {"vague~"} else parsed.whole()


def _pronominal(p: Parsed) -> bool:
    first = next((t.raw for t in p.s.tokens if t.raw[0].isalnum()), "")
    return first in grammar("pronoun") and (not p.chunks or p.chunks[0].head in ("", "text", "thing"))


def _claims(p: Parsed, above: Span | None) -> list[Claim]:
    if _DENIED.search(p.masked.text):
        return []
    starts = [*_starts(p), len(p.s.tokens)]
    claims: list[Claim] = []
    for start, end in pairwise(starts):
        span = Span(p, start, end)
        claim = _claim(span, above)
        if claim is not None:
            claims.append(claim)
            if claim.chunks and not claim.possessive:
                above = span
    return claims


def _starts(p: Parsed) -> list[int]:
    """Where a new claim with a subject of its own begins inside the statement."""
    tokens, clause, found = p.s.tokens, p.marks.clause, p.marks.found
    starts = [0]
    if any(t.raw == "§A" for t in tokens):
        return starts
    for k in range(1, len(tokens)):
        if clause[k] == clause[k - 1] or tokens[k].raw in (":", "(") or len(starts) == _MOST:
            continue
        end = next((j for j in range(k + 1, len(tokens)) if clause[j] != clause[k]), len(tokens))
        opener = next(
            (j for j in range(k, min(k + 3, end)) if tokens[j].raw in grammar("opener") or tokens[j].raw[:2] == "§Q"),
            None,
        )
        if opener is None:
            continue
        own = [c for c in Span(p, opener, end).chunks if c.quotes or _known([c])]
        if not own or not Span(p, own[0].start + 1, end).has_verb:
            continue
        if any(starts[-1] <= f.at < k for f in found) and any(k <= f.at < end for f in found):
            starts.append(k)
    return starts


def _known(chunks: Sequence[Chunk]) -> bool:
    """Whether some phrase names a thing of a page, not just text or a place."""
    return any(lexicon().kind_of.get(g) not in (None, "generic") for c in chunks for g in c.nouns)


def _claim(span: Span, above: Span | None) -> Claim | None:
    p, marks = span.p, span.p.marks
    found = [f for f in marks.found if span.start <= f.at < span.end]
    effects = {f.effect for f in found}
    infer(span, effects)
    if not effects or _hedged(span, effects, bool(span.named or above)) or _announces(span, effects):
        return None
    firm = marks.compares or (p.source.listed and not p.source.described and p.source.context != "§title")
    strong = any(not f.weak for f in found) or excepted(span) or (not found and not span.colors)
    colors = [(side, labels) for side, _, labels in span.colors]
    tokens = list(enumerate(p.s.tokens[span.start : span.end], span.start))
    first = next((t.raw for _, t in tokens if t.raw[0].isalnum() and t.raw not in ("and", "while")), "")
    return Claim(
        text=span.text,
        group=p.source.group,
        chunks=span.chunks,
        parents=tuple(above.named) if above else (),
        effects=frozenset(effects),
        asserted=firm or strong,
        quotes=span.quotes,
        parent_quotes=above.quotes if above else (),
        colors=tuple((side, frozenset(labels)) for side, labels in colors if labels[0][0] != "§"),
        values=tuple((side, p.masked.values[int(labels[0][2:])]) for side, labels in colors if labels[0][0] == "§"),
        words=tuple((t.raw, marks.sides[k]) for k, t in tokens if t.raw[0].isalnum() and marks.live[k]),
        numbers=span.numbers[:2] if span.numbers else None,
        possessive=first in ("its", "their"),
    )


def _announces(span: Span, effects: set[str]) -> bool:
    """Whether it only says that differences follow ("I found these differences:", "Changes")."""
    if not effects <= {"vague~", "other~"} or excepted(span):
        return False
    if span.p.source.text.rstrip().endswith(":") or span.p.source.context == "§title":
        return True
    bare = not _known(span.named) and not any(c.quotes for c in span.named)
    return (bare and span.says("preamble")) or not (span.named or span.has_verb)


def _hedged(span: Span, effects: set[str], named: bool) -> bool:
    """Whether nothing is claimed: a condition, a doubt about what cannot be seen, noise that may be there."""
    p, clause = span.p, span.p.marks.clause
    resume = [h.start for h in p.s.talk if "resume" in h.labels]
    at = next((h.start for h in span.within(p.s.effects) if p.marks.live[h.start]), span.start)
    low = max((r for r in resume if r <= at), default=0)
    high = min((r for r in resume if r > at), default=len(p.s.tokens))
    part = Span(p, low, high)
    opening = next((k for k in range(low, at + 1) if clause[k] == clause[at] and p.s.tokens[k].raw[0].isalnum()), at)
    if p.s.tokens[opening].raw in grammar("if"):
        return True
    if any("hedge" in h.labels and (h.start <= at or clause[h.start] == clause[at]) for h in part.within(p.s.talk)):
        return True
    if part.says("noise") and part.says("modal", "negator"):
        return True
    vague = effects <= {"vague~", "other~", "text?", "family~"}
    return vague and part.says("modal") and (part.says("unseen", "quantifier") or not named)
