"""Manifests: steps between them, their stored form, and what differs."""

import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.model.manifest import (
    EMPTY,
    STEPS_MAX,
    Entry,
    FileDifference,
    Manifest,
    Step,
    Stored,
    Whole,
    decode,
    differences,
    encode,
    file_row,
    link_row,
    step,
    stored,
)
from sightline.model.revision import revision_of

PLAIN, RUNS, LINK = stat.S_IFREG | 0o644, stat.S_IFREG | 0o755, stat.S_IFLNK | 0o777
REVISIONS = [revision_of(bytes([n])) for n in range(4)]

paths = st.sampled_from(["a", "a-b", "a/b", "b/c/d", "ü", "x\udcff"])
rows = st.one_of(
    st.builds(file_row, st.sampled_from(REVISIONS), st.sampled_from([PLAIN, RUNS])),
    st.builds(link_row, st.sampled_from(["a", "../out", "ü"]), st.just(LINK)),
)
manifests = st.builds(
    Manifest,
    st.dictionaries(paths, rows),
    st.dictionaries(st.sampled_from(["big.bin", "node_modules/", ".env"]), st.text(max_size=9)),
)


@given(manifests, manifests)
def test_a_step_leads_from_one_manifest_to_the_other(old, new):
    assert old.after(step(old, new)) == new


WIDE = {f"f{number}": file_row(REVISIONS[0], PLAIN) for number in range(99)}
changes = st.tuples(
    st.dictionaries(st.sampled_from(["f1", "f2", "f3", "new", "newer"]), rows, max_size=2),
    st.sets(st.sampled_from(["f2", "f3", "f4", "new", "never"]), max_size=2),
    st.sets(st.sampled_from(["big", "bigger"])),
)


@given(st.lists(st.tuples(st.integers(0, 30), changes, st.booleans()), max_size=12))
def test_a_manifest_stays_what_it_is_whatever_is_made_of_it(history):
    wide = {"big": "large", "biggest": "larger"}
    made = [Manifest(dict(WIDE), dict(wide))]
    plain = [(dict(WIDE), dict(wide))]
    for number, (put, gone, covered), read in history:
        of = number % len(made)
        taken = Step(put, tuple(gone - put.keys()), {"now": "large"}, tuple(covered))
        made.append(made[of].after(taken))
        was, left = plain[of]
        stands = {path: row for path, row in {**was, **put}.items() if path not in taken.gone}
        out = {path: why for path, why in {**left, "now": "large"}.items() if path not in covered}
        plain.append((stands, out))
        if read:  # puts the layers together
            assert made[-1].rows == stands
    for each, (stands, out) in zip(made, plain, strict=True):
        assert len(each) == len(stands)
        every = {*WIDE, "new", "newer", "never"}
        assert {path: each.row(path) for path in every if path in each} == stands
        assert {path for path in every if each.get(path) is not None} == stands.keys()
        assert each.only(every).rows == stands
        assert (each, each.omitted) == (Manifest(stands, out), out)


def test_a_step_of_few_rows_copies_none_of_the_others():
    old = Manifest(dict(WIDE))
    new = old.after(Step({"f1": file_row(REVISIONS[1], PLAIN)}))
    assert new._rows is old._rows
    assert old.row("f1") == file_row(REVISIONS[0], PLAIN)


@given(manifests)
def test_no_step_leads_from_a_manifest_to_itself(one):
    assert step(one, one).size == 0
    assert differences(one, one) == []


@given(manifests, manifests)
def test_what_is_stored_is_read_back(old, new):
    kept = stored(new, step(old, new), REVISIONS[0], 3)
    assert decode(encode(kept)) == kept
    assert (EMPTY if kept.base is None else old).after(decode(encode(kept)).step) == new


@given(manifests)
def test_equal_manifests_are_stored_as_the_same_bytes(one):
    turned = Manifest(dict(reversed(one.rows.items())), dict(reversed(one.omitted.items())))
    assert encode(stored(one, step(EMPTY, one), None, 0)) == encode(
        stored(turned, step(EMPTY, turned), None, 0)
    )


@given(manifests, manifests)
def test_differences_turned_round_are_those_of_the_other_way(old, new):
    there, back = differences(old, new), differences(new, old)
    assert [(d.path, d.before, d.after) for d in there] == [
        (d.path, d.after, d.before) for d in back
    ]
    assert {d.path for d in there} == {
        path for path in {*old, *new} if old.get(path) != new.get(path)
    }


def test_what_became_of_a_path_is_told():
    first, second = REVISIONS[:2]
    old = Manifest(
        {
            "changed": file_row(first, PLAIN),
            "gone": file_row(first, PLAIN),
            "kind": file_row(first, PLAIN),
            "mode": file_row(first, PLAIN),
            "same": file_row(first, PLAIN),
        }
    )
    new = Manifest(
        {
            "added": file_row(first, PLAIN),
            "changed": file_row(second, PLAIN),
            "kind": link_row("same", LINK),
            "mode": file_row(first, RUNS),
            "same": file_row(first, PLAIN),
        }
    )
    told = {each.path: each.change for each in differences(old, new)}
    assert told == {
        "added": "added",
        "changed": "changed",
        "gone": "removed",
        "kind": "kind",
        "mode": "mode",
    }
    assert differences(old, new)[0] == FileDifference("added", "added", None, Entry(first, PLAIN))


def test_a_symlink_has_the_revision_of_where_it_leads():
    link = Manifest({"l": link_row("a/b", LINK)})["l"]
    assert link == Entry(revision_of(b"a/b"), LINK, "symlink", "a/b")


def test_a_manifest_is_whole_when_the_way_back_or_the_step_is_long():
    new = Manifest({f"f{n}": file_row(REVISIONS[0], PLAIN) for n in range(10)})
    small, half = Step({"f1": new.rows["f1"]}), Step(dict(list(new.rows.items())[:6]))
    assert stored(new, small, REVISIONS[1], 3) == Stored(small, REVISIONS[1], 4)
    assert stored(new, small, REVISIONS[1], STEPS_MAX).base is None
    old = new.after(Step({"f1": file_row(REVISIONS[1], PLAIN)}, ("f2",)))
    again = stored(new, small, REVISIONS[1], STEPS_MAX, Whole(REVISIONS[2], old))
    assert again == Stored(step(old, new), REVISIONS[2], 1)
    far = Whole(REVISIONS[2], EMPTY)
    assert stored(new, small, REVISIONS[1], STEPS_MAX, far).base is None
    assert stored(new, half, REVISIONS[1], 3).base is None
    assert stored(new, small, None, 0).base is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"v": 2}',
        b'{"v": 1, "put": {"a": 3}, "gone": [], "omit": {}, "covered": [], "base": null, "steps": 0}',
        b'{"v": 1, "put": {"a": [3]}, "gone": [], "omit": {}, "covered": [], "base": null, "steps": 0}',
    ],
)
def test_what_is_no_manifest_is_an_error(data):
    with pytest.raises(ValueError):  # noqa: PT011
        decode(data)
