"""A rewind whose process died in the middle, and what its session goes on with."""

from __future__ import annotations

import os

import pytest
from tests.disasters.ending import ended, rewinds_end

from sightline.api.opening import start
from sightline.checkpoints.rewind import apply, recovery, rewinder
from sightline.checkpoints.rewind.interrupted import listed, unfinished_rewinds
from sightline.errors import StoreError, Unverifiable
from sightline.guard.edit import apply_edit
from sightline.hooks.dispatch import attend
from sightline.model.attempts import Create
from sightline.model.events import RewindEnded, RewindStarted
from sightline.model.hook_events import Prompted
from sightline.text.command_words import as_command

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a child")

NAMES = [f"{n:03}.txt" for n in range(15)]


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(apply, "BATCH_FILES", 10)


@pytest.fixture
def half(place, monkeypatch):
    """A rewind whose process died when ten of 15 files were back; its checkpoint."""
    return begun(place, monkeypatch)


def begun(place, monkeypatch, appends=2, to=None, **asked):
    for name in NAMES:
        place.put(name, "then\n")
    with place.session() as s:
        s.read(NAMES[0])
        then = s.checkpoint().id
        with s.ran(f"sed -i s/then/now/ {' '.join(NAMES)}"):
            for name in NAMES:
                place.put(name, "now\n")

    def rewinding():
        with place.session() as s:
            s.rewind(to or then, **asked)

    with rewinds_end(monkeypatch, appends, SystemExit):
        ended(rewinding)
    return then


def stands(place):
    texts = [place.text(name) for name in NAMES]
    return texts.count("then\n"), texts.count("now\n")


def left(session):
    return unfinished_rewinds(session._context, session.id)


def test_opening_its_session_finishes_it_and_says_so(place, half):
    assert stands(place) == (10, 5)
    s = place.session()
    assert stands(place) == (15, 0)
    [warning] = s.warnings()
    assert warning.text == (
        f"The rewind to {half}, which had been interrupted, was finished: 5 files more went back."
    )
    last = [type(each.fact) for each in s._context.store.timeline(newest=2)]
    assert last[0] is RewindEnded
    stood = s._context.store.position()
    place.session()
    assert s._context.store.position() <= stood + 1, "nothing is finished twice"


@pytest.mark.wide
def test_another_session_leaves_it_to_its_own(place, half):
    other = place.session("other")
    assert stands(place) == (10, 5)
    assert [each.to for each in listed(other._context)] == [half]


def test_while_its_process_is_there_nobody_finishes_it(place, monkeypatch):
    s = place.session()
    s._context.append([RewindStarted("position 0", 0, s._context.owner)])
    assert listed(s._context) == []
    place.session()
    assert s._context.store.pending()


@pytest.mark.wide
def test_what_was_done_since_it_began_stands(place, half):
    with place.session("other") as other:
        other.edit(NAMES[13], "now", "other's")
    place.put(NAMES[14], "now and then\n")
    place.put("000.txt", "then\nand the user's\n")
    place.session()
    assert place.text(NAMES[13]) == "other's\n"
    assert place.text(NAMES[14]) == "now and then\n"
    assert place.text("000.txt") == "then\nand the user's\n"
    assert stands(place)[1] == 0


@pytest.mark.wide
def test_its_agents_own_later_work_stands(place, half):
    """A hook goes on before anybody could finish it: what it does then is no part of the rewind."""
    context = place.session("other")._context.for_session("s")
    apply_edit(context, "new.txt", Create("by the agent\n"))
    place.session()
    assert stands(place) == (15, 0)
    assert place.text("new.txt") == "by the agent\n"


@pytest.mark.wide
def test_a_prompt_finishes_it_and_the_agent_is_told(place, half):
    other = place.session("other")
    context = other._context
    s = start(context.store, context.workspace, context.settings, id="s")
    assert stands(place) == (10, 5), "a hook that is no prompt has no time for it"
    told = attend(s, Prompted("go on")).context
    assert stands(place) == (15, 0)
    assert "which had been interrupted, was finished" in told


