"""Words for the registry: a table of known files for a model, and the same for programs."""

from __future__ import annotations

from sightline.core.value import Value
from sightline.render import size, spans
from sightline.render.cells import middle
from sightline.render.views import count, one_line, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from sightline.core.regions import Spans

    class By(Protocol):
        """Who changed a file."""

        @property
        def kind(self) -> str: ...
        @property
        def who(self) -> str | None: ...

    class Change(Protocol):
        """One change of a file, as services.registry tells it."""

        @property
        def what(self) -> str: ...
        @property
        def by(self) -> By | None: ...

    class Entry(Protocol):
        """One known file, as services.registry tells it."""

        @property
        def path(self) -> str: ...
        @property
        def state(self) -> str: ...
        @property
        def last_via(self) -> str: ...
        @property
        def revision_seen(self) -> str: ...
        @property
        def revision(self) -> str: ...
        @property
        def seen_lines(self) -> Spans: ...
        @property
        def total_lines(self) -> int: ...
        @property
        def aged(self) -> int: ...
        @property
        def size(self) -> int: ...
        @property
        def changes(self) -> Sequence[Change]: ...
        @property
        def change_count(self) -> int: ...

    class Registry(Protocol):
        """The files that a session knows, as services.registry tells them."""

        @property
        def entries(self) -> Sequence[Entry]: ...
        @property
        def known(self) -> int: ...
        @property
        def left_out(self) -> int: ...
        @property
        def rule(self) -> str: ...


PATH_CELLS = 80
NAMED = 3
"""Changes of each file that the table names."""

DIGITS = 8
"""Of a revision, enough for a reader to tell two of one file apart."""

HEAD = ("file", "state", "seen", "size", "turns ago", "seen as", "now", "changes, newest first")


def lines(told: Registry) -> list[str]:
    """The table, and what is not in it."""
    if not told.entries:
        return ["No file was shown to this session yet."]
    rows = table([HEAD, *map(_row, told.entries)])
    if told.left_out:
        rows.append(f"{count(told.left_out, 'more file')} of {told.known} known ({told.rule}).")
    return rows


def _row(entry: Entry) -> tuple[str, ...]:
    same = entry.revision == entry.revision_seen
    return (
        middle(one_line(entry.path), PATH_CELLS),
        entry.state,
        _seen(entry),
        size(entry.size),
        str(entry.aged),
        _short(entry.revision_seen),
        "=" if same else _short(entry.revision),
        _changes(entry),
    )


def _seen(entry: Entry) -> str:
    """How much of it was shown, and by what."""
    whole = entry.seen_lines == ((1, entry.total_lines),) or not entry.total_lines
    much = "all" if whole else f"{spans(entry.seen_lines)} of {entry.total_lines}"
    return one_line(much if entry.last_via == "read" else f"{much}, by {entry.last_via}")


def _short(revision: str) -> str:
    return revision.rpartition(":")[2][:DIGITS]


def _changes(entry: Entry) -> str:
    newest = [f"{each.what} by {_who(each.by)}" for each in reversed(entry.changes[-NAMED:])]
    more = entry.change_count - len(newest)
    said = ", ".join(newest) or "none"
    return one_line(f"{said} and {more} earlier" if more > 0 else said)


def _who(by: By | None) -> str:
    if by is None:
        return "somebody"
    words = {"agent": "you", "external": "somebody", "session": f"session {by.who}"}
    return words.get(by.kind, by.kind)


def as_json(told: Registry) -> dict[str, Any]:
    """All of it as JSON has it: times in ISO 8601, revisions whole."""
    found: dict[str, Any] = _plain(told)
    return {"schema": 1, **found}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Value):
        return {name: _plain(each) for name, each in value.items()}
    return value.isoformat() if hasattr(value, "isoformat") else value
