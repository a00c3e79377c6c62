"""An editor that asks FLUX.2 Klein to repaint the region (diffusers, ``Flux2KleinInpaintPipeline``).

The region is shown in a square window of its surroundings, enlarged to the size that the model works at; only the
region's pixels are taken back, with a soft rim inside it. Which part of a picture the paper's authors showed, and with
how many steps, is not known: window, size, steps and guidance are our parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from ....errors import UsageError, need
from ..instructions import Instruction, Target
from ..patches import RGB
from ..regions import Box

PIPELINE = "Flux2KleinInpaintPipeline"


class Flux:
    """A pipeline out of a Hub id or a folder, loaded when the first edit is asked for.

    `size` is the side of the square that the model sees (pixels, a multiple of 32), `window` how many times the
    region's longer side it covers, `rim` the width of the soft border in pixels. `options` go to the pipeline's call as
    they are.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        revision: str | None = None,
        steps: int = 4,
        guidance: float = 1.0,
        strength: float = 1.0,
        size: int = 1024,
        window: float = 2.0,
        rim: int = 6,
        dtype: str = "auto",
        device: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if size < 32 or size % 32 or steps < 1 or window < 1:
            raise UsageError(
                f"flux: size must be a multiple of 32, steps at least 1 and window at least 1; "
                f"found size {size}, steps {steps}, window {window}"
            )
        self.model, self.revision, self.dtype, self.device = str(model), revision, dtype, device
        self.steps, self.guidance, self.strength = steps, guidance, strength
        self.size, self.window, self.rim, self.options = size, window, rim, dict(options or {})
        self._pipeline: Any = None

    def describe(self) -> dict[str, Any]:
        names = ("model", "revision", "steps", "guidance", "strength", "size", "window", "rim")
        return {"name": "flux"} | {name: getattr(self, name) for name in names}

    def load(self) -> Any:
        """The pipeline. Raises `UsageError` when it cannot be loaded."""
        if self._pipeline is not None:
            return self._pipeline
        diffusers, torch = need("diffusers", "edit"), need("torch", "edit")
        pipeline = getattr(diffusers, PIPELINE, None)
        if pipeline is None:
            raise UsageError(f"diffusers {diffusers.__version__} has no {PIPELINE}; install a newer one")
        device = self.device or ("cuda" if torch.cuda.is_available() else "cpu")
        wanted = ("bfloat16" if device.startswith("cuda") else "float32") if self.dtype == "auto" else self.dtype
        try:
            made = pipeline.from_pretrained(self.model, revision=self.revision, dtype=getattr(torch, wanted))
        except Exception as error:  # the loader raises many kinds; all mean the same to the caller
            first = next(iter(str(error).splitlines()), type(error).__name__)
            raise UsageError(f"{self.model}: no {PIPELINE} could be loaded ({first})") from error
        made.set_progress_bar_config(disable=True)
        self._pipeline = made.to(device)
        return self._pipeline

    def edit(self, picture: RGB, target: Target, region: Box, instruction: Instruction, seed: int) -> RGB:
        import torch

        pipeline = self.load()
        seen = self.seen(picture, region)
        size = (self.size, self.size)
        shown = Image.fromarray(picture[seen.slices]).resize(size, Image.Resampling.LANCZOS)
        inside = np.zeros((seen.h, seen.w), np.uint8)
        inside[region.y - seen.y : region.y - seen.y + region.h, region.x - seen.x : region.x - seen.x + region.w] = 255
        mask = Image.fromarray(inside).resize(size, Image.Resampling.NEAREST)
        made = pipeline(
            prompt=instruction.text,
            image=shown,
            mask_image=mask,
            width=self.size,
            height=self.size,
            strength=self.strength,
            num_inference_steps=self.steps,
            guidance_scale=self.guidance,
            generator=torch.Generator("cpu").manual_seed(seed),
            **self.options,
        ).images[0]
        back = np.asarray(made.convert("RGB").resize((seen.w, seen.h), Image.Resampling.LANCZOS), np.float32)
        weights = _rim(seen, region, self.rim, picture.shape)[:, :, None]
        edited = picture.copy()
        mixed = picture[seen.slices].astype(np.float32) * (1 - weights) + back * weights
        edited[seen.slices] = np.clip(np.round(mixed), 0, 255).astype(np.uint8)
        return edited

    def seen(self, picture: RGB, region: Box) -> Box:
        """The square window that the model is shown; smaller only where the picture is."""
        height, width = picture.shape[:2]
        side = min(max(round(self.window * max(region.w, region.h)), 64), width, height)
        if side < max(region.w, region.h):
            raise UsageError(f"the region {list(region)} does not fit into a square inside the picture")
        x = min(max(0, round(region.center[0] - side / 2)), width - side)
        y = min(max(0, round(region.center[1] - side / 2)), height - side)
        return Box(x, y, side, side)


def _rim(seen: Box, region: Box, rim: int, shape: tuple[int, ...]) -> Any:
    """Weights over `seen`: 1 in the region, falling to 0 at its border over `rim` pixels, 0 outside.

    Where the region ends at the picture's own border there is nothing to blend into, so it stays 1 there.
    """
    y, x = np.mgrid[seen.y : seen.y + seen.h, seen.x : seen.x + seen.w]
    far = np.full(y.shape, np.inf)
    if region.x > 0:
        far = np.minimum(far, x - region.x + 1)
    if region.y > 0:
        far = np.minimum(far, y - region.y + 1)
    if region.x + region.w < shape[1]:
        far = np.minimum(far, region.x + region.w - x)
    if region.y + region.h < shape[0]:
        far = np.minimum(far, region.y + region.h - y)
    inside = (x >= region.x) & (x < region.x + region.w) & (y >= region.y) & (y < region.y + region.h)
    return np.where(inside, np.clip(far / (rim + 1), 0, 1), 0).astype(np.float32)
