"""Tells a reply that declines the task from one that reports, in prose, what it saw or that it saw nothing.

A refusal declines, or says that the pictures to be compared cannot be seen. What a reply tells of a screen is a report,
also if an apology stands before it or pictures are missing on that screen. Words and their limits are our choices.
"""

from __future__ import annotations

import re

_WHO = r"\b(?:i|we)(?:'(?:m|re|ll|d|ve))?(?: \w+){0,4}? ?"
_START = r"^\W*(?:(?:sorry|unfortunately|regrettably|apologies|no|nope|currently|still)\W+){0,3}"
_PICTURE = r"(?:images?|pictures?|screens?|screenshots?|photos?|attachments?|files?|uploads?|visuals?|visual \w+)"
_MESSAGE = r"(?:message|conversation|chat|session|request|prompt|input|query|context)"
_TASK = r"(?:task|request|comparison|question|analysis|instruction|prompt|comparing \w+)s?"
_CANNOT = (
    r"(?:can(?:no|')t|can not|could(?: not|n't)|will not|won't|unable|not (?:\w+ )?able|not in a position"
    r"|not (?:allowed|permitted|equipped|programmed|trained|designed|going|willing))"
)
_LOOK = (
    r"(?:see|find|spot|detect|identify|notice|observe|perceive|discern|make out|tell|locate|recogni[sz]e|view|access"
    r"|open|load|read|look)"
)
# "I cannot" with one of these speaks of the screens; with any other verb it declines.
_JUDGE = (
    rf"(?:{_LOOK}|be(?! \w+ing)|repeat|mention|measure|rule|confirm|verify|say|exclude|think|imagine|name|list|guess"
    r"|know|agree|quantify|distinguish|ignore|help but|recommend|click|tap|scroll|use|reach|have|and|or|that)\b"
)
_DO = (
    r"(?:help|assist|compar|complet|comply|perform|process|analy[sz]|review|provid|answer|evaluat|examin|fulfil|continu"
    r"|proceed|respond|describ|engag|support|accept|participat|discuss|comment|view|access|open)\w*"
)
_IS = r"(?:is|are|was|were|do|does|did|has|have|had|could|can|may|might|seems?|appears?|looks?|be|been|to|also|still)"
_DONE = (
    r"(?:(?:view|open|load|compar|analy[sz]|process|access|display|decod|render|retriev|provid|attach|includ|upload"
    r"|receiv|pars|download|fetch|shar|support|com|arriv|reach)(?:e?d?|ing|e through)"
    r"|seen|read|sent|given|found|supplied|visible|available|accessible|readable)\b"
    r"(?! (?:the|an?|any|its|all|some|with \w+ed)\b)"
)
_SEND = r"(?:re-?)?(?:provid|upload|attach|shar|send|includ|past|supply)(?:e|ing)?"
# The pictures of the task, not one of the pictures on a screen.
_LEAD = r"^\W*(?:(?:unfortunately|sorry|but|however|it|seems?|looks?|appears?|like|that|since|as|i think)\W+)*"
_WHOSE = (
    r"(?:(?:the|both|your|these|those|any|either|one|of|two|first|second|input|attached|provided|requested"
    r"|submitted|reference|image|screenshot)\W+)"
)


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_DECLINES = _any(
    rf"{_WHO}(?:{_CANNOT}|n't (?:think|believe)(?: that)? i can|(?:choose|programmed|instructed) not|refrain from)"
    rf"(?: to)?+(?: be able to)?+(?: \w+ly\b)?+ (?!{_JUDGE})\w",
    rf"{_WHO}(?:(?:do|did)(?: not|n't)|(?:rather|prefer) not)(?: \w+){{0,2}}? {_DO}\b|{_WHO}prefer not to\b",
    rf"{_WHO}(?:can't|cannot|won't|decline|refuse|rather not)(?: to| do)?(?: that| it| this| so|,? sorry)?\W*$",
    rf"{_WHO}(?:decline|refuse) (?:to|this|that|the)\b|{_WHO}(?:not|n't) (?:\w+ )?(?:\w+ )?comfortable\b",
    rf"{_WHO}(?:have to|must|going to|need to|will|'ll) (?:\w+ )?(?:pass|decline|refuse|refrain)\b",
    r"\bnot (?:\w+ )?(?:something|an? \w+|one|anything)(?: that| which)? (?:i|we)(?:'m|'re| am| are)? "
    r"(?:can|could|will|able|willing|allowed|perform|do)\b|\b(?:outside|beyond)(?: of)? what (?:i|we) can\b",
    rf"{_START}(?:unable|not able|can't|cannot|won't)(?: to)?(?! be)(?: \w+)? {_DO}\b",
    rf"(?:\b{_TASK}|{_START}this) (?:(?:is|was|has been) )?"
    r"(?:not (?:possible|supported|allowed)|denied|blocked|rejected)\b",
    rf"\b{_TASK} (?:cannot|can't|could not) be\b|\b(?:not possible|impossible) (?:for (?:me|us) |(?:to )?{_DO}\b)",
    r"^\W*(?:(?:the|your) )?(?:content|response|answer|output|access)(?: is| was)? (?:filtered|denied|blocked)\b",
    r"\b(?:against|violat\w+|outside|beyond)(?: of)? (?:\w+ ){0,2}?(?:my|our|content|usage|safety|community)"
    r" (?!design)(?:\w+ ){0,2}?(?:polic|guideline|terms|capabilit|scope|abilit|rules)",
    r"\b(?:guidelines|polic\w+|rules|instructions) (?:\w+ )?(?:prevent|prohibit|forbid|not allow)\w* (?:me|us)\b"
    r"|^\W*not possible\W*$",
    r"\bsafety (?:filter|polic)|\b(?:blocked|flagged|rejected) by (?:\w+ ){0,3}(?:polic|filter|system|guideline)",
)
_UNSEEN = _any(
    rf"(?:{_WHO}|{_START}){_CANNOT}(?: \w+){{0,2}}? {_LOOK}(?: \w+){{0,4}}? (?:{_PICTURE}|them|either|it)\b",
    rf"{_WHO}{_CANNOT}(?: \w+){{0,2}}? (?:see|view)(?: anything)?\W*$",
    rf"{_WHO}(?:trouble|difficulty|problems|difficulties) (?:\w+ing) (?:\w+ )?{_PICTURE}\b",
    rf"\bwithout (?:\w+ ){{0,2}}{_PICTURE}\W+(?:\w+ )?(?:i|we) {_CANNOT}\b|\bimpossible (?:\w+ ){{0,3}}without\b",
    rf"{_WHO}(?:(?:have|possess) no|(?:n't|not) (?:\w+ )?(?:have|possess)|lack|without)(?: \w+){{0,3}}? "
    r"(?:access|ability|abilities|capacity|means|way of \w+ing|vision|capability|capabilities)\b",
    rf"\bcan only (?:process|read|handle|work|understand|respond|see)(?: \w+){{0,2}} text|{_WHO}only have access\b",
    r"\btext-(?:only|based) (?:\w+ )?(?:ai|model|assistant)|\bwent wrong while \w+ing (?:the|your) "
    r"|\b(?:issue|problem|error) with (?:the|your) (?:image |file )?(?:upload|attachment)",
    rf"{_WHO}(?:(?:n't|not|never) (?:have|received?|get|got|seen?)|(?:have|received?|got|see) no)"
    rf"(?: \w+){{0,4}}? (?:{_PICTURE}|them)\b|{_WHO}(?:not|never|n't) (?:been )?(?:given|provided|shown|sent)\b",
    rf"{_WHO}(?:(?:see|have|got|received?) only|only (?:see|have|got|received?)) (?:\w+ )?(?:one|a single) {_PICTURE}",
    rf"{_WHO}need (?:(?:you )?to \w+ )?(?:access to )?{_WHOSE}+{_PICTURE}\b",
    rf"{_LEAD}(?:none|neither) of \w+ {_PICTURE}(?: {_IS})+ {_DONE}",
    rf"{_LEAD}{_WHOSE}*{_PICTURE}(?: you \w+| upload| in your \w+)?(?: {_IS})* ?(?:not|n't|can't|cannot|won't|never"
    rf"|would not|failed|fails)(?:$|(?: \w+){{0,2}}? {_DONE})",
    rf"{_LEAD}{_WHOSE}+{_PICTURE}(?: {_IS})+ (?:missing(?! (?:the|an?|its|some|one|two|all)\b)|broken|corrupt"
    r"|unavailable|inaccessible|blank|empty|(?:\w+ )?too \w+ (?:to|for me)\b|(?:in )?(?:the|an?) \w+ format)",
    rf"\byou (?:did not|didn't|have not|haven't|forgot to) (?:\w+ )?{_SEND}d?(?: \w+){{0,3}} (?:{_PICTURE}|them)\b",
    rf"\bonly (?:\w+ )?(?:one|1|a single|first|second)(?: of the)?(?: \w+)? {_PICTURE}(?: was| were)? "
    rf"(?!visible|displayed){_DONE}|\bno (?:\w+ ){{0,2}}{_PICTURE} (?:\w+ ){{0,2}}?{_DONE}|{_START}no {_PICTURE}\W*$",
    rf"\bno (?:\w+ )?{_PICTURE} (?:in|with|to) \w+ {_MESSAGE}\b"
    rf"|\b(?:your|the|this) {_MESSAGE} (?:does(?: not|n't)|did(?: not|n't)|\w+ no)\b.* {_PICTURE}\b",
    rf"\b(?:please|kindly|could you|can you|once you|when you|would you mind) (?:\w+ )?{_SEND}(?: \w+){{0,4}} "
    rf"(?:{_PICTURE}|them|again)\b|{_START}(?:failed|failure) to \w+ (?:\w+ ){{0,2}}{_PICTURE}\b",
    r"^\W*(?:vision|multimodal|image (?:inputs?|\w+ing|analysis))(?: \w+){0,2}? ?(?:not|n't|disabled|unsupported)\b"
    r"|^\W*(?:this|the) (?:model|assistant|system)\b.*\b(?:not|no|cannot|can't)\b.*\b(?:image|vision|visual|picture)",
)
# A place on a screen makes it a report; a place in the conversation does not.
_ON_SCREEN = _any(
    r"\b(?:in|from|on|below|above|within|inside|under|at|(?:attached|uploaded) to) (?!(?:it|them|me|us|my|our|your"
    rf"|order|here|this|time|the moment|any|a|an|(?:\w+ ){{0,2}}(?:{_MESSAGE}|format|server|links?|urls?|text))\b)"
)
# Other languages: what the speaker denies, words of seeing or finding, and words for pictures. Seeing takes a picture.
_ELSEWHERE = [
    tuple(_any(words) for words in row)
    for row in (
        (r"^(?=.*\b(?:ich|wir)\b).*\b(?:kann|darf|werde|bin|sehe|können)\b.*\b(?:nicht|keinen?)\b",
         "seh|erkenn|find|feststell|öffnen|laden|anzeigen", "bild|screenshot|anh[aä]ng|datei"),
        (r"\b(?:je|nous) n(?:e |')(?:peux|puis|suis|vois|ai|vais|pouvons|avons)\b.*\b(?:pas|aucune?)\b",
         "voi[rs]|trouv|distingu|remarqu|constat|visualiser|ouvrir", "image|capture|photo|fichier"),
        (r"\bno (?:puedo|podemos|podré|soy capaz|(?:me )?es posible|tengo|veo|recibí)\b",
         r"\bve[ro]\b|encontr|detect|observ|coment|abrir", "im[aá]gen|captura|foto|archivo"),
        (r"\bnon (?:posso|riesco|sono in grado|vedo)\b|\bnão (?:posso|consigo|podemos|sou capaz|vejo|recebi)\b",
         r"\bve[djr]|trov|not|rilev|visuali|encontr|abrir", "immagin|imagen|imagem|schermat|captura|screenshot"),
        (r"\bik (?:kan|mag|zal|zie|ben)\b.*\b(?:niet|geen)\b|\bj[ae]g (?:kan|får|ser)\b.*\b(?:inte|ikke|ing[ae]n?)\b",
         r"zien?\b|vinden|bekijken|openen|\bser?\b|hitta|finde", "afbeelding|schermaf|beeld|bild|billed|skärm"),
        ("nie (?:mogę|możemy|jestem w stanie|widzę)", "widz|zobacz|znale|otw", "obraz|zrzut|zdję"),
        ("не (?:могу|можем|смогу|вижу|буду|получил)", "ви[дж]|найти|замет|просм|откры", "изображ|картин|скриншот"),
        ("(?:amam|emem|amıyorum|emiyorum)", "gör|bul|aç", "görüntü|görsel|resim|resm"),
        ("لا (?:أستطيع|يمكنني|أقدر|أرى)|لست قادر|لن أتمكن", "رؤية|أرى|عرض|فتح", "صور"),
        ("(?:^|我|，|,|歉|起|但|遗憾)[^的在]{0,5}(?:无法|無法|不能|没法|没有|沒有|看不到|未)[^，。]{0,5}"
         "(?:看|打开|读|加载|访问|收到|提供|识别|上传|查|您|帮|幫|协助|比较|比較|对比|分析|处理|處理"
         "|(?:完成|满足|执行|回答|响应).{0,4}(?:请求|任务|问题|要求))",
         "看|打开|读|加载|访问|收到|提供|识别|上传|查", "图|圖|截屏|照片"),
        ("(?:手伝|対応|比較|分析|答え|応え|応じ|処理|見|確認|開|読|添付|あり).{0,8}"
         "(?:でき(?:ません|ない)|かね|ません|えない|ていない)",
         "見|確認|開|読|添付|あり", "画像|スクリーンショット|写真"),
        ("(?:도와|도움|비교|분석|답변|처리|제공|볼|확인|열|첨부|이미지).{0,8}"
         "(?:수 (?:가 )?없|못|불가|어렵|되지 않|없습니다)", "볼|확인|열|첨부", "이미지|사진|스크린샷"),
    )
]  # fmt: skip
_NOT_SENT_ELSEWHERE = _any(
    r"\bdas geht (?:leider )?nicht\b|\bkeine (?:bilder|screenshots)(?: \w+)? (?:an|er|bei|hoch|über)\w+",
    r"\bbitte\b.*\b(?:bilder|screenshots)\b.*\b(?:hoch|an|bei|send)",
    r"\bveuillez (?:joindre|télécharger|fournir|envoyer)\b|\baucune (?:image|capture)\b.*\b(?:jointe|fournie|reçue)",
    r"\bpor favor\b.*\b(?:sub[ea]|adjunt|env[ií])\w*\b.*\bim[aá]ge",
    r"(?:изображени|скриншот|картинк)\w* не (?:загруз|прикреп|откр|отобра)",
    r"请.{0,6}(?:上传|提供|发送|附上).{0,6}(?:图|圖)|(?:图|圖)[片像]?(?:无法|未能|没有|未)(?:加载|打开|上传|显示)",
)
_ON_SCREEN_ELSEWHERE = re.compile(
    r"\b(?:in|im|dans|sur|en|em|no|na|w|в|на) (?:\S+ )?[AB]\b|在[^，。]{1,12}(?:中|里|上)|[AB]で"
    r"|(?<!こちら)に(?:表示|あり)|(?<!메시지)에 (?!첨부)"
    r"|\b(?i:in d(?:er|em|en)|im|dans l\w+|en (?:la|el)|nella?) (?!(?i:nachr|anfr|messa|conv|mens|chat|moment|lage))\w"
)
_FOUND_NOTHING = _any(
    rf"^(?!.*\bwithout ).*\b(?:{_CANNOT}|n't|not)(?: \w+){{0,2}}? {_LOOK}\b.*(?:difference|issue|defect|change"
    r"|discrepanc|deviation|problem|mismatch|bug|error|flaw|wrong|anything (?:\w+ )?(?:off|missing)|distinction"
    r"|inconsisten|regression)",
    r"unterschied|mängel|fehler|différence|diferencia|diferença|differenz|verschil|różnic|отличи|различи|fark",
    r"(?:看到|看出|发现|找到|發現|識別|识别)[^,，]{0,8}(?:差异|差異|区别|不同|问题)|違い|差は|차이|문제",
)
# Beside one of these a denial is a reservation: "I can't tell the exact value, but the gap is larger in B".
_REPORTS = re.compile(
    r"\b(?:instead of|differs?|matches|changed)\b"
    r"|\b(?:is|are|has|have) (?:\w+ ){0,3}(?:different|\w+er than|missing (?:in|from))\b"
    r"|\b(?:is|are|has|have|was|were|looks?)\b.*\bin (?:(?:image|screen|screenshot|version) )?[AB]\b"
)
_SUPPOSED = _any(r"\b(?:if|whether|how|what|which|would|could|once|please|you|your)\b")
# Nothing but an apology or a no.
_ONLY_SORRY = re.compile(
    r"(?=.*(?:sorry|apolog|afraid|can't|cannot|won't|nope|désolé|siento|leid|抱歉|对不起|申し訳|죄송))(?:\W*(?:i'm|i|am|we|so"
    r"|very|really|sorry|no|nope|not|apologi[sz]e|apologies|my|afraid|can't|cannot|won't|désolée?|je|suis|lo siento|es"
    r"|tut|mir|leid|很?抱歉|对不起|申し訳ありません|죄송합니다))+\W*",
    re.IGNORECASE,
)
# Text of a screen that the reply quotes.
_QUOTED = re.compile(
    r"\"[^\"\n]{0,300}+\"|“[^”\n]{0,300}+”|«[^»\n]{0,300}+»|「[^」\n]{0,300}+」|(?<!\w)'(?:[^'\n]|'(?=\w)){0,300}+'"
    r"|\b(?:says|reads|shows|displays)\b[^.!?\n]{0,300}"
)
_CLAUSE = re.compile(r"[.!?;:\n。！？；]+|,? (?:but|so|because)\b", re.IGNORECASE)
# These keep the search linear, and a refusal stands at one end of a reply.
_LONGEST_CLAUSE, _LONGEST_END = 400, 2000


