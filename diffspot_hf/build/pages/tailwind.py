"""Tailwind compiled into frozen pages, with the classes that a change may swap in, so that no script is needed.

Two kinds of pages carry Tailwind classes. One that brings no Tailwind styles of its own (it is marked ``tailwind`` in
its folder's `pages.toml`, or it calls for the play script) is compiled as a whole: its classes and the swap vocabulary.
One that was built with Tailwind (its style sheet says so) keeps its styles; the vocabulary alone goes in front of them,
in Tailwind's layers, so that everything the page has stays stronger.

The vocabulary is `web.tailwind.vocabulary` of the page's classes. What was really compiled stands in the page as
``<meta name="swap-vocabulary" content="class class …">``, beside ``<meta name="tailwind" content="VERSION">``.
"""

from __future__ import annotations

import functools
import html
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from ...errors import MissingExtra
from ..browser import PageError
from ..web.tailwind import vocabulary
from .fetch import Packer, fetch
from .sources import known_sources

PACKAGE = "tailwindcss"
WHOLE = '@import "tailwindcss";'
ADDED = (
    "@layer theme,base,components,utilities;"
    "@import 'tailwindcss/theme' layer(theme);@import 'tailwindcss/utilities' layer(utilities);"
)
COMPILE_SECONDS = 60
BUILT = re.compile(r"tailwindcss v(\d+(?:\.\d+)*)")
PLAY = re.compile(r"<script[^>]+(?:cdn\.tailwindcss\.com|@tailwindcss/browser|tailwindcss-cdn)", re.I)
OWN_THEME = re.compile(r"<style[^>]+type=[\"']text/tailwindcss[\"'][^>]*>(.*?)</style>", re.S | re.I)


class Tailwind:
    """Tailwind's compiler: the pinned npm package `folder`, run by Node."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.version: str = json.loads((folder / "package.json").read_text(encoding="utf-8"))["version"]

    @classmethod
    def find(cls, fetched: Iterable[Path] = (), *, pack: Packer | None = None) -> Tailwind:
        """The compiler in one of the `fetched` folders, else in the user's cache, fetched there when it is missing."""
        source = next(source for source in known_sources().values() if source.name == PACKAGE)
        for folder in fetched:
            if (folder / source.slug / "source.json").is_file():
                return cls(folder / source.slug / "package")
        return cls(fetch([source.spec], cache_folder(), pack=pack)[0].package)

    def compile(self, candidates: Iterable[str], css: str = WHOLE) -> str:
        """The style sheet of those `candidates` that are Tailwind classes, by the input sheet `css`.

        Raises `PageError` when Tailwind refuses `css` (that of a page), `MissingExtra` without Node.
        """
        return _compile(self.folder, css, tuple(sorted(set(candidates))))

    def whole(self, text: str, classes: Iterable[str]) -> str:
        """Styles and meta elements for a page without styles of its own: markup `text`, `classes` found in it."""
        classes = set(classes) | _words(text)
        theme = "".join(html.unescape(block) for block in OWN_THEME.findall(text))
        css = f"{WHOLE if '@import' not in theme else ''}{theme}"
        swaps = vocabulary(classes)
        sheet = self.compile(classes | swaps, css)
        return f"<style>{sheet}</style>{self._meta(swaps, sheet, self.version)}"

    def added(self, classes: Iterable[str], built: str, present: str) -> str:
        """Styles and meta elements for a page built with Tailwind `built`: what its styles `present` lack for swaps."""
        swaps = vocabulary(classes)
        sheet = self.compile(swaps - class_names(present), ADDED)
        if built.startswith(("1", "2", "3")):  # before version 4 utilities were in no layer, and a layer would lose
            sheet = re.sub(r"@layer utilities\s*\{(.*)\}\s*(?=@property|\Z|@layer)", r"\1", sheet, flags=re.S)
        return f"<style>{sheet}</style>{self._meta(swaps, sheet + present, built)}"

    def _meta(self, swaps: Iterable[str], sheet: str, version: str) -> str:
        there = " ".join(sorted(set(swaps) & class_names(sheet)))
        return (
            f'<meta name="tailwind" content="{html.escape(version)}">'
            f'<meta name="swap-vocabulary" content="{html.escape(there)}">'
        )


def cache_folder() -> Path:
    """Where packages are kept that a freeze needs and that were not fetched by hand."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "diffspot-hf" / "packages"


@functools.lru_cache(maxsize=64)
def _compile(folder: Path, css: str, candidates: tuple[str, ...]) -> str:
    node = shutil.which("node")
    if node is None:
        raise MissingExtra("Node.js is needed to compile Tailwind pages (Debian: apt-get install nodejs npm)")
    with resources.as_file(resources.files(__package__).joinpath("compile_tailwind.js")) as program:
        done = subprocess.run(
            [node, str(program), str(folder)],
            input=json.dumps({"css": css, "candidates": candidates}),
            capture_output=True, encoding="utf-8", timeout=COMPILE_SECONDS, check=False,
        )  # fmt: skip
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "Error" in line] or [f"node ended with {done.returncode}"]
        raise PageError("tailwind", f"cannot be compiled: {lines[0].strip()[:200]}")
    return done.stdout


def _words(text: str) -> set[str]:
    """What in `text` could be a class: as Tailwind's own scanner does, everything between blanks and quotes."""
    return {word for word in re.split(r"[\s\"'`<>=]+", text) if 0 < len(word) < 80}


def class_names(css: str) -> set[str]:
    """The class names that stand in the selectors of `css`, escapes undone.

    >>> sorted(class_names(".p-1\\\\.5{padding:0} .lg\\\\:p-4:hover{margin:.5em}"))
    ['lg:p-4', 'p-1.5']
    """
    return {re.sub(r"\\(.)", r"\1", name) for name in re.findall(r"\.((?:[A-Za-z_-]|\\.)(?:[\w-]|\\.)*)", css)}
