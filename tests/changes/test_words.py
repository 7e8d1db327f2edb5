"""Who changed a file, in words: short, calm, and no surer than the cause is."""

from __future__ import annotations

import pytest
from msgspec import structs

from sightline.cli.live.view import by_whom
from sightline.model.events import Cause, GitMoved
from sightline.model.projections import git_cause
from sightline.text.causes import PUT_BACK, REWINDING, REWOUND, UNDER_WAY, cause

MOVED = GitMoved("a1b2c3d" + "0" * 33, "d4e5f6a" + "0" * 33, "checkout", (), (), "main..feature")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (None, "the user or another program"),
        (Cause("external"), "the user or another program"),
        (Cause("external", detail="directory"), "the user or another program"),
        (
            Cause("external", detail=PUT_BACK),
            "the user or another program: put back as it was before the edit",
        ),
        (Cause("agent", "s"), "this session"),
        (Cause("agent", "t"), "agent session t"),
        (Cause("agent", "s/helper"), "your sub-agent helper"),
        (
            Cause("agent", "s", REWOUND),
            "this session itself, in what was taken back of the conversation",
        ),
        (
            Cause("command", "s", f"{REWINDING}before"),
            "the rewind to before, which took back work of this session",
        ),
        (
            Cause("command", "t", f"{REWINDING}before"),
            "the rewind to before, which took back work of agent session t",
        ),
        (Cause("command", "s", "make"), "the command you ran: make"),
        (Cause("command", "s", "make", "likely"), "probably the command you ran: make"),
        (
            Cause("command", "t", "npm run format", "likely"),
            "probably a command of agent session t: npm run format",
        ),
        (Cause("formatter", None, "s", "likely"), "probably a formatter, after your edit"),
        (
            Cause("formatter", None, "t", "likely"),
            "probably a formatter, after an edit by agent session t",
        ),
        (Cause("formatter", "ruff", "s"), "the formatter ruff, after your edit"),
        (git_cause(MOVED), "git: checkout main..feature a1b2c3d..d4e5f6a"),
        (git_cause(structs.replace(MOVED, detail=None)), "git: checkout a1b2c3d..d4e5f6a"),
        (Cause("git", None, UNDER_WAY, "likely"), "probably git: under way"),
        (Cause("git", "stash pop", None, "likely"), "probably git: stash pop"),
    ],
)
def test_to_the_agent_of_a_session(made, said):
    assert cause(made, "s") == said


def test_to_a_sub_agent():
    assert cause(Cause("agent", "s"), "s/helper") == "the agent that started you"
    assert cause(Cause("agent", "s/other"), "s/helper") == "another sub-agent, other"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (Cause("external"), "by you or another program"),
        (
            Cause("external", detail=PUT_BACK),
            "by you or another program: put back as it was before the edit",
        ),
        (Cause("agent", "s"), "by agent s"),
        (Cause("agent", "s/helper"), "by agent helper"),
        (Cause("command", "s", "make"), "by the command make"),
        (Cause("command", "s", "make", "likely"), "probably by the command make"),
        (Cause("formatter", None, "s", "likely"), "probably by a formatter after agent s's edit"),
        (git_cause(MOVED), "by git: checkout main..feature a1b2c3d..d4e5f6a"),
    ],
)
def test_to_a_person_who_looks_at_all_sessions(made, said):
    assert by_whom(made) == said
