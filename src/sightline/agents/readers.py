"""The products whose recorded conversations can be read."""

from __future__ import annotations

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

MODULES = (
    *(codex, copilot, pi, claude_code, opencode, gemini_cli, swe_agent, mini_swe_agent, openhands),
    *(cline, roo),
)

READERS = {module.AGENT: module.conversation for module in MODULES} | {
    "aider, SpecStory": renderings.conversation
}
"""Product -> what reads its recordings. Each knows its own by their beginning."""
