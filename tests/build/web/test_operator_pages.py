"""Each operator in each tier on a page written for it: what must change, by how much, and in which box."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from diffspot_hf.build.web.gate import decode
from diffspot_hf.build.web.scales import OPERATORS, TIERS
from diffspot_hf.build.web.takes import Director, Take

pytestmark = pytest.mark.browser

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Target:
    """A page whose element ``#t`` stands absolutely at 40, 40, so that nothing else can move.

    `values` are the allowed (old, new) of each tier; `boxes` the box of each (old, new), or one for all of them.
    """

    body: str
    values: dict[str, set[tuple[str, str]]]
    box: Box = (40, 40, 300, 60)
    boxes: dict[tuple[str, str], Box] | None = None


def text_box(css: str, inner: str = "Winter timetable", size: str = "width:300px;height:60px") -> str:
    return f"<div id=t style='position:absolute;left:40px;top:40px;{size};{css}'>{inner}</div>"


def pairs(old: str, *new: str) -> set[tuple[str, str]]:
    return {(old, value) for value in new}


def greys(step: float, *old: str) -> set[tuple[str, str]]:
    """Greys that are `step` lighter or darker in OKLab; of a grey that is the cube root of its linear value."""

    def linear(level: int) -> float:
        c = level / 255
        return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4

    levels = [linear(level) ** (1 / 3) for level in range(256)]
    found = set()
    for one in old:
        for sign in (1, -1):
            wanted = levels[int(one[1:3], 16)] + sign * step
            near = min(range(256), key=lambda level: abs(levels[level] - wanted))
            if abs(levels[near] - wanted) < 0.01:
                found |= {(one, f"#{level:02x}{level:02x}{level:02x}") for level in (near - 1, near, near + 1)}
    return found


GREY = "background:#7d7d7d"
TARGETS = {
    "font_weight": Target(
        text_box("font-weight:400", "Winter timetable"),
        {"easy": pairs("400", "100", "700", "800", "900"), "medium": pairs("400", "200", "600"),
         "hard": pairs("500", "400", "600")},
    ),
    "font_size": Target(
        # With room at the left: some letters lean out of their box, and the gate would see it.
        text_box("font-size:24px;line-height:1.5;padding:0 10px", "Timetable", "width:280px;height:100px"),
        {"easy": pairs("24px", "16px", "48px"), "medium": pairs("24px", "18px", "36px"),
         "hard": pairs("24px", "20px", "30px")},
        box=(40, 40, 300, 100),
    ),
    "letter_spacing": Target(
        text_box("letter-spacing:0"),
        {"easy": pairs("0em", "0.2em", "-0.2em"), "medium": pairs("0em", "0.12em", "-0.12em"),
         "hard": pairs("0em", "0.06em", "-0.06em")},
    ),
    "line_height": Target(
        text_box("line-height:1.5", "Boats leave every hour from the old harbour, and the night boat leaves at eleven",
                 "width:300px;height:160px"),
        {"easy": pairs("1.5", "2.1", "0.9"), "medium": pairs("1.5", "1.85", "1.15"),
         "hard": pairs("1.5", "1.65", "1.35")},
        box=(40, 40, 300, 160),
    ),
    "text": Target(text_box("", "Boats leave at seven"), {"easy": set(), "medium": set(), "hard": set()}),
    "color": Target(
        text_box(f"{GREY};color:#fff"),
        {"easy": greys(0.35, "#7d7d7d", "#ffffff"), "medium": greys(0.20, "#7d7d7d", "#ffffff"),
         "hard": greys(0.08, "#7d7d7d", "#ffffff")},
    ),
    "opacity": Target(
        text_box("opacity:1;background:#cde"),
        {"easy": pairs("1", "0.4"), "medium": pairs("1", "0.6"), "hard": pairs("1", "0.8")},
    ),
    "gradient": Target(
        text_box("background-image:linear-gradient(90deg, rgb(90, 90, 90), rgb(160, 160, 160))", "Winter timetable"),
        {"easy": set(), "medium": set(), "hard": set()},
    ),
    "position": Target(
        "<div style='position:absolute;left:0;top:0;width:400px;height:200px'></div>"
        "<div id=t style='position:absolute;left:100px;top:100px;width:200px;height:60px;background:#cde'>Boats</div>",
        {
            tier: {("translate(0, 0)", move) for size in sizes
                   for move in (f"translate({size}px, 0)", f"translate(-{size}px, 0)",
                                f"translate(0, {size}px)", f"translate(0, -{size}px)")}
            for tier, sizes in {"easy": (24, 32, 40), "medium": (10, 12, 16), "hard": (3, 4, 5)}.items()
        },
    ),
    "spacing": Target(
        text_box("padding:32px;box-sizing:border-box", size="width:300px;height:120px"),
        # Padding from 32 px up or down, or a margin where there was none.
        {"easy": {*pairs("32px", "56px", "8px"), ("0px", "24px")},
         "medium": {*pairs("32px", "44px", "20px"), ("0px", "12px")},
         "hard": {*pairs("32px", "36px", "28px"), ("0px", "4px")}},
        box=(40, 40, 300, 120),
    ),
    "justify": Target(
        text_box("display:flex;background:#def", "<b>Port</b><b>Quay</b><b>Pier</b>"),
        {"easy": {("flex-start", "flex-end")}, "medium": {("flex-start", "center")}, "hard": set()},
    ),
    "border": Target(
        text_box("border:4px solid #7d7d7d;box-sizing:border-box"),
        {"easy": {("4px", "8px"), ("solid", "dashed"), ("solid", "dotted"), ("solid", "double")},
         "medium": {("4px", "6px"), *greys(0.35, "#7d7d7d")}, "hard": {("4px", "5px"), *greys(0.12, "#7d7d7d")}},
    ),
    "rounded": Target(
        text_box("background:#7ac;border-radius:8px"),
        {"easy": pairs("8px", "0px", "9999px"), "medium": pairs("8px", "4px", "16px"),
         "hard": pairs("8px", "6px", "12px")},
    ),
}  # fmt: skip
assert set(TARGETS) == set(OPERATORS)

BODIES = {name: target.body for name, target in TARGETS.items()}
HARD_BODIES = {
    # A family of two weights shows a single step only where it passes from regular to bold.
    "font_weight": TARGETS["font_weight"].body.replace("400", "500"),
    "justify": TARGETS["justify"].body.replace("display:flex", "display:flex;justify-content:space-between"),
}


def take(director: Director, operator: str, tier: str) -> Take:
    director.facts = [facts for facts in director.facts if facts["selector"] == "#t"]
    takes = director.take([((operator, tier), "")], {})  # type: ignore[list-item]
    assert len(takes) == 1, director.tally.as_json()
    return takes[0]


@pytest.fixture(scope="module")
def director(request, open_page, tmp_path_factory):
    """The operator's page, opened once for its three tiers."""
    operator, hard = request.param
    with open_page(tmp_path_factory.mktemp(operator), (HARD_BODIES if hard else BODIES)[operator]) as opened:
        yield Director(opened, seed=7)


