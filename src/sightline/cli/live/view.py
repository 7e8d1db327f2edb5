"""The live view as lines for a terminal of some size: who has which files, and what happens.

The view says when something happened, not how long ago: a view that ages by itself would have to be
drawn again though nothing happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from sightline.api.workspace_words import in_line
from sightline.model.active_claims import Claim
from sightline.model.events import Cause
from sightline.model.live_sessions import FileNow, Overview, SessionNow
from sightline.model.log_entries import Entry
from sightline.model.path import quoted
from sightline.model.revision import MISSING
from sightline.text.causes import git_operation, to_person
from sightline.text.phrases import by, count
from sightline.text.terminal_cells import steady

Clock = Callable[[int], str]
"""Microseconds as HH:MM:SS on the reader's clock."""

EVENTS_MIN = 4
"""Lines of events that are shown however many files there are."""

NARROW = 12
"""In fewer lines, sessions come before events while a file is chosen."""

STATE, WHAT = 10, 9
"""Cells of the columns for a file's state and for what happened."""

LOOK = "yellow"
STYLES = {
    **dict.fromkeys(("fresh", "unseen", "merged"), "green"),
    **dict.fromkeys(("refused", "deleted"), "bold red"),
    **dict.fromkeys(("changed", "renamed", "created", "git", "sight lost", "not kept"), LOOK),
}
"""A state, or what happened -> its style. Other states, and warnings, are to be looked at."""


class Fitting:
    """The first of several wordings that fits into its place; else the last one, cut."""

    def __init__(self, wordings: Iterable[str], style: str = "") -> None:
        self._wordings = [*wordings]
        self._style = style

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, max(cell_len(self._wordings[0]), 1))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width
        fit = next((each for each in self._wordings if cell_len(each) <= room), self._wordings[-1])
        yield _text((fit, self._style))


def _text(*parts: str | tuple[str, str]) -> Text:
    """Return one line that is cut where the terminal ends."""
    return Text.assemble(*parts, no_wrap=True, overflow="ellipsis")


def _grid(rows: Iterable[Sequence[RenderableType]]) -> Table:
    """Return rows whose first column is never narrowed."""
    grid = Table.grid(Column(no_wrap=True))
    for row in rows:
        grid.add_row(*row)
    return grid


class Head(Struct, frozen=True):
    """The first lines. place: the workspace, as its reader names it; status: who is connected; keys:
    how the view ends; alarm: why nothing is guarded, empty while the guard works."""

    place: str
    status: str
    keys: str = ""
    alarm: str = ""


Chosen = tuple[str, str]
"""The id of a session, and the path of a file that it was shown."""


