"""Which rows of a transcript are of the conversation as it went on in the end."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    Row = Mapping[str, Any]


def kept(rows: Sequence[Row]) -> list[Row]:
    """The rows of the main chain, each once, in the order of the file: what leads to the last
    row, the other parts of its answers, and what came back to those. Where the chain begins in
    the middle, because rows are missing, all rows before that count."""
    own = list(_once(row for row in rows if not row.get("isSidechain")))
    places = {str(row["uuid"]): place for place, row in enumerate(own) if row.get("uuid")}
    chain = _chain(own, places)
    if not chain:
        return own
    names = {_answer(own[place]) for place in chain} - {None}
    wanted = set(chain) | set(range(min(chain)))
    wanted |= {place for place, row in enumerate(own) if _answer(row) in names}
    calls = {call for place in wanted for call in _calls(own[place], "tool_use", "id")}
    for place, row in enumerate(own):
        answers = not calls.isdisjoint(_calls(row, "tool_result", "tool_use_id"))
        attached = row.get("type") == "attachment"
        if answers or (attached and places.get(str(row.get("parentUuid"))) in wanted):
            wanted.add(place)
    return [own[place] for place in sorted(wanted)]


def _once(rows: Iterable[Row]) -> Iterator[Row]:
    seen: set[str] = set()
    for row in rows:
        mark = row.get("uuid")
        if mark is None or mark not in seen:
            yield row
        if mark is not None:
            seen.add(str(mark))


def _chain(own: Sequence[Row], places: Mapping[str, int]) -> list[int]:
    """From the last row of a message back to the first one."""
    talk = [n for n, row in enumerate(own) if row.get("type") in ("user", "assistant")]
    found: dict[int, None] = {}
    place = talk[-1] if talk else None
    while place is not None and place not in found:
        found[place] = None
        row = own[place]
        place = places.get(str(row.get("parentUuid") or row.get("logicalParentUuid")))
    return list(found)


def _answer(row: Row) -> str | None:
    message = row.get("message")
    if row.get("type") != "assistant" or not isinstance(message, dict):
        return None
    return message.get("id")


def _calls(row: Row, kind: str, field: str) -> Iterator[str]:
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and part.get("type") == kind:
            yield str(part.get(field))
