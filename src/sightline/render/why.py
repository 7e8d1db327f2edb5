"""How a verdict comes about, told to somebody who never heard of this program."""

from __future__ import annotations

from sightline.core.regions import covers, subtract, whole
from sightline.core.revision import MISSING
from sightline.render import cause, spans
from sightline.render.log import sentence
from sightline.render.views import ago, count, printable, shown, verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Protocol

    from sightline.core.context import Knowledge
    from sightline.core.regions import Spans
    from sightline.render.log import Told

    class Dated(Told, Protocol):
        """A fact with its place and its time (services.entries.Entry)."""

        @property
        def position(self) -> int: ...
        @property
        def at(self) -> int: ...

    class Verdict(Protocol):
        """The part of services.results.Verdict that is worded."""

        @property
        def state(self) -> str: ...
        @property
        def reason(self) -> str: ...

    class Why(Protocol):
        """What is told (services.why.Why)."""

        @property
        def path(self) -> str: ...
        @property
        def agent(self) -> str: ...
        @property
        def entries(self) -> Sequence[Dated]: ...
        @property
        def earlier(self) -> int: ...
        @property
        def verdict(self) -> Verdict: ...
        @property
        def others(self) -> tuple[str, ...]: ...
        @property
        def policy(self) -> str: ...
        @property
        def knowledge(self) -> Knowledge | None: ...
        @property
        def differing(self) -> Spans: ...
        @property
        def kept(self) -> bool: ...


def story(
    told: Why, session: str, who: str, when: float | None, clock: Callable[[int], str]
) -> list[str]:
    """The whole answer. who: who changed the file last; when: how many seconds ago; clock: words
    for a time in UTC microseconds."""
    path = printable(told.path)
    agent = f" ({told.agent})" if told.agent and told.agent != session else ""
    lines = [f"{path}, as session {session}{agent} knows it:", ""]
    if told.earlier:
        lines.append(f"  ({count(told.earlier, 'earlier fact')} not shown)")
    for entry in told.entries:
        said = printable(_said(entry, session))
        lines.append(f"  {entry.position:>5}  {clock(entry.at)}  {said}")
    if told.entries:
        lines.append("")
    lines += [f"Now: {told.verdict.state}. {_because(told, path, who, when)}"]
    if told.knowledge is not None:
        lines += [f"Shown so far: {_shown(told.knowledge)}."]
    lines += [f"So: {_meaning(told)}"]
    return [*lines, *(f"  {step}" for step in _next(told, path, session))]


def _said(entry: Dated, session: str) -> str:
    form = _FORMS.get(entry.kind)
    if form is None:
        return sentence(entry, session)
    who = cause(entry.cause, session)
    if entry.kind == "changed" and entry.before == MISSING:
        form = "created by {who}"
    elif entry.kind == "changed" and who == "this session":
        form = "edited by this session, which knows the new text"
    lines = spans(entry.lines or ())
    return form.format(
        who=who,
        lines=f"{lines[:1].upper()}{lines[1:]}",
        were="was" if lines.startswith("line ") else "were",
        left=spans(entry.lines) if entry.lines else "all of it",
        detail=_REASONS.get(entry.cause.detail or "", entry.cause.detail or ""),
        move=f"{(entry.before or '')[:7]}..{(entry.after or '')[:7]}",
        src=entry.src,
        path=entry.path,
    )


_FORMS = {
    "seen": "{lines} {were} shown to the agent ({detail})",
    "changed": "changed by {who}",
    "deleted": "deleted by {who}",
    "moved": "renamed from {src} to {path} by {who}",
    "dropped": "{left} left the agent's context window",
    "git": "changed by git {detail} {move}",
    "refused": "an edit by this session was refused: {detail}",
    "merged": "an edit by this session was merged with what others had changed",
    "notice": "the agent was sent what had changed; whether that arrived is not known",
    "acknowledged": "the agent has been told what had changed, and knows it since",
}


