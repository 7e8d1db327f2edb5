"""Play a record under a policy: call by call, the future hidden, and add up what that makes."""

from __future__ import annotations

from sightline.core.replaying.costs import PRICES, Sent, cost, recovery, summary
from sightline.core.replaying.losses import Intents, Stale, lost
from sightline.core.replaying.outcome import Outcome
from sightline.core.replaying.policy import Ask
from sightline.core.replaying.view import View
from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sightline.core.replaying.losses import Lost
    from sightline.core.replaying.policy import Policy, Setting
    from sightline.core.replaying.record import Record, Turn
    from sightline.core.window.blocks import Decision

    Check = Callable[[Sequence[Decision], int], str | None]
    """All decisions so far and how many blocks have come -> what is wrong with the view."""
    Clock = Callable[[], float]


class Moment(Value):
    """A call as it was made. changed: the decision before it changed the view; spent_s: what the
    policy took since the call before; view: as it is now, so look at it before the next moment."""

    turn: Turn
    decision: Decision
    changed: bool
    view: View
    spent_s: float


def play(
    record: Record, policy: Policy, prefix: int, clock: Clock = lambda: 0.0
) -> Iterator[Moment]:
    """Each call of a record, as the policy would have it. The policy is told of a block only when
    it is in what is sent next. clock: seconds, to see what the policy takes."""
    view = View(prefix, continued=record.continued)
    told = 0
    for turn in record.turns:
        came = record.blocks[told : turn.first]
        told = turn.first
        began = clock()
        for block in came:
            policy.add(block)
        view.add(came)
        decision = policy.decide(Ask(turn.number, turn.at, turn.gap_s, view.tokens))
        spent = clock() - began
        yield Moment(turn, decision, view.apply(decision), view, spent)
        view.sent()


def measured(
    record: Record,
    policy: Policy,
    setting: Setting,
    check: Check | None = None,
    clock: Clock = lambda: 0.0,
) -> Outcome:
    """What playing a record under a policy makes. check: says what is wrong with a view; it is
    asked whenever the view changed, and the first wrong one is told in the outcome."""
    sums = _Sums(record, policy, setting)
    decisions: list[Decision] = []
    if (foresee := getattr(policy, "foresee", None)) is not None:
        foresee(record)
    for moment in play(record, policy, setting.prefix, clock):
        if moment.changed:
            decisions.append(moment.decision)
            if check is not None and (wrong := check(decisions, moment.turn.first)):
                sums.invalid(moment.turn, wrong)
        sums.add(moment)
    return sums.outcome()


class _Sums:
    def __init__(self, record: Record, policy: Policy, setting: Setting) -> None:
        self._record, self._policy, self._setting = record, policy, setting
        self._intents, self._stale = Intents(), Stale()
        self._told = 0
        self._summarised = 0, 0
        self._costs = [0.0] * len(PRICES)
        self._made = Outcome(unfounded=record.unfounded)
        self._missing = 0
        self._fired = 0

    def add(self, moment: Moment) -> None:
        turn, view = moment.turn, moment.view
        for place in range(self._told, turn.first):
            self._intents.add(place, self._record.blocks[place])
            self._stale.add(place, self._record.blocks[place])
        self._told = turn.first
        self._fired += moment.changed
        if moment.changed:
            self._missing = self._intents.look(view, moment.decision)
        found = lost(turn, view)
        self._pay(moment, found)
        self._made += Outcome(
            calls=1,
            sent=view.tokens,
            edits=len(turn.edits),
            lost_edits=len(found.edits),
            references=len(turn.references),
            lost_references=found.references,
            forced_reads=found.forced,
            avoidable_reads=found.avoidable,
            stale_calls=int(self._fired > 0 and self._stale.exposed(view) > 0),
            peak=view.tokens,
            over=int(view.tokens > self._setting.window),
            changes=int(moment.changed),
            spent_s=moment.spent_s,
        )

    def invalid(self, turn: Turn, wrong: str) -> None:
        words = self._made.wrong or f"{self._policy.name}, call {turn.number}: {wrong}"
        self._made = self._made.replace(invalid=self._made.invalid + 1, wrong=words)

    def _pay(self, moment: Moment, found: Lost) -> None:
        turn, view = moment.turn, moment.view
        sent = Sent(view.tokens, view.same, turn.gap_s, turn.written)
        blocks = self._record.blocks
        read, written = self._spent_on_summaries()
        for number, prices in enumerate(PRICES):
            self._costs[number] += cost(sent, prices) + summary(read, written, prices)
            for each in found.edits:
                self._costs[number] += recovery(blocks[each.held[-1]].tokens, view.tokens, prices)

    def _spent_on_summaries(self) -> tuple[int, int]:
        now = getattr(self._policy, "read_tokens", 0), getattr(self._policy, "written_tokens", 0)
        before, self._summarised = self._summarised, now
        return now[0] - before[0], now[1] - before[1]

    def outcome(self) -> Outcome:
        return self._made.replace(costs=tuple(self._costs), missing_intents=self._missing)
