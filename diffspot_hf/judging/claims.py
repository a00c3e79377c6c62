"""From a reply to its claims: of what thing each speaks, and which visible effects it reports of it.

Effects are signed as a step from Image A to Image B: "bold in A" and "no longer bold" both mean less weight.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from .colors import Oklch
from .effects import Marks, mark
from .lexicon import Phrases, lexicon, phrases_of, vocabulary
from .masking import Masked, mask
from .phrases import Chunk, Sentence, analyse, chunks_of
from .reading import Statement, statements

_SIDE_MARK = re.compile(r"§([AB])")
_DENIED = re.compile(r"\bbut (?:it|they|this|that|she|he) (?:(?:is|are|was|were|does|do|did) not|(?:isn|aren|wasn|weren|doesn|don|didn)['’]t)\W*$")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_UNITS = frozenset({"px", "em", "rem", "pt", "%", "pixel", "pixels", "vw", "vh", "ms"})
_MOST = 12
"""Claims read of one statement (our choice)."""
_OPENERS = frozenset({"the", "its", "their", "a", "an", "another", "all", "some", "der", "die", "das", "el", "la", "le"})


@dataclass(frozen=True)
class Quote:
    """A quotation: its number and text, the side it belongs to, whether it stands in the value's place ("now reads …")."""

    number: int
    text: str
    side: str
    told: bool


@dataclass(frozen=True)
class Claim:
    """One claimed difference.

    `parents` are the things named just before, for claims that name none. `weak` effects may be plain descriptions;
    `asserted` says that a difference is claimed at all. Colours are (side, basic names), values (side, colour).
    """

    text: str
    group: int
    chunks: tuple[Chunk, ...]
    parents: tuple[Chunk, ...]
    effects: frozenset[str]
    asserted: bool
    quotes: tuple[Quote, ...] = ()
    parent_quotes: tuple[Quote, ...] = ()
    colors: tuple[tuple[str, frozenset[str]], ...] = ()
    values: tuple[tuple[str, Oklch], ...] = ()
    words: tuple[tuple[str, str], ...] = ()
    places: frozenset[str] = frozenset()
    numbers: tuple[float, float] | None = None
    possessive: bool = False

    @property
    def vague(self) -> bool:
        """Whether it says that something differs, but not how."""
        return bool(self.effects) and self.effects <= {"vague~", "text?", "family~"}


@dataclass
class _Parsed:
    """A statement with everything found in it."""

    source: Statement
    masked: Masked
    s: Sentence
    marks: Marks
    chunks: tuple[Chunk, ...] = field(default=())


def claims_of(reply: str, names: Sequence[str] = ()) -> list[Claim]:
    """The claims of `reply` in reading order. `names` are the texts by which the record names things; where the reply
    uses them without quotation marks they are still no words of change.

    >>> [sorted(c.effects) for c in claims_of("- The heading is bolder.\\n- Nothing moved.")]
    [['weight+']]
    """
    found: list[Claim] = []
    parents: tuple[Chunk, ...] = ()
    parent_quotes: tuple[Quote, ...] = ()
    group, context = -1, ""
    for statement in statements(reply):
        if statement.group != group or statement.context != context:
            group, context = statement.group, statement.context
            parents, parent_quotes = (), ()
            if context and context != "§title":
                above = _parse(Statement(context), names)
                if not (above.marks.found and all(f.effect == "vague~" for f in above.marks.found)):
                    parents, parent_quotes = above.chunks, _quotes(above, 0, len(above.s.tokens))
        parsed = _parse(statement, names)
        found += _claims(parsed, parents, parent_quotes)
        own = tuple(c for c in parsed.chunks if c.ids or c.quotes)
        if own and not _pronominal(parsed):
            parents, parent_quotes = own, _quotes(parsed, 0, len(parsed.s.tokens))
    return found


def _parse(statement: Statement, names: Sequence[str]) -> _Parsed:
    masked = mask(statement.text, names)
    s = analyse(masked.text)
    return _Parsed(statement, masked, s, mark(s, masked.sided, statement.listed), chunks_of(s))


def _pronominal(p: _Parsed) -> bool:
    first = next((t.raw for t in p.s.tokens if t.raw[0].isalnum()), "")
    return first in ("it", "they", "this", "these", "its", "es", "sie") and (not p.chunks or p.chunks[0].head in ("", "text", "thing"))


def _claims(p: _Parsed, parents: tuple[Chunk, ...], parent_quotes: tuple[Quote, ...]) -> list[Claim]:
    tokens = p.s.tokens
    starts = _starts(p)
    claims: list[Claim] = []
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(tokens)
        claim = _claim(p, start, end, parents, parent_quotes)
        if claim is not None:
            claims.append(claim)
            if claim.chunks and not claim.possessive:
                parents, parent_quotes = claim.chunks, claim.quotes
    return claims


