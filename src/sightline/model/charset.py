"""Find the encoding of bytes that are no UTF-8, where it is certain.

Two voices must agree: our rules on scripts, languages and case, and charset-normalizer. Where one text
alone is plausible by our rules, that is enough. Where the voices disagree, no encoding is certain: a wrong
one would put bytes of another alphabet into the file.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise

SAMPLE_BYTES = 1 << 16
"""Bytes of lines beyond ASCII that are looked at."""

FAMILIES = (
    ("latin-1", "cp1252", "iso8859-15"),
    ("cp1250", "iso8859-2", "iso8859-16"),
    ("cp1251",),
    ("koi8-r", "koi8-u"),
    ("iso8859-5",),
    ("cp866",),
    ("cp1253", "iso8859-7"),
    ("cp1254", "iso8859-9"),
    ("cp1255", "iso8859-8"),
    ("cp1256",),
    ("iso8859-6",),
    ("cp1257", "iso8859-13"),
    ("iso8859-4", "iso8859-10"),
    ("iso8859-3",),
    ("cp874", "tis-620"),
    ("cp437", "cp850"),
    ("cp852",),
    ("mac-roman",),
)
"""Encodings of one byte for each character; those of a family are told apart by few characters."""

OLD = frozenset({"cp437", "cp850", "cp852", "cp866", "mac-roman"})
"""Encodings of systems before Windows and the web."""

SCRIPTS = (
    "LATIN",
    "CYRILLIC",
    "GREEK",
    "HEBREW",
    "ARABIC",
    "THAI",
    "HANGUL",
    "CJK",
    "HIRAGANA",
    "KATAKANA",
)

LANGUAGES = {
    "fr": (
        "àâæçèéêëîïôœùûüÿ",
        "le la les des du un une et est dans avec pour sur que qui ne pas par en au à",
    ),
    "de": (
        "äöüß",
        "der die das und ist nicht ein eine mit für auf zu den dem von im wird oder sie an",
    ),
    "es": ("áéíóúüñªº", "el la los las de que en un una por con para es no se del al más está"),
    "pt": ("àáâãçéêíóôõúü", "os as de que em um uma por com para não se do da no na é são"),
    "it": ("àèéìíîòóù", "il lo la gli le di che in un una per con non del della è più si da sono"),
    "ca": ("àçèéíïòóúü·", "el la els les de que en un una per amb no és del al aquest aquesta"),
    "nl": ("éëïóöü", "de het een en van in is dat op te met voor niet zijn of"),
    "sv": ("åäöé", "och att det som en ett den för med på av är till inte de om eller"),
    "da": ("åæøé", "og at det som en et den for med på af av er til ikke de om eller"),
    "fi": ("äöå", "ja on ei se että tai joka ovat tämä kun jos myös"),
    "is": ("áðéíóúýþæö", "og að er ekki sem í á til um með"),
    "pl": ("ąćęłńóśźż", "na do nie to jest się że po od dla lub jak"),
    "cs": ("áčďéěíňóřšťúůýž", "na je se že do pro jako nebo při"),
    "sk": ("áäčďéíĺľňóôŕšťúýž", "na je sa že do pre ako alebo pri"),
    "hu": ("áéíóöőúüű", "az és hogy nem egy is van vagy ha"),
    "ro": ("ăâîşţșț", "de la în și şi un cu nu este pe din care sau pentru"),
    "hr": ("čćđšž", "na je se da za od ili ne in ali kao"),
    "tr": ("çğıöşüâîûi̇", "ve bir bu için ile de da olarak veya"),
    "lt": ("ąčęėįšųūž", "ir yra kad su ar į iš nuo"),
    "lv": ("āčēģīķļņšūž", "un ir ar no uz ka kas vai"),
    "et": ("äõöšüž", "ja on ei see et või kui mis"),
    "se": ("áčđŋšŧž", "ja lea ii go"),
    "eo": ("ĉĝĥĵŝŭ", "la de kaj en estas al por kun ne ke"),
    "mt": ("ċġħżàèìòù", "il ta li"),
}
"""Language -> its letters beyond ASCII, and common words."""

ALPHABETS = {"LATIN", "CYRILLIC", "GREEK"}
"""Scripts that encodings of East Asia have, too."""

WESTERN = "fr de es pt it ca nl sv da fi is"
CENTRAL = "pl cs sk hu ro hr de"
BALTIC = "lt lv et pl da sv fi de"
NORTHERN = "lt lv et se is sv da fi"
ALL = " ".join(LANGUAGES)
SPOKEN = {
    "latin-1": WESTERN,
    "cp1252": WESTERN,
    "iso8859-15": WESTERN,
    "cp437": WESTERN,
    "cp850": WESTERN,
    "mac-roman": WESTERN,
    "cp1250": CENTRAL,
    "iso8859-2": CENTRAL,
    "iso8859-16": CENTRAL,
    "cp852": CENTRAL,
    "cp1254": f"tr {WESTERN}",
    "iso8859-9": f"tr {WESTERN}",
    "cp1257": BALTIC,
    "iso8859-13": BALTIC,
    "iso8859-4": NORTHERN,
    "iso8859-10": NORTHERN,
    "iso8859-3": "eo mt tr",
}
"""Encoding -> the languages that are written in it. The words of a text are almost all of one language, and
each is of some language."""

ONE_LANGUAGE = 0.9
"""Share of the Latin words with letters beyond ASCII that are of one language."""

SHIFTED = ("iso2022_jp", "iso2022_jp_2", "iso2022_kr")

DECLARATIONS = (
    re.compile(rb"coding[:=]\s*([-\w.]+)"),
    re.compile(rb"<\?xml[^>]*\bencoding=[\"']([-\w.]+)"),
    re.compile(rb"<meta[^>]*\bcharset=[\"']?([-\w.]+)", re.IGNORECASE),
    re.compile(rb"@charset \"([-\w.]+)\""),
)
"""What a file says of its encoding: PEP 263 and its like in editors, XML, HTML, CSS."""
DECLARED_BYTES = 1024

CLEARLY = 2
"""How many times the common words of the likeliest text are those of any other."""

ONE_LETTER = 0.33
"""Share of the letters of an alphabet that may be one and the same."""

ODD_CASE = 0.1
"""Share of words with a capital behind a small letter, up to which a text is plausible."""

LETTERS_LEAST = 12
"""Letters of another script than Latin, with fewer of which nothing is certain."""

HAN_LEAST = 4
COMMON = 0.9
KANA = 0.15
ONE_LEAD = 0.5
"""How many characters make an East Asian text; the share of common ones in it; the share of kana that
Japanese has, and Chinese has less of; the share that may have one first byte."""

ODD_SIGNS = frozenset("¤¦¨¬¯´¸¹²³¼½¾") | frozenset(map(chr, range(0x2500, 0x25FF)))
MISPLACED = re.compile(
    r"[^\W\d_][^\w\s\x00-\x7f’‘ʼ·\xad\u2010-\u2015…\u0300-\u0e7f]+[^\W\d_]"  # a sign within a word
    r"|[^\W\d_]„|(?<![\u0e01-\u0e2e\u0e31-\u0e4e])[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]"
)
GLUED = re.compile(r"[^\W\d_](?:[^\w\x00-\x7f\xa0’‘”»·]|[\xa0’‘][^\W\d_])")
NUMBERED = re.compile(r"[^\W\d_\x00-\x7f][0-9]")
"""A sign within a word, a quotation that opens behind a letter, and a mark of Thai without a consonant;
a sign that mostly stands apart, behind a letter; a digit behind a letter beyond ASCII."""
PLAIN_SIGNS = frozenset("\xa0§©«®°±µ·»€–—‘’“”„•…™×")
"""Signs that tell of a wrong encoding, and those of a text without a letter beyond ASCII."""


def _declared(data: bytes) -> str | None:
    """Return the encoding that a file's beginning names; None where not all bytes are of that encoding."""
    head = data[:DECLARED_BYTES]
    for form in DECLARATIONS:
        match = form.search(head)
        if match is not None:
            name = match[1].decode("ascii", "replace")
            return None if _text(data, name) is None else name.lower()
    return None


