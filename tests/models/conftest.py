"""Tiny models built once a session, requests of plain pictures, and a local HTTP server that misbehaves on demand."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image

from diffspot_hf.cli import main
from diffspot_hf.images import encode_png
from diffspot_hf.running.store import read_lines
from diffspot_hf.types import Picture, Request


@pytest.fixture(autouse=True)
def _no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a tiny model of random weights, by architecture."""
    from diffspot_hf.models.tiny import build

    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)  # such small models only lose by more
    built: dict[str, Path] = {}

    def folder(arch: str = "idefics3") -> Path:
        if arch not in built:
            built[arch] = build(arch, tmp_path_factory.mktemp("tiny") / arch)
        return built[arch]

    return folder


def _load_servers() -> ModuleType:
    spec = importlib.util.spec_from_file_location("diffspot_test_servers", Path(__file__).with_name("servers.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def servers() -> ModuleType:
    """The module `servers.py` beside this file."""
    return _load_servers()


@pytest.fixture
def start_server(servers: ModuleType) -> Iterator[Callable[..., object]]:
    """Starts local chat servers that follow a schedule; they are stopped after the test."""
    running = []

    def start(*schedule: object, **options: object) -> object:
        server = servers.ChatServer(*schedule, **options)
        server.start()
        running.append(server)
        return server

    yield start
    for server in running:
        server.stop()


def plain_picture(colour: tuple[int, int, int] | str, size: tuple[int, int] = (80, 60)) -> Picture:
    return Picture(encode_png(Image.new("RGB", size, colour)), name=f"{colour} picture")


def two_colours(row: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Two colours that no other row has."""
    return (5 + 20 * row % 250, 255 - 11 * row % 250, 40), (90, 7 + 13 * row % 240, 250 - 17 * row % 250)


@pytest.fixture
def make_request() -> Callable[..., Request]:
    """Row `n`: a text whose length differs from row to row, then two pictures in colours of its own."""

    def make(n: int, size: tuple[int, int] = (80, 60), text: str = "What differs?") -> Request:
        first, second = two_colours(n)
        return Request(f"row-{n}", (text + "!" * n, plain_picture(first, size), plain_picture(second, size)))

    return make


@pytest.fixture
def run(pairs, tmp_path, capsys):
    """Runs `diffspot` at a local server: exit code, records by id, and what was printed."""
    out = tmp_path / "run"

    def call(server, *words):
        options = ["--data", str(pairs), "--out", str(out), "--endpoint", server.url, "--concurrency", "1"]
        code = main(["run", "diffspot", "--model", "served-model", *options, "--no-progress", *words])
        return code, {record["id"]: record for record in read_lines(out / "predictions.jsonl")}, capsys.readouterr()

    call.out = out
    return call
