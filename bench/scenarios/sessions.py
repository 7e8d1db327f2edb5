"""S11, S12, S19, S23 to S25, S27, S28, S34, S35: git, approvals, windows, pages, sick disks."""

from __future__ import annotations

from bench.scenarios.model import (
    FAR,
    FORMATTED,
    FRESH,
    PATH,
    STALE,
    Attempt,
    Scenario,
    change,
    module,
    tries,
)
from bench.world import World

LONG = module(125)
"""500 lines."""

PAGES = ((1, 200), (201, 400), (401, 500))
FIRST_PAGE = "".join(LONG.splitlines(keepends=True)[:100])
ASK = '[policies]\n"*.py" = "ask"\n'
"""The workspace's own settings: the user is to be asked about every edit of Python."""

BLOCKED = tries("unverifiable", "unverifiable", "unverifiable")


def _committed(world: World) -> None:
    world.git("init", "--quiet")
    world.git("add", "--all")
    world.git("commit", "--quiet", "--message", "base")


def _two_branches(world: World) -> None:
    _committed(world)
    world.git("switch", "--quiet", "--create", "other")
    world.put(PATH, FORMATTED.encode())
    world.git("commit", "--quiet", "--all", "--message", "other")
    world.git("switch", "--quiet", "main")


def _there_and_back(world: World) -> None:
    world.git("switch", "--quiet", "other")
    world.git("switch", "--quiet", "main")


def _uncommitted(world: World) -> None:
    world.put(PATH, module(3).encode())
    _committed(world)
    world.put(PATH, module().encode())


def _stash_and_pop(world: World) -> None:
    world.git("stash", "--quiet")
    world.git("stash", "pop", "--quiet")


def _unreadable(world: World) -> None:
    (world.root / PATH).chmod(0)
    world.pass_time()


def _edited(world: World) -> None:
    world.put(PATH, FORMATTED.encode())


WHOLE = Attempt("write", "write", FAR, frozenset({"allow"}))
PART = Attempt(
    "write of what was read",
    "write",
    change(11, "value - 1"),
    frozenset({"unseen"}),
    content=FIRST_PAGE.replace(*change(11, "value - 1")),
)

SESSIONS = (
    Scenario(
        11,
        "branch there and back",
        FRESH,
        before_read=_two_branches,
        between=_there_and_back,
    ),
    Scenario(12, "stash and pop", FRESH, before_read=_uncommitted, between=_stash_and_pop),
    Scenario(
        19,
        "edited while asking",
        STALE,
        files={PATH: module(), "sightline.toml": ASK},
        during=_edited,
    ),
    Scenario(23, "compaction, re-read", FRESH, flags=frozenset({"forget"})),
    Scenario(24, "rewind, re-read", FRESH, flags=frozenset({"rewind"})),
    Scenario(
        25,
        "resumed after edits",
        STALE,
        between=_edited,
        flags=frozenset({"reopen"}),
    ),
    Scenario(
        27,
        "part read, all written",
        (Attempt("inside", "replace", FAR, frozenset({"allow"})), PART),
        files={PATH: LONG},
        reads=((1, 100),),
    ),
    Scenario(
        28,
        "every page read",
        (Attempt("inside", "replace", FAR, frozenset({"allow"})), WHOLE),
        files={PATH: LONG},
        reads=PAGES,
    ),
    Scenario(
        34,
        "permission lost",
        BLOCKED,
        between=_unreadable,
        flags=frozenset({"unprivileged"}),
    ),
    Scenario(35, "share does not answer", BLOCKED, between=lambda world: world.silent.add(PATH)),
)
