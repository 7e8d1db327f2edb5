"""Word the answers and errors about checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from sightline.errors import Hint, NextCall
from sightline.model.manifest import FileDifference, PathChange
from sightline.model.path import quoted
from sightline.model.results import Checkpoint, Export, NotCovered
from sightline.store.retention import AGE, COMMAND, SIZE, Swept, SweptText
from sightline.text.causes import called
from sightline.text.phrases import count, named, size, table, unfound
from sightline.text.printable import one_line, printable

LABEL_MAX = 200

NAMED = 5
"""The number of paths that one line names."""

BECAME = {
    "added": "new",
    "removed": "gone",
    "changed": "changed",
    "mode": "other rights",
    "kind": "another kind",
}
"""Change -> its word in a list."""


def describe_taken(checkpoint: Checkpoint) -> list[str]:
    """Describe a checkpoint that was just taken, and what it does not cover: paths that no ignore
    file leaves out come first."""
    label = f" ({printable(checkpoint.label)})" if checkpoint.label else ""
    lines = [f"Checkpoint {checkpoint.id}{label}: {count(checkpoint.files, 'file')}."]
    left_out = sorted(checkpoint.not_covered, key=lambda c: (c.reason == "ignored", c.path))
    if left_out:
        reasons = [f"{quoted(each.path)} ({each.reason})" for each in left_out]
        lines.append(f"Not covered: {named(reasons, NAMED)}.")
    return lines


def in_list(
    checkpoint: Checkpoint,
    whose: str,
    when: str,
    changed: Sequence[PathChange] | None,
    *,
    first: bool,
) -> list[str]:
    """Describe a checkpoint in a list of all, after the changes since the one before. whose: its session's
    name, "" for the workspace's; when: its age; changed: None where a list of files is not stored any more."""
    automatic = "" if checkpoint.why == "asked" else "by itself, "
    turn = f", turn {checkpoint.turn}" if checkpoint.turn else ""
    omitted = f", {len(checkpoint.not_covered)} not covered" if checkpoint.not_covered else ""
    label = f"  {printable(checkpoint.label)}" if checkpoint.label else ""
    if changed is None:
        between = "what changed in between is not known: a list of files is not kept any more"
    else:
        paths = [f"{quoted(path)} {BECAME[change]}" for path, change in changed]
        between = named([*map(quoted, paths)], NAMED) if paths else "nothing changed"
    files = count(checkpoint.files, "file")
    session = (
        called(printable(whose), "session").removeprefix("the ") if whose else "the workspace's"
    )
    about = f"{automatic}{session}{turn}, {files}{omitted}"
    return [
        *([] if first else [f"  | {between}"]),
        f"{checkpoint.id}{label}",
        f"  {when}, {about}",
    ]


def stat(differences: Sequence[FileDifference]) -> list[str]:
    """List the paths that differ with their added and removed lines, and the sums."""
    rows = [
        (
            BECAME[each.change],
            quoted(each.path),
            "" if each.diff is None else f"+{each.added} -{each.removed}",
        )
        for each in differences
    ]
    added = sum(each.added for each in differences)
    removed = sum(each.removed for each in differences)
    files = count(len(differences), "file")
    return [*table(rows), f"{files}, {count(added, 'line')} added, {removed} removed"]


def without_text(difference: FileDifference) -> str:
    """Describe a difference that has no diff: a binary file, or one whose text is not stored."""
    more = "" if difference.diff is not None else ", no text to compare"
    return f"{quoted(difference.path)}: {BECAME[difference.change]}{more}"


A_COMMAND = "a command"
"""What a label says of a shell command, whose text the user may have forgotten later."""


def before(paths: Sequence[str], by: str) -> str:
    """Return the label of a checkpoint before a turn's first change: of these files, or by a tool."""
    return one_line(f"before {named([*map(quoted, paths)], 1) or by}")[:LABEL_MAX]


def after(paths: Sequence[str]) -> str:
    """Return the label of a checkpoint after edits."""
    return one_line(f"after {named([*map(quoted, paths)], 1)}")[:LABEL_MAX]


def missed(message: str, hint: Hint) -> Hint:
    """Describe the failure of an automatic checkpoint."""
    return Hint(message, " The change is made all the same, and cannot be taken back. ", hint)


