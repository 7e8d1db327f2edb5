"""A process of bench/stress.py. Each prints a line when a piece of work is done, never before.

stress_worker.py append FOLDER NAME TIMES
stress_worker.py edit FOLDER NAME TIMES        edits of five files in turn, until killed
stress_worker.py save FOLDER NAME TIMES        guarded saves of a file that others save
stress_worker.py type FOLDER NAME TIMES        the same file in place, as an editor does
"""

from __future__ import annotations

import os
import random
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.filling import opened, seen

from sightline import EditRefused
from sightline.store.port import Append

if TYPE_CHECKING:
    from sightline import Session

SHARED = "shared.txt"
LINES = 60
FILES = 5


def append(folder: str, name: str, times: int) -> None:
    """One fact after another, as many hooks would."""
    with opened(folder, id=name) as session:
        for n in range(times):
            session._context.store.append(  # noqa: SLF001  the port itself is under stress
                Append(name, [seen(f"{name}/{n}.py", f"{n}")], at=time.time_ns() // 1000)
            )
    print("done", times, flush=True)


def edit(folder: str, name: str, times: int) -> None:
    """Edits that are told, with the revision they left, once they have returned."""
    with opened(folder, id=name) as session:
        for path in sorted(os.listdir(session.workspace)):
            session.read(path)
        for n in range(times):
            path = f"f{n % FILES}.txt"
            session.write(path, whole(f"{name}-{n}"))
            print("edited", path, revision(whole(f"{name}-{n}").encode()), flush=True)


def save(folder: str, name: str, times: int) -> None:
    """Each save puts a new text on this session's own line, again and again until it is in."""
    line = sum(name.encode()) % 20 * 2
    with opened(folder, id=name) as session:
        for n in range(times):
            print("saved", _until_in(session, line, f"{name}-{n}\n"), flush=True)


def type_(folder: str, name: str, times: int) -> None:
    """An editor: reads the file, and now and then puts all of it back, with a new last line, in
    place. Tells what it wrote over what."""
    path = os.path.join(folder, "workspace", SHARED)
    pace = random.Random(name)  # noqa: S311  a rhythm, not a secret
    for n in range(times):
        old = Path(path).read_bytes()
        lines = old.decode().splitlines(keepends=True) or [""]
        new = "".join([*lines[:-1], f"{name}-{n}\n"]).encode()
        with open(path, "r+b") as file:
            file.write(new)
            file.truncate()
        print("typed", revision(new), revision(old), flush=True)
        time.sleep(pace.random() * 0.01)


def whole(mark: str) -> str:
    """Return a text of which any half would be noticed: its first line says the hash of the rest."""
    rest = f"{mark}\n" * 200
    return f"{revision(rest.encode())}\n{rest}"


def is_whole(data: bytes) -> bool:
    """Return whether a file holds a whole text of whole()."""
    head, _, rest = data.partition(b"\n")
    return head.decode() == revision(rest)


def revision(data: bytes) -> str:
    return sha256(data).hexdigest()


def _until_in(session: Session, line: int, text: str) -> str:
    while True:
        lines = session.read(SHARED).text.splitlines(keepends=True)
        if len(lines) <= line:
            continue  # the editor is in the middle of its own save
        try:
            done = session.write(SHARED, "".join([*lines[:line], text, *lines[line + 1 :]]))
        except EditRefused as refused:
            print("refused", refused.reason, flush=True)
            continue
        if not done.changed:  # the editor read it before it was settled
            return f"{done.revision} found"
        return f"{done.revision} {'merged' if done.merged else 'plain'}"


WORK = {"append": append, "edit": edit, "save": save, "type": type_}

if __name__ == "__main__":
    WORK[sys.argv[1]](sys.argv[2], sys.argv[3], int(sys.argv[4]))
