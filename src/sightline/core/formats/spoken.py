"""Calls that stand in a model's text, and results in the user's: tags (Cline, Roo), and one block of
shell at the end (mini-swe-agent, SWE-agent).
"""

from __future__ import annotations

import re

from sightline.core.calls import Call, tagged
from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sightline.core.formats.parts import Part

FENCED = re.compile(r"(?:\A|\n)```(?:bash|sh|mswea_bash_command)?\n(.*?)\n```\s*\Z", re.DOTALL)
HEAD = re.compile(r"\A\[(\w+)(?: for (?:'([^'\n]*)')?[^\n]*?|\.[^\n]*?)?\] Result:[ \n]*")
SHOWN = ("<returncode>", "[File: /")
OBSERVED = ("Observation:", "OBSERVATION:", "<warning>\nThe output")
PROMPT = re.compile(r"\(Open file: .*\)\s*\n\(Current directory: .*\)\s*\nbash-\$\s*\Z")
FEEDBACK = ("<feedback>", "<user_message>", "<answer>", "<task>")


def calls(text: str) -> tuple[Call, ...]:
    """The calls in a text of the model's, in order."""
    if "</" in text and (found := tuple(tagged.calls(text))):
        return found
    if text.count("```") == 2 and (block := FENCED.search(text)):
        return (Call("", "bash", {"command": block[1]}),)
    return ()


class Said(Value):
    """A result in a text: of which tool, for which path where the host says so, and the result
    itself; "" for a line that only announces one."""

    tool: str
    path: str | None
    text: str


def results(parts: Sequence[Part], waiting: Sequence[str]) -> dict[int, Said]:
    """The results of such calls among the texts of a message, by part. waiting: the tools whose
    results are due. Where a person's words stand in it, too, it is no result: it stays as it
    is."""
    found: dict[int, Said] = {}
    due = Said("", None, "")
    for number, part in enumerate(parts):
        head = HEAD.match(part.text)
        if head is None and not due.tool:
            if part.text.startswith(SHOWN) or (list(waiting) == ["bash"] and _observed(part.text)):
                found[number] = Said("bash", None, part.text)
            continue
        due = Said(head[1], head[2], "") if head else due
        body = part.text[head.end() :] if head else part.text
        if head is None and body.startswith("<environment_details>"):
            due = Said("", None, "")
        elif not any(word in body for word in FEEDBACK):
            found[number] = due.replace(text=body)
    return found


def _observed(text: str) -> bool:
    if "INSTRUCTIONS:" in text:
        return False  # the next task, after one that was submitted
    return text.startswith(OBSERVED) or PROMPT.search(text[-400:]) is not None
