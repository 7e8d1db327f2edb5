"""The disk a case plays on: a real folder, a clock that only moves when told, a perfect watcher.

File times are placed with os.utime, never waited for, so that "newer", "older" and "in the same
tick" mean the same on every machine and every run. The watcher compares the folder before and
after each deed of the user's: what no real watcher could miss, so that the guard built on one is
judged by its rule and not by its timing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SECOND = 1_000_000_000
EPOCH_NS = 1_760_000_000 * SECOND
GIT_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


MARK = b"# an agent's batch\n"


def program(*arguments: object) -> subprocess.Popen[str]:
    """Start one of bench/programs.py."""
    script = str(Path(__file__).with_name("programs.py"))
    return subprocess.Popen(
        [sys.executable, script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


class NotAnswering(Exception):
    """The share holding this file has stopped answering; a plain open would wait for ever."""


class Entry(NamedTuple):
    """The file, folder or symlink at a path. kind: file, link, directory, other; data: a file's bytes or a link's
    target; inode tells two names of one file from two equal files."""

    kind: str
    data: bytes
    inode: int
    mtime_ns: int


class World:
    """One throw-away workspace in `root`, and what the user does in it."""

    def __init__(self, root: Path, during: Callable[[World], None] | None = None) -> None:
        self.root = root
        self.now_ns = EPOCH_NS
        self.before: dict[str, Entry] = {}
        self.silent: set[str] = set()
        self.watchers: list[Callable[[str], None]] = []
        self.colleague: Callable[[str, str, bytes], None] | None = None
        self.command: Callable[[str, str, bytes], None] | None = None
        self.tool: Callable[[str, str, bytes], None] | None = None
        self.reads_by_tool = False
        self.running: Callable[[str, Callable[[], None]], None] | None = None
        self.batch: Callable[[tuple[str, ...]], None] | None = None
        self.verbs: Callable[[str, str, bytes], None] | None = None
        self.rival: Callable[[str, str, bytes], Callable[[], bool]] | None = None
        self.order = ""
        self.told_rival: Callable[[], str] = str
        self.is_summarised = False
        self.summary: Callable[..., None] | None = None
        self.rewrite: Callable[[str], str] = str
        self._during = during
        self._at_once: tuple[str, str, bytes] | None = None
        self._rivals_end: Callable[[], bool] | None = None
        self._is_rivals = False
        self._program: subprocess.Popen[str] | None = None
        self._beside: tuple[object, ...] = ()
        self._adds: tuple[str, bytes] | None = None
        self._seen: dict[str, Entry] = {}

    # What the user does. Each is one deed: the clock moves, then the watchers hear of it.

    def put(self, path: str, data: bytes, *, mtime_ns: int | None = None) -> None:
        """Write in place, as an editor that keeps the inode; mtime_ns places the time."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        self._happened(path, mtime_ns)

    def save(self, path: str, data: bytes, *, mtime_ns: int | None = None) -> None:
        """Write aside and rename over, as most editors do."""
        aside = self.root / f".{path}.swp"
        aside.write_bytes(data)
        aside.replace(self.root / path)
        self._happened(path, mtime_ns)

    def touch(self, path: str) -> None:
        """A new time, the same bytes."""
        self._happened(path)

    def remove(self, path: str) -> None:
        """Delete a file."""
        (self.root / path).unlink()
        self._happened()

    def rename(self, src: str, dst: str) -> None:
        """Rename; the file keeps its times, as rename does."""
        (self.root / src).rename(self.root / dst)
        self._happened()

    def link(self, path: str, target: str) -> None:
        """Point a symlink at `target`, replacing the one that was there."""
        aside = self.root / f".{path}.new"
        aside.symlink_to(target)
        aside.replace(self.root / path)
        self._happened()

    def as_agent(self, name: str, path: str, data: bytes) -> None:
        """Another agent writes: through the guard, where that knows of others."""
        if self.colleague is None:
            self.put(path, data)
            return
        self.colleague(name, path, data)
        self._happened(path)

    def at_once(self, name: str, path: str, data: bytes, order: str) -> None:
        """Another agent writes in the instant of the agent's try. order: of the steps of both, behind hooks, where
        all are judged before: f a tool finds the file, w it writes, t its agent is told; F, W, T of the other."""
        self._at_once, self.order = (name, path, data), order

    def as_command(self, command: str, path: str, data: bytes) -> None:
        """A shell command of the agent's own writes; the guard hears of it, where it can."""
        if self.command is None:
            self.put(path, data)
        else:
            self.command(command, path, data)

    def as_tool(self, tool: str, path: str, data: bytes) -> None:
        """A tool of an MCP server writes, which the agent called."""
        if self.tool is None:
            self.as_command(tool, path, data)
        else:
            self.tool(tool, path, data)

    def summarise(self, *, from_here: bool) -> None:
        """The agent is told what changed, and its conversation is summarised. from_here: what stood there before
        stays, else nothing does."""
        assert self.summary is not None
        self.summary(from_here=from_here)

    def while_runs(self, command: str, deed: Callable[[], None]) -> None:
        """The user does something while a shell command of the agent's own runs."""
        if self.running is None:
            deed()
        else:
            self.running(command, deed)

    def takes_place(self, command: str, gone: str, path: str, data: bytes) -> None:
        """The agent removes a file, and puts another where the first does not let it: by its verbs, else
        by a command."""

        def deed() -> None:
            (self.root / gone).unlink()
            if (self.root / path).is_dir():
                (self.root / path).rmdir()
            self.put(path, data)

        if self.verbs is None:
            self.while_runs(command, deed)
        else:
            self.verbs(gone, path, data)
            self._happened(path)

    def hold(self, path: str, piece: str) -> None:
        """A program has the file open, and writes its next piece once the agent has tried."""
        self._adds = path, piece.encode()
        self._beside = ("holding", self.root / path, piece)

    def save_beside(self, path: str, also: str, times: int) -> None:
        """A program saves over and over while the agent tries. also: the other name of the file."""
        adds = "".join(f"# saved {number}\n" for number in range(times))
        self._adds = also, adds.encode()
        self._beside = ("appending", self.root / path, times)

    def begin(self) -> None:
        """The agent tries now: the program that is to be at work meanwhile begins."""
        if self._at_once is not None and self.rival is not None:
            self._rivals_end = self.rival(*self._at_once)
        if self._beside:
            self._program = program(*self._beside)
            assert self._program.stdout is not None
            self._program.stdout.readline()

    def comes_to_an_end(self) -> None:
        """Let whoever began beside the agent write what there is to write, and end."""
        if self._rivals_end is not None:
            self._is_rivals = self._rivals_end()
        if self._program is not None:
            self._program.communicate("\n")
            self._program = None

    def expected(self, path: str, base: bytes, before: bytes | None) -> bytes | None:
        """Return what would stand at a path if the agent had not tried."""
        if self._at_once is not None:
            return self._at_once[2] if self._is_rivals else base
        if self._adds is None or self._adds[0] != path:
            return before
        return base + self._adds[1]

    def cut_off(self, paths: tuple[str, ...]) -> None:
        """A batch of the agent's is killed after its first file. A name that ends in "/" is of a file
        that becomes a folder."""
        if self.batch is None:
            self.put(paths[0], MARK + self.load(paths[0]))
        else:
            self.batch(paths)

    def git(self, *arguments: str) -> None:
        """Run real git here: no user configuration, no hooks, fixed dates."""
        who = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
        quiet = ("-c", "core.hooksPath=/dev/null", "-c", "init.defaultBranch=main")
        subprocess.run(
            ["git", *who, *quiet, *arguments],
            cwd=self.root,
            env={**os.environ, **GIT_ENVIRONMENT},
            check=True,
            capture_output=True,
        )
        for path, entry in self.entries().items():
            if entry.kind == "file" and entry != self._seen.get(path):
                os.utime(self.root / path, ns=(self.now_ns, self.now_ns))
        self._happened()

    # What a guard may use.

    def load(self, path: str) -> bytes:
        """A file's bytes, as any program gets them."""
        if path in self.silent:
            raise NotAnswering(path)
        return (self.root / path).read_bytes()

    def store(self, path: str, data: bytes) -> None:
        """Write in place, as the agents' own tools do; now is the clock's now."""
        (self.root / path).write_bytes(data)
        os.utime(self.root / path, ns=(self.now_ns, self.now_ns))
        self._hear()

    def approve(self) -> None:
        """Answer for the user, who may be typing in the file meanwhile."""
        if self._during is not None:
            during, self._during = self._during, None
            during(self)
            self.before = self.entries()

    # What the harness uses.

    def entries(self) -> dict[str, Entry]:
        """Everything in the folder but git's own, by path, and what its links lead to outside. A
        file that may not be read counts as one without bytes."""
        found: dict[str, Entry] = {}
        for folder, folders, files in os.walk(self.root):
            folders[:] = [name for name in folders if name != ".git"]
            for name in [*folders, *files]:
                at = Path(folder, name)
                found[at.relative_to(self.root).as_posix()] = _entry(at)
                led_to = at.resolve()
                if at.is_symlink() and not led_to.is_relative_to(self.root.resolve()):
                    outside = [led_to, *led_to.rglob("*")] if led_to.exists() else []
                    found |= {str(each): _entry(each) for each in outside}
        return found

    def pass_time(self, seconds: int = 10) -> None:
        """Let the clock go on."""
        self.now_ns += seconds * SECOND

    def prepare(self, files: Mapping[str, bytes]) -> None:
        """Lay out the files a case begins with."""
        for path, data in files.items():
            self.put(path, data)

    def _happened(self, path: str | None = None, mtime_ns: int | None = None) -> None:
        self.pass_time()
        if path is not None:
            when = self.now_ns if mtime_ns is None else mtime_ns
            os.utime(self.root / path, ns=(when, when))
        self._hear()

    def _hear(self) -> None:
        now = self.entries()
        changed = [p for p in now if p in self._seen and self._through(p, now) != self._seen[p]]
        self._seen = {path: self._through(path, now) for path in now}
        for watcher in self.watchers:
            for name in changed:
                watcher(name)

    def _through(self, path: str, entries: Mapping[str, Entry]) -> Entry:
        """A symlink changes when the file it leads to does: watchers follow links."""
        entry = entries[path]
        if entry.kind != "link":
            return entry
        return entries.get(os.fsdecode(entry.data), entry)


def _entry(at: Path) -> Entry:
    state = at.lstat()
    if at.is_symlink():
        return Entry("link", os.fsencode(at.readlink()), state.st_ino, state.st_mtime_ns)
    if at.is_dir():
        return Entry("directory", b"", state.st_ino, 0)
    if not at.is_file():
        return Entry("other", b"", state.st_ino, state.st_mtime_ns)
    readable = os.access(at, os.R_OK)
    data = at.read_bytes() if readable else b""
    return Entry("file" if readable else "other", data, state.st_ino, state.st_mtime_ns)
