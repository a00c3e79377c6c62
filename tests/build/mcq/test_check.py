"""The checker passes what the builder made and names whatever was changed afterwards."""

from __future__ import annotations

import json
import shutil

import pytest

from diffspot_hf.build.mcq.check import check_folder
from diffspot_hf.build.mcq.groups import read_rows
from diffspot_hf.build.mcq.kit import load_kit
from diffspot_hf.build.mcq.review import apply_decisions
from diffspot_hf.dataset_scripts.common import sample_folder
from diffspot_hf.errors import UsageError

SAMPLE = sample_folder("dicobench")


@pytest.fixture(scope="module")
def kit():
    return load_kit(SAMPLE / "objects")


def test_the_sample_is_sound(kit):
    assert check_folder(SAMPLE, kit) == {"items": 40, "groups": 8, "problems": []}


@pytest.fixture(scope="module")
def part(tmp_path_factory):
    """Two groups of the sample, one of each track, in a folder of their own."""
    folder = tmp_path_factory.mktemp("part") / "part"
    rows = [row for row in read_rows(SAMPLE) if row["task"] in ("attribute", "category")]
    folder.mkdir()
    for row in rows:
        patches = [p["file"] for side in "12" for p in row.get(f"patches_{side}", [])]
        for name in (row["image_1"], row["image_2"], *patches):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(SAMPLE / name, folder / name)
    shutil.copyfile(SAMPLE / "scenes.json", folder / "scenes.json")
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def edited(row):
    return next(side for side in "12" if f"patches_{side}" in row)


TAMPERED = {
    "another answer": (lambda r: r | {"answer": "A" if r["answer"] != "A" else "B"}, "not each letter once"),
    "an option twice": (lambda r: r | {"options": [r["options"][0], *r["options"][:4]]}, "are the same"),
    "a patch taken away": (
        lambda r: {k: v for k, v in r.items() if "patches" not in k},
        "0 of its pictures are edited",
    ),
    "another share": (lambda r: r | {"edit_area_fraction": 0.01}, "edit_area_fraction is 0.01"),
    "a patch at another place": (
        lambda r: r | {(k := f"patches_{edited(r)}"): [r[k][0] | {"x": r[k][0]["x"] + 3}]},
        "edit_area_fraction is",
    ),
    "a patch that is not there": (
        lambda r: r | {(k := f"patches_{edited(r)}"): [r[k][0] | {"file": "none.webp"}]},
        "no such file",
    ),
    "no picture at all": (lambda r: {k: v for k, v in r.items() if k != "image_1"}, "not written by the builder"),
}


@pytest.mark.parametrize(("change", "message"), TAMPERED.values(), ids=TAMPERED)
def test_what_was_changed_is_named(part, kit, tmp_path, change, message):
    folder = shutil.copytree(part, tmp_path / "copy")
    rows = read_rows(folder)
    at = next(i for i, row in enumerate(rows) if row["answer"] not in ("E", "A"))
    rows[at] = change(rows[at])
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    problems = check_folder(folder, kit)["problems"]
    assert any(message in line for line in problems), problems


def test_an_object_in_the_wrong_scene_is_named(part, kit, tmp_path):
    folder = shutil.copytree(part, tmp_path / "copy")
    scenes = json.loads((folder / "scenes.json").read_text())
    stray = next(thing for thing in scenes["slope"] if thing["kind"] == "anchor")
    scenes["cloth"].append(stray)
    (folder / "scenes.json").write_text(json.dumps(scenes))
    problems = check_folder(folder, kit)["problems"]
    assert problems
    assert all("true are" in line for line in problems)


def decide(path, rows, **changes):
    decisions = [{"row_id": row["id"], "decision": "accept", "checks": {}, "note": ""} for row in rows]
    for entry in decisions:
        entry.update(changes.get(entry["row_id"].replace("-", "_"), {}))
    data = {"format": "diffspot-hf/decisions", "version": 1, "mode": "verify", "decisions": decisions}
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_accepted_groups_stay_and_a_rejected_item_sends_its_group_to_the_fallback(part, kit, tmp_path):
    rows = read_rows(part)
    bad = rows[2]["id"]
    reject = {bad.replace("-", "_"): {"decision": "reject", "checks": {"naturalness": "fail"}, "note": "a seam"}}
    export = decide(tmp_path / "export.json", rows, **reject)
    counts = apply_decisions(part, export, tmp_path / "out")
    assert counts == {"items": 5, "accepted": 1, "rejected": 1, "open": 0}
    assert check_folder(tmp_path / "out", kit)["problems"] == []
    (line,) = (tmp_path / "out/review/fallback.jsonl").read_text().splitlines()
    assert json.loads(line) | {"instruction": ""} == {
        "id": bad,
        "group_id": rows[2]["group_id"],
        "instruction": "",
        "failed": ["naturalness"],
        "note": "a seam",
    }


def test_a_group_that_is_not_decided_in_full_waits(part, tmp_path):
    rows = read_rows(part)
    export = decide(tmp_path / "export.json", rows[:7])
    assert apply_decisions(part, export, tmp_path / "out") == {"items": 5, "accepted": 1, "rejected": 0, "open": 1}


WRONG = {
    "no JSON": ("{", "not a readable export"),
    "another page's export": ('{"format": "diffspot-hf/decisions", "mode": "audit", "decisions": []}', "not an export"),
    "items of another set": (
        '{"format": "diffspot-hf/decisions", "mode": "verify", "decisions": [{"row_id": "x", "decision": "accept"}]}',
        "items that are not in",
    ),
    "an unknown decision": (
        '{"format": "diffspot-hf/decisions", "mode": "verify", "decisions": [{"row_id": "x", "decision": "maybe"}]}',
        "decided as 'maybe'",
    ),
    "nothing accepted": (
        '{"format": "diffspot-hf/decisions", "mode": "verify", "decisions": []}',
        "no group is accepted",
    ),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_an_export_that_cannot_be_used_says_why(part, tmp_path, text, message):
    (tmp_path / "export.json").write_text(text)
    with pytest.raises(UsageError, match=message):
        apply_decisions(part, tmp_path / "export.json", tmp_path / "out")
    assert not (tmp_path / "out").exists()
