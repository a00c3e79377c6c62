"""From annotations to a data set, and from a data set to a pilot."""

from __future__ import annotations

import json

import pytest
from PIL import Image

from diffspot_hf.build.scry import from_annotations, pilot
from diffspot_hf.errors import UsageError
from diffspot_hf.loading import load

BOX = {"x": 0.1, "y": 0.2, "w": 0.3, "h": 0.1}
GOOD = {"labels": ["Typography"], "note": "smaller", "box_a": BOX, "box_b": None}


@pytest.fixture
def images(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for name, colour in (("a.png", "white"), ("b.png", "black")):
        Image.new("RGB", (39, 84), colour).save(folder / name)
    return folder


def screen(identifier, issues, **changes):
    base = {"id": identifier, "image_a": "a.png", "image_b": "b.png", "completed": True, "annotations": issues}
    return base | changes


def export(tmp_path, screens):
    file = tmp_path / "export.json"
    file.write_text(json.dumps({"format": "diffspot-hf/annotations", "version": 1, "screens": screens}))
    return file


def test_completed_screens_become_rows_and_the_rest_is_counted(tmp_path, images):
    screens = [
        screen("one", [GOOD]),
        screen("control", []),
        screen("only unusable", [GOOD | {"labels": []}, GOOD | {"box_a": None}, GOOD | {"box_a": {"x": 5}}]),
        screen("many", [GOOD] * 4),
        screen("not done", [GOOD], completed=False),
    ]
    report = from_annotations(export(tmp_path, screens), images, tmp_path / "out")
    rows = load("scry_design_diff", data_dir=str(tmp_path / "out"))
    assert dict(zip(rows["id"], rows["bucket"], strict=True)) == {
        "one": "single",
        "control": "no-tagged",
        "only unusable": "no-tagged",
        "many": "dense",
    }
    assert rows[0]["issues"] == [GOOD]
    assert report["buckets"] == {"no-tagged": 2, "single": 1, "multi": 0, "dense": 1}
    assert (report["annotations_without_tag"], report["annotations_without_box"], report["not_completed"]) == (1, 2, 1)


@pytest.mark.parametrize(("cut", "bucket"), [(4, "multi"), (3, "dense")])
def test_the_cut_between_multi_and_dense_is_a_parameter(tmp_path, images, cut, bucket):
    from_annotations(export(tmp_path, [screen("x", [GOOD] * 3)]), images, tmp_path / "out", dense_from=cut)
    assert load("scry_design_diff", data_dir=str(tmp_path / "out"))[0]["bucket"] == bucket


BAD = {
    "a picture outside the folder": {"image_b": "../secret.png"},
    "a picture that is not there": {"image_a": "none.png"},
    "a picture by URL": {"image_a": "https://example.invalid/x.png"},
    "no id": {"id": ""},
    "an annotation that is none": {"annotations": ["text"]},
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_a_screen_that_cannot_be_used_is_named_and_the_rest_goes_on(tmp_path, images, change):
    file = export(tmp_path, [screen("good", [GOOD]), screen("bad", [], **change)])
    report = from_annotations(file, images, tmp_path / "out")
    assert report["rows"] == 1
    assert len(report["refused"]) == 1
    assert report["refused"][0].startswith("screen 1")
    with pytest.raises(UsageError):
        from_annotations(file, images, tmp_path / "strict", strict=True)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "other", "screens": []}', "[" * 100_000])
def test_what_is_no_export_is_refused(tmp_path, images, text):
    (tmp_path / "export.json").write_text(text)
    with pytest.raises(UsageError, match="export"):
        from_annotations(tmp_path / "export.json", images, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_id_twice_is_refused(tmp_path, images):
    with pytest.raises(UsageError, match="stands twice"):
        from_annotations(export(tmp_path, [screen("x", [])] * 2), images, tmp_path / "out")


@pytest.fixture
def data(tmp_path, images):
    counts = {"no-tagged": 0, "single": 1, "multi": 2, "dense": 5}
    screens = [screen(f"{name}-{i}", [GOOD] * n) for name, n in counts.items() for i in range(6)]
    from_annotations(export(tmp_path, screens), images, tmp_path / "data")
    return tmp_path / "data"


def test_a_pilot_is_stratified_and_the_same_for_the_same_seed(data, tmp_path):
    made = [pilot(data, tmp_path / f"pilot-{i}", per_bucket=3, seed=seed) for i, seed in enumerate((1, 1, 2))]
    rows = load("scry_design_diff", data_dir=str(tmp_path / "pilot-0"))
    assert sorted(rows["bucket"]) == sorted(["no-tagged", "single", "multi", "dense"] * 3)
    assert made[0]["ids"] == made[1]["ids"] != made[2]["ids"]
    assert made[0]["sha256"] == made[1]["sha256"]
    assert made[0]["issues"] == 3 * (1 + 2 + 5)


def test_a_bucket_that_is_too_small_is_named(data, tmp_path):
    with pytest.raises(UsageError, match="bucket no-tagged has 6 screens, 7 are asked for"):
        pilot(data, tmp_path / "pilot", per_bucket=7)
