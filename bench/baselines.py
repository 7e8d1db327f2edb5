"""Five guards others ship, each from its published rule and nothing else.

What is not the rule is generous: line ends are kept, a text that occurs twice is refused, the
clock never drifts, and the watcher misses nothing. All of them compute the new text, ask the
user, and write: none looks at the disk again in between, as published.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.world import World


class Answer(NamedTuple):
    """The outcome of an attempt. reason: why it was refused, empty when accepted. told: what the
    agent was told of others' changes. carries: the refusal shows what changed, so that the next
    try needs no read. text: the refusal in full; lines: those it is about. way_back: follows what the
    person was told of a change that the attempt went over; the file then."""

    accepted: bool
    reason: str = ""
    told: str = ""
    merged: bool = False
    carries: bool = False
    text: str = ""
    lines: tuple[tuple[int, int], ...] = ()
    way_back: Callable[[], bytes] | None = None


class Baseline:
    """An agent's file tools with one rule before every write. rule: where it was published."""

    name = ""
    rule = ""
    survives_restart = False

    def __init__(self, world: World) -> None:
        self.world = world

    def mark(self) -> None:
        raise NotImplementedError  # the rules are about writes alone

    def take_back(self, path: str) -> Answer:
        raise NotImplementedError

    def read(self, path: str, lines: tuple[int, int] | None = None) -> str:
        """Serve the text and note what the rule wants noted."""
        data = self.world.load(path)
        self.note(path, data)
        text = data.decode().splitlines(keepends=True)
        return "".join(text if lines is None else text[lines[0] - 1 : lines[1]])

    def edit(self, path: str, old: str, new: str) -> Answer:
        """Replace a text that occurs once."""

        def replaced(text: str) -> str:
            if text.count(old) != 1:
                raise LookupError("ambiguous" if old in text else "not_found")
            return text.replace(old, new)

        return self._attempt(path, replaced)

    def edit_lines(self, path: str, start: int, end: int, new: str) -> Answer:
        """Replace lines by number, counted in the file as it is."""

        def replaced(text: str) -> str:
            rows = text.splitlines(keepends=True)
            return "".join([*rows[: start - 1], new, *rows[end:]])

        return self._attempt(path, replaced)

    def write(self, path: str, content: str) -> Answer:
        """Write the whole file."""
        return self._attempt(path, lambda _text: content, create=True)

    def news(self) -> str | None:
        """Return nothing: no baseline tells what changed."""
        return None

    def informed(self, *, by_prompt: bool) -> str:
        raise NotImplementedError  # it has no conversation

    def together(self) -> None:
        """Attempt the edits one by one: the baseline knows no batches."""

    def forked(self) -> Baseline:
        """Return the baseline itself: it knows no sessions."""
        return self

    def warned(self, path: str) -> bool:
        """Return whether the agent is told, before it acts, that this file was changed."""
        return False

    def forget(self, path: str) -> None:
        """The text left the window; these rules do not look at the window."""

    def rewind(self, path: str) -> None:
        """The conversation goes back to before this was read; the rules do not follow it."""

    def resumed(self) -> Baseline:
        """The guard of the same session in a new process."""
        return self if self.survives_restart else type(self)(self.world)

    def close(self) -> None:
        """Do nothing: this baseline keeps nothing open."""

    def note(self, path: str, data: bytes) -> None:
        """Remember that these bytes were read or written."""

    def before_write(self, path: str) -> None:
        """Our own write comes next."""

    def objection(self, path: str) -> str:
        """Why the rule refuses a write now; empty when it does not."""
        return ""

    def _attempt(self, path: str, change: Callable[[str], str], *, create: bool = False) -> Answer:
        try:
            why = self.objection(path)
            if why:
                return Answer(accepted=False, reason=why)
            exists = os.path.lexists(self.world.root / path)
            data = b"" if create and not exists else self.world.load(path)
            crlf = b"\r\n" in data
            text = change(data.decode().replace("\r\n", "\n"))
            new = (text.replace("\n", "\r\n") if crlf else text).encode()
            self.world.approve()
            self.before_write(path)
            self.world.store(path, new)
        except LookupError as error:
            return Answer(accepted=False, reason=str(error))
        except OSError as error:
            return Answer(accepted=False, reason=type(error).__name__)
        self.note(path, new)
        return Answer(accepted=True)


