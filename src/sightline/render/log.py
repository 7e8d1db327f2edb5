"""Facts as sentences, for `log` and `why`."""

from __future__ import annotations

from sightline.core.revision import MISSING
from sightline.render import cause, spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from sightline.core.events import Cause
    from sightline.core.regions import Spans

    class Told(Protocol):
        """What a sentence needs of an entry (services.history.Entry)."""

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


def sentence(entry: Told, reader: str = "") -> str:
    """One fact in plain words. reader: the session to which it is told as "this session"."""
    form = _change(entry) if entry.kind == "changed" else _FORMS.get(entry.kind, "{kind} {detail}")
    return form.format(
        kind=entry.kind.replace("_", " "),
        path=entry.path or "everything",
        src=entry.src,
        lines=spans(entry.lines or ()) if entry.lines else "all lines",
        shown=spans(entry.lines or ()),
        who=cause(entry.cause, reader),
        detail=entry.cause.detail or "",
        agent=entry.agent,
    ).rstrip()


def _change(entry: Told) -> str:
    if entry.before == MISSING:
        return "{path} was created by {who}"
    same = entry.before == entry.after
    return "{path} got another mode by {who}" if same else "{path} was changed by {who}"


_FORMS = {
    "session": "session of {agent} began",
    "forked": "began with what session {detail} knew",
    "ended": "session ended",
    "turn": "turn {detail} began",
    "model": "model {detail}",
    "seen": "{path}: {shown} shown ({detail})",
    "dropped": "{path}: {lines} left the context window",
    "deleted": "{path} was deleted by {who}",
    "moved": "{src} was renamed to {path} by {who}",
    "git": "git {detail} moved HEAD",
    "command": "command began: {detail}",
    "command_ended": "command ended with exit code {detail}",
    "refused": "an attempt on {path} was refused: {detail}",
    "merged": "the edit of {path} was merged with what others had changed",
    "notice": "a notice was delivered",
    "acknowledged": "the agent was told of the change of {path}",
    "checkpoint": "checkpoint {detail}",
    "rewind": "rewind {path}",
    "sight_lost": "sight lost: {detail}",
    "purged": "a stored text was purged: {detail}",
}
