"""Who says what is to be edited: instructions, and the instructors that write them.

An instruction has a text for the editor and a statement for the option of the question. Six are asked for each target,
one after the other, each time with the earlier ones, so that they do not repeat (the recipe is the paper's, the words
are ours).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ...errors import UsageError
from ...scoring.json_scan import find_json
from ...types import Model, Picture, Request
from .patches import RGB, png_bytes
from .regions import Box
from .tasks import Task

WANTED = 6
"""Instructions for one target; four that succeed become options."""
SAME = 3
"""A model that gives the same reply so many times in a row is not asked again (our choice)."""

_NO_REPLY = "no reply:"
_AIMS = {
    "attribute": "Change only how the target looks: its colour, material, pattern or shape. It stays the same kind of "
    "thing in the same place.",
    "entity": "Exchange the target for another small thing, take it away, or add one more thing beside it.",
    "spatial": "Keep the target and its looks. Move, turn or regroup it within the frame.",
    "reasoning": "Leave a trace from which a person can tell what happened here, such as footprints, a crack, a spill "
    "or a scorch mark. The statement names the event, not the trace.",
}


@dataclass(frozen=True)
class Instruction:
    """`text` tells the editor what to do, `statement` tells the reader of the question what is different.

    `operation` is the same for an editor that follows rules instead of words.
    """

    text: str
    statement: str
    operation: Mapping[str, Any] = field(default_factory=dict)

    @property
    def plain(self) -> str:
        """The statement without case, blanks and full stop: two that agree in it are one instruction."""
        return " ".join(self.statement.casefold().split()).rstrip(".")


@dataclass(frozen=True)
class Target:
    """A small thing in a picture: its box (xywh_px) and, if known, what it is called."""

    box: Box
    name: str = ""


class NoMore(UsageError):
    """You meet it in a build's refusals when an instructor does not get further with a target."""


class Instructor(Protocol):
    """Writes the next instruction for a target, knowing the earlier ones.

    `problem` says why its last one could not be used. Raises `UsageError` when there is none this time, `NoMore` when
    asking again is in vain, `StopIteration` at the end of what was prepared.
    """

    name: str

    def next(
        self,
        picture: RGB,
        target: Target,
        region: Box,
        task: Task,
        earlier: Sequence[Instruction],
        problem: str = "",
    ) -> Instruction: ...


def propose(
    instructor: Instructor,
    picture: RGB,
    target: Target,
    region: Box,
    task: Task,
    refuse: Callable[[UsageError], None],
    *,
    wanted: int = WANTED,
    tries: int = 3 * WANTED,
) -> list[Instruction]:
    """Up to `wanted` different instructions; what cannot be used or repeats an earlier one is given to `refuse`."""
    found: list[Instruction] = []
    problem = ""
    for _ in range(tries):
        if len(found) == wanted:
            break
        try:
            made = instructor.next(picture, target, region, task, found, problem)
            if any(made.plain == other.plain for other in found):
                raise UsageError(f"the statement {made.statement!r} was given before")
        except StopIteration:
            break
        except UsageError as error:
            refuse(UsageError(f"{instructor.name}: {error}"))
            if isinstance(error, NoMore):
                break
            problem = str(error)
            continue
        found.append(made)
        problem = ""
    return found


class Listed:
    """Instructions written beforehand, in order (by a person, or by a model elsewhere). Begins anew for each target."""

    def __init__(self, instructions: Sequence[Instruction], name: str = "listed") -> None:
        self.instructions, self.name, self._at = list(instructions), name, 0

    def next(
        self,
        picture: RGB,
        target: Target,
        region: Box,
        task: Task,
        earlier: Sequence[Instruction],
        problem: str = "",
    ) -> Instruction:
        at = self._at if earlier else 0  # by place, not by what was taken: a repeated line must not end the list
        if at >= len(self.instructions):
            raise StopIteration
        self._at = at + 1
        return self.instructions[at]


class Asked:
    """A vision-language model that is shown the region and asked for one instruction at a time."""

    def __init__(self, model: Model) -> None:
        self.model, self.name = model, str(model.describe()["id"])
        self._asked = 0
        self._last: list[str | None] = []
        """The replies of late for this target, as long as none could be used."""

    def next(
        self,
        picture: RGB,
        target: Target,
        region: Box,
        task: Task,
        earlier: Sequence[Instruction],
        problem: str = "",
    ) -> Instruction:
        self._asked += 1
        request = Request(
            id=f"instruction-{self._asked}",
            parts=(
                Picture(png_bytes(picture[region.slices]), "the region to edit"),
                instructor_prompt(target, region, task, earlier, "" if problem.startswith(_NO_REPLY) else problem),
            ),
        )
        response = next(iter(self.model.generate([request])))
        failed = response.finish_reason == "error"
        reply = response.error if failed else response.text
        self._last = [*(self._last if problem else []), reply][-SAME:]
        if self._last == [reply] * SAME:
            raise NoMore(f"the same reply {SAME} times, it is not asked again: {_short(str(reply))}")
        if failed:
            raise UsageError(f"{_NO_REPLY} {response.error}")
        return read_instruction(response.text)


def instructor_prompt(
    target: Target, region: Box, task: Task, earlier: Sequence[Instruction], problem: str = ""
) -> str:
    """What an instructor is asked: the aim of the task, where the target is in the crop, what was said before, and what
    was wrong with its last reply."""
    left, top = target.box.x - region.x, target.box.y - region.y
    where = f"at left {left}, top {top}, width {target.box.w}, height {target.box.h} pixels of this crop"
    lines = [
        "This is a small part of a large photograph. Think of one edit of it that a careful person can see by "
        "comparing the photograph before and after, and that looks as if it had been photographed.",
        f"The target{f' ({target.name})' if target.name else ''} is {where}. Leave everything else as it is.",
        _AIMS[task.name],
    ]
    if earlier:
        lines.append("These edits were made already; yours must differ from each and not be true together with one:")
        lines += [f"- {instruction.statement}" for instruction in earlier]
    if problem:
        lines.append(f"Your last answer could not be used: {problem}. Think of another edit.")
    lines.append(
        'Answer with one JSON object and nothing else: {"instruction": "what the image editor has to do", "statement": '
        '"one short sentence that says what differs between the two photographs"}'
    )
    return "\n".join(lines)


def read_instruction(reply: str) -> Instruction:
    """The instruction in a model's reply. Raises `UsageError` when there is none."""
    for found in find_json(reply):
        value = found.value
        if isinstance(value, Mapping) and not found.open:
            text, statement = value.get("instruction"), value.get("statement")
            if isinstance(text, str) and isinstance(statement, str) and text.strip() and statement.strip():
                return Instruction(" ".join(text.split()), " ".join(statement.split()))
    raise UsageError(f"no instruction in the reply {_short(reply)}")


def _short(reply: str) -> str:
    return json.dumps(reply[:80], ensure_ascii=False)
