"""Answers as JSON: the shapes of the public interface, shared by every face that speaks it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct, structs

from sightline.checkpoints.rewind.recovery import Unfinished
from sightline.checkpoints.swept_texts import Swept
from sightline.errors import EditRefused, PathError
from sightline.history.log_entries import Entry
from sightline.history.session_history import SessionFiles
from sightline.history.views import Why
from sightline.model import manifest
from sightline.model.projections import SessionState
from sightline.model.results import (
    Affected,
    ChangedBy,
    Checkpoint,
    Claim,
    CommandRun,
    EditedFile,
    EditResult,
    Environment,
    Export,
    FileChange,
    FileDifference,
    FileInContext,
    FileView,
    FileWarning,
    ModelUsage,
    Notice,
    RewindReport,
    UnreadCall,
    Verdict,
)
from sightline.model.spans import Spans
from sightline.sessions.presence import Presence

Shape = dict[str, Any]

SCHEMA = 1
"""The version of all shapes. It rises when a key goes away or means something else."""


def view(shown: FileView) -> Shape:
    """What `read` showed. text: with newlines; bytes that are no text are lone surrogates."""
    return _every_field(shown)


def verdict(said: Verdict) -> Shape:
    """One file of `check`; claimed_by where other sessions claim it."""
    shape = {
        "path": said.path,
        "state": said.state,
        "decision": said.decision,
        "reason": said.reason or None,
        "diff": said.diff,
        "changed_by": _plain(said.changed_by),
    }
    return {**shape, "claimed_by": list(said.claimed_by)} if said.claimed_by else shape


def edited(result: EditResult) -> Shape:
    """An edit that was made; a patch of several files has `others`."""
    shape = {"applied": True, **_one_edit(result)}
    if result.others:
        shape["others"] = [_one_edit(other) for other in result.others]
    return shape


def refused(error: EditRefused | PathError) -> Shape:
    """An edit that was not made. text: the file's fresh text, where the policy gives it."""
    shape: Shape = {
        "applied": False,
        "reason": getattr(error, "reason", "unverifiable"),
        "diff": getattr(error, "diff", ""),
        "hint": error.hint,
        "path": error.path,
        "message": error.message,
    }
    text, others = getattr(error, "text", None), getattr(error, "others", ())
    if text is not None:
        shape["text"] = text
    if others:
        shape["others"] = [refused(other) for other in others]
    return shape


def session_files(found: SessionFiles) -> Shape:
    """One session of `status`."""
    return {**session(found.session), "files": [file(each) for each in found.files]}


def session(state: SessionState) -> Shape:
    """A session without its files."""
    return {
        "id": state.id,
        "agent": state.agent,
        "turn": state.turn,
        "started": moment(state.started),
        "ended": moment(state.ended),
        "model": state.model,
        "parent": state.parent,
    }


def file(known: FileInContext) -> Shape:
    """A file in a session's context."""
    return _fields(
        known,
        *("path", "state", "via", "in_window", "seen_lines", "total_lines", "revision_seen"),
        *("revision_on_disk", "first_seen", "last_read", "last_agent_edit", "last_external_edit"),
        *("turn_seen", "aged", "changed_by"),
    )


def presence(standing: Presence) -> Shape:
    """How a session stands: present, gone or ended. holder: "machine:pid:start"."""
    return {
        "presence": standing.state,
        "since": moment(standing.since),
        "last_sign": moment(standing.last),
        "holder": standing.holder,
    }


def claim(made: Claim) -> Shape:
    """A claim that stands."""
    return _every_field(made)


def warning(told: FileWarning) -> Shape:
    """A warning that was not acknowledged; its id is what `ack` takes."""
    return _every_field(told)


def unfinished(rewind: Unfinished) -> Shape:
    """A rewind whose process died, and that was not finished yet; to is what `rewind` takes."""
    return _fields(rewind, "session", "to", "at")


def model_usage(used: ModelUsage, session: str) -> Shape:
    """A model that a session used from here on; provider and mode are null where not told."""
    return {"session": session, **_every_field(used)}


def environment(seen: Environment) -> Shape:
    """Where a session's agent ran from here on."""
    return _fields(seen, "system", "python", "host", "host_version", "at")


def checkpoint(made: Checkpoint) -> Shape:
    """A checkpoint, and what it does not cover."""
    return _fields(
        made,
        *("id", "label", "why", "at", "session", "turn", "position", "files", "not_covered"),
    )


def file_difference(found: FileDifference) -> Shape:
    """A path of `checkpoint-diff`. change: added removed changed mode kind; diff: null where there
    is no text to compare."""
    return _fields(found, "path", "change", "before", "after", "added", "removed", "diff")


def _entry(made: manifest.Entry) -> Shape:
    """What stood at a path. target: where a symlink leads."""
    shape: Shape = {"revision": made.revision, "mode": f"{made.mode:o}", "kind": made.kind}
    return shape if made.target is None else {**shape, "target": made.target}


def entry(told: Entry) -> Shape:
    """One line of `log`; a moved file says where it came `from`, a fact about several files has
    `paths`. position, session and agent are
    null for what only a watcher saw."""
    shape: Shape = {
        "position": told.position or None,
        "at": moment(told.at),
        "session": told.session or None,
        "agent": told.agent or None,
        "kind": told.kind,
        "path": told.path,
        "lines": None if told.lines is None else pairs(told.lines),
        "before": told.before,
        "after": told.after,
        "cause": {
            name: value for name, value in structs.asdict(told.cause).items() if name != "evidence"
        },
    }
    if told.paths:
        shape["paths"] = list(told.paths)
    return {**shape, "from": told.src} if told.kind == "moved" else shape


