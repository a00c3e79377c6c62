"""Does a claim speak of the thing that changed?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from .claims import Claim, Quote
from .lexicon import lexicon, stem, vocabulary
from .phrases import Chunk, analyse
from .records import Profile, bare

Link = Literal["pinned", "area", "below", "other", "none"]
"""pinned: the thing, or its exact place. area: its surroundings. below: what lies next to it. other: something else.
none: nothing is named."""
Match = Literal["yes", "no", "apart", "open"]
"""yes: this is the thing. no: it is told apart from the thing. apart: another sort of thing, perhaps around it.
open: it says too little."""

_OPPOSITE = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}
_ACROSS = frozenset({"left", "middle", "right"})
_BROAD = frozenset({"text", "thing", "region", "everything", "backdrop"})
_PARTS = frozenset({"circle", "card", "label", "icon", "link", "row", "name", "heading", "subtitle", "paragraph", "bullet", "image", "field", "badge", "headcount", "price", "list", "row", "column", "gridbox", "caption", "button", ""})
_TELLING = frozenset({"headcount", "price", "name", "label", "caption", "datetime", "hours", "placeholder", "byline"})
_SHARE = 0.5
"""Share of a name's words that a claim must hold to mean that name (our choice)."""


def link(claim: Claim, profile: Profile) -> Link:
    """How `claim` is tied to the thing of `profile`."""
    chunks, quotes = claim.chunks, claim.quotes
    named = _named(chunks)
    if claim.parents and (claim.possessive or not _telling(named)):
        chunks, quotes = claim.parents + chunks, claim.parent_quotes + tuple(q for q in quotes if not claim.parent_quotes)
        named = _named(chunks)
    if not named:
        return "none"
    texts = {q.number: q for q in quotes}
    return _link(named, {id(c): identify(c, texts, profile) for c in named}, profile)


def _named(chunks: Sequence[Chunk]) -> list[Chunk]:
    return [c for c in chunks if c.ids or c.quotes or c.ordinals]


def _telling(chunks: Sequence[Chunk]) -> bool:
    """Whether some phrase names more than text, a part or a place."""
    return any(c.quotes or any(w not in _BROAD for w in c.ids) for c in chunks if c.rel != "other" or c.nouns)


def _link(named: list[Chunk], match: Mapping[int, Match], profile: Profile) -> Link:
    subjects = _subjects(named)
    verdicts = [match[id(c)] for c in subjects]
    tied = [c for c in named if c.rel in ("of", "within") and c not in subjects]
    if any(match[id(c)] == "yes" and _called(c, profile) for c in named if c.rel in ("colon", "of", "subject", "object")):
        return "pinned"
    if "no" in verdicts[: verdicts.index("yes")] if "yes" in verdicts else "no" in verdicts[:1]:
        return "other"
    if any(match[id(c)] == "no" and _bound(c, profile) for c in tied):
        return "other"
    if profile.names and any(c.rel == "topic" and match[id(c)] != "yes" and not set(c.ids) & profile.known for c in named):
        return "other"
    around = profile.context | profile.beside | profile.owners
    if "yes" in verdicts and verdicts[0] == "apart" and subjects[0].nouns and subjects[verdicts.index("yes")].head in _BROAD:
        verdicts = ["apart"]
    if "yes" in verdicts:
        chunk = subjects[verdicts.index("yes")]
        if (_relation(chunk, profile) in ("near", "broad", "kin") or _plain(chunk)) and _beside_it(named, match, chunk, profile):
            return "below"
        own = (set(chunk.ids) & profile.ids) - {chunk.head}
        nearby = {w for c in named if c is not chunk for w in c.ids} & around
        if chunk.indefinite and not profile.plural and not own and not chunk.quotes and len(nearby) < 2:
            return "area"
        return "pinned"
    first = subjects[0]
    if first.head in _BROAD and any(c.rel == "of" and match[id(c)] in ("no", "apart") and c.nouns and not set(c.ids) & around for c in tied):
        return "other"
    if (first.head in _BROAD or first.head in _PARTS or first.lifted) and any(match[id(c)] == "yes" and _itself(c, profile) for c in tied):
        return "pinned"
    return _surroundings(first, named, match, profile)


