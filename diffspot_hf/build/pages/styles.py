"""Style sheets made self-contained: every `@import` and `url()` replaced by what it points to, or by nothing.

Texts are rewritten, not re-serialised: whatever the author wrote and the browser understands stays as it is.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Literal
from urllib.parse import urljoin

Role = Literal["sheet", "font", "picture"]
Reader = Callable[[str, Role], tuple[bytes, str] | None]
"""Bytes and MIME type of an absolute URL that is used as this, or None when it must not or cannot be had."""

NOTHING = "data:,"
"""What an unreachable URL becomes: valid, empty, paints nothing, asks for nothing."""
MAX_IMPORTS = 8

_STRING = r'"(?:\\.|[^"\\])*"|' + r"'(?:\\.|[^'\\])*'"
_TOKEN = re.compile(
    rf"""
      (?P<comment>/\*.*?(?:\*/|\Z))
    | (?P<import>@import\s+(?:url\(\s*)?(?P<imported>{_STRING}|[^\s;"')]+)\s*\)?(?P<rest>[^;]*);?)
    | (?P<face>@font-face\s*\{{(?:{_STRING}|/\*.*?\*/|[^}}"'])*\}})
    | (?P<url>\b(?:url|src)\(\s*(?P<target>{_STRING}|[^\s"'()\\]*(?:\\.[^\s"'()\\]*)*)\s*\))
    | (?P<set>\bimage-set\(\s*(?P<first>{_STRING}))
    | (?P<string>{_STRING})
    """,
    re.X | re.S | re.I,
)
_FACE_SOURCE = re.compile(rf"(?P<lead>[{{;\s])src\s*:(?P<list>(?:{_STRING}|url\([^)]*\)|[^;}}])*)", re.S | re.I)
_FAMILY = re.compile(rf"font-family\s*:\s*({_STRING}|[^;}}]+)", re.I)
_FONT_ORDER = ("woff2", "woff", "truetype", "opentype")
_FONT_SUFFIX = {".woff2": "woff2", ".woff": "woff", ".ttf": "truetype", ".otf": "opentype"}


def data_uri(body: bytes, kind: str) -> str:
    """`body` as a base64 data URI of MIME type `kind`.

    >>> data_uri(b"GIF89a", "image/gif")
    'data:image/gif;base64,R0lGODlh'
    """
    return f"data:{kind};base64,{base64.b64encode(body).decode()}"


def self_contained(css: str, base: str, read: Reader, *, keep_family: Callable[[str], bool], depth: int = 0) -> str:
    """`css`, whose relative URLs count from `base`, without any reference to something outside it.

    Imports are put in place (with their media, layer and support conditions), pictures become data URIs, each
    `@font-face` keeps its best format if `keep_family(name)`, else it goes. What `read` refuses becomes `NOTHING`.
    """

    def replace(match: re.Match[str]) -> str:
        if match["comment"]:
            return match["comment"] if match["comment"].startswith("/*!") else " "
        if match["import"]:
            return _imported(_unquote(match["imported"]), match["rest"].strip())
        if match["face"]:
            return _face(match["face"], base, read, keep_family)
        if match["url"]:
            return f'url("{_inline(_unquote(match["target"]), base, read)}")'
        if match["set"]:
            return f'image-set("{_inline(_unquote(match["first"]), base, read)}"'
        return match[0]

    def _imported(target: str, conditions: str) -> str:
        address = urljoin(base, target)
        found = read(address, "sheet") if depth < MAX_IMPORTS else None
        if found is None:
            return ""
        inner = self_contained(decode_css(found[0]), address, read, keep_family=keep_family, depth=depth + 1)
        return _under_conditions(inner, conditions)

    return _TOKEN.sub(replace, css)


def decode_css(body: bytes) -> str:
    """The text of a style sheet: by its byte-order mark or `@charset`, else UTF-8; never an error."""
    if body.startswith(b"\xef\xbb\xbf"):
        body = body[3:]
    named = re.match(rb'@charset "([\w-]{1,40})";', body)
    try:
        text = body.decode(named[1].decode() if named else "utf-8", errors="replace")
    except LookupError:
        text = body.decode("utf-8", errors="replace")
    return text[named.end() :] if named else text


def safe_in_style(css: str) -> str:
    """`css` such that it cannot end the `<style>` element it is put in.

    >>> safe_in_style("a::before{content:'</style>'}")
    "a::before{content:'<\\\\/style>'}"
    """
    return re.sub(r"</(?=style)", r"<\\/", css, flags=re.I)


def _under_conditions(css: str, conditions: str) -> str:
    layer = re.match(r"layer(?:\(([^)]*)\))?\s*", conditions, re.I)
    rest = conditions[layer.end() :] if layer else conditions
    supports = re.match(r"supports\((.*?)\)(?=\s|$)\s*", rest, re.I | re.S)
    media = rest[supports.end() :] if supports else rest
    if media.strip():
        css = f"@media {media}{{{css}}}"
    if supports:
        css = f"@supports ({supports[1]}){{{css}}}"
    if layer:
        css = f"@layer {(layer[1] or '').strip()}{{{css}}}"
    return css


def _face(block: str, base: str, read: Reader, keep_family: Callable[[str], bool]) -> str:
    family = _FAMILY.search(block)
    if family is None or not keep_family(_unquote(family[1].strip())):
        return ""
    candidates: list[tuple[int, str, str]] = []  # (preference, URL, format)
    kept: list[str] = []
    for source in _FACE_SOURCE.finditer(block):
        for entry in re.finditer(
            rf"(local|url)\(\s*({_STRING}|[^)]*?)\s*\)\s*(?:format\(\s*({_STRING}|[\w-]+)\s*\))?", source["list"], re.I
        ):
            target = _unquote(entry[2])
            if entry[1].lower() == "local":
                kept.append(f'local("{target}")')
                continue
            suffix = re.search(r"\.\w+(?=$|[?#])", target)
            form = _unquote(entry[3] or "").removesuffix("-variations") or _FONT_SUFFIX.get(
                suffix[0].lower() if suffix else "", ""
            )
            if target.startswith("data:") and not form:
                form = "woff2"
            if form in _FONT_ORDER:
                candidates.append((_FONT_ORDER.index(form), target, form))
    for _, target, form in sorted(candidates):
        inline = _inline(target, base, read, "font")
        if inline != NOTHING:
            kept.append(f'url("{inline}") format("{form}")')
            break
    if not kept:
        return ""
    bare = _FACE_SOURCE.sub(lambda match: match["lead"], block)
    return bare.rstrip().removesuffix("}").rstrip().rstrip(";") + f";src:{','.join(kept)}}}"


def _inline(target: str, base: str, read: Reader, role: Role = "picture") -> str:
    if not target or target.startswith("#") or target.lower().startswith("data:"):
        # A double quote would end the url("") it is put in; browsers read %22 the same way.
        return (target or NOTHING).replace('"', "%22").replace("\n", "")
    address, _, fragment = urljoin(base, target).partition("#")
    found = read(address, role)
    if found is None:
        return NOTHING
    return data_uri(*found) + (f"#{fragment}" if fragment and found[1] == "image/svg+xml" else "")


def _unquote(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1].replace("\\\n", "")
    return re.sub(r"\\([0-9a-fA-F]{1,6}\s?|.)", _unescape, text).strip()


def _unescape(match: re.Match[str]) -> str:
    code = match[1].strip()
    return chr(int(code, 16)) if re.fullmatch(r"[0-9a-fA-F]{1,6}", code) and int(code, 16) < 0x110000 else match[1]