def command_run(run: CommandRun) -> Shape:
    """A command, and what it changed; removed: of files that nobody had looked at."""
    changed = [{"path": change.path, "revision": change.revision_on_disk} for change in run.changes]
    told = {"command": run.command, "exit_code": run.exit_code, "changed": changed}
    return {**told, "removed": list(run.removed)}


def why(told: Why) -> Shape:
    """How a verdict comes about."""
    belief = told.knowledge.belief if told.knowledge else None
    return {
        "path": told.path,
        "facts": [entry(each) for each in told.entries],
        "earlier": told.earlier,
        "verdict": verdict(told.verdict),
        "seen_lines": pairs(belief.shown) if belief else [],
        "held_lines": pairs(belief.held) if belief else [],
        "differing_lines": pairs(told.differing),
        "text_kept": told.kept,
        "policy": told.policy,
        "other_sessions": list(told.others),
    }


def swept(found: Swept) -> Shape:
    """What `gc` let go of, or would: every text, oldest first. at: when a fact last named it."""
    return {
        "dry_run": found.dry_run,
        "texts": [
            {
                "revision": each.revision,
                "path": each.path,
                "bytes": each.size,
                "at": moment(each.at) if each.at else None,
                "reason": each.why,
            }
            for each in found.gone
        ],
        "bytes": found.size,
        "kept": {"texts": found.kept, "bytes": found.kept_size},
        "over": found.over,
        "returned": found.returned,
        "checkpoints": list(found.dropped),
    }


def change(made: FileChange) -> Shape:
    """A file that is not what a session was shown."""
    return _fields(
        made,
        *("path", "state", "summary", "diff", "changed_by", "what", "moved_to", "moved_lines"),
    )


def notice(told: Notice) -> Shape:
    """What `notice` tells; its id is what `ack` takes."""
    return {"id": told.id, "text": told.text, "changes": [change(each) for each in told.changes]}


def edited_file(found: EditedFile) -> Shape:
    """One file of `edited-since`. lines: of its present text, null where that is not known; by, at
    and position too, where only deleted messages name it."""
    return _every_field(found)


def unread_call(found: UnreadCall) -> Shape:
    """An edit in a deleted message that does not tell which file it writes."""
    return _every_field(found)


def changed_by(by: ChangedBy) -> Shape:
    """Who changed a file; detail (which command, which commit) where there is one."""
    return _fields(by, *("kind", "who", "at"), *(["detail"] if by.detail else []))


def moment(at: datetime | int | None) -> str | None:
    """ISO 8601 in UTC, from a datetime or from microseconds."""
    if at is None:
        return None
    when = datetime.fromtimestamp(at / 1_000_000, UTC) if isinstance(at, int) else at
    return when.astimezone(UTC).isoformat().replace("+00:00", "Z")


def pairs(lines: Spans) -> list[list[int]]:
    """Line spans as lists, as JSON has them."""
    return [[first, last] for first, last in lines]


def _one_edit(result: EditResult) -> Shape:
    """One file of an edit; affected where it made other sessions stale."""
    shape: Shape = {
        "merged": result.merged,
        "path": result.path,
        "revision": result.revision,
        "notice": result.notice.text if result.notice else None,
        "diff": result.diff,
    }
    if result.affected:
        shape["affected"] = [affected(each) for each in result.affected]
    return shape


def affected(each: Affected) -> Shape:
    """A session that a write made stale. lines: of what it was shown."""
    return _every_field(each)


def rewound(report: RewindReport, found: Iterable[FileDifference] | None) -> Shape:
    """What a rewind did, or would do. diffs: of what it does to each file, null where nobody asked
    for them; a diff is null where there is no text to compare."""
    diff = ("path", "change", "added", "removed", "diff")
    return {
        **_fields(
            report,
            *("checkpoint", "to", "dry_run", "conversation", "restored", "removed", "merged"),
        ),
        "moved": [{"from": src, "path": path} for src, path in report.moved],
        **_fields(report, "left_alone", "gone"),
        "lost_edits": [_fields(each, "path", "position", "at") for each in report.lost_edits],
        "stands": [{"session": who, "paths": list(paths)} for who, paths in report.stands],
        **_fields(report, "safety_checkpoint", "warning"),
        "diffs": None if found is None else [_fields(each, *diff) for each in found],
    }


def exported(made: Export, output: str | None) -> Shape:
    """A checkpoint that was exported. patch: null for a commit, and where it went to a file
    (output); bytes that are no text are lone surrogates."""
    patch = None if made.patch is None else made.patch.decode("utf-8", "surrogateescape")
    return {
        **_fields(made, "since", "until", "branch", "commit", "parent", "files", "not_contained"),
        "patch": patch if output is None else None,
        "output": output,
    }


def _every_field(value: Struct) -> Shape:
    """Return all fields of a value, in their order."""
    return {name: _plain(field) for name, field in structs.asdict(value).items()}


def _fields(value: Struct, *names: str) -> Shape:
    """Return the named fields of a value, in the order of the names."""
    return {name: _plain(getattr(value, name)) for name in names}


def _plain(value: Any) -> Any:
    """Return a field as JSON has it: times as text, tuples as lists, values as objects."""
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, ChangedBy):
        return changed_by(value)
    if isinstance(value, manifest.Entry):
        return _entry(value)
    return _every_field(value) if isinstance(value, Struct) else value
