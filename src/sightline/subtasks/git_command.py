"""Our calls of git in the trees of attempts. They run no program that a child may have named."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence

from sightline.errors import WorkspaceError
from sightline.filesystem.git.repository import LIST_FILTERS, OURS, QUIET, program, without_filters
from sightline.filesystem.git_control import git_top

TIMEOUT_S = 120.0

OF_A_REPOSITORY = (
    *(
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_CONFIG",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_COUNT",
    ),
    *(
        "GIT_OBJECT_DIRECTORY",
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_GRAFT_FILE",
    ),
    *("GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX"),
    *("GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE"),
)
"""The variables by which git takes another repository than that of its folder (`git rev-parse
--local-env-vars`)."""


WITHOUT_FILTERS = frozenset(
    ("cat-file", "config", "for-each-ref", "ls-files", "rev-list", "rev-parse", "stash", "worktree")
)
"""The commands of git that we call and that read no content of files, so that no filter is asked for."""


def git(folder: str, *arguments: str, variables: Mapping[str, str] | None = None) -> bytes:
    """Return what git prints. variables: added to its environment. git runs no filter: whoever worked in
    a tree may have set one. WorkspaceError where git fails."""
    own = variables or {}
    if arguments[0] in WITHOUT_FILTERS:
        return run(folder, arguments, own)
    filters = without_filters(run(folder, LIST_FILTERS, own))
    return run(folder, arguments, {**filters, **own})


def lines(folder: str, *arguments: str, variables: Mapping[str, str] | None = None) -> list[str]:
    """Return the lines that git prints; [] where it fails."""
    try:
        return os.fsdecode(git(folder, *arguments, variables=variables)).splitlines()
    except WorkspaceError:
        return []


def names(printed: bytes) -> list[str]:
    """Return the names that git printed, each with a NUL byte behind it."""
    return [os.fsdecode(name) for name in printed.split(b"\0") if name]


def top_of(root: str) -> str:
    """Return the top of the git tree around a folder. WorkspaceError where there is none."""
    top = git_top(os.path.realpath(root))
    if top is None:
        raise WorkspaceError(f"{root} is in no git tree.", "Sub-tasks can work in the shared tree.")
    return top


def folders_of(top: str) -> tuple[str, str]:
    """Return git's folder of a tree, and the one that all trees of its repository share. WorkspaceError."""
    printed = git(top, "rev-parse", "--git-dir", "--git-common-dir")
    own, common = os.fsdecode(printed).splitlines()
    return os.path.realpath(os.path.join(top, own)), os.path.realpath(os.path.join(top, common))


def run(
    folder: str, arguments: Sequence[str], variables: Mapping[str, str], data: bytes = b""
) -> bytes:
    """Return what git prints, whatever filters there are. data: for git to read. WorkspaceError."""
    found = program()
    if found is None:
        raise WorkspaceError("git is not installed, or not on PATH.", "")
    environ = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    try:
        done = subprocess.run(
            [found, *OURS, "-c", "core.splitIndex=false", "-C", folder, *arguments],
            input=data,
            capture_output=True,
            env={**environ, **QUIET, "GIT_NO_REPLACE_OBJECTS": "1", **variables},
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorkspaceError(f"git {arguments[0]} cannot be run: {error}.", "") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise WorkspaceError(
            f"git {arguments[0]} failed: {said[-1] if said else done.returncode}.", ""
        )
    return done.stdout
