"""Read files: record what an agent was shown together with the bytes it came from."""

from __future__ import annotations

from msgspec import Struct

from sightline.changes.attribution import detect_changes
from sightline.changes.session_context import TRIES, Known, SessionContext, believe, load_knowledge
from sightline.errors import LinesMissing, PathRefused, StoreConflict, Unverifiable
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.guard.refusals import unreadable
from sightline.model.belief import Held, first_look, look
from sightline.model.diff import diff, unified
from sightline.model.events import Dropped, Fact, Seen
from sightline.model.marks import sendable
from sightline.model.path import quoted
from sightline.model.results import FileView
from sightline.model.revision import UNKNOWN, revision_of
from sightline.model.spans import Span, Spans, carry, covers, spans, touched, whole
from sightline.model.text import Text, decode, joined, normal, restored, split
from sightline.text.phrases import count


class Look(Struct, frozen=True):
    """A text shown to an agent; it counts as seen when it arrived. lines: None for the
    whole file; via: as in saw()."""

    path: str
    lines: Span | None
    text: str
    via: str


def read(context: SessionContext, path: str, lines: Span | None = None) -> FileView:
    """Show lines of a file (all, up to the limits of the settings) and record them as seen.
    PathRefused, FileMissing, LinesMissing, Unverifiable."""
    located = context.workspace.locate(path)
    for _ in range(TRIES):
        on_disk = context.look(located.path)
        text = decode(on_disk.data)
        if text is None:
            context.append(detect_changes(context, on_disk), found=[on_disk])
            raise unreadable(on_disk, located.name or located.path)
        if lines is not None and lines[0] > max(len(text.lines), 1):
            raise beyond(located.name or located.path, lines, len(text.lines))
        known = load_knowledge(context, located, on_disk)
        first, last = _window(text, lines, context)
        seen = spans([(first, last)]) if last else ()
        before = None if known.retargeted else known.held
        hunks = diff(before.lines, text.lines) if before else []
        is_told = before is not None and known.marks is None  # marks are for nobody's eyes
        changes = touched(before.shown, hunks, len(before.lines)) if before and is_told else ()
        held = look(before, text.lines, seen, changes) if before else first_look(text.lines, seen)
        if record(context, located, on_disk, text, held, "read", known, seen):
            return FileView(
                path=located.name or located.path,
                text=sendable("".join(text.lines[first - 1 : last])) if last else "",
                lines=(first, last),
                total_lines=len(text.lines),
                revision=on_disk.revision,
                encoding=text.label,
                unchanged=bool(before and covers(carry(before.held, hunks), seen) and seen),
                diff=unified(before.lines, text.lines, changes) if before and is_told else None,
            )
    raise moving(located.path)


def saw(
    context: SessionContext,
    path: str,
    lines: Span | None = None,
    text: str | None = None,
    via: str = "read",
) -> None:
    """Record what a host's own tool showed. text: exactly what was shown, where it is known; it
    counts as seen even when the disk differs by now."""
    located = context.workspace.locate(path)
    for _ in range(TRIES):
        on_disk = context.look(located.path)
        disk = decode(on_disk.data)
        if text is None and disk is None:
            context.append(detect_changes(context, on_disk), found=[on_disk])
            raise unreadable(on_disk, located.name or path)
        shown = as_shown(disk, lines, text, located)
        known = load_knowledge(context, located, on_disk)
        seen = seen_lines(shown, lines, text)
        before = None if known.retargeted or lines is None else known.held
        held = look(before, shown.lines, seen) if before else first_look(shown.lines, seen)
        if record(context, located, on_disk, shown, held, via, known, seen, live=shown is disk):
            return
    raise moving(located.path)


def dropped(context: SessionContext, path: str | None = None, lines: Span | None = None) -> None:
    """Record that text left the context window: of one path or of all, some lines or all."""
    canonical = None if path is None else context.workspace.locate(path).path
    context.append([Dropped(canonical, spans([lines]) if lines else None)])


def believed(context: SessionContext, path: str) -> str | None:
    """Return the text that this session's agent believes the file to have; None when it was never
    shown the file."""
    known = load_knowledge(context, context.workspace.locate(path))
    return None if known.believed is None or known.held is None else joined(known.held.lines)


