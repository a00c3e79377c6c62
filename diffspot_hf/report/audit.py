"""Auditing what the annotations cannot tell: are unmatched predictions real defects, are the controls clean?

`export` writes the queue of a Scry run for people (a page for the browser and a CSV), `summarize` turns their decisions
into adjusted precision and specificity with intervals.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..running.folder import RunFolder
from ..running.rowset import RowSet
from ..running.store import write_atomically, write_json
from ..scoring.matching import match_issues
from ..scoring.rates import rate
from .decisions import DECISIONS, about, read_decisions, shown
from .tables import percent, render

Key = tuple[str, int | None]
"""What a decision is about: the id of a row, and the index of the prediction (None for a control)."""


def queue(out: RunFolder, rows: RowSet, *, iou_threshold: float = 0.10) -> list[dict[str, Any]]:
    """Each predicted issue of the run that matches no annotated one, in the order of the data."""
    records = out.records()
    found: list[dict[str, Any]] = []
    for row in rows.plain:
        predicted = issues_of(records.get(row["id"]))
        matched = {i for i, _ in match_issues(predicted, row["issues"], iou_threshold=iou_threshold)}
        for index, issue in enumerate(predicted):
            if index not in matched:
                found.append({"row_id": row["id"], "prediction_index": index, **issue, "about": about(issue)})
    return found


def issues_of(record: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The issues that a stored record predicts; none unless it was read."""
    if record is None or record["state"] not in ("ok", "truncated"):
        return []
    return list(record["prediction"] or [])


@dataclass(frozen=True)
class Audited:
    """What of one run people decide. `predicted`: number of issues predicted for each row; `queue`: by (row id, index)
    of the unmatched ones what they are `about`; `controls`: for each control whether its reply is right (state ``ok``,
    nothing reported)."""

    model: str
    matched: int
    predicted: Mapping[str, int]
    queue: Mapping[Key, str]
    controls: Mapping[str, bool]

    def keys(self, mode: str) -> Collection[Key]:
        """The keys that decisions of `mode` may have."""
        return self.queue.keys() if mode == "audit" else {(row_id, None) for row_id in self.controls}

    def refusal(self, mode: str, key: Key) -> str:
        """Why there is nothing to decide at `key`."""
        row_id, index = key
        row = shown(row_id)
        if row_id not in self.predicted:
            return f"row_id {row} is no row of this run (decisions about another run?)"
        if mode == "controls":
            return f"row {row} is no control, it has annotated issues"
        if index is None or index >= self.predicted[row_id]:
            return f"row {row} has no prediction {index} in this run, it has {self.predicted[row_id]} (another run?)"
        return f"prediction {index} of row {row} matches an annotated issue and is not in the queue"


def audited(out: RunFolder, rows: RowSet) -> Audited:
    """What of the scored run in `out` people decide. Raises `UsageError` if its scores are missing or out of date."""
    records, entries = out.records(), queue(out, rows)
    predicted = {row["id"]: len(issues_of(records.get(row["id"]))) for row in rows.plain}
    scores = _scores(out)
    matched = sum(predicted.values()) - len(entries)
    if (scores.get("matched"), scores.get("predicted")) != (matched, sum(predicted.values())):
        raise UsageError(f"{out.scores}: not the scores of these predictions; run diffspot-hf score {out.path} again")
    return Audited(
        model=str(scores.get("model")),
        matched=matched,
        predicted=predicted,
        queue={(entry["row_id"], entry["prediction_index"]): entry["about"] for entry in entries},
        controls={row["id"]: _is_right(records.get(row["id"])) for row in rows.plain if not row["issues"]},
    )


