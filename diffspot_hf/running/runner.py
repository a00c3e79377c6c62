"""Asks a model about every row that has no answer yet, and stores each answer as it arrives."""

from __future__ import annotations

import contextlib
import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import DiffspotError, UsageError
from ..scoring.rates import health
from ..types import Benchmark, Model, Request
from .asking import ask
from .folder import RunFolder
from .processes import Processes
from .recovery import at_own_route, is_wanted
from .rowset import RowSet, answer_key, dealt
from .run_card import (
    differences_of_origin,
    identity_digest,
    make_card,
    now,
    require_same,
    require_same_loaded,
    sha256,
    versions,
)
from .sessions import batch_size_found, log, report
from .store import Record, is_final, merged, write_json

Check = Callable[[Model, Sequence[Request]], Mapping[str, Any]]


@dataclass(frozen=True)
class Settings:
    """What a run was asked for, besides rows and model.

    `generation` goes into the identity of the run; `options` (how the model was loaded) is only recorded. `retry` names
    states whose rows alone are asked again; `moved` says that the run's own server has a new address. See `recovery`.
    `workers` is how many of the processes ask (default: all).
    """

    prompt: str
    generation: Mapping[str, Any] = field(default_factory=dict)
    retry: tuple[str, ...] = ()
    moved: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    progress: bool = True
    workers: int | None = None


@dataclass(frozen=True)
class Summary:
    """How a run stands: rows per state (rows without an answer are not among them), rows asked in this session.

    All processes are counted together. Without a shared disk `elsewhere` rows have their answer only in other folders:
    `parts`.
    """

    n_total: int
    health: dict[str, int]
    asked: int
    stopped_because: str | None = None
    elsewhere: int = 0
    parts: tuple[str, ...] = ()

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
    described = _describe(model, out, rows, settings)
    card = make_card(
        benchmark,
        data=rows.describe(),
        model=described,
        prompt=settings.prompt,
        generation=dict(settings.generation) | dict(benchmark.settings),
    )
    card["options"] = dict(settings.options)
    with contextlib.ExitStack() as held:
        store = None
        if processes.is_main:
            card = _begin(out, card, rows, settings)
            store = held.enter_context(out.taken(rows.ids))
            if store.is_writable:
                write_json(out.card_file, card)
        card = processes.gather(card)[0]
        if not processes.is_main:
            _join(out, card)
        key = identity_digest(card)
        before = _known(out.records(), processes)
        pending = _pending(rows, before, key, settings)
        if store is not None and pending:
            store.require_writable()
        mine = _share(rows.by_size(pending), settings, processes)
        try:
            sample = [rows.request(identifier, settings.prompt) for identifier in mine[:1]]
            check_pictures = getattr(model, "check_pictures", None) if mine else None
            if check_pictures is not None:  # of all rows, so that all processes agree
                check_pictures(rows.request(identifier, settings.prompt) for identifier in pending)
            prepared = processes.gather(_prepare(model, card, check, sample, str(out.path)) if mine else None)
            card = _agreed(card, prepared)
        except DiffspotError:
            out.discard_unanswered()  # a refused call leaves nothing behind
            raise
        if processes.is_main or not out.card_file.exists():
            write_json(out.card_file, card)

        try:
            asked = ask(
                benchmark,
                rows,
                model,
                settings.prompt,
                key,
                mine,
                into=store or out.file_of(processes.rank),
                before=before if settings.retry else None,
                progress=settings.progress and processes.is_main,
            )
            reports = processes.gather(report(model, asked, described) if mine else None)
        except BaseException:
            if store is not None and mine:  # what the other processes did is not known here: they may be gone
                with contextlib.suppress(UsageError):
                    log(out, [report(model, store.appended, described)], processes)
            raise
        reports = [each for each in reports if each is not None]
        if store is not None and reports:
            out.merge_into(store, rows.ids)
            log(out, reports, processes)
        processes.wait()
        own = out.records()
        records = {i: record for i, record in _known(own, processes).items() if i in rows}
        places = processes.gather(f"{platform.node()}:{out.path.resolve()}")
    return Summary(
        n_total=len(rows),
        health=health(record["state"] for record in records.values()),
        asked=sum(each["asked"] for each in reports),
        stopped_because="; ".join(dict.fromkeys(filter(None, (each["stopped_because"] for each in reports)))) or None,
        elsewhere=sum(i not in own or own[i]["state"] != record["state"] for i, record in records.items()),
        parts=tuple(dict.fromkeys(place for place in places if place != places[processes.rank])),
    )


