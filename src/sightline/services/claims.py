"""Claims: taken, renewed and released, one session at a time among all processes."""

from __future__ import annotations

from datetime import timedelta
from os import fspath, urandom

from sightline.core.events import ClaimReleased, ClaimRenewed, ClaimTaken
from sightline.core.paths import canonical
from sightline.errors import ClaimRefused, PathRefused
from sightline.render import several
from sightline.services.authors import moment
from sightline.services.claimed import ancestors, covers
from sightline.services.presence import is_present
from sightline.services.results import Claim
from sightline.workspace.wildmatch import SPECIAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from sightline.core import claims
    from sightline.services.ground import Ground

    Ttl = float | timedelta

TTL_MAX_S = 86_400
"""A claim that is worth more than a day is renewed."""

PATHS_MAX = 100
LENGTH_MAX = 500

LOCK = "claims"


def claim(
    ground: Ground, paths: str | Iterable[str | PathLike[str]], ttl: Ttl, *, exclusive: bool = True
) -> Claim:
    """Claim paths and patterns for a time. What this session claims already is renewed.

    ClaimRefused where another present session's claim may be about the same files, unless both
    are shared. PathRefused for a path outside, ValueError for no paths or an odd time.
    """
    wanted = _patterns(ground, paths)
    lasts = _microseconds(ttl)
    with ground.workspace.lock(LOCK):
        others = _settled(ground)
        _check(ground, wanted, others, exclusive=exclusive)
        for each in others:
            if (each.session, each.paths, each.exclusive) == (ground.session, wanted, exclusive):
                return _renewed(ground, each, lasts)
        name = f"c-{urandom(4).hex()}"
        ground.append([ClaimTaken(name, wanted, ground.clock() + lasts, exclusive)])
        return _told(ground, ground.store.claims()[name])


def renew(ground: Ground, claim: Claim | str, ttl: Ttl) -> Claim:
    """Let a claim of this session's stand from now on for that time. ClaimRefused when it does
    not stand any more."""
    lasts = _microseconds(ttl)
    with ground.workspace.lock(LOCK):
        name = claim if isinstance(claim, str) else claim.id
        kept = _own(ground, name)
        if kept.expires_at <= ground.clock():
            raise ClaimRefused(*several.no_claim(name))
        return _renewed(ground, kept, lasts)


def release(ground: Ground, claim: Claim | str) -> None:
    """Give up a claim of this session's. ClaimRefused when there is none of that name."""
    with ground.workspace.lock(LOCK):
        kept = _own(ground, claim if isinstance(claim, str) else claim.id)
        ground.append([ClaimReleased(kept.id)])


def listed(ground: Ground) -> list[Claim]:
    """The claims of all sessions that stand now, oldest first."""
    return [_told(ground, each) for each in standing(ground)]


def standing(ground: Ground) -> list[claims.Claim]:
    """The same as they are recorded."""
    every = ground.store.claims().values()
    return [each for each in every if _stands(ground, each)]


def _own(ground: Ground, name: str) -> claims.Claim:
    kept = ground.store.claims().get(name)
    if kept is None:
        raise ClaimRefused(*several.no_claim(name))
    if kept.session != ground.session:
        raise ClaimRefused(*several.not_yours(name, kept.session))
    return kept


def _settled(ground: Ground) -> list[claims.Claim]:
    """The claims that stand. Those that fell by themselves are recorded as released."""
    kept = standing(ground)
    ids = {each.id for each in kept}
    fallen = [ClaimReleased(name) for name in ground.store.claims() if name not in ids]
    if fallen:
        ground.append(fallen)
    return kept


def _stands(ground: Ground, each: claims.Claim) -> bool:
    return each.expires_at > ground.clock() and is_present(ground, each.session)


def _check(
    ground: Ground, wanted: tuple[str, ...], others: list[claims.Claim], *, exclusive: bool
) -> None:
    above = {ground.session, *ancestors(ground, ground.session)}
    tree = _Tree(ground)
    met = [
        (each, pattern)
        for each in others
        if each.session not in above and (exclusive or each.exclusive)
        if (pattern := _meeting(wanted, each.paths, tree)) is not None
    ]
    if met:
        inway = [each for each, _ in met]
        message, hint = several.claim_refused(met[0][1], inway, ground.session)
        raise ClaimRefused(message, hint, tuple(_told(ground, each) for each in inway))


class _Tree:
    """All paths that a pattern may be about: those on the timeline, and those in the tree. Listed
    when two patterns do not tell by themselves whether they meet."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._paths: set[str] | None = None
        self._matched: dict[str, set[str]] = {}

    def matched(self, pattern: str) -> set[str]:
        if self._paths is None:
            walked = (path for path, _ in self._ground.workspace.walk())
            self._paths = {*self._ground.store.disks(), *walked}
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


def _renewed(ground: Ground, kept: claims.Claim, lasts: int) -> Claim:
    fact = ClaimRenewed(kept.id, ground.clock() + lasts)
    ground.append([fact])
    return _told(ground, kept.replace(expires_at=fact.expires_at))


def _told(ground: Ground, kept: claims.Claim) -> Claim:
    state = ground.store.session(kept.session)
    return Claim(
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


def _patterns(ground: Ground, paths: str | Iterable[str | PathLike[str]]) -> tuple[str, ...]:
    given = [paths] if isinstance(paths, str) else [fspath(path) for path in paths]
    if not 0 < len(given) <= PATHS_MAX:
        raise ValueError(f"a claim names 1 to {PATHS_MAX} paths, not {len(given)}")
    return tuple(sorted({_pattern(ground, name) for name in given}))


def _pattern(ground: Ground, name: str) -> str:
    """A path as it is located, a pattern as it is written. A name that stands in the tree is a
    path, whatever letters it has ("app/[id].tsx")."""
    if len(name) > LENGTH_MAX:
        raise PathRefused(name[:60], "invalid", f"A claim's path has at most {LENGTH_MAX} letters.")
    if name.startswith("!"):
        hint = "Name what is claimed; a path that begins so is named './!…'."
        raise PathRefused(name, "invalid", f"A claim takes nothing back: {name!r}.", hint)
    if SPECIAL.isdisjoint(name) or _is_there(ground, name):
        path = ground.workspace.locate(name).path
        return "**" if path == "." else _escaped(path)
    path = canonical(name, ground.workspace.root)
    at_root = name.startswith("./") and "/" not in path
    return f"/{path}" if at_root else f"\\{path}" if path.startswith("#") else path


def _is_there(ground: Ground, name: str) -> bool:
    try:
        return ground.workspace.stat(ground.workspace.locate(name).path) is not None
    except (OSError, PathRefused):  # no name that this system could hold
        return False


def _escaped(path: str) -> str:
    """A path as a pattern of just that path, where some of its letters are a pattern's."""
    if SPECIAL.isdisjoint(path):
        return path
    plain = "".join(f"\\{letter}" if letter in SPECIAL else letter for letter in path)
    return plain if "/" in path else f"/{plain}"
