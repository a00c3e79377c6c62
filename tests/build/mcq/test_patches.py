"""Edited pictures are bases with patches; what is written is lossless and the same everywhere."""

from __future__ import annotations

import hashlib
import io

import numpy as np
import pytest
from PIL import Image

from diffspot_hf.build.mcq.patches import changed_box, cut, lay, pixels, png_bytes, settle
from diffspot_hf.errors import UsageError


def picture(width: int = 90, height: int = 70, seed: int = 0) -> np.ndarray:
    y, x = np.mgrid[0:height, 0:width]
    smooth = np.stack([2 * x, 3 * y, x + y], axis=2)
    return ((smooth + np.random.default_rng(seed).integers(0, 9, smooth.shape)) % 256).astype(np.uint8)


def jpeg(array: np.ndarray, quality: int = 85) -> bytes:
    out = io.BytesIO()
    Image.fromarray(array).save(out, "JPEG", quality=quality)
    return out.getvalue()


@pytest.mark.parametrize("size", [(1, 1), (3, 200), (401, 97)], ids=["one pixel", "narrow", "more than one block"])
def test_png_is_lossless_and_plain_rgb(size):
    array = picture(*size)
    data = png_bytes(array)
    with Image.open(io.BytesIO(data)) as opened:
        assert (opened.format, opened.mode) == ("PNG", "RGB")
        assert np.array_equal(np.asarray(opened), array)


def test_png_bytes_are_the_same_on_every_machine():
    # Written down once; zlib 1.2 and zlib-ng 2 both give it. If it changes, fingerprints of stored runs change with it.
    assert hashlib.sha256(png_bytes(picture(300, 200))).hexdigest()[:16] == "aee06e368e1ceefb"


def test_a_patch_changes_its_own_place_only():
    base, patch = picture(), picture(20, 10, seed=1)
    laid = lay(base, [(5, 7, patch)])
    assert np.array_equal(laid[7:17, 5:25], patch)
    outside = np.ones(base.shape[:2], bool)
    outside[7:17, 5:25] = False
    assert np.array_equal(laid[outside], base[outside])


@pytest.mark.parametrize(("x", "y"), [(-1, 0), (80, 0), (0, 65)], ids=["left of it", "right of it", "below it"])
def test_a_patch_outside_its_base_is_refused(x, y):
    with pytest.raises(UsageError, match="reaches outside its base of 90 x 70"):
        lay(picture(), [(x, y, picture(20, 10))])


def test_a_cut_is_lossless():
    base = picture()
    assert np.array_equal(pixels(cut(base, (5, 7, 20, 10))), base[7:17, 5:25])


def test_the_changed_box_is_tight():
    base, edited = picture(), picture()
    edited[12, 30] += 1
    edited[20, 41] += 1
    assert changed_box(base, edited) == (30, 12, 12, 9)
    assert changed_box(base, base) is None


def test_an_edit_gets_the_grain_of_its_base_and_nothing_else_moves():
    before = picture(160, 128)
    stored = jpeg(before)
    base = pixels(stored)
    after = base.copy()
    after[40:60, 50:80] = (200, 30, 30)
    settled = settle(base, base, after, stored, (slice(32, 64), slice(48, 96)))
    outside = np.ones(base.shape[:2], bool)
    outside[32:64, 48:96] = False
    assert np.array_equal(settled[outside], base[outside])
    assert not np.array_equal(settled, after)  # the flat patch went through the same compression
    assert np.abs(settled[44:56, 54:76].astype(int) - (200, 30, 30)).mean() < 12


def test_a_lossless_base_takes_the_edit_as_it_is():
    base = picture()
    after = base.copy()
    after[10:20, 10:20] = 0
    assert np.array_equal(settle(base, base, after, png_bytes(base), (slice(0, 70), slice(0, 90))), after)
