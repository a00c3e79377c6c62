"""Which visible effects a statement reports, each signed as a step from Image A to Image B.

Order of work: cut into sub-clauses, say which side of the pair each token speaks of, strike what is negated or said to be
the same, then combine measures ("padding") and degrees ("smaller") inside each sub-clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from .lexicon import Hit, Phrases, labelled, lexicon, phrases_of, vocabulary
from .phrases import Sentence

_PUNCTUATION = frozenset(",;:()|—–.")
_HARD = frozenset(";.|")
_ARROWS = frozenset({"->", "→"})
_ARTICLES = frozenset({"the", "this", "that", "these", "those", "both"})
_AFTER = frozenset({"and", "of", "or", "is", "are", "to", "in", "on"})
_BE = frozenset({"was", "were"})
_AND = frozenset({"and", "und", "y", "et", "plus"})
_STATED = frozenset({"corner", "shape", "border", "weight", "font", "align", "alpha"})
_LOST = frozenset({"lost", "loses", "losing"})
_LESS = frozenset({"less", "weniger", "menos", "moins"})
_NOW = frozenset({"now", "jetzt", "ahora", "maintenant"})
_NONE = frozenset({"none", "nothing", "zero", "n/a", "keine", "kein", "ninguna", "ninguno", "aucune", "aucun", "rien", "nada"})
_PERCEIVE = frozenset({"any", "see", "find", "notice", "detect", "observe", "spot", "identify", "discern", "perceive"})
_REACH = 16
"""Tokens over which a "from" waits for its "to" (our choice)."""


class Found(NamedTuple):
    """An effect at a token; `weak` if it may be a plain description."""

    at: int
    effect: str
    weak: bool


@dataclass
class Marks:
    """What `mark` learned of a sentence. `sides[i]` is A, B or N (a mere reference) for token i, `live[i]` whether it
    is claimed at all, `clause[i]` its sub-clause; `compares` says that the sentence sets the two images side by side."""

    sides: list[str]
    live: list[bool]
    clause: list[int]
    compares: bool = False
    found: list[Found] = field(default_factory=list)
    colors: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    alike: list[tuple[int, int]] = field(default_factory=list)
    denied: set[int] = field(default_factory=set)


@cache
def _tools() -> tuple[Phrases, Phrases, Phrases]:
    effects = vocabulary("effects")
    return Phrases(labelled({k: v for k, v in effects["compare"].items() if k not in ("then", "tell", "turn")})), Phrases(labelled(effects["absolute"])), phrases_of(effects["compare"]["turn"])


def mark(s: Sentence, sided: bool, listed: bool) -> Marks:
    """The effects of the whole sentence, by token position."""
    n = len(s.tokens)
    compare = {h.start: h for h in _tools()[0].find(s.tokens)}
    clause, hard = _clauses(s, compare)
    marks = Marks(["B"] * n, [True] * n, clause)
    marks.compares = sided or any({"now", "before"} & set(h.labels) for h in compare.values()) or any(t.raw in _ARROWS for t in s.tokens)
    marks.compares |= _assign_sides(s, marks, compare, hard)
    _strike(s, marks, hard)
    _collect(s, marks, listed)
    return marks


def _clauses(s: Sentence, compare: dict[int, Hit]) -> tuple[list[int], set[int]]:
    """Sub-clause number of each token, and the numbers of the sub-clauses that open after a hard break."""
    bearing = [0] * (len(s.tokens) + 1)
    for hit in s.effects:
        if any(not label.startswith(("dim:", "state:")) for label in hit.labels):
            bearing[hit.start] = 1
    ahead = [0] * (len(s.tokens) + 1)
    for k in range(len(s.tokens) - 1, -1, -1):
        stop = s.tokens[k].raw in _PUNCTUATION
        ahead[k] = 0 if stop else bearing[k] + ahead[k + 1]
    numbers, hard = [], {0}
    number, behind, between = 0, 0, False
    for k, token in enumerate(s.tokens):
        hit = compare.get(k)
        strong = hit is not None and ("strong" in hit.labels or "cause" in hit.labels)
        if token.raw in _PUNCTUATION or strong or (token.raw in _AND and behind and ahead[k] and not between):
            number, behind, between = number + 1, 0, False
            if (strong and hit is not None and "strong" in hit.labels) or token.raw in _HARD:
                hard.add(number)
        behind += bearing[k]
        between |= token.raw in ("between", "zwischen", "entre")
        numbers.append(number)
    return numbers, hard


def _assign_sides(s: Sentence, marks: Marks, compare: dict[int, Hit], hard: set[int]) -> bool:
    """Fills `marks.sides`; true if a from-to or an instead-of was met."""
    tokens, sides, clause = s.tokens, marks.sides, marks.clause
    n, carry, position, met = len(tokens), "", 0, False
    while position < n:
        number, start = clause[position], position
        while position < n and clause[position] == number:
            position += 1
        if number in hard:
            carry = ""
        found = [k for k in range(start, position) if tokens[k].raw in ("§A", "§B")]
        first = next((k for k in range(start, position) if tokens[k].raw not in _PUNCTUATION and k not in compare), position)
        if found:
            leads = found[0] <= first
            if len(found) == 1:
                for k in range(start, position):
                    sides[k] = tokens[found[0]].raw[1]
            else:
                current = tokens[found[0]].raw[1]
                for k in range(start, position):
                    if tokens[k].raw in ("§A", "§B"):
                        current = tokens[k].raw[1]
                    elif not leads:
                        current = tokens[next((f for f in found if f > k), found[-1])].raw[1]
                    sides[k] = current
            carry = tokens[found[-1]].raw[1] if leads else ""
        elif carry:
            for k in range(start, position):
                sides[k] = carry
        last = next((k for k in range(start, position) if tokens[k].raw in _ARROWS), None)
        if last is not None:
            met = True
            for k in range(start, last):
                sides[k] = "A"
            for k in range(last, position):
                sides[k] = "B"
    for hit in _tools()[2].find(tokens):
        for k in range(hit.start):
            if clause[k] == clause[hit.start] and sides[k] == "B":
                sides[k] = "A"
    both = {"§A", "§B"} <= {t.raw for t in tokens}
    later_now = max((k for k, t in enumerate(tokens) if t.raw in _NOW), default=-1)
    for k, token in enumerate(tokens):
        hit = compare.get(k)
        labels = hit.labels if hit is not None else ()
        if token.raw in _BE and k < later_now and clause[k] != clause[later_now]:
            met |= _paint(s, marks, k + 1, "A")
        if "before" in labels:
            met |= _paint(s, marks, hit.end, "A")
        elif "than" in labels:
            _paint(s, marks, k, "N")
        elif "from" in labels:
            end = next((j for j in range(k + 1, min(n, k + _REACH)) if (compare.get(j) is not None and "to" in compare[j].labels) or tokens[j].raw in _ARROWS), None)  # fmt: skip
            if end is not None and sides[k] != "N" and not both:
                met = True
                for j in range(k, end):
                    sides[j] = "A"
                for j in range(end, n):
                    if clause[j] != clause[end]:
                        break
                    sides[j] = "B"
    return met


def _paint(s: Sentence, marks: Marks, start: int, side: str) -> bool:
    """Gives the rest of the sub-clause from `start` on to `side`."""
    for k in range(start, len(marks.sides)):
        if marks.clause[k] != marks.clause[start] or s.tokens[k].raw in _NOW:
            break
        marks.sides[k] = side
    return True


def _strike(s: Sentence, marks: Marks, hard: set[int]) -> None:
    """Clears `marks.live` where the sentence denies a change, or says that something is the same."""
    n = len(s.tokens)
    resume = sorted(h.start for h in s.talk if "resume" in h.labels)
    spans = [h for h in s.effects if any(x.startswith(("effect:", "gone:", "change:")) for x in h.labels)]
    covered = {k for h in spans if h.end - h.start > 1 for k in range(h.start, h.end)}
    again = {k for h in s.talk if "again" in h.labels for k in range(h.start, h.end)}
    negated_at: set[int] = set()
    deniers: set[int] = set()
    for hit in s.talk:
        if "negator" not in hit.labels or hit.start in covered or hit.start in again or s.tokens[hit.start].glued:
            continue
        raw = s.tokens[hit.start].raw
        if raw == "not" and s.tokens[min(hit.start + 1, n - 1)].raw in ("only", "just", "merely"):
            continue
        if any(h.start > hit.start and marks.clause[h.start] == marks.clause[hit.start] for h in s.talk if "again" in h.labels):
            if raw != "no":
                _paint(s, marks, hit.end, "A")
            continue
        ahead = {t.raw for t in s.tokens[hit.end : hit.end + 3]}
        if raw != "no":
            deniers.add(hit.start)
        wide = (raw not in ("not", "cannot", "nicht", "pas", "未") and "'" not in raw) or bool(ahead & _PERCEIVE)
        if wide and hit.start in negated_at:
            continue
        stop = next((r for r in resume if r > hit.start), n)
        for k in range(hit.end, stop):
            if not wide and marks.clause[k] != marks.clause[hit.start]:
                break
            if wide and marks.clause[k] != marks.clause[hit.start] and _restarts(s, k):
                break
            negated_at.add(k)
        back = max((r for r in resume if r < hit.start), default=-1)
        for h in s.effects:  # "differences: none", and languages that put the negation last
            if not (back < h.start < hit.start and (raw in _NONE or not raw.isascii() or marks.clause[h.start] == marks.clause[hit.start])):
                continue
            if any(x.startswith("change:") for x in h.labels) and "before" not in h.labels:
                negated_at.update(range(h.start, h.end))
        if not raw.isascii():
            negated_at.update(k for k in range(back + 1, hit.start) if marks.clause[k] == marks.clause[hit.start])
        if not wide and any(t.raw == "§B" for t in s.tokens):
            marks.denied.update(k for k in range(hit.end, stop) if marks.clause[k] == marks.clause[hit.start])
    for k in negated_at:
        marks.live[k] = False
    verbs = {marks.clause[h.start] for h in s.words if "verb" in h.labels}
    shared = [Hit(k, k + 1, ("same",)) for k, t in enumerate(s.tokens) if t.raw in ("§S", "§T")]
    for hit in (*s.talk, *shared):
        if "same" in hit.labels and hit.start in negated_at and any(k in deniers for k in range(hit.start - 3, hit.start)):
            marks.found.append(Found(hit.start, "vague~", False))
        if "same" not in hit.labels or hit.start in negated_at or hit.start in covered or marks.sides[hit.start] == "N":
            continue
        number = marks.clause[hit.start]
        since = max([c + 1 for c in verbs if c < number] + [c for c in hard if c <= number], default=0)
        stop, back = next((r for r in resume if r > hit.start), n), max((r for r in resume if r < hit.start), default=-1)
        for k in range(max(0, back + 1), stop):
            alone = k < hit.start and marks.clause[k] >= since
            if s.tokens[hit.start].raw != "§S" and (marks.clause[k] == number or alone):
                marks.live[k] = False
        marks.alike.append((back + 1, stop))


def _restarts(s: Sentence, k: int) -> bool:
    """Whether a new statement of its own begins at the sub-clause of token k ("…, its corners are rounder")."""
    words = [t.raw for t in s.tokens[k : k + 3]]
    return any(w in ("and", "the", "its", "it", "their", "instead", "only", "now") for w in words[:2]) and any(
        "verb" in h.labels for h in s.words if k < h.start < k + 8
    )


def _flip(effect: str) -> str:
    return effect[:-1] + {"+": "-", "-": "+"}.get(effect[-1], effect[-1])


def _collect(s: Sentence, marks: Marks, listed: bool) -> None:
    """Fills `marks.found` and `marks.colors`."""
    compose, plain = lexicon().compose, _tools()[1].find(s.tokens)
    weak_words = {h.start: h.end for h in plain}
    adjectives = {h.start: h.end for h in plain if "nouns" not in h.labels}
    verb = min((h.start for h in s.words if "verb" in h.labels), default=len(s.tokens))
    told: dict[tuple[str, str], set[str]] = {}
    carried: set[str] = set()
    degree_before = False
    for number, hits in _by_clause(s, marks):
        dims = {label[4:] for hit in hits for label in hit.labels if label.startswith("dim:") and marks.live[hit.start]}
        letters = dims & {"letters", "lspace"}
        if "space" in dims and letters:
            dims = (dims - {"space", "letters"}) | {"lspace"}
        if "space" in dims and dims & {"lines", "nspace"}:
            dims = (dims - {"space", "lines"}) | {"nspace"}
        dims.discard("skip")
        lacking = _lacks(s, marks, hits, listed)
        if not dims and any("none" in label.partition(":")[2] for h in hits for label in h.labels if marks.live[h.start]):
            marks.found += _counted(s, hits, marks)
        if lacking:
            marks.found.append(Found(lacking[0], lacking[1], not marks.compares))
        real = dims - {"rule", "wording", "look", "font", "image"}
        if not real and carried and not degree_before:
            dims |= carried
        carried, degree_before = real or (carried if not degree_before else set()), False
        for hit in hits:
            degree = any(not x.startswith(("dim:", "state:")) for x in hit.labels)
            state = all(x.startswith("state:") for x in hit.labels)
            degree_before |= degree
            if hit.labels == ("down:none",) and s.tokens[hit.start].raw in _LESS and any(h.start == hit.end and not all(x.startswith("dim:") for x in h.labels) for h in hits):
                continue
            if hit.start in marks.denied and hit.start in weak_words:
                marks.found += [Found(hit.start, _flip(e), False) for e in _resolve(hit.labels, dims, compose, True)]
            if not marks.live[hit.start] or marks.sides[hit.start] == "N" or (state and _attributive(s, hit.start, hit.end, verb, {hit.start: hit.end})) or (degree and _attributive(s, hit.start, hit.end, verb, adjectives)):
                continue
            weak = weak_words.get(hit.start) == hit.end
            if weak and any(low <= hit.start < high for low, high in marks.alike):
                continue
            less = hit.start > 0 and s.tokens[hit.start - 1].raw in _LESS and not state
            for effect in _resolve(hit.labels, dims, compose, marks.compares or (listed and bool(dims & _STATED))):
                side = marks.sides[hit.start]
                effect = _flip(effect) if less else effect
                told.setdefault((effect, " ".join(t.stem for t in s.tokens[hit.start : hit.end])), set()).add(side)
                marks.found.append(Found(hit.start, _flip(effect) if side == "A" else effect, weak))
    both = {effect for (effect, _), sides in told.items() if {"A", "B"} <= sides}
    if both:
        gone = both | {_flip(effect) for effect in both}
        marks.found = [f for f in marks.found if f.effect not in gone]
    _collect_colors(s, marks, verb)


def _lacks(s: Sentence, marks: Marks, hits: list[Hit], listed: bool) -> tuple[int, str] | None:
    """"No visible border": a measure right behind a negation is gone."""
    for hit in hits:
        for label in hit.labels:
            effect = lexicon().compose.get(label[4:], {}).get("gone") if label.startswith("dim:") else None
            before = [t.raw for t in s.tokens[max(0, hit.start - 2) : hit.start]]
            if effect and "no" in before and (marks.compares or listed or any("again" in h.labels for h in s.talk)):
                return hit.start, effect if marks.sides[hit.start] != "A" else _flip(effect)
    return None


def _counted(s: Sentence, hits: list[Hit], marks: Marks) -> list[Found]:
    """"One link fewer": a degree of nothing measured is a count."""
    spots = [h for h in hits if any(label.endswith(":none") for label in h.labels)]
    return [Found(h.start, "count~", s.tokens[h.start].raw in ("more", "most", "less", "extra", "plus")) for h in spots[:1] if len(h.labels) == 1]


def _by_clause(s: Sentence, marks: Marks) -> Iterator[tuple[int, list[Hit]]]:
    group: list[Hit] = []
    number = -1
    for hit in s.effects:
        if marks.clause[hit.start] != number:
            if group:
                yield number, group
            number, group = marks.clause[hit.start], []
        group.append(hit)
    if group:
        yield number, group


def _resolve(labels: tuple[str, ...], dims: set[str], compose: Mapping[str, Mapping[str, str]], compares: bool) -> set[str]:
    """The effects of one hit, given the measures named beside it."""
    effects: set[str] = set()
    for label in labels:
        sense, _, default = label.partition(":")
        if sense == "effect":
            effects.update(default.split())
        elif sense == "state":
            if compares:
                effects.add(default)
        elif sense != "dim":
            combined: set[str] = set()
            for dim in dims:
                table = compose.get(dim, {})
                combined.update((table.get(default) or table.get(sense) or "").split())
            if combined and sense == "change":
                combined.discard("vague~") if len(combined) > 1 and not combined & {"text?", "picture~", "family~"} else None
            if not combined and default != "none":
                combined.update(default.split())
            effects |= combined
    return effects


def _attributive(s: Sentence, start: int, end: int, verb: int, weak_words: dict[int, int]) -> bool:
    """Whether the word only describes the thing spoken of ("the bold heading moved", "the lower card")."""
    if start >= verb or end >= len(s.tokens) or (start not in weak_words and s.tokens[start].raw not in ("lower", "higher", "first", "missing")):
        return False
    if s.tokens[end].raw in _PUNCTUATION or s.tokens[end].raw in _AFTER or s.tokens[end].raw.startswith("§A") or s.tokens[end].raw.startswith("§B"):
        return False
    return any(s.tokens[k].raw in _ARTICLES for k in range(max(0, start - 2), start))


def _collect_colors(s: Sentence, marks: Marks, verb: int) -> None:
    """Colour words and values that are claimed, with their side."""
    shades = [h for h in s.colors if set(h.labels) <= {"light", "dark"}]
    spots = [(h.start, h.end, h.labels) for h in s.colors if h not in shades]
    spots += [(k, k + 1, (t.raw,)) for k, t in enumerate(s.tokens) if t.raw.startswith("§C")]
    for start, end, labels in sorted(spots):
        if not marks.live[start] or marks.sides[start] == "N":
            continue
        following = s.tokens[end].raw if end < len(s.tokens) else ""
        noun = following not in ("and", "of", "or", "is", "are", "to", "") and following not in _PUNCTUATION
        if any(low <= start < high for low, high in marks.alike):
            continue
        if start < verb and noun and any(s.tokens[k].raw in _ARTICLES for k in range(max(0, start - 2), start)):
            continue
        side = "A" if any(t.raw in _LOST for t in s.tokens[max(0, start - 3) : start]) else marks.sides[start]
        marks.colors.append((start, side, labels))
        shade = next((h for h in shades if h.end == start), None)
        if shade is not None:
            effect = "light+" if "light" in shade.labels else "light-"
            marks.found.append(Found(start, _flip(effect) if marks.sides[start] == "A" else effect, True))
