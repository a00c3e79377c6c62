"""The figures of DiCoBench: accuracy by task, and what kind of wrong the rest is.

The strict letter is the headline, as the benchmark matches answers exactly; the lenient one stands beside it. A reply
without a letter is wrong and stays in every denominator. The published average is the micro average (right answers over
all items), which the rows of its table that add up show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

from ..errors import UsageError
from ..types import STATES
from .letters import read_lenient, read_strict
from .rates import rate
from .reply_text import is_blank
from .stats import chi_square

LETTERS = "ABCDE"
NONE_LETTER = "E"
"""The option that says that there is nothing to see."""
GROUP_SIZE = 5
"""Items that share their options: four edits, and one pair that shows none of them."""


class Choice(NamedTuple):
    """One item answered. `strict` and `lenient` are letters or None, `answer` is the right one."""

    answer: str
    strict: str | None
    lenient: str | None
    state: str = "ok"
    task: str = ""
    group: str | None = None
    letters: str = LETTERS
    track: str = ""


def read_choice(
    reply: str | None,
    answer: str,
    *,
    options: Sequence[str] | None = None,
    letters: str = LETTERS,
    task: str = "",
    track: str = "",
    group: str | None = None,
    state: str | None = None,
) -> Choice:
    """The `Choice` that a raw reply makes.

    Without a `state` it is ``ok`` for a strict letter, else ``unparsed``, ``empty`` or, where there is no reply,
    ``missing``; in ``error`` and ``missing`` no letter is read. Raises `UsageError` if `letters` are no capital letters
    or `answer` is none of them.

    >>> read_choice("The answer is B.", "B")[:4]
    ('B', None, 'B', 'unparsed')
    """
    if (
        not isinstance(letters, str)
        or len(set(letters)) != len(letters)
        or not (letters.isalpha() and letters.isupper())
    ):
        raise UsageError(f"letters must be different capital letters in a text such as {LETTERS!r}, found {letters!r}")
    if not isinstance(answer, str) or len(answer) != 1 or answer not in letters:
        raise UsageError(f"the right answer is {answer!r}, which is none of the letters {letters}")
    if state in ("error", "missing"):
        reply = None  # whatever text there is, it is no answer
    strict, lenient = read_strict(reply, letters), read_lenient(reply, letters, options)
    if state is None:
        unread = "missing" if reply is None else "empty" if is_blank(reply) else "unparsed"
        state = unread if strict is None else "ok"
    return Choice(answer, strict, lenient, state, task, group, letters, track)


def score_choices(rows: Sequence[Mapping[str, Any]], records: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """All figures of a run: `rows` of the data set, `records` of its predictions by id.

    A record holds `prediction` (the strict letter or None), `state` and `notes` with the letter ``lenient``.
    """
    choices = []
    for row in rows:
        record = records.get(row["id"]) or {"prediction": None, "state": "missing"}
        notes = record.get("notes") or {}
        strict = record["prediction"]
        choices.append(
            Choice(
                answer=row["answer"],
                strict=strict,
                lenient=notes.get("lenient", strict),
                state=record["state"],
                task=row["task"],
                track=row["track"],
                group=row.get("group_id") or None,
                letters=LETTERS[: len(row["options"])],
            )
        )
    scores = choice_scores(choices)
    notes = [(row["answer"], (records.get(row["id"]) or {}).get("notes") or {}) for row in rows]
    if shuffled := [(answer, note) for answer, note in notes if note.get("order")]:
        scores["letters"] |= _as_shown(shuffled)
    return scores


def _as_shown(shuffled: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Where options were shuffled: the letters as the model saw them, in which a liking for a position shows."""
    key = Counter(LETTERS[note["order"].index(answer)] for answer, note in shuffled)
    given = Counter(note.get("shown") for _, note in shuffled)
    return {
        "shown": {letter: given[letter] for letter in LETTERS} | {"none": given[None]},
        "shown_key": {letter: key[letter] for letter in LETTERS},
        "shown_always": {letter: rate(key[letter], len(shuffled))["value"] for letter in LETTERS},
    }


