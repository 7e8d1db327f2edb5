"""The products whose recordings Sightline reads: one line for each reader."""

from __future__ import annotations

from collections.abc import Mapping

from sightline.recordings import (
    cline,
    codex,
    copilot,
    entire,
    gemini_cli,
    opencode,
    openhands,
    pi,
    renderings,
    swe_agent,
)
from sightline.recordings.claude_code import transcript_messages as claude_code
from sightline.recordings.reader import Reader

READERS: Mapping[str, Reader] = {
    reader.name: reader
    for reader in (
        codex.READER,
        copilot.READER,
        pi.READER,
        claude_code.READER,
        opencode.READER,
        gemini_cli.READER,
        swe_agent.READER,
        swe_agent.MINI_READER,
        openhands.READER,
        entire.READER,
        cline.READER,
        cline.ROO_READER,
        renderings.READER,
    )
}
"""Name -> reader, in the order in which they are asked whether a file is theirs."""

EXAMPLE = "~/.claude/projects"
"""A folder of recordings, for help and hints."""
