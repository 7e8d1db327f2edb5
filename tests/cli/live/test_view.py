"""The live view, drawn from real sessions over a workspace in memory."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from tests.support.examples import widely

from sightline import EditRefused
from sightline.cli.live.view import Head, draw, files_of
from sightline.config.settings import Settings
from sightline.history.overview import Watch
from sightline.history.session_history import survey
from sightline.history.watching import Watching
from sightline.store.memory import MemoryStore
from sightline.testing import FixedClock, MemoryWorkspace, make_session

UUID = "0f6c1d2e-5a7b-4c8d-9e0f-123456789abc"
STATUS = "Claude Code is connected."


class Scene:
    """One workspace, its sessions, and the view of it."""

    def __init__(self, files):
        self.clock = FixedClock()
        self.disk = MemoryWorkspace(files)
        self.first = self.agent(UUID)
        ground = self.first._context
        self.ground = survey(ground.store, self.disk, ground.settings, self.clock)
        self.watch = Watch(self.ground, Watching(self.ground))
        self.view: Any = None

    def agent(self, id, parent=None):
        agent = "claude-code"
        return make_session(self.disk, id=id, agent=agent, parent=parent, clock=self.clock)

    def settled(self):
        """The view when nothing new is found any more."""
        while (seen := self.watch.look()) is not None:
            self.view = seen
        return self.view

    def lines(self, width=80, height=40):
        return drawn(self.settled(), width, height)


def time_of(at):
    seconds = at // 1_000_000 % 86_400
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def drawn(view, width=80, height=40, chosen=None):
    console = Console(file=StringIO(), width=width, color_system=None, _environ={})
    return draw(view, Head("~/shop", STATUS), time_of, console, height, chosen)


def spaced(lines):
    """Lines without the room between columns."""
    return [" ".join(line.split()) for line in lines]


@pytest.fixture
def scene():
    return Scene({"src/cart.py": "a = 1\nb = 2\nc = 3\n", "src/tax.py": "r = 1\n", "README": "x\n"})


def test_nobody_there_is_said():
    ground = survey(MemoryStore(), MemoryWorkspace(), Settings("/state"), FixedClock())
    assert drawn(Watch(ground, Watching(ground)).look()) == [
        "Sightline ~/shop",
        STATUS,
        "No agent was shown a file here yet.",
    ]


def test_a_session_stands_with_its_turn_and_its_last_sign_of_life(scene):
    scene.first.turn(3)
    scene.clock.advance(seconds=90)
    scene.first.read("README")
    scene.clock.advance(seconds=600)
    assert "claude-code session of 00:00  turn 3, last heard of 00:01" in scene.lines()


def test_fresh_files_are_summed_up(scene):
    for path in ("src/cart.py", "src/tax.py", "README"):
        scene.first.read(path)
    assert "  fresh      README, src/cart.py, src/tax.py" in scene.lines()
    assert "  fresh      README and 2 more" in scene.lines(width=35)


@pytest.mark.parametrize(
    ("files", "said"), [(["a.py"], "a.py"), (["alpha.py", "beta.py"], "2 files")]
)
def test_in_a_narrow_view_something_is_said_of_fresh_files(files, said):
    scene = Scene(dict.fromkeys(files, "a\n"))
    for path in files:
        scene.first.read(path)
    assert f"  fresh      {said}" in scene.lines(width=20)


def test_the_oldest_warning_stands_on_one_line_until_it_is_acknowledged(scene):
    scene.first.read("README")
    first = scene.first.warn("mind this", ["README"])
    told = "  warning    mind this (README)  (sightline warnings)"
    assert told in scene.lines()
    scene.first.warn("and " * 40)
    assert "  warning    mind this (README)  (1 more, sightline warnings)" in scene.lines()
    assert any("warning    mind" in line for line in scene.lines(width=20))
    scene.first.acknowledge(first)
    (line,) = [each for each in scene.lines() if each.startswith("  warning")]
    assert line.endswith("…  (sightline warnings)")


def test_what_went_stale_comes_first_with_who_did_it(scene):
    scene.first.read("src/cart.py")
    scene.first.read("src/tax.py")
    scene.disk.put("src/tax.py", "r = 2\n")
    scene.clock.advance(seconds=60)
    lines = scene.lines()
    at = lines.index("  stale      src/tax.py  changed 00:01 by you or another program")
    assert lines[at + 1] == "  fresh      src/cart.py"
    assert "00:01:00 changed src/tax.py by you or another program" in spaced(lines)


def test_a_deleted_file_stays_until_it_is_back(scene):
    scene.first.read("README")
    scene.disk.remove("README")
    assert "  deleted    README  00:00 by you or another program" in scene.lines()
    scene.disk.put("README", "x\n")
    assert "  fresh      README" in scene.lines()


def test_another_agent_is_named(scene):
    scene.first.read("src/tax.py")
    other = scene.agent(f"{UUID}/Explore-1234", parent=UUID)
    other.read("src/tax.py")
    other.edit("src/tax.py", "1", "2")
    lines = scene.lines()
    assert "  stale      src/tax.py  changed 00:00 by agent Explore-1234" in lines
    assert "  claude-code Explore-1234  last heard of 00:00" in lines
    assert "00:00:00 Explore-1234 began claude-code, started by session of 00:00" in spaced(lines)
    assert "00:00:00 Explore-1234 edited src/tax.py" in spaced(lines)


def test_a_refused_attempt_stands_until_it_is_made_or_the_turn_ends(scene):
    scene.first.read("src/cart.py")
    scene.disk.put("src/cart.py", "a = 9\nb = 2\nc = 3\n")
    with pytest.raises(EditRefused) as refused:
        scene.first.edit("src/cart.py", "a = 1", "a = 2")
    told = "  refused    src/cart.py  00:00 its lines changed since"
    assert told in scene.lines()
    assert (
        "00:00:00  session of 00:00  refused   src/cart.py  its lines changed since"
        in scene.lines()
    )
    scene.first.acknowledge(refused.value)
    assert told in scene.lines()
    scene.first.edit("src/cart.py", "a = 9", "a = 2")
    assert "  fresh      src/cart.py" in scene.lines()


def test_a_merge_is_told_once(scene):
    scene.first.read("src/cart.py")
    scene.disk.put("src/cart.py", "a = 1\nb = 2\nc = 9\n")
    scene.first.write("src/cart.py", "a = 2\nb = 2\nc = 3\n")
    lines = scene.lines()
    assert "00:00:00  session of 00:00  merged    src/cart.py" in lines
    assert "00:00:00 changed src/cart.py by you or another program" in spaced(lines)
    assert not [line for line in lines if "edited" in line]
    assert "  stale      src/cart.py  changed 00:00 by you or another program" in lines


def test_a_merge_stands_until_the_next_edit_once_its_agent_knows(scene):
    scene.first.read("src/cart.py")
    scene.disk.put("src/cart.py", "a = 1\nb = 2\nc = 9\n")
    scene.first.acknowledge(scene.first.write("src/cart.py", "a = 2\nb = 2\nc = 3\n").notice)
    assert "  merged     src/cart.py  00:00 with others' changes" in scene.lines()
    scene.first.edit("src/cart.py", "a = 2", "a = 3")
    assert "  fresh      src/cart.py" in scene.lines()


def test_nothing_is_drawn_when_nothing_happened(scene):
    scene.first.read("src/cart.py")
    scene.first.read("README")
    scene.disk.remove("README")
    scene.settled()
    assert [scene.watch.look() for _ in range(5)] == [None] * 5


def test_looking_begins_no_session_and_is_no_sign_of_life(scene):
    scene.first.read("README")
    scene.disk.put("README", "y\n")
    scene.clock.advance(seconds=3600)
    lines = scene.lines()
    assert len(scene.ground.store.sessions()) == 1
    assert "claude-code session of 00:00  last heard of 00:00" in lines


def test_sessions_that_ended_or_went_quiet_are_counted(scene):
    from sightline.model.events import SessionEnded

    scene.agent("done")._context.append([SessionEnded()])
    scene.clock.advance(seconds=90_000)
    scene.agent("new").read("README")
    assert "1 quiet, 1 ended: sightline session list" in scene.lines()
    assert [each.id for each in scene.settled().sessions] == ["new"]


def test_a_sub_agent_that_was_not_heard_of_for_a_while_is_counted(scene):
    scene.agent(f"{UUID}/Explore-1234", parent=UUID).read("README")
    scene.clock.advance(seconds=1000)
    scene.first.read("README")
    lines = scene.lines()
    assert "1 quiet: sightline session list" in lines
    assert "claude-code session of 00:00  last heard of 00:16" in lines


def test_what_was_refused_comes_first_then_what_changed_last(scene):
    for path in ("README", "src/cart.py", "src/tax.py"):
        scene.first.read(path)
        scene.clock.advance(seconds=60)
        scene.disk.put(path, "r = 2\n")
        scene.settled()
    with pytest.raises(EditRefused):
        scene.first.edit("README", "x", "y")
    words = [line.split()[:2] for line in scene.lines()[4:7]]
    assert words == [["refused", "README"], ["stale", "src/tax.py"], ["stale", "src/cart.py"]]


def test_a_narrow_view_says_it_in_fewer_words(scene):
    scene.first.read("src/tax.py")
    scene.disk.put("src/tax.py", "r = 2\n")
    assert "  stale      src/tax.py  00:00 by you or another program" in scene.lines(width=57)


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=90)


@pytest.mark.wide
@given(
    st.lists(NAMES.filter(lambda name: name.strip(". ")), min_size=1, max_size=12, unique=True),
    st.integers(20, 220),
    st.integers(4, 50),
)
def test_every_line_fits_whatever_the_size(names, width, height):
    scene = Scene({f"src/{name}": "x\n" for name in names})
    for at, path in enumerate(list(scene.disk._entries)):
        scene.first.read(path)
        if at % 2:
            scene.disk.put(path, "y\n")
    scene.agent(f"{UUID}/{'日本' * 20}", parent=UUID)
    lines = scene.lines(width, height)
    assert len(lines) <= height
    assert max(map(cell_len, lines)) <= width
    assert not [line for line in lines if not line.isprintable()]


@pytest.mark.wide
@pytest.mark.parametrize("width", [60, *widely(80, 120, 200)])
@pytest.mark.parametrize("height", [10, 60, *widely(24)])
def test_many_files_leave_room_for_what_happens(width, height):
    scene = Scene({f"packages/server/src/mod_{at:03}.py": "x\n" for at in range(200)})
    for path in list(scene.disk._entries):
        scene.first.read(path)
    for at in range(50):
        scene.disk.put(f"packages/server/src/mod_{at:03}.py", "y\n")
    lines = scene.lines(width, height)
    assert len(lines) == height
    assert sum("changed   " in line for line in lines) >= 4
    if height > 10:
        assert any("more changed files: sightline status" in line for line in lines)
        assert any(line.startswith("  fresh ") and "more" in line for line in lines)


def test_a_session_is_named_by_its_first_words(scene):
    from sightline.model.events import TurnBegan

    scene.first._context.append([TurnBegan(1, title="Fix the tax")])
    scene.first.read("src/tax.py")
    scene.first.edit("src/tax.py", "1", "2")
    lines = scene.lines()
    assert 'claude-code "Fix the tax"  turn 1, last heard of 00:00' in lines
    assert '00:00:00 "Fix the tax" edited src/tax.py' in spaced(lines)
    assert not any(UUID[:8] in line for line in lines)


def test_own_experiments_are_no_agent(scene):
    shell = make_session(scene.disk, id="cli", agent="cli", clock=scene.clock)
    shell.read("README")
    shell.create("new.py", "x\n")
    lines = scene.lines()
    assert not any("cli" in line for line in lines)
    assert "00:00:00 you created new.py" in spaced(lines)
    assert not any("quiet" in line for line in lines)


@pytest.mark.parametrize("height", [40, 12, 8])
def test_each_file_can_be_chosen_and_is_marked_whatever_the_room(scene, height):
    for path in ("src/cart.py", "src/tax.py", "README"):
        scene.first.read(path)
    for at in range(4):
        scene.agent(f"helper-{at}").read("README")
    scene.disk.put("src/tax.py", "r = 2\n")
    view = scene.settled()
    files = files_of(view)
    assert sorted(path for session, path in files if session == UUID) == [
        *("README", "src/cart.py", "src/tax.py"),
    ]
    assert len(files) == 7
    for chosen in files:
        lines = drawn(view, height=height, chosen=chosen)
        (marked,) = [line for line in lines if line.startswith("> ")]
        assert marked.split()[2].rstrip(",") == chosen[1]
        assert len(lines) <= height


def test_what_is_wrong_with_the_guard_comes_first(scene):
    head = Head("~/shop", STATUS, "? keys, q ends", "The guard is off.\nRun: sightline doctor")
    console = Console(file=StringIO(), width=60, color_system=None, _environ={})
    lines = draw(scene.settled(), head, time_of, console, 20)
    assert lines[:2] == ["The guard is off.", "Run: sightline doctor"]
    assert lines[2] == "Sightline ~/shop" + " " * 30 + "? keys, q ends"
