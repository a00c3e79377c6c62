"""Rows that are asked again: which ones, whose answer counts, and what the run was before.

| asked by | rows | answer | what counts from then on |
| --- | --- | --- | --- |
| the plain command, own route | never asked, or ``error`` | any | the answer: the first that this route gave |
| ``--retry``, own or other route | in the states named | ``ok`` | the answer, recovered; what it replaced is ``raw`` |
| ``--retry``, own or other route | in the states named | any other | what stood before, with one attempt more |

A row in state ``ok`` is never asked again. The plain command is refused at another route than the run's own: a route is
where the model is served, and two servers of one name may hold two models.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..errors import UsageError
from .store import Record, is_final, is_valid

_RAW = ("state", "raw_response", "prediction", "finish_reason", "error", "notes", "route")
"""What is kept of a record that a recovered one replaces."""


def is_wanted(record: Record | None, retry: Collection[str]) -> bool:
    """Whether a row that stands at `record` is to be asked: by state as in the table above."""
    if retry:
        return record is not None and not is_valid(record) and record["state"] in retry
    return record is None or not is_final(record)


def asked_again(old: Record, new: Record) -> Record:
    """The record to store when ``--retry`` got `new` for a row that stood at `old`."""
    if not is_valid(new):
        return old | {"attempts": new["attempts"]}
    raw = {name: value for name, value in raw_of(old).items() if name in _RAW}
    return new | {"retried_from": raw["state"], "raw": raw}


def is_recovered(record: Record) -> bool:
    return is_valid(record) and record.get("retried_from") is not None


def raw_of(record: Record) -> Record:
    """The record as it was before any recovery; of runs by earlier versions only its state is known."""
    if "raw" in record:
        return {"id": record["id"], **record["raw"]}
    if record.get("retried_from") is not None:
        return {"id": record["id"], "state": record["retried_from"], "prediction": None}
    return record


def own_routes(card: Mapping[str, Any]) -> set[str]:
    """The addresses at which the run's own server was asked; empty for a model that is not served."""
    own = _endpoint(card)
    return set() if own is None else {own, *card.get("moved_from", ())}


def is_elsewhere(record: Record, card: Mapping[str, Any]) -> bool:
    """Whether the answer that counts came from another server than the run's own."""
    attempts = record.get("attempts") or [{}]
    route = record.get("route") or attempts[-1].get("route")
    own = own_routes(card)
    return bool(own) and route is not None and route not in own


def at_own_route(old: Mapping[str, Any], new: Mapping[str, Any], where: str, *, moved: bool) -> dict[str, Any]:
    """The card `old` of a run that goes on as `new` asks. With `moved` it takes the new address of its server over.

    Raises `UsageError` if `new` names another address and is not `moved`.
    """
    before, now = _endpoint(old), _endpoint(new)
    if before == now:
        return dict(old)
    if not moved:
        raise UsageError(
            f"{where} is asked elsewhere: model.route.endpoint ({before} there, {now} now). Choose another --out, ask "
            "its failed rows there with --retry, or say with --endpoint-moved that its own server moved"
        )
    return dict(old) | {
        "model": old["model"] | {"route": new["model"]["route"]},
        "options": old.get("options", {}) | {"endpoint": now},
        "moved_from": [*old.get("moved_from", ()), before],
    }


def _endpoint(card: Mapping[str, Any]) -> str | None:
    endpoint: str | None = (card["model"].get("route") or {}).get("endpoint")
    return endpoint
