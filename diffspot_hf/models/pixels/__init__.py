"""Visual regression testing that says what it saw: two pictures in, named changes out."""

from __future__ import annotations

from typing import Any

from .finding import BoxPx, Finding, Kind
from .ocr import Reader
from .wording import describe

__all__ = ["BoxPx", "Finding", "Kind", "Reader", "describe", "findings"]


def findings(before: Any, after: Any, *, reader: Reader | None = None) -> list[Finding]:
    """What changed from `before` to `after` (Pillow images or uint8 RGB arrays), largest first; [] if they are equal.

    Any difference of any channel gives at least one finding. With a `reader`, findings also say what the changed thing
    reads. Boxes are `xywh_px`, each in its own image. Raises `MissingExtra` without OpenCV.
    """
    from .compare import compare

    found = compare(before, after)
    if reader is None or not found:
        return found
    from .canvas import pixels
    from .reading import named

    return named(found, pixels(before), pixels(after), reader)
