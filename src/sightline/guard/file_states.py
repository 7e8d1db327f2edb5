"""What a session may ask: how its files stand, what changed, what an attempt would meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from sightline.changes.attribution import detect_changes
from sightline.changes.authors import changed_by, moment
from sightline.changes.renames import RenameFinder, resolve_rename, whereabouts
from sightline.changes.session_context import (
    Known,
    SessionContext,
    load_knowledge,
    located,
    stamp_of,
)
from sightline.errors import PathRefused, Unverifiable
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.guard.edit_case import EditCase, Ruling
from sightline.guard.evaluation import claims_on, edit_case, forbids
from sightline.guard.refusals import bounded
from sightline.guard.verdict import judge
from sightline.model.attempts import Attempt, Replace, WriteWhole
from sightline.model.events import Seen, TurnBegan
from sightline.model.projections import Knowledge
from sightline.model.results import FileInContext, Verdict
from sightline.model.revision import MISSING, Stamp
from sightline.model.spans import covers

PREVIEW_CHARACTERS = 80

STATES = ("fresh", "stale", "deleted", "moved", "kind_changed", "unseen", "unverifiable")

ANYTHING = "\x1a"
"""Stands for whatever an agent may put in a text's place: something no file has there."""


def check(
    ground: SessionContext, path: str, *, old: str | None = None, content: str | None = None
) -> Verdict:
    """What the guard would say of an attempt now (replacing `old`, or writing `content`), or,
    with neither, whether this session may rely on what it was shown. Changes nothing."""
    try:
        there = located(ground, path)
    except Unverifiable:
        return structs.replace(_UNVERIFIABLE, path=path)
    found = ground.look(there.path)
    known = resolve_rename(ground, there, found)
    policy = ground.settings.policy_for(there.name or there.path)
    case = edit_case(ground, found, known, policy)
    attempt: Attempt | None = WriteWhole(content) if content is not None else None
    if old is not None:
        attempt = Replace(old, ANYTHING)
    ruling = judge(case, attempt)
    moved = ruling.state == "deleted" and known.knowledge and whereabouts(ground, known.knowledge)
    if moved:  # an attempt would follow it
        case = edit_case(ground, moved, known, policy)
        ruling = _followed(judge(case, attempt), attempt)
    _take_note(ground, [found])
    said = _verdict(ground, there, case, ruling, known, policy)
    return _with_claims(ground, there.path, said, attempt)


def _verdict(
    ground: SessionContext,
    there: ResolvedPath,
    case: EditCase,
    ruling: Ruling,
    known: Known,
    policy: str,
) -> Verdict:
    name = there.name or there.path
    _, by = changed_by(ground, there.path)
    state, decision, reason = ruling.state, ruling.decision, ruling.reason or ""
    diff, _ = bounded(case, case.changes)
    if ruling.endings_only and not reason:
        reason = "line endings only"
    belief = known.belief
    return Verdict(
        path=name,
        state=state,
        decision="ask" if policy == "ask" and decision != "refuse" else decision,
        reason=reason,
        diff=diff,
        changed_by=by if state not in ("fresh", "unseen") else None,
        in_window=bool(belief and covers(belief.held, belief.shown)),
        seen_lines=belief.shown if belief else (),
        complete=bool(case.held and case.held.complete),
    )


def _with_claims(
    ground: SessionContext, path: str, said: Verdict, attempt: Attempt | None
) -> Verdict:
    """A verdict with who claims the path, which is a matter of writing there, not of relying."""
    claims = claims_on(ground, path)
    if not claims:
        return said
    said = structs.replace(said, claimed_by=tuple(dict.fromkeys(each.session for each in claims)))
    if attempt is not None and forbids(ground, claims):
        return structs.replace(said, decision="refuse", reason="claimed")
    if attempt is not None and said.decision == "allow":
        return structs.replace(said, decision="notice", reason="claimed")
    return said


def _followed(ruling: Ruling, attempt: Attempt | None) -> Ruling:
    """What is said of a renamed file. Without an attempt the question was whether the name holds
    what was shown, and it does not."""
    if attempt is None:
        return structs.replace(ruling, state="moved", decision="refuse", reason="moved")
    decision = "notice" if ruling.decision == "allow" else ruling.decision
    return structs.replace(
        ruling, state="moved", decision=decision, reason=ruling.reason or "moved"
    )


_UNVERIFIABLE = Verdict(
    path="",
    state="unverifiable",
    decision="refuse",
    reason="unverifiable",
    diff="",
    changed_by=None,
    in_window=False,
    seen_lines=(),
    complete=False,
)


def suspects(ground: SessionContext) -> list[Knowledge]:
    """Files this session was shown that need more than one stat to tell how they stand, in order
    of path. All the others are fresh."""
    tracked = ground.tracked()
    found = list(ground.workspace.scan(tracked.stamps, deadline_s=ground.settings.deadline_s))
    if found:
        _take_note(ground, found)
        tracked = ground.tracked()
    odd = sorted({*tracked.suspects, *tracked.refused, *(there.path for there in found)})
    return [tracked.known[path] for path in odd if path in tracked.known]


