"""Shared by all tests: no network beyond loopback, a cache of its own, small pairs made on the spot."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_CACHE = tempfile.TemporaryDirectory(prefix="diffspot-hf-tests-")
os.environ["HF_HOME"] = _CACHE.name
os.environ["HF_HUB_OFFLINE"] = os.environ["HF_EVALUATE_OFFLINE"] = "1"

import pytest  # noqa: E402 - the libraries read their environment when imported
from PIL import Image, ImageDraw  # noqa: E402

REPO = Path(__file__).parent.parent
TIERS = ("easy", "medium", "hard")
RECORDS = {
    "color": ("background-color", "", "rgb(0, 0, 255)", "rgb(255, 0, 0)", "{element} has a red background, not blue."),
    "font_weight": ("font-weight", "increase", "400", "700", "{element} is set in bold."),
    "opacity": ("opacity", "decrease", "1", "0.4", "{element} is more transparent."),
    "text": ("text-content", "", "Go", "Stop", "{element} now reads 'Stop'."),
}
"""Operator → property, direction, old and new value, and the sentence that describes the change."""
OPERATORS = tuple(RECORDS)


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuses every connection that would leave the machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> Any:
        host = address[0] if isinstance(address, tuple) else "unix"
        if host not in ("127.0.0.1", "::1", "localhost", "unix"):
            raise AssertionError(f"a test tried to reach {address}")
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(scope="session")
def repo() -> Path:
    return REPO


@pytest.fixture(scope="session")
def cases() -> Path:
    """Shared labelled cases beside the checkout, where they are present."""
    folder = REPO.parent / "shared" / "cases"
    if not folder.is_dir():
        pytest.skip("no shared cases beside this checkout")
    return folder


def make_pairs(folder: Path, n: int = 8) -> Path:
    """A data folder of `n` small pairs; every fourth has no change. Pair i is of two colours of its own."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    lines = []
    for i in range(n):
        same = i % 4 == 3
        before = Image.new("RGB", (64 + 8 * (i % 3), 48), (20 + 10 * i % 230, 120, 200))
        after = before.copy()
        if not same:
            ImageDraw.Draw(after).rectangle([10, 10, 30, 25], fill=(255, 0, (3 * i) % 255))
        names = [f"images/{i}-{side}.png" for side in ("before", "after")]
        before.save(folder / names[0])
        after.save(folder / names[1])
        operator = OPERATORS[i % 4 if i % 4 < 3 else 0]
        name, direction, old, new, sentence = RECORDS[operator]
        element = f"the button 'Go {i}'"
        mutation = {
            "type": operator,
            "element": element,
            "property": name,
            "direction": direction,
            "old_value": old,
            "new_value": new,
            "template": f"{name} of {element} changes from {old} to {new}",
        }
        lines.append(
            {
                "id": f"pair-{i}",
                "image_before": names[0],
                "image_after": names[1],
                "user_query": "never sent",
                "ground_truth_diff": "" if same else sentence.format(element="T" + element[1:]),
                "mutations_text": [] if same else [mutation["template"]],
                "mutation_types": [] if same else [f"mutate_{operator}"],
                "mutation_dicts_json": [] if same else [json.dumps(mutation)],
                "task_type": "no_diff" if same else "visual_diff",
                "difficulty": "no_diff" if same else TIERS[i % 3],
                "domain": "other",
                "pixel_diff": 0.0 if same else 10.9,
                "target_diff": 0 if same else 336,
                "outside_diff": 0,
            }
        )
    (folder / "test.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight small DiffSpot pairs."""
    return make_pairs(tmp_path_factory.mktemp("pairs"), 8)


@pytest.fixture(scope="session")
def make() -> Callable[[Path, int], Path]:
    return make_pairs


@pytest.fixture
def python(tmp_path: Path) -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """Runs code in a fresh interpreter, from an empty folder."""

    def run(code: str, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
        empty = tmp_path / "empty"
        empty.mkdir(exist_ok=True)
        return subprocess.run(
            [sys.executable, "-c", code, *args],
            cwd=empty,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    yield run