def _window(text: Text, lines: Span | None, context: SessionContext) -> Span:
    """Return the requested lines that exist, cut to the limits; (0, 0) when there is none."""
    first, last = lines or (1, len(text.lines))
    first = max(first, 1)
    last = min(last, len(text.lines), first + context.settings.read_max_lines - 1)
    size = 0
    for at in range(first - 1, last):
        size += len(text.lines[at])
        if size > context.settings.read_max_bytes and at >= first:
            last = at
            break
    return (first, last) if first <= last else (0, 0)


def record(
    context: SessionContext,
    located: ResolvedPath,
    on_disk: FileState,
    text: Text,
    held: Held,
    via: str,
    known: Known,
    seen: Spans,
    *,
    live: bool = True,
) -> bool:
    """Append Seen and the changes that the look detected. Return False when another process
    recorded knowledge of the same path first. live: the text is the disk's, not one that a host
    says it showed."""
    data = on_disk.data if live and on_disk.data is not None else text.encode(text.plain)
    revision = on_disk.revision if live else revision_of(data)
    belief, body = believe(held, text, data, revision)
    facts: list[Fact] = detect_changes(context, on_disk)
    shown = revision if live or covers(seen, whole(len(text.lines))) else UNKNOWN
    facts.append(Seen(located.path, shown, seen, via, belief, located.name))
    try:
        context.append(
            facts,
            blobs=context.keepable(located.path, on_disk.data, body, on_disk=on_disk),
            found=[on_disk],
            expect={located.path: known.position},
        )
    except StoreConflict:
        return False
    return True


def as_shown(disk: Text | None, lines: Span | None, text: str | None, where: ResolvedPath) -> Text:
    """Return the whole text of a file as a host showed it: the disk's text, with the shown part in
    place. PathRefused for a shown text with NUL bytes."""
    if text is None:
        assert disk is not None
        return disk
    shown = normal(text)
    if disk is None:
        decoded = decode(shown.encode("utf-8", "surrogateescape"))
        if decoded is None:
            raise PathRefused(
                where.path, "binary", f"The text shown of {quoted(where.path)} has NUL bytes."
            )
        return decoded
    if disk.bom and (lines is None or lines[0] == 1):
        shown = shown.removeprefix("\ufeff")  # hosts that ignore a BOM have it in the text
    if lines is None:
        shown = _with_bytes(shown, disk.plain)
        return _decoded_as(disk, shown + "\n" if shown + "\n" == disk.plain else shown)
    put = split(shown)
    put = split(_with_bytes(shown, joined(disk.lines[lines[0] - 1 : lines[0] - 1 + len(put)])))
    first, last = lines[0], lines[0] + len(put) - 1
    if put and (last < len(disk.lines) or disk.plain.endswith("\n")):
        put[-1] = put[-1].removesuffix("\n") + "\n"
    return _decoded_as(disk, "".join([*disk.lines[: first - 1], *put, *disk.lines[last:]]))


def _with_bytes(shown: str, plain: str) -> str:
    """Return a shown text with the bytes that its marks stand for, where that is certain."""
    try:
        return restored(shown, plain)
    except ValueError:
        return shown


def _decoded_as(disk: Text, plain: str) -> Text:
    if plain == disk.plain:
        return disk
    return decode(disk.hold(plain)) or disk


def seen_lines(shown: Text, lines: Span | None, text: str | None) -> Spans:
    """Return the lines of the whole text that a host showed."""
    if lines is None:
        return whole(len(shown.lines))
    last = lines[1] if text is None else lines[0] + len(split(normal(text))) - 1
    return spans([(max(lines[0], 1), min(last, len(shown.lines)))])


def beyond(path: str, lines: Span, total: int) -> LinesMissing:
    """Return the error for lines that begin beyond the end of a file."""
    last = "" if lines[1] == lines[0] else f"-{lines[1]}"
    return LinesMissing(
        path,
        f"{quoted(path)} has {count(total, 'line')}, and none at {lines[0]}{last}.",
        f"Read {quoted(path)} without lines, or lines within it.",
        total_lines=total,
    )


def moving(path: str) -> Unverifiable:
    """Return the error for a path that others change faster than it can be read."""
    return Unverifiable(
        path,
        f"{quoted(path)} or its record was changed {TRIES} times while it was being read.",
        "Try again when the program that writes it has finished.",
    )
