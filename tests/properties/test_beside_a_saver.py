"""A user's save of other lines comes at every step of a write of ours: nothing of the user's is lost,
nothing is inserted twice, and the agent's own line is never told as foreign.

`SIGHTLINE_TEST_WIDE=1` plays every step, every verb and every kind of save.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections import Counter

import pytest
from tests.filesystem.doubles import Hooked
from tests.filesystem.test_open_writers import NoLease
from tests.hooks.handlers.test_notebook_edits import TWO
from tests.properties.test_machine import WIDE

from sightline.errors import EditRefused
from sightline.filesystem.system_calls import Calls
from sightline.hooks.dispatch import attend
from sightline.model.attempts import CellEdit, Replace, WriteWhole
from sightline.model.events import BatchEnded
from sightline.model.hook_events import Answered, Attempted, Shown, Wrote
from sightline.model.revision import revision_of

COUNTS: Counter[str] = Counter()

LINES = "".join(f"line {n}\n" for n in range(1, 11))
MINE, THEIRS = "the agent's line\n", "the user's line\n"
OURS = LINES.replace("line 3\n", f"line 3\n{MINE}")

LATER = 4
"""Steps between the two halves of a slow save."""

wide = () if WIDE else pytest.mark.wide


def widely(*each):
    """Parameters of the wide run alone."""
    return pytest.param(*each, marks=wide)


def in_place(path, flags=0):
    """A program that opens, reads, adds a line and writes, all in one file."""
    with os.fdopen(os.open(path, os.O_RDWR | flags), "r+b") as file:
        changed = file.read() + THEIRS.encode()
        file.seek(0)
        file.truncate()
        file.write(changed)


def by_rename(path, flags=0):
    """An editor that writes aside and renames."""
    with os.fdopen(os.open(path, os.O_RDONLY | flags), "rb") as file:
        changed = file.read() + THEIRS.encode()
    _renamed(path, changed)


def appending(path, flags=0):
    """A logger, or `echo >> file`."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | flags), "ab") as file:
        file.write(THEIRS.encode())


def at_the_top(path, flags=0):
    """A program that puts its line before all others, in one file."""
    with os.fdopen(os.open(path, os.O_RDWR | flags), "r+b") as file:
        changed = THEIRS.encode() + file.read()
        file.seek(0)
        file.write(changed)


def whole(path, flags=0):
    """A program that writes its own text from the beginning, and creates the file."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | flags, 0o666)
    with os.fdopen(fd, "wb") as file:
        file.write((LINES + THEIRS).encode())


def whole_by_rename(path, flags=0):
    """An editor that puts its own text in place, whether a file is there or not."""
    _renamed(path, (LINES + THEIRS).encode())


def created(path, flags=0):
    """A program that makes a new file, and leaves one that is there."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | flags, 0o666)
    with os.fdopen(fd, "wb") as file:
        file.write(THEIRS.encode())


