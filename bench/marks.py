"""What do marks of lines cost, which a store keeps in place of texts that it may not keep?

    python bench/marks.py [--json] [--root FOLDER] [--files N] [--edits N]

Two sessions read the same real files, and edit each of them: one may keep the texts, the other one has
`never_store = ["*"]` and keeps marks (model/line_marks.py). Their calls are made in turns. Time is that
of the processor, for each call; room is what the texts, or their marks, take in the store.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
if not __package__:  # started as a script, where only this folder is on the path
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import sightline  # noqa: E402
from sightline.config.settings import load_settings  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sightline import Session

NEVER = 'never_store = ["*"]\n'


class Row(NamedTuple):
    """A figure with marks and with texts: milliseconds of a call, or kilobytes. ratio: marks by texts."""

    figure: str
    marks: float
    texts: float
    ratio: float


def opened(folder: Path, own_settings: str) -> Session:
    """Open a session over a workspace with no file but its settings, and with nobody else's settings."""
    root = folder / "workspace"
    root.mkdir(parents=True)
    (root / "sightline.toml").write_text(own_settings)
    environ = {"SIGHTLINE_HOME": str(folder / "state"), "SIGHTLINE_CHECKPOINTS": "off"}
    settings = load_settings(str(root), environ=environ, home=str(folder), platform=sys.platform)
    return sightline.open_session(str(root), id="s", settings=settings)


def texts_of(root: Path, most: int) -> dict[str, str]:
    """Return real Python files, by their names, the largest first."""
    files = sorted(root.rglob("*.py"), key=lambda file: -file.stat().st_size)
    return {str(file.relative_to(root)): file.read_text() for file in files[:most]}


def read(session: Session, name: str) -> None:
    session.read(name)


def edit(session: Session, name: str) -> None:
    session.edit_lines(name, 1, 1, f"# position {session._context.store.position()}\n")  # noqa: SLF001


def in_turns(
    seconds: list[float],
    sessions: Sequence[Session],
    call: Callable[[Session, str], None],
    name: str,
) -> None:
    """Add the processor's seconds of the same call in each session."""
    for number, session in enumerate(sessions):
        began = process_time()
        call(session, name)
        seconds[number] += process_time() - began


def measure(root: Path, files: int, edits: int) -> list[Row]:
    """Read each file, and edit it so many times."""
    texts = texts_of(root, files)
    reads, writes = [0.0, 0.0], [0.0, 0.0]
    with tempfile.TemporaryDirectory(prefix="sightline-marks-") as folder:
        sessions = [opened(Path(folder, "marks"), NEVER), opened(Path(folder, "texts"), "")]
        for name, text in texts.items():
            for session in sessions:
                path = Path(session.workspace, name)
                os.makedirs(path.parent, exist_ok=True)
                path.write_text(text)
            in_turns(reads, sessions, read, name)
            for _ in range(edits):
                in_turns(writes, sessions, edit, name)
        rooms = [
            sum(text.size for text in session._context.store.texts())  # noqa: SLF001  of the store
            for session in sessions
        ]
        for session in sessions:
            session.close()
    calls = len(texts), len(texts) * max(edits, 1)
    size = sum(map(len, texts.values())) / 1e3
    print(f"{calls[0]} files, {size:,.0f} kB, {edits} edits of each", file=sys.stderr)
    return [
        row("read, ms", *(seconds * 1e3 / calls[0] for seconds in reads)),
        row("edit, ms", *(seconds * 1e3 / calls[1] for seconds in writes)),
        row("room, kB", *(room / 1e3 for room in rooms)),
    ]


def row(figure: str, marks: float, texts: float) -> Row:
    return Row(figure, round(marks, 2), round(texts, 2), round(marks / texts, 2) if texts else 0.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--root", type=Path, default=ROOT / "src", help="whose *.py are used")
    parser.add_argument("--files", type=int, default=100, metavar="N", help="the N largest")
    parser.add_argument("--edits", type=int, default=3, metavar="N", help="edits of each file")
    options = parser.parse_args(arguments)
    rows = measure(options.root, options.files, options.edits)
    if options.json:
        print(json.dumps({"schema": 1, "rows": [each._asdict() for each in rows]}))
        return 0
    print("| | marks | texts | ratio |\n|---|--:|--:|--:|")
    for each in rows:
        print(f"| {each.figure} | {each.marks:,} | {each.texts:,} | {each.ratio} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
