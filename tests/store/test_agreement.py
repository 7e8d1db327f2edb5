"""Random operations on the embedded store and on the store in memory give the same answers."""

from __future__ import annotations

import os
import tempfile
from contextlib import closing

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct, structs
from tests.store.contract import STAMP, happenings, paths, people, places, turnings
from tests.support.examples import examples

from sightline.errors import StoreConflict
from sightline.model import events
from sightline.model.revision import revision_of
from sightline.store.memory import MemoryStore
from sightline.store.port import Append, Store
from sightline.store.sqlite_file import open_file

EXAMPLES = 2_000 if os.environ.get("SIGHTLINE_TEST_WIDE") else examples(40)

TEXTS = [b"", b"one\n", b"one\ntwo\n" * 9, b"one\nTWO\n" * 9]
REVISIONS = [*map(revision_of, TEXTS), "0" * 64]
KINDS = st.sampled_from([None, [events.Changed], [events.Seen, events.TurnBegan], []])

revisions = st.sampled_from(REVISIONS)
kept = st.lists(st.sampled_from(TEXTS), max_size=3)


class Keep(Struct, frozen=True):
    texts: list[bytes]


class Mark(Struct, frozen=True):
    revision: str


class Purge(Struct, frozen=True):
    revisions: list[str]
    session: str


class Ask(Struct, frozen=True):
    """A question to the timeline, and a page of each list."""

    session: str | None
    path: str | None
    kinds: list[type[events.Fact]] | None
    after: int
    upto: int | None
    since: int | None
    limit: int | None
    newest: int | None
    ended: bool | None
    cursor: str | None


appends = st.builds(
    Append,
    people,
    st.lists(happenings | turnings, max_size=3),
    places,
    happened_at=st.none() | places,
    texts=kept,
    stats=st.dictionaries(paths, st.just(STAMP), max_size=2),
    expect=st.just({}) | st.dictionaries(paths, places, max_size=1),
    column=st.none() | places,
    needed=st.lists(revisions, max_size=1),
    needed_since=st.none() | places,
)
amounts = st.none() | st.integers(0, 3)
questions = st.builds(
    Ask,
    *(st.none() | people, st.none() | paths, KINDS, places, st.none() | places, st.none() | places),
    *(amounts, amounts, st.sampled_from([None, True, False]), st.none() | people),
)
purges = st.builds(Purge, st.lists(revisions, min_size=1, max_size=3), people)
operations = st.lists(
    appends | appends | questions | st.builds(Keep, kept) | st.builds(Mark, revisions) | purges,
    max_size=30,
)


def done(store: Store, operation: object, at: int) -> object:
    """What an operation answers, or the error that it raises."""
    try:
        if isinstance(operation, Append):
            return store.append(structs.replace(operation, at=at * STEP_US))
        if isinstance(operation, Ask):
            return answers(store, operation)
        if isinstance(operation, Purge):
            named = operation.revisions
            return store.purge(lambda: named, "age", session=operation.session, at=at)
        if isinstance(operation, Keep):
            store.keep(operation.texts)
        elif isinstance(operation, Mark):
            store.keep_marks(operation.revision, b"marks")
    except StoreConflict as error:
        return error.message
    return None


def answers(store: Store, ask: Ask) -> list[object]:
    newest = ask.newest if ask.limit is None else None
    facts = store.timeline(
        session=ask.session,
        path=ask.path,
        kinds=ask.kinds,
        after=ask.after,
        upto=ask.upto,
        since=ask.since,
        limit=ask.limit,
        newest=newest,
    )
    sessions = store.sessions(
        ended=ask.ended, parent=ask.session, after=ask.cursor, limit=ask.limit, newest=newest
    )
    before = store.sessions(ended=ask.ended, before=ask.cursor, limit=ask.limit, newest=newest)
    return [[*facts], sessions, before]


STEP_US = 25_000_000
"""The time between two appends: some are so near that the state of a session does not tell them apart."""


def everything(store: Store) -> list[object]:
    """The answers to every question that takes no choice; the sizes of texts are each store's own."""
    sessions = [state.id for state in store.sessions()]
    return [
        [*store.timeline()],
        [store.known(session) for session in sessions],
        [sorted(store.paths_changed(session)) for session in sessions],
        [sorted(store.active_since(at * STEP_US)) for at in range(0, store.position(), 2)],
        [store.knowers(path, "m", STEP_US) for path in sorted(store.paths())[:3]],
        (store.disks(), store.claims(), store.pending(), store.stamps(), store.tally()),
        (store.running(), [*store.stashes().items()]),
        (store.session_count(), store.held_on("m"), store.agents(sessions)),
        [(text.revision, text.since) for text in store.texts()],
        [text.revision for text in store.texts(after=REVISIONS[0], limit=2)],
        [(store.blob(revision), store.marks(revision)) for revision in REVISIONS],
        store.stored_among(REVISIONS),
        store.verify(),
    ]


@settings(max_examples=EXAMPLES)
@given(operations)
def test_both_stores_answer_every_operation_alike(chosen):
    plain = MemoryStore()
    with tempfile.TemporaryDirectory() as folder, closing(open_file(f"{folder}/s.db")) as embedded:
        for at, operation in enumerate(chosen):
            assert done(embedded, operation, at) == done(plain, operation, at)
        assert everything(embedded) == everything(plain)
