"""Refuse, once, a command that would hit the wrong text of files that changed unseen.

A host lets a hook refuse a shell command, but nobody knows exactly what a command does. So only such
commands are refused that name the file and hit it by line number, write over all of it, remove it, or have git take its
change away, and only where that does harm. One refusal names all such files. The same command passes when
it is sent again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from time import monotonic
from typing import NamedTuple

from sightline.changes.session_context import SessionContext
from sightline.errors import EditRefused, PathRefused, Unverifiable
from sightline.filesystem.git.repository import Repository
from sightline.guard.file_states import suspects
from sightline.hooks import words
from sightline.hooks.handlers.answer_delivery import cut_diff, record_diff
from sightline.hooks.host import Host
from sightline.model.events import Refused
from sightline.model.merge import merge
from sightline.model.revision import revision_of
from sightline.model.spans import Spans
from sightline.model.text import Text, decode, normal, split
from sightline.notices.pending import PendingChange, pending_change
from sightline.shell_parsing.blind_writes import INDEX, BlindWrite

GIT_S = 2.0
"""Seconds that git may take to tell the texts that it would put back."""


class _Harm(NamedTuple):
    pending: PendingChange
    refusal: Refused
    write: BlindWrite


def refused_once(
    context: SessionContext, command: str, writes: Iterable[BlindWrite], host: Host
) -> str:
    """Return the refusal of a command with these writes, and record what it prints; "" where it may run.
    command: what tells it from other commands."""
    digest = f"command:{revision_of(command.encode('utf-8', 'surrogatepass'))[:16]}"
    until = monotonic() + GIT_S
    harms: dict[str, _Harm] = {}
    for write in writes:
        for path in _known_files(context, write):
            if path in harms:
                continue
            pending = pending_change(context, path)
            if pending.what not in ("changed", "taken_back") or pending.is_known(or_handed=False):
                continue
            refusal = Refused(pending.path, digest, "stale", pending.found.revision)
            if context.was_refused(refusal) or not _does_harm(context, pending, write, until):
                continue
            harms[path] = _Harm(pending, refusal, write)
    return _refuse(context, list(harms.values()), host) if harms else ""


def _known_files(context: SessionContext, write: BlindWrite) -> Iterator[str]:
    """Yield the files that a write may change and that the session knows. Of a folder, or a pattern, those that
    may have changed."""
    root = context.workspace.root
    below = os.path.realpath(write.path)
    takes_many = write.commit is not None or write.removes
    if takes_many and (write.is_pattern or os.path.isdir(below) or set(write.path) & set("*?[")):
        for knowledge in suspects(context):
            if _names(write, below, f"{root}/{knowledge.path}"):
                yield knowledge.path
        return
    with suppress(PathRefused, Unverifiable):
        path = context.workspace.locate(write.path).path
        if context.store.knowledge(context.session, path) is not None:
            yield path


def _names(write: BlindWrite, below: str, file: str) -> bool:
    """Return whether a folder or a pattern of a write names a file. below: the real path of the folder."""
    if file.startswith(os.path.join(below, "")):
        return True
    if write.is_pattern:
        pure = PurePosixPath(file)
        return any(each.match(write.path) for each in (pure, *pure.parents))
    return fnmatchcase(file, write.path)


def _does_harm(
    context: SessionContext, pending: PendingChange, write: BlindWrite, until: float
) -> bool:
    if write.removes == "all":
        return True
    if write.removes or write.commit is not None:
        repository = context.workspace.repository(pending.path)
        return repository is not None and _git_takes(repository, pending, write, until)
    shown, now = pending.case.base, pending.case.disk
    if shown is None or now is None:
        return False
    if write.lines is not None:
        return any(_differs(shown, now, line) for line in _lines(write.lines, shown, now))
    return not any(_keeps(shown, now, text) for text in write.texts)


def _git_takes(
    repository: Repository, pending: PendingChange, write: BlindWrite, until: float
) -> bool:
    """Return whether git would take the change away; False where git does not tell until then."""

    def text(commit: str) -> bytes | None:
        return repository.text(pending.path, commit, max(until - monotonic(), 0))

    if write.removes:
        ignored = {"untracked": False, "ignored": True}.get(write.removes)
        left_s = max(until - monotonic(), 0)
        return repository.is_untracked(pending.path, left_s, ignored=ignored)
    data = text(write.commit or INDEX)
    if data is None:  # a stash also takes what was only added to the index
        return write.is_stash and text(INDEX) is not None
    shown, now, then = pending.case.base, pending.case.disk, decode(data)
    if shown is None or now is None or then is None:
        return False
    return not _keeps(shown, now, then.plain)


def _lines(lines: Spans, shown: Text, now: Text) -> Iterable[int]:
    total = max(len(shown.lines), len(now.lines))
    return (line for first, last in lines for line in range(first, min(last, total) + 1))


def _differs(shown: Text, now: Text, line: int) -> bool:
    return shown.lines[line - 1 : line] != now.lines[line - 1 : line]


def _keeps(shown: Text, now: Text, text: str) -> bool:
    """Return whether a whole text holds what others changed."""
    mine = split(normal(text))
    merged = merge(shown.lines, mine, now.lines)
    return merged.clean and list(merged.lines) == list(mine)


def _refuse(context: SessionContext, harms: list[_Harm], host: Host) -> str:
    """Return the refusal with the diff of the first file and the names of the others, and record it."""
    pending, _, write = harms[0]
    change, told = pending.change()
    diff, is_whole = cut_diff(change.diff, change.path, host.limits.diff)
    told = told if is_whole else pending.mention_only()
    others = [each.pending.name for each in harms[1:]]
    message, hint = words.blind_edit(change.summary, _how(write), others)
    error = EditRefused("stale", change.path, message, diff=diff, hint=hint)
    for each in harms:
        found = each.pending.found
        context.store.keep(context.keepable(each.pending.path, found.data, on_disk=found))
    context.append([each.refusal for each in harms])
    names = pending.path, change.path
    if host.takes_refusals and record_diff(context, "refusal", *names, diff, told):
        error.diff, error.next_step = "", words.diff_above(hint)
    return words.refused(error)


def _how(write: BlindWrite) -> str:
    if write.is_stash:
        return "stash"
    if write.removes:
        return "removed"
    if write.commit is not None:
        return "git"
    return "whole" if write.lines is None else "number"
