"""The pages for people, driven in a real Chromium from the disk: draw, tag, decide, answer, export, read back."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from diffspot_hf.build.browser import Browser
from diffspot_hf.build.chromium import driver, launch
from diffspot_hf.build.scry import from_annotations
from diffspot_hf.errors import UsageError
from diffspot_hf.report.decisions import read_decisions
from diffspot_hf.report.pages import write_page
from diffspot_hf.types import Picture

WIDTH, HEIGHT = 200, 400


def picture(fill: str, spot: tuple[int, int] | None = None, kind: str = "PNG") -> bytes:
    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((20, 20, 180, 60), fill=fill)
    if spot:
        draw.ellipse((*spot, spot[0] + 30, spot[1] + 30), fill="crimson")
    out = io.BytesIO()
    image.save(out, format=kind)
    return out.getvalue()


def pair(identifier: str, **more: Any) -> dict[str, Any]:
    a, b = picture("navy"), picture("navy", (100, 200))
    return {
        "id": identifier,
        "image_a": {"path": f"{identifier}-a.png", "bytes": a},
        "image_b": {"path": f"{identifier}-b.png", "bytes": b},
        **more,
    }


def item(identifier: str, track: str = "differential", **more: Any) -> dict[str, Any]:
    return {
        "id": identifier,
        "track": track,
        "image_1": picture("navy"),
        "image_2": picture("navy", (60, 100)),
        "question": f"What differs in {identifier}?",
        "options": ["one", "two", "three", "four", "nothing"],
        "answer": "C",
        "instruction": "draw a dot",
        "bbox_1": {"x": 60, "y": 100, "w": 30, "h": 30},
        "bbox_2": {"x": 60, "y": 100, "w": 30, "h": 30},
        **more,
    }


BOX = {"x": 0.5, "y": 0.5, "w": 0.15, "h": 0.075}


def prediction(index: int, note: str = "a dot appears", box: Any = BOX) -> dict[str, Any]:
    issue = {"labels": ["Shape/Size"], "note": note, "box_a": None, "box_b": box}
    return {"prediction_index": index, "about": "1234", **issue}


# What Python writes


def embedded(page: Path) -> dict[str, Any]:
    text = page.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


@pytest.mark.parametrize(
    ("mode", "rows", "says"),
    [
        pytest.param("guess", [pair("x")], "there are annotate, audit, controls, verify, answer", id="unknown-mode"),
        pytest.param("annotate", [], "no rows to show", id="nothing-to-show"),
        pytest.param("annotate", [pair("x"), pair("x")], "id 'x' stands twice", id="repeated-id"),
        pytest.param("annotate", [pair("")], "row 1 has no id", id="no-id"),
        pytest.param("annotate", [{"id": "x", "image_a": b""}], "row x, image_a: not a readable", id="empty-picture"),
        pytest.param("annotate", [{"id": "x"}], "row x: image_a holds no picture", id="no-picture"),
        pytest.param("controls", [pair("x", image_b=b"GIF89a no")], "row x, image_b", id="broken-picture"),
    ],
)
def test_what_cannot_be_shown_is_refused(tmp_path: Path, mode: str, rows: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(UsageError, match=re.escape(says)):
        write_page(mode, rows, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_page_replaces_a_page_and_no_other_file(tmp_path: Path) -> None:
    page = write_page("controls", [pair("one")], tmp_path / "page.html")
    write_page("controls", [pair("two")], page)
    assert embedded(page)["rows"][0]["id"] == "two"
    page.write_text("<title>somebody's own</title>", encoding="utf-8")
    with pytest.raises(UsageError, match="exists and is no page of this kind"):
        write_page("controls", [pair("one")], page)
    assert "somebody" in page.read_text(encoding="utf-8")


def test_small_sets_are_one_file_and_large_ones_keep_their_pictures_beside_it(tmp_path: Path) -> None:
    alone = write_page("annotate", [pair("x"), pair("y")], tmp_path / "page.html")
    assert alone == tmp_path / "page.html"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    beside = write_page("annotate", [pair("x"), pair("y")], tmp_path / "big", embed=False)
    assert beside.name == "index.html"
    assert len(list((tmp_path / "big" / "pictures").iterdir())) == 2  # equal pictures are stored once
    assert all((tmp_path / "big" / source).is_file() for row in embedded(beside)["rows"] for source in row["pictures"])


def test_pictures_come_as_bytes_picture_or_path_and_bytes(tmp_path: Path) -> None:
    row = {"id": "x", "image_a": picture("navy"), "image_b": Picture(picture("red"), "shots/b.png")}
    assert embedded(write_page("annotate", [row], tmp_path))["rows"][0]["names"] == ["x-image_a", "shots/b.png"]


def test_formats_that_browsers_do_not_show_become_png(tmp_path: Path) -> None:
    page = write_page("controls", [pair("x", image_a=picture("navy", kind="TIFF"))], tmp_path)
    assert embedded(page)["rows"][0]["pictures"][0].startswith("data:image/png;")


def test_only_the_page_s_own_script_may_run_and_nothing_may_be_fetched(tmp_path: Path) -> None:
    text = write_page("audit", [pair("x", predictions=[prediction(0)])], tmp_path).read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    script = re.search(r"<script>(.*?)</script>", text, re.S)
    assert policy
    assert script
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy[1]
    assert policy[1].startswith("default-src 'none'")
    for word in ("http:", "https:", "innerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in text


def test_the_page_of_the_test_holds_no_key(tmp_path: Path) -> None:
    text = write_page("answer", [item("x", instruction="SECRET-EDIT", answer="C")], tmp_path).read_text("utf-8")
    row = embedded(tmp_path / "index.html")["rows"][0]
    assert set(row) == {"id", "pictures", "question", "options"}
    assert "SECRET-EDIT" not in text


# In the browser


class Person:
    """Somebody in front of one page: keeps what went wrong and what the page tried to reach."""

    def __init__(self, context: Any, page: Path) -> None:
        self.context, self.url = context, page.as_uri()
        self.trouble: list[str] = []
        self.tab = context.new_page()
        self.tab.on("pageerror", lambda error: self.trouble.append(f"error {error}"))
        self.tab.on("console", lambda m: self.trouble.append(f"console {m.text}") if m.type == "error" else None)
        self.tab.on("dialog", lambda dialog: (self.trouble.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.tab.on("request", self._asked)
        self.open()

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.trouble.append(f"request {request.url}")

    def open(self) -> None:
        self.tab.goto(self.url)
        self.tab.wait_for_selector("img[src]", state="attached")
        self.until("() => [...document.images].every(i => i.complete && i.naturalWidth)")

    def until(self, script: str) -> None:
        """Waits for `script` to be true; the page's policy keeps the driver from polling in the page."""
        for _ in range(200):
            if self.tab.evaluate(script):
                return
            self.tab.wait_for_timeout(25)
        raise AssertionError(f"never true: {script}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.tab.keyboard.press(key)

    def rect(self, side: str) -> dict[str, float]:
        found: dict[str, float] = self.tab.locator(f".sheet[data-side={side}]").bounding_box()
        return found

    def drag(self, side: str, start: tuple[float, float], end: tuple[float, float]) -> None:
        """From one point of the picture to another, in picture pixels."""
        rect, mouse = self.rect(side), self.tab.mouse
        (x0, y0), (x1, y1) = (
            (rect["x"] + rect["width"] * x / WIDTH, rect["y"] + rect["height"] * y / HEIGHT) for x, y in (start, end)
        )
        mouse.move(x0, y0)
        mouse.down()
        mouse.move((x0 + x1) / 2, (y0 + y1) / 2)
        mouse.move(x1, y1)
        mouse.up()

    def export(self, file: str, folder: Path) -> Path:
        with self.tab.expect_download() as got:
            self.tab.click(f'[data-file="{file}"]')
        folder.mkdir(exist_ok=True)
        got.value.save_as(folder / file)
        return folder / file

    def give(self, file: Path) -> str:
        """Imports `file`; returns what the page says to it, or asks."""
        self.tab.evaluate("() => { document.querySelector('.message').hidden = true }")
        with self.tab.expect_file_chooser() as chooser:
            self.tab.click('[data-act="import"]')
        chooser.value.set_files(str(file))
        return self.told(".message:not([hidden]), [role=alertdialog] p")

    def told(self, where: str = ".message:not([hidden])") -> str:
        self.tab.wait_for_selector(where)
        return str(self.tab.inner_text(where))

    def issues(self, folder: Path, row: int = 0) -> list[dict[str, Any]]:
        """The issues that the annotate page exports for a row."""
        found: list[dict[str, Any]] = self.screens(folder)[row]["annotations"]
        return found

    def screens(self, folder: Path) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.export("annotations.json", folder).read_text())["screens"]
        return found

    @property
    def counted(self) -> str:
        return str(self.tab.inner_text(".counted"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    pytest.importorskip("playwright.sync_api")
    playwright = driver.acquire()  # shared with the browsers of other tests: a thread can have one only
    try:
        browser, _ = launch(playwright, Browser().flags)
        yield browser
        browser.close()
    finally:
        driver.release()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Person]]:
    people: list[Person] = []

    def make(page: Path, script: str = "") -> Person:
        context = chromium.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
        context.set_default_timeout(10_000)
        if script:
            context.add_init_script(script)
        people.append(Person(context, page))
        return people[-1]

    yield make
    for person in people:
        person.context.close()
    assert [trouble for person in people for trouble in person.trouble] == []