def slowly(path, flags=0):
    """A logger that opens the file, and writes some steps later."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | flags)

    def write():
        os.write(fd, THEIRS.encode())
        os.close(fd)

    return write


def another_cell(path, flags=0):
    """A notebook program that adds a cell."""
    book = json.loads(path.read_text())
    book["cells"].append({"cell_type": "code", "id": "t", "source": THEIRS})
    _renamed(path, json.dumps(book, indent=1).encode() + b"\n")


def the_same_cell(path, flags=0):
    """A notebook program that changes the cell that the agent edits."""
    book = json.loads(path.read_text())
    book["cells"][0]["source"] = THEIRS
    _renamed(path, json.dumps(book, indent=1).encode() + b"\n")


def _renamed(path, data):
    aside = path.with_name("editor~")
    aside.write_bytes(data)
    os.replace(aside, path)


class Saver:
    """Saves once, at the `number`th step. A save that a lease holds up goes on in a thread. saved: the
    bytes that the save left, empty where they were moved away at once; None where it found no file to
    save, or one that it would not touch."""

    def __init__(self, save, path, number):
        self.save, self.path, self.number = save, path, number
        self.step, self.thread, self.rest = 0, None, None
        self.saved: bytes | None = None

    def hook(self, name):
        self.step += 1
        if self.step == self.number + LATER:
            self._end_write()
        if self.step != self.number:
            return
        try:
            self._save(os.O_NONBLOCK)
        except BlockingIOError:
            self.thread = threading.Thread(target=self._save)
            self.thread.start()

    def _save(self, flags=0):
        try:
            self.rest = self.save(self.path, flags)
            self.saved = b""
            self.saved = self.path.read_bytes()
        except (FileNotFoundError, FileExistsError):
            return

    def _end_write(self):
        if self.rest is not None:
            rest, self.rest = self.rest, None
            rest()

    def ends(self):
        if self.thread is not None:
            self.thread.join()
        self._end_write()


def at_steps(stride, played, wide_stride=1):
    """Play with a saver at each step: `played(number)` returns its saver, whose steps end it."""
    number = 1
    while (saver := played(number)).step >= number:
        COUNTS["saves"] += saver.saved is not None
        number += wide_stride if WIDE else stride


def play(place, session, saver, act, calls=Calls):
    """Act with a saver beside it; return the reason of a refusal."""
    session._context.workspace._calls = Hooked(saver.hook, calls)
    try:
        act(session)
    except EditRefused as error:
        return error.reason
    finally:
        session._context.workspace._calls = Calls()
        saver.ends()
    return None


def texts(place):
    """Every file of the workspace, hidden ones included."""
    files = [path for path in place.root.rglob("*") if path.is_file()]
    return {str(path.relative_to(place.root)): path.read_text() for path in files}


def is_stored(session, data, after):
    """Return whether the store has these bytes, and a fact after that position names them."""
    revision = revision_of(data)
    facts = [entry.fact for entry in session._context.store.timeline(after=after)]
    named = {getattr(fact, end, None) for fact in facts for end in ("before", "after")}
    return revision in named and session._context.store.blob(revision) == data


def told(session):
    return "".join(change.diff for change in session.changes())


# --- edits -----------------------------------------------------------------------------------------


def edit(session):
    session.edit("a.txt", "line 3\n", f"line 3\n{MINE}")


def write(session):
    session.write("a.txt", OURS)


def edit_lines(session):
    session.edit_lines("a.txt", 3, 3, f"line 3\n{MINE}")


def together(session):
    session.apply([{"path": "a.txt", "edits": [("line 3\n", f"line 3\n{MINE}", 1)]}])


HUNK = f"@@ -3,1 +3,2 @@\n line 3\n+{MINE}"


def by_patch(session):
    session.patch(f"--- a/a.txt\n+++ b/a.txt\n{HUNK}")


VERBS = [edit, write, edit_lines, together, by_patch]
SAVES = [in_place, by_rename, appending, at_the_top]
GROUNDS = [(Calls, 1), (Calls, 2), (NoLease, 1)]
"""Without a lease, a file with several names has no protection between comparison and write."""

EDITS = [
    (verb, save, disk, names)
    if verb is edit and save is not at_the_top
    else widely(verb, save, disk, names)
    for verb in VERBS
    for save in SAVES
    for disk, names in GROUNDS
    if disk is Calls or verb in (edit, write)  # without a lease each edit waits a moment
]


@pytest.mark.parametrize(("verb", "save", "disk", "names"), EDITS)
def test_a_save_at_any_step_of_an_edit_stays_and_the_edit_is_made_once(
    place, verb, save, disk, names
):
    session = place.session()

    def played(number):
        place.put("a.txt", LINES)
        (place.root / "b.txt").unlink(missing_ok=True)
        if names == 2:
            os.link(place.root / "a.txt", place.root / "b.txt")
        session.read("a.txt")
        saver = Saver(save, place.root / "a.txt", number)
        assert play(place, session, saver, verb, disk) is None
        text = place.text("a.txt")
        assert text.count(THEIRS) == (saver.saved is not None), (number, text)
        news = told(session)
        if save is by_rename and names == 2 and saver.thread is not None and MINE not in text:
            # The editor had to wait, read between two tries of ours, and put its text in place after the last.
            assert f"-{MINE}" in news, (number, news)
        else:
            assert text.count(MINE) == 1, (number, text)
        assert f"+{MINE}" not in news, (number, news)
        assert f"+{THEIRS}" in news or session.check("a.txt").state == "fresh", number
        COUNTS["edits"] += 1
        return saver

    at_steps(7 if disk is Calls else 17, played)


# --- other verbs -----------------------------------------------------------------------------------


def create(session):
    session.create("n.txt", MINE)


def create_below(session):
    session.create("d/e/n.txt", MINE)


def delete(session):
    session.delete("a.txt")


def move(session):
    session.move("a.txt", "c.txt")


def several(session):
    changes = [
        {"path": "a.txt", "edits": [("line 3\n", f"line 3\n{MINE}", 1)]},
        {"path": "n.txt", "content": MINE, "create": True},
        {"path": "b.txt", "delete": True},
    ]
    session.apply(changes)


def patch(session):
    session.patch(
        f"--- a/a.txt\n+++ b/a.txt\n{HUNK}"
        "diff --git a/b.txt b/c.txt\nrename from b.txt\nrename to c.txt\n"
        f"--- a/b.txt\n+++ b/c.txt\n{HUNK}"
        f"--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+{MINE}"
    )


def rewind_an_edit(session):
    before = session.checkpoint()
    edit(session)
    session.rewind(before)


def rewind_a_creation(session):
    before = session.checkpoint()
    create(session)
    session.rewind(before)


DEEDS = [
    (create, (), "n.txt"),
    (delete, ["a.txt"], "a.txt"),
    (move, ["a.txt"], "a.txt"),
    (move, ["a.txt"], "c.txt"),
    (patch, ["a.txt", "b.txt"], "b.txt"),
]
WIDE_DEEDS = [
    (create_below, (), "d/e/n.txt"),
    (edit, ["a.txt"], "a.txt"),
    *((several, ["a.txt", "b.txt"], path) for path in ("a.txt", "b.txt", "n.txt")),
    *((patch, ["a.txt", "b.txt"], path) for path in ("a.txt", "c.txt", "n.txt")),
    (rewind_an_edit, ["a.txt"], "a.txt"),
    (rewind_a_creation, (), "n.txt"),
]
"""The verb, the files that stand before, and the path where the user saves."""

FEW_SAVES = [in_place, whole_by_rename]
ALL_SAVES = [*FEW_SAVES, by_rename, appending, whole, created, slowly]


def beside():
    """Each deed with each save, and some of them on a disk that gives no lease."""
    for deed in (*DEEDS, *WIDE_DEEDS):
        has_many_steps = deed[0] in (several, patch, rewind_an_edit, rewind_a_creation)
        for save in FEW_SAVES if has_many_steps else ALL_SAVES:
            by_default = deed in DEEDS and save in FEW_SAVES
            yield (*deed, save, Calls) if by_default else widely(*deed, save, Calls)
            if save in FEW_SAVES and not has_many_steps:
                yield widely(*deed, save, NoLease)


def begin(place, session, names):
    """Put and read these files, and no other."""
    for path in texts(place):
        (place.root / path).unlink()
    for folder in ("d/e", "d"):
        if (place.root / folder).exists():
            (place.root / folder).rmdir()
    for name in names:
        place.put(name, LINES)
        session.read(name)


@pytest.mark.wide
@pytest.mark.parametrize(("deed", "names", "path", "save", "disk"), [*beside()])
def test_a_save_at_any_step_of_any_verb_stays(place, deed, names, path, save, disk):
    session = place.session()

    def played(number):
        begin(place, session, names)
        first = session._context.store.position()
        saver = Saver(save, place.root / path, number)
        refused = play(place, session, saver, deed, disk)
        found = texts(place)
        there = "".join(found.values())
        assert there.count(THEIRS) == (saver.saved is not None), (number, found)
        assert not any("sightline" in name for name in found), (number, found)
        assert session._context.store.pending() == []
        if refused:
            assert saver.saved is not None, (number, refused)
            # What could not be set back, because somebody saved over it, is named.
            ended = session._context.store.timeline(after=first, kinds=[BatchEnded])
            kept = {name for entry in ended for name in entry.fact.paths}
            assert {name for name, text in found.items() if MINE in text} <= kept, (number, found)
        assert f"+{MINE}" not in told(session), number
        COUNTS["other verbs"] += 1
        return saver

    at_steps(37 if deed is patch else 13, played, 1 if disk is Calls else 3)


@pytest.mark.wide
@pytest.mark.parametrize("save", FEW_SAVES)
@pytest.mark.parametrize(
    ("deed", "names", "path"),
    [
        widely(edit, ["a.txt"], "a.txt"),
        (create, (), "n.txt"),
        widely(delete, ["a.txt"], "a.txt"),
        widely(move, ["a.txt"], "a.txt"),
    ],
)
def test_a_save_stays_where_the_disk_fails_at_any_step(place, deed, names, path, save):
    """Setting back what the disk refused takes nothing of the user's with it."""
    session = place.session()
    made = [0]

    def failing(number, then):
        def hook(name):
            saver.hook(name)
            if not name.startswith("after "):
                made[0] += 1
                if made[0] == number:
                    raise OSError(errno.EIO, os.strerror(errno.EIO))

        begin(place, session, names)
        saver = Saver(save, place.root / path, then)
        made[0] = 0
        session._context.workspace._calls = Hooked(hook)
        try:
            deed(session)
        except EditRefused:
            COUNTS["refused by a failing disk"] += 1
        finally:
            session._context.workspace._calls = Calls()
            saver.ends()
        found = texts(place)
        there = "".join(found.values())
        assert there.count(THEIRS) == (saver.saved is not None), (number, then, found)
        assert session._context.store.pending() == []
        COUNTS["failing disks"] += 1
        return saver

    number = 1
    while number == 1 or made[0] >= number - 3:
        at_steps(5, lambda then, number=number: failing(number, then))
        number += 2 if WIDE else 3


