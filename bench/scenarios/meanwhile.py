"""S43 to S46: what comes between the judgement of an attempt and its write, and between the news of a change
and the attempt: another hook, the user while asked, another session, a summary."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bench.scenarios.model import (
    FORMATTED,
    FRESH,
    PATH,
    STALE,
    Attempt,
    Intent,
    Scenario,
    module,
    tries,
)
from bench.world import World

if TYPE_CHECKING:
    from collections.abc import Mapping

SETTINGS = ".claude/settings.json"
HEADER = "# Licence: MIT\n"
HOOK = {"matcher": "Write", "hooks": [{"type": "command", "command": "add-header"}]}
NAMED = {PATH: module(), SETTINGS: json.dumps({"hooks": {"PreToolUse": [HOOK]}})}
"""A workspace whose settings name the hook that puts a header before what is written."""

BEHIND = frozenset({"hooks"})

PART = Intent("value + 6", "value - 6")
"""The text to replace stands inside the line that the user changed, too."""

ASKED = (
    *tries("notice", "not_found", "merge", "notice"),
    Attempt("part of the line", "replace", PART, frozenset({"notice"})),
)
"""The host looks for the text once the user has answered; what a write goes over, a command brings back."""

AT_ONCE = tries(
    "allow notice merge",
    "allow notice not_found stale",
    "allow notice merge",
    "allow notice conflict stale",
)
"""Whoever is first, both changes stand; of the same line, the last one does, and its rival is told."""

ORDERS = {
    "the other first": "FWTfwt",
    "the other first, told last": "FWfwtT",
    "the other last": "fwFWtT",
    "the other last, told first": "fwFWTt",
    "both found the old text": "fFWwTt",
    "both found the old text, the other last": "FfwWtT",
}
"""The steps of two sessions that were judged on the same text; the first is played through every face."""


def _edited(world: World) -> None:
    world.put(PATH, FORMATTED.encode())


def _with_header(world: World) -> None:
    world.rewrite = lambda text: text if text.startswith(HEADER) else HEADER + text


def _summarised(*, from_here: bool) -> Scenario:
    def told_and_summarised(world: World) -> None:
        _edited(world)
        world.summarise(from_here=from_here)

    return Scenario(
        46,
        "told, then summarised",
        STALE,
        "from here" if from_here else "in the middle of a turn",
        between=told_and_summarised,
        flags=BEHIND | {"summarised"} | ({"from here"} if from_here else set()),
        tells=(r"\+.*# reviewed",),
    )


def _at_once(variant: str, order: str) -> Scenario:
    return Scenario(
        45,
        "two sessions write at once",
        AT_ONCE,
        variant,
        between=lambda world: world.at_once("other", PATH, FORMATTED.encode(), order),
        flags=frozenset({"at once"}) | (BEHIND if order != "FWTfwt" else set()),
    )


def _rewritten(
    variant: str, attempts: tuple[Attempt, ...], files: Mapping[str, str], *, saved: bool
) -> Scenario:
    bound = {"no merge"} if files is NAMED else set()
    return Scenario(
        43,
        "another hook rewrites",
        attempts,
        variant,
        files=files,
        before_read=_with_header,
        between=_edited if saved else None,
        flags=BEHIND | bound,
    )


MEANWHILE = (
    _rewritten("nothing changed", FRESH, NAMED, saved=False),
    _rewritten(
        "its settings are known",
        tries("notice", "stale", "stale", "conflict stale"),
        NAMED,
        saved=True,
    ),
    _rewritten("nobody knows of it", STALE, {PATH: module()}, saved=True),
    Scenario(44, "saved while the user is asked", ASKED, during=_edited, flags=BEHIND | {"asked"}),
    *(_at_once(variant, order) for variant, order in ORDERS.items()),
    _summarised(from_here=False),
    _summarised(from_here=True),
)
