"""Histories of one tree, generated from a seed: two agents, a user, formatters, commands, git.

Every change is made for real, and labelled by who made it. Nothing here knows how Sightline tells
causes; it is only made to look, at moments that the seed decides.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import sightline
from sightline.changes.commands import changes
from sightline.config.settings import Settings
from sightline.history.session_history import survey
from sightline.hooks.dispatch import attend
from sightline.model.hook_events import CommandBegan, CommandEnded

if TYPE_CHECKING:
    from collections.abc import Callable

FILES = ("a.py", "b.py", "src/c.py", "src/d.py", "src/e.py", "f.py")
LINES = 12
QUIET_GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_EDITOR": "true",
}
DEEDS = (
    *("edits", "edits", "formats", "formats", "runs", "runs", "gits", "gits", "stashes"),
    *("saves", "saves", "undoes", "second", "second"),
)
"""What may happen next, each as likely as it often stands here."""

REWRITE = """\
import sys
for name in sys.argv[1:]:
    text = open(name).read()
    open(name, "w").write(text.replace("value", "worth", 2) + "# done\\n")
"""
"""A program of which nobody can tell by its name what it changes."""


class Label(NamedTuple):
    """A change, and who made it. position: of the timeline before it; revision: what it left."""

    path: str
    revision: str
    kind: str
    position: int


class History:
    """One tree and what happens to it. looks: always, at random moments, or only at the end."""

    def __init__(self, seed: int, home: Path) -> None:
        self.random = random.Random(seed)  # noqa: S311  the same history each time
        self.root = home / "tree"
        self.labels: list[Label] = []
        self.looks = self.random.choice(("always", "random", "random", "end"))
        self.deeds: list[str] = []
        self._count = 0
        self._program = home / "rewrite.py"
        self._program.write_text(REWRITE)
        self._lay_out()
        self.settings = Settings(state_home=str(home / "state"))
        self.first = self._opened("first")
        self.second_agent = self._opened("second")
        self._stood = self._standing()
        self.begun = self.first._context.store.position()  # noqa: SLF001

    def play(self) -> None:
        """Let three to six things happen, and look at the end."""
        for _ in range(self.random.randint(3, 6)):
            deed = self.random.choice(DEEDS)
            self.deeds.append(deed)
            getattr(self, f"_{deed}")()
            self._maybe_look()
        self._look()

    def close(self) -> None:
        """Give the stores back."""
        self.first.close()
        self.second_agent.close()

    # What happens.

    def _edits(self) -> str:
        return self._edit(self.first, "agent")

    def _second(self) -> None:
        self._edit(self.second_agent, "session")

    def _edit(self, session: sightline.Session, kind: str) -> str:
        path = self._some_file()
        text = session.read(path).text
        old = self.random.choice(text.splitlines(keepends=True))
        if text.count(old) == 1:
            self._by(kind, lambda: session.edit(path, old, self._line(ugly=True)))
        return path

    def _formats(self) -> None:
        """An agent edits, and a formatter runs: at once, or when somebody has looked."""
        if self.random.random() < 0.3:
            self._formats_within()
            return
        path = self._edits()
        self._maybe_look()
        self._by("formatter", lambda: self._format(path))

    def _formats_within(self) -> None:
        """It runs before the agent's product has told that the file is written."""
        path = self._some_file()
        lines = self.first.read(path).text.splitlines(keepends=True)
        lines[self.random.randrange(len(lines))] = self._line(ugly=True)
        with self.first.writing(path, "".join(lines)):
            self._by("agent", lambda: self._put(path, "".join(lines)))
            self._maybe_look()
            self._by("formatter", lambda: self._format(path))

    def _runs(self) -> None:
        """A command of the first agent's, at times with a save of the user's meanwhile."""
        paths = self.random.sample(FILES, self.random.randint(1, 3))
        paths = [path for path in paths if (self.root / path).exists()]
        program = self.random.choice(("sed", "program"))
        if program == "sed":
            words = ["sed", "-i", f"s/value/worth{self._next()}/", *paths]
        else:
            words = [sys.executable, str(self._program), *paths]
        shown = "make generate" if program == "program" else " ".join(words)

        def work() -> None:
            self._by("command", lambda: self._shell(words))
            self._maybe_look()
            if self.random.random() < 0.3:
                others = [path for path in self._there() if path not in paths]
                self._by("external", lambda: self._save(self.random.choice(others)))
                self._maybe_look()

        self._bracketed(shown, work)

    def _bracketed(self, shown: str, work: Callable[[], None]) -> None:
        """As the library brackets a command, or as an agent's hooks do."""
        if self.random.random() < 0.5:
            with self.first.ran(shown):
                work()
            return
        call, cwd = f"call-{self._next()}", str(self.root)
        attend(self.first, CommandBegan(shown, call, cwd))
        work()
        attend(self.first, CommandEnded(shown, call, cwd, "", 0))

    def _gits(self) -> None:
        """An operation on a clean tree, by the user."""
        self._commit()
        operation = self.random.choice(("checkout", "checkout", "rebase", "merge", "reset"))
        if operation == "reset" and self._git("rev-list", "--count", "HEAD").strip() == "1":
            operation = "checkout"
        other = "other" if self._git("branch", "--show-current").strip() == "main" else "main"
        words = {
            "checkout": ["checkout", other],
            "rebase": ["rebase", other],
            "merge": ["merge", "--no-edit", other],
            "reset": ["reset", "--hard", "HEAD~1"],
        }[operation]
        self._by("git", lambda: self._git_or_back(words))

    def _stashes(self) -> None:
        self._commit()
        self._saves()
        self._maybe_look()
        self._by("git", lambda: self._git("stash"))
        self._maybe_look()
        if self.random.random() < 0.7:
            self._by("git", lambda: self._git("stash", "pop"))

    def _saves(self) -> None:
        self._by("external", lambda: self._save(self._some_file()))

    def _undoes(self) -> None:
        """The user takes back what an agent has just edited."""
        path = self._some_file()
        before = self._text(path)
        view = self.first.read(path)
        old = view.text.splitlines(keepends=True)[0]
        if view.text.count(old) == 1:
            self._by("agent", lambda: self.first.edit(path, old, self._line(ugly=True)))
            self._maybe_look()
            self._by("external", lambda: self._put(path, before))

    # How it is done.

    def _save(self, path: str) -> None:
        text = self._text(path)
        how = self.random.choice(("append", "replace", "atomic"))
        lines = text.splitlines(keepends=True)
        if how == "append":
            lines.append(self._line())
        else:
            lines[self.random.randrange(len(lines))] = self._line()
        self._put(path, "".join(lines), atomic=how == "atomic")

    def _format(self, path: str) -> None:
        if find_spec("ruff") is not None and self.random.random() < 0.5:
            asked = [sys.executable, "-m", "ruff", "format", "--isolated", "--quiet", path]
            subprocess.run(asked, cwd=self.root, check=True)
            return
        text = self._text(path).replace("'", '"').replace("( ", "(").replace(" )", ")")
        self._put(path, "".join(f"{line.rstrip()}\n" for line in text.splitlines()))

    def _shell(self, words: list[str]) -> None:
        subprocess.run(words, cwd=self.root, check=True)

    def _commit(self) -> None:
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "-m", f"work {self._next()}")

    def _git_or_back(self, words: list[str]) -> None:
        try:
            self._git(*words)
        except subprocess.CalledProcessError:
            self._git(words[0], "--abort")

    def _git(self, *words: str) -> str:
        who = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
        done = subprocess.run(
            ["git", *who, *words],
            cwd=self.root,
            env={**os.environ, **QUIET_GIT, **self._dates},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def _by(self, kind: str, act: Callable[[], object]) -> None:
        """Let it happen, and label what is different."""
        position = self.first._context.store.position()  # noqa: SLF001
        act()
        now = self._standing()
        for path in FILES:
            if now[path] != self._stood[path]:
                self.labels.append(Label(path, now[path], kind, position))
        self._stood = now

    def _maybe_look(self) -> None:
        if self.looks == "always" or (self.looks == "random" and self.random.random() < 0.5):
            self._look()

    def _look(self) -> None:
        how = self.random.choice(("changes", "second", "check", "all"))
        if how == "check":
            for path in self._there():
                self.first.check(path)
        elif how == "all":  # as a watcher does
            own = self.first._context  # noqa: SLF001
            ground = survey(own.store, own.workspace, own.settings, own.clock)
            changes(ground).record(ground)
        else:
            (self.first if how == "changes" else self.second_agent).changes()

    def _opened(self, name: str) -> sightline.Session:
        session = sightline.open_session(self.root, id=name, settings=self.settings)
        for path in FILES:
            session.read(path)
        return session

    def _lay_out(self) -> None:
        """Long before: a log tells no more than the second."""
        (self.root / "src").mkdir(parents=True)
        self._dates = {"GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
        for path in FILES:
            self._put(path, "".join(self._line() for _ in range(LINES)))
        self._git("-c", "init.defaultBranch=main", "init", "--quiet")
        self._commit()
        self._git("checkout", "--quiet", "-b", "other")
        for path in self.random.sample(FILES, 3):
            self._save(path)
        self._commit()
        self._git("checkout", "--quiet", "main")
        self._dates = {}

    def _line(self, *, ugly: bool = False) -> str:
        number = self._next()
        if ugly:
            return f"value_{number}=call( {number},'text {number}' )  \n"
        return f'value_{number} = call({number}, "text {number}")\n'

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _some_file(self) -> str:
        return self.random.choice(self._there())

    def _there(self) -> list[str]:
        return [path for path in FILES if (self.root / path).exists()]

    def _text(self, path: str) -> str:
        return (self.root / path).read_text()

    def _put(self, path: str, text: str, *, atomic: bool = False) -> None:
        target = self.root / path
        if not atomic:
            target.write_text(text)
            return
        aside = target.with_name(f".{target.name}.swp")
        aside.write_text(text)
        aside.replace(target)

    def _standing(self) -> dict[str, str]:
        return {path: _revision(self.root / path) for path in FILES}


def _revision(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest() if file.exists() else "missing"