def pixels(box: dict[str, float]) -> list[int]:
    """The xywh_px of an exported box, which must be whole picture pixels."""
    found = [box["x"] * WIDTH, box["y"] * HEIGHT, box["w"] * WIDTH, box["h"] * HEIGHT]
    assert [round(value, 6) for value in found] == [round(value) for value in found]
    return [round(value) for value in found]


@pytest.mark.browser
def test_annotate_with_the_mouse_export_reload_and_read_back(tmp_path: Path, visit: Callable[..., Person]) -> None:
    page = write_page("annotate", [pair("one"), pair("two")], tmp_path / "page.html")
    person = visit(page)
    person.drag("b", (98, 198), (132, 232))
    person.tab.click('[data-tag="Missing Content"]')
    person.tab.click('[data-tag="Icon/Nav"]')
    person.tab.fill("#note", "A red dot <b>was</b> added.")
    person.drag("a", (98, 198), (132, 232))  # same issue, the other side
    person.tab.get_by_text("This screen is completed").click()
    assert person.counted == "1 of 2 screens"

    first = person.export("annotations.json", tmp_path / "first")
    got = json.loads(first.read_text())
    assert (got["format"], got["version"]) == ("diffspot-hf/annotations", 1)
    one, two = got["screens"]
    assert (one["id"], one["image_a"], one["image_b"], one["completed"]) == ("one", "one-a.png", "one-b.png", True)
    (issue,) = one["annotations"]
    assert issue["labels"] == ["Missing Content", "Icon/Nav"]
    assert issue["note"] == "A red dot <b>was</b> added."
    for side in ("box_a", "box_b"):
        assert pixels(issue[side]) == pytest.approx([98, 198, 34, 34], abs=1)
    assert (two["completed"], two["annotations"]) == (False, [])

    person.tab.wait_for_timeout(250)  # longer than the delay of the saving
    person.open()
    assert person.counted == "1 of 2 screens"
    assert person.export("annotations.json", tmp_path / "second").read_bytes() == first.read_bytes()

    other = visit(page)  # another browser, where nothing is saved
    assert other.counted == "0 of 2 screens"
    assert other.give(first) == "2 of 2 screens read"
    assert other.export("annotations.json", tmp_path / "third").read_bytes() == first.read_bytes()

    images = tmp_path / "images"
    images.mkdir()
    for side in ("a", "b"):
        (images / f"one-{side}.png").write_bytes(pair("one")[f"image_{side}"]["bytes"])
    assert from_annotations(first, images, tmp_path / "set")["buckets"]["single"] == 1


