"""What `init` says: where hooks are, what happens from now on, and how that is undone."""

from __future__ import annotations

from sightline.render.views import table

ACTIONS = {"connected": "added to", "made": "written to", "updated": "updated in"}

PROJECT = "Others who share this file have another Python: there the hook only fails."
GIT = "Keep .claude/settings.local.json out of git: it is for this machine."
NO_GIT = "Start it in this folder itself: without git, settings do not hold in its subfolders."


def connected(
    name: str, root: str, file: str, backup: str | None, action: str, undo: str
) -> list[str]:
    """An agent is connected. root: "" for all workspaces; action: one of ACTIONS."""
    where = f"in {root}" if root else "in all your workspaces"
    lines = [f"{name} is connected {where}.", f"  Hooks were {ACTIONS[action]} {file}."]
    if backup:
        lines.append(f"  The file as it was: {backup}")
    lines.append("From its next session on, what it reads is noted and its edits are judged.")
    lines.append("Meanwhile a process of ours answers its hooks, and ends with it.")
    rows = [("Check it:", "sightline doctor"), ("Watch it:", "sightline up"), ("Undo it:", undo)]
    return [*lines, *(f"  {line}" for line in table(rows))]


def disconnected(name: str, file: str, how: str) -> list[str]:
    """An agent is not connected any more. how: one of gone, restored, edited."""
    return [f"{name} is no longer connected.", f"  {_LEFT[how].format(file=file)}"]


_LEFT = {
    "gone": "{file} is gone again: init had made it.",
    "restored": "{file} is as it was before, byte for byte.",
    "edited": "Our hooks are out of {file}; all else in it stays.",
}


def unchanged(name: str, file: str, *, there: bool) -> list[str]:
    """Nothing was to be done."""
    return [f"{name} is {'connected already' if there else 'not connected'}: {file}."]


def elsewhere(scope: str, undo: str, *, removed: bool) -> list[str]:
    """Another scope has hooks of ours, too."""
    still = "still connect it" if removed else "connect it too; once is enough"
    return [f"The settings of scope {scope} {still}. To undo that:", f"  {undo}"]
