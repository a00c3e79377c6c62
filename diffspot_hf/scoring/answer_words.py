"""Words around an option letter that say what it is doing there, in the languages that replies come in.

Everything is lower case. The lists are ours. A cue that is missing costs a letter; it does not invent one.
"""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ANSWER_NOUNS = _words(
    "answer answers ans solution verdict conclusion choice selection pick guess response result judgement "
    "judgment vote antwort lösung auswahl wahl réponse reponse choix respuesta elección solución risposta "
    "scelta soluzione resposta escolha gabarito antwoord keuze svar svaret vastaus odpowiedź odpověď "
    "cevap yanıt án lời jawaban jawabannya răspuns răspunsul válasz"
)
LABELS = _words(
    "option opt alternative letter statement buchstabe antwortmöglichkeit aussage lettre proposition "
    "opción letra alternativa opzione lettera opção optie alternativ opcja seçenek şık opsi pilihan "
    "phương"
)
CHOICE_VERBS = _words(
    "choose chose chosen pick picked select selected selecting choosing picking go going opt opting vote "
    "prefer say guess conclude believe think settle settling lean leaning leaves leaving wähle nehme "
    "entscheide tippe denke glaube meine choisis pense dirais crois opte elijo escojo creo diría "
    "selecciono marco scelgo direi penso credo escolho diria acho kies väljer tror wybieram seçiyorum "
    "memilih pilih chọn"
)
CONCLUSIONS = _words(
    "so therefore thus hence consequently accordingly ergo namely meaning actually daher deshalb somit "
    "folglich donc ainsi entonces luego quindi dunque perciò portanto logo então dus alltså więc zatem "
    "jadi vậy"
)
# German "also" means so, English "also" means besides: it counts in a reply with one of these words only.
GERMAN_SO, GERMAN = "also", _words("ist der das und nicht ein eine")
POINTERS = _words("it that this which es das cela ça esto questo isso dit det")
POINTERS_WITH_VERB = _words("it's that's its c'est")
COPULAS = _words(
    "is be was ist sei wäre lautet est soit serait es sea sería è sia sarebbe é seja seria är er jest là adalah ise to"
)
BARE_COPULAS = _words("es è é c'est")  # languages that need no pronoun: "es la B"
HEDGES = _words(
    "maybe perhaps possibly might could may vielleicht möglicherweise peut-être quizás quizá forse talvez "
    "misschien kanske"
)
ASSURANCES = _words(
    "probably likely surely definitely clearly certainly presumably evidently obviously apparently must "
    "wahrscheinlich vermutlich sicher probablement sûrement probablemente seguramente probabilmente "
    "sicuramente provavelmente"
)
APPEARANCES = _words("looks seems sounds feels appears")  # at the start of a clause: "looks like B"
CHOICES = _words("answer choose pick select option")  # English, in which only "a" and "i" are words of one letter
SCALES = _words(
    "grade vitamin vitamins plan hepatitis influenza type size rating rated score class level row seat section "
    "platform gate terminal track bus building block room floor zone hall aisle battery caption chord tier exit "
    "entrance lane pier dock wing ward apartment suite group court cell sign poster banner plate jersey"
)
READ_ALOUD = _words("says reads spells labelled labeled marked written printed engraved")
GUESSED = _words("guess choose pick answer say bet decide select commit")
OBLIGED = _words("had have must forced pressed pushed made")
FOUND_NOUNS = _words("difference change commonality similarity cue match description fit")
CORRECT = _words(
    "correct right best better final true matching accurate richtig richtige korrekt korrekte bonne "
    "correcte correcta correcto corretta corretto giusta correta correto certa certo juist juiste rätt "
    "rette poprawna prawidłowa đúng benar doğru fits holds applies matches"
)
MATCHED = _words("described describes matches match corresponds correspond captured stated listed reflected")
LOOSELY_CORRECT = _words("right final best better true")  # these say little where no answer is spoken of: "right: B"
FILLERS = (
    COPULAS
    | CORRECT
    | ASSURANCES
    | _words(
        "will would should must has have had to being been seem seems look looks appear appears the a an my "
        "our your only one most more indeed simply still just really now here that que che dass with for on "
        "like sounds feels "
        "in upon as question problem task towards toward by therefore again die der den dem für mich sein "
        "muss klar wohl "
        "la le l' être el ser il o de het voor met rätt det yang dengan con por per"
    )
)
PICTURE_WORDS = _words(
    "image images picture pictures photo photos photograph panel side view version screen screenshot "
    "frame figure fig half scene part bild foto imagen immagine imagem afbeelding"
)
NEGATORS = _words(
    "not no never cannot can't don't doesn't didn't isn't wasn't wouldn't won't couldn't shouldn't aren't "
    "neither nor hardly unsure uncertain whether if unless doubt suppose assume assuming except excluding "
    " exclude excluded eliminate eliminated reject rejected "
    "discard unlike unlikely without nicht kein keine keinen ob falls wenn außer pas non "
    "ni si sauf ningún salvo né tranne não nem se "
    "exceto niet geen behalve inte ej nie czy değil bukan tidak không"
)
WRONG = _words(
    "wrong incorrect false other alternative second tempting falsch falsche fausse mauvaise incorrecta incorrecto"
    " sbagliata errada"
)
CONDITIONS = _words("if unless were suppose assuming wenn falls si")
# A clause that ends in "option B" does not choose it when it only looks at it.
CONSIDERED = _words(
    "consider considering check checking look looking compare comparing examine examining verify see about "
    "nothing nobody none"
)
CLAUSE_BREAKS = _words("but so because then aber sondern denn mais pero sino ma mas però maar")
CONTRASTS = _words("but sondern mais sino pero ma mas maar")
JOINERS = _words(
    "or and und oder y o u e et ou en of och eller ve veya dan atau i lub và hoặc nor plus 和 与 與 或 或者 还是 "
    "還是 及 と か または や 와 과 또는 или и"
)
AND = _words("and und y e et en och ve dan i và 和 と 와 и")
SINGULAR = _words("is isn't was ist est es è é")
PLURAL = _words("are aren't were sind sont son sono são zijn all both")
CAUSES = _words(
    "because since as due given for where weil da denn porque ya pues parce car puisque perché poiché "
    "omdat want eftersom ponieważ karena çünkü vì"
)
CLEAR_CAUSES = _words("because since due given weil omdat")  # words of English, German and Dutch only
AFTER_AS = _words("the both there it they all everything nothing no neither we i this image images")
AFTER_TEXT = CAUSES | _words(
    "which and as so from when while whereas now compared after between at in on this that then there is was matches "
    "fits describes best seems appears being"
)
FOLLOWERS = CAUSES | _words("which based with and but over not again though although here und aber")
AFTER_CORRECT = _words(
    "answer choice option one pick match here because since as and antwort réponse respuesta risposta"
)
POSITIVE_NOUNS = _words(
    "answer choice option one pick match antwort lösung réponse respuesta risposta resposta antwoord"
)
POSITIVE_VERBS = _words("sagen wählen nehmen tippen kiezen seçiyorum")  # verbs that come last: "ich würde B sagen"
POSITIVE_ADVERBS = _words("best correctly accurately perfectly exactly")
PREDICATE_FILLERS = (
    COPULAS
    | _words(
        "the a an my would will should must be to seems seem looks appears clearly definitely indeed "
        "certainly likely most more probably only fits fit matches match describes describe applies can may "
        "really still also simply die la le el il de het o that obviously thus therefore then"
    )
) - {"es"}
NEGATIVE = _words(
    "not isn't wasn't aren't cannot can't doesn't don't didn't won't couldn't wrong incorrect false out "
    "ruled excluded eliminated unlikely impossible no never fails nor nicht falsch faux fausse incorrecta "
    "incorrecto sbagliata errata errada onjuist fout fel pas n'est nie salah sai yanlış değil inaccurate "
    "absent untrue"
)
NEGATIVE_VERBS = _words("not isn't wasn't cannot can't doesn't didn't won't couldn't never nicht n'est")
AFTER_NOT = _words(
    "correct right visible true possible present it this the that there seen observed supported matching accurate"
)
NEGATIVE_VERDICTS = _words(
    "no wrong incorrect false nope nein falsch faux non incorrecto incorrecta sbagliata errada nee"
)
POSITIVE_VERDICTS = _words("yes true correct right yep ja oui sí sì sim")
FITTING = _words(
    "fits fit matches match applies holds works describes corresponds agrees remains captures reflects stands"
)
LIKELY = _words("likely plausible probable convincing fitting suitable appropriate reasonable")
POORLY = _words("least worst poorly badly less neither nothing only partly partially no none")
ELISIONS = _words("l d c dell all nell un qu")  # French and Italian: l'option
ARTICLES_AND_PRONOUNS = frozenset("AEIOUY")  # letters that are words in some language