@pytest.mark.browser
def test_annotate_with_the_keyboard_alone(tmp_path: Path, visit: Callable[..., Person]) -> None:
    person = visit(write_page("annotate", [pair("one"), pair("two")], tmp_path / "page.html"))
    person.press("n")  # 80, 180, 40 × 40 on both sides, side A focused
    person.press("ArrowRight", "Shift+ArrowDown", "Alt+ArrowRight", "Alt+Shift+ArrowUp")
    person.press("4", "1", "1", "6", "t")
    person.tab.keyboard.type("n4d")  # letters of a note are no commands
    person.press("Escape", "b", "Shift+ArrowLeft", "d")
    got = json.loads(person.export("annotations.json", tmp_path).read_text())["screens"][0]
    assert got["completed"] is True
    (issue,) = got["annotations"]
    assert pixels(issue["box_a"]) == [81, 190, 41, 30]
    assert pixels(issue["box_b"]) == [70, 180, 40, 40]
    assert issue["labels"] == ["Shape/Size", "Typography"]
    assert issue["note"] == "n4d"
    assert person.tab.inner_text("main h2") == "two"  # completed, and on to the next open screen


@pytest.mark.browser
def test_boxes_are_moved_resized_removed_and_had_back(tmp_path: Path, visit: Callable[..., Person]) -> None:
    given = [{"labels": ["Typography"], "note": "was there", "box_a": None, "box_b": BOX}]
    person = visit(write_page("annotate", [pair("one", issues=given)], tmp_path / "page.html", prefill=True))

    def box() -> list[int]:
        screen = json.loads(person.export("annotations.json", tmp_path).read_text())["screens"][0]
        return pixels(screen["annotations"][0]["box_b"])

    assert box() == [100, 200, 30, 30]
    person.drag("b", (115, 215), (105, 245))
    assert box() == pytest.approx([90, 230, 30, 30], abs=1)
    person.drag("b", (120, 260), (150, 300))  # the corner handle
    assert box() == pytest.approx([90, 230, 60, 70], abs=2)
    person.press("u")
    assert box() == pytest.approx([90, 230, 30, 30], abs=1)
    person.press("]", "Delete")
    assert person.tab.locator(".box").count() == 0
    person.press("u", "u")
    assert box() == [100, 200, 30, 30]
    person.drag("b", (3, 3), (4, 4))  # a click is no box
    assert person.tab.locator(".card").count() == 1


@pytest.mark.browser
def test_in_swipe_view_a_drag_acts_on_the_side_that_is_seen_where_it_starts(
    tmp_path: Path, visit: Callable[..., Person]
) -> None:
    person = visit(write_page("annotate", [pair("one")], tmp_path / "page.html"))
    person.press("w")  # the divider stands at 100: A is seen left of it, B right of it

    def boxes() -> list[dict[str, list[int]]]:
        found = person.issues(tmp_path)
        return [{side: pixels(issue[f"box_{side}"]) for side in "ab" if issue[f"box_{side}"]} for issue in found]

    person.drag("b", (150, 100), (190, 140))
    person.drag("b", (120, 300), (60, 340))  # starts on B, ends where A is seen
    assert boxes() == [{"b": [150, 100, 40, 40]}, {"b": [60, 300, 60, 40]}]
    person.drag("b", (20, 100), (60, 140))  # the other side of the second issue
    assert boxes()[1] == {"b": [60, 300, 60, 40], "a": [20, 100, 40, 40]}
    person.drag("b", (40, 120), (150, 220))  # carried to where B is seen: it is hidden there
    assert boxes()[1]["a"] == [130, 200, 40, 40]
    person.drag("b", (150, 220), (190, 240))  # so it cannot be had there, though it is the current one
    assert boxes()[1]["a"] == [130, 200, 40, 40]
    assert boxes()[2] == {"b": [150, 220, 40, 20]}
    person.press("Escape")
    person.drag("b", (80, 320), (80, 310))  # nor the half of B's box that A covers
    assert boxes()[1]["b"] == [60, 300, 60, 40]
    person.drag("b", (110, 320), (120, 330))
    person.drag("b", (130, 350), (140, 360))  # its corner
    assert boxes()[1]["b"] == [70, 310, 70, 50]


