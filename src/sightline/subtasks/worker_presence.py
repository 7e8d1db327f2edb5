"""Tell whether a worker lives, by locks of PostgreSQL, which end with the worker's connection."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from threading import Lock
from typing import Any

import psycopg

DRIVER = re.compile(r"^postgres(?:ql)?(?:\+\w+)?://")

OPTIONS = "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"
"""Settings of a connection: PostgreSQL ends the connection of a machine that is off within 20 s."""

HOLD = {True: "pg_advisory_lock_shared", False: "pg_advisory_lock"}


def is_postgresql(url: str) -> bool:
    """Return whether a URL names a database of PostgreSQL."""
    return DRIVER.match(url) is not None


class Presence:
    """A connection that holds names while its process lives, or asks who holds one; a name that the
    connection itself holds is not seen. own: names of one holder; shared: of many. psycopg.Error."""

    def __init__(self, url: str, own: Sequence[str] = (), shared: Sequence[str] = ()) -> None:
        self._url = DRIVER.sub("postgresql://", url)
        self._held = [(name, False) for name in own] + [(name, True) for name in shared]
        self._lock = Lock()
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None

    def renew(self) -> None:
        """Hold the names, again where the connection was lost."""
        self._ask("SELECT 1")

    def is_held(self, name: str) -> bool:
        """Return whether another connection holds a name."""
        return not self._ask("SELECT pg_try_advisory_xact_lock(%s)", _key(name))

    def close(self) -> None:
        """Give up the names."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _ask(self, query: str, *values: int) -> Any:
        with self._lock:
            try:
                return self._one(query, values)
            except psycopg.OperationalError:  # the connection was lost: another one, once
                self._connection = None
                return self._one(query, values)

    def _one(self, query: str, values: Sequence[int]) -> Any:
        if self._connection is None:
            connection = psycopg.connect(self._url, autocommit=True, options=OPTIONS)
            for name, is_shared in self._held:
                connection.execute(f"SELECT {HOLD[is_shared]}(%s)", (_key(name),))
            self._connection = connection
        row = self._connection.execute(query, values).fetchone()
        return None if row is None else row[0]


def _key(name: str) -> int:
    """Return the number of a lock."""
    return int.from_bytes(sha256(name.encode()).digest()[:8], "big", signed=True)
