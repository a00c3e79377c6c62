"""From a raw reply to its statements: what a reader sees of it, cut into the units that can claim something.

Thinking, markup and data formats go; bullets, table rows, "Before: … After: …" pairs and labelled records
("Element: … Change: …") each become one statement. Works in one pass; every pattern is bounded, so time is linear.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

HEAD, TAIL = 60_000, 20_000
"""Characters read of an enormous reply, from its start and from its end (our choice: no ordinary reply is as long)."""
LONGEST = 600
"""Characters of one statement; a longer one is cut (our choice)."""

_THINK = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|reflection)>", re.I)
_CHAT = re.compile(r"<\|[a-z_]{1,20}\|>|</?s>|[\ufeff\u200b\u200c\u200d\u2060]", re.I)
_ANSWER = re.compile(r"</?(?:answer|final|response|output|result)>", re.I)
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]{0,10})(?:\s[^<>]{0,300})?/?>", re.I)
_INLINE = frozenset({"b", "strong", "i", "em", "u", "span", "a", "code", "mark", "small", "sup", "sub", "font"})
_FENCE = re.compile(r"^\s*```[\w-]*\s*$", re.M)
_BULLET = re.compile(r"(?:[-*•‣◦·–—+▪●○]|>|\(?\d{1,3}[.)、:](?!\d)|\(?[a-zA-Z][)](?=\s)|[①-⑳])\s*(?=\S)")
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*$")
_RULE = re.compile(r"[-=*_|:\s]{3,}$")
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)|~~")
_SENTENCE = re.compile(r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\bcf\.)(?<!\betc\.)[\"'”’)]{0,2}\s+|(?<=[。！？])\s*")
_PIC = r"(?:image|img|screenshot|picture|version|page|screen|snapshot|bild|imagen|captura|capture|画像|图像|图片|图|截图)"
_SIDE = re.compile(
    rf"(?:in\s|the\s|im\s)?(?:(?i:{_PIC})\s*[#(]?(?P<l>[AB12])\)?|(?P<o>(?i:before|after|original|modified|old|new|then|now|previous|current|vorher|nachher|antes|después|avant|après|之前|之后|変更前|変更後))"
    rf"(?:\s(?i:{_PIC}))?|(?:the\s)?(?P<f>(?i:first|second))\s(?i:{_PIC})|(?P<s>[AB]))"
    r"(?:\s*\((?:[^()]{1,30})\))?\s*(?P<end>[:：=]|$|\s[-–—]\s)",
)
_FIRST = frozenset("A 1 before original old then previous vorher antes avant 之前 変更前 first".split())
_LABEL = re.compile(r"([A-Za-zÀ-ÿ /'’&()-]{2,40}?|[\u3040-\u9fff]{2,8})\s*[:：]\s*(.*)$")
_WHAT = frozenset({"element", "specific element", "component", "item", "target", "object", "ui element", "affected element", "元素", "要素", "elemento", "élément"})  # fmt: skip
_WHERE = frozenset({"location", "where", "position", "place", "area", "region", "section", "位置", "场所"})
_HOW = frozenset(
    {"change", "what changed", "direction", "magnitude", "description", "details", "detail", "difference", "direction/magnitude", "direction or magnitude", "direction & magnitude", "change type", "type of change", "type", "property", "effect", "observation", "nature", "change description", "visual change", "kind", "attribute", "notes", "note", "aspect", "degree", "extent", "变化", "变更", "変更", "変化", "cambio", "änderung", "changement"}  # fmt: skip
)


@dataclass(frozen=True)
class Statement:
    """One unit of a reply. Sides of the pair are marked ``§A`` and ``§B``; `context` is the heading or parent it
    stands under; `listed` says that it is a list item; `described` that it came from a per-image description; statements of one
    item share a `group`."""

    text: str
    context: str = ""
    listed: bool = False
    described: bool = False
    group: int = 0


def visible(reply: str) -> str:
    """What is left of `reply` without thinking, chat markers and byte-order marks.

    >>> visible("<think>The heading is bolder.</think>No differences.")
    'No differences.'
    >>> visible("<think>never closed")
    ''
    """
    kept = 0
    opened: int | None = None
    for tag in _THINK.finditer(reply):
        if tag[1]:
            kept, opened = tag.end(), None
        elif opened is None:
            opened = tag.start()
    text = reply[kept:opened] if opened is not None else reply[kept:]
    return _CHAT.sub(" ", text).strip()


def statements(reply: str) -> list[Statement]:
    """The statements of `reply` in reading order."""
    text = visible(reply)
    if len(text) > HEAD + TAIL:
        text = text[:HEAD] + "\n" + text[-TAIL:]
    text = unicodedata.normalize("NFKC", text.replace("…", "... ")).replace("\r\n", "\n").replace("\r", "\n")
    text = _ANSWER.sub("\n", text)
    data = _json(text)
    if data is not None:
        lines = list(_flatten(data, 0))
    else:
        text = _FENCE.sub("", text)
        text = _TAG.sub(lambda tag: "" if tag[2].lower() in _INLINE else ("\n- " if tag[2].lower() == "li" and not tag[1] else "\n"), text)
        lines = html.unescape(text).split("\n")
    return list(_sentences(_items(lines)))


def _json(text: str) -> Any | None:
    body = _FENCE.sub("", text).strip()
    if body[:1] not in ("{", "[") or body[-1:] not in ("}", "]"):
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _flatten(data: Any, depth: int) -> Iterator[str]:
    """Lines that say the same as JSON: an object of plain values is one record, everything else is walked."""
    if depth > 20:
        return
    if isinstance(data, str):
        yield "- " + " ".join(data.split())
    elif isinstance(data, list):
        for value in data:
            yield from _flatten(value, depth + 1)
    elif isinstance(data, dict):
        plain = {str(k): v for k, v in data.items() if isinstance(v, (str, int, float)) and not isinstance(v, bool)}
        nested = [v for v in data.values() if isinstance(v, (list, dict))]
        if plain and not nested:
            rank = {k: (0 if _plain(k) in _WHAT else 1 if _plain(k) in _WHERE else 2) for k in plain}
            words = [(k, " ".join(str(plain[k]).split())) for k in sorted(plain, key=lambda k: rank[k])]
            head = [w for k, w in words if rank[k] == 0]
            parts = [f"in {w}" if rank[k] == 1 else _marked(f"{k.replace('_', ' ')}: {w}") for k, w in words if rank[k]]
            yield "- " + " ; ".join([" ".join(head), *parts] if head else parts)
        else:
            yield from ("- " + " ".join(v.split()) for v in plain.values() if isinstance(v, str))
            for value in nested:
                yield from _flatten(value, depth + 1)


def _plain(label: str) -> str:
    return " ".join(label.replace("_", " ").replace("*", "").split()).lower()


def _side(text: str) -> tuple[str, str] | None:
    """("§A" or "§B", the rest) when `text` opens with the name of one side as a label."""
    found = _SIDE.match(text)
    if not found:
        return None
    name = found["l"] or found["o"] or found["f"] or found["s"] or ""
    return ("§A" if (name if len(name) == 1 else name.lower()) in _FIRST else "§B"), text[found.end() :].strip()


def _marked(text: str) -> str:
    side = _side(text)
    if side:
        return f"{side[0]} {side[1]}"
    label = _LABEL.match(text)
    return label[2] if label and _plain(label[1]) in _HOW | _WHAT | _WHERE else text


@dataclass
class _Item:
    text: str
    indent: int = 0
    listed: bool = False
    context: str = ""
    side: str | None = None
    sided: bool = False
    keys: frozenset[str] = frozenset()


def _items(lines: list[str]) -> list[_Item]:
    """Lines joined to items: nested details go to their parent, side labels to the pair they belong to."""
    items: list[_Item] = []
    header, section, columns = "", None, None
    parents: list[_Item] = []
    for line in lines:
        body = line.strip()
        if not body or _RULE.fullmatch(body):
            parents = [p for p in parents if p.listed]
            continue
        if body.startswith("|") or body.count("|") >= 2:
            columns, item = _row(body, columns)
            if item:
                items.append(item)
            continue
        columns = None
        indent = len(line) - len(line.lstrip())
        heading = _HEADING.fullmatch(body)
        bullet = None if heading or body.startswith("**") else _BULLET.match(body)
        listed = bool(bullet)
        content = heading[1] if heading else body[bullet.end() :] if bullet else body
        bold_only = content.startswith("**") and content.rstrip(":").endswith("**") and content.count("**") == 2
        content = _EMPHASIS.sub("", content).strip()
        if not heading and (number := _BULLET.match(content)) and content[0].isdigit():
            content, listed, bold_only = content[number.end() :].strip(), True, bold_only
        if not content:
            continue
        sided = _side(content)
        if sided and not sided[1]:
            section = sided[0]
            continue
        title = (heading or (bold_only and not listed)) and sided is None
        if title:
            header, section, parents = content, None, []
            items.append(_Item(content.rstrip(":"), 0, True, "", None, False, frozenset({"title"})))
            continue
        if section and sided is None:
            items.append(_Item(content, indent, listed, header, section))
            continue
        if sided:
            section = None
        _place(items, parents, content, sided, indent, listed, header)
    return items


def _place(
    items: list[_Item], parents: list[_Item], content: str, sided: tuple[str, str] | None, indent: int, listed: bool, header: str
) -> None:
    """Puts one line where it belongs: onto an open item, below its parent, or as an item of its own."""
    side = _side_of(content)
    if items and listed and side and items[-1].listed and _side_of(items[-1].text) not in (None, side) and ";" not in items[-1].text:
        items[-1].text, items[-1].sided = f"{items[-1].text} ; {content}", True
        return
    label = _LABEL.match(content)
    key = _plain(label[1]) if label else ""
    last = items[-1] if items else None
    if sided:
        text = f"{sided[0]} {sided[1]}"
        if last and (last.sided or "title" in last.keys or last.text.endswith(":") or indent > last.indent) and sided[0] not in last.text:
            last.text, last.sided = f"{last.text.rstrip(':')} ; {text}", True
            last.keys -= {"title"}
            return
        items.append(_Item(text, indent, listed, header, sided=True))
        return
    if label and key in _WHAT | _WHERE | _HOW and label[2]:
        text = f"in {label[2]}" if key in _WHERE else label[2]
        fresh = last is None or key in last.keys or not (last.keys or indent > last.indent or last.text.endswith(":"))
        if not fresh and last is not None:
            joint = " ; " if key in _HOW or last.keys & _HOW else " "
            if key in _WHAT and last.keys & _WHERE and not last.keys & _WHAT:
                last.text = f"{text} {last.text}"
            else:
                last.text = f"{last.text.rstrip(':')}{joint}{text}"
            last.keys = (last.keys - {"title"}) | {key}
            return
        items.append(_Item(text, indent, listed, header, keys=frozenset({key})))
        return
    while parents and parents[-1].indent >= indent:
        parents.pop()
    context = header
    if parents and listed:
        parent = parents[-1]
        context = parent.text.rstrip(":")
        parent.keys |= {"parent"}
    item = _Item(content, indent, listed, context)
    items.append(item)
    if listed or content.endswith(":"):
        parents.append(item)


def _row(line: str, columns: list[str] | None) -> tuple[list[str], _Item | None]:
    """The table's column names after `line`, and the row as an item (None for the header and the ruler)."""
    cells = [_EMPHASIS.sub("", cell).strip() for cell in line.strip().strip("|").split("|")]
    if columns is None:
        return cells, None
    if all(not cell or set(cell) <= set("-: ") for cell in cells):
        return columns, None
    plain, sides = [], []
    for name, cell in zip(columns + [""] * len(cells), cells, strict=False):
        side = _side(name + ":") if name else None
        if side and cell:
            sides.append(f"{side[0]} {cell}")
        elif cell and not cell.isdigit() and name not in ("#", "No.", "№"):
            plain.append(f"in {cell}" if _plain(name) in _WHERE and plain else cell)
    text = " ; ".join(filter(None, [" : ".join(plain), *sides]))
    return columns, (_Item(text, 0, True, sided=bool(sides)) if text else None)