def certain_encodings(data: bytes) -> tuple[str, ...]:
    """Return the encodings that bytes beyond UTF-8 may have and that read them as the same text, the
    likeliest first; none where it is not certain. A character that is encoded otherwise by one
    of them is not certain."""
    declared = _declared(data)
    if declared is not None:
        return (declared,)
    lines = b"".join(line for line in data.splitlines(keepends=True) if not line.isascii())
    cut = lines[: lines.rfind(b"\n", 0, SAMPLE_BYTES) + 1] or lines[:SAMPLE_BYTES]
    whole = lines if len(lines) <= SAMPLE_BYTES else cut
    texts = {name: text for name in _likely(whole) if (text := _text(data, name)) is not None}
    return tuple(name for name in texts if texts[name] == next(iter(texts.values())))


def shifted_encoding(data: bytes) -> str | None:
    """Return the encoding of seven bits for bytes with escape sequences; None for other bytes. Such bytes
    are ASCII, too."""
    return next((name for name in SHIFTED if _text(data, name) is not None), None)


@lru_cache(maxsize=16)
def _likely(sample: bytes) -> tuple[str, ...]:
    """Return the encodings of one family that are certain of a sample; none where there are none."""
    names = [*EAST_ASIAN, *(name for family in FAMILIES for name in family)]
    texts = {name: text for name in names if (text := _text(sample, name)) is not None}
    plausible = {name: text for name, text in texts.items() if _is_plausible(text, name)}
    first = next(iter(_of_one_text(plausible, sample)), "")
    family = next((family for family in FAMILIES if first in family), (first,))
    return tuple(
        name for name in plausible if name in family and plausible[name] == plausible[first]
    )


