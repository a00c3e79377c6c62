"""Does a claim speak of the thing that changed?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from .claims import Claim
from .lexicon import lexicon
from .naming import BROAD, PARTS, Match, foreign, identify, relation, spelled
from .phrases import Chunk
from .profiles import Profile

Link = Literal["pinned", "area", "below", "other", "none"]
"""pinned: the thing, or its exact place. area: its surroundings. below: what lies next to it. other: something else.
none: nothing is named."""

_NAMING = frozenset({"colon", "of", "subject", "object"})
_BOXES = BROAD | {"card"}


def link(claim: Claim, profile: Profile) -> Link:
    """How `claim` is tied to the thing of `profile`."""
    chunks, quotes = claim.chunks, claim.quotes
    named = _named(chunks)
    if claim.parents and (claim.possessive or not _telling(named)):
        chunks, quotes = claim.parents + chunks, claim.parent_quotes or quotes
        named = _named(chunks)
    if not named:
        return "none"
    texts = {q.number: q for q in quotes}
    comes = bool(claim.effects & {"presence+", "border+"})  # what appears is "a" thing, not "the" thing
    return _link(named, {id(c): identify(c, texts, profile) for c in named}, profile, comes)


def _named(chunks: Sequence[Chunk]) -> list[Chunk]:
    return [c for c in chunks if c.ids or c.quotes or c.ordinals]


def _telling(chunks: Sequence[Chunk]) -> bool:
    """Whether some phrase names more than text, a part or a place."""
    return any(c.quotes or any(w not in BROAD for w in c.ids) for c in chunks if c.rel != "other" or c.nouns)


def _link(named: list[Chunk], match: Mapping[int, Match], profile: Profile, comes: bool) -> Link:
    """The tie of a claim's phrases; `comes`: the claim is that something appears."""
    subjects = _subjects(named)
    tied = [c for c in named if c.rel in ("of", "within") and c not in subjects]
    if any(match[id(c)] == "no" and _bound(c, profile) for c in tied) or _off_topic(named, match, profile):
        return "other"
    if any(match[id(c)] == "yes" and (c.rel in _NAMING and _called(c, profile)) for c in named):
        return "pinned"
    if subjects[0].head in _BOXES and any(c.rel == "target" and c.quotes and match[id(c)] == "yes" for c in named):
        return "pinned"  # the box with "Sign in"
    for subject in subjects:
        if match[id(subject)] == "no":
            return "other"
        if match[id(subject)] == "yes":
            if (
                subject.head in BROAD
                and subject is not subjects[0]
                and match[id(subjects[0])] == "apart"
                and subjects[0].nouns
            ):
                break  # a button that has another text is still another button
            return _pinned(subject, named, match, profile, comes)
    first = subjects[0]
    around = profile.context | profile.beside | profile.owners
    if first.head in BROAD and any(
        c.rel == "of" and match[id(c)] in ("no", "apart") and c.nouns and not set(c.ids) & around for c in tied
    ):
        return "other"
    partly = first.head in BROAD or first.head in PARTS or first.lifted
    if partly and any(match[id(c)] == "yes" and _itself(c, profile) for c in tied):
        return "pinned"
    return _surroundings(first, named, match, profile)


def _pinned(chunk: Chunk, named: list[Chunk], match: Mapping[int, Match], profile: Profile, comes: bool) -> Link:
    """The tie of a claim whose phrase `chunk` names the thing, unless it is a neighbour's or one of several."""
    loose = relation(chunk, profile) in ("near", "broad", "kin") or _plain(chunk)
    if loose and _beside_it(named, match, chunk, profile):
        return "below"
    own = (set(chunk.ids) & profile.ids) - {chunk.head}
    around = profile.context | profile.beside | profile.owners
    nearby = {w for c in named if c is not chunk for w in c.ids} & around
    unnamed = chunk.indefinite and not comes and not profile.plural
    return "area" if unnamed and not own and not chunk.quotes and len(nearby) < 2 else "pinned"


def _off_topic(named: list[Chunk], match: Mapping[int, Match], profile: Profile) -> bool:
    """Whether a text known by its words is said to be about something else."""
    topics = [c for c in named if c.rel == "topic" and match[id(c)] != "yes"]
    return bool(profile.names) and any(not set(c.ids) & profile.known for c in topics)