# --- hosts -----------------------------------------------------------------------------------------


def hosted(attempt, *, reports=True):
    """A host that asks before its own tool writes, and reports afterwards; the saver comes at every
    step of both hooks, and between the hooks and the write."""

    def act(place, session, saver):
        path = place.root / "a.txt"
        answer = attend(session, Attempted.single("a.txt", attempt, "c1"))
        if answer.refuse is not None:
            return answer.refuse
        saver.hook("write")
        before = path.read_text() if path.exists() else None
        text = written(before, attempt, answer.contents.get("a.txt"))
        path.write_text(text)
        saver.hook("after write")
        is_whole = isinstance(attempt, WriteWhole)
        content = text if reports or is_whole else None
        report = Wrote("a.txt", "c1", before if reports else None, reports, content, is_whole)
        attend(session, report)
        return None

    return act


def written(before, attempt, content):
    """Return what the host's tool makes of a text."""
    if isinstance(attempt, WriteWhole):
        return attempt.content if content is None else content
    if isinstance(attempt, Replace):
        return before.replace(attempt.old, attempt.new, 1)
    book = json.loads(before)
    book["cells"][0]["source"] = attempt.source
    return json.dumps(book, indent=1)


def writes(*, with_before):
    """A host of the library that tells afterwards what it wrote."""

    def act(place, session, saver):
        saver.hook("write")
        before = place.text("a.txt")
        place.put("a.txt", before.replace("line 3\n", f"line 3\n{MINE}"))
        saver.hook("after write")
        session.wrote("a.txt", before=before if with_before else None)

    return act


