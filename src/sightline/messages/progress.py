"""The progress of a session's work: its messages, its to-dos, and its last structured answer."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from json import loads

from msgspec import Struct, convert, structs, to_builtins

from sightline.changes.session_context import SessionContext
from sightline.errors import StoreError
from sightline.messages import message_chain
from sightline.messages.blocks import Block
from sightline.messages.formats.format import FORMATS
from sightline.messages.recorded_work import ReportReader
from sightline.messages.todos import TodoReader
from sightline.model.agent_work import Report, Todo
from sightline.model.events import AnswerGiven, Fact, MessageAppended, TurnBegan
from sightline.model.json_text import compact_json
from sightline.model.timeline import Recorded

FACTS: list[type[Fact]] = [MessageAppended, AnswerGiven, TurnBegan]


class SoughtFiles(Struct, frozen=True):
    """A request for files in an answer, and the result. paths: of the files that match; offered: similar paths; fallback: the step to take where nothing matched."""

    patterns: tuple[str, ...]
    name: str = ""
    paths: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    fallback: str | None = None


class AnswerRecord(Struct, frozen=True):
    """The record of a structured answer. todos: the session's whole list after the answer; next_steps: as the user reads them; sought: the files that it asked for. position:
    of its fact."""

    summary: str = ""
    todos: tuple[Todo, ...] = ()
    next_steps: tuple[str, ...] = ()
    sought: tuple[SoughtFiles, ...] = ()
    position: int = 0

    def encoded(self) -> bytes:
        """Return the record as stored JSON."""
        return compact_json(to_builtins(structs.replace(self, position=0))).encode()


class Progress(Struct, frozen=True):
    """blocks: of the messages, oldest first; positions: of the facts of the messages, by the number in
    Block.message; unread: the number of messages that are not stored; todos: the session's list;
    reports: of the sub-agents that answered last, in order; answer: the last structured answer with a
    summary or next steps; begun: the position and the number of each turn."""

    blocks: tuple[Block, ...] = ()
    positions: tuple[int, ...] = ()
    unread: int = 0
    todos: tuple[Todo, ...] = ()
    answer: AnswerRecord | None = None
    begun: tuple[tuple[int, int], ...] = ()
    reports: tuple[Report, ...] = ()

    @property
    def turn(self) -> int:
        """The session's present turn, 0 before the first."""
        return self.begun[-1][1] if self.begun else 0

    def turn_at(self, position: int) -> int:
        """Return the turn of a position of the timeline."""
        turns = bisect_right(self.begun, (position, 0))
        return self.begun[turns - 1][1] if turns else 0


def read_progress(context: SessionContext) -> Progress:
    """Return the progress of a session's work on its branch."""
    rows = [*message_chain.branch_facts(context, FACTS)]
    messages = []
    positions = []
    unread = 0
    formats: tuple[str, ...] = ()
    for row in rows:
        if message_chain.side_of(row) != "":
            continue
        try:
            messages.append(message_chain.read_message(context, row))
        except StoreError:  # purged, or never to be stored: the caller counts it
            unread += 1
        else:
            positions.append(row.position)
        formats = message_chain.message_fact(row).formats
    blocks = FORMATS[formats[0]].blocks(messages, len) if messages else []
    answers = [record for row in rows if (record := read_record(context, row))]
    begun = tuple(
        (row.position, row.fact.number) for row in rows if isinstance(row.fact, TurnBegan)
    )
    last = next((each for each in reversed(answers) if each.summary or each.next_steps), None)
    reports = ReportReader()
    for block in blocks:
        reports.add(block)
    progress = Progress(tuple(blocks), tuple(positions), unread, (), last, begun, reports.newest())
    return structs.replace(progress, todos=_todos(progress, answers))


def read_record(context: SessionContext, row: Recorded) -> AnswerRecord | None:
    """Return the record of an answer's fact; None for another fact, and where its text is not kept."""
    if not isinstance(row.fact, AnswerGiven):
        return None
    data = context.store.blob(row.fact.text)
    try:
        record = convert(loads(data), AnswerRecord) if data is not None else None
    except ValueError:
        return None
    return record and structs.replace(record, position=row.position)


def _todos(progress: Progress, answers: Sequence[AnswerRecord]) -> tuple[Todo, ...]:
    """Return the list after the messages and the answers, in the order of the timeline."""
    reader = TodoReader()
    left = deque(answers)
    for block in progress.blocks:
        position = progress.positions[block.message]
        while left and left[0].position < position:
            reader.replace(left.popleft().todos)
        reader.add(block, progress.turn_at(position))
    for record in left:
        reader.replace(record.todos)
    return reader.newest()
