"""What kind of site a page is taken for: the paper's 15 domains, and a reviewed table for the fetched packages.

A page is labelled by what it shows, as a visitor would name the site, not by the package it comes from. ``other`` is a
label like any other: error pages and the parts of a design kit belong to no kind of site.
"""

from __future__ import annotations

import csv
import fnmatch
import functools
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources

OTHER = "other"
DOMAINS = (
    "e-commerce",
    "saas/tool",
    "news/media",
    "education",
    "government",
    "healthcare",
    "finance",
    "travel",
    "food/restaurant",
    "real estate",
    "portfolio",
    "corporate",
    "social/community",
    "entertainment",
    OTHER,
)
"""The 15 domains of the DiffSpot paper."""


@dataclass(frozen=True)
class Label:
    """One row of `domains.csv`. `path` is ``source/path`` of a page, or a glob of such."""

    path: str
    label: str
    reason: str


@functools.cache
def labels() -> tuple[Label, ...]:
    """The reviewed table, in its order: single pages before globs."""
    text = resources.files(__package__).joinpath("domains.csv").read_text(encoding="utf-8")
    return tuple(Label(**row) for row in csv.DictReader(text.splitlines()))


def label_of(source: str, path: str) -> Label | None:
    """The first row of the table that fits the page `path` of `source`, or None."""
    name = f"{source}/{path}"
    return next((row for row in labels() if fnmatch.fnmatchcase(name, row.path)), None)


def domain_of(source: str, path: str) -> str:
    """The domain of a page: the table's label, else ``other``.

    >>> domain_of("gentelella", "production/orders.html"), domain_of("my-site", "index.html")
    ('e-commerce', 'other')
    """
    found = label_of(source, path)
    return found.label if found else OTHER


def without_pages(present: Iterable[str]) -> list[str]:
    """The domains that are not among `present`, in the paper's order.

    >>> without_pages(["travel", "finance", "other"])[:3]
    ['e-commerce', 'saas/tool', 'news/media']
    """
    there = set(present)
    return [domain for domain in DOMAINS if domain not in there]
