"""Which visible effects a statement reports, each signed as a step from Image A to Image B.

Measures ("padding") and degrees ("smaller") are combined inside each sub-clause; which words count, and of which image
they speak, is read before (`sides`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from .lexicon import Hit, Phrases, grammar, labelled, lexicon, vocabulary
from .phrases import Sentence
from .sides import PUNCTUATION, Found, Marks, flip, read_sides

_ARTICLES, _AFTER = grammar("article"), grammar("after") | PUNCTUATION
_LOST, _LESS = grammar("lost"), grammar("less")
_STATED = frozenset({"corner", "shape", "border", "weight", "font", "align", "alpha"})
_PLAIN = frozenset({"rule", "wording", "look", "font", "image"})
_UNSURE = frozenset({"text?", "family~"})


@cache
def _absolute() -> Phrases:
    return Phrases(labelled(vocabulary("effects")["absolute"]))


def mark(s: Sentence, sided: bool, listed: bool) -> Marks:
    """The marks of the statement `s` with all effects and colours found in it. `sided`: it names an image of the pair;
    `listed`: it is an item of a list, where plain states are changes."""
    marks = read_sides(s, sided)
    _collect(s, marks, listed)
    _collect_colors(s, marks)
    return marks


def _collect(s: Sentence, marks: Marks, listed: bool) -> None:
    """Fills `marks.found`; an effect told alike of both images is none."""
    plain = _absolute().find(s.tokens)
    weak = {h.start: h.end for h in plain}
    adjectives = {h.start: h.end for h in plain if "nouns" not in h.labels}
    told: dict[tuple[str, str], set[str]] = {}
    carried: set[str] = set()
    for hits in _by_clause(s, marks):
        dims = _dimensions(hits, marks)
        marks.found += _lacking(s, marks, hits, listed) + _counted(s, marks, hits, dims)
        real = dims - _PLAIN
        degree = any(_is_degree(hit) for hit in hits)
        if not real:
            dims |= carried
        carried = real if real and not degree else set() if degree else carried
        states = marks.compares or (listed and bool(dims & _STATED))
        for hit in hits:
            at = hit.start
            if at in marks.denied and at in weak:
                marks.found += [Found(at, flip(e), False) for e in _resolve(hit.labels, dims, True)]
            if not marks.live[at] or marks.sides[at] == "N" or _describes(s, hit, adjectives) or _is_less(s, hit, hits):
                continue
            plainly = weak.get(at) == hit.end
            if plainly and any(low <= at < high for low, high in marks.alike):
                continue
            less = at > 0 and s.tokens[at - 1].raw in _LESS and _is_degree(hit)
            less |= _is_degree(hit) and any(t.raw in _LOST for t in s.tokens[max(0, at - 2) : at])
            for effect in _resolve(hit.labels, dims, states):
                effect = flip(effect) if less else effect
                words = " ".join(t.stem for t in s.tokens[at : hit.end])
                told.setdefault((effect, words), set()).add(marks.sides[at])
                marks.found.append(Found(at, flip(effect) if marks.sides[at] == "A" else effect, plainly))
    both = {effect for (effect, _), sides in told.items() if {"A", "B"} <= sides}
    gone = both | {flip(effect) for effect in both}
    marks.found = [f for f in marks.found if f.effect not in gone]


def _is_degree(hit: Hit) -> bool:
    return any(not label.startswith(("dim:", "state:")) for label in hit.labels)


def _is_less(s: Sentence, hit: Hit, hits: list[Hit]) -> bool:
    """Whether the hit is a bare "less" that only turns the next word round ("less compact")."""
    if hit.labels != ("down:none",) or s.tokens[hit.start].raw not in _LESS:
        return False
    return any(h.start == hit.end and _is_degree(h) for h in hits)


def _by_clause(s: Sentence, marks: Marks) -> Iterator[list[Hit]]:
    group: list[Hit] = []
    for hit in s.effects:
        if group and marks.clause[hit.start] != marks.clause[group[0].start]:
            yield group
            group = []
        group.append(hit)
    if group:
        yield group


def _dimensions(hits: list[Hit], marks: Marks) -> set[str]:
    """What the sub-clause measures; space between letters is letter spacing, between lines line spacing."""
    dims = {label[4:] for h in hits for label in h.labels if label.startswith("dim:") and marks.live[h.start]}
    if "space" in dims and dims & {"letters", "lspace"}:
        dims = (dims - {"space", "letters"}) | {"lspace"}
    if "space" in dims and dims & {"lines", "nspace"}:
        dims = (dims - {"space", "lines"}) | {"nspace"}
    return dims - {"skip"}


def _lacking(s: Sentence, marks: Marks, hits: list[Hit], listed: bool) -> list[Found]:
    """ "No visible border": a measure right behind a negation is gone."""
    firm = marks.compares or listed or any("again" in h.labels for h in s.talk)
    for hit in hits:
        for label in hit.labels:
            effect = lexicon().compose.get(label[4:], {}).get("gone") if label.startswith("dim:") else None
            if effect and any(t.raw == "no" for t in s.tokens[max(0, hit.start - 2) : hit.start]):
                return [Found(hit.start, effect if marks.sides[hit.start] != "A" else flip(effect), not firm)]
    return []


def _counted(s: Sentence, marks: Marks, hits: list[Hit], dims: set[str]) -> list[Found]:
    """ "One link fewer": a degree where nothing is measured is a count."""
    if dims:
        return []
    live = [h for h in hits if marks.live[h.start] and any(label.endswith(":none") for label in h.labels)]
    return [Found(h.start, "count~", s.tokens[h.start].raw in grammar("more")) for h in live[:1] if len(h.labels) == 1]


def _resolve(labels: tuple[str, ...], dims: set[str], states: bool) -> set[str]:
    """The effects of one hit, given the measures named beside it; `states`: plain states count."""
    compose: Mapping[str, Mapping[str, str]] = lexicon().compose
    effects: set[str] = set()
    for label in labels:
        sense, _, default = label.partition(":")
        if sense == "effect":
            effects.update(default.split())
        elif sense == "state":
            effects.update([default] if states else [])
        elif sense != "dim":
            tables = [compose.get(dim, {}) for dim in dims]
            combined = {e for table in tables for e in (table.get(default) or table.get(sense) or "").split()}
            if len(combined) > 1 and sense == "change" and not combined & _UNSURE:
                combined.discard("vague~")
            if not combined and default != "none":
                combined.update(default.split())
            effects |= combined
    return effects


def _describes(s: Sentence, hit: Hit, adjectives: Mapping[int, int]) -> bool:
    """Whether the word only describes the thing spoken of ("the bold heading moved", "the lower card")."""
    state = all(label.startswith("state:") for label in hit.labels)
    if not state and (
        not _is_degree(hit)
        or not (hit.start in adjectives or s.tokens[hit.start].raw in ("lower", "higher", "missing"))
    ):
        return False
    return _before_noun(s, hit.start, hit.end)


def _before_noun(s: Sentence, start: int, end: int) -> bool:
    """Whether the words stand between an article and its noun, in front of the first verb."""
    verb = next((h.start for h in s.words if "verb" in h.labels), len(s.tokens))
    following = s.tokens[end].raw if end < len(s.tokens) else ""
    if start >= verb or following in _AFTER or following in ("§A", "§B"):
        return False
    return any(t.raw in _ARTICLES for t in s.tokens[max(0, start - 2) : start])


def _collect_colors(s: Sentence, marks: Marks) -> None:
    """Fills `marks.colors` with the colours that are claimed; "light blue" is also lighter."""
    shades = {h.end: h for h in s.colors if set(h.labels) <= {"light", "dark"}}
    spots = [(h.start, h.end, h.labels) for h in s.colors if not set(h.labels) <= {"light", "dark"}]
    spots += [(k, k + 1, (t.raw,)) for k, t in enumerate(s.tokens) if t.raw.startswith("§C")]
    for start, end, labels in sorted(spots):
        if not marks.live[start] or marks.sides[start] == "N" or _before_noun(s, start, end):
            continue
        if any(low <= start < high for low, high in marks.alike):
            continue
        lost = any(t.raw in _LOST for t in s.tokens[max(0, start - 3) : start])
        marks.colors.append((start, "A" if lost else marks.sides[start], labels))
        if start in shades:
            effect = "light+" if "light" in shades[start].labels else "light-"
            marks.found.append(Found(start, flip(effect) if marks.sides[start] == "A" else effect, True))
