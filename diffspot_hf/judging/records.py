"""What a ground-truth record says: which thing changed, by which names it goes, and which effects the change can have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from .colors import Oklch, parse
from .lexicon import lexicon, stem, vocabulary
from .masking import mask
from .phrases import Chunk, Sentence, analyse, chunks_of

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_WORD = re.compile(r"[^\W_]+")
_LIGHT_STEP = 0.02
"""Smallest difference in OKLCH lightness that we call lighter or darker (our choice)."""
_CLEAR = 0.3
"""Opacity up to which a thing may be called gone (our choice)."""
_COLLECTIONS = frozenset({"row", "list", "gridbox", "column", "table", "text"})


@dataclass(frozen=True)
class Profile:
    """The thing that changed.

    `heads` are the groups it may be called, `ids` the words that tell it apart, `context` words of its surroundings,
    `beside` those of its neighbours, `owners` those of what it belongs to, `names` the page texts it is known by, `neighbours` those of
    what stands beside it; `modifiers`,
    `ordinals` and `tints` (colour words) what stands before each word; `setting` what it stands in, by the element's own words.
    """

    heads: frozenset[str]
    ids: frozenset[str]
    context: frozenset[str]
    beside: frozenset[str]
    owners: frozenset[str]
    names: tuple[str, ...]
    neighbours: tuple[str, ...]
    ordinals: Mapping[str, frozenset[str]]
    places: frozenset[str]
    modifiers: Mapping[str, frozenset[str]]
    tints: Mapping[str, frozenset[str]]
    setting: frozenset[str]
    plural: bool = False
    textual: bool = False

    @property
    def known(self) -> frozenset[str]:
        return self.ids | self.context | self.beside | self.owners


@dataclass(frozen=True)
class Record:
    """A record, read: its operator, the sign of the change, the thing, and the values that replies may quote."""

    operator: str
    property: str
    sign: str
    profile: Profile
    old: str
    new: str
    old_colors: tuple[Oklch, ...]
    new_colors: tuple[Oklch, ...]
    direction: str
    description: str
    element: str


def bare(text: str) -> str:
    """`text` without case, spaces and punctuation, to compare page texts however they are spaced.

    >>> bare("HAR BOUR") == bare("Harbour")
    True
    """
    return "".join(_WORD.findall(text.casefold()))


def read_record(mutation: Mapping[str, object], ground_truth_diff: str) -> Record:
    """The record of `mutation`, whose missing keys count as empty."""
    keys = ("type", "element", "property", "direction", "old_value", "new_value")
    values = [mutation.get(key) for key in keys] + [ground_truth_diff]
    return _read(*("" if value is None else str(value).replace("§", " ") for value in values))


@lru_cache(maxsize=1024)
def _read(kind: str, element: str, prop: str, direction: str, old: str, new: str, description: str) -> Record:
    tables = vocabulary("operators")
    operator = kind.removeprefix("mutate_")
    if not isinstance(tables.get(operator), dict) or "names" not in tables[operator]:
        operator = _by_property(prop)
    values = (old, new) if operator == "text" else ()
    profile = _profile(element, description, values)
    old_colors, new_colors = parse(old), parse(new)
    sign = _sign(operator, direction, old, new, old_colors, new_colors)
    return Record(
        operator,
        prop,
        sign,
        profile,
        old,
        new,
        old_colors,
        new_colors,
        direction.casefold().strip(),
        description,
        element,
    )


def _by_property(prop: str) -> str:
    known = vocabulary("operators")["property"]
    if prop in known:
        return str(known[prop])
    for part, operator in (
        ("border", "border"),
        ("padding", "spacing"),
        ("margin", "spacing"),
        ("gap", "spacing"),
        ("color", "color"),
    ):
        if part in prop:
            return operator
    return "color"


def _profile(element: str, description: str, values: tuple[str, ...]) -> Profile:
    heads: dict[str, None] = {}
    ids: set[str] = set()
    context: set[str] = set()
    beside: set[str] = set()
    owners: set[str] = set()
    names = list(values)
    neighbours: list[str] = []
    ordinals: dict[str, set[str]] = {}
    places: set[str] = set()
    modifiers: dict[str, set[str]] = {}
    tints: dict[str, set[str]] = {}
    setting: set[str] = set()
    for source, text in (("element", element), ("description", description)):
        masked = mask(text)
        sentence = analyse(masked.text)
        chunks = chunks_of(sentence)
        aside = {number for chunk in chunks if chunk.rel == "beside" for number in chunk.quotes}
        if source == "element":
            names += [q for number, q in enumerate(masked.quotes) if number not in aside]
            neighbours += [q for number, q in enumerate(masked.quotes) if number in aside]
        else:
            names += [q for q in masked.quotes if any(bare(q) in bare(n) for n in names)]
        verb = min((h.start for h in sentence.words if "verb" in h.labels), default=len(sentence.tokens))
        main = next((c for c in chunks if c.ids or c.quotes), None)
        for chunk in chunks:
            for k, word in enumerate(chunk.ids):
                before = {w for w in chunk.ids[:k] if w[0] == "~" or w not in lexicon().generic}
                modifiers.setdefault(word, set()).update(before)
            if chunk.ordinals:
                for word in chunk.ids[-1:] if chunk.ids else ():
                    ordinals.setdefault(word, set()).update(chunk.ordinals)
            if chunk.tints and chunk.ids and source == "element":
                tints.setdefault(chunk.ids[-1], set()).update(chunk.tints)
            if source == "element":
                places |= chunk.places
                if chunk is not main and chunk.rel == "within":
                    setting.update(chunk.ids)
            if chunk is main and source == "element":
                ids.update(chunk.ids)
                heads.update(dict.fromkeys(_heads(chunk)))
            elif source == "element" and (chunk.rel == "of" or _after_to(sentence, chunk)):
                owners.update(chunk.ids)
                if heads and set(heads) <= _COLLECTIONS:
                    heads.update(dict.fromkeys(_heads(chunk)))
            elif chunk.rel == "beside":
                beside.update(chunk.ids)
            elif source == "description" and chunk.start < verb and set(chunk.ids) & (ids | set(heads)):
                ids.update(w for w in chunk.ids if lexicon().kind_of.get(w) != "generic")
            elif chunk.start < verb or source == "element":
                context.update(chunk.ids)
    if "backdrop" in ids | set(heads) or ("background" in element.casefold() and set(heads) <= {"region"}):
        heads.update(dict.fromkeys(("backdrop", "region")))
    first = next(
        (
            w
            for w in reversed(
                re.split(r"\s(?:of|in|on|at|to|under|above|below|near|over|behind|between|with)\s", element)[0].split()
            )
        ),
        "",
    )
    plural = (
        first.endswith("s")
        and not first.endswith("ss")
        and len(first) > 3
        or bool(heads.keys() & _COLLECTIONS - {"text", "table"})
    )
    beside |= {stem(w.casefold()) for name in neighbours for w in _WORD.findall(name)} - lexicon().generic
    tokens = {stem(w.casefold()) for name in names if name not in values for w in _WORD.findall(name)}
    for group in heads:
        modifiers.setdefault(group, set()).update(tokens)
    named = set()
    for name in names:
        sentence = analyse(name)
        named |= {label for h in sentence.elements for label in h.labels if label[0] == "~"}
        if name not in values:
            named |= {stem(t.raw) for t in sentence.tokens if t.raw[0].isalnum()}
    ids |= {w for w in named if w not in lexicon().generic}
    if not heads and owners:
        heads.update(dict.fromkeys(w for w in owners if w in lexicon().kind_of))
    return Profile(
        frozenset(heads), frozenset(ids), frozenset(context - ids), frozenset(beside - ids), frozenset(owners), tuple(dict.fromkeys(n for n in names if n.strip())), tuple(neighbours),
        {k: frozenset(v) for k, v in ordinals.items()}, frozenset(places), {k: frozenset(v) for k, v in modifiers.items()},
        {k: frozenset(v) for k, v in tints.items()}, frozenset(setting), plural, bool(values),
    )  # fmt: skip


def _heads(chunk: Chunk) -> list[str]:
    """The groups of the thing named: its last noun, and the one before where the last is but its label or text."""
    nouns = list(chunk.nouns)
    if chunk.ids and chunk.ids[-1] not in lexicon().kind_of:
        return [chunk.ids[-1]]  # an element may be a thing the lexicon has no word for
    if not nouns:
        return []
    heads = [nouns[-1]]
    if nouns[-1] in _COLLECTIONS | {"label", "text", "thing", "region"} and len(nouns) > 1:
        heads.append(nouns[-2])
    return heads


def _after_to(sentence: Sentence, chunk: Chunk) -> bool:
    """Whether the phrase is what the thing answers to or is for ("the answer to the first question")."""
    return any(
        sentence.tokens[k].raw in ("to", "for") and sentence.tokens[k - 1].raw not in ("next", "close")
        for k in range(max(0, chunk.start - 3), chunk.start)
    )


def _sign(
    operator: str, direction: str, old: str, new: str, old_colors: tuple[Oklch, ...], new_colors: tuple[Oklch, ...]
) -> str:
    """``+``, ``-`` or ``~`` (unknown) of the change, from the values where they can be measured, else from the direction."""
    if operator == "color":
        if old_colors and new_colors:
            step = new_colors[0].l - old_colors[0].l
            return "~" if abs(step) < _LIGHT_STEP else "+" if step > 0 else "-"
        words = direction.casefold()
        return "+" if "light" in words else "-" if "dark" in words else "~"
    if operator in ("text", "gradient", "justify", "position"):
        return "~"
    before, after = measure(operator, old), measure(operator, new)
    if before is not None and after is not None and before != after:
        return "+" if after > before else "-"
    signs = vocabulary("operators")["sign"]
    words = direction.casefold().strip()
    if words in signs["plus"]:
        return "+"
    return "-" if words in signs["minus"] else "~"


def measure(operator: str, value: str) -> float | None:
    """A CSS value or a named step of a style scale as a number."""
    value = value.strip().casefold()
    scales = vocabulary("operators")["scale"]
    scale = {
        "font_weight": "weight",
        "font_size": "size",
        "letter_spacing": "tracking",
        "line_height": "leading",
        "rounded": "rounded",
    }.get(operator)
    last = value.rsplit("-", 1)[-1] if not value.startswith("-") else value
    if scale and last in scales[scale] and not (operator == "letter_spacing" and value == "normal"):
        step = float(scales[scale].index(last))
        return (step + 1) * 100 if scale == "weight" else step
    if operator == "letter_spacing" and value == "normal":
        return 0.0
    if operator == "border" and ("none" in value or "hidden" in value):
        return 0.0
    found = _NUMBER.search(value)
    if not found:
        return None
    number = float(found.group())
    if value.endswith("%") and operator == "opacity":
        number /= 100
    return number


def vector(record: Record) -> tuple[float, float]:
    """The move of a position record in pixels, right and down; (0, 0) if unknown."""

    def parts(value: str) -> tuple[float, float]:
        text = value.casefold()
        numbers = [float(n) for n in _NUMBER.findall(re.sub(r"translate[xyz3d]*", "", text))]
        if "translatey" in text:
            return 0.0, numbers[0] if numbers else 0.0
        if "matrix(" in text and len(numbers) == 6:
            return numbers[4], numbers[5]
        return (numbers[0] if numbers else 0.0), (numbers[1] if len(numbers) > 1 else 0.0)

    if record.property in ("top", "bottom", "left", "right", "margin-left", "margin-top"):
        step = parts(record.new)[0] - parts(record.old)[0]
        step = -step if record.property in ("bottom", "right") else step
        return (0.0, step) if record.property in ("top", "bottom", "margin-top") else (step, 0.0)
    (x0, y0), (x1, y1) = parts(record.old), parts(record.new)
    x, y = x1 - x0, y1 - y0
    if not x and not y:
        words = record.direction
        x = ("right" in words) - ("left" in words)
        y = (("down" in words) or ("lower" in words)) - (("up" in words) or ("higher" in words))
    return float(x), float(y)
