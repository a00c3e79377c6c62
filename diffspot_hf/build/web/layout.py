"""Changes of position, padding, margin and main-axis alignment, by inline style."""

from __future__ import annotations

from collections.abc import Iterator

from . import scales
from .change import Change, Facts, Watch, number, pixels
from .scales import OPERATORS, Tier
from .typography import direction

WAYS = {"right": (1, 0), "left": (-1, 0), "down": (0, 1), "up": (0, -1)}


def position(facts: Facts, tier: Tier) -> Iterator[Change]:
    if facts["computed"]["display"].split()[0] in ("inline", "table-row", "table-row-group", "table-column"):
        return  # not transformable
    before = facts["computed"]["transform"]
    for size in OPERATORS["position"].sizes[tier]:
        for way, (x, y) in WAYS.items():
            move = f"translate({', '.join(f'{number(d * size)}px' if d else '0' for d in (x, y))})"
            yield Change(
                "position", tier, "transform", "translate(0, 0)", move,
                f"{number(size)}px {way}", way, style={"transform": move if before == "none" else f"{move} {before}"},
                watch=(Watch("transform"),), details={"x": x * size, "y": y * size},
            )  # fmt: skip


def spacing(facts: Facts, tier: Tier) -> Iterator[Change]:
    for size in OPERATORS["spacing"].sizes[tier]:
        for kind in ("padding", "margin"):
            for side in scales.SIDES:
                old = pixels(facts["computed"][f"{kind}-{side}"])
                for sign in (1, -1):
                    new = old + sign * size
                    if new >= 0 and old >= 0:
                        yield Change(
                            "spacing", tier, f"{kind}-{side}", f"{number(old)}px", f"{number(new)}px",
                            f"{sign * size:+g}px", direction(sign), style={f"{kind}-{side}": f"{number(new)}px"},
                            watch=(Watch(f"{kind}-{side}", new, "px"),), note=side,
                        )  # fmt: skip


def justify(facts: Facts, tier: Tier) -> Iterator[Change]:
    display = facts["computed"]["display"]
    if not display.endswith(("flex", "grid")) or facts["kids"] < 2:
        return
    word = justify_word(facts["computed"]["justify-content"])
    for target in scales.JUSTIFY[tier].get(word, ()):
        value = justify_value(target)
        yield Change(
            "justify", tier, "justify-content", justify_value(word), value, f"{word} to {target}",
            way=f"{word} to {target}", style={"justify-content": value},
            watch=(Watch("justify-content", value),), note=axis(facts),
        )  # fmt: skip


def justify_word(value: str) -> str:
    """The short word of a computed `justify-content`.

    >>> justify_word("normal"), justify_word("space-between"), justify_word("flex-end")
    ('start', 'between', 'end')
    """
    value = value.removeprefix("safe ").removeprefix("unsafe ")
    if value in ("normal", "flex-start", "start", "left", "stretch"):
        return "start"
    return value.removeprefix("space-").removeprefix("flex-")


def justify_value(word: str) -> str:
    if word in ("start", "end"):
        return f"flex-{word}"
    return f"space-{word}" if word in ("between", "around", "evenly") else word


def axis(facts: Facts) -> str:
    """Along which line of the screen the children are set: ``row`` or ``column``, ``-reverse`` kept."""
    computed = facts["computed"]
    return computed["flex-direction"] if computed["display"].endswith("flex") else "row"