def _surroundings(first: Chunk, named: list[Chunk], match: Mapping[int, Match], profile: Profile) -> Link:
    """The tie of a claim whose phrases do not name the thing itself."""
    others = [c for c in named if c is not first]
    around = profile.context | profile.beside | profile.owners
    touched = {w for c in named for w in c.ids} & (around | profile.ids)
    if first.head in BROAD or not (first.ids or first.quotes):
        if _beside_it(named, match, first, profile):
            return "below"
        if touched:
            if first.head == "everything" and any(c.rel == "beside" for c in others):
                return "below"
            if first.indefinite:
                return "area"
            if (
                first.head == "text"
                and profile.heads
                and all(lexicon().kind_of.get(h) == "media" for h in profile.heads)
            ):
                return "other"
            return "pinned" if first.head in ("text", "thing") and _texts(profile) else "area"
        if {p for c in named for p in c.places} & profile.places:
            return "area"
        return "none" if not foreign(first, profile) and not others else "other"
    if _beside_it(named, match, first, profile):
        return "below"
    if first.rel == "beside" and set(first.ids) & profile.beside:
        return "area"
    if touched and match[id(first)] != "no" and _own_word(first, profile):
        placed = [c for c in others if c.rel in ("within", "of", "beside")]
        if any(set(c.ids) & around for c in placed):
            return "pinned"
    if any(
        c.rel == "beside" and c is not first and set(c.ids) <= profile.known and set(c.ids) & profile.ids
        for c in others
    ):
        return "below"
    near = profile.context | profile.owners
    wider = first.head in profile.ids and lexicon().kind_of.get(first.head) == "container"
    if not foreign(first, profile) and (first.head in near or wider or (not first.head and set(first.ids) & near)):
        return "area"
    return "other"


def _own_word(chunk: Chunk, profile: Profile) -> bool:
    """Whether the phrase is a word of its own, unknown to lexicon and record, for a thing that the lexicon knows."""
    known = any(head in lexicon().kind_of for head in profile.heads)
    return known and not chunk.nouns and not chunk.indefinite and not set(chunk.ids) & profile.known


def _plain(chunk: Chunk) -> bool:
    """Whether the phrase has nothing of its own that could pin the thing ("the tabs right of the first tab")."""
    return len(chunk.ids) == 1 and not chunk.quotes and not chunk.ordinals


def _called(chunk: Chunk, profile: Profile) -> bool:
    """Whether the phrase is nothing but one of the thing's own names, as in "Cards (Harbour view): …"."""
    return (
        not chunk.nouns
        and bool(chunk.quotes or spelled(frozenset(chunk.ids), profile.names))
        and bool(profile.names)
        and not profile.textual
    )


def _itself(chunk: Chunk, profile: Profile) -> bool:
    """Whether the phrase names the thing by more than what it belongs to."""
    return bool(chunk.quotes or set(chunk.ids) & (profile.heads | profile.ids)) or relation(chunk, profile) in (
        "same",
        "near",
    )


def _beside_it(named: list[Chunk], match: Mapping[int, Match], subject: Chunk, profile: Profile) -> bool:
    """Whether the subject is placed next to the thing itself ("the subtitle below the heading")."""
    same = _plain(subject) and relation(subject, profile) == "same"
    for c in named:
        if c.rel != "beside" or c is subject or c.lifted or match[id(c)] != "yes":
            continue
        if relation(c, profile) in ("same", "unknown") and not (same and _plain(c)):
            return True
    return False


def _bound(chunk: Chunk, profile: Profile) -> bool:
    """Whether "of" or "in" that phrase tells the claim's thing apart: a sibling of something the record knows."""
    return chunk.rel == "of" or bool(set(chunk.ids) & profile.known) or bool(profile.setting)


def _texts(profile: Profile) -> bool:
    kinds = lexicon().kind_of
    return any(kinds.get(h) == "text" for h in profile.heads) or not profile.heads


def _subjects(named: list[Chunk]) -> list[Chunk]:
    """The phrases that may be what the claim is about, most likely first."""
    first = named[0]
    if first.lifted and first.rel == "beside":  # "the gap between the text and the quote"
        return [c for c in named if c.rel == "beside"]
    rest = [
        c
        for c in named[1:]
        if c.rel in ("subject", "colon", "object")
        or (c.rel == "other" and (c.nouns or c.quotes) and first.rel in ("within", "beside"))
    ]
    if first.rel in ("within", "beside") and not first.lifted and rest:
        return [*rest[:2], first] if first.head not in ("region", "") else rest[:2]
    return [first, *rest[:2]]
