"""The scenarios of the guard, by number, through the library. For most of them: a replace outside
the change, a replace inside it, and a whole-file write."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading

import pytest

import sightline
from sightline.filesystem.file_state import FileState
from sightline.model.revision import UNKNOWN

TEN = "".join(f"line {n}\n" for n in range(1, 11))
INSIDE = TEN.replace("line 3", "LINE 3")
OUTSIDE = TEN.replace("line 9", "LINE 9")


def fresh(s, path="a.py"):
    """Fresh to every question, and an edit goes through without a word."""
    assert s.check(path).state == "fresh"
    assert s.changes() == []
    assert [file.state for file in s.files()] == ["fresh"]
    assert s.edit(path, "line 3\n", "mine\n").notice is None
    return True


def reason(act):
    with pytest.raises(sightline.EditRefused) as refused:
        act()
    return refused.value.reason


def stale_inside(place, s):
    """Stale at line 3: inside refused, outside allowed, a whole write that keeps both merged."""
    assert s.check("a.py").state == "stale"
    assert [change.path for change in s.changes()] == ["a.py"]
    now = place.text("a.py")
    assert s.check("a.py", old="line 3\n").decision == "refuse"
    assert s.edit("a.py", "line 7\n", "mine\n").notice is not None
    assert place.text("a.py") == now.replace("line 7", "mine")
    assert s.write("a.py", s.believed("a.py").replace("line 10", "ten")).merged
    assert place.text("a.py") == now.replace("line 7", "mine").replace("line 10", "ten")
    assert reason(lambda: s.edit("a.py", "line 3\n", "mine\n")) == "stale"
    return True


def times(place, path="a.py"):
    found = (place.root / path).stat()
    return found.st_atime_ns, found.st_mtime_ns


def git(place, *words):
    subprocess.run(["git", "-C", place.root, *words], check=True, capture_output=True)


def test_s1_touch(place, ten):
    os.utime(place.root / "a.py")
    assert fresh(ten)


def test_s2_saved_again_with_identical_bytes(place, ten):
    place.put("a.py", TEN)
    assert fresh(ten)


def test_s3_same_size_and_mtime_one_byte_differs(place, ten):
    before = times(place)
    place.put("a.py", TEN.replace("line 3", "linE 3"))
    os.utime(place.root / "a.py", ns=before)
    assert stale_inside(place, ten)


@pytest.mark.parametrize("ticks", [-2, -1, 0, 1, 2])
def test_s4_rewritten_around_the_same_clock_tick(place, s, ticks):
    place.put("a.py", TEN)
    s.read("a.py")
    stamp = s._context.store.stamps(["a.py"])["a.py"]
    place.put("a.py", TEN.replace("line 3", "linE 3"))
    os.utime(place.root / "a.py", ns=(0, stamp.read_at_ns + ticks * 10_000_000))
    assert stale_inside(place, s)


def test_s5_replaced_by_a_file_with_an_older_mtime(place, ten):
    old = place.put("old", INSIDE)
    os.utime(old, ns=(10**18, 10**18))
    shutil.copy2(old, place.root / "new")
    os.replace(place.root / "new", place.root / "a.py")
    assert stale_inside(place, ten)


@pytest.mark.parametrize(("text", "check"), [(TEN, None), (INSIDE, stale_inside)])
def test_s6_atomic_save(place, ten, text, check):
    place.put("tmp", text)
    os.replace(place.root / "tmp", place.root / "a.py")
    assert check(place, ten) if check else fresh(ten)


def test_s7_deleted_and_recreated_identically(place, ten):
    (place.root / "a.py").unlink()
    assert ten.check("a.py").state == "deleted"
    place.put("a.py", TEN)
    assert fresh(ten)


def test_s8_renamed_away_and_back(place, ten):
    os.rename(place.root / "a.py", place.root / "b.py")
    os.rename(place.root / "b.py", place.root / "a.py")
    assert fresh(ten)


@pytest.mark.parametrize("verb", ["edit", "write", "patch", "apply", "move", "delete"])
def test_s8_renamed_away_is_followed_and_said(place, ten, verb):
    os.rename(place.root / "a.py", place.root / "b.py")
    assert ten.check("a.py").state == "moved"
    assert [change.state for change in ten.changes()] == ["moved"]
    assert [file.state for file in ten.files()] == ["moved"]
    after = TEN.replace("line 3", "mine")
    result = {
        "edit": lambda: ten.edit("a.py", "line 3", "mine"),
        "write": lambda: ten.write("a.py", after),
        "patch": lambda: ten.patch("--- a/a.py\n+++ b/a.py\n@@ -3 +3 @@\n-line 3\n+mine\n"),
        "apply": lambda: ten.apply([{"path": "a.py", "content": after}]).results[0],
        "move": lambda: ten.move("a.py", "c.py"),
        "delete": lambda: ten.delete("a.py"),
    }[verb]()
    if verb in ("edit", "write", "patch", "apply"):
        assert result.path == "b.py"
        assert "renamed to b.py" in result.notice.text
        assert place.text("b.py") == after
    assert place.names() == {"move": ["c.py"], "delete": []}.get(verb, ["b.py"])


def test_s8_a_renamed_file_is_known_by_its_new_name_too(place, ten):
    """Also when it is asked for by that name first, and when it is renamed back."""
    os.rename(place.root / "a.py", place.root / "b.py")
    assert ten.check("b.py").state == "fresh"
    ten.write("b.py", OUTSIDE)
    os.rename(place.root / "b.py", place.root / "a.py")
    ten.write("a.py", TEN)
    assert place.text("a.py") == TEN


def test_s8_a_twin_is_not_the_file_that_was_shown(place, ten):
    shutil.copy2(place.root / "a.py", place.root / "b.py")
    os.remove(place.root / "a.py")
    assert reason(lambda: ten.write("b.py", OUTSIDE)) == "unseen"


def test_s15_a_link_is_not_deleted_or_renamed_for_its_target(place, ten):
    os.symlink("a.py", place.root / "link.py")
    ten.read("link.py")
    assert reason(lambda: ten.delete("link.py")) == "kind_changed"
    assert reason(lambda: ten.move("link.py", "other.py")) == "kind_changed"
    assert place.names() == ["a.py", "link.py"]


def test_a_clock_that_steps_back_does_not_hide_who_changed_a_file(place):
    times = iter(range(10**15, 0, -1_000_000))
    s = place.session(clock=times.__next__)
    place.put("a.py", TEN)
    s.read("a.py")
    place.put("a.py", INSIDE)
    assert s.check("a.py").changed_by.kind == "external"


def test_s9_a_formatter_outside_the_target(place, s):
    place.put("a.py", "def f():\n  return 1\n\ndef g():\n  return 2\n")
    s.read("a.py")
    place.put("a.py", "def f():\n    return 1\n\ndef g():\n  return 2\n")
    result = s.edit("a.py", "  return 2\n", "  return 3\n")
    assert "+    return 1" in result.notice.text
    assert place.text("a.py") == "def f():\n    return 1\n\ndef g():\n  return 3\n"


def test_s9_a_formatter_inside_the_target(place, s):
    place.put("a.py", "def f():\n  return 1\n")
    s.read("a.py")
    place.put("a.py", "def f():\n\treturn 1\n")
    assert reason(lambda: s.edit("a.py", "  return 1\n", "  return 3\n")) == "stale"
    assert place.text("a.py") == "def f():\n\treturn 1\n"


def test_s11_a_branch_switched_there_and_back(place, ten):
    git(place, "init", "-q", "-b", "main")
    git(place, "add", ".")
    git(place, "commit", "-qm", "one")
    git(place, "switch", "-qc", "other")
    place.put("a.py", INSIDE)
    git(place, "commit", "-qam", "two")
    assert ten.check("a.py").state == "stale"
    git(place, "switch", "-q", "main")
    assert fresh(ten)


def test_s12_stash_and_pop(place, ten):
    git(place, "init", "-q")
    git(place, "add", ".")
    git(place, "commit", "-qm", "one")
    ten.edit("a.py", "line 10\n", "ten\n")
    git(place, "stash")
    assert ten.check("a.py").state == "stale"
    git(place, "stash", "pop")
    assert fresh(ten)


def test_s14_a_case_only_rename(place, ten):
    os.rename(place.root / "a.py", place.root / "A.py")
    assert ten.edit("a.py", "line 3\n", "mine\n").path == "A.py"
    assert "mine\n" in place.text("A.py")


def test_s15_a_symlink_retargeted(place, s):
    place.put("one.py", TEN)
    place.put("two.py", INSIDE)
    link = place.root / "link.py"
    link.symlink_to("one.py")
    s.read("link.py")
    link.unlink()
    link.symlink_to("two.py")
    assert s.check("link.py").state == "stale"
    assert [file.state for file in s.files()] == ["stale"]
    assert [change.state for change in s.changes()] == ["stale"]
    assert reason(lambda: s.edit("link.py", "line 7\n", "mine\n")) == "stale"
    assert (place.text("one.py"), place.text("two.py")) == (TEN, INSIDE)


def test_s16_edited_through_another_name(place, ten):
    os.link(place.root / "a.py", place.root / "hard.py")
    with open(place.root / "hard.py", "r+b") as file:
        file.write(INSIDE.encode())
    assert stale_inside(place, ten)


@pytest.mark.parametrize(
    "flip", [lambda b: b.replace(b"\n", b"\r\n"), lambda b: b"\xef\xbb\xbf" + b], ids=["s17", "s18"]
)
def test_s17_s18_line_ends_flipped_or_a_bom_added(place, ten, flip):
    place.put("a.py", flip(TEN.encode()))
    verdict = ten.check("a.py")
    assert (verdict.state, verdict.reason) == ("fresh", "line endings only")
    result = ten.edit("a.py", "line 3\nline 4\n", "mine\n")
    assert "only line endings or the byte order mark" in result.notice.text
    assert place.bytes("a.py") == flip(TEN.replace("line 3\nline 4", "mine").encode())


def test_s19_edited_while_the_user_was_being_asked(place):
    def approve(path, diff):
        place.put("a.py", INSIDE)
        return True

    s = place.session(policy="ask", approve=approve)
    place.put("a.py", TEN)
    s.read("a.py")
    assert reason(lambda: s.edit("a.py", "line 3\n", "mine\n")) == "stale"
    assert place.text("a.py") == INSIDE


def test_s23_s24_text_that_left_the_window_is_served_again(ten):
    ten.dropped()
    view = ten.read("a.py")
    assert (view.text, view.unchanged) == (TEN, False)


def test_s25_resumed_after_edits_while_nothing_ran(place, ten):
    ten.close()
    place.put("a.py", INSIDE)
    assert stale_inside(place, place.session())


def test_s27_a_whole_write_over_lines_never_shown(place, s):
    place.put("a.py", TEN)
    s.read("a.py", (1, 4))
    assert reason(lambda: s.write("a.py", "all\n")) == "unseen"


def test_s28_all_pages_shown_in_turn(place, s):
    place.put("a.py", TEN)
    for first in (1, 4, 7, 10):
        s.read("a.py", (first, first + 2))
    s.write("a.py", "all\n")
    assert place.text("a.py") == "all\n"


def test_s29_lines_inserted_above_the_target(place, ten):
    place.put("a.py", "new\n" * 20 + TEN)
    ten.edit_lines("a.py", 5, 5, "five\n")
    ten.edit("a.py", "line 3\n", "mine\n")
    ten.patch("--- a/a.py\n+++ b/a.py\n@@ -7 +7 @@\n-line 7\n+seven\n")
    after = TEN.replace("line 3", "mine").replace("line 5", "five").replace("line 7", "seven")
    assert place.text("a.py") == "new\n" * 20 + after


def test_s30_the_target_now_stands_twice(place, ten):
    place.put("a.py", TEN + "line 3\n")
    assert reason(lambda: ten.edit("a.py", "line 3\n", "mine\n")) == "ambiguous"
    ten.edit("a.py", "line 3\n", "mine\n", count=2)
    assert place.text("a.py") == (TEN + "line 3\n").replace("line 3", "mine")


def test_s31_the_middle_of_the_range_changed(place, ten):
    place.put("a.py", INSIDE)
    assert reason(lambda: ten.edit_lines("a.py", 2, 4, "mine\n")) == "stale"
    assert place.text("a.py") == INSIDE


def test_s32_a_logger_appends(place, ten):
    for n in range(3):
        with open(place.root / "a.py", "a", encoding="utf-8") as log:
            log.write(f"log {n}\n")
        ten.edit("a.py", f"line {n + 1}\n", f"mine {n}\n")
    assert place.text("a.py").endswith("line 10\nlog 0\nlog 1\nlog 2\n")
    assert place.text("a.py").startswith("mine 0\nmine 1\nmine 2\n")


@pytest.mark.parametrize("kind", ["directory", "fifo", "symlink out", "binary"])
def test_s33_replaced_by_another_kind(place, ten, kind):
    file = place.root / "a.py"
    file.unlink()
    if kind == "directory":
        file.mkdir()
    elif kind == "fifo":
        os.mkfifo(file)
    elif kind == "symlink out":
        file.symlink_to("nowhere")
    else:
        place.put("a.py", b"a\0b")
    acts = [
        lambda: ten.edit("a.py", "line 3\n", "mine\n"),
        lambda: ten.write("a.py", "all\n"),
        lambda: ten.edit_lines("a.py", 1, 1, "x\n"),
    ]
    assert {reason(act) for act in acts} == {"kind_changed"}
    assert ten.files()[0].state == ten.check("a.py").state


def test_s34_permission_lost(place, ten, monkeypatch):
    """As root nothing is forbidden, so the system's answer is played where it is asked."""
    workspace = ten._context.workspace
    lost = FileState("a.py", "unreadable", UNKNOWN, why="Permission denied")
    monkeypatch.setattr(workspace, "read", lambda path, **_: lost)
    assert ten.check("a.py").state == "unverifiable"
    assert reason(lambda: ten.edit("a.py", "line 3\n", "mine\n")) == "unverifiable"
    with pytest.raises(sightline.Unverifiable):
        ten.read("a.py")
    monkeypatch.undo()
    assert fresh(ten)


def test_s35_a_share_that_stopped_answering(place):
    s = place.session(deadline_s=0.05)
    place.put("a.py", TEN)
    s.read("a.py")
    answer = threading.Event()
    calls = s._context.workspace._calls
    real = calls.open
    calls.open = lambda *a, **k: answer.wait(30) and real(*a, **k)
    try:
        assert s.check("a.py").state == "unverifiable"
        assert reason(lambda: s.edit("a.py", "line 3\n", "mine\n")) == "unverifiable"
    finally:
        answer.set()
        calls.open = real
    assert place.text("a.py") == TEN
    assert fresh(s)
