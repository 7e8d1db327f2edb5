"""Longer answers for a terminal: verdicts, sessions with their files, numbered lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from sightline.api.workspace import Workspace
from sightline.api.workspace_words import in_line, interrupted_rewind, reasons, since, who
from sightline.cli import output
from sightline.cli.output import Call
from sightline.model.events import EnvironmentSeen, ModelUsed
from sightline.model.log_entries import Why
from sightline.model.path import quoted
from sightline.model.results import FileView, SessionStatus, Status, Verdict
from sightline.model.session_ids import AT_SHELL, short_id
from sightline.text import phrases
from sightline.text.causes import SESSION_OF, NameOf, called, heading
from sightline.text.printable import one_line, printable


def note_session(
    call: Call, workspace: Workspace, session: str, others: Sequence[str] = ()
) -> None:
    """Name the session of an answer if the user named none and the question fits several. others: further sessions that know the same file."""
    if call.json or call.named_session is not None or (session == AT_SHELL and not others):
        return
    told = printable(called(workspace.name_of(session), "session"))
    more = phrases.named([f"--session {quote(short_id(each))}" for each in others], OTHERS)
    ask = f" Others know it, too: {printable(more)}." if others else ""
    output.note(call, f"As {told} knows it.{ask}")


OTHERS = 3
"""The other sessions that a note names."""


def state(call: Call, name: str, width: int = 0) -> str:
    """Return a state in its colour, padded to a width."""
    colour = output.STATE_COLOURS.get(name, "yellow")
    return output.style(call, name.ljust(width), colour)


def about(workspace: Workspace, session: str, verdict: Verdict) -> str:
    """Return a sentence that explains a verdict for a session."""
    if verdict.reason == "not_found":
        return f"{quoted(verdict.path)} does not exist."
    said = phrases.verdict(
        verdict.state, quoted(verdict.path), who(verdict.changed_by, session, workspace.name_of)
    )
    return f"{said} ({verdict.reason})" if verdict.reason == "line endings only" else said


def explained(name_of: NameOf, why: Why, width: int | None = None) -> list[str]:
    """Return the explanation of a verdict as lines of at most `width` characters, as far as they are
    prose."""
    lines = reasons(why, name_of, lambda at: f"{output.local(at):%Y-%m-%d %H:%M:%S}")
    lines += [f"  {step}" for step in _next_steps(why, name_of)]
    wrapped = [
        output.wrapped(line, indent="  ", width=width)
        if line[:1] not in ("", " ")
        else output.fitted(line, width=width)
        for line in lines
    ]
    return "\n".join(wrapped).split("\n")


def _next_steps(why: Why, name_of: NameOf) -> Iterator[str]:
    """Yield the commands to go on with after the explanation of a verdict."""
    path = why.path
    option = f" --session {short_id(why.session)}"
    state = why.verdict.state
    if state == "stale":
        if why.kept:
            yield f"see what changed:  sightline diff {quoted(path)}{option}"
        yield f"read it again:     sightline read {quoted(path)}{option}"
    elif why.verdict.reason == "not_found":
        folder = quoted(path.rpartition("/")[0] or ".")
        yield f"find the right name:  sightline list {folder}"
    elif state == "unseen":
        yield f"read it:  sightline read {quoted(path)}{option}"
    elif why.moved_to is not None:
        yield f"read it:  sightline read {quoted(why.moved_to)}{option}"
    elif state == "moved":
        yield f"find its new name:  sightline log {quoted(path)}"
    elif state == "deleted":
        yield f"see when:  sightline log {quoted(path)}"
    also = "" if state == "unseen" else "also "
    for other in why.others:
        ask = f"sightline why {quoted(path)} --session {short_id(other)}"
        yield f"It was {also}shown to {called(name_of(other), 'session')}: {ask}"


def status_lines(call: Call, status: Status, name_of: NameOf, only: str | None = None) -> list[str]:
    """Return sessions with their files; sessions without any are only counted.

    name_of: as Workspace.name_of; only: the session that the user named.
    """
    lines = [f"Workspace {printable(status.workspace)}"]
    lines += [f"Warning {each.id}: {in_line(each)}" for each in status.warnings]
    lines += [
        output.worded(interrupted_rewind(each, name_of)) for each in status.unfinished_rewinds
    ]
    shown = [
        each
        for each in status.sessions
        if each.files or each.claims or each.warnings or each.unfinished_rewinds
    ]
    for each in shown:
        lines += ["", *_session(call, each, name_of)]
    empty = len(status.sessions) - len(shown)
    if not shown and only is not None:
        lines += ["", f"Session {printable(only)} was shown no file here."]
    elif not shown and not status.left_out:
        lines += ["", "No session was shown a file here yet. Try: sightline read PATH"]
    elif empty and shown:
        lines += ["", f"{phrases.count(empty, 'more session')} without files."]
    if status.left_out:
        lines += ["", more_sessions(status.left_out, "status")]
    stale = [(file, each) for each in shown for file in each.files if file.state == "stale"]
    for file, each in stale[:1]:
        path = file.path
        lines += [
            "",
            f"See what changed: sightline diff {quoted(path)} --session {short_id(each.id)}",
        ]
    return lines


def more_sessions(left_out: int, command: str) -> str:
    """Return how many sessions a page leaves out, and the command that shows them."""
    many = phrases.count(left_out, "more session")
    return f"{many}, not present. To see them all: sightline {command} --last all"


def _session(call: Call, shown: SessionStatus, name_of: NameOf) -> list[str]:
    """Return a session's claims, interrupted rewinds, warnings and files."""
    name, place = shown.id, shown.environment
    runs_on = []
    if shown.model is not None:
        runs_on.append(ModelUsed(shown.provider, shown.model, shown.mode).particulars or "")
    if place is not None and place.host:
        seen = EnvironmentSeen(place.system, place.python, place.host, place.host_version)
        runs_on.append(seen.particulars or "")
    title = heading(name_of(name))
    is_named = title.startswith(f"The {shown.agent}{SESSION_OF}")
    acts = [*([] if is_named else [shown.agent]), *map(one_line, runs_on)]
    acts += [f"turn {shown.turn}"] if shown.turn else []
    who_acts = f" ({', '.join(acts)})" if acts else ""
    files = phrases.count(len(shown.files), "file")
    there = "" if shown.presence == "present" else f", {shown.presence}"
    lines = [f"{title}{who_acts}, {files}, began {since(shown.started)}{there}"]
    lines += [] if name_of(name) == name else [f"  its id: {short_id(name)}"]
    lines += [
        f"  claims {', '.join(map(quoted, claim.paths))} until {claim.expires_at.astimezone():%H:%M}"
        for claim in shown.claims
    ]
    for rewind in shown.unfinished_rewinds:
        lines.append(f"  {one_line(output.worded(interrupted_rewind(rewind, name_of)))}")
    lines += [f"  warning {warning.id}: {in_line(warning)}" for warning in shown.warnings]
    width = max((len(file.state) for file in shown.files), default=0)
    for file in shown.files:
        lines_seen = phrases.shown(file.seen_lines, file.total_lines)
        path = file.path
        lines.append(f"  {state(call, file.state, width)}  {quoted(path)}, {lines_seen}")
        if file.state not in ("fresh", "unverifiable"):
            by = file.changed_by
            why = phrases.changed(file.state, who(by, name, name_of), since(by.at) if by else "")
            lines.append(f"  {' ' * width}  {why}")
        if not file.in_window:
            lines.append(f"  {' ' * width}  no longer whole in the context window")
    return lines


def numbered(view: FileView) -> str:
    """Return a file's lines with their numbers, for a terminal."""
    first, last = view.lines
    width = len(str(last))
    lines = view.text.removesuffix("\n").split("\n") if last else []
    return "".join(
        f"{number:>{width}}  {printable(line)}\n" for number, line in enumerate(lines, first)
    )
