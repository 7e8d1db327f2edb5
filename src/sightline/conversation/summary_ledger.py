"""The record of summarised messages: user texts, files, commands, open work. Plain values."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from sightline.model.spans import Spans


class File(Struct, frozen=True, array_like=True):
    """A file that the agent touched. deed: read, modified, created, deleted or moved; revision: of
    the text that the agent holds, None: unknown; lines: shown to the agent."""

    path: str
    deed: str
    revision: str | None = None
    lines: Spans = ()


class Command(Struct, frozen=True, array_like=True):
    """A command that the agent ran. exit_code: None: unknown; failed: known to have failed without
    an exit code."""

    text: str
    exit_code: int | None = None
    failed: bool = False


class Ledger(Struct, frozen=True):
    """The record beside a summary. typed: the user's texts, oldest first; open, done: items of the
    newest to-do list; stale: paths of files that differ from what the agent was shown."""

    typed: tuple[str, ...]
    files: tuple[File, ...]
    commands: tuple[Command, ...]
    open: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()

    def dump(self) -> dict[str, Any]:
        """Return the fields that the next summary cannot read from facts, as JSON."""
        return {
            "typed": self.typed,
            "files": [[file.path, file.deed] for file in self.files],
            "commands": [[c.text, c.exit_code, c.failed] for c in self.commands],
        }
