"""Files larger than the guard keeps, and lines longer than one answer: the limits guard what is shown."""

from __future__ import annotations

import pytest
from tests.hooks.handlers.host import Host
from tests.support.places import TEN

from sightline import EditRefused, LinesMissing, PathRefused
from sightline.changes import session_context
from sightline.hooks.dispatch import attend
from sightline.model.hook_events import Shown

SMALL = 50
"""A limit that a file of ten lines exceeds."""


@pytest.fixture
def small(place):
    return place.session(max_file_bytes=SMALL)


def test_lines_of_a_file_above_the_limit_are_read_and_remembered(place, small):
    place.put("a.log", TEN)
    view = small.read("a.log", (3, 4))
    assert (view.text, view.lines, view.total_lines) == ("line 3\nline 4\n", (3, 4), 10)
    assert not view.unchanged
    verdict = small.check("a.log")
    assert (verdict.state, verdict.decision, verdict.seen_lines) == ("fresh", "allow", ((3, 4),))
    assert small.read("a.log", (3, 3)).unchanged
    assert small.read("a.log").lines == (1, 10)
    assert small.check("a.log").seen_lines == ((1, 10),)
    with pytest.raises(LinesMissing):
        small.read("a.log", (11, 12))


EDITS = {
    "replace": lambda s, n: s.edit("a.log", f"line {n}\n", f"LINE {n}\n"),
    "lines": lambda s, n: s.edit_lines("a.log", n, n, f"LINE {n}"),
    "patch": lambda s, n: s.patch(f"--- a/a.log\n+++ b/a.log\n@@\n-line {n}\n+LINE {n}\n"),
    "batch": lambda s, n: s.apply([
        {"path": "a.log", "edits": [{"old": f"line {n}\n", "new": f"LINE {n}\n"}]}
    ]),
}  # fmt: skip


@pytest.mark.parametrize("kind", EDITS)
def test_lines_that_were_shown_of_a_large_file_are_edited_and_set_back(place, small, kind):
    place.put("a.log", TEN)
    small.turn()
    small.read("a.log", (3, 5))
    EDITS[kind](small, 4)
    assert place.text("a.log") == TEN.replace("line 4", "LINE 4")
    assert (small.check("a.log").state, small.changes()) == ("fresh", [])
    EDITS[kind](small, 5)
    small.undo()
    assert place.text("a.log") == TEN


@pytest.mark.parametrize("kind", EDITS)
def test_lines_of_a_large_file_that_others_changed_are_read_again_before_an_edit(
    place, small, kind
):
    place.put("a.log", TEN)
    small.read("a.log", (3, 5))
    changed = TEN.replace("line 4", "line four")
    place.put("a.log", changed)
    for line in (3, 4):
        with pytest.raises(EditRefused) as refused:
            EDITS[kind](small, line)
        assert refused.value.reason == "stale"
    assert "Read a.log again" in refused.value.hint
    small.read("a.log", (3, 5))
    EDITS[kind](small, 3)
    assert place.text("a.log") == changed.replace("line 3", "LINE 3")


def test_lines_of_a_large_file_that_were_never_shown_are_judged_like_any_other(place, small):
    place.put("a.log", TEN)
    small.read("a.log", (3, 5))
    assert "never shown" in str(small.edit("a.log", "line 8", "LINE 8").notice)
    with pytest.raises(EditRefused) as refused:
        small.edit_lines("a.log", 9, 9, "LINE 9")
    assert refused.value.reason == "unseen"
    with pytest.raises(EditRefused) as refused:
        small.write("a.log", "all of it\n")
    assert refused.value.reason == "unseen"


def test_a_rewind_of_a_large_file_keeps_what_a_user_changed_elsewhere(place, small):
    place.put("a.log", TEN)
    small.turn()
    small.read("a.log", (3, 5))
    small.edit("a.log", "line 4", "LINE 4")
    place.put("a.log", place.text("a.log").replace("line 9", "the user's"))
    small.undo()
    assert place.text("a.log") == TEN.replace("line 9", "the user's")


def test_a_file_above_the_limit_of_edits_is_refused_with_the_limit_and_the_next_step(
    place, small, monkeypatch
):
    monkeypatch.setattr(session_context, "EDIT_MAX", SMALL)
    place.put("a.log", TEN)
    small.read("a.log", (3, 5))
    with pytest.raises(EditRefused) as refused:
        small.edit("a.log", "line 4", "LINE 4")
    assert refused.value.reason == "too_large"
    assert "64.0 MiB" in refused.value.message
    assert "sed" in refused.value.hint


def by_the_host(host):
    return host.edit("a.log", "line 4\n", "LINE 4\n")


def twice(host):
    return host.edit("a.log", "line 4\n", "LINE 4\n"), host.edit("a.log", "line 5\n", "LINE 5\n")


def changed_while_it_asks(host):
    def save():
        host.place.put("a.log", host.place.text("a.log").replace("line 9", "line nine"))

    return host.edit("a.log", "line 4\n", "LINE 4\n", between=save)


