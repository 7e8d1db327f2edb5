"""The bundle: files related to the agent's newest edits, shown before its next turn.

The bundle holds a related file when the agent has not seen its current text. It covers the edits
since the last delivered bundle.
"""

from __future__ import annotations

from stat import S_ISREG

from msgspec import structs

from sightline.briefing import words
from sightline.briefing.contents import BUNDLE, Bundle, BundledFile
from sightline.briefing.memory import own_changes, own_ends
from sightline.changes.session_context import SessionContext
from sightline.codegraph.find_related import Kinds, related_each
from sightline.model.events import TurnBegan
from sightline.model.path import quoted
from sightline.model.revision import MISSING
from sightline.model.spans import covers, whole
from sightline.model.text import decode
from sightline.notices.delivery import delivered_digests

EDITED_MAX = 10
"""Edited files, the newest ones, whose related files a bundle holds."""

TURNS = 2
"""Turns in which a bundle stays due when the first had no room or no related file."""

CANDIDATES = 20
"""Related files considered for each edited file."""

CLOSE = 0.25
"""Least score of a related file; a lower score is only a neighbour in the package."""

LINES_MAX = 400
"""Lines of a file that is shown; a longer one is only named."""

WITHIN_S = 1.0
"""Seconds for reading imports; then the bundle uses the imports known so far."""


def bundle(context: SessionContext, *, texts: bool = True) -> Bundle | None:
    """Return the bundle that is due; None without edits or unseen related files, or when the settings
    turn it off. texts: False names the files only."""
    settings = context.settings
    if settings.bundle == "off" or "on" not in (settings.bundle_imports, settings.bundle_tests):
        return None
    edited, upto = _edited(context)
    existing = [path for path in edited if _is_file(context, path)][:EDITED_MAX]
    if not existing:
        return None
    related, unread = _related(context, existing)
    files = [
        file
        for path, why in related.items()
        if (file := unseen_file(context, path, tuple(why), texts=texts))
    ]
    if not files:
        return None
    most = settings.bundle_files
    left_out = max(len(files) - most, 0)
    return Bundle(tuple(edited), tuple(files[:most]), left_out, upto, unread)


def fit(due: Bundle, room: int) -> tuple[str, Bundle] | None:
    """Return the bundle's text in at most `room` characters, and the bundle as shown there: files that
    do not fit, from the last one on, are only named. None when not even the names fit."""
    for shown in range(len(due.files), -1, -1):
        named = (structs.replace(file, text=None) for file in due.files[shown:])
        cut = structs.replace(due, files=(*due.files[:shown], *named))
        text = words.bundle(cut)
        if len(text) <= room:
            return text, cut
    return None


def _edited(context: SessionContext) -> tuple[list[str], int]:
    """Return the files that this session changed since its last bundle, newest first, and the position
    of the last change."""
    turns = list(
        context.store.timeline(session=context.session, kinds=[TurnBegan], newest=TURNS + 1)
    )
    oldest = min(turn.position for turn in turns) if len(turns) > TURNS else 0
    after = upto = max(oldest, *map(int, delivered_digests(context, BUNDLE)), 0)
    exists: dict[str, bool] = {}
    for row in own_ends(context, after=after):
        for path, _, now, _ in own_changes(row):
            exists.pop(path, None)  # popped, so that the newest change comes last
            exists[path] = now != MISSING
            upto = row.position
    return [path for path, is_present in reversed(exists.items()) if is_present], upto


def _related(context: SessionContext, edited: list[str]) -> tuple[dict[str, list[str]], int]:
    """Return the related files with their reasons, those related to most edited files first, and the
    number of sources not read yet."""
    settings = context.settings
    imports, tests = settings.bundle_imports == "on", settings.bundle_tests == "on"
    kinds = Kinds(imports, tests, importers=imports, siblings=False)
    scores: dict[str, float] = {}
    reasons: dict[str, list[str]] = {}
    found = related_each(context, edited, kinds, limit=CANDIDATES, within_s=WITHIN_S)
    for neighbours in found:
        for file in neighbours:
            path = file.path
            if file.score >= CLOSE and path not in edited and settings.may_store(path):
                scores[path] = scores.get(path, 0.0) + file.score
                reasons.setdefault(path, []).append(f"{file.why[0]} ({quoted(neighbours.path)})")
    ranked = sorted(scores, key=lambda path: (-scores[path], path))
    return {path: reasons[path] for path in ranked}, found[0].unread


def _is_file(context: SessionContext, path: str) -> bool:
    try:
        found = context.workspace.stat(path)
    except OSError:
        return False
    return found is not None and S_ISREG(found.mode)


def unseen_file(
    context: SessionContext, path: str, why: tuple[str, ...], *, texts: bool
) -> BundledFile | None:
    """Return a related file; None when the agent has its whole current text."""
    found = context.look(path)
    text = decode(found.data)
    if text is None or not context.may_store(path, found):  # another name of it is one of secrets
        return None
    known = context.store.knowledge(context.session, found.path)
    lines = len(text.lines)
    if known and known.belief.text == found.revision and covers(known.belief.held, whole(lines)):
        return None
    shown = text.plain if texts and lines <= LINES_MAX else None
    return BundledFile(path, why, shown, lines, found.revision, len(found.data or b""))
