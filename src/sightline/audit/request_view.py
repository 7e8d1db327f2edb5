"""The view of a conversation as a request sends it: visible blocks, stubs, and token counts."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.messages.blocks import Block, Decision


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
