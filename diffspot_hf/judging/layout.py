"""How the lines of a reply hang together: lists, labels, tables, headings, and descriptions of one image each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from .lexicon import vocabulary

_IMAGES = vocabulary("images")
_PICTURE = f"(?i:{'|'.join(_IMAGES['noun']['loose'])})"
_WHEN = f"(?i:{'|'.join(_IMAGES['a']['label'] + _IMAGES['b']['label'])})"
_FIRST = frozenset([*_IMAGES["a"]["label"], "A", "1", "first", "originally"])
_BULLET = re.compile(r"(?:[-*•‣◦·–—+▪●○]|>|\(?\d{1,3}[.)、:](?!\d)|\(?[a-zA-Z][)](?=\s)|[①-⑳])\s*(?=\S)")
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*$")
_RULE = re.compile(r"[-=*_|:\s]{3,}$")
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)|~~")
_LABEL = re.compile(r"([A-Za-zÀ-ÿ /'’&()-]{2,40}?|[\u3040-\u9fff]{2,8})\s*[:：]\s*(.*)$")
_SIDE = re.compile(
    rf"(?:in\s|the\s|im\s)?(?:{_PICTURE}\s*[#(]?(?P<letter>[AB12])\)?|(?P<when>{_WHEN})(?:\s{_PICTURE})?"
    rf"|(?:the\s)?(?P<count>(?i:first|second))\s{_PICTURE}|(?P<bare>[AB]))(?:\s*\([^()]{{1,30}}\))?\s*(?:[:：=]|$|\s[-–—]\s)"
)
_OPENS = re.compile(
    rf"(?:(?i:in|im|en|dans)\s)?(?i:the\s)?(?:{_PICTURE}\s(?P<letter>[AB12])\b"
    rf"|(?P<when>(?i:first|second|original|modified|before|after))\s{_PICTURE}"
    r"|(?P<bare>(?i:(?<=the )second|(?<=the )first|before|after|originally|now))\b)"
)


@cache
def labels() -> dict[str, frozenset[str]]:
    """The labels of records: `what` names the thing, `where` its place, `how` the change."""
    return {key: frozenset(words) for key, words in vocabulary("sameness")["label"].items()}


@dataclass
class Item:
    """One item of a reply. `side`: it describes one image only; `sided`: it sets both side by side; `keys`: labels."""

    text: str
    indent: int = 0
    listed: bool = False
    context: str = ""
    side: str | None = None
    sided: bool = False
    keys: frozenset[str] = frozenset()


def items_of(lines: list[str]) -> list[Item]:
    """Lines joined to items: nested details go to their parent, side labels to the pair they belong to."""
    items: list[Item] = []
    header, section, columns = "", None, None
    parents: list[Item] = []
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
            content, listed = content[number.end() :].strip(), True
        if not content:
            continue
        sided = _side(content)
        if sided and not sided[1]:
            section = sided[0]
            continue
        title = (heading or (bold_only and not listed)) and sided is None
        if title:
            header, section, parents = content, None, []
            items.append(Item(content.rstrip(":"), 0, True, "", None, False, frozenset({"title"})))
            continue
        if section and sided is None:
            items.append(Item(content, indent, listed, header, section))
            continue
        if sided:
            section = None
        _place(items, parents, content, sided, indent, listed, header)
    return items


def _place(
    items: list[Item],
    parents: list[Item],
    content: str,
    sided: tuple[str, str] | None,
    indent: int,
    listed: bool,
    header: str,
) -> None:
    """Puts one line where it belongs: onto an open item, below its parent, or as an item of its own."""
    side = side_of(content)
    if (
        items
        and listed
        and side
        and items[-1].listed
        and side_of(items[-1].text) not in (None, side)
        and ";" not in items[-1].text
    ):
        items[-1].text, items[-1].sided = f"{items[-1].text} ; {content}", True
        return
    label = _LABEL.match(content)
    key = plain_label(label[1]) if label else ""
    last = items[-1] if items else None
    if sided:
        text = f"{sided[0]} {sided[1]}"
        if (
            last
            and (last.sided or "title" in last.keys or last.text.endswith(":") or indent > last.indent)
            and sided[0] not in last.text
        ):
            last.text, last.sided = f"{last.text.rstrip(':')} ; {text}", True
            last.keys -= {"title"}
            return
        items.append(Item(text, indent, listed, header, sided=True))
        return
    if label and label[2] and any(key in words for words in labels().values()):
        text = f"in {label[2]}" if key in labels()["where"] else label[2]
        fresh = last is None or key in last.keys or not (last.keys or indent > last.indent or last.text.endswith(":"))
        if not fresh and last is not None:
            joint = " ; " if key in labels()["how"] or last.keys & labels()["how"] else " "
            if key in labels()["what"] and last.keys & labels()["where"] and not last.keys & labels()["what"]:
                last.text = f"{text} {last.text}"
            else:
                last.text = f"{last.text.rstrip(':')}{joint}{text}"
            last.keys = (last.keys - {"title"}) | {key}
            return
        items.append(Item(text, indent, listed, header, keys=frozenset({key})))
        return
    while parents and parents[-1].indent >= indent:
        parents.pop()
    context = header
    if parents and listed:
        parent = parents[-1]
        context = parent.text.rstrip(":")
        parent.keys |= {"parent"}
    item = Item(content, indent, listed, context)
    items.append(item)
    if listed or content.endswith(":"):
        parents.append(item)


def _row(line: str, columns: list[str] | None) -> tuple[list[str], Item | None]:
    """The table's column names after `line`, and the row as an item (None for the header and the ruler)."""
    cells = [_EMPHASIS.sub("", cell).strip() for cell in line.strip().strip("|").split("|")]
    if columns is None:
        return cells, None
    if all(not cell or set(cell) <= set("-: ") for cell in cells):
        return columns, None
    plain: list[str] = []
    sides: list[str] = []
    for name, cell in zip(columns + [""] * len(cells), cells, strict=False):
        side = _side(name + ":") if name else None
        if side and cell:
            sides.append(f"{side[0]} {cell}")
        elif cell and not cell.isdigit() and name not in ("#", "No.", "№"):
            plain.append(f"in {cell}" if plain_label(name) in labels()["where"] and plain else cell)
    text = " ; ".join(filter(None, [" : ".join(plain), *sides]))
    return columns, (Item(text, 0, True, sided=bool(sides)) if text else None)


def plain_label(label: str) -> str:
    """`label` as the vocabulary writes it.

    >>> plain_label("**What_changed**")
    'what changed'
    """
    return " ".join(label.replace("_", " ").replace("*", "").split()).lower()


def _side(text: str) -> tuple[str, str] | None:
    """("§A" or "§B", the rest) when `text` opens with the name of one side as a label."""
    found = _SIDE.match(text)
    return (_named(found), text[found.end() :].strip()) if found else None


def _named(found: re.Match[str]) -> str:
    name = next(value for value in found.groupdict().values() if value)
    return "§A" if (name if len(name) == 1 else name.lower()) in _FIRST else "§B"


def marked(text: str) -> str:
    """A line of a record without its label; sides as marks.

    >>> marked("Before: green"), marked("Change: bolder")
    ('§A green', 'bolder')
    """
    side = _side(text)
    if side:
        return f"{side[0]} {side[1]}"
    label = _LABEL.match(text)
    return label[2] if label and any(plain_label(label[1]) in words for words in labels().values()) else text


def side_of(sentence: str) -> str | None:
    """The side that a sentence opens with ("In Image A, …"), as a mark, or None."""
    found = _OPENS.match(sentence)
    return _named(found) if found else None
