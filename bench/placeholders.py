"""How many placeholders are found that models write, and how many lines of real code are taken for one.

    python bench/placeholders.py [FOLDER...]

First the lines of `placeholder_lines.py`, and those that are missed. A FOLDER holds code, or recordings (*.jsonl). Each line that was found is printed, and the counts below: a
placeholder in code that stands there is a false alarm if an edit ever writes it anew in place of code.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
if not __package__:  # started as a script: the rest of bench, and the library of this checkout
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.placeholder_lines import WILD  # noqa: E402
from bench.placeholder_lines import lines as true_lines  # noqa: E402
from bench.recordings.claude_code import Edited, read  # noqa: E402 (needs the path above)

from sightline.model.placeholders import PROSE, is_placeholder, left_out  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LIKE = re.compile(
    r"\.\.\.|…|\b(?:rest of|existing|unchanged|omitted|truncated|previous|same as|as before|the same)\b",
    re.IGNORECASE,
)
"""What a line of real code has in common with placeholders."""

CODE = (
    ".py",
    ".pyi",
    ".js",
    ".mjs",
    ".ts",
    ".tsx",
    ".c",
    ".h",
    ".rs",
    ".go",
    ".java",
    ".sh",
    ".toml",
    ".css",
)


def main(folders: Sequence[str]) -> int:
    """Print what was found below the folders, and the counts."""
    _print_recall("phrases in comments", true_lines())
    _print_recall("lines of files and reports", WILD)
    lines = placeholders = alike = edits = refused = 0
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                path = Path(place, name)
                if name.endswith(CODE):
                    text = path.read_text(encoding="utf-8", errors="replace").split("\n")
                    found = [line.strip() for line in text if is_placeholder(line)]
                    print("\n".join(f"{path}: {line}" for line in found), end="\n" * bool(found))
                    lines, placeholders = lines + len(text), placeholders + len(found)
                    alike += sum(LIKE.search(line) is not None for line in text)
                elif name.endswith(".jsonl"):
                    made = [e for column in read(path).columns.values() for e in column]
                    for edit in (each for each in made if isinstance(each, Edited)):
                        edits, refused = edits + 1, refused + _is_refused(edit)
    print(f"{placeholders:,} taken for placeholders of {alike:,} lines with dots or their words")
    print(f"{placeholders:,} placeholders in {lines:,} lines of code")
    print(f"{refused:,} of {edits:,} recorded edits would be refused")
    return 0


def _print_recall(what: str, every: Iterable[str]) -> None:
    every = list(every)
    missed = [line for line in every if not is_placeholder(line)]
    print("\n".join(f"missed: {line}" for line in missed))
    print(f"{len(every) - len(missed):,} of {len(every):,} {what} are found")


def _is_refused(edit: Edited) -> bool:
    old, new = edit.old, edit.new
    if edit.content is not None:
        old, new = edit.original or "", edit.content
    hunks = left_out(old.splitlines(keepends=True), new.splitlines(keepends=True))
    if hunks and not edit.path.endswith(PROSE):
        print(f"{edit.path}: {hunks}")
        return True
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
