"""The DiCoBench sample proves itself: area, unchanged pixels, balance, exclusivity and geometry of every item.

Written without the builder's code on purpose: pictures are compared with Pillow and numpy, claims are judged anew.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import math
from collections import Counter
from pathlib import Path

import datasets
import numpy as np
import pytest
from PIL import Image

import diffspot_hf
from diffspot_hf.benchmarks.dicobench import PROMPT, DiCoBench
from diffspot_hf.dataset_scripts.dicobench import main as convert
from diffspot_hf.errors import UsageError
from diffspot_hf.types import Response

FOLDER = Path(diffspot_hf.__file__).parent / "data" / "dicobench"
MANIFEST = [json.loads(line) for line in (FOLDER / "test.jsonl").read_text(encoding="utf-8").splitlines()]
SCENES = json.loads((FOLDER / "scenes.json").read_text(encoding="utf-8"))
BY_ID = {row["id"]: row for row in MANIFEST}
DIFFERENTIAL = [row["id"] for row in MANIFEST if row["track"] == "differential"]
COMMONALITY = [row["id"] for row in MANIFEST if row["track"] == "commonality"]
RENDERED = ("planks", "cloth")


@pytest.fixture(scope="module")
def sample():
    rows = datasets.load_dataset("dicobench", split="test")
    for column in ("image_1", "image_2"):
        rows = rows.cast_column(column, datasets.Image(decode=False))
    return {row["id"]: row for row in rows}


def array(data):
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


def stored(path):
    return array((FOLDER / path).read_bytes())


def test_forty_items_eight_tasks_one_group_of_five_each():
    assert len(MANIFEST) == len(BY_ID) == 40
    assert Counter((row["track"], row["task"]) for row in MANIFEST) == {
        ("differential", "attribute"): 5,
        ("differential", "entity"): 5,
        ("differential", "spatial"): 5,
        ("differential", "reasoning"): 5,
        ("commonality", "instance"): 5,
        ("commonality", "category"): 5,
        ("commonality", "spatial"): 5,
        ("commonality", "reasoning"): 5,
    }


def test_letters_are_balanced_and_options_are_shared_in_each_group():
    groups = {}
    for row in MANIFEST:
        groups.setdefault(row["group_id"], []).append(row)
    assert len(groups) == 8
    for members in groups.values():
        assert sorted(row["answer"] for row in members) == list("ABCDE")
        assert len({tuple(row["options"]) for row in members}) == 1
        assert len({option.casefold().rstrip(".") for option in members[0]["options"]}) == 5
    places = Counter((row["id"][-1], row["answer"]) for row in MANIFEST)
    assert max(places.values()) < 8  # the number in an id does not stand for a letter


def test_ids_and_file_names_do_not_name_the_answer():
    words = ("removed", "red", "key", "answer", "none")
    for row in MANIFEST:
        for name in (row["id"], row["image_1"], row["image_2"]):
            assert not any(word in name.split("/")[-1].replace(".", "-").split("-") for word in words)


def test_pictures_are_large_and_the_whole_is_small(sample):
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) <= 14_000_000
    for row in sample.values():
        for column in ("image_1", "image_2"):
            with Image.open(io.BytesIO(row[column]["bytes"])) as image:
                assert max(image.size) >= 1600


@pytest.mark.parametrize("identifier", DIFFERENTIAL)
def test_a_differential_pair_differs_in_its_region_only_and_under_five_percent(sample, identifier):
    row, base = sample[identifier], stored(BY_ID[identifier]["image_1"])
    assert BY_ID[identifier]["image_2"] == BY_ID[identifier]["image_1"]
    first, second = array(row["image_1"]["bytes"]), array(row["image_2"]["bytes"])
    assert np.array_equal(first, base)
    differs = (first != second).any(axis=2)
    box = row["bbox_2"]
    region = np.zeros_like(differs)
    region[int(box["y"]) : int(box["y"] + box["h"]), int(box["x"]) : int(box["x"] + box["w"])] = True
    assert not differs[~region].any()
    assert region.mean() < 0.05
    assert differs.mean() == pytest.approx(row["edit_area_fraction"], abs=1e-12)
    if row["answer"] == "E":
        assert row["image_1"]["bytes"] == row["image_2"]["bytes"]
        assert row["instruction"] is None
    else:
        assert 0.0005 < differs.mean() < 0.05
        strong = np.abs(first.astype(int) - second).max(axis=2) > 24
        assert strong.sum() > 150  # something that can be seen, not a trace of compression


@pytest.mark.parametrize("identifier", COMMONALITY)
def test_a_commonality_item_edits_one_small_place_of_one_scene(sample, identifier):
    row, source = sample[identifier], BY_ID[identifier]
    edited = 0
    for side in "12":
        base, shown = stored(source[f"image_{side}"]), array(row[f"image_{side}"]["bytes"])
        differs = (base != shown).any(axis=2)
        if not differs.any():
            continue
        edited += 1
        rows, columns = np.nonzero(differs)
        height, width = np.ptp(rows) + 1, np.ptp(columns) + 1
        assert height * width < 0.05 * differs.size
        assert differs.mean() == pytest.approx(row["edit_area_fraction"], abs=1e-12)
        box = row[f"bbox_{side}"]  # the cue lies where the picture was edited
        assert box["x"] < columns.max()
        assert box["x"] + box["w"] > columns.min()
        assert box["y"] < rows.max()
        assert box["y"] + box["h"] > rows.min()
    assert edited == (row["answer"] != "E")
    assert source["image_1"] != source["image_2"]


def objects(row):
    """The objects of both images of an item: those of the base scenes, with what the edit changed."""
    both = [list(SCENES[Path(row[f"image_{side}"]).stem]) for side in "12"]
    for thing in row["truth"].get("changed", []):
        both[row["truth"]["side"] - 1][thing["index"]] = thing
    return both


def direction(things, middle, beside):
    (a,), (b,) = ([t["middle"] for t in things if t["kind"] == kind] for kind in (middle, beside))
    return math.degrees(math.atan2(b[1] - a[1], b[0] - a[0]))


RELATIONS = {
    "combination": ("key", "padlock"),
    "supply": ("battery", "torch"),
    "nesting": ("egg", "nest"),
    "collaboration": ("spanner", "nut and bolt"),
}


def holds(claim, first, second):
    """Whether a claim is true, judged from the objects' kinds, looks and places alone."""
    kinds = [{thing["kind"] for thing in things} for things in (first, second)]
    if claim["kind"] == "instance":
        return all(claim["look"] in {thing["look"] for thing in things} for things in (first, second))
    if claim["kind"] == "category":
        return claim["object"] in kinds[0] & kinds[1]
    if claim["kind"] == "spatial":
        turn = abs(direction(first, *claim["pair"]) - direction(second, *claim["pair"])) % 360
        turn = min(turn, 360 - turn)
        assert turn < 15 or turn > 60, "a direction that is neither the same nor clearly another"
        return turn < 15
    giver, taker = RELATIONS[claim["relation"]]
    return (giver in kinds[0] and taker in kinds[1]) or (giver in kinds[1] and taker in kinds[0])


