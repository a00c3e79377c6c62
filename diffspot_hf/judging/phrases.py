"""Noun phrases: which things a statement or a record names, and how they hang together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .lexicon import Hit, Token, grammar, lexicon, tokenize

_BREAKS = frozenset(",;:()|—–./") | {"->", "→"}
_LOCAL = ("effect:align", "effect:x", "effect:y", "effect:spread")


@dataclass(frozen=True)
class Sentence:
    """Tokens and everything the lexicon finds in them."""

    tokens: tuple[Token, ...]
    effects: tuple[Hit, ...]
    elements: tuple[Hit, ...]
    words: tuple[Hit, ...]
    talk: tuple[Hit, ...]
    colors: tuple[Hit, ...]


def analyse(text: str) -> Sentence:
    tokens, book = tokenize(text), lexicon()
    return Sentence(
        tuple(tokens),
        tuple(book.effects.find(tokens)),
        tuple(book.elements.find(tokens)),
        tuple(book.words.find(tokens)),
        tuple(book.talk.find(tokens)),
        tuple(book.colors.find(tokens)),
    )


@dataclass(frozen=True)
class Chunk:
    """A noun phrase.

    `rel` is how it is tied to what stands before: ``subject``, ``of``, ``within`` (in, on …), ``target`` (to, from …),
    ``topic`` (about …), ``beside`` (below, next to …), ``colon``, ``object``, ``other``. `ids` are its words in order,
    each as its group or stem; `nouns` the groups of known things among them; `places` the sides it names; `quotes` the
    numbers of its quotations; `lifted`: only a measure stood before it ("the spacing of …"); `tints` its colour words.
    """

    rel: str
    ids: tuple[str, ...]
    nouns: tuple[str, ...]
    places: frozenset[str]
    ordinals: frozenset[str]
    quotes: tuple[int, ...]
    indefinite: bool
    lifted: bool
    start: int
    end: int
    tints: frozenset[str]

    @property
    def head(self) -> str:
        """The last known thing of the phrase, or "": a menu entry is of the menu, a button text of the button."""
        if not self.nouns:
            return ""
        last, before = self.nouns[-1], self.nouns[-2] if len(self.nouns) > 1 else ""
        kind = lexicon().kind_of.get(before, "generic")
        if kind != "generic" and (last == "thing" or (last == "text" and kind != "container")):
            return before
        return last


def chunks_of(s: Sentence, start: int = 0, end: int | None = None) -> tuple[Chunk, ...]:
    """The noun phrases between two token positions, in order; measures, effects and colours are no part of them."""
    end = len(s.tokens) if end is None else end
    told = {
        k
        for h in s.effects
        if h.end - h.start > 1 and any(x.startswith("effect:") for x in h.labels)
        for k in range(h.start, h.end)
    }
    turns = {h.start for h in s.effects if h.start in told and not any(x.startswith(_LOCAL) for x in h.labels)}
    element_at = {h.start: h for h in s.elements if h.start not in told}
    inside = {k for h in element_at.values() for k in range(h.start, h.end)}
    skipped = {k for hits in (s.effects, s.colors, s.talk) for h in hits for k in range(h.start, h.end)} - inside
    moving = {
        k
        for h in s.effects
        if any(x.startswith(("effect:x", "effect:y")) for x in h.labels)
        for k in range(h.start, h.end)
    }
    states = {k for h in s.effects if all(x.startswith("state:") for x in h.labels) for k in range(h.start, h.end)}
    resume = {h.start for h in s.talk if "resume" in h.labels}
    tints = {h.start: h.labels for h in s.colors}
    words = {h.start: h for h in s.words if not (h.start in inside and s.tokens[h.start].glued)}
    builder = _Builder()
    position = start
    while position < end:
        token = s.tokens[position]
        element = element_at.get(position)
        word = words.get(position)
        sides = [label.removeprefix("place:") for label in word.labels if label.startswith("place:")] if word else []
        if position in turns:
            builder.close("object")
            builder.verb()
        if element is not None:
            builder.add(element, token, position, sides)
            position = element.end
            if s.tokens[position - 1].raw.endswith(("'s", "’s", "s'", "s’")):
                builder.owner()
            continue
        if token.raw.startswith("§"):
            if token.raw.startswith("§Q"):
                builder.quote(int(token.raw[2:]), position)
            elif token.raw in ("§A", "§B"):
                builder.close("side")
        elif token.raw in _BREAKS:
            builder.close("colon" if token.raw in (":", "—", "–", "(") else "other")
        elif (
            word is not None
            and not token.glued
            and (position not in skipped or "verb" in word.labels or word.end - word.start > 1)
        ):
            labels = word.labels
            if "of" in labels:
                builder.close("of")
            elif "within" in labels:
                builder.close("within")
            elif "topic" in labels:
                builder.close("topic")
            elif "target" in labels:
                builder.close("target")
            elif "beside" in labels:
                builder.close("beside")
            elif "verb" in labels:
                builder.close("object")
                builder.verb()
            builder.article("indefinite" in labels, False)
            builder.side(sides)
            if "indefinite" in labels and word.end - word.start > 1:
                builder.partial()
            position = word.end if "verb" not in labels else position + 1
            continue
        elif position in resume:
            builder.close("subject")
        elif position in tints:
            builder.tint(tints[position])
        elif position in skipped:
            builder.measured = builder.measured or position not in states
            builder.side([] if position in moving else sides)
        elif token.raw in grammar("definite"):
            builder.opens()
            builder.article(False, True)
        elif token.raw in grammar("joint"):
            builder.close("and")
        elif token.raw.isdigit():
            builder.count(token.raw, s.tokens[position + 1].raw if position + 1 < end else "")
        elif token.stem in lexicon().generic:
            builder.side(sides)
        elif token.raw[0].isalnum():
            builder.word(token.stem, position)
            if token.raw.endswith(("'s", "’s")):
                builder.owner()
        position += 1
    builder.close("other")
    return tuple(builder.chunks)


class _Builder:
    """Collects the words of one phrase at a time."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self.seen = False
        self.measured = False
        self._rel, self._after_verb, self._one = "subject", False, False
        self._owned: Chunk | None = None
        self._reset()

    def _reset(self) -> None:
        self._ids: list[str] = []
        self._nouns: list[str] = []
        self._places: set[str] = set()
        self._ordinals: set[str] = set()
        self._quotes: list[int] = []
        self._tints: set[str] = set()
        self._indefinite, self._start, self._end = False, -1, -1

    def add(self, hit: Hit, token: Token, position: int, sides: Sequence[str]) -> None:
        for label in hit.labels:
            if label.startswith("#"):
                self._ordinals.add(label[1:])
            elif label.startswith("~"):
                self._ids.append(label)
        groups = [label for label in hit.labels if label[0] not in "#~"]
        if groups[:1] == ["backdrop"] and self._nouns:
            groups = []  # the background of a thing is spoken of as the thing
        if groups:
            self._ids.append(groups[0])
            self._nouns.append(groups[0])
        self._places.update(sides)
        self._span(position)

    def word(self, stem: str, position: int) -> None:
        self._ids.append(stem)
        self._span(position)

    def quote(self, number: int, position: int) -> None:
        self._quotes.append(number)
        self._span(position)

    def tint(self, labels: Sequence[str]) -> None:
        self._tints.update(labels)

    def count(self, number: str, following: str) -> None:
        """ "Step 2" is the second step; 2px is a size."""
        if self._ids and len(number) < 3 and following not in grammar("unit"):
            self._ordinals.add(number)

    def owner(self) -> None:
        """What stands before "'s" is set aside: "the lamp's tag" is the tag of the lamp."""
        self._owned = self._chunk("of")
        indefinite, start = self._indefinite, self._start
        self._reset()
        self._indefinite, self._start = indefinite, start

    def _chunk(self, rel: str) -> Chunk:
        return Chunk(
            rel=rel,
            ids=tuple(self._ids),
            nouns=tuple(self._nouns),
            places=frozenset(self._places),
            ordinals=frozenset(self._ordinals),
            quotes=tuple(self._quotes),
            indefinite=self._indefinite or self._one,
            lifted=self.measured and not self.seen,
            start=self._start,
            end=self._end,
            tints=frozenset(self._tints),
        )

    def side(self, sides: Sequence[str]) -> None:
        self._places.update(sides)

    def article(self, indefinite: bool, definite: bool) -> None:
        if indefinite and not self._ids:
            self._indefinite = True
        elif definite and self._rel != "of":
            self._indefinite = False

    def opens(self) -> None:
        """An article in the middle of a phrase begins the next one ("on the page the words …")."""
        if self._ids or self._quotes:
            self.close("object" if self._after_verb else "subject")

    def partial(self) -> None:
        """ "One of the links": the next phrase is of an unnamed one."""
        self._one = True

    def verb(self) -> None:
        self._after_verb = True

    def _span(self, position: int) -> None:
        if self._start < 0:
            self._start = position
        self._end = position + 1

    def close(self, following: str) -> None:
        """Ends the phrase; `following` is how the next one is tied to it. An owner alone ("the table's border") is the
        phrase itself, one with a thing of its own follows it."""
        owned, self._owned = self._owned, None
        placed = self._places and self._rel in ("within", "beside")
        if self._ids or self._quotes or self._ordinals or placed:
            self.chunks += [self._chunk(self._rel), *([owned] if owned else [])]
        elif owned:
            self.chunks.append(replace(owned, rel=self._rel))
        if self._ids or self._quotes or self._ordinals or placed or owned:
            self.seen = self.seen or bool(self._ids or self._quotes or owned)
            self._one = self._one and not self._ids
        if following == "and":
            following = self._rel if self.chunks else "subject"
        elif following == "side":
            following = "object" if self._after_verb else "subject"
        elif not self.chunks and following in ("colon", "object", "other"):
            following = "subject"
        self._rel = following
        self._reset()
