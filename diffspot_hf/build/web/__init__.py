"""DiffSpot web pairs: one verified change of one element between two screenshots of a page, or none."""

from __future__ import annotations

from .builder import build
from .recheck import recheck

__all__ = ["build", "recheck"]
