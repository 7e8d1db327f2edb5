"""Forget texts: list the kept ones with the room they take, and remove them one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sightline.errors import StoreError
from sightline.model.revision import Revision
from sightline.store.blobs import ROW_BYTES, Blobs
from sightline.store.retention import KeptText

Run = Callable[[str, Sequence[Any]], list[Any]]

KEPT = (
    f"SELECT revision, length(frame) + {ROW_BYTES}, coalesce(position, 0)"  # noqa: S608  all ours
    " FROM texts LEFT JOIN kept_ahead ON text = id ORDER BY revision"
)


def kept_texts(run: Run) -> list[KeptText]:
    """List every text with the room it takes."""
    return [KeptText(*row) for row in run(KEPT, ())]


def remove(run: Run, blobs: Blobs, revision: Revision) -> bool:
    """Forget a text inside a transaction; False where it is not kept. Texts that need it as
    their dictionary get another one first, or none."""
    rows = run("SELECT id, dictionary FROM texts WHERE revision = ?", (revision,))
    if not rows:
        return False
    [(number, dictionary)] = rows
    like: Revision | None = None
    for (name,) in run("SELECT revision FROM texts WHERE id = ?", (dictionary,)):
        like = name
    for (name,) in run("SELECT revision FROM texts WHERE dictionary = ?", (number,)):
        data = blobs.sound(name)
        if data is not None:  # a damaged text stays as it is, and is named when it is read
            blobs.replace(name, data, like)
            like = like or name
    run("DELETE FROM kept_ahead WHERE text = ?", (number,))
    run("DELETE FROM texts WHERE id = ?", (number,))
    return True


def damaged_texts(run: Run, blobs: Blobs) -> list[str]:
    """Read every text; one sentence for each whose bytes are not what its name says."""
    wrong = []
    for (revision,) in run("SELECT revision FROM texts ORDER BY revision", ()):
        try:
            blobs.get(revision)
        except StoreError as error:
            wrong.append(error.message)
    return wrong
