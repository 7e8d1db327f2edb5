"""Check whether the guard can work: the installation, the settings, the state folder and the store of a workspace."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress

from sightline.api.folders import settings_of
from sightline.api.workspace import open_workspace
from sightline.config.settings import Settings, user_settings_file
from sightline.errors import SightlineError
from sightline.history import doctor
from sightline.history.doctor import refused, version_of
from sightline.model.findings import Finding

__all__ = ["close_to_others", "needed", "refused", "settings_and_store", "version_of", "versions"]


def versions(version: str, folder: str) -> Iterator[Finding]:
    """Report the versions of Sightline, Python, the engines of stores, and git. version, folder: of this
    Sightline."""
    yield Finding("sightline", "ok", "here", {"version": version, "folder": folder})
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding("python", "ok", "here", {"version": python, "program": sys.executable})
    yield from doctor.engines()
    git, _ = version_of("git")
    if git:
        yield Finding("git", "ok", "here", {"version": git.removeprefix("git version ")})
    else:
        yield Finding("git", "warning", "absent", {})


def settings_and_store(root: str, store: str | None, settings: Settings) -> Iterator[Finding]:
    """Check the settings, which hold, and the store that they name."""
    users = user_settings_file(os.environ, os.path.expanduser("~"), sys.platform)
    own = [path for path in (users, os.path.join(root, "sightline.toml")) if os.path.exists(path)]
    files = {"files": ", ".join(own)} if own else {}
    for fault in settings.left_out:
        facts = {"message": fault.message, "hint": fault.hint}
        yield Finding("settings", "problem", "left out", facts)
    if not settings.left_out:
        yield Finding("settings", "ok", "valid" if own else "default", files)
    yield doctor.policy(settings)
    yield doctor.state_folder(settings)
    yield doctor.store(root, settings)
    with suppress(SightlineError), open_workspace(root, store, settings=settings) as workspace:
        yield from workspace.doctor()  # doctor.store says why it does not open
    watcher = doctor.watcher()
    if watcher is not None:
        yield watcher


def needed(root: str, store: str | None) -> Iterator[Finding]:
    """Check what every hook of a workspace needs: settings, state folder and store."""
    try:
        settings = settings_of(root, store)
    except SightlineError as error:
        yield refused("settings", error)
        return
    yield doctor.state_folder(settings)
    yield doctor.store(root, settings, verifying=False)


def close_to_others(root: str, store: str | None) -> None:
    """Remove other users' permissions from the state folder and the store: 0700 and 0600. OSError."""
    doctor.close_to_others(settings_of(root, store))
