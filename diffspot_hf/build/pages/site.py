"""What the pages of one place may read: a folder, or a loopback server, and nothing beside it."""

from __future__ import annotations

import fnmatch
import io
import mimetypes
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, unquote, urlsplit

from PIL import Image

from ...errors import UsageError
from ..browser import PAGE_ORIGIN
from .pictures import is_photo, scene, stand_in

MAX_PART = 32 << 20
"""Bytes of one file a page may pull in (our choice)."""
HEAVY_PICTURE = 300 << 10
"""Bytes above which a kept raster picture is packed anew, at its own pixel size (our choice)."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
FETCH_SECONDS = 10

_KINDS = {
    ".avif": "image/avif",
    ".js": "text/javascript",
    ".json": "application/json",
    ".mjs": "text/javascript",
    ".otf": "font/otf",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}


class Refused(Exception):
    """Why a URL is not given: ``remote``, ``outside``, ``missing`` or ``too large``."""


class Site(Protocol):
    """Where pages come from. `read` gives bytes and MIME type of a URL, or raises `Refused`.

    `picture` says that the URL is asked for as a picture, whatever its name. `replaced` names the pictures that gave
    way to our own.
    """

    origin: str
    replaced: set[str]

    def read(self, url: str, *, picture: bool = False) -> tuple[bytes, str]: ...


@dataclass
class FolderSite:
    """The files under `root`, which pages see as `PAGE_ORIGIN`. Links that lead out of it are refused.

    `aliases` maps remote addresses (a prefix, without the scheme) or paths (from "/") to local files or folders,
    `virtual` adds pages that are in no file, `leave_out` names files that are not given. With `replace_photos`, every
    photo, and every remote picture, is one of our own making; `more_photos` are globs of pictures that count as photos.
    """

    root: Path
    aliases: tuple[tuple[str, Path], ...] = ()
    virtual: Mapping[str, bytes] = field(default_factory=dict)
    leave_out: tuple[str, ...] = ()
    replace_photos: bool = False
    more_photos: tuple[str, ...] = ()
    origin: str = PAGE_ORIGIN
    seed: str = ""  # put in front of a photo's path, so that packages do not share pictures
    replaced: set[str] = field(default_factory=set)

    @cached_property
    def _root(self) -> Path:
        return self.root.resolve()

    def url_of(self, path: str) -> str:
        """The URL under which pages see the file `path` (relative to the root, with slashes)."""
        return f"{self.origin}/{quote(path)}"

    def read(self, url: str, *, picture: bool = False) -> tuple[bytes, str]:
        parts = urlsplit(url)
        if origin_of(url) == self.origin:
            name = unquote(parts.path).lstrip("/")
            if name in self.virtual:
                return self.virtual[name], "text/html"
            if name in self.leave_out:
                raise Refused("left out")
            for prefix, local in self.aliases:
                if prefix.startswith("/") and f"/{name}".startswith(prefix):
                    return self._treat(name, self._file(local.resolve(), f"/{name}"[len(prefix) :]))
            return self._treat(name, self._file(self._root, name))
        address = f"{parts.netloc}{unquote(parts.path)}"
        for prefix, local in self.aliases:
            if address == prefix or (prefix.endswith("/") and address.startswith(prefix)):
                file = self._file(local.resolve(), address[len(prefix) :]) if prefix.endswith("/") else local.resolve()
                return self._treat(address, file)
        if picture and self.replace_photos and parts.scheme in ("http", "https"):
            self.replaced.add(url[:300])
            return scene(url, *remote_picture_size(url)), "image/jpeg"
        raise Refused("remote")

    def _is_photo(self, name: str, body: bytes) -> bool:
        return any(fnmatch.fnmatch(name, glob) for glob in self.more_photos) or is_photo(name, body)

    def _file(self, root: Path, name: str) -> Path:
        try:
            file = (root / name).resolve()
            if not file.is_relative_to(root):  # after resolving, so links that leave the folder are found too
                raise Refused("outside")
            for found in (file, file / "index.html", file.with_name(file.name + ".html") if file.name else file):
                if found.is_file():
                    # The candidates that were added can be links of their own.
                    if not found.resolve().is_relative_to(root):
                        raise Refused("outside")
                    if found.stat().st_size > MAX_PART:
                        raise Refused("too large")
                    return found
        except (OSError, ValueError) as error:
            raise Refused("missing") from error
        raise Refused("missing")

    def _treat(self, name: str, file: Path) -> tuple[bytes, str]:
        try:
            body = file.read_bytes()
        except OSError as error:
            raise Refused("missing") from error
        kind = kind_of(file.name)
        if self.replace_photos and kind.startswith("image/") and self._is_photo(name, body):
            self.replaced.add(name)
            return stand_in(self.seed + name, body) or (b"", kind)  # one that cannot be read cannot be judged either
        return body, kind


@dataclass
class LoopbackSite:
    """A server on this machine, read by this process (never by the browser), without proxies and without redirects."""

    origin: str
    replaced: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        check_loopback(self.origin)

    def read(self, url: str, *, picture: bool = False) -> tuple[bytes, str]:
        _, body, kind = self.follow(url)
        return body, kind

    def follow(self, url: str) -> tuple[str, bytes, str]:
        """The URL after redirects, bytes and MIME type. A redirect to another origin, or for ever, is `Refused`."""
        if origin_of(url) != self.origin:
            raise Refused("remote")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _SameOrigin(self.origin))
        try:
            with opener.open(
                urllib.request.Request(url, headers={"User-Agent": "diffspot-hf"}), timeout=FETCH_SECONDS
            ) as answer:
                body = answer.read(MAX_PART + 1)
                where, kind = answer.geturl(), answer.headers.get_content_type()
        except urllib.error.HTTPError as error:
            raise Refused("redirects" if 300 <= error.code < 400 else "missing") from error
        except (urllib.error.URLError, OSError, ValueError) as error:
            raise Refused("missing") from error
        if len(body) > MAX_PART:
            raise Refused("too large")
        return where, body, kind


class _SameOrigin(urllib.request.HTTPRedirectHandler):
    max_redirections = 5

    def __init__(self, origin: str) -> None:
        self.origin = origin

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        if origin_of(newurl) != self.origin:
            return None  # the redirect itself is then an HTTPError
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def origin_of(url: str) -> str:
    """Scheme, host and port of `url`.

    >>> origin_of("http://127.0.0.1:8000/a/b?c")
    'http://127.0.0.1:8000'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def check_loopback(url: str) -> str:
    """The origin of `url`, or a `UsageError` when it is not plain HTTP to this machine."""
    parts = urlsplit(url)
    try:
        host = parts.hostname or ""
        parts.port  # noqa: B018  raises when it is no number
    except ValueError as error:
        raise UsageError(f"{url}: not a URL ({error})") from error
    loopback = host in LOOPBACK or (host.startswith("127.") and host.replace(".", "").isdigit())
    if parts.scheme != "http" or not loopback or parts.username is not None:
        raise UsageError(f"{url}: only pages of this machine are loaded; give a folder, or http://127.0.0.1:PORT/…")
    return origin_of(url)


