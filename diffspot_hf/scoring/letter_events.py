"""Where does a reply commit to a letter? Each such place is an event; `letters.py` decides between the events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from . import answer_words as words
from .letter_after import After
from .letter_context import Context, Cue
from .letter_doubts import dismissed, refused
from .letter_tokens import CLOSERS, OPENERS, PLACE, SEPARATORS, Token

_IN_A_GROUP = OPENERS | CLOSERS | frozenset(",/&、+")
_BETWEEN_LETTERS = words.JOINERS | words.LABELS | words.HEDGES | {"also", "both", "even", "either", "the"}
_WIDEST_GAP = 7  # tokens between two letters that belong together (our choice)


class Event(NamedTuple):
    """The reply commits to `letter` at ``[start:end]`` of its text; "": to several at once; None: to none of the item.

    A `weak` event (a hedge, an option named at the very end) counts only where nothing stronger is said.
    """

    letter: str | None
    start: int
    end: int
    weak: bool = False


class Events(NamedTuple):
    """What a reply commits to, in order, and the letters it calls wrong with the place of each."""

    made: list[Event]
    denied: list[tuple[str, int]]


def read_events(
    text: str,
    tokens: Sequence[Token],
    letters: Sequence[str],
    places: Sequence[str | None],
    has_own_text: Callable[[str, int], bool],
) -> Events:
    """The events of one reply. `places` are the letters of answer places already read (their tokens point to them);
    `has_own_text(letter, position)` tells whether that letter's option text follows there."""
    reader = _Reader(Context(text, tokens), letters, has_own_text)
    result = Events([], reader.denied)
    at = 0
    while at < len(tokens):
        token = tokens[at]
        event = None
        if token.kind == "place":
            event = Event(places[ord(token.text) - PLACE], token.start, token.end)
        elif token.kind == "letter" and token.text.islower():
            event = reader.small(at)
        elif token.kind == "letter":
            group = reader.group(at)
            event = reader.event(group)
            at = group[-1]
        if event:
            result.made.append(event)
        at += 1
    denied = {letter for letter, _ in reader.denied}
    if not result.made and len(reader.agreed) == 1 and denied >= set(letters) - {reader.agreed[0].letter}:
        result.made.extend(reader.agreed)  # "A: no, B: yes, C: no", and so on through all letters
    return result


