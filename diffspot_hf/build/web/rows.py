"""Rows of the data set: the official 18 columns, then ours; pictures as content-addressed lossless files."""

from __future__ import annotations

import io
import json
import os
import uuid
from pathlib import Path
from typing import Any

from PIL import Image

from ...errors import UsageError
from ...images import pixel_digest
from . import describe, gate
from .corpus import CorpusPage
from .plan import NO_DIFF
from .scales import OPERATORS
from .takes import Take, canonical

USER_QUERY = "Compare the two screenshots of this web page. What is different in the second one, if anything?"
"""Our own neutral words; the runners send their own prompt, never this column."""

_NAMESPACE = uuid.UUID("6f2c8a54-3a0e-5c1b-9d4e-7b1f0c2d9e11")
MECHANISMS = {"class": "class_swap", "style": "inline_style", "text": "text_node"}


def has_diff_row(
    out: Path, page: CorpusPage, take: Take, viewport: tuple[int, int], common: dict[str, Any]
) -> dict[str, Any]:
    """The row of a kept pair; its pictures are in ``images/`` of `out` afterwards."""
    change = take.change
    record = describe.record(take.facts, change, viewport)
    before, after = save_picture(out, take.before), save_picture(out, take.after)
    x, y, w, h = take.box
    selector = take.facts["selector"]
    applied = change.script()
    return {
        "id": _id(page.page_id, change.operator, change.tier, selector, canonical(applied)),
        "image_before": before["path"],
        "image_after": after["path"],
        "user_query": USER_QUERY,
        "ground_truth_diff": describe.sentence(take.facts, change, take.effect, viewport),
        "mutations_text": [record["template"]],
        "mutation_types": [f"mutate_{change.operator}"],
        "mutation_dicts_json": [json.dumps(record, ensure_ascii=False)],
        "task_type": "visual_diff",
        "difficulty": change.tier,
        "domain": page.domain,
        "pixel_diff": take.difference.percent,
        "target_diff": take.difference.inside,
        "outside_diff": take.difference.outside,
        "target_bbox_x": x,
        "target_bbox_y": y,
        "target_bbox_w": w,
        "target_bbox_h": h,
        "page_id": page.page_id,
        "operator": change.operator,
        "family": OPERATORS[change.operator].family,
        "mechanism": MECHANISMS[change.mechanism],
        "selector": selector,
        "magnitude": change.magnitude,
        "meta": canonical(
            common
            | _page(page)
            | {
                "captures": {"before": before["sha256"], "after": after["sha256"]},
                "box_xywh_px": list(take.box),
                "own_box_xywh_px": list(take.own_box),
                "direction": change.balance,
                "change": applied,
            }
        ),
    }


def no_diff_row(out: Path, page: CorpusPage, first: bytes, second: bytes, common: dict[str, Any]) -> dict[str, Any]:
    """The row of two verified identical renders of `page`."""
    before, after = save_picture(out, first), save_picture(out, second)
    return {
        "id": _id(page.page_id, NO_DIFF),
        "image_before": before["path"],
        "image_after": after["path"],
        "user_query": USER_QUERY,
        "ground_truth_diff": "",
        "mutations_text": [],
        "mutation_types": [],
        "mutation_dicts_json": [],
        "task_type": "no_diff",
        "difficulty": "no_diff",
        "domain": page.domain,
        "pixel_diff": 0.0,
        "target_diff": 0,
        "outside_diff": 0,
        "target_bbox_x": -1,
        "target_bbox_y": -1,
        "target_bbox_w": -1,
        "target_bbox_h": -1,
        "page_id": page.page_id,
        "operator": "",
        "family": "",
        "mechanism": "",
        "selector": "",
        "magnitude": "",
        "meta": canonical(
            common | _page(page) | {"loads": 2, "captures": {"before": before["sha256"], "after": after["sha256"]}}
        ),
    }


def save_picture(out: Path, png: bytes) -> dict[str, str]:
    """Path below `out` and pixel digest of the picture, stored once as lossless WebP named by its pixels.

    Raises `UsageError` when it cannot be written.
    """
    image = Image.fromarray(gate.decode(png))
    digest = pixel_digest(image)
    path = Path("images") / f"{digest[:16]}.webp"
    target = out / path
    if not target.exists():
        packed = io.BytesIO()
        # Method 1: about half the size of a PNG in a tenth of a second; the slower methods gain a few percent.
        image.save(packed, format="WEBP", lossless=True, exact=True, method=1, quality=50)
        write_whole(target, packed.getvalue())
    return {"path": path.as_posix(), "sha256": digest}


def write_whole(target: Path, data: bytes) -> None:
    """Nothing: `target` holds all of `data` or is not there. Raises `UsageError` on a full disk or a closed folder."""
    part = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UsageError(
            f"{target}: cannot be written ({error.strerror}); make room and run the command again"
        ) from error


def _page(page: CorpusPage) -> dict[str, Any]:
    names = ("source", "version", "path", "licence", "language", "title")
    return {name: getattr(page, name) for name in names}


def _id(*parts: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, "\n".join(parts)))
