"""S36, S37, S42, S48: what happens while the agent writes, and to a write that is killed."""

from __future__ import annotations

import os

from bench.scenarios.model import (
    FRESH,
    NEAR,
    PATH,
    Attempt,
    Intent,
    Scenario,
    module,
    tries,
)
from bench.world import World

HELD = tries("allow unverifiable", "allow unverifiable", "allow unverifiable")
"""Refuse rather than take the file away from the program. A host's own tool may write in place."""

BESIDE = tries(
    "allow notice unverifiable", "allow notice unverifiable", "allow notice merge unverifiable"
)
SAVES = 300
OTHERS = ("part_1.py", "part_2.py", "part_3.py")


def _second_name(world: World) -> None:
    os.link(world.root / PATH, world.root / "second.py")


INSIDE = "inner.py"


def _becomes_a_folder(world: World) -> None:
    command = f"rm {PATH}; mkdir {PATH}; echo inside > {PATH}/{INSIDE}"
    world.takes_place(command, PATH, f"{PATH}/{INSIDE}", b"inside\n")


def _becomes_a_file(world: World) -> None:
    command = f"rm {INNER}; rmdir {FOLDER}; echo 'a file' > {FOLDER}"
    world.takes_place(command, INNER, FOLDER, b"a file\n")


FOLDER = "package"
INNER = f"{FOLDER}/{PATH}"
TAKEN_BACK = (Attempt("rewind", "rewind", Intent(*NEAR[::-1]), frozenset({"allow"})),)


WRITES = (
    Scenario(
        36,
        "held open",
        HELD,
        between=lambda world: world.hold(PATH, "# the second piece\n"),
        flags=frozenset({"held"}),
    ),
    Scenario(
        37,
        "hard link, a saver",
        BESIDE,
        before_read=_second_name,
        between=lambda world: world.save_beside("second.py", PATH, SAVES),
        flags=frozenset({"held"}),
    ),
    Scenario(
        42,
        "batch cut off",
        FRESH,
        files=dict.fromkeys((PATH, *OTHERS), module()),
        between=lambda world: world.cut_off((PATH, *OTHERS)),
        flags=frozenset({"reopen", "cut off"}),
    ),
    Scenario(
        48,
        "file and folder change places",
        TAKEN_BACK,
        "a file becomes a folder",
        edits=NEAR,
        between=_becomes_a_folder,
        flags=frozenset({"places"}),
    ),
    Scenario(
        48,
        "file and folder change places",
        TAKEN_BACK,
        "a folder becomes a file",
        files={INNER: module()},
        path=INNER,
        edits=NEAR,
        between=_becomes_a_file,
        flags=frozenset({"places"}),
    ),
    Scenario(
        48,
        "file and folder change places",
        FRESH,
        "in a batch cut off",
        between=lambda world: world.cut_off((f"{PATH}/",)),
        flags=frozenset({"reopen", "cut off", "places"}),
    ),
)
