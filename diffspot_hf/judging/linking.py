"""Does a claim speak of the thing that changed?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .claims import Claim, Quote
from .lexicon import lexicon, stem
from .phrases import Chunk, analyse
from .records import Profile, bare

Link = Literal["pinned", "area", "below", "other", "none"]
"""pinned: the thing, or its exact place. area: its surroundings. below: what lies next to it. other: something else.
none: nothing is named."""

_OPPOSITE = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}
_BROAD = frozenset({"text", "thing", "region", "everything"})
_SHARE = 0.5
"""Share of a name's words that a claim must hold to mean that name (our choice)."""


def link(claim: Claim, profile: Profile) -> Link:
    """How `claim` is tied to the thing of `profile`."""
    chunks, quotes = claim.chunks, claim.quotes
    named = [c for c in chunks if c.ids or c.quotes or c.ordinals]
    if claim.parents and (claim.possessive or not _telling(named)):
        chunks, quotes = claim.parents + chunks, _merge(claim.parent_quotes, quotes, claim.parents)
        named = [c for c in chunks if c.ids or c.quotes or c.ordinals]
    if not named:
        return "none"
    return _link(named, quotes, profile)


def _telling(chunks: Sequence[Chunk]) -> bool:
    """Whether some phrase names more than text, a part or a place."""
    return any(c.quotes or any(w not in _BROAD for w in c.ids) for c in chunks if c.rel != "other" or c.nouns)


def _merge(parents: tuple[Quote, ...], own: tuple[Quote, ...], chunks: tuple[Chunk, ...]) -> tuple[Quote, ...]:
    return parents + own


def _link(named: list[Chunk], quotes: tuple[Quote, ...], profile: Profile) -> Link:
    texts = {q.number: q for q in quotes}
    subjects = _subjects(named)
    verdicts = [identify(c, texts, profile) for c in subjects]
    if "yes" in verdicts and "no" not in verdicts[: verdicts.index("yes")]:
        chunk = subjects[verdicts.index("yes")]
        own = (set(chunk.ids) & profile.ids) - {chunk.head}
        around = {w for c in named if c is not chunk for w in c.ids} & (profile.context | profile.beside | profile.owners)
        if chunk.indefinite and not own and not chunk.quotes and not _full(around):
            return "area"
        return "pinned"
    within = [c for c in named if c.rel == "within" and c not in subjects]
    if verdicts[:1] != ["no"] or _part(subjects[0]):
        if any(identify(c, texts, profile) == "yes" for c in within):
            return "pinned"
    first = subjects[0]
    broad = first.head in _BROAD or (not first.ids and not first.quotes)
    others = [c for c in named if c is not first]
    touched = {w for c in others for w in c.ids} & (profile.context | profile.beside | profile.owners | profile.ids)
    placed = {p for c in named for p in c.places} & profile.places
    if broad:
        near = [c for c in others if c.rel == "beside"]
        if near and any(set(c.ids) & (profile.ids | profile.heads) and identify(c, texts, profile) == "yes" for c in near):
            return "below"
        if verdicts[:1] != ["no"] and touched:
            if first.head == "everything" and near:
                return "below"
            return "pinned" if first.head != "region" and _texts(profile) else "area"
        if placed and verdicts[:1] != ["no"]:
            return "area"
        return "none" if not _foreign(first, profile) and not others else "other"
    if verdicts[:1] == ["no"]:
        return "other"
    if set(first.ids) & (profile.context | profile.beside | profile.owners) and not _foreign(first, profile):
        return "area"
    return "other"


def _full(words: set[str]) -> bool:
    return len(words) > 1


def _part(chunk: Chunk) -> bool:
    return chunk.head in _BROAD or chunk.head in ("label", "icon", "link", "row", "name", "heading", "paragraph", "bullet", "image", "field")


def _texts(profile: Profile) -> bool:
    kinds = lexicon().kind_of
    return any(kinds.get(h) == "text" for h in profile.heads) or not profile.heads


