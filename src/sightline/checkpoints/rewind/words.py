"""What a rewind does and leaves alone, in words that a person can rely on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sightline.changes.words import by
from sightline.checkpoints.words import NO_WAY_BACK
from sightline.model.results import FileDifference, RewindReport
from sightline.model.spans import Spans
from sightline.text.phrases import count, named, printable, spans

Counts = Mapping[str, str]
"""Path -> how many lines of it come and go."""


LEFT_NAMED = 10
"""Paths that a sentence names."""


def left_alone(why: str, who: str, lines: Spans, other: str | None) -> str:
    """Why a path is left as it is."""
    where = spans(lines) if lines else "the same lines"
    return _LEFT[why].format(by=by(who), where=where, other=other)


_LEFT = {
    "unreadable": "it cannot be read now",
    "elsewhere": "its path leads elsewhere now, through a symlink or out of the workspace",
    "kind": "something of another kind stands there now, or a symlink that leads elsewhere",
    "too_large": "it is above the size limit, so what stands there could not be kept",
    "not_kept": "its text of then is not kept any more",
    "unknown": "a command of this session changed or made it, and nobody had looked at it before; force "
    "its path to have it as it was at the checkpoint",
    "never_stored": "its text is never stored, as the settings say",
    "conflict": "this session's changes and later ones {by} meet in {where}",
    "bytes": "it was changed {by} since, and is no text or has other line ends or encoding",
    "edited_since": "this session created it, and it was changed {by} since",
    "deleted_since": "it was removed since, and not by this session",
    "renamed_since": "it was renamed to {other} since, and not by this session",
    "in_the_way": "another file stands there now",
    "moved_since": "it belongs together with {other} by a rename, which is left alone",
    "doubtful": "a command of this session probably changed it, while others were at work, too",
    "refused": "the disk refused: {other}",
    "vanished": "it is gone, and nobody saw who removed it; force its path to have it back",
    "replaced_since": "something else was put in its place {by} since",
    "busy": "other programs kept saving it; try again when they have finished",
}


def lines_of(report: RewindReport, counts: Counts | None = None) -> Iterator[str]:
    """A plan or what was done, as lines to print."""
    will, lines = report.dry_run, counts or {}
    where = report.checkpoint or f"position {report.to}"
    if not (changes(report) or report.conversation):
        yield f"Nothing of this session's is to be taken back since {where}."
    elif will:
        yield f"A rewind to {where} would change {_files(report)}:"
    else:
        yield f"Rewound to {where}: {_files(report)}."
    yield from _each("restore" if will else "restored", report.restored, "its text of then", lines)
    yield from _each("remove" if will else "removed", report.removed, "this session made it", lines)
    why = "this session's lines go, others' stay"
    yield from _each("merge" if will else "merged", report.merged, why, lines)
    for src, path in report.moved:
        yield f"  {'move' if will else 'moved':9} {printable(src)} back to {printable(path)}"
    yield from _rest(report)


def _rest(report: RewindReport) -> Iterator[str]:
    if report.left_alone:
        yield "Left alone:"
    for each in report.left_alone:
        yield f"  {printable(each.path)}: {printable(each.reason)}"
    if report.gone:
        yield "Nothing of this session's is left at:"
    for each in report.gone:
        yield f"  {printable(each.path)}: {printable(each.reason)}"
    for session, paths in report.stands:
        yield f"What {session} changed stands: {printable(', '.join(paths))}"
    if report.conversation:
        verb = "would know" if report.dry_run else "knows"
        yield f"This session {verb} of its files what it knew then."
    if report.safety_checkpoint:
        yield f"To take this rewind back: sightline rewind {report.safety_checkpoint}"


def changes(report: RewindReport) -> int:
    """How many files a rewind touches."""
    return sum(map(len, (report.restored, report.removed, report.merged, report.moved)))


def _files(report: RewindReport) -> str:
    return count(changes(report), "file")


def _each(verb: str, paths: tuple[str, ...], why: str, counts: Counts) -> Iterator[str]:
    for path in paths:
        lines = f"  {counts[path]}" if path in counts else ""
        yield f"  {verb:9} {printable(path)} ({why}){lines}"


def counts_of(found: Iterable[FileDifference]) -> dict[str, str]:
    """How many lines come and go, of each path whose texts can be compared."""
    told = [each for each in found if each.diff is not None and each.change != "mode"]
    return {each.path: f"+{each.added} -{each.removed}" for each in told}


def nothing_asked() -> tuple[str, str]:
    """Neither files nor the conversation, or paths to force without files."""
    return (
        "There is nothing to rewind without its files.",
        "Rewind files, the conversation, or both.",
    )


def no_position(position: int, newest: int) -> tuple[str, str]:
    """A position that the timeline does not have."""
    message = f"The timeline has positions 0 to {newest}, not {position}."
    return message, "List the checkpoints: sightline checkpoints"


def anothers(checkpoint: str, session: str) -> tuple[str, str]:
    """A checkpoint of another session."""
    return (
        f"Checkpoint {checkpoint} is of session {session}: a rewind takes back only its own work.",
        f"Rewind that session: sightline rewind {checkpoint} --session {session}",
    )


def no_safety(message: str, hint: str) -> tuple[str, str]:
    """The safety checkpoint could not be saved."""
    why = message.removeprefix("No checkpoint was taken: ").removesuffix(" Nothing was changed.")
    said = f"Nothing was rewound, because how it stands now could not be saved: {why}"
    first = hint.removeprefix(NO_WAY_BACK).strip().removesuffix("and take it again.").rstrip(" ,")
    return said, f"{first.removesuffix('.')}. Then rewind again."


def interrupted(name: str, done: int, files: int, safety: str) -> tuple[str, str]:
    """Somebody stopped a rewind. name: as the command takes it; done: files that went back and are
    on record, of so many; safety: the checkpoint before it."""
    went = f"at least {done} of {count(files, 'file')} went back"
    return (
        f"Interrupted: {went}, the others are as they were. Each is whole.",
        f"To go on: sightline rewind {name}. To take back what was done: sightline rewind {safety}",
    )


NO_TIME = "there was no time for all of it"


def _name_of(name: str) -> str:
    return f"position {name}" if name.isdecimal() else name


def begun(name: str, session: str, when: str) -> str:
    """A rewind whose process died, and that was not finished yet. when: it began, "" unless told."""
    return (
        f"The rewind to {_name_of(name)} of session {printable(session)} was interrupted"
        f"{f' ({when})' if when else ''}: some of its files went back, others did not. It is "
        f"finished when the session goes on; to do it now: {_again(name, session)}"
    )


def finished(name: str, files: int, left: Sequence[str]) -> str:
    """One that was finished since. files: that went back now; left: those that were left alone."""
    alone = f" Left alone: {named(left, LEFT_NAMED)}." if left else ""
    return (
        f"The rewind to {_name_of(name)}, which had been interrupted, was finished: "
        f"{count(files, 'file')} more went back.{alone}"
    )


def not_finished(name: str, session: str, why: str) -> str:
    """One that could not be finished. why: a sentence, or a part of one."""
    return (
        f"The rewind to {_name_of(name)} was interrupted, and is not finished: "
        f"{why.removesuffix('.')}. It goes on with the session; to end it yourself: "
        f"{_again(name, session)}"
    )


def _again(name: str, session: str) -> str:
    return f"sightline rewind {name} --session {printable(session)}"


def unfinished(name: str, message: str, hint: str) -> tuple[str, str]:
    """The store refused while files went back. name: as the command takes it."""
    why = message.removesuffix(" Nothing was changed.")  # of the store that is true
    return (
        f"The rewind was begun, and what became of some files could not be recorded: {why}",
        f"{hint} Then finish it: sightline rewind {name}",
    )


def not_kept_then(path: str, name: str) -> tuple[str, str]:
    """A path to force whose bytes of then nobody has."""
    return (
        f"The text of {path} at {name} is not kept.",
        "Leave it out; the rest can be rewound without it.",
    )
