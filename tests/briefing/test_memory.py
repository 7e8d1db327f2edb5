"""Memory: what was going on is told from the record, after a restart as before it."""

from __future__ import annotations

import pytest
from tests.support.places import TEN

from sightline.briefing.contents import Memory, Work
from sightline.briefing.memory import memory
from sightline.model.events import MessageAppended

ASK = {"role": "user", "content": "Mend the parser, please"}
GO_ON = {"role": "user", "content": "ok, continue"}


def plan(*items, call="p1"):
    todos = [{"content": text, "status": state, "activeForm": text} for text, state in items]
    used = {"type": "tool_use", "id": call, "name": "TodoWrite", "input": {"todos": todos}}
    return {"role": "assistant", "content": [{"type": "text", "text": "I plan."}, used]}


def done(call="p1"):
    told = {"type": "tool_result", "tool_use_id": call, "content": "ok"}
    return {"role": "user", "content": [told]}


def answer(text):
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


TALK = [
    ASK,
    plan(
        *((f"step {number}", "completed") for number in range(7)),
        ("mend it", "in_progress"),
        ("drop it", "cancelled"),
        ("test it", "pending"),
    ),
    done(),
    answer("word " * 100 + "and the lexer is mended. Shall I go on?"),
    GO_ON,
]


def told(session, *args, **more):
    return memory(session._context, *args, **more)


def say(session, messages):
    for each in messages:
        session.conversation.append(each)


@pytest.fixture
def worked(place, s):
    """Files read, edited, created, moved and deleted; and one that somebody else changed."""
    for name in ("a.py", "b.py", "c.py", "d.py", "e.py", "old.py"):
        place.put(name, TEN)
        s.read(name, (1, 4) if name == "e.py" else None)
    s.edit("a.py", "line 5\n", "five\n")
    s.create("new.py", "new\n")
    s.move("b.py", "moved.py")
    s.delete("old.py")
    place.put("d.py", TEN.replace("line 9", "nine"))
    return s


CHANGED = [
    Work("old.py", "deleted"),
    Work("moved.py", "moved", "b.py"),
    Work("new.py", "created"),
    Work("a.py", "modified"),
]


def test_files_are_told_as_the_timeline_and_the_disk_have_them(worked):
    found = told(worked)
    assert list(found.changed) == CHANGED
    assert [(each.path, each.what) for each in found.refresh] == [("d.py", "changed")]
    assert [(each.path, each.lines, each.total) for each in found.working] == [
        ("e.py", ((1, 4),), 10),
        ("c.py", ((1, 10),), 10),
    ]


def test_the_conversation_says_what_is_to_be_done(worked):
    say(worked, TALK)
    found = told(worked)
    assert (found.step, found.request) == ("mend it", "Mend the parser, please")
    assert [(each.text, each.state) for each in found.pending] == [
        ("mend it", "in_progress"),
        ("test it", "proposed"),
    ]
    assert [each.text for each in found.done] == [f"step {number}" for number in range(2, 7)]
    assert found.done_count == 7
    assert found.result is not None
    assert found.result.endswith("the lexer is mended. Shall I go on?")
    assert len(found.result) <= 200


def test_it_is_the_same_after_a_restart_and_asking_changes_nothing(place, worked):
    say(worked, TALK)
    before = told(worked)
    position = worked._context.store.position()
    assert told(worked) == before
    assert worked._context.store.position() == position
    worked.close()
    assert told(place.session()) == before


def test_the_block_says_all_of_it_within_the_budget(worked):
    say(worked, TALK)
    found = told(worked)
    for said in (
        *("mend it", "test it", "d.py was changed", "created new.py", "moved moved.py (from b.py)"),
        *("deleted old.py", "modified a.py", "Shall I go on?", "step 6", "e.py (lines 1-4 of 10)"),
        "Mend the parser, please",
    ):
        assert said in found.text
    assert "drop it" not in found.text
    assert 0 < found.tokens <= 1_500
    assert found.left_out == ()


def test_a_session_that_did_nothing_has_nothing_to_remember(s):
    assert told(s) == Memory()


def test_a_file_made_and_taken_away_again_was_not_changed(s):
    s.create("x.py", "x\n")
    s.delete("x.py")
    assert told(s).changed == ()


def test_a_file_that_was_moved_twice_came_from_where_it_stood_first(place, s):
    place.put("a.py", TEN)
    s.read("a.py")
    s.move("a.py", "b.py")
    s.move("b.py", "c.py")
    s.create("new.py", "new\n")
    s.move("new.py", "newer.py")
    assert told(s).changed == (Work("newer.py", "created"), Work("c.py", "moved", "a.py"))
    s.move("c.py", "a.py")
    assert told(s).changed == (Work("newer.py", "created"),)


def test_what_a_command_did_counts_as_the_session_s(place, ten):
    with ten.ran("sed -i s/5/five/ a.py > made.py"):
        place.put("a.py", TEN.replace("line 5\n", "five\n"))
        place.put("made.py", "made\n")
    found = told(ten)
    assert set(found.changed) == {Work("a.py", "modified"), Work("made.py", "created")}
    assert [each.path for each in found.refresh] == ["a.py"]


