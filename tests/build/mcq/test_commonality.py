"""Two scenes, four recipes: exactly one option true in every item, neither image alone tells which."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from diffspot_hf.build.mcq.backdrops import Ground, Table
from diffspot_hf.build.mcq.common_build import build_commonality, listed_grounds
from diffspot_hf.build.mcq.commonality import Plan, encode_base, make_group
from diffspot_hf.build.mcq.differential import task_named
from diffspot_hf.build.mcq.groups import read_rows
from diffspot_hf.build.mcq.kit import load_kit
from diffspot_hf.build.mcq.patches import lay, pixels
from diffspot_hf.build.mcq.scenes import make_scene, render
from diffspot_hf.build.mcq.sprites import Look
from diffspot_hf.dataset_scripts.common import sample_folder
from diffspot_hf.errors import UsageError

TABLE = Table(width=1040, height=640, columns=12, rows=7)


@pytest.fixture(scope="module")
def kit():
    return load_kit(sample_folder("dicobench") / "objects")


@pytest.fixture(scope="module")
def ground():
    draw = np.random.default_rng(0)
    photo = np.clip(draw.normal((90, 120, 60), 12, (700, 1100, 3)), 0, 255).astype(np.uint8)
    return Ground(photo, [(5, 5), (1095, 5), (1095, 695), (5, 695)], far=46, near=58)


@pytest.mark.parametrize("name", ["instance", "category", "spatial", "reasoning"])
def test_a_group_is_sound_and_balanced(tmp_path, kit, ground, name):
    out = tmp_path / "out"
    report = build_commonality([ground], task_named(name, "commonality"), kit, out, groups=1, seed=5, table=TABLE)
    assert report["letters"] == dict.fromkeys("ABCDE", 1), report["refused"]
    rows = read_rows(out)
    assert {row["claims"][-1]["kind"] for row in rows} == {"nothing"}
    for row in rows:
        patches = {side: row.get(f"patches_{side}", []) for side in "12"}
        assert len(patches["1"]) + len(patches["2"]) == (row["answer"] != "E")
        for side in "12":
            base = pixels((out / row[f"image_{side}"]).read_bytes())
            laid = lay(base, [(p["x"], p["y"], pixels((out / p["file"]).read_bytes())) for p in patches[side]])
            share = (laid != base).any(axis=2).mean()
            assert share == (row["edit_area_fraction"] if patches[side] else 0)
            assert share < 0.05
    sides = Counter(side for row in rows for side in "12" if f"patches_{side}" in row)
    if name in ("category", "reasoning"):
        assert sides == {"1": 2, "2": 2}  # half of the options lack their half in the one image, half in the other


def test_the_queue_asks_whether_the_answer_can_be_deduced(tmp_path, kit, ground):
    out = tmp_path / "out"
    build_commonality([ground], task_named("category", "commonality"), kit, out, seed=1, table=TABLE)
    line = json.loads((out / "review/queue.jsonl").read_text().splitlines()[0])
    assert "deducibility" in line["checks"]


def test_a_scene_is_the_same_every_time_and_full(kit, ground):
    scenes = [make_scene("s", kit, ground, [("a", Look("anchor"))], n_others=20, seed=3) for _ in range(2)]
    first, second = (render(scene, kit) for scene in scenes)
    assert np.array_equal(first.picture, second.picture)
    assert len(first.objects) == 21
    boxes = [thing["box"] for thing in first.objects]
    assert all(x >= 0 and y >= 0 and x + w <= 1100 and y + h <= 700 for x, y, w, h in boxes)


def test_an_object_that_changes_leaves_the_rest_of_the_scene_alone(kit):
    scene = make_scene("s", kit, TABLE, [("a", Look("anchor"))], n_others=60, seed=3)
    index = scene.index("a")
    thing = scene.things[index]
    other = scene.with_thing(index, type(thing)(Look("axe"), thing.place, thing.angle, role="a"))
    differs = (render(scene, kit).picture != render(other, kit).picture).any(axis=2)
    rows, columns = np.nonzero(differs)
    assert abs(rows.mean() - thing.place.y) < 40
    assert max(np.ptp(rows), np.ptp(columns)) < 180


def test_too_few_other_objects_are_refused(kit, ground):
    with pytest.raises(UsageError, match="at least 20 other objects"):
        make_scene("s", kit, ground, [], n_others=19, seed=0)


def test_a_ground_without_room_is_refused(kit, ground):
    small = Ground(ground.photo, [(5, 5), (200, 5), (200, 200), (5, 200)], far=80, near=90)
    with pytest.raises(UsageError, match="no room"):
        make_scene("s", kit, small, [], n_others=20, seed=0)


def test_an_option_that_is_true_already_is_refused(kit, ground):
    one = encode_base(make_scene("one", kit, ground, [("a", Look("anchor"))], n_others=20, seed=1), kit)
    two = encode_base(make_scene("two", kit, TABLE, [("a", Look("anchor", 60))], n_others=60, seed=2), kit)
    plans = [
        Plan("Both show it.", "", {"kind": "category", "object": kind}, 2, [], (["a"], ["a"]))
        for kind in ("anchor", "axe", "compass", "lifebuoy")
    ]
    with pytest.raises(UsageError, match="already fulfil.*Both show it"):
        make_group(task_named("category", "commonality"), one, two, plans, kit)


def test_the_shipped_kit_shares_no_kind_between_its_sets(kit):
    kinds = Counter(kind for members in kit.sets.values() for kind in members)
    assert max(kinds.values()) == 1
    assert {relation.name for relation in kit.relations} == {"combination", "supply", "nesting", "collaboration"}


BROKEN_KITS = {
    "no file": (None, "not a readable kit"),
    "no TOML": ("[", "not a readable kit"),
    "a picture that is not there": ('[cue]\nx = "x.webp"\n', "no such file"),
    "a picture elsewhere": ('[cue]\nx = "../x.webp"\n', "leaves the data folder|no such file"),
    "a relation of unknown objects": (
        '[[relations]]\nname="a"\nstatement="b"\npairs=[["c","d"]]\n',
        "unknown objects: c, d",
    ),
    "a relation without pairs": ('[[relations]]\nname="a"\nstatement="b"\n', "has name, statement and pairs"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN_KITS.values(), ids=BROKEN_KITS)
def test_a_broken_kit_says_what_is_wrong(tmp_path, text, message):
    if text is not None:
        (tmp_path / "kit.toml").write_text(text)
    with pytest.raises(UsageError, match=message):
        load_kit(tmp_path)


def test_grounds_are_read_from_a_listing(tmp_path, photo, as_jpeg):
    (tmp_path / "a.jpg").write_bytes(as_jpeg(photo))
    area = [[0, 0], [480, 0], [480, 360]]
    lines = [
        {"image": "a.jpg", "area": area, "near": 60, "gain": [1, 0.9, 0.8]},
        {"image": "a.jpg", "area": area[:2]},
        {"image": "a.jpg", "area": [[0, "x"]]},
        {"image": "b.jpg", "area": area},
        {"image": "a.jpg", "area": area, "gain": [1, 2]},
        {"image": "a.jpg", "area": area, "far": -5},
    ]
    listing = tmp_path / "grounds.jsonl"
    listing.write_text("\n".join(map(json.dumps, lines)))
    refused = []
    (found,) = listed_grounds(listing, lambda error: refused.append(str(error)))
    assert (found.near, found.light.gain) == (60, (1, 0.9, 0.8))
    assert len(refused) == 5
