"""Choose the texts that may be deleted: those that nothing needs, by their age and their size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any

from msgspec import Struct, structs

from sightline.model.events import (
    BlobPurged,
    Changed,
    CheckpointDropped,
    CheckpointTaken,
    Fact,
)
from sightline.model.revision import Revision, known
from sightline.model.timeline import Recorded
from sightline.model.units import moment

AGE, SIZE, COMMAND = "age", "size", "command"
"""Reasons to delete a text. AGE: no fact has named the text for longer than the user keeps texts.
SIZE: all texts are larger than the user allows, and the text is the oldest that nothing needs.
COMMAND: it is that of a shell command, which the user named."""


class KeptText(Struct, frozen=True):
    """A text in a store. size: bytes in the store. since: the position of the timeline when the text
    was last kept ahead of a fact that names it, else 0."""

    revision: Revision
    size: int
    since: int = 0


class Going(Struct, frozen=True):
    """A text that may be deleted. at: when a fact last named it, UTC microseconds, 0 when none did;
    path: of its file, where a fact has one; why: AGE or SIZE."""

    revision: Revision
    path: str | None
    size: int
    at: int
    why: str


class SweptText(Struct, frozen=True):
    """A text that gc forgot, or would forget. bytes: in the store; at: when a fact last named it, an
    aware UTC datetime, None when none did; reason: age or size."""

    revision: str
    path: str | None
    bytes: int
    at: datetime | None
    reason: str

    @classmethod
    def from_going(cls, text: Going) -> SweptText:
        """Return the text with its time as a time."""
        at = moment(text.at) if text.at else None
        return cls(text.revision, text.path, text.size, at, text.why)


class KeptTexts(Struct, frozen=True):
    """The texts that stay. bytes: in the store."""

    texts: int
    bytes: int


class Swept(Struct, frozen=True):
    """The work of gc. texts: those that it forgot, or with dry_run would forget, oldest first; bytes: of
    these; over: the bytes by which needed texts exceed the room; returned: the bytes by which the store
    shrank on disk; checkpoints: the ids of those that were dropped to make room; commands: the number of
    shell commands that were forgotten, because the user named a text of theirs.

    kept: the texts that stay.
    """

    dry_run: bool
    texts: tuple[SweptText, ...]
    bytes: int
    kept: KeptTexts
    over: int = 0
    returned: int = 0
    checkpoints: tuple[str, ...] = ()
    commands: int = 0


class Mention(Struct, frozen=True):
    """The newest fact that names a text. at: the time of its recording."""

    at: int
    path: str | None


class Mentions:
    """The texts that the facts of a timeline name, learned in order. newest: revision -> its newest
    mention; replaced: path -> the text that an agent's newest write there replaced, and the time;
    manifests: of the checkpoints that were not dropped, by id."""

    def __init__(self) -> None:
        self.newest: dict[Revision, Mention] = {}
        self.replaced: dict[str, tuple[Revision, int]] = {}
        self.manifests: dict[str, Revision] = {}

    def learn(self, recorded: Recorded) -> None:
        """Add one fact. The time of its recording counts: it may have happened long before."""
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
    """Return the texts that may be deleted, oldest first. before: texts last named earlier go by
    their age (UTC microseconds). room: bytes that all texts may take; beyond it the oldest go.
    came_at: position -> the time of recording of its fact."""
    texts = list(kept)
    unneeded = []
    for text in texts:
        if text.revision not in needed:
            mention = mentions.get(text.revision, Mention(0, None))
            at = max(mention.at, came_at(text.since) if text.since else 0)
            unneeded.append(Going(text.revision, mention.path, text.size, at, AGE))
    excess = sum(text.size for text in texts) - room
    chosen: list[Going] = []
    for candidate in sorted(unneeded, key=lambda text: (text.at, text.revision)):
        is_old = candidate.at < before
        if not is_old and excess <= 0:
            break
        chosen.append(candidate if is_old else structs.replace(candidate, why=SIZE))
        excess -= candidate.size
    return chosen


def named(fact: Fact) -> Iterator[Revision]:
    """Yield every text that a fact names; none for a fact of deleted texts."""
    if isinstance(fact, BlobPurged):
        return
    for field, texts in _text_fields(type(fact)):
        value = getattr(fact, field)
        if value is not None:
            yield from filter(known, texts(value))


@cache
def _text_fields(kind: type[Fact]) -> list[tuple[str, Callable[[Any], Iterable[Revision]]]]:
    """Return the fields of a kind that name texts, and how to get the texts of a value."""
    annotations = [
        (f, kind.__annotations__[f].removesuffix(" | None")) for f in kind.__struct_fields__
    ]
    return [(field, TEXTS[name]) for field, name in annotations if name in TEXTS]


TEXTS: Mapping[str, Callable[[Any], Iterable[Revision]]] = {
    "Revision": lambda revision: (revision,),
    "tuple[Revision, ...]": lambda revisions: revisions,
    "tuple[tuple[str, Revision], ...]": lambda files: [revision for _, revision in files],
    "Cause": lambda cause: filter(None, [cause.command]),
    "Belief": lambda belief: (belief.text,),
    "tuple[Told, ...]": lambda answers: [told.revision for told in answers],
    "tuple[Rewritten, ...]": lambda changes: [
        r for change in changes for r in (change.before, change.after)
    ],
}
"""Annotation of a field -> a function that returns the texts of a value."""
