"""Measures the matching of issues against pycocotools and faster-coco-eval, and the share of scoring in the metric.

    python benches/matching.py            prints the table of benches/matching.md

Needs ``pip install pycocotools faster-coco-eval`` beside the package. Both evaluators are set to one IoU threshold, one
area range and one number of detections. Of pycocotools the loop over ``evaluateImg`` is timed alone, IoUs computed
before and not counted, and ``evaluate()`` as a whole; of faster-coco-eval ``evaluate()``. Ours is timed with all it
does: tags, IoUs on both sides, maximum matching. All run in one process, interleaved; the least CPU time counts.
"""

from __future__ import annotations

import contextlib
import io
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_EVALUATE_OFFLINE", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy

from diffspot_hf.scoring.issue_rows import normal_row
from diffspot_hf.scoring.issue_scores import score_issues
from diffspot_hf.scoring.matching import match_issues
from diffspot_hf.scoring.tags import TAGS

SCREENS, CONTROLS, HUMAN, PREDICTED = (
    311,
    77,
    557,
    1340,
)  # the published sizes; 1,340 reports are the second most verbose
ROUNDS = 25
Row = list[dict[str, Any]]


def made_screens(seed: int = 1) -> tuple[list[Row], list[Row]]:
    """Predicted and human issues of the published size: half of the reports lie near a known issue, half anywhere."""
    draw = random.Random(seed)

    def box() -> dict[str, float]:
        w, h = draw.uniform(0.05, 0.5), draw.uniform(0.02, 0.2)
        return {"x": draw.uniform(0, 1 - w), "y": draw.uniform(0, 1 - h), "w": w, "h": h}

    def moved(base: dict[str, float]) -> dict[str, float]:
        return {side: max(0.0, value + draw.gauss(0, 0.03)) for side, value in base.items()}

    human: list[Row] = [[] for _ in range(SCREENS)]
    marked = range(SCREENS - CONTROLS)
    for number in range(HUMAN):
        at = number if number < len(marked) else draw.choice(marked)
        known = box()
        human[at].append({"labels": [draw.choice(TAGS[:6])], "box_a": known, "box_b": moved(known)})
    predicted: list[Row] = [[] for _ in range(SCREENS)]
    for number in range(PREDICTED):
        at = number if number < SCREENS else draw.randrange(SCREENS)
        if human[at] and draw.random() < 0.5:
            near = draw.choice(human[at])
            labels = near["labels"] if draw.random() < 0.7 else [draw.choice(TAGS[:6])]
            found = moved(near["box_a"])
        else:
            labels, found = [draw.choice(TAGS[:6])], box()
        predicted[at].append({"labels": labels, "box_a": found, "box_b": found})
    return predicted, human


def coco(predicted: list[Row], human: list[Row], module: str) -> Any:
    """The same issues, side A, in the evaluator of `module`, IoUs computed and settings reduced to ours."""
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        if module == "pycocotools":
            from pycocotools.coco import COCO
            from pycocotools.cocoeval import COCOeval

            names = {"data": COCO, "evaluator": COCOeval}
        else:
            from faster_coco_eval import COCO as FastCOCO
            from faster_coco_eval import COCOeval_faster

            names = {"data": FastCOCO, "evaluator": COCOeval_faster}
        truth = names["data"]()
        boxes = [(image, issue) for image, row in enumerate(human) for issue in row]
        truth.dataset = {
            "info": {},
            "images": [{"id": image, "width": 1000, "height": 1000} for image in range(len(human))],
            "categories": [{"id": number, "name": tag} for number, tag in enumerate(TAGS)],
            "annotations": [
                _annotation(image, issue) | {"id": number + 1, "iscrowd": 0}
                for number, (image, issue) in enumerate(boxes)
            ],
        }
        truth.createIndex()
        found = [_annotation(i, issue) | {"score": 0.5} for i, row in enumerate(predicted) for issue in row]
        evaluator = names["evaluator"](truth, truth.loadRes(found), "bbox")
        params = evaluator.params
        params.iouThrs, params.maxDets = numpy.array([0.1]), [100]
        params.areaRng, params.areaRngLbl = [[0, 1e10]], ["all"]
        evaluator.evaluate()
    return evaluator