def draw(
    view: Overview,
    head: Head,
    clock: Clock,
    console: Console,
    height: int,
    chosen: Chosen | None = None,
) -> list[str]:
    """Return at most `height` lines for a console. chosen: the file that keys are about."""
    top = _head(head, console.width)
    room = max(height - len(top), 0)
    below = min(len(view.events), max(EVENTS_MIN, room // 3))
    if chosen is not None and room < NARROW:
        below = 0
    sessions_room = room - below - 1 if below else room
    body, used = _sessions(view, console.width, sessions_room, clock, chosen)
    below = min(len(view.events), room - used - 1)
    parts: list[RenderableType] = [*top, *body]
    if below > 0:
        parts += [Text(), news(view.events[-below:], console.width, clock)]
    return _lines(console, parts, height)


def page(head: Head, text: Sequence[str], first: int, console: Console, height: int) -> list[str]:
    """Return at most `height` lines for a console: the head, and lines of a text from one on."""
    top = [*_head(head, console.width), Text()]
    room = max(height - len(top), 0)
    shown = [_text(steady(line)) for line in text[first : first + room]]
    return _lines(console, [*top, *shown], height)


def _lines(console: Console, parts: Sequence[RenderableType], height: int) -> list[str]:
    with console.capture() as capture:
        console.print(Group(*parts))
    return [line.rstrip() for line in capture.get().split("\n")[:-1]][:height]


def _head(head: Head, width: int) -> list[RenderableType]:
    title = _text(("Sightline ", "bold"), steady(head.place))
    if cell_len(title.plain) + 2 + cell_len(head.keys) <= width:
        gap = " " * (width - cell_len(title.plain) - cell_len(head.keys))
        title.append(f"{gap}{head.keys}", "dim")
    alarm = [_text((steady(line), "bold red")) for line in head.alarm.splitlines()]
    return [*alarm, title, _text((head.status, "dim"))]


def files_of(view: Overview) -> list[Chosen]:
    """Return the files in the order of the view."""
    return [
        (session.id, file.path)
        for session in view.sessions
        for file in (*_changed(session), *_fresh(session))
    ]


def _sessions(
    view: Overview, width: int, room: int, clock: Clock, chosen: Chosen | None
) -> tuple[list[RenderableType], int]:
    """Return the sessions and their lines, with as many files each as there is room for. Sessions
    above the chosen file make room for its session where they have to."""
    most = max((len(each.files) for each in view.sessions), default=0)
    limits = [*range(min(most, room), 0, -1), 0]
    fits = (n for n in limits if sum(_height(each, n) for each in view.sessions) <= room - 1)
    limit = next(fits, 0)
    heights = [_height(each, limit) for each in view.sessions]
    ids = [each.id for each in view.sessions]
    needed = ids.index(chosen[0]) if chosen is not None and chosen[0] in ids else 0
    first = next((n for n in range(needed) if sum(heights[n : needed + 1]) <= room - 1), needed)
    parts: list[RenderableType] = []
    used, hidden = 0, len(view.sessions)
    for each, lines in zip(view.sessions[first:], heights[first:], strict=True):
        if used + lines > room - 1:
            break
        path = chosen[1] if chosen is not None and chosen[0] == each.id else None
        parts += _session(each, width, limit, clock, path)
        used += lines
        hidden -= 1
    more = [
        *([f"{count(hidden, 'more session')} at work"] if hidden else []),
        *([f"{view.resting} quiet"] if view.resting else []),
        *([f"{view.ended} ended"] if view.ended else []),
    ]
    if more:
        parts.append(_text((f"{', '.join(more)}: sightline session list", "dim")))
    elif not view.sessions:
        parts.append(_text("No agent was shown a file here yet."))
    else:
        return parts, used
    return (parts, used + 1) if room > 0 else ([], 0)


def _changed(session: SessionNow) -> list[FileNow]:
    """Return the files that are not as shown: refused edits first, then the newest changes."""

    def urgency(file: FileNow) -> tuple[bool, bool, float, str]:
        refused = file.mark is not None and file.mark.kind == "refused"
        at = file.by.at.timestamp() if file.by is not None else 0.0
        return not refused, file.state == "fresh", -at, file.path

    changed = [file for file in session.files if file.state != "fresh" or file.mark is not None]
    return sorted(changed, key=urgency)


def _fresh(session: SessionNow) -> list[FileNow]:
    """Return the files that are as shown."""
    changed = _changed(session)
    return [file for file in session.files if file not in changed]


def _height(session: SessionNow, limit: int) -> int:
    """Return the lines of a session with at most `limit` lines of changed files."""
    changed = len(_changed(session))
    files = min(changed, max(limit, 1)) + (changed < len(session.files))
    return 2 + len(session.claims) + bool(session.warnings) + files


def _session(
    session: SessionNow, width: int, limit: int, clock: Clock, chosen: str | None
) -> list[RenderableType]:
    indent = "  " if session.parent else ""
    facts = [f"{'gone, ' if session.gone else ''}last heard of {clock(session.last)[:5]}"]
    if session.model and width >= 100:
        facts.insert(0, session.model)
    if session.turn:
        facts.insert(0, f"turn {session.turn}")
    name = session_name(session.name or session.id)
    who = f"{indent}{session.agent}{'' if name == session.agent else f' {name}'}"
    parts: list[RenderableType] = [
        Text(),
        _text((steady(who), "bold"), f"  {steady(', '.join(facts))}"),
    ]
    indent += "  "
    parts += [
        _text(indent, f"{'claims':<{STATE}} ", _claimed(each, clock)) for each in session.claims
    ]
    if session.warnings:
        more = f"{len(session.warnings) - 1} more, " if len(session.warnings) > 1 else ""
        hint = f"  ({more}sightline warnings)" if width >= 60 else ""
        state = _text(indent, (f"{'warning':<{STATE}} ", LOOK))
        parts.append(_grid([(state, Fitting([steady(in_line(session.warnings[0]))]), _text(hint))]))
    changed = _changed(session)
    shown = changed if len(changed) <= limit else changed[: max(limit - 1, 0)]
    at = next((at for at, file in enumerate(changed) if file.path == chosen), 0)
    if at >= len(shown) and shown:  # with the chosen one as the last that there is room for
        shown = changed[at + 1 - len(shown) : at + 1]
    is_alone = not shown and any(file.path == chosen for file in changed)
    if is_alone:  # in place of the line that counts the others
        shown = [changed[at]]
    if shown:
        rows = (_file(file, _indent(indent, file.path == chosen), clock) for file in shown)
        parts.append(_grid(rows))
    if len(shown) < len(changed) and not is_alone:
        hidden = f"{len(changed) - len(shown)} more changed files: sightline status"
        parts.append(_text(indent, (hidden, LOOK)))
    fresh = [file.path for file in _fresh(session)]
    if fresh:
        at = fresh.index(chosen) if chosen in fresh else 0
        names = [quoted(path) for path in (*fresh[at:], *fresh[:at])]  # the chosen one first
        mark = _indent(indent, chosen in fresh)
        state = _text(mark, (f"{'fresh':<{STATE}} ", STYLES["fresh"]))
        parts.append(_grid([(state, Fitting(_names(names), "dim"))]))
    return parts


def _indent(indent: str, is_chosen: bool) -> str:  # noqa: FBT001 - its only flag
    """Return the beginning of a file's line, with a mark for the chosen file."""
    return f"{indent[:-2]}> " if is_chosen else indent


def _claimed(claim: Claim, clock: Clock) -> str:
    shared = "" if claim.exclusive else " with others"
    return steady(
        f"until {clock(claim.expires_at)[:5]}{shared}: {', '.join(map(quoted, claim.paths))}"
    )


NAMES_MAX = 30
"""Names of fresh files that are listed before the rest is counted."""


def _names(paths: Sequence[str]) -> list[str]:
    """Return wordings for a list of files, the longest first."""
    lists = [
        f"{', '.join(paths[:n])} and {len(paths) - n} more"
        for n in range(min(len(paths) - 1, NAMES_MAX), 0, -1)
    ]
    if len(paths) == 1:
        return _shorter(paths[0])
    return [
        *([", ".join(paths)] if len(paths) <= NAMES_MAX else []),
        *lists,
        count(len(paths), "file"),
    ]


def _shorter(path: str) -> list[str]:
    """Return a path, then with fewer and fewer of its folders."""
    *folders, name = path.split("/")
    return [path, *("/".join([*folders[:n], "…", name]) for n in range(len(folders) - 1, -1, -1))]


_STATES = {"kind_changed": "replaced", "unverifiable": "unreadable"}


def _file(file: FileNow, indent: str, clock: Clock) -> list[RenderableType]:
    """Return state, path and reason of a changed file."""
    mark, whys, state = file.mark, [""], _STATES.get(file.state, file.state)
    if mark is not None and (mark.kind == "refused" or file.state == "fresh"):
        state = mark.kind
    if mark is not None and mark.kind == "refused":
        whys = [f"{clock(mark.at)[:5]} {reason_of(mark)}", reason_of(mark)]
    elif file.by is not None:
        at = clock(int(file.by.at.timestamp() * 1_000_000))[:5]
        why = f"{at} {by_whom(file.by.cause)}"
        whys = [f"changed {why}", why] if file.state == "stale" else [why]
    elif mark is not None:
        whys = [f"{clock(mark.at)[:5]} with others' changes", ""]
    return [
        _text(indent, (f"{state:<{STATE}} ", STYLES.get(state, LOOK))),
        Padding(Fitting(_shorter(quoted(file.path))), (0, 2, 0, 0)),
        Fitting([steady(why) for why in whys], "dim"),
    ]


def news(events: Iterable[Entry], width: int, clock: Clock) -> Table:
    """Return events as a table: time, session, what happened, and to which file."""
    session = Column(max_width=max(width // 4, 8) + 2)
    table = Table.grid(Column(no_wrap=True), session, Column(no_wrap=True))
    for entry in events:
        what, is_own = _what(entry), bool(entry.session) and _is_own(entry)
        path, about = quoted(entry.path or ""), steady(_about(entry))
        wordings = [f"{each}  {about}".strip() for each in _shorter(path)]
        table.add_row(
            _text((f"{clock(entry.at)}  ", "dim")),
            Padding(_text(session_name(entry.session)), (0, 2, 0, 0)) if is_own else "  ",
            _text((f"{what:<{WHAT}} ", STYLES.get(what, LOOK if what == "warning" else ""))),
            Fitting(wordings),
        )
    return table


def _is_own(entry: Entry) -> bool:
    return entry.cause.who == entry.session


def _what(entry: Entry) -> str:
    if entry.kind == "changed" and entry.before == MISSING:
        return "created"
    if entry.kind == "changed" and _is_own(entry) and entry.cause.kind == "agent":
        return "edited"
    return entry.short or entry.kind.replace("_", " ")


def _about(entry: Entry) -> str:
    """Return what the line of an event says after its path."""
    if entry.kind == "session":
        parent = entry.cause.detail
        return f"{entry.agent}{f', started by {session_name(parent)}' if parent else ''}"
    if entry.kind == "moved":
        return f"was {quoted(entry.src or '')}"
    if entry.kind in ("changed", "deleted"):
        return "" if _is_own(entry) and entry.cause.kind == "agent" else by_whom(entry.cause)
    if entry.kind == "git":
        return f"{git_operation(entry.cause)}, {count(len(entry.paths), 'file')}: {', '.join(map(quoted, entry.paths))}"
    if entry.kind == "refused":
        return reason_of(entry)
    return "" if entry.kind == "merged" else entry.cause.detail or ""


def reason_of(entry: Entry) -> str:
    """Return why an attempt was refused, in a few words."""
    reason = entry.cause.detail or ""
    return _REASONS.get(reason, reason.replace("_", " "))


_REASONS = {
    "stale": "its lines changed since",
    "unseen": "it was never shown",
    "not_found": "text not found",
    "conflict": "rewrites others' change",
    "deleted": "it was deleted",
    "exists": "exists already",
    "ambiguous": "text stands there twice",
    "scope": "needs approval",
    "claimed": "another agent claims it",
}

NAMED_IN_FULL = 12
"""Letters of an id that is shown whole; of a longer one, such as a UUID, the first eight are."""


def session_name(id: str) -> str:
    """Return a session's name, or its id, short enough for a column; for a sub-agent the part behind
    the "/"."""
    title, quote, own = steady(id).rpartition('"')
    if quote:
        return own[1:] or f'{title}"'
    head, _, own = steady(id).partition("/")
    return own or (head if len(head) <= NAMED_IN_FULL or " " in head else head[:8])


def by_whom(cause: Cause) -> str:
    """Return the author of a change, in words for the person who looks at this view."""
    return by(to_person(cause, session_name(cause.who or ""), session_name(cause.detail or "")))