def within(place, session, saver):
    """A host of the library that writes in a `writing` block: a save before is its own to lose."""
    listener, session._context.workspace._calls = session._context.workspace._calls, Calls()
    with session.writing("a.txt", OURS):
        place.put("a.txt", OURS)
        session._context.workspace._calls = listener
        saver.hook("after write")


REPLACED = Replace("line 3\n", f"line 3\n{MINE}")
CELL = CellEdit("a", "replace", MINE)

HOSTS = {
    "edit": (hosted(REPLACED), LINES, SAVES),
    "edit, no report": (hosted(REPLACED, reports=False), LINES, SAVES),
    "write": (hosted(WriteWhole(OURS)), LINES, SAVES),
    "create": (hosted(WriteWhole(MINE)), None, [created, whole, whole_by_rename]),
    "cell": (hosted(CELL), TWO, [another_cell, the_same_cell]),
    "cell, no report": (hosted(CELL, reports=False), TWO, [another_cell]),
    "wrote": (writes(with_before=True), LINES, SAVES),
    "wrote, no before": (writes(with_before=False), LINES, SAVES),
    "writing": (within, LINES, SAVES),
}
EACH_HOST = [
    pytest.param(act, before, save, id=f"{name}-{save.__name__}", marks=() if first else wide)
    for name, (act, before, saves) in HOSTS.items()
    for first, save in zip((True, *(False,) * len(saves)), saves, strict=False)
]
"""A host that reports nothing of what its whole write found may lose a save before that write: the
bytes were never Sightline's to see."""


@pytest.mark.wide
@pytest.mark.parametrize(("act", "before", "save"), EACH_HOST)
def test_a_save_at_any_step_of_a_hosts_write_is_on_disk_or_in_the_store(place, act, before, save):
    session = place.session()

    def played(number):
        begin(place, session, ())
        if before is not None:
            place.put("a.txt", before)
            attend(session, Shown("a.txt", via="notebook" if before is TWO else "read"))
        told(session)
        first = session._context.store.position()
        saver = Saver(save, place.root / "a.txt", number)
        play(place, session, saver, lambda session: act(place, session, saver))
        attend(session, Answered())
        text = texts(place).get("a.txt", "")
        if saver.saved is not None and THEIRS.strip() not in text:
            assert is_stored(session, saver.saved, first), (number, text)
            COUNTS["only in the store"] += 1
        assert text.count(MINE.strip()) <= 1, (number, text)
        assert session._context.store.pending() == []
        news = [line for line in told(session).split("\n") if MINE.strip() in line]
        assert not any(line.startswith("+") for line in news), (number, news)
        COUNTS["hosts' writes"] += 1
        return saver

    at_steps(5, played)
