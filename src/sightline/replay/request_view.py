"""The view of a conversation as it is sent: which blocks stand in it, as what, in how many tokens."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.conversation.window.blocks import Block, Decision


class View:
    """Blocks as they are sent, changed by decisions for good.

    visible: of each block whether its own text stands in the view; tokens: of all of it, with the
    prefix. continued: the prefix alone was sent before.
    """

    def __init__(self, prefix: int, *, continued: bool = False) -> None:
        self.visible = bytearray()
        self.tokens = self._prefix = prefix
        self._shown: list[int] = []
        self._dropped: set[int] = set()
        self._stubs: dict[int, str] = {}
        self._tails: list[tuple[int, int, str]] = []
        self._said: str | None = None
        self._sent_blocks = 0
        self._sent_tokens = prefix if continued else 0
        self._changed: int | None = None

    def add(self, blocks: Sequence[Block]) -> None:
        """Blocks that came."""
        tokens = [block.tokens for block in blocks]
        self._shown += tokens
        self.visible += b"\1" * len(tokens)
        self.tokens += sum(tokens)

    def apply(self, decision: Decision) -> bool:
        """Whether anything changed. ValueError for a decision that is none of a monotone policy."""
        for fold in decision.folds:
            if not self.visible[fold.block]:
                raise ValueError(f"Block {fold.block} was folded or dropped before.")
            self._put(fold.block, fold.tokens)
            self._stubs[fold.block] = fold.stub
        for place in decision.dropped:
            if place in self._dropped:
                raise ValueError(f"Block {place} was dropped before.")
            self._put(place, 0)
            self._dropped.add(place)
            self._stubs.pop(place, None)
        for tail in decision.tails:
            self._tails.append((tail.after, tail.tokens, tail.text))
            self.tokens += tail.tokens
            self._touch(tail.after + 1)
        if decision.folds or decision.dropped or decision.tails:
            self._said = None
            return True
        return False

    def _put(self, place: int, tokens: int) -> None:
        self.tokens += tokens - self._shown[place]
        self._shown[place] = tokens
        self.visible[place] = 0
        self._touch(place)

    def _touch(self, place: int) -> None:
        if place < self._sent_blocks and (self._changed is None or place < self._changed):
            self._changed = place

    @property
    def same(self) -> int:
        """Tokens at the beginning that are as they were when the view was last sent."""
        if self._changed is None:
            return self._sent_tokens
        tails = sum(tokens for after, tokens, _ in self._tails if after < self._changed)
        return self._prefix + sum(self._shown[: self._changed]) + tails

    def sent(self) -> None:
        """It was sent as it is."""
        self._sent_blocks, self._sent_tokens = len(self._shown), self.tokens
        self._changed = None

    def holds(self, text: str, held: Sequence[int]) -> bool:
        """Whether a text can be read: in a block that stands in the view, or literally in what
        stands in the place of others. held: the blocks that have it."""
        visible = self.visible
        if any(visible[place] for place in reversed(held)):
            return True
        if self._said is None:
            texts = dict.fromkeys(self._stubs.values())
            self._said = "\0".join([*texts, *(text for _, _, text in self._tails)])
        return text in self._said
