"""One loader for every picture: upright, RGB, alpha over white, first frame, never larger than Pillow's limit."""

from __future__ import annotations

import hashlib
import io
import logging

from PIL import Image, ImageOps, UnidentifiedImageError

from .errors import UsageError

logger = logging.getLogger("diffspot_hf")


def decode_rgb(data: bytes, name: str = "image") -> Image.Image:
    """The picture in `data`, shape (height, width), mode RGB, turned upright by its EXIF orientation.

    Transparent pixels are laid over white; 16-bit grey is scaled to 8 bits; an animation gives its first frame.
    Raises `UsageError` naming `name` when the file is broken, cut, or declares more pixels than
    `PIL.Image.MAX_IMAGE_PIXELS` (checked before any pixel is allocated).
    """
    try:
        image = Image.open(io.BytesIO(data))
        # Pillow itself only warns at this limit; filters of warnings are no option, pictures are decoded in threads.
        if image.width * image.height > (Image.MAX_IMAGE_PIXELS or float("inf")):
            raise Image.DecompressionBombError(f"{image.width} x {image.height} pixels")
        image.load()
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise UsageError(f"{name}: refused, the picture is too large ({error})") from error
    except UnidentifiedImageError as error:
        raise UsageError(f"{name}: not a readable picture (of no known format)") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise UsageError(f"{name}: not a readable picture ({error})") from error
    if (frames := getattr(image, "n_frames", 1)) > 1:
        logger.warning("%s: an animation of %d frames; its first is used", name, frames)
    image = ImageOps.exif_transpose(image)
    return _to_rgb(image)


def _to_rgb(image: Image.Image) -> Image.Image:
    if image.mode == "RGB" and "transparency" not in image.info:
        return image
    if image.mode.startswith("I") or image.mode == "F":
        # Pillow clips these at 255 on conversion; 16-bit grey must be scaled instead.
        image = image.convert("F").point(lambda value: value * (1 / 257) + 0.5).convert("L")
    if image.has_transparency_data:
        rgba = image.convert("RGBA")
        white = Image.new("RGBA", rgba.size, (255, 255, 255, 255))
        image = Image.alpha_composite(white, rgba)
    return image.convert("RGB")


def pixel_digest(image: Image.Image) -> str:
    """SHA-256 (hex) of size and RGB bytes, independent of the file format."""
    digest = hashlib.sha256(f"{image.width}x{image.height}:".encode())
    digest.update(image.tobytes())
    return digest.hexdigest()


def encode_png(image: Image.Image) -> bytes:
    """`image` as PNG bytes: lossless, moderate compression."""
    out = io.BytesIO()
    image.save(out, format="PNG", compress_level=3)
    return out.getvalue()
