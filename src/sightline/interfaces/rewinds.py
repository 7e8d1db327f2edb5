"""What goes back, and what leaves, as JSON: the shapes of rewinds and exports."""

from __future__ import annotations

from sightline.interfaces.shapes import moment, warning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sightline.interfaces.shapes import Shape
    from sightline.services.comparing import FileDifference
    from sightline.services.results import Export, RewindReport


def rewound(report: RewindReport, found: Iterable[FileDifference] | None) -> Shape:
    """What a rewind did, or would do. diffs: of what it does to each file, null where nobody asked
    for them; a diff is null where there is no text to compare."""
    return {
        "checkpoint": report.checkpoint,
        "to": report.to,
        "dry_run": report.dry_run,
        "conversation": report.conversation,
        "restored": list(report.restored),
        "removed": list(report.removed),
        "merged": list(report.merged),
        "moved": [{"from": src, "path": path} for src, path in report.moved],
        "left_alone": [{"path": each.path, "reason": each.reason} for each in report.left_alone],
        "gone": [{"path": each.path, "reason": each.reason} for each in report.gone],
        "lost_edits": [
            {"path": each.path, "position": each.position, "at": moment(each.at)}
            for each in report.lost_edits
        ],
        "stands": [{"session": who, "paths": list(paths)} for who, paths in report.stands],
        "safety_checkpoint": report.safety_checkpoint,
        "warning": None if report.warning is None else warning(report.warning),
        "diffs": None if found is None else [_diff(each) for each in found],
    }


def _diff(each: FileDifference) -> Shape:
    return {
        "path": each.path,
        "change": each.change,
        "added": each.added,
        "removed": each.removed,
        "diff": each.diff,
    }


def exported(made: Export, output: str | None) -> Shape:
    """A checkpoint that was exported. patch: null for a commit, and where it went to a file
    (output); bytes that are no text are lone surrogates."""
    patch = None if made.patch is None else made.patch.decode("utf-8", "surrogateescape")
    return {
        "since": made.since,
        "until": made.until,
        "branch": made.branch,
        "commit": made.commit,
        "parent": made.parent,
        "files": made.files,
        "not_contained": [
            {"path": each.path, "reason": each.reason} for each in made.not_contained
        ],
        "patch": patch if output is None else None,
        "output": output,
    }
