"""An edit beside a user's save of other lines, which comes at every step of the write: nothing is
inserted twice, nothing of the user's is lost, and the agent's own line is never told as foreign."""

from __future__ import annotations

import os
import threading
from collections import Counter

import pytest
from tests.filesystem.doubles import Hooked
from tests.filesystem.test_held_open import NoLease
from tests.properties.test_machine import WIDE

from sightline.errors import EditRefused
from sightline.filesystem.system_calls import Calls

COUNTS: Counter[str] = Counter()

LINES = "".join(f"line {n}\n" for n in range(1, 11))
MINE, THEIRS = "the agent's line\n", "the user's line\n"

STEPS = range(1, 60 if WIDE else 45)
STRIDE = 1 if WIDE else 7


def in_place(path):
    """A program that opens, reads, adds a line and writes, all in one file."""

    def save(flags=0):
        with os.fdopen(os.open(path, os.O_RDWR | flags), "r+b") as file:
            changed = _with_theirs(file.read())
            file.seek(0)
            file.truncate()
            file.write(changed)

    return save


def by_rename(path):
    """An editor that writes aside and renames."""

    def save(flags=0):
        with os.fdopen(os.open(path, os.O_RDONLY | flags), "rb") as file:
            changed = _with_theirs(file.read())
        aside = path.with_name("editor~")
        aside.write_bytes(changed)
        os.replace(aside, path)

    return save


def appending(path):
    """A logger, or `echo >> file`."""

    def save(flags=0):
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | flags), "ab") as file:
            file.write(THEIRS.encode())

    return save


def _with_theirs(data):
    return data + THEIRS.encode()


class Saver:
    """Saves once, at the `number`th step. A save that a lease holds up goes on in a thread."""

    def __init__(self, save, number):
        self.save, self.number = save, number
        self.step, self.thread, self.saved = 0, None, False

    def hook(self, name):
        self.step += 1
        if self.step != self.number:
            return
        self.saved = True
        try:
            self.save(os.O_NONBLOCK)
        except BlockingIOError:
            self.thread = threading.Thread(target=self.save)
            self.thread.start()
        except FileNotFoundError:
            self.saved = False

    def ends(self):
        if self.thread is not None:
            self.thread.join()


def edit(session):
    return session.edit("a.txt", "line 3\n", f"line 3\n{MINE}")


def write(session):
    return session.write("a.txt", LINES.replace("line 3\n", f"line 3\n{MINE}"))


def together(session):
    return session.apply([{"path": "a.txt", "edits": [("line 3\n", f"line 3\n{MINE}", 1)]}])


VERBS = [edit, *(pytest.param(verb, marks=pytest.mark.wide) for verb in (write, together))]
SAVES = [in_place, by_rename, appending]
GROUNDS = [(Calls, 1), (Calls, 2), (NoLease, 1)]
"""Without a lease, a file with several names has no protection between comparison and write."""


@pytest.mark.parametrize(("disk", "names"), GROUNDS)
@pytest.mark.parametrize("save", SAVES)
@pytest.mark.parametrize("verb", VERBS)
def test_a_save_at_any_step_of_an_edit_stays_and_the_edit_is_made_once(
    place, verb, save, disk, names
):
    session = place.session()
    refused: list[str] = []
    for number in STEPS[::STRIDE]:
        place.put("a.txt", LINES)
        (place.root / "b.txt").unlink(missing_ok=True)
        if names == 2:
            os.link(place.root / "a.txt", place.root / "b.txt")
        session.read("a.txt")
        saver = Saver(save(place.root / "a.txt"), number)
        session._context.workspace._calls = Hooked(saver.hook, disk)
        try:
            verb(session)
        except EditRefused as error:
            refused.append(error.reason)
        finally:
            session._context.workspace._calls = Calls()
            saver.ends()
        text = place.text("a.txt")
        assert text.count(THEIRS) == saver.saved, (number, text)
        assert text.count(MINE) == 1, (number, text)
        told = "".join(change.diff for change in session.changes())
        assert f"+{MINE}" not in told, (number, told)
        assert f"+{THEIRS}" in told or session.check("a.txt").state == "fresh", number
        COUNTS["edits"] += 1
    assert refused == []