class MtimeNewer(Baseline):
    """Refuse when the file's mtime is later than the moment it was read."""

    name = "mtime-newer"
    rule = "OpenCode V1 FileTime: stat.mtime > time of read (wall clock), kept in memory"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.read_at: dict[str, int] = {}

    def note(self, path: str, data: bytes) -> None:
        self.read_at[path] = self.world.now_ns

    def objection(self, path: str) -> str:
        if path not in self.read_at:
            return "unread"
        changed = (self.world.root / path).stat().st_mtime_ns > self.read_at[path]
        return "modified since read" if changed else ""


class MtimeOrSize(Baseline):
    """Refuse when the file's mtime or size is not what it was."""

    name = "mtime-size"
    rule = "Qwen Code FileReadCache: mtimeMs and size, unequal is stale, kept in memory"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.stamps: dict[str, tuple[int, int]] = {}

    def note(self, path: str, data: bytes) -> None:
        self.stamps[path] = self._stamp(path)

    def objection(self, path: str) -> str:
        if path not in self.stamps:
            return "unread"
        return "" if self._stamp(path) == self.stamps[path] else "modified since read"

    def _stamp(self, path: str) -> tuple[int, int]:
        state = (self.world.root / path).stat()
        return state.st_mtime_ns // 1_000_000, state.st_size


class WholeFileHash(Baseline):
    """Refuse when the file's hash is not that of the bytes read."""

    name = "file-hash"
    rule = "edit-guard: sha256 of the file at every read and write, kept on disk"
    survives_restart = True

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.hashes: dict[str, str] = {}

    def note(self, path: str, data: bytes) -> None:
        self.hashes[path] = sha256(data).hexdigest()

    def objection(self, path: str) -> str:
        if path not in self.hashes:
            return "unread"
        same = sha256(self.world.load(path)).hexdigest() == self.hashes[path]
        return "" if same else "modified since read"


class UniqueMatch(Baseline):
    """No memory: a replacement must find its text once, a whole-file write always goes through."""

    name = "unique-match"
    rule = "Gemini CLI, Codex, Claude Code with newer models: the old text occurs exactly once"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.shown: dict[str, list[str]] = {}

    def note(self, path: str, data: bytes) -> None:
        self.shown[path] = data.decode().splitlines(keepends=True)

    def edit_lines(self, path: str, start: int, end: int, new: str) -> Answer:
        """There is no verb by number: the text of those lines, as it was shown, must match."""
        return self.edit(path, "".join(self.shown[path][start - 1 : end]), new)


class FlagWatcher(Baseline):
    """Warn of files that a watcher saw changing, unless a flag says it was our own write."""

    name = "flag-watcher"
    rule = "Cline, Roo FileContextTracker: a change event drops a one-shot own-edit flag, or lists"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.tracked: set[str] = set()
        self.edited_by_us: set[str] = set()
        self.recently_modified: set[str] = set()
        world.watchers.append(self._on_change)

    def note(self, path: str, data: bytes) -> None:
        self.tracked.add(path)

    def warned(self, path: str) -> bool:
        """Listed once under "Recently Modified Files"; asking empties the list."""
        listed = path in self.recently_modified
        self.recently_modified.discard(path)
        return listed

    def before_write(self, path: str) -> None:
        self.edited_by_us.add(path)

    def close(self) -> None:
        """The process ends: its watchers with it, and none comes back on resume."""
        self.world.watchers.remove(self._on_change)

    def _on_change(self, path: str) -> None:
        if path not in self.tracked:
            return
        if path in self.edited_by_us:
            self.edited_by_us.discard(path)
        else:
            self.recently_modified.add(path)


BASELINES: tuple[type[Baseline], ...] = (
    MtimeNewer,
    MtimeOrSize,
    WholeFileHash,
    UniqueMatch,
    FlagWatcher,
)
"""In the order of the table."""
