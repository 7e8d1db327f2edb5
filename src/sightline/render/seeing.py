"""How well changes are seen as they happen, in words."""

from __future__ import annotations

from sightline.render.views import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Eyes(Protocol):
        """workspace.watch.Eyes."""

        @property
        def mode(self) -> str: ...
        @property
        def why(self) -> str | None: ...
        @property
        def folders(self) -> int: ...
        @property
        def polled(self) -> int: ...
        @property
        def every_s(self) -> float: ...


def seeing(eyes: Eyes) -> str:
    """How a watcher sees, in half a sentence."""
    if eyes.mode == "away":
        return f"{_WHY.get(eyes.why or 'gone', eyes.why)}; nothing can be seen until it is back"
    if eyes.mode == "events":
        return f"{count(eyes.folders, 'folder')}, by events"
    looks = f"a look at {count(eyes.polled, 'file')} every {eyes.every_s:g} s"
    why = eyes.why or "platform"
    kind, _, system = why.partition(":")
    return f"{looks}: {_WHY.get(kind, why).format(system)}"


_WHY = {
    "limit": "no more folders may be watched (raise fs.inotify.max_user_watches)",
    "no_events": "this file system tells of no changes",
    "filesystem": "{} tells of no changes",
    "platform": "this system has no events we know",
    "gone": "the folder is gone",
    "moved": "the folder was moved away",
    "unmounted": "the folder was unmounted",
}

LOST = {
    "overflow": "more happened at once than the system keeps",
    "limit": "no more folders may be watched",
    "suspended": "the machine slept",
    "unverifiable": "an ignore file cannot be read",
    "gone": "the workspace's folder was gone",
    "moved": "the workspace's folder was moved away",
    "unmounted": "the workspace's folder was unmounted",
}
"""Why a watcher may have missed something -> the words for it. What it could have missed is
looked for at once."""
