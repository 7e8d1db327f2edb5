"""The checks of `doctor`, in their order, and the repairs of --fix."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import structs

from sightline import __version__
from sightline.agents.claude_code import health as claude
from sightline.agents.claude_code.hook_settings import AGENT
from sightline.agents.claude_code.settings import SCOPES, RegisteredHook, Scope
from sightline.agents.settings_file import carry_out
from sightline.api import metrics
from sightline.api.opening import ports, settings_of
from sightline.changes.session_context import SessionContext, now_us
from sightline.checkpoints.rewind import recovery
from sightline.cli import connect, hook_latency
from sightline.config.settings import Settings, user_settings_file
from sightline.errors import SightlineError
from sightline.history import doctor
from sightline.history.doctor import Finding, State
from sightline.history.session_history import survey
from sightline.hooks import daemon_status
from sightline.hooks.daemon_status import DaemonStatus
from sightline.hooks.fault_log import NAME, faults
from sightline.hooks.protocol import stamp


def findings(root: str, store: str | None) -> Iterator[Finding]:
    """Check this installation and one workspace. store: the option --store."""
    yield from _versions()
    settings = None
    try:
        settings = settings_of(root, store)
    except SightlineError as error:
        facts = {"message": error.message, "hint": error.hint}
        yield Finding("settings", "problem", "refused", facts)
    else:
        yield _settings_files(root)
        yield from _kept(root, settings)
    yield from _agent(root)
    yield claude.transcript(root, connect.config_dir())
    yield from hook_findings(root, None if settings is None else settings.answerer)


def mend(root: str, store: str | None, found: list[Finding]) -> None:
    """Repair what --fix can repair. SightlineError, OSError."""
    for finding in found:
        if finding.fix == "permissions":
            doctor.close_to_others(settings_of(root, store))
        elif finding.fix == "rewind":
            _finish_rewinds(root, settings_of(root, store))
        elif finding.fix:
            scope: Scope = finding.facts["scope"]
            kind = _kind(connect.connections(root, [scope])[scope])
            carry_out(connect.plan(root, scope, kind))


def _versions() -> Iterator[Finding]:
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield Finding("sightline", "ok", "here", {"version": __version__, "folder": folder})
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding("python", "ok", "here", {"version": python, "program": sys.executable})
    yield doctor.sqlite_build()
    yield _git()


def _git() -> Finding:
    try:
        done = subprocess.run(
            ["git", "--version"], capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return Finding("git", "warning", "absent", {})
    return Finding(
        "git", "ok", "here", {"version": done.stdout.strip().removeprefix("git version ")}
    )


def _settings_files(root: str) -> Finding:
    """Report the settings files that apply here, all of them valid."""
    users = user_settings_file(os.environ, os.path.expanduser("~"), sys.platform)
    own = [users, os.path.join(root, "sightline.toml")]
    there = [path for path in own if os.path.exists(path)]
    if not there:
        return Finding("settings", "ok", "default", {})
    return Finding("settings", "ok", "valid", {"files": ", ".join(there)})


def _kept(root: str, settings: Settings) -> Iterator[Finding]:
    yield doctor.policy(settings)
    yield doctor.state_folder(settings)
    yield doctor.store(root, settings)
    yield from metrics.findings(root, settings)
    yield from _rewinds(root, settings)
    watcher = doctor.watcher()
    if watcher is not None:
        yield watcher
    yield _faults(settings.state_home)


def _rewinds(root: str, settings: Settings) -> Iterator[Finding]:
    """Report rewinds whose process died; none if the store cannot be opened."""
    try:
        with _surveyed(root, settings) as ground:
            found = recovery.listed(ground)
    except SightlineError:
        return  # of the store it was said
    for each in found:
        yield Finding("rewind", "warning", "unfinished", structs.asdict(each), "rewind")


def _finish_rewinds(root: str, settings: Settings) -> None:
    with _surveyed(root, settings) as ground:
        for each in recovery.listed(ground):
            recovery.finish(ground.for_session(each.session))


@contextmanager
def _surveyed(root: str, settings: Settings) -> Iterator[SessionContext]:
    store, tree = ports(root, settings, None)
    try:
        yield survey(store, tree, settings, now_us)
    finally:
        store.close()


def _faults(state_home: str) -> Finding:
    file = os.path.join(state_home, NAME)
    try:
        newest = faults(state_home)
    except OSError as error:
        why = {"file": file, "why": error.strerror}
        return Finding("faults", "unknown", "unreadable", why)
    if not newest:
        return Finding("faults", "ok", "none", {})
    last = newest[-1]
    facts = {
        "count": len(newest), "at": last.at, "event": last.event or "no event",
        "message": last.message, "file": file,
    }  # fmt: skip
    return Finding("faults", "warning", "some", facts)


def _agent(root: str) -> Iterator[Finding]:
    yield claude.client()
    paths = {scope: connect.settings_file(scope, root) for scope in SCOPES}
    off = claude.switched_off(paths.values())
    if off is not None:
        yield off
    registered = [(scope, _registration(root, scope, path)) for scope, path in paths.items()]
    yield from (finding for _, finding in registered if finding is not None)
    there = [scope for scope, finding in registered if finding and "scope" in finding.facts]
    if not there:
        if not any(finding for _, finding in registered):
            yield Finding("hooks", "warning", "none", {"agent": AGENT})
        return
    if len(there) > 1:
        facts = {"scopes": " and ".join(there), "agent": AGENT, "last": there[0]}
        yield Finding("hooks", "warning", "double", facts)
    yield from _latency(root, there[-1])


def _registration(root: str, scope: Scope, path: str) -> Finding | None:
    try:
        kind = _kind(connect.registered(path))
        return claude.registration(scope, path, connect.hooks_for(root, kind))
    except SightlineError as error:
        facts = {"message": error.message, "hint": error.hint}
        return Finding("hooks", "problem", "refused", facts)


def _latency(root: str, scope: Scope) -> Iterator[Finding]:
    """Measure the registered hooks, unless the files of their command are missing."""
    found = connect.connections(root, [scope])[scope]
    asked = [each.hook for each in found if each.hook.get("type") == "http"]
    if asked:
        yield hook_latency.http(asked[0])
    elif all(map(os.path.isfile, claude.files(found))):
        yield hook_latency.command(found[0].hook, "" if scope == "local" else f" --scope {scope}")


def _kind(found: list[RegisteredHook]) -> connect.Kind:
    return "http" if claude.kind_of(found) == "http" else "command"


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
