"""pixel-diff: it says something exactly where something changed, whatever the pictures are."""

from __future__ import annotations

import json

import pytest
from PIL import Image, ImageDraw

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.images import encode_png
from diffspot_hf.running.rowset import RowSet
from diffspot_hf.types import Model, Picture, Request

pytest.importorskip("cv2")

from diffspot_hf.models.pixel_diff import PixelDiff, are_unrelated


def page(**changes):
    """A plain page with one button, drawn."""
    look = {"place": (80, 60), "size": (120, 40), "fill": (30, 90, 200)} | changes
    image = Image.new("RGB", (400, 240), "white")
    x, y = look["place"]
    ImageDraw.Draw(image).rectangle([x, y, x + look["size"][0], y + look["size"][1]], fill=look["fill"])
    return image


def answer(before, after, name="diffspot", text=""):
    pictures = tuple(Picture(encode_png(image)) for image in (before, after))
    (response,) = PixelDiff(name, reader=None).generate([Request("x", (text, *pictures))])
    return response


def dotted():
    image = page()
    image.putpixel((5, 5), (254, 255, 255))
    return image


CHANGED = {
    "one pixel by one level": dotted(),
    "another colour": page(fill=(200, 30, 30)),
    "moved": page(place=(110, 60)),
    "larger": page(size=(160, 60)),
    "gone": page(fill=(255, 255, 255)),
    "another size of picture": page().resize((401, 240)),
}


@pytest.mark.parametrize("after", CHANGED.values(), ids=CHANGED)
def test_whatever_changed_is_a_difference(after):
    assert answer(page(), after).text.startswith("- ")
    assert answer(after, page()).text.startswith("- ")


@pytest.mark.parametrize("image", [page(), Image.new("RGB", (1, 1)), Image.new("RGB", (2000, 3), "red")])
def test_equal_pictures_have_no_differences(image):
    assert answer(image, image.copy()).text == "No differences."


def words(x):
    image = Image.new("RGB", (400, 240), "white")
    ImageDraw.Draw(image).text((x, 100), "Continue to payment", fill="black", font_size=18)
    return image


def test_a_move_has_its_direction():
    assert "right" in answer(words(60), words(84)).text
    assert "left" in answer(words(84), words(60)).text


def test_the_same_pair_gets_the_same_answer():
    assert answer(page(), page(size=(160, 60))).text == answer(page(), page(size=(160, 60))).text


def test_on_scry_it_answers_with_tags_and_boxes():
    issues = json.loads(answer(page(), page(fill=(200, 30, 30)), "scry").text)["issues"]
    assert len(issues) == 1
    assert issues[0]["labels"]
    assert issues[0]["box_b"]["x"] == pytest.approx(80 / 400, abs=0.02)
    assert json.loads(answer(page(), page(), "scry").text) == {"issues": []}


def screen(draw):
    """A phone's screen (390 x 844 at two pixels each) with one icon or picture that `draw` makes."""
    image = Image.new("RGB", (780, 1688), "white")
    pen = ImageDraw.Draw(image)
    draw(pen)
    return image


def arrow(pen, place=(100, 300), size=44):
    x, y = place
    pen.polygon([(x + size, y + size // 2), (x, y), (x, y + size)], fill=(40, 40, 60))


def photo(pen):
    for n in range(50):
        left = 80 + 8 * n
        pen.rectangle([left, 600, left + 7, 900], fill=((n * 56) % 255, (n * 24) % 255, 120))


ICONS = {
    "an icon gone": (arrow, lambda pen: None, "Missing Content"),
    "an icon larger": (arrow, lambda pen: arrow(pen, (90, 290), 64), "Shape/Size"),
    "another icon": (arrow, lambda pen: pen.ellipse([100, 300, 144, 344], fill=(40, 40, 60)), "Icon/Nav"),
    "a picture blank": (photo, lambda pen: pen.rectangle([80, 600, 487, 900], fill="#d5d8de"), "Image/Asset"),
}


@pytest.mark.parametrize(("before", "after", "tag"), ICONS.values(), ids=ICONS)
def test_icons_and_pictures_are_no_print(before, after, tag):
    issues = json.loads(answer(screen(before), screen(after), "scry").text)["issues"]
    assert len(issues) == 1
    assert tag in issues[0]["labels"]
    assert "Typography" not in issues[0]["labels"]


def test_on_dicobench_equal_photos_are_e():
    text = "What differs?\n\nA. the button is red\nB. the button moved\nC. x\nD. y\nE. nothing"
    assert answer(page(), page(), "dicobench", text).text == "E"
    assert are_unrelated(Image.new("RGB", (4, 4)), Image.new("RGB", (4, 4), "white"))
    assert not are_unrelated(page(), dotted())


def test_a_broken_picture_is_an_error_of_its_row():
    sound = Picture(encode_png(page()))
    requests = [Request("bad", ("", sound, Picture(b"no picture"))), Request("good", ("", sound, sound))]
    responses = list(PixelDiff(reader=None).generate(requests))
    assert [response.finish_reason for response in responses] == ["error", "stop"]


def test_it_is_a_model():
    assert isinstance(PixelDiff(reader=None), Model)


def test_detection_on_the_shipped_pairs_is_always_right():
    diffspot = benchmark("diffspot")
    rows = RowSet(diffspot, "sample")
    model = PixelDiff(reader=None)
    for response in model.generate(rows.request(i, diffspot.prompt) for i in rows.ids):
        says_nothing = response.text == "No differences."
        assert says_nothing == (rows.truth(response.id)["task_type"] == "no_diff"), response.id
