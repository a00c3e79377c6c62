"""The run card `run.json`: everything that an answer depends on, and everything one wants to know years later."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import time
from collections.abc import Mapping
from typing import Any

from ..errors import UsageError
from ..types import Benchmark

LIBRARIES = ("diffspot-hf", "datasets", "huggingface_hub", "transformers", "accelerate", "torch", "pillow", "pyarrow")
IDENTITY = ("benchmark", "model", "prompt", "generation", "data.commit", "data.fingerprint")
"""What must be equal for two sets of answers to belong to one run."""
SHAPING = ("diffspot-hf", "pillow")
"""Libraries of which another version may give other answers (chosen)."""
SHAPING_LOADED = (*SHAPING, "torch", "transformers")
"""The same where a model was loaded here."""
NEEDED = {
    "benchmark": str,
    "model.id": str,
    "prompt.sha256": str,
    "data.source": str,
    "data.fingerprint": str,
    "data.rows": int,
}
"""Without these a file is no run card."""


def make_card(
    benchmark: Benchmark,
    *,
    data: Mapping[str, Any],
    model: Mapping[str, Any],
    prompt: str,
    generation: Mapping[str, Any],
) -> dict[str, Any]:
    """A new card; `data` holds at least ``source``, ``fingerprint``, ``rows``, ``is_sample``."""
    version = benchmark.prompt_version if prompt == benchmark.prompt else "custom"
    return {
        "format": 1,
        "benchmark": benchmark.name,
        "model": dict(model),
        "prompt": {"version": version, "sha256": sha256(prompt), "text": prompt},
        "generation": dict(generation),
        "data": dict(data),
        "versions": versions(),
        "host": {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()},
        "created": now(),
        "sessions": [],
    }


def identity(card: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a card that all answers of a run share.

    Apart from it are what only loading a model reveals (``loaded``) and where it is served (``route``).
    """
    model = {key: value for key, value in card["model"].items() if key not in ("loaded", "route")}
    return {
        "benchmark": card["benchmark"],
        "model": model,
        "prompt": {"sha256": card["prompt"]["sha256"]},
        "generation": card.get("generation"),
        "data": {key: card["data"].get(key) for key in ("commit", "fingerprint")},
    }


def identity_digest(card: Mapping[str, Any]) -> str:
    """Digest of what an answer depends on besides its own row."""
    parts = {key: value for key, value in identity(card).items() if key != "data"}
    return sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False))


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Dotted names of the identity fields in which two cards differ, with both values."""
    return list(_differing(identity(old), identity(new), ""))


def _differing(old: Any, new: Any, name: str) -> Any:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            yield from _differing(old.get(key), new.get(key), f"{name}.{key}" if name else key)
    elif old != new:
        yield f"{name} ({_short(old)} there, {_short(new)} now)"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else text[:37] + "…"


def require_same(old: Mapping[str, Any], new: Mapping[str, Any], where: str) -> None:
    """Raises `UsageError` naming the fields in which the run in `where` differs from the one asked for."""
    if differing := differences(old, new):
        raise UsageError(
            f"{where} holds another run: {'; '.join(differing)}. Choose another --out or the same settings"
        )


def require_same_loaded(old: Mapping[str, Any], new: Mapping[str, Any], where: str) -> None:
    """The same for the facts that only a loaded model shows (commit, processor class, …)."""
    if old and new and (differing := list(_differing(old, new, "model.loaded"))):
        raise UsageError(f"{where}: the model is not the one that began this run: {'; '.join(differing)}")


def differences_of_origin(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """`differences` in what only shows where the answers are made: the loaded model, the versions of libraries.

    What one of the cards does not say is not compared.
    """
    loaded = [card["model"].get("loaded") for card in (old, new)]
    names = SHAPING_LOADED if all(loaded) else SHAPING
    used = [{name: card.get("versions", {}).get(name) for name in names} for card in (old, new)]
    found = list(_differing(*loaded, "model.loaded")) if all(loaded) else []
    return found + (list(_differing(*used, "versions")) if old.get("versions") and new.get("versions") else [])


def joined(card: Mapping[str, Any], other: Mapping[str, Any], refusal: str) -> dict[str, Any]:
    """`card` with what `other`, of a part of the same run, adds to it.

    Raises `UsageError`, which begins with `refusal`, if the answers of both do not belong together.
    """
    if differing := differences(card, other) + differences_of_origin(card, other):
        raise UsageError(f"{refusal}: they differ in {'; '.join(differing)}")
    loaded = {key: value for key, value in other["model"].items() if key == "loaded"}
    whole = dict(card) | {"model": loaded | card["model"]}
    for name in ("sessions", "preflights"):
        whole[name] = list(card.get(name, ()))
        whole[name] += [entry for entry in other.get(name, ()) if entry not in whole[name]]
    if (other.get("preflight") or {}).get("skipped"):  # that stands for the run
        whole["preflight"] = other["preflight"]
    return whole


def card_lacks(card: Any) -> str | None:
    """The dotted name of what is missing for `card` to be a run card; None for a whole one."""
    for name, kind in NEEDED.items():
        value = card
        for key in name.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if not isinstance(value, kind):
            return name
    return None


def versions() -> dict[str, str]:
    """Versions of the libraries that shape an answer, as far as they are installed."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
