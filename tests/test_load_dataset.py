"""The first door: ``load_dataset("diffspot")`` in every order of imports, offline, from any folder."""

from __future__ import annotations

import json
import re
import shutil

import datasets
import pytest

import diffspot_hf
from diffspot_hf.dataset_scripts.common import refused_rows, write_parquet
from diffspot_hf.dataset_scripts.diffspot import FEATURES, Diffspot
from diffspot_hf.dataset_scripts.diffspot import README as README_TEXT
from diffspot_hf.errors import UsageError
from diffspot_hf.loading import fingerprint, is_sample, rows_for

OFFICIAL = (
    *("id", "image_before", "image_after", "user_query", "ground_truth_diff", "mutations_text", "mutation_types"),
    *("mutation_dicts_json", "task_type", "difficulty", "domain", "pixel_diff", "target_diff", "outside_diff"),
    *("target_bbox_x", "target_bbox_y", "target_bbox_w", "target_bbox_h"),
)
ORDERS = {
    "ours first": "import diffspot_hf\nfrom datasets import load_dataset",
    "datasets first": "import datasets\nimport diffspot_hf\nfrom datasets import load_dataset",
    "name bound before ours": "from datasets import load_dataset\nimport diffspot_hf",
    "inspect imported first": "import datasets.inspect\nimport diffspot_hf\nfrom datasets import load_dataset",
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_the_bare_name_resolves_in_every_order_of_imports(python, order):
    done = python(f'{order}\nprint(load_dataset("diffspot", split="test").num_rows)')
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 16


def test_importing_the_package_imports_nothing_heavy(python):
    heavy = ("datasets", "evaluate", "torch", "transformers", "numpy", "PIL", "pyarrow", "huggingface_hub")
    done = python(f"import diffspot_hf, sys\nprint([name for name in {heavy} if name in sys.modules])")
    assert done.stdout.strip() == "[]", done.stderr


def test_a_process_without_our_import_reads_what_prepare_left(python, tmp_path):
    home = str(tmp_path / "hf")
    first = python("from diffspot_hf.cli import main\nraise SystemExit(main(['prepare']))", HF_HOME=home)
    assert first.returncode == 0, first.stderr
    second = python(
        "import sys\nfrom datasets import load_dataset\n"
        'print(load_dataset("diffspot", "sample", split="test").num_rows)\nassert "diffspot_hf" not in sys.modules',
        HF_HOME=home,
    )
    assert second.returncode == 0, second.stderr
    assert int(second.stdout) >= 16


def test_streaming_gives_the_rows_of_the_ordinary_load():
    streamed = datasets.load_dataset("diffspot", split="test", streaming=True)
    ordinary = datasets.load_dataset("diffspot", split="test")
    assert [row["id"] for row in streamed] == ordinary["id"][:]
    first, same = next(iter(streamed)), ordinary[0]
    assert first["image_before"].tobytes() == same["image_before"].tobytes()


def test_the_official_columns_come_first_and_keep_their_names():
    assert tuple(FEATURES)[: len(OFFICIAL)] == OFFICIAL
    assert datasets.get_dataset_config_names("diffspot") == ["sample", "local", "official"]


@pytest.mark.parametrize("how", ["data_dir", "data_files"])
def test_a_folder_of_ones_own_is_the_configuration_local(pairs, how):
    where = str(pairs) if how == "data_dir" else str(pairs / "test.jsonl")
    rows = datasets.load_dataset("diffspot", split="test", **{how: where})
    assert (rows.num_rows, rows.info.config_name) == (8, "local")
    assert rows[0]["operator"] == "color"
    assert rows[0]["family"] == "color"


def test_a_picture_replaced_in_place_is_not_served_from_the_cache(pairs, tmp_path):
    folder = shutil.copytree(pairs, tmp_path / "copy")
    before = datasets.load_dataset("diffspot", data_dir=str(folder), split="test")[0]["image_before"].getpixel((0, 0))
    shutil.copy(folder / "images/1-after.png", folder / "images/0-before.png")
    after = datasets.load_dataset("diffspot", data_dir=str(folder), split="test")[0]["image_before"].getpixel((0, 0))
    assert before != after


REFUSED = {
    "a revision that would be ignored": (dict(revision="main"), "revision='main' would be ignored"),
    "local without data": (dict(name="local"), "needs data_dir= or data_files="),
    "sample with data": (dict(name="sample", data_dir="{pairs}"), "has its own data"),
    "a folder that is not there": (dict(data_dir="/nowhere/at/all"), "no such data folder"),
    "a folder without rows": (dict(data_dir="{empty}"), "holds no rows"),
    "a file that is not there": (dict(data_files="/nowhere/x.jsonl"), "Unable to find"),
    "another split": (dict(data_files={"train": "x.jsonl"}), 'the only split is "test"'),
    "official without a network": (dict(name="official"), "could not be fetched"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_a_call_that_cannot_work_says_why(pairs, tmp_path, options, message):
    filled = {
        key: value.format(pairs=pairs, empty=tmp_path) if isinstance(value, str) else value
        for key, value in options.items()
    }
    with pytest.raises(UsageError, match=message):
        datasets.load_dataset("diffspot", **filled)


def test_an_unknown_configuration_names_those_there_are():
    with pytest.raises(ValueError, match="sample.*local.*official"):
        datasets.load_dataset("diffspot", "nope")


def _without(column):
    return lambda row: {key: value for key, value in row.items() if key != column}


BROKEN = {
    "a required column is missing": (_without("task_type"), "no value in column task_type"),
    "a picture is missing": (lambda row: row | {"image_after": "images/none.png"}, "images/none.png.*no such file"),
    "a picture outside the folder": (lambda row: row | {"image_after": "../x.png"}, "leaves the data folder"),
    "an absolute picture": (lambda row: row | {"image_after": "/etc/hostname"}, "absolute paths are refused"),
    "a picture by URL": (lambda row: row | {"image_after": "http://example.invalid/x.png"}, "no URLs"),
    "a picture that names a path in an object": (
        lambda row: row | {"image_after": {"path": "/etc/hostname"}},
        "a path relative to test.jsonl is expected",
    ),
    "a picture by URL in an object": (
        lambda row: row | {"image_after": {"path": "http://127.0.0.1:1/x.png", "bytes": None}},
        "a path relative to test.jsonl is expected",
    ),
    "a picture with bytes in JSON": (lambda row: row | {"image_after": {"bytes": "abc"}}, "a path relative to"),
    "a picture that is a number": (lambda row: row | {"image_after": 5}, "a path relative to test.jsonl is expected"),
    "a picture that is a list": (lambda row: row | {"image_after": ["a"]}, "a path relative to test.jsonl is expected"),
    "a picture that is none": (lambda row: row | {"image_after": "test.jsonl"}, "not a readable picture"),
    "a picture that is cut": (lambda row: row | {"image_after": "images/cut.png"}, "cut.png: not a readable picture"),
    "a name that no file can have": (lambda row: row | {"image_after": "\ud800.png"}, "surrogates not allowed"),
    "a link to itself": (lambda row: row | {"image_after": "images/loop.png"}, "loop"),
    "an id that is a list": (lambda row: row | {"id": ["a"]}, "an id is a text or a number"),
    "an empty id": (lambda row: row | {"id": ""}, "an id is a text or a number"),
    "a text that cannot be written": (lambda row: row | {"domain": "\ud800"}, "column domain cannot hold"),
    "an object where a text should be": (lambda row: row | {"difficulty": {"a": 1}}, "column difficulty cannot hold"),
    "a number too large": (lambda row: row | {"target_diff": 10**30}, "column target_diff cannot hold"),
    "an id twice": (lambda row: row | {"id": "pair-1"}, "'pair-1' stands twice"),
}


@pytest.mark.parametrize(("change", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_row_is_named_with_file_and_line(pairs, tmp_path, change, message):
    folder = shutil.copytree(pairs, tmp_path / "broken")
    (folder / "images/cut.png").write_bytes((folder / "images/0-after.png").read_bytes()[:-40])
    (folder / "images/loop.png").symlink_to("loop.png")
    lines = [json.loads(line) for line in (folder / "test.jsonl").read_text().splitlines()]
    lines[0] = change(lines[0])
    (folder / "test.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    with pytest.raises(UsageError, match=message) as caught:
        diffspot_hf.load_dataset("diffspot", data_dir=str(folder), strict=True)
    assert "test.jsonl, line" in str(caught.value)
    rows = diffspot_hf.load_dataset("diffspot", data_dir=str(folder))
    assert len(rows) == 7  # the others are read
    assert [message in line or bool(re.search(message, line)) for line in refused_rows(rows.info)] == [True]


def test_bad_rows_are_left_out_named_and_counted_and_the_rest_is_read(pairs, tmp_path):
    folder = shutil.copytree(pairs, tmp_path / "broken")
    lines = (folder / "test.jsonl").read_text().splitlines()
    lines[1] = lines[1].replace("images/1-after.png", "../1-after.png")
    lines.insert(4, '{"id": "torn')
    (folder / "test.jsonl").write_text("\n".join(lines) + "\n")
    for _ in ("read", "from the cache"):
        rows = diffspot_hf.load_dataset("diffspot", data_dir=str(folder))
        assert rows["id"][:] == [f"pair-{i}" for i in (0, 2, 3, 4, 5, 6, 7)]
        refused = refused_rows(rows.info)
        assert [line.split(":")[0].split(", ", 1)[1] for line in refused] == [
            "line 2 (id 'pair-1'), column image_after",
            "line 5",
        ]


def test_a_folder_without_one_good_row_is_refused(pairs, tmp_path):
    (tmp_path / "test.jsonl").write_text('{"id": "a"}\n')
    with pytest.raises(UsageError, match="no row can be used"):
        diffspot_hf.load_dataset("diffspot", data_dir=str(tmp_path))


def test_the_parquet_copy_is_read_without_this_package(python, pairs, tmp_path):
    out = tmp_path / "copy"
    assert write_parquet(Diffspot, pairs, out, README_TEXT) == 8
    done = python(
        "import sys\nfrom datasets import load_dataset\nrows = load_dataset(sys.argv[1], split='test')\n"
        "print(rows.num_rows, rows[0]['image_before'].size, 'diffspot_hf' in sys.modules)",
        str(out),
    )
    assert done.stdout.split() == ["8", "(64,", "48)", "False"], done.stderr
    again = datasets.load_dataset("diffspot", data_dir=str(out), split="test")
    assert again["id"][:] == [f"pair-{i}" for i in range(8)]
    with pytest.raises(UsageError, match="not an empty folder"):
        write_parquet(Diffspot, pairs, out, README_TEXT)


def test_the_sample_is_known_by_its_pictures_whatever_it_is_called(tmp_path, pairs):
    copy = tmp_path / "my own pages"
    write_parquet(Diffspot, None, copy, README_TEXT)
    assert is_sample("diffspot", fingerprint(rows_for("diffspot", str(copy)))[1])
    assert not is_sample("diffspot", fingerprint(rows_for("diffspot", str(pairs)))[1])


def test_the_fingerprint_depends_on_every_value_but_not_on_the_order(pairs, tmp_path):
    rows = rows_for("diffspot", str(pairs))
    digest, _ = fingerprint(rows)
    assert fingerprint(rows.select(range(7, -1, -1)))[0] == digest
    edited = rows.map(
        lambda row: row | {"ground_truth_diff": row["ground_truth_diff"] + "!"}, load_from_cache_file=False
    )
    assert fingerprint(edited)[0] != digest
