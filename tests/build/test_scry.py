"""From annotations to a data set, and from a data set to a pilot."""

from __future__ import annotations

import gzip
import json
import struct
import zlib

import pytest
from PIL import Image

from diffspot_hf.build.scry import from_annotations, pilot
from diffspot_hf.cli import main
from diffspot_hf.dataset_scripts.common import write_parquet
from diffspot_hf.dataset_scripts.scry_design_diff import README, ScryDesignDiff
from diffspot_hf.errors import UsageError
from diffspot_hf.loading import load

BOX = {"x": 0.1, "y": 0.2, "w": 0.3, "h": 0.1}
GOOD = {"labels": ["Typography"], "note": "smaller", "box_a": BOX, "box_b": None}


def enormous_png():
    """A PNG of a few bytes that declares 60,000 x 60,000 pixels."""
    header = b"IHDR" + struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    end = b"\0\0\0\0IEND" + struct.pack(">I", zlib.crc32(b"IEND"))
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header)) + end


@pytest.fixture
def images(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for name, colour in (("a.png", "white"), ("b.png", "black")):
        Image.new("RGB", (39, 84), colour).save(folder / name)
    (folder / "empty.png").touch()
    (folder / "cut.png").write_bytes((folder / "a.png").read_bytes()[:60])
    (folder / "enormous.png").write_bytes(enormous_png())
    (folder / "notes.txt").write_text("no picture")
    (folder / "loop.png").symlink_to("loop.png")
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
    assert report["controls_with_unusable_annotations"] == ["only unusable"]


def test_the_terminal_says_what_was_left_out(tmp_path, images, capsys):
    unusable = [GOOD | {"labels": []}, GOOD | {"box_a": None}]
    screens = [screen("one", [GOOD]), screen("was marked", unusable), screen("bad", [], image_a="notes.txt")]
    file = export(tmp_path, screens)
    words = ["build", "scry", "--annotations", str(file), "--images", str(images), "--out", str(tmp_path / "out")]
    assert main(words) == 0
    said = capsys.readouterr()
    assert "2 screens (no-tagged 1, single 1, multi 0, dense 0), 1 issues" in said.out
    assert "0 screens not completed, 1 refused; annotations 1 without tag, 1 without box" in said.out
    assert "no annotation can be used: id 'was marked'" in said.err
    assert f"refused: {file}, screen 2 (id 'bad'): image_a: notes.txt: not a readable picture" in said.err


def test_what_a_refused_screen_holds_is_neither_counted_nor_copied(tmp_path, images):
    Image.new("RGB", (39, 84), "red").save(images / "red.png")
    bad = screen("bad", [GOOD | {"labels": []}], image_a="red.png", image_b="empty.png")
    report = from_annotations(export(tmp_path, [screen("one", [GOOD]), bad]), images, tmp_path / "out")
    assert report["annotations_without_tag"] == 0
    assert len(list((tmp_path / "out" / "images").iterdir())) == 2


@pytest.mark.parametrize(("cut", "bucket"), [(4, "multi"), (3, "dense")])
def test_the_cut_between_multi_and_dense_is_a_parameter(tmp_path, images, cut, bucket):
    from_annotations(export(tmp_path, [screen("x", [GOOD] * 3)]), images, tmp_path / "out", dense_from=cut)
    assert load("scry_design_diff", data_dir=str(tmp_path / "out"))[0]["bucket"] == bucket


BAD = [
    ("a picture outside the folder", {"image_b": "../secret.png"}, "image_b: '../secret.png': leaves"),
    ("a picture that is not there", {"image_a": "none.png"}, "image_a: 'none.png': no such file"),
    ("a picture by URL", {"image_a": "https://example.invalid/x.png"}, "no URLs"),
    ("a link to itself", {"image_a": "loop.png"}, "image_a: 'loop.png'"),
    ("a picture that is a number", {"image_a": 5}, "image_a: 5: a path"),
    ("an empty picture", {"image_a": "empty.png"}, "image_a: empty.png: not a readable picture"),
    ("a cut picture", {"image_b": "cut.png"}, "image_b: cut.png: not a readable picture"),
    ("an enormous picture", {"image_b": "enormous.png"}, "too large"),
    ("a text as picture", {"image_b": "notes.txt"}, "image_b: notes.txt: not a readable picture"),
    ("no id", {"id": ""}, "without id): a screen needs an id"),
    ("an id of another type", {"id": ["x"]}, "without id): a screen needs an id"),
    ("half a character as id", {"id": "\ud800"}, "UTF-8"),
    ("half a character in a note", {"annotations": [GOOD | {"note": "\udc00"}]}, "UTF-8"),
    ("an annotation that is none", {"annotations": ["text"]}, "an annotation is no object: 'text'"),
    ("annotations that are a number", {"annotations": 5}, "annotations must be a list, not 5"),
    ("annotations that are an object", {"annotations": {}}, "annotations must be a list, not {}"),
    ("no annotations", {"annotations": None}, "annotations must be a list, not None"),
    ("labels that are a number", {"annotations": [GOOD | {"labels": 5}]}, "a list of labels"),
    ("a note that is a list", {"annotations": [GOOD | {"note": []}]}, "a text as note"),
    ("completed as text", {"completed": "false"}, "completed must be true or false, not 'false'"),
    ("completed as number", {"completed": 1}, "completed must be true or false, not 1"),
]


@pytest.mark.parametrize(("change", "reason"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_a_screen_that_cannot_be_used_is_named_and_the_rest_goes_on(tmp_path, images, change, reason):
    file = export(tmp_path, [screen("good", [GOOD]), screen("bad", []) | change])
    report = from_annotations(file, images, tmp_path / "out")
    assert report["rows"] == 1
    (said,) = report["refused"]
    assert said.startswith(f"{file}, screen 1 (")
    assert reason in said
    assert "\n" not in said
    with pytest.raises(UsageError) as caught:
        from_annotations(file, images, tmp_path / "strict", strict=True)
    assert str(caught.value).partition(" object at")[0] == said.partition(" object at")[0]  # Pillow names an address
    assert not (tmp_path / "strict").exists()


def test_a_screen_that_is_no_object_is_named(tmp_path, images):
    report = from_annotations(export(tmp_path, [screen("good", []), 5]), images, tmp_path / "out")
    assert "screen 1 (without id)" in report["refused"][0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": "other", "screens": []}',
        "[" * 100_000,
        '{"format": "diffspot-hf/annotations", "version": 1, "screens": 5}',
        '{"format": "diffspot-hf/annotations", "version": 2, "screens": []}',
        '{"format": "diffspot-hf/annotations", "version": "1", "screens": []}',
        '{"format": "diffspot-hf/annotations", "version": true, "screens": []}',
        '{"format": "diffspot-hf/annotations", "screens": []}',
    ],
    ids=lambda text: text[:80],
)
def test_what_is_no_export_is_refused(tmp_path, images, text):
    (tmp_path / "export.json").write_text(text)
    with pytest.raises(UsageError, match="export"):
        from_annotations(tmp_path / "export.json", images, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_export_that_is_a_link_to_itself_is_refused(tmp_path, images):
    (tmp_path / "export.json").symlink_to("export.json")
    with pytest.raises(UsageError, match="export.json: not a readable export"):
        from_annotations(tmp_path / "export.json", images, tmp_path / "out")


def test_an_id_twice_is_refused_with_both_positions(tmp_path, images):
    file = export(tmp_path, [screen("x", []), screen("y", []), screen("x", [])])
    says = f"{file}, screen 2 (id 'x'): the id stands twice, first at screen 0"
    with pytest.raises(UsageError) as caught:
        from_annotations(file, images, tmp_path / "strict", strict=True)
    assert str(caught.value) == says
    report = from_annotations(file, images, tmp_path / "out")
    assert (report["rows"], report["refused"]) == (2, [says])


@pytest.mark.parametrize("cut", [1, 0, -3, 2.5, True, "4"])
def test_an_impossible_cut_is_refused(tmp_path, images, cut):
    with pytest.raises(UsageError, match=f"--dense-from {cut}: "):
        from_annotations(export(tmp_path, [screen("x", [])]), images, tmp_path / "out", dense_from=cut)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"completed": False}, "no completed screen can be used$"),
        ({"image_a": "none.png"}, "no completed screen can be used; .*screen 0 \\(id 'x'\\): image_a: 'none.png'"),
    ],
)
def test_an_export_without_a_usable_screen_is_refused(tmp_path, images, change, reason):
    with pytest.raises(UsageError, match=reason):
        from_annotations(export(tmp_path, [screen("x", []) | change]), images, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_of_pictures_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="--images .*none: no such folder"):
        from_annotations(export(tmp_path, [screen("x", [])]), tmp_path / "none", tmp_path / "out")


