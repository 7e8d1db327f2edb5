"""Sessions with a past: many facts, many files, put there in a few large transactions."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from time import sleep, time_ns
from typing import TYPE_CHECKING, NamedTuple

import sightline
from sightline.filesystem.read import signature_of
from sightline.model.events import Belief, Seen
from sightline.model.revision import Stamp
from sightline.store.port import Append

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sightline import Session

SOURCE = str(Path(sightline.__file__).parents[1])
BATCH = 1000
SETTLED_S = 0.05
"""More than two clock ticks: a file as young as its stamp would have to be hashed again."""


class Filled(NamedTuple):
    session: Session
    names: Sequence[str]


def opened(folder: str, *, store: str = "store.db", id: str | None = None) -> Session:
    """A session in folder/workspace over a store beside it, with nobody's settings but the
    built-in ones."""
    from sightline.config.settings import Settings

    root = os.path.join(folder, "workspace")
    os.makedirs(root, exist_ok=True)
    settings = Settings(state_home=os.path.join(folder, "state"))
    return sightline.open_session(
        root, id=id, store=f"sqlite://{folder}/{store}", settings=settings
    )


def seen(path: str, text: str) -> Seen:
    """One line of a file was shown."""
    revision = sha256(text.encode()).hexdigest()
    line = ((1, 1),)
    return Seen(path, revision, line, "read", Belief(revision, line, line, 1))


def fill(
    session: Session,
    facts: int,
    *,
    paths: int | Sequence[str],
    about: str | None = None,
    share: int = 1,
) -> None:
    """Let this many operations have happened, in turn on the paths (names, or how many to make
    up); every `share`-th on `about`, where it is given."""
    names = [f"src/f{n:04}.py" for n in range(paths)] if isinstance(paths, int) else paths
    store = session._context.store  # noqa: SLF001  verbs would take minutes for the same facts
    for start in range(0, facts, BATCH):
        batch = [
            seen(about if about and n % share == 0 else names[n % len(names)], f"{n}")
            for n in range(start, min(start + BATCH, facts))
        ]
        store.append(Append(session.id, batch, at=time_ns() // 1000))


def tracked(session: Session, files: int) -> list[str]:
    """Make that many files that the session was shown, a hundred to a folder; their paths."""
    names = [f"d{n // 100:04}/f{n:06}.py" for n in range(files)]
    for name in names[::100]:
        os.mkdir(os.path.join(session.workspace, os.path.dirname(name)))
    for name in names:
        with open(os.path.join(session.workspace, name), "w") as file:
            file.write(name)
    sleep(SETTLED_S)
    for start in range(0, files, BATCH):
        batch = names[start : start + BATCH]
        session._context.store.append(  # noqa: SLF001  as above
            Append(
                session.id,
                [seen(name, name) for name in batch],
                at=time_ns() // 1000,
                stats=dict(_stamps(session.workspace, batch)),
            )
        )
    return [os.path.join(session.workspace, name) for name in names]


def _stamps(root: str, names: Sequence[str]) -> Iterator[tuple[str, Stamp]]:
    for name in names:
        signature = signature_of(os.lstat(os.path.join(root, name)))
        yield name, Stamp(signature, sha256(name.encode()).hexdigest(), time_ns())
