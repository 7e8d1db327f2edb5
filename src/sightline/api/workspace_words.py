"""The text of answers about a workspace: sessions, files, checkpoints, the timeline, a verdict's reasons.

It loads no package that a look at the state does not load.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from time import time

from msgspec import structs

from sightline.checkpoints.rewind.words import begun, counts_of, lines_of, maybe_yours, shares
from sightline.checkpoints.words import (
    committed,
    describe_taken,
    in_list,
    patched,
    stat,
    swept,
    without_text,
)
from sightline.errors import Hint
from sightline.history.words import lost, seeing, sentence, story
from sightline.model.log_entries import Why
from sightline.model.results import ChangedBy, Unfinished
from sightline.notices.words import in_line, raised
from sightline.sessions.words import forgotten, this_machine_alone
from sightline.text import phrases
from sightline.text.causes import NameOf, author_for, named_entry

__all__ = [
    "committed",
    "counts_of",
    "describe_taken",
    "forgotten",
    "in_line",
    "in_list",
    "interrupted_rewind",
    "lines_of",
    "lost",
    "maybe_yours",
    "patched",
    "raised",
    "reasons",
    "seeing",
    "sentence",
    "shares",
    "since",
    "stat",
    "swept",
    "this_machine_alone",
    "who",
    "without_text",
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
