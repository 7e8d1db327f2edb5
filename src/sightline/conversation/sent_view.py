"""What of a conversation is sent: its messages since the last summary, and what was decided on them.

Messages become blocks as they come, decisions are facts. So whichever process asks, after whatever
rewind or fork, the view of the same messages is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import structs

from sightline.changes.session_context import SessionContext
from sightline.conversation import fold_decisions
from sightline.conversation.dropped_text import leaving
from sightline.conversation.formats.format import FORMATS, Format
from sightline.conversation.message_chain import MEANT, Followed, heads, kept, read, said, side_of
from sightline.conversation.view_options import Asking
from sightline.conversation.window.blocks import Block, Decision
from sightline.conversation.window.folding import Folding
from sightline.conversation.window.rebase import make_folding
from sightline.conversation.words import stub
from sightline.model.events import Condensed, Folded, MessageAppended
from sightline.model.revision import revision_of
from sightline.model.timeline import Recorded
from sightline.text.tokens import Family, estimate

Message = Mapping[str, Any]


class Window:
    """One chain's window. family: of the tokenizer that its tokens are estimated for."""

    def __init__(self, ground: SessionContext, side: str, family: Family) -> None:
        self.family = family
        self.side = side
        self._ground = ground
        self._followed = Followed(ground, MEANT)
        self.rows: list[Recorded] = []
        self._begin("")

    def _begin(self, format: str) -> None:
        """Nothing is in it."""
        self.format: Format | None = FORMATS[format] if format else None
        self.messages: list[Any] = []
        self.ids: list[str] = []
        self.ats: list[int] = []
        self.blocks: list[Block] = []
        self.decisions: list[Decision] = []
        self.places: dict[fold_decisions.Where, int] = {}
        self._known = self.format.known() if self.format else None
        self.sizes: list[int] = []
        self._tails = 0
        self._folding: tuple[Asking, Folding] | None = None

    def count(self, text: str) -> int:
        """The tokens of a text, about."""
        return estimate(text, self.family)

    @property
    def tokens(self) -> int:
        """Of the view as it stands."""
        return sum(self.sizes) + self._tails

    @property
    def gone(self) -> set[int]:
        """The places of blocks that do not stand in the view."""
        every = self.decisions
        folded = {fold.block for decision in every for fold in decision.folds}
        return folded | {place for decision in every for place in decision.dropped}

    def refresh(self) -> None:
        """Take in what came since. If that is cut short, all of it is taken in anew the next time."""
        try:
            self._refresh()
        except BaseException:
            self._followed = Followed(self._ground, MEANT)
            raise

    def _refresh(self) -> None:
        anew, rows = self._followed.news()
        own = [row for row in rows if side_of(row) == self.side]
        self.rows = own if anew else self.rows + own
        begins = anew or any(isinstance(row.fact, Condensed) for row in own)
        if begins or (own and self._format_of(own) not in ("", self._named())):
            self._begin(self._format_of(self.rows))
            own = self._opened()
        for row in own:
            self._take(row)

    def _named(self) -> str:
        return self.format.name if self.format else ""

    def _format_of(self, rows: Sequence[Recorded]) -> str:
        """The format of the newest of these messages."""
        found = (row.fact for row in reversed(rows) if isinstance(row.fact, MessageAppended))
        newest = next(found, None)
        return newest.formats[0] if newest else ""

    def _formats(self) -> tuple[str, ...]:
        """All that the messages may be of: of plain texts nobody can tell yet."""
        newest = next(
            row.fact for row in reversed(self.rows) if isinstance(row.fact, MessageAppended)
        )
        return newest.formats

    def _opened(self) -> list[Recorded]:
        """Put what stands before the messages since the last summary; the facts of the rest."""
        at = [n for n, row in enumerate(self.rows) if isinstance(row.fact, Condensed)]
        if not at:
            return self.rows
        condensed = self.rows[at[-1]]
        assert isinstance(condensed.fact, Condensed)
        assert condensed.fact.text is not None
        for row in heads(self.rows):
            self._take(row)
        told = fold_decisions.loaded(kept(self._ground, condensed.fact.text))
        self._put(condensed.fact.summary, told["message"], condensed.happened_at)
        messages = [row for row in self.rows if isinstance(row.fact, MessageAppended)]
        ids = [said(row).message for row in messages]
        tail = messages[ids.index(condensed.fact.last) + 1 :]
        before = [row for row in tail if row.position < condensed.position]
        for row in before:
            self._take(row)
        self._decided(self._unpacked(condensed.fact.text))
        return self.rows[at[-1] + 1 :]

    def _take(self, row: Recorded) -> None:
        fact = row.fact
        if isinstance(fact, MessageAppended):
            self._put(fact.message, read(self._ground, row), row.happened_at)
        elif isinstance(fact, Folded) and fact.text is not None:
            self._decided(self._unpacked(fact.text))

    def _unpacked(self, text: str) -> Decision:
        """A decision on record, without what another process decided just before it: whatever was
        decided first stands."""
        decision = fold_decisions.unpacked(kept(self._ground, text), self.places, self._known_ids)
        gone = self.gone
        return structs.replace(
            decision,
            folds=tuple(fold for fold in decision.folds if fold.block not in gone),
            dropped=tuple(place for place in decision.dropped if place not in gone),
        )

    def _known_ids(self) -> set[str]:
        """The ids of all messages, and of summaries."""
        facts = [row.fact for row in self.rows]
        summaries = {fact.summary for fact in facts if isinstance(fact, Condensed)}
        return summaries | {fact.message for fact in facts if isinstance(fact, MessageAppended)}

    def _put(self, id: str, message: Any, at: int) -> None:
        assert self.format is not None
        number = len(self.messages)
        self.messages.append(message)
        self.ids.append(id)
        self.ats.append(at)
        for block in self.format.blocks(self.messages, self.count, number, self._known):
            self.places[id, block.part] = len(self.blocks)
            self.blocks.append(block)
            self.sizes.append(block.tokens)
            if self._folding:
                self._folding[1].add(block)

    def _decided(self, decision: Decision) -> None:
        self.decisions.append(decision)
        for fold in decision.folds:
            self.sizes[fold.block] = fold.tokens
        for place in decision.dropped:
            self.sizes[place] = 0
        self._tails += sum(tail.tokens for tail in decision.tails)
        if self._folding:
            self._folding[1].apply(decision)

    def view(self, asking: Asking) -> list[dict[str, Any]]:
        """What is sent now. What has to be decided for it is decided, and on record, first."""
        self.refresh()
        if self.format is None:
            return []
        decision = Decision()
        if self.format.adapter.role(self.messages[-1]) != "model":
            idle_s = self._idle_s() if asking.idle_s is None else asking.idle_s
            decision = self._folder(asking).decide(self.tokens + asking.prefix, idle_s)
        made, view = self._projected(decision)
        if made != decision:
            self._folding = None  # it took more for decided than was
        if made != Decision():
            try:
                self._record(made)
            except BaseException:
                self._folding = None  # it was decided, and is not on record
                raise
        for name in self._formats():
            view = FORMATS[name].repaired(view)
        return [_copied(message) for message in view]

    def _projected(self, decision: Decision) -> tuple[Decision, list[Message]]:
        """The view with a decision, and as much of the decision as the messages let be carried out:
        thinking may stand where a provider wants it to stay."""
        assert self.format is not None
        try:
            return decision, self.project([decision])
        except ValueError:
            less = structs.replace(decision, dropped=())
            return less, self.project([less])

    def project(self, more: Iterable[Decision] = ()) -> list[Message]:
        """The messages with what was decided, and more."""
        assert self.format is not None
        every = [*self.decisions, *more]
        return self.format.project(self.messages, self.blocks, every)

    def _folder(self, asking: Asking) -> Folding:
        """The folder for what is asked, which has seen all of it."""
        if self._folding is None or not self._folding[0].is_like(asking):
            made = make_folding(asking.rules, self.count, stub, asking.prices)
            for block in self.blocks:
                made.add(block)
            for decision in self.decisions:
                made.apply(decision)
            self._folding = asking, made
        return self._folding[1]

    def _idle_s(self) -> float:
        """Seconds from the model's last answer to the newest message: as the record has it, so that
        whoever asks decides the same."""
        assert self.format is not None
        role = self.format.adapter.role
        answered = (
            n for n in range(len(self.ats) - 1, -1, -1) if role(self.messages[n]) == "model"
        )
        last = next(answered, None)
        return 0.0 if last is None else max(self.ats[-1] - self.ats[last], 0) / 1e6

    def _record(self, decision: Decision) -> None:
        """Put a decision on record, and what the agent no longer holds because of it."""
        gone = {fold.block for fold in decision.folds} | {*decision.dropped}
        before = self.gone
        standing = [b for n, b in enumerate(self.blocks) if n not in gone and n not in before]
        left = leaving(self._ground, [self.blocks[n] for n in gone], standing, decision.tails)
        data = fold_decisions.packed(decision, self.blocks, self.ids)
        places = tuple(sorted(fold.block for fold in decision.folds))
        fact = Folded(self.ids[-1], places, revision_of(data), self.side)
        self._ground.append([*left, fact], blobs=[data])
        self.refresh()


def _copied(value: Any) -> Any:
    """A copy that its host may change: marks for the cache are put into messages as they are sent."""
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, (list, tuple)) else value