def _surroundings(first: Chunk, named: list[Chunk], match: Mapping[int, Match], profile: Profile) -> Link:
    """The tie of a claim whose phrases do not name the thing itself."""
    others = [c for c in named if c is not first]
    around = profile.context | profile.beside | profile.owners
    touched = {w for c in named for w in c.ids} & (around | profile.ids)
    if first.head in _BROAD or not (first.ids or first.quotes):
        if _beside_it(named, match, first, profile):
            return "below"
        if touched:
            if first.head == "everything" and any(c.rel == "beside" for c in others):
                return "below"
            if first.indefinite:
                return "area"
            if first.head == "text" and profile.heads and all(lexicon().kind_of.get(h) == "media" for h in profile.heads):
                return "other"
            return "pinned" if first.head in ("text", "thing") and _texts(profile) else "area"
        if {p for c in named for p in c.places} & profile.places:
            return "area"
        return "none" if not _foreign(first, profile) and not others else "other"
    if _beside_it(named, match, first, profile):
        return "below"
    if first.rel == "beside" and set(first.ids) & profile.beside:
        return "area"
    known = any(h in lexicon().kind_of for h in profile.heads)
    if known and not first.nouns and touched and match[id(first)] != "no" and not set(first.ids) & profile.known and not first.indefinite:
        if any(set(c.ids) & around and c.rel in ("within", "of", "beside") for c in others):
            return "pinned"  # a word of its own for the thing, at the thing's place
    near = profile.context | profile.owners
    wider = first.head in profile.ids and lexicon().kind_of.get(first.head) == "container"
    if not _foreign(first, profile) and (first.head in near or wider or (not first.head and set(first.ids) & near)):
        return "area"
    return "other"


def _plain(chunk: Chunk) -> bool:
    """Whether the phrase has nothing of its own that could pin the thing ("the tabs right of the first tab")."""
    return len(chunk.ids) == 1 and not chunk.quotes and not chunk.ordinals


def _called(chunk: Chunk, profile: Profile) -> bool:
    """Whether the phrase is nothing but one of the thing's own names, as in "Cards (Harbour view): …"."""
    return not chunk.nouns and bool(chunk.quotes or _spelled(frozenset(chunk.ids), profile.names)) and bool(profile.names) and not profile.textual


def _itself(chunk: Chunk, profile: Profile) -> bool:
    """Whether the phrase names the thing by more than what it belongs to."""
    return bool(chunk.quotes or set(chunk.ids) & (profile.heads | profile.ids)) or _relation(chunk, profile) in ("same", "near")


def _beside_it(named: list[Chunk], match: Mapping[int, Match], subject: Chunk, profile: Profile) -> bool:
    """Whether the subject is placed next to the thing itself ("the subtitle below the heading")."""
    return any(
        c.rel == "beside" and c is not subject and match[id(c)] == "yes" and _relation(c, profile) in ("same", "unknown") and not c.lifted
        and (not _plain(subject) or _relation(subject, profile) != "same" or not _plain(c))
        for c in named
    )  # fmt: skip


def _bound(chunk: Chunk, profile: Profile) -> bool:
    """Whether "of" or "in" that phrase tells the claim's thing apart: a sibling of something the record knows."""
    return chunk.rel == "of" or bool(set(chunk.ids) & profile.known) or bool(profile.setting)


def _texts(profile: Profile) -> bool:
    kinds = lexicon().kind_of
    return any(kinds.get(h) == "text" for h in profile.heads) or not profile.heads


def _subjects(named: list[Chunk]) -> list[Chunk]:
    """The phrases that may be what the claim is about, most likely first."""
    first = named[0]
    rest = [c for c in named[1:] if c.rel in ("subject", "colon", "object") or (c.rel == "other" and (c.nouns or c.quotes) and first.rel in ("within", "beside"))]
    if first.rel in ("within", "beside") and not first.lifted and rest:
        return [*rest[:2], first] if first.head not in ("region", "") else rest[:2]
    return [first, *rest[:2]]


def _foreign(chunk: Chunk, profile: Profile) -> set[str]:
    """Describing words of the phrase that the record does not know."""
    head = chunk.ids.index(chunk.head) if chunk.head in chunk.ids else len(chunk.ids)
    words = chunk.ids[:head] if chunk.head else chunk.ids
    generic = lexicon().generic
    known = profile.known
    return {w for w in words if _fold(w, known) not in known and w not in generic and w not in _BROAD and w not in profile.heads}


