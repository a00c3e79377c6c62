"""Asks a model about every row that has no answer yet, and stores each answer as it arrives."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tqdm import tqdm

from ..errors import UsageError
from ..scoring.rates import health
from ..types import Attempt, Benchmark, Model, Request, Response
from .folder import RunFolder
from .processes import Processes
from .recovery import asked_again, at_own_route, is_wanted
from .rowset import RowSet, answer_key, dealt
from .run_card import identity_digest, make_card, now, require_same, require_same_loaded, sha256
from .store import Record, Store, is_final, write_json

Check = Callable[[Model, Sequence[Request]], Mapping[str, Any]]


@dataclass(frozen=True)
class Settings:
    """What a run was asked for, besides rows and model.

    `generation` goes into the identity of the run; `options` (how the model was loaded) is only recorded. `retry` names
    states whose rows alone are asked again; `moved` says that the run's own server has a new address. See `recovery`.
    """

    prompt: str
    generation: Mapping[str, Any] = field(default_factory=dict)
    retry: tuple[str, ...] = ()
    moved: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    progress: bool = True


@dataclass(frozen=True)
class Summary:
    """How a run stands: rows per state (rows without an answer are not among them), rows asked in this session."""

    n_total: int
    health: dict[str, int]
    asked: int
    stopped_because: str | None = None

    @property
    def n_unanswered(self) -> int:
        """Rows in state ``error`` and rows that were not asked yet."""
        return self.n_total - sum(self.health.values()) + self.health["error"]


def run(
    benchmark: Benchmark,
    rows: RowSet,
    model: Model,
    out: RunFolder,
    settings: Settings,
    processes: Processes | None = None,
    check: Check | None = None,
) -> Summary:
    """Brings the run in `out` to its end and returns how it stands; the same call continues a run that was stopped.

    `check` is a preflight: called with the model and the largest row's request before the first row is spent, and only
    if a row is left to ask; what it returns goes into the card.
    Raises `UsageError` if `out` holds answers of another run.
    """
    processes = processes or Processes()
    card = make_card(
        benchmark,
        data=rows.describe(),
        model=_describe(model, out, rows),
        prompt=settings.prompt,
        generation=dict(settings.generation) | dict(benchmark.settings),
    )
    card["options"] = dict(settings.options)
    if processes.is_main:
        card = _begin(out, card, rows, settings)
    processes.wait()
    key = identity_digest(card)
    before = out.records()
    pending = _pending(rows, before, key, settings)
    processes.wait()  # nobody appends before everybody has read
    mine = dealt(rows.by_size(pending), processes.rank, processes.world)
    if mine:
        sample = [rows.request(mine[0], settings.prompt)]
        try:
            if check_pictures := getattr(model, "check_pictures", None):  # of all rows, so that all processes agree
                check_pictures(rows.request(identifier, settings.prompt) for identifier in pending)
            _prepare(model, out, card, check, sample, processes)
        except UsageError:
            if processes.is_main:
                out.discard_unanswered()  # a refused call leaves nothing behind
            raise
    asked = _ask(benchmark, rows, model, out, settings, key, mine, before, processes)
    processes.wait()
    if processes.is_main:
        _end(out, rows, model, asked, processes)
    processes.wait()
    records = {identifier: record for identifier, record in out.records().items() if identifier in rows}
    return Summary(
        n_total=len(rows),
        health=health(record["state"] for record in records.values()),
        asked=asked,
        stopped_because=getattr(model, "stopped_because", None),
    )


def _describe(model: Model, out: RunFolder, rows: RowSet) -> Mapping[str, Any]:
    """What the model says of itself; for a finished run its card will do where the model cannot be asked (offline)."""
    try:
        return model.describe()
    except UsageError:
        records = out.records() if out.card_file.exists() else {}
        if any(identifier not in records or not is_final(records[identifier]) for identifier in rows.ids):
            raise
        described: Mapping[str, Any] = out.card()["model"]
        return described


def _begin(out: RunFolder, card: dict[str, Any], rows: RowSet, settings: Settings) -> dict[str, Any]:
    """Writes the card of a new run; for one that was begun checks the card and merges what its writers left."""
    if out.card_file.exists():
        old = out.card()
        require_same(old, card, str(out.path))
        if not settings.retry:
            old = at_own_route(old, card, str(out.path), moved=settings.moved)
        if len(rows) < old["data"]["rows"]:
            raise UsageError(
                f"{out.path} covers {old['data']['rows']} rows, --limit asks for {len(rows)}: choose another --out"
            )
        card = old | {"data": card["data"]}
    elif out.path.is_dir() and any(out.path.iterdir()):
        raise UsageError(f"{out.path}: exists, is not empty and holds no run; choose another --out")
    elif settings.retry:
        raise UsageError(f"{out.path}: no run here, so there is nothing to ask again; leave out --retry")
    write_json(out.card_file, card)
    out.merge(rows.ids)
    return card


def _pending(rows: RowSet, records: Mapping[str, Record], key: str, settings: Settings) -> list[str]:
    """Ids of the rows to ask: those in the states to retry, else those without a final answer or asked of other
    pictures."""

    def is_pending(identifier: str) -> bool:
        record = records.get(identifier)
        if record is None or settings.retry or not is_final(record):
            return is_wanted(record, settings.retry)
        stored = record.get("key")
        return stored is not None and stored != answer_key(key, rows.request(identifier, settings.prompt))

    return [identifier for identifier in rows.ids if is_pending(identifier)]


def _prepare(
    model: Model,
    out: RunFolder,
    card: dict[str, Any],
    check: Check | None,
    sample: Sequence[Request],
    processes: Processes,
) -> None:
    load = getattr(model, "load", None)
    if load is not None:
        load()
    preflight = dict(check(model, sample)) if check is not None else {}
    described = dict(model.describe())
    require_same_loaded(card["model"].get("loaded", {}), described.get("loaded", {}), str(out.path))
    if processes.is_main:
        card["model"] = card["model"] | {"loaded": described["loaded"]} if "loaded" in described else card["model"]
        if preflight:
            card["preflight"] = preflight
        write_json(out.card_file, card)


def _ask(
    benchmark: Benchmark,
    rows: RowSet,
    model: Model,
    out: RunFolder,
    settings: Settings,
    key: str,
    mine: list[str],
    before: Mapping[str, Record],
    processes: Processes,
) -> int:
    if not mine:
        return 0
    sent: dict[str, dict[str, str]] = {}

    def requests() -> Iterator[Request]:
        for identifier in mine:
            request = rows.request(identifier, settings.prompt)
            sent[identifier] = {"prompt_sha256": sha256(request.text), "key": answer_key(key, request)}
            yield request

    version = benchmark.prompt_version if settings.prompt == benchmark.prompt else "custom"
    name = str(model.describe()["id"])
    asked, waiting = 0, set(mine)
    bar = tqdm(
        total=len(mine),
        desc=f"{benchmark.name} · {name}",
        unit="row",
        disable=not (settings.progress and processes.is_main),
    )
    with Store(out.rank_file(processes.rank, processes.world)) as store, bar:
        for response in model.generate(requests()):
            if response.id not in waiting:
                raise RuntimeError(f"{name} answered {response.id!r}, which was not asked or was answered before")
            waiting.discard(response.id)
            record = _record(benchmark, rows, response, name, version) | sent.pop(response.id)
            store.append(asked_again(before[response.id], record) if settings.retry else record)
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


def _end(out: RunFolder, rows: RowSet, model: Model, asked: int, processes: Processes) -> None:
    out.merge(rows.ids)
    if asked:
        card = out.card()
        session = {"ended": now(), "processes": processes.world, "asked_by_first": asked}
        session["route"] = model.describe().get("route")
        write_json(out.card_file, card | {"sessions": [*card["sessions"], session]})
