"""What a transcript tells late is put where it belongs: it never takes back what came after it."""

import pytest
from tests.hooks.handlers.host import Host

from sightline.agents.hook_events import Shown
from sightline.hooks.handlers.transcript import mark_of, reconcile, record_mark
from sightline.model.events import Imported

OLD, NEW = "line 1\nline 2\n", "line 1\nline two\n"


@pytest.fixture
def host(place):
    place.put("a.txt", OLD)
    return Host(place)


def take_over(host, *events):
    return reconcile(host.session, "/t.jsonl", lambda offset, _: (list(events), offset + 10))


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
    record_mark(host.session, "/t.jsonl", 0, all_of_it=True)
    assert mark_of(host.session, "/t.jsonl").all_of_it
    take_over(host)
    mark = mark_of(host.session, "/t.jsonl")
    assert (mark.offset, mark.all_of_it) == (10, True)
    assert len(host.facts(Imported)) == 2
