"""Rules alone build all four differential tasks: no model, no weights, no prepared instructions."""

from __future__ import annotations

import pytest

from diffspot_hf.build.mcq.check import check_folder
from diffspot_hf.build.mcq.differential import Photo, build_differential, task_named
from diffspot_hf.build.mcq.editors.procedural import Procedural
from diffspot_hf.build.mcq.instructions import Target
from diffspot_hf.build.mcq.regions import Box
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


def test_the_seed_decides_the_order():
    def first(seed):
        return Ruled(seed).next(None, DISC, DISC.box, task_named("attribute", "differential"), []).statement

    assert first(1) == first(1)
    assert len({first(seed) for seed in range(8)}) > 2
