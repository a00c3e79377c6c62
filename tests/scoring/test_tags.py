from __future__ import annotations

import pytest

from diffspot_hf.scoring.tags import TAGS, canonical, folded, read_labels


@pytest.mark.parametrize("tag", TAGS)
def test_each_tag_is_known_in_every_spelling(tag):
    for spelt in (
        tag,
        tag.upper(),
        tag.replace("/", " "),
        tag.replace("/", "_"),
        f" {tag} ",
        tag.replace("Color", "Colour"),
    ):
        assert canonical(spelt) == tag


def test_tags_stay_apart_when_folded():
    assert len({folded(tag) for tag in TAGS}) == len(TAGS)


@pytest.mark.parametrize("label", ["Icon", "Nav/Icon", "Layout", "Typography!x", "Icon/Nav/More"])
def test_half_a_tag_or_a_turned_one_is_kept_as_written(label):
    assert canonical(label) == label


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["other", "Other", "x"], ["other", "x"]),
        ("a, b;c |d", ["a", "b", "c", "d"]),
        ("", []),
        ([None, 3, True, "", "  ", "y"], ["y"]),
        (("z",), ["z"]),
        (None, []),
        (7, []),
        ({"a": 1}, []),
        (["a, b"], ["a, b"]),
    ],
    ids=str,
)
def test_reading_labels(value, expected):
    assert read_labels(value) == expected
