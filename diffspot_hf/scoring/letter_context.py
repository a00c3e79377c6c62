"""What stands around a letter: what announces it, what is said of it, and where in the reply it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from . import answer_words as words
from .letter_tokens import Token

Cue = Literal["statement", "so", "weak", "label", ""]
"""How a letter is announced: "the answer is" (`statement`), "so" or "it is" (`so`), "maybe" (`weak`), by nothing but
the word "option" (`label`), or not at all."""

OPENERS = frozenset("([{<\"'“‘«「『【《〈")
CLOSERS = frozenset(")]}>\"'”’»」』】》〉")
SEPARATORS = frozenset({":", "=", "-", "–", "—", "->", "→", "⇒", "|"})
_BRACKETS = frozenset(")]}>」』】》〉")
_ENDS = frozenset(".,;:!)…—–-(|。、") | {"->"}
_CONTINUES = frozenset(":,-–—(")  # after these more was to come
_SENTENCE_ENDS = frozenset(".!?…。")
_FOREIGN_BREAK = re.compile(r"[,;、.。!?\n]")
_TICKS, _CROSSES = frozenset("✓✔✅☑"), frozenset("✗✘❌❎✕×")
_REACH = 14  # tokens looked at on either side (our choice): keeps the reading linear
_SHORT_FORMS = frozenset(("fig", "vol", "approx", "etc", "opt", "art", "nos", "vs", "st", "mr", "dr", "op", "ch", "pt"))


class After(NamedTuple):
    """What follows a letter. `ends`: nothing more is said of it; `last`: nothing more is said at all; `foreign`: a word
    of another script follows, no noun of an article A; `denied`, `affirmed`: verdicts; `word`: what follows."""

    ends: bool = False
    last: bool = False
    asked: bool = False
    denied: bool = False
    affirmed: bool = False
    foreign: bool = False
    word: str = ""


class Context:
    """The tokens of one reply, to be asked about the letter at an index."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.german = any(token.text in words.GERMAN for token in tokens)

    def kind(self, at: int) -> str:
        return self.tokens[at].kind if 0 <= at < len(self.tokens) else "none"

    def word(self, at: int) -> str:
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    # -- backwards ---------------------------------------------------------------------------------------------------

    def announced(self, at: int) -> tuple[Cue, bool]:
        """What announces the letter at `at`, and whether its clause is free of "not", "whether", "if"."""
        foreign = self._foreign(at)
        if foreign:
            return foreign
        seen: list[str] = []  # what stands between the cue and the letter, the nearest first
        step, contrasted = at - 1, False
        while step >= max(at - _REACH, 0):
            text = self.word(step)
            if self.kind(step) in ("mark", "break"):
                abbreviated = text == "." and not seen and self.word(step - 1) in words.ANSWER_NOUNS | {"."}
                if text in SEPARATORS or abbreviated or (text == "." and self.word(step + 1) == "."):
                    seen.append(":")
                elif text == "\n" or text in OPENERS or text in CLOSERS:
                    seen.append(text)
                elif not (text == "," and self._is_so(step - 1)):
                    break
            elif self.kind(step) == "place" or self.word(step).isupper():
                break
            elif text in words.CONTRASTS and not seen and (denied := self._denied_letter(step - 1)) is not None:
                step = denied  # "the answer is not A but C" announces C, and so does "not A but C"
                contrasted = True
            elif cue := self._cue(step, seen):
                hypothetical = "would" in seen or text in words.POINTERS or text in words.POINTERS_WITH_VERB
                supposed = hypothetical and self._supposed(step)
                return cue, self._is_so(step) or (self._clear(step) and not supposed)
            elif text in words.FILLERS or text in words.LABELS or text in words.ANSWER_NOUNS or text in words.HEDGES:
                seen.append(text)
            else:
                break
            step -= 1
        return ("so", True) if contrasted else self._uncued(step, seen)

    def _cue(self, step: int, seen: Sequence[str]) -> Cue:
        """The cue that the word at `step` is, `seen` standing between it and the letter."""
        text, before = self.word(step), self.word(step - 1)
        has_verb = not words.COPULAS.isdisjoint(seen)
        stated = has_verb or ":" in seen or "\n" in seen
        strong: Cue = "statement" if words.HEDGES.isdisjoint(seen) else "weak"
        if text in words.ANSWER_NOUNS and (stated or before in words.CORRECT):
            return strong
        if text in words.CHOICE_VERBS and (self.kind(step - 1) != "letter" or before == "I"):
            return strong
        if self._is_so(step):
            return "" if text == "so" and seen and seen[-1] in words.COPULAS else "so"
        if text in words.POINTERS_WITH_VERB or (text in words.POINTERS and has_verb):
            return "so" if strong == "statement" else "weak"
        if text in words.MATCHED and not words.LABELS.isdisjoint(seen):
            return "weak"
        if text in ("points", "point") and before in words.POINTERS:
            return "weak"
        if text == "it" and before in ("makes", "making", "make"):
            return "so"
        if stated and text in words.FOUND_NOUNS:
            correct = any(self.word(step - back) in words.CORRECT for back in (1, 2))
            return "statement" if correct else "weak"
        return ""

    def _uncued(self, step: int, seen: Sequence[str]) -> tuple[Cue, bool]:
        """What the words `seen` announce by themselves, where the walk back ended at `step` without a cue."""
        clear = self._clear(step + 1)
        has_verb = not words.COPULAS.isdisjoint(seen)
        if (has_verb or ":" in seen) and not (words.CORRECT - words.LOOSELY_CORRECT).isdisjoint(seen):
            return "statement", clear
        if self._stops(step) and not words.BARE_COPULAS.isdisjoint(seen):
            return "so", clear
        if self._stops(step) and seen and seen[-1] in words.APPEARANCES:
            return "weak", clear
        if not (words.HEDGES | words.ASSURANCES).isdisjoint(seen):
            return "weak", clear
        if not (words.LABELS | words.ANSWER_NOUNS).isdisjoint(seen):
            return "label", clear
        return "", bool(seen) or self.word(step) not in words.NEGATORS

    def _is_so(self, step: int) -> bool:
        text = self.word(step)
        return text in words.CONCLUSIONS or (text == words.GERMAN_SO and self.german)

    def _denied_letter(self, step: int) -> int | None:
        """The index of the "not" of "not A" if that ends at `step`, a comma after it aside."""
        step -= self.word(step) == ","
        return step - 1 if self.kind(step) == "letter" and self.word(step - 1) in words.NEGATORS else None

    def _clear(self, step: int) -> bool:
        """True if no negation or condition stands in the clause up to `step`."""
        for back in range(step - 1, max(step - 6, -1), -1):
            text = self.word(back)
            if text in OPENERS or text in CLOSERS:
                continue
            if self.kind(back) in ("mark", "break", "place") or text in words.CLAUSE_BREAKS:
                return True
            if text in words.NEGATORS or (text in words.WRONG and back == step - 1):
                return text == "doubt" and self.word(back - 1) in ("no", "a", "any")
        return True

    def _supposed(self, step: int) -> bool:
        """True if the sentence up to `step` is a hypothesis: "if it were red, the answer would be A"."""
        for back in range(step - 1, max(step - _REACH, -1), -1):
            if self.kind(back) == "break" or self.word(back) in _SENTENCE_ENDS:
                return False
            if self.word(back) in words.CONDITIONS:
                return True
        return False

    def considered(self, at: int) -> bool:
        """True if the clause before `at` only looks at the option, or denies it."""
        for back in range(at - 1, max(at - _REACH, -1), -1):
            text = self.word(back)
            if self.kind(back) == "break" or text in ".!?;,":
                return False
            if text in words.CONSIDERED or text in words.NEGATORS:
                return True
        return False

    def _foreign(self, at: int) -> tuple[Cue, bool] | None:
        start = self.tokens[at].start
        clause = _FOREIGN_BREAK.split(self.text[max(0, start - 40) : start])[-1]
        if words.FOREIGN_SO.search(clause):
            return "so", True
        if words.FOREIGN_MAYBE.search(clause):
            return "weak", True
        answer = words.FOREIGN_ANSWER.search(clause)
        match = answer or words.FOREIGN_LABEL.search(clause)
        if not match:
            return None
        return "statement" if answer else "label", not words.FOREIGN_NOT.search(clause, max(0, match.start() - 4))

    # -- forwards ----------------------------------------------------------------------------------------------------

    def after(self, at: int) -> After:
        """What follows the letter at `at`."""
        letter = self.word(at)
        step = at + 1
        while self.word(step) in CLOSERS and self._touches(step):
            step += 1
        bracketed = any(self.word(closer) in _BRACKETS for closer in range(at + 1, step))
        text, kind = self.word(step), self.kind(step)
        last = self._nothing_from(step) and text not in _CONTINUES
        if kind in ("none", "break"):
            return After(ends=True, last=last)
        if kind == "mark":
            if text in _TICKS or text in _CROSSES:
                return After(affirmed=text in _TICKS, denied=text in _CROSSES)
            denied = (text in _CONTINUES or text == ".") and self._verdict_is_no(step + 1)
            ends = text in _ENDS and not self._is_code(step)
            return After(ends, last, asked=text == "?", denied=denied, foreign=text == "(", word="" if ends else text)
        if kind != "word":
            return After(word=text)
        raw = self.text[self.tokens[at].end : self.tokens[at].end + 24]
        if words.FOREIGN_NEGATIVE.match(raw):
            return After(denied=True)
        if words.FOREIGN_POSITIVE.match(raw):
            standing = not self.text[max(0, self.tokens[at].start - 1) : self.tokens[at].start].isalpha()
            return After(affirmed=standing, foreign=not standing)
        said = self._predicate(step, letter)
        return said._replace(ends=True) if bracketed and not said.denied and not said.affirmed else said

    def _predicate(self, start: int, letter: str) -> After:
        """The verdict of the words from `start` on: "is correct", "can be ruled out", "it is", or none."""
        first = self.word(start)
        if first == "it" and self.word(start + 1) in words.COPULAS and self._stops(start + 2):
            return After(affirmed=True)
        if self._stops(start + 1) and (first in words.POSITIVE_VERBS or first in words.CORRECT):
            return After(affirmed=True)
        if first in ("rather", "instead") and self.word(start + 1) in ("than", "of"):
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
        text, following = self.word(step), self.word(step + 1)
        stops = self._stops(step + 1)
        if text in words.CORRECT:
            return stops or following in words.AFTER_CORRECT
        return text in words.POSITIVE_ADVERBS or (text in words.POSITIVE_NOUNS and stops)

    def _touches(self, step: int) -> bool:
        """True if nothing stands between the token at `step` and the one before it."""
        return 0 < step < len(self.tokens) and self.tokens[step - 1].end == self.tokens[step].start

    def _is_code(self, step: int) -> bool:
        """True if the mark at `step` belongs to a name or command: "A(z)", "A :role:", "A -d", "a->b"."""
        text = self.word(step)
        if text in ("(", "->"):
            return self._touches(step)
        return text in (":", "-") and self._touches(step + 1) and not self._touches(step)

    def _stops(self, step: int) -> bool:
        return self.kind(step) in ("none", "mark", "break")

    def _verdict_is_no(self, step: int) -> bool:
        text, following = self.word(step), self.word(step + 1)
        if text in words.NEGATIVE_VERDICTS:
            return self._stops(step + 1)
        return (text == "not" and following in words.AFTER_NOT) or text in _CROSSES

    # -- places ------------------------------------------------------------------------------------------------------

    def opens(self, at: int) -> Literal["reply", "line", "sentence", ""]:
        """What the letter at `at` is the first word of, the word "option" before it not counted."""
        step = at - 1
        while self.word(step) in OPENERS or self.word(step) in words.LABELS or self.word(step) in words.ANSWER_NOUNS:
            step -= 1
        if self.kind(step) == "none":
            return "reply"
        if self.kind(step) == "break":
            above = step
            while self.kind(above) == "break":
                above -= 1
            return "reply" if above < 0 else "line"
        return "sentence" if self.kind(step) == "mark" and self.word(step) in ".!?;。" else ""

    def follows_separator(self, at: int) -> bool:
        """True if a comma, colon, dash or line break stands before the letter at `at`, or a sentence ends there."""
        step = at - 1
        while self.word(step) in OPENERS:
            step -= 1
        text, before = self.word(step), self.word(step - 1)
        if text in SEPARATORS or text in (",", ";", "\n"):
            spaced = text not in ("-", "=") or not (self._touches(step) or self._touches(step + 1))
            formula = text == "=" and len(before) < 2
            return (
                spaced and not formula and not self._supposed(step) and not (text != "," and before in words.NEGATORS)
            )
        ended = (
            len(before) > 1
            or before.isdigit()
            or before in CLOSERS
            or (self.kind(step - 1) == "letter" and not self.opens(step - 1))
        )
        return text in _SENTENCE_ENDS and ended and before not in _SHORT_FORMS

    def names_a_picture(self, at: int) -> bool:
        """True if the letter at `at` names an image: "image B", "picture (A)"."""
        step = at - 1
        while self.word(step) in OPENERS:
            step -= 1
        return self.word(step) in words.PICTURE_WORDS

    def _nothing_from(self, step: int) -> bool:
        return all(token.kind in ("mark", "break") for token in self.tokens[step : step + _REACH]) and (
            len(self.tokens) - step <= _REACH
        )
