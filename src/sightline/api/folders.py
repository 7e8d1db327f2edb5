"""A folder's settings, store and tree: one rule for every face that opens a workspace.

Opening them loads no verb: a command that only looks starts without the packages of the others.
"""

from __future__ import annotations

import os
import sys
from warnings import warn

from sightline.config.settings import Settings, load_settings
from sightline.filesystem.discovery import discover
from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.open_files import enough_files
from sightline.filesystem.port import Workspace
from sightline.store.identity import store_file
from sightline.store.opening import open_store
from sightline.store.port import Store

__all__ = ["discover", "open_folder", "ports", "settings_of"]


@enough_files()
def open_folder(
    folder: str | os.PathLike[str], store: str | None, settings: Settings | None
) -> tuple[Store, Workspace, Settings]:
    """Open the store and the tree of a folder, as open_session takes them, and return them with the
    settings that hold. Warn of what is left out of the workspace's own. WorkspaceError, SettingsError,
    StoreError."""
    name = os.fspath(folder)
    root = discover(None if name == "." else name)
    chosen = settings if settings is not None else settings_of(root, store)
    if settings is None:
        for fault in chosen.left_out:
            warn(f"{fault.message} It is left out. {fault.hint}", stacklevel=5)
    return *ports(root, chosen, store), chosen


def settings_of(root: str, store: str | None) -> Settings:
    """Return the settings of a workspace for the user who runs this. SettingsError, for the user's own."""
    return load_settings(
        root,
        environ=os.environ,
        home=os.path.expanduser("~"),
        platform=sys.platform,
        flags={"store": store},
    )


def ports(root: str, settings: Settings, store: str | None) -> tuple[Store, Workspace]:
    """Open the store (of this URL, else as the settings say) and the tree. StoreError."""
    url = store if store is not None else settings.store
    kept = open_store(url, workspace_root=root, state_home=settings.state_home)
    # Whatever store is used, all writers of one tree take the same locks.
    state = os.path.dirname(store_file(settings.state_home, root))
    return kept, DiskWorkspace(
        root,
        state,
        deadline_s=settings.deadline_s,
        agents_refuse=settings.ignore_files == "refuse",
    )
