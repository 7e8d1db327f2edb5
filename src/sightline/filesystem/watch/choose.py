"""Choose the watcher for this machine: by events where the file system sends them, else by polling."""

from __future__ import annotations

import errno
import sys

from sightline.filesystem.ignore.rules import RuleSet
from sightline.filesystem.watch.event_support import blind, mounts, silent
from sightline.filesystem.watch.inotify import Inotify
from sightline.filesystem.watch.linux import LinuxWatcher
from sightline.filesystem.watch.polling import PollingWatcher
from sightline.filesystem.watch.watchdog_watcher import for_elsewhere
from sightline.filesystem.watch.watcher import POLLING_S, Watcher


def watch(root: str, rules: RuleSet, *, polling_s: float = POLLING_S) -> Watcher:
    """Return the best watcher that this machine has for a folder without symlinks in its name.

    polling_s: the shortest time between two polls. WorkspaceError when the library that other
    systems than Linux need is missing; Unverifiable when an ignore file cannot be read.
    """
    make = for_linux if sys.platform == "linux" else for_elsewhere
    return make(root, rules, polling_s=polling_s)


def for_linux(
    root: str,
    rules: RuleSet,
    *,
    polling_s: float = POLLING_S,
    inotify: type[Inotify] = Inotify,
    table: str | None = None,
) -> Watcher:
    """See watch(). inotify: the calls. table: the text of the table of mounts, read if not given."""
    table = mounts() if table is None else table
    try:
        queue = inotify()
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
            raise
        return PollingWatcher(root, "limit", polling_s=polling_s)
    try:
        why = silent(root, queue, table)
        if why is None:
            places = blind(root, table)
            return LinuxWatcher(root, rules, polling_s=polling_s, inotify=queue, blind=places)
    except BaseException:
        queue.close()
        raise
    queue.close()
    return PollingWatcher(root, why, polling_s=polling_s)
