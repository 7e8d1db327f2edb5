"""Recognise a message that only asks to go on, in many languages.

"Continue, please" is such a message. "Continue with the tests instead" is a new request: it has news
for the agent. A text is a continuation when it consists of phrases of continuation.toml, and one of
them means to go on. A bare "yes" answers a question and is no continuation.
"""

from __future__ import annotations

import os
import re
import tomllib
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
    """Return every phrase of the tables, normalized, with the name of its table."""
    with open(os.path.join(os.path.dirname(__file__), "continuation.toml"), "rb") as file:
        tables = tomllib.load(file)
    return {
        normalized(phrase): kind
        for kind, phrases in tables.items()
        for phrase in phrases.replace("\n", ";").split(";")
        if normalized(phrase)
    }
