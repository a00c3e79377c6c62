"""Mobile screens with known defects: the exhaustive synthetic set, its recheck and its contact sheets."""

from .contact import contact_sheets
from .recheck import recheck
from .synthetic import build

__all__ = ["build", "contact_sheets", "recheck"]
