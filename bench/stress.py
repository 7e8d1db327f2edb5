"""Many processes, killed processes, rude neighbours: is anything lost?

    python bench/stress.py [--json] [--only NAME]... [--scale N]

Three trials, counted. `wrong` lists what may not be and is empty: a gap in the timeline, an
acknowledged edit that is not on it, a half-written file, a save that nobody can bring back.
--scale 0.1 runs a tenth of it.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, NamedTuple

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.filling import SOURCE, opened
from bench.stress_worker import FILES, LINES, SHARED, is_whole, revision

from sightline.model.events import Changed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sightline import Session

PATIENCE_S = 300
"""A worker that takes longer has stopped getting on, and that is wrong too."""

EDIT_S = 0.005
"""About as long as an edit takes, so that a blow may fall anywhere in it."""

WORKER = str(Path(__file__).with_name("stress_worker.py"))


class Outcome(NamedTuple):
    """The counts of a trial, and a sentence for each failure."""

    name: str
    counts: dict[str, int]
    wrong: list[str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trials asked for. Exit 1 when anything was lost, 2 when none has that name."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", action="append", metavar="NAME", choices=list(TRIALS))
    parser.add_argument("--scale", type=float, default=1.0, metavar="N", help="how much of it")
    options = parser.parse_args(arguments)
    outcomes = list(run(options.only or list(TRIALS), options.scale))
    if options.json:
        print(json.dumps({"schema": 1, "rows": [outcome._asdict() for outcome in outcomes]}))
    else:
        for outcome in outcomes:
            counted = ", ".join(f"{count} {what}" for what, count in outcome.counts.items())
            print(f"{outcome.name}: {counted}; {len(outcome.wrong)} wrong")
            print(*(f"  {sentence}\n" for sentence in outcome.wrong), sep="", end="")
    return int(any(outcome.wrong for outcome in outcomes))


def run(names: Sequence[str], scale: float) -> Iterator[Outcome]:
    for name in names:
        with tempfile.TemporaryDirectory(prefix="sightline-stress-") as folder:
            yield TRIALS[name](folder, scale)


def appends(folder: str, scale: float) -> Outcome:
    """Eight processes append 300 facts each."""
    times = max(int(300 * scale), 10)
    workers = [_worker("append", folder, f"p{n}", times) for n in range(8)]
    wrong = [error for worker in workers for error in _ended(worker)[1]]
    with opened(folder, id="after") as session:
        store = session._context.store  # noqa: SLF001  to look at what the verbs do not show
        facts = [fact for fact in store.timeline() if fact.session.startswith("p")]
        positions = [fact.position for fact in store.timeline()]
        wrong += _sound(session)
    if positions != list(range(1, len(positions) + 1)):
        wrong.append("the timeline has gaps")
    if len({(f.session, getattr(f.fact, "path", "")) for f in facts}) - 8 != 8 * times:
        wrong.append(f"{len(facts) - 8} of {8 * times} facts are there")
    return Outcome("appends", {"processes": 8, "facts": 8 * times}, wrong)


def kills(folder: str, scale: float) -> Outcome:
    """A process in the middle of 200 edits is killed; the next open finds everything it had been
    promised, and nothing half done. Round after round in the same workspace."""
    order = random.Random(7)  # noqa: S311  the same blows on every run
    counts = {"rounds": max(int(40 * scale), 3), "edits acknowledged": 0, "killed in an edit": 0}
    wrong: list[str] = []
    for number in range(counts["rounds"]):
        told, failed = _killed_after(_worker("edit", folder, f"k{number}", 200), order)
        wrong += failed
        counts["edits acknowledged"] += len(told)
        root = Path(folder, "workspace")
        counts["killed in an edit"] += _unsettled(folder)
        with opened(folder, id=f"after{number}") as session:
            store = session._context.store  # noqa: SLF001  as above
            made = {
                (fact.path, fact.after)
                for recorded in store.timeline(session=f"k{number}", kinds=[Changed])
                if isinstance(fact := recorded.fact, Changed)
            }
            wrong += [f"{path} {after} was promised" for path, after in told - made]
            wrong += _sound(session)
        files = [root / f"f{n}.txt" for n in range(FILES)]
        wrong += [
            f"{file.name} is half a file"
            for file in files
            if file.exists() and not is_whole(file.read_bytes())
        ]
    return Outcome("kills", counts, wrong)


def savers(folder: str, scale: float) -> Outcome:
    """Two sessions save one file 500 times each, an editor saves it in place meanwhile. Every
    text that anybody saved is on disk, or kept, or was saved over by its own writer."""
    times = max(int(500 * scale), 10)
    with opened(folder, id="first") as session:
        session.create(SHARED, "".join(f"line {n}\n" for n in range(LINES)))
    workers = [_worker("save", folder, name, times) for name in ("a", "b")]
    workers.append(_worker("type", folder, "editor", times))
    lines: list[list[str]] = []
    wrong: list[str] = []
    for worker in workers:
        told, errors = _ended(worker)
        lines.append([line for line in told if line])
        wrong += errors
    saved = [line.split() for told in lines[:2] for line in told if line.startswith("saved")]
    typed = [line.split()[1:] for line in lines[2]]
    with opened(folder, id="after") as session:
        blob = session._context.store.blob  # noqa: SLF001  as above
        now = revision(Path(folder, "workspace", SHARED).read_bytes())
        wrong += [f"{r} was saved" for _, r, _ in saved if r != now and blob(r) is None]
        over = {old for _, old in typed[1:]} | {now}
        wrong += [f"{r} was typed" for r, _ in typed if r not in over and blob(r) is None]
        wrong += _sound(session)
    counts = {
        "guarded saves": len(saved),
        "of them merged": sum(word == "merged" for _, _, word in saved),
        "refused and tried again": sum(
            line.startswith("refused") for told in lines for line in told
        ),
        "saves in place": len(typed),
    }
    return Outcome("savers", counts, wrong)


TRIALS: dict[str, Callable[[str, float], Outcome]] = {
    "appends": appends,
    "kills": kills,
    "savers": savers,
}


def _worker(work: str, folder: str, name: str, times: int) -> subprocess.Popen[str]:
    command = [sys.executable, WORKER, work, folder, name, str(times)]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, env={"PYTHONPATH": SOURCE}
    )


def _ended(worker: subprocess.Popen[str]) -> tuple[list[str], list[str]]:
    """Return what a worker said, and its last words if it failed."""
    try:
        out, errors = worker.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        worker.kill()
        out, errors = worker.communicate()
    failed = [f"a worker failed: {errors[-500:]}"] if worker.returncode else []
    return out.splitlines(), failed


def _killed_after(
    worker: subprocess.Popen[str], order: random.Random
) -> tuple[set[tuple[str, str]], list[str]]:
    """Kill a worker at some moment of its work: the edits it had acknowledged by then, and its
    last words if it ended by itself."""
    assert worker.stdout is not None
    told = [worker.stdout.readline() for _ in range(order.randrange(1, 60))]
    sleep(order.random() * EDIT_S)
    worker.kill()
    out, errors = worker.communicate()
    said = [line.split() for line in "".join([*told, out]).splitlines(keepends=True)]
    failed = [f"a worker failed: {errors[-500:]}"] if worker.returncode > 0 else []
    return {(words[1], words[2]) for words in said if len(words) == 3}, failed


def _unsettled(folder: str) -> int:
    """Writes that a killed process began and did not tell the end of."""
    from sightline.store.sqlite_file import open_file

    store = open_file(f"{folder}/store.db")
    try:
        return len(store.pending())
    finally:
        store.close()


def _sound(session: Session) -> list[str]:
    """Return what is wrong with a store that was just opened, and with the folder beside it."""
    store = session._context.store  # noqa: SLF001  as above
    wrong = store.verify()
    wrong += [f"a write of {intent.fact} is not settled" for intent in store.pending()]
    asides = sorted(Path(session.workspace).rglob(".sightline-*"))
    return [*wrong, *(f"{aside.name} was left behind" for aside in asides)]


if __name__ == "__main__":
    sys.exit(main())
