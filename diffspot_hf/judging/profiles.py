"""The thing that changed: by which words and names a record knows it, and what stands around it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .lexicon import lexicon, stem
from .masking import mask
from .phrases import Chunk, Sentence, analyse, chunks_of

_WORD = re.compile(r"[^\W_]+")
_TAIL = re.compile(r"\s(?:of|in|on|at|to|under|above|below|near|over|behind|between|with)\s")
_COLLECTIONS = frozenset({"row", "list", "gridbox", "column", "table", "text"})
_WRAPPED = _COLLECTIONS | {"region", "thing", "backdrop"}
"""What is named by what it holds or belongs to: a row of logos, the left half of the banner."""


def bare(text: str) -> str:
    """`text` without case, spaces and punctuation, to compare page texts however they are spaced.

    >>> bare("HAR BOUR") == bare("Harbour")
    True
    """
    return "".join(_WORD.findall(text.casefold()))


@dataclass(frozen=True)
class Profile:
    """The thing that changed.

    `heads` are the groups it may be called, `ids` the words that tell it apart, `context` words of its surroundings,
    `beside` those of its neighbours, `owners` those of what it belongs to, `setting` those of its place. `names`
    are the page texts it is known by, `neighbours` those of what stands beside it, `places` the sides it is at.
    `modifiers`, `ordinals` and `tints` (colour words) are what stands before a word. `plural`: there are several of it;
    `textual`: its text changed.
    """

    heads: frozenset[str]
    ids: frozenset[str]
    context: frozenset[str]
    beside: frozenset[str]
    owners: frozenset[str]
    setting: frozenset[str]
    names: tuple[str, ...]
    neighbours: tuple[str, ...]
    places: frozenset[str]
    modifiers: Mapping[str, frozenset[str]]
    ordinals: Mapping[str, frozenset[str]]
    tints: Mapping[str, frozenset[str]]
    plural: bool
    textual: bool

    @property
    def known(self) -> frozenset[str]:
        return self.ids | self.context | self.beside | self.owners


def read_profile(element: str, description: str, values: tuple[str, ...] = (), recolored: bool = False) -> Profile:
    """The profile of the thing that `element` names and `description` speaks of. `values` are its texts, where those
    changed; a thing that was `recolored` is not told apart by its colour."""
    draft = _Draft(list(values))
    draft.read_element(element, recolored)
    draft.read_description(description)
    draft.read_names(values)
    heads, ids = draft.heads, draft.ids
    if "backdrop" in ids | set(heads) or ("background" in element.casefold() and set(heads) <= {"region"}):
        heads.update(dict.fromkeys(("backdrop", "region")))
    if not heads:
        heads.update(dict.fromkeys(w for w in draft.owners if w in lexicon().kind_of))
    return Profile(
        heads=frozenset(heads),
        ids=frozenset(ids),
        context=frozenset(draft.context - ids),
        beside=frozenset(draft.beside - ids),
        owners=frozenset(draft.owners),
        setting=frozenset(draft.setting),
        names=tuple(dict.fromkeys(name for name in draft.names if name.strip())),
        neighbours=tuple(draft.neighbours),
        places=frozenset(draft.places),
        modifiers={word: frozenset(words) for word, words in draft.modifiers.items()},
        ordinals={word: frozenset(words) for word, words in draft.ordinals.items()},
        tints={word: frozenset(words) for word, words in draft.tints.items()},
        plural=_plural(element) or bool(heads.keys() & _COLLECTIONS - {"text", "table"}),
        textual=bool(values),
    )


@dataclass
class _Draft:
    """A profile while the record is read."""

    names: list[str]
    neighbours: list[str] = field(default_factory=list)
    heads: dict[str, None] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    context: set[str] = field(default_factory=set)
    beside: set[str] = field(default_factory=set)
    owners: set[str] = field(default_factory=set)
    setting: set[str] = field(default_factory=set)
    places: set[str] = field(default_factory=set)
    modifiers: dict[str, set[str]] = field(default_factory=dict)
    ordinals: dict[str, set[str]] = field(default_factory=dict)
    tints: dict[str, set[str]] = field(default_factory=dict)

    def read_element(self, element: str, recolored: bool) -> None:
        masked = mask(element)
        sentence = analyse(masked.text)
        chunks = chunks_of(sentence)
        aside = {number for chunk in chunks if chunk.rel == "beside" for number in chunk.quotes}
        for number, quote in enumerate(masked.quotes):
            (self.neighbours if number in aside else self.names).append(quote)
        main = next((c for c in chunks if c.ids or c.quotes), None)
        for chunk in chunks:
            self._describe(chunk)
            self.places |= chunk.places
            if chunk.tints and chunk.ids and not (recolored and chunk is main):
                self.tints.setdefault(chunk.ids[-1], set()).update(chunk.tints)
            if chunk is main:
                self.ids.update(chunk.ids)
                self.heads.update(dict.fromkeys(_heads(chunk)))
            elif chunk.rel == "of" or _answers(sentence, chunk):
                self.owners.update(chunk.ids)
                if self.heads and set(self.heads) <= _WRAPPED:
                    self.heads.update(dict.fromkeys(_heads(chunk)))
            elif chunk.rel == "beside":
                self.beside.update(chunk.ids)
            else:
                self.context.update(chunk.ids)
            if chunk.rel == "within" and chunk is not main:
                self.setting.update(chunk.ids)

    def read_description(self, description: str) -> None:
        masked = mask(description)
        sentence = analyse(masked.text)
        self.names += [q for q in masked.quotes if any(bare(q) in bare(name) for name in self.names)]
        verb = min((h.start for h in sentence.words if "verb" in h.labels), default=len(sentence.tokens))
        for chunk in chunks_of(sentence):
            self._describe(chunk)
            if chunk.rel == "beside":
                self.beside.update(chunk.ids)
            elif chunk.start < verb and set(chunk.ids) & (self.ids | set(self.heads)):
                self.ids.update(w for w in chunk.ids if lexicon().kind_of.get(w) != "generic")
            elif chunk.start < verb:
                self.context.update(chunk.ids)

    def _describe(self, chunk: Chunk) -> None:
        """Keeps what stands before each word."""
        for k, word in enumerate(chunk.ids):
            before = {w for w in chunk.ids[:k] if w[0] == "~" or w not in lexicon().generic}
            self.modifiers.setdefault(word, set()).update(before)
        if chunk.ids and chunk.ordinals:
            self.ordinals.setdefault(chunk.ids[-1], set()).update(chunk.ordinals)

    def read_names(self, values: tuple[str, ...]) -> None:
        """Words of the thing's own names tell it apart; those of changed texts only by what they speak of."""
        generic = lexicon().generic
        self.beside |= {stem(w.casefold()) for name in self.neighbours for w in _WORD.findall(name)} - generic
        own = {stem(w.casefold()) for name in self.names if name not in values for w in _WORD.findall(name)}
        for group in self.heads:
            self.modifiers.setdefault(group, set()).update(own)
        for name in self.names:
            sentence = analyse(name)
            words = {label for h in sentence.elements for label in h.labels if label[0] == "~"}
            if name not in values:
                words |= {t.stem for t in sentence.tokens if t.raw[0].isalnum()}
            self.ids |= words - generic


def _heads(chunk: Chunk) -> list[str]:
    """The groups of the thing named: its last noun, and the one before where the last is but its label or text."""
    nouns = list(chunk.nouns)
    if chunk.ids and chunk.ids[-1] not in lexicon().kind_of:
        return [chunk.ids[-1]]  # an element may be a thing the lexicon has no word for
    if len(nouns) > 1 and nouns[-1] in _COLLECTIONS | {"label", "text", "thing", "region"}:
        return [nouns[-1], nouns[-2]]
    return nouns[-1:]


def _answers(sentence: Sentence, chunk: Chunk) -> bool:
    """Whether the phrase is what the thing answers to or is for ("the answer to the first question")."""
    before = range(max(1, chunk.start - 3), chunk.start)
    tokens = sentence.tokens
    return any(tokens[k].raw in ("to", "for") and tokens[k - 1].raw not in ("next", "close") for k in before)


def _plural(element: str) -> bool:
    words = _TAIL.split(element)[0].split()
    return bool(words) and words[-1].endswith("s") and not words[-1].endswith("ss") and len(words[-1]) > 3
