"""A hook server as long as a block runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sightline.hooks.server import HookServer


@contextmanager
def serving(root: str, *, environ: Mapping[str, str], home: str) -> Iterator[HookServer]:
    """Run a hook server as long as the block runs. StoreError, SettingsError, WorkspaceError when
    its port or pipe cannot be had."""
    server = HookServer(root, environ=environ, home=home)
    server.start()
    try:
        yield server
    finally:
        server.stop()
