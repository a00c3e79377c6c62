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
    "an unknown task": (lambda r: r | {"task": "colour"}, "unknown task 'colour' on track 'differential'"),
    "an empty question": (lambda r: r | {"question": " "}, "no question"),
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
    "a box outside": (lambda r: r | {"bbox_1": {"x": -1, "y": 0, "w": 5, "h": 5}}, "no box inside the picture"),
    "no box": (lambda r: r | {"bbox_2": None}, "bbox_2 is missing"),
    "another claim": (
        lambda r: r | {"claims": [{"kind": "edit", "statement": "x"}] * 4 + r["claims"][4:]},
        "its claim",
    ),
    "no instruction": (lambda r: r | {"instruction": None}, "its instruction is None"),
    "another instruction than its claim's": (
        lambda r: r | {"claims": [c | ({} if c["kind"] == "nothing" else {"instruction": "x"}) for c in r["claims"]]},
        "is true after 'x'",
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


def test_an_id_twice_and_a_share_where_nothing_is_edited_are_named(part, kit, tmp_path):
    folder = shutil.copytree(part, tmp_path / "copy")
    rows = read_rows(folder)
    rows = [row | {"id": "x"} | ({"edit_area_fraction": 0.1} if row["answer"] == "E" else {}) for row in rows]
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    text = "\n".join(check_folder(folder, kit)["problems"])
    assert "x: 10 rows have this id" in text
    assert "edit_area_fraction is 0.1, and nothing is edited" in text


def test_where_everything_is_rejected_the_fallback_is_written(part, tmp_path):
    rows = read_rows(part)
    changes = {row["id"].replace("-", "_"): {"decision": "reject"} for row in rows}
    export = decide(tmp_path / "export.json", rows, **changes)
    assert apply_decisions(part, export, tmp_path / "out")["items"] == 0
    assert len((tmp_path / "out/review/fallback.jsonl").read_text().splitlines()) == 10


def test_a_folder_that_is_not_there_is_one_line(part, tmp_path):
    export = decide(tmp_path / "export.json", read_rows(part))
    with pytest.raises(UsageError, match="cannot be read"):
        apply_decisions(tmp_path / "none", export, tmp_path / "out")


def decisions(*entries):
    return json.dumps({"format": "diffspot-hf/decisions", "mode": "verify", "decisions": list(entries)})


WRONG = {
    "checks that are no object": (decisions({"row_id": "x", "checks": [1]}), "checks must be an object"),
    "accepted with a failed check": (
        decisions({"row_id": "x", "decision": "accept", "checks": {"scale": "fail"}}),
        "is accepted, and it failed scale",
    ),
    "decided twice": (
        decisions({"row_id": "x", "decision": "accept"}, {"row_id": "x", "decision": "reject"}),
        "as 'accept' and as 'reject'",
    ),
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
