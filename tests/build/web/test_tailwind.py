"""Swaps of Tailwind classes: which there are, and that only those that took are believed."""

from __future__ import annotations

import pytest

from diffspot_hf.build.web import tailwind
from diffspot_hf.build.web.scales import TIERS
from diffspot_hf.build.web.takes import Director

SWAPS = [
    ("font-semibold", "font_weight", {"easy": "thin extralight light black", "medium": "normal extrabold",
                                      "hard": "medium bold"}),
    ("text-base", "font_size", {"easy": "2xl", "medium": "xs xl", "hard": "sm lg"}),
    ("tracking-tight", "letter_spacing", {"easy": "[0.175em] [-0.225em]", "medium": "[0.095em] [-0.145em]",
                                          "hard": "[0.035em] [-0.085em]"}),
    ("leading-normal", "line_height", {"easy": "[2.1] [0.9]", "medium": "[1.85] [1.15]", "hard": "[1.65] [1.35]"}),
    ("text-gray-300", "color", {"easy": "700 800 900", "medium": "500 100 600 50", "hard": "400 200"}),
    ("opacity-70", "opacity", {"easy": "10", "medium": "30", "hard": "50"}),
    ("p-4", "spacing", {"easy": "10", "medium": "7 1", "hard": "5 3"}),
    ("justify-center", "justify", {"easy": "", "medium": "start end", "hard": ""}),
    ("justify-evenly", "justify", {"easy": "", "medium": "", "hard": "between around"}),
    ("border-2", "border", {"easy": "[6px]", "medium": "4", "hard": "[3px]"}),
    ("rounded-lg", "rounded", {"easy": "none full", "medium": "sm DEFAULT 2xl", "hard": "md xl"}),
    ("bg-gradient-to-r", "gradient", {"easy": "l", "medium": "b t", "hard": "br tr"}),
]  # fmt: skip


@pytest.mark.parametrize(("old", "operator", "expected"), SWAPS, ids=[one[0] for one in SWAPS])
def test_swaps_stay_in_the_group_and_in_the_tier(old, operator, expected):
    for tier in TIERS:
        found = [swap.new[0] for swap in tailwind.swaps([old], operator, tier)]
        stem = old.rsplit("-", 1)[0]
        wanted = {f"{stem}-{word}".replace("-DEFAULT", "") for word in expected[tier].split()}
        assert set(found) == wanted


@pytest.mark.parametrize(
    "name", ["hover:p-4", "md:p-4", "-m-4", "text-center", "text-brand-500", "border-collapse", "p-auto"]
)
def test_other_classes_are_left_alone(name):
    for operator in ("spacing", "font_size", "color", "border"):
        for tier in TIERS:
            assert tailwind.swaps([name], operator, tier) == []


def test_vocabulary_holds_every_class_that_a_swap_may_put_in():
    classes = ["from-sky-500", "to-rose-500", "bg-linear-to-r", "text-sm", "rounded-xl"]
    words = tailwind.vocabulary(classes)
    for operator in ("gradient", "font_size", "rounded"):
        for tier in TIERS:
            for swap in tailwind.swaps(classes, operator, tier):
                assert set(swap.new) <= words
    assert {"to-rose-900", "from-sky-900", "bg-linear-to-l"} <= words
    assert not words & set(classes)


# What a compiled sheet of version 4 holds: custom properties, oklch colours, escaped names, layers.
SHEET = """<style>@property --tw-border-style{syntax:"*";inherits:false;initial-value:solid}
@layer utilities{.text-slate-400{color:oklch(70.4% .04 256.788)}.text-slate-800{color:oklch(27.9% .041 260.031)}
.text-slate-300{color:oklch(86.9% .022 252.894)}.bg-white{background-color:#fff}.p-4{padding:16px}.p-10{padding:40px}
.opacity-80{opacity:80%}.opacity-20{opacity:20%}.rounded-lg{border-radius:8px}.rounded-full{border-radius:calc(infinity*1px)}
.rounded-xl{border-radius:8px}.tracking-tight{--tw-tracking:-.025em;letter-spacing:-.025em}
.tracking-\\[-0\\.145em\\]{letter-spacing:-.145em}}</style>"""
BOX = "style='position:absolute;left:40px;top:40px;width:300px;height:120px;box-sizing:border-box;background:#8ac'"

TAKEN = [
    ("text-slate-400", "color", "easy", "text-slate-800", "#90a1b9", "#1d293d"),
    ("text-slate-400", "color", "hard", "text-slate-300", "#90a1b9", "#cad5e2"),
    ("opacity-80", "opacity", "easy", "opacity-20", "0.8", "0.2"),
    ("p-4", "spacing", "easy", "p-10", "16px", "40px"),
    ("tracking-tight", "letter_spacing", "medium", "tracking-[-0.145em]", "-0.025em", "-0.145em"),
    ("rounded-lg", "rounded", "easy", "rounded-full", "8px", "9999px"),
]


@pytest.mark.browser
@pytest.mark.parametrize(("old", "operator", "tier", "new", "before", "after"), TAKEN, ids=[one[3] for one in TAKEN])
def test_swap_is_proved_by_the_computed_style(old, operator, tier, new, before, after, stage):
    with stage(f"{SHEET}<div id=t class='{old}' {BOX}>Ferries today</div>") as opened:
        director = Director(opened, seed=1)
        director.facts = [facts for facts in director.facts if facts["selector"] == "#t"]
        (take,) = director.take([((operator, tier), "")], {})
    assert take.change.mechanism == "class"
    assert take.change.swap == ((old,), (new,))
    assert (take.change.old, take.change.new) == (before, after)
    assert take.difference.outside == 0


@pytest.mark.browser
def test_swap_that_is_not_compiled_or_does_something_else_is_not_believed(stage):
    """`rounded-xl` of this sheet is no wider than `rounded-lg`, `rounded-md` is not there: the style is set inline."""
    with stage(f"{SHEET}<div id=t class='rounded-lg' {BOX}>Ferries</div>") as opened:
        director = Director(opened, seed=1)
        director.facts = [facts for facts in director.facts if facts["selector"] == "#t"]
        (take,) = director.take([(("rounded", "hard"), "")], {})
    assert take.change.mechanism == "style"
    assert director.tally.rejected["rounded", "class not compiled"] >= 1
    assert director.tally.rejected["rounded", "class has no effect"] >= 1


@pytest.mark.browser
def test_classes_of_another_framework_are_not_swapped(stage):
    sheet = "<style>.rounded{border-radius:4px}.rounded-lg{border-radius:8px}</style>"
    with stage(f"{sheet}<div id=t class=rounded {BOX}>Ferries</div>") as opened:
        director = Director(opened, seed=1)
        director.facts = [facts for facts in director.facts if facts["selector"] == "#t"]
        (take,) = director.take([(("rounded", "medium"), "")], {})
    assert take.change.mechanism == "style"
