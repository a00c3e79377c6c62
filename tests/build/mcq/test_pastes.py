"""Nothing about its pixels gives a pasted cue away: it is measured against every other object of its picture.

All objects of a scene are laid in by the same code, but a cue is edited into a base that is compressed already, so it
could differ in noise, sharpness, contrast, or in what compression left. A finder that knows where all objects lie and
what they are called (more than any model is told) measures these, one by one and all at once. It does about as well as
chance, while a careless paste at the same places stands out at once.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFilter

from diffspot_hf.dataset_scripts.common import sample_folder

FOLDER = sample_folder("dicobench")
ROWS = [json.loads(line) for line in (FOLDER / "test.jsonl").read_text(encoding="utf-8").splitlines()]
ITEMS = [row for row in ROWS if row["track"] == "commonality"]
SCENES = json.loads((FOLDER / "scenes.json").read_text(encoding="utf-8"))
MEASURES = ("noise", "sharpness", "contrast", "compression", "block borders")
RELATIONS = {
    "combination": {"key", "padlock"},
    "supply": {"battery", "torch"},
    "nesting": {"egg", "nest"},
    "collaboration": {"spanner", "nut and bolt"},
}


def picture(row, side):
    with Image.open(FOLDER / row[f"image_{side}"]) as base:
        shown = base.convert("RGB")
    for patch in row.get(f"patches_{side}", []):
        with Image.open(FOLDER / patch["file"]) as part:
            shown.paste(part.convert("RGB"), (patch["x"], patch["y"]))
    return np.asarray(shown)


def objects(row, side):
    """All objects of one picture, and the places in that list of those that were edited in."""
    things, pasted = list(SCENES[Path(row[f"image_{side}"]).stem]), set()
    for thing in row["truth"].get("changed", ()) if row["truth"].get("side") == int(side) else ():
        things[thing["index"]] = thing
        pasted.add(thing["index"])
    return things, pasted


def maps(rgb):
    """What is measured, for each pixel, in the order of `MEASURES`."""
    grey = rgb.astype(np.float32).mean(axis=2)
    smooth = np.asarray(Image.fromarray(rgb).filter(ImageFilter.MedianFilter(3)), np.float32).mean(axis=2)
    out = io.BytesIO()
    Image.fromarray(rgb).save(out, "JPEG", quality=86, subsampling=2)
    again = np.asarray(Image.open(out).convert("RGB"), np.float32)
    borders = np.zeros_like(grey)  # steps between the blocks of 16 pixels that are compressed together
    borders[:, 16::16] = np.abs(np.diff(grey, axis=1))[:, 15::16]
    borders[16::16] = np.maximum(borders[16::16], np.abs(np.diff(grey, axis=0))[15::16])
    return (
        np.abs(grey - smooth),
        np.abs(4 * grey - sum(np.roll(grey, step, axis) for step in (1, -1) for axis in (0, 1))),
        np.hypot(*np.gradient(grey)),
        np.abs(rgb - again).mean(axis=2),
        borders,
    )


def measured(rgb, things):
    """The value of each object in each measure, shape (objects, measures): inside its box against the ring around."""
    values = np.zeros((len(things), len(MEASURES)))
    for column, plane in enumerate(maps(rgb)):
        for number, (x, y, w, h) in enumerate(thing["box"] for thing in things):
            inner = plane[y : y + h, x : x + w]
            outer = plane[max(0, y - 12) : y + h + 12, max(0, x - 12) : x + w + 12]
            ring = (outer.sum() - inner.sum()) / (outer.size - inner.size)
            values[number, column] = np.log((inner.mean() + 0.1) / (ring + 0.1))
    return (values - np.median(values, axis=0)) / values.std(axis=0)


def load(change=None):
    """Both pictures of each item as (objects, which were edited in, values); `change` is done to what was edited in."""
    made, known = {}, {}
    for row in ITEMS:
        for side in "12":
            key = (row[f"image_{side}"], json.dumps(row.get(f"patches_{side}")))
            if key not in known:
                rgb = picture(row, side).copy()
                things, pasted = objects(row, side)
                for x, y, w, h in (things[index]["box"] for index in pasted if change):
                    rgb[y : y + h, x : x + w] = change(Image.fromarray(rgb[y : y + h, x : x + w]))
                known[key] = (things, pasted, measured(rgb, things))
            made.setdefault(row["id"], []).append(known[key])
    return made


@pytest.fixture(scope="module")
def seen():
    return load()


def single(seen, column):
    """How far each object is from the middle one in one measure."""
    return {name: [np.abs(values[:, column]) for *_, values in both] for name, both in seen.items()}


def combined(seen):
    """A score of each object by all measures: for each task a linear classifier that was fitted to the other tasks."""
    task_of = {row["id"]: row["task"] for row in ITEMS}

    def features(values):
        return np.hstack([values, np.abs(values), np.ones((len(values), 1))])

    scores = {}
    for task in dict.fromkeys(task_of.values()):
        known = [side for name, both in seen.items() if task_of[name] != task for side in both if side[1]]
        x = np.concatenate([features(values) for *_, values in known])
        y = np.concatenate([np.isin(np.arange(len(things)), list(pasted)) for things, pasted, _ in known])
        weights = np.where(y, 1 / y.sum(), 1 / (~y).sum())  # both kinds count alike
        fitted = np.linalg.solve(x.T @ (weights[:, None] * x) + 0.01 * np.eye(x.shape[1]), x.T @ (weights * y))
        for name in (name for name in seen if task_of[name] == task):
            scores[name] = [features(values) @ fitted for *_, values in seen[name]]
    return scores


def auc(seen, scores):
    """How often what was edited in scores above another object of its picture: 0.5 is chance. The mean over items."""
    found = []
    for name, both in seen.items():
        for (_, pasted, _), score in zip(both, scores[name], strict=True):
            if pasted:
                marked = np.isin(np.arange(len(score)), list(pasted))
                found.append(np.mean(score[marked][:, None] > score[~marked][None]))
    assert len(found) == 16
    return float(np.mean(found))


def letter_of(row, kind):
    """The option that is about an object of this kind, E if none is."""
    for letter, claim in zip("ABCD", row["claims"], strict=False):
        meant = {claim.get("look", "").split("/")[0], claim.get("object"), *claim.get("pair", ())}
        if kind in meant | RELATIONS.get(claim.get("relation"), set()):
            return letter
    return "E"


def right(seen, scores):
    """How many of the 20 items are right if one answers with whatever stands out most in the two pictures."""
    hits = 0
    for row in ITEMS:
        both = zip(seen[row["id"]], scores[row["id"]], strict=True)
        found = [(value, thing["kind"]) for side, score in both for value, thing in zip(score, side[0], strict=True)]
        hits += letter_of(row, max(found)[1]) == row["answer"]
    return hits


@pytest.mark.parametrize("name", MEASURES)
def test_in_no_measure_does_the_cue_stand_out_of_the_other_objects(seen, name):
    scores = single(seen, MEASURES.index(name))
    assert 0.3 < auc(seen, scores) < 0.7
    assert right(seen, scores) <= 6  # 30 %; answering E throughout gives 4


def test_all_measures_at_once_find_it_no_better_than_they_find_objects_drawn_at_random(seen):
    """0.66 at present, which 4 of 100 draws reach: a weak trace at most. Careless pastes reach 0.98 and more."""
    scores, draw, others = combined(seen), np.random.default_rng(0), []
    for _ in range(300):
        drawn = {}
        for name, both in seen.items():
            drawn[name] = []
            for things, pasted, values in both:
                free = [index for index in range(len(things)) if index not in pasted]
                drawn[name].append((things, {int(i) for i in draw.choice(free, len(pasted), replace=False)}, values))
        others.append(auc(drawn, combined(drawn)))
    found = auc(seen, scores)
    assert found < 0.72
    assert found <= np.quantile(others, 0.98), (found, np.quantile(others, [0.5, 0.9, 0.98]))
    assert right(seen, scores) <= 6


def grained(image):
    pixels = np.asarray(image, np.float32)
    noise = np.random.default_rng(0).normal(0, 5, (*pixels.shape[:2], 1))
    return np.clip(pixels + noise, 0, 255).astype(np.uint8)


CARELESS = {
    "a little too soft": lambda image: np.asarray(image.filter(ImageFilter.GaussianBlur(0.7))),
    "with a grain of its own": grained,
}


@pytest.mark.parametrize("change", CARELESS.values(), ids=CARELESS)
def test_a_careless_paste_would_be_found(change):
    made = load(change)
    assert auc(made, combined(made)) > 0.95
    assert right(made, combined(made)) > 10
