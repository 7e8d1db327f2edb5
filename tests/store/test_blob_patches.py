"""Texts that are kept as what an edit made of another: small, whole, and not lost with it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.contract import AGENT, seen

from sightline.errors import StoreError
from sightline.model.events import Changed, WriteIntended
from sightline.model.revision import revision_of
from sightline.store.blob_patches import DEPTH_MAX, WORTH, patch, patched
from sightline.store.opening import open_file

BASE = b"".join(b"line %d of a text that is edited\n" % number for number in range(300))


def edited(text, number, line=b"another line\n"):
    lines = text.splitlines(keepends=True)
    lines[number : number + 1] = [line]
    return b"".join(lines)


@pytest.fixture
def file(tmp_path):
    return str(tmp_path / "store.db")


@pytest.fixture
def store(file):
    store = open_file(file)
    yield store
    store.close()


def change(store, before, after, *more):
    fact = Changed("a.py", revision_of(before), revision_of(after), "content", AGENT)
    store.append("s", [fact], at=1, blobs=[*more, after])


def chain(store, count):
    """A text and `count` edits, each of the one before."""
    texts = [BASE]
    store.append("s", [seen("a.py", revision_of(BASE))], at=1, blobs=[BASE])
    for number in range(count):
        texts.append(edited(texts[-1], number, b"line %d, edited\n" % number))
        change(store, texts[-2], texts[-1])
    return texts


def forget(store, *texts, secret=False):
    names = [revision_of(data) for data in texts]
    return store.purge(lambda: names, "age", session="s", at=1, secret=secret)


def depths(store):
    return [depth for (depth,) in store._base.run("SELECT depth FROM patched")]


def similar():
    """Two texts: one, and the same with a part replaced."""
    parts = st.binary(max_size=40)
    return st.tuples(parts, parts, parts, parts).map(
        lambda some: (some[0] + some[1] + some[3], some[0] + some[2] + some[3])
    )


@given(similar() | st.tuples(st.binary(max_size=60), st.binary(max_size=60)))
def test_a_patch_makes_the_text_of_the_one_before(texts):
    before, after = texts
    made = patch("r", after, "b", before, lambda middle: ("raw", middle))
    if made:
        assert patched(before, made.head, made.tail, made.body) == after
        assert WORTH * len(made.body) <= len(after)


@given(st.binary(min_size=40), st.binary(min_size=1, max_size=10), st.binary(min_size=40))
def test_a_small_edit_is_always_a_patch(head, part, tail):
    assert patch("r", head + part + tail, "b", head + tail, lambda middle: ("raw", middle))


@pytest.mark.parametrize(
    "fact",
    [
        Changed("a", revision_of(BASE), revision_of(edited(BASE, 9)), "content", AGENT),
        WriteIntended("a", revision_of(BASE), revision_of(edited(BASE, 9))),
    ],
)
@pytest.mark.parametrize("ahead", [True, False])
def test_an_edit_takes_little_room(store, fact, ahead):
    """Whether the text before it was there, or comes along."""
    if ahead:
        store.keep([BASE])
    store.append("s", [fact], at=1, blobs=[BASE, edited(BASE, 9)])
    sizes = {each.revision: each.size for each in store.texts()}
    assert sizes[revision_of(edited(BASE, 9))] < 200 < sizes[revision_of(BASE)]
    assert store.blob(revision_of(edited(BASE, 9))) == edited(BASE, 9)
    assert store.verify() == []


def test_what_a_text_is_like_may_be_said(store):
    store.keep([BASE])
    after = edited(BASE, 5)
    like = {revision_of(after): revision_of(BASE)}
    store.append("s", [seen("a")], at=1, blobs=[after], like=like)
    assert depths(store) == [1]
    assert store.blob(revision_of(after)) == after


def test_a_text_that_is_not_like_the_one_before_is_kept_whole(store):
    store.keep([BASE])
    change(store, BASE, bytes(Random(1).randbytes(5000)))
    change(store, b"never kept", edited(BASE, 5))
    assert depths(store) == []


def test_many_edits_of_one_text_stay_quick_to_read(store):
    texts = chain(store, 60)
    assert max(depths(store)) == DEPTH_MAX
    assert len(depths(store)) > 50
    assert all(store.blob(revision_of(data)) == data for data in texts)
    assert store.verify() == []


@pytest.mark.parametrize("seed", range(5))
def test_texts_are_forgotten_in_any_order_and_take_no_other_with_them(store, seed):
    texts = chain(store, 30)
    there = list(texts)
    Random(seed).shuffle(there)
    while there:
        forget(store, there.pop(), *there[-2:-1])
        there = [data for data in there if store.blob(revision_of(data)) is not None]
        assert {each.revision for each in store.texts()} == {revision_of(d) for d in there}
        assert store.verify() == []
    assert depths(store) == []


def test_several_texts_that_rest_on_one_rest_on_one_of_them_when_it_goes(store):
    store.keep([BASE])
    for number in range(5):
        change(store, BASE, edited(BASE, number))
    forget(store, BASE)
    assert sorted(depths(store)) == [1] * 4
    assert all(store.blob(revision_of(edited(BASE, number))) for number in range(5))


def test_a_secret_base_is_nowhere_in_the_files(store, file):
    secret = b"key = 4e1f0a77c2d94b0a9d6c8f3e5b7a1d20\n"
    store.append("s", [seen("a")], at=1, blobs=[secret + b"x\n" * 20])
    change(store, secret + b"x\n" * 20, b"key = ''\n" + b"x\n" * 20)
    assert depths(store) == [1]
    forget(store, secret + b"x\n" * 20, secret=True)
    assert store.blob(revision_of(b"key = ''\n" + b"x\n" * 20)) == b"key = ''\n" + b"x\n" * 20
    store.close()
    assert secret[6:] not in Path(file).read_bytes()


def test_edits_of_a_large_text_are_patches_too(store):
    large = Random(2).randbytes(3 << 20)
    store.append("s", [seen("a")], at=1, blobs=[large])
    change(store, large, large[:1000] + b"edited" + large[1000:])
    assert store.room().files < 4 << 20
    forget(store, large)
    store.tidy()
    assert store.blob(revision_of(large[:1000] + b"edited" + large[1000:])) is not None
    assert store.verify() == []


def test_nothing_rests_on_a_damaged_text_and_it_can_be_forgotten(store, file):
    texts = chain(store, 2)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("UPDATE blobs SET body = x'00'")
    for data in texts:
        with pytest.raises(StoreError, match="is damaged"):
            store.blob(revision_of(data))
    later = edited(texts[-1], 40)
    with closing(open_file(file)) as other:
        change(other, texts[-1], later)
        assert forget(other, BASE) == (revision_of(BASE),)
    assert store.blob(revision_of(later)) == later
    assert len(store.verify()) == 2


def test_a_text_whose_base_goes_meanwhile_is_kept_whole(store, file):
    store.keep([BASE])
    after = edited(BASE, 3)
    with closing(open_file(file)) as other:
        batch = other._blobs.pack([after], {revision_of(after): revision_of(BASE)})
        assert batch.patches
        forget(store, BASE)
        other._write(lambda: other._blobs.put(batch), durable=False)
        assert depths(store) == []
        assert store.blob(revision_of(after)) == after


def test_a_reader_finds_a_text_that_is_kept_otherwise_from_one_look_to_the_next(
    store, file, monkeypatch
):
    texts = chain(store, 3)
    with closing(open_file(file)) as other:
        look = other._blobs._whole

        def late(revision):
            monkeypatch.undo()
            forget(store, BASE)
            return look(revision)

        monkeypatch.setattr(other._blobs, "_whole", late)
        assert other.blob(revision_of(texts[2])) == texts[2]