def empty(omitted: int) -> tuple[str, str]:
    """Word the error of a checkpoint that would cover nothing."""
    hint = "See what the ignore files hide (git status --ignored), then take the checkpoint again."
    left_out = f"{count(omitted, 'path')} {'is' if omitted == 1 else 'are'} left out"
    return f"No checkpoint was taken: it would cover nothing ({left_out}).", hint


NO_WAY_BACK = "You cannot rewind to this moment. "
AGAIN = ", and take it again."


def failed(error: Exception) -> tuple[str, Hint]:
    """Word the error of a checkpoint that could not be stored."""
    why = getattr(error, "message", "") or getattr(error, "strerror", "") or str(error)
    hint = getattr(error, "next_step", None) or Hint("Correct that", AGAIN)
    return f"No checkpoint was taken: {why.removesuffix('.')}.", Hint(NO_WAY_BACK, hint)


def late() -> tuple[str, Hint]:
    """Word the error of a walk that takes too long for a checkpoint."""
    return "No checkpoint was taken: there was no time to look at the whole tree.", (
        Hint(
            "Take one yourself (",
            NextCall("session.checkpoint"),
            "): the next ones are quicker then. Or give them more time (checkpoint_auto_ms).",
        )
    )


def forgotten(id: str) -> tuple[str, Hint]:
    """Word the error of a checkpoint whose manifest is not stored any more."""
    return f"Checkpoint {id} cannot be read: its list of files is not kept any more.", (
        Hint("Take another one. List them: ", NextCall("session.checkpoints"))
    )


def unknown(name: str, several: Sequence[str], nearest: Sequence[str]) -> tuple[str, Hint]:
    """Word the error of a name that no checkpoint has, or several."""
    return unfound("checkpoint", name, several, nearest, NextCall("session.checkpoints"))


EXPORT_NAMED = 20
"""The number of paths that an export lists."""

SHORT = 10
"""Letters of a commit's name to print."""

RIGHTS = "only its permissions changed, which git does not record"
NO_NAME = "git holds no file of this name"
AS_BEFORE = "as in the commit before"


def as_before(reason: str) -> str:
    """Describe a path that the checkpoint does not cover and that the parent commit has."""
    return f"{reason}; {AS_BEFORE}"


def unsure(reason: str, *, came: bool) -> str:
    """Describe a path that one side of a patch does not cover."""
    which, what = ("earlier", "it is new") if came else ("later", "it is gone")
    return f"the {which} checkpoint does not cover it ({reason}), so it is not known whether {what}"


def committed(export: Export) -> Iterator[str]:
    """Describe a commit on a new branch."""
    after = f"on top of {export.parent[:SHORT]}" if export.parent else "the first of its history"
    yield f"Branch {export.branch} is made: commit {(export.commit or '')[:SHORT]}, {after}."
    yield f"It holds the {count(export.files, 'file')} of checkpoint {export.until}. Your files stay as they are."
    yield from _listed("Not from the checkpoint:", export.not_contained)
    yield f"To look at it: git show --stat {export.branch}"


def patched(export: Export, file: str | None) -> Iterator[str]:
    """Describe a patch. file: the name of the file that it was written to."""
    begins, ends = export.since or "nothing (no checkpoint is older)", export.until or "now"
    where = f" in {printable(file)}" if file else ""
    changed = count(export.files, "file") if export.files else "nothing changed"
    yield f"Patch{where} from {begins} to {ends}: {changed}."
    yield from _listed("Not in it:", export.not_contained)


def _listed(heading: str, left_out: Sequence[NotCovered]) -> Iterator[str]:
    if left_out:
        yield heading
    for each in left_out[:EXPORT_NAMED]:
        yield f"  {quoted(each.path)} ({printable(each.reason)})"
    if len(left_out) > EXPORT_NAMED:
        yield f"  and {len(left_out) - EXPORT_NAMED} more"


def message(label: str, id: str, left_out: Sequence[NotCovered]) -> str:
    """Return the message of an exported commit."""
    first = printable(label) if label else f"Checkpoint {id}"
    about = f"Exported from the Sightline checkpoint {id}."
    return "\n".join([first, "", about, *_listed("Not from the checkpoint:", left_out), ""])


