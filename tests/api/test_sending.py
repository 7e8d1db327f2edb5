"""What leaves for a model or a provider is UTF-8, whatever bytes files and histories hold."""

from __future__ import annotations

import json
import random

import pytest
from tests.support.examples import examples, few_examples

from sightline import EditRefused
from sightline.conversation.formats.format import FORMATS

PIECES = [
    b"line\n",
    b"x = 1\n",
    "é\n".encode(),
    b"\xff",
    b"\xf0\x9f\x98",
    b"\xed\xa0\x80",
    b"\xc3\n",
]
"""Parts of files: text, broken bytes, half a character, a surrogate as some programs write it."""


def texts(value):
    """Yield every text in an answer."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, field in value.items():
            yield key
            yield from texts(field)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from texts(each)
    elif hasattr(value, "__struct_fields__"):
        for name in value.__struct_fields__:
            yield from texts(getattr(value, name))
    elif isinstance(value, Exception):
        yield from texts(vars(value))
        yield str(value)


def answers(place, session, dice):
    """Yield what a session answers about a file whose bytes others change."""
    data = b"".join(dice.choices(PIECES, k=dice.randint(1, 12)))
    place.put("a.txt", data)
    shown = session.read("a.txt")
    yield shown
    later = data + b"".join(dice.choices(PIECES, k=2))
    place.put("a.txt", dice.choice([later, later[::-1], b"\xff" + later]))
    yield session.changes()
    yield session.check("a.txt")
    yield session.briefing()
    for act in (
        lambda: session.edit("a.txt", dice.choice(["x = 1", "line", "é", "�"]), "y"),
        lambda: session.write("a.txt", shown.text + "more\n"),
        lambda: session.patch("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-line\n+\ud83d\n"),
        lambda: session.apply([{"path": "a.txt", "edits": [{"old": "line", "new": "\udcff"}]}]),
    ):
        try:
            yield act()
        except (EditRefused, ValueError) as error:
            yield error
    yield session.read("a.txt")
    place.put("a.txt", b"\xfe\n" + data)
    yield session.notice()
    yield session.changes()


@pytest.mark.wide
@pytest.mark.hypothesis
def test_every_answer_about_invalid_bytes_can_be_sent(place):
    for seed in range(few_examples(4, examples(100))):
        session = place.session(f"s{seed}")
        for answer in answers(place, session, random.Random(seed)):
            for text in texts(answer):
                text.encode()


MESSAGE = {
    "anthropic": {"role": "user", "content": [{"type": "text", "text": "cut \ud83d"}]},
    "chat": {"role": "user", "content": "cut \ud83d"},
    "gemini": {"role": "user", "parts": [{"text": "cut \ud83d"}]},
}


@pytest.mark.parametrize("format", sorted(MESSAGE))
def test_a_view_can_be_sent_and_the_conversation_keeps_what_it_was_given(s, format):
    s.conversation.append(MESSAGE[format])
    [sent] = s.conversation.view(10**9)
    json.dumps(sent, ensure_ascii=False).encode()
    assert "cut �" in json.dumps(sent, ensure_ascii=False)
    assert s.conversation.messages() == [MESSAGE[format]]
    assert not FORMATS[format].problems([sent])
