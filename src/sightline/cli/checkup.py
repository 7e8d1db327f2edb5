"""The checks of `doctor`, in their order, and the repairs of --fix."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, sleep
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from msgspec import structs

from sightline import __version__
from sightline.agents.connection import RegisteredHook, Scope, files_of, kind_of
from sightline.agents.product import Product
from sightline.agents.products import connectable, product
from sightline.agents.settings_file import carry_out
from sightline.api.folders import settings_of
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.rewind import interrupted, recovery
from sightline.cli import connect
from sightline.cli.output import Call
from sightline.config.settings import Settings, user_settings_file
from sightline.errors import SightlineError
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.path_list import AGENTS, AGENTS_OWN, BY_OTHER_RULES, NOT_OF_AGENTS
from sightline.history import doctor
from sightline.history.doctor import Finding, State
from sightline.hooks import daemon_status
from sightline.hooks.daemon_status import DaemonStatus
from sightline.hooks.fault_log import NAME, faults
from sightline.hooks.protocol import stamp
from sightline.model.events import FACTS, CheckpointMissed, CheckpointTaken, SightLost
from sightline.model.path import quoted
from sightline.sessions.presence import present_sessions


def findings(call: Call) -> Iterator[Finding]:
    """Check this installation and one workspace."""
    yield from _versions()
    root, settings = call.root, None
    try:
        settings = settings_of(root, call.store)
    except SightlineError as error:
        yield doctor.refused("settings", error)
    else:
        call.settings = settings  # a check names what is left out of them
        yield from _kept(call, settings)
    answerer = None if settings is None else settings.answerer
    for each in _concerned(root):
        yield from _agent(each, root, answerer)
        yield from each.connection.transcript(connect.place_of(root))
    yield from hook_findings(root, answerer)


def _concerned(root: str) -> list[Product]:
    """Return the products that are on this machine or have our hooks; all products where none is."""
    here = {each.name for each in connect.found_products(root)}
    return [each for each in connectable() if each.name in here or _has_hooks(each, root)] or (
        connectable()
    )


def _has_hooks(agent: Product, root: str) -> bool:
    try:
        return bool(connect.connections(agent, root))
    except SightlineError:
        return True  # the check of these settings says why


def needed(call: Call) -> Iterator[Finding]:
    """Check what every hook of a workspace needs: settings, state folder and store."""
    try:
        settings = settings_of(call.root, call.store)
    except SightlineError as error:
        yield doctor.refused("settings", error)
        return
    yield doctor.state_folder(settings)
    yield doctor.store(call.root, settings, verifying=False)


def mend(call: Call, found: list[Finding]) -> None:
    """Repair what --fix can repair. SightlineError, OSError."""
    for finding in found:
        if finding.fix == "permissions":
            doctor.close_to_others(settings_of(call.root, call.store))
        elif finding.fix == "rewind":
            with call.survey() as context:
                for rewind in interrupted.listed(context):
                    recovery.finish(context.for_session(rewind.session))
        elif finding.fix:
            scope: Scope = finding.facts["scope"]
            agent = product(finding.facts["agent"])
            assert agent is not None
            place = connect.place_of(call.root)
            kind = kind_of(agent.connection.registered(scope, place))
            carry_out(connect.plan(agent, call.root, scope, kind))


def _versions() -> Iterator[Finding]:
    here = {"version": __version__, "folder": connect.PACKAGE}
    yield Finding("sightline", "ok", "here", here)
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding("python", "ok", "here", {"version": python, "program": sys.executable})
    yield from doctor.engines()
    version, _ = doctor.version_of("git")
    if version:
        yield Finding("git", "ok", "here", {"version": version.removeprefix("git version ")})
    else:
        yield Finding("git", "warning", "absent", {})


def _kept(call: Call, settings: Settings) -> Iterator[Finding]:
    """Check the settings, which hold, and the store that they name."""
    users = user_settings_file(os.environ, os.path.expanduser("~"), sys.platform)
    own = [
        path for path in (users, os.path.join(call.root, "sightline.toml")) if os.path.exists(path)
    ]
    files = {"files": ", ".join(own)} if own else {}
    for fault in settings.left_out:
        facts = {"message": fault.message, "hint": fault.hint}
        yield Finding("settings", "problem", "left out", facts)
    if not settings.left_out:
        yield Finding("settings", "ok", "valid" if own else "default", files)
    yield doctor.policy(settings)
    yield doctor.state_folder(settings)
    yield doctor.store(call.root, settings)
    with suppress(SightlineError), call.survey() as context:  # doctor.store says why
        yield from [*_counters(context), *_ignore_files(context)]
        for rewind in interrupted.listed(context):
            yield Finding("rewind", "warning", "unfinished", structs.asdict(rewind), "rewind")
    watcher = doctor.watcher()
    if watcher is not None:
        yield watcher
    file = os.path.join(settings.state_home, NAME)
    try:
        newest = faults(settings.state_home)
    except OSError as error:
        yield Finding("faults", "unknown", "unreadable", {"file": file, "why": error.strerror})
        return
    if not newest:
        yield Finding("faults", "ok", "none", {})
        return
    last = newest[-1]
    facts = {"at": last.at, "event": last.event or "no event", "message": last.message}
    yield Finding("faults", "warning", "some", {"count": len(newest), **facts, "file": file})


JOURNAL = "journal"
"""The word for facts about writes under way, which no log shows."""


def _word(name: str) -> str:
    """Return the word for a kind of fact, by the name of the kind."""
    kind = FACTS.get(name)
    return kind.words[0] if kind is not None and kind.words else JOURNAL


def _counters(context: SessionContext) -> Iterator[Finding]:
    """Count facts, sessions, refusals, checkpoints, gaps in sight, and the store's size."""
    store, settings = context.store, context.settings
    tally = store.tally()
    words: Counter[str] = Counter()
    for name, number in tally.items():
        words[_word(name)] += number
    yield Finding(
        "facts", "ok", "counted", dict(sorted(words.items(), key=lambda w: (-w[1], w[0])))
    )

    states = dict.fromkeys(("present", "gone", "ended", "archived"), 0)
    states["present"] = len(present_sessions(context))
    states["gone"] = store.session_count(ended=False, archived=False) - states["present"]
    states["ended"] = store.session_count(ended=True, archived=False)
    states["archived"] = store.session_count(archived=True)
    yield Finding("sessions", "ok", "counted", states)

    edits = {"refused": tally.get("Refused", 0), "merged": tally.get("Merged", 0)}
    yield Finding("edits", "ok", "counted", edits)

    standing = tally.get("CheckpointTaken", 0) - tally.get("CheckpointDropped", 0)
    facts: dict[str, Any] = {"standing": standing, "missed": tally.get("CheckpointMissed", 0)}
    tried = [*store.timeline(kinds=[CheckpointTaken, CheckpointMissed], newest=1)]
    if tried and isinstance(missed := tried[0].fact, CheckpointMissed):
        facts |= {"at": tried[0].happened_at, "reason": missed.reason}
        yield Finding("checkpoints", "warning", "missed", facts)
    else:
        yield Finding("checkpoints", "ok", "kept", facts)

    gaps = [*store.timeline(kinds=[SightLost], newest=1)]
    if gaps and isinstance(lost := gaps[0].fact, SightLost):
        facts = {"gaps": tally["SightLost"], "at": gaps[0].happened_at, "reason": lost.reason}
        yield Finding("sight", "ok", "gaps", facts)
    else:
        yield Finding("sight", "ok", "whole", {"gaps": 0})

    with closing(context.workspace.watch()) as watcher:
        eyes = watcher.eyes()
    facts = {"mode": eyes.mode, "why": eyes.why, "folders": eyes.folders, "unseen": eyes.unseen}
    yield Finding("watching", "warning" if eyes.why == "limit" else "ok", eyes.mode, facts)

    room = store.room()
    sizes = {**structs.asdict(room), "total": room.total, "allowed": settings.keep_bytes}
    full = room.texts > settings.keep_bytes
    yield Finding("room", "warning" if full else "ok", "full" if full else "within", sizes)


