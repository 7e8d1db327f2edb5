"""Kept texts: what was kept comes back, what was forgotten is gone, and an edit takes little room."""

from __future__ import annotations

import sqlite3
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.store.contract import AGENT, seen
from tests.support.examples import examples

from sightline.errors import StoreError
from sightline.model.events import Changed, WriteIntended
from sightline.model.revision import revision_of
from sightline.store import blobs
from sightline.store.port import Append
from sightline.store.sqlite_file import open_file

BASE = b"".join(b"line %d of a text that is edited\n" % number for number in range(300))

TEXTS = [f"text {number}\n".encode() * (1 + number * 37 % 400) for number in range(60)]
"""Different ones, of 7 bytes to 4 kB."""

FAMILY = [
    b"".join(b"line %d%s\n" % (line, b" edited" * (line == 7 * number)) for line in range(200))
    for number in range(20)
]
"""Ones that differ from each other in two lines."""

ANY = [b"", *TEXTS, *FAMILY]


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
    store.append(Append("s", [fact], at=1, texts=[*more, after]))


def chain(store, count):
    """A text and `count` edits, each of the one before."""
    texts = [BASE]
    store.append(Append("s", [seen("a.py", revision_of(BASE))], at=1, texts=[BASE]))
    for number in range(count):
        texts.append(edited(texts[-1], number, b"line %d, edited\n" % number))
        change(store, texts[-2], texts[-1])
    return texts


def names(texts):
    return [revision_of(data) for data in texts]


def forget(store, *texts, secret=False):
    return store.purge(lambda: names(texts), "age", session="s", at=1, secret=secret)


def depths(store):
    """Of the texts that need a dictionary."""
    rows = store._base.run("SELECT depth FROM texts WHERE dictionary IS NOT NULL ORDER BY id")
    return [depth for (depth,) in rows]


def real_depth(store, revision):
    rows = store._base.run(
        "WITH RECURSIVE step (id) AS (SELECT dictionary FROM texts WHERE revision = ? UNION ALL"
        " SELECT dictionary FROM texts JOIN step USING (id)) SELECT count(id) FROM step",
        (revision,),
    )
    return rows[0][0]


pairs = st.tuples(st.integers(0, 19), st.integers(0, 19))


def likeness(edits):
    return {revision_of(FAMILY[after]): revision_of(FAMILY[before]) for after, before in edits}


