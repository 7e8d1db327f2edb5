"""Answer how a session's files compare with the texts its agent was shown."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import get_args

from sightline.changes.authors import changed_by
from sightline.changes.detect import differing
from sightline.changes.renames import RenameFinder
from sightline.changes.session_context import (
    SessionContext,
    Tracked,
    load_knowledge,
    located,
    stamp_of,
)
from sightline.errors import PathRefused, Unverifiable
from sightline.filesystem.file_state import FileState
from sightline.guard.evidence import edit_case
from sightline.model.events import Fact, Seen, TurnBegan
from sightline.model.projections import Knowledge
from sightline.model.results import FileInContext, State
from sightline.model.revision import MISSING, Stamp
from sightline.model.spans import covers
from sightline.model.units import moment

PREVIEW_CHARACTERS = 200

STATES: tuple[State, ...] = get_args(State)


def suspects(context: SessionContext) -> list[Knowledge]:
    """Return this session's files whose state takes more than one stat to tell, in order of path.
    All its other files are fresh."""
    tracked = context.tracked()
    changed = list(context.workspace.scan(tracked.stamps, deadline_s=context.settings.deadline_s))
    changed += [context.look(path) for path in _unrecorded(context, tracked)]
    if changed:
        record_changes(context, changed)
        tracked = context.tracked()
    paths = {*tracked.suspects, *tracked.refused, *(on_disk.path for on_disk in changed)}
    return [tracked.known[path] for path in sorted(paths) if path in tracked.known]


def _unrecorded(context: SessionContext, tracked: Tracked) -> Iterator[str]:
    """Yield the paths of suspects whose bytes a look found, but no fact holds: a host showed another
    text than the one on disk at that time."""
    for path in tracked.suspects:
        row, stamp = context.store.disk(path), tracked.stamps.get(path)
        if row is not None and stamp is not None and row.revision != stamp.revision:
            yield path


def unsettled(context: SessionContext) -> Iterator[tuple[str, State]]:
    """Yield the path of each suspect and its state."""
    finder = RenameFinder(context)
    return ((knowledge.path, _state(context, knowledge, finder)) for knowledge in suspects(context))


def _state(context: SessionContext, knowledge: Knowledge, finder: RenameFinder) -> State:
    try:
        where = located(context, knowledge.name or knowledge.path)
    except (PathRefused, Unverifiable):  # refused by a rule that is newer than the read
        return "unverifiable"
    on_disk = context.look(where.path)
    known = load_knowledge(context, where, on_disk)
    state = edit_case(context, on_disk, known).state
    return "moved" if state == "deleted" and finder.find(knowledge.path) else state


def files(
    context: SessionContext, state: State | None = None, *, max_age: int | None = None
) -> list[FileInContext]:
    """Return the files this session was shown, with the state of each. max_age: in turns.
    ValueError for an unknown state."""
    if state is not None and state not in STATES:
        raise ValueError(f"a state is one of {', '.join(STATES)}, not {state!r}")
    turns = [
        entry.position
        for entry in context.store.timeline(session=context.session, kinds=[TurnBegan])
    ]
    states = dict(unsettled(context))
    tracked = context.tracked()
    shown = [
        _in_context(context, knowledge, tracked.stamps.get(path), states.get(path, "fresh"), turns)
        for path, knowledge in tracked.known.items()
        if state is None or states.get(path, "fresh") == state
    ]
    return [file for file in shown if max_age is None or file.aged <= max_age]


def _in_context(
    context: SessionContext,
    knowledge: Knowledge,
    stamp: Stamp | None,
    state: State,
    turns: list[int],
) -> FileInContext:
    path, belief = knowledge.path, knowledge.belief
    row = context.store.disk(path)
    changed = row.last_external_edit if row else None
    turn_seen = bisect_left(turns, knowledge.position)
    _, by = changed_by(context, path) if state != "fresh" else ("", None)
    reads = context.store.timeline(session=context.session, path=path, kinds=[Seen], limit=1)
    first = next((entry.fact for entry in reads), None)
    return FileInContext(
        path=knowledge.name or path,
        state=state,
        in_window=covers(belief.held, belief.shown),
        via=knowledge.via,
        revision_seen=belief.text,
        revision_on_disk=row.revision if row else MISSING,
        seen_lines=belief.shown,
        total_lines=belief.lines,
        first_seen=moment(knowledge.first_seen),
        last_read=moment(knowledge.last_read),
        last_agent_edit=moment(knowledge.last_agent_edit) if knowledge.last_agent_edit else None,
        last_external_edit=moment(changed) if changed else None,
        turn_seen=turn_seen,
        aged=len(turns) - turn_seen,
        loaded_by=first.via if isinstance(first, Seen) else knowledge.via,
        language=LANGUAGES.get(path.rpartition(".")[2].lower()),
        size=stamp.signature.size if stamp else 0,
        preview=_preview(context.store.blob(belief.text)),
        changed_by=by,
        edited_by_agent=knowledge.last_agent_edit is not None,
    )


def _preview(data: bytes | None) -> str:
    """Return the beginning of a text."""
    text = (data or b"")[: 4 * PREVIEW_CHARACTERS].decode("utf-8", "replace")
    return text[:PREVIEW_CHARACTERS]


def record_changes(context: SessionContext, looked: Sequence[FileState]) -> None:
    """Record what a look found: changes on disk as facts, and stamps in the cache."""
    facts: list[Fact] = []
    if any(differing(context, on_disk) for on_disk in looked):
        from sightline.changes.attribution import detect_changes  # most looks find no file changed

        facts = detect_changes(context, *looked)
    if facts or any(stamp_of(on_disk) for on_disk in looked):
        texts = [
            text
            for on_disk in looked
            for text in context.keepable(on_disk.path, on_disk.data, on_disk=on_disk)
            if facts
        ]
        context.append(facts, blobs=texts, found=looked)


LANGUAGES = {
    "c": "c", "cc": "cpp", "cpp": "cpp", "cs": "csharp", "css": "css", "go": "go", "h": "c",
    "hpp": "cpp", "html": "html", "java": "java", "js": "javascript", "json": "json",
    "jsx": "javascript", "kt": "kotlin", "lua": "lua", "md": "markdown", "php": "php",
    "py": "python", "pyi": "python", "rb": "ruby", "rs": "rust", "scala": "scala", "sh": "shell",
    "sql": "sql", "swift": "swift", "toml": "toml", "ts": "typescript", "tsx": "typescript",
    "txt": "text", "xml": "xml", "yaml": "yaml", "yml": "yaml",
}  # fmt: skip