def text_gone(path: str) -> tuple[str, Hint]:
    """Word the error of a text that is not stored any more."""
    return f"Nothing was exported: the text of {quoted(path)} is not kept any more.", (
        Hint("Export another checkpoint. List them: ", NextCall("session.checkpoints"))
    )


AS_PATCH = ("export a patch: ", NextCall("session.export", named={"branch": None}, again=True))


def no_repository(root: str) -> tuple[str, Hint]:
    """Word the error of a workspace outside of any git repository."""
    return f"No branch was made: {root} is in no git repository.", (
        Hint("Begin a repository (git init), or ", *AS_PATCH)
    )


def no_branch_name(branch: str) -> tuple[str, str]:
    """Word the error of a name that is no branch name for git."""
    return f"No branch was made: git does not accept the name {branch!r}.", (
        "Use letters, digits, '-', '_' and '/', such as checkpoints/before-the-refactoring."
    )


def branch_exists(branch: str) -> tuple[str, str]:
    """Word the error of a branch that exists already."""
    return f"No branch was made: there is one named {branch}, and it stays as it is.", (
        "Give another name."
    )


def git_said_no(error: str) -> tuple[str, Hint]:
    """Word the error that git reported."""
    owned = "another user" in error
    first = "The repository is another user's: export as that user" if owned else "Correct that"
    return f"No branch was made: {error.rstrip('.')}.", Hint(first, ", or ", *AS_PATCH)


FILES_NAMED = 20

WHY = {
    AGE: "not needed, and older than the limit",
    SIZE: "not needed, and the oldest above the size limit",
    COMMAND: "the text of a shell command, as asked",
}
"""Reason -> its words for texts that were forgotten."""


def swept(result: Swept) -> list[str]:
    """Describe the result of gc, line by line."""
    stay = f"{count(result.kept.texts, 'text')} ({size(result.kept.bytes)})"
    lines: list[str] = []
    if result.checkpoints:
        verb = "Would drop" if result.dry_run else "Dropped"
        checkpoints = count(len(result.checkpoints), "checkpoint")
        lines.append(
            f"{verb} {checkpoints}, the oldest without a label: all of them took more than "
            "checkpoint_bytes."
        )
    if result.commands:
        verb = "Would forget" if result.dry_run else "Forgot"
        lines.append(f"{verb} {count(result.commands, 'command')} with the text that you named.")
    if not result.texts:
        lines.append(f"Nothing to forget: {stay} kept, all needed or recent.")
    else:
        verb = "Would forget" if result.dry_run else "Forgot"
        lines.append(f"{verb} {count(len(result.texts), 'text')} ({size(result.bytes)}):")
        lines += [f"  {line}" for line in table(_reasons(result.texts))]
        if result.dry_run:
            lines += ["", *(f"  {line}" for line in table(_files(result.texts)))]
            files = len({each.path for each in result.texts})
            if files > FILES_NAMED:
                lines.append(f"  and of {files - FILES_NAMED} more")
            lines.append("")
        verb = "would stay" if result.dry_run else "kept"
        lines.append(f"{stay} {verb}. Facts stay for ever.")
        if result.returned:
            lines.append(f"The store is {size(result.returned)} smaller on disk.")
    if result.over:
        over = size(result.over)
        lines.append(f"That is {over} above the limit, but every text is needed.")
    return lines


def _reasons(texts: Sequence[SweptText]) -> Iterator[tuple[str, str]]:
    for reason, group in groupby(texts, lambda each: each.reason):
        alike = list(group)
        number = count(len(alike), "text")
        yield number, f"{WHY[reason]} ({size(sum(each.bytes for each in alike))})"


def _files(texts: Sequence[SweptText]) -> list[tuple[str, str, str]]:
    """Return the files whose texts take the most room, largest first."""
    by_path: dict[str | None, list[int]] = {}
    for each in texts:
        by_path.setdefault(each.path, []).append(each.bytes)
    most = sorted(by_path.items(), key=lambda pair: (-sum(pair[1]), str(pair[0])))
    return [
        (quoted(path) if path else "(of no file)", count(len(sizes), "text"), size(sum(sizes)))
        for path, sizes in most[:FILES_NAMED]
    ]
