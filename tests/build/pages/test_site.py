"""A page reads its own folder or its own server, and nothing else; unclear pictures are replaced on the way."""

from __future__ import annotations

import http.server
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import Image

from diffspot_hf.build.pages import pictures
from diffspot_hf.build.pages.site import (
    HEAVY_PICTURE,
    FolderSite,
    LoopbackSite,
    Refused,
    check_loopback,
    light_picture,
    remote_picture_size,
)
from diffspot_hf.errors import UsageError

from .conftest import drawing, photo


@pytest.fixture
def site(tmp_path: Path) -> FolderSite:
    root = tmp_path / "root"
    (root / "a b").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret")
    (root / "page.html").write_text("page")
    (root / "a b" / "index.html").write_text("index")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "out").symlink_to(tmp_path)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "icons.css").write_text("i{}")
    return FolderSite(
        root,
        aliases=(("cdn.example.invalid/i/", tmp_path / "parts"), ("/mounted/", tmp_path / "parts")),
        virtual={"made.html": b"made"},
        leave_out=("page2.html",),
    )


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param("/page.html", b"page", id="file"),
        pytest.param("/page.html?v=2#top", b"page", id="query-and-fragment"),
        pytest.param("/page", b"page", id="clean-address"),
        pytest.param("/a%20b/", b"index", id="folder"),
        pytest.param("/made.html", b"made", id="virtual"),
        pytest.param("/mounted/icons.css", b"i{}", id="mounted"),
    ],
)
def test_what_is_in_the_folder_is_given(site, path, body):
    assert site.read(site.origin + path)[0] == body


def test_an_alias_answers_for_a_remote_address(site):
    assert site.read("https://cdn.example.invalid/i/icons.css?v=4") == (b"i{}", "text/css")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        pytest.param("/../secret.txt", "outside", id="dotdot"),
        pytest.param("/..%2fsecret.txt", "outside", id="escaped-dotdot"),
        pytest.param("/%2e%2e/secret.txt", "outside", id="escaped-dots"),
        pytest.param("/link.txt", "outside", id="link-to-a-file"),
        pytest.param("/out/secret.txt", "outside", id="link-to-a-folder"),
        pytest.param("//etc/passwd", "missing", id="two-slashes"),
        pytest.param("/a%00b", "missing", id="nul"),
        pytest.param("/mounted/../secret.txt", "outside", id="out-of-a-mount"),
        pytest.param("/nothing.css", "missing", id="missing"),
        pytest.param("/page2.html", "left out", id="left-out"),
        pytest.param("https://far.example.invalid/x.png", "remote", id="remote"),
        pytest.param("https://cdn.example.invalid/i/../../secret.txt", "outside", id="out-of-an-alias"),
        pytest.param("file:///etc/passwd", "remote", id="file-url"),
    ],
)
def test_everything_else_is_refused(site, url, why):
    with pytest.raises(Refused, match=why):
        site.read(url if "://" in url else site.origin + url)


def test_photos_are_replaced_at_their_own_size_and_drawings_stay(tmp_path):
    (tmp_path / "sea.jpg").write_bytes(photo(90, 60))
    (tmp_path / "rich.png").write_bytes(photo(90, 60, "PNG"))
    (tmp_path / "logo.png").write_bytes(drawing(90, 60))
    (tmp_path / "map.png").write_bytes(drawing(90, 60))
    site = FolderSite(tmp_path, replace_photos=True, more_photos=("map*",))
    for name in ("sea.jpg", "rich.png", "map.png"):
        body, kind = site.read(f"{site.origin}/{name}")
        assert kind == "image/jpeg"
        assert body != (tmp_path / name).read_bytes()
        assert Image.open(io.BytesIO(body)).size == (90, 60)
    assert site.read(f"{site.origin}/logo.png")[0] == drawing(90, 60)
    assert FolderSite(tmp_path).read(f"{site.origin}/sea.jpg")[0] == photo(90, 60)