def unsettled(ground: SessionContext) -> Iterator[tuple[str, str]]:
    """The same paths, and how each of them stands."""
    places = RenameFinder(ground)
    return ((each.path, _state(ground, each, places)) for each in suspects(ground))


def _state(ground: SessionContext, knowledge: Knowledge, places: RenameFinder) -> str:
    try:
        there = located(ground, knowledge.name or knowledge.path)
    except (PathRefused, Unverifiable):  # refused: by a rule that came since
        return "unverifiable"
    found = ground.look(there.path)
    known = load_knowledge(ground, there, found)
    state = judge(edit_case(ground, found, known), None).state
    if state == "deleted" and places.of(knowledge):
        return "moved"
    return state


def files(
    ground: SessionContext, state: str | None = None, *, max_age: int | None = None
) -> list[FileInContext]:
    """The files this session was shown, and how each stands. max_age: in turns."""
    if state is not None and state not in STATES:
        raise ValueError(f"a state is one of {', '.join(STATES)}, not {state!r}")
    turns = [r.position for r in ground.store.timeline(session=ground.session, kinds=[TurnBegan])]
    odd = dict(unsettled(ground))
    tracked = ground.tracked()
    shown = [
        _in_context(ground, knowledge, tracked.stamps.get(path), odd.get(path, "fresh"), turns)
        for path, knowledge in tracked.known.items()
        if state is None or odd.get(path, "fresh") == state
    ]
    return [file for file in shown if max_age is None or file.aged <= max_age]


def _in_context(
    ground: SessionContext, knowledge: Knowledge, stamp: Stamp | None, state: str, turns: list[int]
) -> FileInContext:
    path, belief = knowledge.path, knowledge.belief
    row = ground.store.disk(path)
    on_disk = row.revision if row else MISSING
    edited = row.last_external_edit if row else None
    turn_seen = sum(1 for position in turns if position < knowledge.position)
    _, by = changed_by(ground, path)
    return FileInContext(
        path=knowledge.name or path,
        state=state,
        in_window=covers(belief.held, belief.shown),
        via=knowledge.via,
        revision_seen=belief.text,
        revision_on_disk=on_disk,
        seen_lines=belief.shown,
        total_lines=belief.lines,
        first_seen=moment(knowledge.first_seen),
        last_read=moment(knowledge.last_read),
        last_agent_edit=moment(knowledge.last_agent_edit) if knowledge.last_agent_edit else None,
        last_external_edit=moment(edited) if edited else None,
        turn_seen=turn_seen,
        aged=len(turns) - turn_seen,
        loaded_by=_loaded_by(ground, path) or knowledge.via,
        language=_LANGUAGES.get(path.rpartition(".")[2].lower()),
        size=stamp.signature.size if stamp else 0,
        preview=_preview(ground.store.blob(belief.text)),
        changed_by=by if state != "fresh" else None,
        edited_by_agent=knowledge.last_agent_edit is not None,
    )


def _loaded_by(ground: SessionContext, path: str) -> str | None:
    """How the file first came to be shown."""
    looks = ground.store.timeline(session=ground.session, path=path, kinds=[Seen])
    first = next(iter(looks), None)
    return first.fact.via if first and isinstance(first.fact, Seen) else None


def _preview(body: bytes | None) -> str:
    """The first line that says something."""
    lines = (body or b"")[:4096].decode("utf-8", "replace").splitlines()
    return next((line.strip()[:PREVIEW_CHARACTERS] for line in lines if line.strip()), "")


def _take_note(ground: SessionContext, found: Iterable[FileState]) -> None:
    """Record what an asking found out: changes on disk are facts; stamps are only a cache."""
    looked = list(found)
    facts = detect_changes(ground, *looked)
    if facts or any(stamp_of(there) for there in looked):
        blobs = [b for there in looked for b in ground.keepable(there.path, there.data)]
        ground.append(facts, blobs=blobs if facts else (), found=looked)


_LANGUAGES = {
    "c": "c", "cc": "cpp", "cpp": "cpp", "cs": "csharp", "css": "css", "go": "go", "h": "c",
    "hpp": "cpp", "html": "html", "java": "java", "js": "javascript", "json": "json",
    "jsx": "javascript", "kt": "kotlin", "lua": "lua", "md": "markdown", "php": "php",
    "py": "python", "pyi": "python", "rb": "ruby", "rs": "rust", "scala": "scala", "sh": "shell",
    "sql": "sql", "swift": "swift", "toml": "toml", "ts": "typescript", "tsx": "typescript",
    "txt": "text", "xml": "xml", "yaml": "yaml", "yml": "yaml",
}  # fmt: skip
