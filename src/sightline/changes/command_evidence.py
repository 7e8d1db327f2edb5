"""Decide whether a command certainly made a change that was found when it ended.

No system tells without privileges who wrote a file: fanotify names the process only to root, and
inotify to nobody. So a change during a command is certainly the command's only where its text names
the file. Where its text tells the bytes that it leaves, these must be there. Where it does not, as for `sed -i` or a script that opens the file by its name, nobody else may have had time for a save.
Any other change is a guess.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs

from sightline.changes.session_context import SessionContext
from sightline.model.events import Cause, Changed, GitMoved, Moved
from sightline.model.revision import MISSING, UNKNOWN, Revision
from sightline.shell_parsing.named_writes import FileWrite, NamedWrites, Step, named_writes

SHELLS_OWN = frozenset("$`\\%")
"""Characters of a text in a command for which a shell, or printf, may write something else."""

ChangeFact = Changed | GitMoved | Moved

MOMENT_US = 2_000_000
"""Microseconds that a command takes at most which nobody waits for."""


class EndedCommand(Struct, frozen=True):
    """A command of this session that ended. text: of the command, "" where it has none; guess: the cause of a
    change that may be somebody else's. named: the changes that its text names, once for each folder it may have started in.
    is_doubtful: it failed, so that a part of it may not have run, or it took longer than a moment:
    a host may have asked the user first. Then only bytes that its text tells are certain."""

    text: str
    guess: Cause
    named: tuple[NamedWrites, ...]
    is_doubtful: bool = False

    def cause_of_bytes(
        self,
        context: SessionContext,
        path: str,
        before: Revision,
        after: Revision,
        data: bytes | None,
    ) -> Cause:
        """Return the cause of a change from one revision to another. data: the bytes now; None for
        no file."""
        full = f"{context.workspace.root}/{path}"
        start = _start(context, before)
        for named in self.named:
            writes = [write for write in named.to(full) if write.kind != "mode"]
            if not writes:
                continue
            if after == MISSING:
                told: bool | None = writes[-1].kind == "removed"
            elif writes[-1].kind == "copy" and _is_copy(context, writes, after):
                told = True
            else:
                told = _is_told(writes, start, data)
            if told is None:
                told = not self.is_doubtful and named.leaves_no_time(full)
            if told:
                return self._certain()
        return self.guess

    def cause_of_mode(self, context: SessionContext, path: str) -> Cause:
        """Return the cause of a change of permission bits alone."""
        full = f"{context.workspace.root}/{path}"
        for named in self.named:
            kinds = {write.kind for write in named.to(full)}
            is_quick = not self.is_doubtful and named.leaves_no_time(full)
            if "mode" in kinds or (is_quick and kinds & {"copy", "edited"}):
                return self._certain()
        return self.guess

    def with_author(
        self, context: SessionContext, facts: tuple[ChangeFact, ...]
    ) -> tuple[ChangeFact, ...]:
        """Return the facts of the changes during the command. Where one file alone changed, the command took
        a moment, and it gave that file to a script, the script is its author."""
        if self.is_doubtful or len(facts) != 1:
            return facts
        (fact,) = facts
        if not isinstance(fact, Changed) or fact.cause != self.guess:
            return facts
        full = f"{context.workspace.root}/{fact.path}"
        if not any(named.is_given(full) for named in self.named):
            return facts
        return (structs.replace(fact, cause=self._certain()),)

    def names_removal(self, context: SessionContext, path: str) -> bool:
        """Return whether the command certainly removed a file."""
        cause = self.cause_of_bytes(context, path, UNKNOWN, MISSING, None)
        return cause.confidence == "certain"

    def _certain(self) -> Cause:
        return structs.replace(self.guess, confidence="certain", evidence="named")


def ended_command(
    guess: Cause,
    command: str,
    folders: Sequence[str],
    *,
    exit_code: int | None,
    took_us: int,
) -> EndedCommand:
    """Return a command that ended. command: its whole text; folders: absolute folders, of which it
    started in one; took_us: microseconds since its beginning was recorded."""
    is_doubtful = exit_code not in (None, 0) or took_us > MOMENT_US
    named = tuple(named_writes(command, folder) for folder in folders)
    return EndedCommand(command, guess, named, is_doubtful)


def call_ended(
    guess: Cause, paths: Sequence[str], texts: Sequence[str], *, has_failed: bool, took_us: int
) -> EndedCommand:
    """Return a call of a tool that ended, which changed the files that its input names. paths: all
    absolute paths that the input may mean; texts: all texts in it."""
    is_doubtful = has_failed or took_us > MOMENT_US
    whole = [FileWrite(path, "text", tuple(texts)) for path in paths]
    edits = [FileWrite(path, "edited") for path in paths]
    named = [
        NamedWrites((Step((0,), is_quick=True, writes=tuple(writes)),), is_straight=True)
        for writes in (whole, edits)
    ]
    return EndedCommand("", guess, tuple(named), is_doubtful)


def _start(context: SessionContext, before: Revision) -> bytes | None:
    """Return the bytes before the command; None where they are not known."""
    if before == MISSING:
        return b""
    return None if before == UNKNOWN else context.store.blob(before)


def _is_told(writes: Sequence[FileWrite], start: bytes | None, data: bytes | None) -> bool | None:
    """Return whether the data is exactly what the writes leave; None where the text of the command
    does not tell. start: the bytes before the writes, None where these are unknown."""
    ends: set[bytes] | None = None if start is None else {start}
    for write in writes:
        texts = {text.encode("utf-8", "surrogatepass") for text in write.texts}
        if write.kind == "removed":
            ends = {b""}
        elif write.kind == "text":
            ends = texts
        elif write.kind == "appended" and ends is not None:
            ends = {end + text for end in ends for text in texts}
        else:
            ends = None
    if ends is None:
        return None
    may_differ = any(set(text) & SHELLS_OWN for write in writes for text in write.texts)
    return data in ends or (None if may_differ else False)


def _is_copy(context: SessionContext, writes: Sequence[FileWrite], after: Revision) -> bool:
    """Return whether a revision is the last recorded one of a file that the command copied."""
    root = f"{context.workspace.root}/"
    for write in writes:
        if write.kind != "copy" or not write.source.startswith(root):
            continue
        source = write.source.removeprefix(root)
        row = context.store.disk(source)
        if row is not None and after == row.revision:
            return True
    return False
