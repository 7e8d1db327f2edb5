"""Values on record about summed-up messages: files, commands, open work."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from sightline.model.spans import Spans


class File(Struct, frozen=True):
    """A file that was touched. deed: read, modified, created, deleted or moved; revision: of the
    text that the agent holds, None where nobody knows; lines: of it that were shown."""

    path: str
    deed: str
    revision: str | None = None
    lines: Spans = ()


class Command(Struct, frozen=True):
    """A command that was run. exit_code: None where nobody knows; failed: where only that is
    known."""

    text: str
    exit_code: int | None = None
    failed: bool = False


class Ledger(Struct, frozen=True):
    """typed: what the user said, oldest first; open, done: of the newest list of work; stale: files
    that are not what was shown."""

    typed: tuple[str, ...] = ()
    files: tuple[File, ...] = ()
    commands: tuple[Command, ...] = ()
    open: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()

    def packed(self) -> dict[str, Any]:
        """Return the fields that no fact tells, as JSON for the next summary."""
        return {
            "typed": self.typed,
            "files": [[each.path, each.deed] for each in self.files],
            "commands": [[each.text, each.exit_code, each.failed] for each in self.commands],
        }
