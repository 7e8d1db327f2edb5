"""Tools of MCP servers: they really read and write, between the two events that tell of a call."""

import json

import pytest
from tests.clients.file_server import call as carry_out
from tests.hooks.handlers.shell import facts, seen

from sightline.agents.claude_code.dialect import events
from sightline.hooks.dispatch import attend
from sightline.model.attempts import WriteWhole
from sightline.model.events import Changed, CheckpointTaken, TurnBegan
from sightline.model.hook_events import Answered, Attempted, CallBegan, CallEnded

TEN = "".join(f"line {n}\n" for n in range(1, 11))
THEIRS = TEN.replace("line 3", "by the user")


def use(place, session, tool, *, during=None, wrap=None, shown=None, **given):
    """Return what the agent is answered when it calls a tool. during: what somebody does meanwhile; wrap:
    the form that the client reports a text in; shown: the result, where it is not the tool's own."""
    common = {"session_id": session.id, "cwd": str(place.root), "tool_name": f"mcp__files__{tool}"}
    common |= {"tool_use_id": f"m{len(facts(session))}", "tool_input": given}
    [before] = events(common | {"hook_event_name": "PreToolUse"})
    asked = attend(session, before)
    if asked.refuse:
        return asked
    at = {name: str(place.root / given[name]) for name in ("path", "to") if name in given}
    try:
        text = carry_out(tool, given | at) if shown is None else shown
    except OSError as error:
        failed = {"hook_event_name": "PostToolUseFailure", "error": str(error)}
        [after] = events(common | failed)
        return attend(session, after)
    if during:
        during()
    response = wrap(text) if wrap else [{"type": "text", "text": text}]
    [after] = events(common | {"hook_event_name": "PostToolUse", "tool_response": response})
    return attend(session, after)


def causes(session, path):
    return [(f.cause.kind, f.cause.confidence) for f in facts(session, Changed) if f.path == path]


@pytest.fixture
def a(place):
    place.put("a.txt", TEN)
    return place


# What a call changed


def test_what_a_tool_edited_is_the_agents_own(place, ten):
    told = use(place, ten, "edit_file", path="a.py", old="line 3\n", new="LINE 3\n").context
    assert causes(ten, "a.py") == [("command", "certain")]
    assert "by the command you ran: mcp__files__edit_file a.py" in told
    assert "the user" not in told
    assert attend(ten, Answered()).context == ""
    assert ten.check("a.py").state == "fresh"


def test_a_whole_text_that_a_tool_wrote_is_known_to_who_gave_it(place, ten):
    mine = TEN.replace("line 9", "LINE 9")
    assert use(place, ten, "write_file", path="a.py", content=mine).context == ""
    assert causes(ten, "a.py") == [("command", "certain")]
    assert ten.check("a.py").state == "fresh"


def test_a_new_file_that_a_tool_wrote_is_known(place, s):
    use(place, s, "write_file", path="new.txt", content=TEN)
    assert causes(s, "new.txt") == [("command", "certain")]
    assert s.check("new.txt").complete


@pytest.mark.parametrize(
    ("mine", "what"),
    [
        (TEN.replace("line 9", "LINE 9"), "-line 3\n+by the user"),
        (TEN.replace("line 3", "LINE 3"), "-line 3\n+by the user"),
        (THEIRS.replace("line 9", "LINE 9"), ""),
    ],
    ids=["elsewhere", "in the same line", "which holds the save"],
)
def test_a_save_that_a_write_of_a_tool_lost_is_told_and_kept(place, ten, mine, what):
    cwd, given = str(place.root), (str(place.root / "a.py"), mine)
    attend(ten, CallBegan("mcp__files__write_file", given, "m", cwd))
    place.put("a.py", THEIRS)
    place.session("other").read("a.py")  # whose look records the save
    before = facts(place.session("other"), Changed)[0].after
    place.put("a.py", mine)
    told = attend(ten, CallEnded("mcp__files__write_file", given, "m", cwd, ("Done",))).context
    assert ("your command wrote over these changes" in told) == bool(what)
    assert what in told
    assert ten._context.store.blob(before) == THEIRS.encode()


