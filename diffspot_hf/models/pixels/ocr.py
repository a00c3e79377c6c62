"""Reading text in pictures, if an engine is there: names for what changed. Nothing is ever downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Protocol

import numpy as np

from ...errors import MissingExtra, need
from .finding import BoxPx


@dataclass(frozen=True)
class Read:
    """One line of text, where it stands (`xywh_px` in the picture read), and how sure the engine is (0 to 1)."""

    text: str
    box: BoxPx
    score: float


class Reader(Protocol):
    """A way of reading text. `name` goes into the run card."""

    name: str

    def read(self, picture: np.ndarray) -> Sequence[Read]:
        """The lines of `picture` (uint8, height x width x 3, RGB), top to bottom."""
        ...


_SURE = 0.6  # ours: below this a line is a guess and better not quoted
_TALL = 420  # ours: pixels; a crop lower than this is doubled, since small print is read better large


class RapidOcr:
    """PP-OCR through rapidocr and onnxruntime, with the weights that lie in rapidocr's own wheel."""

    def __init__(self) -> None:
        """Raises `MissingExtra` if the packages, or the weights in them, are not there."""
        need("onnxruntime", "ocr")
        rapidocr = need("rapidocr", "ocr")
        folder = files("rapidocr") / "models"
        weights = {task: _weights(folder, task) for task in ("det", "rec")}
        # Paths are given outright: without them the engine would compare checksums and fetch what it misses.
        self._engine = rapidocr.RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.use_cls": False,
                "Det.model_path": weights["det"],
                "Rec.model_path": weights["rec"],
                "Det.limit_type": "max",
                "Det.limit_side_len": 1280,
                "EngineConfig.onnxruntime.intra_op_num_threads": 2,
            }
        )
        self.name = f"rapidocr {_version('rapidocr')}"

    def read(self, picture: np.ndarray) -> list[Read]:
        cv2 = need("cv2", "pixel")
        scale = 2 if picture.shape[0] <= _TALL else 1
        shown = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC) if scale > 1 else picture
        found = self._engine(np.ascontiguousarray(shown[..., ::-1]))
        if found.boxes is None or found.txts is None:
            return []
        lines = []
        for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
            if score >= _SURE and text.strip():
                (x, y), (right, bottom) = corners.min(axis=0) / scale, corners.max(axis=0) / scale
                box = (int(x), int(y), max(1, round(right - x)), max(1, round(bottom - y)))
                lines.append(Read(" ".join(text.split()), box, float(score)))
        return sorted(lines, key=lambda line: (line.box[1] + line.box[3] // 2, line.box[0]))


def _weights(folder: Any, task: str) -> str:
    found = sorted(str(path) for path in folder.iterdir() if path.name.endswith(".onnx") and f"_{task}_" in path.name)
    if not found:
        raise MissingExtra(
            f"rapidocr came without its {task} weights, and none are fetched: "
            'pip install --force-reinstall "rapidocr>=3.10"'
        )
    return found[0]


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)


@lru_cache(maxsize=1)
def default_reader() -> tuple[Reader | None, str]:
    """The engine, loaded once, and its name; (None, why not) if it cannot be loaded."""
    try:
        reader = RapidOcr()
        reader.read(np.full((32, 64, 3), 255, np.uint8))
    except Exception as error:  # an engine that cannot load must not stop a comparison that does not need it
        return None, f"off ({type(error).__name__}: {error})"
    return reader, reader.name
