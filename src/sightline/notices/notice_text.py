"""What others changed, made into a notice for the agent."""

from __future__ import annotations

from sightline.changes.session_context import SessionContext
from sightline.guard import words
from sightline.model.events import Told
from sightline.model.results import FileChange, Notice
from sightline.model.revision import revision_of
from sightline.notices import words as notice_words
from sightline.notices.pending import PendingChange, news

CHARACTERS = 4
"""Of one token, about."""

NOTICE_TOKENS = 1_500

FILES_MAX = 200
"""Files of one notice; of more, the rest is news another time."""

RESERVE = 400
"""Characters kept for naming the files that there is no room to tell of."""


def notice(
    context: SessionContext, budget: int = NOTICE_TOKENS, *, handed: bool = False
) -> Notice | None:
    """What others changed in lines that were shown and this session was not told of yet; None
    when there is nothing. Changes with one cause stand together.

    budget: tokens at most, about four characters each. Files that do not fit are named; those
    that cannot even be named are told next time. handed: without what the host was handed words
    on.
    """
    page = Page(budget * CHARACTERS)
    groups: dict[object, list[PendingChange]] = {}
    for at, each in enumerate(news(context, handed=handed)):
        if at < FILES_MAX:
            groups.setdefault(_cause_of(each), []).append(each)
        else:
            page.more += 1
    for group in groups.values():
        page.put(group)
    if not groups:
        return None
    blobs = [b for each in page.said for b in context.keepable(each.found.path, each.found.data)]
    context.store.keep(blobs)
    return page.notice()


def _cause_of(each: PendingChange) -> object:
    """What files have to have in common to be told of together."""
    who, by = each.by()
    return who, by.at if by is not None and by.kind == "git" else None


class Page:
    """A notice in the making, of so many characters. said: the files it tells of or names."""

    def __init__(self, room: int) -> None:
        self.left = max(room - RESERVE, 0)
        self.names_left = RESERVE - 100
        self.more = 0
        self.said: list[PendingChange] = []
        self._lines: list[str] = []
        self._changes: list[FileChange] = []
        self._told: list[Told | None] = []

    def put(self, group: list[PendingChange]) -> None:
        """Tell of files with one cause."""
        heading = notice_words.heading(group[0].by()[0], len(group))
        self._lines.append(heading)
        self.left -= len(heading) + 1
        names = [name for each in group for name in self._put(each)]
        if names:
            self._lines.append(notice_words.rest(names))

    def _put(self, each: PendingChange) -> list[str]:
        """Tell of one file; its name where there is room for no more."""
        change, told = each.change(max(self.left - len(each.name) - 2, 0))
        part = notice_words.part(change)
        if len(part) < self.left and (change.diff or change.moved_lines or each.what != "changed"):
            self.left -= len(part) + 1
            self._lines.append(part)
            self._said(each, change, told)
            return []
        if len(each.name) + 2 > self.names_left and self.said:
            self.more += 1
            return []
        self.names_left -= len(each.name) + 2
        self._said(each, change, each.heard())
        return [each.name]

    def _said(self, each: PendingChange, change: FileChange, told: Told | None) -> None:
        self.said.append(each)
        self._changes.append(change)
        self._told.append(told)

    def notice(self) -> Notice:
        """All of it. The same news make the same id."""
        lines = [*self._lines, *([words.more(self.more)] if self.more else [])]
        told = tuple(each for each in self._told if each is not None)
        text = "\n".join(lines)
        digest = revision_of(repr((text, told)).encode("utf-8", "surrogatepass"))
        return Notice(f"n{digest[:10]}", text, tuple(self._changes), told)
