"""S10, S13, S20 to S22, S26, S40, S47: who made a change. It is told with its name, and judged like any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.scenarios.model import (
    FORMATTED,
    FRESH,
    PATH,
    STALE,
    Attempt,
    Intent,
    Scenario,
    module,
    tries,
)
from bench.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

OTHERS = tuple(f"part_{number:02}.py" for number in range(1, 14))
"""With the file of the attempt, 14 that a merge touches."""

MINE = Intent("    return value + 6\n", "    return value * 6\n")
"""An edit of the agent's own, which an editor takes back."""

AGAIN = Intent("    return value * 6\n", "    return value ** 6\n")
COMMAND = "make format"

TOOL = "mcp__files__write_file"

TESTS = "pytest -q"
"""A command of the agent's that takes its time and changes no file."""

EDITED = module().replace(*MINE)
"""The file behind the agent's own edit."""

THEIRS = EDITED.replace("    return value + 11\n", "    return value + 11  # reviewed\n")
"""What a user saves behind that edit, far from it."""

BOTH = EDITED.replace("    return value * 6\n", "    return value * 6  # reviewed\n")
"""What a user saves in the very line that the agent edited."""


def _fourteen(world: World) -> None:
    """A branch that changes every file, and is not merged yet."""
    world.git("init", "--quiet")
    world.git("add", "--all")
    world.git("commit", "--quiet", "--message", "base")
    world.git("switch", "--quiet", "--create", "topic")
    for path in (PATH, *OTHERS):
        world.put(path, FORMATTED.encode())
    world.git("commit", "--quiet", "--all", "--message", "topic")
    world.git("switch", "--quiet", "main")


def _by(name: str) -> Callable[[World], None]:
    """Another agent's write."""
    return lambda world: world.as_agent(name, PATH, FORMATTED.encode())


def _rewound(*wants: str) -> tuple[Attempt, ...]:
    """The attempt to take the agent's own edit back."""
    return (Attempt("rewind", "rewind", Intent(MINE.new, MINE.old), frozenset(wants)),)


def _saved_meanwhile(*files: tuple[str, str]) -> Callable[[World], None]:
    """The user saves these files while the agent's command runs."""

    def saves(world: World) -> None:
        for path, text in files:
            world.put(path, text.encode())

    return lambda world: world.while_runs(TESTS, lambda: saves(world))


PEOPLE = (
    Scenario(
        10,
        "own shell command",
        STALE,
        between=lambda world: world.as_command(COMMAND, PATH, FORMATTED.encode()),
        tells=("by (probably )?the command you ran", r"\+.*# reviewed"),
    ),
    Scenario(
        13,
        "merge of 14 files",
        STALE,
        files=dict.fromkeys((PATH, *OTHERS), module()),
        before_read=_fourteen,
        between=lambda world: world.git("merge", "--quiet", "topic"),
        also=OTHERS,
        tells=(r"git.*merge.*\(14 files\)", r"[0-9a-f]{7}\.\.[0-9a-f]{7}", *OTHERS),
    ),
    Scenario(
        20,
        "autosave over it",
        tries("notice", "stale", "merge", "conflict stale", near=AGAIN),
        edits=MINE,
        between=lambda world: world.put(PATH, module().encode()),
        tells=("your edit was taken back", r"\+.*value \+ 6"),
    ),
    Scenario(
        21, "a sub-agent writes", STALE, between=_by("bench/helper"), tells=("sub-agent helper",)
    ),
    Scenario(22, "another agent", STALE, between=_by("other"), tells=("agent session other",)),
    Scenario(26, "session forked", FRESH, "alike", flags=frozenset({"fork"})),
    Scenario(
        26,
        "session forked",
        STALE,
        "parent writes",
        flags=frozenset({"fork"}),
        between=_by("parent"),
        tells=("agent",),
    ),
    Scenario(47, "an MCP tool reads", FRESH, "alike", flags=frozenset({"tool"})),
    Scenario(
        47,
        "an MCP tool reads",
        STALE,
        "then the user saves",
        between=lambda world: world.put(PATH, FORMATTED.encode()),
        flags=frozenset({"tool"}),
        tells=("the user or another program", r"\+.*# reviewed"),
    ),
    Scenario(
        47,
        "an MCP tool reads",
        STALE,
        "then it writes",
        between=lambda world: world.as_tool(TOOL, PATH, FORMATTED.encode()),
        flags=frozenset({"tool"}),
        tells=("by (probably )?the command you ran", r"\+.*# reviewed"),
    ),
    Scenario(
        40,
        "saves while a command runs, then rewind",
        _rewound("merge"),
        "elsewhere in the file",
        edits=MINE,
        between=_saved_meanwhile((PATH, THEIRS), ("notes.md", "the user's\n")),
        tells=("probably by the command you ran: ", r"\+.*# reviewed"),
    ),
    Scenario(
        40,
        "saves while a command runs, then rewind",
        _rewound("left alone"),
        "the same line",
        edits=MINE,
        between=_saved_meanwhile((PATH, BOTH)),
    ),
    Scenario(
        40,
        "saves while a command runs, then rewind",
        _rewound("allow"),
        "another file",
        edits=MINE,
        between=_saved_meanwhile(("notes.md", "the user's\n"), ("other.py", "theirs\n")),
        files={PATH: module(), "other.py": "before\n"},
    ),
)
