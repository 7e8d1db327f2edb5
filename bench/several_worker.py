"""A process of bench/several.py. Each prints a line when a piece of work is done, never before.

several_worker.py agent FOLDER NAME SEED ROUNDS    each round an attempt on every file
several_worker.py cli FOLDER NAME SEED ROUNDS      the same, each attempt a command of its own
several_worker.py user FOLDER NAME SEED ROUNDS     saves as editors do, until FOLDER/stop is there
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.filling import opened

from sightline import EditRefused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sightline import Session

FILES = 50
SLOTS = 40
"""Lines of a file: "00:…" to "39:…". Each has one line whose text says who wrote it last."""

OWN = {"a": range(12), "b": range(14, 26), "user": range(28, SLOTS)}
SHARED = (12, 13, 26, 27)
"""Slots that everybody writes to."""

AGAIN = 0.6
"""How often an agent reads before it edits; else it relies on what it was shown before."""

PAUSE_S = 0.006
"""The user's longest pause between two saves."""


def start(folder: str) -> None:
    """Write the files that all agents begin with."""
    root = Path(folder, "workspace")
    root.mkdir(parents=True, exist_ok=True)
    for n in range(FILES):
        text = "".join(f"{slot:02}:begun {n}\n" for slot in range(SLOTS))
        Path(root, f"f{n:02}.txt").write_text(text)


def agent(folder: str, name: str, seed: str, rounds: int) -> None:
    """Attempts through the library."""
    order = random.Random(f"{seed}{name}")  # noqa: S311  the same on every run
    with opened(folder, id=name) as session:
        for path, mark in _turns(order, name, rounds):
            _attempt(session, order, name, path, mark)


def _attempt(session: Session, order: random.Random, name: str, path: str, mark: str) -> None:
    if order.random() < AGAIN or session.believed(path) is None:
        session.read(path)
    old = _line(session.believed(path) or "", _slot(order, name))
    if old is None:
        print("skipped", path, mark, flush=True)  # read in the middle of the user's save
        return
    new = f"{old[:3]}{mark}\n"
    try:
        if order.random() < 0.5:
            done = session.edit(path, old, new)
        else:
            done = session.write(path, (session.believed(path) or "").replace(old, new))
    except EditRefused as refused:
        print("refused", path, mark, refused.reason, flush=True)
        if order.random() < 0.5:
            session.acknowledge(refused)
        return
    print("wrote", path, mark, done.revision, "merged" if done.merged else "plain", flush=True)


def cli(folder: str, name: str, seed: str, rounds: int) -> None:
    """Attempts through the command, a process for each."""
    order = random.Random(f"{seed}{name}")  # noqa: S311  as above
    for path, mark in _turns(order, name, rounds):
        text = _command(folder, name, "read", path)["text"]
        old = _line(text, _slot(order, name))
        if old is None:
            print("skipped", path, mark, flush=True)
            continue
        given = ("edit", path, "--old", old, "--new", f"{old[:3]}{mark}\n")
        done = _command(folder, name, *given)
        if done["applied"]:
            how = "merged" if done["merged"] else "plain"
            print("wrote", path, mark, done["revision"], how, flush=True)
        else:
            print("refused", path, mark, done["reason"], flush=True)


def _command(folder: str, name: str, *given: str) -> dict[str, str]:
    store = f"sqlite://{folder}/store.db"
    where = ["--workspace", f"{folder}/workspace", "--store", store, "--session", name, "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "sightline", *where, *given],
        env={**os.environ, "SIGHTLINE_HOME": f"{folder}/state"},
        stdout=subprocess.PIPE,
        check=False,
    )
    said: dict[str, str] = json.loads(done.stdout)
    return said


def user(folder: str, name: str, seed: str, _: int) -> None:
    """Reads a file, changes a line, saves all of it: in place, or aside and renamed over it."""
    order = random.Random(f"{seed}{name}")  # noqa: S311  as above
    count = 0
    while not os.path.exists(f"{folder}/stop"):
        path = Path(folder, "workspace", f"f{order.randrange(FILES):02}.txt")
        old = path.read_bytes()
        line = _line(old.decode(), _slot(order, name))
        assert line is not None  # nobody else leaves half a file
        count += 1
        new = old.replace(line.encode(), f"{line[:3]}{name}-{count}\n".encode())
        how = order.choice((_in_place, _aside))
        how(path, new)
        print("saved", path.name, how.__name__, _revision(new), _revision(old), flush=True)
        time.sleep(order.random() * PAUSE_S)


def _in_place(path: Path, data: bytes) -> None:
    with open(path, "r+b") as file:
        file.write(data)
        file.truncate()


def _aside(path: Path, data: bytes) -> None:
    aside = path.with_suffix(".new~")
    aside.write_bytes(data)
    aside.replace(path)


def _turns(order: random.Random, name: str, rounds: int) -> Iterator[tuple[str, str]]:
    files = [f"f{n:02}.txt" for n in range(FILES)]
    for number in range(rounds):
        order.shuffle(files)
        for path in files:
            yield path, f"{name}-{number}-{path[1:3]}"


def _slot(order: random.Random, name: str) -> int:
    return order.choice(SHARED) if order.random() < 0.4 else order.choice(OWN[name])


def _line(text: str, slot: int) -> str | None:
    """A slot's line; None where it is not there whole."""
    lines = text.splitlines(keepends=True)
    found = [line for line in lines if line.startswith(f"{slot:02}:") and line.endswith("\n")]
    return found[0] if len(found) == 1 else None


def _revision(data: bytes) -> str:
    return sha256(data).hexdigest()


WORK = {"agent": agent, "cli": cli, "user": user}

if __name__ == "__main__":
    WORK[sys.argv[1]](sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