@pytest.mark.browser
def test_in_swipe_view_the_divider_moves_and_says_which_side_is_meant(
    tmp_path: Path, visit: Callable[..., Person]
) -> None:
    person = visit(write_page("annotate", [pair("one")], tmp_path / "page.html"))
    person.press("w")
    bar, mouse = person.tab.locator(".divider").bounding_box(), person.tab.mouse
    middle = bar["y"] + bar["height"] / 2
    mouse.move(bar["x"] + bar["width"] / 2, middle)
    mouse.down()
    mouse.move(bar["x"] + bar["width"] * 0.9, middle)
    mouse.up()
    shares = person.tab.locator(".viewer").evaluate("e => e.style.getPropertyValue('--swipe')")
    assert float(shares.rstrip("%")) > 80
    person.drag("b", (120, 100), (150, 130))
    (issue,) = person.issues(tmp_path)
    assert (pixels(issue["box_a"]), issue["box_b"]) == ([120, 100, 30, 30], None)
    person.press("Escape", *["ArrowLeft"] * 30)
    person.drag("b", (120, 100), (150, 130))
    assert pixels(person.issues(tmp_path)[1]["box_b"]) == [120, 100, 30, 30]


@pytest.mark.browser
def test_blinking_holds_while_a_box_is_drawn(tmp_path: Path, visit: Callable[..., Person]) -> None:
    person = visit(write_page("annotate", [pair("one")], tmp_path / "page.html"))
    person.press("x")
    person.until("() => document.querySelector('.viewer').dataset.shown === 'b'")
    rect, mouse = person.rect("b"), person.tab.mouse
    mouse.move(rect["x"] + 40, rect["y"] + 40)
    mouse.down()
    person.tab.wait_for_timeout(900)
    mouse.move(rect["x"] + 90, rect["y"] + 90)
    assert person.tab.get_attribute(".viewer", "data-shown") == "b"
    mouse.up()
    (issue,) = person.issues(tmp_path)
    assert issue["box_b"]
    assert not issue["box_a"]
    person.until("() => document.querySelector('.viewer').dataset.shown === 'a'")


@pytest.mark.browser
def test_escape_lets_go_of_a_focused_box(tmp_path: Path, visit: Callable[..., Person]) -> None:
    person = visit(write_page("annotate", [pair("one")], tmp_path / "page.html"))
    person.drag("a", (20, 100), (60, 140))
    person.press("4", "a", "Escape")
    assert person.tab.locator(".current").count() == 0
    person.drag("b", (100, 200), (130, 230))
    first, second = person.issues(tmp_path)
    assert (bool(first["box_a"]), bool(first["box_b"])) == (True, False)
    assert (bool(second["box_a"]), bool(second["box_b"])) == (False, True)


@pytest.mark.browser
def test_a_focused_box_hands_its_focus_on_with_the_selection(tmp_path: Path, visit: Callable[..., Person]) -> None:
    person = visit(write_page("annotate", [pair("one")], tmp_path / "page.html"))
    person.press("n", "ArrowRight", "n")  # 80, 180, 40 × 40 on both sides
    person.press("ArrowDown", "[", "ArrowRight", "]", "Shift+ArrowDown")
    first, second = person.issues(tmp_path)
    assert (pixels(first["box_a"]), pixels(first["box_b"])) == ([82, 180, 40, 40], [80, 180, 40, 40])
    assert (pixels(second["box_a"]), pixels(second["box_b"])) == ([80, 191, 40, 40], [80, 180, 40, 40])


@pytest.mark.browser
def test_undo_and_redo_go_back_one_step_with_notes_as_steps_of_their_own(
    tmp_path: Path, visit: Callable[..., Person]
) -> None:
    person = visit(write_page("annotate", [pair("one")], tmp_path / "page.html"))

    def seen() -> list[tuple[str, str]]:
        """Of every issue its tags and note."""
        return [(",".join(issue["labels"]), issue["note"]) for issue in person.issues(tmp_path)]

    assert person.tab.locator("button:disabled").all_inner_texts() == ["Undo", "Redo", "‹ Previous", "Next ›"]
    person.drag("a", (20, 100), (60, 140))
    person.press("1")
    person.drag("b", (20, 100), (60, 140))
    person.press("t")
    person.tab.keyboard.type("too wide")
    person.press("Escape", "t", "End")
    person.tab.keyboard.type(", really")
    person.press("Escape")
    tag = seen()[0][0]
    assert seen() == [(tag, "too wide, really")]
    person.press("u")
    assert seen() == [(tag, "too wide")]
    assert person.tab.input_value("#note") == "too wide"
    person.press("u")
    (issue,) = person.issues(tmp_path)
    assert (issue["note"], bool(issue["box_b"])) == ("", True)
    person.press("u", "u", "u", "u")
    assert seen() == []
    person.press("y", "Shift+U", "y", "Shift+u")
    assert seen() == [(tag, "too wide")]
    person.tab.get_by_text("Redo", exact=True).click()
    assert seen() == [(tag, "too wide, really")]
    person.tab.get_by_text("Undo", exact=True).click()
    person.press("n", "y")  # after a new step there is nothing to have again
    assert seen() == [(tag, "too wide"), ("", "")]
    person.press("u")  # one key, one step
    assert seen() == [(tag, "too wide")]


