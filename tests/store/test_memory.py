"""The store in memory keeps the contract."""

from __future__ import annotations

import os
from contextlib import contextmanager

from msgspec import structs
from tests.store.contract import StoreContract, seen

from sightline.model.revision import MISSING
from sightline.store.memory import MemoryStore
from sightline.store.port import Append


class TestMemoryStore(StoreContract):
    @contextmanager
    def empty(self):
        store = MemoryStore()
        yield lambda: store


def test_verify_finds_a_row_that_is_not_what_the_timeline_says():
    store = MemoryStore()
    store.append(Append("s1", [seen("a")], at=1))
    store._disks["a"] = structs.replace(store._disks["a"], revision=MISSING)
    (sentence,) = store.verify()
    assert sentence.startswith("The row of disk a is")


def test_a_forked_child_has_its_own_copy_of_a_store_in_memory():
    store = MemoryStore()
    store.append(Append("s1", [seen("a")], at=1))
    child = os.fork()
    if not child:
        store.append(Append("s1", [seen("b")], at=2))
        os._exit(store.position() != 2)
    assert os.waitpid(child, 0)[1] == 0
    assert store.position() == 1
