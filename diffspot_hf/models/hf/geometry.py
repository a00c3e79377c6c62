"""What a processor makes of a picture: its size after processing, its visual tokens, and a cap on its pixels.

Sizes are (width, height) in pixels. Each family stores them elsewhere; where none of the known places fits, the size is
None (not known), never a guess.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...errors import UsageError

Size = tuple[int, int]


class Seen(NamedTuple):
    """Processed size of one picture, its visual tokens, and how many pixels rounding to patches may cost a side."""

    size: Size | None
    tokens: int | None
    rounding: int = 0


def look(
    processor: Any, inputs: Mapping[str, Any], rows: Sequence[Sequence[Size]], tokens: Sequence[int]
) -> list[list[Seen]]:
    """What the model sees of every picture of a batch, by row.

    `rows` holds the original sizes of each row's pictures, `tokens` the image tokens counted in each row's prompt.
    A figure that does not add up with that count is given as None. Raises `ValueError` if pictures were lost.
    """
    flat = _grid(processor, inputs) or _tiles(processor, rows) or _plain(inputs, rows)
    given = sum(len(sizes) for sizes in rows)
    if flat and len(flat) != given:
        raise ValueError(f"{len(flat)} pictures are seen where {given} were given")
    found, start = [], 0
    for sizes, total in zip(rows, tokens, strict=True):
        row = flat[start : start + len(sizes)] if flat else [Seen(None, None)] * len(sizes)
        start += len(sizes)
        found.append(_checked(row, sizes, total))
    return found


def _checked(row: list[Seen], sizes: Sequence[Size], total: int) -> list[Seen]:
    """`row` with token counts that sum to `total`: as computed, else in equal shares where the pictures are alike."""
    if sum(seen.tokens or 0 for seen in row) == total and all(seen.tokens for seen in row):
        return row
    alike = len(set(sizes)) == 1 or (len({seen.size for seen in row}) == 1 and all(seen.size for seen in row))
    share = total // len(sizes) if sizes and alike and total % len(sizes) == 0 else None
    return [seen._replace(tokens=share) for seen in row]


def _grid(processor: Any, inputs: Mapping[str, Any]) -> list[Seen]:
    """Qwen-VL and its kin: a grid of patches for each picture, `merge_size` squared of them to a token."""
    grid = inputs.get("image_grid_thw")
    patch = getattr(processor.image_processor, "patch_size", None)
    if grid is None or not isinstance(patch, int):
        return []
    merge = int(getattr(processor.image_processor, "merge_size", 1))
    return [Seen((w * patch, h * patch), t * h * w // merge**2, patch * merge) for t, h, w in grid.tolist()]


def _tiles(processor: Any, rows: Sequence[Sequence[Size]]) -> list[Seen]:
    """Idefics3 and SmolVLM: the picture is laid out in tiles, and a small view of the whole is added."""
    images = processor.image_processor
    edge = (getattr(images, "max_image_size", None) or {}).get("longest_edge")
    count = getattr(images, "get_number_of_image_patches", None)
    per_tile = getattr(processor, "image_seq_len", None)
    if not edge or not per_tile or count is None:
        return []
    found = []
    for width, height in (size for sizes in rows for size in sizes):
        counted = count(height, width)
        if not isinstance(counted, tuple):
            return []
        tiles, down, across = counted
        if not getattr(images, "do_image_splitting", True):
            tiles, down, across = 1, 1, 1
        found.append(Seen((max(across, 1) * edge, max(down, 1) * edge), tiles * per_tile))
    return found


def _plain(inputs: Mapping[str, Any], rows: Sequence[Sequence[Size]]) -> list[Seen]:
    """One tensor a picture (LLaVA, Gemma 3), or pictures of their own sizes padded to the largest (Pixtral)."""
    pixels, count = inputs.get("pixel_values"), sum(len(sizes) for sizes in rows)
    if pixels is None or getattr(pixels, "ndim", 0) != 4 or len(pixels) != count:
        return []
    height, width = pixels.shape[-2:]
    sizes = inputs.get("image_sizes")
    if sizes is not None and len(sizes) == count:
        listed = [(int(w), int(h)) for h, w in sizes]
        return [Seen(size if size[0] <= width and size[1] <= height else None, None) for size in listed]
    return [Seen((int(width), int(height)), None)] * count


def is_shrunk(original: Size, seen: Seen) -> bool:
    """Whether a side lost more pixels than rounding to whole patches explains. `seen.size` must be known."""
    assert seen.size is not None
    return any(after < before - seen.rounding / 2 for before, after in zip(original, seen.size, strict=True))


def cap_pixels(image_processor: Any, max_pixels: int, name: str) -> None:
    """Sets the processor's own size option so that no picture is processed at more than `max_pixels` pixels.

    Raises `UsageError` where the processor has no such option or the cap is below what it can do.
    """
    if max_pixels < 1:
        raise UsageError(f"--max-pixels {max_pixels}: must be positive")
    size = {key: value for key, value in dict(getattr(image_processor, "size", None) or {}).items() if value}
    if {"shortest_edge", "longest_edge"} <= size.keys() and hasattr(image_processor, "merge_size"):
        # Here the two "edges" are areas: the smallest and the largest number of pixels.
        block = (image_processor.patch_size * image_processor.merge_size) ** 2
        if max_pixels < block:
            raise UsageError(f"--max-pixels {max_pixels}: {name} needs at least {block}, one token's worth")
        image_processor.size = {"shortest_edge": min(size["shortest_edge"], max_pixels), "longest_edge": max_pixels}
    elif size.keys() == {"longest_edge"}:
        # A cap on the area becomes a cap on the longer side, in whole tiles where there are tiles.
        tile = (getattr(image_processor, "max_image_size", None) or {}).get("longest_edge", 1)
        edge = math.isqrt(max_pixels) // tile * tile
        if not edge:
            raise UsageError(f"--max-pixels {max_pixels}: {name} needs at least {tile**2}, one tile's worth")
        image_processor.size = {"longest_edge": min(edge, size["longest_edge"])}
    else:
        raise UsageError(
            f"--max-pixels: {type(image_processor).__name__} of {name} has no option for it (size {size}); leave it out"
        )
