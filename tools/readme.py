"""Puts what the README's first command really prints below `<!-- tour output -->`.

    python tools/readme.py

The block is an ordinary console example, so tests/test_docs.py fails when it is no longer true.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
SPOT = "<!-- tour output -->\n"
LINES_SHOWN = 16
"""To the first refusal: with the words above it, that is what a screen holds."""


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        command = Path(sys.executable).with_name("sightline")
        done = subprocess.run(
            [command, "tour"],
            cwd=home,
            env={"HOME": home, "NO_COLOR": "1", "COLUMNS": "80", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
    text = README.read_text(encoding="utf-8")
    README.write_text(placed(text, done.stdout), encoding="utf-8")


def placed(readme: str, output: str) -> str:
    """The README with a block of this output at its spot, in place of the one before."""
    before, spot, after = readme.partition(SPOT)
    if not spot:
        raise SystemExit(f"README.md has no {SPOT.strip()}")
    if after.startswith("```console"):
        after = after.partition("\n```\n")[2]
    return f"{before}{spot}{block(output)}{after}"


def block(output: str) -> str:
    """A console example of the first lines; `...` stands for the rest, as the tests read it."""
    lines = output.rstrip().splitlines()
    shown = lines if len(lines) <= LINES_SHOWN else [*lines[:LINES_SHOWN], "..."]
    return "\n".join(["```console", "$ sightline tour", *shown, "```\n"])


if __name__ == "__main__":
    main()
