"""Pictures are decoded once, side by side, and forgotten."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image

from diffspot_hf.images import pixel_digest
from diffspot_hf.models import decoding
from diffspot_hf.models.decoding import decode, forget_pixels
from diffspot_hf.types import Picture, Request


def test_a_picture_is_decoded_once(make_request, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[str] = []
    true_decode = decoding.decode_rgb
    monkeypatch.setattr(decoding, "decode_rgb", lambda data, name: decoded.append(name) or true_decode(data, name))
    request = make_request(0)
    assert decode(request) is None
    assert decode(request) is None
    assert len(decoded) == 2
    assert [picture.sha256 for picture in request.pictures] == [pixel_digest(p.rgb) for p in request.pictures]


def test_two_threads_decode_side_by_side(make_request, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=10)

    def meets(data: bytes, name: str) -> Image.Image:
        both.wait()  # breaks if the other thread is kept waiting by a lock
        return Image.new("RGB", (1, 1))

    monkeypatch.setattr(decoding, "decode_rgb", meets)
    requests = [Request(make_request(n).id, make_request(n).parts[:2]) for n in range(2)]
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(decode, requests)) == [None, None]


def test_a_broken_picture_is_named(make_request) -> None:
    first, _ = make_request(0).pictures
    assert "second.png" in (decode(Request("r", (first, Picture(b"x", name="second.png")))) or "")


def test_forgetting_keeps_the_digest(make_request) -> None:
    request = make_request(0)
    decode(request)
    forget_pixels(request)
    for picture in request.pictures:
        assert "rgb" not in picture.__dict__
        assert "sha256" in picture.__dict__
