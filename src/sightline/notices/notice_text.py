"""Compose a notice: the changes of others that an agent has not been told, within a budget."""

from __future__ import annotations

from collections.abc import Container

from sightline.changes.session_context import SessionContext
from sightline.guard import words as guard_words
from sightline.model.events import Told
from sightline.model.results import FileChange, Notice
from sightline.model.revision import revision_of
from sightline.notices import words
from sightline.notices.pending import PendingChange, pending_changes

CHARACTERS = 4
"""Characters of one token, about."""

NOTICE_TOKENS = 1_500

FILES_MAX = 200
"""The files of one notice; others come with the next one."""

RESERVE = 400
"""Characters kept for the names of files whose changes do not fit."""


def notice(
    context: SessionContext,
    budget: int = NOTICE_TOKENS,
    *,
    handed: bool = False,
    undone: list[PendingChange] | None = None,
    later: Container[str] = (),
) -> Notice | None:
    """Return the changes by others in lines that this session was shown and was not told of; None
    where there are none. Changes with one cause stand together.

    budget: tokens at most, about four characters each. Files whose changes do not fit are named;
    those that cannot even be named come with the next notice. handed: leave out what the host was
    handed already. undone, later: as in pending_changes.
    """
    page = _Page(budget * CHARACTERS)
    groups: dict[object, list[PendingChange]] = {}
    changes = pending_changes(context, leave_out_handed=handed, undone=undone, later=later)
    for number, change in enumerate(changes):
        if number < FILES_MAX:
            who, by = change.by()
            at = by.at if by is not None and by.kind == "git" else None
            groups.setdefault((who, at), []).append(change)
        else:
            page.more += 1
    if not groups:
        return None
    for group in groups.values():
        page.add_group(group)
    found = [each.found for each in page.listed]
    context.store.keep(
        [b for each in found for b in context.keepable(each.path, each.data, on_disk=each)]
    )
    return page.notice()


class _Page:
    """A notice while it is composed, with room for so many characters. listed: the changes that it
    shows or names; more: the number of files that it leaves out."""

    def __init__(self, room: int) -> None:
        self.listed: list[PendingChange] = []
        self.more = 0
        self._room = max(room - RESERVE, 0)
        self._names_room = RESERVE - 100
        self._lines: list[str] = []
        self._changes: list[FileChange] = []
        self._told: list[Told | None] = []

    def add_group(self, group: list[PendingChange]) -> None:
        """Add the changes of one cause under a heading."""
        heading = words.heading(group[0].by()[0], len(group))
        self._lines.append(heading)
        self._room -= len(heading) + 1
        names = [change.name for change in group if self._is_only_named(change)]
        if names:
            self._lines.append(words.omitted(names))

    def _is_only_named(self, pending: PendingChange) -> bool:
        """Add a change. Return whether there was room for its file's name alone."""
        name_length = len(pending.name) + 2
        change, told = pending.change(max(self._room - name_length, 0))
        part = words.part(change)
        has_text = change.diff or change.moved_lines or pending.what != "changed"
        if len(part) < self._room and has_text:
            self._room -= len(part) + 1
            self._lines.append(part)
            self._add(pending, change, told)
            return False
        if name_length > self._names_room and self.listed:
            self.more += 1
            return False
        self._names_room -= name_length
        self._add(pending, change, pending.mention_only())
        return True

    def _add(self, pending: PendingChange, change: FileChange, told: Told | None) -> None:
        self.listed.append(pending)
        self._changes.append(change)
        self._told.append(told)

    def notice(self) -> Notice:
        """Return the notice. Equal changes have an equal id."""
        lines = [*self._lines, *([guard_words.more(self.more)] if self.more else [])]
        told = tuple(each for each in self._told if each is not None)
        text = "\n".join(lines)
        digest = revision_of(repr((text, told)).encode("utf-8", "surrogatepass"))
        return Notice(f"n{digest[:10]}", text, tuple(self._changes), told)
