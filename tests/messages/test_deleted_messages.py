"""What messages that were taken out of a conversation tell of files."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.messages.calls_of import FORMATS, PATHS
from tests.support.examples import widely
from tests.support.places import TEN

import sightline
from sightline.checkpoints.changed_since import about_rewind
from sightline.hooks.dispatch import attend
from sightline.messages.deleted_messages import read_deleted
from sightline.model.events import CheckpointTaken, MessageAppended, RewindEnded
from sightline.model.hook_events import Prompted, Stopped
from sightline.notices import warnings as service
from sightline.sessions import lifecycle


def use(name, id="c1", **given):
    return {"role": "assistant", "content": [_use(name, id, given)]}


def _use(name, id, given):
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def paths(found):
    return [each.path for each in found]


def prompt(session):
    said = attend(session, Prompted("and the tests?")).context
    attend(session, Stopped())
    return said


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_names_the_same_files(place, s, name):
    found = s.edited_since(0, deleted_messages=FORMATS[name])
    assert paths(found) == PATHS
    assert all(each.from_messages and each.mine and not each.others for each in found)
    assert {(each.by, each.at, each.position, each.lines) for each in found} == {(None,) * 4}
    assert found.unread == ()


def test_what_is_on_record_is_told_by_the_record(place, ten):
    ten.edit("a.py", "line 5\n", "five\n")
    [found] = ten.edited_since(0, deleted_messages=[use("Edit", file_path=f"{place.root}/a.py")])
    assert (found.from_messages, found.lines) == (False, ((5, 5),))
    assert found.by.kind == "agent"


def test_what_came_to_nothing_is_left_out(place, ten):
    """The call was refused, or what it did was taken back: the record knows the file."""
    place.put("b.py", TEN)
    ten.read("b.py")
    now = ten._context.store.position()
    ten.edit("b.py", "line 5\n", "five\n")
    place.put("b.py", TEN)
    asked = [use("Edit", file_path="a.py"), use("Edit", file_path="b.py")]
    assert ten.edited_since(now, deleted_messages=asked) == []


def test_an_edit_before_that_moment_may_be_the_one(place, ten):
    """When the messages began nobody knows, so the session's earlier edit may be theirs."""
    ten.edit("a.py", "line 5\n", "five\n")
    now = ten._context.store.position()
    [found] = ten.edited_since(now, deleted_messages=[use("Edit", file_path="a.py")])
    assert (found.path, found.from_messages) == ("a.py", True)


def test_a_file_that_was_seen_only_later_is_told(place, s):
    now = s._context.store.position()
    place.put("a.py", TEN)
    s.read("a.py")
    assert paths(s.edited_since(now, deleted_messages=[use("Write", file_path="a.py")])) == ["a.py"]


def test_a_message_that_is_on_record_widens_it_like_its_id(place, ten):
    context = ten._context
    context.append([MessageAppended("m1", None, "user")])
    ten.edit("a.py", "line 5\n", "five\n")
    context.append([CheckpointTaken("c1", "", "m")])
    said = {"role": "assistant", "content": "Done."}
    for message in (
        "m1",
        {**said, "id": "m1"},
        {"type": "assistant", "uuid": "m1", "message": said},
        {"type": "assistant", "uuid": "u1", "message": {**said, "id": "m1"}},
        SimpleNamespace(id="m1", **said),
    ):
        [found] = ten.edited_since(deleted_messages=[message])
        assert (found.path, found.from_messages) == ("a.py", False)
    assert ten.edited_since(deleted_messages="m1") == [found], "one alone needs no list"
    assert ten.edited_since(deleted_messages={**said, "id": "m1"}) == [found]
    assert ten.edited_since(deleted_messages={**said, "id": "m2"}) == []


def test_files_elsewhere_and_folders_are_none_of_it(place, s):
    place.put("lib/a.py", TEN)
    place.put(".sightlineignore", "secret/\n")
    asked = [
        use("Write", file_path="/elsewhere/a.py"),
        use("Write", file_path="../a.py"),
        use("Write", file_path="~/a.py"),
        use("Write", file_path="secret/a.py"),
        use("Write", file_path=".git/config"),
        use("Write", file_path="a\0.py"),
        use("Write", file_path="\ud800.py"),
        use("Write", file_path="x" * 100_000),
        use("Bash", command="rm -r lib; make > /dev/null"),
        use("Read", file_path="lib/a.py"),
    ]
    found = s.edited_since(0, deleted_messages=asked)
    assert (found, found.unread) == ([], ())


def test_relative_paths_begin_where_a_transcript_says(place, s):
    row = {
        "type": "assistant",
        "cwd": f"{place.root}/lib",
        "message": use("Edit", file_path="a.py"),
    }
    assert paths(s.edited_since(0, deleted_messages=[row])) == ["lib/a.py"]


def test_edits_that_cannot_be_read_are_told(place, s):
    cut = {"id": "c2", "function": {"name": "write_file", "arguments": '{"path": "a.py", "con'}}
    cut_read = {"id": "c3", "function": {"name": "read_file", "arguments": '{"path": '}}
    asked = ["m0", {"tool_calls": [cut, cut_read]}, use("Edit", file_path=7)]
    found = s.edited_since(0, deleted_messages=asked)
    assert found == []
    assert [(each.message, each.tool, each.id) for each in found.unread] == [
        (2, "write_file", "c2"),
        (3, "Edit", "c1"),
    ]


