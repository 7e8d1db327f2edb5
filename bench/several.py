"""Two agents and a user at work in the same fifty files: is a byte of anybody's lost?

    python bench/several.py [--json] [--seeds N] [--rounds N] [--door library|cli]

Two processes each attempt an edit of every one of 50 files, 20 times, in regions of their own and
in shared ones; a third saves the same files as editors do, in place and by renaming. Afterwards
every text that anybody wrote is looked for: on disk, in the store, or refused. `wrong` lists what
is nowhere, and every write of an agent that took more away than the line it was about.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.filling import SOURCE, opened
from bench.several_worker import start

from sightline.model.events import Changed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sightline import Session

ROUNDS = 20
SEEDS = 20
PATIENCE_S = 900
"""A worker that takes longer has stopped getting on, and that is wrong too."""

WORKER = str(Path(__file__).with_name("several_worker.py"))


class Outcome(NamedTuple):
    """The counts of one run, and a sentence for each failure."""

    seed: int
    door: str
    counts: dict[str, int]
    wrong: list[str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the seeds. Exit 1 when anything was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help="how many runs")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="edits of a file")
    parser.add_argument("--door", choices=("library", "cli"), default="library")
    options = parser.parse_args(arguments)
    outcomes = []
    for seed in range(options.seeds):
        with tempfile.TemporaryDirectory(prefix="sightline-several-") as folder:
            outcomes.append(run(folder, seed, options.rounds, options.door))
        if not options.json:
            _print(outcomes[-1])
    if options.json:
        print(json.dumps({"schema": 1, "rows": [outcome._asdict() for outcome in outcomes]}))
    else:
        _print_sum(outcomes)
    return int(any(outcome.wrong for outcome in outcomes))


def _print(outcome: Outcome) -> None:
    counted = ", ".join(f"{count} {what}" for what, count in outcome.counts.items())
    print(f"seed {outcome.seed}: {counted}; {len(outcome.wrong)} wrong", flush=True)
    print(*(f"  {sentence}\n" for sentence in outcome.wrong), sep="", end="")


def _print_sum(outcomes: Sequence[Outcome]) -> None:
    print("| | all runs |\n|---|--:|")
    for what in outcomes[0].counts if outcomes else ():
        print(f"| {what} | {sum(outcome.counts[what] for outcome in outcomes):,} |")
    print(f"| wrong | {sum(len(outcome.wrong) for outcome in outcomes)} |")


def run(folder: str, seed: int, rounds: int, door: str = "library") -> Outcome:
    """One run in an empty folder."""
    start(folder)
    kind = "agent" if door == "library" else "cli"
    agents = [_Worker("agent", folder, "a", seed, rounds), _Worker(kind, folder, "b", seed, rounds)]
    user = _Worker("user", folder, "user", seed, 0)
    told, wrong = [], []
    for worker in (*agents, user):
        if worker is user:
            Path(folder, "stop").touch()
        lines, failed = worker.ended()
        told.append([line.split() for line in lines])
        wrong += failed
    by_agents, saved = [words for some in told[:2] for words in some], told[2]
    with opened(folder, id="after") as session:
        wrong += [*_lost(session, by_agents, saved), *_clobbered(session), *_unsound(session)]
    return Outcome(seed, door, _counts(by_agents, saved), wrong)


def _counts(by_agents: list[list[str]], saved: list[list[str]]) -> dict[str, int]:
    wrote = [words for words in by_agents if words[0] == "wrote"]
    return {
        "attempts": len(by_agents),
        "made": len(wrote),
        "of them merged": sum(words[4] == "merged" for words in wrote),
        "refused": sum(words[0] == "refused" for words in by_agents),
        "saves in place": sum(words[2] == "_in_place" for words in saved),
        "saves by renaming": sum(words[2] == "_aside" for words in saved),
    }


def _lost(session: Session, by_agents: list[list[str]], saved: list[list[str]]) -> Iterator[str]:
    """Texts that are not on disk, not in the store, and were not saved over by the user who wrote
    or read them."""
    store, root = session._context.store, Path(session.workspace)  # noqa: SLF001  as no verb shows
    now = {file.name: _revision(file.read_bytes()) for file in root.iterdir()}
    over = {(path, old) for _, path, _, _, old in saved}
    wrote = [(words[1], words[3]) for words in by_agents if words[0] == "wrote"]
    for path, revision in wrote:
        if now[path] != revision and store.blob(revision) is None:
            yield f"{path}: an agent's {revision[:8]} is nowhere"
    for _, path, how, revision, _ in saved:
        if now[path] == revision or (path, revision) in over:
            continue
        if store.blob(revision) is None:
            yield f"{path}: the user's {revision[:8]} ({how}) is nowhere"


def _clobbered(session: Session) -> Iterator[str]:
    """Writes of agents that changed more than one line of what stood there."""
    store = session._context.store  # noqa: SLF001  as above
    for recorded in store.timeline(kinds=[Changed]):
        fact = recorded.fact
        if not isinstance(fact, Changed) or fact.intent is None:
            continue
        before, after = store.blob(fact.before), store.blob(fact.after)
        if before is None or after is None:
            yield f"{fact.path}: what {recorded.session} wrote over is not kept"
            continue
        old, new = before.splitlines(), after.splitlines()
        differ = [pair for pair in zip(old, new, strict=False) if pair[0] != pair[1]]
        mark = f":{recorded.session}-".encode()
        if len(old) != len(new) or len(differ) != 1 or mark not in differ[0][1]:
            yield f"{fact.path}: {recorded.session} changed {len(differ)} lines at once"


def _unsound(session: Session) -> Iterator[str]:
    store = session._context.store  # noqa: SLF001  as above
    yield from store.verify()
    yield from (f"a write of {intent.fact} is not settled" for intent in store.pending())
    yield from (f"{file} was left behind" for file in Path(session.workspace).rglob(".sightline-*"))


def _revision(data: bytes) -> str:
    return sha256(data).hexdigest()


class _Worker:
    """A process at work. It writes into files: a pipe that nobody reads would make it wait."""

    def __init__(self, work: str, folder: str, name: str, seed: int, rounds: int) -> None:
        self._said, self._errors = Path(folder, f"{name}.out"), Path(folder, f"{name}.err")
        with self._said.open("w") as said, self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, WORKER, work, folder, name, str(seed), str(rounds)],
                stdout=said,
                stderr=errors,
                env={"PYTHONPATH": SOURCE, "HOME": folder},
            )

    def ended(self) -> tuple[list[str], list[str]]:
        """Return what it said, and its last words if it failed."""
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        last = self._errors.read_text()[-500:]
        failed = [f"a worker failed: {last}"] if self._process.returncode else []
        return self._said.read_text().splitlines(), failed


if __name__ == "__main__":
    sys.exit(main())