def _subjects(named: list[Chunk]) -> list[Chunk]:
    """The phrases that may be what the claim is about, most likely first."""
    first = named[0]
    rest = [c for c in named[1:] if c.rel in ("subject", "colon", "object") or (c.rel == "other" and first.rel in ("within", "beside"))]
    scene = first.rel in ("within", "beside") and not first.lifted
    if scene and rest:
        return [*rest[:2], first] if first.head not in ("region", "") else rest[:2]
    return [first, *[c for c in rest if c.rel in ("colon", "subject", "object")][:2]]


def _foreign(chunk: Chunk, profile: Profile) -> set[str]:
    """Describing words of the phrase that the record does not know."""
    head = chunk.ids.index(chunk.head) if chunk.head in chunk.ids else len(chunk.ids)
    words = chunk.ids[:head] if chunk.head else chunk.ids
    generic = lexicon().generic
    return {w for w in words if w not in profile.known and w not in generic and w not in _BROAD and w not in profile.heads}


def identify(chunk: Chunk, texts: dict[int, Quote], profile: Profile) -> Literal["yes", "no", "open"]:
    """Whether the phrase names the thing: yes, no (it names another), or open (it does not say)."""
    if chunk.ordinals and profile.ordinals and not chunk.ordinals & profile.ordinals:
        return "no"
    if any(_OPPOSITE.get(p) in profile.places and p not in profile.places for p in chunk.places):
        return "no"
    relation = _relation(chunk, profile)
    quoted = [texts[number] for number in chunk.quotes if number in texts]
    named = any(same_text(q.text, name) for q in quoted for name in profile.names)
    if quoted and not named and profile.names and not all(q.told for q in quoted):
        return "no"
    words = set(chunk.ids)
    if named or _spelled(words, profile):
        return "yes" if relation in ("same", "near", "broad", "unknown", "kin") else "no"
    pins = words & profile.ids - {chunk.head}
    foreign = _foreign(chunk, profile)
    if _sibling(chunk, profile):
        return "no"
    if relation in ("same", "near"):
        if foreign and not pins and not (words & (profile.context | profile.owners | profile.beside) - {chunk.head}):
            own = {w for h in profile.heads for w in profile.modifiers.get(h, ())} | profile.ordinals
            return "no" if own or relation == "near" else "yes"
        return "yes"
    if relation == "broad":
        return "yes" if pins or (words & profile.owners) else "no" if foreign else "open"
    if relation == "unknown":
        if pins or (words & profile.owners):
            return "yes"
        return "no" if foreign and not words & (profile.context | profile.beside) else "open"
    if relation == "kin" and pins and not foreign:
        return "yes"
    return "no"


def _relation(chunk: Chunk, profile: Profile) -> str:
    """How the noun of the phrase stands to the thing's own noun."""
    head = chunk.head
    if not head:
        return "unknown"
    if head in profile.heads:
        return "same"
    if head in _BROAD:
        return "broad"
    if not profile.heads:
        return "kin"
    near, kinds = lexicon().near, lexicon().kind_of
    if any((head, own) in near for own in profile.heads):
        return "near"
    if profile.heads <= _BROAD:
        return "kin"
    if any(kinds.get(head) == kinds.get(own) for own in profile.heads):
        return "kin"
    return "different"


def _sibling(chunk: Chunk, profile: Profile) -> bool:
    """Whether the phrase is the same noun told apart by another word: the birch stool for the oak stool."""
    for k, word in enumerate(chunk.ids):
        own = profile.modifiers.get(word)
        if not own:
            continue
        theirs = {w for w in chunk.ids[:k] if w not in lexicon().generic and w not in _BROAD}
        if theirs and not theirs & (own | profile.known):
            return True
    return False


def _spelled(words: set[str], profile: Profile) -> bool:
    """Whether the phrase holds most words of one of the names."""
    for name in profile.names:
        own = {w for w in _stems(name) if w not in lexicon().generic}
        if own and len(own & words) / len(own) >= _SHARE:
            return True
    return False


def _stems(name: str) -> set[str]:
    sentence = analyse(name)
    found = {t.stem for t in sentence.tokens if t.raw[0].isalnum()}
    for hit in sentence.elements:
        groups = [label for label in hit.labels if label[0] != "#"]
        if groups:
            found -= {t.stem for t in sentence.tokens[hit.start : hit.end]}
            found.update(groups)
    return found


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
