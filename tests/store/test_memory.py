"""The reference store keeps the contract."""

from __future__ import annotations

from contextlib import contextmanager

from msgspec import structs
from tests.store.contract import StoreContract, seen

from sightline.model.revision import MISSING
from sightline.store.memory import MemoryStore


class TestMemoryStore(StoreContract):
    @contextmanager
    def empty(self):
        store = MemoryStore()
        yield lambda: store


def test_verify_finds_a_row_that_is_not_what_the_timeline_says():
    store = MemoryStore()
    store.append("s1", [seen("a")], at=1)
    store._disks["a"] = structs.replace(store._disks["a"], revision=MISSING)
    (sentence,) = store.verify()
    assert sentence.startswith("The row of disk a is")
