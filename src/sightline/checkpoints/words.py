"""What is said of checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from sightline.checkpoints.swept_texts import Swept
from sightline.model.results import Checkpoint, Export, FileDifference, NotCovered
from sightline.store.retention import AGE, SIZE, Going
from sightline.text.phrases import count, named, one_line, printable, size, table

LABEL_MAX = 200

NAMED = 5
"""Paths that are named in one line; of the others the number is told."""

BECAME = {
    "added": "new",
    "removed": "gone",
    "changed": "changed",
    "mode": "other rights",
    "kind": "another kind",
}
"""What became of a path, in a word."""


def taken(made: Checkpoint) -> list[str]:
    """A checkpoint that was just taken, and what it does not cover: first what no ignore file
    leaves out."""
    label = f" ({printable(made.label)})" if made.label else ""
    lines = [f"Checkpoint {made.id}{label}: {count(made.files, 'file')}."]
    left = sorted(made.not_covered, key=lambda each: (each.reason == "ignored", each.path))
    if left:
        said = [f"{printable(each.path)} ({each.reason})" for each in left]
        lines.append(f"Not covered: {named(said, NAMED)}.")
    return lines


def told(
    made: Checkpoint, when: str, changed: Sequence[tuple[str, str]] | None, *, first: bool
) -> list[str]:
    """A checkpoint in a list of all: what came before it, then itself. when: how long ago. One
    that nobody asked for says so."""
    unasked = "" if made.why == "asked" else "by itself, "
    turn = f", turn {made.turn}" if made.turn else ""
    left = f", {len(made.not_covered)} not covered" if made.not_covered else ""
    label = f"  {printable(made.label)}" if made.label else ""
    before = [] if first else [f"  | {_between(changed)}"]
    about = f"{unasked}session {printable(made.session)}{turn}, {count(made.files, 'file')}{left}"
    return [*before, f"{made.id}{label}", f"  {when}, {about}"]


def _between(changed: Sequence[tuple[str, str]] | None) -> str:
    if changed is None:
        return "what happened in between cannot be told: a list of files is not kept any more"
    if not changed:
        return "nothing changed"
    return named([f"{printable(path)} {BECAME[change]}" for path, change in changed], NAMED)


def stat(found: Sequence[FileDifference]) -> list[str]:
    """A line for each path that differs, and their sum."""
    rows = [
        (
            BECAME[each.change],
            printable(each.path),
            "" if each.diff is None else f"+{each.added} -{each.removed}",
        )
        for each in found
    ]
    added, removed = sum(each.added for each in found), sum(each.removed for each in found)
    total = f"{count(len(found), 'file')}, {count(added, 'line')} added, {removed} removed"
    return [*table(rows), total]


def without_text(each: FileDifference) -> str:
    """A path that differs without a diff to show: a binary file, or one whose text is not kept."""
    more = "" if each.diff is not None else ", no text to compare"
    return f"{printable(each.path)}: {BECAME[each.change]}{more}"


def before(paths: Sequence[str], command: str) -> str:
    """The label of one that was taken before a turn's first change."""
    return one_line(f"before {named(paths, 1) or command}")[:LABEL_MAX]


def after(paths: Sequence[str]) -> str:
    """The label of one that was taken after edits."""
    return one_line(f"after {named(paths, 1)}")[:LABEL_MAX]


def missed(message: str, hint: str) -> str:
    """One that was due by itself, and could not be kept."""
    return f"{message} The change goes on, and cannot be taken back to before it. {hint}"


def empty(omitted: int) -> tuple[str, str]:
    """The message and the hint of a checkpoint that would cover nothing."""
    hint = "Look at what the ignore files leave (git status --ignored), then take it again."
    left = f"{count(omitted, 'path')} {'is' if omitted == 1 else 'are'} left out"
    return f"No checkpoint was taken: it would cover nothing ({left}).", hint


NO_WAY_BACK = "Nothing can be taken back to this moment."


def failed(error: Exception) -> tuple[str, str]:
    """A checkpoint that could not be kept."""
    said = getattr(error, "message", "") or getattr(error, "strerror", "") or str(error)
    hint = getattr(error, "hint", "") or "Mend that, and take it again."
    return f"No checkpoint was taken: {said.removesuffix('.')}.", f"{NO_WAY_BACK} {hint}"


def late() -> tuple[str, str]:
    """A checkpoint that was given up because looking at the tree takes too long."""
    return "No checkpoint was taken: there was no time to look at the whole tree.", (
        "Take one yourself (sightline checkpoint): the next ones are quicker then. Or give them "
        "more time (checkpoint_auto_ms)."
    )


def forgotten(id: str) -> tuple[str, str]:
    """A checkpoint whose manifest is not kept any more."""
    return f"Checkpoint {id} cannot be read: its list of files is not kept any more.", (
        "Take another one: sightline checkpoints lists them."
    )


def unknown(id: str) -> tuple[str, str]:
    """A name that no checkpoint has."""
    return f"There is no checkpoint {id!r}.", "List them: sightline checkpoints"


EXPORT_NAMED = 20
"""Paths that are named; of others the number is told."""

SHORT = 10
"""Letters of a commit's name that a person reads."""

RIGHTS = "only its rights changed, in a way that git does not keep"
NO_NAME = "git holds no file of this name"
AS_BEFORE = "as in the commit before"


def as_before(reason: str) -> str:
    """Of a path that a checkpoint does not cover, and the commit before has."""
    return f"{reason}; {AS_BEFORE}"


def unsure(reason: str, *, came: bool) -> str:
    """Of a path of which one side of a patch says nothing."""
    which, what = ("earlier", "it is new") if came else ("later", "it is gone")
    return f"not covered by the {which} side ({reason}), so whether {what} is not known"