def test_a_stale_write_of_a_tool_is_refused_once_with_what_it_would_lose(place, ten):
    place.put("a.py", THEIRS)
    mine = TEN.replace("line 9", "LINE 9")
    refused = use(place, ten, "write_file", path="a.py", content=mine)
    assert "+by the user" in refused.refuse
    assert "send the same command again" in refused.refuse
    assert place.text("a.py") == THEIRS
    attend(ten, Answered())
    assert use(place, ten, "write_file", path="a.py", content=mine).refuse is None
    assert place.text("a.py") == mine


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("read_text_file", {"head": 3}),
        ("edit_file", {"old": "line 9\n", "new": "LINE 9\n"}),
        ("edit_file", {"old": TEN[:-16], "new": TEN[:-16].replace("line 5", "x")}),
        ("write_file", {"content": THEIRS.replace("line 9", "LINE 9")}),
        ("write_file", {"content": "another text\n"}),
    ],
)
def test_a_call_that_loses_nothing_that_is_known_is_not_refused(place, ten, tool, given):
    place.put("a.py", THEIRS)
    assert use(place, ten, tool, path="a.py", **given).refuse is None


def test_the_turns_checkpoint_is_taken_before_a_tool_of_another_program(place, ten):
    ten._context.append([TurnBegan(1, "")])
    use(place, ten, "edit_file", path="a.py", old="line 3", new="LINE 3")
    [taken] = facts(ten, CheckpointTaken)
    assert "mcp__files__edit_file" in taken.label
    [checkpoint] = ten.checkpoints()
    assert ten.rewind(checkpoint.id).restored == ("a.py",)
    assert place.text("a.py") == TEN


def test_a_tool_that_failed_and_changed_nothing_says_nothing(place, ten):
    assert use(place, ten, "read_text_file", path="missing.txt").context == ""
    assert facts(ten, Changed) == []


def test_a_save_during_a_call_that_does_not_name_the_file_is_only_probably_the_calls(place, ten):
    place.put("b.txt", "b\n")
    save = lambda: place.put("a.py", THEIRS)  # noqa: E731
    told = use(place, ten, "read_text_file", path="b.txt", during=save).context
    assert causes(ten, "a.py") == [("command", "likely")]
    assert "probably" in told


# What a result showed

FORMS = {
    "a block of text": None,
    "structured content": lambda text: json.dumps({"content": text}),
    "JSON in a block": lambda text: [{"type": "text", "text": json.dumps({"text": text})}],
    "several blocks": lambda text: [
        {"type": "text", "text": "a.txt"},
        {"type": "text", "text": text},
        {"type": "image", "data": "x"},
    ],
    "without the newline at the end": lambda text: text.removesuffix("\n"),
    "with Windows line ends": lambda text: text.replace("\n", "\r\n"),
    "between other lines": lambda text: f"a.txt:\n{text}---\n",
    "in a fence": lambda text: f"```\n{text}```",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_result_that_holds_a_files_text_shows_the_file(a, form):
    session = a.session()
    use(a, session, "read_text_file", path="a.txt", wrap=FORMS[form])
    assert session.check("a.txt").complete
    assert session.files()[0].via == "tool"
    allowed = attend(session, Attempted.single("a.txt", WriteWhole("mine\n"), "w"))
    assert allowed.refuse is None


@pytest.mark.parametrize(
    ("result", "lines"),
    [
        ("line 1\nline 2\n", ((1, 2),)),
        ("line 4\nline 5\nline 6", ((4, 6),)),
        ("3: line 3\n4: line 4", ((3, 4),)),
        ("     3\tline 3\n     4\tline 4\n", ((3, 4),)),
        ("3→line 3\n4→line 4\n", ((3, 4),)),
        (" 3 | line 3\n 4 | line 4\n", ((3, 4),)),
        ("Lines 4-9:\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\nEnd.", ((4, 9),)),
        ("3: line 4\n", ()),
        ("Edited a.txt", ()),
        ("line", ()),
        ("Line 3\n", ()),
        ("", ()),
    ],
)
def test_a_result_that_holds_lines_of_a_file_shows_these(a, result, lines):
    session = a.session()
    use(a, session, "read_text_file", path="a.txt", shown=result)
    assert seen(session, "a.txt") == lines


def test_lines_that_stand_twice_in_the_file_do_not_count(place, s):
    place.put("a.txt", "x\ny\n" * 2)
    use(place, s, "read_text_file", path="a.txt", shown="x\ny\n")
    assert seen(s, "a.txt") == ()


def test_a_result_that_the_client_cuts_shows_nothing(place, s):
    place.put("a.txt", "some line of text\n" * 5_000)
    use(place, s, "read_text_file", path="a.txt")
    assert s.files() == []


def test_a_file_that_is_not_named_is_not_looked_for(a):
    session = a.session()
    use(a, session, "read_text_file", path="b.txt", shown=TEN)
    assert session.files() == []


def test_a_tool_may_not_read_what_an_ignore_file_refuses(place, s):
    place.put(".sightlineignore", "secret.txt\n")
    place.put("secret.txt", "secret\n")
    assert "secret.txt" in use(place, s, "read_text_file", path="secret.txt").refuse
