"""Play a record under a policy, call by call with the future hidden, and sum up costs and losses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, structs

from sightline.audit.costs import PRICES, Outcome, Sent, cost, summary
from sightline.audit.policies import Ask, Policy, Setting
from sightline.audit.record import Need, Record, Turn
from sightline.messages.blocks import Block, Decision
from sightline.window.prices import recovery


class View:
    """Blocks as a request sends them. Decisions change a view for good.

    visible: for each block, whether its own text stands in the view; tokens: of the whole view with
    the prefix. continued: the prefix alone was sent before.
    """

    def __init__(self, prefix: int, *, continued: bool = False) -> None:
        self.visible = bytearray()
        self.tokens = self._prefix = prefix
        self._shown: list[int] = []
        self._dropped: set[int] = set()
        self._stubs: dict[int, str] = {}
        self._tails: list[tuple[int, int, str]] = []
        self._replacements: str | None = None
        self._sent_blocks = 0
        self._sent_tokens = prefix if continued else 0
        self._changed: int | None = None

    def add(self, blocks: Sequence[Block]) -> None:
        """Append blocks."""
        tokens = [block.tokens for block in blocks]
        self._shown += tokens
        self.visible += b"\1" * len(tokens)
        self.tokens += sum(tokens)

    def apply(self, decision: Decision) -> bool:
        """Apply a decision and return whether it changes the view. ValueError for a decision about a
        block that is already folded or dropped."""
        for fold in decision.folds:
            if not self.visible[fold.block]:
                raise ValueError(f"Block {fold.block} was folded or dropped before.")
            self._replace(fold.block, fold.tokens)
            self._stubs[fold.block] = fold.stub
        for place in decision.dropped:
            if place in self._dropped:
                raise ValueError(f"Block {place} was dropped before.")
            self._replace(place, 0)
            self._dropped.add(place)
            self._stubs.pop(place, None)
        for tail in decision.tails:
            self._tails.append((tail.after, tail.tokens, tail.text))
            self.tokens += tail.tokens
            self._mark_changed(tail.after + 1)
        changed = bool(decision.folds or decision.dropped or decision.tails)
        if changed:
            self._replacements = None
        return changed

    def _replace(self, place: int, tokens: int) -> None:
        self.tokens += tokens - self._shown[place]
        self._shown[place] = tokens
        self.visible[place] = 0
        self._mark_changed(place)

    def _mark_changed(self, place: int) -> None:
        if place < self._sent_blocks and (self._changed is None or place < self._changed):
            self._changed = place

    @property
    def same(self) -> int:
        """Tokens at the beginning that equal the view that was sent last."""
        if self._changed is None:
            return self._sent_tokens
        tails = sum(tokens for after, tokens, _ in self._tails if after < self._changed)
        return self._prefix + sum(self._shown[: self._changed]) + tails

    def sent(self) -> None:
        """Mark the current view as sent."""
        self._sent_blocks, self._sent_tokens = len(self._shown), self.tokens
        self._changed = None

    def holds(self, text: str, holders: Sequence[int]) -> bool:
        """Return whether the view contains a text: in a visible block, or literally in a stub or a
        tail. Empty lines at the end of a file are in no read, so not in a tail either: a text that ends
        with them needs only its rest at the end of a tail. holders: places of the blocks that contain
        the text."""
        visible = self.visible
        if any(visible[place] for place in reversed(holders)):
            return True
        if self._replacements is None:
            texts = dict.fromkeys(self._stubs.values())
            texts |= dict.fromkeys(text.rstrip("\n") + "\n" for _, _, text in self._tails)
            self._replacements = "".join(f"{text}\0" for text in texts)
        if text.endswith("\n\n") and text.rstrip("\n") + "\n\0" in self._replacements:
            return True
        return text in self._replacements


class Call(Struct, frozen=True):
    """A played call. changed: the decision before it changed the view; view: mutable, so read it
    before the next call; spent_s: seconds that the policy took since the previous call."""

    turn: Turn
    decision: Decision
    changed: bool
    view: View
    spent_s: float


def play(
    record: Record, policy: Policy, prefix: int, clock: Callable[[], float] = lambda: 0.0
) -> Iterator[Call]:
    """Yield each call of a record under a policy. The policy receives a block only when the next
    request contains it. clock: seconds, to measure the policy."""
    view = View(prefix, continued=record.continued)
    added = 0
    for turn in record.turns:
        blocks = record.blocks[added : turn.first]
        added = turn.first
        began = clock()
        for block in blocks:
            policy.add(block)
        view.add(blocks)
        decision = policy.decide(Ask(turn.number, turn.at, turn.gap_s, view.tokens))
        spent = clock() - began
        yield Call(turn, decision, view.apply(decision), view, spent)
        view.sent()


def measure(
    record: Record,
    policy: Policy,
    setting: Setting,
    check: Callable[[Sequence[Decision], int], str | None] | None = None,
    clock: Callable[[], float] = lambda: 0.0,
) -> Outcome:
    """Play a record under a policy and return the sums. check: (all decisions, number of blocks) ->
    the problem of the view, None for a valid one; called after each change of the view."""
    total, costs = Outcome(unfounded=record.unfounded), [0.0] * len(PRICES)
    intents, stale = Intents(), Stale()
    decisions: list[Decision] = []
    added = missing = 0
    summarised = 0, 0
    for call in play(record, policy, setting.prefix, clock):
        turn, view = call.turn, call.view
        for place in range(added, turn.first):
            intents.add(place, record.blocks[place])
            stale.add(place, record.blocks[place])
        added = turn.first
        problem = None
        if call.changed:
            decisions.append(call.decision)
            problem = check(decisions, added) if check is not None else None
            missing = intents.missing(view, call.decision)

        losses = find_losses(turn, view)
        sent = Sent(view.tokens, view.same, turn.gap_s, turn.written)
        spent = getattr(policy, "read_tokens", 0), getattr(policy, "written_tokens", 0)
        for number, prices in enumerate(PRICES):
            costs[number] += cost(sent, prices)
            costs[number] += summary(spent[0] - summarised[0], spent[1] - summarised[1], prices)
            for need in losses.edits:
                tokens = record.blocks[need.holders[-1]].tokens
                costs[number] += recovery(prices, tokens, view.tokens)
        summarised = spent
        total += Outcome(
            calls=1,
            sent=view.tokens,
            edits=len(turn.edits),
            lost_edits=len(losses.edits),
            references=len(turn.references),
            lost_references=losses.references,
            forced_reads=losses.forced,
            avoidable_reads=losses.avoidable,
            stale_calls=int(bool(decisions) and stale.exposes(view)),
            peak=view.tokens,
            over=int(view.tokens > setting.window),
            changes=int(call.changed),
            invalid=int(bool(problem)),
            wrong=f"{policy.name}, call {turn.number}: {problem}" if problem else "",
            spent_s=call.spent_s,
        )
    return structs.replace(total, costs=tuple(costs), missing_intents=missing)


class Losses(Struct, frozen=True):
    """Texts that a call used and its view lacks. edits, references: among those of the call; forced:
    reads of a text that the view lacks, so the policy caused them; avoidable: reads of a text that
    the view holds."""

    edits: tuple[Need, ...]
    references: int
    forced: int
    avoidable: int


def find_losses(turn: Turn, view: View) -> Losses:
    """Return the needs of a call that the view does not hold."""
    edits, references, reads = (
        tuple(need for need in needs if not view.holds(need.text, need.holders))
        for needs in (turn.edits, turn.references, turn.reads)
    )
    return Losses(edits, len(references), len(reads), len(turn.reads) - len(reads))


class Intents:
    """Counts the user's texts and the newest plan that went missing from a view."""

    def __init__(self) -> None:
        self._typed: dict[int, str] = {}
        self._plan: int | None = None
        self._lost: set[int] = set()

    def add(self, place: int, block: Block) -> None:
        """Receive a block."""
        if block.kind == "user":
            self._typed[place] = block.text
        elif block.kind == "call" and block.deed == "plan":
            self._plan = place

    def missing(self, view: View, decision: Decision) -> int:
        """Return the number of intents that were ever missing verbatim, this decision included."""
        for place in (*(fold.block for fold in decision.folds), *decision.dropped):
            if place in self._typed and not view.holds(self._typed[place], ()):
                self._lost.add(place)
        if self._plan is not None and not view.visible[self._plan]:
            self._lost.add(self._plan)
        return len(self._lost)