@pytest.mark.browser
def test_what_was_decided_can_be_had_back_after_the_page_has_gone_on(
    tmp_path: Path, visit: Callable[..., Person]
) -> None:
    person = visit(write_page("annotate", [pair("one"), pair("two"), pair("three")], tmp_path / "page.html"))

    def completed() -> list[bool]:
        return [screen["completed"] for screen in person.screens(tmp_path)]

    person.press("d")
    assert (completed(), person.tab.inner_text("main h2")) == ([True, False, False], "two")
    person.press("j", "d")
    assert (completed(), person.tab.inner_text("main h2")) == ([False, False, False], "one")
    person.press("d", "d")
    assert (completed(), person.tab.inner_text("main h2")) == ([True, True, False], "three")
    person.press("j", "j", "u")
    assert (completed(), person.tab.inner_text("main h2")) == ([True, False, False], "two")


@pytest.mark.browser
@pytest.mark.parametrize(
    ("mode", "rows", "keys", "left"),
    [
        pytest.param("controls", [pair("one"), pair("two")], "12", ["one"], id="controls"),
        pytest.param("audit", [pair("one", predictions=[prediction(0), prediction(1)])], "12", ["one"], id="audit"),
        pytest.param("verify", [item("one"), item("two")], "ppf", [], id="verify"),
    ],
)
def test_decisions_and_their_notes_can_be_undone_and_redone(
    tmp_path: Path, visit: Callable[..., Person], mode: str, rows: list[dict[str, Any]], keys: str, left: list[str]
) -> None:
    person = visit(write_page(mode, rows, tmp_path / "page.html"))

    def decided() -> list[dict[str, Any]]:
        file = person.export(f"{mode}-decisions.json", tmp_path)
        found: list[dict[str, Any]] = json.loads(file.read_text())["decisions"]
        return found

    person.press(*keys)
    before = decided()
    person.tab.fill("#note", "on second thought")
    person.press("Escape", "u")
    assert decided() == before
    assert person.tab.input_value("#note") == ""
    person.press("u")
    assert [entry["row_id"] for entry in decided()] == left
    person.press("y")
    assert decided() == before
    person.press("u", keys[-1])  # the place of the step is where one stands again
    assert decided() == before


@pytest.mark.browser
@pytest.mark.parametrize("shift", ["", "Shift+"], ids=["capslock", "shift"])
def test_letters_are_commands_in_either_case(tmp_path: Path, visit: Callable[..., Person], shift: str) -> None:
    def press(*keys: str) -> None:
        person.press(*(shift + key for key in keys))

    person = visit(write_page("annotate", [pair("one"), pair("two"), pair("three")], tmp_path / "page.html"))
    press("W")
    assert person.tab.locator(".viewer.swipe").count() == 1
    press("X", "S", "N", "B")
    assert person.tab.locator(".viewer.side").count() == 1
    assert person.tab.evaluate("() => document.activeElement.dataset.key") == "b0"
    press("D", "L", "J", "O")
    assert person.tab.inner_text("main h2") == "three"
    press("Y" if shift else "U")
    assert person.counted == ("1 of 3 screens" if shift else "0 of 3 screens")

    rows = [pair("one", predictions=[prediction(0)], issues=[prediction(0)])]
    person = visit(write_page("audit", rows, tmp_path / "audit.html"))
    press("K")
    assert person.tab.locator(".mark.known").count() == 1
    press("T")
    assert person.tab.evaluate("() => document.activeElement.id") == "note"

    person = visit(write_page("verify", [item("one")], tmp_path / "verify.html"))
    press("H", "P", "F")
    assert person.tab.locator(".mark.known").count() == 0
    assert "rejected" in person.tab.inner_text(".verdict")


