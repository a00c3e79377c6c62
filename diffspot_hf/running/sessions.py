"""What each session of a run did and spent, kept in its card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..types import Model
from .folder import RunFolder
from .processes import Processes
from .run_card import now
from .store import write_json

SPENT = ("requests", "tokens")
"""What a route counts."""


def report(model: Model, asked: int, before: Mapping[str, Any]) -> dict[str, Any]:
    """What one process did: rows asked, its route with what was spent since the model described itself as `before`,
    and why it stopped early."""
    route, earlier = dict(model.describe().get("route") or {}), before.get("route") or {}
    route |= {name: route[name] - earlier.get(name, 0) for name in SPENT if name in route}
    return {"asked": asked, "route": route, "stopped_because": getattr(model, "stopped_because", None)}


def log(out: RunFolder, reports: Sequence[Mapping[str, Any]], processes: Processes) -> None:
    """Adds this session to the card. `reports` of fewer than all processes say less than was done: see ``counted``."""
    first = reports[0]["route"]
    spent = {name: sum(each["route"].get(name, 0) for each in reports) for name in SPENT if name in first}
    session = {
        "ended": now(),
        "processes": processes.world,
        "counted": len(reports),
        "asked": sum(each["asked"] for each in reports),
        "route": first | spent,
    }
    card = out.card()
    if "preflights" in card:
        session["preflight"] = card["preflights"][-1]
    write_json(out.card_file, card | {"sessions": [*card.get("sessions", ()), session]})


def batch_size_found(card: Mapping[str, Any]) -> int | None:
    """The batch size that ``auto`` had found when a session last ended."""
    routes = [session.get("route") or {} for session in card.get("sessions", ())]
    return next((route["batch_size"] for route in reversed(routes) if route.get("batch_size_auto")), None)
