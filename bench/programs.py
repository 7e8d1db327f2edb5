"""Other programs of the user's, each a process of its own: `python bench/programs.py NAME ARGUMENT...`

holding FILE TEXT     opens FILE for writing, says so, and writes TEXT when it is told to go on
appending FILE TIMES  adds so many lines, each with an open, a write and a close
batch ROOT STATE STORE FILE...
                      an agent's batch over these files, killed after the first of them
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

if not __package__:
    sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("", "src")]

MARK = "# an agent's batch\n"


def holding(file: str, text: str) -> None:
    """Hold a file open for writing until told to go on."""
    with Path(file).open("a") as opened:
        _say()
        sys.stdin.readline()
        opened.write(text)


def appending(file: str, times: str) -> None:
    """Save many times in a row."""
    for number in range(int(times)):
        with Path(file).open("a") as opened:
            opened.write(f"# saved {number}\n")
        if number == 0:
            _say()


def batch(root: str, state: str, store: str, *files: str) -> None:
    """Die in the middle of a batch of Sightline's."""
    from bench.subjects import settings_in

    import sightline

    settings = settings_in(Path(root), Path(state))
    session = sightline.open_session(root, id="bench", store=store, settings=settings)
    for name in files:
        session.read(name)
    workspace = session._context.workspace  # noqa: SLF001
    replace_each = workspace.replace_each

    def replace_and_die(*arguments: object) -> None:
        replace_each(*arguments)  # type: ignore[arg-type]
        os.kill(os.getpid(), signal.SIGKILL)

    workspace.replace_each = replace_and_die  # type: ignore[method-assign, assignment]
    texts = {name: Path(root, name).read_text() for name in files}
    session.apply([{"path": name, "content": MARK + text} for name, text in texts.items()])


def _say() -> None:
    print("ready", flush=True)


if __name__ == "__main__":
    PROGRAMS: dict[str, Callable[..., None]] = {
        "holding": holding,
        "appending": appending,
        "batch": batch,
    }
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
