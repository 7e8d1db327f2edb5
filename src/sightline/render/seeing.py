"""How well changes are seen as they happen, in words."""

from __future__ import annotations

from sightline.render.views import count


def seeing(mode: str, why: str | None, folders: int) -> str:
    """How a watcher sees (workspace.watch.Eyes), in half a sentence."""
    kind, _, system = (why or ("gone" if mode == "away" else "platform")).partition(":")
    because = _WHY.get(kind, kind).format(system)
    if mode == "events":
        return f"by events in {count(folders, 'folder')}"
    if mode == "polling":
        return f"by a look at shown files in turn, because {because}"
    return f"not at all, because {because}"


_WHY = {
    "limit": "no more folders may be watched (raise fs.inotify.max_user_watches)",
    "no_events": "this file system tells of no changes",
    "filesystem": "the file system {} tells of no changes",
    "platform": "this system has no events we know",
    "gone": "the folder is gone",
    "moved": "the folder was moved away",
    "unmounted": "the folder was unmounted",
}

LOST = {
    "overflow": "more happened at once than the system keeps",
    "limit": "no more folders may be watched",
    "suspended": "the machine slept",
    "unanswered": "the disk did not answer in time",
    "unverifiable": "an ignore file cannot be read",
    "gone": "the workspace's folder was gone",
    "moved": "the workspace's folder was moved away",
    "unmounted": "the workspace's folder was unmounted",
}
"""Why a watcher may have missed something -> the words for it. What it could have missed is
looked for at once."""
