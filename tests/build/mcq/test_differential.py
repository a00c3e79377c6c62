"""From photographs to groups of five: measured, balanced, the unusable named and the rest built."""

from __future__ import annotations

import json
from collections import Counter

import datasets
import numpy as np
import pytest

from diffspot_hf.build.mcq.differential import (
    Photo,
    build_differential,
    instructions_for,
    listed_instructions,
    listed_photos,
    task_named,
    vstar_photos,
)
from diffspot_hf.build.mcq.editors.procedural import Procedural
from diffspot_hf.build.mcq.groups import read_rows
from diffspot_hf.build.mcq.instructions import Instruction, Listed, Target
from diffspot_hf.build.mcq.regions import Box
from diffspot_hf.errors import UsageError

TASK = task_named("attribute", "differential")
DISC = Target(Box(222, 164, 36, 32), "the disc")
COLOURS = {"blue": (40, 60, 200), "green": (40, 160, 60), "white": (240, 240, 240), "violet": (140, 50, 160)}
OUTLINE = [[240 + 16 * np.cos(a), 180 + 14 * np.sin(a)] for a in np.linspace(0, 2 * np.pi, 24)]
PAINT = [
    Instruction(f"Paint it {name}.", f"The disc is {name}.", {"op": "recolour", "rgb": list(rgb), "outline": OUTLINE})
    for name, rgb in COLOURS.items()
]


class Editor:
    """A faulty editor: what it does to the picture is given."""

    def __init__(self, do):
        self.do = do

    def describe(self):
        return {"name": "faulty"}

    def edit(self, picture, target, region, instruction, seed):
        return self.do(picture.copy(), region)


def build(tmp_path, photos, instructions=PAINT, editor=None, **options):
    out = tmp_path / "out"
    report = build_differential(photos, TASK, lambda *_: Listed(instructions), editor or Procedural(), out, **options)
    return out, report


def test_a_target_becomes_a_group_of_five_with_every_letter_once(tmp_path, photo, as_jpeg):
    photos = [Photo("a.jpg", as_jpeg(photo), [DISC]), Photo("b.jpg", as_jpeg(photo, 80), [DISC])]
    out, report = build(tmp_path, photos, seed=3)
    rows = read_rows(out)
    assert report["letters"] == dict.fromkeys("ABCDE", 2)
    assert (report["items"], report["edits_kept"], report["refused"]) == (10, 8, [])
    for group in ("differential-attribute-001", "differential-attribute-002"):
        members = [row for row in rows if row["group_id"] == group]
        assert Counter(row["answer"] for row in members) == Counter("ABCDE")
        assert len({tuple(row["options"]) for row in members}) == 1
        for row in members:
            right = row["options"]["ABCDE".index(row["answer"])]
            assert ("patches_2" in row) == (row["answer"] != "E")
            assert row["answer"] == "E" or row["instruction"] in {i.text for i in PAINT if i.statement == right}
    loaded = datasets.load_dataset("dicobench", data_dir=str(out), split="test")
    same = [row["image_1"].tobytes() == row["image_2"].tobytes() for row in loaded]
    assert same == [row["answer"] == "E" for row in rows]


