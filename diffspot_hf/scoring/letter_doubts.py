"""Words that take a letter back: nobody would choose it, it is the trap, another is likelier, the writer doubts it.

English only, and read from the raw text. Where these patterns say too much, a reply costs its letter, no more.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from . import answer_words as words
from .letter_tokens import Token

_LONGEST = 160  # characters looked at on either side of a letter (our choice): keeps the reading linear
_ON = r"(?:(?!\b(?:so|therefore|thus|hence|but|because|since|instead)\b)[^.!?;,\n]){0,60}$"  # the clause goes on
_NOUN = r"(?:answer|option|choice|one|letter|statement|guess|pick|response|candidate|description|alternative)"
_VERB = (
    r"(?:choose|chose|pick|select|say|said|think|thought|believe|answer|guess|go|take|vote|call|argue|claim|opt"
    r"|consider|accept|defend|prefer|want|trust|suggest|agree|support|indicate|favou?r|back|confirm)s?"
)
_IS = r"(?:is|was|are|were|be|being|seems|looks|appears|remains)"
_DISMISSED = re.compile(
    r"\b(?:nobody|no[ -]one|none|nothing|(?:hardly|scarcely|barely) any(?:one|body)|few(?: (?:of )?\w+)?)"
    rf"(?: \w+){{0,3}} {_VERB}\b{_ON}"
    r"|\b(?:(?:some|many|most|others)(?: (?:of )?(?!likely|probably)\w+)? (?:might|may|could|would|will|often)"
    r"|(?:some|many|most|an?|any|one)(?: \w+)? (?:people|(?:person|reader|viewer|observer|human|model|student)s?)"
    rf"(?: (?:might|may|could|would|will|can))?) {_VERB}\b{_ON}"
    rf"|\b(?:tempted|temptation|tempting) to\b{_ON}"
    rf"|\bhard(?:er|ly)? (?:to |possible to )?(?:say|believe|see|accept|argue|justify|defend)\b{_ON}"
    r"|\b(?:rul(?:e[sd]?|ing) out|(?:exclud|eliminat|dismiss|reject|discard|discount)(?:e[sd]?|ing|ed|s)?"
    r"|cross(?:ed|ing)? out|disregard(?:ed|ing)?|avoid(?:ed|ing)?|beware(?: of)?)"
    rf"(?: (?:the|any|my|possibility|idea|that|of|it|is|being|{_NOUN}))*[ (\[\"'“‘]*$"
    r"|(?:^|[.!?\n]\s*|\b(?:the|a|an|my|this|that|another) (?:most |very |only |single )?)"
    r"(?:(?<!at )least(?: \w+)?|worst|weakest|poorest|trap|decoy|distractor|wrong|incorrect|false|unlikel(?:y|iest)"
    r"|implausible|improbable|impossible|tempting|excluded|eliminated|rejected|discarded|dismissed|ruled[ -]out)"
    rf"(?: {_NOUN})?(?: (?:here|now|for me|of (?:all|them|these)|in my \w+))*"
    rf"(?: (?:would|must|should|will|might|may|could))?(?: {_IS}|\s*[:=–—-])+"
    rf"(?: (?:clearly|probably|surely|obviously|definitely|certainly|the|{_NOUN}))*\W*$"
    r"|\b(?:answer|solution|key|verdict|choice)\b(?: \w+){0,2}"
    r"(?: (?:not|never)(?: \w+)? (?:available|given|known|provided|clear|shown|listed|found|certain|possible|visible)"
    r"|(?:n't|n’t) (?:available|given|known|provided|clear|shown|listed)| un(?:available|known|clear|certain)"
    r"| missing| withheld)\b[^.!?\n]{0,20}\W$",
    re.IGNORECASE,
)
_CONTRAST = r"(?:but|although|though|however|yet|while|whilst|whereas|nevertheless|nonetheless|that said|then again)"
_CONTRASTED = re.compile(
    rf"[^.!?\n]*?\b{_CONTRAST}\b|[^.!?\n]*[.!?\n]+\s*(?:but|however|yet|though|nevertheless|that said|then again)\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"(?:\b(?:not|never|hardly|far from|less than)|n['’]t|\bcannot)(?: \w+){0,3} "
    r"(?:convinced|sure|certain|confident|persuaded|happy|satisfied|tell|know|rule out)\b"
    r"|\b(?:unsure|uncertain|unconvinced|no idea)\b|(?<!no )(?<!without )(?<!without a )\bdoubts?\b"
    r"|\b(?:only|just|merely|pure) (?:a |my )?guess",
    re.IGNORECASE,
)
_LESSER = re.compile(
    r"(?:(?:,|,? and|,? or) [A-Z]\b)*(?: \w+){0,2} (?<!not )(?<!no )"
    r"(?:wrong|incorrect|false|tempting|attractive|close|less|worse|weaker|second|lacks?|misses|ignores"
    r"|contradicts|fails)\b",
    re.IGNORECASE,
)
_LIKELIER = re.compile(
    r"(?: (?!not\b|no\b|never\b)\w+){1,4} (?:better|likelier|superior|stronger|closer"
    r"|more (?:likely|convincing|plausible|accurate|probable|fitting|correct|precise|persuasive))\b(?! than)",
    re.IGNORECASE,
)
_WOULD = re.compile(r"\bwould (?:be|mean|make)\b[^.!?,\n]*$", re.IGNORECASE)
_NOT_BEFORE = re.compile(
    r"\b(?:not|never|no|nor|neither|unlike|rather than|instead of|without|except)\b[^,;:]*$|n['’]t\b[^,;:]*$",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"(?:\bno (?:image|picture|photo)s?\b(?: \w+){0,3} (?:provided|attached|visible|available|given|received)\b"
    r"|\b(?:can(?:not|['’]t)|(?:un|not )able to|won['’]t|could ?n['’]t)(?: \w+)? (?:help(?! but)|assist|comply|answer"
    r"|process|(?:see|view|look at|access|open|load|analy[sz]e|compare) (?:\w+ )?(?:image|picture|photo)s?)\b)"
    r"[^.!?\n]{0,60}[.!?\n]\W*(?:option|choice|letter)?\W*$",
    re.IGNORECASE,
)


def refused(text: str, start: int) -> bool:
    """True if the sentence before the letter at `start` declines the task.

    >>> refused("I can't help with that. E", 24)
    True
    """
    return _REFUSED.search(text[max(0, start - _LONGEST) : start]) is not None


def dismissed(text: str, start: int) -> bool:
    """True if the clause before the letter at `start` sets it aside: "nobody would choose", "the least plausible is".

    >>> dismissed("I can rule out option D", 22), dismissed("I can rule out option A. Answer: D", 33)
    (True, False)
    """
    return _DISMISSED.search(text[max(0, start - _LONGEST) : start]) is not None


def taken_back(text: str, tokens: Sequence[Token], end: int, letter: str, denied: Collection[tuple[str, int]]) -> bool:
    """True if what follows the answer `letter`, which ends at `end`, doubts it or puts another letter above it.

    `denied` are the letters that the reply calls wrong, each with its place: no rivals.
    """
    tail = text[end : end + _LONGEST]
    contrast = _CONTRASTED.match(tail)
    clause = re.match(r"[^.!?\n]*", tail[contrast.end() :]) if contrast else None
    if clause and _DOUBT.search(clause.group()):
        return True
    if clause and _WOULD.search(text[max(0, end - 40) : end]) and _NOT_BEFORE.search(clause.group()):
        return True
    limit = end + contrast.end() + clause.end() if contrast and clause else end
    for at, token in enumerate(tokens):
        if token.start >= end + _LONGEST:
            break
        rival = token.kind == "letter" and token.text.isupper() and token.text not in (letter, "I")
        if token.start < end or not rival or (token.text, token.start) in denied:
            continue
        if (at and tokens[at - 1].text in words.PICTURE_WORDS) or dismissed(text, token.start):
            continue
        said = text[token.end : token.end + _LONGEST // 2]
        if _LIKELIER.match(said):
            return True
        if contrast and end + contrast.end() <= token.start < limit:
            between = text[end + contrast.end() : token.start]
            if not _NOT_BEFORE.search(between) and not _LESSER.match(said):
                return True
    return False
