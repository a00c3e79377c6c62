"""Content filters: what is never kept, each on a page of its own, with the reason under which it is counted."""

from __future__ import annotations

import pytest

from diffspot_hf.build.browser import PageError
from diffspot_hf.build.web.change import Change
from diffspot_hf.build.web.takes import Director

pytestmark = pytest.mark.browser

AT = "position:absolute;left:40px;top:40px"
NARROW = f"{AT};width:150px;height:24px;overflow:hidden;white-space:nowrap"
CLAMP = f"{AT};width:150px;overflow:hidden;display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical"

REFUSED_CHANGES = [
    pytest.param(
        f"<div id=t style='{NARROW}'>Ferries today</div>", "letter_spacing", {"letter-spacing": "0.4em"}, "clipped",
        id="text is cut at the edge of its box",
    ),
    pytest.param(
        f"<div id=t style='{NARROW};text-overflow:ellipsis'>Ferries today</div>", "font_size", {"font-size": "40px"},
        "clipped", id="text ends in an ellipsis",
    ),
    pytest.param(
        f"<div id=t style='{CLAMP}'>Ferries leave every hour</div>", "letter_spacing", {"letter-spacing": "0.9em"},
        "clipped", id="a third line falls to the line clamp",
    ),
    pytest.param(
        f"<div style='{AT};width:200px;height:60px;overflow:hidden'><b id=t style='position:absolute'>Boats</b></div>",
        "position", {"transform": "translate(180px, 0)"}, "clipped", id="the target moves behind the edge of its box",
    ),
    pytest.param(
        "<b id=t style='position:absolute;right:10px;top:40px'>Ferries</b>", "position",
        {"transform": "translate(32px, 0)"}, "leaves the viewport", id="the target leaves the screen",
    ),
    pytest.param(
        "<p id=t style='position:absolute;left:0;top:40px;width:1280px;margin:0;white-space:nowrap'>"
        + "Ferries leave every hour. " * 5 + "</p>",
        "letter_spacing", {"letter-spacing": "0.3em"}, "new scroll", id="the page begins to scroll sideways",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "operator", "style", "reason"), REFUSED_CHANGES)
def test_change_is_refused(body, operator, style, reason, stage):
    with stage(body) as opened:
        director = Director(opened, seed=1)
        facts = next(one for one in director.facts if one["selector"] == "#t")
        change = Change(operator, "easy", next(iter(style)), "", "", "", style=style)
        assert opened.dry_run(operator, [(facts["i"], [change])], 1)["reasons"] == {reason: 1}
        assert opened.is_clean()


BROKEN_FONT = "<style>@font-face{font-family:Harbour;src:url(data:font/woff2;base64,AAAA)}</style>"
UNFIT_ELEMENTS = [
    pytest.param("<p id=t>Ferries \ue123</p>", "missing glyph", id="a private character that no font has"),
    pytest.param("<p id=t>Ferries \ufdd0</p>", "missing glyph", id="a character that does not exist"),
    pytest.param(BROKEN_FONT + "<p id=t style='font-family:Harbour'>Boats</p>", "font failed", id="a broken web font"),
    pytest.param(
        "<p id=t><i style='font-family:\"Material Icons\"'>directions_boat</i> Ferries</p>",
        "font failed", id="an icon font that was not loaded and shows its icon's name",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "reason"), UNFIT_ELEMENTS)
def test_element_is_no_target(body, reason, stage):
    with stage(body) as opened:
        director = Director(opened, seed=1)
    assert all(facts["selector"] != "#t" for facts in director.facts)
    assert director.unfit[reason] >= 1


@pytest.mark.parametrize("text", ["Fähre nach Łódź", "Паром в шесть", "Φέρι στις έξι", "Ferry ★ 4,5 €"])
def test_letters_that_the_font_has_are_no_missing_glyphs(text, stage):
    with stage(f"<p id=t>{text}</p>") as opened:
        assert any(facts["selector"] == "#t" for facts in Director(opened, seed=1).facts)


REFUSED_PAGES = [
    pytest.param("", "<p style='position:absolute;top:900px'>below</p>", "near-blank", id="nothing on the screen"),
    pytest.param(
        None, "<progress style='width:400px;height:40px'></progress>", "in motion", id="a waiting progress bar"
    ),
    pytest.param(None, "<canvas width=300 height=100></canvas>", "canvas in the viewport", id="canvas"),
    pytest.param(None, "<video controls width=300 height=100></video>", "video in the viewport", id="video"),
    pytest.param(None, "<iframe src=about:blank></iframe>", "iframe in the viewport", id="iframe"),
    pytest.param(None, "<i></i>" * 20_001, "too large", id="more elements than a page has"),
]


@pytest.mark.parametrize(("head", "body", "reason"), REFUSED_PAGES)
def test_page_is_dropped(head, body, reason, stage):
    options = {} if head is None else {"head": head}
    with pytest.raises(PageError) as caught, stage(body, **options):
        pass
    assert caught.value.reason == reason


STILL_PAGES = [
    pytest.param("<style>@keyframes k{to{left:400px}}#m{animation:k 1s infinite!important}</style><b id=m style="
                 "'position:absolute;top:300px'>Ferry</b>", id="animation in a style sheet"),
    pytest.param("<marquee>Ferries leave every hour</marquee>", id="marquee"),
    pytest.param("<svg width=300 height=60><rect width=30 height=30><animate attributeName=x from=0 to=200 dur=1s "
                 "repeatCount=indefinite /></rect></svg>", id="animation in a drawing"),
    pytest.param("<input autofocus value=Ferries>", id="a blinking caret"),
    pytest.param("<canvas style='position:absolute;top:900px'></canvas>", id="a canvas below the fold"),
]  # fmt: skip


@pytest.mark.parametrize("body", STILL_PAGES)
def test_page_stands_still(body, stage):
    with stage(body) as opened:
        assert opened.is_clean()
