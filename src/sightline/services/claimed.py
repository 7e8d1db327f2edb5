"""What others claim of a path: asked with every write, so it costs one look at a small table.

A claim without a wildcard is of that path and all below it; one with is a pattern as in a
.gitignore, from the root. Who wrote first in such words is no matter, who claimed first is.
"""

from __future__ import annotations

from functools import lru_cache

from sightline.core.events import NoticeDelivered, SessionForked
from sightline.render import several
from sightline.render.attending import says
from sightline.services.presence import is_present
from sightline.services.results import Notice
from sightline.workspace.ignore import PatternSet
from sightline.workspace.wildmatch import SPECIAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sightline.core.claims import Claim
    from sightline.services.ground import Ground

RECENT = 200
"""Answers of one session that are looked through for one about a claim."""


def covers(pattern: str, path: str) -> bool:
    """Whether one of a claim's paths or patterns is about a canonical path."""
    if SPECIAL.isdisjoint(pattern):
        return path == pattern or path.startswith(f"{pattern}/")
    return _set(pattern).matches(path)


@lru_cache(maxsize=256)
def _set(pattern: str) -> PatternSet:
    return PatternSet((pattern,))


def on(ground: Ground, path: str) -> tuple[Claim, ...]:
    """The standing claims of others on a path, oldest first. Not those of sessions that this one
    works for, nor those that are younger than an exclusive claim of its own."""
    every = ground.store.claims().values()
    about = [each for each in every if any(covers(pattern, path) for pattern in each.paths)]
    if not about:
        return ()
    now = ground.clock()
    about = [each for each in about if each.expires_at > now]
    own = [each for each in about if each.session == ground.session and each.exclusive]
    first = min((each.taken_at for each in own), default=None)
    theirs = [each for each in about if each.session != ground.session]
    above = set(ancestors(ground, ground.session)) if theirs else set()
    return tuple(
        each
        for each in theirs
        if (first is None or each.taken_at < first)
        and each.session not in above
        and is_present(ground, each.session)
    )


def ancestors(ground: Ground, session: str) -> Iterator[str]:
    """The session that started this one, the one that started that, and so on. Who is a fork
    works for itself."""
    seen = {session}
    while True:
        state = ground.store.session(session)
        if state is None or state.parent is None or state.parent in seen:
            return
        if next(ground.store.timeline(session=session, kinds=[SessionForked], newest=1), None):
            return
        session = state.parent
        seen.add(session)
        yield session


def told(
    ground: Ground, path: str, claims: Sequence[Claim], notice: Notice | None
) -> Notice | None:
    """The notice of a write, with who claims its file: one of these claims at least."""
    words = several.claimed(path, claims, ground.session)
    if notice is None:
        return Notice(f"{path}@claimed", words, ())
    return notice.replace(text=f"{notice.text.rstrip()}\n{words}")


def once(ground: Ground, path: str, claims: Sequence[Claim]) -> str:
    """The same in words for a host's agent, which is told of each claim once."""
    handed = ground.store.timeline(session=ground.session, kinds=[NoticeDelivered], newest=RECENT)
    before = {each.fact.notice for each in handed if isinstance(each.fact, NoticeDelivered)}
    fresh = [each for each in claims if f"claim:{each.id}" not in before]
    if not fresh:
        return ""
    ground.append([NoticeDelivered(f"claim:{each.id}", ()) for each in fresh])
    return says(several.claimed(path, fresh, ground.session))