@pytest.mark.browser
def test_audit_decisions_are_exported_read_by_the_summary_and_imported(
    tmp_path: Path, visit: Callable[..., Person]
) -> None:
    rows = [
        pair("one", predictions=[prediction(0), prediction(3, box={"x": "NaN"})], issues=[prediction(0)]),
        pair("two", predictions=[prediction(1)]),
    ]
    page = write_page("audit", rows, tmp_path / "page.html")
    person = visit(page)
    assert person.tab.locator(".mark.current").count() == 1
    person.press("1")
    person.tab.fill("#note", "a stray dot")
    person.tab.click('[data-value="not_a_defect"]')
    assert person.tab.inner_text("main h2") == "two"
    person.press("3")
    assert person.counted == "3 of 3 predictions"
    file = person.export("audit-decisions.json", tmp_path / "out")
    data = read_decisions(file)
    assert [(d["row_id"], d["prediction_index"], d["decision"], d["note"]) for d in data["decisions"]] == [
        ("one", 0, "real", ""),
        ("one", 3, "not_a_defect", "a stray dot"),
        ("two", 1, "unsure", ""),
    ]
    assert {d["about"] for d in data["decisions"]} == {"1234"}
    other = visit(page)
    assert other.give(file) == "3 of 3 decisions read"
    assert other.export("audit-decisions.json", tmp_path / "again").read_bytes() == file.read_bytes()
    file.write_text(file.read_text().replace("1234", "5678", 1))
    assert visit(page).give(file) == "2 of 3 decisions read"  # one is about another prediction


@pytest.mark.browser
def test_controls_are_decided_and_a_decision_can_be_taken_back(tmp_path: Path, visit: Callable[..., Person]) -> None:
    person = visit(write_page("controls", [pair("one"), pair("two"), pair("three")], tmp_path))
    person.press("1", "2", "3")
    assert person.counted == "3 of 3 pairs"
    person.press("j", "j")
    person.press("1" if person.tab.inner_text("main h2") == "one" else "2")
    file = person.export("controls-decisions.json", tmp_path / "out")
    decided = {d["row_id"]: d["decision"] for d in read_decisions(file)["decisions"]}
    assert decided == {"two": "defect", "three": "unsure"}


@pytest.mark.browser
def test_the_pair_can_be_swiped_blinked_and_zoomed(tmp_path: Path, visit: Callable[..., Person]) -> None:
    person = visit(write_page("controls", [pair("one")], tmp_path))
    tab = person.tab
    narrow = person.rect("a")["width"]
    person.press("+", "+")
    assert person.rect("a")["width"] == pytest.approx(narrow * 1.25**2, rel=0.01)
    tab.locator(".pane[data-side=a] .scroll").evaluate("e => e.scrollTo(0, 60)")
    person.until("() => document.querySelector('.pane[data-side=b] .scroll').scrollTop === 60")
    person.press("0")
    assert person.rect("a")["width"] == pytest.approx(narrow, abs=1)
    person.press("w", *["ArrowRight"] * 10)
    assert tab.locator(".viewer").evaluate("e => e.style.getPropertyValue('--swipe')") == "70.0%"
    assert person.rect("a") == person.rect("b")
    person.press("x")
    shown = tab.get_attribute(".viewer", "data-shown")
    person.press(" ")
    assert tab.get_attribute(".viewer", "data-shown") != shown
    person.press("s", "?")
    assert tab.locator("dialog[open] dt").count() > 5
    person.press("Escape")


HOSTILE = [
    "<img src=x onerror=\"document.title='owned'\">",
    "</script><script>document.title='owned'</script>",
    "<!--<script>",
    "__DATA__ __SCRIPT__ __POLICY__",
    "javascript:alert(1)",
    "\u2028\u2029\u202egnp.exe\x1b[2J\x00",
    "<style>body{display:none}</style><svg onload=alert(1)>",
    "<meta http-equiv=refresh content='0;url=http://collector.example.invalid'>",
]


def check_hostile(texts: list[str], tmp_path: Path, visit: Callable[..., Person]) -> None:
    told = [prediction(0, text) | {"labels": [text]} for text in texts]
    rows = [pair(f"{i} {text}", predictions=[told[i]]) for i, text in enumerate(texts)]
    person = visit(write_page("audit", rows, tmp_path, title=f"Audit {texts[0]}"))
    title = person.tab.title()
    shown = []
    for _ in rows:
        shown.append(person.tab.text_content(".card .note"))
        person.press("l")
    assert [text.rstrip() for text in shown] == [text.rstrip() for text in texts]
    assert person.tab.title() == title != "owned"
    assert person.tab.locator("script, style, iframe, svg, object").count() == 1  # our own style
    assert person.tab.locator("img").count() == 2


@pytest.mark.browser
def test_hostile_texts_are_shown_and_run_nothing(tmp_path: Path, visit: Callable[..., Person]) -> None:
    check_hostile(HOSTILE, tmp_path, visit)


@pytest.mark.browser
def test_hostile_replies_are_shown_and_run_nothing(tmp_path: Path, visit: Callable[..., Person], cases: Path) -> None:
    lines = (cases / "hostile" / "replies.jsonl").read_text(encoding="utf-8").splitlines()
    check_hostile([json.loads(line)["raw_response"] for line in lines], tmp_path, visit)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("{", "was not read", id="torn"),
        pytest.param("[]", "no export of this page (format diffspot-hf/annotations)", id="list"),
        pytest.param('{"format": "diffspot-hf/decisions"}', "(format diffspot-hf/annotations)", id="other-page"),
        pytest.param('{"format": "diffspot-hf/annotations", "screens": []}', "it has no version", id="no-version"),
        pytest.param(
            '{"format": "diffspot-hf/annotations", "version": "1", "screens": []}', 'has version "1"', id="text-version"
        ),
        pytest.param(
            '{"format": "diffspot-hf/annotations", "version": 1, '
            '"screens": [null, {"id": "?"}, {"id": "one", "annotations": 5}]}',
            "1 of 3 screens read",
            id="nonsense-inside",
        ),
    ],
)
def test_files_that_are_no_export_are_refused_in_words(
    tmp_path: Path, visit: Callable[..., Person], text: str, says: str
) -> None:
    person = visit(write_page("annotate", [pair("one")], tmp_path / "page.html"))
    (tmp_path / "given.json").write_text(text)
    assert says in person.give(tmp_path / "given.json")
    assert person.counted == "0 of 1 screens"