def committed(made: Export) -> Iterator[str]:
    """A commit on a new branch."""
    after = f"on top of {made.parent[:SHORT]}" if made.parent else "the first of its history"
    yield f"Branch {made.branch} is made: commit {(made.commit or '')[:SHORT]}, {after}."
    yield f"It holds the {count(made.files, 'file')} of checkpoint {made.until}. Your files stay as they are."
    yield from _lacks("Not from the checkpoint:", made.not_contained)
    yield f"To look at it: git show --stat {made.branch}"


def patched(made: Export, file: str | None) -> Iterator[str]:
    """What a patch is, beside it. file: where it went."""
    begins, ends = made.since or "nothing (no checkpoint is older)", made.until or "now"
    where = f" in {printable(file)}" if file else ""
    changed = count(made.files, "file") if made.files else "nothing changed"
    yield f"Patch{where} from {begins} to {ends}: {changed}."
    yield from _lacks("Not in it:", made.not_contained)


def _lacks(head: str, lacks: Sequence[NotCovered]) -> Iterator[str]:
    if lacks:
        yield head
    for each in lacks[:EXPORT_NAMED]:
        yield f"  {printable(each.path)} ({printable(each.reason)})"
    if len(lacks) > EXPORT_NAMED:
        yield f"  and {len(lacks) - EXPORT_NAMED} more"


def message(label: str, id: str, lacks: Sequence[NotCovered]) -> str:
    """The commit's own words: they go where nobody can ask us."""
    first = printable(label) if label else f"Checkpoint {id}"
    about = f"Exported from the Sightline checkpoint {id}."
    return "\n".join([first, "", about, *_lacks("Not from the checkpoint:", lacks), ""])


def text_gone(path: str) -> tuple[str, str]:
    """A text of a checkpoint that is not kept any more."""
    return f"Nothing was exported: the text of {path} is not kept any more.", (
        "Export another checkpoint: sightline checkpoints lists them."
    )


def no_repository(root: str) -> tuple[str, str]:
    """A workspace that is in no repository of git's."""
    return f"No branch was made: {root} is in no git repository.", (
        "Export it as a patch (--patch), or begin a repository: git init"
    )


def no_branch_name(branch: str) -> tuple[str, str]:
    """A name that git takes for no branch."""
    return f"No branch was made: git takes {branch!r} for no name of one.", (
        "Use letters, digits, '-', '_' and '/', such as checkpoints/before-the-refactoring."
    )


def branch_exists(branch: str) -> tuple[str, str]:
    """A branch that is there already: it is the user's."""
    return f"No branch was made: there is one named {branch}, and it stays as it is.", (
        "Give another name."
    )


def git_said_no(said: str) -> tuple[str, str]:
    """What git says of why it could not."""
    owned = "dubious ownership" in said
    first = "The repository is another user's: export as that user" if owned else "Mend that"
    return f"No branch was made: {said.rstrip('.')}.", f"{first}, or export a patch: --patch"


FILES_NAMED = 20

WHY = {AGE: "not needed, and out of their time", SIZE: "not needed, and the oldest beyond the room"}
"""Reason -> what it says of texts."""


def swept(found: Swept) -> list[str]:
    """The whole answer, line by line."""
    stay = f"{count(found.kept, 'text')} ({size(found.kept_size)})"
    dropped = _dropped(found)
    if not found.gone:
        return [
            *dropped,
            f"Nothing to forget: {stay} kept, all of them needed or young.",
            *_over(found),
        ]
    verb = "Would forget" if found.dry_run else "Forgot"
    lines = [*dropped, f"{verb} {count(len(found.gone), 'text')} ({size(found.size)}):"]
    lines += [f"  {line}" for line in table(_reasons(found.gone))]
    if found.dry_run:
        lines += ["", *(f"  {line}" for line in table(_files(found.gone)))]
        files = len({each.path for each in found.gone})
        if files > FILES_NAMED:
            lines.append(f"  and of {files - FILES_NAMED} more: sightline gc --dry-run --json")
        lines.append("")
    lines.append(f"{stay} {'would stay' if found.dry_run else 'kept'}. Facts stay for ever.")
    if found.returned:
        lines.append(f"The store is {size(found.returned)} smaller on disk.")
    return [*lines, *_over(found)]


def _dropped(found: Swept) -> list[str]:
    if not found.dropped:
        return []
    verb = "Would drop" if found.dry_run else "Dropped"
    named = f"{count(len(found.dropped), 'checkpoint')}, the oldest without a label"
    return [f"{verb} {named}: all of them took more than checkpoint_bytes."]


def _over(found: Swept) -> list[str]:
    if not found.over:
        return []
    return [f"That is {size(found.over)} more than they should take, and every one is needed."]


def _reasons(gone: Sequence[Going]) -> Iterator[tuple[str, str]]:
    for why, group in groupby(gone, lambda each: each.why):
        texts = list(group)
        number = count(len(texts), "text")
        yield number, f"{WHY[why]} ({size(sum(each.size for each in texts))})"


def _files(gone: Sequence[Going]) -> list[tuple[str, str, str]]:
    """The files whose texts take most room first."""
    by_path: dict[str | None, list[int]] = {}
    for each in gone:
        by_path.setdefault(each.path, []).append(each.size)
    most = sorted(by_path.items(), key=lambda pair: (-sum(pair[1]), str(pair[0])))
    return [
        (printable(path or "(of no file)"), count(len(sizes), "text"), size(sum(sizes)))
        for path, sizes in most[:FILES_NAMED]
    ]
