"""The scenarios that guards are judged by, S1 to S48, S50 and S51 of the project's list."""

from __future__ import annotations

from bench.scenarios.content import CONTENT
from bench.scenarios.meanwhile import MEANWHILE
from bench.scenarios.names import NAMES
from bench.scenarios.people import PEOPLE
from bench.scenarios.sessions import SESSIONS
from bench.scenarios.times import TIMES
from bench.scenarios.writes import WRITES

SCENARIOS = tuple(
    sorted(
        (*TIMES, *NAMES, *CONTENT, *MEANWHILE, *PEOPLE, *SESSIONS, *WRITES),
        key=lambda scenario: scenario.number,
    )
)
"""All of them, in the order of their numbers."""
