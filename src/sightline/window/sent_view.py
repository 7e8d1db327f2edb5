"""Derive the view of a conversation: the messages since the last summary, with decisions applied.

Messages become blocks as they arrive, and decisions are facts. So every process derives the same
view of the same messages, after any rewind or fork.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice
from math import ceil
from typing import Any, TypeVar

from msgspec import Struct, structs

from sightline.changes.session_context import SessionContext
from sightline.errors import WindowFull
from sightline.messages import message_chain
from sightline.messages.blocks import Block, Decision, Fold
from sightline.messages.formats.format import FORMATS, Format
from sightline.messages.formats.parts import Part
from sightline.model.events import Condensed, Folded, MessageAppended, RequestMeasured
from sightline.model.marks import all_sendable
from sightline.model.revision import revision_of
from sightline.model.timeline import Recorded, newest_first, of_kind
from sightline.text.tokens import Counter
from sightline.window.calibration import Calibration, calibrate
from sightline.window.dropped_text import dropped_lines
from sightline.window.fold_decisions import Place, decode_decision, encode_decision, load_json
from sightline.window.folding import POLICIES, Folding, Rules
from sightline.window.prices import PROFILES, Prices
from sightline.window.words import stub

T = TypeVar("T")
Message = Mapping[str, Any]


MEASURED_MAX = 400
"""Measured requests of a model, of other sessions, from which its correction is learned. Older ones would
weigh nothing (calibration.DECAY)."""


class Window:
    """The context window of one chain. model: that is sent the messages, None: unknown; counter: of
    tokens.

    messages, ids, times: those in the window, with ids and UTC microseconds; blocks: of the
    messages; decisions: on these blocks; sizes: tokens of each block in the view.
    """

    def __init__(
        self, context: SessionContext, side: str, model: str | None, counter: Counter
    ) -> None:
        self.model = model
        self.count = counter
        self.side = side
        self.context = context
        self._facts = message_chain.BranchFollower(context, message_chain.VIEW_FACTS)
        self.rows: list[Recorded] = []
        self._reset("")

    def _reset(self, format: str) -> None:
        self.format: Format | None = FORMATS[format] if format else None
        self.messages: list[Any] = []
        self.ids: list[str] = []
        self.times: list[int] = []
        self.blocks: list[Block] = []
        self.decisions: list[Decision] = []
        self.places: dict[Place, int] = {}
        self._parser = self.format.parser(self.count) if self.format else None
        self.sizes: list[int] = []
        self._tail_tokens = 0
        self._folding: tuple[ViewOptions, Folding] | None = None

    @property
    def tokens(self) -> int:
        """Return the tokens of the current view, as they are counted, without any correction."""
        return sum(self.sizes) + self._tail_tokens

    def calibration(self) -> Calibration:
        """Return the calibration of the model's tokens by the requests measured so far."""
        own = [each for each in of_kind(RequestMeasured, self.rows) if each.model == self.model]
        return calibrate(own, self._measured_by_others.values())

    @cached_property
    def _measured_by_others(self) -> Mapping[str, Sequence[RequestMeasured]]:
        """Return the requests of this model that other sessions measured, by session and chain."""
        measured: dict[str, list[RequestMeasured]] = {}
        newest = newest_first(self.context.store.timeline, kinds=[RequestMeasured])
        others = (
            (f"{row.session} {fact.side}", fact)
            for row in newest
            for fact in of_kind(RequestMeasured, [row])
            if fact.model == self.model and row.session != self.context.session
        )
        for chain, fact in reversed([*islice(others, MEASURED_MAX)]):
            measured.setdefault(chain, []).append(fact)
        return measured

    @property
    def removed(self) -> set[int]:
        """Return the places of blocks whose text is not in the view."""
        folded = {fold.block for decision in self.decisions for fold in decision.folds}
        return folded | {place for decision in self.decisions for place in decision.dropped}

    def refresh(self) -> None:
        """Read the facts recorded since the last refresh. After an interruption, the next refresh
        reads all of them again."""
        try:
            self._refresh()
        except BaseException:
            self._facts = message_chain.BranchFollower(self.context, message_chain.VIEW_FACTS)
            raise

    def _refresh(self) -> None:
        restarts, rows = self._facts.poll()
        own = [row for row in rows if message_chain.side_of(row) == self.side]
        self.rows = own if restarts else self.rows + own
        restarts = restarts or any(isinstance(row.fact, Condensed) for row in own)
        current = (self.format.name if self.format else "",)
        if restarts or (own and _newest_formats(own)[:1] not in ((), current)):
            self._reset(next(iter(_newest_formats(self.rows)), ""))
            own = self._start_from_summary()
        for row in own:
            self._take(row)

    def _start_from_summary(self) -> list[Recorded]:
        """Add everything up to the last summary's decision; return the rows after the summary."""
        summaries = [n for n, row in enumerate(self.rows) if isinstance(row.fact, Condensed)]
        if not summaries:
            return self.rows
        condensed = self.rows[summaries[-1]]
        fact = condensed.fact
        assert isinstance(fact, Condensed)
        assert fact.text is not None
        for row in message_chain.leading_system(self.rows):
            self._take(row)
        message = load_json(message_chain.read_blob(self.context, fact.text))["message"]
        self._add_message(fact.summary, message, condensed.happened_at)
        is_after = False  # the messages between the last one summed up and the summary stay
        for row in self.rows[: summaries[-1]]:
            if isinstance(row.fact, MessageAppended):
                if is_after:
                    self._take(row)
                is_after = is_after or row.fact.message == fact.last
        self._add_decision(fact.text)
        return self.rows[summaries[-1] + 1 :]

    def _take(self, row: Recorded) -> None:
        fact = row.fact
        if isinstance(fact, MessageAppended):
            self._add_message(
                fact.message, message_chain.read_message(self.context, row), row.happened_at
            )
        elif isinstance(fact, Folded) and fact.text is not None:
            self._add_decision(fact.text)

    def _add_message(self, id: str, message: Any, at: int) -> None:
        assert self._parser is not None
        self.messages.append(message)
        self.ids.append(id)
        self.times.append(at)
        for block in self._parser.parse(message):
            self.places[id, block.part] = len(self.blocks)
            self.blocks.append(block)
            self.sizes.append(block.tokens)
            if self._folding:
                self._folding[1].add(block)

    def _add_decision(self, text: str) -> None:
        """Apply a recorded decision, except where another process decided on a block earlier."""
        data = message_chain.read_blob(self.context, text)
        decision = decode_decision(data, self.places, self._known_ids)
        removed = self.removed
        decision = structs.replace(
            decision,
            folds=tuple(fold for fold in decision.folds if fold.block not in removed),
            dropped=tuple(place for place in decision.dropped if place not in removed),
        )
        self.decisions.append(decision)
        for fold in decision.folds:
            self.sizes[fold.block] = self._size_of(fold)
        for place in decision.dropped:
            self.sizes[place] = 0
        self._tail_tokens += sum(tail.tokens for tail in decision.tails)
        if self._folding:
            self._folding[1].apply(decision)

    def _known_ids(self) -> set[str]:
        """Return the ids of all messages and summaries."""
        summaries = {fact.summary for fact in of_kind(Condensed, self.rows)}
        return summaries | {fact.message for fact in of_kind(MessageAppended, self.rows)}

    def view(self, options: ViewOptions) -> list[dict[str, Any]]:
        """Return the messages to send now. A decision that they need is recorded first. WindowFull,
        and nothing recorded, where they cannot be made to fit a hard budget."""
        self.refresh()
        if self.format is None:
            return []
        decision = Decision()
        if self.may_fold:
            decision = self._decide(options, self.calibration())
        return self._send(decision, options)

    @property
    def may_fold(self) -> bool:
        """Return whether a decision can be made now: not while the model has the last word."""
        assert self.format is not None
        return self.format.adapter.role(self.messages[-1]) != "model"

    def _send(self, decision: Decision, options: ViewOptions) -> list[dict[str, Any]]:
        """Record a decision and return its view. WindowFull, and nothing recorded."""
        try:
            view = self._project(decision)
        except ValueError:  # the provider wants to get the model's thinking back
            decision = structs.replace(decision, dropped=())
            view = self._project(decision)
            self._folding = None  # it assumes the dropped blocks
        view = self._repaired(view)
        try:
            self._check_hard(decision, view, options)
            if decision != Decision():
                self.record(decision)
        except BaseException:
            self._folding = None  # it assumes a decision that is not recorded
            raise
        sent: list[dict[str, Any]] = all_sendable(view)  # a copy: hosts put cache marks into it
        return sent

    def sent(self) -> list[dict[str, Any]]:
        """Return the messages of the view as it stands."""
        if self.format is None:
            return []
        sent: list[dict[str, Any]] = all_sendable(self._repaired(self._project(Decision())))
        return sent

    def _repaired(self, view: list[Message]) -> list[Message]:
        for name in _newest_formats(self.rows):
            view = FORMATS[name].repaired(view)
        return view

    def decide_hard(self, options: ViewOptions) -> Decision:
        """Decide what is folded for a hard budget in the window's own tokens, to be recorded."""
        decision = self._decide(options, Calibration())
        try:
            self._project(decision)
        except ValueError:  # the provider wants to get the model's thinking back
            decision = structs.replace(decision, dropped=())
            self._project(decision)
        self._folding = None  # these rules are used once
        return decision

    def _decide(self, options: ViewOptions, calibration: Calibration) -> Decision:
        """Decide what is folded now, again and again while the view is above the hard budget."""
        idle_s = self._idle_s() if options.idle_s is None else options.idle_s
        folding, hard = self._folding_for(options), options.rules.hard
        decision = Decision()
        while True:
            tokens = calibration.tokens(self._size_with(decision), options.prefix)
            is_above = hard is not None and tokens > hard
            if hard is not None and is_above:  # in the folding's own tokens
                tokens = hard + ceil((tokens - hard) / calibration.ratio)
            more = folding.decide(tokens, idle_s)
            decision = Decision(
                decision.folds + more.folds,
                decision.tails + more.tails,
                decision.dropped + more.dropped,
            )
            if not is_above or more == Decision():
                return decision

    def _size_with(self, decision: Decision) -> int:
        """Return the tokens of the view with a further decision."""
        folds = sum(self._size_of(fold) - self.sizes[fold.block] for fold in decision.folds)
        tails = sum(tail.tokens for tail in decision.tails)
        return self.tokens + folds + tails - sum(self.sizes[n] for n in decision.dropped)

    def _size_of(self, fold: Fold) -> int:
        """Return the tokens of a block in the view once it is folded: a call keeps its keys."""
        block = self.blocks[fold.block]
        if block.kind != "call":
            return fold.tokens
        assert self.format is not None
        adapter, message = self.format.adapter, self.messages[block.message]
        part: Part = adapter.parts(message)[block.part]
        stubbed = adapter.with_text(message, part, fold.stub)
        return self.count(adapter.parts(stubbed)[block.part].text)

    def _check_hard(
        self, decision: Decision, view: Sequence[Message], options: ViewOptions
    ) -> None:
        """Raise WindowFull for a view above the hard budget. The count is the provider's where it is known."""
        hard = options.rules.hard
        if hard is None:
            return
        assert self.format is not None
        estimate = self._size_with(decision)
        if len(view) > len(self.messages):  # results that were missing were added
            estimate = sum(block.tokens for block in self.format.blocks(view, self.count))
        tokens = self.calibration().tokens(estimate, options.prefix)
        if tokens <= hard:
            return
        why = "everything that may be folded is folded: what is left was typed, or is the newest"
        hint = "A recovery from this error makes it smaller, without a model or with a summarizer."
        if not self.may_fold:
            why = "the model has the last word, so nothing is folded now"
            hint = "Append the next message first, then ask for the view."
        raise WindowFull(
            f"The view has {tokens:,} tokens, and the hard budget is {hard:,}: {why}."
            " Nothing was recorded.",
            hint,
            tokens=tokens,
            limit=hard,
        )

    def _project(self, decision: Decision) -> list[Message]:
        assert self.format is not None
        return self.format.project(self.messages, self.blocks, [*self.decisions, decision])

    def _folding_for(self, options: ViewOptions) -> Folding:
        """Return the folding for a view's rules and prices, with all blocks and decisions."""
        if self._folding is not None:
            known, folding = self._folding
            if (known.rules, known.prices) == (options.rules, options.prices):
                return folding
        root = str(self.context.workspace.root)
        folding = Folding(options.rules, self.count, stub, options.prices, root)
        for block in self.blocks:
            folding.add(block)
        for decision in self.decisions:
            folding.apply(decision)
        self._folding = options, folding
        return folding

    def _idle_s(self) -> float:
        """Return the seconds from the model's last answer to the newest message, by the recorded
        times, so that every process decides the same."""
        assert self.format is not None
        role = self.format.adapter.role
        pairs = zip(reversed(self.messages), reversed(self.times), strict=True)
        answers = (at for message, at in pairs if role(message) == "model")
        return max(self.times[-1] - next(answers, self.times[-1]), 0) / 1e6

    def record(self, decision: Decision) -> None:
        """Record a decision, and the lines of files that leave the view."""
        removed = {fold.block for fold in decision.folds} | {*decision.dropped}
        gone = removed | self.removed
        visible = [block for place, block in enumerate(self.blocks) if place not in gone]
        blocks = [self.blocks[place] for place in removed]
        lines = dropped_lines(self.context, blocks, visible, decision.tails)
        data = encode_decision(decision, self.blocks, self.ids)
        places = tuple(sorted(fold.block for fold in decision.folds))
        fact = Folded(self.ids[-1], places, revision_of(data), self.side)
        self.context.append([*lines, fact], blobs=[data])
        self.refresh()


