"""Words around a quoted option text that keep it from being an answer: it is denied, asked, supposed or only reported.

Mostly English, and read from the raw text. Where these patterns say too much, a reply costs its letter, no more.
"""

from __future__ import annotations

import re
from typing import Literal

from . import answer_words as words

_BEFORE = re.compile(
    r"(?:\b(?:not|no|never|cannot|can't|isn't|wasn't|don't|doesn't|didn't|neither|nor|hardly|false|wrong|incorrect"
    r"|unlikely|implausible|impossible|untrue|whether|if|unless|doubt|unsure|suppos\w+|imagin\w+|assum\w+|wonder\w*"
    r"|eg|for (?:example|instance)|such as|contrary to|rather than|instead of|unlike|reject\w*|dismiss\w*|exclud\w*"
    r"|eliminat\w*|rul(?:e[sd]?|ing) out|den(?:y|ies|ied)|contradict\w*|claims?|says?|claiming|saying|at first"
    r"|according to (?:\w+ )?\W?[A-Z]|disagree\w*"
    r"|(?:one|some|some(?:one|body)|you|people|many|few) (?:\w+ )?(?:might|may|could|would|can)"
    r"|nicht|ob|kein|falsch|pas|non|não|niet)\b|没有|不是|不)[^.!?;:\n]*$"
    r"|\beither\b[^.!?;:\n]*$|\b(?:or|oder|ou|o)\W{1,3}$"
    r"|\b(?:claim|say|state|read|suggest|assert|describe|consider|check|verify)(?:s|ing)?(?: that)?\W{0,3}$",
    re.IGNORECASE,
)
_END = r"^[\"'”’.()\[\]\s,–—:=>→⇒-]*"
_THAT = r"(?:this|that|it|which)(?: (?:statement|claim|option|one|answer))?"
_IS = r"(?:'s| ?(?:is|was|seems|looks|(?:would|can|could|must|may|might) be))"
_VERY = r"(?: (?:also|clearly|simply|just|obviously|definitely|certainly|therefore|probably|completely))*"
_FALSE = (
    r"(?:(?:wrong|false|incorrect|untrue|inaccurate|mistaken|misleading|impossible|unsupported|contradicted|refuted"
    r"|disproved|rejected|dismissed|excluded|eliminated|ruled out)\b|[✗✘❌❎✕×])"
)
_SO = r"(?:true|correct|right|accurate|supported|valid|observed|the case|so|what)\b"
_NEVER = r"(?:isn't|wasn't|cannot be|can't be|could not be|couldn't be)"
_REFUTED = re.compile(
    rf"{_END}(?:\?\W*(?:no|nope|not|never)\b|(?:no|nope)(?=[.,;!)]|\W*$|\W*(?:it|this|that|there)\b)"
    rf"|(?:hmm+|wait|or is it)\b|i (?:disagree|doubt)\b|(?:(?:{_THAT})?{_IS}{_VERY} )?{_FALSE}"
    rf"|(?:(?:{_THAT})?{_IS}{_VERY} )?not {_SO}|(?:{_THAT} )?{_NEVER} {_SO})",
    re.IGNORECASE,
)
_DOUBTFUL = re.compile(
    rf"{_END}(?:\?(?!\W*yes\b(?![^.!?]*\bboth\b))|(?:(?:is|was|seems|looks) )?(?:also )?not\b|\w+n't\b"
    r"|(?:does|could|would|can|might|may) ?not\b|no\b|but\b|however\b|is what\b"
    r"|(?:this|that|which) is what (?:option |statement )?[A-Z]\b|according to\b|or\b"
    r"|(?:\w+ ){0,2}in both\b|in (?:image|picture|photo) \w+ and\b|i(?:'m| am) (?:not |un)(?:\w+ )?(?:sure|certain)\b)",
    re.IGNORECASE,
)
_NEXT_WORD = re.compile(r"[\"'”’]?\s+([a-z]+)", re.IGNORECASE)


def denied_before(text: str) -> bool:
    """True if `text`, which stands before a quoted option, denies it, supposes it or reports it as another's.

    >>> denied_before("I doubt that "), denied_before("Not the mug: ")
    (True, False)
    """
    return _BEFORE.search(text) is not None


def taken_after(text: str) -> Literal["refuted", "doubtful", ""]:
    """What `text`, which follows a quoted option, makes of it: calls it false, leaves it in doubt, or lets it stand.

    >>> taken_after(". That is not true."), taken_after("? I see it."), taken_after(", as the left one shows.")
    ('refuted', 'doubtful', '')
    """
    if _REFUTED.search(text):
        return "refuted"
    goes_on = _NEXT_WORD.match(text)
    if _DOUBTFUL.search(text) or (goes_on and goes_on.group(1).lower() not in words.AFTER_TEXT):
        return "doubtful"
    return ""
