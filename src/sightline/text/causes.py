"""Word the cause of a change, for an agent and for the person who looks at all sessions; name sessions."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from sightline.model.events import Cause
from sightline.model.log_entries import Entry

NameOf = Callable[[str], str]
"""The id of a session -> its name for the reader of the words."""

PUT_BACK = "put back"
"""Detail of a cause: the bytes are again those before an agent's edit."""

UNRECORDED = "unrecorded"
"""Detail of a cause: the change may be of anybody, the agent too, because nothing could be recorded then."""

BY_HOOK = "another hook"
"""Detail of a cause: another hook of the host rewrote an agent's text before it was written."""

REWOUND = "rewound"
"""Detail of a session's own edit that came after the point its conversation was rewound to."""

REWINDING = "rewind to "
"""Prefix of the detail of a rewind's cause; the target of the rewind follows."""

SEVERAL = "several sessions"
"""Whose work a rewind of all sessions took back where several had changed the file."""

UNDER_WAY = "under way"
"""Detail of a change that git made in the middle of an operation."""


SESSION_OF = " session of "
"""In the name of a session without a title: after its agent, and before the time of its beginning."""


def cause(by: Cause | None, session: str) -> str:
    """Say who changed a file, as a session sees it. "" is no session, such as a person."""
    if by is not None and by.detail == BY_HOOK:
        return "another hook, before the text was written"
    if by is None or by.kind == "external":
        others = "the user or another program"
        if by is not None and by.detail == UNRECORDED:
            return f"this session itself, {others}, while Sightline could not record"
        return f"{others}{_put_back(by)}"
    if by.kind == "command":
        author = _by_command(by, session)
    elif by.kind == "formatter":
        edited = by.detail or ""
        whose = "your edit" if edited == session else f"an edit by {_agent(edited, session)}"
        author = f"{_formatter(by)}, after {whose}"
    elif by.kind == "git":
        author = f"git: {git_operation(by)}"
    elif by.who == session and by.detail == REWOUND:
        author = "this session itself, in what was taken back of the conversation"
    else:
        author = "this session" if by.who == session else _agent(by.who or "", session)
    return f"probably {author}" if by.confidence == "likely" else author


def to_person(by: Cause, agent: str, edited: str) -> str:
    """Say the same to the person who looks at all sessions. agent, edited: names of the agents that
    the cause names (who, and whose edit a formatter followed)."""
    probably = "probably " if by.confidence == "likely" else ""
    if by.detail == BY_HOOK:
        return cause(by, "")
    if by.kind == "external" and by.detail == UNRECORDED:
        return "an agent, you or another program, while Sightline could not record"
    if by.kind == "external":
        return f"you or another program{_put_back(by)}"
    if by.kind in ("agent", "session"):
        return called(agent, "agent")
    if by.kind == "command" and not is_rewind(by):
        return f"{probably}the command {by.detail}"
    if by.kind == "command":
        whose = f"{called(agent, 'agent')}'s" if by.who else f"{SEVERAL}'"
        return f"the {by.detail} of {whose} work"
    if by.kind == "formatter":
        return f"{probably}{_formatter(by)} after {called(edited, 'agent')}'s edit"
    return cause(by, "")


def git_operation(by: Cause) -> str:
    """Return git's operation, and the detail of its log."""
    return " ".join(part for part in (by.who, by.detail) if part)


def _put_back(by: Cause | None) -> str:
    is_undo = by is not None and by.detail == PUT_BACK
    return ": put back as it was before the edit" if is_undo else ""


def is_rewind(by: Cause) -> bool:
    """Return whether a rewind made a change, and no shell command."""
    return by.command is None and (by.detail or "").startswith(REWINDING)


def _by_command(by: Cause, session: str) -> str:
    own = by.who == session
    if is_rewind(by):
        whose = "this session" if own else _agent(by.who, session) if by.who else SEVERAL
        return f"the {by.detail}, which took back work of {whose}"
    if own:
        return f"the command you ran: {by.detail}"
    return f"a command of {_agent(by.who or '', session)}: {by.detail}"


def _formatter(by: Cause) -> str:
    return f"the formatter {by.who}" if by.who else "a formatter"


def _agent(who: str, session: str) -> str:
    """Name another agent. The session of a sub-agent has the name of its parent as a prefix."""
    if who.startswith(f"{session}/"):
        return f"your sub-agent {who.removeprefix(f'{session}/')}"
    if session.startswith(f"{who}/"):
        return "the agent that started you"
    family, _, name = who.rpartition("/")
    if family and session.startswith(f"{family}/"):
        return f"another sub-agent, {name}"
    return called(who, "agent session")


def heading(name: str) -> str:
    """Return a session's name, with "Session" where it has no noun of its own, to begin a line."""
    words = called(name, "session")
    return words[:1].upper() + words[1:]


def called(name: str, noun: str) -> str:
    """Return a session's name with a noun before it, where the name has none of its own."""
    has_noun = SESSION_OF in name and not name.startswith('"')
    return f"the {name}" if has_noun else f"{noun} {name}"


def named_cause(cause: Cause, name_of: NameOf) -> Cause:
    """Return a cause with the names of its sessions in place of their ids."""
    if cause.kind == "formatter" and cause.detail:
        return structs.replace(cause, detail=name_of(cause.detail))
    is_session = cause.who and cause.kind in ("agent", "session", "command")
    return structs.replace(cause, who=name_of(cause.who)) if is_session and cause.who else cause


def named_entry(entry: Entry, name_of: NameOf) -> Entry:
    """Return an entry with the names of its sessions in place of their ids."""
    cause = named_cause(entry.cause, name_of)
    if entry.kind in ("forked", "session") and cause.detail:
        cause = structs.replace(cause, detail=name_of(cause.detail))
    return structs.replace(entry, session=name_of(entry.session), cause=cause)


def author_for(reader: str, by: Cause | None, name_of: NameOf) -> str:
    """Name the author of a change for a session's agent: a relative by its part in the work, another session
    by its name, which it may share with the reader's. name_of: as names_of."""
    family = reader.partition("/")[0]

    def named(session: str) -> str:
        return session if session.partition("/")[0] == family else name_of(session)

    return cause(None if by is None else named_cause(by, named), reader)
