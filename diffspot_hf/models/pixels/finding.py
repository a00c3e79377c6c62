"""What the pixel comparison found: one frozen record a visible change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Kind = Literal[
    "color",  # text or a surface has another colour
    "opacity",  # something fades into, or stands out from, what is behind it
    "gradient",  # a gradient runs another way or between other colours
    "border",  # the outline of a box is thicker, thinner, of another colour or style
    "corners",  # the corners of a box are rounder or squarer
    "weight",  # strokes of text are bolder or thinner
    "text_size",  # text is larger or smaller
    "letter_spacing",  # letters stand further apart or closer
    "line_spacing",  # lines stand further apart or closer
    "text",  # other characters
    "moved",  # something sits elsewhere
    "spacing",  # a gap grew or shrank
    "alignment",  # the items of a row are distributed or aligned differently
    "box_size",  # a box is larger or smaller
    "added",  # something is there that was not
    "removed",  # something is gone
    "picture",  # the content of a picture or icon differs
    "canvas",  # the two images have different sizes
    "other",  # pixels differ, and no better name was found
]
KINDS: tuple[Kind, ...] = get_args(Kind)

Subject = Literal["text", "box", "line", "picture", "items", "page"]

BoxPx = tuple[int, int, int, int]
"""x, y, width, height in pixels of the image that it belongs to (frame `xywh_px`)."""


@dataclass(frozen=True)
class Finding:
    """One visible change.

    `box_before` and `box_after` are `xywh_px`, each in its own image; None where the thing is not there.
    `direction` is what the second image shows against the first ("bolder", "right", "lighter", …), "" where there is
    none. `subject` is what kind of thing changed; `text` what it says in the first image and `text_after` in the
    second, both only if a reader was given. `evidence` holds the measurements that led to the name.
    `share` is the share of the changed pixels that belongs to this finding.
    """

    kind: Kind
    direction: str = ""
    box_before: BoxPx | None = None
    box_after: BoxPx | None = None
    subject: Subject = "box"
    text: str = ""
    text_after: str = ""
    share: float = 1.0
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def box(self) -> BoxPx:
        """The smallest `xywh_px` box around both sides."""
        return union(b for b in (self.box_before, self.box_after) if b is not None)


def union(boxes: Any) -> BoxPx:
    """The smallest box around `boxes`, all `xywh_px`.

    >>> union([(0, 0, 2, 2), (4, 1, 2, 5)])
    (0, 0, 6, 6)
    """
    items = list(boxes)
    left, top = min(b[0] for b in items), min(b[1] for b in items)
    right, bottom = max(b[0] + b[2] for b in items), max(b[1] + b[3] for b in items)
    return left, top, right - left, bottom - top
