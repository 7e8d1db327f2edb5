"""The live view as lines for a terminal of some size: who has which files, and what happens.

Nothing in it tells how long ago something was, only when: a view that grows older by itself would
have to be drawn again though nothing happened.
"""

from __future__ import annotations

from sightline.core.events import Cause
from sightline.render.cells import cells, clipped, cut, line, middle, padded, steady
from sightline.render.news import STYLES, by_whom, news, reason_of, session_name
from sightline.render.views import count
from sightline.render.warnings import in_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Protocol

    from sightline.core.claims import Claim
    from sightline.render.cells import Line
    from sightline.render.news import Clock, Happened
    from sightline.render.warnings import Warned

    class By(Protocol):
        """services.results.ChangedBy."""

        @property
        def kind(self) -> str: ...
        @property
        def who(self) -> str | None: ...
        @property
        def at(self) -> datetime: ...
        @property
        def detail(self) -> str | None: ...
        @property
        def confidence(self) -> str: ...

    class File(Protocol):
        """services.overview.FileNow."""

        @property
        def path(self) -> str: ...
        @property
        def state(self) -> str: ...
        @property
        def by(self) -> By | None: ...
        @property
        def mark(self) -> Happened | None: ...

    class Working(Protocol):
        """services.overview.SessionNow."""

        @property
        def id(self) -> str: ...
        @property
        def agent(self) -> str: ...
        @property
        def parent(self) -> str | None: ...
        @property
        def turn(self) -> int: ...
        @property
        def model(self) -> str | None: ...
        @property
        def last(self) -> int: ...
        @property
        def files(self) -> Sequence[File]: ...
        @property
        def gone(self) -> bool: ...
        @property
        def claims(self) -> Sequence[Claim]: ...
        @property
        def warnings(self) -> Sequence[Warned]: ...

    class View(Protocol):
        """services.overview.Overview."""

        @property
        def sessions(self) -> Sequence[Working]: ...
        @property
        def ended(self) -> int: ...
        @property
        def resting(self) -> int: ...
        @property
        def events(self) -> Sequence[Happened]: ...


EVENTS_MIN = 4
"""Lines of events that are shown however many files there are."""


