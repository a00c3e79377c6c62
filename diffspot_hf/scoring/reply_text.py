"""What of a reply is meant for the reader: thinking blocks, chat markers and invisible characters set aside."""

from __future__ import annotations

import re
from collections.abc import Iterable

_THINK_OPEN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THINK_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_MARKER = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|</?s>|<(?:eos|bos|pad|(?:start|end)_of_turn)>|\[/?INST\]",
    re.IGNORECASE,
)
# Soft hyphen, zero-width characters, direction marks, word joiners and the byte-order mark: format without a shape.
_INVISIBLE = dict.fromkeys(
    [0x00AD, 0x180E, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065)]
)


def outside_thinking(reply: str, quoted: Iterable[tuple[int, int]] = ()) -> tuple[str, bool]:
    """The part of `reply` outside thinking, and whether a thinking block was opened and never closed.

    Everything up to the last closing tag goes, also when no opening tag is there (chat templates often supply it).
    A tag between the positions (start, end) of `quoted` is text.

    >>> outside_thinking("<think>hm</think>B")
    ('B', False)
    >>> outside_thinking("So far: <think>hm")
    ('So far: ', True)
    """
    if not (_THINK_OPEN.search(reply) or _THINK_CLOSE.search(reply)):
        return reply, False
    characters = list(reply)
    for begin, end in quoted:
        characters[begin:end] = " " * (end - begin)
    searched = "".join(characters)
    start = 0
    for close in _THINK_CLOSE.finditer(searched):
        start = close.end()
    opened = _THINK_OPEN.search(searched, start)
    return (reply[start : opened.start()], True) if opened else (reply[start:], False)


def without_markers(text: str) -> str:
    """`text` without chat-template markers, byte-order marks and zero-width characters.

    >>> without_markers("\\ufeffB<|im_end|></s>")
    'B'
    """
    return _MARKER.sub("", text.translate(_INVISIBLE))


def is_blank(text: str) -> bool:
    """True if nothing is left for a reader: whitespace, markers and invisible characters only."""
    return not without_markers(text).strip()
