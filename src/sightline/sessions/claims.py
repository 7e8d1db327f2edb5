"""Claims: taken, renewed and released, one session at a time among all processes.

What others claim of a path: asked with every write, so it costs one look at a small table.

A claim without a wildcard is of that path and all below it; one with is a pattern as in a
.gitignore, from the root. Who wrote first in such words is no matter, who claimed first is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from functools import lru_cache
from os import PathLike, fspath, urandom

from msgspec import structs

from sightline.changes.authors import moment
from sightline.changes.session_context import SessionContext
from sightline.errors import ClaimRefused, PathRefused
from sightline.filesystem.ignore.gitignore import PatternSet
from sightline.filesystem.ignore.wildmatch import SPECIAL
from sightline.model import active_claims
from sightline.model.active_claims import Claim
from sightline.model.events import (
    ClaimReleased,
    ClaimRenewed,
    ClaimTaken,
    NoticeDelivered,
    SessionForked,
)
from sightline.model.path import canonical
from sightline.model.results import Claim as ClaimResult
from sightline.model.results import Notice
from sightline.sessions import words as session_words
from sightline.sessions.presence import is_present
from sightline.text.phrases import says

Ttl = float | timedelta

TTL_MAX_S = 86_400
"""A claim that is worth more than a day is renewed."""

PATHS_MAX = 100
LENGTH_MAX = 500

LOCK = "claims"


def claim(
    context: SessionContext,
    paths: str | Iterable[str | PathLike[str]],
    ttl: Ttl,
    *,
    exclusive: bool = True,
) -> ClaimResult:
    """Claim paths and patterns for a time. What this session claims already is renewed.

    ClaimRefused where another present session's claim may be about the same files, unless both
    are shared. PathRefused for a path outside, ValueError for no paths or an odd time.
    """
    wanted = _patterns(context, paths)
    lasts = _microseconds(ttl)
    with context.workspace.lock(LOCK):
        others = _settled(context)
        _check(context, wanted, others, exclusive=exclusive)
        for each in others:
            if (each.session, each.paths, each.exclusive) == (context.session, wanted, exclusive):
                return _renewed(context, each, lasts)
        name = f"c-{urandom(4).hex()}"
        context.append([ClaimTaken(name, wanted, context.clock() + lasts, exclusive)])
        return _told(context, context.store.claims()[name])


def renew(context: SessionContext, claim: ClaimResult | str, ttl: Ttl) -> ClaimResult:
    """Let a claim of this session's stand from now on for that time. ClaimRefused when it does
    not stand any more."""
    lasts = _microseconds(ttl)
    with context.workspace.lock(LOCK):
        name = claim if isinstance(claim, str) else claim.id
        kept = _own(context, name)
        if kept.expires_at <= context.clock():
            raise ClaimRefused(*session_words.no_claim(name))
        return _renewed(context, kept, lasts)


def release(context: SessionContext, claim: ClaimResult | str) -> None:
    """Give up a claim of this session's. ClaimRefused when there is none of that name."""
    with context.workspace.lock(LOCK):
        kept = _own(context, claim if isinstance(claim, str) else claim.id)
        context.append([ClaimReleased(kept.id)])


def listed(context: SessionContext) -> list[ClaimResult]:
    """The claims of all sessions that stand now, oldest first."""
    return [_told(context, each) for each in standing(context)]


def standing(context: SessionContext) -> list[active_claims.Claim]:
    """The same as they are recorded."""
    every = context.store.claims().values()
    return [each for each in every if _stands(context, each)]


def _own(context: SessionContext, name: str) -> active_claims.Claim:
    kept = context.store.claims().get(name)
    if kept is None:
        raise ClaimRefused(*session_words.no_claim(name))
    if kept.session != context.session:
        raise ClaimRefused(*session_words.not_yours(name, kept.session))
    return kept


def _settled(context: SessionContext) -> list[active_claims.Claim]:
    """The claims that stand. Those that fell by themselves are recorded as released."""
    kept = standing(context)
    ids = {each.id for each in kept}
    fallen = [ClaimReleased(name) for name in context.store.claims() if name not in ids]
    if fallen:
        context.append(fallen)
    return kept


def _stands(context: SessionContext, each: active_claims.Claim) -> bool:
    return each.expires_at > context.clock() and is_present(context, each.session)


def _check(
    context: SessionContext,
    wanted: tuple[str, ...],
    others: list[active_claims.Claim],
    *,
    exclusive: bool,
) -> None:
    above = {context.session, *ancestors(context, context.session)}
    tree = _Tree(context)
    met = [
        (each, pattern)
        for each in others
        if each.session not in above and (exclusive or each.exclusive)
        if (pattern := _meeting(wanted, each.paths, tree)) is not None
    ]
    if met:
        inway = [each for each, _ in met]
        message, hint = session_words.claim_refused(met[0][1], inway, context.session)
        raise ClaimRefused(message, hint, tuple(_told(context, each) for each in inway))


class _Tree:
    """All paths that a pattern may be about: those on the timeline, and those in the tree. Listed
    when two patterns do not tell by themselves whether they meet."""

    def __init__(self, context: SessionContext) -> None:
        self._context = context
        self._paths: set[str] | None = None
        self._matched: dict[str, set[str]] = {}

    def matched(self, pattern: str) -> set[str]:
        if self._paths is None:
            walked = (path for path, _ in self._context.workspace.walk())
            self._paths = {*self._context.store.disks(), *walked}
        if pattern not in self._matched:
            self._matched[pattern] = {path for path in self._paths if covers(pattern, path)}
        return self._matched[pattern]


