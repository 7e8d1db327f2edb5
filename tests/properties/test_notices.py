"""P8, and once per change: over any order of others' changes, notices that were asked for, lost or
acknowledged, edits and reads, what differs is told next or was acknowledged, and asking is free."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from hypothesis.stateful import run_state_machine_as_test as run
from tests.properties.test_machine import WIDE
from tests.support.examples import examples

import sightline
from sightline.testing import MemoryWorkspace, make_session

PATHS = ("a.py", "b.py")
LINES = 24
paths = st.sampled_from(PATHS)
places = st.integers(0, LINES - 1)
budgets = st.sampled_from([1, 60, 150, 1_500])


class Asked:
    """A notice that somebody holds: how the disk was then, and how often the agent had looked at
    each file, by which a late acknowledgement is told from a timely one."""

    def __init__(
        self,
        notice: sightline.Notice,
        disk: dict[str, tuple[str, ...] | None],
        looks: dict[str, int],
    ) -> None:
        self.notice = notice
        self.disk = {change.path: disk[change.path] for change in notice.changes}
        self.looks = dict(looks)


class Notices(RuleBasedStateMachine):
    """One session, two files, and a user who saves. acked: the text of which the agent has
    acknowledged that it stands there; quiet: whether nothing touched the file since."""

    @initialize(parts=st.tuples(places, places), whole=st.booleans())
    def begin(self, parts, whole) -> None:
        self.count = 0
        self.disk: dict[str, tuple[str, ...] | None] = {
            path: tuple(self.fresh("old") for _ in range(LINES)) for path in PATHS
        }
        self.tree = MemoryWorkspace({path: "".join(self.disk[path] or ()) for path in PATHS})
        self.session = make_session(self.tree, id="s")
        self.asked: list[Asked] = []
        self.looks = dict.fromkeys(PATHS, 0)
        self.acked: dict[str, object] = {}
        self.quiet: dict[str, bool] = {}
        first, last = sorted(parts)
        self.printed: set[str] = set()
        self.shows("a.py", None)
        self.shows("b.py", None if whole else (first + 1, last + 1))

    def fresh(self, who: str) -> str:
        self.count += 1
        return f"{who} {self.count}\n"

    def shows(self, path: str, lines: tuple[int, int] | None) -> None:
        view = self.session.read(path, lines)
        self.printed |= set(view.text.splitlines(keepends=True))
        self.printed |= {line[1:] for line in (view.diff or "").splitlines(keepends=True)}

    def put(self, path: str, lines: tuple[str, ...] | None) -> None:
        self.disk[path] = lines
        self.quiet[path] = False
        if lines is None:
            self.tree.remove(path)
        else:
            self.tree.put(path, "".join(lines))

    def looked(self, path: str) -> None:
        self.looks[path] += 1
        self.quiet[path] = False

    @rule(path=paths, at=places, count=st.integers(0, 3), more=st.integers(0, 3))
    def saves(self, path, at, count, more) -> None:
        lines = self.disk[path] or ()
        at %= len(lines) + 1
        put = tuple(self.fresh("user") for _ in range(more))
        self.put(path, (*lines[:at], *put, *lines[at + count :]))

    @rule(path=paths, at=places, to=places)
    def moves_lines(self, path, at, to) -> None:
        lines = list(self.disk[path] or ())
        block = lines[at : at + 4]
        del lines[at : at + 4]
        lines[to:to] = block
        self.put(path, tuple(lines))

    @rule(path=paths)
    def rewrites_all(self, path) -> None:
        self.put(path, tuple(self.fresh("new") for _ in range(LINES)))

    @rule(path=paths)
    def removes(self, path) -> None:
        if self.disk[path] is not None:
            self.put(path, None)

    @rule(path=paths, first=places, last=places)
    def reads(self, path, first, last) -> None:
        if self.disk[path]:
            first, last = sorted((first, last))
            self.shows(path, (first + 1, last + 1))
            self.looked(path)

    @rule(path=paths, at=places)
    def edits(self, path, at) -> None:
        lines = (self.session.believed(path) or "").splitlines(keepends=True)
        if not lines:
            return
        old, new = lines[at % len(lines)], self.fresh("agent")
        try:
            self.session.edit(path, old, new)
        except sightline.EditRefused:
            return
        self.printed.add(new)
        self.disk[path] = tuple(self.tree_lines(path))
        self.looked(path)

    def tree_lines(self, path: str) -> list[str]:
        data = self.session._context.look(path).data
        return (data or b"").decode().splitlines(keepends=True)

    @rule(budget=budgets)
    def asks(self, budget) -> None:
        told = self.session.notice(budget)
        if told is not None:
            self.asked.append(Asked(told, self.disk, self.looks))

    @rule()
    def loses(self) -> None:
        if self.asked:
            self.asked.pop()

    @rule(which=st.integers(0, 3), by_id=st.booleans())
    def acknowledges(self, which, by_id) -> None:
        if not self.asked:
            return
        asked = self.asked.pop(which % len(self.asked))
        now = self.session.notice()
        same = now is not None and now.id == asked.notice.id
        self.session.acknowledge(asked.notice.id if by_id and same else asked.notice)
        self.printed |= {line[1:] for line in f"{asked.notice}\n".splitlines(keepends=True)}
        for path, text in asked.disk.items():
            if asked.looks[path] == self.looks[path]:
                self.looks[path] += 1
                self.acked[path] = text
                self.quiet[path] = text == self.disk[path]

    @invariant()
    def what_differs_is_told_next_or_was_acknowledged(self) -> None:
        differs = {change.path for change in self.session.changes(told=True)}
        told = {change.path for change in self.session.changes()}
        for path in differs:
            known = path in self.acked and self.acked[path] == self.disk[path]
            assert path in told or known, path
        for path in told:
            assert not self.quiet.get(path), f"{path} is told again"

    @invariant()
    def asking_changes_nothing(self) -> None:
        first = self.session.notice(), self.session.changes()
        position = self.session._context.store.position()
        held = [self.session.believed(path) for path in PATHS]
        assert (self.session.notice(), self.session.changes()) == first
        assert self.session._context.store.position() == position
        assert [self.session.believed(path) for path in PATHS] == held

    @invariant()
    def a_notice_names_each_file_once_and_keeps_to_its_budget(self) -> None:
        notice = self.session.notice(150)
        if notice is not None:
            names = [change.path for change in notice.changes]
            assert len(names) == len(set(names))
            assert len(notice.text) <= 600
            assert all(name in notice.text for name in names)

    @invariant()
    def what_counts_as_shown_was_printed(self) -> None:
        """A notice is no way to know a line that it did not print."""
        for path in PATHS:
            lines = (self.session.believed(path) or "").splitlines(keepends=True)
            for first, last in self.session.check(path).seen_lines:
                assert set(lines[first - 1 : last]) <= self.printed


@pytest.mark.wide
@pytest.mark.hypothesis
def test_over_any_order_what_differs_is_told_once_and_asking_is_free():
    run(
        Notices,
        settings=settings(
            max_examples=1_000 if WIDE else examples(20),
            stateful_step_count=20,
            derandomize=not WIDE,
            database=None,
            deadline=None,
        ),
    )