def _sentences(items: list[_Item]) -> Iterator[Statement]:
    """Statements of the items: descriptions of the two sides are paired, prose is cut into sentences."""
    first = [i for i in items if i.side == "§A"]
    second = [i for i in items if i.side == "§B"]
    pairs = dict(_pairs(first, second)) if first and second else {}
    for number, item in enumerate(items):
        if item.side:
            if item.side == "§B":
                other = pairs.get(id(item))
                if other is not None and other.text != item.text:
                    yield Statement(f"§A {other.text[:LONGEST]} ; §B {item.text[:LONGEST]}", item.context, True, True, number)
                elif not first or other is None:
                    yield Statement(f"§B {item.text[:LONGEST]}", item.context, True, True, number)
            elif not second:
                yield Statement(f"§A {item.text[:LONGEST]}", item.context, True, True, number)
            continue
        if item.keys & {"title", "parent"} and item.text.endswith(":"):
            continue
        listed = item.listed or item.sided or bool(item.keys)
        if "title" in item.keys and number + 1 < len(items):
            yield Statement(item.text[:LONGEST], "§title", True, False, number)
            continue
        if item.sided:
            yield Statement(item.text[: 2 * LONGEST], item.context, listed, False, number)
            continue
        previous = ""
        for sentence in _whole(_SENTENCE.split(item.text)):
            for piece in _cut(sentence.strip()):
                side, before = _side_of(piece), _side_of(previous)
                if previous and side and before and side != before:
                    previous += " ; " + piece
                    continue
                if previous:
                    yield Statement(previous, item.context, listed, False, number)
                previous = piece
        if previous:
            yield Statement(previous, item.context, listed, False, number)


