"""The figures of bench/speed.py, each with the floor it stands on."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from bench.filling import SOURCE, Filled, fill, opened, seen, tracked
from bench.stopwatch import Figure, Limit, interleaved

from sightline.store.port import Append

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.stopwatch import Times

    from sightline import Session
    from sightline.model.projections import Knowledge

LINES = [f"value_{n} = compute({n}, mode={n % 7})\n" for n in range(1000)]


def verdict(*, edited: bool) -> Callable[[str], Times]:
    """One check of a file that 5,000 of 100,000 facts are about. edited: and that is stale, and
    was last changed by the session itself, so that the other's change has to be looked for."""

    def measured(folder: str) -> Times:
        with opened(folder) as session:
            fill(session, 100_000, paths=2_000, about="target.py", share=20)
            path = _put(session, "target.py", LINES)
            session.read("target.py")
            if edited:
                _put(session, "target.py", [*LINES[:9], "theirs = 1\n", *LINES[10:]])
                session.edit("target.py", "value_500 =", "mine =")
            assert (session.check("target.py").state == "stale") is edited

            def floor() -> str:
                os.stat(path)
                return sha256(Path(path).read_bytes()).hexdigest()

            return interleaved(lambda: session.check("target.py"), floor, 200)

    return measured


def unchanged(files: int, rounds: int) -> Callable[[str], Times]:
    """changes() of a warm session that was shown `files` files, none of them touched since."""

    def measured(folder: str) -> Times:
        with opened(folder) as session:
            paths = tracked(session, files)
            assert session.changes() == []

            def floor() -> None:
                for path in paths:
                    os.stat(path)

            return interleaved(session.changes, floor, rounds)

    return measured


def unchanged_afresh(folder: str, files: int = 100_000) -> Times:
    """The same of 100,000 files by a process that begins with it: open, load, ask."""
    with opened(folder, id="s") as session:
        paths = tracked(session, files)
        root = session.workspace
    listed = Path(folder, "paths")
    listed.write_text("\n".join(paths))
    ours = (
        f"os.environ['SIGHTLINE_HOME'] = {folder + '/state'!r}; "
        f"import sightline; s = sightline.open_session({root!r}, id='s', "
        f"store={'sqlite://' + folder + '/store.db'!r}); assert s.changes() == []"
    )
    floor = f"import os\nfor path in open({str(listed)!r}).read().split('\\n'): os.stat(path)"
    return interleaved(lambda: _python(ours), lambda: _python(floor), 3)


MANY = 10_000
"""Operations after which one more must cost what it did at first."""


def growth(verb: Callable[[Session, str], None], files: int, rounds: int) -> Callable[[str], Times]:
    """A verb of `files` files after 10,000 operations, beside the same after 10, or after one of
    each file where they are more. The operations are real ones. Each round opens its own copy of
    the store, so both have done equally little before."""
    few = max(10, files)

    def measured(folder: str) -> Times:
        names = [f"f{n:03}.py" for n in range(files)]
        stores = {}
        for operations in (MANY, few):
            with opened(folder, store=f"{operations}.db", id="s") as session:
                for name in names:
                    _put(session, name, LINES[:40])
                for n in range(operations):
                    verb(session, names[n % files])
                stores[operations] = Path(folder, f"{operations}.db")
        work: dict[int, Filled] = {}

        def ready(operations: int) -> None:
            if operations in work:
                work.pop(operations).session.close()
            copy = f"copy-{operations}.db"
            for left in Path(folder).glob(f"{copy}*"):
                left.unlink()
            shutil.copy(stores[operations], Path(folder, copy))
            session = opened(folder, store=copy, id="s")
            verb(session, names[-1])
            work[operations] = Filled(session, names)

        def go(operations: int) -> None:
            for name in work[operations].names:
                verb(work[operations].session, name)

        times = interleaved(
            lambda: go(MANY),
            lambda: go(few),
            rounds,
            before=lambda: ready(MANY),
            before_floor=lambda: ready(few),
        )
        for filled in work.values():
            filled.session.close()
        return times

    return measured


def fact(*, durable: bool) -> Callable[[str], Times]:
    """One Seen with its projection, beside the same two rows by SQLite alone: the same tables,
    the same pragmas, the body already made."""

    def measured(folder: str) -> Times:
        with opened(folder) as session:
            store = session._context.store  # noqa: SLF001  the port itself is measured
            shown = [seen(f"f{n}.py", f"{n}") for n in range(50)]
            store.append(Append(session.id, shown, at=1))
            bare = _bare(folder, durable=durable)
            number = iter(range(1 << 30))
            return interleaved(
                lambda: store.append(
                    Append(session.id, [shown[next(number) % 50]], at=2, durable=durable)
                ),
                lambda: bare(next(number)),
                1500 if not durable else 600,
            )

    return measured


def merged_save(folder: str) -> Times:
    """session.write of 1,000 lines over another program's change of one of them, beside the
    deeds alone: two bare transactions, a file written aside, synced, renamed, its folder synced."""
    with opened(folder) as session:
        path = _put(session, "app.py", LINES)
        bare = _bare(folder, durable=True)
        number = iter(range(1 << 30))
        text = ""

        def foreign() -> None:
            nonlocal text
            n = next(number)
            shown = session.read("app.py").text.splitlines(keepends=True)
            text = "".join([*shown[:499], f"mine = {n}\n", *shown[500:]])
            _put(session, "app.py", [*shown[:9], f"theirs = {n}\n", *shown[10:]])

        def save() -> None:
            assert session.write("app.py", text).merged

        def deeds() -> None:
            bare(next(number))
            _saved(f"{path}.floor", text.encode())
            bare(next(number))

        return interleaved(save, deeds, 60, before=foreign)


