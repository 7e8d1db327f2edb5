"""One recorded session under all policies: the work of one process."""

from __future__ import annotations

from collections.abc import Mapping
from time import process_time

from sightline.model.lean import digest
from sightline.model.value import Value
from sightline.replay.engine import measured
from sightline.replay.outcome import Outcome
from sightline.replay.policies import Maker
from sightline.replay.policy import Setting
from sightline.replay.record import recorded
from sightline.replay.recording_reader import Reader, Segment, read, segments
from sightline.replay.recording_search import Unread


class Order(Value):
    """What is to be played. readers: agent -> what reads its recordings; policies: name -> how it is made;
    setting: the same for all; least_tokens: sessions whose largest view has fewer are left out; halves:
    which of the two halves of all sessions count, told by their digests."""

    readers: Mapping[str, Reader]
    policies: Mapping[str, Maker]
    setting: Setting
    least_tokens: int = 0
    halves: tuple[int, ...] = (0, 1)


class Played(Value):
    """A session. digest: of its id, which puts it in one of two halves; tokens: of its largest
    view without truncation; outcomes: one for each policy, none when it does not count;
    mended: segments whose recorded messages no format would allow, and that were mended first."""

    source: str
    agent: str
    session: str
    digest: str
    half: int
    tokens: int
    passed_over: int
    mended: int = 0
    outcomes: tuple[Outcome, ...] = ()


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
        for number, made in enumerate(order.policies.values()):
            policy = made(order.setting)
            sums[number] += measured(record, policy, order.setting, part.wrong, process_time)
    return tuple(sums)
