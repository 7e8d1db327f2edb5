"""Answers as JSON: the shapes of the public interface, shared by every face that speaks JSON.

A shape has the fields of the answer's type, in their order: all of them, or those that FIELDS
names. Times are text, spans and tuples are lists. The functions below are the exceptions; those
for answers of the packages in FEATURES stand in feature_shapes.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import singledispatch
from importlib import import_module
from typing import Any

from msgspec import Struct

from sightline.errors import EditRefused, PathError
from sightline.history.log_entries import Entry, Why
from sightline.history.session_history import SessionFiles
from sightline.model import manifest
from sightline.model.events import Cause
from sightline.model.manifest import FileDifference
from sightline.model.projections import SessionState
from sightline.model.results import (
    ChangedBy,
    Checkpoint,
    CommandRun,
    EditResult,
    Environment,
    Export,
    FileChange,
    FileInContext,
    Notice,
    RewindReport,
    Verdict,
)
from sightline.sessions.presence import Presence
from sightline.store.retention import Swept

Shape = dict[str, Any]

SCHEMA = 1
"""The version of all shapes. It rises when a key goes away or means something else."""

FIELDS: dict[type[Struct], str] = {
    Cause: "kind who detail confidence",
    Checkpoint: "id label why at session turn position files not_covered",
    Environment: "system python host host_version at",
    FileChange: "path state summary diff changed_by what moved_to moved_lines",
    FileDifference: "path change before after added removed diff",
    FileInContext: "path state via in_window seen_lines total_lines revision_seen revision_on_disk "
    "first_seen last_read last_agent_edit last_external_edit turn_seen aged changed_by",
    Notice: "id text changes",
}
"""Type of an answer -> its fields in JSON, where that is not every field in order."""

FEATURES = ("answers", "briefing", "codegraph", "search")
"""Packages whose answers have their shapes in feature_shapes. It imports these packages, so it is
loaded when the first such answer is printed: most commands print none."""


@singledispatch
def shape(value: Any) -> Any:
    """Return an answer as JSON has it. Bytes in a text that are no UTF-8 are lone surrogates."""
    if isinstance(value, Struct):
        if type(value).__module__.split(".")[1] in FEATURES and _load_feature_shapes():
            return shape(value)
        named = FIELDS.get(type(value))
        return fields(value, *(named.split() if named else value.__struct_fields__))
    return [shape(each) for each in value] if isinstance(value, tuple | list) else value


def _load_feature_shapes() -> bool:
    """Register the shapes of FEATURES, and return whether they were missing until now."""
    loaded = len(shape.registry)
    import_module("sightline.api.feature_shapes")
    return len(shape.registry) > loaded


def fields(value: object, *names: str) -> Shape:
    """Return the named fields of an answer, in the order of the names."""
    return {name: shape(getattr(value, name)) for name in names}


@shape.register
def time(at: datetime) -> str:
    """Return a time in UTC and ISO 8601."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def moment(at: int | None) -> str | None:
    """Return microseconds since 1970 as a time."""
    return None if at is None else time(datetime.fromtimestamp(at / 1_000_000, UTC))


@shape.register
def _(by: ChangedBy) -> Shape:
    return fields(by, "kind", "who", "at", *(["detail"] if by.detail else []))


@shape.register
def _(verdict: Verdict) -> Shape:
    judged = fields(verdict, "path", "state", "decision", "reason", "diff", "changed_by")
    judged["reason"] = verdict.reason or None
    return judged | (fields(verdict, "claimed_by") if verdict.claimed_by else {})


@shape.register
def _(result: EditResult) -> Shape:
    """Several files, of a patch, come as the first one and `others`. A write of the text that a file
    has already has `changed`: false."""

    def file_edit(file: EditResult) -> Shape:
        edited = fields(file, "merged", "path", "revision", "notice", "diff")
        edited["notice"] = file.notice.text if file.notice else None
        edited |= {} if file.changed else {"changed": False}
        return edited | (fields(file, "affected") if file.affected else {})

    others = {"others": [file_edit(other) for other in result.others]} if result.others else {}
    return {"applied": True, **file_edit(result), **others}


