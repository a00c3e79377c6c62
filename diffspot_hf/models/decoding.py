"""Decoding the pictures of a request once, side by side with others, and forgetting them when they are done with."""

from __future__ import annotations

import io

from PIL import Image

from ..errors import UsageError
from ..images import decode_rgb, pixel_digest
from ..types import Picture, Request


def decode(request: Request) -> str | None:
    """Decodes the pictures of `request` that are not decoded yet; returns what is wrong with one of them, or None.

    It fills the properties `rgb` and `sha256` from outside, because before Python 3.12 a cached property holds one lock
    for all its instances, so that threads would decode one after the other.
    """
    try:
        for picture in request.pictures:
            kept = picture.__dict__
            if "rgb" not in kept:
                kept["rgb"] = decode_rgb(picture.data, picture.name)
            if "sha256" not in kept:
                kept["sha256"] = pixel_digest(kept["rgb"])
    except UsageError as error:
        return str(error)
    return None


def forget_pixels(request: Request) -> None:
    """Drops the decoded pixels that the pictures of `request` keep, so that memory stays flat over many rows."""
    for picture in request.pictures:
        picture.__dict__.pop("rgb", None)


def size_in_header(picture: Picture) -> tuple[int, int] | None:
    """(width, height) in pixels without decoding; None where that needs decoding: a broken file, one perhaps turned."""
    if any(word in picture.data.lower() for word in (b"exif", b"orientation")):
        return None
    try:
        with Image.open(io.BytesIO(picture.data)) as image:
            return None if image.format == "TIFF" else image.size
    except Exception:
        return None