def kind_of(name: str) -> str:
    """The MIME type by which a file of this name is served, whatever the machine's own table says."""
    suffix = "." + name.lower().rpartition(".")[2]
    return _KINDS.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"


def remote_picture_size(url: str) -> tuple[int, int]:
    """Pixel size of the picture to draw for a remote one: what its address says, else 640 × 480.

    >>> remote_picture_size("https://pictures.example/300x200.png"), remote_picture_size("https://pictures.example/80")
    ((300, 200), (80, 80))
    """
    path = urlsplit(url).path
    both = re.search(r"(?<!\d)([1-9]\d{1,3})[x/]([1-9]\d{1,3})(?!\d)", path)
    if both:
        return min(int(both[1]), 2000), min(int(both[2]), 2000)
    side = re.search(r"/([1-9]\d{1,3})(?:/|$)", path)
    return (min(int(side[1]), 2000),) * 2 if side else (640, 480)


def light_picture(body: bytes, kind: str) -> tuple[bytes, str]:
    """`body` fit to be stored in a page: one frame, and packed anew where it is heavy; same pixel size."""
    if not kind.startswith("image/") or kind == "image/svg+xml":
        return body, kind
    try:
        with Image.open(io.BytesIO(body)) as image:
            frames = getattr(image, "n_frames", 1)
            if frames == 1 and len(body) <= HEAVY_PICTURE:
                return body, kind
            still = image.convert("RGBA" if image.has_transparency_data else "RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return body, kind
    out = io.BytesIO()
    if len(body) > HEAVY_PICTURE:
        still.save(out, "WEBP", quality=80, method=4)
        return (out.getvalue(), "image/webp") if frames > 1 or out.tell() < len(body) else (body, kind)
    still.save(out, "PNG", optimize=True)
    return out.getvalue(), "image/png"
