"""Open the store that a URL names. Without a URL it is the embedded store of the workspace."""

from __future__ import annotations

from importlib import import_module

from sightline.errors import StoreError
from sightline.store import sqlite_file
from sightline.store.identity import recorded_file, store_file
from sightline.store.port import Engine, Store, StoreKind

STORES = {
    "sqlite": "sqlite_file",
    "memory": "memory",
}
"""Scheme of a URL -> the module of this package whose KIND opens such stores. A further store is a module
and a line."""


def open_store(url: str | None, *, workspace_root: str, state_home: str) -> Store:
    """Return the store that a URL names; without a URL the embedded store of this workspace.

    workspace_root: a real, absolute path. state_home: the folder of the embedded stores
    (config.settings.Settings.state_home). StoreError, with nothing changed, where the store cannot
    be opened.
    """
    url = url_of(url, workspace_root=workspace_root, state_home=state_home)
    return kind_of(url).open(url, workspace_root)


def open_to_look(url: str | None, *, workspace_root: str, state_home: str) -> Store | None:
    """Return the store that open_store would open, to read only; None where there is none yet. Makes
    no file, and waits for nobody. StoreError, OSError."""
    if url is None:
        file = recorded_file(state_home, workspace_root)
        if file is None:
            return None
        url = sqlite_file.url_of(file)
    return kind_of(url).open_to_look(url)


def is_held(url: str | None, *, workspace_root: str, state_home: str) -> bool:
    """Return whether another process keeps everybody from writing to the store that a URL names. False
    where the store cannot be asked. StoreError."""
    url = url_of(url, workspace_root=workspace_root, state_home=state_home)
    return kind_of(url).is_held(url)


def url_of(url: str | None, *, workspace_root: str, state_home: str) -> str:
    """Return the URL of the store that open_store would open. StoreError."""
    if url is not None:
        return url
    return sqlite_file.url_of(store_file(state_home, workspace_root))


def kind_of(url: str) -> StoreKind:
    """Return what opens the store that a URL names. StoreError."""
    scheme, colon, _ = url.partition(":")
    if colon and scheme in STORES:
        return _kind(scheme)
    usages = [_kind(each).usage for each in STORES]
    raise StoreError(f"Not a store URL: {url!r}.", f"Use {', or '.join(usages)}.", "bad_url")


def engines() -> list[Engine]:
    """Return the programs that keep stores, one for each kind of store that needs one."""
    return [engine for scheme in STORES if (engine := _kind(scheme).engine()) is not None]


def _kind(scheme: str) -> StoreKind:
    kind: StoreKind = import_module(f"sightline.store.{STORES[scheme]}").KIND
    return kind
