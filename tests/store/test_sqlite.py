"""The embedded store keeps the contract."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, contextmanager

from tests.store.contract import StoreContract

from sightline.store.opening import open_file


class TestSqliteStore(StoreContract):
    @contextmanager
    def empty(self):
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:

            def opened():
                store = open_file(f"{folder}/store.db")
                stack.callback(store.close)
                return store

            yield opened
