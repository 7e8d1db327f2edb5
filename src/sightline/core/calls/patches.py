"""Which files a patch names: a unified diff, or a patch between *** Begin Patch and *** End Patch."""

from __future__ import annotations

import re

from sightline.core.attempts import PatchSyntax, parse_patch

BEGIN = "*** Begin Patch"

HEADER = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): *(\S.*)$", re.MULTILINE)


def paths(text: str) -> tuple[str, ...]:
    """The files that it makes, changes, deletes and renames, in order; none where it cannot be
    read as a patch."""
    named = [path.strip() for path in HEADER.findall(text)]
    unified = [] if named else _unified(text)
    named += [path for each in unified for path in each if path is not None]
    return tuple(dict.fromkeys(named))


def _unified(text: str) -> list[tuple[str | None, str | None]]:
    try:
        return [(each.old, each.new) for each in parse_patch(text)]
    except PatchSyntax:
        return []
