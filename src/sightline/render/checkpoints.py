"""What is said of checkpoints."""

from __future__ import annotations

from sightline.render.views import count, one_line, printable, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class NotCovered(Protocol):
        """services.results.NotCovered."""

        @property
        def path(self) -> str: ...
        @property
        def reason(self) -> str: ...

    class Checkpoint(Protocol):
        """The part of services.results.Checkpoint that is worded."""

        @property
        def id(self) -> str: ...
        @property
        def label(self) -> str: ...
        @property
        def session(self) -> str: ...
        @property
        def turn(self) -> int: ...
        @property
        def files(self) -> int: ...
        @property
        def why(self) -> str: ...
        @property
        def not_covered(self) -> Sequence[NotCovered]: ...

    class Difference(Protocol):
        """The part of services.comparing.FileDifference that is worded."""

        @property
        def path(self) -> str: ...
        @property
        def change(self) -> str: ...
        @property
        def diff(self) -> str | None: ...
        @property
        def added(self) -> int: ...
        @property
        def removed(self) -> int: ...


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
        lines.append(f"Not covered: {_some(said)}.")
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
    return _some([f"{printable(path)} {BECAME[change]}" for path, change in changed])


def stat(found: Sequence[Difference]) -> list[str]:
    """A line for each path that differs, and their sum."""
    rows = [
        (BECAME[each.change], printable(each.path), "" if each.diff is None else _lines(each))
        for each in found
    ]
    added, removed = sum(each.added for each in found), sum(each.removed for each in found)
    total = f"{count(len(found), 'file')}, {count(added, 'line')} added, {removed} removed"
    return [*table(rows), total]


def _lines(each: Difference) -> str:
    return f"+{each.added} -{each.removed}"


def without_text(each: Difference) -> str:
    """A path that differs without a diff to show: a binary file, or one whose text is not kept."""
    more = "" if each.diff is not None else ", no text to compare"
    return f"{printable(each.path)}: {BECAME[each.change]}{more}"


def _some(said: Sequence[str]) -> str:
    more = len(said) - NAMED
    return ", ".join(said[:NAMED]) + (f" and {more} more" if more > 0 else "")


def before(paths: Sequence[str], command: str) -> str:
    """The label of one that was taken before a turn's first change."""
    return one_line(f"before {_listed(paths) or command}")[:LABEL_MAX]


def after(paths: Sequence[str]) -> str:
    """The label of one that was taken after edits."""
    return one_line(f"after {_listed(paths)}")[:LABEL_MAX]


def _listed(paths: Sequence[str]) -> str:
    first, more = "".join(paths[:1]), len(paths) - 1
    return f"{first} and {more} more" if more > 0 else first


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


def unreadable(revision: str, error: Exception) -> tuple[str, str]:
    """A manifest that is no manifest."""
    return f"The list of files {revision} in the store cannot be read: {error}.", (
        "Run sightline doctor. If a newer sightline wrote it, upgrade this one."
    )


def unknown(id: str) -> tuple[str, str]:
    """A name that no checkpoint has."""
    return f"There is no checkpoint {id!r}.", "List them: sightline checkpoints"
