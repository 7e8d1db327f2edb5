"""Word what a rewind does and what it leaves alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sightline.checkpoints.words import AGAIN, NO_WAY_BACK
from sightline.errors import Hint, NextCall
from sightline.model.manifest import FileDifference
from sightline.model.path import quoted
from sightline.model.results import LeftAlone, RestoredMode, RewindReport
from sightline.model.session_ids import AT_SHELL
from sightline.model.spans import Spans
from sightline.text.causes import NameOf, called, heading
from sightline.text.phrases import by, count, joined, named, spans
from sightline.text.printable import printable

LineCounts = Mapping[str, str]
"""Path -> the number of lines that a rewind adds and removes."""

NAMED_MAX = 10
"""The number of paths that a sentence names."""

NO_TIME = "there was no time for all of it"


def name_of_position(position: int | str) -> str:
    """Return the name of a target that is a position."""
    return f"position {position}"


def argument(name: str, position: int) -> str:
    """Return a rewind's target as the command takes it. name: as in RewindStarted."""
    return str(position) if name == name_of_position(position) else name


def left_alone(reason: str, who: str, lines: Spans, other: str | None) -> str:
    """Say why a path is left alone."""
    where = spans(lines) if lines else "the same lines"
    command = f'"{other}"' if other else "a command of this session"
    return _REASONS[reason].format(by=by(who), where=where, other=other, command=command)


_REASONS = {
    "unreadable": "it cannot be read now",
    "elsewhere": "its path leads elsewhere now, through a symlink or out of the workspace",
    "kind": "something of another kind stands there now, or a symlink that leads elsewhere",
    "too_large": "it is above the size limit, so its present text could not be saved first",
    "not_kept": "its text of that time is not kept any more",
    "unknown": "a command of this session changed or made it, and no session had read it before; force "
    "its path to restore it from the checkpoint",
    "never_stored": "its text is never stored, as the settings say",
    "conflict": "this session's changes and later ones {by} overlap in {where}",
    "bytes": "it was changed {by} since, and is no text or has other line ends or encoding",
    "edited_since": "this session created it, and it was changed {by} since",
    "deleted_since": "it was removed since, and not by this session",
    "renamed_since": "it was renamed to {other} since, and not by this session",
    "in_the_way": "another file stands there now",
    "moved_since": "a rename connects it with {other}, which is left alone",
    "probable": "what changed while {command} ran may be the user's",
    "layout": "only its layout changed after this session's edit, by a formatter, or it may be the user's",
    "refused": "the disk refused: {other}",
    "vanished": "it is gone, and nobody saw who removed it; force its path to bring it back",
    "replaced_since": "something else was put in its place {by} since",
    "folder": "a folder that holds other files stands there now",
    "below_file": "{other}, which was its folder then, is a file now",
    "no_unicode": "it is new, and its name is not valid Unicode, so its author is not known; remove it "
    "yourself if you do not want it",
    "busy": "other programs kept saving it; try again when they have finished",
}


def lost(reason: str, command: str | None) -> str:
    """Say why a rewind cannot restore a missing file. reason: why the checkpoint left it out."""
    during = f'; it went while "{command}" ran' if command else ""
    return f"the checkpoint does not cover it ({reason}){during}"


def lines_of(
    report: RewindReport, name_of: NameOf, counts: LineCounts | None = None
) -> Iterator[str | Hint]:
    """Yield the lines to print for a plan, or for a rewind that was done."""
    planned, lines = report.dry_run, counts or {}
    modes = {each.path: each for each in report.modes}
    share = _Share(report, name_of)
    yield _heading(report, share)
    for verb, past, paths, why in (
        ("restore", "restored", report.restored, share.restored),
        ("remove", "removed", report.removed, "{whose} made it"),
        ("merge", "merged", report.merged, share.merged),
    ):
        for path in paths:
            changed = f"  {lines[path]}" if path in lines else ""
            reason = _reason(why.format(whose=share.authors_of(path)), modes.get(path))
            yield f"  {verb if planned else past:9} {quoted(path)} ({reason}){changed}"
    for src, path in report.moved:
        verb = "move" if planned else "moved"
        yield f"  {verb:9} {quoted(src)} back to {quoted(path)}"
    yield from _folders(report, share)
    yield from _left_alone(report, share)
    yield from _listed("Gone, and no rewind brings it back:", report.lost[:NAMED_MAX])
    if len(report.lost) > NAMED_MAX:
        yield f"  and {count(len(report.lost) - NAMED_MAX, 'more file')}"
    for session, paths in report.stands:
        whose = called(printable(name_of(session)), "session")
        yield f"Kept, because {whose} changed them, too: {', '.join(map(quoted, paths))}"
    if report.conversation:
        verb = "would go" if planned else "went"
        yield f"What this session knows of its files {verb} back, too."
    if report.safety_checkpoint:
        yield Hint("To take this rewind back: ", rewind(report.safety_checkpoint))


