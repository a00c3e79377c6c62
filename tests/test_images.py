"""One loader: upright, RGB, alpha over white, first frame, and broken or enormous files refused by name."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image

from diffspot_hf.errors import UsageError
from diffspot_hf.images import decode_rgb, encode_png, pixel_digest
from diffspot_hf.types import Picture


def encoded(image, kind="PNG", **options):
    out = io.BytesIO()
    image.save(out, format=kind, **options)
    return out.getvalue()


def turned():
    """Stored 8 x 4 with its left quarter red; EXIF says: turn by 90 degrees."""
    image = Image.new("RGB", (8, 4), "white")
    image.paste((200, 0, 0), (0, 0, 2, 4))
    exif = image.getexif()
    exif[0x0112] = 6
    return encoded(image, "PNG", exif=exif)


def grey16():
    image = Image.new("I;16", (2, 1))
    image.putpixel((0, 0), 0x4000)
    image.putpixel((1, 0), 0xC000)
    return encoded(image)


def palette_with_hole():
    image = Image.new("P", (2, 1))
    image.putpalette([255, 0, 255, 0, 120, 60])
    image.putpixel((1, 0), 1)
    return encoded(image, transparency=0)


def animation():
    frames = [Image.new("RGB", (2, 2), colour) for colour in ("red", "lime", "blue")]
    return encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])


READABLE = {
    "plain": (encoded(Image.new("RGB", (2, 1), (1, 2, 3))), (2, 1), (1, 2, 3)),
    "turned upright once": (turned(), (4, 8), (200, 0, 0)),
    "16-bit grey is scaled, not clipped": (grey16(), (2, 1), (64, 64, 64)),
    "a hole in a palette shows white": (palette_with_hole(), (2, 1), (255, 255, 255)),
    "half transparent black over white": (encoded(Image.new("RGBA", (1, 1), (0, 0, 0, 128))), (1, 1), (127, 127, 127)),
    "grey with alpha": (encoded(Image.new("LA", (1, 1), (9, 0))), (1, 1), (255, 255, 255)),
    "one bit": (encoded(Image.new("1", (3, 3), 1)), (3, 3), (255, 255, 255)),
    "first frame of an animation": (animation(), (2, 2), (255, 0, 0)),
}


@pytest.mark.parametrize(("data", "size", "corner"), READABLE.values(), ids=READABLE)
def test_readable_pictures_become_upright_rgb(data, size, corner):
    image = decode_rgb(data)
    assert (image.mode, image.size) == ("RGB", size)
    assert image.getpixel((0, 0)) == corner


def test_an_animation_is_named_in_a_warning(caplog):
    decode_rgb(animation(), "row 3, image_a")
    assert "row 3, image_a: an animation of 3 frames" in caplog.text


def test_cmyk_keeps_its_colours():
    red = decode_rgb(encoded(Image.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG")).getpixel((4, 4))
    assert red[0] > 180
    assert max(red[1:]) < 90


def bomb():
    """A few bytes that declare 60,000 x 60,000 pixels."""
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + header
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", len(header)) + chunk + struct.pack(">I", zlib.crc32(chunk))


BROKEN = {
    "nothing": b"",
    "no picture": b"hello",
    "cut": encoded(Image.effect_noise((64, 64), 50))[:-600],
    "an enormous header": bomb(),
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_broken_picture_is_refused_by_name(data):
    with pytest.raises(UsageError, match=r"^row 7, image_after: "):
        decode_rgb(data, "row 7, image_after")


def test_the_digest_is_of_pixels_not_of_files():
    image = Image.effect_noise((16, 16), 60).convert("RGB")
    png, webp = encode_png(image), encoded(image, "WEBP", lossless=True)
    assert Picture(png).sha256 == Picture(webp).sha256 == pixel_digest(image)
    assert pixel_digest(Image.new("RGB", (2, 1))) != pixel_digest(Image.new("RGB", (1, 2)))


def test_a_loader_that_ignores_the_orientation_is_noticed():
    plain = Image.open(io.BytesIO(turned())).convert("RGB")
    assert decode_rgb(turned()).size == (4, 8)
    assert plain.size == (8, 4)
    assert pixel_digest(plain) != pixel_digest(decode_rgb(turned()))


def test_a_picture_is_decoded_once():
    picture = Picture(encode_png(Image.new("RGB", (2, 2))))
    assert picture.rgb is picture.rgb
