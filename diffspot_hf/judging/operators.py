"""What the operators' own values say: right and wrong colours, ends, directions, border styles and texts.

Each function returns a kind of answer (see `verdicts`), or None where the general table decides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from .claims import Claim
from .colors import Oklch, distance, names
from .lexicon import grammar, stem
from .profiles import bare
from .records import Record, measure, vector

Kind = Literal["right", "wrong", "cause", "vague", "impossible"]
_NEAR = 0.12
"""OKLab distance up to which a quoted colour value is the recorded one (our choice)."""
_PALE, _DEEP = 0.88, 0.25
"""OKLCH lightness past which text may vanish into a usual page (our choice)."""
_CLEAR = 0.3
"""Opacity up to which a thing may be called gone (our choice)."""
_SLANT = 3
"""A move also counts along its lesser axis if that is at least one third of the greater one (our choice)."""
_ENDS = {"flex-start": -1, "start": -1, "left": -1, "normal": -1, "flex-end": 1, "end": 1, "right": 1, "center": 0}
_STYLES = frozenset({"dash", "dot", "solid", "doubl"})
_NOTHING = frozenset({"", "0", "0px", "none", "hidden"})


def _fits(claim: Claim, side: str, colors: tuple[Oklch, ...]) -> bool | None:
    """Whether the colours told for one side fit the recorded ones; None if none are told or recorded."""
    words, values = [w for s, w in claim.colors if s == side], [v for s, v in claim.values if s == side]
    if not colors or not (words or values):
        return None
    usual: frozenset[str] = frozenset().union(*(names(c) for c in colors))
    return any(w & usual for w in words) or any(distance(v, c) < _NEAR for v in values for c in colors)


def color(claim: Claim, record: Record) -> Kind | None:
    effects, border = claim.effects, "border" in record.property or "outline" in record.property
    hidden = _hides(record)
    if hidden and effects & {"presence" + hidden, "border" + hidden}:
        return "right"
    tones = effects & {"tone~", "light+", "light-", "bcolor~"}
    if not tones:
        return None
    if "bcolor~" in tones and not border and record.property:
        return "cause"
    after, before = _fits(claim, "B", record.new_colors), _fits(claim, "A", record.old_colors)
    if after is None and before is None:
        return "right" if border and "bcolor~" in tones else None
    if after is False:
        exchanged = _fits(claim, "B", record.old_colors) and record.old_colors != record.new_colors
        lighter = before is not True and not exchanged and "light" + record.sign in effects
        return "right" if lighter else "wrong"
    if after is None and before is False:
        return "wrong"
    opposite = {"+": "light-", "-": "light+"}.get(record.sign)
    if opposite in effects and "light" + record.sign not in effects:
        same_name = bool(record.old_colors and names(record.new_colors[0]) & names(record.old_colors[0]))
        return "wrong" if same_name else "right"
    return "right"


def _hides(record: Record) -> str:
    """``-`` if the new colour may make the thing vanish, ``+`` if the old one may have hidden it, "" if neither."""

    def faint(colors: tuple[Oklch, ...]) -> bool:
        return bool(colors) and (colors[0].alpha < 0.2 or not _DEEP <= colors[0].l <= _PALE)

    old, new = record.old_colors, record.new_colors
    if faint(new) and (not faint(old) or min(new[0].alpha, old[0].alpha) < 0.2):
        return "-"
    return "+" if faint(old) else ""


def opacity(claim: Claim, record: Record) -> Kind | None:
    new, old = measure("opacity", record.new), measure("opacity", record.old)
    if record.sign == "-" and "presence-" in claim.effects:
        return "right" if new is None or new <= _CLEAR else "cause"
    if record.sign == "+" and "presence+" in claim.effects:
        return "right" if old is None or old <= _CLEAR else "cause"
    return "wrong" if claim.effects <= {"presence+", "presence-"} else None


def gradient(claim: Claim, record: Record) -> Kind | None:
    if claim.effects & {"grad~", "swap~"}:
        return "right"
    recolored = sorted(record.new_colors) != sorted(record.old_colors)
    if claim.effects & {"tone~", "light+", "light-"} and record.new_colors and recolored:
        return "cause" if _fits(claim, "B", record.new_colors) is False else "right"
    return None


def position(claim: Claim, record: Record) -> Kind | None:
    x, y = vector(record)
    told = claim.effects & {"x+", "x-", "y+", "y-"}
    if not told or not (x or y):
        return None
    right = set()
    if abs(x) >= abs(y) / _SLANT:
        right.add("x+" if x > 0 else "x-")
    if abs(y) >= abs(x) / _SLANT:
        right.add("y+" if y > 0 else "y-")
    return "right" if told & right else "wrong"


def spacing(claim: Claim, record: Record) -> Kind | None:
    """More space on the near side of a thing pushes it away: the opposite move is wrong, if no more is told."""
    axis = {"top": "y", "left": "x"}.get(record.property.rsplit("-", 1)[-1])
    told = {e for e in claim.effects if e[:-1] == axis}
    if axis and told and record.sign in "+-" and axis + record.sign not in told and claim.effects <= told | {"move~"}:
        return "wrong"
    return None


def justify(claim: Claim, record: Record) -> Kind | None:
    old, new = (value.strip().removeprefix("justify-") for value in (record.old, record.new))
    told = claim.effects & {"x+", "x-"}
    if old in _ENDS and new in _ENDS and len(told) == 1:
        return "right" if ("x+" if _ENDS[new] > _ENDS[old] else "x-") in told else "wrong"
    spread = {e[-1] for e in claim.effects & {"spread+", "spread-", "gap+", "gap-"}}
    if spread and (old in _ENDS) != (new in _ENDS):
        return "right" if ("+" if old in _ENDS else "-") in spread else "wrong"
    return None


def border(claim: Claim, record: Record) -> Kind | None:
    effects, prop = claim.effects, record.property
    if "color" in prop:
        if effects & {"bcolor~", "border-", "border+"}:
            return color(claim, record) or ("right" if "bcolor~" in effects else "wrong")
        return "cause" if "tone~" in effects and "border~" not in effects else None
    appears, vanishes = _none(record.old), _none(record.new)
    if effects & {"border-", "border+"}:
        return "right" if ("border-" in effects and vanishes) or ("border+" in effects and appears) else "wrong"
    if appears and effects & {"bwidth+", "bwidth-", "bcolor~", "bstyle~"}:
        return "right"
    if "style" in prop:
        return _style(claim, record) if "bstyle~" in effects else None
    if effects & {"bwidth+", "bwidth-"}:
        return "right" if record.sign == "~" or "bwidth" + record.sign in effects else "wrong"
    return None


def _none(value: str) -> bool:
    words = set(value.split())
    return not value.strip() or bool(words & _NOTHING)


def _style(claim: Claim, record: Record) -> Kind:
    """Whether the told line style is the new one, or the told former one the old."""

    def root(word: str) -> str:
        return "solid" if word in ("continuous", "unbroken") else stem(word)

    told = {side: {root(w) for w, s in claim.words if s == side} & _STYLES for side in "AB"}
    new, old = {root(w) for w in record.new.split()}, {root(w) for w in record.old.split()}
    if told["B"]:
        return "right" if told["B"] & new else "wrong"
    return "wrong" if told["A"] and not told["A"] & old else "right"


def text(claim: Claim, record: Record) -> Kind | None:
    """Text changes are judged by the values told: the new one, or what is new about it."""
    effects = claim.effects
    if not effects & {"text~", "text?", "replace~", "vague~", "other~", "presence+", "presence-"}:
        return None
    old, new = _words(record.old), _words(record.new)
    fresh, lost = set(new) - set(old), set(old) - set(new)
    if ("presence-" in effects and (not new or (lost and not fresh))) or (
        "presence+" in effects and fresh and not lost
    ):
        return "right"
    target, source = bare(record.new), bare(record.old)
    before = [bare(q.text) for q in claim.quotes if q.side == "A"]
    after = [bare(q.text) for q in claim.quotes if q.side == "B" and q.told]
    said = {bare(w) for w, side in claim.words if side == "B"}
    said.update(w for q in claim.quotes if q.side == "B" for w in _words(q.text))
    if fresh & said or any(_is_new(q, target, source) for q in after):
        return "right"
    if lost and not fresh:
        named = {w for q in claim.quotes for w in _words(q.text)}
        if any(q in source for q in before) or lost & named:
            return "right"
    if after:
        return "wrong"
    figures = {w for w in said if any(c.isdigit() for c in w)}
    if any(w in target and w not in source for w in figures):
        return "right"
    if figures and any(c.isdigit() for w in fresh | lost for c in w):
        return "wrong"
    former = {bare(w) for w, side in claim.words if side == "A"} - grammar("filler")
    if former and not former & set(old):
        return "wrong"  # something else became something else
    return "right" if effects & {"text~", "text?", "replace~"} else None


def _is_new(quote: str, target: str, source: str) -> bool:
    """Whether a quotation gives the new text, or a part that only the new text has."""
    if not quote or not target:
        return False
    return quote == target or target in quote or (len(quote) > 2 and quote in target and quote not in source)


def _words(value: str) -> list[str]:
    return [w for w in (bare(part) for part in value.replace("’", "'").split()) if w]


OWN: dict[str, Callable[[Claim, Record], Kind | None]] = {
    "border": border,
    "color": color,
    "gradient": gradient,
    "justify": justify,
    "opacity": opacity,
    "position": position,
    "spacing": spacing,
    "text": text,
}
"""The operators whose values are compared by rules of their own."""