def _starts(p: _Parsed) -> list[int]:
    """Where a new claim with a subject of its own begins inside the statement."""
    tokens, clause = p.s.tokens, p.marks.clause
    starts = [0]
    if any(t.raw == "§A" for t in tokens):
        return starts
    for k in range(1, len(tokens)):
        if clause[k] == clause[k - 1]:
            continue
        end = next((j for j in range(k + 1, len(tokens)) if clause[j] != clause[k]), len(tokens))
        opener = next((j for j in range(k, min(k + 3, end)) if tokens[j].raw in _OPENERS or tokens[j].raw.startswith("§Q")), None)
        if opener is None or tokens[k].raw in (":", "("):
            continue
        own = [c for c in p.chunks if opener <= c.start < end and (c.quotes or any(lexicon().kind_of.get(g) not in (None, "generic") for g in c.nouns))]
        if not own or not any("verb" in h.labels for h in p.s.words if own[0].start < h.start < end):
            continue
        if len(starts) < _MOST and any(starts[-1] <= f.at < k for f in p.marks.found) and any(k <= f.at < end for f in p.marks.found):
            starts.append(k)
    return starts


def _claim(p: _Parsed, start: int, end: int, parents: tuple[Chunk, ...], parent_quotes: tuple[Quote, ...]) -> Claim | None:
    tokens, marks = p.s.tokens, p.marks
    if _DENIED.search(p.masked.text):
        return None
    chunks = tuple(c for c in p.chunks if start <= c.start < end)
    found = [f for f in marks.found if start <= f.at < end]
    quotes = _quotes(p, start, end)
    colors = [(side, labels) for at, side, labels in marks.colors if start <= at < end]
    effects = {f.effect for f in found}
    effects |= _color_effects(effects, colors, p, start, end)
    effects |= _text_effects(p, start, end, quotes, effects)
    effects |= _sized(p, start, end, effects)
    if p.source.described:
        effects -= {"vague~"}
    named = [c for c in chunks if c.ids or c.quotes]
    exception = _exception(p, start, end) if not effects else False
    if exception and named:
        effects.add("vague~")
    numbers = _numbers(p, start, end)
    if not effects and p.source.listed and not p.source.described and p.source.context != "§title" and _unexplained(p, start, end, chunks):
        effects.add("other~")
    if not effects and ((marks.compares and _contrasted(p, start, end)) or numbers):
        effects.add("other~")
    if effects & {"bcolor~", "bstyle~", "bwidth+", "bwidth-"}:
        effects.discard("border~")
    if len(effects) > 1:
        effects.discard("vague~")
        effects.discard("other~")
    if not effects or _hedged(p, start, end, effects, bool(named or parents)):
        return None
    bare = not any(lexicon().kind_of.get(g) not in (None, "generic") for c in named for g in c.nouns) and not any(c.quotes for c in named)
    preamble = any("preamble" in h.labels for h in p.s.talk if start <= h.start < end)
    announced = p.source.text.rstrip().endswith(":") or p.source.context == "§title"
    if effects <= {"vague~", "other~"} and not exception and (announced or (bare and preamble) or (not named and not _has_verb(p, start, end))):
        return None
    firm = marks.compares or (p.source.listed and not p.source.described and p.source.context != "§title")
    weak = not firm and all(f.weak for f in found) and not exception
    if not found and colors:
        weak = not firm
    first = next((t.raw for t in tokens[start:end] if t.raw[0].isalnum() and t.raw not in ("and", "while")), "")
    return Claim(
        _text(p, start, end, start == 0 and end == len(tokens)), p.source.group, chunks, parents, frozenset(effects), not weak, quotes, parent_quotes,
        tuple((side, frozenset(labels)) for side, labels in colors if not labels[0].startswith("§")),
        tuple((side, p.masked.values[int(labels[0][2:])]) for side, labels in colors if labels[0].startswith("§")),
        tuple((t.raw, marks.sides[k]) for k, t in enumerate(tokens[start:end], start) if t.raw[0].isalnum() and marks.live[k]),
        frozenset(label[6:] for h in p.s.words if start <= h.start < end for label in h.labels if label.startswith("place:")),
        numbers[:2] if numbers else None,
        first in ("its", "their"),
    )  # fmt: skip


