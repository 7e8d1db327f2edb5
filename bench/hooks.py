"""Measure a hook beside the least that a process could do in its place.

    python bench/hooks.py [--json] [--only NAME]...

A hook is called before and after every use of a tool. Each figure is timed in turns with its
floor; bench/README.md says how each is made.
"""

from __future__ import annotations

import http.client
import multiprocessing
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import TYPE_CHECKING

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.asking import printed
from bench.hosting import Host
from bench.speed import table
from bench.stopwatch import Figure, Limit, Row, interleaved, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from bench.stopwatch import Times

    Who = Callable[[Host], AbstractContextManager[None]]

ROUNDS = 40
CALLS, PROCESSES = 500, 8
FILES = 2_000
"""Of the tree that the first edit of a turn is made in."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the chosen figures and print them. Exit 1 when a limit is missed, 2 when nothing has
    that name."""
    return printed(__doc__, MEASURES, run, table, arguments)


def run(only: Sequence[str]) -> Iterator[Row]:
    """Measure what has such a name, each in a folder of its own."""
    for name, measured in MEASURES.items():
        if name.startswith(tuple(only)):
            with tempfile.TemporaryDirectory(prefix="sl-") as folder:
                yield measured(name, folder)


def process(
    command: Callable[[Host], list[str]],
    floor: Callable[[Host], list[str]],
    *,
    edit: bool,
    who: Who,
) -> Callable[[str], Times]:
    """A whole process that judges one attempt: an edit it lets go on, or a write it refuses.
    who: answers it."""

    def measured(folder: str) -> Times:
        host = Host(folder)
        raw = host.edit() if edit else host.write()

        def judged() -> None:
            assert (b'"deny"' not in host.call(command(host), raw)) is edit

        with who(host):
            return interleaved(
                judged,
                lambda: host.call(floor(host), raw),
                ROUNDS,
                before=host.settle if edit else None,
            )

    return measured


def first(folder: str) -> Times:
    """A first hook, that does the work itself and leaves a daemon behind."""
    host = Host(folder)
    raw = host.write()
    try:
        return interleaved(
            lambda: host.call(host.script(), raw),
            lambda: host.call(host.bare(), raw),
            ROUNDS,
            before=host.begin,
            before_floor=host.begin,
        )
    finally:
        host.begin()


def turning(who: Who) -> Callable[[str], Times]:
    """The first edit of a turn, with the checkpoint before it. who: answers it."""

    def measured(folder: str) -> Times:
        host = Host(folder)
        host.fill(FILES)

        def judged() -> None:
            assert b'"deny"' not in host.call(host.script(), host.edit())

        with who(host):
            times = interleaved(
                judged, lambda: host.call(host.walking(), b""), ROUNDS, before=host.turn
            )
        assert host.checkpoints() > ROUNDS, "none was taken"
        return times

    return measured


def shell(command: str, who: Who) -> Callable[[str], Times]:
    """The hooks before and after a shell command, that is not a turn's first. who: answers."""

    def measured(folder: str) -> Times:
        host = Host(folder)
        host.fill(FILES)
        before, after = host.command_hooks(command)
        host.turn()
        host.answer(host.edit())

        def both() -> None:
            host.call(host.script(), before)
            host.call(host.script(), after)

        with who(host):
            return interleaved(both, lambda: host.call(host.walking(), b""), ROUNDS)

    return measured


def over_http(folder: str) -> Times:
    """One request over a connection that stays, beside one of no interest."""
    host = Host(folder)
    raw = host.write()
    with host.up():
        place, path, token = host.http()
        connection = http.client.HTTPConnection(place)

        def ask(payload: bytes) -> bytes:
            connection.request("POST", path, payload, {"Authorization": f"Bearer {token}"})
            return connection.getresponse().read()

        def judged() -> None:
            assert b'"deny"' in ask(raw)

        idle = host.payload("Notification")
        return interleaved(judged, lambda: ask(idle), 200)


def busy(name: str, folder: str) -> Row:
    """The 90th percentile while every core is kept busy by another process."""
    host = Host(folder)
    with BUSY[name][0](host):
        return _busy(name, host)