def _meeting(ours: tuple[str, ...], theirs: tuple[str, ...], tree: _Tree) -> str | None:
    """Which of ours may be about a file that one of theirs is about: one is within the other, or
    both match a path of the tree or of the timeline. A file that comes later is not foreseen."""
    for one in ours:
        for other in theirs:
            if covers(one, _plain(other)) or covers(other, _plain(one)):
                return one
            wild = not (SPECIAL.isdisjoint(one) and SPECIAL.isdisjoint(other))
            if wild and not tree.matched(one).isdisjoint(tree.matched(other)):
                return one
    return None


def _plain(pattern: str) -> str:
    """A pattern as if it were the path of a file."""
    return pattern.removeprefix("/").replace("\\", "")


def _renewed(context: SessionContext, kept: active_claims.Claim, lasts: int) -> ClaimResult:
    fact = ClaimRenewed(kept.id, context.clock() + lasts)
    context.append([fact])
    return _told(context, structs.replace(kept, expires_at=fact.expires_at))


def _told(context: SessionContext, kept: active_claims.Claim) -> ClaimResult:
    state = context.store.session(kept.session)
    return ClaimResult(
        id=kept.id,
        session=kept.session,
        agent=state.agent if state else "unknown",
        paths=kept.paths,
        expires_at=moment(kept.expires_at),
        exclusive=kept.exclusive,
        taken_at=moment(kept.taken_at),
    )


def _microseconds(ttl: Ttl) -> int:
    seconds: object = ttl.total_seconds() if isinstance(ttl, timedelta) else ttl
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0:
        if seconds <= TTL_MAX_S:
            return max(round(seconds * 1_000_000), 1)
        raise ValueError(f"a claim stands for a day at most; renew it: {ttl!r}")
    raise ValueError(f"a claim stands for some time: seconds or a timedelta, not {ttl!r}")


def _patterns(
    context: SessionContext, paths: str | Iterable[str | PathLike[str]]
) -> tuple[str, ...]:
    given = [paths] if isinstance(paths, str) else [fspath(path) for path in paths]
    if not 0 < len(given) <= PATHS_MAX:
        raise ValueError(f"a claim names 1 to {PATHS_MAX} paths, not {len(given)}")
    return tuple(sorted({_pattern(context, name) for name in given}))


def _pattern(context: SessionContext, name: str) -> str:
    """A path as it is located, a pattern as it is written. A name that stands in the tree is a
    path, whatever letters it has ("app/[id].tsx")."""
    if len(name) > LENGTH_MAX:
        raise PathRefused(name[:60], "invalid", f"A claim's path has at most {LENGTH_MAX} letters.")
    if name.startswith("!"):
        hint = "Name what is claimed; a path that begins so is named './!…'."
        raise PathRefused(name, "invalid", f"A claim takes nothing back: {name!r}.", hint)
    if SPECIAL.isdisjoint(name) or _is_there(context, name):
        path = context.workspace.locate(name).path
        return "**" if path == "." else _escaped(path)
    path = canonical(name, context.workspace.root)
    at_root = name.startswith("./") and "/" not in path
    return f"/{path}" if at_root else f"\\{path}" if path.startswith("#") else path


def _is_there(context: SessionContext, name: str) -> bool:
    try:
        return context.workspace.stat(context.workspace.locate(name).path) is not None
    except (OSError, PathRefused):  # no name that this system could hold
        return False


def _escaped(path: str) -> str:
    """A path as a pattern of just that path, where some of its letters are a pattern's."""
    if SPECIAL.isdisjoint(path):
        return path
    plain = "".join(f"\\{letter}" if letter in SPECIAL else letter for letter in path)
    return plain if "/" in path else f"/{plain}"


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


def others_on(context: SessionContext, path: str) -> tuple[Claim, ...]:
    """The standing claims of others on a path, oldest first. Not those of sessions that this one
    works for, nor those that are younger than an exclusive claim of its own."""
    every = context.store.claims().values()
    about = [each for each in every if any(covers(pattern, path) for pattern in each.paths)]
    if not about:
        return ()
    now = context.clock()
    about = [each for each in about if each.expires_at > now]
    own = [each for each in about if each.session == context.session and each.exclusive]
    first = min((each.taken_at for each in own), default=None)
    theirs = [each for each in about if each.session != context.session]
    above = set(ancestors(context, context.session)) if theirs else set()
    return tuple(
        each
        for each in theirs
        if (first is None or each.taken_at < first)
        and each.session not in above
        and is_present(context, each.session)
    )


def ancestors(context: SessionContext, session: str) -> Iterator[str]:
    """The session that started this one, the one that started that, and so on. Who is a fork
    works for itself."""
    seen = {session}
    while True:
        state = context.store.session(session)
        if state is None or state.parent is None or state.parent in seen:
            return
        if next(context.store.timeline(session=session, kinds=[SessionForked], newest=1), None):
            return
        session = state.parent
        seen.add(session)
        yield session


def claim_notice(
    context: SessionContext, path: str, claims: Sequence[Claim], notice: Notice | None
) -> Notice | None:
    """The notice of a write, with who claims its file: one of these claims at least."""
    words = session_words.claimed(path, claims, context.session)
    if notice is None:
        return Notice(f"{path}@claimed", words, ())
    return structs.replace(notice, text=f"{notice.text.rstrip()}\n{words}")


def once(context: SessionContext, path: str, claims: Sequence[Claim]) -> str:
    """The same in words for a host's agent, which is told of each claim once."""
    handed = context.store.timeline(session=context.session, kinds=[NoticeDelivered], newest=RECENT)
    before = {each.fact.notice for each in handed if isinstance(each.fact, NoticeDelivered)}
    fresh = [each for each in claims if f"claim:{each.id}" not in before]
    if not fresh:
        return ""
    context.append([NoticeDelivered(f"claim:{each.id}", ()) for each in fresh])
    return says(session_words.claimed(path, fresh, context.session))
