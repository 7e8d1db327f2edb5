"""The registry: known files with their history, the most useful first, and nothing kept for it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import md5

from tests.support.places import TEN

from sightline.api.json_shapes import shape
from sightline.briefing import words
from sightline.briefing.registry import CHANGES, RULE, registry
from sightline.model.revision import revision_of


def told(session, **more):
    return registry(session._context, **more)


def by_path(session, **more):
    return {each.path: each for each in told(session, **more).entries}


def put_back_and_forth(place, session, times):
    for number in range(times):
        session.edit("a.py", f"line {number + 1}\n", f"{number}\n")
    return place.text("a.py")


def test_a_file_is_told_with_what_was_seen_and_what_stands_there(place, ten):
    place.put("a.py", TEN.replace("line 9\n", "nine\n"))
    [entry] = told(ten).entries
    assert (entry.path, entry.state, entry.via, entry.last_via) == ("a.py", "stale", "read", "read")
    assert entry.revision_seen == revision_of(TEN.encode())
    assert entry.revision == revision_of(place.bytes("a.py"))
    assert (entry.seen_lines, entry.total_lines) == (((1, 10),), 10)
    assert (entry.size, entry.language, entry.edited) == (len(place.bytes("a.py")), "python", False)
    assert entry.changed_by.kind == "external"
    assert abs((datetime.now(UTC) - entry.first_seen).total_seconds()) < 60


def test_its_changes_are_told_with_who_made_them(place, ten):
    ten.edit("a.py", "line 5\n", "five\n")
    place.put("a.py", place.text("a.py").replace("line 9\n", "nine\n"))
    other = place.session("other")
    other.read("a.py")
    other.edit("a.py", "line 1\n", "one\n")
    [entry] = told(ten).entries
    made = [(each.what, each.by.kind, each.by.who) for each in entry.changes]
    assert made == [
        ("content", "agent", "s"),
        ("content", "external", None),
        ("content", "session", "other"),
    ]
    assert entry.changes[-1].after == entry.revision
    assert entry.change_count == 3
    assert entry.edited


def test_many_changes_are_counted_and_the_newest_told(place, ten):
    put_back_and_forth(place, ten, 9)
    for number in range(5):
        ten.edit("a.py", "line 10\n" if not number else f"ten {number}\n", f"ten {number + 1}\n")
    [entry] = told(ten).entries
    assert (len(entry.changes), entry.change_count) == (CHANGES, 14)
    positions = [each.position for each in entry.changes]
    assert positions == sorted(positions)
    assert entry.changes[-1].after == revision_of(place.bytes("a.py"))


def test_files_that_are_elsewhere_or_gone_are_told_as_such(place, s):
    for name in ("a.py", "b.py", "d.py"):
        place.put(name, TEN)
        s.read(name)
    s.move("a.py", "c.py")
    s.delete("d.py")
    (place.root / "b.py").unlink()
    found = by_path(s)
    assert set(found) == {"b.py", "c.py"}  # what it took away itself it knows no more
    assert found["c.py"].changes[-1].what == "moved"
    assert found["c.py"].state == "fresh"
    assert (found["b.py"].state, found["b.py"].revision) == ("deleted", "missing")
    assert found["b.py"].changes[-1].what == "deleted"


def test_the_most_useful_come_first_and_the_rest_is_left_out_by_a_stated_rule(place, s):
    for number in range(6):
        place.put(f"f{number}.py", TEN)
        s.read(f"f{number}.py")
    s.edit("f1.py", "line 5\n", "five\n")
    place.put("f0.py", "other\n")
    every = told(s)
    assert [each.path for each in every.entries] == [
        *("f0.py", "f1.py", "f5.py", "f4.py", "f3.py", "f2.py"),
    ]
    assert (every.known, every.left_out, every.rule) == (6, 0, RULE)
    some = told(s, limit=2)
    assert some.entries == every.entries[:2]
    assert (some.known, some.left_out) == (6, 4)
    assert told(s, limit=None) == every


def test_md5_sums_are_made_when_asked_for_from_what_is_kept(place, ten):
    ten.edit("a.py", "line 5\n", "five\n")
    assert [each.md5 for each in told(ten).entries] == [None]
    [entry] = told(ten, with_md5=True).entries
    now = md5(place.bytes("a.py"), usedforsecurity=False).hexdigest()
    assert (entry.md5, entry.md5_seen, entry.changes[-1].md5) == (now, now, now)
    place.put("a.py", TEN)
    [entry] = told(ten, with_md5=True).entries
    assert entry.md5 == md5(TEN.encode(), usedforsecurity=False).hexdigest()
    assert entry.md5_seen == now
    (place.root / "a.py").unlink()
    assert told(ten, with_md5=True).entries[0].md5 is None


def test_it_is_the_same_after_a_restart(place, ten):
    ten.edit("a.py", "line 5\n", "five\n")
    before = told(ten)
    ten.close()
    assert told(place.session()) == before


def test_the_table_fits_a_model_and_says_what_is_not_in_it(place, ten):
    ten.edit("a.py", "line 5\n", "five\n")
    place.put("b\n.py", TEN)
    ten.read("b\n.py", (2, 3))
    place.put("a.py", TEN)
    rows = words.lines(told(ten, limit=1), str)
    assert len(rows) == 3
    assert rows[1].startswith("a.py  stale")
    assert rows[1].endswith("content by somebody, content by you")
    assert rows[2] == f"1 more file is known ({RULE})."
    assert "lines 2-3 of 10" in words.lines(told(ten), str)[2]
    assert words.lines(told(place.session("new")), str) == [
        "No file was shown to this session yet."
    ]


def test_it_is_json_whole(ten):
    ten.edit("a.py", "line 5\n", "five\n")
    made = json.loads(json.dumps(shape(told(ten))))
    assert (made["known"], made["left_out"]) == (1, 0)
    [entry] = made["entries"]
    assert entry["changes"][0]["by"]["kind"] == "agent"
    assert entry["first_seen"].endswith("Z")
    assert entry["seen_lines"] == [[1, 10]]


def uploaded(session, path, data):
    """A host that gave these bytes to its provider, and says so."""
    session.saw(path, text=data.decode(), via="handover")
    return md5(data, usedforsecurity=False).hexdigest()


def test_a_file_handed_to_a_provider_counts_as_seen_in_that_revision(place, s):
    data = TEN.replace("\n", "\r\n").encode("utf-8-sig")
    place.put("a.py", data)
    sum_ = uploaded(s, "a.py", data)
    [entry] = told(s, with_md5=True).entries
    assert (entry.via, entry.last_via, entry.state) == ("handover", "handover", "fresh")
    assert entry.revision_seen == entry.revision == revision_of(data)
    assert (entry.seen_lines, entry.md5_seen, entry.md5) == (((1, 10),), sum_, sum_)


def test_what_was_handed_over_goes_stale_and_fresh_again_with_the_disk(place, s):
    place.put("a.py", TEN)
    first = uploaded(s, "a.py", TEN.encode())
    place.put("a.py", TEN.upper())
    [entry] = told(s, with_md5=True).entries
    assert (entry.state, entry.via, entry.md5_seen) == ("stale", "handover", first)
    assert entry.revision == revision_of(TEN.upper().encode())
    assert s.changes()[0].path == "a.py"
    second = uploaded(s, "a.py", TEN.upper().encode())
    [entry] = told(s, with_md5=True).entries
    assert (entry.state, entry.md5_seen) == ("fresh", second)
    assert not s.changes()


def test_a_file_that_changed_while_it_was_handed_over_is_stale_at_once(place, s):
    place.put("a.py", TEN.upper())
    sum_ = uploaded(s, "a.py", TEN.encode())
    [entry] = told(s, with_md5=True).entries
    assert (entry.state, entry.md5_seen) == ("stale", sum_)
    assert entry.revision_seen == revision_of(TEN.encode()) != entry.revision
    verdict = s.check("a.py", old="line 3\n")
    assert verdict.decision != "allow"


def test_a_file_that_was_handed_over_may_be_edited_until_the_provider_forgets_it(place, s):
    place.put("a.py", TEN)
    uploaded(s, "a.py", TEN.encode())
    assert s.check("a.py", old="line 3\n").decision == "allow"
    assert s.read("a.py").unchanged
    s.dropped("a.py")
    assert not s.read("a.py").unchanged
    assert by_path(s)["a.py"].via == "handover"