IGNORE_FILES_S = 2.0
"""Seconds for reading the ignore files of a tree."""


def _ignore_files(context: SessionContext) -> Iterator[Finding]:
    """Name the ignore files that are not read, or not in full."""
    try:
        context.workspace.tree(until=monotonic() + IGNORE_FILES_S)
    except SightlineError as error:
        yield doctor.refused("ignore files", error)
    except DeadlinePassed:
        pass  # those that were read so far are named
    for text in context.workspace.left_out():
        yield Finding("ignore files", "warning", "left out", {"text": text})
    own = [name for name in os.listdir(context.workspace.root) if AGENTS_OWN.fullmatch(name)]
    known = sorted({*AGENTS, *BY_OTHER_RULES}.intersection(own))
    if known and context.settings.ignore_files == "list":
        yield Finding("ignore files", "ok", "listed", {"names": ", ".join(known)})
    if others := sorted({*own} - {*known, *NOT_OF_AGENTS}):
        yield Finding("ignore files", "ok", "unknown", {"names": ", ".join(map(quoted, others))})


def _agent(agent: Product, root: str, setting: str | None) -> Iterator[Finding]:
    found = [(scope, _registration(agent, root, scope)) for scope in agent.connection.scopes]
    there = [scope for scope, finding in found if finding and "scope" in finding.facts]
    yield from agent.connection.health(connect.place_of(root), there)
    yield from (finding for _, finding in found if finding is not None)
    if not there:
        if not any(finding for _, finding in found):
            yield Finding("hooks", "warning", "none", {"agent": agent.name})
        return
    if len(there) > 1:
        facts = {"scopes": " and ".join(there), "agent": agent.name, "last": there[0]}
        yield Finding("hooks", "warning", "double", facts)
    yield from _latency(agent, root, there[-1], setting)


