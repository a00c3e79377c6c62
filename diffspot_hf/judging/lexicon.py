"""Words: how a text becomes tokens, and how the phrases of the vocabulary are found in them.

The vocabulary lies beside this module as TOML; nothing in the code names a word of it. Tokens are compared after light
stemming, so that a phrase is listed once and found in its inflections. CJK characters are tokens of their own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

_CJK = "\u3040-\u30ff\u3400-\u9fff"
_TOKEN = re.compile(
    rf"§[A-Z]\d*|[{_CJK}]|\d+(?:[.,]\d+)*|[^\W\d_{_CJK}]+(?:['’][^\W\d_]+)?|->|→|[,;:()/|%€$£¥–—-]|\.(?=\s|$)",
)
_ENDINGS = ("ing", "ed", "es", "s")


@cache
def vocabulary(name: str) -> Mapping[str, Any]:
    """The vocabulary file `name` as it lies in the package."""
    return tomllib.loads((files(__package__) / "vocabulary" / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def grammar(name: str) -> frozenset[str]:
    """The small words of one kind."""
    return frozenset(vocabulary("grammar")[name])


class Token(NamedTuple):
    """One token: its stem, the word itself (case folded), whether a hyphen glues it to the one before; its place."""

    stem: str
    raw: str
    glued: bool
    at: int
    end: int


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """`word` without its English inflection, spelled the American way.

    >>> [stem(w) for w in ("colours", "moved", "bigger", "dotted", "boxes", "entries")]
    ['color', 'mov', 'bigger', 'dot', 'box', 'entri']
    """
    word = word.replace("’", "'")
    if word.endswith("'s") and len(word) > 3:
        word = word[:-2]
    for british, american in vocabulary("grammar")["spelling"].items():
        if word.startswith(british):
            word = american + word[len(british) :]
    kept = grammar("uninflected")
    if word.removesuffix("s") in kept and len(word) > 4:
        return word.removesuffix("s")
    if word in kept or len(word) < 4 or not word.isascii():
        return word
    if word.endswith(("ies", "ied")):
        return word[:-2]
    if word.endswith("ings") and len(word) > 6:
        word = word[:-1]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            if ending in ("ing", "ed") and len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    if word.endswith("y") and len(word) > 3:
        return word[:-1] + "i"
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def tokenize(text: str) -> list[Token]:
    """The tokens of `text`; a hyphen inside a word separates and leaves no token of its own."""
    tokens: list[Token] = []
    previous_end, glue = -1, False
    for found in _TOKEN.finditer(text):
        piece = found.group()
        if piece in "-–" and tokens and found.start() == previous_end and text[found.end() : found.end() + 1].isalnum():
            glue, previous_end = True, found.end()
            continue
        raw = piece.casefold() if piece[0] != "§" else piece
        tokens.append(Token(stem(raw), raw, glue and found.start() == previous_end, *found.span()))
        glue, previous_end = False, found.end()
    return tokens


_WORDS = 50_000
"""Distinct words remembered by a phrase table before it forgets (our choice)."""


class Hit(NamedTuple):
    """A phrase found: token positions `start` to `end` (exclusive) and what the vocabulary says of it."""

    start: int
    end: int
    labels: tuple[str, ...]


class Phrases:
    """A set of labelled phrases that finds its longest members in a list of tokens, in one pass."""

    def __init__(self, entries: Iterable[tuple[str, str]]) -> None:
        merged: dict[tuple[str, ...], dict[str, None]] = {}
        for phrase, label in entries:
            merged.setdefault(_key(phrase), {})[label] = None
        self._by_first: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
        for key, labels in merged.items():
            self._by_first.setdefault(key[0], []).append((key, tuple(labels)))
        self._by_word: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}

    def find(self, tokens: Sequence[Token]) -> list[Hit]:
        """The hits in `tokens`, left to right, longest first, without overlap; labels of equally long ones joined."""
        hits: list[Hit] = []
        position, n = 0, len(tokens)
        known = self._by_word
        while position < n:
            token = tokens[position]
            candidates = known.get(token.raw)
            if candidates is None:
                candidates = known[token.raw] = self._by_first.get("=" + token.raw, []) + self._by_first.get(
                    token.stem, []
                )
                if len(known) > _WORDS:
                    known.clear()
            length = 0
            labels: tuple[str, ...] = ()
            for key, names in candidates:
                size = len(key)
                if size < length or position + size > n:
                    continue
                if size == 1 or all(_same(key[k], tokens[position + k]) for k in range(1, size)):
                    labels = names if size > length else (*labels, *(x for x in names if x not in labels))
                    length = size
            if length:
                hits.append(Hit(position, position + length, labels))
            position += length or 1
        return hits


def _key(phrase: str) -> tuple[str, ...]:
    exact = phrase.startswith("=")
    tokens = tokenize(phrase.removeprefix("="))
    if not tokens:
        raise ValueError(f"vocabulary: {phrase!r} holds no word")
    return tuple(("=" + t.raw) if exact else t.stem for t in tokens)


def _same(part: str, token: Token) -> bool:
    return part[1:] == token.raw if part[0] == "=" else part == token.stem


def labelled(table: Mapping[str, Iterable[str]], prefix: str = "") -> list[tuple[str, str]]:
    """Pairs (phrase, label) of a table label -> phrases."""
    return [(phrase, prefix + label) for label, phrases in table.items() for phrase in phrases]


def phrases_of(words: Iterable[str], label: str = "yes") -> Phrases:
    return Phrases((word, label) for word in words)


@dataclass(frozen=True)
class Lexicon:
    """Everything the judge knows of words, ready to search."""

    effects: Phrases
    elements: Phrases
    colors: Phrases
    words: Phrases
    talk: Phrases
    compose: Mapping[str, Mapping[str, str]]
    kind_of: Mapping[str, str]
    near: frozenset[tuple[str, str]]
    generic: frozenset[str]


@cache
def lexicon() -> Lexicon:
    """The package's lexicon, read once."""
    effects, elements, talk = vocabulary("effects"), vocabulary("elements"), vocabulary("sameness")
    entries = labelled(effects["effect"], "effect:") + labelled(effects["states"], "state:")
    entries += labelled(effects["dimension"], "dim:")
    entries += [(word, "dim:skip") for word in effects["skip"]["words"]]
    for sense, table in effects["degree"].items():
        entries += labelled(table, f"{sense}:")
    kinds = {group: kind for kind in ("text", "control", "media", "container", "generic") for group in elements[kind]}
    nouns = [pair for kind in ("text", "control", "media", "container", "generic") for pair in labelled(elements[kind])]
    nouns += labelled(elements["alike"], "~") + labelled(elements["ordinal"], "#")
    near = {(a, b) for cluster in elements["near"].values() for a in cluster for b in cluster}
    sets = {key: words for key, words in elements["words"].items() if key not in ("generic", "stop", "mild")}
    words = labelled(sets) + labelled({f"place:{k}": v for k, v in elements["side"].items()})
    return Lexicon(
        effects=Phrases(entries),
        elements=Phrases(nouns),
        colors=Phrases(labelled(vocabulary("colors")["word"]) + labelled(vocabulary("colors")["shade"])),
        words=Phrases(words),
        talk=Phrases(labelled({key: value for key, value in talk.items() if key != "label"})),
        compose=effects["compose"],
        kind_of=kinds,
        near=frozenset(near),
        generic=frozenset(
            t.stem for w in (*elements["words"]["generic"], *elements["words"]["stop"]) for t in tokenize(w)
        )
        | frozenset(elements["words"]["mild"]),
    )
