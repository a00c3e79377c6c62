"""Style sheets become self-contained, text by text."""

from __future__ import annotations

import pytest

from diffspot_hf.build.pages.styles import decode_css, safe_in_style, self_contained

FILES = {
    "http://s/css/a.png": (b"A", "image/png"),
    "http://s/fonts/f.woff2": (b"2", "font/woff2"),
    "http://s/fonts/f.ttf": (b"T", "font/ttf"),
    "http://s/css/more.css": (b"b{background:url(../css/a.png)}", "text/css"),
    "http://s/css/loop.css": (b"@import 'loop.css'; i{}", "text/css"),
}
A = 'url("data:image/png;base64,QQ==")'


def inline(css: str, families: tuple[str, ...] = ("icons",)) -> str:
    return self_contained(
        css, "http://s/css/main.css", lambda url, role: FILES.get(url), keep_family=lambda name: name in families
    )


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        pytest.param("a{background:url(a.png)}", f"a{{background:{A}}}", id="bare-url"),
        pytest.param("a{background:url( 'a.png' ) 0 0}", f"a{{background:{A} 0 0}}", id="quoted-url"),
        pytest.param('a{background:URL("../css/a.png")}', f"a{{background:{A}}}", id="upper-case-and-dotdot"),
        pytest.param("a{background:url(/css/a.png?v=1)}", 'a{background:url("data:,")}', id="other-query-is-missing"),
        pytest.param("a{background:url(http://far/x.png)}", 'a{background:url("data:,")}', id="remote"),
        pytest.param("a{mask:url(data:image/gif;base64,R0)}", 'a{mask:url("data:image/gif;base64,R0")}', id="data"),
        pytest.param("a{mask:url(#m)}", 'a{mask:url("#m")}', id="fragment-of-this-page"),
        pytest.param("/* url(a.png) */a{}", " a{}", id="comment-goes"),
        pytest.param("/*! kept (c) */a{}", "/*! kept (c) */a{}", id="licence-comment-stays"),
        pytest.param("a::before{content:'url(a.png)'}", "a::before{content:'url(a.png)'}", id="url-in-a-string"),
        pytest.param("@import 'more.css';", f"b{{background:{A}}}", id="import-string"),
        pytest.param("@import url(more.css) screen;", f"@media screen{{b{{background:{A}}}}}", id="import-with-media"),
        pytest.param("@import 'more.css' layer(x);", f"@layer x{{b{{background:{A}}}}}", id="import-into-a-layer"),
        pytest.param("@import 'more.css' supports(display:grid) print;",
                     f"@supports (display:grid){{@media print{{b{{background:{A}}}}}}}", id="import-with-support"),
        pytest.param("@import url('http://far/css?a:1;2');a{}", "a{}", id="remote-import-with-semicolon"),
        pytest.param("a{background:image-set('a.png' 1x)}",
                     'a{background:image-set("data:image/png;base64,QQ==" 1x)}', id="image-set"),
        pytest.param("a{background:url(a.png", "a{background:url(a.png", id="broken-stays"),
    ],
)  # fmt: skip
def test_references_are_replaced(css, expected):
    assert inline(css) == expected


def test_a_font_keeps_its_best_format_only():
    css = (
        "@font-face{font-family:'icons';src:url(../fonts/f.eot);src:url(../fonts/f.eot?#i) format('embedded-opentype'),"
        "url(../fonts/f.ttf) format('truetype'),url('../fonts/f.woff2') format('woff2');font-weight:400}"
    )
    made = inline(css)
    assert made.count("src:") == 1
    assert 'url("data:font/woff2;base64,Mg==") format("woff2")' in made
    assert "font-weight:400" in made


def test_a_font_falls_back_to_the_format_that_is_there():
    assert "data:font/ttf" in inline("@font-face{font-family:icons;src:url(no.woff2),url(../fonts/f.ttf)}")


@pytest.mark.parametrize(
    "css",
    [
        pytest.param("@font-face{font-family:other;src:url(../fonts/f.woff2)}", id="family-not-used"),
        pytest.param("@font-face{font-family:icons;src:url(no.woff2)}", id="no-source-left"),
    ],
)
def test_a_useless_font_goes(css):
    assert inline(css) == ""


def test_imports_in_a_circle_end():
    assert inline("@import 'loop.css';").count("i{}") <= 9


def test_a_style_sheet_cannot_leave_its_element():
    assert "</style" not in safe_in_style("a::after{content:'</STYLE><script>'}").lower()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param("\ufeffa{}".encode(), "a{}", id="byte-order-mark"),
        pytest.param(b'@charset "latin-1";\xe9', "é", id="charset-rule"),
        pytest.param(b'@charset "no-such-thing";a', "a", id="unknown-charset"),
        pytest.param(b"\xff a", "\ufffd a", id="wrong-bytes"),
    ],
)
def test_style_sheets_are_decoded(body, text):
    assert decode_css(body) == text
