"""What stands around a letter: what announces it, what is said of it, and where in the reply it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from . import answer_words as words
from .letter_after import Following
from .letter_tokens import CLOSERS, OPENERS, REACH, SEPARATORS

Cue = Literal["statement", "so", "weak", "label", ""]
"""How a letter is announced: "the answer is" (`statement`), "so" or "it is" (`so`), "maybe" (`weak`), by nothing but
the word "option" (`label`), or not at all."""

_SENTENCE_ENDS = frozenset(".!?…。")
_FOREIGN_BREAK = re.compile(r"[,;、.。!?\n]")
_SHORT_FORMS = frozenset(("fig", "vol", "approx", "etc", "opt", "art", "nos", "vs", "st", "mr", "dr", "op", "ch", "pt"))


class Context(Following):
    """The tokens of one reply, to be asked about the letter at an index."""

    # -- backwards ---------------------------------------------------------------------------------------------------

    def announced(self, at: int) -> tuple[Cue, bool]:
        """What announces the letter at `at`, and whether its clause is free of "not", "whether", "if"."""
        foreign = self._foreign(at)
        if foreign:
            return foreign
        seen: list[str] = []  # what stands between the cue and the letter, the nearest first
        step, contrasted = at - 1, False
        while step >= max(at - REACH, 0):
            text = self.word(step)
            if self.kind(step) in ("mark", "break"):
                abbreviated = (
                    text == "." and OPENERS.issuperset(seen) and self.word(step - 1) in words.ANSWER_NOUNS | {"."}
                )
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
                wished = self.word(step - 1) == "would"
                supposed = (hypothetical or wished) and self._supposed(step, unreal=not hypothetical)
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
        if text.removesuffix("'s") in words.ANSWER_NOUNS and text not in words.ANSWER_NOUNS:
            return strong  # "the answer's B"
        if text in words.CHOICE_VERBS and (self.kind(step - 1) != "letter" or before == "I"):
            return strong
        if self._is_so(step):
            return "" if self._likewise(step, seen) else "so"
        if text in words.POINTERS_WITH_VERB or (text in words.POINTERS and has_verb):
            return "so" if strong == "statement" else "weak"
        if text in words.MATCHED and not words.LABELS.isdisjoint(seen):
            return "weak"
        if text in ("points", "point") and before in words.POINTERS:
            return "weak"
        if text == "it" and before in ("makes", "making", "make"):
            return "so"
        if stated and text in words.FOUND_NOUNS and "letter" not in seen:  # the difference may be a letter on a sign
            correct = any(self.word(step - back) in words.CORRECT for back in (1, 2))
            return "statement" if correct else "weak"
        return ""

    def _uncued(self, step: int, seen: Sequence[str]) -> tuple[Cue, bool]:
        """What the words `seen` announce by themselves, where the walk back ended at `step` without a cue."""
        if self._likewise(step, seen):
            return "", False
        clear = self._clear(step + 1)
        has_verb = not words.COPULAS.isdisjoint(seen)
        if (has_verb or ":" in seen) and not (words.CORRECT - words.LOOSELY_CORRECT).isdisjoint(seen):
            return "statement", clear
        if self.stops(step) and not words.BARE_COPULAS.isdisjoint(seen):
            return "so", clear
        if self.stops(step) and seen and seen[-1] in words.APPEARANCES:
            return "weak", clear
        if not (words.HEDGES | words.ASSURANCES).isdisjoint(seen):
            return "weak", clear
        if not (words.LABELS | words.ANSWER_NOUNS).isdisjoint(seen):
            return "label", clear
        return "", bool(seen) or self.word(step) not in words.NEGATORS

    def _is_so(self, step: int) -> bool:
        text = self.word(step)
        return text in words.CONCLUSIONS or (text == words.GERMAN_SO and self.german)

    def _likewise(self, step: int, seen: Sequence[str]) -> bool:
        """True if the word at `step` begins "so is B" or "so might B": B as well."""
        return self.word(step) == "so" and bool(seen) and seen[-1] in words.HEDGES | words.COPULAS

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
                return self._pressed(back) or (text == "doubt" and self.word(back - 1) in ("no", "a", "any"))
        return True

    def _supposed(self, step: int, unreal: bool = False) -> bool:
        """True if the sentence up to `step` is a hypothesis: "if it were red, the answer would be A".

        If `unreal`, only one with "were" or "had" counts: "if we compare them, I would say A" is none.
        """
        said = set()
        for back in range(step - 1, max(step - REACH, -1), -1):
            text = self.word(back)
            if self.kind(back) == "break" or text in _SENTENCE_ENDS:
                return False
            said.add(text)
            if text in words.CONDITIONS or (text == "had" and self.stops(back - 1)):
                return not self._pressed(back) and (not unreal or not said.isdisjoint(("were", "had")))
        return False

    def _pressed(self, at: int) -> bool:
        """True if the condition at `at` is only a manner of speaking: "if I had to guess"."""
        clause = {self.word(step) for step in range(at + 1, at + 6)}
        return not words.OBLIGED.isdisjoint(clause) and not words.GUESSED.isdisjoint(clause)

    def considered(self, at: int) -> bool:
        """True if the clause before `at` only looks at the option, or denies it."""
        for back in range(at - 1, max(at - REACH, -1), -1):
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
            spaced = text not in ("-", "=") or not (self.touches(step) or self.touches(step + 1))
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

    def is_a_name(self, at: int) -> bool:
        """True if the letter at `at` names an image or a thing: "image B", "picture (A)", "Grade: B", "it reads: C"."""
        step = at - 1
        while self.word(step) in OPENERS:
            step -= 1
        if self.word(step) in words.PICTURE_WORDS:
            return True
        while self.word(step) in SEPARATORS or self.word(step) in OPENERS:
            step -= 1
        text, before = self.word(step), self.word(step - 1)
        return text in words.SCALES or text in words.READ_ALOUD or (text == "letter" and before == "a")
