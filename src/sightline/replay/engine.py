"""Play a record under a policy: call by call, the future hidden, and add up what that makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, structs

from sightline.conversation.window.blocks import Block, Decision
from sightline.replay.costs import PRICES, Sent, cost, recovery, summary
from sightline.replay.outcome import Outcome
from sightline.replay.policy import Ask, Policy, Setting
from sightline.replay.record import Need, Record, Turn
from sightline.replay.request_view import View

Check = Callable[[Sequence[Decision], int], str | None]
"""All decisions so far and how many blocks have come -> what is wrong with the view."""
Clock = Callable[[], float]


class Moment(Struct, frozen=True):
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
        self._made = structs.replace(self._made, invalid=self._made.invalid + 1, wrong=words)

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
        return structs.replace(self._made, costs=tuple(self._costs), missing_intents=self._missing)


class Lost(Struct, frozen=True):
    """What a call would have missed. edits, references: of those it went by; forced: reads of what
    the view no longer has, which the policy owes; avoidable: reads of what it still has."""

    edits: tuple[Need, ...]
    references: int
    forced: int
    avoidable: int


def lost(turn: Turn, view: View) -> Lost:
    """What of a call's needs the view does not hold."""
    forced = sum(not view.holds(each.text, each.held) for each in turn.reads)
    return Lost(
        tuple(each for each in turn.edits if not view.holds(each.text, each.held)),
        sum(not view.holds(each.text, each.held) for each in turn.references),
        forced,
        len(turn.reads) - forced,
    )


class Intents:
    """What a person typed, and the plan as it was last written: which of it went missing."""

    def __init__(self) -> None:
        self._typed: dict[int, str] = {}
        self._plan: int | None = None
        self._lost: set[int] = set()

    def add(self, place: int, block: Block) -> None:
        """A block came."""
        if block.kind == "user":
            self._typed[place] = block.text
        elif block.kind == "call" and block.deed == "plan":
            self._plan = place

    def look(self, view: View, decision: Decision) -> int:
        """How many are missing by now, verbatim, or ever were."""
        for place in (*(fold.block for fold in decision.folds), *decision.dropped):
            if place in self._typed and not view.holds(self._typed[place], ()):
                self._lost.add(place)
        if self._plan is not None and not view.visible[self._plan]:
            self._lost.add(self._plan)
        return len(self._lost)


class Stale:
    """Files of which a view shows an old text and nothing that says it is old."""

    def __init__(self) -> None:
        self._edits: dict[str, tuple[int, tuple[str, ...]]] = {}
        self._version: Counter[str] = Counter()
        self._shown: dict[str, list[tuple[int, int]]] = {}
        self._told: dict[str, list[int]] = {}

    def add(self, place: int, block: Block) -> None:
        """A block came."""
        if block.kind == "call" and block.rewrites and block.call:
            self._edits[block.call] = place, tuple({each.path for each in block.rewrites})
        elif block.kind == "result" and block.call in self._edits and not block.error:
            began, paths = self._edits[block.call]
            for path in paths:
                self._version[path] += 1
                self._told[path] = [began, place]
        for path in {each.path for each in block.excerpts} if block.deed == "read" else ():
            self._shown.setdefault(path, []).append((place, self._version[path]))
            self._told.setdefault(path, []).append(place)

    def exposed(self, view: View) -> int:
        """How many files the view shows as they no longer are, without a word of it."""
        return sum(self._exposed(path, view.visible) for path in self._version)

    def _exposed(self, path: str, visible: bytearray) -> bool:
        now = self._version[path]
        if not now or any(visible[place] for place in self._told[path]):
            return False
        return any(visible[place] and then < now for place, then in self._shown.get(path, ()))