def _of_one_text(plausible: dict[str, str], sample: bytes) -> list[str]:
    """Return the encodings of plausible texts that read a sample as the likeliest of these; none where it is not
    certain. Of texts in Latin letters, the likeliest has most of the common words of its language; of others,
    charset-normalizer chooses. An encoding of old systems is likelier than one of today only where it reads
    more characters as letters."""
    common: dict[str, int] = {}
    for name, text in plausible.items():
        common[text] = max(common.get(text, 0), _common_words(text, name))
    most = max((len(_letters(text)) for text in common), default=0)
    texts = [text for text in common if len(_letters(text)) == most or not _is_doubtful(text)]
    today = {plausible[name] for name in plausible if name not in OLD}.intersection(texts)
    chosen = next(iter(texts), None) if len(texts) == 1 else None
    if chosen is not None:
        is_sure = chosen in today or not _is_latin(chosen) or common[chosen] > 0
        chosen = chosen if is_sure else None
    elif texts and all(map(_is_latin, texts)):
        best, second, *_ = sorted(texts, key=lambda text: -common[text])
        is_clear = common[best] > max(1, CLEARLY * common[second])
        chosen = best if is_clear else None
    elif texts and len(today) != 1:
        guess = _guess(sample)
        chosen = guess if guess in texts else None
    if chosen is None and len(texts) > 1 and len(today) == 1:
        [chosen] = today
    return [name for name, text in plausible.items() if text == chosen]


def _is_doubtful(text: str) -> bool:
    """Return whether a text has signs where another encoding may have letters."""
    return _is_latin(text) and GLUED.search(text) is not None


def _is_latin(text: str) -> bool:
    return {*_scripts("".join(_letters(text)))} <= {"LATIN"}


def _common_words(text: str, name: str) -> int:
    """Return how many common words a text has of the language that its letters are of."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    beyond = [word for word in words if not word.isascii()]
    found = [0]
    for language in SPOKEN.get(name, ALL).split():
        letters, common = LANGUAGES[language]
        if sum(_beyond(word) <= {*letters} for word in beyond) >= ONE_LANGUAGE * len(beyond):
            found.append(sum(word in common.split() for word in words))
    return max(found)


def _guess(sample: bytes) -> str | None:
    """Return the text that charset-normalizer reads; None for no guess."""
    from charset_normalizer import from_bytes

    best = from_bytes(sample, enable_fallback=False).best()
    return None if best is None else str(best)


def _text(data: bytes, name: str) -> str | None:
    """Return bytes as a text of an encoding; None where not all of them are of it, or none has the name."""
    try:
        text = data.decode(name)
        return text if text.encode(name) == data else None
    except (UnicodeError, LookupError):
        return None


def _is_plausible(text: str, name: str) -> bool:
    """Return whether an encoding reads bytes as a text that people write."""
    if name not in EAST_ASIAN:
        return _is_alphabetic(text, name)
    is_other = {*_scripts("".join(_letters(text)))} <= ALPHABETS
    return _is_alphabetic(text, name) if is_other else EAST_ASIAN[name](text)


def _is_alphabetic(text: str, name: str) -> bool:
    """Return whether the letters beyond ASCII stand in words of one script and language each, with
    capitals in front, and the signs are such as people write."""
    words = [word for word in re.findall(r"[^\W\d_]+", text) if not word.isascii()]
    scripts = [{*_scripts(word)} for word in words]
    latin = [word for word, own in zip(words, scripts, strict=True) if own == {"LATIN"}]
    if any(len(own) > 1 for own in scripts) or not _is_of_one_language(latin, name):
        return False
    if name in SPOKEN and len(latin) < len(words):
        return False  # of Greek, such encodings have single letters
    if words and name not in SPOKEN and not _is_script(_letters(text), words):
        return False
    odd = sum(any(a.islower() and b.isupper() for a, b in pairwise(word)) for word in words)
    odd += len(NUMBERED.findall(text))
    signs = {sign for sign in text if not sign.isascii() and not sign.isalpha()}
    if odd > ODD_CASE * len(words) or signs & ODD_SIGNS or MISPLACED.search(text):
        return False
    is_written = all(unicodedata.category(sign)[0] in "PSNZM" for sign in signs)
    return is_written if words else signs <= PLAIN_SIGNS


def _is_script(letters: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether enough letters of another script stand in words, and not one among them too often."""
    if len(letters) < LETTERS_LEAST or max(Counter(letters).values()) > ONE_LETTER * len(letters):
        return False
    single = sum(len(word) == 1 for word in words)
    return 2 * single <= len(words) or "THAI" in unicodedata.name(letters[0], "")