def identify(chunk: Chunk, texts: Mapping[int, Quote], profile: Profile) -> Match:
    """Whether the phrase names the thing of `profile`."""
    if _other_place(chunk, profile) or _sibling(chunk, profile):
        return "no"
    relation = _relation(chunk, profile)
    quoted = [texts[number] for number in chunk.quotes if number in texts]
    named = any(same_text(q.text, name) for q in quoted for name in profile.names)
    if quoted and not named and any(same_text(q.text, name) for q in quoted for name in profile.neighbours):
        return "yes" if chunk.head and _relation(chunk, profile) == "same" else "apart"
    if quoted and not named and profile.names and (chunk.nouns or not all(q.told for q in quoted)):
        return "no"
    words = {_fold(word, profile.known) for word in chunk.ids}
    if named or _spelled(frozenset(words), profile.names):
        return "no" if relation == "different" and _rivals(chunk.head, profile) else "yes"
    if len(chunk.ids) > 1 and set(chunk.ids[:-1]) & profile.heads and (chunk.head in _PARTS or chunk.head in _BROAD):
        return "yes"  # the icons of the toolbar
    pins = words & (profile.ids | profile.owners) - {chunk.head}
    pins |= {f"#{n}" for n in chunk.ordinals if any(n in own for own in profile.ordinals.values())}
    foreign = _foreign(chunk, profile)
    if relation in ("same", "near"):
        if foreign and not pins and not words & (profile.context | profile.beside) - {chunk.head}:
            told_apart = any(profile.modifiers.get(h) or profile.ordinals.get(h) for h in profile.heads)
            return "no" if told_apart or relation == "near" else "yes"
        return "yes"
    if relation == "broad":
        return "yes" if pins else "apart" if foreign else "open"
    if relation == "unknown":
        if not profile.textual and chunk.ids and _told_by(profile) and _fold(chunk.ids[-1], profile.known) not in profile.heads and words <= profile.known:
            return "apart"  # the seats, where their numbers changed
        return "yes" if pins else "apart" if foreign else "open"
    return "yes" if relation == "kin" and pins and not foreign else "apart"


def _rivals(head: str, profile: Profile) -> bool:
    """Whether two sorts of things may carry the same name side by side: a button and a heading, a field and a link."""
    kinds = lexicon().kind_of
    return kinds.get(head) != "container" and not any(kinds.get(own) == "container" for own in profile.heads)


def _relation(chunk: Chunk, profile: Profile) -> str:
    """How the noun of the phrase stands to the thing's own noun."""
    head = chunk.head
    if chunk.ids and chunk.ids[-1] in profile.heads:
        return "same"
    if not head:
        return "unknown"
    if head in profile.heads:
        return "same"
    if head in _BROAD:
        return "broad"
    near, kinds = lexicon().near, lexicon().kind_of
    if not profile.heads or any(own in _BROAD or own not in kinds for own in profile.heads):
        return "kin"
    if any((head, own) in near for own in profile.heads):
        return "near"
    return "kin" if kinds.get(head) == "text" and any(kinds.get(own, "text") == "text" for own in profile.heads) else "different"


def _other_place(chunk: Chunk, profile: Profile) -> bool:
    """Whether the phrase has another ordinal, or the opposite side, of what the record says."""
    if chunk.ordinals:
        own = frozenset().union(*(profile.ordinals.get(word, frozenset()) for word in chunk.ids)) or None
        if own is None and chunk.head and _relation(chunk, profile) in ("same", "near"):
            own = frozenset().union(*(profile.ordinals.get(h, frozenset()) for h in profile.heads))
        if own and not own & chunk.ordinals:
            return True
    if chunk.rel not in ("within", "of", "subject", "beside") or not chunk.ids:
        return False
    across = chunk.places & _ACROSS
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
    generic = lexicon().generic
    if chunk.rel == "of" and profile.owners and not set(chunk.ids) & profile.known and chunk.ids and all(lexicon().kind_of.get(n) == "text" for n in chunk.nouns):
        return True
    if chunk.rel == "within" and chunk.ids and profile.setting and not set(chunk.ids) & profile.known:
        regions = vocabulary("elements")["region"]["names"]
        if not chunk.nouns and not profile.setting <= lexicon().kind_of.keys():
            return True
        theirs, ours = set(chunk.nouns) & set(regions), profile.setting & set(regions)
        if theirs and ours and not any((a, b) in lexicon().near for a in theirs for b in ours):
            return True
    if chunk.tints and chunk.ids and profile.tints.get(chunk.ids[-1], chunk.tints).isdisjoint(chunk.tints):
        return True
    for k, word in enumerate(chunk.ids):
        own = profile.modifiers.get(word)
        if not own:
            continue
        theirs = {_fold(w, profile.known) for w in chunk.ids[:k] if w not in generic and w not in _BROAD}
        if theirs and not theirs & (own | profile.known):
            return True
    return False


@lru_cache(maxsize=4096)
def _spelled(words: frozenset[str], names: tuple[str, ...]) -> bool:
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
