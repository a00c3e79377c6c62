"""One page frozen: loaded with its scripts in a real Chromium, settled, and written as one file that stands alone."""

from __future__ import annotations

import functools
import html
import re
import secrets
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

from ..browser import Browser, PageError
from .settle import hold_clock, load, settle
from .site import Refused, Site, light_picture, origin_of
from .styles import NOTHING, Role, data_uri, decode_css, safe_in_style, self_contained

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request, Route

STILL = (
    "@layer diffspot-still{*,*::before,*::after{animation:none!important;transition:none!important;"
    "caret-color:transparent!important;scroll-behavior:auto!important}}"
)
"""Stops motion. First layer of the page: an `!important` there wins over every later one, however specific."""
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
)
"""Written into the frozen page: it may run nothing and ask for nothing, whoever opens it."""


@dataclass(frozen=True)
class Limits:
    """What a page may take (all our choice)."""

    seconds: float = 30.0  # of work, loading included; then the browser is ended
    text: int = 3_000_000  # characters of text in the document
    bytes: int = 6_000_000  # of the frozen file


@dataclass
class Frozen:
    """One frozen page, its figures, and what was left out of it."""

    html: str
    title: str
    language: str
    live: bytes  # PNG of the page before it was frozen
    dropped: dict[str, int]
    remote: list[str]
    missing: list[str]
    replaced: list[str]  # pictures that gave way to our own
    lost_styles: int  # style sheets that the page asked for and did not get


@dataclass
class Watch:
    """Answers what one page asks for, from its site only, and keeps book."""

    site: Site
    start: str
    head: str = ""  # markup put in front of the start page's own head
    asked: set[str] = field(default_factory=set)
    remote: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    lost_styles: set[str] = field(default_factory=set)
    started: bool = False
    navigations: int = 0

    def answer(self, page: Page, route: Route, request: Request) -> None:
        """Nothing: the request is fulfilled from the site, or refused and counted. It never reaches a network."""
        url = request.url.partition("#")[0]
        if request.is_navigation_request():
            if request.frame != page.main_frame:
                route.abort("blockedbyclient")  # frames are replaced by boxes; what they hold is never loaded
                return
            if self.started or url != self.start:
                self.navigations += 1
                route.fulfill(status=204)  # "no content" leaves the page where it is
                return
            self.started = True
        self.asked.add(url)
        found = self.read(url, kind=request.resource_type) if request.method == "GET" else None
        if found is None:
            route.fulfill(status=404, body="") if origin_of(url) == self.site.origin else route.abort("blockedbyclient")
            return
        # Fonts and scripts of other origins are answered too (see aliases), so they must say that anyone may use them.
        body, kind = found
        if self.head and url == self.start:
            body = _with_head(body, self.head)
        route.fulfill(status=200, body=body, headers={"Content-Type": kind, "Access-Control-Allow-Origin": "*"})

    def read(self, url: str, *, kind: str = "") -> tuple[bytes, str] | None:
        """Bytes and MIME type of `url`, asked for as `kind` (a resource type); None when it is refused, and listed."""
        url = url.partition("#")[0]
        try:
            return self.site.read(url, picture=kind == "image")
        except Refused as why:
            (self.remote if str(why) == "remote" else self.missing).add(url[:300])
            if kind == "stylesheet":
                self.lost_styles.add(url)
            return None


