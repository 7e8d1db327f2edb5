"""Batches and writes in place that were cut off: the next open settles all of it, and says so."""

from __future__ import annotations

import os
from bisect import bisect

import pytest
from tests.filesystem.doubles import dying

import sightline
from sightline.filesystem.process import owner
from sightline.guard.unfinished import LATE_S
from sightline.guard.write_journal import Write, intend
from sightline.model.events import BatchEnded, Changed, Moved, WriteAbandoned
from sightline.model.revision import revision_of
from sightline.model.written import is_half_written, still_holds

OLD = "".join(f"line {number}\n" for number in range(1, 11))
MINE = OLD.replace("line 3", "mine")
NAMES = [f"{name}.txt" for name in "abcdef"]


def act(place, verb):
    """Open the session of the process that will be killed, and return what it does."""
    session = place.session()
    names = place.names()
    for name in names:
        session.read(name)
    *most, one, last = names
    edits = [{"path": name, "edits": [("line 3", "mine", 1)]} for name in most]
    edits += [{"path": one, "delete": True}]
    edits += [{"path": "new.txt", "content": "new\n", "create": True}]
    hunk = "@@ -3,1 +3,1 @@\n-line 3\n+mine\n"
    diff = "".join(f"--- a/{name}\n+++ b/{name}\n{hunk}" for name in most)
    diff += f"diff --git a/{one} b/moved.txt\nrename from {one}\nrename to moved.txt\n"
    diff += f"--- a/{one}\n+++ b/moved.txt\n{hunk}"
    diff += f"diff --git a/{last} b/pure.txt\nrename from {last}\nrename to pure.txt\n"
    deeds = {
        "apply": lambda: session.apply(edits),
        "patch": lambda: session.patch(diff),
        "edit": lambda: session.edit(names[0], "line 3", "mine"),
        "write": lambda: session.write(names[0], "x" * 50 + "\n"),
    }
    return session, deeds[verb]


def disk(place):
    return {name: place.text(name) for name in place.names()}


def killed(place, verb, number, *, links=(), outside=False):
    """Play a verb in a process that dies at a step; return whether it did."""
    for name in place.names():
        (place.root / name).unlink()
    for name in NAMES:
        place.put(name, OLD)
    for name in links:
        (place.root / name).unlink()
        os.link(place.root / NAMES[0], place.root / name)
    (place.home / "outside").unlink(missing_ok=True)
    if outside:
        os.link(place.root / NAMES[0], place.home / "outside")

    def dying_act():
        session, deed = act(place, verb)
        session._context.workspace._calls = dying(number)
        deed()

    return dies(dying_act)


