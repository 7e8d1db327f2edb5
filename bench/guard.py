"""How often is a guard wrong? Every scenario, for every guard, on real files in one run.

    python bench/guard.py [--json] [--only NAME]...

NAME is a scenario (S9) or a guard (file-hash). A cell says what went wrong: f false alarms,
c silent clobbers, r recovery calls, m missed merges, h hangs, n notices that are wrong or missing;
a dot is nothing wrong. The words are explained in bench/README.md, the judging is oracle.py. An
empty cell was not run.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if not __package__:  # started as a script: the rest of bench, and the library of this checkout
    ROOT = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.baselines import BASELINES
from bench.command import COMMAND
from bench.hooked import HOOKED
from bench.scenarios import SCENARIOS
from bench.subjects import SIGHTLINE
from bench.trial import Outcome, play, published

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.scenarios.model import Attempt, Scenario

GUARDS = (SIGHTLINE, COMMAND, HOOKED, *map(published, BASELINES))


class Row(NamedTuple):
    """Counts of one guard in one scenario, all its variants together."""

    guard: str
    scenario: str
    attempts: int
    false_alarms: int
    silent_clobbers: int
    recovery_calls: int
    useful_merges: int
    missed_merges: int
    hangs: int
    wrong_notices: int


class Played(NamedTuple):
    guard: str
    scenario: Scenario
    attempt: Attempt
    outcome: Outcome


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen scenarios and print the table. Exit 2 when nothing has that name."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", action="append", metavar="NAME", help="a scenario or a guard")
    options = parser.parse_args(arguments)
    played = list(run(options.only or []))
    if not played:
        known = " ".join([*(guard.name for guard in GUARDS), *_names()])
        print(f"Nothing is called {' '.join(options.only)}. Known: {known}", file=sys.stderr)
        return 2
    rows = count(played)
    if options.json:
        print(json.dumps({"schema": 1, "rows": [row._asdict() for row in rows]}))
    else:
        print(table(rows))
    return 0


def run(only: Sequence[str] = ()) -> Iterator[Played]:
    """Play the attempts of the scenarios and guards named, all of either kind when none is."""
    guards = [guard for guard in GUARDS if guard.name in only]
    scenarios = [scenario for scenario in SCENARIOS if scenario.name in only]
    if only and not guards and not scenarios:
        return
    for scenario in scenarios or SCENARIOS:
        for guard in guards or GUARDS:
            for attempt in guard.tries(scenario):
                yield Played(guard.name, scenario, attempt, play(guard, scenario, attempt))


def count(played: Sequence[Played]) -> list[Row]:
    """One row for each guard in each scenario, in the order they were played."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for one in played:
        groups.setdefault((one.guard, one.scenario.name), []).append(one.outcome)
    return [_row(guard, scenario, outcomes) for (guard, scenario), outcomes in groups.items()]


def _row(guard: str, scenario: str, outcomes: Sequence[Outcome]) -> Row:
    judged = [outcome.judgement for outcome in outcomes]
    return Row(
        guard,
        scenario,
        attempts=len(outcomes),
        false_alarms=sum(one.false_alarm for one in judged),
        silent_clobbers=sum(one.silent_clobber for one in judged),
        recovery_calls=sum(outcome.recovery for outcome in outcomes),
        useful_merges=sum(one.useful_merge for one in judged),
        missed_merges=sum(one.missed_merge for one in judged),
        hangs=sum(outcome.word == "hang" for outcome in outcomes),
        wrong_notices=sum(bool(outcome.wrong_notice) for outcome in outcomes),
    )


def table(rows: Sequence[Row]) -> str:
    """Scenarios down, guards across, then the totals; fits 100 columns."""
    guards = list(dict.fromkeys(row.guard for row in rows))
    cells = {(row.scenario, row.guard): _cell(row) for row in rows}
    halves = [_halves(guard) for guard in guards]
    lines = [
        f"{'':3} {title:14}" + "".join(f"{half[line]:>10}" for half in halves)
        for line, title in enumerate(("", "what happens"))
    ]
    for name in dict.fromkeys(row.scenario for row in rows):
        what = next(scenario.what for scenario in SCENARIOS if scenario.name == name)
        body = "".join(f"{cells.get((name, guard), ''):>10}" for guard in guards)
        lines.append(f"{name:3} {what[:14]:14}{body}")
    return "\n".join([*lines, "", *_totals(rows, guards)])


def _totals(rows: Sequence[Row], guards: Sequence[str]) -> Iterator[str]:
    fields = Row._fields[2:]
    yield f"{'in all':15}" + "".join(f"{field.split('_')[0]:>10}" for field in fields)
    yield f"{'':15}" + "".join(f"{field.partition('_')[2]:>10}" for field in fields)
    for guard in guards:
        mine = [row for row in rows if row.guard == guard]
        sums = [sum(getattr(row, field) for row in mine) for field in fields]
        yield f"{guard:15}" + "".join(f"{number:>10}" for number in sums)


def _cell(row: Row) -> str:
    counts = {
        "f": row.false_alarms,
        "c": row.silent_clobbers,
        "r": row.recovery_calls,
        "m": row.missed_merges,
        "h": row.hangs,
        "n": row.wrong_notices,
    }
    return " ".join(f"{number}{letter}" for letter, number in counts.items() if number) or "."


def _halves(guard: str) -> tuple[str, str]:
    """A guard's name over two lines of a column."""
    first, _, second = guard.partition("-")
    return (first, second) if second else ("", first)


def _names() -> list[str]:
    return list(dict.fromkeys(scenario.name for scenario in SCENARIOS))


if __name__ == "__main__":
    sys.exit(main())
