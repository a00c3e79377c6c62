"""Checks a run by asking some of its rows again, one by one, and showing that no cache answered.

The idea is that of the MLPerf audits: sampled answers of a timed run must be those of a fresh, unbatched one, and equal
requests must not be answered faster than new ones.
"""

from __future__ import annotations

import random
import secrets
import statistics
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tqdm import tqdm

from ..errors import UsageError
from ..options import ModelOptions
from ..types import Benchmark, Model, Request, Response
from .folder import RunFolder
from .recovery import is_elsewhere
from .rowset import RowSet
from .run_card import sha256
from .store import Record

CACHED_RATIO = 0.5
"""A repeated request answered in less than this share of a new one's time was not computed (chosen)."""
MEASURABLE_SECONDS = 0.01
"""Below this an answer is too quick to tell a cache from a computation (chosen)."""
LENGTH_TOLERANCE = 0.10
"""How far the mean output length may move (MLPerf TEST09 uses 10 %)."""


def as_asked(out: RunFolder) -> tuple[Benchmark, str, ModelOptions]:
    """The benchmark as the run in `out` asked it, the model's name, and the options to ask it one by one without limit.

    Raises `UsageError` for an imported run, and where the benchmark's settings on the card cannot be made again.
    """
    from ..benchmarks import benchmark

    card = out.card()
    recorded: dict[str, Any] = card.get("options") or {}
    if "model" not in recorded:
        raise UsageError(f"{out.path}: an imported run cannot be verified, its model is not here")
    known = {name: value for name, value in recorded.items() if name in ModelOptions.__dataclass_fields__}
    asked: Mapping[str, Any] = card["generation"]
    options = replace(ModelOptions(**known), swap_images=asked.get("swap_images", False))
    chosen = benchmark(card["benchmark"]).configured(recorded["model"], options)
    if lost := [name for name, value in chosen.settings.items() if asked.get(name) != value]:
        raise UsageError(f"{out.path}: cannot be asked again as it was, {', '.join(lost)} would differ")
    return chosen, recorded["model"], replace(options, batch_size=1, max_requests=None, max_tokens_total=None)


def verify_run(
    out: RunFolder, rows: RowSet, model: Model, *, n: int = 20, seed: int | None = None, progress: bool = True
) -> dict[str, Any]:
    """Asks `n` random answered rows again and returns what was found: ``agreement`` of the parsed answers, mean
    output lengths in characters, whether a cache answered, the ids that differ, and ``passed``. Rows that another
    server than the run's own answered are not asked; ``left_out`` counts them.

    Every row is asked as it was and with a random mark that no cache of replies can hold. The mark stands at the end
    and a first marked request is not timed, so that a server which keeps pictures and prefixes, as it may, has both
    at hand for both. Greedy answers under bfloat16 may differ between batch sizes; on a CPU in float32 they must not.
    Raises `UsageError` where a row would not be asked what it was asked.
    """
    answered = {i: r for i, r in out.records().items() if i in rows and r["state"] != "error"}
    card = out.card() if answered else {}
    stored = {i: record for i, record in answered.items() if not is_elsewhere(record, card)}
    if not stored:
        raise UsageError(f"{out.path}: no answered row to verify")
    seed = secrets.randbelow(2**32) if seed is None else seed
    chosen = random.Random(seed).sample(sorted(stored), min(n, len(stored)))
    prompt = card["prompt"]["text"] or rows.benchmark.prompt
    plain, marked = [], []
    for identifier in tqdm(chosen, desc="verify", unit="row", disable=not progress):
        request = rows.request(identifier, prompt)
        _require_as_asked(request, stored[identifier])
        _ask(model, _with_mark(request))
        marked.append(_ask(model, _with_mark(request)))
        plain.append(_ask(model, request))
    fresh = [rows.benchmark.read(rows.truth(response.id), response) for response in plain]
    differing = [p.id for p in fresh if (p.state, p.value) != (stored[p.id]["state"], stored[p.id]["prediction"])]
    lengths = [statistics.fmean(len(stored[i]["raw_response"]) for i in chosen), _mean_length(plain)]
    ratio = statistics.median(_time_ratio(*pair) for pair in zip(plain, marked, strict=True))
    measurable = statistics.fmean(m.seconds for m in marked) > MEASURABLE_SECONDS
    cached = measurable and ratio < CACHED_RATIO
    drift = abs(lengths[1] - lengths[0]) / lengths[0] if lengths[0] else 0.0
    return {
        "rows": len(chosen),
        "left_out": len(answered) - len(stored),
        "seed": seed,
        "agreement": 1 - len(differing) / len(chosen),
        "differing": differing,
        "mean_length_then": lengths[0],
        "mean_length_now": lengths[1],
        "repeat_time_ratio": ratio,
        "cache_suspected": cached,
        "passed": not differing and drift <= LENGTH_TOLERANCE and not cached,
    }


def _require_as_asked(request: Request, record: Record) -> None:
    """Raises `UsageError` if `request` is not what the row of `record` was asked, as far as the record tells."""
    text, pictures = record.get("prompt_sha256"), [image["sha256"] for image in record.get("images", ())]
    if text not in (None, sha256(request.text)):
        raise UsageError(f"row {request.id}: it would be asked another text than the run asked; nothing was compared")
    if pictures and pictures != [picture.sha256 for picture in request.pictures]:
        raise UsageError(f"row {request.id}: it would be shown other pictures than in the run; nothing was compared")


def _with_mark(request: Request) -> Request:
    mark = f"(Reference number of this request: {secrets.token_hex(8)})"
    return replace(request, parts=(*request.parts, mark))


def _ask(model: Model, request: Request) -> Response:
    answers = list(model.generate([request]))
    if len(answers) != 1:
        raise UsageError(f"the model gave {len(answers)} answers to one request")
    return answers[0]


def _time_ratio(repeated: Response, new: Response) -> float:
    """The time of `repeated` as a share of what it would take at the speed of `new`; a shorter reply may take less."""
    lengths = [response.usage.get("output_tokens") or len(response.text) + 1 for response in (repeated, new)]
    expected = new.seconds * min(1.0, lengths[0] / lengths[1])
    return repeated.seconds / expected if expected else 1.0


def _mean_length(responses: list[Response]) -> float:
    return statistics.fmean(len(response.text) for response in responses)
