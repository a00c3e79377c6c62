"""The pages that pairs are made from: a folder with a `pages.jsonl`, or any folder of HTML files."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import UsageError


@dataclass(frozen=True)
class CorpusPage:
    """One page: where it lies and where it came from. It may read what lies under `root` and nothing else."""

    page_id: str
    file: Path
    root: Path
    source: str
    domain: str = "other"
    version: str = ""
    path: str = ""
    licence: str = ""
    language: str = ""
    title: str = ""

    @property
    def own(self) -> bool:
        """Whether the page was written for this project."""
        return self.source == "own"


def read_corpus(folder: Path) -> list[CorpusPage]:
    """The pages of `folder`, by page id. Raises `UsageError` when there are none or a line is wrong."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder of pages")
    listing = folder / "pages.jsonl"
    pages = _listed(folder, listing) if listing.is_file() else _found(folder)
    if not pages:
        raise UsageError(f"{folder}: holds no pages; give a folder with *.html files or a pages.jsonl")
    return sorted(pages, key=lambda page: page.page_id)


def _listed(folder: Path, listing: Path) -> list[CorpusPage]:
    pages: dict[str, CorpusPage] = {}
    for number, line in enumerate(listing.read_text("utf-8-sig").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row: dict[str, Any] = json.loads(line)
            page_id, file = str(row["page_id"]), folder / str(row["file"])
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"{listing}, line {number}: not a page record with page_id and file ({error!r})"
            ) from error
        if page_id in pages:
            raise UsageError(f"{listing}, line {number}: page_id {page_id!r} is there twice")
        if not file.resolve().is_relative_to(folder.resolve()):
            raise UsageError(f"{listing}, line {number}: {row['file']!r} lies outside the folder")
        rest = {name: str(row.get(name) or "") for name in ("version", "path", "licence", "language", "title")}
        source, domain = str(row.get("source") or folder.name), str(row.get("domain") or "other")
        pages[page_id] = CorpusPage(page_id, file, folder, source, domain, **rest)
    return list(pages.values())


def _found(folder: Path) -> list[CorpusPage]:
    files = [f for f in sorted(folder.rglob("*")) if f.suffix.lower() in (".html", ".htm") and f.is_file()]
    pages = []
    for file in files:
        path = file.relative_to(folder).as_posix()
        page_id = re.sub(r"[^\w.-]+", "-", path.rsplit(".", 1)[0]).strip("-")
        pages.append(CorpusPage(page_id, file, folder, folder.resolve().name, path=path))
    counts: dict[str, int] = {}
    for page in pages:
        counts[page.page_id] = counts.get(page.page_id, 0) + 1
    # Different paths can shorten to one id; the path then tells them apart.
    return [
        page
        if counts[page.page_id] == 1
        else CorpusPage(f"{page.page_id}-{_short(page.path)}", page.file, page.root, page.source, path=page.path)
        for page in pages
    ]


def digest(pages: list[CorpusPage]) -> str:
    """SHA-256 over ids and file contents: two corpora with it equal give the same pairs."""
    total = hashlib.sha256()
    for page in pages:
        total.update(page.page_id.encode() + b"\0")
        try:
            with page.file.open("rb") as stream:
                total.update(hashlib.file_digest(stream, "sha256").digest())
        except OSError:
            total.update(b"unreadable")
    return total.hexdigest()


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]