class Keeping(RuleBasedStateMachine):
    """Two handles of one store, and what has to be in it."""

    chosen = st.lists(st.integers(0, len(ANY) - 1), max_size=25).map(
        lambda numbers: [ANY[number] for number in numbers]
    )

    @initialize()
    def begin(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = f"{self.folder.name}/store.db"
        self.stores = [open_file(self.file), open_file(self.file)]
        self.there = set()

    @rule(texts=chosen, one=st.integers(0, 1))
    def keep(self, texts, one):
        self.stores[one].keep(texts)
        self.there.update(texts)

    @rule(texts=chosen, one=st.integers(0, 1))
    def append(self, texts, one):
        self.stores[one].append(Append("s", [seen("a")], at=1, texts=texts))
        self.there.update(texts)

    @rule(edits=st.lists(pairs, min_size=1, max_size=6), one=st.integers(0, 1))
    def append_edits(self, edits, one):
        """Texts that are said to be like others, which may be there, or come along, or neither."""
        texts = [FAMILY[number] for edit in edits for number in edit[: 1 + edit[1] % 2]]
        self.stores[one].append(Append("s", [seen("a")], at=1, texts=texts, like=likeness(edits)))
        self.there.update(texts)

    @rule(before=chosen, between=chosen, gone=chosen, edits=st.lists(pairs, max_size=6))
    def keep_while_another_keeps_and_forgets(self, before, between, gone, edits):
        """What was packed ahead of the transaction is judged again inside it."""
        one, other = self.stores
        batch = one._blobs.pack(before, likeness(edits))
        other.keep(between)
        forget(other, *gone)
        one._write(lambda: one._blobs.put(batch), durable=False)
        self.there = (self.there | set(between)) - set(gone) | set(before)

    @rule(texts=chosen, one=st.integers(0, 1), secret=st.booleans())
    def forget(self, texts, one, secret):
        gone = forget(self.stores[one], *texts, secret=secret)
        assert set(gone) == {revision_of(data) for data in texts if data in self.there}
        self.there -= set(texts)

    @rule(one=st.integers(0, 1))
    def tidy(self, one):
        self.stores[one].tidy()

    @rule(one=st.integers(0, 1))
    def open_anew(self, one):
        self.stores[one].close()
        self.stores[one] = open_file(self.file)

    @invariant()
    def all_that_was_kept_is_there_and_nothing_else(self):
        for store in self.stores:
            for data in ANY:
                there = data if data in self.there else None
                assert store.blob(revision_of(data)) == there
            assert [each.revision for each in store.texts()] == sorted(names(self.there))
            assert store.verify() == []

    @invariant()
    def no_text_has_more_dictionaries_behind_it_than_it_says(self):
        for revision, depth in self.stores[0]._base.run("SELECT revision, depth FROM texts"):
            assert real_depth(self.stores[0], revision) <= depth <= blobs.DEPTH_MAX

    def teardown(self):
        for store in self.stores:
            store.close()
        self.folder.cleanup()


TestKeeping = Keeping.TestCase
TestKeeping.settings = settings(max_examples=examples(30), stateful_step_count=12)


def similar():
    """Two texts: one, and the same with a part replaced."""
    parts = st.binary(max_size=40)
    return st.tuples(parts, parts, parts, parts).map(
        lambda some: (some[0] + some[1] + some[3], some[0] + some[2] + some[3])
    )


@given(similar() | st.tuples(st.binary(max_size=60), st.binary(min_size=8, max_size=60)))
def test_a_frame_with_a_dictionary_makes_the_text_again(texts):
    before, after = texts
    if len(before) >= blobs.DICTIONARY_MIN_BYTES:
        frame = blobs._compress_edit(after, before)
        zstd = vars(blobs)["zstd"]
        assert zstd.decompress(frame, zstd_dict=blobs._dictionary(before)) == after


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
    store.append(Append("s", [fact], at=1, texts=[BASE, edited(BASE, 9)]))
    sizes = {each.revision: each.size for each in store.texts()}
    assert sizes[revision_of(edited(BASE, 9))] < 200 < sizes[revision_of(BASE)]
    assert store.blob(revision_of(edited(BASE, 9))) == edited(BASE, 9)
    assert store.verify() == []


def test_what_a_text_is_like_may_be_said(store):
    store.keep([BASE])
    after = edited(BASE, 5)
    like = {revision_of(after): revision_of(BASE)}
    store.append(Append("s", [seen("a")], at=1, texts=[after], like=like))
    assert depths(store) == [1]
    assert store.blob(revision_of(after)) == after


def test_a_text_that_comes_before_the_one_it_is_like_is_kept_whole(store):
    after = edited(BASE, 5)
    like = {revision_of(after): revision_of(BASE), revision_of(BASE): revision_of(after)}
    store.append(Append("s", [seen("a")], at=1, texts=[after, BASE], like=like))
    assert depths(store) == [1]
    assert store.verify() == []


def test_a_text_that_is_not_like_the_one_before_is_kept_whole(store):
    store.keep([BASE, b"tiny"])
    change(store, BASE, bytes(Random(1).randbytes(5000)))
    change(store, b"never kept", edited(BASE, 5))
    change(store, b"tiny", b"tiny edit")
    assert depths(store) == []


def test_many_edits_of_one_text_stay_quick_to_read(store):
    texts = chain(store, 60)
    assert max(depths(store)) == blobs.DEPTH_MAX
    assert len(depths(store)) > 50
    assert all(store.blob(revision_of(data)) == data for data in texts)
    assert store.verify() == []


@pytest.mark.wide
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


def test_several_texts_that_need_one_need_one_of_them_when_it_goes(store):
    store.keep([BASE])
    for number in range(5):
        change(store, BASE, edited(BASE, number))
    forget(store, BASE)
    assert sorted(depths(store)) == [1] * 4
    assert all(store.blob(revision_of(edited(BASE, number))) for number in range(5))


def test_a_secret_dictionary_is_nowhere_in_the_files(store, file):
    secret = b"key = 4e1f0a77c2d94b0a9d6c8f3e5b7a1d20\n"
    store.append(Append("s", [seen("a")], at=1, texts=[secret + BASE]))
    change(store, secret + BASE, b"key = ''\n" + BASE)
    assert depths(store) == [1]
    forget(store, secret + BASE, secret=True)
    assert store.blob(revision_of(b"key = ''\n" + BASE)) == b"key = ''\n" + BASE
    store.close()
    assert secret[6:] not in Path(file).read_bytes()


def test_a_secret_that_was_written_anew_before_is_nowhere_in_the_files(store, file):
    """When the text before it went its frame was written a second time, in another place."""
    secret, base = Random(3).randbytes(2000), Random(4).randbytes(20_000)
    store.keep([base])
    change(store, base, secret + base)
    assert depths(store) == [1]
    forget(store, base)
    forget(store, secret + base, secret=True)
    store.close()
    assert not any(secret[at : at + 32] in Path(file).read_bytes() for at in range(0, 2000, 50))
    assert not Path(f"{file}-wal").exists()


@pytest.mark.wide
def test_edits_of_a_large_text_take_little_room_too(store):
    large = Random(2).randbytes(3 << 20)
    after = large[:1000] + b"edited" + large[1000:]
    store.append(Append("s", [seen("a")], at=1, texts=[large]))
    change(store, large, after)
    assert store.room().texts < (3 << 20) + 20_000
    assert store.blob(revision_of(after)) == after
    forget(store, large)
    assert store.blob(revision_of(after)) == after
    assert store.verify() == []


def test_a_damaged_text_is_no_dictionary_and_can_be_forgotten(store, file):
    texts = chain(store, 2)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("UPDATE texts SET frame = x'00' WHERE depth = 0")
    for data in texts:
        with pytest.raises(StoreError, match="is damaged"):
            store.blob(revision_of(data))
    later = edited(texts[-1], 40)
    with closing(open_file(file)) as other:
        change(other, texts[-1], later)
        assert forget(other, BASE) == (revision_of(BASE),)
    assert store.blob(revision_of(later)) == later
    assert len(store.verify()) == 2


@pytest.mark.parametrize(
    "tamper",
    [
        "UPDATE texts SET dictionary = NULL, depth = 0",
        "UPDATE texts SET dictionary = id",
        "UPDATE texts SET dictionary = 99 WHERE dictionary IS NOT NULL",
        "DELETE FROM texts WHERE dictionary IS NULL",
    ],
)
def test_a_text_without_its_dictionary_is_damaged_and_never_another_text(store, file, tamper):
    texts = chain(store, 3)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute(tamper)
    for data in texts[1:]:
        with pytest.raises(StoreError, match="is damaged"):
            store.blob(revision_of(data))
    assert len(store.verify()) >= 3


@pytest.mark.parametrize("bit", range(0, 8 * 40, 7))
def test_a_flipped_bit_is_never_taken_for_the_text(store, file, bit):
    store.keep([BASE])
    [(frame,)] = store._base.run("SELECT frame FROM texts")
    flipped = bytearray(frame)
    flipped[bit // 8] ^= 1 << bit % 8
    store._base.run("UPDATE texts SET frame = ?", (bytes(flipped),))
    wrong = store.verify()
    assert wrong == [f"The kept text {revision_of(BASE)} in {file} is damaged."] * len(wrong)
    if wrong:
        with pytest.raises(StoreError, match="is damaged"):
            store.blob(revision_of(BASE))
    else:  # a bit that says nothing
        assert store.blob(revision_of(BASE)) == BASE


def test_a_text_whose_dictionary_goes_meanwhile_is_kept_whole(store, file):
    store.keep([BASE])
    after = edited(BASE, 3)
    with closing(open_file(file)) as other:
        batch = other._blobs.pack([after], {revision_of(after): revision_of(BASE)})
        assert batch[0].dictionary == revision_of(BASE)
        forget(store, BASE)
        other._write(lambda: other._blobs.put(batch), durable=False)
        assert depths(store) == []
        assert store.blob(revision_of(after)) == after


def test_texts_kept_ahead_say_since_when_and_so_do_those_kept_again(store):
    store.append(Append("s", [seen("a"), seen("b")], at=1))
    store.keep(TEXTS[:5])
    store.append(Append("s", [seen("c")], at=2, texts=TEXTS[5:10]))
    since = {each.revision: each.since for each in store.texts()}
    assert [since[name] for name in names(TEXTS[:10])] == [2] * 5 + [0] * 5
    store.keep(TEXTS[4:6])
    since = {each.revision: each.since for each in store.texts()}
    assert [since[name] for name in names(TEXTS[3:7])] == [2, 3, 3, 0]


def test_a_text_that_takes_the_place_of_a_forgotten_one_is_not_kept_ahead(store):
    store.append(Append("s", [seen("a")], at=1))
    store.keep([b"ahead"])
    forget(store, b"ahead")
    store.append(Append("s", [seen("c")], at=2, texts=[b"with its fact"]))
    assert [each.since for each in store.texts()] == [0]


def test_a_text_has_the_same_frame_whichever_came_before_it():
    texts = [b"", b"x", bytes(range(256)) * 4_000, b"line\n" * 300_000, b"x", b""]
    alone = []
    for text in texts:
        with ThreadPoolExecutor(1) as pool:  # a thread of its own, without earlier texts
            alone.append(pool.submit(blobs.compress, text).result())
    assert [blobs.compress(text) for text in texts] == alone