def _registration(agent: Product, root: str, scope: Scope) -> Finding | None:
    place = connect.place_of(root)
    try:
        kind = kind_of(agent.connection.registered(scope, place))
        program = connect.program_for(agent, root, kind)
        return agent.connection.registration(scope, place, program, agent.name)
    except SightlineError as error:
        return doctor.refused("hooks", error)


def _latency(agent: Product, root: str, scope: Scope, setting: str | None) -> Iterator[Finding]:
    """Measure the registered hooks, unless the files of their command are missing."""
    found = agent.connection.registered(scope, connect.place_of(root))
    asked = [each for each in found if each.url]
    if asked:
        yield http_latency(agent, asked[0])
    elif all(map(os.path.isfile, files_of(found))):
        flag = "" if scope == "local" else f" --scope {scope}"
        yield command_latency(agent, found[0], flag, setting)


def hook_findings(root: str, setting: str | None) -> Iterator[Finding]:
    """Report the processes that answer hooks of this workspace. setting: `answerer`, or None."""
    daemons = list(daemon_status.list_daemons(root, os.environ, os.path.expanduser("~")))
    ups, autos = ([each for each in daemons if each.kind == kind] for kind in ("up", "auto"))
    yield Finding("up", *_up(ups), {})
    if hasattr(os, "posix_spawn") and hasattr(os, "getuid"):
        yield _auto(root, autos, setting, up=any(map(_asked, ups)))


def _up(found: list[DaemonStatus]) -> tuple[State, str]:
    if any(map(_asked, found)):
        return "ok", "running"
    return ("warning", "outdated") if found else ("ok", "not running")


def _auto(root: str, found: list[DaemonStatus], setting: str | None, *, up: bool) -> Finding:
    for each in found:
        facts = {"pid": each.pid, "since": each.since, "calls": each.calls}
        if _asked(each) and os.path.lexists(os.path.join(root, ".git")):
            why = doctor.version_of(each.git)[1] if each.git else "is not on its PATH"
            if why:
                return Finding("answerer", "warning", "no git", {**facts, "why": why})
        return Finding("answerer", "ok", "running" if _asked(each) else "outdated", facts)
    silent = daemon_status.silent_daemons(root, os.environ, os.path.expanduser("~"))
    if silent:
        return Finding("answerer", "warning", "silent", {"pid": silent[0]})
    if setting == "off":
        return Finding("answerer", "ok", "off", {})
    return Finding("answerer", "ok", "not needed" if up else "not running", {})


def _asked(daemon: DaemonStatus) -> bool:
    """Return whether hooks of this installation ask a daemon."""
    return daemon.installation == stamp()


RUNS = 11
WITHIN_S = 10.0
SLOW_MS, BUSY_MS = 400, 60
"""Milliseconds from which a hook is slow, and a bare start of Python shows that the machine is busy."""

DAEMON_S = 5.0
"""Seconds that a hook's daemon may take to start."""

OURS, KEPT = "SIGHTLINE_", ("SIGHTLINE_ANSWERER",)
"""The beginning of our variables, which a measurement leaves out, and those that it keeps."""

TEXT = "one\ntwo\nthree\n"


