"""In which state is a free-text reply? Used where the reply itself is the answer (DiffSpot)."""

from __future__ import annotations

import re

from ..types import State
from .reply_text import outside_thinking, without_markers

# A refusal declines the task or says that the pictures cannot be seen, and does so at once: further on, "the image is
# missing" is a claim about the page. "I cannot see any difference" is an answer.
_REFUSAL = re.compile(
    r"""\A\W*(?:i['’]?m\s+(?:very\s+|really\s+)?sorry|sorry|apologies|unfortunately|as\s+an\s+ai[^.]{0,80})?[\s,.:;!—-]*
    (?:but\s+)?
    (?:i\s+(?:can(?:no|['’])?t|cannot|am\s+(?:not\s+able|unable)\s+to|(?:do|does)\s*n[o'’]?t\s+have\s+the\s+ability\s+to
         |won['’]?t|will\s+not|must\s+decline\s+to)
    |i['’]m\s+(?:not\s+able|unable)\s+to)\s+
    (?:\w+ly\s+)?
    (?:assist|help|comply|fulfil+|process\s+(?:the\s+|these\s+|your\s+)?(?:image|picture|screenshot|request)
      |(?:see|view|access|open|load|display|analy[sz]e|compare|inspect|examine)\s+(?:or\s+\w+\s+)?
       (?:(?:the|these|those|any|your|two|both|actual|attached|provided|uploaded)\s+){0,3}
       (?:image|picture|screenshot|attachment|file|photo)
      |do\s+(?:that|this)|provide|answer|complete\s+(?:this|that|the)\s+(?:request|task))""",
    re.IGNORECASE | re.VERBOSE,
)


def visible_reply(text: str) -> str:
    """`text` without thinking, chat markers and invisible characters, stripped.

    >>> visible_reply("<think>hm</think> No differences."), visible_reply("<think>cut off")
    ('No differences.', '')
    """
    return without_markers(outside_thinking(text)[0]).strip()


def free_text_state(text: str, finish_reason: str = "stop") -> State:
    """``empty``, ``truncated``, ``refused``, ``error`` or ``ok`` for a free-text reply.

    `finish_reason` is the backend's: ``length`` means the token budget ran out. A reply that is nothing but an
    unfinished thought is ``truncated`` when the budget ran out, else ``empty``.

    >>> free_text_state("I'm sorry, but I can't view the images."), free_text_state("I cannot see any difference.")
    ('refused', 'ok')
    """
    if finish_reason == "error":
        return "error"
    visible = visible_reply(text)
    if finish_reason == "length":
        return "truncated"
    if finish_reason == "refusal":
        return "refused"
    if not visible:
        return "empty"
    return "refused" if _REFUSAL.match(visible) else "ok"
