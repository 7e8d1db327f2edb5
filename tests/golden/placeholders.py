"""What differs from run to run, and the placeholder that stands for it in a golden file.

Ids and times get a number in the order in which they first appear, so that equal ones stay equal.
Hashes of contents, positions on the timeline and all wording are left as they are. So are times of
the first of June 2025: the clock of the stores stood there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

NUMBERED = {
    "time": r"\b(?!2025-06-01)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?=Z|\+00:00)",
    "holder": r"\b[\w-]+:\d+:\d+(?=\")",
    "checkpoint": r"\bcp-[0-9a-f]{8}\b",
    "claim": r"\bc-[0-9a-f]{8}\b",
    "warning": r"\bw-[0-9a-f]{8}\b",
    "session": r"\bs-[0-9a-f]{10}\b",
    "run": r"\brun-[0-9a-f]{10}\b",
}
"""The name of a placeholder -> what it stands for. `<time 1>` is the first time of a story."""

PLAIN = (
    (r"\b(?!2025-06-01)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<second>"),
    (r"\b(?!2025-06-01)\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?", "<minute>"),
    (r"\b(?!2025-06-01)\d{4}-\d\d-\d\d\b(?!T)", "<date>"),
    (r"(?<![\d:T])\d\d:\d\d:\d\d(?!:?\d)", "<hh:mm:ss>"),
    (r"(?<![\d:+T])\d\d:\d\d(?!:?\d)", "<hh:mm>"),
    (r"\b\d+ (?:s|min|h|d) ago", "<ago>"),
    (r"[^ \n]*/sightline-tour-\w+", "<tour>"),
    (r"(?<=workspaces/)[0-9a-f]{16}", "<workspace>"),
    (r"(?<=held by process )\d+|(?<=\(process )\d+", "<pid>"),
    (r"(?<=\"commit\": \")[0-9a-f]{40}|(?<=is made: commit )[0-9a-f]{10}", "<commit>"),
    (r"(?<=\"cpu_ms_per_call\": )[0-9.e-]+", "<ms>"),
    (r"(?<=\"python\": \")\d+\.\d+\.\d+\w*", "<version>"),
    (r"\b(?:linux|darwin|win32), Python \d+\.\d+\.\d+\w*", "<system>"),
)
"""What gets no number, because two of them may be equal by accident."""


OF_THE_MACHINE = "sightline|python|sqlite|git|store|room|watching|watcher|latency"
"""Checks of `doctor` that say how this machine is, and how many bytes a store takes."""

CHECKED = (
    re.compile(rf"^[a-z]+ +({OF_THE_MACHINE}) .*\n(?: {{22}}.*\n)*", re.MULTILINE),
    re.compile(rf'\{{"name": "({OF_THE_MACHINE})", "state": "[a-z]+", "message": .*?\}}'),
    re.compile(r'"(room)": \{[^}]*\}'),
)


def without_machine(text: str) -> str:
    """Return what `doctor` prints, without what is different on every machine."""
    for pattern in CHECKED:
        text = pattern.sub(lambda found: f"<{found[1]}>" + "\n" * found[0].endswith("\n"), text)
    return text


class Placeholders:
    """The placeholders of one story. paths: what stands for a path -> the path."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths = sorted(paths.items(), key=lambda item: -len(item[1]))
        self._given: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        numbered = (f"(?P<{name}>{pattern})" for name, pattern in NUMBERED.items())
        self._numbered = re.compile("|".join(numbered))
        self._plain = [(re.compile(pattern), said) for pattern, said in PLAIN]

    def put(self, text: str) -> str:
        """A text with placeholders in it."""
        for said, path in self._paths:
            text = text.replace(path, said)
        text = self._numbered.sub(self._number, text)
        for pattern, said in self._plain:
            text = pattern.sub(said, text)
        return text

    def take(self, text: str) -> str:
        """A text with what its placeholders stand for."""
        for found, said in self._given.items():
            text = text.replace(said, found)
        for said, path in self._paths:
            text = text.replace(said, path)
        return text

    def _number(self, found: re.Match[str]) -> str:
        name = str(found.lastgroup)
        if found[0] not in self._given:
            self._counts[name] = self._counts.get(name, 0) + 1
            self._given[found[0]] = f"<{name} {self._counts[name]}>"
        return self._given[found[0]]
