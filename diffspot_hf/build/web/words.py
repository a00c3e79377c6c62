"""Changes of text: words and letters are replaced by others from the same page, so script and language stay."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator, Sequence

from .change import Change, Facts
from .scales import OPERATORS, Tier

Span = tuple[int, int]


def text(
    facts: Facts, tier: Tier, rng: random.Random, page_words: Sequence[str], page_labels: Sequence[str]
) -> Iterator[Change]:
    """Whole labels or half their words (easy), one word (medium), one character (hard); never the empty string."""
    if not facts["own"] or not facts["nodes"]:
        return
    node = max(facts["nodes"], key=lambda n: len(n["raw"].strip()))
    raw: str = node["raw"]
    spans: list[Span] = [tuple(w) for w in node["words"]]
    if not spans:
        return
    if tier == "easy":
        found = _label(raw, spans, rng, page_words, page_labels)
    elif tier == "medium":
        found = _one_word(raw, spans, rng, page_words)
    else:
        found = _one_character(raw, spans, rng, page_words)
    for new, note, magnitude, old_part, new_part in found:
        if new.strip() and new.split() != raw.split():
            yield Change(
                "text", tier, "text-content", " ".join(raw.split()), " ".join(new.split()), magnitude, way=note,
                text=(node["at"], new), note=note, details={"old": old_part, "new": new_part},
            )  # fmt: skip


Found = tuple[str, str, str, str, str]


def _label(
    raw: str, spans: list[Span], rng: random.Random, words: Sequence[str], labels: Sequence[str]
) -> Iterator[Found]:
    whole, half = OPERATORS["text"].sizes["easy"]
    start, end = spans[0][0], spans[-1][1]
    label = raw[start:end]
    others = [o for o in labels if script(o) == script(label) and not set(o.split()) & set(label.split())]
    others = [o for o in others if 0.6 <= len(o) / max(1, len(label)) <= 1.5 and any(c.isalpha() for c in o)]
    rng.shuffle(others)
    if whole and len(label) <= 60 and any(c.isalpha() for c in label):
        for other in sorted(others[:6], key=lambda o: abs(len(o) - len(label)))[:3]:
            yield raw[:start] + like(other, label) + raw[end:], "replaced", "whole label", label, like(other, label)
    count = round(len(spans) * half)
    if count >= 1 and len(spans) >= 2:
        picked = rng.sample(range(len(spans)), count)
        swapped = {n: _instead(raw[slice(*spans[n])], rng, words) for n in picked}
        if all(swapped.values()):
            new = _with(raw, [(spans[n], str(word)) for n, word in swapped.items()])
            yield new, "replaced", f"{count} of {len(spans)} words", "", ""
    if len(spans) >= 4:
        keep = len(spans) - count
        cut = raw[: spans[keep - 1][1]] + raw[end:]
        yield cut, "deleted", f"{count} of {len(spans)} words", raw[spans[keep][0] : end], ""


def _one_word(raw: str, spans: list[Span], rng: random.Random, words: Sequence[str]) -> Iterator[Found]:
    for span in rng.sample(spans, len(spans))[:4]:
        old = raw[slice(*span)]
        if len(old) >= 3 or old.isdigit() or script(old) in ("CJK", "HIRAGANA", "KATAKANA", "HANGUL"):
            new = _instead(old, rng, words)
            if new:
                yield _with(raw, [(span, new)]), "replaced", "one word", old, new
    if len(spans) >= 3:
        n = rng.randrange(1, len(spans) - 1) if len(spans) > 3 else 1
        start, end = spans[n - 1][1], spans[n][1]
        if raw[start : spans[n][0]].isspace():
            yield raw[:start] + raw[end:], "deleted", "one word", raw[slice(*spans[n])], ""


def _one_character(raw: str, spans: list[Span], rng: random.Random, words: Sequence[str]) -> Iterator[Found]:
    letters = "".join(words)
    places = [i for a, b in spans for i in range(a, b) if _alone(raw, i)]
    # Digits first: a wrong figure is the change that people would have to notice.
    rng.shuffle(places)
    places.sort(key=lambda i: not raw[i].isdigit())
    for i in places[:8]:
        alike = sorted({c for c in letters if same_sort(c, raw[i]) and c.casefold() != raw[i].casefold()})
        if raw[i].isdigit():
            alike = [d for d in "123456789" if d != raw[i]] if raw[i].isascii() else alike
        if alike:
            new = rng.choice(alike)
            yield raw[:i] + new + raw[i + 1 :], "replaced", "one character", raw[i], new


def _instead(old: str, rng: random.Random, words: Sequence[str]) -> str | None:
    """Another word of the page in place of `old`: same script and capitals, about the same length; other digits."""
    if any(c.isdigit() for c in old):
        return "".join(rng.choice("123456789".replace(c, "")) if c.isascii() and c.isdigit() else c for c in old)
    slack = max(1, len(old) // 4)
    good = sorted({
        w for w in words
        if w.isalpha() and w.casefold() != old.casefold() and script(w) == script(old)
        and abs(len(w) - len(old)) <= slack and len(w) >= min(len(old), 2)
    })  # fmt: skip
    # A word that already has the right capitals is no name brought low.
    ready = [w for w in good if like(w, old) == w]
    return like(rng.choice(ready or good), old) if good else None


def like(word: str, model: str) -> str:
    """`word` in the capitals of `model`.

    >>> like("boots", "ACCOUNT"), like("Autumn boots", "sign in"), like("boots", "Sign")
    ('BOOTS', 'autumn boots', 'Boots')
    """
    if model.isupper() and len(model) > 1:
        return word.upper()
    if model.islower():
        return word.lower()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


def _with(raw: str, changes: list[tuple[Span, str]]) -> str:
    for (start, end), new in sorted(changes, reverse=True):
        raw = raw[:start] + new + raw[end:]
    return raw


def script(word: str) -> str:
    """The script of the first letter, ``DIGIT`` when there is none.

    >>> script("Łódź"), script("привет"), script("日本"), script("42")
    ('LATIN', 'CYRILLIC', 'CJK', 'DIGIT')
    """
    for c in word:
        if c.isalpha():
            return unicodedata.name(c, "?").split()[0]
    return "DIGIT"


def same_sort(a: str, b: str) -> bool:
    """Whether two characters are of one script, case and class, and so can stand for each other."""
    return (
        a.isalpha() == b.isalpha() and a.isupper() == b.isupper() and script(a) == script(b)
        and unicodedata.category(a) == unicodedata.category(b)
    )  # fmt: skip


def _alone(raw: str, i: int) -> bool:
    """Whether character `i` can be replaced by itself: a letter or digit that no mark or joiner hangs on."""
    following = raw[i + 1 : i + 2]
    return raw[i].isalnum() and not (following and unicodedata.combining(following)) and following != "\u200d"