@pytest.mark.wide
def test_one_that_died_behind_its_last_file_is_ended(place, monkeypatch):
    begun(place, monkeypatch, appends=4)
    assert stands(place) == (15, 0)
    s = place.session()
    assert left(s) == []
    assert "0 files more" in s.warnings()[0].text


@pytest.mark.wide
def test_the_same_command_again_ends_it(place, half):
    other = place.session("other")
    report = rewinder.rewind(other._context.for_session("s"), half)
    assert len(report.restored) == 5
    assert listed(other._context) == []


@pytest.mark.wide
def test_one_that_only_had_to_be_ended_is_ended_by_the_same_command(place, monkeypatch):
    then = begun(place, monkeypatch, appends=4)
    other = place.session("other")
    assert rewinder.rewind(other._context.for_session("s"), then, dry_run=True).restored == ()
    assert listed(other._context)
    assert rewinder.rewind(other._context.for_session("s"), then).restored == ()
    assert listed(other._context) == []


def test_the_conversation_goes_back_as_it_was_asked_for(place, monkeypatch):
    then = begun(place, monkeypatch, conversation=True)
    s = place.session()
    ends = [r.fact for r in s._context.store.timeline(kinds=[RewindEnded])]
    [cp] = [each for each in s.checkpoints() if each.id == then]
    assert ends == [RewindEnded(cp.position)]
    assert s.believed(NAMES[0]) == "then\n"


@pytest.mark.wide
def test_a_disk_that_refuses_leaves_it_unfinished_and_it_is_said(place, half, monkeypatch):
    other = place.session("other")
    context = other._context.for_session("s")
    tree = type(context.workspace)

    def refusing(self, replacements):
        return [Unverifiable(each.path, f"{each.path}: No space left.") for each in replacements]

    with monkeypatch.context() as patched:
        patched.setattr(tree, "replace_each", refusing)
        said = recovery.finish(context).worded(as_command)
    assert "is not finished" in said
    assert "No space left" in said
    assert f"The rewind to {half} was interrupted" in said
    assert f"To finish it now: sightline rewind {half} --session s." in said
    assert listed(context)
    assert "was finished: 5 files" in str(recovery.finish(context))


@pytest.mark.wide
def test_a_store_that_refuses_leaves_it_unfinished(place, half, monkeypatch):
    other = place.session("other")
    context = other._context.for_session("s")
    full = StoreError("The store cannot grow: the disk is full.", "Free some.")

    def refusing(*_, **__):
        raise full

    with monkeypatch.context() as patched:
        patched.setattr(type(context.store), "append", refusing)
        assert "the disk is full" in str(recovery.finish(context))
    assert stands(place) == (10, 5)
    assert listed(context)


@pytest.mark.wide
def test_what_there_is_no_time_for_is_left_to_the_next(place, monkeypatch):
    begun(place, monkeypatch, appends=0)
    context = place.session("other")._context.for_session("s")
    assert "there was no time for all of it" in str(recovery.finish(context, until=0.0))
    assert stands(place) == (10, 5)
    assert "5 files more" in str(recovery.finish(context))


@pytest.mark.wide
@pytest.mark.parametrize("later", [False, True])
def test_a_forced_path_is_forced_unless_somebody_wrote_there_since(place, monkeypatch, later):
    place.put("forced.txt", "then\n")
    with place.session() as s:
        s.checkpoint("then")
    place.put("forced.txt", "the user's\n")
    begun(place, monkeypatch, to="then", force_paths=["forced.txt"])
    assert place.text("forced.txt") == "the user's\n"
    if later:
        place.put("forced.txt", "the user's, later\n")
    s = place.session()
    assert place.text("forced.txt") == ("the user's, later\n" if later else "then\n")
    assert ("forced.txt" in s.warnings()[0].paths) is later
