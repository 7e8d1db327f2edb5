"""On Linux: events where the tree's file system sends them, else looking in turn."""

from __future__ import annotations

import errno

from sightline.workspace.watch import POLLING_S
from sightline.workspace.watch.inotify import Inotify
from sightline.workspace.watch.linux import LinuxWatcher
from sightline.workspace.watch.place import blind, mounts, silent
from sightline.workspace.watch.polling import PollingWatcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.workspace.rules import IgnoreRules
    from sightline.workspace.watch import Watcher


def for_linux(
    root: str,
    rules: tuple[IgnoreRules, ...],
    *,
    polling_s: float = POLLING_S,
    inotify: type[Inotify] = Inotify,
    table: str | None = None,
    hidden: bool = False,
) -> Watcher:
    """See watch(). inotify: the calls. table: the text of the table of mounts, read if not given.
    hidden: tell of ignored entries, too, of folders that are not ignored themselves."""
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
            return LinuxWatcher(
                root, rules, polling_s=polling_s, inotify=queue, blind=places, hidden=hidden
            )
    except BaseException:
        queue.close()
        raise
    queue.close()
    return PollingWatcher(root, why, polling_s=polling_s)
