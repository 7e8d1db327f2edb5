"""A rewind of many files goes in batches; what befalls one of them is its own affair."""

from __future__ import annotations

import pytest

from sightline.checkpoints import capture, take
from sightline.checkpoints.rewind import apply
from sightline.errors import RewindRefused, Unverifiable
from sightline.model.events import Changed, RewindStarted, WriteAbandoned, WriteIntended

NAMES = [f"f{n:02}.py" for n in range(30)]


@pytest.fixture
def many(place, s):
    """A checkpoint, and an edit of each of many files behind it."""
    for name in NAMES:
        place.put(name, f"{name}\ntwo\n")
        s.read(name)
    then = s.checkpoint()
    for name in NAMES:
        s.edit(name, "two", "2")
    return then


def appends(store, monkeypatch):
    """The facts of every append from now on, and whether it was durable."""
    made: list[tuple[list[type], bool]] = []
    append = store.append

    def told(given):
        made.append(([type(fact) for fact in given.facts], given.durable))
        return append(given)

    monkeypatch.setattr(store, "append", told)
    return made


def as_then(place, names=NAMES):
    return all(place.text(name) == f"{name}\ntwo\n" for name in names)


@pytest.mark.wide
def test_a_batch_is_one_durable_append_and_one_of_what_became_of_it(place, s, many, monkeypatch):
    made = appends(s._context.store, monkeypatch)
    s.rewind(many)
    of_files = [each for each in made if {WriteIntended, Changed} & set(each[0])]
    assert of_files == [([WriteIntended] * 30, True), ([Changed] * 30, False)]
    assert as_then(place)


@pytest.mark.wide
@pytest.mark.parametrize(("name", "limit"), [("BATCH_FILES", 7), ("BATCH_BYTES", 80)])
def test_more_than_a_batch_go_in_several(place, s, many, monkeypatch, name, limit):
    monkeypatch.setattr(apply, name, limit)
    made = appends(s._context.store, monkeypatch)
    report = s.rewind(many)
    sizes = [len(kinds) for kinds, _ in made if WriteIntended in kinds]
    assert sum(sizes) == 30
    assert max(sizes) <= limit
    assert len(sizes) > 3
    assert report.restored == tuple(NAMES)
    assert as_then(place)


@pytest.mark.wide
def test_a_file_larger_than_a_batch_goes_alone(place, s, many, monkeypatch):
    monkeypatch.setattr(apply, "BATCH_BYTES", 1)
    made = appends(s._context.store, monkeypatch)
    s.rewind(many)
    assert [kinds for kinds, _ in made if WriteIntended in kinds] == [[WriteIntended]] * 30
    assert as_then(place)


@pytest.mark.wide
def test_saves_into_some_of_a_batch_are_kept_and_planned_for_again(place, s, many):
    workspace = s._context.workspace
    replace_each = workspace.replace_each
    saved = NAMES[3::9]

    def late(wanted):
        workspace.replace_each = replace_each
        for name in saved:
            place.put(name, f"{name}\n2\nthe user's\n")
        return replace_each(wanted)

    workspace.replace_each = late
    report = s.rewind(many)
    assert report.merged == tuple(saved)
    assert report.left_alone == ()
    assert as_then(place, [name for name in NAMES if name not in saved])
    assert {place.text(name) for name in saved} == {f"{name}\ntwo\nthe user's\n" for name in saved}
    assert s._context.store.pending() == []


def test_edits_renames_removals_and_rights_go_side_by_side(place, s):
    for name in ("a.py", "b.py", "c.py", "d.py"):
        place.put(name, f"{name}\ntwo\n").chmod(0o755)
        s.read(name)
    then = s.checkpoint()
    s.edit("a.py", "two", "2")
    s.delete("b.py")
    s.edit("c.py", "two", "2")
    s.move("c.py", "moved.py")
    s.edit("moved.py", "2", "II")
    with s.ran("chmod 600 d.py"):
        (place.root / "d.py").chmod(0o600)
    s.create("new.py", "new\n")
    report = s.rewind(then)
    assert place.names() == ["a.py", "b.py", "c.py", "d.py"]
    assert as_then(place, place.names())
    assert {(place.root / name).stat().st_mode & 0o777 for name in place.names()} == {0o755}
    again = s.rewind(report.safety_checkpoint)
    assert place.text("moved.py") == "c.py\nII\n"
    assert s.rewind(again.safety_checkpoint).left_alone == ()
    assert as_then(place, place.names())


@pytest.mark.wide
def test_the_intents_of_a_rewind_are_all_settled(place, s, many):
    (place.root / NAMES[4]).unlink()
    (place.root / NAMES[4]).mkdir()
    report = s.rewind(many)
    assert [each.path for each in report.left_alone] == [NAMES[4]]
    assert s._context.store.pending() == []
    assert list(s._context.store.timeline(kinds=[WriteAbandoned])) == []


@pytest.mark.wide
@pytest.mark.parametrize("error", [Unverifiable("", "It cannot be read."), KeyboardInterrupt()])
def test_where_no_safety_checkpoint_is_taken_nothing_is_rewound(place, s, many, monkeypatch, error):
    stood = {name: place.text(name) for name in NAMES}

    def failing(*_, **__):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(take, "capture_changed", failing)
        with pytest.raises((RewindRefused, KeyboardInterrupt)):
            s.rewind(many)
    assert {name: place.text(name) for name in NAMES} == stood
    assert place.names() == sorted(NAMES)
    assert s._context.store.pending() == []
    assert not [*s._context.store.timeline(kinds=[RewindStarted])]
    assert s.rewind(many).restored == tuple(NAMES)


@pytest.mark.wide
def test_the_safety_checkpoint_comes_before_the_first_file_is_touched(place, s, many, monkeypatch):
    stood = {name: place.text(name) for name in NAMES}
    seen = []
    changed = capture.capture_changed

    def looking(*given, **named):
        seen.append({name: place.text(name) for name in NAMES})
        return changed(*given, **named)

    monkeypatch.setattr(take, "capture_changed", looking)
    report = s.rewind(many)
    assert seen == [stood]
    monkeypatch.undo()
    s.rewind(report.safety_checkpoint)
    assert {name: place.text(name) for name in NAMES} == stood


@pytest.mark.wide
def test_rights_that_somebody_gave_since_are_on_record(place, s, many):
    (place.root / NAMES[0]).chmod(0o640)
    s.rewind(many)
    [told] = [r.fact for r in s._context.store.timeline(kinds=[Changed]) if r.fact.change == "mode"]
    assert (told.path, told.mode & 0o777, told.cause.kind) == (NAMES[0], 0o640, "external")
    assert (place.root / NAMES[0]).stat().st_mode & 0o777 == 0o640
