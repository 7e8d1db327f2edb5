"""How well changes are seen as they happen, in words."""

from __future__ import annotations

from sightline.render.views import count


def seeing(mode: str, why: str | None, folders: int) -> str:
    """How a watcher sees (workspace.watch.Eyes), in half a sentence."""
    because = lost(why or ("gone" if mode == "away" else "platform"))
    if mode == "events":
        return f"by events in {count(folders, 'folder')}"
    if mode == "polling":
        return f"by a look at shown files in turn, because {because}"
    return f"not at all, because {because}"


def lost(reason: str) -> str:
    """Why changes were not seen as they happened (events.SightLost)."""
    kind, _, system = reason.partition(":")
    return _WHY.get(kind, reason).format(system)


_WHY = {
    "overflow": "more happened at once than the system keeps",
    "limit": "no more folders may be watched (raise fs.inotify.max_user_watches)",
    "suspended": "the machine slept",
    "unanswered": "the disk did not answer in time",
    "unverifiable": "an ignore file cannot be read",
    "no_events": "this file system tells of no changes",
    "filesystem": "the file system {} tells of no changes",
    "platform": "this system has no events we know",
    "gone": "the workspace is gone",
    "moved": "the workspace was moved away",
    "unmounted": "the workspace was unmounted",
}
