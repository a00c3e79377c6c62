"""What the two `evaluate` modules for issues are given, brought to the one form that is stored, or refused by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

from ..errors import UsageError
from .issue_rows import normal_row, normal_states
from .issue_scores import check_frame, check_states


def take_inputs(given: Mapping[str, Any], columns: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `given` holds for each of `columns`, None for nothing, and the rest. ``state`` is ``states``, and so on.

    >>> take_inputs({"predictions": [[]], "state": "ok", "method": "greedy"}, ("predictions", "states"))
    ({'predictions': [[]], 'states': 'ok'}, {'method': 'greedy'})
    """
    inputs: dict[str, Any] = dict.fromkeys(columns)
    rest = {}
    for name, value in given.items():
        column = name if name in columns else f"{name}s"
        if column not in columns:
            rest[name] = value
        elif value is not None and inputs[column] is not None:
            raise UsageError(f"{column} is given twice, as {column} and as {column[:-1]}: give one of them")
        elif value is not None:
            inputs[column] = value
    return inputs, rest


def only_inputs(given: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """As `take_inputs`, if there is no rest."""
    inputs, rest = take_inputs(given, columns)
    if rest:
        raise UsageError(f"unknown input {next(iter(rest))!r}: there are {', '.join(columns)}")
    return inputs


def check_options(score: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Raises `UsageError` for an option that `score` does not have and for a value that it refuses."""
    known = [name for name, p in inspect.signature(score).parameters.items() if p.kind is p.KEYWORD_ONLY]
    for name in options:
        if name not in known:
            raise UsageError(f"unknown option {name!r}: there are {', '.join(known)}")
    score([], [], **options)


def normal_columns(inputs: Mapping[str, Any]) -> dict[str, list[Any]]:
    """`inputs` in the one form that is stored: rows of normal issues, a state for each row, "" for no bucket.

    Arrays and numpy numbers are as lists and plain numbers, sets as sorted lists. Raises `UsageError` naming column and
    row; a reference of None is one, as it would turn an unknown screen into a control.
    """
    given = {name: _column(name, value) for name, value in inputs.items()}
    for name in ("predictions", "references"):
        if given[name] is None:
            raise UsageError(f"{name} are missing: give predictions and references, one entry for each row")
    rows = given["predictions"] or []
    states = normal_states(rows, given["states"])
    check_states(states)
    columns: dict[str, list[Any]] = {
        "predictions": _rows("predictions", rows),
        "references": _rows("references", given["references"] or []),
        "states": states,
    }
    check_frame(columns["references"])
    if "buckets" in given:
        buckets = given["buckets"] if given["buckets"] is not None else [None] * len(states)
        columns["buckets"] = ["" if bucket is None else str(bucket) for bucket in buckets]
    return columns


def normal_single(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """As `normal_columns` for one row, whose prediction may be None."""
    single = {name: None if value is None else [value] for name, value in inputs.items()}
    columns = normal_columns(single | {name: [inputs[name]] for name in ("predictions", "references")})
    return {name: column[0] for name, column in columns.items()}


def _column(name: str, value: Any) -> list[Any] | None:
    if value is None:
        return None
    if isinstance(value, (str, bytes, Mapping, Set)) or not (hasattr(value, "__len__") and hasattr(value, "__iter__")):
        raise UsageError(f"{name} is a {type(value).__name__}: give a list with one entry for each row")
    return list(value)


def _rows(name: str, rows: Sequence[Any]) -> list[list[dict[str, Any]]]:
    found = []
    for index, row in enumerate(rows):
        if row is None and name == "references":
            raise UsageError(f"{name}, row {index} is None: give the list of known issues, [] for a control")
        try:
            found.append(normal_row(_plain(row)))
        except UsageError as error:
            raise UsageError(f"{name}, row {index}: {error}") from error
    return found


def _plain(value: Any) -> Any:
    """`value` with arrays and numpy numbers as lists and plain numbers, and sets as sorted lists, at every depth."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Iterator):
        raise UsageError(f"a {type(value).__name__} is given: give a list")
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, Set):
        return sorted((_plain(part) for part in value), key=str)
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value