def _is_of_one_language(words: Sequence[str], name: str) -> bool:
    """Return whether Latin words with letters beyond ASCII are, almost all, of one language of an encoding,
    and each is of some."""
    languages = [{*LANGUAGES[each][0]} for each in SPOKEN.get(name, ALL).split()]
    fits = [[_beyond(word.lower()) <= letters for word in words] for letters in languages]
    most = max(map(sum, fits))
    return most >= ONE_LANGUAGE * len(words) and all(map(any, zip(*fits, strict=True)))


def _beyond(word: str) -> set[str]:
    return {letter for letter in word if not letter.isascii()}


def _scripts(word: str) -> Iterator[str]:
    for letter in word:
        name = unicodedata.name(letter, "")
        if letter in "ªº" or unicodedata.combining(letter):
            continue
        yield next((script for script in SCRIPTS if name.startswith(script)), "")


def _is_korean(text: str) -> bool:
    letters = _letters(text)
    hangul = [letter for letter in letters if "\uac00" <= letter <= "\ud7a3"]
    common = sum(len(letter.encode("euc_kr")) == 2 for letter in hangul)  # others have more bytes
    return _is_varied(letters, "cp949") and common >= COMMON * len(letters)


def _is_japanese(text: str) -> bool:
    letters = _letters(text)
    kana, han = _share("\u3041", "\u30fe", letters), _share("\u4e00", "\u9fff", letters)
    return len(letters) >= HAN_LEAST and kana >= KANA and kana + han >= COMMON


def _is_chinese(text: str, plain: str, first: int, last: int) -> bool:
    """Return whether most letters are of the common ones, whose first bytes in the encoding `plain` are
    from `first` to `last`."""
    letters = _letters(text)
    leads = [letter.encode(plain, "replace")[0] for letter in letters]
    common = sum(first <= lead <= last for lead in leads)
    return _is_varied(letters, plain) and common >= COMMON * len(letters)


def _is_varied(letters: Sequence[str], name: str) -> bool:
    """Return whether there are enough letters, and their first bytes vary. Letters of an alphabet in
    another encoding nearly all share one first byte."""
    leads = Counter(letter.encode(name, "replace")[0] for letter in letters)
    return len(letters) >= HAN_LEAST and max(leads.values()) <= ONE_LEAD * len(letters)


EAST_ASIAN: dict[str, Callable[[str], bool]] = {
    "cp949": _is_korean,
    "euc_jp": _is_japanese,
    "cp932": _is_japanese,
    "gb18030": partial(_is_chinese, plain="gb2312", first=0xB0, last=0xD7),
    "big5": partial(_is_chinese, plain="big5", first=0xA4, last=0xC6),
}
"""Encoding -> whether most characters that it makes of bytes are common ones."""


def _letters(text: str) -> list[str]:
    return [letter for letter in _beyond_ascii(text) if letter.isalpha()]


def _beyond_ascii(text: str) -> list[str]:
    return [sign for sign in text if not sign.isascii()]


def _share(first: str, last: str, letters: Sequence[str]) -> float:
    return sum(first <= letter <= last for letter in letters) / max(len(letters), 1)
