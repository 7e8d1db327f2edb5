"""The products whose recorded conversations can be read."""

from __future__ import annotations

from sightline.agents import renderings
from sightline.agents.claude_code import messages as claude_code
from sightline.agents.cline import messages as cline
from sightline.agents.codex import messages as codex
from sightline.agents.copilot import messages as copilot
from sightline.agents.gemini_cli import messages as gemini_cli
from sightline.agents.mini_swe_agent import messages as mini_swe_agent
from sightline.agents.opencode import messages as opencode
from sightline.agents.openhands import messages as openhands
from sightline.agents.pi import messages as pi
from sightline.agents.roo import messages as roo
from sightline.agents.swe_agent import messages as swe_agent

MODULES = (
    *(codex, copilot, pi, claude_code, opencode, gemini_cli, swe_agent, mini_swe_agent, openhands),
    *(cline, roo),
)

READERS = {module.AGENT: module.conversation for module in MODULES} | {
    "aider, SpecStory": renderings.conversation
}
"""Product -> what reads its recordings. Each knows its own by their beginning."""
