"""Find the encoding of bytes that are no UTF-8, where it is certain.

Two voices must agree: our rules on scripts, languages and case, and charset-normalizer. Where one text
alone is plausible by our rules, that is enough. Where the voices disagree, no encoding is certain: a wrong
one would put bytes of another alphabet into the file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise

SAMPLE_BYTES = 1 << 16
"""Bytes of lines beyond ASCII that are looked at."""

FAMILIES = (
    ("latin-1", "cp1252", "iso8859-15"),
    ("cp1250", "iso8859-2"),
    ("cp1251",),
    ("koi8-r", "koi8-u"),
    ("iso8859-5",),
    ("cp866",),
    ("cp1253", "iso8859-7"),
    ("cp1254", "iso8859-9"),
    ("cp1255", "iso8859-8"),
    ("cp1256",),
    ("cp1257", "iso8859-13"),
    ("cp874", "tis-620"),
)
"""Encodings of one byte for each character; those of a family are told apart by few characters."""

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

WESTERN = "àâæçèéêëîïôœùûüÿ äöüß áéíóúüñªº àáâãçéêíóôõúü àèéìíîòóù éëïóöü åäöæøé áðéíóúýþæö"
ALPHABETS = {
    "latin-1": WESTERN,
    "cp1252": WESTERN,
    "iso8859-15": WESTERN,
    "cp1250": "ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž áéíóöőúüű ăâîşţ čćđšž äöüß",
    "cp1254": "çğıöşüâîûi̇ äöüß éèàç",
    "cp1257": "ąčęėįšųūž āčēģīķļņšūž äõöšüž ąćęłńóśźż",
}
ALPHABETS |= {
    "iso8859-2": ALPHABETS["cp1250"],
    "iso8859-9": ALPHABETS["cp1254"],
    "iso8859-13": ALPHABETS["cp1257"],
}
"""Encoding -> letters beyond ASCII of each language that is written in it. A Latin word has those of
one language."""

SHIFTED = ("iso2022_jp", "iso2022_jp_2", "iso2022_kr")

DECLARATIONS = (
    re.compile(rb"coding[:=]\s*([-\w.]+)"),
    re.compile(rb"<\?xml[^>]*\bencoding=[\"']([-\w.]+)"),
    re.compile(rb"<meta[^>]*\bcharset=[\"']?([-\w.]+)", re.IGNORECASE),
    re.compile(rb"@charset \"([-\w.]+)\""),
)
"""What a file says of its encoding: PEP 263 and its like in editors, XML, HTML, CSS."""
DECLARED_BYTES = 1024

ODD_CASE = 0.1
"""Share of words with a capital behind a small letter, up to which a text is plausible."""

LETTERS_LEAST = 12
"""Letters of another script than Latin, with fewer of which nothing is certain."""

HAN_LEAST = 4
COMMON = 0.9
KANA = 0.15
"""How many characters make an East Asian text; the share of common ones in it; the share of kana that
Japanese has, and Chinese has less of."""

ODD_SIGNS = frozenset("¤¦¨¬¯´¸¹²³¼½¾") | frozenset(map(chr, range(0x2500, 0x25FF)))
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
    whole = lines[: lines.rfind(b"\n", 0, SAMPLE_BYTES) + 1] or lines[:SAMPLE_BYTES]
    texts = {name: text for name in _likely(whole) if (text := _text(data, name)) is not None}
    return tuple(name for name in texts if texts[name] == next(iter(texts.values())))


def shifted_encoding(data: bytes) -> str | None:
    """Return the encoding of seven bits for bytes with escape sequences; None for other bytes. Such bytes
    are ASCII, too."""
    if b"\x1b$" not in data:
        return None
    return next((name for name in SHIFTED if _text(data, name) is not None), None)


@lru_cache(maxsize=16)
def _likely(sample: bytes) -> tuple[str, ...]:
    """Return the encodings of one family that are certain of a sample; none where there are none."""
    names = [*EAST_ASIAN, *(name for family in FAMILIES for name in family)]
    texts = {name: text for name in names if (text := _text(sample, name)) is not None}
    plausible = {
        name: text
        for name, text in texts.items()
        if (EAST_ASIAN[name](text) if name in EAST_ASIAN else _is_plausible(text, name))
    }
    if len(set(plausible.values())) > 1:
        guess = _guess(sample)
        plausible = {name: text for name, text in plausible.items() if text == guess}
    first = next(iter(plausible), "")
    family = next((family for family in FAMILIES if first in family), (first,))
    return tuple(name for name in plausible if name in family)


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
    """Return whether the letters beyond ASCII stand in words of one script and language each, with
    capitals in front, and the signs are such as people write."""
    words = [word for word in re.findall(r"[^\W\d_]+", text) if not word.isascii()]
    languages = [{*letters} for letters in ALPHABETS.get(name, "").split()]
    for word in words:
        scripts = {*_scripts(word)}
        own = {letter for letter in word.lower() if not letter.isascii()}
        if len(scripts) > 1 or (
            scripts == {"LATIN"} and not any(own <= letters for letters in languages)
        ):
            return False
    if words and name not in ALPHABETS and len(_letters(text)) < LETTERS_LEAST:
        return False
    odd = sum(any(a.islower() and b.isupper() for a, b in pairwise(word)) for word in words)
    signs = {sign for sign in text if not sign.isascii() and not sign.isalpha()}
    if odd > ODD_CASE * len(words) or signs & ODD_SIGNS:
        return False
    is_written = all(unicodedata.category(sign)[0] in "PSNZM" for sign in signs)
    return is_written if words else signs <= PLAIN_SIGNS


def _scripts(word: str) -> Iterator[str]:
    for letter in word:
        name = unicodedata.name(letter, "")
        if letter in "ªº" or unicodedata.combining(letter):
            continue
        yield next((script for script in SCRIPTS if name.startswith(script)), "")


def _is_korean(text: str) -> bool:
    letters = _letters(text)
    return len(letters) >= HAN_LEAST and _share("\uac00", "\ud7a3", letters) >= COMMON


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
    return len(letters) >= HAN_LEAST and common >= COMMON * len(letters)


EAST_ASIAN: dict[str, Callable[[str], bool]] = {
    "cp949": _is_korean,
    "euc_jp": _is_japanese,
    "cp932": _is_japanese,
    "gb18030": partial(_is_chinese, plain="gb2312", first=0xB0, last=0xD7),
    "big5": partial(_is_chinese, plain="big5", first=0xA4, last=0xC6),
}
"""Encoding -> whether most characters that it makes of bytes are common ones."""


def _letters(text: str) -> list[str]:
    return [letter for letter in text if letter.isalpha() and not letter.isascii()]


def _share(first: str, last: str, letters: Sequence[str]) -> float:
    return sum(first <= letter <= last for letter in letters) / max(len(letters), 1)
