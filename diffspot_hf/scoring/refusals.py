"""Tells a reply that declines the task from one that reports, in prose, what it saw or that it saw nothing."""

from __future__ import annotations

import re

_WHO = r"\b(?:i|we)(?:'(?:m|re|ll|d|ve))?(?: \w+){0,4}?"
_START = r"^\W*(?:(?:sorry|unfortunately|regrettably|apologies|no|currently|still)\W+){0,3}"
_PICTURES = r"(?:images?|pictures?|screens?|screenshots?|photos?|attachments?|files?|uploads?|visuals?)"
_INPUT = (
    r"^\W*(?:(?:unfortunately|sorry|but|however|it|seems?|looks?|appears?|like|that|because|since|as|i think)\W+)*"
    r"(?:(?:the|both|your|these|those|any|either|one|of|two|input|attached|provided|requested)\W+)*"
    r"(?:images|pictures|screenshots?|photos|attachments?|files?|uploads?)"
)
_CANNOT = (
    r"(?:can(?:no|')t|can not|could(?: not|n't)|unable|not able|not allowed|not permitted|(?:will|would|do|did) not"
    r"|won't|wouldn't|don't|didn't|not (?:going|willing))"
)
_LOOK = (
    r"(?:see|find|spot|detect|identify|notice|observe|perceive|discern|make out|tell|locate|recogni[sz]e|view|access"
    r"|open|load|read)"
)
_DO = (
    r"(?:help|assist|compare|complete|comply|perform|process|analy[sz]e|review|provide|answer|determine|evaluate|inspect"
    r"|examine|fulfil+|continue|do (?:this|that|it|so)|respond|judge|assess|describe|engage|carry out|support|handle)"
)
_DONE = (
    r"(?:seen|viewed|opened|loaded|compared|analy[sz]ed|processed|accessed|displayed|read|decoded|rendered|completed"
    r"|performed|done|answered|fulfilled|evaluated|retrieved)"
)
_FOUND_NOTHING = re.compile(
    rf"\b{_CANNOT}(?: \w+){{0,2}}? {_LOOK}\b.*(?:difference|issue|defect|change|discrepanc|deviation|problem|mismatch"
    r"|bug|error|flaw|wrong|anything|distinction|inconsisten|visual regression)",
    re.IGNORECASE,
)
_DECLINES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_WHO} ?{_CANNOT}(?: \w+){{0,3}}? {_DO}\b",
        rf"{_WHO} ?{_CANNOT}(?: \w+){{0,2}}? {_LOOK}(?: \w+){{0,4}}? (?:{_PICTURES}|them|either|it)\b",
        rf"{_WHO} ?(?:can't|cannot|won't|decline|refuse)(?: to| that| it| this|,? sorry)?\W*$",
        rf"{_WHO} ?(?:decline|refuse) (?:to|this|that|the)\b",
        rf"{_START}(?:unable|not able|can't|cannot|won't)(?: \w+){{0,2}}? (?:{_DO}|{_LOOK})\b",
        rf"{_WHO} ?(?:have|had|lack|without)(?:n't)?(?: \w+){{0,3}}? "
        r"(?:access|ability|abilities|way|means|vision|capability)\b",
        rf"{_WHO} ?(?:don't|do not|didn't|did not|haven't|have not) "
        rf"(?:have|receive|received|get|got|see)(?: \w+){{0,4}}? {_PICTURES}\b",
        rf"{_INPUT}(?: \w+){{0,3}} ?(?:not|n't|cannot|can't|never)(?: \w+){{0,3}}? (?:{_DONE}|load|render|provided"
        r"|attached|visible|available|accessible|come through|arrive|upload|included|open|readable|supported|reach)\b",
        rf"{_INPUT} (?:is|are|was|were|seems?|appears?|looks?)(?: to be)? "
        r"(?:missing|broken|corrupt|unavailable|inaccessible|blank|empty|(?:\w+ )?too \w+ to)\b",
        r"\byou (?:did not|didn't|have not|haven't|forgot to) (?:\w+ )?(?:attach|provide|upload|includ|send|share)",
        rf"{_WHO} ?(?:was|were|have been|am|'ve been) (?:not|never) (?:given|provided|shown|sent)\b",
        rf"\bonly (?:\w+ )?(?:one|1|a single) {_PICTURES}\b|\bonly (?:one|1) of the (?:\w+ )?{_PICTURES}\b",
        rf"\bno (?:\w+ ){{0,2}}{_PICTURES} (?:\w+ ){{0,2}}?"
        r"(?:provided|attached|given|uploaded|included|received|supplied|found in)",
        rf"{_START}(?:no|missing) (?:\w+ )?{_PICTURES}\W*$",
        rf"\bplease (?:\w+ )?(?:provide|upload|attach|share|send|resend)(?: \w+){{0,4}} {_PICTURES}",
        r"\b(?:task|request|comparison|question|analysis|instruction)s? (?:cannot|can't|could not|can not) be\b",
        rf"\b(?:not possible|impossible) (?:for (?:me|us) |(?:to )?{_DO}\\b|without )",
        r"\bas an? (?:\w+ )?(?:ai|language model|assistant|text)\b",
        r"\b(?:task|request|comparison|analysis) (?:is|was)(?: not|n't) (?:possible|supported|allowed)\b",
        r"\b(?:against|violates?|outside) (?:\w+ ){0,3}(?:polic|guideline|terms|capabilit)|\bsafety (?:filter|polic)",
        r"\bi(?:'m| am) (?:\w+ ){0,2}sorry\b|\bi apologi[sz]e\b|\bmy apologies\b",
        # German, French, Spanish, Italian, Portuguese, Dutch
        r"\bich kann\b.*\b(?:nicht|keine|leider)\b.*"
        r"\b(?:helfen|vergleichen|sehen|anzeigen|bearbeiten|beurteilen|öffnen|ausführen)",
        r"\b(?:tut mir leid|nicht in der lage|keine (?:bilder|screenshots))\b",
        r"\bje ne (?:peux|puis|suis|vois) pas\b|\bdésolée?\b|\baucune image\b",
        r"\b(?:lo siento|no puedo|no soy capaz|no se (?:proporcion|adjunt)\w+)\b",
        r"\b(?:mi dispiace|non posso|non sono in grado|não posso|não consigo|desculpe|lamento)\b",
        r"\bik kan\b.*\b(?:niet|geen)\b.*\b(?:helpen|vergelijken|zien|bekijken)|\bhet spijt me\b",
        # Russian, Chinese, Japanese, Korean
        r"не (?:могу|вижу изображ)|извините|к сожалению",
        r"抱歉|对不起|對不起|无法|無法|不能(?:帮|查看|比较|处理|完成)|没有(?:收到|看到|提供)?(?:任何)?(?:图|圖)",
        r"申し訳|できません|ごめんなさい|画像が(?:見えません|ありません|添付されていません)",
        r"죄송|할 수 없|볼 수 없|이미지가 없",
    )
]
_FOUND_NOTHING_ELSEWHERE = re.compile(
    r"(?:unterschied|mängel|fehler|différence|diferencia|diferença|differenz|verschil|отличи|различи"
    r"|(?:看到|看出|发现|找到|發現|識別|识别)[^,，]{0,8}(?:差异|差異|区别|不同|问题)|違い|差は|차이|문제)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.!?;:\n。！？；]+|,? (?:but|so)\b", re.IGNORECASE)
# Our choices; they keep the search linear, and a refusal stands at one end of a reply.
_LONGEST_CLAUSE, _LONGEST_END = 400, 2000


def is_refusal(prose: str) -> bool:
    """True if `prose` declines, or says that the task cannot be done or the pictures cannot be seen.

    The clause decides: "I cannot see any difference" is a finding, and so is "the icon is not visible".

    >>> is_refusal("I'm sorry, but I can't compare these images.")
    True
    >>> is_refusal("I cannot see any difference between the two images.")
    False
    """
    text = prose.replace("’", "'")
    if len(text) > 2 * _LONGEST_END:
        text = text[:_LONGEST_END] + "\n" + text[-_LONGEST_END:]
    for clause in _CLAUSE.split(text):
        clause = " ".join(clause[:_LONGEST_CLAUSE].split())
        if _FOUND_NOTHING.search(clause) or _FOUND_NOTHING_ELSEWHERE.search(clause):
            continue
        if any(pattern.search(clause) for pattern in _DECLINES):
            return True
    return False
