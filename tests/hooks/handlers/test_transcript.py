"""What a transcript tells late is put where it belongs: it never takes back what came after it."""

import pytest
from tests.hooks.handlers.host import Host

from sightline.hooks.dispatch import attend
from sightline.hooks.handlers.transcript import mark_of, reconcile, record_mark
from sightline.model.events import TranscriptRead
from sightline.model.hook_events import FolderAdded, Shown

OLD, NEW = "line 1\nline 2\n", "line 1\nline two\n"


@pytest.fixture
def host(place):
    place.put("a.txt", OLD)
    return Host(place)


def take_over(host, *events):
    return reconcile(
        host.session._context, "/t.jsonl", lambda offset, _: (list(events), offset + 10)
    )


def test_an_attachment_from_before_an_own_write_does_not_make_it_stale(host):
    host.read("a.txt")
    host.write("a.txt", NEW)
    take_over(host, Shown("a.txt", None, OLD, "mention", at=1))
    assert host.state("a.txt") == "fresh"
    assert host.session.believed("a.txt") == NEW


def test_an_attachment_from_after_the_newest_fact_counts(host):
    host.read("a.txt")
    host.place.put("a.txt", NEW)
    assert host.state("a.txt") == "stale"
    take_over(host, Shown("a.txt", None, NEW, "notice", at=2**60))
    assert host.state("a.txt") == "fresh"


def test_a_transcript_told_from_its_beginning_counts_in_its_own_order(host):
    events = [Shown("a.txt", None, OLD, at=1), Shown("a.txt", None, NEW, at=2)]
    assert take_over(host, *events) == 2
    assert host.session.believed("a.txt") == NEW


def test_how_far_it_was_read_is_kept(host):
    record_mark(host.session._context, "/t.jsonl", 0, all_of_it=True)
    assert mark_of(host.session._context, "/t.jsonl").all_of_it
    take_over(host)
    mark = mark_of(host.session._context, "/t.jsonl")
    assert (mark.offset, mark.all_of_it) == (10, True)
    assert len(host.facts(TranscriptRead)) == 2


def test_a_transcript_is_not_read_again_though_the_user_added_many_folders(host):
    take_over(host)
    for number in range(20):
        attend(host.session, FolderAdded(f"/folder {number}"))
    assert mark_of(host.session._context, "/t.jsonl").offset == 10


def test_each_transcript_of_a_session_has_its_own_mark(host):
    take_over(host)
    for _ in range(20):
        reconcile(host.session._context, "/other.jsonl", lambda offset, _: ([], offset + 7))
    assert mark_of(host.session._context, "/t.jsonl").offset == 10
    assert mark_of(host.session._context, "/other.jsonl").offset == 140


TEN = "".join(f"line {number}\n" for number in range(1, 11))


@pytest.mark.parametrize("is_below", [True, False])
def test_a_fork_knows_what_its_parent_read_before_it_wrote_above(place, is_below):
    """The parent read lines 5 to 8 and then put two lines on top; the fork's first edit comes before the client
    copies the conversation."""
    place.put("b.txt", "new 1\nnew 2\n" + TEN)
    fork = Host(place)
    fork.edit("b.txt", *(("line 10\n", "ten\n") if is_below else ("new 1\n", "1\n")))
    record_mark(fork.session._context, "/t.jsonl", 0, all_of_it=True)
    read = "".join(TEN.splitlines(keepends=True)[4:8])
    take_over(
        fork,
        Shown("b.txt", (5, 8), read, at=1),
        Shown("b.txt", (1, 2), "new 1\nnew 2\n", "edit", at=2),
    )
    known = fork.session._context.store.knowledge(fork.session.id, "b.txt")
    assert known.belief.shown == (((1, 2), (7, 10), (12, 12)) if is_below else ((1, 2), (7, 10)))
    assert fork.session.believed("b.txt") == place.text("b.txt")