def test_after_a_failure_the_same_command_works_once_its_cause_is_mended(tmp_path, images):
    file = export(tmp_path, [screen("x", []), screen("bad", [], image_b="late.png")])
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UsageError, match="late.png"):
        from_annotations(file, images, tmp_path / "out", strict=True)
    assert sorted(tmp_path.iterdir()) == before
    (images / "late.png").write_bytes((images / "a.png").read_bytes())
    assert from_annotations(file, images, tmp_path / "out", strict=True)["rows"] == 2
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["build.json", "images", "test.jsonl"]


OUT = ["/proc/x/y", "/proc/x", "/dev/null/x", "full", "loop"]


@pytest.mark.parametrize("out", OUT)
@pytest.mark.parametrize("command", ["annotations", "synthetic", "pilot"])
def test_an_out_that_cannot_be_written_is_one_line(tmp_path, images, data, capsys, command, out):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    file = export(tmp_path, [screen("x", [])])
    words = {
        "annotations": ["scry", "--annotations", str(file), "--images", str(images)],
        "synthetic": ["scry", "--synthetic"],
        "pilot": ["scry-pilot", "--data", str(data), "--per-bucket", "1"],
    }
    assert main(["build", *words[command], "--out", str(tmp_path / out)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith(f"error: {tmp_path / out}: ")


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


def lines(data):
    return (data / "test.jsonl").read_text(encoding="utf-8").splitlines()


def change_line(data, number, **changes):
    """Line `number` of the data set changed; a key changed to None is taken out."""
    rows = [json.loads(line) for line in lines(data)]
    rows[number - 1] = {key: value for key, value in (rows[number - 1] | changes).items() if value is not None}
    (data / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


BAD_ROWS = [
    ("an id twice", {"id": "no-tagged-0"}, "line 2: id 'no-tagged-0' stands twice, first at {file}, line 1"),
    ("no id", {"id": None}, "line 2: no value in column id"),
    ("an id that is none", {"id": True}, "line 2: an id is a text or a number, not True"),
    ("no image_b", {"image_b": None}, "line 2: no value in column image_b"),
    ("issues that are a number", {"issues": 5}, "line 2: issues must be a list, found int"),
    ("no issues", {"issues": None}, "line 2: no value in column issues"),
    ("an issue without a tag", {"issues": [{"labels": [], "box_a": BOX}]}, "line 2: issue 0 has no tag"),
    ("an issue without a box", {"issues": [{"labels": ["other"]}]}, "line 2: issue 0 has no box on either side"),
    ("a picture that is not there", {"image_a": "none.png"}, "line 2: image_a: 'none.png': no such file"),
    ("half a character", {"meta": "\ud800"}, "line 2: cannot be written as JSON in UTF-8"),
]


@pytest.mark.parametrize(("change", "reason"), [case[1:] for case in BAD_ROWS], ids=[case[0] for case in BAD_ROWS])
def test_a_row_that_a_pilot_cannot_use_is_named_and_nothing_is_left(data, tmp_path, change, reason):
    change_line(data, 2, **change)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UsageError) as caught:
        pilot(data, tmp_path / "pilot", per_bucket=6, strict=True)
    file = data / "test.jsonl"
    expected = f"{file}, {reason.format(file=file)}"
    assert str(caught.value).startswith(expected)
    with pytest.raises(UsageError, match="bucket no-tagged has 5 screens, 6 are asked for .1 rows are refused"):
        pilot(data, tmp_path / "pilot", per_bucket=6)
    assert sorted(tmp_path.iterdir()) == before
    (refused,) = pilot(data, tmp_path / "pilot", per_bucket=5)["refused"]
    assert refused.startswith(expected)


def test_a_pilot_of_nothing_or_of_no_data_is_refused(data, tmp_path):
    with pytest.raises(UsageError, match="--per-bucket 0: at least one"):
        pilot(data, tmp_path / "pilot", per_bucket=0)
    with pytest.raises(UsageError, match="none: no such data folder"):
        pilot(tmp_path / "none", tmp_path / "pilot")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "rows.parquet").write_text("none")
    with pytest.raises(UsageError, match="rows.parquet: not a readable Parquet file"):
        pilot(tmp_path / "broken", tmp_path / "pilot")


def test_rows_without_bucket_get_it_as_from_the_loader(data, tmp_path):
    asked = pilot(data, tmp_path / "asked", per_bucket=3)["ids"]
    for number, line in enumerate(lines(data), start=1):
        row = json.loads(line)
        change_line(data, number, bucket=None, split=row["bucket"] if number % 2 else None)
    assert pilot(data, tmp_path / "pilot", per_bucket=3)["ids"] == asked
    assert all(json.loads(line)["bucket"] for line in lines(tmp_path / "pilot"))


def as_other_name(data, folder):
    (data / "test.jsonl").rename(data / "rows.jsonl")
    return data


def as_two_files(data, folder):
    first, *rest = lines(data)
    (data / "a.jsonl").write_text(first + "\n")
    (data / "test.jsonl").write_text("\n".join(rest) + "\n")
    return data


def as_gzip(data, folder):
    (data / "test.jsonl.gz").write_bytes(gzip.compress((data / "test.jsonl").read_bytes()))
    (data / "test.jsonl").unlink()
    return data


def as_parquet(data, folder):
    write_parquet(ScryDesignDiff, data, folder / "parquet", README)
    return folder / "parquet"


@pytest.mark.parametrize("kept_as", [as_other_name, as_two_files, as_gzip, as_parquet])
def test_a_pilot_is_drawn_from_whatever_the_loader_reads(data, tmp_path, kept_as):
    asked = pilot(data, tmp_path / "asked", per_bucket=2)
    made = pilot(kept_as(data, tmp_path), tmp_path / "pilot", per_bucket=2)
    assert (made["ids"], made["issues"], made["source"]["rows"]) == (asked["ids"], asked["issues"], 24)
    first, second = (load("scry_design_diff", data_dir=str(tmp_path / name)) for name in ("asked", "pilot"))
    assert first["issues"] == second["issues"]
    assert [picture.tobytes() for picture in first["image_b"]] == [picture.tobytes() for picture in second["image_b"]]


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        (".", "is a folder"),
        ("pilot", "is a folder"),
        ("data/test.jsonl", "would replace the rows"),
        ("pilot/test.jsonl", "would replace the rows"),
        ("/proc/x/manifest.json", "cannot be written"),
        ("data/test.jsonl/x", "cannot be written"),
    ],
)
def test_a_manifest_that_cannot_be_written_is_refused_before_anything_is(data, tmp_path, manifest, reason):
    rows = lines(data)
    with pytest.raises(UsageError, match=reason):
        pilot(data, tmp_path / "pilot", per_bucket=1, manifest=tmp_path / manifest)
    assert not (tmp_path / "pilot").exists()
    assert lines(data) == rows


@pytest.mark.parametrize("manifest", [None, "pilot.json", "pilot/own.json", "new/folder/pilot.json"])
def test_the_manifest_stands_where_it_is_asked_for(data, tmp_path, manifest):
    made = pilot(data, tmp_path / "pilot", per_bucket=1, manifest=manifest and tmp_path / manifest)
    assert json.loads((tmp_path / (manifest or "pilot/manifest.json")).read_text()) == made
