"""What makes a usable item: a known task, a question, five different options and an answer among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import UsageError
from .tasks import BY_KEY, LETTERS, TASKS


def check_item(row: Mapping[str, Any]) -> None:
    """Raises `UsageError` unless track and task of `row` are known, it has a question, and its choice is sound."""
    track, task, question = (row.get(key) for key in ("track", "task", "question"))
    if not isinstance(track, str) or not isinstance(task, str) or (track, task) not in BY_KEY:
        known = ", ".join(task.label for task in TASKS)
        raise UsageError(f"unknown task {task!r} on track {track!r}; there are {known}")
    if not isinstance(question, str) or not question.strip():
        raise UsageError(f"no question, found {question!r}")
    check_choice(row.get("options"), row.get("answer"))


def check_choice(options: Any, answer: Any) -> None:
    """Raises `UsageError` unless `options` are five different texts and `answer` is one of the letters A to E.

    Texts that differ only in case, blanks or a final full stop count as the same: nobody could choose between them.

    >>> check_choice(["red", "green", "blue", "gone", "nothing"], "B")
    """
    if not isinstance(options, list | tuple) or len(options) != len(LETTERS):
        found = len(options) if isinstance(options, list | tuple) else type(options).__name__
        raise UsageError(f"an item has {len(LETTERS)} options, found {found}")
    seen: dict[str, str] = {}
    for letter, option in zip(LETTERS, options, strict=True):
        if not isinstance(option, str) or not option.strip():
            raise UsageError(f"option {letter} is missing")
        plain = " ".join(option.casefold().split()).rstrip(".")
        if plain in seen:
            raise UsageError(f"options {seen[plain]} and {letter} are the same: {option!r}")
        seen[plain] = letter
    if answer not in tuple(LETTERS):
        raise UsageError(f"the answer {answer!r} is not among the letters {', '.join(LETTERS)}")
