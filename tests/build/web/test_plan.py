"""The plan: cells filled, limits kept, the smallest cap, the same every time."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from diffspot_hf.build.web.plan import NO_DIFF, Demand, Placed, Seat, plan

CELLS = [f"{operator}/{tier}" for operator in "abcdef" for tier in ("easy", "medium", "hard")]


def seats(count: int, sources: int = 6, rare: float = 0.15, seed: int = 1) -> list[Seat]:
    """Pages that give two pairs of nearly every cell, but of the cells of `a` only some do."""
    dice = random.Random(seed)
    found = []
    for n in range(count):
        supply = {cell: 2 for cell in CELLS if dice.random() < (rare if cell[0] == "a" else 0.95)} | {NO_DIFF: 1}
        found.append(Seat(f"page{n}", f"source{n % sources}", f"domain{n % 5}", n % sources == 0, supply))
    return found


def filled(pages: list[Seat], total: dict[str, int], **options) -> tuple[Counter[str], Counter[str], int]:
    sources = len({page.source for page in pages})
    chosen, cap = plan(pages, Demand(total, total, sources, **options), Placed())
    return Counter(cell for _, cell in chosen), Counter(page for page, _ in chosen), cap


def test_one_pair_a_page_where_the_pages_allow_it():
    total = dict.fromkeys(CELLS, 1) | {NO_DIFF: 4}
    cells, pages, cap = filled(seats(60), total)
    assert cells == total
    assert max(pages.values()) == cap == 1


@pytest.mark.parametrize("count", [10, 14, 21])
def test_smallest_cap_that_fills(count):
    total = dict.fromkeys(CELLS, 2) | {NO_DIFF: 5}
    cells, pages, cap = filled(seats(count, sources=2, rare=0.9), total)
    assert cells == total
    assert max(pages.values()) <= cap == -(-sum(total.values()) // count)


def test_rare_cells_get_the_pages_that_have_them():
    """Only one page gives both rare cells and it may give one pair: another page must take the other."""
    pages = [
        Seat("both", "s1", "d", False, {"x": 1, "y": 1, "z": 1}),
        Seat("only x", "s2", "d", False, {"x": 1}),
        Seat("only y", "s3", "d", False, {"y": 1}),
    ]
    chosen, cap = plan(pages, Demand({"x": 1, "y": 1, "z": 1}, {"x": 1, "y": 1, "z": 1}, 3), Placed())
    assert cap == 1
    assert chosen == [("both", "z"), ("only x", "x"), ("only y", "y")]


def test_no_source_gives_more_than_its_share_and_own_pages_at_most_a_third():
    total = dict.fromkeys(CELLS, 10) | {NO_DIFF: 10}
    pages = seats(120, sources=6, rare=0.6)
    source = {page.page_id: page.source for page in pages}
    chosen, _ = plan(pages, Demand(total, total, 6), Placed())
    shares = Counter((cell, source[page]) for page, cell in chosen)
    assert len(chosen) == sum(total.values())
    assert max(shares.values()) <= 3
    assert max(Counter(source[page] for page, _ in chosen).values()) <= 0.3 * len(chosen) + 3


def test_source_with_almost_all_pages_is_held_back():
    pages = [Seat(f"p{n}", "big" if n < 40 else f"small{n}", "d", False, {"a": 1}) for n in range(44)]
    chosen, _ = plan(pages, Demand({"a": 10}, {"a": 10}, 5), Placed())
    assert Counter("big" if int(page[1:]) < 40 else "small" for page, _ in chosen) == {"big": 3, "small": 4}


def test_single_source_may_give_everything():
    pages = [Seat(f"p{n}", "mine", "d", False, {"a": 2}) for n in range(3)]
    assert len(plan(pages, Demand({"a": 6}, {"a": 6}, 1), Placed())[0]) == 6


def test_domains_take_turns():
    total = {"b/easy": 10}
    pages = seats(50)
    chosen, _ = plan(pages, Demand(total, total, 6), Placed())
    domain = {page.page_id: page.domain for page in pages}
    assert set(Counter(domain[page] for page, _ in chosen).values()) == {2}


def test_class_swaps_come_first_among_equals():
    swaps = frozenset({"a"})
    pages = [Seat(f"p{n}", f"s{n}", "d", False, {"a": 1}, swaps if n == 7 else frozenset()) for n in range(10)]
    assert plan(pages, Demand({"a": 1}, {"a": 1}, 10), Placed())[0] == [("p7", "a")]


def test_later_round_keeps_to_what_is_placed():
    pages = [Seat(f"p{n}", f"s{n}", "d", False, {"a": 1}) for n in range(6)]
    placed = Placed()
    placed.add(pages[0], "a")
    chosen, cap = plan(pages, Demand({"a": 4}, {"a": 3}, 6), placed)
    assert cap == 1
    assert len(chosen) == 3
    assert "p0" not in {page for page, _ in chosen}


def test_what_cannot_be_filled_is_left_out():
    pages = [Seat("p", "s", "d", False, {"a": 2})]
    chosen, cap = plan(pages, Demand({"a": 5, "b": 1}, {"a": 5, "b": 1}, 1), Placed())
    assert chosen == [("p", "a"), ("p", "a")]
    assert cap == 2
    assert plan([], Demand({"a": 1}, {"a": 1}, 0), Placed()) == ([], 1)


def test_same_seed_same_plan_whatever_the_order():
    total = dict.fromkeys(CELLS, 1)
    pages = seats(40)
    shuffled = random.Random(9).sample(pages, len(pages))
    assert plan(pages, Demand(total, total, 6), Placed()) == plan(shuffled, Demand(total, total, 6), Placed())
    assert plan(pages, Demand(total, total, 6), Placed()) != plan(pages, Demand(total, total, 6, seed=2), Placed())
