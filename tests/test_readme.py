"""The README's study, line by line, on screens of the sample; people's part is played from files."""

from __future__ import annotations

import csv
import json
import re
import shlex

import pytest

from diffspot_hf.build.scry import BUCKETS
from diffspot_hf.cli import main
from diffspot_hf.rows import iter_jsonl


def commands(repo, mark):
    """The commands of the code block after ``<!-- mark -->``, as lists of words."""
    text = (repo / "README.md").read_text(encoding="utf-8")
    block = re.search(rf"<!-- {mark} -->\n```bash\n(.*?)```", text, re.DOTALL)
    assert block, f"README has no block marked {mark}"
    return [shlex.split(line, comments=True) for line in block[1].splitlines() if line.strip()]


@pytest.fixture
def screens(repo, tmp_path, monkeypatch):
    """Some screens of the sample as a team would have them: pictures, a list of pairs, and their marks."""
    monkeypatch.chdir(tmp_path)
    sample = repo / "diffspot_hf" / "data" / "scry_design_diff"
    rows = [row for _, row in iter_jsonl(sample / "test.jsonl")]
    by_bucket = [[row for row in rows if row["bucket"] == bucket][:3] for bucket in BUCKETS]
    chosen = [row for members in by_bucket for row in members]
    (tmp_path / "screens" / "images").mkdir(parents=True)
    pairs, marked = [], []
    for row in chosen:
        for side in ("image_a", "image_b"):
            (tmp_path / "screens" / row[side]).write_bytes((sample / row[side]).read_bytes())
        pair = {key: row[key] for key in ("id", "image_a", "image_b")}
        pairs.append(pair)
        marked.append(pair | {"completed": True, "annotations": row["issues"]})
    (tmp_path / "screens" / "test.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    export = {"format": "diffspot-hf/annotations", "version": 1, "screens": marked}
    (tmp_path / "annotations.json").write_text(json.dumps(export))
    return tmp_path


def decide(folder):
    """What a person would export from the audit page: every entry of the queue decided."""
    with (folder / "study" / "audit" / "queue.csv").open(encoding="utf-8", newline="") as file:
        queue = list(csv.DictReader(file))
    decisions = [
        {"row_id": entry["row_id"], "prediction_index": int(entry["prediction_index"]), "decision": "not_a_defect"}
        for entry in queue
    ]
    file = {"format": "diffspot-hf/decisions", "version": 1, "mode": "audit", "decisions": decisions}
    (folder / "decisions.json").write_text(json.dumps(file))


def test_the_study_runs_as_written(repo, screens, capsys):
    pytest.importorskip("cv2")
    for words in commands(repo, "study"):
        assert words[0] == "diffspot-hf"
        if words[1:3] == ["audit", "summarize"]:
            decide(screens)
        assert main(words[1:]) == 0, f"{' '.join(words)}: {capsys.readouterr()}"
    summary = json.loads((screens / "study" / "audit-summary.json").read_text())
    scores = json.loads((screens / "study" / "runs" / "pixel-diff" / "scores.json").read_text())
    assert summary["adjusted_precision"]["numerator"] == scores["matched"]
    assert json.loads((screens / "study" / "pilot.manifest.json").read_text())["rows"] == 8
    (screens / "study" / "pilot" / "test.jsonl").write_text("")
    assert main(["manifest", "check", "study/manifest.json"]) == 1
    assert "pilot/test.jsonl: changed" in capsys.readouterr().out


def lines_of(repo):
    """The example line of each listing in the README's table, by option."""
    text = (repo / "README.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `--([a-z-]+)` \| `(\{.*\})` \|$", text, re.MULTILINE))


@pytest.fixture
def photographs(repo, tmp_path, monkeypatch):
    """Two photographs of the sample with the README's listings beside them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photos").mkdir()
    for option, line in lines_of(repo).items():
        if option in ("photos", "grounds"):
            (tmp_path / "photos" / f"{option}.jsonl").write_text(line)
            name = json.loads(line)["image"]
            there = repo / "diffspot_hf/data/dicobench/photos/originals" / name
            (tmp_path / "photos" / name).write_bytes(there.read_bytes())
    return tmp_path


def test_items_are_made_and_answered_as_written(repo, photographs, capsys):
    pytest.importorskip("cv2")
    for words in commands(repo, "items"):
        ids = (
            [row["id"] for _, row in iter_jsonl(photographs / "items/attribute/test.jsonl")] if "page" in words else []
        )
        if "verify" in words:
            entries = [{"row_id": name, "decision": "accept"} for name in ids]
            export = {"format": "diffspot-hf/decisions", "version": 1, "mode": "verify", "decisions": entries}
            (photographs / "verify-decisions.json").write_text(json.dumps(export))
        if "answer" in words:
            lines = [{"id": name, "prediction": "E", "model": "ana", "seconds": 9.5, "time_limit": 30} for name in ids]
            (photographs / "predictions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert main(words[1:]) == 0, f"{' '.join(words)}: {capsys.readouterr()}"
    assert "images swapped:" in capsys.readouterr().out
    assert (photographs / "runs/views/views.csv").is_file()


def test_the_listings_of_the_readme_are_read(repo, tmp_path):
    from diffspot_hf.build.mcq.differential import listed_instructions
    from diffspot_hf.build.mcq.editors.parameters import check_parameters
    from diffspot_hf.build.mcq.views import read_cues

    lines = lines_of(repo)
    assert set(lines) == {"photos", "grounds", "instructor", "view-cues"}
    for option, line in lines.items():
        (tmp_path / option).write_text(line)
    (listed,) = listed_instructions(tmp_path / "instructor", pytest.fail)
    assert listed.target == json.loads(lines["photos"])["targets"][0]["name"]
    check_parameters(listed.instruction.operation, (1281, 1920))
    assert set(read_cues(tmp_path / "view-cues")) == {"differential-attribute-001-1"}


def test_every_command_of_the_readme_exists(repo, capsys):
    text = (repo / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"diffspot-hf ((?:pages|build|audit|manifest|page) [a-z-]+|[a-z-]+)", text))
    for name in named:
        with pytest.raises(SystemExit) as stopped:
            main([*name.split(), "--help"])
        assert stopped.value.code == 0, name


@pytest.mark.parametrize("benchmark", ["diffspot", "scry", "dicobench"])
def test_the_printed_figures_of_pixel_diff_are_those_of_the_samples(repo, tmp_path, capsys, benchmark):
    pytest.importorskip("rapidocr")
    printed = re.findall(r"^\| pixel-diff\s+\|(.*)\|$", (repo / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert main(["run", benchmark, "--model", "pixel-diff", "--out", str(tmp_path), "--no-progress"]) == 0
    if benchmark == "diffspot":
        assert main(["judge", str(tmp_path)]) == 0
    capsys.readouterr()
    main(["score", str(tmp_path)])
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("pixel-diff"))
    assert line.split()[1:] in [[cell.strip() for cell in row.split("|")] for row in printed]
