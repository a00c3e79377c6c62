from __future__ import annotations

import json
import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffspot_hf.scoring.json_scan import MAX_DEPTH, find_json


def values(text):
    return [found.value for found in find_json(text) if not found.open]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, 2,]", [[1, 2]]),
        ("{'a': None, \"b\": True, 'c': False}", [{"a": None, "b": True, "c": False}]),
        ('{"a": -1.5e+2}', [{"a": -150.0}]),
        ("[null, true, false]", [[None, True, False]]),
        ('{"a": 1 /* one */, // two\n "b": 2}', [{"a": 1, "b": 2}]),
        ('{"a": "https://x.invalid//y /* no comment */"}', [{"a": "https://x.invalid//y /* no comment */"}]),
        ('{"a": 1, "a": 2}', [{"a": 2}]),
        ('{"a": "\\u00e9\\n\\"\\\\\\/\\b\\f\\r\\t"}', [{"a": 'é\n"\\/\b\f\r\t'}]),
        ('{"a": "\\ud83d\\ude42"}', [{"a": "🙂"}]),
        ('{"a": "\\ud83d"}', [{"a": "�"}]),
        ("{'a': 'it\\'s'}", [{"a": "it's"}]),
        ('a {"x": 1} b [2] c', [{"x": 1}, [2]]),
        ('{see} [note] {"x": 1}', [{"x": 1}]),
        ('"{" then {"x": 1}', [{"x": 1}]),
        ('"{" and "[" then {"x": [1]}', [{"x": [1]}]),
        ('{\'s a smile} {"x": 1}', [{"x": 1}]),
        ("[[], {}, [[]]]", [[[], {}, [[]]]]),
        ('{"a": "line\nbreak\tand tab"}', [{"a": "line\nbreak\tand tab"}]),
    ],
)
def test_what_is_read(text, expected):
    assert values(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "{a: 1}", "[1 2]", "[,]", "[1,,2]", '{"a" 1}', '{"a":}', '{"a": 1 "b": 2}', "[01]", "[.5]", "[5.]", "[+1]",
        "[1}", "{]", '{"a": "\\d"}', '{"a": "\\\'"}', '{"a": "\x01"}', "[undefined]", "[nul]", "[1.2.3]", "['a' 'b']",
        "[1a]",
    ],
)  # fmt: skip
def test_what_is_not_repaired(text):
    assert values(text) == []


def test_not_a_number_and_infinity():
    (found,) = values("[NaN, Infinity, -Infinity]")
    assert math.isnan(found[0])
    assert found[1:] == [math.inf, -math.inf]


@pytest.mark.parametrize(
    ("text", "value", "keys"),
    [
        ('{"a": 1, "b": [2, {"c": 3', {"a": 1}, ["b", "", "c"]),
        ("[1, 2", [1], [""]),
        ('{"a": "x', {}, ["a"]),
        ('{"a": tru', {}, ["a"]),
        ('{"a": 0.1', {}, ["a"]),
        ('{"a": 1 // more', {"a": 1}, ["a"]),
        ('{"a": 1, /* more', {"a": 1}, ["a"]),
        ('["a', [], [""]),
        ('{"a": "x\\', {}, ["a"]),
    ],
)
def test_what_the_text_leaves_open(text, value, keys):
    (found,) = find_json(text)
    assert found.value == value
    assert [key for _, key in found.open] == keys
    assert found.open[0][0] is found.value
    assert found.end == len(text)


@pytest.mark.parametrize("text", ["{", "[", "{ // comment", "[ /* comment", "{'", "[[["])
def test_a_bracket_alone_is_prose(text):
    assert list(find_json(text)) == []


def test_positions():
    text = 'so {"a": [1]} there'
    (found,) = find_json(text)
    assert text[found.start : found.end] == '{"a": [1]}'


@pytest.mark.parametrize(
    ("text", "enclosed"),
    [
        ("[1]", False),
        ("{a: [1]}", True),
        ("{a: [1], {b} [2]}", True),
        ('{"a": [1] "b": [2]}', True),
        ("{a: [1,", True),
        ("{ then [1]", True),
        ("{a} [1]", False),
        ('{"a": {"b": 1 2}} [1]', False),
        ("} [1]", False),
    ],
)
def test_what_stands_within_braces_that_are_not_json(text, enclosed):
    assert {found.enclosed for found in find_json(text)} == {enclosed}


def test_depth_is_bounded():
    fine, deep = "[" * MAX_DEPTH + "]" * MAX_DEPTH, "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)
    assert len(values(fine)) == 1
    assert values(deep + " [1]") == []


trees = st.recursive(
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(10**9), 10**9)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
containers = st.lists(trees, max_size=5) | st.dictionaries(st.text(), trees, max_size=5)


@settings(max_examples=200, deadline=None)
@given(containers, st.booleans(), st.sampled_from([None, 2]))
def test_reads_whatever_json_writes(value, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    if any("\ud800" <= char <= "\udfff" for char in text) or "\\ud" in text:
        return
    assert values(f"prose {text} prose") == [value]


@settings(max_examples=200, deadline=None)
@given(containers, st.integers(0, 200))
def test_a_cut_is_never_read_as_complete(value, at):
    text = json.dumps(value)
    if at < len(text):
        assert all(found.open or found.start > 0 for found in find_json(text[:at]))


@settings(max_examples=200, deadline=None)
@given(st.text("[]{}\"',:/*\\ab1 \n", max_size=120))
def test_any_text_is_survived(text):
    for found in find_json(text):
        assert 0 <= found.start < found.end <= len(text)


@pytest.mark.parametrize(
    "piece", ["[", "{", '{"a":', '{"', "{'", "{/*", "{//", '[["', "[1,", "{'a':'", '{"a":1 x', "[" * 99 + "x"]
)
def test_time_grows_with_the_length_alone(piece):
    def seconds(length):
        text = piece * (length // len(piece))
        start = time.process_time()
        sum(1 for _ in find_json(text))
        return time.process_time() - start

    short, long = min(seconds(3_000) for _ in range(3)), min(seconds(24_000) for _ in range(3))
    assert long < 24 * short + 0.05
