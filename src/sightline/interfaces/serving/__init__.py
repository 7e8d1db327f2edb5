"""Answering hooks from one process that stays: what `up` runs beside its screen.

    with serving(root, environ=os.environ, home=home) as answerer: ...

Over a unix socket, which the command kind of hook finds by itself, and over HTTP on this machine
only, for the http kind. While `up` does not run, a conversation's first hook leaves a process behind
that has the socket only (serving.staying). Nothing depends on either: a hook process that finds
nobody does the work itself, and the verdict is the same, because all do it with interfaces.hooks.
"""

from __future__ import annotations

from contextlib import contextmanager

from sightline.interfaces.serving.answerer import Answerer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Answerer", "serving"]


@contextmanager
def serving(root: str, *, environ: Mapping[str, str], home: str) -> Iterator[Answerer]:
    """An answerer for a workspace, as long as the block runs. StoreError, SettingsError,
    WorkspaceError when its place is taken."""
    answerer = Answerer(root, environ=environ, home=home)
    answerer.start()
    try:
        yield answerer
    finally:
        answerer.stop()
