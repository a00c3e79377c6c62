"""One Chromium for all tests of this folder, packed packages made on the spot, and pages written by the test."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from diffspot_hf.build.browser import Browser
from diffspot_hf.build.pages.sources import Source

MakeSource = Callable[..., tuple[Source, Callable[[Source, Path], Path]]]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with Browser() as one:
        yield one


def pack(members: Mapping[str, bytes | tarfile.TarInfo]) -> bytes:
    """A packed npm package with these members: bytes, or a ready entry (a link, a device)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                tar.addfile(content)
                continue
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return out.getvalue()


@pytest.fixture
def make_source() -> MakeSource:
    """``source, packer = make_source(files)``: a package of these files, and what brings it without npm."""

    def make(files: Mapping[str, bytes | tarfile.TarInfo], **fields: object):
        data = pack({"package/LICENSE": b"Do as you like.\n"} | {f"package/{k}": v for k, v in files.items()})
        row = {"name": "demo", "version": "1.0.0", "sha256": hashlib.sha256(data).hexdigest(), "licence": "MIT",
               "copyright": "Copyright (c) Nobody", "licence_file": "LICENSE", "role": "pages"}  # fmt: skip
        source = Source.read(row | fields)
        calls: list[str] = []

        def packer(wanted: Source, folder: Path) -> Path:
            calls.append(wanted.spec)
            file = folder / "demo.tgz"
            file.write_bytes(data)
            return file

        packer.calls = calls  # type: ignore[attr-defined]
        return source, packer

    return make


def photo(width: int, height: int, kind: str = "JPEG") -> bytes:
    """A picture rich in colours, as a photograph is."""
    noise = np.random.default_rng(5).integers(0, 255, (height, width, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise).save(out, kind)
    return out.getvalue()


def drawing(width: int, height: int) -> bytes:
    """A PNG of two flat colours, as a logo is."""
    image = Image.new("RGB", (width, height), (20, 90, 160))
    image.paste((240, 240, 240), (width // 4, height // 4, width // 2, height // 2))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
