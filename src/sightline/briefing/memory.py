"""The memory of a session: its work so far, for an agent that is asked to go on.

Nothing is stored for it. The timeline has the edits, the conversation has the requests, and the disk
has the files, so the memory is the same after a restart, a rewind or a compaction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Literal

from msgspec import structs

from sightline.briefing import words
from sightline.briefing.contents import Held, Memory, Stale, Work
from sightline.briefing.continuation import is_continuation, unwrap
from sightline.changes.session_context import SessionContext
from sightline.messages import message_chain
from sightline.messages.progress import Progress, read_progress
from sightline.messages.token_counter import family_of
from sightline.model.agent_work import NO_WORK, RecordedWork
from sightline.model.embedded_json import NoJson, find_json
from sightline.model.events import Changed, Moved
from sightline.model.projections import Knowledge
from sightline.model.revision import MISSING
from sightline.model.timeline import Recorded, Stretch
from sightline.notices import pending
from sightline.store.port import Timeline

BUDGET = 1_500
"""Tokens of the block."""

DONE = 5
WORKING = 10
RESULT_CHARACTERS = 200
SUMMARY_CHARACTERS = 400
REQUEST_CHARACTERS = 400

BY_HOSTS = ("<system", "<environment_details", "<skill-context", "<local-command", "<command-")
"""Beginnings of the texts that hosts add among a person's messages."""


def memory(
    context: SessionContext,
    *,
    budget: int = BUDGET,
    told: Collection[str] = (),
    recorded: RecordedWork = NO_WORK,
) -> Memory:
    """Return the work of this session so far. budget: tokens of the block, estimated for the
    session's model; told: files whose changes are told beside it; recorded: what the host's own record
    of the conversation tells, for a session without messages. ValueError for a budget below
    words.LEAST."""
    if type(budget) is not int or budget < words.LEAST:
        raise ValueError(f"budget is a number of tokens, {words.LEAST} or more, not {budget!r}")
    progress = read_progress(context)
    blocks, listed = progress.blocks, progress.todos or recorded.todos
    done = [todo for todo in listed if todo.state == "done"]
    still_open = [
        todo for state in ("in_progress", "proposed") for todo in listed if todo.state == state
    ]
    requests = (unwrap(block.text) for block in reversed(blocks) if block.kind == "user")
    asking = (text for text in requests if text and not text.startswith(BY_HOSTS))
    request = next((text for text in asking if not is_continuation(text)), "")
    result, is_summary = _result(progress)
    is_last = is_summary and progress.answer is not None

    refresh = [
        Stale(news.name, news.what, news.by()[0], news.moved_to)
        for news in pending.pending_changes(context, include_known=True)
        if news.name not in told
    ]
    changed = changed_files(context, progress.turn_at)
    listed_paths = {*told} | {file.path for file in refresh} | {file.path for file in changed}
    files = sorted(context.store.known(context.session).values(), key=_last_touch, reverse=True)
    working = [
        Held(file.name or file.path, file.belief.shown, file.belief.lines)
        for file in files
        if (file.name or file.path) not in listed_paths
    ]

    result_memory = Memory(
        request=words.beginning(request, REQUEST_CHARACTERS) or None,
        step=still_open[0].text if still_open else None,
        pending=tuple(still_open),
        done=tuple(done[-DONE:]),
        done_count=len(done),
        refresh=tuple(refresh),
        changed=tuple(changed),
        working=tuple(working[:WORKING]),
        result=result or None,
        is_summary=is_summary,
        next_steps=progress.answer.next_steps if is_last and progress.answer else (),
        reports=progress.reports or recorded.reports,
        turn=progress.turn,
        unread=progress.unread,
    )
    state = context.store.session(context.session)
    block = words.block(result_memory, budget, family_of(state.model if state else None))
    return structs.replace(
        result_memory, text=block.text, tokens=block.tokens, left_out=block.left_out
    )


def _result(progress: Progress) -> tuple[str, bool]:
    """Return the summary of the last answer and true, where it was a structured one; else its end."""
    texts = (block for block in reversed(progress.blocks) if block.kind == "text")
    last = next((block for block in texts if block.text.strip()), None)
    answer = progress.answer
    if answer and (last is None or answer.position > progress.positions[last.message]):
        return words.beginning(answer.summary, SUMMARY_CHARACTERS), True
    if last is None:
        return "", False
    try:
        summary = find_json(last.text, ("summary",)).value.get("summary")
    except (NoJson, AttributeError):
        summary = None
    if isinstance(summary, str):
        return words.beginning(summary, SUMMARY_CHARACTERS), True
    return words.ending(last.text, RESULT_CHARACTERS), False


