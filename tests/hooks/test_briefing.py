"""What is due before the next turn, through real hook calls."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from sightline.cli.group import cli
from sightline.filesystem.ignore.rules import WILDCARDS_MAX
from sightline.hooks.handlers.answer_delivery import deliver_briefing
from sightline.model.events import NoticeDelivered, PartHanded


def context(said):
    return said.get("hookSpecificOutput", {}).get("additionalContext", "")


def prompt(host, text):
    return context(host.ask(host.payload("UserPromptSubmit", prompt=text)))


def start(host, source):
    return context(host.ask(host.payload("SessionStart", source=source)))


@pytest.fixture
def busy(host):
    """A conversation whose agent read two files and edited one, which another imports."""
    start(host, "startup")
    app = host.put("app.py", "import prices\n\nTAX = 1\n")
    host.put("prices.py", "PRICE = 2\n")
    host.put("test_app.py", "import app\n\n\ndef test(): ...\n")
    host.ask(host.shown(app, "import prices\n\nTAX = 1\n"))
    with host.session() as session:
        session.edit("app.py", "TAX = 1", "TAX = 3")
    return host


def test_what_belongs_to_an_edit_is_named_once_and_not_shown(busy):
    said = prompt(busy, "and the docs?")
    assert said.startswith("Files related to those you edited (app.py)")
    assert "prices.py, 1 line: " in said
    assert "test_app.py, 4 lines: " in said
    assert "PRICE" not in said
    busy.ask(busy.payload("Stop"))
    assert prompt(busy, "and the docs?") == ""
    assert busy.faults() == []


def test_a_message_that_asks_to_go_on_brings_what_was_going_on(busy):
    prompt(busy, "and the docs?")
    busy.ask(busy.payload("Stop"))
    said = prompt(busy, "weiter")
    assert "modified app.py" in said
    busy.ask(busy.payload("Stop"))
    assert prompt(busy, "weiter") == ""


@pytest.mark.parametrize("source", ["resume", "compact"])
def test_a_conversation_that_goes_on_is_told_where_it_stands(busy, source):
    busy.put("app.py", "import prices\n\nTAX = 4\n")
    said = start(busy, source)
    assert "+TAX = 4" in said
    assert "modified app.py" in said
    assert "app.py was changed" not in said
    assert "turns ago" not in said
    assert "read them again" not in said
    assert len(said) < 9_000
    assert busy.faults() == []


def test_after_a_summary_it_is_told_again_where_the_work_stands(busy):
    said = start(busy, "resume")
    assert "modified app.py" in said
    busy.ask(busy.payload("Stop"))
    assert start(busy, "resume") == ""
    busy.ask(busy.payload("PreCompact", trigger="auto"))
    assert "modified app.py" in start(busy, "compact")


def test_a_summary_names_no_change_that_the_next_prompt_shows(busy):
    """What notices had told is told again with the prompt, and not beside it."""
    busy.put("app.py", "import prices\n\nTAX = 4\n")
    assert "+TAX = 4" in prompt(busy, "and the docs?")
    busy.ask(busy.payload("Stop"))
    busy.ask(busy.payload("PreCompact", trigger="auto"))
    assert "read them again" not in start(busy, "compact")
    said = prompt(busy, "and now the tests")
    assert "+TAX = 4" in said
    assert said.count("app.py") == 1


def test_a_new_conversation_is_told_nothing(host):
    host.put("app.py", "x\n")
    assert start(host, "startup") == start(host, "resume") == ""


def test_a_listing_that_was_asked_for_comes_with_the_next_prompt(busy):
    with busy.session() as session:
        session.request_listings(["."])
    said = prompt(busy, "and the docs?")
    assert said.index("The listing of . that you asked for:\napp.py") < said.index("Files related")


def test_a_tree_that_cannot_be_listed_keeps_nothing_else_back(busy):
    busy.put("app.py", "import prices\n\nTAX = 4\n")
    busy.put(".rooignore", "a*b*c\n" * (WILDCARDS_MAX + 1))
    said = prompt(busy, "weiter")
    assert "+TAX = 4" in said
    assert "modified app.py" in said
    assert "Files related" not in said
    busy.ask(busy.payload("Stop"))
    busy.put(".rooignore", "")
    assert "Files related" in prompt(busy, "and the docs?")


def test_what_takes_too_long_is_not_recorded_as_handed_over_and_comes_later(busy):
    with busy.session("s1") as session:
        ground = session._context
        assert deliver_briefing(ground, "weiter", 4_000, within_s=0) == ""
        assert "This prompt got no listings" in str(ground.missed)
    busy.ask(busy.payload("Stop"))
    assert "Files related" in prompt(busy, "and the docs?")


def test_changes_are_recorded_as_handed_over_when_all_of_the_answer_is_made(busy):
    """Else they were lost where a process was killed while it made the rest."""
    prompt(busy, "and the docs?")
    busy.put("app.py", "import prices\n\nTAX = 4\n")
    said = prompt(busy, "weiter")
    assert "+TAX = 4" in said
    assert "modified app.py" in said
    handed = [each.fact for each in busy.facts()]
    handed = [fact for fact in handed if isinstance(fact, (PartHanded, NoticeDelivered))]
    assert isinstance(handed[-2], PartHanded)
    assert handed[-2].part == "memory"
    assert isinstance(handed[-1], NoticeDelivered)


def row(number, kind, *parts):
    """A row of a transcript, behind the row before it."""
    return {
        "type": kind,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "s",
        "timestamp": f"2026-01-01T00:00:{number:02}Z",
        "message": {"role": kind, "id": f"m{number}", "content": list(parts)},
    }


def tell(host, *rows):
    """Write the transcript of the conversation."""
    text = "".join(f"{json.dumps(each)}\n" for each in rows)
    (host.home / "s1.jsonl").write_text(text)


def used(call, name, **given):
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def result(call, text, **more):
    return {"type": "tool_result", "tool_use_id": call, "content": text, **more}


TODOS = [
    {"content": "Mend the parser", "status": "completed", "activeForm": "x"},
    {"content": "Test the parser", "status": "in_progress", "activeForm": "x"},
]
ENDED = (
    "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n"
    '<summary>Agent "Review it" finished</summary>\n<result>No fault in lexer.py.</result>\n'
    "</task-notification>"
)
WORK = {
    "TodoWrite": (
        [row(0, "user", {"type": "text", "text": "go"}), row(1, "assistant", used("t1", "TodoWrite", todos=TODOS)), row(2, "user", result("t1", "ok"))],
        ["To do, 1 open:\n- now: Test the parser", "Done:\n- Mend the parser"],
    ),
    "TaskCreate": (
        [row(0, "assistant", used("t1", "TaskCreate", subject="Write docs", description="d")), row(1, "user", result("t1", "Task #1 created successfully: Write docs")), row(2, "assistant", used("t2", "TaskUpdate", taskId="1", status="in_progress"))],
        ["To do, 1 open:\n- now: Write docs"],
    ),
    "Agent": (
        [row(0, "assistant", used("t1", "Agent", description="Look for users", prompt="long")), row(1, "user", result("t1", [{"type": "text", "text": "Used in app.py.\nNowhere else."}]))],
        ["Your sub-agents reported:\n- Look for users: Used in app.py. Nowhere else."],
    ),
    "notification": (
        [row(0, "assistant", used("t1", "Agent", description="Review it")), row(1, "user", result("t1", "Async agent launched successfully.")), row(2, "user", {"type": "text", "text": ENDED})],
        ["Your sub-agents reported:\n- Review it: No fault in lexer.py."],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("work", "source"), [*((work, "resume") for work in WORK), ("TodoWrite", "compact")]
)
def test_to_dos_and_reports_of_the_conversation_are_told_when_it_goes_on(host, work, source):
    rows, wanted = WORK[work]
    tell(host, *rows)
    start(host, "startup")
    prompt(host, "mend the parser")
    host.ask(host.payload("Stop"))
    if source == "compact":
        host.ask(host.payload("PreCompact", trigger="auto"))
        boundary = row(8, "system") | {"subtype": "compact_boundary", "parentUuid": None}
        tell(host, *rows, boundary | {"logicalParentUuid": rows[-1]["uuid"]})
    said = start(host, source)
    assert all(part in said for part in wanted), said
    assert len(said) < 9_000
    host.ask(host.payload("Stop"))
    assert start(host, "resume") == ""
    assert host.faults() == []


def test_to_dos_of_an_abandoned_branch_and_of_a_sub_agent_are_not_told(host):
    other = [{"content": "Drop it", "status": "pending", "activeForm": "x"}]
    tell(
        host,
        row(0, "user", {"type": "text", "text": "go"}),
        row(1, "assistant", used("t1", "TodoWrite", todos=other)),
        row(2, "assistant", used("t2", "TodoWrite", todos=TODOS)) | {"parentUuid": "u0"},
        row(3, "assistant", used("t3", "TodoWrite", todos=other)) | {"isSidechain": True},
        row(4, "user", {"type": "text", "text": "on"}) | {"parentUuid": "u2"},
    )
    start(host, "startup")
    said = start(host, "resume")
    assert "Test the parser" in said
    assert "Drop it" not in said


def test_many_long_reports_and_to_dos_are_told_within_bounds(host):
    todos = [{"content": f"step {n} {'long ' * 99}", "status": "pending"} for n in range(300)]
    rows = [row(0, "assistant", used("t", "TodoWrite", todos=todos))]
    for number in range(1, 40, 2):
        rows.append(row(number, "assistant", used(f"a{number}", "Task", description=f"d{number}")))
        rows.append(row(number + 1, "user", result(f"a{number}", "word " * 9_000)))
    tell(host, *rows)
    start(host, "startup")
    said = start(host, "resume")
    assert "- d39: word word" in said
    assert "- d1: " not in said
    assert len(said) < 5_000


def shell(host, monkeypatch, *args):
    """The command in the project of the host."""
    monkeypatch.chdir(host.root)
    monkeypatch.setenv("HOME", str(host.home))
    for name in ("SIGHTLINE_HOME", "XDG_STATE_HOME", "SIGHTLINE_STORE", "SIGHTLINE_SESSION"):
        monkeypatch.delenv(name, raising=False)
    return CliRunner().invoke(cli, list(args))


@pytest.mark.parametrize(
    ("work", "named"), [*((work, ()) for work in WORK), ("TodoWrite", ("--session", "s1"))]
)
def test_a_briefing_at_a_shell_tells_the_work_of_a_hooked_conversation(
    busy, monkeypatch, work, named
):
    rows, wanted = WORK[work]
    tell(busy, *rows)
    prompt(busy, "mend the parser")
    busy.ask(busy.payload("Stop"))
    said = shell(busy, monkeypatch, *named, "briefing")
    assert said.exit_code == 0, said.output
    assert all(part in said.stdout for part in wanted), said.stdout
    assert "modified app.py" in said.stdout
    note = 'As session "mend the parser" knows it.\n'
    assert said.stderr == ("" if named else note)


def test_a_briefing_at_a_shell_that_was_acknowledged_does_not_come_again(busy, monkeypatch):
    tell(busy, *WORK["TodoWrite"][0])
    prompt(busy, "mend the parser")
    busy.ask(busy.payload("Stop"))
    first = shell(busy, monkeypatch, "briefing", "--ack")
    assert "To do, 1 open" in first.stdout
    assert "To do" not in shell(busy, monkeypatch, "briefing").stdout
    (busy.home / "s1.jsonl").unlink()  # a transcript that is gone keeps nothing else back
    assert shell(busy, monkeypatch, "briefing").exit_code == 0


def test_a_briefing_at_a_shell_about_something_new_tells_no_work(busy, monkeypatch):
    tell(busy, *WORK["TodoWrite"][0])
    prompt(busy, "mend the parser")
    said = shell(busy, monkeypatch, "briefing", "--message", "and the docs?")
    assert "To do" not in said.stdout
