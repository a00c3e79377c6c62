"""Asks a model for the answers to some rows and stores each as it arrives."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from tqdm import tqdm

from ..types import Attempt, Benchmark, Model, Request, Response
from .recovery import asked_again
from .rowset import RowSet, answer_key
from .run_card import sha256
from .store import Record, Store


def ask(
    benchmark: Benchmark,
    rows: RowSet,
    model: Model,
    prompt: str,
    key: str,
    mine: Sequence[str],
    *,
    into: Store | Path,
    before: Mapping[str, Record] | None = None,
    progress: bool = True,
) -> int:
    """The number of answers that were stored, one for each of `mine`, `into` an open store or the file of a new one.

    `key` is the identity of the run. With `before` (how the rows stood) they are asked again: see `recovery`.
    """
    if not mine:
        return 0
    sent: dict[str, dict[str, str]] = {}

    def requests() -> Iterator[Request]:
        for identifier in mine:
            request = rows.request(identifier, prompt)
            sent[identifier] = {"prompt_sha256": sha256(request.text), "key": answer_key(key, request)}
            yield request

    version = benchmark.prompt_version if prompt == benchmark.prompt else "custom"
    name = str(model.describe()["id"])
    asked, waiting = 0, set(mine)
    bar = tqdm(total=len(mine), desc=f"{benchmark.name} · {name}", unit="row", disable=not progress)
    with contextlib.ExitStack() as opened:
        store = into if isinstance(into, Store) else opened.enter_context(Store(into))
        opened.enter_context(bar)
        for response in model.generate(requests()):
            if response.id not in waiting:
                raise RuntimeError(f"{name} answered {response.id!r}, which was not asked or was answered before")
            waiting.discard(response.id)
            record = _record(benchmark, rows, response, name, version) | sent.pop(response.id)
            store.append(record if before is None else asked_again(before[response.id], record))
            asked += 1
            bar.update()
    return asked


def _record(benchmark: Benchmark, rows: RowSet, response: Response, name: str, version: str) -> Record:
    prediction = benchmark.read(rows.truth(response.id), response)
    attempts = response.attempts or (Attempt(name, prediction.state, response.seconds, response.error or ""),)
    attempts = (*attempts[:-1], replace(attempts[-1], state=prediction.state))
    at = time.time()
    return {
        "id": response.id,
        "split": "test",
        "model": name,
        "prompt_version": version,
        "raw_response": response.text,
        "prediction": prediction.value,
        "state": prediction.state,
        "finish_reason": response.finish_reason,
        "reasoning": response.reasoning,
        "error": response.error,
        "route": attempts[-1].route,
        "attempts": [asdict(attempt) | {"at": round(at, 3)} for attempt in attempts],
        "usage": dict(response.usage),
        "images": [asdict(image) for image in response.images],
        "notes": dict(prediction.notes),
        "seconds": round(response.seconds, 4),
    }
