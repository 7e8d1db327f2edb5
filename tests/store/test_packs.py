"""Texts in packs: what was kept comes back, what was forgotten is gone, whatever happens between."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.store.contract import seen

from sightline.errors import StoreError
from sightline.model.revision import revision_of
from sightline.store import packs
from sightline.store.lru import Held
from sightline.store.opening import open_file

TEXTS = [f"text {number}\n".encode() * (1 + number * 37 % 400) for number in range(60)]
"""Different ones, of 7 bytes to 4 kB."""

FAMILY = [
    b"".join(b"line %d%s\n" % (line, b" edited" * (line == 7 * number)) for line in range(200))
    for number in range(20)
]
"""Ones that differ from each other in two lines."""

ANY = [b"", *TEXTS, *FAMILY]


@pytest.fixture
def file(tmp_path):
    return str(tmp_path / "store.db")


@pytest.fixture
def store(file):
    store = open_file(file)
    yield store
    store.close()


def names(texts):
    return [revision_of(data) for data in texts]


def forget(store, texts, *, secret=False):
    return store.purge(lambda: names(texts), "age", session="s", at=1, secret=secret)


def packs_of(store):
    return [number for (number,) in store._base.run("SELECT id FROM packs ORDER BY id")]


def held_in_packs(store):
    """Every text whose bytes stand in a pack, needed or not."""
    bodies = store._base.run("SELECT lengths, body FROM packs")
    return {
        revision_of(data) for lengths, body in bodies for data in packs._unpacked(lengths, body)
    }


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
        self.stores[one].append("s", [seen("a")], at=1, blobs=texts)
        self.there.update(texts)

    @rule(edits=st.lists(pairs, min_size=1, max_size=6), one=st.integers(0, 1))
    def append_edits(self, edits, one):
        """Texts that are said to be like others, which may be there, or come along, or neither."""
        texts = [FAMILY[number] for edit in edits for number in edit[: 1 + edit[1] % 2]]
        self.stores[one].append("s", [seen("a")], at=1, blobs=texts, like=likeness(edits))
        self.there.update(texts)

    @rule(before=chosen, between=chosen, gone=chosen, edits=st.lists(pairs, max_size=6))
    def keep_while_another_keeps_and_forgets(self, before, between, gone, edits):
        """What was packed ahead of the transaction is judged again inside it."""
        one, other = self.stores
        batch = one._blobs.pack(before, likeness(edits))
        other.keep(between)
        forget(other, gone)
        one._write(lambda: one._blobs.put(batch), durable=False)
        self.there = (self.there | set(between)) - set(gone) | set(before)

    @rule(texts=chosen, one=st.integers(0, 1), secret=st.booleans())
    def forget(self, texts, one, secret):
        gone = forget(self.stores[one], texts, secret=secret)
        assert set(gone) == {revision_of(data) for data in texts if data in self.there}
        self.there -= set(texts)
        if secret:
            assert held_in_packs(self.stores[one]).isdisjoint(names(texts))

    @rule(one=st.integers(0, 1))
    def tidy(self, one):
        store = self.stores[one]
        store.tidy()
        assert not store._blobs.packs().sparse(1)

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

    def teardown(self):
        for store in self.stores:
            store.close()
        self.folder.cleanup()


TestKeeping = Keeping.TestCase
TestKeeping.settings = settings(max_examples=30, stateful_step_count=12)


@given(st.lists(st.binary(min_size=1, max_size=300), unique=True, max_size=400))
def test_packs_hold_every_text_once_in_order_and_none_is_large(texts):
    named = {revision_of(data): data for data in texts}
    made = packs.together(named)
    assert [each for pack in made for each in pack.texts.items()] == list(named.items())
    for pack in made:
        assert zlib.decompress(pack.body) == b"".join(pack.texts.values())
        assert len(pack.texts) <= packs.TEXTS_MAX


def test_texts_that_are_kept_together_share_a_body(store):
    store.keep(TEXTS[:20])
    assert len(packs_of(store)) == 1
    sizes = [each.size for each in store.texts()]
    [(room,)] = store._base.run("SELECT length(body) FROM packs")
    assert room <= sum(sizes) <= room + 20
    assert all(size > 0 for size in sizes)


def test_the_few_texts_of_an_edit_are_rows_of_their_own(store):
    store.append("s", [seen("a")], at=1, blobs=TEXTS[:3])
    assert packs_of(store) == []
    store.append("s", [seen("a")], at=1, blobs=TEXTS[:7])
    assert len(packs_of(store)) == 1
    assert [data for data in TEXTS if store.blob(revision_of(data))] == TEXTS[:7]


def put(store, batch):
    store._write(lambda: store._blobs.put(batch, ahead=True), durable=False)


def test_texts_that_another_pack_took_meanwhile_stay_there(store):
    batch = store._blobs.pack(TEXTS[:20])
    store.keep(TEXTS[5:15])
    [first] = packs_of(store)
    put(store, batch)
    [second] = set(packs_of(store)) - {first}
    assert store._base.run("SELECT * FROM thinned") == [(second, sum(map(len, TEXTS[5:15])))]
    assert [store.blob(name) for name in names(TEXTS[:20])] == TEXTS[:20]
    assert forget(store, TEXTS[7:8], secret=True) == (revision_of(TEXTS[7]),)
    assert held_in_packs(store) == set(names(TEXTS[:20])) - {revision_of(TEXTS[7])}
    assert store.verify() == []


def test_a_pack_all_of_whose_texts_another_took_meanwhile_is_none(store):
    batch = store._blobs.pack(TEXTS[:20])
    store.append("s", [seen("a"), seen("b")], at=1, blobs=[*reversed(TEXTS[:20])])
    before = packs_of(store)
    put(store, batch)
    assert packs_of(store) == before
    assert store._base.run("SELECT * FROM thinned") == []
    assert [each.since for each in store.texts()] == [2] * 20


def test_more_packs_than_a_statement_takes_are_all_kept(store, monkeypatch):
    monkeypatch.setattr(packs, "PACK_BYTES", 2000)
    monkeypatch.setattr(packs, "PACKS_AT_ONCE", 3)
    store.keep(TEXTS)
    assert len(packs_of(store)) > 6
    assert [store.blob(name) for name in names(TEXTS)] == TEXTS
    forget(store, TEXTS)
    assert packs_of(store) == []


def test_the_number_of_a_pack_is_never_given_out_twice(store):
    store.keep(TEXTS[:10])
    [first] = packs_of(store)
    forget(store, TEXTS[:10])
    store.keep(TEXTS[:10])
    assert packs_of(store) == [first + 1]


def test_a_pack_goes_with_its_last_text(store):
    store.keep(TEXTS[:10])
    forget(store, TEXTS[:9])
    assert len(packs_of(store)) == 1
    forget(store, TEXTS[9:10])
    assert packs_of(store) == []
    assert store._base.run("SELECT * FROM thinned") == []
    assert store.room().texts == 0


def test_packs_that_lost_most_of_their_texts_are_written_anew_as_one(store):
    for first in range(0, 60, 20):
        store.keep(TEXTS[first : first + 20])
    left = TEXTS[::20]
    forget(store, [data for data in TEXTS if data not in left])
    before = store.room().texts
    store.tidy()
    assert len(packs_of(store)) == 1
    assert held_in_packs(store) == set(names(left))
    assert store.room().texts < before / 2
    assert all(store.blob(revision_of(data)) == data for data in left)


def test_a_pack_of_which_half_is_needed_stays_as_it_is(store):
    store.keep([b"%d" % number * 500 for number in range(10, 20)])
    forget(store, [b"%d" % number * 500 for number in range(10, 15)])
    before = packs_of(store)
    store.tidy()
    assert packs_of(store) == before


def test_a_secret_leaves_its_pack_at_once_and_the_file_with_it(store, file):
    secret = os.urandom(200).hex().encode()
    store.keep([*TEXTS[:5], secret, *TEXTS[5:10]])
    [(body,)] = store._base.run("SELECT body FROM packs")
    assert forget(store, [secret], secret=True) == (revision_of(secret),)
    assert held_in_packs(store) == set(names(TEXTS[:10]))
    store.close()
    written = Path(file).read_bytes()
    for start in range(0, len(body) - 24, 24):
        assert body[start + 8 : start + 24] not in written or start < 600
    assert not os.path.exists(f"{file}-wal")


def test_a_secret_that_was_forgotten_before_leaves_its_pack_too(store):
    store.keep(TEXTS[:10])
    forget(store, TEXTS[:1])
    assert revision_of(TEXTS[0]) in held_in_packs(store)
    assert forget(store, TEXTS[:1], secret=True) == ()
    assert held_in_packs(store) == set(names(TEXTS[1:10]))


def test_a_text_that_an_older_sightline_kept_once_more_goes_all_the_same(store):
    """One that had the store open when it took the step to packs writes rows all the while."""
    store.keep(TEXTS[:10])
    row = (revision_of(TEXTS[0]), len(TEXTS[0]), "raw", TEXTS[0])
    store._base.run("INSERT INTO blobs VALUES (?,?,?,?)", row)
    assert forget(store, TEXTS[:1]) == (revision_of(TEXTS[0]),)
    assert store.blob(revision_of(TEXTS[0])) is None
    assert forget(store, TEXTS[:1]) == ()


def test_a_process_that_holds_a_pack_which_is_gone_finds_the_new_one(store, file):
    store.keep(TEXTS[:20])
    with closing(open_file(file)) as other:
        assert other.blob(revision_of(TEXTS[3])) == TEXTS[3]
        forget(store, [TEXTS[0], *TEXTS[4:20]])
        store.tidy()
        assert other.blob(revision_of(TEXTS[3])) == TEXTS[3]
        forget(store, TEXTS[3:4])
        store.keep(TEXTS[20:40])
        assert other.blob(revision_of(TEXTS[3])) is None
        assert other.blob(revision_of(TEXTS[2])) == TEXTS[2]


def test_a_pack_is_unpacked_as_far_as_it_is_asked_for_and_then_whole(store):
    store.keep(TEXTS[:20])
    number = packs_of(store)[0]
    for place in (3, 1, 3, 0):
        assert store.blob(revision_of(TEXTS[place])) == TEXTS[place]
    held = store._blobs.packs()._open
    assert len(held.get(number).data) == sum(map(len, TEXTS[:4]))
    assert store.blob(revision_of(TEXTS[4])) == TEXTS[4]
    assert len(held.get(number).data) == sum(map(len, TEXTS[:20]))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 60)), max_size=40))
def test_what_is_held_has_a_bound_and_the_newest_stays(puts):
    held = Held(100)
    for key, size in puts:
        held.put(key, (key, size), size)
        assert held.get(key) == (key, size)
        there = [found for key in range(10) if (found := held._values.get(key))]
        assert sum(size for _, size in there) == 100 - held._room <= 100


def test_texts_kept_ahead_say_since_when_and_so_do_those_kept_again(store):
    store.append("s", [seen("a"), seen("b")], at=1)
    store.keep(TEXTS[:5])
    store.append("s", [seen("c")], at=2, blobs=TEXTS[5:10])
    since = {each.revision: each.since for each in store.texts()}
    assert [since[name] for name in names(TEXTS[:10])] == [2] * 5 + [0] * 5
    store.keep(TEXTS[4:6])
    since = {each.revision: each.since for each in store.texts()}
    assert [since[name] for name in names(TEXTS[3:7])] == [2, 3, 3, 0]


@pytest.mark.parametrize(
    "tamper",
    [
        "UPDATE packs SET body = x'00'",
        "UPDATE packs SET lengths = '1 2 3'",
        "UPDATE packed SET place = place + 1",
        "DELETE FROM packs",
    ],
)
def test_a_damaged_pack_is_found_and_never_taken_for_a_text(store, file, tamper):
    store.keep(TEXTS[:8])
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute(tamper)
    for data in TEXTS[:8]:
        with pytest.raises(StoreError, match="is damaged"):
            store.blob(revision_of(data))
    assert len(store.verify()) == 8


def test_an_older_store_keeps_its_rows_and_takes_packs(file, monkeypatch):
    from sightline.store import migrations

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "STEPS", migrations.STEPS[:3])
        with closing(open_file(file)) as old:
            for data in TEXTS[:3]:
                row = (revision_of(data), len(data), "raw", data)
                old._base.run("INSERT INTO blobs VALUES (?,?,?,?)", row)
    with closing(open_file(file)) as store:
        store.keep(TEXTS)
        assert all(store.blob(revision_of(data)) == data for data in TEXTS)
        assert len(held_in_packs(store)) == len(TEXTS) - 3
        assert store.verify() == []
