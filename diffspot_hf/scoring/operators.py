"""The 13 DiffSpot operators and their four families (paper, section 3; data card)."""

from __future__ import annotations

OPERATORS: dict[str, tuple[str, ...]] = {
    "typography": ("font_weight", "font_size", "letter_spacing", "line_height", "text"),
    "color": ("color", "opacity", "gradient"),
    "layout": ("position", "spacing", "justify"),
    "shape": ("border", "rounded"),
}
FAMILY: dict[str, str] = {operator: family for family, members in OPERATORS.items() for operator in members}
TIERS: tuple[str, ...] = ("easy", "medium", "hard")


def bare_operator(name: str) -> str:
    """The operator without the prefix that the published column `mutation_types` carries.

    >>> bare_operator("mutate_font_weight"), bare_operator("rounded")
    ('font_weight', 'rounded')
    """
    return name.removeprefix("mutate_")