def test_a_remote_picture_becomes_one_of_our_own_only_where_photos_are_replaced(tmp_path):
    url = "https://pictures.example.invalid/120x80?x"
    assert Image.open(io.BytesIO(FolderSite(tmp_path, replace_photos=True).read(url, picture=True)[0])).size == (
        120,
        80,
    )
    for site, picture in ((FolderSite(tmp_path), True), (FolderSite(tmp_path, replace_photos=True), False)):
        with pytest.raises(Refused, match="remote"):
            site.read(url, picture=picture)


@pytest.mark.parametrize(
    ("path", "size"),
    [("/300x200.png", (300, 200)), ("/80", (80, 80)), ("/1200/000000.png", (1200, 1200)), ("/sea.jpg", (640, 480))],
)
def test_the_size_of_a_remote_picture_is_read_from_its_address(path, size):
    assert remote_picture_size(f"https://pictures.example.invalid{path}") == size


def test_generated_pictures_follow_from_their_seed_and_size():
    assert pictures.scene("a.jpg", 80, 60) == pictures.scene("a.jpg", 80, 60)
    assert pictures.scene("a.jpg", 80, 60) != pictures.scene("b.jpg", 80, 60)
    wide = Image.open(io.BytesIO(pictures.scene("user/a.jpg", 2000, 300)))
    assert wide.size == (2000, 300)


def test_a_cut_out_photo_keeps_its_outline():
    outline = Image.new("L", (60, 60), 0)
    outline.paste(255, (20, 20, 40, 40))
    original = Image.open(io.BytesIO(photo(60, 60))).convert("RGBA")
    original.putalpha(outline)
    out = io.BytesIO()
    original.save(out, "PNG")
    body, _ = pictures.stand_in("bag.png", out.getvalue())
    made = Image.open(io.BytesIO(body)).convert("RGBA")
    assert made.getpixel((5, 5))[3] == 0
    assert made.getpixel((30, 30))[3] == 255


def test_what_is_no_picture_cannot_be_replaced():
    assert pictures.stand_in("sea.jpg", b"not a picture") is None
    assert not pictures.is_photo("broken.png", b"not a picture")


def test_heavy_and_animated_pictures_become_light_and_still():
    heavy = photo(600, 500, "PNG")
    assert len(heavy) > HEAVY_PICTURE
    body, kind = light_picture(heavy, "image/png")
    assert kind == "image/webp"
    assert len(body) < len(heavy)
    assert Image.open(io.BytesIO(body)).size == (600, 500)
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "lime", "blue")]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    body, kind = light_picture(out.getvalue(), "image/gif")
    assert kind == "image/png"
    assert Image.open(io.BytesIO(body)).convert("RGB").getpixel((5, 5)) == (255, 0, 0)
    assert light_picture(b"<svg/>", "image/svg+xml") == (b"<svg/>", "image/svg+xml")
    assert light_picture(b"broken", "image/png") == (b"broken", "image/png")


@pytest.mark.parametrize(
    "url",
    [
        "http://example.invalid/",
        "https://127.0.0.1/",
        "http://127.0.0.1.example.invalid/",
        "http://localhost@example.invalid/",
        "http://10.0.0.1/",
        "http://[::2]/",
        "http://127.0.0.1:port/",
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
    ],
)
def test_only_plain_loopback_addresses_are_loaded(url):
    with pytest.raises(UsageError):
        check_loopback(url)


@contextmanager
def served(answers: dict[str, tuple[int, dict[str, str], bytes]]) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = answers.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_a_loopback_server_is_read_without_leaving_it():
    answers = {
        "/": (200, {"Content-Type": "text/html; charset=utf-8"}, b"home"),
        "/old": (302, {"Location": "/"}, b""),
        "/away": (302, {"Location": "http://example.invalid/"}, b""),
        "/round": (302, {"Location": "/round"}, b""),
    }
    with served(answers) as origin:
        site = LoopbackSite(origin)
        assert site.read(f"{origin}/") == (b"home", "text/html")
        assert site.follow(f"{origin}/old")[0] == f"{origin}/"
        for path, why in (("/away", "redirects"), ("/round", "redirects"), ("/none", "missing")):
            with pytest.raises(Refused, match=why):
                site.read(origin + path)
        with pytest.raises(Refused, match="remote"):
            site.read("http://127.0.0.1:1/")
