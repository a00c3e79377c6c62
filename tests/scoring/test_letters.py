"""The strict and the lenient reading of option letters. Cases: tests/cases/letters_own.jsonl (ours)."""

from __future__ import annotations

import json
import random
import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffspot_hf.scoring.letters import read_lenient, read_strict

OPTIONS = [
    "The kettle is on the stove.",
    "A spoon lies beside the bowl.",
    "The blind is half closed.",
    "Two apples are missing.",
    "There is no visible difference between the two images.",
]
LETTERS = "ABCDE"


def cases(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read(case):
    return read_lenient(case["reply"], case["letters"], case["options"])


@pytest.fixture(scope="module")
def own(request):
    return cases(request.config.rootpath / "tests/cases/letters_own.jsonl")


@pytest.fixture(scope="module")
def shared(request):
    path = request.config.rootpath.parent / "shared/cases/letters.jsonl"
    if not path.exists():
        pytest.skip("no shared cases beside this checkout")
    return cases(path)


def test_own_cases_strict(own):
    assert [case["reply"] for case in own if read_strict(case["reply"], case["letters"]) != case["strict"]] == []


def test_own_cases_lenient(own):
    wrong = [(case["reply"], read(case), case["lenient"], case["why"]) for case in own if read(case) != case["lenient"]]
    assert wrong == []


def test_shared_cases_strict(shared):
    assert [case["reply"] for case in shared if read_strict(case["reply"], case["letters"]) != case["strict"]] == []


def test_shared_cases_lenient_at_least_95_percent_and_no_false_letter(shared):
    got = [(read(case), case) for case in shared]
    assert [(letter, case["reply"]) for letter, case in got if letter not in (None, case["lenient"])] == []
    assert sum(letter == case["lenient"] for letter, case in got) >= 0.95 * len(got)


def test_a_reading_by_first_letter_fails_the_same_cases(own):
    """The check has teeth: what some harnesses do, the first capital letter that is an option, is wrong here."""
    first = [next((char for char in case["reply"] if char in case["letters"]), None) for case in own]
    assert sum(letter not in (None, case["lenient"]) for letter, case in zip(first, own, strict=True)) > 200


@pytest.mark.parametrize("letter", "ABCDEFGHIJKL")
@pytest.mark.parametrize(
    "form",
    [
        "{}", "({})", "**{}**", "{}.", "Answer: {}", "The answer is {}.", "Option {}", "I choose {}", "\\boxed{{{}}}",
        "<answer>{}</answer>", '{{"answer": "{}"}}', "Nothing else fits, so {}.", "{} is correct.", "答案是{}",
        "Antwort: {}", "It is {}.", "Looked at both.\n\n{}", "Final answer: {}", "`{}`", "${}$",
    ],
)  # fmt: skip
def test_every_letter_is_read_in_every_form(form, letter):
    assert read_lenient(form.format(letter), "ABCDEFGHIJKL") == letter


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("form", ["{}. {}", "({}) {}", "{}: {}", "Answer: {}\n{}", "The answer is **{}**: {}"])
def test_a_letter_before_the_text_of_another_option_is_none(form, letter):
    for other, text in zip(LETTERS, OPTIONS, strict=True):
        expected = letter if other == letter else None
        assert read_lenient(form.format(letter, text), LETTERS, OPTIONS) == expected


@pytest.mark.parametrize("text", OPTIONS)
@pytest.mark.parametrize("form", ["{}", '"{}"', "I think: {}", "**{}**", "Answer: {}", "{} That is all."])
def test_the_full_text_of_one_option_gives_its_letter(form, text):
    assert read_lenient(form.format(text), LETTERS, OPTIONS) == LETTERS[OPTIONS.index(text)]


@pytest.mark.parametrize("text", OPTIONS)
@pytest.mark.parametrize(
    "form",
    [
        "{}? No.", "{} That is not true.", "{} This is clearly false.", "Option B claims: {}", "For example, {}",
        "{} is wrong", "{}: incorrect", "One might say {}", "I doubt that {}", "{}? I see none.", "According to B, {}",
    ],
)  # fmt: skip
def test_the_text_of_an_option_that_is_asked_denied_or_reported_is_none(form, text):
    assert read_lenient(form.format(text), LETTERS, OPTIONS) is None
    assert read_lenient(form.format(text.rstrip(".")), LETTERS, OPTIONS) is None


@pytest.mark.parametrize(
    "joint",
    ["–", "—", "-", "~", "...", " – ", " - ", " to ", " through ", " until ", " bis ", "到", "から", ", B, ..., "],
)
@pytest.mark.parametrize("form", ["{}", "The answer is any of {}.", "I can't tell which of {}", "Answer: {}", "[{}]"])
def test_a_range_of_letters_is_none(form, joint):
    assert read_lenient(form.format(f"A{joint}E"), LETTERS) is None
    assert read_lenient(f"A{joint}D are wrong; E", LETTERS) == "E"


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("verdicts", [("no", "yes"), ("False", "True"), ("incorrect", "correct"), ("✗", "✓")])
@pytest.mark.parametrize("form", ["{}: {}, ", "{}: {}. ", "({}) {}. ", "{} - {}\n", "Option {}: {}\n", "**{}**: {}\n"])
def test_verdicts_on_all_options_give_the_one_called_right(form, verdicts, letter):
    said = [form.format(other, verdicts[other == letter]) for other in LETTERS]
    assert read_lenient("".join(said), LETTERS) == letter
    if "✓" not in verdicts:  # a tick needs no list around it
        assert read_lenient("".join(said[:2]), LETTERS) is None


def test_two_options_of_one_text_tell_nothing():
    assert read_lenient("The kettle is on.", "ABC", ["The kettle is on.", "the kettle is on", "No."]) is None


def test_options_may_be_blank_or_fewer_than_letters():
    assert read_lenient("B", "ABCDE", ["", "x"]) == "B"
    assert read_lenient("", "AB", ["", ""]) is None


def test_text_whose_length_changes_with_case_is_still_found():
    assert (
        read_lenient("Die STRASSE ist naß geworden", "AB", ["Die Straße ist nass", "Die Strasse ist naß geworden"])
        == "B"
    )


def test_discussion_then_final_answer(own):
    """Whatever is discussed before, a final answer that says so is the answer."""
    named = [case["reply"] for case in own if case["why"] == "letters are named, none is chosen"]
    assert len(named) > 100
    assert [reply for reply in named if read_lenient(f"{reply}\n\nFinal answer: D", LETTERS) != "D"] == []


def test_a_reading_of_nothing():
    assert read_lenient(None, LETTERS) is read_strict(None, LETTERS) is None
    assert read_lenient("A", "") is read_strict("A", "") is None


def test_letters_may_be_a_list():
    assert read_lenient("Answer: B", ["A", "B"]) == read_strict("B", ["A", "B"]) == "B"
    assert read_strict("AB", "AB") is None


@pytest.mark.parametrize(
    "reply",
    [
        "\\boxed{" * 50, "<answer>" * 2000 + "B", '{"answer": "B"}\n' * 1200, "<answer><answer>B</answer></answer>",
        "<answer>\\boxed{<answer>B</answer>}</answer>", '<answer>\\boxed{{"answer": "B"}}</answer>',
        "\ud800 B", "B\x00", "\ue000", "\ue000B",
    ],
    ids=[
        "open boxes", "open tags", "objects", "nested tags", "nested places", "three places",
        "surrogate", "null", "private", "both",
    ],
)  # fmt: skip
def test_odd_input_never_raises(reply):
    assert read_lenient(reply, LETTERS, OPTIONS) in (None, "B")


pieces = st.sampled_from(
    [
        *"ABE .,:(){}?'-\n🙂е选",
        *("answer", "is", "not", "so", "or", "and", "option", "the", '"answer"', "**", "wait"),
        *("\\boxed{", "<answer>", "</answer>", "<think>", "</think>"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(pieces, max_size=25).map(" ".join) | st.lists(pieces, max_size=25).map("".join) | st.text(max_size=80))
def test_any_text_gives_a_letter_of_the_item_or_none(text):
    assert read_lenient(text, "ABC", OPTIONS[:3]) in (None, "A", "B", "C")
    assert read_strict(text, "ABC") in (None, "A", "B", "C")


# 漢 does not join a Latin letter to a word ("选A项" names A), so it makes words of its own here: no "so A字".
words = st.text(string.ascii_letters + "éüñßжя", min_size=2, max_size=8) | st.text("漢字", min_size=2, max_size=8)


@settings(max_examples=200, deadline=None)
@given(st.lists(words, max_size=30), st.sampled_from([" ", ", ", ". ", "\n", ": ", " - "]))
def test_text_without_a_letter_of_its_own_is_none(text, joint):
    assert read_lenient(joint.join(text), LETTERS, OPTIONS) is None


@pytest.mark.parametrize(
    "piece",
    [
        "B ",
        "A. ",
        "B\n",
        "so B ",
        "answer: a ",
        "\\boxed{",
        "<answer>",
        '{"answer":"B ',
        "((",
        "\n",
        "-",
        "option ",
        "选",
        "<b>",
        "A, ",
        "A–B ",
        "A to B ",
        "B 5% ",
        "E. us ",
        '{"answer": "',
        "The kettle is on the stove? ",
    ],
    ids=repr,
)
def test_time_grows_with_the_length_alone(piece):
    def seconds(length):
        text = piece * (length // len(piece))
        start = time.process_time()
        read_lenient(text, LETTERS, OPTIONS)
        return time.process_time() - start

    short, long = min(seconds(2_000) for _ in range(3)), min(seconds(16_000) for _ in range(3))
    assert long < 24 * short + 0.05  # eight times the length; quadratic would be 64 times


def test_random_prose_of_names_and_capitals_is_none():
    rng = random.Random(3)
    nouns = ["Image A", "picture B", "Vitamin C", "the D-pad", "an E-mail", "a cup", "N/A", "R&B", "USB-C", "plan B"]
    for _ in range(300):
        text = f"{rng.choice(nouns)} stands near {rng.choice(nouns)} while {rng.choice(nouns)} is gone."
        assert read_lenient(text, LETTERS) is None, text
