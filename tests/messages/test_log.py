"""What is said is kept as it was given, in one chain, whoever asks for it; and bad input is refused."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import UTC, datetime

import pytest

from sightline.checkpoints.gc import gc
from sightline.errors import StoreError, UnknownName
from sightline.messages.message_codec import INLINE_MAX
from sightline.model.events import MessageAppended
from sightline.sessions.lifecycle import delete
from sightline.window.sent_view import Budget

HELLO = {"role": "user", "content": "Please fix the bug"}
PICTURE = b64encode(bytes(range(256)) * 20).decode()


def answer(*calls, text="I will look."):
    used = [{"type": "tool_use", "id": c, "name": "Read", "input": {"file_path": c}} for c in calls]
    return {"role": "assistant", "content": [{"type": "text", "text": text}, *used]}


def results(*calls, text="done"):
    told = [{"type": "tool_result", "tool_use_id": c, "content": text} for c in calls]
    return {"role": "user", "content": told}


def say(session, *messages):
    return [session.conversation.append(message) for message in messages]


def appended(session):
    found = session._context.store.timeline(session=session.id, kinds=[MessageAppended])
    return [each.fact for each in found]


def test_messages_come_back_as_they_were_given(s):
    odd = {**HELLO, "ä": [1.5, None, {"z": 1, "a": "\udcff"}], "cache": {"b": 2, "a": 1}}
    say(s, odd, answer())
    assert json.dumps(s.conversation.messages()) == json.dumps([odd, answer()])
    assert s.conversation.messages(last=1) == [answer()]


def test_the_same_words_behind_the_same_words_are_the_same_message(place, s):
    first, second = say(s, HELLO, answer())
    other = place.session("other")
    assert say(other, HELLO, answer()) == [first, second]
    assert say(other, answer())[0] != second
    assert [fact.parent for fact in appended(s)] == [None, first]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PICTURE},
        },
    ],
    ids=["image", "document"],
)
def test_pictures_are_texts_of_their_own_and_come_back_to_the_byte(place, s, part):
    message = {"role": "user", "content": [{"type": "text", "text": "see"}, part, part]}
    say(s, message, answer(), message)
    assert place.session("s").conversation.messages()[0] == message
    first, _, third = appended(s)
    assert first.media == third.media
    assert len(first.media) == 2
    assert s._context.store.blob(first.media[0]) == bytes(range(256)) * 20
    assert PICTURE.encode() not in s._context.store.blob(first.text)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}]},
        {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": PICTURE}}]},
        {"role": "user", "content": [{"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}"}]},
    ],
    ids=["chat", "gemini", "responses"],
)  # fmt: skip
def test_pictures_of_every_provider_are_taken_out(s, message):
    say(s, message)
    [fact] = appended(s)
    assert len(fact.media) == 1
    assert s.conversation.messages() == [message]


@pytest.mark.parametrize(
    "text",
    [
        "data:image/png;base64,no base64 at all",
        "taken:0:",
        "data:text/plain;base64," + "A" * INLINE_MAX,
    ],
)
def test_a_text_that_only_looks_like_a_picture_stays_one(s, text):
    said = {"role": "user", "content": text}
    given = answer()
    given["content"].append(
        {"type": "tool_use", "id": "1", "name": "Put", "input": {"data": text, "mimeType": "x/y"}}
    )
    say(s, said, given)
    assert s.conversation.messages() == [said, given]


def test_base64_with_line_ends_stays_as_it_is(s):
    lines = "\n".join(PICTURE[n : n + 76] for n in range(0, len(PICTURE), 76))
    source = {"type": "base64", "media_type": "image/png", "data": lines}
    message = {"role": "user", "content": [{"type": "image", "source": source}]}
    say(s, message)
    assert s.conversation.messages() == [message]


BROKEN = {"type": "base64", "media_type": "image/png", "data": "@@@@"}


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("hello", "a message is a mapping"),
        (None, "a message is a mapping"),
        ({}, "of no known format .*: role None, with nothing in it"),
        ({"role": "wizard", "content": "x"}, "of no known format .*: role 'wizard'"),
        ({"role": "user", "content": 3}, "of no known format"),
        ({"role": "user", "parts": [{"text": "x"}]}, "of format gemini, those before it of"),
        (
            {"info": {"role": "user"}, "parts": [{"type": "text", "text": "x"}]},
            "of no known format",
        ),
        ({"ts": 1, "type": "say", "say": "text", "text": "x"}, "of no known format"),
        ({"type": "session", "id": "s", "cwd": "/d", "timestamp": "2026"}, "of no known format"),
        ({**HELLO, "when": datetime(2026, 1, 1, tzinfo=UTC)}, "nothing that JSON can hold"),
        ({**HELLO, "n": float("nan")}, "nothing that JSON can hold"),
        ({**HELLO, "n": {1: 2}}, "the key 1 is no text"),
        (
            {"role": "user", "content": [{"type": "image", "source": BROKEN}]},
            "what stands at content.0.source.data of the message is no base64",
        ),
    ],
)
def test_what_is_no_message_of_this_conversation_is_refused_and_nothing_recorded(s, message, why):
    say(s, HELLO, answer("1"), results("1"))
    with pytest.raises(ValueError, match=why) as caught:
        s.conversation.append(message)
    assert "Nothing was recorded." in str(caught.value)
    assert s.conversation.messages() == [HELLO, answer("1"), results("1")]


def test_a_message_that_holds_itself_is_refused(s):
    message: dict[str, object] = {**HELLO}
    message["self"] = message
    with pytest.raises(ValueError, match="or holds itself"):
        s.conversation.append(message)


@pytest.mark.parametrize(
    "messages",
    [
        [HELLO, answer("1"), HELLO],
        [HELLO, results("1")],
        [HELLO, answer("1"), results("1"), results("1")],
        [HELLO, answer("1"), results("1", "2")],
        [answer("1")],
        [HELLO, answer("1", "1"), results("1")],
    ],
    ids=["no result", "no call", "two results", "one too many", "model first", "an id twice"],
)
def test_what_a_provider_would_refuse_is_kept_and_mended_in_the_view(s, messages):
    from sightline.messages.formats.format import FORMATS

    say(s, *messages)
    assert FORMATS["anthropic"].problems(s.conversation.view()) == []
    assert s.conversation.messages() == messages


@pytest.mark.wide
def test_a_result_of_20_mb_is_kept_and_folded(s):
    big = "x = 1\n" * (20_000_000 // 6)
    say(s, HELLO, answer("1"), results("1", text=big))
    assert s.conversation.messages(last=1) == [results("1", text=big)]
    say(s, answer(), HELLO)
    for n in range(12):
        say(s, answer(f"c{n}"), results(f"c{n}"))
    view = json.dumps(s.conversation.view(Budget(hard=50_000)))
    assert len(view) < 10_000
    name = view.partition("expand ")[2].partition("]")[0]
    assert s.conversation.expand(name) == big


def test_an_empty_conversation_has_an_empty_view(s):
    conversation = s.conversation
    assert (conversation.messages(), conversation.view(), conversation.display()) == ([], [], [])
    with pytest.raises(UnknownName):
        conversation.expand("12345678")
    with pytest.raises(UnknownName):
        conversation.rewind("nothing")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"budget": 0}, "1 or more, not 0"),
        ({"budget": True}, "1 or more, not True"),
        ({"budget": "10k"}, "1 or more, not '10k'"),
        ({"price": "free"}, "no price 'free'; there are: 0.10/1.25"),
        ({"policy": "bold"}, "no policy 'bold'; there are: default, careful"),
        ({"idle_s": -1}, "0 or more, not -1"),
    ],
)
def test_a_view_that_cannot_be_asked_for_says_what_can(s, asked, why):
    with pytest.raises(ValueError, match=why):
        s.conversation.view(**asked)


@pytest.mark.wide
def test_only_so_many_of_the_last_messages_are_asked_for_across_forks_and_sides(place, s):
    for n in range(150):
        say(s, {"role": "user", "content": f"{n}"})
        s.conversation.side("explore").append({"role": "user", "content": f"side {n}"})
    child = s.fork("child")
    place.opened.append(child)
    say(child, {"role": "user", "content": "150"})
    said = [m["content"] for m in child.conversation.messages(last=120)]
    assert said == [f"{n}" for n in range(31, 151)]
    with pytest.raises(ValueError, match="1 or more"):
        s.conversation.messages(last=0)


def test_side_chains_are_tied_to_the_message_that_called_them(place, s):
    _, called = say(s, HELLO, answer("1"))
    side = s.conversation.side("explore")
    side.append({"role": "user", "content": "look for it"})
    say(s, results("1"))
    side.append(answer(text="found"))
    again = place.session("s").conversation
    assert again.messages() == [HELLO, answer("1"), results("1")]
    assert again.side("explore").messages()[1] == answer(text="found")
    assert again.sides() == {"explore": called}
    with pytest.raises(ValueError, match="a side chain has a name"):
        side.side("deeper")


def test_a_rewind_goes_back_in_the_conversation_and_leaves_the_files(place, ten):
    one, two = say(ten, HELLO, answer("1"))
    ten.edit("a.py", "line 3", "mine")
    say(ten, results("1"), answer())
    report = ten.conversation.rewind(two)
    assert report.conversation
    assert report.warning is not None
    assert "mine" in place.text("a.py")
    assert ten.conversation.messages() == [HELLO, answer("1")]
    ten.conversation.rewind(two, before=True)
    assert ten.conversation.messages() == [HELLO]
    ten.conversation.rewind(two)
    assert ten.conversation.messages() == [HELLO, answer("1")]
    assert say(place.session("s"), answer())[0] not in (one, two)


def test_a_rewind_of_a_fork_goes_back_into_its_parents_messages(place, s):
    one, *_ = say(s, HELLO, answer())
    child = s.fork("child")
    grandchild = child.fork("grandchild")
    place.opened += [child, grandchild]
    say(grandchild, HELLO)
    grandchild.conversation.rewind(one)
    assert grandchild.conversation.messages() == [HELLO]
    assert child.conversation.messages() == [HELLO, answer()]


def test_messages_of_two_processes_stand_in_one_chain(place, s):
    other = place.session("s")
    for n in range(3):
        say(s, {"role": "user", "content": f"one {n}"})
        say(other, {"role": "user", "content": f"two {n}"})
    facts = appended(s)
    assert [fact.parent for fact in facts[1:]] == [fact.message for fact in facts[:-1]]
    assert s.conversation.messages() == other.conversation.messages()


def test_a_message_that_is_not_kept_any_more_is_an_error_and_not_left_out(s):
    say(s, HELLO, answer())
    context = s._context
    context.store.purge(lambda: [appended(s)[0].text], "secret", session="s", at=1, secret=True)
    with pytest.raises(StoreError, match="is not kept any more"):
        s.conversation.messages()


def test_gc_keeps_the_texts_of_a_conversation_until_it_is_deleted(place, s):
    say(s, HELLO, answer("1"), results("1"))
    later = place.session("later", clock=lambda: 10**16)
    assert later._context.clock() > s._context.clock()
    gc(later._context, place.settings(), age_us=1)
    assert len(s.conversation.messages()) == 3
    delete(later._context, "s", force=True)
    assert s.conversation.messages() == []
    assert gc(later._context, place.settings(), age_us=1).texts


def test_at_is_when_it_was_said(s):
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    s.conversation.append(HELLO, at=at)
    assert s.conversation.display()[0].at == at
    with pytest.raises(ValueError, match="time zone"):
        s.conversation.append(HELLO, at=datetime(2026, 1, 2))  # noqa: DTZ001
