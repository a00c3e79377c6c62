"""DiCoBench: two large pictures, one question, five options of which the last says that there is nothing.

As a module this is the builder behind ``load_dataset("dicobench")``; as a program it writes a Parquet copy, or the TSV
file that VLMEvalKit reads::

    python dataset_scripts/dicobench.py --data-dir DIR --out DIR
    python dataset_scripts/dicobench.py --data-dir DIR --tsv FILE

It reads the released layout unchanged (``dataset_index.json``, ``questions/*.json``, pictures) and our own: rows in
``test.jsonl``, where a picture may be a base plus patches that are laid in on load.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
from datasets import Features, Image, List, Value
from datasets.builder import Key

from diffspot_hf.build.mcq.items import check_item
from diffspot_hf.build.mcq.patches import RGB, lay, pixels, png_bytes
from diffspot_hf.build.mcq.released import INDEX, SNAPSHOT, read_released
from diffspot_hf.build.mcq.tasks import TASKS
from diffspot_hf.dataset_scripts.common import COMMIT, WARNING, PairBuilder, PairConfig, configurations, write_parquet
from diffspot_hf.errors import UsageError
from diffspot_hf.rows import Refuse, read_picture, stop

TEXT, FLOAT = Value("string"), Value("float64")
BOX = {"x": FLOAT, "y": FLOAT, "w": FLOAT, "h": FLOAT}
FEATURES = Features(
    {
        "id": TEXT,
        "track": TEXT,
        "task": TEXT,
        "image_1": Image(),
        "image_2": Image(),
        "question": TEXT,
        "options": List(TEXT),
        "answer": TEXT,
        # never shown to a model
        "group_id": TEXT,
        "bbox_1": BOX,
        "bbox_2": BOX,
        "edit_area_fraction": FLOAT,
        "instruction": TEXT,
    }
)
"""`options` are five texts, the last one says that there is no difference or nothing in common; `answer` is a letter
A to E. `bbox_1` and `bbox_2` say where the cue is in each picture (xywh_px, top-left corner; null where unknown),
`edit_area_fraction` is the share of pixels that the edit changed. The rows of one `group_id` share their options."""

_COMMIT = re.compile("[0-9a-f]{40}")
README = """---
configs:
- config_name: default
  data_files:
  - split: test
    path: data/test-*.parquet
task_categories: [visual-question-answering, image-to-text]
tags: [multi-image, fine-grained-perception, multiple-choice]
---

# DiCoBench items

{rows} items, written by `dataset_scripts/dicobench.py` of diffspot-hf. Each has two pictures, a question that names no
target, and five options; the last says that there is nothing to see. `group_id`, `bbox_*`, `edit_area_fraction` and
`instruction` give the answer away and belong in no prompt.
"""


@dataclass
class DiCoConfig(PairConfig):
    """`commit` is the commit of the authors' repository to read, also a branch or tag (``official`` only)."""

    commit: str | None = None


