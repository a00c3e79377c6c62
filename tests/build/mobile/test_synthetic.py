"""The exhaustive mobile set: what is made is what is labelled, and nothing else."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from diffspot_hf.build import mobile
from diffspot_hf.build.browser import Browser
from diffspot_hf.build.mobile import changes, stage, variants
from diffspot_hf.build.mobile.controls import disagreement
from diffspot_hf.build.mobile.screens import FOLDER, SCALE, SIZE, load_screens
from diffspot_hf.build.mobile.synthetic import BUCKETS
from diffspot_hf.errors import UsageError

SAMPLE = Path(mobile.__file__).parents[2] / "data" / "scry_design_diff"
TAGS = {
    "Icon/Nav",
    "Color/Background",
    "Spacing/Layout",
    "Shape/Size",
    "Missing Content",
    "Typography",
    "Image/Asset",
}


def read_rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "test.jsonl").read_text(encoding="utf-8").splitlines()]


# The sample that ships


@pytest.fixture(scope="module")
def sample() -> list[dict[str, Any]]:
    return read_rows(SAMPLE)


def test_sample_is_sound_by_its_pixels() -> None:
    assert mobile.recheck(SAMPLE) == {"rows": 40, "issues": 79, "controls": 10, "problems": []}


def test_sample_has_ten_rows_a_bucket_many_screens_and_sources(sample: list[dict[str, Any]]) -> None:
    metas = [json.loads(row["meta"]) for row in sample]
    assert {bucket: sum(row["bucket"] == bucket for row in sample) for bucket in BUCKETS} == dict.fromkeys(BUCKETS, 10)
    assert len({meta["screen"] for meta in metas}) >= 12
    assert len({meta["source"] for meta in metas}) >= 4
    assert all(meta["exhaustive"] is True for meta in metas)
    assert len({row["id"] for row in sample}) == 40


def test_sample_shows_every_tag_and_family(sample: list[dict[str, Any]]) -> None:
    labels = {label for row in sample for issue in row["issues"] for label in issue["labels"]}
    families = {change["family"] for row in sample for change in json.loads(row["meta"])["changes"]}
    assert labels == TAGS
    assert families == set(changes.FAMILIES)


def test_sample_is_small_and_holds_no_stray_file(sample: list[dict[str, Any]]) -> None:
    named = {row[column] for row in sample for column in ("image_a", "image_b")}
    there = {path.relative_to(SAMPLE).as_posix() for path in SAMPLE.rglob("*") if path.is_file()}
    assert there == named | {"test.jsonl", "build.json", "review/signed.jsonl"}
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*")) <= 8_000_000


def test_sample_pictures_are_screens_at_twice_the_css_size(sample: list[dict[str, Any]]) -> None:
    for name in {row["image_b"] for row in sample}:
        with Image.open(SAMPLE / name) as image:
            assert (image.format, image.size) == ("WEBP", (780, 1688))


def test_every_row_of_the_sample_was_signed_by_eye_as_it_stands(sample: list[dict[str, Any]]) -> None:
    lines = map(json.loads, (SAMPLE / "review" / "signed.jsonl").read_text(encoding="utf-8").splitlines())
    signed = {line["id"]: line for line in lines}
    assert set(signed) == {row["id"] for row in sample}
    for row in sample:
        line = signed[row["id"]]
        assert line["verdict"] == "accepted"
        assert line["images"] == [row["image_a"], row["image_b"]]
        assert line["issues"] == row["issues"]


def test_no_note_and_no_id_of_the_sample_says_where_it_was_made(sample: list[dict[str, Any]]) -> None:
    text = (SAMPLE / "test.jsonl").read_text(encoding="utf-8") + (SAMPLE / "build.json").read_text(encoding="utf-8")
    assert not re.search(r"[\s\"'(](/|[A-Z]:\\)\w", text)
    for row in sample:
        for issue in row["issues"]:
            assert issue["note"][0].isupper()
            assert issue["note"].endswith(".")
            assert "{" not in issue["note"]


# What recheck finds


def _spoil(path: Path, change: Callable[[np.ndarray[Any, Any]], None]) -> None:
    with Image.open(path) as image:
        pixels = np.array(image.convert("RGB"))
    change(pixels)
    Image.fromarray(pixels).save(path, format="WEBP", lossless=True)


@pytest.fixture
def copy(tmp_path: Path) -> Callable[[str], tuple[Path, dict[str, Any]]]:
    """A folder that holds one row of the sample, by id."""

    def make(identifier: str) -> tuple[Path, dict[str, Any]]:
        row = next(row for row in read_rows(SAMPLE) if row["id"].startswith(identifier))
        (tmp_path / "images").mkdir()
        for side in ("a", "b"):  # the two sides of an identical control are one file; give it two
            shutil.copy(SAMPLE / row[f"image_{side}"], tmp_path / "images" / f"{side}.webp")
            row[f"image_{side}"] = f"images/{side}.webp"
        return tmp_path, row

    return make


def _recheck(folder: Path, row: dict[str, Any]) -> list[str]:
    (folder / "test.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    problems: list[str] = mobile.recheck(folder)["problems"]
    return problems


def test_recheck_names_a_pixel_outside_the_boxes(copy: Callable[[str], tuple[Path, dict[str, Any]]]) -> None:
    folder, row = copy("shop-single")
    assert _recheck(folder, row) == []
    _spoil(folder / row["image_b"], lambda pixels: pixels[3:5, 4].__ixor__(1))
    assert _recheck(folder, row) == [f"{row['id']}: 2 pixels outside all boxes differ"]


def test_recheck_names_an_issue_without_changed_pixels(copy: Callable[[str], tuple[Path, dict[str, Any]]]) -> None:
    folder, row = copy("shop-single")
    row["issues"].append({"labels": [], "note": "", "box_a": {"x": 0, "y": 0, "w": 0.1, "h": 0.01}, "box_b": None})
    found = _recheck(folder, row)
    assert any("issue 2: no pixel differs" in problem for problem in found)
    assert any("2 issues in bucket single" in problem for problem in found)


def test_recheck_names_a_box_in_which_little_differs(copy: Callable[[str], tuple[Path, dict[str, Any]]]) -> None:
    folder, row = copy("calendar-single-09")
    assert _recheck(folder, row) == []
    for side in ("box_a", "box_b"):
        row["issues"][0][side] |= {"x": 0.0, "w": 1.0}
    assert any("fit the pixels that differ with an IoU of 0.0" in problem for problem in _recheck(folder, row))


def test_recheck_names_issues_that_meet(copy: Callable[[str], tuple[Path, dict[str, Any]]]) -> None:
    folder, row = copy("bank-multi")
    row["issues"][1] = row["issues"][0]
    assert any("its boxes meet those of issue 1" in problem for problem in _recheck(folder, row))


def test_recheck_names_a_control_that_differs(copy: Callable[[str], tuple[Path, dict[str, Any]]]) -> None:
    folder, row = copy("f7-chat-no-tagged")
    _spoil(folder / row["image_b"], lambda pixels: pixels[900, 300:340].fill(0))
    assert any("pixels differ by up to" in problem for problem in _recheck(folder, row))


GREY = np.full((40, 40, 3), 100, dtype=np.uint8)


@pytest.mark.parametrize(
    ("kind", "b", "fits"),
    [
        pytest.param("identical", GREY, True, id="identical-same"),
        pytest.param("identical", GREY + 1, False, id="identical-one-level-off"),
        pytest.param("rounded", GREY + 1, True, id="rounded-one-level"),
        pytest.param("rounded", GREY + 2, False, id="rounded-two-levels"),
        pytest.param("resampled", GREY + 10, True, id="resampled-within-limit"),
        pytest.param("resampled", GREY + 40, False, id="resampled-too-far"),
        pytest.param("resampled", GREY[:20], False, id="other-size"),
        pytest.param("painted", GREY, False, id="unknown-kind"),
    ],
)
def test_what_a_control_may_carry(kind: str, b: np.ndarray[Any, Any], fits: bool) -> None:
    assert (disagreement(kind, GREY, b) is None) == fits


# The table of changes


def part(kind: str, **given: Any) -> dict[str, Any]:
    usual = {
        "index": 0,
        "kind": kind,
        "name": "bell icon",
        "swap": ["heart"],
        "excluded": [],
        "state": "-on",
        "extent": [20.0, 30.0, 140.0, 90.0],
        "width": 120.0,
        "height": 60.0,
        "color": "rgb(0, 0, 0)",
        "background": "rgb(255, 255, 255)",
        "backgroundImage": "none",
        "radius": "12px",
        "border": 0,
        "weight": 400,
        "size": 16.0,
        "transform": "none",
        "upper": False,
        "display": "flex",
        "justify": "normal",
        "padding": 12.0,
        "text": "Some words",
        "parts": 3,
    }
    return usual | given


@pytest.mark.parametrize("kind", ["icon", "text", "box", "block", "control", "chip", "tab", "figure", "group", "image"])
def test_every_kind_of_part_has_changes_with_known_tags(kind: str) -> None:
    found = changes.candidates([part(kind)], random.Random(1))
    assert found
    for change in found:
        assert set(change.labels) <= TAGS
        assert "bell icon" in change.note
    assert any("Missing Content" in change.labels for change in found)


def test_a_part_can_exclude_operators_and_an_unpainted_part_has_none() -> None:
    names = {
        change.operator for change in changes.candidates([part("image", excluded=["image_blank"])], random.Random(1))
    }
    assert "image_swapped" in names
    assert "image_blank" not in names
    assert changes.candidates([part("image", extent=None)], random.Random(1)) == []


def test_new_colours_are_clearly_unlike_the_old() -> None:
    names = [name for _, name in variants._others("rgb(214, 40, 57)")]
    assert "red" not in names
    assert "blue" in names


def test_nothing_is_moved_off_the_screen() -> None:
    ways = [detail for _, detail in variants.shift(part("box", extent=[0.0, 0.0, 390.0, 50.0]))]
    assert ways == ["down"]


def test_edges_are_padded_rounded_outwards_and_clipped() -> None:
    assert stage.to_edges((10.2, 0.0, 389.9, 20.1)) == (18, 0, 780, 43)


def test_unknown_screens_and_used_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no screen called nowhere; there are bank"):
        load_screens(["nowhere"])
    (tmp_path / "kept.txt").write_text("mine")
    with pytest.raises(UsageError, match="not an empty folder"):
        mobile.build(tmp_path)
    with pytest.raises(UsageError, match="at least one row"):
        mobile.build(tmp_path / "new", per_bucket=0)


def test_every_screen_is_self_contained() -> None:
    screens = load_screens()
    assert {path.stem for path in FOLDER.glob("*.html")} == {screen.name for screen in screens}
    for screen in screens:
        text = screen.file.read_text(encoding="utf-8").replace("http://www.w3.org/", "")
        assert "<script" not in text
        assert "http:" not in text
        assert "https:" not in text


# With a browser


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mobile") / "set"
    mobile.build(folder, per_bucket=1, seed=5, screens=["welcome"], progress=False)
    return folder


@pytest.mark.browser
def test_a_small_build_is_sound_and_says_what_it_holds(built: Path) -> None:
    report = json.loads((built / "build.json").read_text())
    assert mobile.recheck(built)["problems"] == []
    assert report["buckets"] == dict.fromkeys(BUCKETS, 1)
    assert report["short"] == []
    assert report["sources"] == {"diffspot-hf": 4}
    assert report["browser"]["version"]


@pytest.mark.browser
def test_one_seed_gives_one_set(built: Path, tmp_path: Path) -> None:
    mobile.build(tmp_path / "again", per_bucket=1, seed=5, screens=["welcome"], progress=False)
    for name in ("test.jsonl", "build.json"):
        assert (tmp_path / "again" / name).read_bytes() == (built / name).read_bytes()


@pytest.mark.browser
def test_only_visible_and_local_changes_are_kept() -> None:
    screen = load_screens(["player"])[0]
    with Browser(viewport=SIZE, scale=SCALE) as browser, browser.page() as page:
        found = stage.Stage(browser, page, screen)
        by_name = {part["name"]: part["index"] for part in found.parts}

        def change(name: str, **css: str) -> changes.Change:
            return changes.Change(by_name[name], name, "test", "color", (), "", variants.css(**css))

        kept = found.try_change(change("song title", color="rgb(255, 0, 0)"))
        assert kept is not None
        assert kept.edges_a == kept.edges_b
        hidden = found.try_change(change("round pause button", visibility="hidden"))
        assert hidden is not None
        assert hidden.edges_b == hidden.edges_a  # what is missing keeps its place
        assert found.try_change(change("song title", display="block", margin_top="30px")) is None
        assert found.try_change(change("artist name", color="rgb(217, 201, 229)")) is None
        assert dict(found.rejected) == {"outside": 1, "invisible": 1}
        assert found.show([kept, hidden]) is not None


@pytest.mark.browser
def test_what_a_move_pushes_under_a_neighbour_is_refused() -> None:
    screen = load_screens(["vant-cart"])[0]
    with Browser(viewport=SIZE, scale=SCALE) as browser, browser.page() as page:
        found = stage.Stage(browser, page, screen)
        part = next(part["index"] for part in found.parts if part["name"] == "mug checkbox")
        moved = changes.Change(
            part, "mug checkbox", "moved", "spacing", (), "", variants.css(transform="translate(12px, 0px)")
        )
        assert found.try_change(moved) is None
        assert dict(found.rejected) == {"hidden in part": 1}
