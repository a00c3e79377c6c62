"""The model `pixel-diff`: what would a visual-regression tool have said?

It is given what any model is given, two pictures (and, on DiCoBench, the options), and knows nothing else of a row. It
has no weights; text is read by a small OCR engine if one is installed, to quote what changed.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UsageError, need
from ..types import ImageSeen, Request, Response
from .pixels import Finding, adapters, describe, findings
from .pixels.ocr import Reader, default_reader

if TYPE_CHECKING:
    from PIL import Image

_OPTION = re.compile(r"^\s*\(?([A-Z])[.):]\s+(.*\S)\s*$", re.MULTILINE)


UNRELATED = 0.5
"""From this share of unequal pixels on, two photos are two scenes and not one that was edited (chosen)."""


def are_unrelated(before: Image.Image, after: Image.Image) -> bool:
    """Whether two pictures show different scenes: comparing them pixel by pixel then says nothing of either."""
    if before.size != after.size:
        return True
    return bool((np.asarray(before) != np.asarray(after)).any(axis=-1).mean() > UNRELATED)


class PixelDiff:
    """Answers by comparing pixels: bullets on DiffSpot, issues with boxes on Scry, a letter on DiCoBench.

    `reader` reads text in pictures; "auto" takes the OCR engine if it loads and goes without if not, None goes without.
    """

    def __init__(self, benchmark: str = "diffspot", reader: Reader | str | None = "auto") -> None:
        self._cv2 = need("cv2", "pixel").__version__
        if benchmark not in _ANSWERS:
            raise UsageError(f"pixel-diff answers {', '.join(_ANSWERS)}; there is no {benchmark!r}")
        self.benchmark = benchmark
        if reader == "auto" and benchmark != "diffspot":
            self._reader, self._ocr = None, "not needed"  # tags, boxes and letters name no text
        elif reader == "auto":
            self._reader, self._ocr = default_reader()
        elif reader is None or isinstance(reader, str):
            self._reader, self._ocr = None, "off"
        else:
            self._reader, self._ocr = reader, reader.name

    def describe(self) -> Mapping[str, Any]:
        """What the run card says: the id, how replies are formed, which OCR engine names things, library version."""
        return {"id": "pixel-diff", "answers": self.benchmark, "ocr": self._ocr, "opencv": self._cv2}

    def generate(self, requests: Iterable[Request]) -> Iterator[Response]:
        """One response a request, in order. A row that cannot be compared is a response with an error."""
        for request in requests:
            start = time.perf_counter()
            try:
                text, images = self._answer(request)
            except UsageError as error:
                yield Response(request.id, "", "error", error=str(error), seconds=time.perf_counter() - start)
            else:
                yield Response(request.id, text, images=images, seconds=time.perf_counter() - start)

    def _answer(self, request: Request) -> tuple[str, tuple[ImageSeen, ...]]:
        pictures = request.pictures
        if len(pictures) != 2:
            raise UsageError(f"{request.id}: pixel-diff compares two pictures, this row has {len(pictures)}")
        before, after = (picture.rgb for picture in pictures)
        alien = self.benchmark == "dicobench" and are_unrelated(before, after)
        found = [] if alien else findings(before, after, reader=self._reader)
        seen = tuple(ImageSeen(p.rgb.width, p.rgb.height, p.sha256, p.rgb.width, p.rgb.height) for p in pictures)
        return _ANSWERS[self.benchmark](found, before.size, after.size, request.text), seen


Size = tuple[int, int]


def _bullets(found: list[Finding], before: Size, after: Size, text: str) -> str:
    return describe(found, before)


def _issues(found: list[Finding], before: Size, after: Size, text: str) -> str:
    return json.dumps({"issues": adapters.issues(found, before, after)}, ensure_ascii=False)


def _letter(found: list[Finding], before: Size, after: Size, text: str) -> str:
    options = dict(_OPTION.findall(text))
    if len(options) < 2:
        raise UsageError('pixel-diff found no options in the question: each stands on a line of its own, as "A. …"')
    question = _OPTION.sub("", text)
    return adapters.choose_option(found, question, list(options.values()), list(options))


_ANSWERS = {"diffspot": _bullets, "scry": _issues, "dicobench": _letter}
