"""Check the surroundings: the store, its folder and the program that keeps it, the watcher. Findings are values."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from shutil import disk_usage
from time import monotonic
from typing import Any

from msgspec import structs

from sightline.changes.session_context import SessionContext
from sightline.checkpoints.rewind import interrupted
from sightline.config.settings import Settings
from sightline.errors import SightlineError, StoreError
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.ignore.agent_ignores import (
    AGENTS,
    AGENTS_OWN,
    BY_OTHER_RULES,
    NOT_OF_AGENTS,
)
from sightline.filesystem.private_files import check_private, open_own
from sightline.model.events import FACTS, CheckpointMissed, CheckpointTaken, SightLost
from sightline.model.findings import Finding, State
from sightline.model.path import quoted
from sightline.sessions.presence import present_sessions
from sightline.store import opening
from sightline.store.identity import store_file
from sightline.store.sqlite_file import refuse_network

VERIFY_FACTS_MAX = 50_000
VERIFY_BYTES_MAX = 256 << 20
"""A larger store is not verified in full: that takes seconds."""

WATCHES = "/proc/sys/fs/inotify/max_user_watches"
WATCHES_MIN = 65_536
"""Watched folders; fewer do not suffice for a large tree beside a watching editor."""

FREE_MIN = 1 << 20
"""Free bytes without which the next fact or text finds no room."""

FOLDERS = ("workspaces", "run")
LOGS = ("hooks.log", "hooks.log.1", "hooks.log.lock")
"""Contents of the state folder."""


VERSION_WITHIN_S = 10.0


def version_of(program: str) -> tuple[str, str]:
    """Return the first line that `program --version` prints, and the end of a sentence that says why
    it prints none; one of them is empty."""
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"does not answer within {VERSION_WITHIN_S:.0f} s"
    except OSError as error:
        return "", f"cannot be run: {error.strerror}"
    if done.returncode:
        return "", f"ends with exit code {done.returncode}"
    return done.stdout.strip().split("\n")[0], ""


def engines() -> Iterator[Finding]:
    """Check the programs that keep stores."""
    for engine in opening.engines():
        case = "racy" if engine.is_racy else "sound"
        yield Finding(engine.name, "ok", case, {"version": engine.version})


def policy(settings: Settings) -> Finding:
    """Report what happens when a Sightline hook fails."""
    return Finding("fail", "ok", settings.fail, {})


def state_folder(settings: Settings) -> Finding:
    """Check that the state folder is private, writable, and on a local disk."""
    home = settings.state_home
    facts = {"folder": home}
    try:
        found = os.stat(home)
    except FileNotFoundError:
        return Finding("state", "ok", "absent", facts)
    except OSError as error:
        return Finding("state", "unknown", "unreadable", {**facts, "why": error.strerror})
    try:
        check_private(home, "workspaces")
        for log in LOGS:
            if os.path.lexists(path := os.path.join(home, log)):
                os.close(open_own(path, os.O_RDONLY))
    except SightlineError as error:
        return structs.replace(refused("state", error), fix="permissions")
    except OSError as error:
        why = {"folder": home, "message": f"{error.filename}: {error.strerror}.", "hint": ""}
        return Finding("state", "problem", "refused", why)
    try:
        refuse_network(os.path.join(home, "store.db"))
    except SightlineError as error:
        return refused("state", error)
    if disk_usage(home).free < FREE_MIN:
        return Finding("state", "problem", "full", facts)
    if not stat.S_ISDIR(found.st_mode) or not os.access(home, os.W_OK | os.X_OK):
        return Finding("state", "problem", "closed", facts)
    open_paths = list(_open_paths(settings))
    if open_paths:
        more = {**facts, "count": len(open_paths), "first": open_paths[0]}
        return Finding("state", "warning", "open", more, "permissions")
    return Finding("state", "ok", "private", facts)


def close_to_others(settings: Settings) -> None:
    """Remove other users' permissions from the state folder and the store: 0700 and 0600. OSError."""
    for path in _open_paths(settings):
        os.chmod(path, 0o700 if os.path.isdir(path) else 0o600)


def store(root: str, settings: Settings, *, verifying: bool = True) -> Finding:
    """Check that the workspace's store opens and, where it is `verifying`, agrees with its timeline."""
    try:
        place = settings.store or store_file(settings.state_home, root)
        where: dict[str, str] = {"workspace_root": root, "state_home": settings.state_home}
        if opening.is_held(settings.store, **where):
            return Finding("store", "problem", "held", {"place": place})
        with closing(opening.open_store(settings.store, **where)) as opened:
            url = opening.url_of(settings.store, **where)
            size = opening.kind_of(url).size(url)
            facts = {"place": place, "facts": opened.position(), "bytes": size}
            small = verifying and opened.position() <= VERIFY_FACTS_MAX and size <= VERIFY_BYTES_MAX
            wrong = opened.verify() if small else None
    except SightlineError as error:
        return refused("store", error)
    if wrong:
        more = {**facts, "first": wrong[0], "count": len(wrong)}
        return Finding("store", "problem", "differs", more)
    return Finding("store", "ok", "large" if wrong is None else "whole", facts)


def refused(name: str, error: SightlineError) -> Finding:
    """Report that what a check needs was refused."""
    facts = {"message": error.message, "hint": error.next_step}
    return Finding(name, "problem", "refused", facts)


def watcher(file: str = WATCHES) -> Finding | None:
    """Check the system's limit of watched folders; None for a system without a limit."""
    if sys.platform != "linux":
        return None
    try:
        with open(file, encoding="ascii") as limit:
            watches = int(limit.read())
    except (OSError, ValueError):
        return Finding("watcher", "unknown", "unreadable", {"file": file})
    state: State = "ok" if watches >= WATCHES_MIN else "warning"
    return Finding("watcher", state, state, {"watches": watches, "advised": WATCHES_MIN * 8})


def _open_paths(settings: Settings) -> Iterator[str]:
    """Yield Sightline's paths in the state folder, and the files of a store elsewhere, that other users
    may access. Of a state folder that the user gave another name, others may read the names, and no
    more. On Windows the folder's own rules decide."""
    home = settings.state_home
    paths = [os.path.join(home, name) for name in LOGS]
    is_ours = os.path.basename(home) == "sightline"
    if is_ours or (os.path.isdir(home) and os.stat(home).st_mode & 0o022):
        paths.insert(0, home)
    if settings.store is not None:
        with suppress(StoreError):  # store() says why
            paths += opening.kind_of(settings.store).files(settings.store)
    for name in FOLDERS:
        paths.append(os.path.join(home, name))
        for folder, folders, files in os.walk(paths[-1]):
            paths += [os.path.join(folder, inside) for inside in (*folders, *files)]
    for path in paths if os.name != "nt" else ():
        try:
            found = os.lstat(path)
        except FileNotFoundError:  # never created, or removed by another process
            continue
        ours = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
        if ours and found.st_mode & 0o077 and found.st_uid == os.getuid():
            yield path


def checks_inside(context: SessionContext) -> Iterator[Finding]:
    """Check what the store of a workspace holds, and which files of the tree are out of sight."""
    yield from _counters(context)
    yield from _ignore_files(context)
    for rewind in interrupted.listed(context):
        yield Finding("rewind", "warning", "unfinished", structs.asdict(rewind), "rewind")


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
        yield refused("ignore files", error)
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