EVERY_MODE = [
    pytest.param("annotate", [pair("one"), pair("two")], "annotations.json", ["d"], ["n"], id="annotate"),
    pytest.param(
        "audit", [pair("one", predictions=[prediction(0), prediction(1)])], "audit-decisions.json", "1", "2", id="audit"
    ),
    pytest.param("controls", [pair("one"), pair("two")], "controls-decisions.json", "1", "2", id="controls"),
    pytest.param("verify", [item("one"), item("two")], "verify-decisions.json", "f", "p", id="verify"),
    pytest.param("answer", [item("one"), item("two")], "session.json", ["a", "Enter"], ["b", "Enter"], id="answer"),
]


@pytest.mark.browser
@pytest.mark.parametrize(("mode", "rows", "name", "theirs", "mine"), EVERY_MODE)
def test_reading_a_file_asks_before_it_replaces_what_was_decided_here(
    tmp_path: Path,
    visit: Callable[..., Person],
    mode: str,
    rows: list[dict[str, Any]],
    name: str,
    theirs: list[str],
    mine: list[str],
) -> None:
    page = write_page(mode, rows, tmp_path / "page.html", limits=[None])

    def somebody(keys: list[str]) -> Person:
        person = visit(page)
        if mode == "answer":
            person.tab.get_by_text("Start", exact=True).click()
        person.press(*keys)
        return person

    file = somebody(theirs).export(name, tmp_path / "theirs")
    person = somebody(mine)
    before = person.export(name, tmp_path / "mine").read_bytes()
    unit = person.counted.split(" of ")[1]
    asked = f"Replace your work on 1 of {unit}? The file says something else there."
    assert person.give(file) == asked
    person.press(*theirs[:1], "u", "Escape")  # while the page asks, keys decide nothing
    assert person.told() == "Nothing was read."
    assert person.export(name, tmp_path / "mine").read_bytes() == before
    assert person.give(file) == asked
    person.press("Enter")  # keeping is what Enter does
    assert person.told() == "Nothing was read."
    assert person.give(file) == asked
    person.press("Tab", "Enter")
    assert " read" in person.told()
    assert person.export(name, tmp_path / "mine").read_bytes() == file.read_bytes()
    assert " read" in person.give(file)  # says nothing new, so asks nothing
    if mode != "answer":
        person.press("u")
        assert person.export(name, tmp_path / "mine").read_bytes() == before


@pytest.mark.browser
@pytest.mark.parametrize(("mode", "rows", "name", "theirs", "_mine"), EVERY_MODE)
def test_files_of_an_unknown_version_are_refused(
    tmp_path: Path,
    visit: Callable[..., Person],
    mode: str,
    rows: list[dict[str, Any]],
    name: str,
    theirs: list[str],
    _mine: list[str],
) -> None:
    person = visit(write_page(mode, rows, tmp_path / "page.html", limits=[None]))
    if mode == "answer":
        person.tab.get_by_text("Start", exact=True).click()
    person.press(*theirs)
    file = person.export(name, tmp_path / "out")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"version": 9}))
    other = visit(tmp_path / "page.html")
    assert other.give(file) == f"{name} was not read: it has version 9, this page reads version 1 only"
    assert other.counted.startswith("0 of ")


@pytest.mark.browser
def test_boxes_of_a_file_are_cut_to_the_picture_or_left_out_and_counted(
    tmp_path: Path, visit: Callable[..., Person]
) -> None:
    def issue(box_a: Any, box_b: Any = None) -> dict[str, Any]:
        return {"labels": ["Color"], "note": "", "box_a": box_a, "box_b": box_b}

    inside = {"x": 0.7, "y": 0.9, "w": 0.3, "h": 0.1}  # their sums are not exactly 1
    given = [
        issue(inside, {"x": 5, "y": 0.5, "w": 0.1, "h": 0.1}),
        issue({"x": -0.02, "y": 0.5, "w": 0.12, "h": 0.52}, {"x": 0.5, "y": 0.5, "w": 0.6, "h": 0.1}),
        issue({"x": 0.5, "y": 0.5, "w": 0, "h": 0.1}, [0.5, 0.5, 0.1, 0.1]),
    ]
    file = tmp_path / "given.json"
    screen = {"id": "one", "completed": True, "annotations": given}
    file.write_text(json.dumps({"format": "diffspot-hf/annotations", "version": 1, "screens": [screen]}))
    person = visit(write_page("annotate", [pair("one", issues=given)], tmp_path / "page.html", prefill=True))
    cut = {"x": 0, "y": 0.5, "w": pytest.approx(0.1), "h": 0.5}
    kept = [issue(inside), issue(cut), issue(None)]
    assert person.issues(tmp_path / "prefilled") == kept
    assert person.give(file) == (
        "1 of 1 screens read, boxes left out: 4 (outside the picture or no box), boxes cut to the picture: 1"
    )
    assert person.issues(tmp_path / "out") == kept