def _scores(out: RunFolder) -> dict[str, Any]:
    if not out.scores.is_file():
        raise UsageError(f"{out.path}: not scored yet; run diffspot-hf score {out.path}")
    try:
        scores = json.loads(out.scores.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{out.scores}: cannot be read ({error})") from error
    return scores if isinstance(scores, dict) else {}


def _is_right(record: Mapping[str, Any] | None) -> bool:
    """Whether the reply to a control counts as right: readable, and nothing reported. As `score` decides it."""
    return record is not None and record["state"] == "ok" and not record["prediction"]


def summarize(decisions: Iterable[Path], run: Audited | None = None) -> dict[str, Any]:
    """Adjusted figures from decision files, each a rate with numerator, denominator and 95 % Wilson interval.

    ``real_among_decided`` is over the decided unmatched predictions. With the run: ``adjusted_precision`` counts real
    defects among them as right; ``audited_specificity`` is over the controls that people found clean, where a reply
    that is not readable is never right. Beside each stands how much was decided: ``queue`` = ``decided`` + ``unsure`` +
    ``undecided``. A figure is ``partial`` if anything is unsure or undecided; ``bounds`` are the lowest and highest
    value that it can take once all of that is decided. Without the run, the size of the queue is not known (None).

    Files, and entries in them, are read in order: a later decision replaces an earlier one, and ``replaced`` counts
    those that said something else. Raises `UsageError` for an entry that does not fit the run.
    """
    found: dict[str, dict[Key, str]] = {mode: {} for mode in DECISIONS}
    replaced: Counter[str] = Counter()
    allowed = {mode: run.keys(mode) for mode in DECISIONS} if run else {}
    for file in decisions:
        data = read_decisions(file)
        mode = data["mode"]
        for place, entry in zip(data["places"], data["decisions"], strict=True):
            key, decision = (entry["row_id"], entry.get("prediction_index")), entry["decision"]
            if run and key not in allowed[mode]:
                raise UsageError(f"{file}, {place}: {run.refusal(mode, key)}")
            if run and entry.get("about", run.queue.get(key)) != run.queue.get(key):
                raise UsageError(
                    f"{file}, {place}: row {shown(key[0])} has another prediction {key[1]} in this run than the "
                    "one that was decided (another run?)"
                )
            replaced[mode] += found[mode].get(key, decision) != decision
            found[mode][key] = decision
    size = {mode: len(allowed[mode]) if run else None for mode in DECISIONS}
    unmatched, controls = (_counts(mode, found[mode], size[mode], replaced[mode]) for mode in DECISIONS)
    summary: dict[str, Any] = {
        "unmatched": unmatched,
        "controls": controls,
        "real_among_decided": _precision(0, unmatched),
    }
    if run:
        summary["model"] = run.model
        summary["adjusted_precision"] = _precision(run.matched, unmatched)
        summary["audited_specificity"] = _specificity(run.controls, found["controls"], controls)
    return summary


def _counts(mode: str, found: Mapping[Key, str], size: int | None, replaced: int) -> dict[str, Any]:
    counted = Counter(found.values())
    yes, no, unsure = DECISIONS[mode]
    return {
        "queue": size,
        "decided": counted[yes] + counted[no],
        yes: counted[yes],
        no: counted[no],
        unsure: counted[unsure],
        "undecided": None if size is None else size - len(found),
        "replaced": replaced,
    }


def _precision(matched: int, counts: Mapping[str, Any]) -> dict[str, Any]:
    """Right predictions among `matched` and the decided ones; the bounds are over the whole queue."""
    right = matched + counts["real"]
    bounds = None
    if (size := counts["queue"]) is not None:
        bounds = (_share(right, matched + size), _share(matched + size - counts["not_a_defect"], matched + size))
    return _figure(right, matched + counts["decided"], counts, bounds)


def _specificity(right: Mapping[str, bool], found: Mapping[Key, str], counts: Mapping[str, Any]) -> dict[str, Any]:
    """Right replies among the controls found clean; the bounds let each open control be clean or not."""
    clean_ones = [right[row_id] for (row_id, _), decision in found.items() if decision == "clean"]
    still_open = [value for row_id, value in right.items() if found.get((row_id, None), "unsure") == "unsure"]
    hits, n, could_hit = sum(clean_ones), len(clean_ones), sum(still_open)
    bounds = (_share(hits, n + len(still_open) - could_hit), _share(hits + could_hit, n + could_hit))
    return _figure(hits, n, counts, bounds)


def _figure(
    numerator: int, denominator: int, counts: Mapping[str, Any], bounds: tuple[float | None, float | None] | None
) -> dict[str, Any]:
    beside = {key: counts[key] for key in ("queue", "decided", "unsure", "undecided")}
    partial = None if counts["queue"] is None else counts["decided"] < counts["queue"]
    value = {"value": _share(numerator, denominator)}
    return rate(numerator, denominator) | value | beside | {"partial": partial, "bounds": bounds}


def _share(numerator: int, denominator: int) -> float | None:
    return numerator / denominator if denominator else None


def markdown(summary: Mapping[str, Any]) -> str:
    """The summary as a small report."""
    names = ("real_among_decided", "adjusted_precision", "audited_specificity")
    rows = [_row(name, summary[name]) for name in names if name in summary]
    header = ("figure", "percent", "count", "95 % interval", "queue", "decided", "unsure", "undecided", "bounds")
    text = ["# Audit summary", render(header, rows, markdown=True)]
    partial = {summary[name]["partial"] for name in names if name in summary}
    if True in partial:
        text.append(
            "Partial: entries are unsure or undecided. The figure is over the decided ones; the bounds are the lowest "
            "and highest percent that it can take once all are decided."
        )
    if None in partial:
        text.append("Without --run it is not known how many entries there were to decide.")
    text += [_sentence("Unmatched predictions", "audit", summary["unmatched"])]
    text += [_sentence("Controls", "controls", summary["controls"])]
    return "\n\n".join(text) + "\n"


def _row(name: str, figure: Mapping[str, Any]) -> list[str]:
    mark = " (partial)" if figure["partial"] else " (queue not known)" if figure["partial"] is None else ""
    beside = ["–" if figure[key] is None else str(figure[key]) for key in ("queue", "decided", "unsure", "undecided")]
    count = f"{figure['numerator']}/{figure['denominator']}" if figure["denominator"] else "–"
    shown = [percent(figure["value"]), count, _range(figure["ci95"]), *beside, _range(figure["bounds"])]
    return [name.replace("_", " ") + mark, *shown]


def _range(ends: Sequence[float | None] | None) -> str:
    """Two shares as percentages; ``–`` if there is none.

    >>> _range((0.25, 1)), _range(None), _range((None, None))
    ('25.0 to 100.0', '–', '–')
    """
    low, high = ends or (None, None)
    return "–" if low is None and high is None else f"{percent(low)} to {percent(high)}"


def _sentence(what: str, mode: str, counts: Mapping[str, Any]) -> str:
    yes, no, _ = DECISIONS[mode]
    size = "" if counts["queue"] is None else f" of {counts['queue']}"
    undecided = "" if counts["undecided"] is None else f"; undecided {counts['undecided']}"
    replaced = counts["replaced"]
    said = f" Earlier decisions replaced by another one: {replaced}." if replaced else ""
    decided = f"{counts['decided']}{size} ({yes.replace('_', ' ')} {counts[yes]}, {no.replace('_', ' ')} {counts[no]})"
    return f"{what} decided: {decided}; unsure {counts['unsure']}{undecided}.{said}"


def write_summary(summary: Mapping[str, Any], json_file: Path, markdown_file: Path | None) -> None:
    write_json(json_file, summary)
    if markdown_file is not None:
        write_atomically(markdown_file, markdown(summary).encode())
