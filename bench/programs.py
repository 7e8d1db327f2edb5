"""Other programs of the user's, each a process of its own: `python bench/programs.py NAME ARGUMENT...`

holding FILE TEXT     opens FILE for writing, says so, and writes TEXT when it is told to go on
appending FILE TIMES  adds so many lines, each with an open, a write and a close
batch ROOT STATE STORE FILE...
                      an agent's batch over these files, killed after the first of them; one whose
                      name ends in "/" becomes a folder of two files, killed after the first of these
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
    texts = {name: Path(root, name.rstrip("/")).read_text() for name in files}
    changes: list[dict[str, object]] = []
    for name, text in texts.items():
        session.read(name.rstrip("/"))
        if name.endswith("/"):
            changes.append({"path": name.rstrip("/"), "delete": True})
            changes += [{"path": name + each, "content": MARK, "create": True} for each in "ab"]
        else:
            changes.append({"path": name, "content": MARK + text})
    workspace = session._context.workspace  # noqa: SLF001
    replace_each, left = workspace.replace_each, 2 if files[0].endswith("/") else 1

    def replace_and_die(*arguments: object) -> object:
        nonlocal left
        left -= 1
        done = replace_each(*arguments)  # type: ignore[arg-type]
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    workspace.replace_each = replace_and_die  # type: ignore[method-assign, assignment]
    session.apply(changes)


def _say() -> None:
    print("ready", flush=True)


if __name__ == "__main__":
    PROGRAMS: dict[str, Callable[..., None]] = {
        "holding": holding,
        "appending": appending,
        "batch": batch,
    }
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