def _newest_formats(rows: Sequence[Recorded]) -> tuple[str, ...]:
    """Return the formats of the newest message: plain texts are of several."""
    newest = next(of_kind(MessageAppended, reversed(rows)), None)
    return newest.formats if newest else ()


# --- the options of a view


class Budget(Struct, frozen=True):
    """Tokens of a context window. soft: above this number, parts that are worth folding are folded;
    None: the policy's own. hard: above this number, whatever must be folded is; None: unknown.
    prefix: tokens sent before the messages, such as the system text and the tools."""

    soft: int | None = None
    hard: int | None = None
    prefix: int = 0


class ViewOptions(Struct, frozen=True):
    """The checked options of a view. rules: with the budgets; idle_s: seconds since the cache was
    last used, None: from the times of the messages."""

    rules: Rules
    prices: Prices
    prefix: int = 0
    idle_s: float | None = None


def check_options(
    budget: int | Budget | None, price: str | Prices, policy: str | Rules, idle_s: float | None
) -> ViewOptions:
    """Check the options of a view. ValueError, which names the values that are accepted."""
    rules = policy if isinstance(policy, Rules) else _named(policy, POLICIES, "policy")
    prices = price if isinstance(price, Prices) else _named(price, PROFILES, "price")
    limits = budget if isinstance(budget, Budget) else Budget(budget)
    soft = rules.soft if limits.soft is None else _check_tokens(limits.soft, "budget")
    hard = None if limits.hard is None else _check_tokens(limits.hard, "hard budget")
    if hard is not None and soft > hard:
        if limits.soft is not None:
            raise ValueError(f"the soft budget, {soft}, is above the hard one, {hard}")
        soft = hard
    _check_number(limits.prefix, int, "prefix is a number of tokens")
    if idle_s is not None:
        _check_number(idle_s, (int, float), "idle_s is a number of seconds")
    rules = structs.replace(rules, soft=soft, hard=hard)
    return ViewOptions(rules, prices, limits.prefix, idle_s)


def _check_number(value: Any, kind: Any, what: str) -> None:
    if not isinstance(value, kind) or not value >= 0:
        raise ValueError(f"{what}, 0 or more, not {value!r}")


def _check_tokens(value: Any, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{what} is a number of tokens, 1 or more, not {value!r}")
    return value


def _named(name: Any, values: Mapping[str, T], what: str) -> T:
    if not isinstance(name, str) or name not in values:
        raise ValueError(f"there is no {what} {name!r}; there are: {', '.join(values)}")
    return values[name]
