"""The exhaustive synthetic set: mobile screens with zero to six issues, each made by us and therefore known.

A person who annotates screens leaves things unlabelled, so that a precise model is punished for what it sees. Here
nothing is unlabelled: outside the boxes of a row no pixel differs, which `recheck` proves from the pictures alone.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from tqdm import tqdm

from ...errors import UsageError
from ...folders import can_be_made, new_folder
from ...images import pixel_digest
from ..browser import Browser
from .changes import FAMILIES, Change, candidates
from .controls import KINDS, control
from .screens import SCALE, SIZE, Screen, load_screens
from .stage import GAP, HEIGHT, MIN_FIT, MIN_LEVELS, MIN_PIXELS, PAD, WIDTH, Edges, Pixels, Shown, Stage, to_edges

BUCKETS = {"no-tagged": (0, 0), "single": (1, 1), "multi": (2, 3), "dense": (4, 6)}
"""Fewest and most issues of a row in each bucket. The cut between multi and dense is our choice."""
TRIES = 6
"""Sets of changes that are tried for one row before it is given up (our choice)."""
SCREEN_SECONDS = 600.0


@dataclass
class _Plan:
    """One row to be made."""

    id: str
    bucket: str
    screen: Screen
    number: int
    rng: random.Random


def build(
    out: str | Path,
    *,
    per_bucket: int = 10,
    seed: int = 1,
    screens: Sequence[str] | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """Writes ``test.jsonl``, ``images/`` and ``build.json`` into the new or empty folder `out`; returns the report.

    `per_bucket` rows in each of the four buckets, over the screens named in `screens` (default: all). One seed gives
    the same rows, byte for byte, within one browser build. Boxes are xywh_norm, fractions of the screen, `box_a` on the
    reference and `box_b` on the implementation. What is missing has the place where it was as its `box_b`. A row
    that cannot be filled is left out and named under ``short`` in the report.
    """
    folder = Path(out)
    if per_bucket < 1:
        raise UsageError(f"per_bucket {per_bucket}: at least one row a bucket is needed")
    can_be_made(folder)
    plans = _plans(per_bucket, seed, load_screens(screens))
    with new_folder(folder) as place:
        maker = _Maker(place, seed)
        with Browser(viewport=SIZE, scale=SCALE) as browser, tqdm(total=len(plans), disable=not progress) as bar:
            for screen in dict.fromkeys(plan.screen for plan in plans):
                maker.make(browser, screen, [plan for plan in plans if plan.screen == screen], bar)
            report = maker.finish([plan.id for plan in plans], browser.describe(), per_bucket)
    return report


def _plans(per_bucket: int, seed: int, screens: Sequence[Screen]) -> list[_Plan]:
    rng = random.Random(seed)
    plans: list[_Plan] = []
    deck: list[Screen] = []
    for number in range(per_bucket):
        for bucket in BUCKETS:  # interleaved, so that the first rows of the set are of all buckets
            if not deck:
                deck = rng.sample(list(screens), len(screens))
            screen = deck.pop()
            identifier = f"{screen.name}-{bucket}-{number:02d}"
            plans.append(_Plan(identifier, bucket, screen, number, random.Random(f"{seed}/{identifier}")))
    return plans


class _Maker:
    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        (folder / "images").mkdir(parents=True)
        self.rows: dict[str, dict[str, Any]] = {}
        self.families: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter()
        self.tried = 0
        self.short: list[str] = []

    def make(self, browser: Browser, screen: Screen, plans: Sequence[_Plan], bar: Any) -> None:
        """Makes the rows of one screen."""
        made: list[tuple[_Plan, Sequence[Shown], Pixels, dict[str, Any] | None]] = []
        with browser.page(seconds=SCREEN_SECONDS) as page:
            stage = Stage(browser, page, screen)
            used: Counter[int] = Counter()
            seen: set[frozenset[Change]] = set()
            for plan in plans:
                if plan.bucket == "no-tagged":
                    continue
                filled = self._fill(stage, plan, used, seen)
                if filled is None:
                    self.short.append(plan.id)
                else:
                    made.append((plan, *filled, None))
                bar.update()
            reference = stage.reference
            self.rejected += stage.rejected
            self.tried += stage.tried
        for plan in plans:
            if plan.bucket == "no-tagged":
                picture, declared = control(KINDS[plan.number % len(KINDS)], screen, browser, reference)
                made.append((plan, (), picture, declared))
                bar.update()
        image_a = self._store(reference)
        for plan, chosen, picture, declared in made:
            self.rows[plan.id] = self._row(plan, chosen, image_a, self._store(picture), declared)

    def _fill(
        self, stage: Stage, plan: _Plan, used: Counter[int], seen: set[frozenset[Change]]
    ) -> tuple[list[Shown], Pixels] | None:
        fewest, most = BUCKETS[plan.bucket]
        for _ in range(TRIES):
            chosen = self._choose(stage, plan.rng.randint(fewest, most), plan.rng, used)
            signature = frozenset(shown.change for shown in chosen)
            if len(chosen) < fewest or signature in seen:
                continue
            picture = stage.show(chosen)
            if picture is None:
                continue
            seen.add(signature)
            for shown in chosen:
                used[shown.change.part] += 1
                self.families[shown.change.family] += 1
            return sorted(chosen, key=lambda shown: (shown.edges_a[1], shown.edges_a[0])), picture
        return None

    def _choose(self, stage: Stage, count: int, rng: random.Random, used: Counter[int]) -> list[Shown]:
        """Up to `count` verified changes: rarest family first, unused parts first, no operator twice, none touching."""
        chosen: list[Shown] = []
        pool = candidates(stage.parts, rng)
        while pool and len(chosen) < count:
            taken = {shown.change.family for shown in chosen}
            change = min(pool, key=lambda c: (c.family in taken, self.families[c.family], used[c.part]))
            pool.remove(change)
            if any(change.operator == shown.change.operator for shown in chosen):
                continue
            edges = to_edges(stage.parts[change.part]["extent"])
            if any(_overlap(edges, shown.edges_a) or _overlap(edges, shown.edges_b) for shown in chosen):
                continue
            shown = stage.try_change(change)
            if shown is not None and not any(shown.meets(other) for other in chosen):
                chosen.append(shown)
        return chosen

    def _store(self, pixels: Pixels) -> str:
        """Path below the folder of a lossless WebP named by the digest of its pixels."""
        image = Image.fromarray(pixels)
        name = f"images/{pixel_digest(image)[:20]}.webp"
        if not (self.folder / name).exists():
            image.save(self.folder / name, format="WEBP", lossless=True, quality=90, method=5)
        return name

    def _row(
        self, plan: _Plan, chosen: Sequence[Shown], image_a: str, image_b: str, declared: dict[str, Any] | None
    ) -> dict[str, Any]:
        meta = {
            "screen": plan.screen.name,
            "shows": plan.screen.shows,
            "source": plan.screen.source,
            "licence": plan.screen.licence,
            "credits": list(plan.screen.credits),
            "exhaustive": True,
            "harmless": declared,
            "seed": self.seed,
            "changes": [
                {
                    "operator": shown.change.operator,
                    "family": shown.change.family,
                    "element": shown.change.element,
                    "change": shown.change.change,
                    "changed_pixels": shown.changed_pixels,
                }
                for shown in chosen
            ],
        }
        issues = [
            {
                "labels": list(shown.change.labels),
                "note": shown.change.note,
                "box_a": to_box(shown.edges_a),
                "box_b": to_box(shown.edges_b),
            }
            for shown in chosen
        ]
        return {
            "id": plan.id,
            "image_a": image_a,
            "image_b": image_b,
            "bucket": plan.bucket,
            "issues": issues,
            "meta": json.dumps(meta, ensure_ascii=False),
        }

    def finish(self, order: Sequence[str], browser: dict[str, Any], per_bucket: int) -> dict[str, Any]:
        """Writes the rows in `order` and the report; returns the report."""
        rows = [self.rows[identifier] for identifier in order if identifier in self.rows]
        with open(self.folder / "test.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        metas = [json.loads(row["meta"]) for row in rows]
        changes = [change for meta in metas for change in meta["changes"]]
        images = sorted((self.folder / "images").iterdir())
        report = {
            "set": "synthetic mobile screens, exhaustive truth",
            "seed": self.seed,
            "per_bucket": per_bucket,
            "rows": len(rows),
            "buckets": _counts(row["bucket"] for row in rows),
            "issues": len(changes),
            "families": {family: self.families[family] for family in FAMILIES},
            "operators": _counts(change["operator"] for change in changes),
            "labels": _counts(label for row in rows for issue in row["issues"] for label in issue["labels"]),
            "screens": _counts(meta["screen"] for meta in metas),
            "sources": _counts(meta["source"] for meta in metas),
            "controls": _counts(
                (meta["harmless"] or {"kind": "identical"})["kind"]
                for row, meta in zip(rows, metas, strict=True)
                if row["bucket"] == "no-tagged"
            ),
            "changes_tried": self.tried,
            "changes_rejected": dict(sorted(self.rejected.items())),
            "short": self.short,
            "images": len(images),
            "image_bytes": sum(path.stat().st_size for path in images),
            "chosen_by_us": {
                "buckets": BUCKETS,
                "pad_css_px": PAD,
                "gap_device_px": GAP,
                "visible": f"at least {MIN_PIXELS} device pixels by at least {MIN_LEVELS} levels",
                "fits_its_box": f"IoU of at least {MIN_FIT} with the smallest box around the changed pixels",
            },
            "browser": browser,
        }
        text = json.dumps(report, indent=2, ensure_ascii=False)
        (self.folder / "build.json").write_text(text + "\n", encoding="utf-8")
        return report


def to_box(edges: Edges) -> dict[str, float]:
    """The xywh_norm box of device-pixel edges.

    >>> to_box((78, 0, 156, 422))
    {'x': 0.1, 'y': 0.0, 'w': 0.1, 'h': 0.25}
    """
    left, top, right, bottom = edges
    return {"x": left / WIDTH, "y": top / HEIGHT, "w": (right - left) / WIDTH, "h": (bottom - top) / HEIGHT}


def _counts(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _overlap(a: Edges, b: Edges) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