@pytest.mark.browser
def test_audit_asks_about_a_decision_only_where_the_file_has_another_for_that_prediction(
    tmp_path: Path, visit: Callable[..., Person]
) -> None:
    page = write_page("audit", [pair("one", predictions=[prediction(0), prediction(1)])], tmp_path / "page.html")
    first = visit(page)
    first.press("1")
    file = first.export("audit-decisions.json", tmp_path)
    person = visit(page)
    person.press("]", "2")
    assert person.give(file) == "1 of 1 decisions read"
    assert person.counted == "2 of 2 predictions"


@pytest.mark.browser
def test_a_session_of_somebody_else_replaces_the_whole_session(tmp_path: Path, visit: Callable[..., Person]) -> None:
    rows = [item(name) for name in ("one", "two", "three")]
    page = write_page("answer", rows, tmp_path / "page.html", limits=[None])

    def somebody(name: str, *keys: str) -> Person:
        person = visit(page)
        person.tab.fill("#name", name)
        person.tab.get_by_text("Start", exact=True).click()
        person.press(*keys)
        return person

    file = somebody("Kim", "a", "Enter").export("session.json", tmp_path)
    person = somebody("Lee", "a", "Enter", "b", "Enter")
    assert person.give(file).startswith("Replace your work on 2 of 3 items?")
    person.press("Tab", "Enter")
    assert person.told() == "1 of 1 answers read"
    lines = person.export("predictions.jsonl", tmp_path).read_text().splitlines()
    assert [(line["id"], line["model"]) for line in map(json.loads, lines)] == [("one", "Kim")]


@pytest.mark.browser
def test_a_browser_that_saves_nothing_says_so_and_still_exports(tmp_path: Path, visit: Callable[..., Person]) -> None:
    closed = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('closed') }})"
    person = visit(write_page("controls", [pair("one")], tmp_path), closed)
    assert "saves nothing" in person.tab.inner_text(".saved")
    person.press("2")
    file = person.export("controls-decisions.json", tmp_path / "out")
    assert read_decisions(file)["decisions"] == [{"row_id": "one", "decision": "defect", "note": ""}]


@pytest.mark.browser
def test_verify_accepts_rejects_and_queues(tmp_path: Path, visit: Callable[..., Person]) -> None:
    person = visit(write_page("verify", [item("one"), item("two", "commonality"), item("three")], tmp_path / "p.html"))
    assert person.tab.locator(".mark.known").count() == 2
    assert person.tab.inner_text(".options .right") == "three ✓ answer"
    person.press(*"pppp")
    person.press("l")
    assert person.tab.locator(".checkrow").count() == 5
    person.press(*"pppp")
    assert "open" in person.tab.inner_text(".verdict")
    person.press("f")
    assert "fallback" in person.tab.inner_text(".verdict")
    file = person.export("verify-decisions.json", tmp_path)
    got = json.loads(file.read_text())
    passed = dict.fromkeys(("text_fidelity", "naturalness", "exclusivity", "scale"), "pass")
    assert got["decisions"] == [
        {"row_id": "one", "decision": "accept", "checks": passed, "note": ""},
        {"row_id": "two", "decision": "reject", "checks": passed | {"deducibility": "fail"}, "note": ""},
    ]
    assert got["fallback"] == ["two"]


@pytest.mark.browser
def test_answer_runs_against_the_clock_resumes_and_exports_predictions(
    tmp_path: Path, visit: Callable[..., Person]
) -> None:
    page = write_page("answer", [item(name) for name in ("one", "two", "three")], tmp_path / "p.html", limits=[2, None])
    person = visit(page)
    person.tab.fill("#name", "Kim")
    person.tab.get_by_text("Start", exact=True).click()
    person.press("b", "c", "Enter")
    person.tab.wait_for_selector("text=What differs in two?")
    person.tab.wait_for_timeout(1100)
    person.open()  # a reload neither goes back nor gives new time
    assert person.tab.inner_text(".question") == "What differs in two?"
    assert person.tab.inner_text("#clock") == "1 s left"
    person.tab.wait_for_selector("text=What differs in three?")
    person.press("e")
    person.tab.wait_for_selector("text=All items are answered")
    lines = [json.loads(line) for line in person.export("predictions.jsonl", tmp_path).read_text().splitlines()]
    assert [(line["id"], line["prediction"], line["timed_out"]) for line in lines] == [
        ("one", "C", False),
        ("two", "", True),
        ("three", "E", True),
    ]
    assert {(line["model"], line["time_limit"]) for line in lines} == {("Kim", 2)}
    assert lines[0]["seconds"] < 2 <= lines[1]["seconds"]

    session = person.export("session.json", tmp_path)
    kept = json.loads(session.read_text())
    kept["answers"].pop()
    session.write_text(json.dumps(kept))
    other = visit(page)
    assert other.give(session) == "2 of 2 answers read"
    assert other.tab.inner_text(".question") == "What differs in three?"
