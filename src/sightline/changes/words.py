"""Who changed a file, in the words of whoever reads it."""

from __future__ import annotations

from sightline.changes.cause_rules import PUT_BACK, REWINDING, REWOUND
from sightline.model.events import Cause


def cause(made: Cause | None, session: str) -> str:
    """Who changed a file, in the eyes of a session; "" is nobody's, such as a person's."""
    if made is None or made.kind == "external":
        return f"the user or another program{_back(made)}"
    said = _WORDS[made.kind](made, session)
    return f"probably {said}" if made.confidence == "likely" else said


def to_person(made: Cause, agent: str, edited: str) -> str:
    """The same as the person says it who looks at all sessions. agent, edited: how the agents
    are called there that the cause names (who, and behind whose edit a formatter ran)."""
    probably = "probably " if made.confidence == "likely" else ""
    if made.kind == "external":
        return f"you or another program{_back(made)}"
    if made.kind in ("agent", "session"):
        return f"agent {agent}"
    if made.kind == "command" and not _rewinds(made):
        return f"{probably}the command {made.detail}"
    if made.kind == "command":
        return f"the {made.detail} of agent {agent}'s work"
    if made.kind == "formatter":
        return f"{probably}{_formatter(made)} after agent {edited}'s edit"
    return cause(made, "")


def by(who: str) -> str:
    """Who did it, in a sentence: "by X", of X that is only probable "probably by X"."""
    sure = who.removeprefix("probably ")
    return f"by {who}" if sure == who else f"probably by {sure}"


def _back(made: Cause | None) -> str:
    back = made is not None and made.detail == PUT_BACK
    return ": put back as it was before the edit" if back else ""


def _by_agent(made: Cause, session: str) -> str:
    if made.who == session and made.detail == REWOUND:
        return "this session itself, in what was taken back of the conversation"
    return "this session" if made.who == session else _agent(made.who or "", session)


def _rewinds(made: Cause) -> bool:
    return (made.detail or "").startswith(REWINDING)


def _by_command(made: Cause, session: str) -> str:
    if _rewinds(made):
        whose = "this session" if made.who == session else _agent(made.who or "", session)
        return f"the {made.detail}, which took back work of {whose}"
    if made.who == session:
        return f"the command you ran: {made.detail}"
    return f"a command of {_agent(made.who or '', session)}: {made.detail}"


def _by_formatter(made: Cause, session: str) -> str:
    edited = made.detail or ""
    whose = "your edit" if edited == session else f"an edit by {_agent(edited, session)}"
    return f"{_formatter(made)}, after {whose}"


def _formatter(made: Cause) -> str:
    return f"the formatter {made.who}" if made.who else "a formatter"


def did(made: Cause) -> str:
    """What git did: its operation, and what its log says of it."""
    return " ".join(part for part in (made.who, made.detail) if part)


def _by_git(made: Cause, _: str) -> str:
    return f"git: {did(made)}"


_WORDS = {
    "agent": _by_agent,
    "session": _by_agent,
    "command": _by_command,
    "formatter": _by_formatter,
    "git": _by_git,
}


def _agent(who: str, session: str) -> str:
    """Another agent; a sub-agent's session is named after the one that started it."""
    if who.startswith(f"{session}/"):
        return f"your sub-agent {who.removeprefix(f'{session}/')}"
    if session.startswith(f"{who}/"):
        return "the agent that started you"
    family, _, name = who.rpartition("/")
    if family and session.startswith(f"{family}/"):
        return f"another sub-agent, {name}"
    return f"agent session {who}"


def unreadable(revision: str, error: Exception) -> tuple[str, str]:
    """A manifest that is no manifest."""
    return f"The list of files {revision} in the store cannot be read: {error}.", (
        "Run sightline doctor. If a newer sightline wrote it, upgrade this one."
    )