@pytest.mark.parametrize("identifier", COMMONALITY)
def test_exactly_one_option_is_true_and_it_is_the_answer(identifier):
    row = BY_ID[identifier]
    first, second = objects(row)
    true = [letter for letter, claim in zip("ABCD", row["claims"], strict=False) if holds(claim, first, second)]
    assert true == ([] if row["answer"] == "E" else [row["answer"]])


@pytest.mark.parametrize("identifier", COMMONALITY)
def test_the_scenes_share_nothing_that_no_option_is_about(identifier):
    row = BY_ID[identifier]
    first, second = ({thing["kind"] for thing in things} for things in objects(row))
    meant = {
        "instance": {claim["look"].split("/")[0] for claim in row["claims"] if "look" in claim},
        "category": {claim["object"] for claim in row["claims"] if "object" in claim},
        "spatial": {kind for claim in row["claims"] for kind in claim.get("pair", ())},
        "reasoning": set(),
    }[row["task"]]
    assert first & second <= meant


@pytest.mark.parametrize("identifier", COMMONALITY)
def test_neither_image_alone_tells_the_answer(identifier):
    """Of what each option needs, half is there at least: who sees one image only cannot rule the others out."""
    row = BY_ID[identifier]
    first, second = objects(row)
    for claim in row["claims"][:4]:
        seen = [{thing["kind"] for thing in things} for things in (first, second)]
        if claim["kind"] == "category":
            assert claim["object"] in seen[0] | seen[1]
        elif claim["kind"] == "reasoning":
            assert set(RELATIONS[claim["relation"]]) & (seen[0] | seen[1])
        elif claim["kind"] == "instance":
            assert all(claim["look"].split("/")[0] in kinds for kinds in seen)
        else:
            assert all(set(claim["pair"]) <= kinds for kinds in seen)


def test_the_same_object_is_turned_and_scaled_between_the_images():
    for row in MANIFEST:
        if row["task"] == "instance" and row["answer"] != "E":
            look = row["claims"]["ABCDE".index(row["answer"])]["look"]
            one, other = (next(t for t in things if t["look"] == look) for things in objects(row))
            assert abs(one["angle"] - other["angle"]) >= 15
            assert max(one["size"], other["size"]) / min(one["size"], other["size"]) >= 1.08


