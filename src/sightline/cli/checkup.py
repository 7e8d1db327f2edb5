"""The checks of `doctor`, in their order, and the repairs of --fix."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, sleep
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from msgspec import structs

from sightline import __version__
from sightline.agents.connection import RegisteredHook, Scope, files_of, kind_of
from sightline.agents.product import Product
from sightline.agents.products import connectable, product
from sightline.agents.settings_file import carry_out
from sightline.api import health
from sightline.api.folders import settings_of
from sightline.cli import connect
from sightline.cli.output import Call
from sightline.errors import SightlineError
from sightline.hooks import daemon_status
from sightline.hooks.daemon_status import DaemonStatus
from sightline.hooks.fault_log import NAME, faults
from sightline.hooks.protocol import stamp
from sightline.model.findings import Finding, State


def findings(call: Call) -> Iterator[Finding]:
    """Check this installation and one workspace."""
    yield from health.versions(__version__, connect.PACKAGE)
    root, settings = call.root, None
    try:
        settings = settings_of(root, call.store)
    except SightlineError as error:
        yield health.refused("settings", error)
    else:
        call.settings = settings  # a check names what is left out of them
        yield from health.settings_and_store(root, call.store, settings)
        yield _faults(settings.state_home)
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


def mend(call: Call, found: list[Finding]) -> None:
    """Repair what --fix can repair. SightlineError, OSError."""
    for finding in found:
        if finding.fix == "permissions":
            health.close_to_others(call.root, call.store)
        elif finding.fix == "rewind":
            with call.ask() as workspace:
                for rewind in workspace.interrupted_rewinds():
                    workspace.finish_interrupted(rewind.session)
        elif finding.fix:
            scope: Scope = finding.facts["scope"]
            agent = product(finding.facts["agent"])
            assert agent is not None
            place = connect.place_of(call.root)
            kind = kind_of(agent.connection.registered(scope, place))
            carry_out(connect.plan(agent, call.root, scope, kind))


def _faults(state_home: str) -> Finding:
    """Report the faults of hooks that are in the log."""
    file = os.path.join(state_home, NAME)
    try:
        newest = faults(state_home)
    except OSError as error:
        return Finding("faults", "unknown", "unreadable", {"file": file, "why": error.strerror})
    if not newest:
        return Finding("faults", "ok", "none", {})
    last = newest[-1]
    facts = {"at": last.at, "event": last.event or "no event", "message": last.message}
    return Finding("faults", "warning", "some", {"count": len(newest), **facts, "file": file})


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
        return health.refused("hooks", error)


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
            why = health.version_of(each.git)[1] if each.git else "is not on its PATH"
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
