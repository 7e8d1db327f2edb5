"""What is said of a checkpoint that leaves the house."""

from __future__ import annotations

from sightline.render.views import count, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    class NotCovered(Protocol):
        """services.results.NotCovered."""

        @property
        def path(self) -> str: ...
        @property
        def reason(self) -> str: ...

    class Export(Protocol):
        """The part of services.results.Export that is worded."""

        @property
        def since(self) -> str | None: ...
        @property
        def until(self) -> str | None: ...
        @property
        def branch(self) -> str | None: ...
        @property
        def commit(self) -> str | None: ...
        @property
        def parent(self) -> str | None: ...
        @property
        def files(self) -> int: ...
        @property
        def not_contained(self) -> Sequence[NotCovered]: ...


NAMED = 20
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
    for each in lacks[:NAMED]:
        yield f"  {printable(each.path)} ({printable(each.reason)})"
    if len(lacks) > NAMED:
        yield f"  and {len(lacks) - NAMED} more"


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
