"""Who changed it? What Sightline says, held against what was done, in generated histories.

    python bench/causes.py [--json] [--only SEED]... [--count N]

The histories are bench/histories.py; a seed makes the same one each time. A row is what was done,
a column what was said. Exit 1 when a wrong cause made another verdict.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

if not __package__:  # started as a script: the rest of bench, and the library of this checkout
    ROOT = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.histories import FILES, History

from sightline.changes.session_context import SessionContext
from sightline.guard.check import check
from sightline.model.events import Cause, Changed, GitMoved
from sightline.store.memory import MemoryStore
from sightline.store.port import Append

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.histories import Label

    from sightline.model.events import CauseKind, Fact
    from sightline.model.timeline import Recorded

KINDS = ("agent", "command", "formatter", "git", "session", "external")
COUNT = 200


class Told(NamedTuple):
    """A change that was found. done: who made it, "" where nobody did; said: who is said to have;
    sure: the word of confidence."""

    done: str
    said: str
    sure: str


class Outcome(NamedTuple):
    """The outcome of one history. missed: labelled changes that stand at the end, and are not on
    the timeline. other_verdicts: questions answered in another way once the causes are true."""

    seed: int
    told: list[Told]
    missed: int
    other_verdicts: list[str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the histories and print the answers about them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", action="append", type=int, metavar="SEED", help="this history")
    parser.add_argument("--count", type=int, default=COUNT, help="how many histories")
    options = parser.parse_args(arguments)
    outcomes = [played(seed) for seed in options.only or range(options.count)]
    print(json.dumps(as_json(outcomes)) if options.json else table(outcomes))
    return int(any(one.other_verdicts or one.missed for one in outcomes))


def played(seed: int) -> Outcome:
    """One history, from its beginning to the questions at its end."""
    with tempfile.TemporaryDirectory(prefix="sightline-causes-") as home:
        history = History(seed, Path(home))
        try:
            history.play()
            return judged(seed, history)
        finally:
            history.close()


def judged(seed: int, history: History) -> Outcome:
    """Return what the timeline says of a history, and whether a wrong cause made a difference."""
    store = history.first._context.store  # noqa: SLF001
    log = list(store.timeline())
    told = [
        Told(done, said, sure)
        for recorded in log
        if recorded.position > history.begun
        for path, revision, said, sure in said_of(recorded)
        for done in [label_of(history.labels, path, revision, recorded.position)]
    ]
    stands = {label.path: label.revision for label in history.labels}
    rows = store.disks()
    missed = sum(rows[path].revision != revision for path, revision in stands.items())
    return Outcome(seed, told, missed, other_verdicts(history, log))


def said_of(recorded: Recorded) -> Iterator[tuple[str, str, str, str]]:
    """The changes that a fact tells of: path, revision, who made it, how sure that is."""
    fact = recorded.fact
    if isinstance(fact, GitMoved):
        for change in fact.changes:
            yield change.path, change.after, "git", "certain"
    elif isinstance(fact, Changed):
        second = fact.cause.kind == "agent" and fact.cause.who == "second"
        yield fact.path, fact.after, "session" if second else fact.cause.kind, fact.cause.confidence


def label_of(labels: Sequence[Label], path: str, revision: str, position: int) -> str:
    """Return who wrote these bytes last, before the fact was recorded."""
    fit = [
        label.kind
        for label in labels
        if (label.path, label.revision) == (path, revision) and label.position < position
    ]
    return fit[-1] if fit else ""


def other_verdicts(history: History, log: Sequence[Recorded]) -> list[str]:
    """Questions that are answered in another way when every cause on the timeline is the true
    one."""
    own = history.first._context  # noqa: SLF001
    told = MemoryStore()
    for recorded in log:
        facts = true(history, recorded)
        told.append(Append(recorded.session, facts, at=recorded.happened_at))
    told.keep(kept for rev in revisions(log) if (kept := own.store.blob(rev)) is not None)
    different = []
    for session in (history.first, history.second_agent):
        ground = SessionContext(session.id, told, own.workspace, own.settings, own.clock, own.owner)
        for path in FILES:
            text = session.believed(path) or ""
            for old in (None, *text.splitlines(keepends=True)[::4]):
                said = structs.replace(session.check(path, old=old), changed_by=None)
                if said != structs.replace(check(ground, path, old=old), changed_by=None):
                    different.append(f"{session.id} {path} {old!r}")
    return different


def true(history: History, recorded: Recorded) -> list[Fact]:
    """A fact with the true cause."""
    fact = recorded.fact
    if recorded.position <= history.begun or not isinstance(fact, (Changed, GitMoved)):
        return [fact]
    made = []
    for path, revision, _, _ in said_of(recorded):
        done = label_of(history.labels, path, revision, recorded.position) or "external"
        kind: CauseKind = "agent" if done in ("agent", "session") else done  # type: ignore[assignment]
        cause = Cause(kind, "second" if done == "session" else "first")
        if isinstance(fact, Changed):
            return [structs.replace(fact, cause=cause)]
        change = next(each for each in fact.changes if each.path == path)
        made.append(Changed(path, change.before, change.after, "content", cause, change.mode))
    return list(made)


def revisions(log: Sequence[Recorded]) -> set[str]:
    """Texts that may be asked for: those believed, and those that stood there."""
    found = set()
    for recorded in log:
        belief = getattr(recorded.fact, "belief", None)
        found |= {belief.text} if belief is not None else set()
        found |= {revision for _, revision, _, _ in said_of(recorded)}
    return found


def table(outcomes: Sequence[Outcome]) -> str:
    """Return what was done down, what was said across, then the shares."""
    counts = Counter((each.done or "nothing", each.said) for one in outcomes for each in one.told)
    rows = [*KINDS, *(["nothing"] if any(done == "nothing" for done, _ in counts) else [])]
    lines = [f"{'done / said':12}" + "".join(f"{said:>11}" for said in KINDS) + f"{'right':>9}"]
    for done in rows:
        row = [counts[done, said] for said in KINDS]
        share = f"{100 * counts[done, done] / sum(row):.1f} %" if sum(row) else "-"
        lines.append(f"{done:12}" + "".join(f"{n or '.':>11}" for n in row) + f"{share:>9}")
    return "\n".join([*lines, "", *summary(outcomes)])


def summary(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The figures below the table."""
    figures = as_json(outcomes)
    yield f"{figures['right']} of {figures['changes']} causes are right ({figures['share']} %)"
    yield f"{figures['histories_right']} of {figures['histories']} histories have no wrong cause"
    yield f"{figures['certain_and_wrong']} of {figures['certain']} that were certain are wrong"
    yield f"{figures['missed']} changes were missed"
    yield f"{figures['other_verdicts']} verdicts would be others with the true causes"
    yield "wrong in: " + " ".join(str(one.seed) for one in outcomes if not all_right(one))


def all_right(one: Outcome) -> bool:
    """Return whether every cause of a history is right."""
    return all(each.done == each.said for each in one.told)


def as_json(outcomes: Sequence[Outcome]) -> dict[str, object]:
    """The same as one object."""
    told = [each for one in outcomes for each in one.told]
    sure = [each for each in told if each.sure == "certain"]
    right = sum(each.done == each.said for each in told)
    pairs = Counter((each.done, each.said) for each in told)
    return {
        "schema": 1,
        "histories": len(outcomes),
        "histories_right": sum(map(all_right, outcomes)),
        "changes": len(told),
        "right": right,
        "share": round(100 * right / max(len(told), 1), 1),
        "certain": len(sure),
        "certain_and_wrong": sum(each.done != each.said for each in sure),
        "missed": sum(one.missed for one in outcomes),
        "other_verdicts": sum(len(one.other_verdicts) for one in outcomes),
        "confusion": [[*pair, count] for pair, count in sorted(pairs.items())],
    }


if __name__ == "__main__":
    sys.exit(main())
