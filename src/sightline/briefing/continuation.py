"""Recognise a message that asks to go on, in many languages.

"Continue, please" asks for nothing else: it consists of phrases of continuation.toml, and one of them means
to go on. "Continue with the tests" asks to go on, and has news for the agent: it begins, or in some
languages ends, with a phrase of the tables `begins` and `ends`. A bare "yes" answers a question and is no
continuation.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from functools import cache
from unicodedata import category, normalize

CHARACTERS_MAX = 160
"""Characters of a continuation, without the blanks and tags around it."""

BARRED = str.maketrans("łıøđ", "liod")
"""Letters with a stroke or without a dot; Unicode does not decompose them."""

WRAPPED = re.compile(r"<(task|user_message|feedback|answer|user_query)>(.*)</\1>", re.DOTALL)
"""Tags that hosts put around a person's words."""


def is_continuation(text: str) -> bool:
    """Return whether a message asks to go on, and for nothing else."""
    message = unwrap(text)
    if len(message) > CHARACTERS_MAX:
        return False
    message = normalized(message)
    kinds = _phrases()
    longest = max(map(len, kinds))
    begun, going_on = {0}, set[int]()  # places that phrases lead to, without and with "go on"
    for at in range(len(message)):
        if at not in begun and at not in going_on:
            continue
        for end in range(at + 1, min(at + longest, len(message)) + 1):
            kind = kinds.get(message[at:end])
            # A word ends before a blank; scripts without blanks have no other sign of it.
            ends = end == len(message) or message[end] == " " or message[end - 1] >= "\u0e00"
            if kind is None or not ends:
                continue
            after = end + (message[end : end + 1] == " ")
            if at in going_on or kind == "on":
                going_on.add(after)
            elif kind == "beside":
                begun.add(after)
    return len(message) in going_on


def asks_to_go_on(text: str, own: Iterable[str] = ()) -> bool:
    """Return whether a message asks to go on, perhaps with something. own: further beginnings, as the
    settings have them."""
    if is_continuation(text):
        return True
    message = normalized(unwrap(text)[:CHARACTERS_MAX])
    beside = sorted(
        (p for p, kind in _phrases().items() if kind == "beside"), key=len, reverse=True
    )
    while polite := next((phrase for phrase in beside if _begins(message, phrase)), ""):
        message = message[len(polite) :].lstrip()
    begins = (*_tables()["begins"], *map(normalized, own))
    return any(_begins(message, phrase) for phrase in begins) or message.endswith(_tables()["ends"])


def _begins(message: str, phrase: str) -> bool:
    """Return whether a message begins with a phrase, and the phrase ends with a word."""
    after = message[len(phrase) : len(phrase) + 1]
    ends = after in ("", " ") or phrase[-1:] >= "\u0e00"
    return bool(phrase) and ends and message.startswith(phrase)


def unwrap(text: str) -> str:
    """Return a person's words without blanks and the tag that a host puts around them."""
    message = text.strip()
    inside = WRAPPED.fullmatch(message)
    return (inside[2] if inside else message).strip()


def normalized(text: str) -> str:
    """Return a text without case, accents, signs and pictures: words with one blank between them."""
    plain = normalize("NFKD", text.casefold()).translate(BARRED).replace("'", "").replace("’", "")
    letters = (sign for sign in plain if category(sign) != "Mn")
    words = "".join(sign if category(sign)[0] in "LNM" else " " for sign in letters)
    return " ".join(normalize("NFC", words).split())


@cache
def _phrases() -> dict[str, str]:
    """Return the phrases of a continuation, normalized, each with the name of its table."""
    tables = ("afterwards", "beside", "on")
    return {phrase: name for name in tables for phrase in _tables()[name]}


@cache
def _tables() -> dict[str, tuple[str, ...]]:
    """Return the tables by name: the phrases of each, normalized."""
    with open(os.path.join(os.path.dirname(__file__), "continuation.toml"), "rb") as file:
        tables = tomllib.load(file)
    split = {name: table.replace("\n", ";").split(";") for name, table in tables.items()}
    return {name: tuple(filter(None, map(normalized, each))) for name, each in split.items()}
