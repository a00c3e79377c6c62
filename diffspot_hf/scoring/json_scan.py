"""Finds JSON in prose, and reads it with the few repairs that models' JSON needs.

Repairs, these and no others: trailing commas, ``//`` and ``/* */`` comments outside strings, single-quoted strings,
``None`` ``True`` ``False``, ``NaN`` and ``Infinity``, raw line breaks and tabs inside strings, any whitespace.
A repeated key keeps its last value. There is no recursion, so nesting cannot exhaust the stack, and the total work
is bounded by a multiple of the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 100  # our choice: a real answer nests about six deep
_WORK_PER_CHARACTER = 4  # our choice: prose needs about one

_SPACE = re.compile(r"\s*")
_OPENER = re.compile(r"""[\[{](?!(?<=".)"(?!\w)|(?<='.)'(?!\w))""")  # but not "{", which is prose about a brace
_BODY = {
    '"': re.compile(r'(?:[^"\\\x00-\x08\x0b\x0c\x0e-\x1f]++|\\.)*+', re.DOTALL),
    "'": re.compile(r"(?:[^'\\\x00-\x08\x0b\x0c\x0e-\x1f]++|\\.)*+", re.DOTALL),
}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d++)?(?![\w.])", re.ASCII)
_WORD = re.compile(r"-?[A-Za-z]++")
_WORDS: dict[str, Any] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}


@dataclass(frozen=True)
class Found:
    """A list or object of the text: `text[start:end]`, read as `value`.

    If the text ended inside it, `open` names the containers that were not closed, the outermost first, each with the
    key whose value was being read ("" in a list). They hold their complete members only. Otherwise `open` is empty.
    `enclosed`: it stands within braces that are not JSON, as in ``{issues: [1]}``.
    """

    start: int
    end: int
    value: Any
    open: tuple[tuple[Any, str], ...] = ()
    enclosed: bool = False


class _Broken(Exception):
    """Not JSON from `at` on."""

    def __init__(self, at: int) -> None:
        self.at = at


class _TextEnds(Exception):
    pass


class _TooDeep(Exception):
    pass


def find_json(text: str) -> Iterator[Found]:
    """The outermost lists and objects of `text`, in order; what lies inside their strings is never searched.

    One that the text leaves open comes last. Past `MAX_DEPTH` the search ends.

    >>> [found.value for found in find_json("so {'x': None} and [true, 'y',]")]
    [{'x': None}, [True, 'y']]
    """
    position, budget = 0, _WORK_PER_CHARACTER * len(text) + 1000
    braces = 0  # opened by what is not JSON, and not closed yet
    while budget > 0 and (opener := _OPENER.search(text, position)):
        braces = max(0, braces - text.count("}", position, opener.start()))
        reader = _Reader(text, opener.start())
        try:
            end = reader.read()
        except _TooDeep:
            return
        except _Broken as broken:
            # A brace of prose hides nothing. JSON that breaks has swallowed what stands before the break.
            budget -= broken.at - position + 1
            position = max(broken.at, opener.end()) if reader.plausible else opener.end()
            opened = reader.stack if reader.plausible else reader.stack[:1]
            braces += sum(isinstance(container, dict) for container in opened)
        except _TextEnds:
            budget -= len(text) - position
            position = opener.end()
            if reader.plausible:
                left_open = tuple(zip(reader.stack, reader.keys, strict=True))
                yield Found(opener.start(), len(text), reader.outermost, left_open, braces > 0)
                return
            braces += opener.group() == "{"
        else:
            yield Found(opener.start(), end, reader.outermost, enclosed=braces > 0)
            budget -= end - position
            position = end


class _Reader:
    """Reads the one container that begins at `start`."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.at = start
        self.outermost: Any = None
        self.stack: list[Any] = []
        self.keys: list[str] = []
        self.plausible = False  # a member has begun: this is JSON, not a bracket of prose

    def read(self) -> int:
        """The position after the container; its value is `outermost`. Raises `_Broken`, `_TextEnds`, `_TooDeep`."""
        self.open()
        while self.stack:
            if self.next() in "]}":
                self.close()
                continue
            if isinstance(self.stack[-1], dict):
                self.keys[-1] = self.string()
                self.take(":")
                self.plausible = True
            if self.next() in "[{":
                self.open()
                continue
            self.add(self.scalar())
            self.separator()
        return self.at

    def next(self) -> str:
        """The next character that is neither whitespace nor comment."""
        text = self.text
        while True:
            self.at = _SPACE.match(text, self.at).end()  # type: ignore[union-attr]  # matches the empty string
            if text.startswith("//", self.at):
                end = text.find("\n", self.at)
            elif text.startswith("/*", self.at):
                end = text.find("*/", self.at + 2) + 2
            else:
                break
            self.at = end if end > self.at else len(text)
        if self.at >= len(text):
            raise _TextEnds
        return text[self.at]

    def take(self, wanted: str) -> None:
        if self.next() != wanted:
            raise _Broken(self.at)
        self.at += 1

    def open(self) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise _TooDeep
        self.stack.append({} if self.text[self.at] == "{" else [])
        self.keys.append("")
        self.outermost = self.stack[0]
        self.at += 1

    def close(self) -> None:
        self.take("}" if isinstance(self.stack[-1], dict) else "]")
        value = self.stack.pop()
        self.keys.pop()
        if self.stack:
            self.add(value)
            self.separator()

    def add(self, value: Any) -> None:
        self.plausible = True
        container = self.stack[-1]
        if isinstance(container, dict):
            container[self.keys[-1]] = value
        else:
            container.append(value)

    def separator(self) -> None:
        """Steps over the comma after a member; before a closing bracket there may be none."""
        if self.next() not in "]}":
            self.take(",")

    def scalar(self) -> Any:
        if self.text[self.at] in _BODY:
            self.plausible = True
            return self.string()
        if match := _NUMBER.match(self.text, self.at):
            value: Any = float(match.group())
        elif (match := _WORD.match(self.text, self.at)) and match.group() in _WORDS:
            value = _WORDS[match.group()]
        else:
            cut = match is not None and match.end() == len(self.text) and self.plausible
            raise _TextEnds if cut else _Broken(self.at)
        if match.end() == len(self.text):  # 0.1 may have been going to be 0.15
            raise _TextEnds
        self.at = match.end()
        return value

    def string(self) -> str:
        quote, start = self.text[self.at], self.at + 1
        if quote not in _BODY:
            raise _Broken(self.at)
        end = _BODY[quote].match(self.text, start).end()  # type: ignore[union-attr]  # matches the empty string
        if end == len(self.text) or self.text[end:] == "\\":
            raise _TextEnds
        if self.text[end] != quote:
            raise _Broken(end)
        self.at = end + 1
        raw = self.text[start:end]

        def unescape(escape: re.Match[str]) -> str:
            what = escape.group(1)
            if len(what) == 5:
                return chr(int(what[1:], 16))
            if what == "'" == quote:
                return what
            if what not in _ESCAPES:
                raise _Broken(start + escape.start())
            return _ESCAPES[what]

        return _SURROGATES.sub(_joined, _ESCAPE.sub(unescape, raw) if "\\" in raw else raw)


def _joined(surrogates: re.Match[str]) -> str:
    """The character of a surrogate pair; U+FFFD for half of one, which no file could store."""
    return surrogates.group().encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
