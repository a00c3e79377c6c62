"""Editors: what turns an instruction into pixels.

``procedural`` follows rules with OpenCV and needs no weights; ``flux`` asks a diffusion model. Both get a region and
must not leave it; whether they did is measured afterwards, for every edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ..instructions import Instruction, Target
from ..patches import RGB
from ..regions import Box


class Editor(Protocol):
    """Applies one instruction. Returns a new whole picture; raises `UsageError` when it cannot."""

    def edit(self, picture: RGB, target: Target, region: Box, instruction: Instruction, seed: int) -> RGB: ...

    def describe(self) -> Mapping[str, Any]:
        """What the build report says of this editor: at least ``name``."""
        ...
