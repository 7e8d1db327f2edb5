"""Refuse, once, a command that would hit the wrong text of a file that changed unseen.

A host lets a hook refuse a shell command, but nobody knows exactly what a command does. So only such
commands are refused that name the file and hit it by line number, or write over all of it, and only
where that does harm. The same command passes when it is sent again.
"""

from __future__ import annotations

from collections.abc import Iterable

from sightline.agents.hook_events import DIFF_MAX
from sightline.changes.session_context import SessionContext
from sightline.errors import EditRefused, PathRefused, Unverifiable
from sightline.hooks import words
from sightline.hooks.handlers.answer_delivery import cut_diff, record_diff
from sightline.model.events import Refused
from sightline.model.merge import merge
from sightline.model.revision import revision_of
from sightline.model.spans import Spans
from sightline.model.text import Text, normal, split
from sightline.model.timeline import of_kind
from sightline.notices.pending import PendingChange, pending_change
from sightline.shell_parsing.blind_writes import BlindWrite

RECENT = 32
"""Refusals of one file that are looked through."""


def refused_once(context: SessionContext, command: str, writes: Iterable[BlindWrite]) -> str:
    """Return the refusal of a command with these writes, and record what it prints; "" where it may run.
    command: what tells it from other commands."""
    digest = f"command:{revision_of(command.encode('utf-8', 'surrogatepass'))[:16]}"
    for write in writes:
        try:
            path = context.workspace.locate(write.path).path
        except (PathRefused, Unverifiable):
            continue
        if context.store.knowledge(context.session, path) is None:
            continue
        pending = pending_change(context, path)
        if pending.what not in ("changed", "taken_back") or pending.is_known(or_handed=False):
            continue
        if _does_harm(pending, write) and not _was_refused(context, path, digest, pending):
            return _refuse(context, pending, digest, write)
    return ""


def _does_harm(pending: PendingChange, write: BlindWrite) -> bool:
    shown, now = pending.case.base, pending.case.disk
    if shown is None or now is None:
        return False
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


def _was_refused(context: SessionContext, path: str, digest: str, pending: PendingChange) -> bool:
    newest = context.store.timeline(
        session=context.session, path=path, kinds=[Refused], newest=RECENT
    )
    refusals = of_kind(Refused, newest)
    return any((r.attempt, r.revision) == (digest, pending.found.revision) for r in refusals)


def _refuse(context: SessionContext, pending: PendingChange, digest: str, write: BlindWrite) -> str:
    change, told = pending.change()
    diff, is_whole = cut_diff(change.diff, change.path, DIFF_MAX)
    told = told if is_whole else pending.mention_only()
    message, hint = words.blind_edit(change.summary, by_number=write.lines is not None)
    error = EditRefused("stale", change.path, message, diff=diff, hint=hint)
    context.store.keep(context.keepable(pending.path, pending.found.data, on_disk=pending.found))
    context.append([Refused(pending.path, digest, "stale", pending.found.revision)])
    if record_diff(context, "refusal", pending.path, change.path, diff, told):
        error.diff, error.hint = "", words.diff_above(hint)
    return words.refused(error)
