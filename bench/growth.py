"""Do the verbs get slower with sessions that ended, and with facts about other files?

    python bench/growth.py [--json] [--only NAME]... [--sessions N] [--changes N] [--untold N]

Each verb runs in turns on a large store and on a small one, over the same files. The large store has
sessions that ended (each was shown one of the files), and changes that the present session made in
files that the verbs do not name. The small store has as many changes of each of these files as a
registry lists, so that the answers are as long. `untold` is a file that another session changed again and again, and
of which the present session never acknowledged a change. `newlines` is the memory of one edit of a
file of 10 MB that has nothing but newlines. Exit 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.filling import opened
from bench.stopwatch import interleaved

from sightline.api.folders import ports
from sightline.briefing.registry import CHANGES
from sightline.changes.session_context import now_us
from sightline.history import session_history, workspace_status
from sightline.history.overview import Watch
from sightline.history.session_history import LogQuery
from sightline.history.watching import Watching
from sightline.history.why import why
from sightline.model.events import (
    Belief,
    Cause,
    Changed,
    EnvironmentSeen,
    Fact,
    Seen,
    SessionEnded,
    SessionStarted,
    TurnBegan,
)
from sightline.model.revision import revision_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sightline import Session
    from sightline.changes.session_context import SessionContext

FILES = 40
"""Files that the verbs work on. Each was shown to every FILES-th of the sessions that ended."""

OTHERS = 100
"""Files that only the present session changed."""

MONTH_US = 30 * 24 * 3_600 * 1_000_000
BATCH = 2_000
ROUNDS = 5
LIMIT = 1.5
"""Times what a verb takes on the small store. A difference below SLACK_MS is noise."""

SLACK_MS = 1.0
MEMORY_LIMIT_MB = 300
MEMORY_BYTES = 10_000_000

TEXTS = [f"{'x' * 20} {n}\n" * 50 for n in (0, 1)]
CONTENT = "".join(f"line {n}\n" for n in range(200))


class Row(NamedTuple):
    """A verb on the large store and on the small one: medians in milliseconds."""

    verb: str
    large_ms: float
    small_ms: float
    ratio: float
    limit: str
    met: bool | None


def filled(folder: str, sessions: int, changes: int, *, ended: bool) -> Session:
    """Open the present session of a workspace, and fill the store behind it."""
    os.makedirs(f"{folder}/workspace/other", exist_ok=True)
    for n in range(FILES):
        Path(folder, "workspace", f"f{n:02}.py").write_text(CONTENT)
    for n in range(OTHERS):
        Path(folder, "workspace", f"other/g{n:03}.py").write_text(TEXTS[1])
    session = opened(folder, id="me")
    session.turn()
    store = session._context.store  # noqa: SLF001  verbs would take hours for the same facts
    store.keep([CONTENT.encode(), *(text.encode() for text in TEXTS)])
    _append(store, past_sessions(sessions, ended=ended), now_us() - MONTH_US)
    count = max(changes, OTHERS * CHANGES)
    _append(store, (("me", own_change(n, count)) for n in range(count)), now_us())
    session.turn()
    for n in range(FILES):
        session.read(f"f{n:02}.py")
    return session


def past_sessions(count: int, *, ended: bool) -> Iterable[tuple[str, Fact]]:
    """Yield the facts of sessions that ended, or whose process ended without a word."""
    revision, lines = revision_of(CONTENT.encode()), ((1, 200),)
    for n in range(count):
        name = f"past-{n:06}"
        yield name, SessionStarted("agent")
        yield name, TurnBegan(1)
        yield (
            name,
            Seen(
                f"f{n % FILES:02}.py", revision, lines, "read", Belief(revision, lines, lines, 200)
            ),
        )
        if ended:
            yield name, SessionEnded("exit")
        else:
            yield name, EnvironmentSeen("linux", "3.11", owner=f"gone:{n}:1")


def own_change(n: int, count: int) -> Fact:
    """Return the n-th change of the present session; each file ends with the text it has on disk."""
    turn = (count - 1 - n) // OTHERS
    after = revision_of(TEXTS[1 - turn % 2].encode())
    before = revision_of(TEXTS[turn % 2].encode())
    lines = ((1, 50),)
    belief = Belief(after, lines, lines, 50)
    path = f"other/g{(count - 1 - n) % OTHERS:03}.py"
    return Changed(path, before, after, "content", Cause("agent", "me"), belief=belief)


def _append(store: object, facts: Iterable[tuple[str, Fact]], at: int) -> None:
    """Append facts of many sessions, many in one transaction."""
    batch: list[tuple[str, Fact]] = []

    def put() -> None:
        store._rows.begin()  # type: ignore[attr-defined]  # noqa: SLF001
        for session, fact in batch:
            store._record(session, fact, at, at)  # type: ignore[attr-defined]  # noqa: SLF001

    for each in facts:
        batch.append(each)
        if len(batch) == BATCH:
            store._write(put, durable=False)  # type: ignore[attr-defined]  # noqa: SLF001
            batch.clear()
    store._write(put, durable=False)  # type: ignore[attr-defined]  # noqa: SLF001


def edit(session: Session) -> None:
    """There and back, so that the file stays what it is."""
    session.edit("f03.py", "line 7\n", "line seven\n")
    session.edit("f03.py", "line seven\n", "line 7\n")


def opened_edit(session: Session) -> None:
    """Edit as a new process does: nothing is remembered."""
    again = opened(os.path.dirname(session.workspace), id="me")
    edit(again)
    again.close()


def survey_of(session: Session) -> SessionContext:
    own = session._context  # noqa: SLF001  the faces do the same
    kept, tree = ports(
        session.workspace, own.settings, f"sqlite://{os.path.dirname(session.workspace)}/store.db"
    )
    return session_history.survey(kept, tree, own.settings, own.clock)


def status(session: Session) -> object:
    context = survey_of(session)
    return workspace_status.status(context)


def sessions(session: Session) -> object:
    return session_history.sessions(survey_of(session))


def view(session: Session) -> object:
    """Begin to watch as `sightline up` does, and look again after an edit."""
    context = survey_of(session)
    with Watching(context) as watching:
        watch = Watch(context, watching)
        watch.look()
        edit(session)
        return watch.look()


def saved(session: Session) -> object:
    """List the changes after a user saved a file, which may have been the work of a command."""
    file = Path(session.workspace, "f09.py")
    text = file.read_text()
    changed = text.replace("line 9\n", "line nine\n")
    file.write_text(changed if changed != text else text.replace("line nine\n", "line 9\n"))
    return session.changes()


VERBS: dict[str, Callable[[Session], object]] = {
    "edit": edit,
    "open-edit": opened_edit,
    "read": lambda s: s.read("f04.py"),
    "check": lambda s: s.check("f05.py"),
    "changes": lambda s: s.changes(),
    "saved": saved,
    "notice": lambda s: s.notice(),
    "files": lambda s: s.files(),
    "briefing": lambda s: s.briefing(),
    "registry": lambda s: s.registry(),
    "log": lambda s: list(session_history.select(s._context.store, LogQuery(newest=10))),  # noqa: SLF001
    "why": lambda s: why(s._context, "f06.py"),  # noqa: SLF001
    "status": status,
    "sessions": sessions,
    "up": view,
}


def untold(folder: str, count: int) -> Session:
    """Open the present session beside a file that another session changed so often."""
    os.makedirs(f"{folder}/workspace", exist_ok=True)
    Path(folder, "workspace", "f.py").write_text(CONTENT)
    session, other = opened(folder, id="me"), opened(folder, id="other")
    session.read("f.py")
    other.read("f.py")
    for n in range(count):
        other.edit("f.py", "line 7\n" if n == 0 else f"line 7, {n - 1}\n", f"line 7, {n}\n")
        if n % 10 == 0:
            session.changes()
    return session


def newlines() -> None:
    """Edit a file of nothing but newlines, and print the peak of this process in MB."""
    with tempfile.TemporaryDirectory(prefix="sightline-growth-") as folder:
        os.makedirs(f"{folder}/workspace")
        file = Path(folder, "workspace", "n.txt")
        file.write_bytes(b"\n" * MEMORY_BYTES)
        session = opened(folder, id="me")
        session.read("n.txt", (1, 20))
        session.edit_lines("n.txt", 3, 3, "three\n")
        with file.open("ab") as end:
            end.write(b"\n")
        session.changes()
        session.notice()
        session.edit_lines("n.txt", 5, 5, "five\n")
        session.close()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def timed(verb: str, work: Callable[[Session], object], large: Session, small: Session) -> Row:
    times = interleaved(lambda: work(large), lambda: work(small), ROUNDS)
    (ours, floor), (fast, fast_floor) = map(median, times), map(min, times)
    met = any(a <= LIMIT * b + SLACK_MS / 1e3 for a, b in ((ours, floor), (fast, fast_floor)))
    return Row(
        verb,
        round(ours * 1e3, 2),
        round(floor * 1e3, 2),
        round(ours / floor, 2),
        f"{LIMIT:g} x",
        met,
    )


def rows(only: Sequence[str], options: argparse.Namespace) -> Iterable[Row]:
    """Measure the chosen figures."""
    wanted = [name for name in VERBS if name.startswith(tuple(only))]
    with tempfile.TemporaryDirectory(prefix="sightline-growth-") as folder:
        if wanted:
            large = filled(
                f"{folder}/large", options.sessions, options.changes, ended=not options.gone
            )
            small = filled(f"{folder}/small", 20 * FILES, 0, ended=not options.gone)
            for name in wanted:
                yield timed(name, VERBS[name], large, small)
        if "untold".startswith(tuple(only)):
            much, little = (untold(f"{folder}/{n}", n) for n in (options.untold, 60))
            yield timed("untold", lambda s: s.changes(), much, little)
    if "newlines".startswith(tuple(only)):
        done = subprocess.run(
            [sys.executable, __file__, "--newlines"], stdout=subprocess.PIPE, check=True, text=True
        )
        peak = float(done.stdout)
        yield Row("newlines, MB", peak, 0.0, 0.0, f"{MEMORY_LIMIT_MB} MB", peak <= MEMORY_LIMIT_MB)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print. Exit 1 when a limit is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", action="append", metavar="NAME", help="how some verbs begin")
    parser.add_argument("--sessions", type=int, default=100_000, metavar="N", help="that ended")
    parser.add_argument("--gone", action="store_true", help="their processes ended without a word")
    parser.add_argument("--changes", type=int, default=100_000, metavar="N", help="own changes")
    parser.add_argument(
        "--untold", type=int, default=2_000, metavar="N", help="changes of one file"
    )
    parser.add_argument("--newlines", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.newlines:
        newlines()
        return 0
    found: list[Row] = []
    if not options.json:
        print("| verb | large | small | ratio | limit | |\n|---|--:|--:|--:|--:|---|")
    for row in rows(options.only or [""], options):
        found.append(row)
        if not options.json:
            kept = "kept" if row.met else "MISSED"
            print(
                f"| {row.verb} | {row.large_ms} | {row.small_ms} | {row.ratio} | {row.limit} | {kept} |",
                flush=True,
            )
    if options.json:
        print(json.dumps({"schema": 1, "rows": [row._asdict() for row in found]}))
    return int(any(row.met is False for row in found))


if __name__ == "__main__":
    sys.exit(main())