@pytest.mark.parametrize("deed", [by_the_host, twice, changed_while_it_asks])
def test_a_hosts_edit_of_a_large_file_is_answered_like_one_of_a_small_file(place, deed):
    answers = []
    for number, limit in enumerate((SMALL, 10_000)):
        host = Host(place, f"s{number}", max_file_bytes=limit)
        host.session.turn()
        place.put("a.log", TEN)
        host.read("a.log", (3, 5))
        done = deed(host)
        text = place.text("a.log")
        assert deed is changed_while_it_asks or host.session.changes() == []
        report, state = host.session.undo(), host.state("a.log")
        answers.append((done, text, state, place.text("a.log"), report.restored, report.merged))
    assert answers[0] == answers[1]


def test_a_hosts_edit_of_a_large_file_that_changed_since_is_refused_once_and_told(place):
    host = Host(place, max_file_bytes=SMALL)
    place.put("a.log", TEN)
    host.read("a.log", (3, 5))
    place.put("a.log", TEN.replace("line 4", "line four"))
    asked, _ = host.edit("a.log", "line 5\n", "LINE 5\n")
    assert "Read a.log again" in asked.refuse
    host.read("a.log", (3, 5))
    asked, done = host.edit("a.log", "line 5\n", "LINE 5\n")
    assert (asked.refuse, asked.context, done.context) == (None, "", "")


def test_a_large_file_that_changed_is_stale_and_named_until_it_is_read_again(place, small):
    place.put("a.log", TEN)
    small.read("a.log", (1, 3))
    place.put("a.log", TEN + "line 11\n")
    assert small.check("a.log").state == "stale"
    assert [change.path for change in small.changes()] == ["a.log"]
    assert small.read("a.log", (2, 2)).text == "line 2\n"
    assert small.check("a.log").state == "fresh"
    assert small.check("a.log").seen_lines == ((2, 2),)  # what changed elsewhere is not known
    assert small.changes() == []


def test_a_file_that_shrinks_below_the_limit_is_edited_after_the_next_read(place, small):
    place.put("a.log", TEN)
    small.read("a.log", (1, 3))
    place.put("a.log", "line 1\nline 2\n")
    with pytest.raises(EditRefused):
        small.edit("a.log", "line 1", "line one")
    small.read("a.log")
    small.edit("a.log", "line 1", "line one")
    assert place.text("a.log") == "line one\nline 2\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1", "cp1251", "gbk", "ascii"])
def test_a_large_file_is_decoded_as_a_small_one(place, s, small, encoding):
    samples = {"cp1251": "Привет, мир. Это проверка.", "gbk": "这是一个测试文件，用来检查编码。"}
    line = samples.get(encoding, "plain" if encoding == "ascii" else "déjà vu à Nîmes")
    text = "".join(f"{line} {n}\r\n" for n in range(1, 10)) + "end"
    place.put("a.txt", text.encode(encoding))
    whole, large = (each.read("a.txt", (2, 11)) for each in (place.session("t"), small))
    assert (large.text, large.encoding) == (whole.text, whole.encoding)
    assert (large.lines, large.total_lines) == (whole.lines, whole.total_lines) == ((2, 10), 10)


def test_a_large_binary_file_is_refused_by_its_size(place, small):
    place.put("a.bin", b"a\0b" * SMALL)
    with pytest.raises(PathRefused) as refused:
        small.read("a.bin", (1, 1))
    assert refused.value.reason == "too_large"


@pytest.mark.parametrize("limit", [10 << 20, SMALL])
def test_a_long_line_is_cut_at_the_limit_and_does_not_count_as_shown(place, limit):
    s = place.session(read_max_bytes=100, max_file_bytes=limit)
    place.put("a.js", f"a\n{'x' * 300}\nb\n")
    assert s.read("a.js").lines == (1, 1)
    view = s.read("a.js", (2, 3))
    assert (view.text, view.lines, view.left_out) == ("x" * 100, (2, 2), 201)
    assert s.check("a.js").seen_lines == ((1, 1),)
    assert s.read("a.js", (3, 3)).text == "b\n"


@pytest.mark.parametrize("text", ["line 3\nline 4\n", "line 3\nline 4", None])
def test_lines_of_a_large_file_that_a_host_showed_count_as_shown(place, small, text):
    place.put("a.log", TEN)
    attend(small, Shown("a.log", (3, 4), text))
    verdict = small.check("a.log")
    assert (verdict.state, verdict.seen_lines) == ("fresh", ((3, 4),))


def test_other_lines_than_those_on_disk_do_not_count_in_a_large_file(place, small):
    place.put("a.log", TEN)
    attend(small, Shown("a.log", (3, 4), "line 3\nline four\n"))
    assert small.check("a.log").state == "unseen"
    with pytest.raises(PathRefused):
        small.saw("a.log", lines=(3, 4), text="line 3\nline four\n")


def test_a_mention_shows_lines_of_a_large_file(place, small):
    place.put("a.log", TEN)
    briefing = small.briefing("Look at @a.log:3-4 and say why.")
    assert "a.log, lines 3-4 of 10" in str(briefing)
    assert "line 4\n```" in str(briefing)