class _Reader:
    def __init__(self, context: Context, letters: Sequence[str], has_own_text: Callable[[str, int], bool]) -> None:
        self.context = context
        self.tokens = context.tokens
        self.letters = letters
        self.has_own_text = has_own_text
        self.denied: list[tuple[str, int]] = []
        self.agreed: list[Event] = []  # letters with a "yes" behind them
        labels = [
            token.text
            for at, token in enumerate(self.tokens)
            if token.kind == "letter" and token.text.isupper() and self._is_label(at)
        ]
        self.label_set = set(labels)
        self.last_labels = list(dict.fromkeys(reversed(labels)))[:2]  # the last one, and the last one that differs
        breaks = [at for at, token in enumerate(self.tokens) if token.kind == "break"]
        texts = [at for at, token in enumerate(self.tokens) if token.kind not in ("mark", "break")]
        self.last_line = max((at for at in breaks if texts and at < texts[-1]), default=-1)

    def event(self, group: Sequence[int]) -> Event | None:
        """The event that the letters at the indices `group`, joined by "and", "or" or commas, make together."""
        first, last = group[0], group[-1]
        if self.context.is_a_name(first):
            return None
        named = {self.tokens[at].text for at in group}
        after = self.context.after(last)
        cue, clear = self.context.announced(first)
        wrong = after.denied or dismissed(self.context.text, self.tokens[first].start)
        if wrong:
            self.denied += [(self.tokens[at].text, self.tokens[at].start) for at in group]
        letter = next(iter(named)) if len(named) == 1 else ""
        if after.agreed and letter in self.letters:
            self.agreed.append(Event(letter, self.tokens[first].start, self.tokens[last].end))
        if after.asked and after.last and cue == "statement" and self.context.word(first - 1) == ":":
            after = After(ends=True, last=True)  # "Answer: C?" is an answer, "is the answer C?" is none
        if wrong or after.asked or not clear:
            return None
        if cue in ("", "label"):
            meant = self._placed(first, letter, cue, after)
        else:
            continued = self._continues(letter, after.word) or self.has_own_text(letter, self.tokens[last].end)
            meant = after.ends or after.foreign or continued
        if meant or after.affirmed:
            weak = not after.affirmed and (cue == "weak" or (cue == "label" and not self.context.opens(first)))
            known = letter if not letter or letter in self.letters else None
            return Event(known, self.tokens[first].start, self.tokens[last].end, weak)
        return None

    def _continues(self, letter: str, word: str) -> bool:
        """True if a clause of its own follows ("B because", "B rather than"), and not the noun of an article A."""
        return word in words.FOLLOWERS and letter != "I"

    def _placed(self, at: int, letter: str, cue: Cue, after: After) -> bool:
        """Does the letter's place in the reply make it an answer, without a word that announces it?"""
        opens = self.context.opens(at)
        end = self.tokens[at].end
        if letter == "I" and self.context.word(at + 1) == ",":
            return False
        if opens == "reply":
            stands = after.ends or self._explained(at, letter, after.word) or self.has_own_text(letter, end)
            return stands and not self._starts_a_list(letter)
        if opens and letter and self.has_own_text(letter, end):
            return self.label_set <= {letter}
        if not after.ends or (opens and self._ends_a_list(letter)):
            return False
        if opens == "line" and self._ends_line(at):
            return not refused(self.context.text, self.tokens[at].start)
        if opens == "line" and at > self.last_line:
            return self.label_set <= {letter}
        if not after.last or refused(self.context.text, self.tokens[at].start):
            return False
        if cue == "label":  # "with the letter B" may be read off a sign
            return self.context.word(at - 1) != "letter" and not self.context.considered(at)
        return self.context.follows_separator(at)

    def _explained(self, at: int, letter: str, word: str) -> bool:
        """True if a reason follows: "B because", but not "E porque" or "E as cores", which begin with an "and"."""
        if letter in words.ARTICLES_AND_PRONOUNS:
            return word in words.CLEAR_CAUSES or (word == "as" and self.context.word(at + 2) in words.AFTER_AS)
        return word in words.CAUSES

    def small(self, at: int) -> Event | None:
        """The event of a lower-case letter, which only an explicit answer place makes a letter."""
        token, after = self.tokens[at], self.context.after(at)
        cue, clear = self.context.announced(at)
        letter = token.text.upper()
        if letter not in self.letters or not clear or not after.ends or after.denied:
            return None
        if dismissed(self.context.text, token.start):
            return None
        opens = self.context.opens(at)
        whole = cue == "label" and opens == "reply" and after.last
        if cue != "statement" and not (cue == "label" and (after.last or opens == "reply")) and cue != "so":
            return None
        if letter in words.ARTICLES_AND_PRONOUNS and not (cue != "so" and (whole or self._marked(at))):
            return None
        several = any(near.kind == "letter" for near in self.tokens[at + 1 : at + 4])
        return Event("" if several else letter, token.start, token.end)

    def _marked(self, at: int) -> bool:
        """True if the small letter at `at` is no article: "the answer is a" may be cut, "the answer is e" not."""
        near = {token.text for token in self.tokens[max(at - 6, 0) : at]}
        if self.tokens[at].text not in "ai" and not near.isdisjoint(words.CHOICES):
            return True
        before, after = self.context.word(at - 1), self.context.word(at + 1)
        enclosed = before in OPENERS and after in CLOSERS
        if at == len(self.tokens) - 1 and before == "is" and not near.isdisjoint(words.ANSWER_NOUNS):
            return self.tokens[at].text == "a"  # "the answer is a" and nothing more
        return enclosed or before in SEPARATORS or (after != "" and after in ".)!;")

    # -- several letters ---------------------------------------------------------------------------------------------

    def group(self, at: int) -> list[int]:
        """The indices of the letters that belong to the one at `at`: "A, B and D", "B or C", "A/B", "C C"."""
        group = [at]
        while (following := self._joined(group[-1])) and self._about_all(following):
            group.append(following)
        return group

    def _joined(self, at: int) -> int:
        """The index of the letter joined to the one at `at`, 0 if there is none."""
        for step in range(at + 1, min(at + 2 + _WIDEST_GAP, len(self.tokens))):
            token = self.tokens[step]
            if token.kind == "letter":
                return step if token.text.isupper() else 0
            allowed = _IN_A_GROUP if token.kind == "mark" else _BETWEEN_LETTERS if token.kind == "word" else ()
            dots = token.text == "." and self.context.word(step + 1) in words.JOINERS | {"."}
            if token.text not in allowed and not dots:
                return 0
        return 0

    def _about_all(self, at: int) -> bool:
        """False if what follows the letter at `at` is about it alone: "C, B is wrong", "C and D is wrong"."""
        following = self.context.word(at + 1)
        if self._joined(at) or self.context.kind(at + 1) != "word":
            return True
        joiner = next(
            (self.context.word(at - back) for back in (1, 2) if self.context.word(at - back) in words.JOINERS), ","
        )
        if joiner in words.AND:
            return following not in words.SINGULAR
        return joiner != "," or following in words.PLURAL

    # -- lists of options --------------------------------------------------------------------------------------------

    def _is_label(self, at: int) -> bool:
        """True if the letter at `at` heads a line or sentence as an option does: "B.", "(B)", "B -", "Option B:"."""
        before, after = self.context.word(at - 1), self.context.word(at + 1)
        if before in (",", ";") and after == ":":
            return True
        return self.context.opens(at) != "" and after in (".", ")", ":", "]", "-", "–", "—")

    def _starts_a_list(self, letter: str) -> bool:
        """True if the label of the next option follows in the reply: the letter opens a walk through the options."""
        return (
            letter == self.letters[0] and letter in self.label_set and not self.label_set.isdisjoint(self.letters[1:2])
        )

    def _ends_a_list(self, letter: str) -> bool:
        """True if the label before the letter's is the option before it: the walk through the options goes on."""
        if letter not in self.letters or letter == self.letters[0]:
            return False
        others = [label for label in self.last_labels if label != letter]
        return bool(others) and others[0] == self.letters[self.letters.index(letter) - 1]

    def _ends_line(self, at: int) -> bool:
        step = at + 1
        while self.context.kind(step) == "mark" and self.context.word(step) != "?":
            step += 1
        return self.context.kind(step) in ("none", "break")