def _whole(pieces: list[str]) -> Iterator[str]:
    """Sentences, put together again where the cut fell inside a quotation."""
    held = ""
    for piece in pieces:
        held = f"{held} {piece}" if held else piece
        if (_open(held) and len(held) < LONGEST) and piece is not pieces[-1]:
            continue
        yield held
        held = ""
    if held:
        yield held


def _open(text: str) -> bool:
    return text.count('"') % 2 == 1 or text.count("“") > text.count("”") or len(_START.findall(text)) > len(_STOP.findall(text))


_START, _STOP = re.compile(r"(?<![\w'])'(?=\w)"), re.compile(r"(?<=[\w.!?,])'(?!\w)")
_OPENS = re.compile(rf"(?:(?:in|im|en|dans)\s)?(?:the\s)?(?:(?i:{_PIC})\s(?P<l>[AB12])\b|(?P<f>(?i:first|second|original|modified|before|after))\s(?i:{_PIC})|(?P<t>(?i:the second|the first|before|after|originally|now))\b)", re.I)  # fmt: skip


def _side_of(sentence: str) -> str | None:
    found = _OPENS.match(sentence)
    if not found:
        return None
    name = (found["l"] or found["f"] or found["t"] or "").lower().removeprefix("the ")
    return "A" if name in ("a", "1", "first", "original", "before", "originally") else "B"


def _cut(text: str) -> Iterator[str]:
    step = LONGEST if text.isascii() else LONGEST // 3  # scripts without blanks say more in a character
    for start in range(0, len(text), step):
        if piece := text[start : start + step].strip():
            yield piece


def _pairs(first: list[_Item], second: list[_Item]) -> Iterator[tuple[int, _Item]]:
    """For each item of the second description the item of the first that shares most words (at most 60 a side)."""
    words = [(item, frozenset(item.text.lower().split())) for item in first[:60]]
    for item in second[:60]:
        own = frozenset(item.text.lower().split())
        best, share = None, 0.25
        for other, theirs in words:
            overlap = len(own & theirs) / max(1, min(len(own), len(theirs)))
            if overlap > share or (overlap == share and best is None):
                best, share = other, overlap
        if best is not None:
            yield id(item), best
