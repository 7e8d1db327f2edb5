"""The scenarios that guards are judged by, S1 to S35 of the project's list.

Left out are those about who made a change (S10, S13, S20, S21, S22, S26), which ask for wording
and not for safety.
"""

from __future__ import annotations

from bench.scenarios.content import CONTENT
from bench.scenarios.names import NAMES
from bench.scenarios.sessions import SESSIONS
from bench.scenarios.times import TIMES

SCENARIOS = tuple(
    sorted((*TIMES, *NAMES, *CONTENT, *SESSIONS), key=lambda scenario: scenario.number)
)
"""All of them, in the order of their numbers."""