def screen(
    view: View, place: str, status: str, width: int, height: int, clock: Clock
) -> list[Line]:
    """At most `height` lines of at most `width` cells, each made of (text, style) pieces. place:
    the workspace, as its reader names it; status:
    who is connected; clock: microseconds as HH:MM:SS on the reader's wall. Styles: "", head, dim,
    good, look, bad."""
    head = _head(place, status, width)
    room = max(height - len(head), 0)
    told = news(view.events, width, clock)
    below = min(len(told), max(EVENTS_MIN, room // 3))
    body = _fitted(view, width, room - below - 1 if told else room, clock)
    below = min(len(told), room - len(body) - 1)
    shown = [*head, *body]
    if below > 0:
        shown += [(), *told[-below:]]
    return [clipped(each, width) for each in shown[:height]]


def _minute(clock: Clock, at: int) -> str:
    return clock(at)[:5]


def _head(place: str, status: str, width: int) -> list[Line]:
    title = "Sightline "
    where = middle(steady(place), width - len(title))
    return [((title, "head"), (where, "")), ((cut(status, width), "dim"),)]


def _fitted(view: View, width: int, room: int, clock: Clock) -> list[Line]:
    """The sessions, with as many files each as there is room for, the newest life first."""
    most = max((len(each.files) for each in view.sessions), default=0)
    limits = [*range(min(most, room), 0, -1), 0]
    blocks: list[list[Line]] = []
    for limit in limits:
        blocks = [_session(each, width, limit, clock) for each in view.sessions]
        if sum(len(block) for block in blocks) <= room - 1:
            break
    lines: list[Line] = []
    for at, block in enumerate(blocks):
        if len(lines) + len(block) > room - 1:
            return [*lines, _rest(view, len(blocks) - at, width)][: max(room, 0)]
        lines += block
    rest = _rest(view, 0, width)
    return [*lines, rest] if rest else lines


def _rest(view: View, hidden: int, width: int) -> Line:
    """What of the sessions is not shown."""
    said = []
    if hidden:
        said.append(f"{count(hidden, 'more session')} at work")
    if view.resting:
        said.append(f"{view.resting} quiet")
    if view.ended:
        said.append(f"{view.ended} ended")
    if said:
        return line((cut(f"{', '.join(said)}: sightline sessions", width), "dim"))
    return () if view.sessions else line((cut(_NOBODY, width), ""))


_NOBODY = "No agent was shown a file here yet."


def _session(each: Working, width: int, limit: int, clock: Clock) -> list[Line]:
    indent = "  " if each.parent else ""
    facts = [f"{'gone, ' if each.gone else ''}last heard of {_minute(clock, each.last)}"]
    if each.model and width >= 100:
        facts.insert(0, each.model)
    if each.turn:
        facts.insert(0, f"turn {each.turn}")
    who = f"{indent}{each.agent} {session_name(each.id)}"
    said = cut(steady(", ".join(facts)), max(width - cells(who) - 2, 0))
    head = (cut(steady(who), width), "head"), (f"  {said}" if said else "", "")
    claims = [_claimed(claim, f"{indent}  ", width, clock) for claim in each.claims]
    warned = _warned(each.warnings, f"{indent}  ", width)
    return [(), line(*head), *claims, *warned, *_files(each, f"{indent}  ", width, limit, clock)]


def _warned(warnings: Sequence[Warned], indent: str, width: int) -> list[Line]:
    """The oldest warning, and how many more there are, on one line."""
    if not warnings:
        return []
    more = f"{len(warnings) - 1} more, " if len(warnings) > 1 else ""
    rest = f"  ({more}sightline warnings)"
    room = max(width - len(indent) - STATE - 1, 0)
    rest = rest if cells(rest) <= room // 2 else ""
    said = cut(steady(in_line(warnings[0])), room - cells(rest))
    return [line((indent, ""), (padded("warning", STATE), "look"), (f" {said}{rest}", ""))]


def _claimed(claim: Claim, indent: str, width: int, clock: Clock) -> Line:
    """What a session claims, and until when."""
    shared = "" if claim.exclusive else " with others"
    said = f"until {_minute(clock, claim.expires_at)}{shared}: {', '.join(claim.paths)}"
    room = width - len(indent) - STATE - 1
    return line((indent, ""), (padded("claims", STATE), ""), (f" {cut(steady(said), room)}", ""))


def _files(each: Working, indent: str, width: int, limit: int, clock: Clock) -> list[Line]:
    """The files that want a look, one a line; the others are named on one line together."""
    odd = sorted((file for file in each.files if _odd(file)), key=_urgency)
    fresh = [file for file in each.files if not _odd(file)]
    shown = odd if len(odd) <= limit else odd[: max(limit - 1, 0)]
    room = max((cells(steady(file.path)) for file in shown), default=0)
    room = min(room, max((width - len(indent) - STATE - 4) // 2, 16))
    lines = [_file(file, indent, room, width, clock) for file in shown]
    if len(shown) < len(odd):
        more = f"{indent}{len(odd) - len(shown)} more changed files: sightline status"
        lines.append(line((cut(more, width), "look")))
    if fresh:
        lines.append(_named(fresh, indent, width))
    return lines


STATE = 10
"""Cells of the longest words of a state, kind_changed excepted, which is told as "replaced"."""


def _file(file: File, indent: str, room: int, width: int, clock: Clock) -> Line:
    state = _state(file)
    left = width - len(indent) - STATE - 2
    path = middle(steady(file.path), min(room, left))
    said = [steady(each) for each in _whys(file, clock)]
    why = _fitting(said, max(left - room - 2, 0))
    name = padded(path, room) if why else path
    return line(
        (indent, ""),
        (padded(state, STATE), STYLES.get(state, "look")),
        (f" {name}", ""),
        (f"  {why}" if why else "", "dim"),
    )


_WORDS = {"kind_changed": "replaced", "unverifiable": "unreadable"}


def _state(file: File) -> str:
    """How a file stands, in a word; what came of an attempt on it where that is more telling."""
    if file.mark is not None and (file.mark.kind == "refused" or file.state == "fresh"):
        return file.mark.kind
    return _WORDS.get(file.state, file.state)


def _whys(file: File, clock: Clock) -> list[str]:
    """Why a file stands as it does; where that takes too much room, in fewer words."""
    mark = file.mark
    if mark is not None and mark.kind == "refused":
        return [f"{_minute(clock, mark.at)} {reason_of(mark)}", reason_of(mark)]
    if file.by is not None:
        at = int(file.by.at.timestamp() * 1_000_000)
        said = (file.by.kind, file.by.who, file.by.detail, file.by.confidence)
        made = Cause(*said)  # type: ignore[arg-type]
        told = f"{_minute(clock, at)} {by_whom(made)}"
        return [f"changed {told}" if file.state == "stale" else told, told]
    return [f"{_minute(clock, mark.at)} with others' changes", ""] if mark is not None else [""]


def _fitting(said: Sequence[str], room: int) -> str:
    return next((each for each in said if cells(each) <= room), cut(said[-1], room))


def _named(fresh: Sequence[File], indent: str, width: int) -> Line:
    """The files that are as they were shown: as many names as fit."""
    room = width - len(indent) - STATE - 1
    names = [steady(file.path) for file in fresh]
    said, left = "", len(names)
    for name in names:
        more = f" and {left - 1} more" if left > 1 else ""
        longer = f"{said}, {name}" if said else middle(name, max(room - len(more), 0))
        if not longer or cells(longer + more) > room:
            break
        said, left = longer, left - 1
    if left:
        said = f"{said} and {left} more" if said else count(left, "file")
    fit = padded("fresh", STATE)
    return line((indent, ""), (fit, STYLES["fresh"]), (f" {cut(said, room)}", "dim"))


def _odd(file: File) -> bool:
    return file.state != "fresh" or file.mark is not None


def _urgency(file: File) -> tuple[bool, bool, float, str]:
    """What was refused first, then what changed last."""
    refused = file.mark is not None and file.mark.kind == "refused"
    at = file.by.at.timestamp() if file.by is not None else 0.0
    return not refused, file.state == "fresh", -at, file.path
