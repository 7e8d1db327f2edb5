"""Find the folder of the workspace, by one rule for every face."""

from __future__ import annotations

import os

from sightline.errors import Hint, NextCall, WorkspaceError

MARKERS = ("sightline.toml", ".git")


def discover(explicit: str | None = None, *, start: str = ".", home: str | None = None) -> str:
    """Return the absolute, symlink-free root: `explicit` if given, else the nearest parent of
    `start` with a marker, else `start` itself; never the home folder or the top of a disk.

    home: the user's home folder, asked of the system when not given. WorkspaceError with a hint.
    """
    refused = os.path.realpath(os.path.expanduser("~") if home is None else home)
    if explicit is not None:
        return _allowed(_folder(os.path.expanduser(explicit)), refused)
    folder = above = _folder(start)
    # The search ends at the home folder: many keep their dot files in a repository there, and
    # no file of the user would be out of an agent's reach if that became the workspace.
    while above != refused and os.path.dirname(above) != above:
        if any(os.path.lexists(os.path.join(above, marker)) for marker in MARKERS):
            return _allowed(above, refused)
        above = os.path.dirname(above)
    return _allowed(folder, refused)


def _folder(name: str) -> str:
    try:
        folder = os.path.realpath(name)
    except FileNotFoundError:
        raise WorkspaceError(
            "The current folder was removed.",
            "Go to another, or name a workspace by its full path.",
        ) from None
    if not os.path.exists(folder):
        raise WorkspaceError(f"The folder {name} does not exist.", "Check the spelling.")
    if not os.path.isdir(folder):
        raise WorkspaceError(
            f"{name} is a file, not a folder.", f"Use its folder: {os.path.dirname(folder)}"
        )
    return folder


def _allowed(folder: str, home: str) -> str:
    if folder == home:
        what = "your home folder"
    elif os.path.dirname(folder) == folder:
        what = "the top of the disk"
    else:
        return folder
    raise WorkspaceError(
        f"{folder} is {what}, which cannot be a workspace.",
        Hint(
            "Go to a project folder, or name one: ",
            NextCall("open_session", named={"workspace": "DIR"}),
            ".",
        ),
    )
