"""What follows a letter: the end of the sentence, a verdict such as "is wrong", a clause that explains it."""

from __future__ import annotations

from typing import NamedTuple

from . import answer_words as words
from .letter_tokens import CLOSERS, View

_BRACKETS = frozenset(")]}>」』】》〉")
_ENDS = frozenset(".,;:!)…—–-(|。、") | {"->"}
_CONTINUES = frozenset(":,-–—(")  # after these more was to come
_TICKS, _CROSSES = frozenset("✓✔✅☑"), frozenset("✗✘❌❎✕×")


class After(NamedTuple):
    """What follows a letter. `ends`: nothing more is said of it; `last`: nothing more is said at all; `foreign`: a word
    of another script follows, no noun of an article A; `denied`, `affirmed`: verdicts; `agreed`: "yes" follows, as in
    a list of verdicts; `word`: what follows."""

    ends: bool = False
    last: bool = False
    asked: bool = False
    denied: bool = False
    affirmed: bool = False
    agreed: bool = False
    foreign: bool = False
    word: str = ""


class Following(View):
    """A view of the reply that tells what follows a letter."""

    def after(self, at: int) -> After:
        """What follows the letter at `at`."""
        letter = self.word(at)
        step = at + 1
        while self.word(step) in CLOSERS and self.touches(step):
            step += 1
        bracketed = any(self.word(closer) in _BRACKETS for closer in range(at + 1, step))
        text, kind = self.word(step), self.kind(step)
        last = self.nothing_from(step) and text not in _CONTINUES
        if kind in ("none", "break"):
            return After(ends=True, last=last)
        if kind == "mark":
            if text in _TICKS or text in _CROSSES:
                return After(affirmed=text in _TICKS, denied=text in _CROSSES)
            listed = text in _CONTINUES or text == "."
            denied, agreed = listed and self._says_no(step + 1), listed and self._says_yes(step + 1)
            ends = text in _ENDS and not self._is_code(step)
            word = "" if ends else text
            return After(ends, last, text == "?", denied, agreed=agreed, foreign=text == "(", word=word)
        if kind != "word":
            return After(word=text)
        raw = self.text[self.tokens[at].end : self.tokens[at].end + 24]
        if words.FOREIGN_NEGATIVE.match(raw):
            return After(denied=True)
        if words.FOREIGN_POSITIVE.match(raw):
            standing = not self.text[max(0, self.tokens[at].start - 1) : self.tokens[at].start].isalpha()
            return After(affirmed=standing, foreign=not standing)
        if bracketed and (self._says_no(step) or self._says_yes(step)):
            return After(ends=True, denied=self._says_no(step), agreed=self._says_yes(step))
        said = self._predicate(step, letter)
        return said._replace(ends=True) if bracketed and not said.denied and not said.affirmed else said

    def _predicate(self, start: int, letter: str) -> After:
        """The verdict of the words from `start` on: "is correct", "can be ruled out", "it is", or none."""
        first = self.word(start)
        if first == "it" and self.word(start + 1) in words.COPULAS and self.stops(start + 2):
            return After(affirmed=True)
        if self.stops(start + 1) and (first in words.POSITIVE_VERBS or first in words.CORRECT):
            return After(affirmed=True)
        if first in ("rather", "instead") and self.word(start + 1) in ("than", "of"):
            return After(ends=True)
        if first == "and" and self.word(start + 1) == "not" and self.kind(start + 2) == "letter":
            return After(ends=True)
        for step in range(start, start + 9):
            text = self.word(step)
            if self.kind(step) != "word":
                break
            if text in words.NEGATIVE:
                if text in ("not", "nicht") and self.kind(step + 1) == "letter" and step == start:
                    return After(ends=True)
                if step > start or letter not in words.ARTICLES_AND_PRONOUNS or text in words.NEGATIVE_VERBS:
                    return After(denied=True)
                break
            if step > start and self._affirms(step):
                return After(affirmed=self.word(step + 1) != "?")
            if text not in words.PREDICATE_FILLERS:
                break
        return After(foreign=first[0] > "\u024f", word=first)

    def _affirms(self, step: int) -> bool:
        """True if the word at `step` completes praise: "is correct", "the only option that fits", "the most likely"."""
        text, following, beyond = self.word(step), self.word(step + 1), self.word(step + 2)
        stops = self.stops(step + 1)
        if text in words.CORRECT:
            return stops or following in words.AFTER_CORRECT or (following == "to" and beyond in ("me", "us"))
        if following in ("that", "which") and text in words.POSITIVE_NOUNS | words.LABELS:
            complement = self.word(step + 3)
            fits = beyond in words.FITTING and complement not in words.POORLY
            return fits or (beyond in words.COPULAS and complement in words.CORRECT)
        if text in words.LIKELY and self.word(step - 1) == "most":
            return stops or (following in words.POSITIVE_NOUNS and self.stops(step + 2))
        return text in words.POSITIVE_ADVERBS or (text in words.POSITIVE_NOUNS and stops)

    def _is_code(self, step: int) -> bool:
        """True if the mark at `step` belongs to a name or command: "A(z)", "A :role:", "A -d", "a->b"."""
        text = self.word(step)
        if text in ("(", "->"):
            return self.touches(step)
        return text in (":", "-") and self.touches(step + 1) and not self.touches(step)

    def _says_yes(self, step: int) -> bool:
        return self.word(step) in _TICKS or (self.word(step) in words.POSITIVE_VERDICTS and self.stops(step + 1))

    def _says_no(self, step: int) -> bool:
        text, following = self.word(step), self.word(step + 1)
        if text in words.NEGATIVE_VERDICTS:
            return self.stops(step + 1)
        return (text == "not" and following in words.AFTER_NOT) or text in _CROSSES
