"""The live view as lines for a terminal of some size: who has which files, and what happens.

Nothing in it tells how long ago something was, only when: a view that grows older by itself would
have to be drawn again though nothing happened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sightline.changes.words import by, git_operation, to_person
from sightline.history.log_entries import Entry
from sightline.history.views import FileNow, Overview, SessionNow
from sightline.model.active_claims import Claim
from sightline.model.events import Cause
from sightline.model.results import FileWarning
from sightline.model.revision import MISSING
from sightline.notices.words import in_line
from sightline.text.phrases import count
from sightline.text.terminal_cells import Line, cells, clipped, cut, line, middle, padded, steady

Clock = Callable[[int], str]
"""Microseconds as HH:MM:SS on the reader's wall."""


EVENTS_MIN = 4
"""Lines of events that are shown however many files there are."""


def screen(
    view: Overview, place: str, status: str, width: int, height: int, clock: Clock
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


def _fitted(view: Overview, width: int, room: int, clock: Clock) -> list[Line]:
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


def _rest(view: Overview, hidden: int, width: int) -> Line:
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


def _session(each: SessionNow, width: int, limit: int, clock: Clock) -> list[Line]:
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


def _warned(warnings: Sequence[FileWarning], indent: str, width: int) -> list[Line]:
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


def _files(each: SessionNow, indent: str, width: int, limit: int, clock: Clock) -> list[Line]:
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


def _file(file: FileNow, indent: str, room: int, width: int, clock: Clock) -> Line:
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


def _state(file: FileNow) -> str:
    """How a file stands, in a word; what came of an attempt on it where that is more telling."""
    if file.mark is not None and (file.mark.kind == "refused" or file.state == "fresh"):
        return file.mark.kind
    return _WORDS.get(file.state, file.state)


def _whys(file: FileNow, clock: Clock) -> list[str]:
    """Why a file stands as it does; where that takes too much room, in fewer words."""
    mark = file.mark
    if mark is not None and mark.kind == "refused":
        return [f"{_minute(clock, mark.at)} {reason_of(mark)}", reason_of(mark)]
    if file.by is not None:
        at = int(file.by.at.timestamp() * 1_000_000)
        told = f"{_minute(clock, at)} {by_whom(file.by.cause)}"
        return [f"changed {told}" if file.state == "stale" else told, told]
    return [f"{_minute(clock, mark.at)} with others' changes", ""] if mark is not None else [""]


def _fitting(said: Sequence[str], room: int) -> str:
    return next((each for each in said if cells(each) <= room), cut(said[-1], room))


def _named(fresh: Sequence[FileNow], indent: str, width: int) -> Line:
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


def _odd(file: FileNow) -> bool:
    return file.state != "fresh" or file.mark is not None


def _urgency(file: FileNow) -> tuple[bool, bool, float, str]:
    """What was refused first, then what changed last."""
    refused = file.mark is not None and file.mark.kind == "refused"
    at = file.by.at.timestamp() if file.by is not None else 0.0
    return not refused, file.state == "fresh", -at, file.path


NAMED_IN_FULL = 12
"""Ids up to this length are told whole; of longer ones, such as a UUID, the first eight letters."""


STYLES = {"fresh": "good", "unseen": "good", "merged": "good", "refused": "bad", "deleted": "bad"}
"""A state, or what happened -> how it looks; every other word is to be looked at."""


def news(events: Sequence[Entry], width: int, clock: Clock) -> list[Line]:
    room = max((cells(_subject(each)) for each in events), default=0)
    return [_event(each, min(room, max(width // 4, 8)), width, clock) for each in events]


def _event(entry: Entry, room: int, width: int, clock: Clock) -> Line:
    what = _what(entry)
    at = f"{clock(entry.at)}  "
    left = max(width - cells(at) - room - 2 - WHAT - 1, 0)
    path = steady(entry.path or "")
    about = steady(_about(entry))
    if path and about:
        fit = middle(path, max(left - cells(about) - 2, left // 2))
        text = cut(f"{fit}  {about}", left)
    else:
        text = middle(path, left) or cut(about, left)
    subject = padded(_subject(entry), room)
    style = STYLES.get(what, "look" if what in _TO_LOOK_AT else "")
    return line((at, "dim"), (f"{subject}  ", ""), (padded(what, WHAT), style), (f" {text}", ""))


WHAT = 9
"""Cells of the longest word of what happened."""

_TO_LOOK_AT = ("changed", "renamed", "created", "git", "warning", "sight lost", "not kept")


def _subject(entry: Entry) -> str:
    """Whose deed it was; "" is nobody's who has a session here."""
    return session_name(entry.session) if entry.session and _own(entry) else ""


def _own(entry: Entry) -> bool:
    return entry.cause.who == entry.session


def _what(entry: Entry) -> str:
    if entry.kind == "changed" and entry.before == MISSING:
        return "created"
    if entry.kind == "changed" and _own(entry) and entry.cause.kind == "agent":
        return "edited"
    return _OWN.get(entry.fact) or _DEEDS.get(entry.kind, entry.kind.replace("_", " "))


_DEEDS = {"session": "began", "forked": "began", "moved": "renamed", "sight_lost": "sight lost"}

_OWN = {"CheckpointTaken": "kept", "CheckpointMissed": "not kept", "CheckpointDropped": "let go"}
"""Facts that share a kind with others and are told apart."""


def _about(entry: Entry) -> str:
    """What there is to say beside who, what and which file."""
    if entry.kind == "session":
        parent = entry.cause.detail
        return f"{entry.agent}{f', started by {session_name(parent)}' if parent else ''}"
    if entry.kind == "moved":
        return f"was {entry.src}"
    if entry.kind in ("changed", "deleted"):
        own = _own(entry) and entry.cause.kind == "agent"
        return "" if own else by_whom(entry.cause)
    if entry.kind == "git":
        return f"{git_operation(entry.cause)}, {count(len(entry.paths), 'file')}: {', '.join(entry.paths)}"
    if entry.kind == "refused":
        return reason_of(entry)
    return "" if entry.kind == "merged" else entry.cause.detail or ""


def reason_of(entry: Entry) -> str:
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
"""Why an attempt was refused, in a few words."""


def session_name(id: str) -> str:
    """A session's id, short enough for a column: of a sub-agent its own name, behind a "/"."""
    head, _, own = steady(id).partition("/")
    return own or (head if len(head) <= NAMED_IN_FULL else head[:8])


def by_whom(made: Cause) -> str:
    """By whom a file was changed, as the person says it who looks at this view."""
    return by(to_person(made, session_name(made.who or ""), session_name(made.detail or "")))