@pytest.mark.parametrize("what", [None, 7, b"m1", ["m1"]])
def test_what_is_no_message_is_refused(s, what):
    with pytest.raises(ValueError, match="deleted message 2 is of type"):
        s.edited_since(deleted_messages=["m1", what])


# --- the warning of them


def back(session, to, messages=()):
    """The host took the conversation back, and the messages with it."""
    session._context.append([RewindEnded(to)])
    fact = about_rewind(session._context, to, read_deleted(session._context, messages))
    return fact and service.warning_of(session._context.append([fact])[0])


@pytest.mark.parametrize("name", [*[*FORMATS][:3], *widely(*[*FORMATS][3:])])
def test_the_whole_story(place, name):
    """Warned of, still there after a restart, told to the model once, acknowledged, gone."""
    place.put("app.py", "one\n")
    before = place.session()
    before.read("app.py")
    to = before._context.store.position()
    before.edit("app.py", "one\n", "two\n")
    assert back(before, to, FORMATS[name]) is not None
    before.close()
    s = place.session()
    [warning] = s.warnings()
    assert warning.paths == tuple(PATHS)
    assert warning.text == (
        "The conversation went back, and the files did not: 1 file was edited after that point (by"
        " this agent: app.py). Messages that were removed from it ask for edits of docs/new.md,"
        " notes.txt. Whether these edits were made is not recorded. What the conversation says of them"
        " may be older than what stands on disk: read them again before relying on them."
    )
    assert prompt(s).startswith(f"Sightline warns you: {warning.text}\n")
    assert prompt(s) == ""
    s.close()
    again = place.session()
    assert (prompt(again), again.warnings()) == ("", [warning])
    again.acknowledge(warning.id)
    again.close()
    assert place.session().warnings() == []


def test_of_one_file_and_of_none_that_is_known(place, s):
    warning = back(s, 0, [use("Write", file_path="a.py")])
    assert warning.text == (
        "The conversation went back, and the files did not. Messages that were removed from it ask"
        " for edits of a.py. Whether these edits were made is not recorded. What the conversation says"
        " of it may be older than what stands on disk: read it again before relying on it."
    )
    warning = back(s, 0, [use("Edit"), use("Edit"), use("x" * 500 + "__Write")])
    assert warning.paths == ()
    assert warning.text == (
        "The conversation went back, and the files did not. 3 edits in deleted messages cannot be"
        f" read (Edit, {'x' * 53}__Write): which files were written there is not known. What the"
        " conversation says of files may be older than what stands on disk: read them again before"
        " relying on them."
    )
    assert back(s, s._context.store.position(), [use("Read", file_path="b.py"), "m1"]) is None


def test_a_second_rewind_warns_of_what_lies_behind_it_too(place, ten):
    first = ten.checkpoint("first")
    ten.edit("a.py", "line 2\n", "two\n")
    second = ten.checkpoint("second")
    ten.create("b.py", "x\n")
    near = ten.rewind(second, files=False, conversation=True).warning
    assert near is not None
    assert near.paths == ("b.py",)
    assert near.text in prompt(ten)
    far = ten.rewind(first, files=False, conversation=True).warning
    assert far is not None
    assert far.paths == ("a.py", "b.py")
    assert ten.warnings() == [near, far]
    said = prompt(ten)
    assert near.text in said, "what it was told went with the conversation"
    assert far.text in said
    assert prompt(ten) == ""
    ten.acknowledge(near)
    ten.acknowledge(far)
    assert ten.warnings() == []


def test_what_is_no_message_is_refused_before_anything_is_rewound(ten):
    before = ten._context.store.position()
    with pytest.raises(ValueError, match="deleted message 1"):
        ten.rewind(0, files=False, conversation=True, deleted_messages=[7])
    assert ten._context.store.position() == before


def test_the_warning_is_recorded_in_one_step_with_the_end_of_the_rewind(place, ten):
    begin = ten.checkpoint("begin")
    ten.edit("a.py", "line 5\n", "five\n")
    asked = [use("Write", file_path="b.py")]
    report = ten.rewind(begin, files=False, conversation=True, deleted_messages=asked)
    assert report.warning.paths == ("a.py", "b.py")
    last = list(ten._context.store.timeline(newest=2))
    assert [type(each.fact).__name__ for each in last] == ["RewindEnded", "WarningRaised"]


def test_a_fork_keeps_its_own_and_a_deleted_session_leaves_none(place, ten):
    mine = back(ten, 0, [use("Write", file_path="b.py")])
    fork = ten.fork("f")
    place.opened.append(fork)
    own = fork.warn("of the fork")
    lifecycle.delete(ten._context, "s", force=True)
    assert fork.warnings() == [own] == service.pending(fork._context)
    with pytest.raises(sightline.UnknownName):
        fork.acknowledge("w-none")
    fork.acknowledge(mine)  # it is gone: nothing to say against it
