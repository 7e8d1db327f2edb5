"""The bundle: files that belong to what the agent edited last, before its next turn.

A file is in it when the agent has not seen it as it is now. Which edits it is of is said by the
timeline: those since the last bundle that arrived.
"""

from __future__ import annotations

from stat import S_ISREG

from msgspec import structs

from sightline.briefing import words
from sightline.briefing.contents import BUNDLE, Bundle, BundledFile
from sightline.briefing.memory import steps
from sightline.changes.session_context import SessionContext
from sightline.codegraph.related import Kinds, related_each
from sightline.conversation import message_chain
from sightline.model.events import Changed, Moved, TurnBegan
from sightline.model.revision import MISSING
from sightline.model.spans import covers, whole
from sightline.model.text import decode
from sightline.notices import warnings

Reasoned = tuple[str, tuple[str, ...]]
"""A path, and why it belongs to what was edited."""

EDITED_MAX = 10
"""Files, the last edited ones, of which a bundle is made."""

TURNS = 2
"""Turns in which a bundle is due that had no room in the first, or nothing to tell."""

CANDIDATES = 20
"""Related files of each that are looked at."""

CLOSE = 0.25
"""Score from which on a file belongs to an edited one by more than being the package around it."""

LINES_MAX = 400
"""Of a file that is shown; of a longer one its name is told."""

WITHIN_S = 1.0
"""How long sources may be read for their imports before the bundle is made of what is known."""


def bundle(
    ground: SessionContext, *, texts: bool = True, within_s: float = WITHIN_S
) -> Bundle | None:
    """The bundle that is due; None where nothing was edited, all of it is known, or the settings
    want none. texts: the names alone where False."""
    settings = ground.settings
    if settings.bundle == "off" or "on" not in (settings.bundle_imports, settings.bundle_tests):
        return None
    edited, upto = _edited(ground)
    if not edited:
        return None
    there = [path for path in edited if _is_file(ground, path)][:EDITED_MAX]
    if not there:
        return None
    found, unread = _candidates(ground, there, within_s)
    fresh = [each for path, why in found if (each := _fresh(ground, path, why, texts=texts))]
    if not fresh:
        return None
    most = settings.bundle_files
    left_out = max(len(fresh) - most, 0)
    return Bundle(tuple(edited), tuple(fresh[:most]), left_out, upto, unread)


def within(due: Bundle, room: int) -> tuple[str, Bundle] | None:
    """It in words of so many characters at most, and what of it these show: of files that do not
    fit only the name is told, from the last one on; None where not even that fits."""
    for shown in range(len(due.files), -1, -1):
        files = [
            each if at < shown else structs.replace(each, text=None)
            for at, each in enumerate(due.files)
        ]
        told = structs.replace(due, files=tuple(files))
        text = words.bundle(told)
        if len(text) <= room:
            return text, told
    return None


def _edited(ground: SessionContext) -> tuple[list[str], int]:
    """The files that this session changed since its last bundle, the last one first."""
    after = max(_turned(ground), *map(int, warnings.delivered(ground, BUNDLE)), 0)
    last: dict[str, bool] = {}
    upto = after
    for row in message_chain.along(ground, [Changed, Moved]):
        for path, _, now, _ in steps(row) if row.position > after else ():
            last.pop(path, None)  # the last one stands last
            last[path] = now != MISSING
            upto = row.position
    return [path for path, there in reversed(last.items()) if there], upto


def _turned(ground: SessionContext) -> int:
    """Where the oldest turn began whose edits still count; 0 where there were few."""
    begun = [TurnBegan]
    turns = list(ground.store.timeline(session=ground.session, kinds=begun, newest=TURNS + 1))
    return min(each.position for each in turns) if len(turns) > TURNS else 0


def _candidates(
    ground: SessionContext, edited: list[str], within_s: float
) -> tuple[list[Reasoned], int]:
    """Related files of the edited ones, those that belong to most of them first, with the reasons."""
    settings = ground.settings
    imports, tests = settings.bundle_imports == "on", settings.bundle_tests == "on"
    kinds = Kinds(imports, tests, importers=imports, siblings=False)
    scores: dict[str, float] = {}
    reasons: dict[str, list[str]] = {}
    found = related_each(ground, edited, kinds, limit=CANDIDATES, within_s=within_s)
    for near in found:
        for each in near:
            wanted = each.score >= CLOSE and each.path not in edited
            if wanted and settings.may_store(each.path):
                scores[each.path] = scores.get(each.path, 0.0) + each.score
                reasons.setdefault(each.path, []).append(words.reason(near.path, each.why[0]))
    ranked = sorted(scores, key=lambda each: (-scores[each], each))
    return [(each, tuple(reasons[each])) for each in ranked], found[0].unread


def _is_file(ground: SessionContext, path: str) -> bool:
    """Whether a file stands there; others may have taken it away, or put a folder in its place."""
    try:
        found = ground.workspace.stat(path)
    except OSError:
        return False
    return found is not None and S_ISREG(found.mode)


def _fresh(
    ground: SessionContext, path: str, why: tuple[str, ...], *, texts: bool
) -> BundledFile | None:
    """A related file, where the agent does not have all of it before it as it is now."""
    found = ground.look(path)
    text = decode(found.data) if found.data is not None else None
    if text is None:
        return None
    known = ground.store.knowledge(ground.session, found.path)
    lines = len(text.lines)
    if known and known.belief.text == found.revision and covers(known.belief.held, whole(lines)):
        return None
    shown = text.plain if texts and lines <= LINES_MAX else None
    return BundledFile(path, why, shown, lines, found.revision)
