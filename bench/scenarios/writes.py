"""S36, S37, S42: what happens while the agent writes, and to a write that is killed."""

from __future__ import annotations

import os

from bench.scenarios.model import FRESH, PATH, Scenario, module, tries
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
)
