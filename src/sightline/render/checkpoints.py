"""What is said of checkpoints."""

from __future__ import annotations

from sightline.render.views import count


def empty(omitted: int) -> tuple[str, str]:
    """The message and the hint of a checkpoint that would cover nothing."""
    hint = "Look at what the ignore files leave (git status --ignored), then take it again."
    left = f"{count(omitted, 'path')} {'is' if omitted == 1 else 'are'} left out"
    return f"No checkpoint was taken: it would cover nothing ({left}).", hint


def failed(error: Exception) -> tuple[str, str]:
    """A checkpoint that could not be kept."""
    said = str(getattr(error, "message", error)).removesuffix(".")
    hint = "Nothing can be taken back to this moment. Mend that, and take it again."
    return f"No checkpoint was taken: {said}.", hint


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