@shape.register
def _(error: PathError) -> Shape:
    """A refused edit. text: the file's present text, under the policy "refresh"."""
    refused: Shape = {
        "applied": False,
        "reason": getattr(error, "reason", "unverifiable"),
        "diff": getattr(error, "diff", ""),
        **fields(error, "hint", "path", "message"),
    }
    if isinstance(error, EditRefused):
        refused |= {} if error.text is None else {"text": error.text}
        refused |= {"others": [shape(other) for other in error.others]} if error.others else {}
    return refused


@shape.register
def _(state: SessionState) -> Shape:
    session = fields(state, "id", "agent", "turn", "started", "ended", "model", "parent")
    return session | {"started": moment(state.started), "ended": moment(state.ended)}


@shape.register
def _(found: SessionFiles) -> Shape:
    return {**shape(found.session), "files": shape(found.files)}


@shape.register
def _(presence: Presence) -> Shape:
    """The holder is "machine:pid:start"."""
    return {
        "presence": presence.state,
        "since": moment(presence.since),
        "last_sign": moment(presence.last),
        "holder": presence.holder,
    }


@shape.register
def _(entry: manifest.Entry) -> Shape:
    """A symlink has a target."""
    stat: Shape = {"revision": entry.revision, "mode": f"{entry.mode:o}", "kind": entry.kind}
    return stat if entry.target is None else {**stat, "target": entry.target}


@shape.register
def _(entry: Entry) -> Shape:
    """One line of `log`. A moved file has `from`, a fact about several files `paths`.

    Position, session and agent are null for changes that only a watcher saw.
    """
    line: Shape = {
        "position": entry.position or None,
        "at": moment(entry.at),
        "session": entry.session or None,
        "agent": entry.agent or None,
        **fields(entry, "kind", "path", "lines", "before", "after", "cause"),
    }
    line |= fields(entry, "paths") if entry.paths else {}
    return line | ({"from": entry.src} if entry.kind == "moved" else {})


@shape.register
def _(run: CommandRun) -> Shape:
    changed = [{"path": file.path, "revision": file.revision_on_disk} for file in run.changes]
    return {**fields(run, "command", "exit_code"), "changed": changed, "removed": [*run.removed]}


@shape.register
def _(why: Why) -> Shape:
    belief = why.knowledge.belief if why.knowledge else None
    return {
        **fields(why, "path", "session"),
        "facts": shape(why.entries),
        **fields(why, "earlier", "verdict"),
        "seen_lines": shape(belief.shown if belief else ()),
        "held_lines": shape(belief.held if belief else ()),
        "differing_lines": shape(why.differing),
        "text_kept": why.kept,
        "policy": why.policy,
        "other_sessions": [*why.others],
        **({} if why.moved_to is None else {"moved_to": why.moved_to}),
    }


@shape.register
def _(swept: Swept) -> Shape:
    """Every text that `gc` forgot, or would forget, with the time a fact last named it."""
    return {
        "dry_run": swept.dry_run,
        "texts": [
            {
                **fields(text, "revision", "path"),
                "bytes": text.size,
                "at": moment(text.at or None),
                "reason": text.why,
            }
            for text in swept.gone
        ],
        "bytes": swept.size,
        "kept": {"texts": swept.kept, "bytes": swept.kept_size},
        **fields(swept, "over", "returned"),
        "checkpoints": [*swept.dropped],
        "commands": swept.commands,
    }


@shape.register
def _(report: RewindReport) -> Shape:
    """Without a request for diffs, `diffs` is null; a diff is null where there is no text."""
    done = ("checkpoint", "to", "dry_run", "conversation", "restored", "removed", "merged")
    diff = ("path", "change", "added", "removed", "diff")
    return {
        **fields(report, *done),
        "moved": [{"from": src, "path": path} for src, path in report.moved],
        **fields(report, "folders_restored", "folders_removed", "left_alone", "gone", "lost"),
        "lost_edits": [fields(edit, "path", "position", "at") for edit in report.lost_edits],
        "stands": [{"session": agent, "paths": [*paths]} for agent, paths in report.stands],
        **fields(report, "safety_checkpoint", "warning"),
        "diffs": None if report.diffs is None else [fields(each, *diff) for each in report.diffs],
    }


@shape.register
def _(export: Export) -> Shape:
    """The patch is null for a commit."""
    place = ("since", "until", "branch", "commit", "parent", "files", "not_contained")
    patch = None if export.patch is None else export.patch.decode("utf-8", "surrogateescape")
    return {**fields(export, *place), "patch": patch}
