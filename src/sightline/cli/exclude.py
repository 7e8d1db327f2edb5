"""Keep what Sightline writes into a workspace out of git, by the repository's own info/exclude."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sightline.cli import output
from sightline.cli.output import Call
from sightline.filesystem.git.repository import repository
from sightline.filesystem.private_files import aside_of
from sightline.model.path import quoted

MARK = "# Written by Sightline. 'sightline init --remove' takes these lines out."

SPECIAL = re.compile(r"[\\*?\[]")
"""Letters of a path that mean something in a pattern of git."""


def offer(call: Call, root: str, files: Sequence[str], *, yes: bool) -> None:
    """Put files into info/exclude, if git would list them and the user agrees; without a terminal
    only if `yes`, else say that they are to be kept out. files: relative to the root. OSError."""
    listed = [file for file in files if is_listed(root, file)]
    place = exclude_file(root)
    if not listed or place is None:
        return
    names = " and ".join(map(quoted, listed))
    if not yes and not call.json and output.can_ask():
        output.say(f"{names}: for this machine alone, but git would add it.")
        yes = output.confirmed(f"Exclude it in {quoted(place)}?", default=True)
        if not yes:
            return
    if yes:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "a+b") as file:
            file.seek(0)
            before = file.read()
            gap = "" if not before or before.endswith(b"\n") else "\n"
            lines = "".join(f"{line}\n" for line in (MARK, *_lines(root, listed)))
            file.write(os.fsencode(gap + lines))
        output.note(call, f"git leaves {names} alone.")
    else:
        output.note(call, f"Keep {names} out of git: it is for this machine.")


def exclude_file(root: str) -> str | None:
    """Return the file of a repository that names what all working trees exclude; None for a workspace
    without a repository."""
    found = repository(root, ".")
    return None if found is None else os.path.join(found.common, "info", "exclude")


def is_listed(root: str, file: str) -> bool:
    """Return whether a file is there that git would list among the files to add."""
    if not os.path.lexists(os.path.join(root, file)):
        return False
    asked = ["git", "-C", root, "check-ignore", "--quiet", file]
    try:
        return subprocess.run(asked, capture_output=True, check=False).returncode == 1
    except OSError:  # no git, nothing to keep it out of
        return False


def remove(root: str, files: Sequence[str]) -> bool:
    """Take the lines about these files out again that offer() wrote; return whether there were any.
    OSError."""
    place = exclude_file(root)
    if place is None or not os.path.isfile(place):
        return False
    ours = {os.fsencode(line) for line in _lines(root, files)}
    lines = Path(place).read_bytes().splitlines(keepends=True)
    kept: list[bytes] = []
    at = 0
    while at < len(lines):
        end = at + 1
        if lines[at].strip() == os.fsencode(MARK):
            while end < len(lines) and lines[end].strip() in ours:
                end += 1
        if end == at + 1:  # no mark, or one of another workspace's lines
            kept.append(lines[at])
        at = end
    if kept == lines:
        return False
    place = os.path.realpath(place)  # a link to the user's own file stays a link
    aside = aside_of(place)
    with open(aside, "xb") as file:
        file.writelines(kept)
    shutil.copymode(place, aside)
    os.replace(aside, place)
    return True


def _lines(root: str, files: Sequence[str]) -> list[str]:
    found = repository(root, ".")
    prefix = found.prefix if found is not None else ""
    return [f"/{SPECIAL.sub(lambda sign: chr(92) + sign[0], prefix + file)}" for file in files]
