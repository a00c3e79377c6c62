"""Can the change of a record look the way a claim says? The kinds of answer, best first:

``right`` the change or its visible effect; ``wrong`` the right kind, but another direction or value; ``cause`` the right
effect for a wrong reason; ``vague`` a difference without a kind; ``flow`` a neighbour that moves along; ``impossible``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Literal

from .claims import Claim
from .colors import Oklch, distance, names
from .lexicon import stem, vocabulary
from .records import Record, bare, measure, vector

Kind = Literal["right", "wrong", "cause", "vague", "flow", "impossible"]
_RANK: tuple[Kind, ...] = ("right", "wrong", "cause", "vague", "flow", "impossible")
_MOVING = frozenset({"x", "y", "move", "wrap", "gap", "height", "size", "width", "lead", "overlap", "vague"})
_NEAR = 0.12
"""OKLab distance up to which a quoted colour value is the recorded one (our choice)."""
_PALE, _DEEP = 0.88, 0.25
"""OKLCH lightness past which text may vanish into a usual page (our choice)."""


def kind_of(claim: Claim, record: Record) -> Kind:
    """How the effects of `claim` stand to the change of `record`."""
    if record.operator == "letter_spacing" and (spaced := _respaced(claim, record)):
        return "right" if spaced == record.sign or record.sign == "~" else "wrong"
    if "other~" in claim.effects and claim.numbers and _measured(claim, record):
        return "right"
    special = _SPECIAL.get(record.operator)
    found = special(claim, record) if special else None
    if found is not None:
        return found
    table = vocabulary("operators")[record.operator]
    return _judge(claim, record.sign, table["names"], table["shows"], table["cause"])


def _measured(claim: Claim, record: Record) -> bool:
    """Whether the two numbers told are those of the record ("24px → 28px")."""
    return claim.numbers == (measure(record.operator, record.old), measure(record.operator, record.new))


def _respaced(claim: Claim, record: Record) -> str:
    """``+`` if the claim quotes a known text with more blanks in it, ``-`` with fewer, "" if neither."""
    for quote in claim.quotes:
        for name in record.profile.names:
            place = bare(name).find(bare(quote.text))
            if place < 0 or len(bare(quote.text)) < 4:
                continue
            blanks = len(quote.text.split()) - 1
            full = len(bare(quote.text)) == len(bare(name))
            usual = len(name.split()) - 1 if full else min(blanks, len(name.split()) - 1)
            if not full and any(bare(quote.text) == bare(word) for word in name.split()):
                usual = 0
            if blanks != usual:
                return "+" if blanks > usual else "-"
    return ""


def flows(claim: Claim, record: Record) -> bool:
    """Whether the claim is that something moved the way the change pushes its neighbours."""
    flow = vocabulary("operators")[record.operator]["flow"]
    moves = {e for e in claim.effects if e[:-1] in ("y", "x", "move", "wrap")}
    if not flow or any(e[:-1] not in _MOVING for e in claim.effects) or not moves:
        return False
    wrong = {"+": "y-", "-": "y+"}.get(record.sign, "") if flow == "=" else ""
    return wrong not in moves or (wrong == "y-" and "y+" in moves) or (wrong == "y+" and "y-" in moves)


def _judge(claim: Claim, sign: str, named: Iterable[str], shows: Iterable[str], cause: Iterable[str]) -> Kind:
    effects = claim.effects
    if "light-" in effects or "light+" in effects:
        effects = effects - ({"weight+", "weight-"} if "weight=" not in named else set())
    best: list[Kind] = []
    if _any(effects, named, sign):
        return "right"
    if _any(effects, cause, sign):
        best.append("cause")
    elif _any(effects, shows, sign):
        return "right"
    if _any(effects, [*named, *shows], sign, opposite=True):
        best.append("wrong")
    if claim.vague:
        best.append("vague")
    return min(best, key=_RANK.index, default="impossible")


def _any(effects: Iterable[str], wanted: Iterable[str], sign: str, opposite: bool = False) -> bool:
    return any(_fits(e, w, sign, opposite) for e in effects for w in wanted)


def _fits(effect: str, wanted: str, sign: str, opposite: bool) -> bool:
    """Whether an effect is of the wanted axis, and of the right sign (or, for `opposite`, of any other)."""
    axis, rule = wanted[:-1], wanted[-1]
    if effect[:-1] != axis:
        return False
    if opposite:
        return rule in "=!" or effect[-1] == rule
    if rule == "~" or effect[-1] == "~" or (sign == "~" and rule in "=!"):
        return True
    need = {"=": sign, "!": {"+": "-", "-": "+"}.get(sign, "~")}.get(rule, rule)
    return effect[-1] == need


def _table(record: Record, **changes: Iterable[str]) -> Callable[[Claim], Kind]:
    table = {**vocabulary("operators")[record.operator], **changes}
    return lambda claim: _judge(claim, record.sign, table["names"], table["shows"], table["cause"])


def _said(claim: Claim, side: str) -> list[frozenset[str]]:
    return [labels for s, labels in claim.colors if s == side]


def _matches(claim: Claim, side: str, colors: tuple[Oklch, ...]) -> bool | None:
    """Whether the colours told for one side fit the recorded ones; None if none are told or recorded."""
    words, values = _said(claim, side), [v for s, v in claim.values if s == side]
    if not colors or not (words or values):
        return None
    fits: frozenset[str] = frozenset().union(*(names(c) for c in colors))
    return any(w & fits for w in words) or any(distance(v, c) < _NEAR for v in values for c in colors)


def _color(claim: Claim, record: Record) -> Kind | None:
    border = "border" in record.property or "outline" in record.property
    effects = claim.effects
    if effects & {"presence-", "presence+", "border-", "border+"}:
        hidden = _hides(record)
        if hidden and effects & {"presence" + hidden, "border" + hidden}:
            return "right"
    after, before = _matches(claim, "B", record.new_colors), _matches(claim, "A", record.old_colors)
    tones = effects & {"tone~", "light+", "light-", "bcolor~"}
    if not tones or ("bcolor~" in tones and not border and record.property != ""):
        return None if not tones else "cause"
    if after is None and before is None:
        return None if not border or "bcolor~" not in tones else "right"
    if after is False and before is not True:
        if record.new_colors and _matches(claim, "B", record.old_colors) and record.old_colors != record.new_colors:
            return "wrong"
        return "right" if "light" + record.sign in effects else "wrong"
    if after is False:
        return "wrong"
    if before is False and after is None:
        return "wrong"
    opposite = {"+": "light-", "-": "light+"}.get(record.sign)
    if opposite in effects and "light" + record.sign not in effects and names(record.new_colors[0]) & names(record.old_colors[0]):
        return "wrong"
    return "right"


def _hides(record: Record) -> str:
    """``-`` if the new colour may make the thing vanish, ``+`` if the old one may have hidden it, "" if neither."""
    def faint(colors: tuple[Oklch, ...]) -> bool:
        return bool(colors) and (colors[0].alpha < 0.2 or colors[0].l > _PALE or colors[0].l < _DEEP)

    if faint(record.new_colors) and not (faint(record.old_colors) and record.new_colors[0].alpha >= 0.2 and record.old_colors[0].alpha >= 0.2):
        return "-"
    return "+" if faint(record.old_colors) else ""


def _opacity(claim: Claim, record: Record) -> Kind | None:
    new, old = measure("opacity", record.new), measure("opacity", record.old)
    if record.sign == "-" and claim.effects & {"presence-"}:
        return "right" if new is None or new <= 0.3 else "cause"
    if record.sign == "+" and claim.effects & {"presence+"}:
        return "right" if old is None or old <= 0.3 else "cause"
    if claim.effects & {"presence+", "presence-"} and not claim.effects - {"presence+", "presence-"}:
        return "wrong"
    return None


def _gradient(claim: Claim, record: Record) -> Kind | None:
    if claim.effects & {"grad~", "swap~"}:
        return "right"
    if claim.effects & {"tone~", "light+", "light-"} and record.new_colors and record.new_colors != record.old_colors:
        told = _matches(claim, "B", record.new_colors)
        if told is False:
            return "cause"
        if len(record.new_colors) == len(record.old_colors) == sum(a == b for a, b in zip(sorted(record.new_colors), sorted(record.old_colors), strict=False)):
            return "cause"
        return "right"
    return None


def _position(claim: Claim, record: Record) -> Kind | None:
    x, y = vector(record)
    told = claim.effects & {"x+", "x-", "y+", "y-"}
    if not told or not (x or y):
        return None
    right = set()
    if abs(x) >= abs(y) / 3:
        right.add("x+" if x > 0 else "x-")
    if abs(y) >= abs(x) / 3:
        right.add("y+" if y > 0 else "y-")
    return "right" if told & right else "wrong"


def _spacing(claim: Claim, record: Record) -> Kind | None:
    shows = vocabulary("operators")["spacing"]["shows"]
    side = record.property.rsplit("-", 1)[-1]
    axis = {"top": "y=", "bottom": "y~", "left": "x=", "right": "x~"}.get(side)
    if axis:
        shows = [w for w in shows if w[0] not in "xy" or len(w) > 2] + [axis, "x~" if axis[0] == "y" else "y~"]
    return _table(record, shows=shows)(claim)


_ENDS = {"flex-start": -1, "start": -1, "left": -1, "normal": -1, "flex-end": 1, "end": 1, "right": 1, "center": 0}


def _justify(claim: Claim, record: Record) -> Kind | None:
    old, new = (_ENDS.get(v.strip().removeprefix("justify-")) for v in (record.old, record.new))
    told = claim.effects & {"x+", "x-"}
    if old is not None and new is not None and len(told) == 1:
        right = "x+" if new > old else "x-"
        return "right" if right in told else "wrong"
    spread = claim.effects & {"spread+", "spread-", "gap+", "gap-"}
    bunched = [v in ("flex-start", "flex-end", "center", "start", "end", "left", "right", "normal") for v in (record.old, record.new)]
    if spread and bunched[0] != bunched[1]:
        return "right" if any(e[-1] == ("+" if bunched[0] else "-") for e in spread) else "wrong"
    return None


_STYLES = frozenset({"dash", "dot", "solid", "doubl"})


def _style(word: str) -> str:
    """The border style that a word means: continuous is solid."""
    root = stem(word)
    return "solid" if root in ("continuou", "continuous", "unbroken") else root


def _border(claim: Claim, record: Record) -> Kind | None:
    effects = claim.effects
    prop = record.property
    style = {w for w in ("solid", "dashed", "dotted", "double", "none") if w in record.new}
    if "color" in prop:
        if effects & {"tone~"} and not effects & {"bcolor~", "border-", "border+", "border~"}:
            return "cause"
        if effects & {"bcolor~", "border-", "border+", "tone~", "light+", "light-"}:
            return _color(claim, record) or ("right" if effects & {"bcolor~"} else "wrong")
        return _table(record)(claim)
    if not measure("border", record.old) and effects & {"bwidth+", "bwidth-", "bcolor~", "bstyle~", "border+"} and "none" in record.old + record.new:
        return "right" if "none" not in record.new else "wrong"
    if "style" in prop:
        if effects & {"border-", "border+"}:
            gone = "none" in style or "hidden" in record.new
            was = "none" in record.old or "hidden" in record.old
            return "right" if ("border-" in effects and gone) or ("border+" in effects and was) else "wrong"
        if "bstyle~" in effects:
            told = {_style(w) for w, side in claim.words if side == "B"} & _STYLES
            real = {_style(w) for w in style}
            told_old = {_style(w) for w, side in claim.words if side == "A"} & _STYLES
            if told and real and not told & real and not (told_old & real == set() and told_old and not told):
                return "wrong"
            return "wrong" if told_old & real and not told & real else "right"
        return _table(record)(claim)
    if record.sign == "+" and "border+" in effects and (record.old.strip() in ("", "0", "0px", "none") or record.old.startswith("0")):
        return "right"
    if record.sign == "-" and "border-" in effects:
        return "right" if record.new.strip() in ("", "0", "0px", "none") or record.new.startswith("0") else "wrong"
    return _table(record, names=["border~", "bwidth="], cause=[w for w in vocabulary("operators")["border"]["cause"] if w not in ("bwidth~", "border~")])(claim) if "border~" in effects or effects & {"bwidth+", "bwidth-"} else None


def _words(text: str) -> list[str]:
    return [w for w in (bare(part) for part in text.replace("’", "'").split()) if w]


def _text(claim: Claim, record: Record) -> Kind | None:
    """Text changes are judged by the values told: the new one, or what is new about it."""
    old, new = _words(record.old), _words(record.new)
    fresh, lost = set(new) - set(old), set(old) - set(new)
    effects = claim.effects
    gone = bool(lost) and not fresh
    if effects & {"presence-", "presence+"}:
        if (gone and "presence-" in effects) or ((fresh and not lost) and "presence+" in effects):
            return "right"
        if not record.new.strip() and "presence-" in effects:
            return "right"
    quoted_b = [bare(q.text) for q in claim.quotes if q.side == "B" and q.told]
    quoted_a = [bare(q.text) for q in claim.quotes if q.side == "A"]
    if not effects & {"text~", "text?", "replace~", "vague~", "other~", "presence+", "presence-"}:
        return None
    said_b = {bare(w) for w, side in claim.words if side == "B"} | {bare(w) for q in quoted_b for w in [q]}
    for q in claim.quotes:
        if q.side == "B":
            said_b.update(_words(q.text))
    target, source = bare(record.new), bare(record.old)
    if quoted_b or quoted_a:
        if any(q == target or (len(q) > 2 and q in target and q not in source) or (target and target in q) for q in quoted_b):
            return "right"
        if fresh and fresh & said_b:
            return "right"
        if gone and (any(q in source for q in quoted_a) or any(w in lost for q in claim.quotes for w in _words(q.text))):
            return "right"
        if quoted_b and any(q == source for q in quoted_b) and any(q == target for q in quoted_a):
            return "wrong"
        if quoted_b:
            return "wrong"
    if fresh & said_b:
        return "right"
    digits = bare(record.new)
    if any(w.isdigit() and w in digits and w not in source for w in said_b):
        return "right"
    figures = {w for w in said_b if any(c.isdigit() for c in w)}
    if figures and any(any(c.isdigit() for c in w) for w in fresh | lost):
        return "wrong"
    if effects & {"text~", "replace~", "text?"}:
        return "right"
    return None


@cache
def _rank(kind: Kind) -> int:
    return _RANK.index(kind)


_SPECIAL: dict[str, Callable[[Claim, Record], Kind | None]] = {
    "color": _color,
    "opacity": _opacity,
    "gradient": _gradient,
    "position": _position,
    "spacing": _spacing,
    "justify": _justify,
    "border": _border,
    "text": _text,
}