class DiCoBench(PairBuilder):
    """Items with two pictures and five options, of eight tasks on two tracks."""

    BUILDER_CONFIG_CLASS = DiCoConfig
    BUILDER_CONFIGS = [  # noqa: RUF012 - datasets reads it from the class
        DiCoConfig(name=made.name, version=made.version, description=made.description)
        for made in configurations("the authors' 765 items, access by request")
    ]
    BENCHMARK = "dicobench"
    FEATURES = FEATURES
    PICTURES = ("image_1", "image_2")
    REQUIRED = ("id", "track", "task", "image_1", "image_2", "question", "options", "answer")
    OFFICIAL = ("oking0197/DiCoBench", "main")
    HOMEPAGE = "https://arxiv.org/abs/2606.26602"

    _folder = Path()
    _last: tuple[tuple[Path, str], RGB] | None = None

    def _official(self, dl_manager: Any) -> Sequence[str]:
        """Fetches the authors' repository. No commit of it is known to us, so unless the configuration gives one, what
        `main` stands for now is looked up, read at exactly that commit, and kept with the rows."""
        import huggingface_hub as hub

        repo, branch = self.OFFICIAL
        commit = self.config.commit or branch
        try:
            if not _COMMIT.fullmatch(commit):
                commit = hub.HfApi().dataset_info(repo, revision=commit).sha
            folder = hub.snapshot_download(repo, repo_type="dataset", revision=commit, allow_patterns=SNAPSHOT)
        except hub.errors.GatedRepoError as error:
            raise UsageError(
                f"dicobench: {repo} gives access on request and this account has none yet; ask on its page "
                f"(https://huggingface.co/datasets/{repo}), then run hf auth login or set HF_TOKEN ({_first(error)})"
            ) from error
        except Exception as error:  # the Hub client raises many kinds; all mean the same to the caller
            raise UsageError(
                f"dicobench: the official data ({repo}) could not be fetched ({_first(error)}); check the network, "
                "HF_HUB_OFFLINE and your access, or pass data_dir= with a local copy"
            ) from error
        self.keep(COMMIT, commit)
        return [str(Path(folder) / INDEX)]

    def _generate_examples(self, files: Sequence[str]) -> Iterator[tuple[Key, dict[str, Any]]]:
        found: Counter[tuple[str, str]] = Counter()
        for key, row in super()._generate_examples(files):
            found[row["track"], row["task"]] += 1
            yield key, row
        if any(Path(file).name == INDEX for file in files):
            for line in count_warnings(found):
                self.keep(WARNING, f"dicobench: {line}")

    def read(self, file: Path, refuse: Refuse = stop) -> Iterator[tuple[str, dict[str, Any]]]:
        self._folder = file.parent
        if file.name != INDEX:
            yield from super().read(file, refuse)
            return
        for where, row in read_released(file, refuse):
            try:
                checked = self._checked(row, where)
                for column in self.PICTURES:
                    checked[column] = self._picture(file, checked[column], f"{where}, column {column}")
            except UsageError as error:
                refuse(error)
                continue
            yield where, checked

    def complete(self, row: dict[str, Any]) -> dict[str, Any]:
        check_item(row)
        for column in self.PICTURES:
            if patches := row.get(f"patches_{column[-1]}"):
                row[column] = self._composed(row[column], patches)
        return row

    def _composed(self, base: str, patches: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The base with its patches laid in; its path carries the name of the base only."""
        try:
            laid = [
                (patch["x"], patch["y"], pixels(read_picture(self._folder, patch["file"])["bytes"], patch["file"]))
                for patch in patches
            ]
            whole = png_bytes(lay(self._decoded(base), laid))
        except (KeyError, TypeError) as error:
            raise UsageError(f"a patch has file, x and y ({error!r})") from error
        return {"path": Path(base).with_suffix(".png").name, "bytes": whole}

    def _decoded(self, base: str) -> RGB:
        """The pixels of a base; those of the last one are kept, since the rows of a group share it."""
        key = (self._folder, base)
        if self._last is None or self._last[0] != key:
            self._last = (key, pixels(read_picture(self._folder, base)["bytes"], base))
        return self._last[1]


def count_warnings(found: Mapping[tuple[str, str], int]) -> list[str]:
    """One line for each task whose number of rows is not that of the released benchmark.

    >>> count_warnings({task.key: task.count for task in TASKS} | {("differential", "entity"): 94})
    ['differential entity has 94 rows, the released benchmark has 95']
    """
    return [
        f"{task.label} has {found.get(task.key, 0)} rows, the released benchmark has {task.count}"
        for task in TASKS
        if found.get(task.key, 0) != task.count
    ]


def _first(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line of this module. Returns the exit code."""
    from diffspot_hf.build.mcq.tsv import write_tsv

    parser = argparse.ArgumentParser(description="Write DiCoBench rows as Parquet with a README, or as a TSV file.")
    parser.add_argument("--data-dir", help="folder with the rows (default: the sample)")
    parser.add_argument("--out", type=Path, help="new folder for Parquet and README")
    parser.add_argument("--tsv", type=Path, help="new file in the layout that VLMEvalKit reads")
    args = parser.parse_args(argv)
    if not args.out and not args.tsv:
        parser.error("nothing to write: give --out or --tsv")
    try:
        if args.out:
            count = write_parquet(DiCoBench, args.data_dir, args.out, README)
            print(f"{count} rows written to {args.out}; read them with load_dataset({str(args.out)!r}, split='test')")
        if args.tsv:
            from diffspot_hf.loading import rows_for

            datasets.disable_progress_bars()
            count = write_tsv(rows_for("dicobench", args.data_dir or "sample"), args.tsv)
            print(f"{count} rows written to {args.tsv}")
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
