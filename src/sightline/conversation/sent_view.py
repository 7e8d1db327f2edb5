"""Derive the view of a conversation: the messages since the last summary, with decisions applied.

Messages become blocks as they arrive, and decisions are facts. So every process derives the same
view of the same messages, after any rewind or fork.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct, structs

from sightline.changes.session_context import SessionContext
from sightline.conversation import message_chain
from sightline.conversation.dropped_text import dropped_lines
from sightline.conversation.fold_decisions import Place, decode_decision, encode_decision, load_json
from sightline.conversation.formats.format import FORMATS, Format
from sightline.conversation.window.blocks import Block, Decision
from sightline.conversation.window.folding import POLICIES, Folding, Rules
from sightline.conversation.window.prices import PROFILES, Prices
from sightline.conversation.words import stub
from sightline.model.events import Condensed, Folded, MessageAppended
from sightline.model.revision import revision_of
from sightline.model.timeline import Recorded, of_kind
from sightline.text.tokens import Family, estimate

T = TypeVar("T")
Message = Mapping[str, Any]


class Window:
    """The context window of one chain. family: of the tokenizer for which tokens are estimated.

    messages, ids, times: those in the window, with ids and UTC microseconds; blocks: of the
    messages; decisions: on these blocks; sizes: tokens of each block in the view.
    """

    def __init__(self, context: SessionContext, side: str, family: Family) -> None:
        self.family = family
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

    def count(self, text: str) -> int:
        """Estimate the tokens of a text."""
        return estimate(text, self.family)

    @property
    def tokens(self) -> int:
        """Return the tokens of the current view."""
        return sum(self.sizes) + self._tail_tokens

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
            self.sizes[fold.block] = fold.tokens
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
        """Return the messages to send now. A decision that they need is recorded first."""
        self.refresh()
        if self.format is None:
            return []
        decision = Decision()
        if self.format.adapter.role(self.messages[-1]) != "model":
            idle_s = self._idle_s() if options.idle_s is None else options.idle_s
            folding = self._folding_for(options)
            decision = folding.decide(self.tokens + options.prefix, idle_s)
        try:
            view = self._project(decision)
        except ValueError:  # the provider wants to get the model's thinking back
            decision = structs.replace(decision, dropped=())
            view = self._project(decision)
            self._folding = None  # it assumes the dropped blocks
        if decision != Decision():
            try:
                self._record(decision)
            except BaseException:
                self._folding = None  # it assumes a decision that is not recorded
                raise
        for name in _newest_formats(self.rows):
            view = FORMATS[name].repaired(view)
        return [_copy(message) for message in view]

    def _project(self, decision: Decision) -> list[Message]:
        assert self.format is not None
        return self.format.project(self.messages, self.blocks, [*self.decisions, decision])

    def _folding_for(self, options: ViewOptions) -> Folding:
        """Return the folding for a view's rules and prices, with all blocks and decisions."""
        if self._folding is not None:
            known, folding = self._folding
            if (known.rules, known.prices) == (options.rules, options.prices):
                return folding
        folding = Folding(options.rules, self.count, stub, options.prices)
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

    def _record(self, decision: Decision) -> None:
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


def _copy(value: Any) -> Any:
    """Copy a message, because hosts put cache marks into the messages that they send."""
    if isinstance(value, dict):
        return {key: _copy(field) for key, field in value.items()}
    return [_copy(item) for item in value] if isinstance(value, (list, tuple)) else value


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
