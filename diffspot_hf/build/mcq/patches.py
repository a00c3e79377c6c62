"""Edited pictures kept small: the base picture stays as it is, an edit is a lossless crop with its place.

An edited picture is made on load: the base is decoded, the crop laid in, the whole written losslessly. Outside the crop
it equals the decoded base by construction.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, UnidentifiedImageError

from ...errors import UsageError
from ...images import decode_rgb

RGB = NDArray[np.uint8]
"""A picture as an array of shape (height, width, 3)."""

_MCU = 16  # side in pixels of the largest block that JPEG compresses by itself
_BLOCK = 32_000
"""Bytes in one deflate block: below what every zlib buffers, so that block borders are ours and not the library's."""


def pixels(data: bytes, name: str = "image") -> RGB:
    """The decoded picture as an array of its own. Raises `UsageError` naming `name` when it cannot be read."""
    return np.array(decode_rgb(data, name))


def upright_size(data: bytes, name: str = "image") -> tuple[int, int]:
    """Width and height of the picture as it is shown, out of its header. Raises `UsageError` when it has none."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            turned = image.getexif().get(ExifTags.Base.Orientation) in (5, 6, 7, 8)
            return (image.height, image.width) if turned else image.size
    except UnidentifiedImageError as error:
        raise UsageError(f"{name}: not a readable picture (of no known format)") from error
    except Exception as error:  # Pillow raises many kinds; all mean the same
        raise UsageError(f"{name}: not a readable picture ({error})") from error


def png_bytes(rgb: RGB) -> bytes:
    """`rgb` as a lossless PNG: the same bytes on every machine, and several times faster than Pillow's default.

    Rows are filtered by the average of left and upper neighbour and then only Huffman-coded, in blocks that end where
    we say. Without string matching there is nothing in which zlib and its successors differ (compared: zlib, zlib-ng),
    so a fingerprint of the encoded bytes holds across machines. About a sixth larger than the smallest PNG.
    """
    height, width, _ = rgb.shape
    left, above = np.zeros_like(rgb), np.zeros_like(rgb)
    left[:, 1:], above[1:] = rgb[:, :-1], rgb[:-1]
    average = (left & above) + ((left ^ above) >> 1)  # the floor of the mean, without leaving eight bits
    lines = np.empty((height, 1 + 3 * width), np.uint8)
    lines[:, 0] = 3  # the PNG filter "average"
    lines[:, 1:] = (rgb - average).reshape(height, -1)
    raw = lines.tobytes()
    packer = zlib.compressobj(1, zlib.DEFLATED, 15, 8, zlib.Z_HUFFMAN_ONLY)
    packed = []
    for start in range(0, len(raw), _BLOCK):
        packed += [packer.compress(raw[start : start + _BLOCK]), packer.flush(zlib.Z_FULL_FLUSH)]
    packed.append(packer.flush())
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", b"".join(packed)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def lay(base: RGB, patches: Sequence[tuple[int, int, RGB]]) -> RGB:
    """A copy of `base` with each patch ``(x, y, pixels)`` laid in, x and y of its top-left corner in pixels.

    Raises `UsageError` for a patch that reaches outside the base.
    """
    laid = base.copy()
    for x, y, patch in patches:
        height, width = patch.shape[:2]
        if x < 0 or y < 0 or y + height > base.shape[0] or x + width > base.shape[1]:
            raise UsageError(
                f"a patch of {width} x {height} at ({x}, {y}) reaches outside its base of "
                f"{base.shape[1]} x {base.shape[0]}"
            )
        laid[y : y + height, x : x + width] = patch
    return laid


def changed_box(before: RGB, after: RGB) -> tuple[int, int, int, int] | None:
    """The smallest box (xywh_px) that holds every changed pixel, None if nothing changed."""
    if before.shape != after.shape:
        raise UsageError(f"an edit changed the size of the picture from {_size(before)} to {_size(after)}")
    rows, columns = np.nonzero((before != after).any(axis=2))
    if not len(rows):
        return None
    x, y = int(columns.min()), int(rows.min())
    return x, y, int(columns.max()) + 1 - x, int(rows.max()) + 1 - y


def _size(picture: Any) -> str:
    return f"{picture.shape[1]} x {picture.shape[0]}"


def cut(picture: RGB, box: tuple[int, int, int, int]) -> bytes:
    """The part of `picture` in `box` (xywh_px) as a small lossless WebP."""
    x, y, width, height = box
    out = io.BytesIO()
    Image.fromarray(picture[y : y + height, x : x + width]).save(
        out, format="WEBP", lossless=True, quality=75, method=4
    )
    return out.getvalue()


def regrain(edited: RGB, base: bytes) -> RGB:
    """`edited` after the same lossy compression that the JPEG `base` went through; unchanged if the base is lossless.

    An edit that was never compressed would stand out from its surroundings to anyone who looks at block artefacts.
    """
    with Image.open(io.BytesIO(base)) as stored:
        if stored.format != "JPEG":
            return edited
        from PIL.JpegImagePlugin import get_sampling

        tables, sampling = stored.quantization, get_sampling(stored)  # type: ignore[attr-defined]
    out = io.BytesIO()
    Image.fromarray(edited).save(out, format="JPEG", qtables=tables, subsampling=sampling if sampling >= 0 else 2)
    return pixels(out.getvalue())


def settle(base: RGB, before: RGB, after: RGB, stored: bytes, window: tuple[slice, slice]) -> RGB:
    """`base` with what differs between `before` and `after`, compressed as the `stored` base was, inside `window`.

    Compression works on blocks of 16 pixels, so whole blocks are taken over where anything differs, and no others: what
    was not edited stays exactly the base.
    """
    differs = (before != after).any(axis=2)
    height, width = differs.shape
    padded = np.pad(differs, ((0, -height % _MCU), (0, -width % _MCU)))
    blocks = padded.reshape(padded.shape[0] // _MCU, _MCU, -1, _MCU).any(axis=(1, 3))
    taken = blocks.repeat(_MCU, 0).repeat(_MCU, 1)[:height, :width]
    inside = np.zeros_like(differs)
    inside[window] = taken[window]
    settled = base.copy()
    settled[inside] = regrain(after, stored)[inside]
    return settled
