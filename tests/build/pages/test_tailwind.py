"""Tailwind pages are compiled with the classes that a swap may put in, and a swap then works without scripts."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from diffspot_hf.build.browser import Browser, PageError
from diffspot_hf.build.pages.freeze import freeze
from diffspot_hf.build.pages.sources import known_sources
from diffspot_hf.build.pages.tailwind import BUILT, Tailwind, cache_folder, class_names
from diffspot_hf.build.web.tailwind import vocabulary
from diffspot_hf.errors import MissingExtra

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Kiosk</title></head>
<body class="bg-stone-50 text-stone-800 p-8">
<h1 id="head" class="text-3xl font-bold tracking-tight">Kiosk</h1>
<div id="card" class="rounded-lg border-2 border-stone-300 bg-emerald-700 p-6 opacity-90 lg:p-10">Papers</div>
<div id="row" class="mt-6 flex justify-between bg-linear-to-r from-sky-200 to-sky-600"><b>one</b><b>two</b></div>
</body></html>"""


@pytest.fixture(scope="module")
def folder() -> Path:
    """The pinned Tailwind package, where a fetch has left it. No test brings it from a network."""
    source = next(source for source in known_sources().values() if source.name == "tailwindcss")
    found = cache_folder() / source.slug / "package"
    if not found.is_dir() or shutil.which("node") is None:
        pytest.skip("Tailwind is not fetched on this machine (diffspot-hf pages fetch tailwindcss), or Node is missing")
    return found


@pytest.fixture(scope="module")
def compiled(folder: Path, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A page of Tailwind classes, and the same page as somebody's own build has made it, frozen."""
    place = tmp_path_factory.mktemp("tailwind")
    site, out = place / "site", place / "out"
    site.mkdir()
    (site / "kiosk.html").write_text(PAGE, encoding="utf-8")
    (site / "pages.toml").write_text('[[page]]\nfile = "kiosk.html"\ntailwind = true\n')
    names = set(re.findall(r"[\w:.-]+", PAGE))
    sheet = Tailwind(folder).compile(names)
    (site / "built.css").write_text(sheet, encoding="utf-8")
    link = '<link rel="stylesheet" href="built.css">'
    built = PAGE.replace("</head>", f"{link}</head>").replace("Kiosk", "Stand").replace("bg-emerald-700", "bg-white")
    (site / "built.html").write_text(built, encoding="utf-8")
    return out, freeze(site, out, browser=browser)


def vocabulary_of(file: Path) -> set[str]:
    found = re.search(r'<meta name="swap-vocabulary" content="([^"]*)">', file.read_text(encoding="utf-8"))
    assert found
    return set(html.unescape(found[1]).split())


@pytest.mark.browser
def test_both_kinds_of_pages_are_kept_and_marked(compiled):
    out, report = compiled
    assert report["dropped_pages"] == []
    rows = {row["path"]: row for row in map(json.loads, (out / "pages.jsonl").read_text().splitlines())}
    assert [rows[name]["tailwind"] for name in ("kiosk.html", "built.html")] == [True, True]
    assert rows["kiosk.html"]["tailwind_version"] == rows["built.html"]["tailwind_version"] == "4.3.5"


@pytest.mark.browser
@pytest.mark.parametrize("name", ["kiosk", "built"])
@pytest.mark.parametrize(
    ("element", "old", "new", "style", "value"),
    [
        ("head", "font-bold", "font-light", "fontWeight", "300"),
        ("head", "text-3xl", "text-xl", "fontSize", "20px"),
        ("card", "rounded-lg", "rounded-none", "borderTopLeftRadius", "0px"),
        ("card", "opacity-90", "opacity-50", "opacity", "0.5"),
        ("card", "border-2", "border-[3px]", "borderTopWidth", "3px"),
        ("row", "justify-between", "justify-around", "justifyContent", "space-around"),
        ("row", "mt-6", "mt-9", "marginTop", "36px"),
    ],
)
def test_a_class_swap_works_without_scripts(compiled, browser, name, element, old, new, style, value):
    out, _ = compiled
    file = out / f"site--{name}.html"
    assert new in vocabulary_of(file) | class_names(file.read_text(encoding="utf-8"))
    with browser.page() as page:
        browser.open(page, file, out)
        before, after = page.evaluate(
            "([id, old, fresh, name]) => {"
            " const e = document.getElementById(id), read = () => getComputedStyle(e)[name];"
            " const first = read(); e.classList.replace(old, fresh); return [first, read()]; }",
            [element, old, new, style],
        )
    assert after == value != before


@pytest.mark.browser
def test_an_added_vocabulary_is_weaker_than_what_the_page_has(compiled, browser):
    out, _ = compiled
    with browser.page() as page:
        browser.open(page, out / "site--built.html", out)
        padding = page.evaluate(
            "() => { card.classList.replace('p-6', 'p-9'); return getComputedStyle(card).paddingTop; }"
        )
    assert padding == "40px"  # lg:p-10 holds, as it does in a page that Tailwind compiled as a whole


@pytest.mark.browser
def test_the_vocabulary_is_what_the_swaps_need(compiled):
    out, _ = compiled
    classes = re.findall(r"[\w:.-]+", " ".join(re.findall(r'class="([^"]*)"', PAGE)))
    lacking = vocabulary(classes) - vocabulary_of(out / "site--kiosk.html")
    assert not {name for name in lacking if not name.startswith(("opacity", "p-", "mt-"))}


def test_a_theme_and_a_broken_sheet(folder):
    compiler = Tailwind(folder)
    themed = (
        '<style type="text/tailwindcss">@import "tailwindcss";@theme{--color-brand:#123456}</style><p class="bg-brand">'
    )
    assert "#123456" in compiler.whole(themed, ["bg-brand"])
    for css in ("@import './secret.css';", "@plugin './plugin.js';", "@import '/etc/passwd';"):
        with pytest.raises(PageError, match="tailwind: cannot be compiled"):
            compiler.compile(["p-4"], css)


def test_without_node_the_error_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "package.json").write_text('{"version": "4.0.0"}')
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(MissingExtra, match="Node.js is needed"):
        Tailwind(tmp_path).compile(["p-4"])


@pytest.mark.parametrize(
    ("css", "version"),
    [
        ("/*! tailwindcss v4.1.2 | MIT License */", "4.1.2"),
        ("/*! tailwindcss v3.4 | MIT */", "3.4"),
        ("/* other */", None),
    ],
)
def test_a_built_page_says_its_version(css, version):
    found = BUILT.search(css)
    assert (found[1] if found else None) == version