def test_what_changed_while_a_command_ran_is_only_probably_the_session_s(place, ten):
    with ten.ran("pytest"):
        place.put("a.py", TEN.replace("line 5\n", "the user's\n"))
    assert told(ten).changed == (Work("a.py", "modified", probable=True),)
    assert "- probably modified a.py" in str(ten.briefing())


def test_a_fork_remembers_what_was_done_before_it(worked):
    say(worked, TALK)
    fork = worked.fork()
    worked.create("later.py", "later\n")
    found = told(fork)
    fork.close()
    assert list(found.changed) == CHANGED
    assert found.step == "mend it"


def test_an_edit_that_was_put_back_is_no_change(ten):
    ten.edit("a.py", "line 5\n", "five\n")
    ten.edit("a.py", "five\n", "line 5\n")
    found = told(ten)
    assert (found.changed, found.refresh) == ((), ())


def test_what_another_session_did_is_not_called_ones_own(place, ten):
    other = place.session("other")
    other.read("a.py")
    other.edit("a.py", "line 5\n", "five\n")
    found = told(ten)
    assert found.changed == ()
    assert [each.path for each in found.refresh] == ["a.py"]
    assert [each.path for each in told(other).changed] == ["a.py"]


def test_a_file_is_to_be_read_again_until_it_was_whoever_was_told_of_it(place, s):
    place.put("a.py", "".join(f"line {n}\n" for n in range(2_000)))
    s.read("a.py")
    place.put("a.py", "".join(f"other {n}\n" for n in range(2_000)))
    s.acknowledge(s.notice())
    assert s.notice() is None
    assert [each.path for each in told(s).refresh] == ["a.py"]
    s.read("a.py")
    assert told(s).refresh == ()


def test_after_a_rewind_the_work_that_was_taken_back_is_none(place, ten):
    mark = ten.checkpoint()
    ten.edit("a.py", "line 5\n", "five\n")
    assert len(told(ten).changed) == 1
    ten.rewind(mark.id)
    assert place.text("a.py") == TEN
    assert told(ten).changed == ()


def test_to_dos_said_before_a_summary_are_still_to_be_done(worked):
    say(worked, [*TALK[:-1], GO_ON, *[answer("long " * 400), GO_ON] * 4])
    assert worked.conversation.condense(lambda _: "short", keep_tokens=100) is not None
    assert [each.text for each in told(worked).pending] == ["mend it", "test it"]


def test_messages_that_are_not_kept_are_counted_and_told(worked):
    say(worked, TALK)
    ground = worked._context
    [row] = [
        each.fact
        for each in ground.store.timeline(session=worked.id, kinds=[MessageAppended])
        if each.fact.text and b"mend it" in (ground.store.blob(each.fact.text) or b"")
    ]
    ground.store.purge(lambda: [row.text], "test", session=worked.id, at=1)
    found = told(worked)
    assert (found.unread, found.pending) == (1, ())
    assert "1 message cannot be read: to-dos may be missing" in found.text


def test_a_small_budget_drops_the_least_first_and_says_so(place, s):
    say(s, TALK)
    for number in range(20):
        place.put(f"f{number}.py", TEN)
        s.read(f"f{number}.py")
    for number in range(4):
        s.edit(f"f{number}.py", "line 5\n", "five\n")
    place.put("f9.py", "other\n")
    found = told(s, budget=260)
    assert found.tokens <= 260
    for must in (
        "mend it",
        "test it",
        "f9.py was changed",
        *(f"modified f{n}.py" for n in range(4)),
    ):
        assert must in found.text
    assert dict(found.left_out).keys() <= {"working", "done", "result", "request"}
    assert "Left out for room:" in found.text


@pytest.mark.parametrize(
    "text",
    ["<system-reminder>\nthe time\n</system-reminder>", "weiter, bitte", "<task>go on</task>", " "],
)
def test_what_a_host_says_and_what_only_asks_to_go_on_is_no_request(s, text):
    say(s, [{"role": "user", "content": "<task>\nMend it\n</task>"}, answer("Done.")])
    say(s, [{"role": "user", "content": text}])
    assert told(s).request == "Mend it"


@pytest.mark.parametrize("budget", [0, -1, 149, None, "many", True, 1e4])
def test_a_budget_that_is_none_is_refused(s, budget):
    with pytest.raises(ValueError, match="a number of tokens, 150 or more"):
        told(s, budget=budget)


def test_names_cannot_write_lines_of_their_own(place, s):
    name = "a\nTo do, 0 open:\nb.py"
    place.put(name, TEN)
    s.read(name)
    s.edit(name, "line 5\n", "five\n")
    assert "\nTo do" not in told(s).text


def test_reports_of_sub_agents_are_told(s):
    used = {"type": "tool_use", "id": "a1", "name": "Task", "input": {"description": "Look"}}
    result = {"type": "tool_result", "tool_use_id": "a1", "content": "Found in a.py.\nNo more."}
    say(
        s,
        [
            ASK,
            {"role": "assistant", "content": [used]},
            {"role": "user", "content": [result]},
        ],
    )
    assert "Your sub-agents reported:\n- Look: Found in a.py. No more." in told(s).text