def dies(deed):
    """Do something in a child; return whether the child was killed before its end."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            deed()
            code = 0
        finally:
            os._exit(code)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, -9)
    return ended != 0


def after_apply():
    texts = dict.fromkeys(NAMES[:-2], MINE)
    return {**texts, NAMES[-1]: OLD, "new.txt": "new\n"}


def after_patch():
    return {**dict.fromkeys(NAMES[:-2], MINE), "moved.txt": MINE, "pure.txt": OLD}


@pytest.mark.wide
@pytest.mark.parametrize(
    ("verb", "then", "steps"),
    [
        ("apply", after_apply(), (40, 70, 100, 130, 160)),
        ("patch", after_patch(), (40, 90, 140, 165)),
    ],
)
def test_a_batch_that_was_killed_half_way_is_undone_as_a_whole_and_that_is_told(
    place, verb, then, steps
):
    before = dict.fromkeys(NAMES, OLD)
    half = 0
    for step in steps:
        assert killed(place, verb, step)
        found = {name: text for name, text in disk(place).items() if name[0] != "."}
        was_half = found not in (before, then)
        half += was_half
        again = place.session()
        assert disk(place) in (before, then)
        store = again._context.store
        assert store.pending() == []
        assert again.changes() == []
        assert len(again.warnings()) == half
        assert all("was cut off" in warned.text for warned in again.warnings())
        again.close()
    assert half >= len(steps) - 2


@pytest.mark.wide
def test_a_batch_that_was_killed_after_its_last_file_is_done(place):
    number = bisect(range(600), False, key=lambda step: not killed(place, "apply", step + 1))
    while not killed(place, "apply", number):
        number -= 1  # it asked for a lease once less
    s = place.session()
    assert disk(place) == after_apply()
    assert s.believed(NAMES[0]) == MINE
    assert s.changes() == []


def test_a_save_over_one_file_of_a_killed_batch_is_kept_and_named(place):
    assert killed(place, "apply", 130)
    assert place.text(NAMES[0]) == MINE
    place.put(NAMES[0], MINE.replace("line 9", "theirs"))
    s = place.session()
    kept = {NAMES[0]: MINE.replace("line 9", "theirs")}
    assert disk(place) == {**dict.fromkeys(NAMES, OLD), **kept}
    [ended] = [entry.fact for entry in s._context.store.timeline(kinds=[BatchEnded])]
    assert (ended.outcome, ended.paths) == ("mixed", (NAMES[0],))
    [warned] = s.warnings()
    assert f"{NAMES[0]} could not be restored" in warned.text
    told = "".join(change.diff for change in s.changes())
    assert "+theirs" in told
    assert "mine" not in told


def test_a_live_session_settles_a_batch_that_another_process_left(place):
    other = place.session("other")
    place.put(NAMES[0], OLD)
    other.read(NAMES[0])
    assert killed(place, "apply", 100)
    other.read(NAMES[0])
    other.edit(NAMES[0], "line 5", "others")
    assert disk(place) == {
        **dict.fromkeys(NAMES, OLD),
        NAMES[0]: OLD.replace("line 5", "others"),
    }


@pytest.mark.wide
@pytest.mark.parametrize("verb", [pytest.param("edit", marks=pytest.mark.wide), "write"])
def test_a_hard_linked_file_is_whole_after_a_kill_at_any_step_of_its_write(place, verb):
    seen = set()
    for step in range(9, 60):
        if not killed(place, verb, step, links=NAMES[1:2]):
            break
        seen.add(place.text(NAMES[0]))
        s = place.session()
        assert place.text(NAMES[0]) in (OLD, MINE, "x" * 50 + "\n")
        assert os.path.samefile(place.root / NAMES[0], place.root / NAMES[1])
        assert s._context.store.pending() == []
        assert s.check(NAMES[0]).state in ("fresh", "unseen")
        s.close()
    assert len(seen) > 2  # some of them half written


@pytest.mark.wide
def test_what_a_user_saved_over_a_half_written_file_stays_and_is_told(place):
    for step in range(9, 60):
        assert killed(place, "write", step, links=NAMES[1:2])
        if place.text(NAMES[0]) not in (OLD, "x" * 50 + "\n"):
            break
    place.put(NAMES[0], OLD + "theirs\n")
    s = place.session()
    assert place.text(NAMES[0]) == OLD + "theirs\n"
    assert "+theirs" in "".join(change.diff for change in s.changes())


@pytest.mark.parametrize(("after_s", "is_kept"), [(0, False), (LATE_S + 60, True)])
def test_a_half_written_state_that_somebody_saved_minutes_later_stays_and_is_named(
    place, after_s, is_kept
):
    """The user made other lines, and then took them back."""
    new, half = MINE + "more\n", MINE[:20] + OLD[20:]
    place.put("a.txt", OLD)
    os.link(place.root / "a.txt", place.root / "b.txt")
    s = place.session()
    s._context.owner = f"{owner().rpartition(':')[0]}:0"  # of a process that is gone
    before = s._context.look("a.txt")
    write = Write("a.txt", before.revision, revision_of(new.encode()), before, new.encode())
    intend(s._context, [write])
    s.close()
    place.put("a.txt", half)
    then = s._context.clock() * 1_000 + after_s * 1_000_000_000
    os.utime(place.root / "a.txt", ns=(then, then))
    again = place.session()
    assert place.text("a.txt") == place.text("b.txt") == (half if is_kept else OLD)
    assert again._context.store.pending() == []
    [warned] = again.warnings()
    assert ("a.txt could not be restored" in warned.text) == is_kept


def test_a_full_store_in_the_middle_of_a_batch_leaves_all_or_none(place, s, monkeypatch):
    """The second file cannot be written, and then the store cannot record that."""
    for name in NAMES:
        place.put(name, OLD)
        s.read(name)
    workspace, store = s._context.workspace, s._context.store
    replace_each, append = workspace.replace_each, store.append
    asked = []

    def replace(wanted):
        asked.append(wanted[0].path)
        if len(asked) == 3:
            store.append = full
            return [sightline.Unverifiable(wanted[0].path, "No space left on device.")]
        return replace_each(wanted)

    def full(*_, **__):
        raise sightline.StoreError("The disk is full.", "Free some space.")

    monkeypatch.setattr(workspace, "replace_each", replace)
    with pytest.raises(sightline.StoreError):
        s.apply([{"path": name, "edits": [("line 3", "mine", 1)]} for name in NAMES])
    assert disk(place) == dict.fromkeys(NAMES, OLD)
    monkeypatch.undo()
    store.append = append
    s.close()
    again = place.session()
    assert disk(place) == dict.fromkeys(NAMES, OLD)
    assert again.changes() == []
    again.edit(NAMES[0], "line 5", "five")
    assert again._context.store.pending() == []


def test_a_patch_is_one_journal_entry_with_its_renames(place, s):
    for name in NAMES[:2]:
        place.put(name, OLD)
        s.read(name)
    s.patch(
        f"diff --git a/{NAMES[0]} b/moved.txt\nrename from {NAMES[0]}\nrename to moved.txt\n"
        f"--- a/{NAMES[0]}\n+++ b/moved.txt\n@@ -3,1 +3,1 @@\n-line 3\n+mine\n"
        f"--- a/{NAMES[1]}\n+++ b/{NAMES[1]}\n@@ -3,1 +3,1 @@\n-line 3\n+mine\n"
    )
    kinds = [Changed, Moved, WriteAbandoned, BatchEnded]
    facts = [entry.fact for entry in s._context.store.timeline(kinds=kinds)]
    assert [type(fact) for fact in facts] == [Changed, Changed, Moved, BatchEnded]
    assert disk(place) == {"moved.txt": MINE, NAMES[1]: MINE}
    assert s.believed("moved.txt") == MINE


def test_a_hard_linked_file_whose_text_may_not_be_stored_is_not_written_in_place(place):
    s = place.session(source={"never_store": ("*.txt",)})
    place.put("a.txt", OLD)
    os.link(place.root / "a.txt", place.root / "b.txt")
    s.read("a.txt")
    with pytest.raises(sightline.EditRefused, match="hard links") as refused:
        s.edit("a.txt", "line 3", "mine")
    assert refused.value.reason == "unverifiable"
    assert place.text("a.txt") == OLD


def test_half_written_bytes_are_recognised_at_every_byte():
    old, new = b"abcdefgh", b"ABC--"
    for end in range(1, len(new)):
        assert is_half_written(old, new, new[:end] + old[end:])
        assert is_half_written(new, old, old[:end] + new[end:])
    assert is_half_written(old, new, new + old[len(new) :])
    assert is_half_written(old, new, old[:2] + new[2:4] + old[4:])  # killed while it was set back
    assert not is_half_written(old, new, old)
    assert not is_half_written(old, new, new)
    assert not is_half_written(old, new, b"abcdefgh and more")
    assert not is_half_written(old, new, b"the user's")


@pytest.mark.parametrize(
    ("now", "holds"),
    [
        ("one\nnew\ntwo\nthree\n", True),
        ("zero\none\nnew\ntwo\nTHREE\n", True),
        ("one\nnew\nuser\ntwo\nthree\n", True),
        ("one\nchanged\ntwo\nthree\n", False),
        ("one\ntwo\nTHREE\n", False),
    ],
)
def test_an_insertion_is_recognised_whatever_else_a_save_holds(now, holds):
    before, after = b"one\ntwo\nthree\n", b"one\nnew\ntwo\nthree\n"
    assert still_holds(before, after, now.encode()) == holds


def test_a_removal_is_recognised_unless_the_lines_came_back():
    before, after = b"one\ntwo\nthree\n", b"one\nthree\n"
    assert still_holds(before, after, b"one\nthree\nfour\n")
    assert not still_holds(before, after, b"one\ntwo\nthree\nfour\n")
