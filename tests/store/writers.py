"""Processes that write to a store at once: for tests, and for bench/speed.py."""

from __future__ import annotations

import multiprocessing
import sys

from sightline.model.events import Belief, Cause, Changed, Fact, Seen, WriteIntended
from sightline.model.revision import revision_of
from sightline.store.port import Append, Store
from sightline.store.sqlite_file import open_file

spawn = multiprocessing.get_context("spawn")  # a forked child would inherit open connections


def write_from_processes(file: str, processes: int, appends: int) -> list[int]:
    """Let some processes open, append and close at the same moment; their exit codes."""
    start = spawn.Barrier(processes)
    writers = [
        spawn.Process(target=_write, args=(file, who, appends, start)) for who in range(processes)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    return [writer.exitcode or 0 for writer in writers]


def _write(file: str, who: int, appends: int, start) -> None:
    start.wait()
    for number in range(appends):
        store = open_file(file)  # as hooks do: each call is a process of its own
        try:
            append_one(store, f"s{who}", number)
        finally:
            store.close()


def append_one(store: Store, session: str, number: int) -> int:
    """One look with its text, and every third time a write with its intent; the last position."""
    text = f"{session} {number}\n".encode() * 50
    revision = revision_of(text)
    belief = Belief(revision, ((1, 50),), ((1, 50),), 50)
    path = f"f{number % 7}"
    facts: list[Fact] = [Seen(path, revision, ((1, 50),), "read", belief)]
    if number % 3 == 0:
        (intent,) = store.append(
            Append(session, [WriteIntended(path, revision, revision)], at=number)
        )
        cause = Cause("agent", session)
        facts.append(
            Changed(path, revision, revision, "content", cause, None, belief, intent.position)
        )
    return store.append(Append(session, facts, at=number, texts=[text]))[-1].position


def main(file: str) -> None:
    """Append for ever, printing each position once it is recorded; made to be killed."""
    store = open_file(file)
    for number in range(1_000_000):
        sys.stdout.write(f"{append_one(store, 's', number)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