REVISION = re.compile(
    r"\b(?:wait|hold on|actually|on second thought|correction|scratch that|i was wrong|my mistake|i take that back"
    r"|chang(?:e|ed|ing) my (?:answer|mind)|on reflection|looking (?:again|closer|more closely)"
    r"|on closer (?:look|inspection|examination)|after re-?\w+|final answer|final choice|final decision|finally"
    r"|in the end|moment mal|endgültige antwort|réponse finale|en fait|respuesta final|en realidad|risposta finale"
    r"|in realtà|na verdade|resposta final)\b|\bno, |等等|不对|实际上|最终答案"
    r"|待って|いや|最終的|잠깐|최종|на самом деле",
    re.IGNORECASE,
)
REVOKED = re.compile(
    r"\b(?:that|this|it)(?:'s| is| was)(?: (?!not\b)\w+)? (?:wrong|incorrect|false|untrue"
    r"|not (?:right|correct|true|the case))\b",
    re.IGNORECASE,
)

# Scripts without blanks between words, and those whose words the Latin lists do not hold: read from the raw text.
_MIDDLE = r"[^A-Za-z\n.。!?！？,，;；、]{0,24}$"
FOREIGN_ANSWER = re.compile(
    r"(?:正しいのは|正确的是|正確的是|答案|解答|回答|答え|答|选择|選擇|选|選|正解|정답|답|선택"
    r"|(?<!\w)ответ\w*|выбира\w*|відповідь|الإجابة|الجواب|الاجابة|उत्तर"
    r"|คำตอบ|ตอบ|απάντηση|תשובה|پاسخ)" + _MIDDLE,
    re.IGNORECASE,
)
FOREIGN_LABEL = re.compile(
    r"(?:选项|選項|選択肢|선택지|보기|вариант\w*|الخيار|विकल्प|ตัวเลือก|επιλογή|אפשרות|گزینه)[\s(]*$", re.IGNORECASE
)
FOREIGN_SO = re.compile(
    r"(?:ではなく|じゃなく|而是|아니라|所以|因此|因而|故|于是|(?<!に)よって|したがって|따라서"
    r"|поэтому|думаю|это|значит|итак|следовательно)[是为為選选\s:]{0,3}$",
    re.IGNORECASE,
)
FOREIGN_MAYBE = re.compile(
    r"(?:可能|应该|應該|大概|好像|或许|觉得|覺得|认为|認為|猜|感觉|たぶん|おそらく|아마)[是为為应该도 ]{0,3}$"
)
FOREIGN_NOT = re.compile(r"不|非|無|无|没|别|勿|未|排除|错|ない|아니|아닌|\bне\b|ليس|नहीं|ไม่", re.IGNORECASE)
FOREIGN_POSITIVE = re.compile(
    r"\s*(?:选项|選項|项|項)?\s*(?:是|为|為|が|は|이|가|을|를)?\s*(?:最)?"
    r"(?:正确|正確|对的|正しい|正解|答案|정답|맞|だと思|です|を選|입니다|이다|선택|верн|правильн)"
)
FOREIGN_NEGATIVE = re.compile(
    r"\s*(?:选项|選項|项|項)?\s*(?:也|都|均|是)?\s*(?:错|不|误|では(?:な|あり)|じゃ(?:な|あり)"
    r"|は違|は間違|は誤|가 아|이 아|은 아|는 아|не\b|неверн|неправильн)"
)
