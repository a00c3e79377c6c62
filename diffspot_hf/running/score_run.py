"""Scores a run: its predictions and verdicts against the truth → `scores.json`."""

from __future__ import annotations

from typing import Any

from ..errors import UsageError
from .folder import RunFolder
from .judge_run import unjudged
from .recovery import is_recovered, raw_of
from .rowset import RowSet
from .store import write_json


def score_run(out: RunFolder, rows: RowSet, *, write: bool = True) -> dict[str, Any]:
    """All figures of the run, also written to `scores.json` (unless `write` is False).

    Rows without a record count as state ``missing``, for free text as ``error``; they are never right. Where the judge
    failed, ``judge_failures`` says how often, and ``over_judged`` repeats the figures over the other rows. Where
    ``--retry`` recovered rows, ``raw`` holds the figures of the run before any recovery, and the label says so.
    """
    card, records = out.card(), out.records()
    judged = out.judgements() if rows.benchmark.judged else {}
    if rows.benchmark.judged and not judged and records:
        raise UsageError(f"{out.path}: the replies are not judged yet; run diffspot-hf judge {out.path}")
    if judged and (stale := unjudged(rows, records, judged)):
        raise UsageError(
            f"{out.path}: {len(stale)} replies came after the judging (the first is of row {stale[0]}); run "
            f"diffspot-hf judge {out.path} again, which judges only those"
        )
    merged = {
        identifier: record | _verdict(judged.get(identifier, {}))
        for identifier, record in records.items()
        if identifier in rows
    }
    scores = rows.benchmark.score(rows.plain, merged)
    if rows.benchmark.judged:
        failed = {i for i, entry in judged.items() if entry["judge_state"].startswith("error")}
        scores["judge_failures"] = len(failed)
        if failed:
            scores["over_judged"] = rows.benchmark.score([row for row in rows.plain if row["id"] not in failed], merged)
    swapped = RunFolder(out.path / "swapped")
    if swapped.card_file.is_file():
        from ..benchmarks.dicobench import agreement

        answers = {row["id"]: row["answer"] for row in rows.plain}
        scores["both_orders"] = agreement(merged, swapped.records(), answers)
    recovered = [identifier for identifier, record in merged.items() if is_recovered(record)]
    label = str(card["model"]["id"])
    if recovered:
        raw = merged | {i: raw_of(records[i]) | _verdict(judged.get(i, {}).get("raw", {})) for i in recovered}
        scores["raw"] = rows.benchmark.score(rows.plain, raw)
        scores["recovered_rows"] = len(recovered)
        label += " + route recovery"
    head = {
        "benchmark": card["benchmark"],
        "model": label,
        "data": {key: card["data"].get(key) for key in ("source", "commit", "fingerprint", "is_sample")},
        "judge": card.get("judge"),
        "prompt_sha256": card["prompt"]["sha256"],
    }
    scores = head | scores
    if write:
        write_json(out.scores, scores)
    return scores


def _verdict(judged: dict[str, Any]) -> dict[str, Any]:
    return {key: judged[key] for key in ("is_true_positive", "is_true_negative") if key in judged}


def rows_of(out: RunFolder, data: str | None = None) -> RowSet:
    """The rows that the run in `out` was made on (from where its card says, or from `data`).

    Raises `UsageError` when those rows are no longer what they were.
    """
    from ..benchmarks import benchmark

    card = out.card()
    source = data or card["data"]["source"]
    rows = RowSet(benchmark(card["benchmark"]), source, card["data"].get("limit"), card["data"].get("subset"))
    if rows.fingerprint != card["data"]["fingerprint"]:
        raise UsageError(f"{source}: these are not the rows of the run in {out.path} (their fingerprint differs)")
    rows.leave_out(card["data"].get("left_out", ()))
    return rows