@functools.cache
def script(name: str) -> str:
    """The text of one of our in-page scripts."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def freeze_page(
    browser: Browser,
    site: Site,
    url: str,
    *,
    limits: Limits = Limits(),
    head: str = "",
    restyle: Callable[[str, list[str]], str] = lambda text, classes: "",
) -> Frozen:
    """The page at `url` of `site` as one file without scripts.

    `head` is markup put in front of the page's own head; styles marked ``data-compiled`` in it do not stay. `restyle`
    gets the frozen markup and the class names found on the settled page and returns markup for the start of the head.
    Raises `PageError` with the reason why the page cannot be used.
    """
    before = Counter(browser.blocked)
    watch = Watch(site, url, head)
    with browser.page(seconds=limits.seconds) as page:
        hold_clock(page)
        page.add_init_script(script("before.js"))  # after the clock, whose timers it wraps
        page.route("**/*", lambda route, request: watch.answer(page, route, request))
        _end_at_dialogs(page, browser)
        try:
            load(page, url, limits.text, lambda: watch.navigations > 0)
            settle(page, limits.text)
        finally:
            _raise_for(browser, before, watch)
        live = browser.capture(page)
        found = page.evaluate(f"({script('serialise.js')})", marker := f"part-{secrets.token_hex(8)}-")
        families = set(page.evaluate("() => [...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)"))
        _raise_for(browser, before, watch)
    if found["embeds"]:
        raise PageError("embedded document in view", ", ".join(sorted(set(found["embeds"]))))
    text = _fill(found["html"], marker, found["parts"], watch, {family.strip("\"'").lower() for family in families})
    text = _finish(text, quirks=found["quirks"], start=restyle(text, found["classes"]))
    if len(text.encode()) > limits.bytes:
        raise PageError("too large", f"{len(text.encode()) / 1e6:.1f} MB")
    return Frozen(
        html=text,
        title=" ".join(found["title"].split())[:200],
        language=found["language"],
        live=live,
        dropped=dict(found["dropped"]),
        remote=sorted(watch.remote),
        missing=sorted(watch.missing),
        replaced=sorted(site.replaced),
        lost_styles=len(watch.lost_styles),
    )


def _end_at_dialogs(page: Page, browser: Browser) -> None:
    """Nothing: a page that opens a dialog is ended at once, for it can ask again for ever, and it is dropped anyway."""
    page.on("dialog", lambda _: browser.kill())


def _raise_for(browser: Browser, before: Counter[str], watch: Watch) -> None:
    happened = browser.blocked - before
    if happened["dialog"]:
        raise PageError("opens dialogs", "a message box or a question")
    if happened["popup"]:
        raise PageError("opens windows", "by itself")
    if watch.navigations or happened["navigation"]:
        raise PageError("redirects", "the page asks for another page by itself")


def _with_head(body: bytes, head: str) -> bytes:
    text = body.decode("utf-8", errors="replace")
    found = re.search(r"<head(?:\s[^>]*)?>", text, re.I) or re.match(r"\s*<!doctype[^>]*>", text, re.I)
    at = found.end() if found else 0
    return (text[:at] + head + text[at:]).encode()


def _fill(text: str, marker: str, parts: list[dict[str, Any]], watch: Watch, families: set[str]) -> str:
    symbols: list[str] = []

    def read_picture(url: str) -> tuple[bytes, str] | None:
        found = watch.read(url, kind="image")
        return light_picture(*found) if found else None

    def read_part(url: str, role: Role) -> tuple[bytes, str] | None:
        if role != "picture":
            return watch.read(url)
        # A picture that no element asked for is not painted.
        return read_picture(url) if url.partition("#")[0] in watch.asked else None

    def fill(match: re.Match[str]) -> str:
        part = parts[int(match[1])]
        if part["kind"] == "css":
            css = part["text"]
            if css is None:
                found = watch.read(part["url"])
                css = decode_css(found[0]) if found else ""
            css = self_contained(css, part["base"], read_part, keep_family=lambda name: name.lower() in families)
            return html.escape(css, quote=True) if part.get("attribute") else safe_in_style(css)
        if part["kind"] == "symbol":
            return _symbol(part["url"], watch, symbols)
        if part["url"].startswith("data:"):
            return html.escape(part["url"], quote=True)
        found = read_picture(part["url"])
        return data_uri(*found) if found and found[1].startswith("image/") else NOTHING

    text = re.sub(rf"{marker}(\d+);", fill, text)
    if symbols:
        body = re.search(r"<body(?:\s[^>]*)?>", text, re.I)
        at = body.end() if body else len(text)
        drawings = f'<svg width="0" height="0" style="position:absolute" aria-hidden="true">{"".join(symbols)}</svg>'
        text = text[:at] + drawings + text[at:]
    return text


def _symbol(url: str, watch: Watch, symbols: list[str]) -> str:
    """The local reference to a drawing of another file, whose markup is added to `symbols`."""
    from lxml import etree

    address, _, name = url.partition("#")
    found = watch.read(address)
    if not found or not name:
        return "#"
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, huge_tree=False)
    tree = etree.fromstring(found[0], parser)
    wanted = None if tree is None else next((node for node in tree.iter(etree.Element) if node.get("id") == name), None)
    if wanted is None:
        return "#"
    for node in list(wanted.iter("{*}script", "{*}foreignObject", "{*}image", "{*}use")):
        if node is not wanted:
            node.getparent().remove(node)
    for node in wanted.iter(etree.Element):
        for key in [key for key in node.attrib if key.lower().startswith("on")]:
            del node.attrib[key]
    wanted.set("id", local := f"symbol-{len(symbols)}-{name}")
    wanted.tail = None
    symbols.append(etree.tostring(wanted, encoding="unicode"))
    return f"#{html.escape(local, quote=True)}"


def _finish(text: str, *, quirks: bool, start: str) -> str:
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    first = f'<meta charset="utf-8">{policy}<style>{STILL}</style>{start}'
    text = re.sub(r"<head(?:\s[^>]*)?>", lambda match: match[0] + first, text, count=1, flags=re.I)
    return ("" if quirks else "<!DOCTYPE html>\n") + text + "\n"
