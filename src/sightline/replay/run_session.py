"""One recorded session under all policies: the work of one process."""

from __future__ import annotations

from time import process_time

from sightline.model.lean import digest
from sightline.replay.engine import measured
from sightline.replay.outcome import Outcome
from sightline.replay.played import Order, Played, Unread
from sightline.replay.policies import POLICIES
from sightline.replay.record import recorded
from sightline.replay.recording_reader import Segment, read, segments


def play(order: Order, path: str) -> Played | Unread:
    """A file's session under all policies, or why there is none."""
    found = read(order.readers, path)
    if isinstance(found, Unread):
        return found
    mark = digest((found.session or path).encode("utf-8", "surrogatepass"))
    parts = list(segments(found, order.setting.count))
    tokens = max((part.tokens for part in parts), default=0) + order.setting.prefix
    half = int(mark, 16) & 1
    mended = sum(part.mended for part in parts)
    told = Played(path, found.agent, found.session, mark, half, tokens, found.passed_over, mended)
    if tokens < order.least_tokens or half not in order.halves:
        return told
    return told.replace(outcomes=_outcomes(order, parts))


def _outcomes(order: Order, parts: list[Segment]) -> tuple[Outcome, ...]:
    sums = [Outcome() for _ in order.policies]
    last_at: int | None = None
    for part in parts:
        record = recorded(part.blocks, part.times, last_at)
        last_at = next((turn.at for turn in reversed(record.turns) if turn.at), last_at)
        for number, name in enumerate(order.policies):
            policy = POLICIES[name](order.setting)
            sums[number] += measured(record, policy, order.setting, part.wrong, process_time)
    return tuple(sums)
