"""Words for facts and verdicts, for `log` and `why`."""

from __future__ import annotations

from collections.abc import Callable

from sightline.checkpoints.words import WHY
from sightline.model.log_entries import Entry, Why
from sightline.model.path import quoted
from sightline.model.projections import Knowledge
from sightline.model.revision import MISSING
from sightline.model.spans import covers, subtract, whole
from sightline.text.causes import NameOf, called, cause, git_operation
from sightline.text.phrases import ago, by, count, is_one_line, named, shown, spans, verdict
from sightline.text.printable import one_line, printable

PATHS_NAMED = 3


def sentence(entry: Entry, reader: str = "") -> str:
    """Return one fact as a line of plain words. reader: the session called "this session"."""
    return one_line(_filled(entry.sentence, entry, cause(entry.cause, reader)).rstrip(" :"))


def _filled(form: str, entry: Entry, who: str) -> str:
    """Fill in the form of a fact (model.events.Fact). who: its author."""
    detail, lines = entry.cause.detail or "", spans(entry.lines or ())
    return form.format(
        kind=entry.kind.replace("_", " "),
        agent=entry.agent,
        path=quoted(entry.path) if entry.path else "everything",
        src=quoted(entry.src or ""),
        paths=named([*map(quoted, entry.paths)], PATHS_NAMED),
        by=by(who),
        detail=detail,
        other=called(detail, "session"),
        operation=git_operation(entry.cause),
        lost=lost(detail),
        forgotten=WHY.get(detail, detail),
        refusal=_REASONS.get(detail, detail),
        move=f"{(entry.before or '')[:7]}..{(entry.after or '')[:7]}",
        texts=count(entry.count, "kept text"),
        shown=lines,
        lines=lines if entry.lines else "all lines",
        Shown=f"{lines[:1].upper()}{lines[1:]}",
        were="was" if lines.startswith("line ") else "were",
        left=lines if entry.lines else "all of it",
    )


def story(
    why: Why, name_of: NameOf, who: str, when: float | None, clock: Callable[[int], str]
) -> list[str]:
    """Return the explanation of a verdict, by lines. who: the
    author of the last change; when: its age in seconds; clock: words for a time in UTC microseconds."""
    path, session = why.path, name_of(why.session)
    agent = f" ({why.agent})" if why.agent not in session else ""
    lines = [f"{quoted(path)}, as {called(session, 'session')}{agent} knows it:", ""]
    if why.earlier:
        lines.append(f"  ({count(why.earlier, 'earlier fact')} not shown)")
    for entry in why.entries:
        event = printable(_event(entry, session))
        lines.append(f"  {entry.position or '-':>5}  {clock(entry.at)}  {event}")
    if why.entries:
        lines.append("")
    because = _because(why, path, who, when)
    if why.moved_to is not None:
        because = f"{quoted(path)} was renamed to {quoted(why.moved_to)} {by(who)}."
    lines.append(f"Now: {why.verdict.state}. {because}")
    if why.knowledge is not None:
        lines.append(f"Shown so far: {_shown(why.knowledge)}.")
    meaning = _MEANINGS.get(why.verdict.state, "") if why.moved_to is None else "use its new name."
    if why.verdict.reason == "not_found":
        meaning = "there is nothing to edit; a new file may be created."
    if why.verdict.state == "stale":
        meaning = _STALE.get(why.policy, _STALE["merge"]) if why.kept else _NOT_KEPT
    return [*lines, f"So: {meaning}"]


def _event(entry: Entry, session: str) -> str:
    """Return one fact as a reason of a verdict for a session."""
    who, form = cause(entry.cause, session), entry.why_sentence
    if not form:
        return sentence(entry, session)
    if entry.kind == "changed" and who == "this session" and entry.before != MISSING:
        form = "edited by this session, which knows the new text"
    return _filled(form, entry, who)


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
    "placeholder": "its text had a placeholder in place of code",
    "binary": "the file is no text",
}


def _because(why: Why, path: str, who: str, when: float | None) -> str:
    state = why.verdict.state
    if why.verdict.reason == "not_found":
        return f"{quoted(path)} does not exist."
    if state != "stale":
        return verdict(state, path, who)
    author = f"Last changed {by(who)}{f', {ago(when)}' if when is not None else ''}."
    if why.verdict.reason == "line endings only":
        return f"Only line ends or the byte order mark differ; the text is as shown. {author}"
    if not why.kept:
        return (
            "The file changed after it was shown. The text that was shown is not kept any more, so "
            f"Sightline cannot tell which lines differ. {author}"
        )
    if not why.differing:
        return verdict(state, path, who)
    verb = "is" if is_one_line(why.differing) else "are"
    return f"On disk, {spans(why.differing)} {verb} not what was shown. {author}"


def _shown(known: Knowledge) -> str:
    belief = known.belief
    if not belief.shown and belief.lines:
        return "nothing; an edit matched its exact text"
    lines = shown(belief.shown, belief.lines)
    if covers(belief.held, belief.shown):
        return f"{lines}, still in the agent's context window"
    gone = subtract(belief.shown, belief.held)
    if not belief.held or gone == whole(belief.lines):
        return f"{lines}, none of them still in the agent's context window"
    verb = "is" if is_one_line(gone) else "are"
    return f"{lines}; {spans(gone)} {verb} no longer in the agent's context window"


_NOT_KEPT = (
    "an edit goes through where its old text still stands; the whole file is not overwritten."
)

_STALE = {
    "merge": "an edit elsewhere goes through, with a notice. An edit of those lines, or of the "
    "whole file, is merged if both changes can stand; else it is refused.",
    "warn": "edits go through, and a notice says what had changed.",
    "block": "an edit elsewhere goes through, with a notice. An edit of those lines is refused.",
    "refresh": "an edit elsewhere goes through, with a notice. An edit of those lines is "
    "refused, and the answer has the fresh text.",
    "ask": "the file is protected (setting `protect` or `policy`): an edit needs your approval.",
}

_MEANINGS = {
    "fresh": "an edit goes through; nothing has to be read again.",
    "deleted": "an edit is refused. Sightline does not create the file again by itself.",
    "moved": "an edit follows the file to its new name, and says so.",
    "kind_changed": "an edit is refused.",
    "unseen": "text that is found exactly may be replaced; the whole file is not overwritten.",
    "unverifiable": "an edit is refused until the disk answers. Nothing is guessed.",
}


def seeing(mode: str, why: str | None, folders: int) -> str:
    """Return the end of a sentence about a watcher's sight (filesystem.watch.watcher.Eyes)."""
    because = lost(why or ("gone" if mode == "away" else "platform"))
    if mode == "events":
        return f"by events in {count(folders, 'folder')}"
    if mode == "polling":
        return f"by checking the shown files one after the other, because {because}"
    return f"not at all, because {because}"


def lost(reason: str) -> str:
    """Return the reason why a watcher missed changes (events.SightLost)."""
    kind, _, system = reason.partition(":")
    return _WHY.get(kind, reason).format(system)


_WHY = {
    "overflow": "more happened at once than the system keeps",
    "limit": "no more folders may be watched (raise fs.inotify.max_user_watches)",
    "suspended": "the machine slept",
    "unanswered": "the disk did not answer in time",
    "outage": "the store or the settings could not be used",
    "unverifiable": "an ignore file cannot be read",
    "no_events": "this file system does not report changes",
    "filesystem": "the file system {} does not report changes",
    "platform": "this system has no events that Sightline knows",
    "gone": "the workspace is gone",
    "moved": "the workspace was moved away",
    "unmounted": "the workspace was unmounted",
}
