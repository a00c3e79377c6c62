"""An editor that follows rules: recolour, texture, remove, move, scale, add, swap, and traces of an event.

It reads `Instruction.operation`: a mapping with ``op`` and the parameters of that operation. No weights, no network;
the same seed gives the same pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import UsageError
from ..instructions import Instruction, Target
from ..patches import RGB
from ..regions import Box, read_box
from . import traces
from .masks import Mask, clone, cv2, grown, soft, target_mask, without
from .parameters import check_parameters


@dataclass(frozen=True)
class Job:
    """One edit at work: `crop` are the region's pixels, `mask` the target's, `draw` the source of chance."""

    picture: RGB
    region: Box
    box: Box
    crop: RGB
    mask: Mask
    draw: np.random.Generator
    parameters: Mapping[str, Any]

    def number(self, name: str, default: float) -> float:
        return float(self.parameters.get(name, default))


class Procedural:
    """See the module. `describe` names the operations."""

    def describe(self) -> dict[str, Any]:
        return {"name": "procedural", "operations": sorted(OPERATIONS)}

    def edit(self, picture: RGB, target: Target, region: Box, instruction: Instruction, seed: int) -> RGB:
        operation = dict(instruction.operation)
        name = operation.pop("op", None)
        apply = OPERATIONS.get(str(name))
        if apply is None:
            raise UsageError(f"unknown operation {name!r}; there are {', '.join(sorted(OPERATIONS))}")
        size = (picture.shape[1], picture.shape[0])
        check_parameters(operation, size, colour_top=1 if name == "trace" else 255)
        box = read_box(operation.pop("box", target.box), size, "box")
        mask = target_mask(picture, region, box, operation.pop("outline", None))
        crop = picture[region.slices].copy()
        job = Job(picture, region, box, crop, mask, np.random.default_rng(seed), operation)
        edited = picture.copy()
        edited[region.slices] = apply(job)
        return edited


def _recolour(job: Job) -> RGB:
    """Gives the target the colour `rgb`: its light and shade stay, hue and saturation are the colour's, by `strength`;
    `lightness` is added (in units of Lab, 0 to 255)."""
    rgb = job.parameters.get("rgb")
    if rgb is None:
        raise UsageError("recolour needs rgb: three numbers from 0 to 255")
    lab = cv2().cvtColor(job.crop, cv2().COLOR_RGB2LAB).astype(np.float32)
    wanted = cv2().cvtColor(np.uint8([[list(rgb)]]), cv2().COLOR_RGB2LAB)[0, 0].astype(np.float32)
    strength = job.number("strength", 1.0)
    light = np.clip(lab[:, :, :1] + job.number("lightness", 0), 0, 255)
    shade = np.clip(light / 160, 0.15, 1.15)  # dark places carry less colour, as on real surfaces
    hue = lab[:, :, 1:] * (1 - strength) + (128 + (wanted[1:] - 128) * shade) * strength
    tinted = cv2().cvtColor(np.clip(np.concatenate([light, hue], 2), 0, 255).astype(np.uint8), cv2().COLOR_LAB2RGB)
    return _blend(job.crop, tinted, soft(job.mask, 1.0))


def _texture(job: Job) -> RGB:
    """Lays a pattern (stripes, dots or checks) of `period` pixels and colour `rgb` on the target, shaded as it is."""
    period, angle = job.number("period", 8), np.deg2rad(job.number("angle", 0))
    y, x = np.mgrid[0 : job.region.h, 0 : job.region.w].astype(np.float32)
    along, across = x * np.cos(angle) + y * np.sin(angle), -x * np.sin(angle) + y * np.cos(angle)
    kind = job.parameters.get("pattern", "stripes")
    if kind == "stripes":
        on = (along / period) % 1 < 0.5
    elif kind == "checks":
        on = ((along / period) % 1 < 0.5) ^ ((across / period) % 1 < 0.5)
    elif kind == "dots":
        on = ((along / period) % 1 - 0.5) ** 2 + ((across / period) % 1 - 0.5) ** 2 < 0.09
    else:
        raise UsageError(f"unknown pattern {kind!r}; there are stripes, dots, checks")
    light = cv2().cvtColor(job.crop, cv2().COLOR_RGB2GRAY).astype(np.float32)[:, :, None] / 255
    ink = np.clip(np.float32(job.parameters.get("rgb", (60, 60, 60))) * (0.35 + 0.8 * light), 0, 255)
    weights = soft(on.astype(np.uint8) * 255, 0.8) * soft(job.mask, 1.0)
    return _blend(job.crop, ink, weights * job.number("strength", 0.9))


def _remove(job: Job) -> RGB:
    """Takes the target (grown by `grow` pixels, so that its shadow goes too) away."""
    donor = job.parameters.get("donor")
    shift = tuple(int(value) for value in donor) if donor else None
    return without(job.picture, job.region, grown(job.mask, int(job.number("grow", 4))), donor=shift)  # type: ignore[arg-type]


def _move(job: Job) -> RGB:
    """Moves the target by `dx`, `dy` pixels; with `flip` it is mirrored, with `angle` turned, with `scale` resized."""
    still = not any(round(job.number(name, 0)) for name in ("dx", "dy")) and job.number("angle", 0) % 360 == 0
    if still and job.number("scale", 1) == 1 and not job.parameters.get("flip"):
        raise UsageError("move by nothing changes nothing; dx, dy, angle, scale or flip must be given")
    return _place(job, _remove(job), job.crop, grown(job.mask, int(job.number("rim", 1))))


def _scale(job: Job) -> RGB:
    """Makes the target `scale` times as large about its foot, the middle of its lower edge."""
    factor = job.number("scale", 1.5)
    if factor == 1:
        raise UsageError("a scale of 1 changes nothing")
    _, _, _, height = cv2().boundingRect(job.mask)
    lift = -(factor - 1) * height / 2
    moved = Job(**{**job.__dict__, "parameters": {"dy": lift, **job.parameters, "scale": factor}})
    onto = _remove(job) if factor < 1 else job.crop
    return _place(moved, onto, job.crop, grown(job.mask, int(job.number("rim", 1))))


def _add(job: Job) -> RGB:
    """Adds a thing beside the target: the target once more, or what is in `source` (a box of the picture, with
    `source_outline`), at `dx`, `dy` from the target's middle."""
    source, mask = _source(job)
    return _place(job, job.crop, source, mask)


