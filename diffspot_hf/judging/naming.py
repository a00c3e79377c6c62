"""Does a phrase name the thing that changed, another thing, or too little to tell?"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from .lexicon import lexicon, stem, vocabulary
from .phrases import Chunk, analyse
from .profiles import Profile, bare
from .spans import Quote

Match = Literal["yes", "no", "apart", "open"]
"""yes: this is the thing. no: it is told apart from the thing. apart: another sort of thing, perhaps around it.
open: it says too little."""

BROAD = frozenset({"text", "thing", "region", "everything", "backdrop"})
"""Nouns that may stand for most things."""
PARTS = frozenset([*vocabulary("elements")["collection"]["parts"], ""])
"""Nouns of what a thing may be made of: a change of the thing shows in them."""
_OPPOSITE = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}
_ACROSS = frozenset({"left", "middle", "right"})
_TELLING = frozenset({"headcount", "price", "name", "label", "caption", "datetime", "hours", "placeholder", "byline"})
_SHARE = 0.5
"""Share of a name's words that a claim must hold to mean that name (our choice)."""


def foreign(chunk: Chunk, profile: Profile) -> set[str]:
    """Describing words of the phrase that the record does not know."""
    head = chunk.ids.index(chunk.head) if chunk.head in chunk.ids else len(chunk.ids)
    words = chunk.ids[:head] if chunk.head else chunk.ids
    passed = lexicon().generic | BROAD | profile.heads
    return {w for w in words if w not in passed and _fold(w, profile.known) not in profile.known}


def identify(chunk: Chunk, texts: Mapping[int, Quote], profile: Profile) -> Match:
    """Whether the phrase names the thing of `profile`; `texts` are the claim's quotations by number."""
    if _other_place(chunk, profile) or _sibling(chunk, profile):
        return "no"
    tie = relation(chunk, profile)
    quoted = [texts[number] for number in chunk.quotes if number in texts]
    named = any(same_text(q.text, name) for q in quoted for name in profile.names)
    if quoted and not named:
        if any(same_text(q.text, name) for q in quoted for name in profile.neighbours):
            return "yes" if tie == "same" else "apart"
        if profile.names and (chunk.nouns or not all(q.told for q in quoted)):
            return "no"
    words = {_fold(word, profile.known) for word in chunk.ids}
    if named or spelled(frozenset(words), profile.names):
        return "no" if tie == "different" and _rivals(chunk.head, profile) else "yes"
    if len(chunk.ids) > 1 and set(chunk.ids[:-1]) & profile.heads and chunk.head in PARTS | BROAD:
        return "yes"  # the icons of the toolbar
    pins = words & (profile.ids | profile.owners) - {chunk.head}
    pins |= {f"#{n}" for n in chunk.ordinals if any(n in own for own in profile.ordinals.values())}
    strange = foreign(chunk, profile)
    if tie in ("same", "near"):
        if strange and not pins and not words & (profile.context | profile.beside) - {chunk.head}:
            told_apart = any(profile.modifiers.get(h) or profile.ordinals.get(h) for h in profile.heads)
            return "no" if told_apart or tie == "near" else "yes"
        return "yes"
    if tie in ("kin", "different"):
        return "yes" if tie == "kin" and pins - profile.owners and not strange else "apart"
    of_it = words <= profile.known and _told_by(profile) and not profile.textual
    if tie == "unknown" and chunk.ids and of_it and _fold(chunk.ids[-1], profile.known) not in profile.heads:
        return "apart"  # the seats, where their numbers changed
    return "yes" if pins else "apart" if strange else "open"


def _rivals(head: str, profile: Profile) -> bool:
    """Whether two sorts of things may carry the same name side by side: a button and a heading, a field and a link."""
    kinds = lexicon().kind_of
    return kinds.get(head) != "container" and not any(kinds.get(own) == "container" for own in profile.heads)


def relation(chunk: Chunk, profile: Profile) -> str:
    """How the noun of the phrase stands to the thing's own noun."""
    head = chunk.head
    if chunk.ids and chunk.ids[-1] in profile.heads:
        return "same"
    if not head:
        return "unknown"
    if head in profile.heads:
        return "same"
    if head in BROAD:
        return "broad"
    near, kinds = lexicon().near, lexicon().kind_of
    heads = profile.heads - BROAD
    if not heads or any(own not in kinds for own in heads):
        return "kin"
    if any((head, own) in near for own in heads):
        return "near"
    return "kin" if kinds.get(head) == "text" and any(kinds[own] == "text" for own in heads) else "different"