def _annotation(image: int, issue: dict[str, Any]) -> dict[str, Any]:
    box = [1000 * issue["box_a"][side] for side in "xywh"]
    category = TAGS.index(issue["labels"][0])
    return {"image_id": image, "category_id": category, "bbox": box, "area": box[2] * box[3]}


def evaluate_images(evaluator: Any) -> int:
    """pycocotools' loop over `evaluateImg`; the number of detections it matched."""
    params = evaluator.params
    results = [
        evaluator.evaluateImg(image, category, area, params.maxDets[-1])
        for category in params.catIds
        for area in params.areaRng
        for image in params.imgIds
    ]
    return sum(int((result["dtMatches"] > 0).sum()) for result in results if result)


def least(rounds: int, **works: Callable[[], Any]) -> dict[str, float]:
    """Least CPU seconds of each work over `rounds` interleaved rounds."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            start = time.process_time()
            with contextlib.redirect_stdout(io.StringIO()):
                work()
            best[name] = min(best[name], time.process_time() - start)
    return best


def metric_times() -> dict[str, float]:
    """`compute` on 4,400 nested rows, with our figures and with an empty `_compute`."""
    import evaluate

    metric = evaluate.load(str(Path(__file__).parent.parent / "metrics/known_issue_recall"))

    class Empty(type(metric)):  # type: ignore[misc]
        def _compute(self, **_: Any) -> dict[str, Any]:
            return {}

    predicted, human = made_screens()
    rows = [index % SCREENS for index in range(4400)]
    given = {"predictions": [predicted[i] for i in rows], "references": [human[i] for i in rows]}
    with tempfile.TemporaryDirectory() as folder:
        full, empty = type(metric)(cache_dir=folder), Empty(cache_dir=folder)
        return least(7, full=lambda: full.compute(**given), empty=lambda: empty.compute(**given))


def main() -> None:
    predicted, human = made_screens()
    classic, fast = coco(predicted, human, "pycocotools"), coco(predicted, human, "faster_coco_eval")

    def ours(method: str) -> int:
        return sum(len(match_issues(p, h, method=method)) for p, h in zip(predicted, human, strict=True))

    times = least(
        ROUNDS,
        maximum=lambda: ours("maximum"),
        greedy=lambda: ours("greedy"),
        evaluate_img=lambda: evaluate_images(classic),
        evaluate=classic.evaluate,
        faster=fast.evaluate,
        all_figures=lambda: score_issues(predicted, human),
        normalise=lambda: [normal_row(row) for row in predicted + human],
    )
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores; least of {ROUNDS} rounds")
    print(
        f"{SCREENS} screens, {HUMAN} known and {PREDICTED} reported issues; matched: "
        f"maximum {ours('maximum')}, greedy {ours('greedy')}, pycocotools (side A) {evaluate_images(classic)}\n"
    )
    print("| what | ms | against ours |\n| --- | --: | --: |")
    for name, label in {
        "maximum": "**ours, maximum**: tags, IoUs on both sides, matching",
        "greedy": "ours, greedy",
        "evaluate_img": "pycocotools, `evaluateImg` only, IoUs computed before",
        "evaluate": "pycocotools, `evaluate()`",
        "faster": "faster-coco-eval, `evaluate()`",
        "all_figures": "ours, `score_issues`: every figure",
        "normalise": "ours, bringing all rows to one form",
    }.items():
        print(f"| {label} | {1000 * times[name]:.2f} | {times[name] / times['maximum']:.1f} × |")
    compute = metric_times()
    print(
        f"\n`compute` on 4,400 nested rows: {compute['full']:.3f} s; with an empty `_compute` "
        f"{compute['empty']:.3f} s; {compute['full'] / compute['empty']:.2f} ×"
    )
    draws = least(3, bootstrap=lambda: _bootstrap(predicted, human))
    print(f"10,000 bootstrap draws over 311 screens: {draws['bootstrap']:.2f} s")


def _bootstrap(predicted: list[Row], human: list[Row]) -> Any:
    from diffspot_hf.scoring.stats import cluster_bootstrap

    return cluster_bootstrap([(len(match_issues(p, h)), len(h)) for p, h in zip(predicted, human, strict=True)])


if __name__ == "__main__":
    main()