CELLS = [
    pytest.param((operator, hard), operator, tier, id=f"{operator}-{tier}")
    for operator in OPERATORS
    for tier in TIERS
    for hard in [tier == "hard" and operator in HARD_BODIES]
]


@pytest.mark.parametrize(("director", "operator", "tier"), CELLS, indirect=["director"])
def test_operator_does_what_its_tier_says(director, operator, tier):
    target = TARGETS[operator]
    found = take(director, operator, tier)
    change = found.change
    assert (change.operator, change.tier, change.mechanism) == (
        operator,
        tier,
        "text" if operator == "text" else "style",
    )
    if operator == "position":
        x, y = change.details["x"], change.details["y"]
        expected = (100 + min(x, 0), 100 + min(y, 0), 200 + abs(x), 60 + abs(y))
    elif change.property.startswith("margin"):
        # A margin at the left or top pushes the box along, one at the right or bottom of it does nothing.
        size = int(change.new.removesuffix("px"))
        right, down = (size, 0) if change.note == "left" else (0, size)
        expected = (*target.box[:2], target.box[2] + right, target.box[3] + down)
    else:
        expected = target.box
    assert found.box == expected
    assert found.difference.inside > 0
    assert found.difference.outside == 0
    if target.values[tier]:
        assert (change.old, change.new) in target.values[tier]


def test_text_tiers_change_a_label_a_word_and_a_character(stage):
    with stage(TARGETS["text"].body) as opened:
        director = Director(opened, seed=3)
        texts = {tier: take(director, "text", tier).change for tier in TIERS}
    old = ["Boats", "leave", "at", "seven"]
    assert texts["easy"].magnitude in ("whole label", "2 of 4 words")
    assert (
        sum(a != b for a, b in zip(old, texts["medium"].new.split(), strict=False)) <= 1
        or texts["medium"].note == "deleted"
    )
    hard = texts["hard"].new
    assert len(hard) == len(" ".join(old))
    assert sum(a != b for a, b in zip(" ".join(old), hard, strict=True)) == 1


@pytest.mark.parametrize("seed", range(3))
def test_gradient_turns_by_the_tier_or_changes_its_stops(seed, stage):
    stops = ("rgba(90, 90, 90, 1)", "rgba(160, 160, 160, 1)")
    # A direction of 180deg is the default and not written out.
    turned = {"easy": {"270deg, "}, "medium": {"", "0deg, "}, "hard": {"135deg, ", "45deg, "}}
    with stage(TARGETS["gradient"].body) as opened:
        director = Director(opened, seed)
        for tier in TIERS:
            change = take(director, "gradient", tier).change
            assert change.old == f"linear-gradient(90deg, {', '.join(stops)})"
            if change.note == "turned":
                assert change.new in {f"linear-gradient({way}{', '.join(stops)})" for way in turned[tier]}
            else:
                assert change.new.startswith("linear-gradient(90deg, ")
                assert sum(stop in change.new for stop in stops) == (0 if tier == "easy" else 1)


@pytest.mark.parametrize("operator", OPERATORS)
def test_declared_magnitudes_fall_from_easy_to_hard(operator):
    one = OPERATORS[operator]
    sizes = [max(one.sizes[tier]) for tier in TIERS]
    assert sizes == sorted(sizes, reverse=True)
    assert one.lightness is None or one.lightness["medium"] > one.lightness["hard"]


@pytest.mark.parametrize("operator", ["color", "opacity"])
def test_fewer_or_weaker_pixels_change_from_easy_to_hard(operator, stage):
    """Summed difference over the picture, for operators whose tiers can be shown on one page."""
    strength = []
    with stage(TARGETS[operator].body) as opened:
        director = Director(opened, seed=5)
        for tier in TIERS:
            found = take(director, operator, tier)
            before, after = (decode(png).astype(int) for png in (found.before, found.after))
            strength.append(abs(before - after).sum())
    assert strength == sorted(strength, reverse=True)
