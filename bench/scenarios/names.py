"""S8, S14 to S16, S33, S41: the same name for another file, another name for the same file."""

from __future__ import annotations

import os

from bench.scenarios.model import FORMATTED, FRESH, PATH, STALE, Scenario, module, tries
from bench.world import World

MOVED = tries(
    "allow notice moved deleted", "allow notice moved deleted", "allow notice moved deleted"
)
"""Follow the rename and say so, or refuse; never bring the old name back."""

GONE = tries("deleted", "deleted", "deleted")
RETARGETED = tries("stale kind_changed", "stale kind_changed", "stale kind_changed")
OTHER_KIND = tries("kind_changed", "kind_changed", "kind_changed")


def _away(world: World) -> None:
    world.rename(PATH, "moved.py")


def _away_and_back(world: World) -> None:
    _away(world)
    world.rename("moved.py", PATH)


def _directory(world: World) -> None:
    world.remove(PATH)
    (world.root / PATH).mkdir()
    world.put(f"{PATH}/inner.txt", b"inner\n")


def _out(world: World) -> None:
    outside = world.root.parent / "outside.py"
    outside.write_bytes(module().encode())
    world.link(PATH, str(outside))


def _folder_out(world: World) -> None:
    outside = world.root.parent / "outside"
    outside.mkdir()
    (outside / "app.py").write_bytes(module().encode())
    world.remove("src/app.py")
    (world.root / "src").rmdir()
    world.link("src", str(outside))


def _second_name(world: World) -> None:
    os.link(world.root / PATH, world.root / "second.py")


NAMES = (
    Scenario(8, "renamed or deleted", FRESH, "and back", between=_away_and_back),
    Scenario(
        8,
        "renamed or deleted",
        MOVED,
        "away",
        between=_away,
        lands="moved.py",
        tells=("renamed to moved.py",),
    ),
    Scenario(8, "renamed or deleted", GONE, "deleted", between=lambda world: world.remove(PATH)),
    Scenario(
        14,
        "case-only rename",
        MOVED,
        between=lambda world: world.rename(PATH, "App.py"),
        lands="App.py",
    ),
    Scenario(
        15,
        "symlink retargeted",
        RETARGETED,
        path="link.py",
        files={"one.py": module(), "two.py": FORMATTED},
        before_read=lambda world: world.link("link.py", "one.py"),
        between=lambda world: world.link("link.py", "two.py"),
        lands="two.py",
    ),
    Scenario(
        16,
        "edited by another name",
        STALE,
        "hard link",
        before_read=_second_name,
        between=lambda world: world.put("second.py", FORMATTED.encode()),
    ),
    Scenario(
        16,
        "edited by another name",
        STALE,
        "symlink",
        path="link.py",
        files={"one.py": module()},
        before_read=lambda world: world.link("link.py", "one.py"),
        between=lambda world: world.put("one.py", FORMATTED.encode()),
        lands="one.py",
    ),
    Scenario(41, "became a link out", OTHER_KIND, "file", between=_out),
    Scenario(
        41,
        "became a link out",
        tries("kind_changed deleted", "kind_changed deleted", "kind_changed deleted"),
        "folder",
        path="src/app.py",
        between=_folder_out,
    ),
    Scenario(33, "replaced by directory", OTHER_KIND, between=_directory),
)
