"""Paths and patterns that somebody names for a claim or for the scope of a sub-task: one rule for both.

A path that exists is that path, also with special characters: `app/[id]/page.tsx` is no class of letters
where it stands in the tree, and `app/[id]/*.tsx` is a pattern within that folder. A path covers all below
it. Anything else with a special character is a pattern as in a .gitignore, from the root. Its brackets are
plain letters, too, so that a file can be named before it exists.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sightline.changes.session_context import SessionContext
from sightline.errors import PathRefused
from sightline.filesystem.ignore.gitignore import PatternSet
from sightline.filesystem.ignore.wildmatch import SPECIAL, with_literal_brackets
from sightline.model.path import canonical, is_at_or_below

LENGTH_MAX = 500
"""Letters of a path or pattern."""

_TO_ESCAPE = re.compile(r"[*?\[\\]| (?= *$)")
"""Signs with a meaning in a pattern: git takes blanks at its end off."""


def path_pattern(context: SessionContext, name: str) -> str:
    """Return the canonical form of a path or pattern, as `covers` takes it. PathRefused for a blank one, one
    that leads out of the workspace, leaves paths out or goes up by "..", and one of more than LENGTH_MAX
    letters."""
    _check(context, name)
    if is_path(context, name):
        path = context.workspace.locate(name).path
        return "**" if path == "." else path if SPECIAL.isdisjoint(path) else _literally(path)
    path = canonical(name, context.workspace.root)
    parts = path.split("/")
    for cut in range(len(parts) - 1, 0, -1):
        above = "/".join(parts[:cut])
        if is_path(context, above) and _stands(context, above):
            folder = _literally(context.workspace.locate(above).path)
            return _at_root(f"{folder.removeprefix('/')}/{'/'.join(parts[cut:])}")
    if len(parts) == 1 and name != path:  # "./*.py" is of the root alone
        return f"/{path}"
    return f"\\{path}" if path.startswith("#") else path


def is_path(context: SessionContext, name: str) -> bool:
    """Return whether a name is a path rather than a pattern: it has no special character, or it exists."""
    return SPECIAL.isdisjoint(name) or _stands(context, name)


def covers(pattern: str, path: str) -> bool:
    """Return whether the canonical form of a path or pattern covers a canonical path."""
    if SPECIAL.isdisjoint(pattern):
        return is_at_or_below(path, [pattern])
    return _compiled(pattern).matches(path)


def as_path(pattern: str) -> str:
    """Return the path that is spelled like the canonical form of a path or pattern."""
    return pattern.removeprefix("/").replace("\\", "")


def _check(context: SessionContext, name: str) -> None:
    if len(name) > LENGTH_MAX:
        hint = f"A path or pattern has at most {LENGTH_MAX} letters here."
        raise PathRefused(name[:60], "invalid", hint)
    if not name.strip() and not _stands(context, name):
        hint = "Name a file, a folder, or a pattern such as src/**."
        raise PathRefused(name, "empty", f"The path is blank: {name!r}.", hint)
    if name.startswith("!"):
        hint = "Name the paths that are meant. A path that begins with '!' is written './!…'."
        raise PathRefused(
            name, "invalid", f"A pattern that begins with '!' is not allowed here: {name!r}.", hint
        )
    if ".." in name.split("/"):
        hint = "Name a path from the workspace's root, without '..'."
        raise PathRefused(
            name, "outside", f"The path may lead out of the workspace: {name!r}.", hint
        )


def _stands(context: SessionContext, name: str) -> bool:
    try:
        return context.workspace.stat(context.workspace.locate(name).path) is not None
    except (OSError, PathRefused):  # a name that this system cannot have
        return False


def _literally(path: str) -> str:
    return _at_root(_TO_ESCAPE.sub(r"\\\g<0>", path))


def _at_root(pattern: str) -> str:
    """Return a pattern that starts at the root: without a slash git would look for it in any folder, and
    "#" at its beginning makes a comment, "!" an exception."""
    has_to = "/" not in pattern or pattern.startswith(("#", "!"))
    return f"/{pattern}" if has_to else pattern


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> PatternSet:
    return PatternSet(with_literal_brackets(pattern))