def _busy(name: str, host: Host) -> Row:
    raw = host.write()
    spinning = [
        multiprocessing.Process(target=_spin, daemon=True) for _ in range(os.cpu_count() or 1)
    ]
    for each in spinning:
        each.start()
    try:
        ours, floor = interleaved(
            lambda: host.call(host.script(), raw), lambda: host.call(host.bare(), raw), 60
        )
    finally:
        for each in spinning:
            each.kill()
            each.join()
    high, low = (quantiles(times, n=10)[8] * 1e3 for times in (ours, floor))
    best, least = min(ours) * 1e3, min(floor) * 1e3
    what = f"p90 as init installs it, every core busy{BUSY[name][1]}"
    # A conversation's hooks are answered, but for its first, and but where the user wants none.
    limit, met = ("", None) if name == "busy" else ("60 ms", high <= 60)
    return Row(
        name,
        what,
        "python -I -S -c pass",
        *(round(high, 4), round(low, 4), round(high / low, 2)),
        *(round(best, 4), round(least, 4), round(best / least, 2)),
        *(limit, met, len(ours)),
    )


def crowd(name: str, folder: str) -> Row:
    """500 calls from 8 hosts at once, each about a file of its own: milliseconds of one call of
    the crowd, and met when nothing went wrong and every fact is there."""
    host = Host(folder)
    raws = [host.shown(f"f{n:03}.py", f"s{n % PROCESSES}") for n in range(CALLS)]
    started = perf_counter()
    with ThreadPoolExecutor(PROCESSES) as pool:
        answers = list(pool.map(lambda raw: host.call(host.script(), raw), raws))
    took = (perf_counter() - started) / CALLS * 1e3
    lost, faults = CALLS - host.seen(), len(host.faults())
    what = f"{CALLS} calls of {PROCESSES} at once: {lost} facts lost, {faults} faults"
    met = answers == [b""] * CALLS and not lost and not faults
    figures = (round(took, 4), round(took, 4), 1.0)
    return Row(name, what, "itself", *figures, *figures, "none lost", met, CALLS)


def _spin() -> None:
    while True:
        pass


def _timed(figure: Figure) -> Callable[[str, str], Row]:
    return lambda _, folder: measure(figure, folder)


OWN, UP = Limit(ms=250), Limit(ratio=1.6)
STANDARD = "imports, one SQLite commit"
PASS = "python -I -S -c pass"  # noqa: S105

FIGURES = [
    Figure(
        f"{kind}-{'allow' if edit else 'refuse'}",
        f"{what}, {'an edit that goes on' if edit else 'a write refused'}",
        floor_name,
        limit,
        process(command, floor, edit=edit, who=who),
    )
    for kind, what, command, floor, floor_name, limit, who in [
        (
            *("whole", "sightline hook claude-code", Host.command, Host.standard, STANDARD),
            *(OWN, Host.alone),
        ),
        ("own", "as init installs it", Host.script, Host.bare, PASS, OWN, Host.alone),
        ("up", "the same, `up` answers", Host.script, Host.bare, PASS, UP, Host.up),
        (
            *("auto", "the same, its own daemon answers", Host.script, Host.bare, PASS),
            *(UP, Host.started),
        ),
    ]
    for edit in (False, True)
]
FIGURES.append(Figure("first", "the first hook, which starts that", PASS, OWN, first))
FIGURES += [
    Figure(
        f"turn-{kind}",
        f"a turn's first edit, {FILES:,} files, {what}",
        "python -I -S, a walk",
        Limit(),
        turning(who),
    )
    for kind, what, who in [
        ("own", "as init installs it", Host.alone),
        ("up", "`up` answers", Host.up),
        ("auto", "its own daemon answers", Host.started),
    ]
]
FIGURES += [
    Figure(
        f"shell-{name}-{kind}",
        f"both hooks of `{command}`, {FILES:,} files, {what}",
        "python -I -S, a walk",
        Limit(),
        shell(command, who),
    )
    for name, command in [("reads", "git status"), ("acts", "make")]
    for kind, what, who in [
        ("own", "as init installs it", Host.alone),
        ("auto", "its own daemon answers", Host.started),
    ]
]
FIGURES.append(
    Figure(
        "http", "one request, a write refused", "an event of no interest", Limit(ms=5), over_http
    )
)

BUSY: dict[str, tuple[Who, str]] = {
    "busy": (Host.alone, ", nobody answers"),
    "busy-up": (Host.up, ", `up` answers"),
    "busy-auto": (Host.started, ", its own daemon answers"),
}

MEASURES = {
    **{figure.name: _timed(figure) for figure in FIGURES},
    **dict.fromkeys(BUSY, busy),
    "crowd": crowd,
}

if __name__ == "__main__":
    sys.exit(main())
