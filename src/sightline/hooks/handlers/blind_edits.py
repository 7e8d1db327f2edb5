"""Refuse, once, a command that would hit the wrong text of a file that changed unseen.

A host lets a hook refuse a shell command, but nobody knows exactly what a command does. So only such
commands are refused that name the file and hit it by line number, write over all of it, or have git take it back, and only
where that does harm. The same command passes when it is sent again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from sightline.agents.hook_events import DIFF_MAX
from sightline.changes.session_context import SessionContext
from sightline.errors import EditRefused, PathRefused, Unverifiable
from sightline.guard.file_states import suspects
from sightline.hooks import words
from sightline.hooks.handlers.answer_delivery import cut_diff, record_diff
from sightline.model.events import Refused
from sightline.model.merge import merge
from sightline.model.revision import revision_of
from sightline.model.spans import Spans
from sightline.model.text import Text, decode, normal, split
from sightline.notices.pending import PendingChange, pending_change
from sightline.shell_parsing.blind_writes import BlindWrite

GIT_S = 2.0
"""Seconds that git may take to tell the text that it would put back."""


def refused_once(context: SessionContext, command: str, writes: Iterable[BlindWrite]) -> str:
    """Return the refusal of a command with these writes, and record what it prints; "" where it may run.
    command: what tells it from other commands."""
    digest = f"command:{revision_of(command.encode('utf-8', 'surrogatepass'))[:16]}"
    for write in writes:
        for path in _known_files(context, write):
            pending = pending_change(context, path)
            if pending.what not in ("changed", "taken_back") or pending.is_known(or_handed=False):
                continue
            if not _does_harm(context, pending, write):
                continue
            refusal = Refused(pending.path, digest, "stale", pending.found.revision)
            if not context.was_refused(refusal):
                return _refuse(context, pending, refusal, write)
    return ""


def _known_files(context: SessionContext, write: BlindWrite) -> Iterator[str]:
    """Yield the files that a write may change and that the session knows. Of a folder that git takes back
    those that may have changed."""
    root = context.workspace.root
    below = os.path.realpath(write.path)
    if write.commit is not None and f"{root}/".startswith(os.path.join(below, "")):
        yield from (knowledge.path for knowledge in suspects(context))
        return
    if write.commit is not None and os.path.isdir(below):
        inside = os.path.join(below, "").removeprefix(f"{root}/").replace(os.sep, "/")
        yield from (each.path for each in suspects(context) if each.path.startswith(inside))
        return
    with suppress(PathRefused, Unverifiable):
        path = context.workspace.locate(write.path).path
        if context.store.knowledge(context.session, path) is not None:
            yield path


def _does_harm(context: SessionContext, pending: PendingChange, write: BlindWrite) -> bool:
    shown, now = pending.case.base, pending.case.disk
    if shown is None or now is None:
        return False
    if write.commit is not None:
        repository = context.workspace.repository(pending.path)
        data = repository and repository.text(pending.path, write.commit, GIT_S)
        text = decode(data or None)
        return text is not None and not _keeps(shown, now, text.plain)
    if write.lines is not None:
        return any(_differs(shown, now, line) for line in _lines(write.lines, shown, now))
    return not any(_keeps(shown, now, text) for text in write.texts)


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


def _refuse(
    context: SessionContext, pending: PendingChange, refusal: Refused, write: BlindWrite
) -> str:
    change, told = pending.change()
    diff, is_whole = cut_diff(change.diff, change.path, DIFF_MAX)
    told = told if is_whole else pending.mention_only()
    how = "git" if write.commit is not None else "whole" if write.lines is None else "number"
    message, hint = words.blind_edit(change.summary, how)
    error = EditRefused("stale", change.path, message, diff=diff, hint=hint)
    context.store.keep(context.keepable(pending.path, pending.found.data, on_disk=pending.found))
    context.append([refusal])
    if record_diff(context, "refusal", pending.path, change.path, diff, told):
        error.diff, error.hint = "", words.diff_above(hint)
    return words.refused(error)