def rewritten(_: str) -> Times:
    """Diff and merge of the least likeable 10,000 lines: few words in another order, so that no
    line is an anchor. Beside counting the lines of the three texts."""
    from collections import Counter

    from sightline.model.merge import merge

    order = random.Random(1)  # noqa: S311  the same lines on every run
    base, ours, theirs = ([f"{order.randrange(40)}\n" for _ in range(10_000)] for _ in range(3))
    return interleaved(
        lambda: merge(base, ours, theirs),
        lambda: [Counter(lines) for lines in (base, ours, theirs)],
        10,
    )


def importing(*, opening: bool) -> Callable[[str], Times]:
    """A fresh interpreter that imports ours and ends, beside one that imports the standard
    modules that ours brought, in the order it brought them."""

    def measured(_: str) -> Times:
        ours = "import sightline"
        if opening:
            ours += "; sightline.open_session; import sightline.config.settings, sightline.filesystem.disk, sightline.store.opening"
        brought = "[m for m in sys.modules if m not in before and m[:9] != 'sightline' and getattr(sys.modules[m], '__spec__', None)]"
        named = _python(f"before = set(sys.modules); {ours}; print(*{brought})").split()
        floor = "; ".join(f"import {name}" for name in named if "._" not in name) or "pass"
        return interleaved(lambda: _python(ours), lambda: _python(floor), 60)

    return measured


def _put(session: Session, name: str, lines: list[str]) -> str:
    path = os.path.join(session.workspace, name)
    Path(path).write_text("".join(lines))
    return path


def _saved(path: str, data: bytes) -> None:
    """The least that puts a file in place for good."""
    fd = os.open(f"{path}.aside", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
    os.write(fd, data)
    os.fsync(fd)
    os.close(fd)
    os.replace(f"{path}.aside", path)
    fd = os.open(os.path.dirname(path), os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def _bare(folder: str, *, durable: bool) -> Callable[[int], None]:
    """SQLite's own transaction: an event row, and a state row put or updated."""
    from sightline.model.projections import know
    from sightline.model.timeline import Recorded
    from sightline.store import codec
    from sightline.store.sqlite import PUT_EVENT, PUT_KNOWLEDGE
    from sightline.store.sqlite_file import open_file

    file = os.path.join(folder, "bare.db")
    store = open_file(file)
    fact_ = seen("f.py", "f")
    store.append(Append("s", [seen(f"f{n}.py", f"{n}") for n in range(50)], at=1))
    store.close()
    db = sqlite3.connect(file, isolation_level=None)
    for pragma in ("wal_autocheckpoint=0", f"synchronous={'FULL' if durable else 'NORMAL'}"):
        db.execute(f"PRAGMA {pragma}").fetchall()
    body = codec.encode(fact_)
    states: dict[str, Knowledge] = {}
    know(states, Recorded(1, "s", 1, 1, fact_))
    row = codec.knowledge_row("s", states["f.py"])

    positions = count(51)

    def transaction(n: int) -> None:
        name, position = f"f{n % 50}.py", next(positions)
        db.execute("BEGIN IMMEDIATE")
        event = codec.sealed((position, "s", "Seen", 2, 2, body))
        db.execute(PUT_EVENT, (*event, name))
        db.execute(PUT_KNOWLEDGE, (row[0], name, row[2], position, *row[4:]))
        db.execute("COMMIT")

    return transaction


def _python(code: str) -> str:
    libraries = str(Path(msgspec.__file__).parents[1])  # -S leaves them out
    start = f"import os, sys; sys.path[:0] = {[SOURCE, libraries]!r}; "  # every interpreter has os
    command = [sys.executable, "-I", "-S", "-c", start + code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _read(session: Session, name: str) -> None:
    session.read(name)


def _saw(session: Session, name: str) -> None:
    session.saw(name)


BARE = "bare transaction"
FIGURES = (
    Figure("check", "a verdict of one path, 100,000 facts", "stat, read, hash", Limit(ms=5), verdict(edited=False)),
    Figure("check-edited", "the same, stale, last edited by itself", "stat, read, hash", Limit(ms=5), verdict(edited=True)),
    Figure("changes-1000", "1,000 unchanged files", "os.stat of each", Limit(2), unchanged(1000, 100)),
    Figure("changes-100000", "100,000 unchanged files, warm", "os.stat of each", Limit(ms=1000), unchanged(100_000, 8)),
    Figure("changes-afresh", "100,000 unchanged files, a fresh process", "os.stat of each", Limit(), unchanged_afresh),
    Figure("read-growth", "one read after 10,000 operations", "after 10", Limit(1.2), growth(_read, 1, 40)),
    Figure("saw-growth", "one saw after 10,000 operations", "after 10", Limit(1.2), growth(_saw, 1, 40)),
    Figure("saw-growth-200", "200 saws after 10,000 operations", "after 200", Limit(1.2), growth(_saw, 200, 8)),
    Figure("fact", "one fact with its projection", BARE, Limit(2), fact(durable=False)),
    Figure("fact-durable", "the same, safe against a power cut", BARE, Limit(2), fact(durable=True)),
    Figure("merged-save", "a merged save of 1,000 lines", "the deeds alone", Limit(ms=10), merged_save),
    Figure("rewritten", "diff and merge, 10,000 rewritten lines", "counting lines", Limit(ms=500), rewritten),
    Figure("import", "import sightline", "its standard modules", Limit(1.3), importing(opening=False)),
    Figure("import-open", "import of all that opening takes", "its standard modules", Limit(), importing(opening=True)),
)  # fmt: skip
"""In the order of the table."""