def _quotes(p: _Parsed, start: int, end: int) -> tuple[Quote, ...]:
    """The quotations between two tokens."""
    tell, then = _tools()
    tokens, sides = p.s.tokens, p.marks.sides
    verb = min((h.start for h in p.s.words if "verb" in h.labels and h.start >= start), default=end)
    spots = [k for k in range(start, end) if tokens[k].raw.startswith("§Q")]
    turns = [h.start for h in then.find(tokens)]
    found = []
    for k in spots:
        side = sides[k]
        turn = next((t for t in turns if k < t <= k + 6), None)
        if side == "B" and turn is not None and any(j > turn for j in spots):
            side = "A"
        told = k > verb or side == "A" or p.masked.sided or any(tokens[j].raw in tell or tokens[j].raw in ("→", "->") for j in range(max(start, k - 2), k))
        number = int(tokens[k].raw[2:])
        found.append(Quote(number, p.masked.quotes[number], side, told))
    return tuple(found)


@cache
def _tools() -> tuple[frozenset[str], Phrases]:
    compare = vocabulary("effects")["compare"]
    return frozenset(compare["tell"]), phrases_of(compare["then"])


def _color_effects(effects: set[str], colors: list[tuple[str, tuple[str, ...]]], p: _Parsed, start: int, end: int) -> set[str]:
    """What colour words add: another colour, of a border if the border is spoken of; two colours and two ends: a gradient."""
    if _shaded(p, start, end):
        return {"grad~"}
    told = [(p.s.tokens[at].raw, side) for at, side, _ in p.marks.colors if start <= at < end]
    if not colors or effects & {"overlay~"} or any(e.startswith("shadow") for e in effects):
        return set()
    dims = {label for h in p.s.effects if start <= h.start < end for label in h.labels if label.startswith("dim:")}
    both = [{labels for side, labels in colors if side == s} for s in "AB"]
    words = [{word for word, side in told if side == s} for s in "AB"]
    if both[0] and both[0] == both[1] and words[0] == words[1]:
        return {"grad~"} if len(both[0]) > 1 and [w for w, s in told if s == "A"] != [w for w, s in told if s == "B"] else set()
    if "dim:rule" in dims:
        return {"bcolor~", "tone~"}
    if "dim:border" in dims or any(e.startswith(("bwidth", "border", "bcolor")) for e in effects):
        return {"bcolor~"}
    places = {label for h in p.s.words if start <= h.start < end for label in h.labels if label.startswith("place:")}
    placed = bool(places) or "swap~" in effects or bool(effects & {"x+", "x-", "y+", "y-"})
    if len({labels for _, labels in colors}) > 1 and placed and not both[0]:
        return {"grad~"}
    return {"tone~"}


def _shaded(p: _Parsed, start: int, end: int) -> bool:
    """Light here and dark there: a gradient told without colours."""
    shades = {h.labels for h in p.s.colors if start <= h.start < end and set(h.labels) <= {"light", "dark"} and p.marks.live[h.start]}
    places = [h for h in p.s.words if start <= h.start < end for label in h.labels if label.startswith("place:")]
    return bool(shades) and len(places) > 1


def _text_effects(p: _Parsed, start: int, end: int, quotes: tuple[Quote, ...], effects: set[str]) -> set[str]:
    """``text~`` where two readings are set side by side, or a new one is told."""
    if any(e[:-1] in ("track", "weight", "size", "fsize", "gap", "round", "light") for e in effects):
        return set()
    sides = {q.side for q in quotes if q.told}
    if {"A", "B"} <= sides:
        return {"text~"}
    told = [q for q in quotes if q.told and q.side == "B"]
    if told and effects & {"vague~", "text?"} and len(quotes) > 1:
        return {"text~"}
    if told and p.marks.compares and effects <= {"vague~", "text?"}:
        return {"text~"}
    numbers = _numbers(p, start, end)
    if numbers and not numbers[2] and not effects - {"vague~", "text?"}:
        return {"text~"}
    return set()


def _numbers(p: _Parsed, start: int, end: int) -> tuple[float, float, bool] | None:
    """The numbers of the two sides when there is one of each that differ, and whether they carry a unit."""
    tokens, sides = p.s.tokens, p.marks.sides
    by_side: dict[str, list[tuple[float, bool]]] = {"A": [], "B": []}
    for k in range(start, end):
        if _NUMBER.fullmatch(tokens[k].raw) and sides[k] in by_side:
            unit = k + 1 < len(tokens) and tokens[k + 1].raw in _UNITS
            by_side[sides[k]].append((_value(tokens[k].raw), unit))
    if len(by_side["A"]) != 1 or len(by_side["B"]) != 1 or by_side["A"][0][0] == by_side["B"][0][0]:
        return None
    return by_side["A"][0][0], by_side["B"][0][0], by_side["A"][0][1] or by_side["B"][0][1]


def _value(text: str) -> float:
    """A number as written in any country: "1,299" and "1.5" and "1,5"."""
    if text.count(",") + text.count(".") > 1 or re.search(r"[.,]\d{3}$", text):
        return float(re.sub(r"[.,]", "", text))
    return float(text.replace(",", "."))


