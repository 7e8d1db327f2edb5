"""Replay: recorded sessions played under policies, over all cores, and what that says.

How an agent would have behaved with less in its window is modelled, not observed.
"""

from __future__ import annotations

from sightline.services.replay.gathering import Replay, replay
from sightline.services.replay.policies import POLICIES, known

__all__ = ["POLICIES", "Replay", "known", "replay"]
