"""Whatever is said, asked, taken back and resumed: the history stays, and its views are right."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.messages.formats.histories import NAMES, broken, histories
from tests.support.examples import examples

from sightline.messages.formats.format import FORMATS
from sightline.testing import MemoryWorkspace, make_session
from sightline.window.folding import Rules
from sightline.window.words import name_of

each_format = pytest.mark.parametrize("name", NAMES)

EAGER = Rules("eager", soft=1, keep=1, share=0, least=5)
"""Rules by which all goes that may go, as soon as it may."""

LOW = {"policy": EAGER, "price": "none"}


def asked(session, **more):
    return json.dumps(session.conversation.view(**{**LOW, **more}), ensure_ascii=False)


def told(session):
    return json.dumps(session.conversation.messages(), ensure_ascii=False)


def is_right(name, view):
    return FORMATS[name].problems(view) == []


class Stage:
    """A workspace in memory, and sessions over it, each as a process of its own would open it."""

    def __init__(self):
        self.workspace = MemoryWorkspace()
        self.ticks = iter(range(10**15, 10**18, 10**6))

    def session(self, id):
        return make_session(self.workspace, id=id, clock=lambda: next(self.ticks))


def test_fields_of_the_host_stay_in_the_messages_and_are_not_sent():
    session = Stage().session("s")
    text = {"type": "text", "text": "hello", "ts": 5}
    given = [
        {"role": "user", "content": [text], "ts": 1, "isSummary": True},
        {"role": "assistant", "content": "hi", "ts": 2, "metrics": {"cost": 0.1}},
        {"role": "user", "content": "go on"},
    ]
    for message in given:
        session.conversation.append(message)
    assert session.conversation.messages() == given
    assert session.conversation.view() == [
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        {"role": "assistant", "content": "hi"},
        {"role": "user", "content": "go on"},
    ]


STEPS = st.lists(
    st.sampled_from(["say", "say", "say", "view", "view", "resume", "fork", "rewind"]), max_size=30
)


@pytest.mark.wide
@each_format
@settings(max_examples=examples(25))
@given(data=st.data())
def test_any_way_through_a_conversation_leaves_valid_views(name, data):
    """Views are valid, asking again changes nothing, and what was seen at a step is seen there by
    every process, and again after each rewind and in each fork."""
    messages = data.draw(histories(name))
    room, number = Stage(), 0
    ids: list[str] = []
    views: dict[int, str] = {}
    session = room.session("s0")
    for step in data.draw(STEPS):
        if step == "say" and len(ids) < len(messages):
            ids.append(session.conversation.append(messages[len(ids)]))
            views.pop(len(ids), None)
        elif step == "view" and ids:
            seen = asked(session)
            assert seen == asked(session)
            assert views.setdefault(len(ids), seen) == seen
            assert is_right(name, json.loads(seen))
        elif step == "resume":
            session = room.session(session.id)
        elif step == "fork":
            number += 1
            session = session.fork(f"s{number}")
        elif step == "rewind" and ids:
            ids = ids[: data.draw(st.integers(1, len(ids)))]
            session.conversation.rewind(ids[-1])
            views = {at: seen for at, seen in views.items() if at <= len(ids)}
        assert told(session) == json.dumps(messages[: len(ids)], ensure_ascii=False)
        if len(ids) in views and step in ("resume", "fork", "rewind"):
            assert asked(session) == views[len(ids)]


@pytest.mark.wide
@each_format
@settings(max_examples=examples(25))
@given(data=st.data())
def test_a_broken_history_is_kept_as_it_is_and_its_views_are_mended(name, data):
    messages = data.draw(broken(name))
    session = Stage().session("s")
    kept = []
    for message in messages:
        try:
            session.conversation.append(message)
        except ValueError:
            pass
        else:
            kept.append(message)
        assert is_right(name, json.loads(asked(session)))
    assert told(session) == json.dumps(kept, ensure_ascii=False)


@pytest.mark.wide
@each_format
@settings(max_examples=examples(15))
@given(data=st.data())
def test_a_stub_is_expanded_to_the_very_text(name, data):
    messages = data.draw(histories(name))
    session = Stage().session("s")
    for message in messages:
        session.conversation.append(message)
        asked(session)
    form = FORMATS[name]
    blocks = {(b.message, b.part): b for b in form.blocks(messages, len)}
    view = asked(session)
    for number, shown in enumerate(session.conversation.display()):
        for part in shown.folded:
            text = blocks[number, part].text
            stub_name = name_of(text)
            assert stub_name in view
            assert session.conversation.expand(stub_name) == text
