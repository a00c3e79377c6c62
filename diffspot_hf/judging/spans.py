"""A statement with all that was found in it, and the span of it that makes one claim."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from .effects import mark
from .lexicon import Hit, Phrases, grammar, phrases_of, vocabulary
from .masking import Masked, mask
from .phrases import Chunk, Sentence, analyse, chunks_of
from .reading import Statement
from .sides import ARROWS, Marks

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class Quote:
    """A quotation: its number and text, its side, whether it stands in the place of a value ("now reads …")."""

    number: int
    text: str
    side: str
    told: bool


@dataclass(frozen=True, eq=False)
class Parsed:
    """A statement, read."""

    source: Statement
    masked: Masked
    s: Sentence
    marks: Marks
    chunks: tuple[Chunk, ...]

    def whole(self) -> Span:
        return Span(self, 0, len(self.s.tokens))


def parse(statement: Statement, names: Sequence[str]) -> Parsed:
    """The statement, read; `names` are page texts that are no words of change."""
    masked = mask(statement.text, names)
    s = analyse(masked.text)
    return Parsed(statement, masked, s, mark(s, masked.sided, statement.listed), chunks_of(s))


@cache
def _telling() -> tuple[frozenset[str], Phrases]:
    compare = vocabulary("effects")["compare"]
    return frozenset(compare["tell"]), phrases_of(compare["then"])


@dataclass(frozen=True, eq=False)
class Span:
    """The tokens `start` to `end` (exclusive) of a statement."""

    p: Parsed
    start: int
    end: int

    def within(self, hits: Sequence[Hit]) -> Iterator[Hit]:
        return (h for h in hits if self.start <= h.start < self.end)

    @cached_property
    def dims(self) -> frozenset[str]:
        """What it measures."""
        return frozenset(x[4:] for h in self.within(self.p.s.effects) for x in h.labels if x.startswith("dim:"))

    @cached_property
    def places(self) -> list[str]:
        """The sides of things it names, in order."""
        return [x[6:] for h in self.within(self.p.s.words) for x in h.labels if x.startswith("place:")]

    @cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        return tuple(c for c in self.p.chunks if self.start <= c.start < self.end)

    @cached_property
    def named(self) -> list[Chunk]:
        return [c for c in self.chunks if c.ids or c.quotes]

    @property
    def has_verb(self) -> bool:
        return any("verb" in h.labels for h in self.within(self.p.s.words))

    def says(self, *labels: str) -> bool:
        """Whether it holds a phrase of one of these kinds of talk."""
        return any(set(labels) & set(h.labels) for h in self.within(self.p.s.talk))

    @cached_property
    def colors(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Its colours: side, the word as written, basic names (or the mark of a value)."""
        spots = [c for c in self.p.marks.colors if self.start <= c[0] < self.end]
        return [(side, self.p.s.tokens[at].raw, labels) for at, side, labels in spots]

    @cached_property
    def quotes(self) -> tuple[Quote, ...]:
        """Its quotations."""
        tell, then = _telling()
        tokens, sides = self.p.s.tokens, self.p.marks.sides
        verb = min((h.start for h in self.p.s.words if "verb" in h.labels and h.start >= self.start), default=self.end)
        spots = [k for k in range(self.start, self.end) if tokens[k].raw.startswith("§Q")]
        turns = [h.start for h in then.find(tokens)] if spots else []
        found = []
        for k in spots:
            turn = next((t for t in turns if k < t <= k + 6), None)
            replaced = sides[k] == "B" and turn is not None and any(j > turn for j in spots)
            side = "A" if replaced else sides[k]
            led = any(t.raw in tell or t.raw in ARROWS for t in tokens[max(self.start, k - 2) : k])
            number = int(tokens[k].raw[2:])
            opposed = any(sides[j] == "A" for j in spots)
            told = k > verb or opposed or side == "A" or self.p.masked.sided or led
            found.append(Quote(number, self.p.masked.quotes[number], side, told))
        return tuple(found)

    @cached_property
    def numbers(self) -> tuple[float, float, bool] | None:
        """The numbers of the two sides when there is one of each and they differ, and whether they carry a unit."""
        tokens, sides = self.p.s.tokens, self.p.marks.sides
        told: dict[str, list[tuple[float, bool]]] = {"A": [], "B": []}
        for k in range(self.start, self.end):
            if sides[k] in told and _NUMBER.fullmatch(tokens[k].raw):
                unit = k + 1 < len(tokens) and tokens[k + 1].raw in grammar("unit") - {":"}
                told[sides[k]].append((_value(tokens[k].raw), unit))
        if len(told["A"]) != 1 or len(told["B"]) != 1 or told["A"][0][0] == told["B"][0][0]:
            return None
        return told["A"][0][0], told["B"][0][0], told["A"][0][1] or told["B"][0][1]

    @property
    def text(self) -> str:
        """The span in the reply's own words."""
        masked = self.p.masked
        if self.start == 0 and self.end == len(self.p.s.tokens):
            return re.sub(r"§([AB])", r"Image \1:", self.p.source.text)
        first, last = self.p.s.tokens[self.start].at, self.p.s.tokens[self.end - 1].end
        text = re.sub(r"§Q(\d+)", lambda m: f'"{masked.quotes[int(m[1])]}"', masked.text[first:last].strip(" ,;"))
        return re.sub(r"§([AB])", r"in Image \1", text)


def _value(text: str) -> float:
    """A number as written in any country: "1,299" and "1.5" and "1,5"."""
    if text.count(",") + text.count(".") > 1 or re.search(r"[.,]\d{3}$", text):
        return float(re.sub(r"[.,]", "", text))
    return float(text.replace(",", "."))