def _sized(p: _Parsed, start: int, end: int, effects: set[str]) -> set[str]:
    """The sign that two numbers give to a measure ("padding: 8px → 32px")."""
    if effects - {"vague~"} and not any(e.endswith("~") for e in effects):
        return set()
    numbers = _numbers(p, start, end)
    if not numbers:
        return set()
    sense = "up" if numbers[1] > numbers[0] else "down"
    dims = {label[4:] for h in p.s.effects if start <= h.start < end for label in h.labels if label.startswith("dim:")}
    if "lspace" in dims or "nspace" in dims:
        dims.discard("space")
    compose = lexicon().compose
    return {effect for dim in dims for effect in compose.get(dim, {}).get(sense, "").split()} - {"tone~"}


def _exception(p: _Parsed, start: int, end: int) -> bool:
    """Whether the claim stands behind "except", "apart from" and the like, which make the bare thing a difference."""
    return any("resume" in h.labels and start <= h.start < end and p.s.tokens[h.start].raw in _EXCEPT for h in p.s.talk)


_EXCEPT = frozenset({"except", "apart", "aside", "other", "besides", "save", "barring", "only", "außer", "bis", "abgesehen", "excepto", "salvo", "sauf", "hormis", "除", "以", "を"})


def _contrasted(p: _Parsed, start: int, end: int) -> bool:
    """Whether the two sides are told differently, or a "now" is told, without any word the lexicon knows."""
    if p.source.described:
        return False
    words: dict[str, set[str]] = {"A": set(), "B": set()}
    for k in range(start, end):
        token = p.s.tokens[k]
        if token.raw[0].isalnum() and p.marks.live[k] and token.raw not in _stop() and p.marks.sides[k] in words:
            words[p.marks.sides[k]].add(token.stem)
    if not words["B"] or any(not p.marks.live[k] for k in range(start, end)):
        return False
    if words["A"]:
        return len(words["A"] - words["B"]) > 0 and len(words["B"] - words["A"]) > 0
    return any(t.raw in ("now", "jetzt", "ahora", "maintenant") for t in p.s.tokens[start:end])


def _has_verb(p: _Parsed, start: int, end: int) -> bool:
    return any("verb" in h.labels and start <= h.start < end for h in p.s.words)


def _unexplained(p: _Parsed, start: int, end: int, chunks: tuple[Chunk, ...]) -> bool:
    """Whether a list item names a thing and says something of it that no part of the lexicon explains."""
    tokens = p.s.tokens
    if p.masked.sided or not all(p.marks.live[start:end]) or p.marks.alike or any(t.raw in ("§S", "§T") for t in tokens) or len(tokens) > 30:
        return False
    if any({"same", "negator", "hedge", "preamble"} & set(h.labels) for h in p.s.talk):
        return False
    verb = any("verb" in h.labels for h in p.s.words)
    known = any(lexicon().kind_of.get(g) not in (None, "generic") for c in chunks for g in c.nouns)
    return known and (verb or ":" in p.source.text) and len([c for c in chunks if c.ids]) > 1


@cache
def _stop() -> frozenset[str]:
    return frozenset(vocabulary("elements")["words"]["stop"]) | {"has", "shows", "is", "are", "was"}


def _hedged(p: _Parsed, start: int, end: int, effects: set[str], named: bool) -> bool:
    """Whether nothing is claimed: a condition, a doubt about what cannot be seen, noise that may be there."""
    resume = [h.start for h in p.s.talk if "resume" in h.labels]
    at = next((h.start for h in p.s.effects if start <= h.start < end and p.marks.live[h.start]), start)
    low, high = max((r for r in resume if r <= at), default=0), min((r for r in resume if r > at), default=len(p.s.tokens))
    labels = {label for h in p.s.talk if low <= h.start < high for label in h.labels}
    clause = p.marks.clause
    if any("hedge" in h.labels and low <= h.start < high and (h.start <= at or clause[h.start] == clause[at]) for h in p.s.talk):
        return True
    if "noise" in labels and labels & {"modal", "negator"}:
        return True
    vague = effects <= {"vague~", "other~", "text?", "family~"}
    return vague and "modal" in labels and (bool(labels & {"unseen", "quantifier"}) or not named)


def _text(p: _Parsed, start: int, end: int, whole: bool) -> str:
    """The claim in the reply's own words."""
    if whole:
        return _SIDE_MARK.sub(lambda m: f"Image {m[1]}:", p.source.text)
    first, last = p.s.tokens[start].at, p.s.tokens[end - 1].end
    text = p.masked.text[first:last].strip(" ,;")
    text = re.sub(r"§Q(\d+)", lambda m: f'"{p.masked.quotes[int(m[1])]}"', text)
    return re.sub(r"§([AB])", r"in Image \1", text)
