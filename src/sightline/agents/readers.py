"""Name the products whose recorded conversations Sightline reads, each with its reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sightline.agents import (
    cline,
    codex,
    copilot,
    gemini_cli,
    mini_swe_agent,
    opencode,
    openhands,
    pi,
    renderings,
    roo,
    swe_agent,
)
from sightline.agents.claude_code import messages as claude_code
from sightline.conversation.recorded_conversation import Conversation

READERS: Mapping[str, Callable[[str], Conversation]] = {
    "codex": codex.conversation,
    "copilot": copilot.conversation,
    "pi": pi.conversation,
    "claude-code": claude_code.conversation,
    "opencode": opencode.conversation,
    "gemini-cli": gemini_cli.conversation,
    "swe-agent": swe_agent.conversation,
    "mini-swe-agent": mini_swe_agent.conversation,
    "openhands": openhands.conversation,
    "cline": cline.conversation,
    "roo": roo.conversation,
    "aider, SpecStory": renderings.conversation,
}
"""Product -> the reader of its recordings. A reader recognises a file by its beginning."""
