"""Changed texts: same script, same capitals, never empty, and of the size that the tier says."""

from __future__ import annotations

import random

import pytest

from diffspot_hf.build.web.words import like, same_sort, script, text

PAGE_WORDS = [
    *("harbour", "ticket", "winter", "ferry", "Boats", "evening", "office", "Quay"),
    *("паром", "билет", "зимой", "вечером", "причал", "гавань"),
    *("渡船", "船票", "冬季", "港口", "夜间", "办公室", "1200", "2024", "€48"),
]
PAGE_LABELS = ["Winter timetable", "Buy a ticket", "Зимнее расписание", "冬季时刻表", "42", "Office hours today"]

LABELS = {
    "English": "Evening ferries leave the old quay",
    "Russian": "Вечерние паромы отходят от причала",
    "Chinese": "夜间渡船",
    "capitals": "EVENING FERRY",
    "a price": "€48",
    "one word": "Timetable",
}


def words_of(label: str) -> list[list[int]]:
    spans, at = [], 0
    for word in label.split():
        start = label.index(word, at)
        begin = start + (word[0] in "€$")
        at = start + len(word)
        spans += [[n, n + 1] for n in range(begin, at)] if script(word) == "CJK" else [[begin, at]]
    return spans


def made(label: str, tier: str, seed: int):
    facts = {
        "own": label,
        "nodes": [{"at": 0, "raw": f"\n {label} ", "words": [[a + 2, b + 2] for a, b in words_of(label)]}],
    }
    return list(text(facts, tier, random.Random(seed), PAGE_WORDS, PAGE_LABELS))


@pytest.mark.parametrize("tier", ["easy", "medium", "hard"])
@pytest.mark.parametrize("label", LABELS.values(), ids=LABELS)
def test_texts_keep_script_and_are_never_empty(label, tier):
    for seed in range(8):
        for change in made(label, tier, seed):
            new = change.text[1]
            assert new.strip()
            assert new.split() != label.split()
            assert {script(w) for w in new.split() if script(w) != "DIGIT"} <= {script(w) for w in label.split()}
            assert new.startswith("\n ")
            assert new.endswith(" ")


@pytest.mark.parametrize("seed", range(6))
def test_hard_changes_one_character_of_the_same_sort(seed):
    for label in LABELS.values():
        for change in made(label, "hard", seed):
            differing = [(a, b) for a, b in zip(label, change.new, strict=True) if a != b]
            assert len(differing) == 1
            assert same_sort(*differing[0])


@pytest.mark.parametrize("seed", range(6))
def test_medium_changes_or_removes_one_word(seed):
    old = LABELS["English"].split()
    for change in made(LABELS["English"], "medium", seed):
        new = change.new.split()
        if change.note == "deleted":
            assert len(new) == len(old) - 1
        else:
            assert sum(a != b for a, b in zip(old, new, strict=True)) == 1


@pytest.mark.parametrize("seed", range(6))
def test_easy_changes_the_label_or_half_of_its_words(seed):
    old = LABELS["English"].split()
    for change in made(LABELS["English"], "easy", seed):
        new = change.new.split()
        if change.note == "deleted":
            assert new == old[:3]
        elif change.magnitude != "whole label":
            assert sum(a != b for a, b in zip(old, new, strict=True)) == 3


def test_figures_become_other_figures():
    for seed in range(5):
        for change in made("€48", "medium", seed):
            assert change.new.startswith("€")
            assert change.new[1:].isdigit()
            assert all(a != b for a, b in zip("48", change.new[1:], strict=True))


def test_capitals_follow_the_word_that_is_replaced():
    assert like("ferry", "QUAY") == "FERRY"
    assert like("FERRY", "quay") == "ferry"
    assert like("ferry", "Quay") == "Ferry"


def test_element_without_words_gives_nothing():
    assert list(text({"own": "", "nodes": []}, "easy", random.Random(1), PAGE_WORDS, PAGE_LABELS)) == []
    assert made("— · —", "hard", 1) == []