def test_the_queue_for_people_has_a_line_for_each_item(tmp_path, photo, as_jpeg):
    out, _ = build(tmp_path, [Photo("a.jpg", as_jpeg(photo), [DISC])])
    lines = [json.loads(line) for line in (out / "review/queue.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == [row["id"] for row in read_rows(out)]
    assert set(lines[0]["checks"]) == {"text_fidelity", "naturalness", "exclusivity", "scale"}


def paint(picture, region, where):
    picture[where] = 255
    return picture


def _brighter(picture, region):
    picture[region.slices] ^= 8
    return picture


FAULTY = {
    "an editor that leaves its region": (
        lambda p, r: paint(p, r, (slice(r.y, r.y + 20), slice(r.x - 3, r.x + 20))),
        "pixels outside its region",
    ),
    "an editor that breaks": (lambda p, r: p[10**9], "the editor failed (IndexError"),
    "an editor too faint to see": (
        _brighter,
        "too faint to be seen",
    ),
    "an editor that does nothing": (lambda p, r: p, "changed nothing"),
    "an editor that changes the size": (lambda p, r: p[:-1], "changed the size"),
}


@pytest.mark.parametrize(("do", "message"), FAULTY.values(), ids=FAULTY)
def test_a_faulty_edit_is_named_and_counted_and_ends_in_the_fallback(tmp_path, photo, as_jpeg, do, message):
    with pytest.raises(UsageError, match=r"refusals are in .*build\.json"):
        build(tmp_path, [Photo("a.jpg", as_jpeg(photo), [DISC])], editor=Editor(do))
    report = json.loads((tmp_path / "out/build.json").read_text())
    assert any(message in line for line in report["refused"])
    assert len((tmp_path / "out/review/fallback.jsonl").read_text().splitlines()) == 1
    build(tmp_path, [Photo("a.jpg", as_jpeg(photo), [DISC])])  # what a failure left is no hindrance


def test_what_fails_is_in_the_report_and_the_rest_is_built(tmp_path, photo, as_jpeg):
    picture = as_jpeg(photo)
    large = Target(Box(100, 100, 120, 100), "a wall")  # its region is over 5 % of the picture
    outside = Target(Box(470, 350, 40, 40), "a ghost")
    _, report = build(tmp_path, [Photo("a.jpg", picture, [large, outside, DISC])])
    assert (report["targets"], report["groups"]) == (3, 1)
    text = "\n".join(report["refused"])
    assert "its region takes" in text
    assert "[470, 350, 40, 40] is no box inside the picture" in text


def test_three_good_edits_are_not_enough(tmp_path, photo, as_jpeg):
    broken = [*PAINT[:3], Instruction("Melt it.", "The disc has melted.", {"op": "melt"})]
    good = Photo("b.jpg", as_jpeg(photo), [DISC])
    out = tmp_path / "out"
    made = build_differential(
        [Photo("a.jpg", as_jpeg(photo, 80), [DISC]), good],
        TASK,
        lambda p, _: Listed(PAINT if p is good else broken),
        Procedural(),
        out,
    )
    assert made["groups"] == 1
    assert made["fallback"] == [{"photo": "a.jpg", "box": list(DISC.box), "task": "attribute", "good": 3}]
    assert any("unknown operation 'melt'" in line for line in made["refused"])


def test_of_six_good_edits_four_are_drawn_by_the_seed(tmp_path, photo, as_jpeg):
    more = [
        *PAINT,
        Instruction("Stripe it.", "The disc has stripes.", {"op": "texture", "outline": OUTLINE}),
        Instruction("Dot it.", "The disc has dots.", {"op": "texture", "pattern": "dots", "outline": OUTLINE}),
    ]
    photos = [Photo("a.jpg", as_jpeg(photo), [DISC])]
    drawn = set()
    for seed in range(3):
        out, _ = build(tmp_path / str(seed), photos, more, seed=seed)
        drawn.add(frozenset(read_rows(out)[0]["options"]))
    assert len(drawn) > 1
    assert all(len(options) == 5 for options in drawn)


def test_the_same_seed_gives_the_same_folder(tmp_path, photo, as_jpeg):
    made = []
    for name in "ab":
        out, _ = build(tmp_path / name, [Photo("a.jpg", as_jpeg(photo), [DISC])], seed=7)
        made.append((out / "test.jsonl").read_bytes())
    assert made[0] == made[1]


def test_an_output_folder_that_holds_something_is_refused(tmp_path, photo, as_jpeg):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x").touch()
    with pytest.raises(UsageError, match="choose another --out"):
        build(tmp_path, [Photo("a.jpg", as_jpeg(photo), [DISC])])


def test_photographs_are_read_from_a_listing(tmp_path, photo, as_jpeg):
    (tmp_path / "a.jpg").write_bytes(as_jpeg(photo))
    lines = [
        {"image": "a.jpg", "targets": [{"box": [222, 164, 36, 32], "name": "the disc"}, {"box": [900, 0, 5, 5]}]},
        {"image": "none.jpg", "targets": [{"box": [1, 1, 5, 5]}]},
        {"image": "a.jpg", "targets": []},
        {"image": "a.jpg", "targets": [7]},
    ]
    listing = tmp_path / "photos.jsonl"
    listing.write_text("\n".join(map(json.dumps, lines)))
    refused = []
    photos = list(listed_photos(listing, lambda error: refused.append(str(error))))
    assert [photo.targets for photo in photos] == [[DISC]]
    assert len(refused) == 4
    assert "line 2" in refused[1]


def test_vstar_pictures_are_read_with_their_boxes(tmp_path, photo, as_jpeg):
    folder = tmp_path / "direct_attributes"
    folder.mkdir()
    for name in ("sa_1", "sa_2"):
        (folder / f"{name}.jpg").write_bytes(as_jpeg(photo))
    (folder / "sa_1.json").write_text(json.dumps({"target_object": ["disc"], "bbox": [[222, 164, 36, 32]]}))
    (folder / "sa_2.json").write_text(json.dumps({"target_object": ["disc"], "bbox": [[470, 164, 36, 32]]}))
    refused = []
    photos = list(vstar_photos(tmp_path, lambda error: refused.append(str(error))))
    assert [photo.targets for photo in photos] == [[Target(DISC.box, "disc")]]
    assert "sa_2.json" in refused[0]


def test_a_folder_without_vstar_pictures_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"no V\*Bench pictures"):
        list(vstar_photos(tmp_path, pytest.fail))


def test_instructions_are_read_from_a_listing(tmp_path):
    path = tmp_path / "i.jsonl"
    good = {
        "image": "x/a.jpg",
        "instruction": "Paint it.",
        "statement": "It is painted.",
        "operation": {"op": "remove"},
    }
    path.write_text("\n".join(map(json.dumps, [good, {"image": "a.jpg"}, good | {"operation": 3}])))
    refused = []
    (found,) = listed_instructions(path, lambda error: refused.append(str(error)))
    assert found.instruction == Instruction("Paint it.", "It is painted.", {"op": "remove"})
    assert len(refused) == 2


def test_an_unknown_task_names_those_there_are():
    with pytest.raises(UsageError, match="attribute, entity, spatial, reasoning"):
        task_named("instance", "differential")


def test_photographs_without_compression_are_edited_too(tmp_path, photo):
    from diffspot_hf.build.mcq.patches import png_bytes

    _, report = build(tmp_path, [Photo("a.png", png_bytes(np.asarray(photo)), [DISC])])
    assert report["groups"] == 1


FOR_WHOM = {
    "the photograph's name": ({"image": "x/a.jpg"}, ["disc", "cup"]),
    "its name without folder": ({"image": "a.jpg"}, ["disc", "cup"]),
    "one target": ({"image": "a.jpg", "target": "cup"}, ["cup"]),
    "another folder": ({"image": "y/a.jpg"}, []),
}


@pytest.mark.parametrize(("line", "names"), FOR_WHOM.values(), ids=FOR_WHOM)
def test_an_instruction_goes_to_the_targets_it_is_for(tmp_path, line, names):
    path = tmp_path / "i.jsonl"
    path.write_text(json.dumps(line | {"instruction": "Do.", "statement": "Done."}))
    lines = listed_instructions(path, pytest.fail)
    targets = [Target(DISC.box, name) for name in ("disc", "cup")]
    seen = Photo("a-123.jpg", b"", targets, "x/a.jpg")
    assert [target.name for target in targets if instructions_for(lines, seen, target)] == names
