"""The released layout is read unchanged; what cannot be used is named, and the rest goes on."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import datasets
import pytest

from diffspot_hf.build.mcq.tasks import TASKS
from diffspot_hf.cli import main
from diffspot_hf.dataset_scripts.common import commit_read, refused_rows
from diffspot_hf.dataset_scripts.dicobench import DiCoBench
from diffspot_hf.errors import UsageError
from diffspot_hf.loading import rows_for

ATTRIBUTE = "vstar_questions_from_difference_attribute.json"
COMMON = "vstar_questions_from_common_spatial.json"


def item(number, **changes):
    made = {
        "image": f"images/{number}.png",
        "output_image": f"images/{number}-edited.png",
        "question": "What differs?",
        **{letter: f"Change {letter} of group {number // 5}." for letter in "ABCD"},
        "E": "There is no visible difference between the two images.",
        "answer": "ABCDE"[number % 5],
        "mask": [10, 10, 20, 20],
        "expanded_mask": [5, 5, 30, 30],
        "instruction": "Paint it red.",
    }
    return {key: value for key, value in (made | changes).items() if value is not None}


def load(root):
    return datasets.load_dataset("dicobench", data_dir=str(root), split="test")


def read(root):
    """The usable rows and the reasons for which others were refused, without writing a data set."""
    refused = []
    builder = DiCoBench(cache_dir=str(root / "cache"), data_dir=str(root))
    rows = [row for _, row in builder.read(root / "dataset_index.json", lambda error: refused.append(str(error)))]
    return rows, refused


def test_track_and_task_come_from_the_file_name_and_the_rest_from_the_item(released):
    rows = load(released({ATTRIBUTE: [item(n) for n in range(10)], COMMON: [item(n, mask=None) for n in range(5)]}))
    assert rows.num_rows == 15
    first = rows[0]
    assert (first["track"], first["task"], first["answer"]) == ("differential", "attribute", "A")
    assert first["options"][1] == "Change B of group 0."
    assert first["bbox_1"] == first["bbox_2"] == {"x": 5, "y": 5, "w": 30, "h": 30}
    assert first["instruction"] == "Paint it red."
    assert len(set(rows["group_id"])) == 10 + 1  # attribute items group by picture and options, these have ten pictures
    last = rows[14]
    assert (last["track"], last["task"], last["bbox_1"]) == ("commonality", "spatial", None)


def test_every_released_file_name_is_a_task(released):
    rows, _ = read(released({task.file: [item(0)] for task in TASKS}))
    assert [(row["track"], row["task"]) for row in rows] == [task.key for task in TASKS]
    assert sum(task.count for task in TASKS) == 765


def test_items_of_one_picture_and_one_set_of_options_are_a_group(released):
    same = [item(0, answer=letter, output_image=f"images/{i}-edited.png") for i, letter in enumerate("ABCDE")]
    assert len({row["group_id"] for row in read(released({ATTRIBUTE: same}))[0]}) == 1


def test_masks_are_read_in_the_frame_that_fits_the_file(released):
    corners = [item(n, expanded_mask=[30, 20, 60, 40]) for n in range(3)]  # as xywh they would leave a 64 x 48 picture
    rows, _ = read(released({ATTRIBUTE: corners}))
    assert rows[0]["bbox_1"] == {"x": 30, "y": 20, "w": 30, "h": 20}


@pytest.mark.parametrize("read_it", [load, lambda root: rows_for("dicobench", str(root))], ids=["load", "a run"])
def test_numbers_that_differ_from_the_release_are_said_on_every_load(released, caplog, read_it):
    root = released({ATTRIBUTE: [item(n) for n in range(3)]})
    for _ in ("read", "from the cache"):
        caplog.clear()
        read_it(root)
        assert caplog.text.count("differential attribute has 3 rows, the released benchmark has 85") == 1
        assert caplog.text.count("the released benchmark has") == 8


def test_the_command_line_says_them_too(released, tmp_path, capsys, caplog):
    root = released({ATTRIBUTE: [item(n, **({"B": " "} if n == 2 else {})) for n in range(5)]})
    for n in range(2):
        caplog.clear()
        words = ["--data", root, "--model", "oracle", "--out", tmp_path / f"run-{n}", "--no-progress"]
        assert main(["run", "dicobench", *map(str, words)]) == 0, capsys.readouterr()
        assert caplog.text.count("differential attribute has 4 rows, the released benchmark has 85") == 1
        assert caplog.text.count("no text in B") == 1


@pytest.mark.parametrize("side", ["image", "output_image"])
@pytest.mark.parametrize("mask", [[5, 5, 30, 30], None], ids=["a mask", "no mask"])
def test_a_broken_picture_is_named_as_that_whatever_the_mask(released, side, mask):
    broken = "images/9.png"
    root = released({ATTRIBUTE: [item(0, expanded_mask=mask, mask=None, **{side: broken}), item(1)]})
    (root / broken).write_bytes(b"\xff\xd8\xff\xe0 no more of a JPEG")
    rows, (line,) = read(root)
    assert len(rows) == 1
    assert "9.png: not a readable picture" in line
    assert "mask" not in line


BROKEN = {
    "an option is missing": (dict(C=None), "no text in C"),
    "an option is blank": (dict(B="  "), "no text in B"),
    "an option stands twice": (dict(B="change a of group 0"), "options A and B are the same"),
    "the answer is no letter": (dict(answer="F"), "the answer 'F' is not among the letters"),
    "the answer is a text": (dict(answer="Change A of group 0."), "is not among the letters"),
    "the picture is missing": (dict(image="images/none.png"), "images/none.png.*no such file"),
    "the picture lies elsewhere": (dict(image="../secret.png"), "leaves the data folder"),
    "the mask lies outside": (
        dict(expanded_mask=[60, 40, 30, 30]),
        r"the mask \[60.0, 40.0, 30.0, 30.0\].*no box inside",
    ),
    "the mask has no extent": (dict(expanded_mask=[5, 5, 0, 10]), "no box inside"),
    "the mask has three numbers": (dict(expanded_mask=[1, 2, 3]), "must be four numbers"),
    "the mask is no number": (dict(expanded_mask=[1, 2, True, 4]), "must be four numbers"),
}


@pytest.mark.parametrize(("changes", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_item_is_named_and_left_out(released, changes, message):
    rows, (line,) = read(released({ATTRIBUTE: [item(0, **changes), *(item(n) for n in range(1, 5))]}))
    assert len(rows) == 4
    assert f"{ATTRIBUTE}, item 1 (id 'differential-attribute-001')" in line
    assert re.search(message, line)


FILES = {
    "a question file that is no JSON": ({ATTRIBUTE: [item(0)], COMMON: "{"}, "not a readable JSON file"),
    "a question file without a list": ({ATTRIBUTE: [item(0)], COMMON: {"a": 1}}, "expected a list of items"),
    "an item that is no object": ({ATTRIBUTE: [item(0), 3]}, "expected an object, found int"),
    "an unknown task": ({ATTRIBUTE: [item(0)], "vstar_questions_from_taste.json": [item(1)]}, "unknown task"),
}


@pytest.mark.parametrize(("files", "message"), FILES.values(), ids=FILES)
def test_a_broken_file_is_named_and_the_others_are_read(released, files, message):
    rows, refused = read(released(files))
    assert len(rows) == 1
    assert message in "\n".join(refused)


def test_an_entry_for_a_file_that_is_not_there_is_named(released):
    root = released({ATTRIBUTE: [item(0)]}, index={"datasets": [{"file": ATTRIBUTE}, {"file": COMMON}, {"name": "x"}]})
    lines = refused_rows(load(root).info)  # what is refused is kept with the data set
    assert len(lines) == 2
    assert "no such file" in lines[0]


@pytest.mark.parametrize("index", [{}, {"datasets": []}, []], ids=["no list", "an empty list", "no object"])
def test_an_index_without_files_is_an_error(released, index):
    with pytest.raises(UsageError, match="expected .*datasets"):
        read(released({ATTRIBUTE: [item(0)]}, index=index))


MAIN, OTHER = "0123456789abcdef" * 2 + "01234567", "f" * 40


@pytest.fixture
def hub(released, monkeypatch, tmp_path):
    """A Hub whose `main` is the commit MAIN and whose commits all hold the same five items; keeps what it is asked."""
    import huggingface_hub

    root = released({ATTRIBUTE: [item(n) for n in range(5)]})
    asked = []

    class Api:
        def dataset_info(self, repo, revision):
            asked.append((repo, revision))
            return SimpleNamespace(sha=MAIN)

    def snapshot(repo, repo_type, revision, allow_patterns):
        asked.append((repo, revision))
        return str(root)

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return asked


def test_the_official_data_is_read_at_one_commit_and_the_commit_is_kept(hub, released, tmp_path):
    for _ in ("read", "from the cache"):
        rows = datasets.load_dataset("dicobench", "official", split="test")
        assert hub == [("oking0197/DiCoBench", "main"), ("oking0197/DiCoBench", MAIN)]
        assert (rows.num_rows, commit_read(rows.info)) == (5, MAIN)
    assert commit_read(load(tmp_path / "copy").info) is None


def test_a_commit_that_is_given_is_read_without_asking_what_main_is(hub):
    rows = datasets.load_dataset("dicobench", "official", commit=OTHER, split="test")
    assert hub == [("oking0197/DiCoBench", OTHER)]
    assert commit_read(rows.info) == OTHER


def test_data_that_is_read_at_one_commit_only_cannot_be_asked_for_at_another():
    with pytest.raises(UsageError, match="read at one commit only"):
        rows_for("diffspot", f"official@{OTHER}")


def test_run_card_and_scores_name_the_commit_and_a_run_goes_on_with_that_one_only(hub, tmp_path, capsys):
    def run(data):
        words = ["--data", data, "--model", "oracle", "--out", str(tmp_path / "run"), "--no-progress"]
        return main(["run", "dicobench", *words])

    assert run("official") == 0
    assert json.loads((tmp_path / "run/run.json").read_text())["data"]["commit"] == MAIN
    assert main(["score", str(tmp_path / "run")]) == 0
    assert json.loads((tmp_path / "run/scores.json").read_text())["data"]["commit"] == MAIN
    assert run(f"official@{MAIN}") == 0
    assert run(f"official@{OTHER}") == 2  # the rows are the same, their origin is not
    assert f'data.commit ("{MAIN[:8]}' in capsys.readouterr().err


@pytest.mark.parametrize("commit", [None, OTHER], ids=["main", "a commit"])
def test_data_behind_a_gate_says_how_to_get_access(monkeypatch, tmp_path, commit):
    import huggingface_hub

    def refuse(*_, **__):
        error = huggingface_hub.errors.GatedRepoError.__new__(huggingface_hub.errors.GatedRepoError)
        Exception.__init__(error, "403: ask for access")
        raise error

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", refuse)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(UsageError, match="gives access on request and this account has none yet.*HF_TOKEN"):
        datasets.load_dataset("dicobench", "official", commit=commit, cache_dir=str(tmp_path / "cache"))
