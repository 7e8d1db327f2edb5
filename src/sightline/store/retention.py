"""Which kept texts may be forgotten: those that nobody needs, by age and by the room they take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from msgspec import Struct, structs

from sightline.model.events import BlobPurged, Changed, CheckpointDropped, CheckpointTaken, Fact
from sightline.model.revision import Revision, known
from sightline.model.timeline import Recorded

AGE, SIZE = "age", "size"
"""Why a text goes: not named by any fact for longer than the user keeps texts; or the texts take
more room than the user gave them, and it is the oldest that nobody needs."""


class KeptText(Struct, frozen=True):
    """A text as a store keeps it. size: bytes it takes there. since: position of the timeline
    when it was last kept ahead of a fact that names it, else 0."""

    revision: Revision
    size: int
    since: int = 0


class Going(Struct, frozen=True):
    """A text that may go. at: when a fact last named it, UTC microseconds, 0 when none did; path:
    of the file it was, as far as is known; why: AGE or SIZE."""

    revision: Revision
    path: str | None
    size: int
    at: int
    why: str


class Mention(Struct, frozen=True):
    """The newest fact that names a text. at: when that was recorded."""

    at: int
    path: str | None


class Mentions:
    """What the facts of a timeline say of its texts, learned in order. newest: revision -> its
    newest mention; replaced: path -> the text that an agent's newest write there replaced, and
    when; manifests: of the checkpoints that stand, by id."""

    def __init__(self) -> None:
        self.newest: dict[Revision, Mention] = {}
        self.replaced: dict[str, tuple[Revision, int]] = {}
        self.manifests: dict[str, Revision] = {}

    def learn(self, recorded: Recorded) -> None:
        """Take in one more fact. Its own time may be long ago; what counts is when it came in."""
        fact, at = recorded.fact, recorded.recorded_at
        mention = Mention(at, getattr(fact, "path", None))
        for revision in named(fact):
            self.newest[revision] = mention
        if isinstance(fact, Changed) and fact.cause.kind == "agent" and known(fact.before):
            self.replaced[fact.path] = (fact.before, at)
        elif isinstance(fact, CheckpointTaken):
            self.manifests[fact.checkpoint] = fact.manifest
        elif isinstance(fact, CheckpointDropped):
            self.manifests.pop(fact.checkpoint, None)


def going(
    kept: Iterable[KeptText],
    mentions: Mapping[Revision, Mention],
    needed: set[Revision],
    *,
    before: int,
    room: int,
    came_at: Callable[[int], int],
) -> list[Going]:
    """The texts that may go, oldest first. before: those last named earlier go by their age (UTC
    microseconds). room: bytes that all texts may take; beyond it the oldest go. came_at: when
    the fact of a position was recorded."""
    found = list(kept)
    free = []
    for each in found:
        if each.revision not in needed:
            mention = mentions.get(each.revision, _UNNAMED)
            at = max(mention.at, came_at(each.since) if each.since else 0)
            free.append(Going(each.revision, mention.path, each.size, at, AGE))
    free.sort(key=lambda each: (each.at, each.revision))
    over = sum(each.size for each in found) - room
    gone: list[Going] = []
    for text in free:
        if text.at >= before and over <= 0:
            break
        gone.append(text if text.at < before else structs.replace(text, why=SIZE))
        over -= text.size
    return gone


_UNNAMED = Mention(0, None)


def named(fact: Fact) -> Iterator[Revision]:
    """Every text that a fact speaks of; of one that says what is gone, none."""
    if isinstance(fact, BlobPurged):
        return
    for field, texts in _speaking(type(fact)):
        value = getattr(fact, field)
        if value is not None:
            yield from filter(known, texts(value))


@cache
def _speaking(kind: type[Fact]) -> tuple[tuple[str, Callable[[Any], Iterable[Revision]]], ...]:
    noted = {
        field: kind.__annotations__[field].removesuffix(" | None")
        for field in kind.__struct_fields__
    }
    return tuple((field, TEXTS[name]) for field, name in noted.items() if name in TEXTS)


TEXTS: Mapping[str, Callable[[Any], Iterable[Revision]]] = {
    "Revision": lambda revision: (revision,),
    "tuple[Revision, ...]": lambda revisions: revisions,
    "Belief": lambda belief: (belief.text,),
    "tuple[Told, ...]": lambda told: [each.revision for each in told],
    "tuple[Rewritten, ...]": lambda made: [r for each in made for r in (each.before, each.after)],
}
"""Annotation of a fact's field -> the texts that a value of it names."""