def _swap(job: Job) -> RGB:
    """Puts what is in `source` in place of the target."""
    source, mask = _source(job)
    return _place(job, _remove(job), source, mask)


def _source(job: Job) -> tuple[RGB, Mask]:
    if "source" not in job.parameters:
        return job.crop, grown(job.mask, int(job.number("rim", 1)))
    height, width = job.picture.shape[:2]
    box = read_box(job.parameters["source"], (width, height), "source")
    if box.x < 4 or box.y < 4 or box.x + box.w > width - 4 or box.y + box.h > height - 4:
        raise UsageError(f"the source {list(box)} lies at or outside the border of the picture")
    around = Box(box.x - 4, box.y - 4, box.w + 8, box.h + 8)
    mask = target_mask(job.picture, around, box, job.parameters.get("source_outline"))
    return job.picture[around.slices].copy(), grown(mask, int(job.number("rim", 1)))


def _place(job: Job, onto: RGB, source: RGB, mask: Mask) -> RGB:
    """`onto` with the masked pixels of `source` on it, their middle at the target's middle plus (dx, dy)."""
    x, y, width, height = cv2().boundingRect(mask)
    if not width:
        raise UsageError("nothing is marked that could be placed")
    scale, angle = job.number("scale", 1.0), job.number("angle", 0.0)
    mx, my = cv2().boundingRect(job.mask)[:2]
    mw, mh = cv2().boundingRect(job.mask)[2:]
    goal = (mx + mw / 2 + job.number("dx", 0), my + mh / 2 + job.number("dy", 0))
    center = (x + width / 2, y + height / 2)
    turn = cv2().getRotationMatrix2D(center, -angle, scale)
    if job.parameters.get("flip"):
        turn = turn @ np.array([[-1, 0, 2 * center[0]], [0, 1, 0], [0, 0, 1]])
    turn[:, 2] += np.array(goal) - center
    size = (job.region.w, job.region.h)
    laid = cv2().warpAffine(source, turn, size, flags=cv2().INTER_AREA if scale < 1 else cv2().INTER_CUBIC)
    where = cv2().warpAffine(mask, turn, size, flags=cv2().INTER_LINEAR)
    before = float(mask.astype(np.float64).sum()) * scale * scale
    if float(where.astype(np.float64).sum()) < 0.97 * before:
        raise UsageError("the thing does not fit into the region at that place")
    if job.parameters.get("blend") == "seamless":
        return clone(laid, onto, np.where(grown(where, 2) > 0, 255, 0).astype(np.uint8))
    return _blend(onto, laid, soft(np.asarray(where), 0.9))


def _blend(below: RGB, above: NDArray[Any], weights: NDArray[np.float32]) -> RGB:
    mixed = below.astype(np.float32) * (1 - weights) + above.astype(np.float32) * weights
    return np.clip(np.round(mixed), 0, 255).astype(np.uint8)


def _trace(job: Job) -> RGB:
    """Leaves the trace `kind` (see `traces`) of an event in the target's box."""
    kind = str(job.parameters.get("kind"))
    if kind not in traces.TRACES:
        raise UsageError(f"unknown trace {kind!r}; there are {', '.join(sorted(traces.TRACES))}")
    inner = Box(job.box.x - job.region.x, job.box.y - job.region.y, job.box.w, job.box.h)
    return traces.TRACES[kind](job.crop, inner, job.draw, job.parameters)


OPERATIONS: dict[str, Callable[[Job], RGB]] = {
    "recolour": _recolour,
    "texture": _texture,
    "remove": _remove,
    "move": _move,
    "scale": _scale,
    "add": _add,
    "swap": _swap,
    "trace": _trace,
}