def _heading(report: RewindReport, share: _Share) -> str:
    where = report.checkpoint or name_of_position(report.to)
    files = count(changes(report), "file")
    if changes(report) or report.conversation:
        would = f"A rewind to {where} would change {files}:"
        return would if report.dry_run else f"Rewound to {where}: {files}."
    if not report.changed:
        return (
            f"There is nothing to take back: no change of {share.any} since {where} is still there."
        )
    if report.dry_run:
        return f"A rewind to {where} would restore or remove only empty folders:"
    return f"Rewound to {where}: only empty folders were restored or removed."


def _folders(report: RewindReport, share: _Share) -> Iterator[str]:
    verb = "restore" if report.dry_run else "restored"
    for path in report.folders_restored:
        yield f"  {verb:9} {quoted(f'{path}/')} (empty, as it was)"
    verb = "remove" if report.dry_run else "removed"
    for path in report.folders_removed:
        yield f"  {verb:9} {quoted(f'{path}/')} (empty, and {share.any} made it)"


class _Share:
    """The sessions whose work a rewind takes back, in words. any: all together."""

    def __init__(self, report: RewindReport, name_of: NameOf) -> None:
        self._names: dict[str, list[str]] = {}
        is_own = all(session == AT_SHELL for session, _ in report.sessions)
        for session, paths in () if is_own else report.sessions:
            name = (
                called(printable(name_of(session)), "session") if session else "an earlier rewind"
            )
            for path in paths:
                self._names.setdefault(path, []).append(name)
        self.any = "this session" if is_own else "any session"
        self.restored = "its earlier text" if is_own else "its earlier text; {whose} changed it"
        lines = "this session's lines" if is_own else "the lines of {whose}"
        self.merged = f"{lines} go, others' stay"

    def authors_of(self, path: str) -> str:
        """Name the sessions that changed a file."""
        return joined(self._names.get(path, ["this session"]))


def _left_alone(report: RewindReport, share: _Share) -> Iterator[str | Hint]:
    probable = [each for each in report.left_alone if each.command is not None]
    layouts = [each for each in report.left_alone if each.probable and each.command is None]
    others = [each for each in report.left_alone if not each.probable]
    yield from _listed(
        "Left alone, changed while your agent's command ran; may be yours:", probable
    )
    yield from _listed(
        "Left alone, only the layout changed after your agent's edit; may be yours:", layouts
    )
    if probable or layouts:
        target = report.checkpoint or report.to
        one = NextCall("session.rewind", (target,), {"force_paths": ["PATH"]})
        everything = NextCall("session.rewind", named={"commands": True}, again=True)
        yield Hint("  Take one back: ", one, ("; all of them: ", everything), ".")
    yield from _listed("Left alone:", others)
    yield from _listed(f"No change of {share.any} is left in:", report.gone)


def maybe_yours(cautious: RewindReport) -> Iterator[str]:
    """Yield the lines that warn of --commands. cautious: the plan without it."""
    probable = [each for each in cautious.left_alone if each.command is not None]
    layouts = [each for each in cautious.left_alone if each.probable and each.command is None]
    yield from _listed("Changed while your agent's command ran; may be yours:", probable)
    yield from _listed("Only the layout changed after your agent's edit; may be yours:", layouts)


def _listed(heading: str, paths: Sequence[LeftAlone]) -> Iterator[str]:
    if paths:
        yield heading
    for each in paths:
        yield f"  {quoted(each.path)}: {printable(each.reason)}"


def _reason(why: str, mode: RestoredMode | None) -> str:
    if mode is None:
        return why
    bits = f"its mode {mode.before} becomes {mode.after}"
    return bits if mode.alone else f"{why}; {bits}"


def shares(plan: RewindReport, name_of: NameOf, agent_of: NameOf) -> Iterator[str]:
    """Yield the lines that say what each session did since the target of a rewind of all, with numbers."""
    where = plan.checkpoint or name_of_position(plan.to)
    listed = [(session, paths) for session, paths in plan.sessions if session]
    yield f"Since {where}, {count(len(listed), 'session')} changed files:"
    for number, (session, paths) in enumerate(listed, 1):
        name = heading(printable(name_of(session)))
        agent = "" if agent_of(session) in name else f" ({printable(agent_of(session))})"
        yield f"  {number}  {name}{agent}"
        yield from (f"       {quoted(path)}" for path in paths[:NAMED_MAX])
        if len(paths) > NAMED_MAX:
            yield f"       and {count(len(paths) - NAMED_MAX, 'more file')}"


def changes(report: RewindReport) -> int:
    """Return the number of files that a rewind changes."""
    return sum(map(len, (report.restored, report.removed, report.merged, report.moved)))


def counts_of(diffs: Iterable[FileDifference]) -> dict[str, str]:
    """Return the added and removed lines of each path whose texts can be compared."""
    compared = [each for each in diffs if each.diff is not None and each.change != "mode"]
    return {each.path: f"+{each.added} -{each.removed}" for each in compared}


