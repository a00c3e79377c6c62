"""DiCoBench: two large pictures, no hint where to look, five options of which the last says that there is nothing.

A row is one item of eight tasks on two tracks: what differs (``differential``) and what both show (``commonality``).
Source: Li and Peng 2026, arXiv 2606.26602: letter only, temperature 0, exact match. The prompt's words are ours.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import UsageError
from ..scoring.free_text import free_text_state
from ..scoring.letters import read_lenient, read_strict
from ..types import Picture, Prediction, Request, Response, Row

LETTERS = "ABCDE"
PROMPT = """\
The two images above belong together: the first is image 1, the second is image 2.

{question}

{options}

Exactly one option is right. Answer with its letter alone.
"""
_PLACE = re.compile(r"\{question\}|\{options\}")


class DiCoBench:
    """The benchmark's four steps; see `diffspot_hf.types.Benchmark`.

    `shuffle_options` is a seed: the first four options of each item are shown in an order drawn from it, the last stays
    last. `swap_images` shows image 2 first. `view` prepares pictures before they are asked about (see
    `diffspot_hf.build.mcq.views`). Letters in records are always those of the data, whatever was shown.
    """

    name = "dicobench"
    dataset = "dicobench"
    judged = False
    schema = None
    prompt = PROMPT
    prompt_version = "diffspot-hf-1"
    columns: Sequence[str] = ("id", "track", "task", "image_1", "image_2", "question", "options", "answer")

    def __init__(self, *, shuffle_options: int | None = None, swap_images: bool = False, view: Any = None) -> None:
        self.shuffle_options, self.swap_images, self.view = shuffle_options, swap_images, view
        self.settings: Mapping[str, Any] = (
            ({} if shuffle_options is None else {"shuffle_options": shuffle_options})
            | ({"swap_images": True} if swap_images else {})
            | ({} if view is None else {"view": view.describe()})
        )

    def configured(self, model: str, options: Any) -> DiCoBench:
        """The benchmark with the order of options and images, and the view, that `options` ask for."""
        from ..build.mcq.views import view_of

        return DiCoBench(
            shuffle_options=getattr(options, "shuffle_options", None),
            swap_images=bool(getattr(options, "swap_images", False)),
            view=view_of(options),
        )

    def subset(self, name: str, rows: Sequence[Row]) -> list[str]:
        """Ids of the subset ``tenth``: floor(n/10) items a task, groups together (paper, resolution ablation)."""
        from ..build.mcq.views import tenth

        if name != "tenth":
            raise UsageError(f"--subset {name}: dicobench defines the subset tenth")
        return tenth(rows)

    def unfit(self, ids: Sequence[str], rows: Iterable[Row]) -> dict[str, str]:
        """Of `rows` those that cannot be asked in this view, by id, and why; `ids` are those of all the data."""
        return {} if self.view is None else self.view.unfit(ids, rows)

    def request(self, row: Row, prompt: str) -> Request:
        """Both images, then the question and the lettered options; nothing else of the row is ever sent."""
        if sorted(_PLACE.findall(prompt)) != ["{options}", "{question}"]:
            raise UsageError("the prompt must hold {question} and {options}, each exactly once")
        pictures = [_picture(row, column) for column in ("image_1", "image_2")]
        if self.view is not None:
            pictures = self.view.apply(row, pictures)
        if self.swap_images:
            pictures.reverse()
        shown = [row["options"][LETTERS.index(letter)] for letter in self.order(row)]
        lines = "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, shown, strict=True))
        fields = {"{question}": row["question"], "{options}": lines}
        text = _PLACE.sub(lambda place: fields[place.group()], prompt)
        return Request(id=row["id"], parts=(*pictures, text))

    def order(self, row: Row) -> str:
        """Letters of the data in the order in which the item's options are shown.

        >>> DiCoBench().order({"id": "x"})
        'ABCDE'
        >>> DiCoBench(shuffle_options=1).order({"id": "x"})[-1]
        'E'
        """
        if self.shuffle_options is None:
            return LETTERS
        first = list(LETTERS[:-1])
        random.Random(f"{self.shuffle_options}:{row['id']}").shuffle(first)
        return "".join(first) + LETTERS[-1]

    def read(self, row: Row, response: Response) -> Prediction:
        """The strict letter, as a letter of the data; only an exact letter is an answer.

        `notes` keep what a careful reader would take the reply for (``lenient``), and with shuffled options the
        ``order`` and the letter that was ``shown``.
        """
        order = self.order(row)
        options = [row["options"][LETTERS.index(letter)] for letter in order]
        shown = None if response.finish_reason == "error" else read_strict(response.text, LETTERS)
        lenient = None if response.finish_reason == "error" else read_lenient(response.text, LETTERS, options)
        notes: dict[str, Any] = {"lenient": _in_data(lenient, order)}
        if self.shuffle_options is not None:
            notes |= {"order": order, "shown": shown}
        if shown is not None:
            return Prediction(id=response.id, state="ok", value=_in_data(shown, order), notes=notes)
        state = free_text_state(response.text, response.finish_reason)
        return Prediction(id=response.id, state="unparsed" if state == "ok" else state, value=None, notes=notes)

    def scripted(self, kind: str, row: Row, seed: int) -> str:
        """The reply of a control: always-none says E; always-generic names no option and is not read as an answer."""
        if kind == "oracle":
            return LETTERS[self.order(row).index(row["answer"])]
        if kind == "random":
            return random.Random(f"{seed}:{row['id']}").choice(LETTERS)
        if kind == "always-generic":
            return "Something is different between the two images, and something is the same."
        letter = kind.removeprefix("always-")
        return letter if letter in tuple(LETTERS) else LETTERS[-1]

    def score(self, rows: Sequence[Row], records: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """All figures of `score_choices`; a row without a record counts as not answered and not right."""
        from ..scoring.mcq_scores import score_choices

        return score_choices(rows, records)


def agreement(
    first: Mapping[str, Mapping[str, Any]], second: Mapping[str, Mapping[str, Any]], answers: Mapping[str, str]
) -> dict[str, Any]:
    """How far a model answers alike when the two images change places, over the ids that both runs hold.

    `first` and `second` map ids to records, `answers` to the right letters. ``consistency`` is the share of items with
    the same letter in both runs; an item without a letter in either run is not consistent.
    """
    ids = [identifier for identifier in answers if identifier in first and identifier in second]
    letters = [(first[i].get("prediction"), second[i].get("prediction"), answers[i]) for i in ids]
    n = len(ids)
    same = sum(a is not None and a == b for a, b, _ in letters)
    return {
        "n": n,
        "same_letter": same,
        "consistency": same / n if n else None,
        "right_in_both": sum(a == b == gold for a, b, gold in letters),
        "right_in_first_only": sum(a == gold != b for a, b, gold in letters),
        "right_in_second_only": sum(b == gold != a for a, b, gold in letters),
        "unread_in_either": sum(a is None or b is None for a, b, _ in letters),
    }


def _in_data(letter: str | None, order: str) -> str | None:
    return None if letter is None else order[LETTERS.index(letter)]


def _picture(row: Row, column: str) -> Picture:
    return Picture(data=row[column]["bytes"], name=f"row {row['id']}, {column} ({row[column]['path']})")
