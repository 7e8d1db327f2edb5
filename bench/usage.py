"""A month of heavy use, made up: sessions that read, edit and are told, beside a user who saves.

Real verbs over real files and a real store; only the clock is not real, and goes a month on.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from sightline.api.folders import ports
from sightline.api.opening import start
from sightline.config.settings import Settings
from sightline.errors import EditRefused, LinesMissing
from sightline.model.events import SessionEnded
from sightline.store.port import Append
from sightline.testing import FixedClock

if TYPE_CHECKING:
    from sightline import Session
    from sightline.filesystem.port import Workspace
    from sightline.store.port import Store

MONTH_US = 30 * 24 * 3_600 * 1_000_000
OF_INTEREST = 40
"""Files that one session works on; two sessions that come one after the other share most."""

FILES = 600


def tree(root: str) -> list[str]:
    """Put a real-sized tree there, the first modules of the standard library; their paths."""
    library = sysconfig.get_path("stdlib")
    found = sorted(
        path
        for path in Path(library).rglob("*.py")
        if not {"site-packages", "test", "tests", "__pycache__", "idlelib"} & {*path.parts}
    )[:FILES]
    names = []
    for path in found:
        name = path.relative_to(library).as_posix()
        try:
            path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        Path(root, name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, Path(root, name))
        names.append(name)
    return names


class Usage:
    """The folder of one made-up history: a workspace, its store and its clock. seed: of all that
    is left to chance."""

    def __init__(self, folder: str, seed: int = 1) -> None:
        self.root = os.path.join(folder, "workspace")
        os.makedirs(self.root)
        self.names = tree(self.root)
        self.settings = Settings(state_home=os.path.join(folder, "state"))
        self.url = f"sqlite://{folder}/store.db"
        self.clock = FixedClock()
        self.random = Random(seed)  # noqa: S311  the same history on every run
        self.store: Store
        self.workspace: Workspace
        self.store, self.workspace = ports(self.root, self.settings, self.url)

    def session(self, id: str) -> Session:
        """A session that no process holds."""
        return start(
            self.store,
            self.workspace,
            self.settings,
            id=id,
            agent="claude-code",
            clock=self.clock,
        )

    def run(self, sessions: int, operations: int) -> None:
        """Let that many sessions do that many operations each, over a month."""
        step = MONTH_US // (sessions * operations)
        for number in range(sessions):
            self._work(number, operations, step)

    def _work(self, number: int, operations: int, step: int) -> None:
        session, chance = self.session(f"s{number:03}"), self.random
        start_at = number * 7 % len(self.names)
        mine = [self.names[(start_at + n) % len(self.names)] for n in range(OF_INTEREST)]
        for operation in range(operations):
            self.clock.advance(us=step)
            path = mine[int(len(mine) * chance.random() ** 2)]
            what = chance.random()
            if what < 0.55:
                self._read(session, path)
            elif what < 0.80:
                self._edit(session, path, f"{number}.{operation}")
            elif what < 0.88:
                self._save(path, f"{number}.{operation}")
            elif what < 0.95:
                notice = session.notice()
                if notice is not None:
                    session.acknowledge(notice)
            else:
                session.turn()
        if number % 3:
            self.store.append(Append(session.id, [SessionEnded()], at=self.clock()))

    def _read(self, session: Session, path: str) -> None:
        if self.random.random() < 0.5:
            session.read(path)
        else:
            first = self.random.randint(1, 200)
            with suppress(LinesMissing):  # an agent that guesses where a file goes on
                session.read(path, (first, first + 120))

    def _edit(self, session: Session, path: str, mark: str) -> None:
        """Change one line that stands there once. What is refused is read and left at that."""
        lines = Path(self.root, path).read_text(encoding="utf-8").split("\n")
        once = [line for line, times in Counter(lines).items() if len(line) > 8 and times == 1]
        line = self.random.choice(once or lines)
        try:
            session.edit(path, line, f"{line.split('  # ')[0]}  # {mark}")
        except EditRefused as refused:
            session.acknowledge(refused)
            session.read(path)

    def _save(self, path: str, mark: str) -> None:
        """Save as a user does: one line is other than it was."""
        file = Path(self.root, path)
        lines = file.read_text(encoding="utf-8").split("\n")
        at = self.random.randrange(len(lines))
        lines[at] = f"{lines[at].split('  # ')[0]}  # by hand {mark}"
        file.write_text("\n".join(lines), encoding="utf-8")
