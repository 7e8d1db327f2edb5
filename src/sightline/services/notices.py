"""What others changed, made into a notice for the agent."""

from __future__ import annotations

from sightline.core.diff import diff
from sightline.core.events import Told
from sightline.core.relocation import shifted
from sightline.core.revision import revision_of
from sightline.render import notices as words
from sightline.services.authors import changed_by
from sightline.services.refusals import bounded
from sightline.services.results import FileChange, Notice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.relocation import Place
    from sightline.services.ground import Ground
    from sightline.services.news import News
    from sightline.services.plans import Plan
    from sightline.services.results import EditResult

CHARACTERS = 4
"""Of one token, about."""

NOTICE_TOKENS = 1_500

FILES_MAX = 200
"""Files of one notice; of more, the rest is news another time."""

RESERVE = 400
"""Characters kept for naming the files that there is no room to tell of."""


def notice(ground: Ground, budget: int = NOTICE_TOKENS, *, handed: bool = False) -> Notice | None:
    """What others changed in lines that were shown and this session was not told of yet; None
    when there is nothing. Changes with one cause stand together.

    budget: tokens at most, about four characters each. Files that do not fit are named; those
    that cannot even be named are told next time. handed: without what the host was handed words
    on.
    """
    from sightline.services.news import news

    page = Page(budget * CHARACTERS)
    groups: dict[object, list[News]] = {}
    for at, each in enumerate(news(ground, handed=handed)):
        if at < FILES_MAX:
            groups.setdefault(_cause_of(each), []).append(each)
        else:
            page.more += 1
    for group in groups.values():
        page.put(group)
    if not groups:
        return None
    blobs = [b for each in page.said for b in ground.keepable(each.found.path, each.found.data)]
    ground.store.keep(blobs)
    return page.notice()


def _cause_of(each: News) -> object:
    """What files have to have in common to be told of together."""
    who, by = each.by()
    return who, by.at if by is not None and by.kind == "git" else None


class Page:
    """A notice in the making, of so many characters. said: the files it tells of or names."""

    def __init__(self, room: int) -> None:
        self.left = max(room - RESERVE, 0)
        self.names_left = RESERVE - 100
        self.more = 0
        self.said: list[News] = []
        self._lines: list[str] = []
        self._changes: list[FileChange] = []
        self._told: list[Told | None] = []

    def put(self, group: list[News]) -> None:
        """Tell of files with one cause."""
        heading = words.heading(group[0].by()[0], len(group))
        self._lines.append(heading)
        self.left -= len(heading) + 1
        names = [name for each in group for name in self._put(each)]
        if names:
            self._lines.append(words.rest(names))

    def _put(self, each: News) -> list[str]:
        """Tell of one file; its name where there is room for no more."""
        change, told = each.change(max(self.left - len(each.name) - 2, 0))
        part = words.part(change)
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

    def _said(self, each: News, change: FileChange, told: Told | None) -> None:
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


def notice_of(plan: Plan, path: str, position: int) -> Notice | None:
    """The notice that goes with an attempt that was carried out; None when nothing else changed.

    path: where the file is now; position: where that was recorded.
    """
    ruling, case = plan.ruling, plan.case
    if ruling.decision == "allow":
        return None
    if not ruling.changes and not ruling.endings_only:
        return unseen_notice(plan) if ruling.reason == "unseen" else None
    who, by = changed_by(plan.ground, plan.path, plan.news)
    told: tuple[Told, ...] = ()
    moved: tuple[Place, ...] = ()
    what, shown = "endings", ruling.changes
    if ruling.endings_only:
        diff_text, text = "", words.endings(plan.shown_path, who)
    else:
        what, moved = "changed", _shifted(plan)
        diff_text, shown = bounded(case, ruling.changes)
        text = words.beside(plan.shown_path, who, diff_text, moved)
    if set(ruling.changes) <= set(shown):
        told = (Told(path, plan.after, None, position),)
    seen = case.sight.belief.text if case.sight.belief else ""
    change = FileChange(
        plan.shown_path,
        ruling.state,
        diff_text,
        text.split("\n")[0],
        by,
        seen,
        plan.found.revision,
        what,
        moved_lines=moved,
    )
    return Notice(f"{path}@{position}", text, (change,), told)


def _shifted(plan: Plan) -> tuple[Place, ...]:
    """Where lines that were shown stand after the attempt, when others' lines shifted them."""
    case, text = plan.case, plan.new_text
    if case.held is None or case.base is None or text is None:
        return ()
    if not any(b1 - b0 != a1 - a0 for a0, a1, b0, b1 in plan.ruling.changes):
        return ()
    return tuple(shifted(case.held.shown, diff(case.base.lines, text.lines)))


def unseen_notice(plan: Plan) -> Notice:
    """An edit of text that matched, and was never shown or not kept when it was."""
    path = plan.shown_path
    kept = plan.known.belief is None or plan.case.base is not None
    return Notice(f"{path}@unseen", words.unseen(path, plan.ruling.lines, kept=kept), ())


def moved_notice(src: str, result: EditResult) -> Notice:
    """An edit that followed a rename."""
    from sightline.render import moved

    text = moved(src, result.path)
    if result.notice is None:
        return Notice(f"{result.path}@moved", text, ())
    return result.notice.replace(text=f"{text}\n{result.notice.text}")
