"""Full pages put together from single Tailwind blocks by the recipes of `stacks.toml`: same call, same pages."""

from __future__ import annotations

import functools
import html
import posixpath
import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...errors import UsageError


@functools.cache
def recipes() -> dict[str, Any]:
    """The table of blocks and pages."""
    return tomllib.loads(resources.files(__package__).joinpath("stacks.toml").read_text(encoding="utf-8"))


def stack_pages(root: Path) -> dict[str, str]:
    """The markup of every stacked page by its path below `root`, the folder of the package that holds the blocks.

    The head is the first block's, with the page's own title; picture and script addresses count from the root. Raises
    `UsageError` when a block is missing.
    """
    table = recipes()
    pages = {}
    for path, page in table["pages"].items():
        texts = [_block(root, table["blocks"][name]) for name in page["blocks"]]
        head = re.sub(r"<title>.*?</title>", f"<title>{html.escape(page['title'])}</title>", texts[0][0], flags=re.S)
        body = "\n".join(text[1] for text in texts)
        scripts = dict.fromkeys(tag for text in texts for tag in re.findall(r"<script[^>]*></script>", text[0]))
        head = head.replace("</head>", "".join(tag for tag in scripts if tag not in head) + "</head>")
        pages[path] = (
            f'<!doctype html>\n<html lang="en">\n{head}\n<body>\n{_with_marks(body, page["name"])}\n</body>\n</html>\n'
        )
    return pages


def word_mark(name: str, *, white: bool = False) -> str:
    """A small drawn logo of the made-up company `name`, as a data URI."""
    number = sum(name.encode())
    ink, sign = ("#ffffff", "#ffffff") if white else ("#111928", _SIGNS[number % len(_SIGNS)])
    drawing = (
        f'<g fill="{sign}">{_SHAPES[number % len(_SHAPES)]}</g>'
        f'<text x="44" y="27" font-family="Inter,sans-serif" font-size="21" font-weight="700" fill="{ink}">'
        f"{html.escape(name)}</text>"
    )
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="176" height="40" viewBox="0 0 176 40">{drawing}</svg>'
    return "data:image/svg+xml," + quote(svg)


_SIGNS = ("#3758f9", "#13c296", "#e5484d", "#f2930d", "#7a5af8", "#0e9bd8")
_SHAPES = (
    '<circle cx="20" cy="20" r="13"/><circle cx="29" cy="20" r="7" fill-opacity=".45"/>',
    '<path d="M8 31V9h9l14 22h-9z"/><path d="M24 9h8v12z" fill-opacity=".5"/>',
    '<rect x="7" y="7" width="16" height="16" rx="4"/><rect x="17" y="17" width="16" height="16" rx="4" opacity=".5"/>',
    '<path d="M20 6l13 8v12l-13 8-13-8V14z"/>',
    '<path d="M7 20a13 13 0 0126 0z"/><path d="M11 23h18v9H11z" fill-opacity=".5"/>',
)


def _block(root: Path, path: str) -> tuple[str, str]:
    try:
        text = (root / path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{root}: the block {path} is missing; fetch the package again") from error
    folder = posixpath.dirname(path)

    def absolute(match: re.Match[str]) -> str:
        return f'{match[1]}="/{posixpath.normpath(posixpath.join(folder, match[2])).removeprefix("../")}"'

    text = re.sub(r"\b(src|href)=\"(\.{1,2}/[^\"]+)\"", absolute, text)
    head = re.search(r"<head>.*?</head>", text, re.S)
    body = re.search(r"<body[^>]*>(.*)</body>", text, re.S)
    if head is None or body is None:
        raise UsageError(f"{root}: the block {path} is no whole page; fetch the package again")
    return head[0], body[1].strip()


def _with_marks(body: str, name: str) -> str:
    """`body` with drawn word marks for the logo and brand files that the package does not bring."""
    marks = recipes()["marks"]
    order: dict[str, str] = {}

    def mark(match: re.Match[str]) -> str:
        file = posixpath.basename(match[1])
        white = "white" in file.lower()
        if "/logo/" in match[1]:
            return f'src="{word_mark(name, white=white)}"'
        brand = file.lower().removesuffix(".svg").removesuffix("-white")
        company = order.setdefault(brand, marks[len(order) % len(marks)])
        return f'src="{word_mark(company, white=white)}"'

    return re.sub(r"src=\"((?:/assets|https://cdn\.tailgrids\.com)[^\"]*/(?:logo|brands)/[^\"]+\.svg)\"", mark, body)
