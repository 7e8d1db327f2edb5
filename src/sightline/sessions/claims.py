"""Take, renew and release claims on paths, and find the claims of others.

What a claim covers says `path_patterns`. The older claim wins, not the first write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from functools import cache
from os import PathLike, fspath, urandom

from msgspec import structs

from sightline.changes.session_context import SessionContext
from sightline.changes.session_names import names_for
from sightline.errors import ClaimRefused
from sightline.filesystem.ignore.wildmatch import SPECIAL
from sightline.model import results
from sightline.model.active_claims import Claim
from sightline.model.events import (
    ClaimAnnounced,
    ClaimReleased,
    ClaimRenewed,
    ClaimTaken,
    SessionForked,
)
from sightline.model.lookup import Lookup, look_up
from sightline.model.timeline import of_kind
from sightline.model.units import moment
from sightline.sessions import words
from sightline.sessions.path_patterns import as_path, covers, path_pattern
from sightline.sessions.presence import is_present
from sightline.text.phrases import says

Ttl = float | timedelta

TTL_MAX_S = 86_400
"""A claim lasts a day at most, and can be renewed."""

PATHS_MAX = 100

LOCK = "claims"


def claim(
    context: SessionContext,
    paths: str | Iterable[str | PathLike[str]],
    ttl: Ttl,
    *,
    exclusive: bool = True,
) -> results.Claim:
    """Claim paths and patterns for a time (seconds or a timedelta). A claim that this session has
    already is renewed. ClaimRefused where the claim of another present session may cover the same
    files, unless both are shared. PathRefused for a path outside, ValueError for no paths or an
    invalid time."""
    names = [paths] if isinstance(paths, str) else [fspath(path) for path in paths]
    if not 0 < len(names) <= PATHS_MAX:
        raise ValueError(f"a claim names 1 to {PATHS_MAX} paths, not {len(names)}")
    wanted = tuple(sorted({path_pattern(context, name) for name in names}))
    duration = _microseconds(ttl)
    with context.workspace.lock(LOCK):
        others = _release_inactive(context)
        _refuse_overlap(context, wanted, others, exclusive=exclusive)
        for each in others:
            if (each.session, each.paths, each.exclusive) == (context.session, wanted, exclusive):
                return _renew(context, each, duration)
        name = f"c-{urandom(4).hex()}"
        context.append([ClaimTaken(name, wanted, context.clock() + duration, exclusive)])
        return _result(context, context.store.claims()[name])


def renew(context: SessionContext, claim: results.Claim | str, ttl: Ttl) -> results.Claim:
    """Renew a claim of this session for a time from now. ClaimRefused where it has ended."""
    duration = _microseconds(ttl)
    with context.workspace.lock(LOCK):
        own = _own(context, claim)
        if own.expires_at <= context.clock():
            raise ClaimRefused(*words.no_claim(own.id))
        return _renew(context, own, duration)


def release(context: SessionContext, claim: results.Claim | str) -> None:
    """Release a claim of this session. ClaimRefused where there is none of that id."""
    with context.workspace.lock(LOCK):
        context.append([ClaimReleased(_own(context, claim).id)])


def listed(context: SessionContext) -> list[results.Claim]:
    """List the active claims of all sessions, oldest first."""
    return [_result(context, each) for each in active(context)]


def active(context: SessionContext) -> list[Claim]:
    """List the active claims as they are recorded: not expired, and their session is present."""
    return [
        each
        for each in context.store.claims().values()
        if each.expires_at > context.clock() and is_present(context, each.session)
    ]


def _own(context: SessionContext, claim: results.Claim | str) -> Claim:
    name = claim if isinstance(claim, str) else claim.id
    known = context.store.claims()
    found = known.get(name) or _named(name, known.values(), context.session)
    if found.session != context.session:
        raise ClaimRefused(*words.not_yours(name, found.session))
    return found


def _named(name: str, known: Iterable[Claim], session: str) -> Claim:
    """Find a claim by its path, or the beginning of its id or path: of the session's own, else of all.
    ClaimRefused where none fits, or several do."""
    every = list(known)
    found = Lookup()
    for some in ([each for each in every if each.session == session], every):
        by_id = {each.id: each for each in some}
        found = look_up(name, {name: each.paths for name, each in by_id.items()})
        if found.id:
            return by_id[found.id]
        if found.several:
            break
    raise ClaimRefused(*words.no_claim(name, found.several, found.nearest))


def _release_inactive(context: SessionContext) -> list[Claim]:
    """Record the claims that ended by themselves as released; return the active ones."""
    remaining = active(context)
    ids = {each.id for each in remaining}
    ended = [ClaimReleased(name) for name in context.store.claims() if name not in ids]
    if ended:
        context.append(ended)
    return remaining


def _refuse_overlap(
    context: SessionContext, wanted: tuple[str, ...], others: list[Claim], *, exclusive: bool
) -> None:
    family = {context.session, *ancestors(context, context.session)}

    @cache
    def known_paths() -> set[str]:
        return {*context.store.disks(), *(path for path, _ in context.workspace.walk())}

    @cache
    def matches(pattern: str) -> set[str]:
        return {path for path in known_paths() if covers(pattern, path)}

    overlaps = [
        (each, pattern)
        for each in others
        if each.session not in family and (exclusive or each.exclusive)
        if (pattern := _overlapping(wanted, each.paths, matches)) is not None
    ]
    if overlaps:
        claims = [each for each, _ in overlaps]
        message, hint = words.claim_refused(overlaps[0][1], claims, names_for(context))
        raise ClaimRefused(message, hint, tuple(_result(context, each) for each in claims))


def _overlapping(
    ours: tuple[str, ...], theirs: tuple[str, ...], matches: Callable[[str], set[str]]
) -> str | None:
    """Return the first of our patterns that overlaps one of theirs: one covers the other, or both
    match a known path. Files that are created later are not considered."""
    for one in ours:
        for other in theirs:
            if covers(one, as_path(other)) or covers(other, as_path(one)):
                return one
            has_wildcard = not (SPECIAL.isdisjoint(one) and SPECIAL.isdisjoint(other))
            if has_wildcard and not matches(one).isdisjoint(matches(other)):
                return one
    return None


def _renew(context: SessionContext, claim: Claim, duration: int) -> results.Claim:
    expires_at = context.clock() + duration
    context.append([ClaimRenewed(claim.id, expires_at)])
    return _result(context, structs.replace(claim, expires_at=expires_at))


def _result(context: SessionContext, claim: Claim) -> results.Claim:
    state = context.store.session(claim.session)
    return results.Claim(
        id=claim.id,
        session=claim.session,
        agent=state.agent if state else "unknown",
        paths=claim.paths,
        expires_at=moment(claim.expires_at),
        exclusive=claim.exclusive,
        taken_at=moment(claim.taken_at),
    )


def _microseconds(ttl: Ttl) -> int:
    seconds: object = ttl.total_seconds() if isinstance(ttl, timedelta) else ttl
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0:
        if seconds <= TTL_MAX_S:
            return max(round(seconds * 1_000_000), 1)
        raise ValueError(f"ttl is a day at most, because a claim can be renewed: {ttl!r}")
    raise ValueError(f"ttl is a number of seconds or a timedelta, not {ttl!r}")


def others_on(context: SessionContext, path: str) -> tuple[Claim, ...]:
    """List the active claims of others on a path, oldest first; without those of sessions that this
    one works for, and those that are younger than an exclusive claim of its own."""
    now = context.clock()
    covering = [
        each
        for each in context.store.claims().values()
        if each.expires_at > now and any(covers(pattern, path) for pattern in each.paths)
    ]
    theirs = [each for each in covering if each.session != context.session]
    if not theirs:
        return ()
    own = [each for each in covering if each.session == context.session and each.exclusive]
    first = min((each.taken_at for each in own), default=None)
    above = set(ancestors(context, context.session))
    return tuple(
        each
        for each in theirs
        if (first is None or each.taken_at < first)
        and each.session not in above
        and is_present(context, each.session)
    )


def ancestors(context: SessionContext, session: str) -> Iterator[str]:
    """Yield the session that started this one, the session that started that one, and so on. A fork
    works for itself."""
    visited = {session}
    while True:
        state = context.store.session(session)
        if state is None or state.parent is None or state.parent in visited:
            return
        if any(True for _ in context.store.timeline(session=session, kinds=[SessionForked])):
            return
        session = state.parent
        visited.add(session)
        yield session


def claim_notice(
    context: SessionContext, path: str, claims: Sequence[Claim], notice: results.Notice | None
) -> results.Notice | None:
    """Return the notice of a write with the claims of others on its file added; one claim at
    least."""
    text = words.claimed(path, claims, names_for(context))
    if notice is None:
        return results.Notice(f"{path}@claimed", text, ())
    return structs.replace(notice, text=f"{notice.text.rstrip()}\n{text}")


def announce_once(context: SessionContext, path: str, claims: Sequence[Claim]) -> str:
    """Word the claims for a host's agent, and record that; a claim that was announced before is
    left out."""
    told = context.store.timeline(session=context.session, kinds=[ClaimAnnounced])
    announced = {fact.claim for fact in of_kind(ClaimAnnounced, told)}
    new = [each for each in claims if each.id not in announced]
    if not new:
        return ""
    context.append([ClaimAnnounced(each.id) for each in new])
    return says(words.claimed(path, new, names_for(context)))
