"""What a host showed its agent, and what its watcher saw."""

import pytest

from sightline.hooks.dispatch import attend
from sightline.model.events import Changed, Seen
from sightline.model.hook_events import NOTHING, Answered, ChangedOutside, Instructed, Shown

TEN = "".join(f"line {n}\n" for n in range(1, 11))


def seen(session, path):
    return session.check(path).seen_lines


def facts(session, kind):
    return [recorded.fact for recorded in session._context.store.timeline(kinds=[kind])]


def test_lines_with_their_text_are_seen(place, s):
    place.put("a.txt", TEN)
    text = "line 3\nline 4\n"
    assert attend(s, Shown(f"{place.root}/a.txt", (3, 4), text)) == NOTHING
    assert seen(s, "a.txt") == ((3, 4),)


@pytest.mark.parametrize(("lines", "text"), [(None, "caf\ufffd\nb\n"), ((1, 1), "caf\ufffd\n")])
def test_a_text_that_is_no_utf_8_is_seen_where_the_disk_shows_the_same(place, s, lines, text):
    place.put("a.txt", b"caf\xe9\nb\n")
    attend(s, Shown("a.txt", lines, text))
    assert seen(s, "a.txt") == (((1, 2),) if lines is None else (lines,))
    assert s.check("a.txt").state == "fresh"


def test_and_not_where_it_was_saved_since(place, s):
    place.put("a.txt", b"caf\xe9 by the user\nb\n")
    attend(s, Shown("a.txt", None, "caf\ufffd\nb\n"))
    assert s.check("a.txt").state == "unseen"


def test_a_place_without_its_text_is_seen_as_the_disk_has_it(place, s):
    place.put("a.txt", TEN)
    attend(s, Shown("a.txt", (3, 4), via="search"))
    assert seen(s, "a.txt") == ((3, 4),)
    assert facts(s, Seen)[0].via == "search"


def test_a_text_that_the_disk_no_longer_has_is_stale_at_once(place, s):
    place.put("a.txt", TEN)
    attend(s, Shown("a.txt", None, TEN.replace("line 3", "line three")))
    assert s.check("a.txt").state == "stale"


@pytest.mark.parametrize("lines", [None, (1, 2)])
def test_what_we_keep_no_text_of_is_of_no_interest(place, s, tmp_path, lines):
    (tmp_path / "out.txt").write_text(TEN)
    place.put("b.bin", b"\0\1\n\2\n")
    place.put(".sightlineignore", "secret\n")
    place.put("secret", TEN)
    (place.root / "folder").mkdir()
    for path in (str(tmp_path / "out.txt"), "b.bin", "secret", "folder", "none.txt", ".git/config"):
        assert attend(s, Shown(path, lines)) == NOTHING
    assert facts(s, Seen) == []


def test_lines_of_a_text_too_large_to_keep_are_not_taken_for_a_whole(place):
    session = place.session("small", max_file_bytes=50)
    place.put("a.txt", TEN)
    attend(session, Shown("a.txt", (3, 4), "line 3\nline 4\n"))
    (seen,) = facts(session, Seen)
    assert (seen.lines, seen.belief.lines) == (((3, 4),), 10)


def test_a_notebook_is_seen_whole(place, s):
    place.put("n.ipynb", '{"cells": []}\n')
    attend(s, Shown("n.ipynb", via="notebook"))
    assert s.check("n.ipynb").complete


def test_instructions_are_seen_whole(place, s):
    place.put("CLAUDE.md", TEN)
    assert attend(s, Instructed(f"{place.root}/CLAUDE.md")) == NOTHING
    assert facts(s, Seen)[0].via == "instructions"
    assert s.check("CLAUDE.md").complete


def test_instructions_from_elsewhere_are_left_out(place, s, tmp_path):
    (tmp_path / "CLAUDE.md").write_text(TEN)
    assert attend(s, Instructed(str(tmp_path / "CLAUDE.md"))) == NOTHING
    assert facts(s, Seen) == []


def test_a_change_that_the_watcher_saw_is_recorded_once(place, ten):
    place.put("a.py", TEN.replace("line 3", "by the user"))
    for _ in range(2):
        assert attend(ten, ChangedOutside(f"{place.root}/a.py")) == NOTHING
    (changed,) = facts(ten, Changed)
    assert changed.cause.kind == "external"
    assert "by the user" in ten.changes()[0].diff


def test_a_file_that_is_gone_is_recorded_as_deleted(place, ten):
    (place.root / "a.py").unlink()
    attend(ten, ChangedOutside(f"{place.root}/a.py"))
    assert facts(ten, Changed)[0].change == "deleted"


@pytest.mark.parametrize("path", ["never-heard-of.txt", "/elsewhere/x.txt", ".git/index"])
def test_a_change_elsewhere_is_of_no_interest(place, ten, path):
    assert attend(ten, ChangedOutside(path)) == NOTHING
    assert facts(ten, Changed) == []


@pytest.mark.parametrize("via", ["read", "search"])
def test_what_the_last_request_told_counts_before_a_reading_of_other_lines(place, s, via):
    """Told by the end of a batch; the next call reads a part of the same file."""
    place.put("a.txt", TEN)
    attend(s, Shown("a.txt", None, TEN))
    place.put("a.txt", TEN.replace("line 9\n", ""))
    assert "-line 9" in attend(s, Answered()).context
    attend(s, Shown("a.txt", (2, 3), "line 2\nline 3\n", via))
    place.put("a.txt", "all new\n")
    told = attend(s, Answered()).context
    assert "-line 10" in told
    assert "-line 9" not in told