def test_scenes_are_full_and_at_most_two_are_rendered():
    used = {Path(row[f"image_{side}"]).stem for row in MANIFEST for side in "12" if row["track"] == "commonality"}
    assert used == set(SCENES)
    for name, things in SCENES.items():
        assert sum(not thing["role"] for thing in things) >= 20
        assert name not in RENDERED or len(things) >= 150
        height, width = stored(f"photos/scenes/{name}.jpg").shape[:2]
        for thing in things:
            x, y, w, h = thing["box"]
            assert min(x, y, width - x - w, height - y - h) >= 0
    assert sum(name in RENDERED for name in SCENES) <= 2
    photographs = {row["image_1"] for row in MANIFEST if row["track"] == "differential"} | set(SCENES) - set(RENDERED)
    assert len(photographs) >= 6


def test_every_picture_made_from_a_photograph_is_attributed():
    text = (FOLDER / "photos/ATTRIBUTION.md").read_text(encoding="utf-8")
    for path in [*(FOLDER / "photos/originals").iterdir(), *(FOLDER / "photos/scenes").iterdir()]:
        assert f"{path.parent.name}/{path.name}" in text
    lines = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    assert len({line[2] for line in lines}) >= 6  # photographs, however many pictures were cut from one
    assert {line[4].strip() for line in lines} == {"CC BY 4.0", "CC BY-SA 4.0"}
    assert "Copyright (c) Microsoft Corporation" in (FOLDER / "objects/NOTICE.md").read_text(encoding="utf-8")


def test_every_item_was_looked_at_and_has_not_changed_since():
    signed = {}
    for line in (FOLDER / "review/signed.jsonl").read_text(encoding="utf-8").splitlines():
        signed[json.loads(line)["id"]] = json.loads(line)
    assert set(signed) == set(BY_ID)
    for identifier, line in signed.items():
        row = BY_ID[identifier]
        patches = [patch["file"] for side in "12" for patch in row.get(f"patches_{side}", [])]
        assert line["patches"] == patches
        assert line["statement"] == row["options"]["ABCDE".index(row["answer"])]
        assert all(line["checks"].values())
        assert line["verdict"] == "accepted"


def test_no_patch_and_no_base_is_left_over():
    named = {row[f"image_{side}"] for row in MANIFEST for side in "12"}
    named |= {patch["file"] for row in MANIFEST for side in "12" for patch in row.get(f"patches_{side}", [])}
    there = {str(p.relative_to(FOLDER)) for part in ("patches", "scenes") for p in (FOLDER / "photos" / part).iterdir()}
    assert there == {name for name in named if "/originals/" not in name}


def test_a_request_holds_nothing_but_pictures_question_and_options(sample):
    asked = DiCoBench()
    texts = {}
    for identifier, row in sample.items():
        request = asked.request(row, PROMPT)
        assert [picture.data for picture in request.pictures] == [row["image_1"]["bytes"], row["image_2"]["bytes"]]
        texts.setdefault(row["group_id"], set()).add(request.text)
        for hidden in (identifier, row["group_id"], row["instruction"], row["image_1"]["path"]):
            assert hidden is None or hidden not in request.text
    assert all(len(group) == 1 for group in texts.values())  # the five items of a group are asked in the same words


CONTROLS = {"oracle": 40, **{f"always-{letter}": 8 for letter in "ABCDE"}, "always-none": 8}