def is_refusal(prose: str) -> bool:
    """True if `prose` declines, or says that the task cannot be done or the pictures cannot be seen.

    The clause decides: "I cannot see any difference" is a finding, and so is "the icon is not visible".

    >>> is_refusal("I'm sorry, but I can't compare these images.")
    True
    >>> is_refusal("I'm sorry for the delay: the images are missing in the gallery of B.")
    False
    """
    text = prose.replace("’", "'").strip().strip('"')
    if len(text) > 2 * _LONGEST_END:
        text = text[:_LONGEST_END] + "\n" + text[-_LONGEST_END:]
    if len(text) < 80 and _ONLY_SORRY.fullmatch(text):
        return True
    clauses = [" ".join(clause[:_LONGEST_CLAUSE].split()) for clause in _CLAUSE.split(_QUOTED.sub("…", text))]
    declining = [clause for clause in clauses if _declines(clause)]
    reporting = [clause for clause in clauses if _REPORTS.search(clause) and not _SUPPOSED.search(clause)]
    return bool(declining) and all(clause in declining for clause in reporting)


def _declines(clause: str) -> bool:
    if _FOUND_NOTHING.search(clause):
        return False
    if _DECLINES.search(clause) or _NOT_SENT_ELSEWHERE.search(clause):
        return True
    if _UNSEEN.search(clause) and not _ON_SCREEN.search(clause):
        return True
    return not _ON_SCREEN_ELSEWHERE.search(clause) and any(
        denied.search(clause) and (pictures.search(clause) or not seeing.search(clause))
        for denied, seeing, pictures in _ELSEWHERE
    )
