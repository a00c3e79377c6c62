"""Effects that no single word names: of colours, quotations and numbers set side by side, and of exceptions."""

from __future__ import annotations

from functools import cache

from .lexicon import grammar, lexicon, vocabulary
from .spans import Span

_EXCEPT, _NOW = grammar("except"), grammar("now")
_MEASURED = frozenset({"track", "weight", "size", "fsize", "gap", "round", "light"})
_LOOSE = frozenset({"vague~", "text?"})
_LONG = 30
"""Tokens past which a list item with no known word of change is taken for prose (our choice)."""


def infer(span: Span, effects: set[str]) -> None:
    """Adds to `effects`, those that words name, what else the span claims; leaves the most telling ones."""
    effects |= _of_colors(span, effects)
    effects |= _of_quotes(span, effects)
    effects |= _of_numbers(span, effects)
    if span.p.source.described:
        effects.discard("vague~")
    if not effects and excepted(span) and span.named:
        effects.add("vague~")
    if not effects and (_unexplained(span) or (span.p.marks.compares and _contrasted(span)) or span.numbers):
        effects.add("other~")
    if effects & {"bcolor~", "bstyle~", "bwidth+", "bwidth-"}:
        effects.discard("border~")
    if len(effects) > 1:
        effects.difference_update({"vague~", "other~"})


def excepted(span: Span) -> bool:
    """Whether it stands behind "except", "apart from" and the like, which make the bare thing a difference."""
    talk = span.within(span.p.s.talk)
    return any("resume" in h.labels and span.p.s.tokens[h.start].raw in _EXCEPT for h in talk)


def _of_colors(span: Span, effects: set[str]) -> set[str]:
    """Another colour; of a border if the border is spoken of; two colours at two ends: a gradient."""
    if _shaded(span):
        return {"grad~"}
    if not span.colors or "overlay~" in effects or any(e.startswith("shadow") for e in effects):
        return set()
    before = [(word, labels) for side, word, labels in span.colors if side == "A"]
    after = [(word, labels) for side, word, labels in span.colors if side == "B"]
    if before and set(before) == set(after):
        return {"grad~"} if len(set(before)) > 1 and before != after else set()
    if "rule" in span.dims:
        return {"bcolor~", "tone~"}
    if "border" in span.dims or any(e.startswith(("bwidth", "border", "bcolor")) for e in effects):
        return {"bcolor~"}
    placed = bool(span.places) or bool(effects & {"swap~", "x+", "x-", "y+", "y-"})
    return {"grad~"} if placed and not before and len({labels for _, labels in after}) > 1 else {"tone~"}


def _shaded(span: Span) -> bool:
    """Light here and dark there: a gradient told without colours."""
    shades = [
        h for h in span.within(span.p.s.colors) if set(h.labels) <= {"light", "dark"} and span.p.marks.live[h.start]
    ]
    return bool(shades) and len(span.places) > 1


def _of_quotes(span: Span, effects: set[str]) -> set[str]:
    """``text~`` where two readings are set side by side, or a new one is told."""
    if any(e[:-1] in _MEASURED for e in effects):
        return set()
    sides = [q.side for q in span.quotes if q.told]
    if "A" in sides and "B" in sides:
        return {"text~"}
    if "B" in sides and ((effects & _LOOSE and len(span.quotes) > 1) or (span.p.marks.compares and effects <= _LOOSE)):
        return {"text~"}
    return {"text~"} if span.numbers and not span.numbers[2] and effects <= _LOOSE else set()


def _of_numbers(span: Span, effects: set[str]) -> set[str]:
    """The sign that two numbers give to a measure ("padding: 8px → 32px")."""
    if not span.numbers or (effects - {"vague~"} and not any(e.endswith("~") for e in effects)):
        return set()
    sense = "up" if span.numbers[1] > span.numbers[0] else "down"
    dims = span.dims - ({"space"} if span.dims & {"lspace", "nspace"} else set())
    compose = lexicon().compose
    return {e for dim in dims for e in compose.get(dim, {}).get(sense, "").split()} - {"tone~"}


def _contrasted(span: Span) -> bool:
    """Whether the two sides are told differently, or a "now" is told, without any word the lexicon knows."""
    marks, tokens = span.p.marks, span.p.s.tokens[span.start : span.end]
    if span.p.source.described or not all(marks.live[span.start : span.end]):
        return False
    words: dict[str, set[str]] = {"A": set(), "B": set(), "N": set()}
    for k, token in enumerate(tokens, span.start):
        if token.raw[0].isalnum() and token.raw not in _stop():
            words[marks.sides[k]].add(token.stem)
    if words["A"] and words["B"]:
        return bool(words["A"] - words["B"]) and bool(words["B"] - words["A"])
    return bool(words["B"]) and any(t.raw in _NOW for t in tokens)


@cache
def _stop() -> frozenset[str]:
    return frozenset(vocabulary("elements")["words"]["stop"]) | {"has", "shows", "is", "are", "was"}


def _unexplained(span: Span) -> bool:
    """Whether a list item names a thing and says something of it that no part of the lexicon explains."""
    p = span.p
    if not p.source.listed or p.source.described or p.source.context == "§title" or p.masked.sided or p.marks.alike:
        return False
    if not all(p.marks.live[span.start : span.end]) or len(p.s.tokens) > _LONG:
        return False
    if any({"same", "negator", "hedge", "preamble"} & set(h.labels) for h in p.s.talk):
        return False
    known = any(lexicon().kind_of.get(g) not in (None, "generic") for c in span.chunks for g in c.nouns)
    says = ":" in p.source.text or any("verb" in h.labels for h in p.s.words)
    return known and says and sum(bool(c.ids) for c in span.chunks) > 1
