"""One call of a host's tool changes several files, and the host reports each of them."""

import pytest
from tests.hooks.handlers.host import Host

from sightline.hooks.dispatch import attend
from sightline.model.attempts import Create, Delete, Move, Replace, WriteWhole
from sightline.model.events import Changed, Moved, Refused, WriteAbandoned, WriteIntended
from sightline.model.hook_events import Attempted, Failed, Prompted, Wrote
from sightline.model.revision import MISSING

TEXT = "".join([f"line {n}\n" for n in range(10)])
MINE = TEXT.replace("line 5", "mine")


@pytest.fixture
def host(place):
    made = Host(place)
    for name in ("a.txt", "b.txt", "c.txt"):
        place.put(name, TEXT)
        made.read(name)
    return made


def ask(host, *targets):
    return attend(host.session, Attempted(targets, "c1"))


@pytest.mark.parametrize("before_is_told", [True, False])
def test_each_file_is_recorded_as_it_is_reported(host, before_is_told):
    call = (("a.txt", Delete()), ("b.txt", Move("d.txt")), ("new.txt", Create("new\n")))
    assert ask(host, *call, ("c.txt", Replace("line 5", "mine"))).refuse is None
    (host.place.root / "a.txt").unlink()
    (host.place.root / "b.txt").rename(host.place.root / "d.txt")
    host.place.put("new.txt", "new\n")
    host.place.put("c.txt", MINE)
    before = {"a.txt": TEXT, "d.txt": None, "new.txt": None, "c.txt": TEXT}
    for path, text in before.items():
        told = {"before": text if before_is_told else None, "known_before": before_is_told}
        answer = attend(host.session, Wrote(path, "c1", **told))
        assert (answer.context, answer.tell) == ("", "")
    recorded = host.facts(Changed, Moved)[-4:]
    assert {each.path: each.revisions[1] == MISSING for each in recorded} == {
        "a.txt": True,
        "d.txt": False,
        "new.txt": False,
        "c.txt": False,
    }
    assert {each.cause.kind for each in recorded} == {"agent"}
    assert host.facts(WriteAbandoned) == []
    assert {host.state(name) for name in ("c.txt", "d.txt", "new.txt")} == {"fresh"}
    assert attend(host.session, Prompted("what is this?")).context == ""


def test_a_call_that_the_host_did_not_carry_out_is_taken_back(host):
    assert ask(host, ("a.txt", Delete()), ("b.txt", Move("d.txt"))).refuse is None
    for path in ("a.txt", "b.txt", "d.txt"):
        attend(host.session, Failed(path, "c1"))
    assert [each.path for each in host.facts(WriteAbandoned)] == ["a.txt", "d.txt"]
    assert {host.state(name) for name in ("a.txt", "b.txt")} == {"fresh"}


def test_a_file_that_leaves_the_workspace_is_gone_from_it(host):
    assert ask(host, ("a.txt", Move(str(host.place.root.parent / "away.txt")))).refuse is None
    [intent] = host.facts(WriteIntended)
    assert (intent.path, intent.after) == ("a.txt", MISSING)


def test_an_existing_file_is_not_made_anew_and_an_unread_one_not_written(host):
    host.place.put("unread.txt", TEXT)
    said = ask(host, ("a.txt", Create(MINE)), ("unread.txt", WriteWhole(MINE))).refuse
    assert "a.txt exists already" in said
    assert "left unread.txt alone" in said
    assert [each.reason for each in host.facts(Refused)] == ["exists", "unseen"]


def test_files_whose_places_clash_are_refused(host):
    said = ask(host, ("a.txt", Move("d.txt")), ("b.txt", Move("d.txt"))).refuse
    assert "moves a.txt there" in said
    assert "because of 1 of its 2 files" in said
