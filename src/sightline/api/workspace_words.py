"""The text of answers about the state of a workspace: sessions, files, the timeline, a verdict's reasons.

It loads no package that a look at the state does not load.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from time import time

from msgspec import structs

from sightline.checkpoints.rewind.words import begun
from sightline.errors import Hint
from sightline.history.words import lost, seeing, sentence, story
from sightline.model.log_entries import Why
from sightline.model.results import ChangedBy, Unfinished
from sightline.notices.words import in_line
from sightline.text import phrases
from sightline.text.causes import NameOf, author_for, named_entry

__all__ = [
    "in_line",
    "interrupted_rewind",
    "lost",
    "reasons",
    "seeing",
    "sentence",
    "since",
    "who",
]


def who(by: ChangedBy | None, session: str, name_of: NameOf = str) -> str:
    """Return the author of a change, in words for the reader of a session. name_of: as Workspace.name_of."""
    return author_for(session, None if by is None else by.cause, name_of)


def reasons(why: Why, name_of: NameOf, clock: Callable[[int], str]) -> list[str]:
    """Return the explanation of a verdict, by lines. clock: words for a time in UTC microseconds."""
    by = why.verdict.changed_by
    return story(
        structs.replace(why, entries=tuple(named_entry(entry, name_of) for entry in why.entries)),
        name_of,
        who(by, why.session, name_of),
        None if by is None else time() - by.at.timestamp(),
        clock,
    )


def interrupted_rewind(rewind: Unfinished, name_of: NameOf) -> Hint:
    """Describe a rewind whose process died."""
    whose = name_of(rewind.session) if rewind.session else ""
    return begun(rewind.to, rewind.session, whose, since(rewind.at))


def since(at: datetime) -> str:
    """Return how long ago a time was."""
    return phrases.ago(time() - at.timestamp())
