"""What a rewind is asked for and answers, and what its session knows afterwards."""

import pytest
from msgspec import structs

import sightline
from sightline.errors import RewindRefused, UnknownName
from sightline.model.events import RewindEnded, RewindStarted


def test_a_forced_path_gets_its_bytes_of_then(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two\nthree\n", "2\n3\n4\n5\n")
    place.put("a.py", "one\n2\n3 and more\n4\n5\n")
    report = three.rewind(then, force_paths=["a.py"])
    assert place.text("a.py") == "one\ntwo\nthree\n"
    assert report.left_alone == ()
    assert report.restored == ("a.py",)
    three.rewind(report.safety_checkpoint)
    assert place.text("a.py") == "one\n2\n3 and more\n4\n5\n"


def test_a_second_rewind_to_the_same_place_finds_nothing_to_do(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.move("a.py", "b.py")
    place.put("b.py", place.text("b.py") + "four\n")
    three.rewind(then)
    assert place.names() == ["a.py"]
    stood = three._context.store.position()
    report = three.rewind(then)
    assert (report.restored, report.merged, report.moved) == ((), (), ())
    assert report.safety_checkpoint is None
    assert three._context.store.position() == stood


def test_a_dry_run_says_the_same_and_touches_nothing(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.create("b.py", "b\n")
    stood = three._context.store.position()
    planned = three.rewind(then, dry_run=True)
    assert three._context.store.position() == stood
    assert place.text("a.py") == "one\n2\nthree\n"
    done = three.rewind(then)
    told = {each.path: (each.change, each.diff) for each in planned.diffs}
    assert told["b.py"][0] == "removed"
    assert "-2\n+two\n" in told["a.py"][1]
    assert planned == structs.replace(
        done, dry_run=True, safety_checkpoint=None, diffs=planned.diffs
    )


def test_with_files_alone_the_agent_is_told_that_the_rewind_changed_them(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.rewind(then)
    assert three.check("a.py").state == "stale"
    notice = three.notice()
    assert notice is not None
    assert "rewind to" in notice.text
    assert "+two" in notice.text


def test_with_the_conversation_it_knows_what_it_knew(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    place.put("b.py", "b\n")
    three.read("b.py")
    three.rewind(then, conversation=True)
    assert three.believed("a.py") == "one\ntwo\nthree\n"
    assert three.check("a.py").state == "fresh"
    assert three.believed("b.py") is None


def test_the_conversation_alone_leaves_files_and_sees_that_they_differ(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.rewind(then, files=False, conversation=True)
    assert place.text("a.py") == "one\n2\nthree\n"
    assert three.believed("a.py") == "one\ntwo\nthree\n"
    assert three.check("a.py").state == "stale"


def test_a_rewind_begins_and_ends_on_the_timeline(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.rewind(then)
    kinds = [RewindStarted, RewindEnded]
    facts = [each.fact for each in three._context.store.timeline(kinds=kinds)]
    owner = three._context.owner
    assert facts[0] == RewindStarted(then.id, then.position, owner, with_files=True)
    assert facts[1] == RewindEnded(facts[1].to, files_only=True)


def test_what_is_gone_and_nobody_saw_going_is_listed_and_comes_back_when_forced(place, s):
    place.put("unread.py", "before\n")
    then = s.checkpoint()
    (place.root / "unread.py").unlink()
    [left] = s.rewind(then).left_alone
    assert "nobody saw who removed it" in left.reason
    report = s.rewind(then, force_paths=["unread.py"])
    assert place.text("unread.py") == "before\n"
    assert (report.restored, report.left_alone) == (("unread.py",), ())


def test_a_file_that_a_checkpoint_left_out_is_not_removed_by_force(place):
    s = place.session(checkpoint_file_bytes=1000)
    place.put("big.txt", "x" * 2000)
    place.put("small.txt", "x\n")
    then = s.checkpoint()
    s.create("new.txt", "new\n")
    with s.ran("make"):
        place.put("big.txt", "y" * 3000)
    with pytest.raises(RewindRefused, match="not kept"):
        s.rewind(then, force_paths=["big.txt"])
    assert len(place.text("big.txt")) == 3000
    s.rewind(then, force_paths=["new.txt"])
    assert place.names() == ["big.txt", "small.txt"]


def test_an_unknown_checkpoint_is_said_so(three):
    with pytest.raises(UnknownName):
        three.rewind("cp-none")


def test_a_position_that_is_not_there_is_refused(three):
    with pytest.raises(RewindRefused, match="positions 0 to"):
        three.rewind(10_000)
    with pytest.raises(RewindRefused, match="positions 0 to"):
        three.rewind(-1)


def test_another_sessions_checkpoint_is_refused_with_the_way_to_it(place, three):
    theirs = place.session("other").checkpoint()
    with pytest.raises(RewindRefused, match="session other") as refused:
        three.rewind(theirs)
    assert f"open_session(id='other').rewind('{theirs.id}')" in refused.value.hint


def test_neither_files_nor_conversation_is_refused(three):
    with pytest.raises(RewindRefused):
        three.rewind(three.checkpoint(), files=False)


def test_a_path_outside_cannot_be_forced(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    with pytest.raises(sightline.PathRefused):
        three.rewind(then, force_paths=["../outside.txt"])
    assert place.text("a.py") == "one\n2\nthree\n"