def choice_scores(choices: Sequence[Choice]) -> dict[str, Any]:
    """All figures over `choices`; an accuracy over no items is None.

    ``micro_accuracy`` is the share of all items answered right, ``macro_accuracy`` the mean over the tasks, both
    strict. ``by_task`` is keyed "track/task". ``lenient`` repeats them with the lenient letter, ``over_parsed`` over
    the items with a strict one. ``health`` counts the states and sums to ``n_total``.

    >>> scores = choice_scores([read_choice("E", "A", task="entity"), read_choice("B", "B", task="entity")])
    >>> scores["micro_accuracy"], scores["errors"]["missed_cue"]["numerator"]
    (0.5, 1)
    """
    n = len(choices)
    counted = Counter(choice.state for choice in choices)
    states = (*STATES, "missing")
    unknown = sorted(counted.keys() - set(states))
    if unknown:
        raise UsageError(f"unknown state {unknown[0]!r}: use one of {', '.join(states)}")
    strict = [choice.strict for choice in choices]
    lenient = [choice.lenient for choice in choices]
    none_right = [letter for choice, letter in zip(choices, strict, strict=True) if choice.answer == NONE_LETTER]
    parsed = [(choice, letter) for choice, letter in zip(choices, strict, strict=True) if letter is not None]
    right = [choice.strict == choice.answer for choice in choices]
    return _accuracies(choices, strict) | {
        "n_total": n,
        "n_right": sum(right),
        "by_track": _by(choices, [choice.track for choice in choices]),
        "lenient": _accuracies(choices, lenient) | {"errors": _errors(choices, lenient)},
        "over_parsed": _accuracies([choice for choice, _ in parsed], [letter for _, letter in parsed]),
        "unparsed": rate(strict.count(None), n),
        "unparsed_lenient": rate(lenient.count(None), n),
        "empty": rate(counted["empty"], n),
        "health": {state: counted[state] for state in states},
        "gold_none": rate(none_right.count(NONE_LETTER), len(none_right)),
        "gold_cue": rate(sum(right) - none_right.count(NONE_LETTER), n - len(none_right)),
        "says_none": rate(strict.count(NONE_LETTER), n),
        "says_none_and_right": rate(none_right.count(NONE_LETTER), strict.count(NONE_LETTER)),
        "errors": _errors(choices, strict),
        "letters": _letters(choices, strict, lenient),
        "groups": _groups(choices),
    }


def _accuracies(choices: Sequence[Choice], given: Sequence[str | None]) -> dict[str, Any]:
    right = [letter == choice.answer for choice, letter in zip(choices, given, strict=True)]
    by_task = _by(choices, [_task_key(choice) for choice in choices], right)
    micro = rate(sum(right), len(right))
    return {
        "micro_accuracy": micro["value"] if right else None,
        "macro_accuracy": fsum(task["accuracy"] for task in by_task.values()) / len(by_task) if by_task else None,
        "by_task": by_task,
        "rates": {"micro_accuracy": micro},
    }


def _task_key(choice: Choice) -> str:
    return f"{choice.track}/{choice.task}" if choice.track else choice.task


def _by(choices: Sequence[Choice], keys: Sequence[str], right: Sequence[bool] | None = None) -> dict[str, Any]:
    """Accuracy for each key, in the order in which the keys first come."""
    if right is None:
        right = [choice.strict == choice.answer for choice in choices]
    n, hits = Counter(keys), Counter(key for key, hit in zip(keys, right, strict=True) if hit)
    table = {}
    for key in n:
        share = rate(hits[key], n[key])
        table[key] = {"accuracy": share["value"], "n": n[key], "n_right": hits[key], "ci95": share["ci95"]}
    return table


def _errors(choices: Sequence[Choice], given: Sequence[str | None]) -> dict[str, Any]:
    """Every item that is not right is in one class; the shares are of all items.

    Source of the first two names: the error analysis of the paper. ``wrong_cue`` also holds cues that were seen and
    misread, which cannot be told from guesses without reading the reply.
    """
    kinds = Counter(_error(choice.answer, letter) for choice, letter in zip(choices, given, strict=True))
    names = ("missed_cue", "thin_air", "wrong_cue", "format_failure")
    return {name: rate(kinds[name], len(choices)) for name in names}


def _error(answer: str, letter: str | None) -> str:
    if letter is None:
        return "format_failure"
    if letter == answer:
        return "right"
    if letter == NONE_LETTER:
        return "missed_cue"
    return "thin_air" if answer == NONE_LETTER else "wrong_cue"


def _letters(choices: Sequence[Choice], strict: Sequence[str | None], lenient: Sequence[str | None]) -> dict[str, Any]:
    """How often each letter is right and was given, what always giving it would score, and whether the key is even."""
    names = sorted({letter for choice in choices for letter in choice.letters})
    key = Counter(choice.answer for choice in choices)
    kinds = Counter(choice.letters for choice in choices)
    even = [fsum(n / len(kind) for kind, n in kinds.items() if name in kind) for name in names]
    statistic, freedom, p = chi_square([key[name] for name in names], even)

    def counts(given: Sequence[str | None]) -> dict[str, int]:
        counted = Counter(given)
        return {name: counted[name] for name in names} | {"none": counted[None]}

    return {
        "key": {name: key[name] for name in names},
        "strict": counts(strict),
        "lenient": counts(lenient),
        "always": {name: rate(key[name], len(choices))["value"] for name in names},
        "key_chi_square": {"statistic": statistic, "degrees_of_freedom": freedom, "p": p},
    }


def _groups(choices: Sequence[Choice]) -> dict[str, Any]:
    """Groups of five in which every item is right; groups of another size are counted and left out."""
    groups: dict[str, list[bool]] = {}
    for choice in choices:
        if choice.group is not None:
            groups.setdefault(choice.group, []).append(choice.strict == choice.answer)
    whole = [group for group in groups.values() if len(group) == GROUP_SIZE]
    return {"all_right": rate(sum(map(all, whole)), len(whole)), "n_incomplete": len(groups) - len(whole)}