_REASONS = {
    "stale": "its lines had changed since they were shown",
    "conflict": "both it and another change rewrite the same lines",
    "ambiguous": "its old text stood there more than once",
    "not_found": "its old text was not there",
    "unseen": "it is about lines that were never shown",
    "deleted": "the file was gone",
    "moved": "the file had another name",
    "kind_changed": "no text file stood there",
    "unverifiable": "the file could not be read",
    "claimed": "another session claims the file",
    "scope": "the file is protected",
    "exists": "something stood there already",
    "no_change": "it would have changed nothing",
    "too_large": "the file was too large",
    "binary": "the file is no text",
}


def _because(told: Why, path: str, who: str, when: float | None) -> str:
    state = told.verdict.state
    if state != "stale":
        return verdict(state, path, who)
    by = f"Last changed by {who}{f', {ago(when)}' if when is not None else ''}."
    if told.verdict.reason == "line endings only":
        return f"Only line ends or the byte order mark differ; the text is as shown. {by}"
    if not told.kept:
        return (
            "The file is not the one that was shown. Its text then is not kept any more, so "
            f"which lines differ cannot be told. {by}"
        )
    if not told.differing:
        return verdict(state, path, who)
    verb = "is" if _one(told.differing) else "are"
    return f"Of what was shown, {spans(told.differing)} {verb} not what stands on disk. {by}"


def _shown(known: Knowledge) -> str:
    belief = known.belief
    if not belief.shown and belief.lines:
        return "nothing; it was edited by its exact text"
    much = shown(belief.shown, belief.lines)
    if covers(belief.held, belief.shown):
        return f"{much}, still in the agent's context window"
    gone = subtract(belief.shown, belief.held)
    if not belief.held or gone == whole(belief.lines):
        return f"{much}, nothing of it still in the agent's context window"
    verb = "is" if _one(gone) else "are"
    return f"{much}; {spans(gone)} {verb} no longer in the agent's context window"


def _meaning(told: Why) -> str:
    state = told.verdict.state
    if state != "stale":
        return _MEANINGS[state]
    return _STALE.get(told.policy, _STALE["merge"]) if told.kept else _NOT_KEPT


_NOT_KEPT = (
    "an edit goes through where its old text still stands; the whole file is not overwritten."
)

_STALE = {
    "merge": "an edit elsewhere goes through, with a notice. An edit of those lines, or of the "
    "whole file, is merged where both changes can stand; else it is refused.",
    "warn": "edits go through, and a notice says what had changed.",
    "block": "an edit elsewhere goes through, with a notice. One of those lines is refused.",
    "refresh": "an edit elsewhere goes through, with a notice. One of those lines is refused, and "
    "answered with the fresh text.",
    "ask": "the file is protected: an edit needs your approval.",
}

_MEANINGS = {
    "fresh": "an edit goes through; nothing has to be read again.",
    "deleted": "an edit is refused. Nothing is made again without a word.",
    "moved": "an edit follows the file to its new name, and says so.",
    "kind_changed": "an edit is refused.",
    "unseen": "text that is found exactly may be replaced; the whole file is not overwritten.",
    "unverifiable": "an edit is refused until the disk answers. Nothing is guessed.",
}


def _next(told: Why, path: str, session: str) -> Iterator[str]:
    own = f" --session {session}"
    state = told.verdict.state
    if state == "stale":
        if told.kept:
            yield f"see what changed:  sightline diff {path}{own}"
        yield f"read it again:     sightline read {path}{own}"
    elif state == "unseen":
        yield f"read it:  sightline read {path}{own}"
        if told.others:
            yield f"It was shown to {', '.join(told.others)}: ask with --session."
    elif state == "moved":
        yield f"find its new name:  sightline log {path}"
    elif state == "deleted":
        yield f"see when:  sightline log {path}"


def _one(lines: Spans) -> bool:
    return len(lines) == 1 and lines[0][0] == lines[0][1]
