"""Rules alone build all four differential tasks: no model, no weights, no prepared instructions."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from PIL import Image, ImageDraw

from diffspot_hf.build.mcq.check import check_folder
from diffspot_hf.build.mcq.colours import PAINTS
from diffspot_hf.build.mcq.differential import Photo, build_differential, task_named
from diffspot_hf.build.mcq.editors.procedural import Procedural
from diffspot_hf.build.mcq.groups import read_rows
from diffspot_hf.build.mcq.instructions import Instruction, Listed, Target
from diffspot_hf.build.mcq.patches import png_bytes
from diffspot_hf.build.mcq.regions import Box, grow
from diffspot_hf.build.mcq.rules import Ruled
from diffspot_hf.errors import UsageError

DISC = Target(Box(220, 162, 40, 36), "the red disc")


@pytest.mark.parametrize("name", ["attribute", "entity", "spatial", "reasoning"])
def test_a_named_target_becomes_a_sound_group(tmp_path, photo, as_jpeg, name):
    photos = [Photo("a.jpg", as_jpeg(photo), [DISC])]
    report = build_differential(
        photos, task_named(name, "differential"), lambda *_: Ruled(1), Procedural(), tmp_path / "out", seed=2
    )
    assert report["groups"] == 1, report["refused"]
    assert check_folder(tmp_path / "out")["problems"] == []


def test_a_target_without_a_name_is_refused(tmp_path, photo, as_jpeg):
    photos = [Photo("a.jpg", as_jpeg(photo), [Target(DISC.box)])]
    with pytest.raises(UsageError, match="no group of five"):
        build_differential(
            photos, task_named("entity", "differential"), lambda *_: Ruled(), Procedural(), tmp_path / "o"
        )


ATTRIBUTE = task_named("attribute", "differential")


def proposed(photo, target, task, seed=0):
    """What the rules propose for a target, all of it."""
    ruled, found = Ruled(seed), []
    try:
        while True:
            found.append(ruled.next(np.asarray(photo), target, grow(target.box, photo.size), task, found))
    except StopIteration:
        return found


def test_the_seed_decides_the_order(photo):
    first = {seed: proposed(photo, DISC, ATTRIBUTE, seed)[0].statement for seed in range(8)}
    assert first[1] == proposed(photo, DISC, ATTRIBUTE, 1)[0].statement
    assert len(set(first.values())) > 2


@pytest.fixture
def plain():
    """Draws a photograph of a ball or a block of one colour on noisy ground: ``plain(shape, rgb)``."""

    def draw(shape, rgb):
        noise = np.random.default_rng(3).integers(70, 180, (450, 600, 3), dtype=np.uint8)
        picture = Image.fromarray(noise).resize((601, 451), Image.Resampling.BICUBIC).crop((0, 0, 600, 450))
        getattr(ImageDraw.Draw(picture), shape)([200, 150, 259, 199], fill=rgb)
        return picture

    return draw


THING = Box(200, 150, 60, 50)
PAINTED = {
    "a red ball": ("ellipse", (200, 60, 40), "the red ball", {"red"}),
    "a red ball that is only called a ball": ("ellipse", (200, 60, 40), "the ball", {"red"}),
    "a blue block": ("rectangle", (40, 80, 205), "the blue block", {"blue"}),
    "a grey ball called blue": ("ellipse", (128, 128, 128), "the blue ball", {"blue"}),
    "a purple ball": ("ellipse", (120, 50, 150), "the purple ball", {"violet"}),
    "a dark green block": ("rectangle", (25, 80, 40), "the block", {"green"}),
    "a grey block": ("rectangle", (128, 128, 128), "the block", set()),
}


@pytest.mark.parametrize(("shape", "rgb", "name", "has"), PAINTED.values(), ids=PAINTED)
def test_no_rule_paints_a_target_in_a_colour_that_its_name_or_its_pixels_have(plain, shape, rgb, name, has):
    made = proposed(plain(shape, rgb), Target(THING, name), ATTRIBUTE)
    assert {text.statement.split()[-1].rstrip(".") for text in made} == set(PAINTS) - has


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("shape", ["ellipse", "rectangle"])
def test_mirroring_what_is_the_same_on_both_sides_is_refused(plain, as_jpeg, tmp_path, shape, seed):
    photos = [Photo("a.jpg", as_jpeg(plain(shape, (40, 80, 205))), [Target(THING, "the thing")])]
    task = task_named("spatial", "differential")
    report = build_differential(photos, task, lambda *_: Ruled(seed), Procedural(), tmp_path / "out", seed=seed)
    assert any("turned round" in line and "too faint to be seen" in line for line in report["refused"])
    assert not any("turned round" in option for row in read_rows(tmp_path / "out") for option in row["options"])
    assert check_folder(tmp_path / "out")["problems"] == []


def test_a_listed_repainting_in_the_present_colour_is_refused_and_found_by_the_check(plain, as_jpeg, tmp_path):
    picture, target = plain("ellipse", (200, 60, 40)), Target(THING, "the ball")
    paints = [("red", [170, 90, 90]), *((name, list(PAINTS[name])) for name in ("blue", "green", "yellow", "violet"))]
    lines = [
        Instruction(f"Paint it {name}.", f"The ball has turned {name}.", {"op": "recolour", "rgb": rgb})
        for name, rgb in paints
    ]
    out = tmp_path / "out"
    report = build_differential(
        [Photo("a.jpg", as_jpeg(picture), [target])], ATTRIBUTE, lambda *_: Listed(lines), Procedural(), out
    )
    assert any("turned red" in line and "was red before" in line for line in report["refused"])
    assert check_folder(out)["problems"] == []
    text = (out / "test.jsonl").read_text()
    (out / "test.jsonl").write_text(text.replace("turned blue", "turned red"))
    (problem,) = check_folder(out)["problems"]
    assert re.search("'The ball has turned red.', and (9.|100)% of what the edit changes was red before", problem)


def test_the_check_finds_an_edit_that_nobody_can_see(plain, as_jpeg, tmp_path):
    out = tmp_path / "out"
    photos = [Photo("a.png", png_bytes(np.asarray(plain("rectangle", (40, 80, 205)))), [Target(THING, "the block")])]
    build_differential(photos, task_named("spatial", "differential"), lambda *_: Ruled(), Procedural(), out)
    rows = read_rows(out)
    row = next(row for row in rows if row["answer"] != "E")
    (patch,) = row["patches_2"]
    base = np.array(Image.open(out / row["image_2"]))
    x, y = patch["x"], patch["y"]
    with Image.open(out / patch["file"]) as there:
        width, height = there.size
    grain = base[y : y + height, x : x + width] ^ 4  # every pixel differs, none so that it shows
    Image.fromarray(grain).save(out / patch["file"], lossless=True)
    row["edit_area_fraction"] = width * height / (base.shape[0] * base.shape[1])
    (out / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (problem,) = check_folder(out)["problems"]
    assert problem.startswith(f"{row['id']}: the edit is too faint to be seen")
