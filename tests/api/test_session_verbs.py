"""Each verb of a session, on a real disk."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from hashlib import sha256

import pytest

import sightline
from sightline.model.events import Merged, Refused, Seen, WriteIntended

TEN = "".join(f"line {n}\n" for n in range(1, 11))


def test_reading_shows_a_file_and_says_what_it_is(place, s):
    place.put("a.py", b"\xef\xbb\xbfa\r\nb\r\n")
    view = s.read("a.py")
    assert (view.path, view.text, view.lines, view.total_lines) == ("a.py", "a\nb\n", (1, 2), 2)
    assert (view.encoding, view.unchanged, view.diff) == ("utf-8-sig", False, None)
    assert view.revision == sha256(place.bytes("a.py")).hexdigest()


def test_a_second_look_says_unchanged_and_still_gives_the_text(ten):
    view = ten.read("a.py")
    assert view.unchanged
    assert view.text == TEN
    assert view.diff == ""


def test_a_look_at_lines_is_cut_to_what_is_there(place, ten):
    assert ten.read("a.py", (4, 5)).text == "line 4\nline 5\n"
    assert ten.read("a.py", (9, 99)).lines == (9, 10)
    place.put("empty", "")
    assert ten.read("empty").lines == (0, 0)


def test_a_look_says_which_lines_its_limits_let_through(place):
    s = place.session(read_max_lines=3)
    place.put("a.py", TEN)
    view = s.read("a.py")
    assert (view.lines, view.total_lines) == ((1, 3), 10)
    assert s.check("a.py").seen_lines == ((1, 3),)


def test_a_later_look_tells_what_changed_in_lines_shown_before(place, ten):
    place.put("a.py", TEN.replace("line 2\n", "LINE 2\n"))
    view = ten.read("a.py", (8, 9))
    assert not view.text.count("LINE 2")
    assert "-line 2\n+LINE 2\n" in view.diff
    assert ten.check("a.py").state == "fresh"


@pytest.mark.parametrize(
    ("make", "error", "reason"),
    [
        (lambda p: None, sightline.FileMissing, None),
        (lambda p: (p.root / "x").mkdir(), sightline.PathRefused, "directory"),
        (lambda p: os.mkfifo(p.root / "x"), sightline.PathRefused, "special"),
        (lambda p: p.put("x", b"a\0b"), sightline.PathRefused, "binary"),
        (lambda p: p.put("x", b"a\0" * 200), sightline.PathRefused, "too_large"),
    ],
    ids=["missing", "directory", "fifo", "binary", "too large"],
)
def test_what_cannot_be_shown_is_refused_with_a_hint(place, make, error, reason):
    s = place.session(max_file_bytes=100)
    make(place)
    with pytest.raises(error) as refused:
        s.read("x")
    assert getattr(refused.value, "reason", None) == reason
    assert refused.value.path == "x"
    assert refused.value.hint
    assert s.files() == []


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", ".git/config", ""])
def test_paths_that_are_not_the_sessions_are_refused(s, path):
    with pytest.raises(sightline.PathRefused):
        s.read(path)


def test_a_path_has_one_record_however_it_is_spelled(place, ten):
    ten.edit(str(place.root / "a.py"), "line 1\n", "LINE 1\n")
    ten.edit("./x/../a.py", "line 2\n", "LINE 2\n")
    assert [file.path for file in ten.files()] == ["a.py"]


def test_an_edit_changes_its_text_and_tells_what_it_did(place, ten):
    result = ten.edit("a.py", "line 5", "LINE 5")
    assert place.text("a.py") == TEN.replace("line 5", "LINE 5")
    assert (result.path, result.merged, result.notice) == ("a.py", False, None)
    assert result.revision == sha256(place.bytes("a.py")).hexdigest()
    assert result.diff.startswith("--- a/a.py\n+++ b/a.py\n@@ -2,7 +2,7 @@\n")
    assert ten.believed("a.py") == place.text("a.py")
    assert ten.changes() == []


def test_an_edit_may_ask_for_every_occurrence(place, ten):
    ten.edit("a.py", "line", "row", count="all")
    assert place.text("a.py") == TEN.replace("line", "row")
    ten.edit("a.py", "row 1", "ROW 1", count=2)
    assert "ROW 10" in place.text("a.py")


def test_an_edit_keeps_everything_else_of_the_file(place, s):
    file = place.put("a.sh", b"\xef\xbb\xbfone\r\ntwo\nthree\r\n")
    file.chmod(0o751)
    os.link(file, place.root / "b.sh")
    s.read("a.sh")
    s.edit("a.sh", "two\n", "2\nzwei\n")
    assert place.bytes("a.sh") == b"\xef\xbb\xbfone\r\n2\nzwei\nthree\r\n"
    assert file.stat().st_mode & 0o777 == 0o751
    assert place.bytes("b.sh") == place.bytes("a.sh")
    assert file.stat().st_nlink == 2


def test_an_edit_through_a_symlink_keeps_the_link(place, s):
    place.put("real.py", "a\nb\n")
    (place.root / "link.py").symlink_to("real.py")
    s.read("link.py")
    result = s.edit("link.py", "a\n", "A\n")
    assert result.path == "link.py"
    assert (place.root / "link.py").is_symlink()
    assert place.text("real.py") == "A\nb\n"


def test_lines_are_counted_in_the_text_last_seen(place, ten):
    place.put("a.py", "new\n" * 3 + TEN)
    result = ten.edit_lines("a.py", 5, 6, "five and six")
    assert place.text("a.py") == "new\n" * 3 + TEN.replace("line 5\nline 6\n", "five and six\n")
    assert result.notice is not None
    ten.read("a.py")
    ten.write("a.py", TEN)
    ten.edit_lines("a.py", 3, 2, "between")
    assert ten.believed("a.py").startswith("line 1\nline 2\nbetween\n")
    ten.edit_lines("a.py", 11, 10, "last")
    assert place.text("a.py").endswith("last\nline 10\n")


def test_lines_can_be_put_behind_a_last_line_without_newline(place, s):
    place.put("a.py", "a\nb")
    s.read("a.py")
    s.edit_lines("a.py", 3, 2, "c")
    assert place.text("a.py") == "a\nb\nc"


def test_writing_keeps_line_ends_and_bom_unless_raw(place, s):
    place.put("a.py", b"\xef\xbb\xbfa\r\nb\r\n")
    s.read("a.py")
    s.write("a.py", "a\nB\n")
    assert place.bytes("a.py") == b"\xef\xbb\xbfa\r\nB\r\n"
    s.write("a.py", "a\nB\n", raw=True)
    assert b"\r" not in place.bytes("a.py")


def test_writing_a_path_where_nothing_stands_creates_it_with_its_folders(place, s):
    s.write("deep/er/a.py", "a\n")
    assert place.text("deep/er/a.py") == "a\n"
    assert s.check("deep/er/a.py").state == "fresh"


def test_a_stale_write_is_merged_and_says_so(place, ten):
    place.put("a.py", TEN.replace("line 9", "LINE 9"))
    result = ten.write("a.py", TEN.replace("line 2", "LINE 2"))
    assert result.merged
    assert "+LINE 9" in result.notice.text
    assert place.text("a.py") == TEN.replace("line 9", "LINE 9").replace("line 2", "LINE 2")
    assert ten.believed("a.py") == TEN.replace("line 2", "LINE 2")
    assert [r.fact.path for r in ten._context.store.timeline(kinds=[Merged])] == ["a.py"]
    assert [change.path for change in ten.changes()] == ["a.py"], "the other change is still news"


def test_a_patch_changes_creates_and_deletes_or_nothing(place, ten):
    place.put("gone.py", "x\n")
    ten.read("gone.py")
    text = (
        "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-line 1\n+LINE 1\n line 2\n"
        "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+new\n"
        "--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    )
    result = ten.patch(text)
    assert [result.path, *[other.path for other in result.others]] == ["a.py", "new.py", "gone.py"]
    assert place.text("a.py").startswith("LINE 1\n")
    assert place.names() == ["a.py", "new.py"]
    with pytest.raises(sightline.EditRefused):
        ten.patch(text)
    assert place.names() == ["a.py", "new.py"]


def test_a_patch_that_renames_and_changes_does_both_or_neither(place, ten):
    head = "diff --git a/a.py b/b.py\nrename from a.py\nrename to b.py\n--- a/a.py\n+++ b/b.py\n"
    with pytest.raises(sightline.EditRefused):
        ten.patch(head + "@@ -1 +1 @@\n-nothing like it\n+LINE 1\n")
    assert place.names() == ["a.py"]
    result = ten.patch(head + "@@ -1 +1 @@\n-line 1\n+LINE 1\n")
    assert result.path == "b.py"
    assert place.names() == ["b.py"]
    assert place.text("b.py").startswith("LINE 1\n")
    assert ten.check("b.py").state == "fresh"


def test_a_patch_may_rename_among_other_files(place, ten):
    place.put("x", "a\n")
    ten.read("x")
    ten.patch(
        "diff --git a/a.py b/b.py\nrename from a.py\nrename to b.py\n"
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    )
    assert place.names() == ["b.py", "x"]
    assert place.text("x") == "b\n"


def test_create_delete_and_move(place, s):
    s.create("a.py", "a\n")
    assert s.check("a.py").state == "fresh"
    s.move("a.py", "src/b.py")
    assert place.text("src/b.py") == "a\n"
    assert s.check("src/b.py").state == "fresh"
    result = s.delete("src/b.py")
    assert result.revision == "missing"
    assert not (place.root / "src/b.py").exists()
    assert s._context.store.blob(sha256(b"a\n").hexdigest()) == b"a\n"
    assert s.files() == []


def test_a_batch_is_carried_out_whole(place, ten):
    result = ten.apply(
        [
            {"path": "a.py", "edits": [{"old": "line 1\n", "new": "L1\n"}, ("L1", "ONE", 1)]},
            sightline.Change("b.py", content="b\n", create=True),
            {"path": "c/d.py", "content": "d\n"},
        ]
    )
    assert [each.path for each in result.results] == ["a.py", "b.py", "c/d.py"]
    assert place.text("a.py").startswith("ONE\n")


def test_a_batch_with_one_refusal_changes_nothing_and_names_all(place, ten):
    place.put("b.py", "b\n")
    with pytest.raises(sightline.EditRefused) as refused:
        ten.apply(
            [
                {"path": "a.py", "edits": [{"old": "line 1\n", "new": "L1\n"}]},
                {"path": "b.py", "content": "B\n", "create": True},
                {"path": "a2.py", "edits": [{"old": "x", "new": "y"}]},
            ]
        )
    assert refused.value.reason == "exists"
    assert [(o.path, o.reason) for o in refused.value.others] == [("a2.py", "not_found")]
    assert place.text("a.py") == TEN
    assert place.text("b.py") == "b\n"


@pytest.mark.parametrize(
    "changes",
    [[{"path": "a"}], [{"content": "x"}], [{"path": "a", "contents": "x"}]],
    ids=["nothing to do", "no path", "unknown field"],
)
def test_a_batch_that_makes_no_sense_says_why(s, changes):
    with pytest.raises(ValueError, match="a change"):
        s.apply(changes)


def test_what_a_hosts_tool_showed_counts_as_shown(place, s):
    place.put("a.py", TEN)
    s.saw("a.py", lines=(2, 3), text="line 2\nline 3\n", via="search")
    verdict = s.check("a.py")
    assert (verdict.seen_lines, verdict.complete, verdict.state) == (((2, 3),), False, "fresh")
    assert s.files()[0].via == "search"
    s.saw("a.py")
    assert s.check("a.py").complete


def test_a_host_that_showed_an_older_text_is_stale_at_once(place, s):
    place.put("a.py", TEN.replace("line 3", "LINE 3"))
    s.saw("a.py", text=TEN)
    assert s.check("a.py").state == "stale"
    assert "+LINE 3" in s.changes()[0].diff


def test_dropped_text_is_no_longer_in_the_window_and_is_served_again(ten):
    ten.dropped("a.py", lines=(1, 5))
    assert not ten.check("a.py").in_window
    assert not ten.read("a.py").unchanged
    assert ten.read("a.py").unchanged
    ten.dropped()
    assert not ten.files()[0].in_window
    assert ten.check("a.py").state == "fresh"


def test_asking_about_an_attempt_changes_nothing(place, ten):
    place.put("a.py", TEN.replace("line 3", "LINE 3"))
    before = ten._context.store.position()
    assert ten.check("a.py", old="line 3").decision == "refuse"
    assert ten.check("a.py", old="line 9\n").decision == "notice"
    assert ten.check("a.py", content=TEN.replace("line 9", "x")).decision == "merge"
    assert ten.check("a.py").decision == "refuse"
    noticed = ten._context.store.position()
    assert noticed == before + 1, "only that the disk changed"
    assert list(ten._context.store.timeline(kinds=[Refused, WriteIntended])) == []


def test_files_in_context(place, ten):
    place.put("b.ts", "\n  b()\n")
    assert ten.turn() == 1
    ten.read("b.ts", (1, 1))
    ten.turn()
    ten.edit("a.py", "line 1\n", "x\n")
    a, b = ten.files()
    assert (a.path, a.state, a.edited_by_agent, a.language, a.aged) == ("a.py", "fresh", True, "python", 0)  # fmt: skip
    assert (b.path, b.via, b.seen_lines, b.total_lines) == ("b.ts", "read", ((1, 1),), 2)
    assert (b.preview, b.turn_seen, b.aged, b.last_agent_edit) == ("\n  b()\n", 1, 1, None)
    assert b.first_seen.tzinfo is UTC
    assert [file.path for file in ten.files(max_age=0)] == ["a.py"]
    place.put("b.ts", "c()\n")
    assert [file.path for file in ten.files("stale")] == ["b.ts"]
    assert ten.files("stale")[0].changed_by.kind == "external"
    assert isinstance(ten.files("stale")[0].last_external_edit, datetime)


def test_changes_are_told_again_until_they_are_seen(place, ten):
    place.put("a.py", TEN.replace("line 3", "LINE 3"))
    [change] = ten.changes()
    assert (change.path, change.state, change.changed_by.kind) == ("a.py", "stale", "external")
    assert "-line 3\n+LINE 3\n" in change.diff
    assert "user or another program" in change.summary
    assert ten.changes() == [change]
    ten.read("a.py")
    assert ten.changes() == []


def test_a_session_is_resumed_by_its_id_and_its_agent_only(place, ten):
    ten.close()
    again = place.session()
    assert again.check("a.py").state == "fresh"
    with pytest.raises(sightline.SessionError, match="belongs to the agent"):
        sightline.open_session(place.root, id="s", agent="other", settings=place.settings())
    with pytest.raises(sightline.SessionError, match="no session"):
        sightline.open_session(place.root, parent="nobody", settings=place.settings())


def test_lines_that_a_refusal_printed_count_as_shown_once_it_arrived(place, ten):
    place.put("a.py", TEN.replace("line 3", "LINE 3"))
    with pytest.raises(sightline.EditRefused) as refused:
        ten.edit_lines("a.py", 3, 3, "mine")
    assert refused.value.reason == "stale"
    assert "-line 3\n+LINE 3\n" in refused.value.diff
    assert ten.check("a.py").state == "stale"
    ten.acknowledge(refused.value)
    seen = list(ten._context.store.timeline(kinds=[Seen]))[-1].fact
    assert seen.via == "refusal"
    assert ten.check("a.py").state == "fresh"
    with pytest.raises(sightline.EditRefused):
        ten.edit_lines("a.py", 3, 3, "mine")
    ten.edit("a.py", "LINE 3\n", "mine\n")
    assert "mine\n" in place.text("a.py")


@pytest.mark.parametrize(
    "act",
    [
        lambda s: s.read("a.txt", (3, 1)),
        lambda s: s.edit("a.txt", "a", "b", count=0),
        lambda s: s.files("Stale"),
    ],
    ids=["backwards", "no times", "no state"],
)
def test_what_makes_no_sense_is_said(place, act):
    place.put("a.txt", "a\n")
    with pytest.raises(ValueError, match="not"):
        act(place.session())
