"""The ignore files of agents' products: their names, and their rules."""

from __future__ import annotations

import re

from sightline.filesystem.ignore.rules import Cline, IgnoreRules

AGENTS = (
    ".aiderignore", ".aiexclude", ".aiignore", ".augmentignore", ".claudeignore", ".codeiumignore",
    ".copilotignore", ".crushignore", ".cursorignore", ".geminiignore", ".gooseignore", ".kilocodeignore",
    ".qwenignore", ".rooignore", ".tabnineignore",
)  # fmt: skip
"""Ignore files of agents' products, beside .clineignore. Files that only bound an index or a pack
(.cursorindexingignore, .repomixignore) are none."""

BY_OTHER_RULES = (".clineignore",)
"""Those that have rules of their own."""

AGENTS_OWN = re.compile(r"\.[a-z-]+ignore|\.aiexclude")
"""The name of an ignore file that may be an agent's."""

NOT_OF_AGENTS = frozenset((
    ".gitignore", ".sightlineignore", ".dockerignore", ".npmignore", ".prettierignore", ".eslintignore",
    ".stylelintignore", ".hgignore", ".helmignore", ".gcloudignore", ".vercelignore", ".ebignore", ".ignore",
    ".rgignore", ".fdignore", ".slugignore", ".cfignore", ".funcignore", ".vscodeignore", ".bazelignore",
    ".containerignore", ".nowignore", ".remarkignore", ".markdownlintignore", ".cursorindexingignore",
    ".repomixignore", ".trivyignore", ".snyk-ignore", ".semgrepignore", ".gitleaksignore", ".bzrignore",
))  # fmt: skip
"""Ignore files of other programs."""


def agents_rules(root: str) -> list[IgnoreRules]:
    """Return the rules of the ignore files of agents' products."""
    return [*(IgnoreRules(root, name) for name in AGENTS), Cline(root)]
