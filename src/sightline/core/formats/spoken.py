"""Calls that stand in a model's text, and results in the user's: tags (Cline, Roo), and one block of
shell at the end (mini-swe-agent, SWE-agent).
"""

from __future__ import annotations

import re

from sightline.core.calls import Call, tagged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sightline.core.formats.parts import Part

FENCED = re.compile(r"(?:\A|\n)```(?:bash|sh|mswea_bash_command)?\n(.*?)\n```\s*\Z", re.DOTALL)
HEAD = re.compile(r"\A\[(\w+)(?: for '[^\n]*?|\.[^\n]*?)?\] Result:[ \n]*")
OBSERVED = ("<returncode>", "Observation:", "OBSERVATION:", "[File: ", "<warning>\nThe output")
PROMPT = re.compile(r"\(Open file: .*\)\s*\n\(Current directory: .*\)\s*\nbash-\$\s*\Z")
ASIDE = ("<environment_details>", "[")
FEEDBACK = ("<feedback>", "<user_message>", "<answer>", "<task>")


def calls(text: str) -> tuple[Call, ...]:
    """The calls in a text of the model's, in order."""
    if "</" in text and (found := tuple(tagged.calls(text))):
        return found
    if text.count("```") == 2 and (block := FENCED.search(text)):
        return (Call("", "bash", {"command": block[1]}),)
    return ()


def results(parts: Sequence[Part], waiting: Sequence[str]) -> dict[int, tuple[str, str]]:
    """The results of such calls among the texts of a message: which part, of which tool, and the
    text itself. waiting: the tools whose results are due. Where a person's words stand in it, too,
    it is no result: it stays as it is."""
    found: dict[int, tuple[str, str]] = {}
    due = ""
    for number, part in enumerate(parts):
        head = HEAD.match(part.text)
        if head is None and not due and waiting == ["bash"] and _observed(part.text):
            found[number] = "bash", part.text
            continue
        due = head[1] if head else due
        body = part.text[head.end() :] if head else part.text
        if not due or not body.strip():
            continue
        if head is None and body.startswith(ASIDE[0]):
            due = ""
        elif not any(word in body for word in FEEDBACK):
            found[number] = due, body
    return {number: each for number, each in found.items() if each[0] in waiting}


def _observed(text: str) -> bool:
    return text.startswith(OBSERVED) or PROMPT.search(text[-400:]) is not None