def command_latency(
    agent: Product, hook: RegisteredHook, flag: str, setting: str | None
) -> Finding:
    """Ask a command hook RUNS times about an edit, in a workspace and a store of its own, with the daemon that
    the first hook of a conversation leaves behind; without one where the user's settings say so.

    flag: the options of the `init` that writes the hook anew. setting: `answerer`, or None.
    """
    line, home, case = [*hook.command], os.path.expanduser("~"), "alone"
    with TemporaryDirectory(prefix="sightline-doctor-", ignore_cleanup_errors=True) as folder:
        root = os.path.realpath(os.path.join(folder, "workspace"))
        os.makedirs(os.path.join(root, ".git"))
        path = os.path.join(root, "a.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(TEXT)
        trial = agent.dialect.trial(root, path, "two", "2")
        began, edit, _ = [json.dumps(each).encode() for each in trial]
        environ = {
            **{key: kept for key, kept in os.environ.items() if key in KEPT or key[:10] != OURS},
            "SIGHTLINE_HOME": os.path.join(folder, "state"),
            **({agent.project_variable: root} if agent.project_variable else {}),
        }
        took = []
        try:
            for payload in (began, *[edit] * RUNS):
                start = perf_counter()
                why = _failure(line, payload, environ, root)
                took.append((perf_counter() - start) * 1_000)
                if why:
                    facts = {"why": why, "agent": agent.name, "flag": flag}
                    return Finding("latency", "problem", "fails", facts)
                if len(took) == 1 and setting != "off" and _daemon_answers(root, environ, home):
                    case = "measured"
        finally:
            daemon_status.end_daemons(root, environ, home)
    found = timed(took[1:], case, _bare_ms())  # the first one made the store
    return structs.replace(found, facts={**found.facts, "first": round(took[0])})


def _bare_ms() -> float:
    """Return how long a start of Python takes that does nothing, the median of three."""
    took = []
    for _ in range(3):
        began = perf_counter()
        subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=False)
        took.append((perf_counter() - began) * 1_000)
    return sorted(took)[1]


def _daemon_answers(root: str, environ: Mapping[str, str], home: str) -> bool:
    """Wait for the daemon that a hook started. Return whether it answers."""
    until = monotonic() + DAEMON_S
    while monotonic() < until:
        if any(daemon_status.list_daemons(root, environ, home)):
            return True
        sleep(daemon_status.LOOK_S)
    return False


def http_latency(agent: Product, hook: RegisteredHook) -> Finding:
    """Ask an http hook RUNS times about an event that it ignores, so nothing is recorded."""
    *_, ignored = agent.dialect.trial(os.path.sep, os.path.sep, "", "")
    payload = json.dumps(ignored).encode()
    took = []
    for _ in range(RUNS):
        start = perf_counter()
        asked = Request(hook.url, payload, dict(hook.headers))  # noqa: S310 - ours
        try:
            with urlopen(asked, timeout=WITHIN_S) as answer:  # noqa: S310 - is_ours: 127.0.0.1
                answer.read()
        except HTTPError as error:
            why = f"{hook.url} answers {error.code}: {error.read().decode(errors='replace')}"
            error.close()
            facts = {"why": why, "agent": agent.name}
            return Finding("latency", "problem", "http fails", facts)
        except URLError:
            return Finding("latency", "problem", "not running", {"agent": agent.name})
        took.append((perf_counter() - start) * 1_000)
    return timed(took, "answered")


def timed(took_ms: Sequence[float], case: str = "measured", bare_ms: float = 0.0) -> Finding:
    """Report the median and the 95th percentile of durations of hook calls. bare_ms: a start of Python that
    does nothing, just now; 0 for no process."""
    ordered = sorted(took_ms)
    p50, p95 = ordered[len(ordered) // 2], ordered[-(-len(ordered) * 95 // 100) - 1]
    facts = {"p50": round(p50), "p95": round(p95), "bare": round(bare_ms)}
    if bare_ms > BUSY_MS:
        return Finding("latency", "ok", "busy", facts)
    if p50 > SLOW_MS:
        return Finding("latency", "warning", "slow alone" if case == "alone" else "slow", facts)
    return Finding("latency", "ok", case, facts)


def _failure(line: list[str], payload: bytes, environ: Mapping[str, str], root: str) -> str:
    """Run a hook once, and return its fault, or ""."""
    try:
        done = subprocess.run(
            line, input=payload, capture_output=True, env=environ, cwd=root, timeout=WITHIN_S,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"no answer within {WITHIN_S:.0f} s"
    except OSError as error:
        return f"it cannot be run: {error.strerror}"
    said = done.stderr.decode(errors="replace").strip().split("\n")[-1]
    if done.returncode or said:
        return f"exit code {done.returncode}, {said or 'nothing said'}"
    try:
        answer = json.loads(done.stdout or b"{}")
    except ValueError:
        return f"it prints no JSON: {done.stdout[:60]!r}"
    return "" if isinstance(answer, dict) else "it prints no JSON object"
