"""Pictures of our own making that stand where a page shows a photo whose rights are unclear.

A picture depends on its seed text and its size alone: the same call gives the same bytes wherever the same NumPy and
Pillow run. It is a plain scene (hills, a skyline, a still life, a bust, shapes), soft enough to compress well.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

PHOTO_SUFFIXES = (".jpg", ".jpeg", ".webp", ".avif")
KEPT_NAMES = re.compile(
    r"logo|icon|sprite|flag|badge|marker|pattern|cursor|brand|payment|visa|mastercard|paypal|amex", re.I
)
PERSON_NAMES = re.compile(
    r"user|avatar|team|face|people|person|profile|author|client|testimonial|woman|man\b|ivana|bruce", re.I
)
PHOTO_COLOURS = 1500
PHOTO_ENTROPY = 4.5
"""Distinct colours, or bits of grey (64 levels), of a 128 px thumbnail above which a PNG is taken for a photo (our
choice: among the packages' PNGs, drawings and logos stay below both)."""
SMALLEST_PHOTO = 48


def is_photo(name: str, data: bytes) -> bool:
    """True when the file `name` holds a photograph, as far as its format, name and colours tell.

    JPEG, WebP and AVIF count as photos whatever they show; PNG and GIF when they are rich in colours; SVG never.
    """
    suffix = "." + name.lower().rpartition(".")[2]
    if suffix in PHOTO_SUFFIXES:
        return True
    if suffix not in (".png", ".gif") or KEPT_NAMES.search(name.rpartition("/")[2]):
        return False
    try:
        with Image.open(io.BytesIO(data)) as image:
            if min(image.size) < SMALLEST_PHOTO:
                return False
            # Through RGBA: Pillow warns when a palette's transparency is dropped silently.
            small = image.convert("RGBA").convert("RGB").resize((128, 128), Image.Resampling.NEAREST)
    except (OSError, ValueError, SyntaxError):
        return False
    colours = len(np.unique(np.asarray(small).reshape(-1, 3), axis=0))
    shares = np.bincount(np.asarray(small.convert("L")).ravel() >> 2, minlength=64) / (128 * 128)
    entropy = -float((shares[shares > 0] * np.log2(shares[shares > 0])).sum())
    return colours > PHOTO_COLOURS or entropy > PHOTO_ENTROPY


def stand_in(name: str, data: bytes) -> tuple[bytes, str] | None:
    """Bytes and MIME type of the picture that replaces the photo `name`: same pixel size, and its transparency if any.

    None when `data` is not a readable picture.
    """
    try:
        with Image.open(io.BytesIO(data)) as original:
            size = original.size
            alpha = original.convert("RGBA").getchannel("A") if original.has_transparency_data else None
    except (OSError, ValueError, SyntaxError):
        return None
    if alpha is None or alpha.getextrema() == (255, 255):
        return scene(name, *size), "image/jpeg"
    image = draw_scene(name, *size)
    image.putalpha(alpha)
    out = io.BytesIO()
    image.save(out, "WEBP", quality=80, method=4)
    return out.getvalue(), "image/webp"


def scene(seed: str, width: int, height: int) -> bytes:
    """A generated picture of `width` × `height` pixels as JPEG bytes.

    >>> scene("photos/harbour.jpg", 64, 48) == scene("photos/harbour.jpg", 64, 48)
    True
    """
    out = io.BytesIO()
    draw_scene(seed, width, height).save(out, "JPEG", quality=82, optimize=True)
    return out.getvalue()


def draw_scene(seed: str, width: int, height: int) -> Image.Image:
    """The generated picture for `seed`, mode RGB."""
    random = np.random.default_rng(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big"))
    squarish = 0.75 < width / height < 1.34
    if PERSON_NAMES.search(seed) and squarish:
        paint: Callable[..., Image.Image] = _bust
    else:
        paint = (_hills, _skyline, _still_life, _shapes)[int(random.integers(4))]
    # Painted at a fixed moderate size and scaled: large pictures stay cheap to make and to store.
    scale = min(1.0, 900 / max(width, height))
    small = paint(random, max(1, round(width * scale)), max(1, round(height * scale)))
    small = _grain(random, small)
    return small if small.size == (width, height) else small.resize((width, height), Image.Resampling.BICUBIC)


def _palette(random: np.random.Generator, count: int, base: float | None = None) -> list[tuple[int, int, int]]:
    """`count` colours that go together: one hue (`base`, 0 to 1) with neighbours, and an accent across the circle."""
    base = random.random() if base is None else base
    hues = [(base + offset) % 1 for offset in (0.0, 0.04, 0.09, -0.05, 0.5, 0.46)]
    colours = []
    for index in range(count):
        hue = hues[index % len(hues)]
        saturation, value = 0.25 + 0.45 * random.random(), 0.45 + 0.5 * random.random()
        colours.append(Image.new("HSV", (1, 1), (int(hue * 255), int(saturation * 255), int(value * 255))))
    return [colour.convert("RGB").getpixel((0, 0)) for colour in colours]  # type: ignore[misc]


def _gradient(width: int, height: int, top: tuple[int, int, int], bottom: tuple[int, int, int]) -> Image.Image:
    ramp = np.linspace(0, 1, height)[:, None, None]
    rows = np.asarray(top) * (1 - ramp) + np.asarray(bottom) * ramp
    return Image.fromarray(np.broadcast_to(rows, (height, width, 3)).round().astype(np.uint8).copy())


def _mix(a: tuple[int, int, int], b: tuple[int, int, int], share: float) -> tuple[int, int, int]:
    return tuple(round(x * (1 - share) + y * share) for x, y in zip(a, b, strict=True))  # type: ignore[return-value]


def _sky_hue(random: np.random.Generator) -> float:
    return float(random.choice([0.58, 0.55, 0.62, 0.07, 0.95]) + random.uniform(-0.02, 0.02))


def _hills(random: np.random.Generator, width: int, height: int) -> Image.Image:
    sky, glow, near = _palette(random, 3, _sky_hue(random))
    image = _gradient(width, height, _mix(sky, (255, 255, 255), 0.2), _mix(glow, (255, 255, 255), 0.55))
    draw = ImageDraw.Draw(image)
    radius = min(width, height) * (0.05 + 0.06 * random.random())
    x, y = width * random.uniform(0.15, 0.85), height * random.uniform(0.15, 0.4)
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=_mix(glow, (255, 252, 235), 0.85))
    across = np.linspace(0, 1, 60)
    for layer in range(4):
        level = 0.45 + 0.15 * layer
        line = level + min(1.0, width / height) * sum(
            random.uniform(0.01, 0.06) * np.sin(2 * np.pi * (k * across * random.uniform(0.7, 1.6) + random.random()))
            for k in (1, 2, 4)
        )
        points = [(a * width, b * height) for a, b in zip(across, line, strict=True)]
        draw.polygon([*points, (width, height), (0, height)], fill=_mix(_mix(glow, sky, 0.5), near, 0.3 + 0.2 * layer))
    return image


def _skyline(random: np.random.Generator, width: int, height: int) -> Image.Image:
    sky, wall, light = _palette(random, 3, _sky_hue(random))
    image = _gradient(width, height, sky, _mix(sky, (255, 240, 225), 0.7))
    draw = ImageDraw.Draw(image)
    for layer in range(3):
        fill = _mix(_mix(sky, wall, 0.4 + 0.3 * layer), (20, 24, 40), 0.15 + 0.25 * layer)
        x = -0.02 * width
        while x < width:
            wide = width * random.uniform(0.05, 0.12)
            top = height * random.uniform(0.25 + 0.15 * layer, 0.6 + 0.1 * layer)
            draw.rectangle((x, top, x + wide, height), fill=fill)
            step = max(4.0, wide / 5)
            for window in np.arange(top + step, height, step * 1.4) if layer == 2 else ():
                for column in np.arange(x + step * 0.7, x + wide - step * 0.6, step):
                    if random.random() < 0.4:
                        draw.rectangle(
                            (column, window, column + step * 0.4, window + step * 0.6),
                            fill=_mix(light, (255, 244, 200), 0.7),
                        )
            x += wide * random.uniform(0.9, 1.3)
    return image


def _still_life(random: np.random.Generator, width: int, height: int) -> Image.Image:
    wall, table, *things = _palette(random, 6)
    image = _gradient(width, height, _mix(wall, (255, 255, 255), 0.65), _mix(wall, (255, 255, 255), 0.4))
    draw = ImageDraw.Draw(image)
    edge = height * random.uniform(0.66, 0.76)
    draw.rectangle((0, edge, width, height), fill=_mix(table, (255, 255, 255), 0.3))
    unit = min(width, height)
    count = int(random.integers(2, 5))
    for index, fill in zip(range(count), things, strict=False):
        x = width * (index + 0.5 + random.uniform(-0.15, 0.15)) / count
        wide, tall = unit * random.uniform(0.09, 0.16), unit * random.uniform(0.2, 0.5)
        foot = edge + height * random.uniform(0.02, 0.12)
        draw.ellipse(
            (x - wide * 1.2, foot - wide * 0.25, x + wide * 1.6, foot + wide * 0.3),
            fill=_mix(table, (30, 30, 40), 0.45),
        )
        draw.rounded_rectangle(
            (x - wide, foot - tall, x + wide, foot), radius=wide * random.uniform(0.1, 0.9), fill=fill
        )
        draw.rounded_rectangle(
            (x - wide * 0.75, foot - tall * 0.93, x - wide * 0.4, foot - tall * 0.2),
            radius=wide * 0.17,
            fill=_mix(fill, (255, 255, 255), 0.35),
        )
        if random.random() < 0.5:
            draw.rounded_rectangle(
                (x - wide * 0.4, foot - tall * 1.25, x + wide * 0.4, foot - tall),
                radius=wide * 0.2,
                fill=_mix(fill, (40, 40, 50), 0.4),
            )
    return image.filter(ImageFilter.GaussianBlur(max(0.5, unit / 400)))


def _bust(random: np.random.Generator, width: int, height: int) -> Image.Image:
    back, cloth, hair = _palette(random, 3)
    skin = _mix((92, 60, 44), (243, 208, 180), random.random())
    hair = _mix(hair, (40, 30, 28), 0.65)
    image = _gradient(width, height, _mix(back, (255, 255, 255), 0.5), _mix(back, (255, 255, 255), 0.2))
    draw = ImageDraw.Draw(image)
    x, unit = width * random.uniform(0.46, 0.54), min(width, height)
    head, wide = height * 0.42, unit * random.uniform(0.155, 0.185)
    if random.random() < 0.5:  # long hair, behind the shoulders
        draw.rounded_rectangle(
            (x - wide * 1.25, head - wide * 1.3, x + wide * 1.25, head + wide * 2.1), radius=wide, fill=hair
        )
    draw.rounded_rectangle(
        (x - unit * 0.34, height * 0.72, x + unit * 0.34, height * 1.3), radius=unit * 0.2, fill=cloth
    )
    draw.rectangle(
        (x - wide * 0.4, head + wide * 0.8, x + wide * 0.4, height * 0.76), fill=_mix(skin, (60, 30, 20), 0.15)
    )
    draw.ellipse((x - wide, head - wide * 1.25, x + wide, head + wide * 1.3), fill=skin)
    draw.pieslice((x - wide * 1.08, head - wide * 1.45, x + wide * 1.08, head + wide * 0.9), 180, 360, fill=hair)
    return image.filter(ImageFilter.GaussianBlur(unit / 300))


def _shapes(random: np.random.Generator, width: int, height: int) -> Image.Image:
    colours = _palette(random, 6)
    image = _gradient(width, height, _mix(colours[0], (255, 255, 255), 0.15), colours[1])
    for fill in colours[2:] * 2:
        layer = Image.new("L", (width, height), 0)
        draw = ImageDraw.Draw(layer)
        x, y = random.uniform(0, width), random.uniform(0, height)
        radius = min(width, height) * random.uniform(0.12, 0.45)
        if random.random() < 0.6:
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=int(random.integers(90, 190)))
        else:
            turn = random.random() * np.pi
            corners = [turn + np.pi * 2 * k / int(random.integers(3, 6)) for k in range(5)]
            draw.polygon(
                [(x + radius * np.cos(a), y + radius * np.sin(a)) for a in corners], fill=int(random.integers(70, 150))
            )
        image.paste(Image.new("RGB", (width, height), fill), mask=layer.filter(ImageFilter.GaussianBlur(radius / 40)))
    return image


def _grain(random: np.random.Generator, image: Image.Image) -> Image.Image:
    """`image` with faint soft noise, so that flat areas look taken rather than drawn."""
    width, height = image.size
    coarse = random.normal(0, 2.5, (max(1, height // 6), max(1, width // 6))).astype(np.float32)
    noise = np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))
    return Image.fromarray(
        np.clip(np.asarray(image, dtype=np.float32) + noise[..., None], 0, 255).round().astype(np.uint8)
    )
