"""A frozen corpus at a glance: what domains and languages it has, which are missing, and contact sheets to look at."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from ...errors import UsageError
from ..browser import Browser, PageError
from .domains import DOMAINS, without_pages
from .freeze import LISTING

THUMB = (384, 240)
COLUMNS, ROWS = 5, 5


def read_rows(folder: Path | str) -> list[dict[str, Any]]:
    """The rows of `folder`'s page listing. Raises `UsageError` when it has none."""
    file = Path(folder) / LISTING
    if not file.is_file():
        raise UsageError(f"{folder}: has no {LISTING}; make it with: diffspot-hf pages freeze SRC --out {folder}")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def curate(
    folder: Path | str, *, sheets: Path | str | None = None, progress: Callable[[str], None] = lambda line: None
) -> dict[str, Any]:
    """Counts of the corpus in `folder` by domain, source and language, and the domains that have no page.

    With `sheets`, pictures of all pages are laid there as numbered contact sheets, 25 to a sheet.
    """
    rows = read_rows(folder)
    report: dict[str, Any] = {
        "pages": len(rows),
        "domains": {domain: sum(row["domain"] == domain for row in rows) for domain in DOMAINS},
        "domains_without_pages": without_pages(row["domain"] for row in rows),
        "sources": dict(sorted(Counter(row["source"] for row in rows).items())),
        "languages": dict(sorted(Counter(row["language"] for row in rows).items())),
        "tailwind_pages": sum(bool(row.get("tailwind")) for row in rows),
    }
    if sheets is not None:
        report["sheets"] = [str(file) for file in contact_sheets(folder, rows, sheets, progress=progress)]
    return report


def contact_sheets(
    folder: Path | str,
    rows: Iterable[dict[str, Any]],
    out: Path | str,
    *,
    progress: Callable[[str], None] = lambda line: None,
) -> list[Path]:
    """PNG files in `out`, each with the pictures of up to 25 pages of `rows` and their ids."""
    folder, out = Path(folder), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    files = []
    listed = list(rows)
    with Browser() as browser:
        for start in range(0, len(listed), COLUMNS * ROWS):
            part = listed[start : start + COLUMNS * ROWS]
            sheet = Image.new("RGB", (COLUMNS * (THUMB[0] + 8), ROWS * (THUMB[1] + 24)), "white")
            draw = ImageDraw.Draw(sheet)
            for index, row in enumerate(part):
                x, y = (index % COLUMNS) * (THUMB[0] + 8), (index // COLUMNS) * (THUMB[1] + 24)
                draw.text((x + 2, y + 3), f"{row['page_id']}  [{row['domain']}]"[:64], fill="black")
                try:
                    with browser.page() as page:
                        browser.open(page, folder / row["file"], folder)
                        picture = Image.open(io.BytesIO(browser.capture(page))).convert("RGB")
                    sheet.paste(picture.resize(THUMB, Image.Resampling.LANCZOS), (x, y + 18))
                except PageError as error:
                    draw.text((x + 2, y + 40), str(error)[:60], fill="red")
            files.append(out / f"sheet-{start // (COLUMNS * ROWS) + 1:02d}.png")
            sheet.save(files[-1])
            progress(str(files[-1]))
    return files
