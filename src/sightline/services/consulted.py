"""The settings files that resolvers of imports asked for, and whether they stand as they did."""

from __future__ import annotations

from sightline.core.revision import Stamp, compare
from sightline.errors import PathError
from sightline.workspace.scan import tick_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.imports.reference import Reader
    from sightline.workspace import Found, Workspace

    Settings = dict[tuple[str, str], Stamp | None]
    """By the resolver's language and path: how it stood, None where there was none."""

SETTINGS_BYTES = 8_000_000
"""A larger settings file is not read."""

ASK_S = 1.0
"""How long the disk may take to answer for one file."""


def changed(workspace: Workspace, settings: Settings) -> set[str]:
    """The languages one of whose settings files is another one now."""
    return {name for name, path in list(settings) if _differs(workspace, settings, name, path)}


def reader(workspace: Workspace, settings: Settings, name: str) -> Reader:
    """Reads settings files for a language's resolver, and notes how they stand."""

    def read(path: str) -> bytes | None:
        try:
            workspace.locate(path)
        except (PathError, OSError):
            return None  # settings may name what no file can be called
        found = workspace.read(path, limit=SETTINGS_BYTES, deadline_s=ASK_S)
        stamp = _standing(workspace, found)
        was = settings.get((name, path), stamp)
        if same(was, stamp):
            settings[name, path] = stamp  # else what was noted tells the next look of the change
        return found.data

    return read


def same(one: Stamp | None, other: Stamp | None) -> bool:
    """Whether both are of the same content."""
    return (one and one.revision) == (other and other.revision)


def _differs(workspace: Workspace, settings: Settings, name: str, path: str) -> bool:
    was, now = settings[name, path], workspace.stat(path)
    if was is None or now is None:
        return (was is None) != (now is None)
    if compare(was, now, tick_of(now)) == "same":
        return False
    stamp = _standing(workspace, workspace.read(path, limit=0, deadline_s=ASK_S))
    if stamp is None or not same(was, stamp):
        return True
    settings[name, path] = stamp
    return False


def _standing(workspace: Workspace, found: Found) -> Stamp | None:
    """How a settings file stands; None where there is none. The revision of one that cannot be
    read is UNKNOWN."""
    if found.kind == "missing":
        return None
    signature = found.signature or workspace.stat(found.path)
    if signature is None:
        return None
    return Stamp(signature, found.revision, found.read_at_ns)