def _last_touch(knowledge: Knowledge) -> tuple[int, int]:
    return max(knowledge.last_read, knowledge.last_agent_edit or 0), knowledge.position


def changed_files(context: SessionContext, turn_at: Callable[[int], int]) -> list[Work]:
    """Return the files that this session's own edits and commands changed, newest first. Edits that
    a rewind removed from its conversation do not count. A file that changed while a command ran,
    and that may be somebody else's work, is probable. turn_at: position -> turn."""
    first: dict[str, str] = {}
    last: dict[str, tuple[str, str | None]] = {}
    positions: dict[str, int] = {}
    sure: set[str] = set()
    for row in own_ends(context):
        for path, before, after, src in own_changes(row):
            first.setdefault(path, before)
            if _is_certain(row):
                sure.add(path)
            origin = last.pop(path, ("", None))[1]  # popped, so that the newest change comes last
            if src is not None:
                origin = last[src][1] or (src if first[src] != MISSING else None)
            last[path] = after, origin
            positions[path] = row.position
    changed = [
        structs.replace(
            _work(path, first[path], after, origin),
            probable=path not in sure,
            turn=turn_at(positions[path]),
        )
        for path, (after, origin) in reversed(last.items())
        if first[path] != after
    ]
    sources = {work.src for work in changed if work.src}
    return [work for work in changed if work.deed != "deleted" or work.path not in sources]


MORE = 8
"""Times as many changes of a file are read as before, where none of them is the session's own."""


def own_ends(context: SessionContext, *, after: int = 0) -> list[Recorded]:
    """Return every move on this session's branch behind a position, and of each file the first and
    the last own change, and one that is certain, in order. No other own change has an effect on the
    whole."""
    store, end = context.store, context.store.position()
    moves = message_chain.branch_facts(context, [Moved], end, after=after)
    rows = {row.position: row for row in moves}
    for stretch in message_chain.branch_of(context, end, after=after):
        for path in store.paths_changed(stretch.session):
            ends = [*_own_end(store, stretch, path, 0), *_own_end(store, stretch, path, -1)]
            if ends and not any(map(_is_certain, ends)):
                ends += _own_end(store, stretch, path, -1, is_certain=True)
            rows |= {row.position: row for row in ends}
    return [rows[position] for position in sorted(rows)]


def _own_end(
    store: Timeline, stretch: Stretch, path: str, end: Literal[0, -1], *, is_certain: bool = False
) -> list[Recorded]:
    """Return the own change of a file at one end of a stretch, where there is one. end: 0 for the
    first change, -1 for the last. is_certain: only a change whose cause is certain."""
    session, after, upto = stretch.session, stretch.after, stretch.upto
    count = 1
    while True:
        newest, limit = (None, count) if end == 0 else (count, None)
        found = store.timeline(
            session=session,
            path=path,
            kinds=[Changed],
            after=after,
            upto=upto,
            newest=newest,
            limit=limit,
        )
        rows = list(found)
        own = [row for row in rows if any(own_changes(row)) and _is_certain(row) >= is_certain]
        if own or len(rows) < count:
            return own[end:][:1]
        count *= MORE


def _is_certain(row: Recorded) -> bool:
    return isinstance(row.fact, Changed | Moved) and row.fact.cause.confidence == "certain"


def own_changes(row: Recorded) -> Iterator[tuple[str, str, str, str | None]]:
    """Yield (path, revision before, revision after, former path) of a session's own change."""
    fact = row.fact
    if not isinstance(fact, Changed | Moved) or fact.cause.who != row.session:
        return
    if fact.cause.kind not in ("agent", "command"):
        return
    if isinstance(fact, Changed):
        yield fact.path, fact.before, fact.after, None
    else:
        yield fact.src, fact.revision, MISSING, None
        yield fact.path, MISSING, fact.revision, fact.src


def _work(path: str, before: str, after: str, src: str | None) -> Work:
    if after == MISSING:
        return Work(path, "deleted")
    if src is not None:
        return Work(path, "moved", src)
    return Work(path, "created" if before == MISSING else "modified")
