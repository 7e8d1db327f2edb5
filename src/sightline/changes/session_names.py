"""Name sessions for models and for people: by the first words of their first prompt, never by an id that
a program made up."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache

from sightline.changes.command_texts import worded
from sightline.changes.session_context import SessionContext
from sightline.errors import NextCall, SessionError
from sightline.model.events import Cause, TurnBegan
from sightline.model.lookup import Lookup, look_up, plain
from sightline.model.session_ids import archived, short_id
from sightline.store.port import Store, Timeline
from sightline.text import causes
from sightline.text.causes import NameOf, author_for
from sightline.text.phrases import unfound
from sightline.text.printable import printable

GENERATED = re.compile(r"s-[0-9a-f]{10}(?![^/])|[0-9a-f]{8}-[0-9a-f]{4}-")
"""Begins ids that programs make up."""


def names_of(store: Store) -> NameOf:
    """Return a function: session -> its name. That is its title in quotes; without a title the id that
    somebody chose, and in place of one that a program made up its agent and its beginning: "claude-code
    session of 14:05". A sub-agent has its parent's name before its own."""

    @cache
    def name_of(session: str) -> str:
        title = title_of(store, session)
        head, slash, own = session.partition("/")
        if title:
            return f'"{title}"{slash}{own}'
        state = store.session(head) if GENERATED.match(head) else None
        if state is None:
            return session
        began = datetime.fromtimestamp(state.started / 1_000_000)  # noqa: DTZ006 - as clocks show it
        return f"{state.agent}{causes.SESSION_OF}{began:%H:%M}{slash}{own}"

    return name_of


def find_session(store: Store, asked: str) -> str:
    """Return the id of the session that somebody names: by its id, by its name (names_of), or by the
    beginning of one of them. SessionError where none fits, or several do."""
    if asked and store.session(asked) is not None:
        return asked
    found, described = _looked_up(store, asked)
    if found.id:
        return found.id
    raise SessionError(
        *unfound(
            "session",
            asked,
            [described(each) for each in found.several],
            [described(each) for each in found.nearest],
            NextCall("workspace.sessions"),
        )
    )


def meant_session(store: Store, asked: str) -> str:
    """Return the id of the session that somebody works in, which may be a new one: of the session whose id
    or name this is. The beginning of an id counts only of one that a program made up, and from MADE_UP
    letters on: other ids are what people choose for new sessions. SessionError where several fit."""
    if store.session(asked) is not None:
        return asked
    found, described = _looked_up(store, asked)
    is_begun = len(asked) >= MADE_UP and GENERATED.match(found.id) is not None
    if found.id and (is_begun or plain(asked) == plain(names_of(store)(found.id))):
        return found.id
    several = [each for each in found.several if plain(asked) == plain(names_of(store)(each))]
    if several:
        described_all = [described(each) for each in several]
        raise SessionError(
            *unfound("session", asked, described_all, (), NextCall("workspace.sessions"))
        )
    return asked


MADE_UP = 4
"""The letters from which the beginning of a made-up id stands for the id."""


def _looked_up(store: Store, asked: str) -> tuple[Lookup, NameOf]:
    """Return what a name fits, and a function: session -> its id, with its name where it has one."""
    name_of = names_of(store)
    ids = [each.id for each in store.sessions() if not archived(each.id)]

    def described(session: str) -> str:
        name = name_of(session)
        return printable(session if name == session else f"{name} ({short_id(session)})")

    return look_up(
        asked, {each: () if name_of(each) == each else (name_of(each),) for each in ids}
    ), described


def title_of(store: Timeline, session: str) -> str:
    """Return the first words of a session's first prompt, a sub-agent's parent's; "" before a prompt."""
    head = session.partition("/")[0]
    first = store.timeline(session=head, kinds=[TurnBegan], limit=1) if head else ()
    titles = [each.fact.title for each in first if isinstance(each.fact, TurnBegan)]
    return titles[0] if titles else ""


def plain_title(store: Store, session: str) -> str | None:
    """Return a session's name without quotes; None where it has no title."""
    return names_of(store)(session).replace('"', "") if title_of(store, session) else None


def author(context: SessionContext, cause: Cause | None) -> str:
    """Name the author of a change for this session's agent, as author_for() does."""
    by = None if cause is None else worded(context.store, cause)
    return author_for(context.session, by, names_of(context.store))


def names_for(context: SessionContext) -> NameOf:
    """Return a function: another session -> its name for this session's agent, as in a sentence."""
    return lambda session: author(context, Cause("agent", session))