def _describe(model: Model, out: RunFolder, rows: RowSet, settings: Settings) -> Mapping[str, Any]:
    """What the model says of itself; for a finished run of the model of that name its card will do where the model
    cannot be asked (offline, moved away)."""
    try:
        return model.describe()
    except UsageError:
        if not out.card_file.exists():
            raise
        card, records = out.card(), out.records()
        named = [os.path.normpath(str(options.get("model"))) for options in (card.get("options", {}), settings.options)]
        if named[0] != named[1] or any(i not in records or not is_final(records[i]) for i in rows.ids):
            raise
        described: Mapping[str, Any] = card["model"]
        return described


def _begin(out: RunFolder, card: dict[str, Any], rows: RowSet, settings: Settings) -> dict[str, Any]:
    """The card of a new run, or that of the run in `out`, which has to be the one asked for."""
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
    elif not out.is_vacant():
        raise UsageError(f"{out.path}: exists, is not empty and holds no run; choose another --out")
    elif settings.retry:
        raise UsageError(f"{out.path}: no run here, so there is nothing to ask again; leave out --retry")
    return card


def _join(out: RunFolder, card: Mapping[str, Any]) -> None:
    """Checks the folder of a process that is not the first: the same one on a shared disk, else one of its own."""
    if out.card_file.exists():
        require_same(out.card(), card, str(out.path))
    elif not out.is_vacant():
        raise UsageError(f"{out.path}: exists, is not empty and holds no run; choose another --out")


def _known(own: dict[str, Record], processes: Processes) -> dict[str, Record]:
    """The records in the folders of all processes: on a shared disk these are the `own` of each."""
    states = json.dumps(sorted((identifier, record["state"]) for identifier, record in own.items()))
    if len(set(processes.gather(sha256(states)))) == 1:
        return own
    return merged(record for records in processes.gather(own) for record in records.values())


def _share(identifiers: Sequence[str], settings: Settings, processes: Processes) -> list[str]:
    """The rows that this process asks."""
    workers = min(processes.world, settings.workers or processes.world)
    return dealt(identifiers, processes.rank, workers) if processes.rank < workers else []


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
    model: Model, card: Mapping[str, Any], check: Check | None, sample: Sequence[Request], where: str
) -> dict[str, Any]:
    """What shows once the model is loaded and checked, as a part of a card."""
    load = getattr(model, "load", None)
    if load is not None:
        load()
    start_at, found = getattr(model, "start_at", None), batch_size_found(card)
    if start_at is not None and found is not None:
        start_at(found)
    preflight = dict(check(model, sample)) if check is not None else {}
    loaded = {key: value for key, value in model.describe().items() if key == "loaded"}
    require_same_loaded(card["model"].get("loaded", {}), loaded.get("loaded", {}), where)
    return {"model": loaded, "versions": versions()} | ({"preflight": preflight} if preflight else {})


def _agreed(card: dict[str, Any], prepared: Sequence[Mapping[str, Any] | None]) -> dict[str, Any]:
    """`card` with what the processes found in common. Raises `UsageError` where they are not of one kind."""
    given = [(rank, each) for rank, each in enumerate(prepared) if each is not None]
    for rank, each in given[1:]:
        if differing := differences_of_origin(given[0][1], each):
            raise UsageError(f"process {rank} is not like process {given[0][0]}: {'; '.join(differing)}")
    if not given:
        return card
    first = given[0][1]
    return card | {"model": card["model"] | first["model"]} | _checked(card, first.get("preflight"))


def _checked(card: Mapping[str, Any], preflight: Mapping[str, Any] | None) -> dict[str, Any]:
    """The preflights of all sessions, this one's last; where one was skipped, that stands for the run."""
    if not preflight:
        return {}
    earlier = card.get("preflights") or ([card["preflight"]] if "preflight" in card else [])
    every = [*earlier, {"at": now(), **preflight}]
    skipped = any(each.get("skipped") for each in every)
    return {"preflight": {"skipped": True} if skipped else preflight, "preflights": every}