def _other_place(chunk: Chunk, profile: Profile) -> bool:
    """Whether the phrase has another ordinal, or the opposite side, of what the record says."""
    if chunk.ordinals:
        own = frozenset().union(*(profile.ordinals.get(word, frozenset()) for word in chunk.ids)) or None
        if own is None and chunk.head and relation(chunk, profile) in ("same", "near"):
            own = frozenset().union(*(profile.ordinals.get(h, frozenset()) for h in profile.heads))
        if own and not own & chunk.ordinals:
            return True
    if chunk.rel not in ("within", "of", "subject", "beside") or not chunk.ids:
        return False
    across = chunk.places & _ACROSS if set(chunk.ids) - BROAD else frozenset()  # "in the middle" is a matter of taste
    if across and profile.places & _ACROSS and not across & profile.places and chunk.rel != "beside":
        return True
    return any(_OPPOSITE.get(p) in profile.places and p not in profile.places for p in chunk.places)


def _told_by(profile: Profile) -> bool:
    """Whether the thing is a text of something else: its name, number, label."""
    kinds = lexicon().kind_of
    return bool(profile.heads) and all(kinds.get(h) == "text" for h in profile.heads) and bool(profile.heads & _TELLING)


@lru_cache(maxsize=8192)
def _fold(word: str, known: frozenset[str]) -> str:
    """The known word of which `word` is another form ("weekly" of "week"), else `word` itself."""
    if word in known or len(word) < 4 or word[0] in "~#":
        return word
    for other in known:
        short, long = sorted((word, other), key=len)
        if len(short) >= 4 and long.startswith(short) and len(long) - len(short) <= (2 if len(short) < 6 else 4):
            return other
    return word


def _sibling(chunk: Chunk, profile: Profile) -> bool:
    """Whether the phrase is the same noun told apart by another word: the birch stool for the oak stool."""
    book = lexicon()
    if chunk.ids and not set(chunk.ids) & profile.known:
        if chunk.rel == "of" and profile.owners and all(book.kind_of.get(n) == "text" for n in chunk.nouns):
            return True
        if chunk.rel == "within" and profile.setting and _elsewhere(chunk, profile):
            return True
    if chunk.tints and chunk.ids and profile.tints.get(chunk.ids[-1], chunk.tints).isdisjoint(chunk.tints):
        return True
    for k, word in enumerate(chunk.ids):
        own = profile.modifiers.get(word)
        theirs = {_fold(w, profile.known) for w in chunk.ids[:k] if w not in book.generic and w not in BROAD}
        if own and theirs and not theirs & (own | profile.known):
            return True
    return False


def _elsewhere(chunk: Chunk, profile: Profile) -> bool:
    """Whether the phrase is a place that cannot be the thing's own: on the chair for on the lamp, header for footer."""
    book, regions = lexicon(), set(vocabulary("elements")["region"]["names"])
    if not chunk.nouns and not profile.setting <= book.kind_of.keys():
        return True
    theirs, ours = set(chunk.nouns) & regions, profile.setting & regions
    return bool(theirs and ours) and not any((a, b) in book.near for a in theirs for b in ours)


@lru_cache(maxsize=4096)
def spelled(words: frozenset[str], names: tuple[str, ...]) -> bool:
    """Whether the words hold most of one of the names."""
    for name in names:
        own = {w for w in _stems(name) if w not in lexicon().generic}
        if own and len(own & words) / len(own) >= _SHARE:
            return True
    return False


@lru_cache(maxsize=1024)
def _stems(name: str) -> frozenset[str]:
    sentence = analyse(name)
    found = {t.stem for t in sentence.tokens if t.raw[0].isalnum()}
    for hit in sentence.elements:
        groups = [label for label in hit.labels if label[0] != "#"]
        if groups:
            found -= {t.stem for t in sentence.tokens[hit.start : hit.end]}
            found.update(groups)
    return frozenset(found)


def same_text(quote: str, name: str) -> bool:
    """Whether a quotation means that page text: equal, a part of it, or most of its words.

    >>> same_text("HAR BOUR", "The Harbour Post"), same_text("Volunteer", "Donate")
    (True, False)
    """
    one, other = bare(quote), bare(name)
    if not one or not other:
        return False
    if one == other or (len(one) > 2 and one in other) or (len(other) > 2 and other in one):
        return True
    a, b = {stem(w) for w in quote.casefold().split()}, {stem(w) for w in name.casefold().split()}
    return len(a & b) / max(1, min(len(a), len(b))) >= 0.6 and len(a & b) > 1
