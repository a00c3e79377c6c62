"""The eight tasks of DiCoBench: names, tracks, the released files and their counts, and the words of questions."""

from __future__ import annotations

from dataclasses import dataclass

TRACKS = ("differential", "commonality")
LETTERS = "ABCDE"
NONE = "E"
"""The letter of the option that says that there is nothing; always the last."""


@dataclass(frozen=True)
class Task:
    """One task: `file` is the name of its released question file, `count` its number of items there.

    Five of the counts stand on the data card, the other three (entity, both spatial and reasoning of the differential
    track) follow from the published percentages; they sum to 765.
    """

    track: str
    name: str
    file: str
    count: int

    @property
    def key(self) -> tuple[str, str]:
        return self.track, self.name

    @property
    def label(self) -> str:
        return f"{self.track} {self.name}"


TASKS: tuple[Task, ...] = (
    Task("differential", "attribute", "vstar_questions_from_difference_attribute.json", 85),
    Task("differential", "entity", "vstar_questions_from_difference_object.json", 95),
    Task("differential", "spatial", "vstar_questions_from_difference_spatial.json", 50),
    Task("differential", "reasoning", "vstar_questions_from_difference_reason.json", 75),
    Task("commonality", "instance", "vstar_questions_from_common_instance.json", 110),
    Task("commonality", "category", "vstar_questions_from_common_category.json", 110),
    Task("commonality", "spatial", "vstar_questions_from_common_spatial.json", 125),
    Task("commonality", "reasoning", "vstar_questions_from_common_reason.json", 115),
)
BY_KEY = {task.key: task for task in TASKS}
BY_FILE = {task.file: task for task in TASKS}

QUESTION = {
    ("differential", "attribute"): "What is the difference between the two images?",
    ("differential", "entity"): "What is the difference between the two images?",
    ("differential", "spatial"): "What is the difference between the two images?",
    ("differential", "reasoning"): "What has happened between the two images?",
    ("commonality", "instance"): "Which one and the same object, not just one of its kind, is in both images?",
    ("commonality", "category"): "Which kind of object is in both images?",
    ("commonality", "spatial"): "Which two objects lie in the same direction from each other in both images?",
    ("commonality", "reasoning"): "What can something in one image do for something in the other image?",
}
NOTHING = {
    ("differential", "attribute"): "There is no visible difference between the two images.",
    ("differential", "entity"): "There is no visible difference between the two images.",
    ("differential", "spatial"): "There is no visible difference between the two images.",
    ("differential", "reasoning"): "Nothing visible has happened between the two images.",
    ("commonality", "instance"): "None of these objects is in both images.",
    ("commonality", "category"): "None of these kinds of object is in both images.",
    ("commonality", "spatial"): "None of these pairs lies in the same direction in both images.",
    ("commonality", "reasoning"): "None of these is possible between the two images.",
}
"""Question and text of option E for items that we build. They name no target and depend on the task alone."""
