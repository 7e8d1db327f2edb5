"""Metrics of a workspace, for doctor: facts, sessions, refusals, gaps in sight, room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import structs

from sightline.api.opening import ports
from sightline.changes.session_context import SessionContext, now_us
from sightline.config.settings import Settings
from sightline.errors import SightlineError
from sightline.filesystem.process import owner
from sightline.history.doctor import Finding
from sightline.history.log_entries import WORDS
from sightline.model.events import CheckpointMissed, CheckpointTaken, SightLost
from sightline.model.timeline import archived
from sightline.sessions.presence import presence
from sightline.store.port import Store

COUNTERS = ("facts", "sessions", "edits", "checkpoints", "sight", "watching", "room")
"""Names of the findings that are counters; their facts are numbers by name."""

JOURNAL = "journal"
"""The word for facts about writes under way, which no log shows."""


def findings(root: str, settings: Settings) -> list[Finding]:
    """Return the counters of a workspace's store; none if the store cannot be opened."""
    try:
        kept, tree = ports(root, settings, None)
        try:
            ground = SessionContext("", kept, tree, settings, now_us, owner())
            return list(_counted(ground, settings))
        finally:
            kept.close()
    except SightlineError:
        return []


def _counted(ground: SessionContext, settings: Settings) -> Iterator[Finding]:
    store = ground.store
    tally = store.tally()
    words: dict[str, int] = {}
    for name, number in tally.items():
        word = WORDS.get(name, JOURNAL)
        words[word] = words.get(word, 0) + number
    most = sorted(words, key=lambda word: (-words[word], word))
    yield Finding("facts", "ok", "counted", {word: words[word] for word in most})
    yield Finding("sessions", "ok", "counted", _sessions(ground))
    edits = {"refused": tally.get("Refused", 0), "merged": tally.get("Merged", 0)}
    yield Finding("edits", "ok", "counted", edits)
    yield _checkpoints(store, tally)
    yield _sight(store, tally.get("SightLost", 0))
    yield _watching(ground)
    yield _room(store, settings)


def _sessions(ground: SessionContext) -> dict[str, int]:
    counted = dict.fromkeys(("present", "gone", "ended", "archived"), 0)
    for state in ground.store.sessions():
        how = "archived" if archived(state.id) else presence(ground, state).state
        counted[how] += 1
    return counted


def _checkpoints(store: Store, tally: Mapping[str, int]) -> Finding:
    """Count checkpoints; warn if the newest due one could not be taken."""
    standing = tally.get("CheckpointTaken", 0) - tally.get("CheckpointDropped", 0)
    facts: dict[str, Any] = {"standing": standing, "missed": tally.get("CheckpointMissed", 0)}
    tried = store.timeline(kinds=[CheckpointTaken, CheckpointMissed], newest=1)
    newest = next(iter(tried), None)
    if newest is None or not isinstance(newest.fact, CheckpointMissed):
        return Finding("checkpoints", "ok", "kept", facts)
    facts |= {"at": newest.happened_at, "reason": newest.fact.reason}
    return Finding("checkpoints", "warning", "missed", facts)


def _sight(store: Store, gaps: int) -> Finding:
    newest = next(iter(store.timeline(kinds=[SightLost], newest=1)), None)
    fact = newest.fact if newest else None
    if newest is None or not isinstance(fact, SightLost):
        return Finding("sight", "ok", "whole", {"gaps": 0})
    facts = {"gaps": gaps, "at": newest.happened_at, "reason": fact.reason}
    return Finding("sight", "ok", "gaps", facts)


def _watching(ground: SessionContext) -> Finding:
    """Report how a watcher of this workspace would see changes now."""
    watcher = ground.workspace.watch()
    try:
        eyes = watcher.eyes()
    finally:
        watcher.close()
    limited = eyes.why == "limit"
    facts = {"mode": eyes.mode, "why": eyes.why, "folders": eyes.folders, "unseen": eyes.unseen}
    return Finding("watching", "warning" if limited else "ok", eyes.mode, facts)


def _room(store: Store, settings: Settings) -> Finding:
    """Report the size of the store; warn if its texts exceed the setting."""
    room = store.room()
    sizes = {**structs.asdict(room), "total": room.total, "allowed": settings.keep_bytes}
    full = room.texts > settings.keep_bytes
    return Finding("room", "warning" if full else "ok", "full" if full else "within", sizes)
