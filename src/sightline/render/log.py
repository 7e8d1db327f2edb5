"""Facts as sentences, for `log` and `why`."""

from __future__ import annotations

from sightline.core.revision import MISSING
from sightline.render import cause, spans
from sightline.render.causes import by, did
from sightline.render.retention import WHY
from sightline.render.seeing import lost
from sightline.render.views import count, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from sightline.core.events import Cause
    from sightline.core.regions import Spans

    class Told(Protocol):
        """What a sentence needs of an entry (services.entries.Entry)."""

        @property
        def kind(self) -> str: ...
        @property
        def session(self) -> str: ...
        @property
        def agent(self) -> str: ...
        @property
        def path(self) -> str | None: ...
        @property
        def src(self) -> str | None: ...
        @property
        def lines(self) -> Spans | None: ...
        @property
        def before(self) -> str | None: ...
        @property
        def after(self) -> str | None: ...
        @property
        def cause(self) -> Cause: ...
        @property
        def paths(self) -> tuple[str, ...]: ...
        @property
        def fact(self) -> str: ...
        @property
        def count(self) -> int: ...


PATHS_NAMED = 3


def sentence(entry: Told, reader: str = "") -> str:
    """One fact in plain words, on one line. reader: the session to which it is told as "this session"."""
    own = _own(entry) or _FORMS.get(entry.kind, "{kind} {detail}")
    form = _change(entry) if entry.kind == "changed" else own
    said = form.format(
        kind=entry.kind.replace("_", " "),
        path=entry.path or "everything",
        src=entry.src,
        lines=spans(entry.lines or ()) if entry.lines else "all lines",
        shown=spans(entry.lines or ()),
        by=by(cause(entry.cause, reader)),
        detail=_detail(entry),
        agent=entry.agent,
        paths=_paths(entry),
        move=f"{_short(entry.before)}..{_short(entry.after)}",
        texts=count(entry.count, "kept text"),
    )
    return one_line(said.rstrip(" :"))


def _own(entry: Told) -> str | None:
    if entry.fact == "RewindEnded" and entry.cause.detail is None:
        return "the files of the rewind are back; what the agent knows stays"
    return _OWN.get(entry.fact)


def _detail(entry: Told) -> str:
    if entry.kind == "git":
        return did(entry.cause)
    said = entry.cause.detail or ""
    if entry.kind == "sight_lost":
        return lost(said)
    return WHY.get(said, said) if entry.kind == "purged" else said


def _paths(entry: Told) -> str:
    """The files that a fact is about; none where a warning's own words name them all."""
    words = entry.cause.detail or ""
    if entry.kind == "warning" and all(path in words for path in entry.paths):
        return ""
    return _named(entry.paths)


def _named(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - PATHS_NAMED} more" if len(paths) > PATHS_NAMED else ""
    return f"{', '.join(paths[:PATHS_NAMED])}{more}"


def _short(commit: str | None) -> str:
    return (commit or "")[:7]


def _change(entry: Told) -> str:
    if entry.before == MISSING:
        return "{path} was created {by}"
    same = entry.before is not None and entry.before == entry.after
    return "the mode of {path} was changed {by}" if same else "{path} was changed {by}"


_FORMS = {
    "session": "session of {agent} began",
    "forked": "began with what session {detail} knew",
    "ended": "session ended",
    "environment": "runs on {detail}",
    "turn": "turn {detail} began",
    "model": "model {detail}",
    "seen": "{path}: {shown} shown ({detail})",
    "dropped": "{path}: {lines} left the context window",
    "deleted": "{path} was deleted {by}",
    "moved": "{src} was renamed to {path} {by}",
    "git": "git {detail} {move} changed: {paths}",
    "command": "command began: {detail}",
    "command_ended": "command ended with exit code {detail}",
    "refused": "an attempt on {path} was refused: {detail}",
    "merged": "the edit of {path} was merged with what others had changed",
    "notice": "the agent was sent what had changed: {paths}",
    "acknowledged": "the agent was told of the change of {path}",
    "delivered": "a part of the briefing arrived: {detail}",
    "requested": "its agent asked for the listing of {detail}",
    "checkpoint": "checkpoint {detail}",
    "message": "message of the {detail}",
    "folded": "parts of a message were folded away",
    "condensed": "messages were condensed",
    "sought": "files were looked for: {detail}",
    "imported": "read in from {detail}",
    "sight_lost": "what happened could not be seen: {detail} {paths}",
    "purged": "{texts} forgotten: {detail}",
}

_OWN = {
    "CheckpointDropped": "checkpoint {detail} was dropped to make room",
    "CheckpointMissed": "no checkpoint could be kept by itself: {detail}",
    "RewindStarted": "a rewind to {detail} began",
    "RewindEnded": "the agent knows again what it knew at position {detail}",
    "ClaimTaken": "claim {detail} taken: {paths}",
    "ClaimRenewed": "claim {detail} renewed",
    "ClaimReleased": "claim {detail} released",
    "WarningRaised": "warning: {detail} {paths}",
    "WarningAcknowledged": "warning {detail} acknowledged",
    "SubtaskProposed": "sub-task proposed: {detail}",
    "SubtaskStarted": "sub-task {detail} began",
    "SubtaskEnded": "sub-task {detail}",
}
"""Facts that share a kind with others and are told apart."""
