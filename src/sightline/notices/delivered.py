"""TODO: module docstring"""

from __future__ import annotations

from sightline.changes.session_context import SessionContext
from sightline.model.events import Fact, NoticeAcknowledged, NoticeDelivered
from sightline.model.projections import Knowledge


def told_already(context: SessionContext, knowledge: Knowledge, revision: str) -> bool:
    """Whether the agent was told that this stands at a path it knows, and acknowledged it, since
    the path last changed."""
    return _newest(context, knowledge, NoticeAcknowledged, revision)


def handed_already(context: SessionContext, knowledge: Knowledge, revision: str) -> bool:
    """The same of what a host was handed, and did not say yet that it arrived."""
    return _newest(context, knowledge, NoticeDelivered, revision)


def _newest(context: SessionContext, knowledge: Knowledge, kind: type[Fact], revision: str) -> bool:
    path = knowledge.path
    row = context.store.disk(path)
    found = context.store.timeline(session=context.session, path=path, kinds=[kind], newest=RECENT)
    since = 0 if row is None else row.position
    return any(each.position > since and _tells(each.fact, path, revision) for each in list(found))


RECENT = 8
"""Facts about one path that are looked through for what was told of it."""


def _tells(fact: Fact, path: str, revision: str) -> bool:
    if isinstance(fact, NoticeAcknowledged):
        return fact.revision == revision
    if not isinstance(fact, NoticeDelivered) or not of_host(fact):
        return False
    return any(told.path == path and told.revision == revision for told in fact.told)


HOST = "host:"
"""How the id of what a host was handed begins; that counts as arrived when the host says so, and
not by its id. What a person or a program asked for is theirs to acknowledge."""


PART = f"{HOST}part:"
"""The same where it was a part of a briefing, whose name and digest come next."""


def of_host(fact: NoticeDelivered) -> bool:
    """Whether it was handed to the agent's host."""
    return fact.notice.startswith(HOST)