def nothing_asked() -> tuple[str, str]:
    """Word the error of a rewind of neither files nor the conversation."""
    return (
        "This rewind would change nothing: it leaves out the files and the conversation.",
        "Rewind files, the conversation, or both.",
    )


def nothing_to_undo(name: str | None, paths: Sequence[str] = ()) -> tuple[str, Hint]:
    """Word the error of an undo where no change of a session, or of any, stands. name: the session's;
    paths: that the undo is limited to."""
    whose = "a session" if name is None else called(printable(name), "session")
    where = f" in {named([*map(quoted, paths)], NAMED_MAX)}" if paths else ""
    message = f"There is nothing to undo: no change of {whose}{where} is still there."
    return message, Hint("See what happened: ", NextCall("workspace.timeline"))


def no_checkpoint() -> tuple[str, str]:
    """Word the error of a rewind to None, as the report of a rewind without effect has it."""
    return (
        "A rewind needs a checkpoint, and got None.",
        "A rewind that had nothing to do takes no safety checkpoint: there is nothing to undo.",
    )


def no_position(position: int, newest: int) -> tuple[str, Hint]:
    """Word the error of a position that the timeline does not have."""
    message = f"The timeline has positions 0 to {newest}, not {position}."
    return message, Hint("List the checkpoints: ", NextCall("session.checkpoints"))


PAST_TIMES = "Name a time that was: 12:00, or 2h for two hours ago."


def anothers(checkpoint: str, session: str, name: str) -> tuple[str, Hint]:
    """Word the error of a checkpoint that belongs to another session. name: the session's."""
    return (
        f"Checkpoint {checkpoint} belongs to {called(name, 'session')}. A rewind takes back the work of that session only.",
        Hint("Rewind that session: ", rewind(checkpoint, session)),
    )


def no_safety(message: str, hint: Hint) -> tuple[str, Hint]:
    """Word the error of a failed safety checkpoint."""
    why = message.removeprefix("No checkpoint was taken: ")
    refused = f"Nothing was rewound, because the files could not be saved first: {why}"
    first = Hint(*(part for part in hint.parts if part not in (NO_WAY_BACK, AGAIN)))
    return refused, Hint(first, " Then" if str(first).endswith(".") else ". Then", " rewind again.")


def interrupted(name: str, done: int, files: int, safety: str) -> tuple[str, Hint]:
    """Word the error of a rewind that the user interrupted. name: its target as the command takes
    it; done: the recorded files of all; safety: the id of the safety checkpoint."""
    went = f"at least {done} of {count(files, 'file')} went back"
    return (
        f"Interrupted: {went}, the others are as they were. Each is whole.",
        Hint("To go on: ", rewind(name), ". To take back what was done: ", rewind(safety)),
    )


def begun(name: str, session: str, whose: str, when: str) -> Hint:
    """Describe a rewind whose process died. whose: the session's name; when: the age of the rewind, or ""."""
    of = called(printable(whose), "session") if session else "all sessions"
    return Hint(
        f"The rewind to {_target(name)} of {of} was interrupted"
        f"{f' ({when})' if when else ''}: some of its files went back, others did not. It is "
        "finished when the session goes on; to do it now: ",
        rewind(name, session),
    )


def finished(name: str, files: int, skipped: Sequence[str]) -> str:
    """Describe a rewind that was finished later. files: the number of files that went back now;
    skipped: the paths that were left alone."""
    alone = f" Left alone: {named(skipped, NAMED_MAX)}." if skipped else ""
    return (
        f"The rewind to {_target(name)}, which had been interrupted, was finished: "
        f"{count(files, 'file')} more went back.{alone}"
    )


def not_finished(name: str, session: str, why: str) -> Hint:
    """Describe a rewind that could not be finished. session: whose it is; why: a sentence, or a part of one."""
    return Hint(
        f"The rewind to {_target(name)} was interrupted, and is not finished: "
        f"{why.removesuffix('.')}. Sightline finishes it when the session goes on",
        (". To finish it now: ", rewind(name, session)),
        ".",
    )


def _target(name: str) -> str:
    return name_of_position(name) if name.isdecimal() else name


def rewind(name: str, session: str = "") -> NextCall:
    """Return the call that rewinds a session to a checkpoint or, named by its number, to a position."""
    return NextCall("session.rewind", (int(name) if name.isdecimal() else name,), session=session)


def unfinished(name: str, fault: str, hint: Hint) -> tuple[str, Hint]:
    """Word the error of a store that failed while files were being restored. fault, hint: of that error."""
    return (
        f"The rewind began, but Sightline could not record what it did to some files: {fault}",
        Hint(hint, " Then finish it: ", rewind(name)),
    )


def not_kept_then(path: str, name: str) -> tuple[str, str]:
    """Word the error of a forced path whose bytes are not stored."""
    return (
        f"The text of {quoted(path)} at {name} is not kept.",
        "Leave it out; the rest can be rewound without it.",
    )