@pytest.mark.parametrize(("kind", "right"), CONTROLS.items(), ids=CONTROLS)
def test_the_oracle_is_always_right_and_one_letter_a_fifth_of_the_time(kind, right):
    asked = DiCoBench()
    records = {}
    for row in MANIFEST:
        found = asked.read(row, Response(row["id"], asked.scripted(kind, row, 0)))
        records[row["id"]] = {"prediction": found.value, "state": found.state, "notes": dict(found.notes)}
    scores = asked.score(MANIFEST, records)
    assert scores["n_right"] == right
    assert {task["n_right"] for task in scores["by_task"].values()} == {right // 8}


def test_one_group_is_built_again_from_its_photograph():
    import tomllib

    from diffspot_hf.build.mcq import sample as builder
    from diffspot_hf.build.mcq.differential import Report

    plan = tomllib.loads(builder.PLAN.read_text(encoding="utf-8"))
    (part,) = [part for part in plan["differential"] if part["task"] == "reasoning"]
    kept = []
    writer = type("Keep", (), {"add": lambda _, group: kept.append(group)})()
    builder._add_differential(writer, part, FOLDER / "photos/originals", Report())
    made = {variant.statement: variant for variant in kept[0].variants}
    for row in MANIFEST:
        if row["group_id"].startswith("differential-reasoning") and row["answer"] != "E":
            (patch,) = row["patches_2"]
            there = stored(patch["file"])
            again = made[row["options"]["ABCDE".index(row["answer"])]].edited
            x, y = patch["x"], patch["y"]
            ours = again[y : y + there.shape[0], x : x + there.shape[1]].astype(int)
            assert np.abs(ours - there).max() <= 2  # other builds of OpenCV may round a pixel otherwise


def broken(tmp_path, **changes):
    image = Image.new("RGB", (40, 30), (9, 9, 9))
    (tmp_path / "photos").mkdir()
    image.save(tmp_path / "base.png")
    Image.new("RGB", (10, 10)).save(tmp_path / "patch.png")
    good = {
        "track": "differential",
        "task": "entity",
        "image_1": "base.png",
        "image_2": "base.png",
        "question": "?",
        "options": ["a", "b", "c", "d", "e"],
        "answer": "A",
    }
    rows = [{"id": "good", **good}, {"id": "bad", **good, **changes}]
    (tmp_path / "test.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return tmp_path


BROKEN = {
    "an unknown task": (dict(task="taste"), "unknown task 'taste' on track 'differential'"),
    "a task of the other track": (dict(task="instance"), "unknown task 'instance' on track 'differential'"),
    "a task that is a list": (dict(task=["entity"]), "unknown task ['entity']"),
    "an empty question": (dict(question=""), "no question, found ''"),
    "a question of blanks": (dict(question=" \n"), "no question"),
    "a question that is a number": (dict(question=5), "no question, found 5"),
    "four options": (dict(options=["a", "b", "c", "d"]), "has 5 options, found 4"),
    "no options": (dict(options="abcde"), "has 5 options, found str"),
    "an empty option": (dict(options=["a", "", "c", "d", "e"]), "option B is missing"),
    "the same option twice": (dict(options=["a", "b", "A.", "d", "e"]), "options A and C are the same"),
    "an answer beside the letters": (dict(answer="F"), "'F' is not among the letters"),
    "a patch that is not there": (dict(patches_2=[{"file": "x.png", "x": 0, "y": 0}]), "no such file"),
    "a patch without a place": (dict(patches_2=[{"file": "patch.png"}]), "a patch has file, x and y"),
    "a patch outside": (
        dict(patches_2=[{"file": "patch.png", "x": 35, "y": 0}]),
        "reaches outside its base of 40 x 30",
    ),
    "a base that is not there": (dict(image_1="none.png"), "no such file"),
}


@pytest.mark.parametrize(("changes", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_row_is_named_and_the_others_are_read(tmp_path, changes, message):
    from diffspot_hf.dataset_scripts.dicobench import DiCoBench as Builder

    refused = []
    folder = broken(tmp_path, **changes)
    builder = Builder(cache_dir=str(tmp_path / "cache"), data_dir=str(folder))
    rows = [row for _, row in builder.read(folder / "test.jsonl", lambda error: refused.append(str(error)))]
    assert [row["id"] for row in rows] == ["good"]
    assert message in refused[0]
    assert "(id 'bad')" in refused[0]


def test_a_patch_is_laid_in_when_a_row_is_read(tmp_path):
    folder = broken(tmp_path, patches_2=[{"file": "patch.png", "x": 4, "y": 6}])
    rows = datasets.load_dataset("dicobench", data_dir=str(folder), split="test")
    first, second = (np.asarray(rows[1][f"image_{side}"]) for side in "12")
    assert (first != second).any(axis=2).sum() == 100
    assert (second[6:16, 4:14] == 0).all()


def test_the_official_configuration_says_how_to_get_access(tmp_path):
    with pytest.raises(UsageError, match="oking0197/DiCoBench"):
        datasets.load_dataset("dicobench", "official", cache_dir=str(tmp_path))


def test_the_converter_writes_parquet_and_the_harness_file(tmp_path, capsys):
    folder = broken(tmp_path, id="second", patches_2=[{"file": "patch.png", "x": 4, "y": 6}])
    assert convert(["--data-dir", str(folder), "--out", str(tmp_path / "out"), "--tsv", str(tmp_path / "x.tsv")]) == 0
    rows = datasets.load_dataset(str(tmp_path / "out"), split="test")
    assert (rows.num_rows, rows[1]["answer"]) == (2, "A")
    csv.field_size_limit(1 << 24)
    with (tmp_path / "x.tsv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t"))
    picture = base64.b64decode(json.loads(lines[1]["image"].replace("'", '"'))[1])
    assert np.array_equal(array(picture), np.asarray(rows[1]["image_2"]))
    assert convert(["--data-dir", str(tmp_path / "nowhere"), "--tsv", str(tmp_path / "y.tsv")]) == 2
    assert "error:" in capsys.readouterr().err