class Stale:
    """Counts versions of files, to detect a view that shows an old text and no newer one."""

    def __init__(self) -> None:
        self._edits: dict[str, tuple[int, set[str]]] = {}
        self._version: Counter[str] = Counter()
        self._shown: dict[str, list[tuple[int, int]]] = {}
        self._current: dict[str, list[int]] = {}

    def add(self, place: int, block: Block) -> None:
        """Receive a block."""
        if block.kind == "call" and block.rewrites and block.call:
            self._edits[block.call] = place, {rewrite.path for rewrite in block.rewrites}
        elif block.kind == "result" and block.call in self._edits and not block.error:
            began, paths = self._edits[block.call]
            for path in paths:
                self._version[path] += 1
                self._current[path] = [began, place]
        for path in {part.path for part in block.excerpts} if block.deed == "read" else ():
            self._shown.setdefault(path, []).append((place, self._version[path]))
            self._current.setdefault(path, []).append(place)

    def exposes(self, view: View) -> bool:
        """Return whether the view shows an old text of a file, and neither its newest edit nor a
        later read."""
        visible = view.visible
        return any(
            version
            and not any(visible[place] for place in self._current[path])
            and any(visible[place] and then < version for place, then in self._shown.get(path, ()))
            for path, version in self._version.items()
        )
