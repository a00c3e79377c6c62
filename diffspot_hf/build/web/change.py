"""A change: one property of one element, as data that the browser can apply and a record can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .scales import OPERATORS, Tier

Facts = Mapping[str, Any]
"""What the page said of one element (`factsOf` in js/scan.js): computed values, colours, own text, rectangle, name."""


@dataclass(frozen=True)
class Watch:
    """A computed property that must change, to `value` where one is known (`unit` "px", "em" of the font, or plain)."""

    property: str
    value: float | str | None = None
    unit: str = ""


@dataclass(frozen=True)
class Change:
    """One mutation before it is tried.

    Exactly one of `style` (inline, `!important`), `swap` (classes out, classes in) and `text` (child node number, its
    new data) is set. `direction` is the recorded word; `way` is what the sample is balanced over. `old` and `new` are
    values as a person writes them; `note` is a detail for the description.
    """

    operator: str
    tier: Tier
    property: str
    old: str
    new: str
    magnitude: str
    direction: str = ""
    way: str = ""
    style: Mapping[str, str] | None = None
    swap: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    text: tuple[int, str] | None = None
    watch: tuple[Watch, ...] = ()
    weight: int | None = None
    sample: str = ""
    note: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def mechanism(self) -> str:
        """How it is applied: ``class``, ``style`` or ``text``."""
        return "class" if self.swap else "text" if self.text else "style"

    @property
    def balance(self) -> str:
        return self.way or self.direction

    def script(self) -> dict[str, Any]:
        """What js/mutate.js needs to try and to apply it."""
        parts: dict[str, Any] = {"watch": [vars(w) for w in self.watch]} if self.watch else {}
        if self.style:
            parts["style"] = dict(self.style)
        if self.swap:
            parts["swap"] = [list(self.swap[0]), list(self.swap[1])]
        if self.text:
            parts |= {"text": list(self.text), "glyphs": self.text[1]}
        if self.weight:
            parts |= {"weight": str(self.weight), "sample": self.sample}
        return parts


def rules(operator: str) -> dict[str, bool]:
    """The operator's layout rules, as js/mutate.js names them."""
    one = OPERATORS[operator]
    return {"paintOnly": one.paint_only, "mustMove": one.must_move, "spills": one.spills}


def pixels(value: str) -> float:
    """A computed length in px; keywords are 0.

    >>> pixels("12.5px"), pixels("normal")
    (12.5, 0.0)
    """
    try:
        return float(value.removesuffix("px"))
    except ValueError:
        return 0.0


def number(value: float) -> str:
    """`value` without needless digits.

    >>> number(0.30000000000000004), number(12.0)
    ('0.3', '12')
    """
    return f"{round(value, 3):g}"
