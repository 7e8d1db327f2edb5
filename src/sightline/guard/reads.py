"""Read files: record what an agent was shown together with the bytes it came from."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs

from sightline.changes.attribution import detect_changes
from sightline.changes.session_context import TRIES, Known, SessionContext, believe, load_knowledge
from sightline.errors import LinesMissing, PathRefused, StoreConflict, Unverifiable
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.guard.refusals import unreadable
from sightline.model.belief import Held, first_look, look
from sightline.model.diff import diff, unified
from sightline.model.events import Belief, Dropped, Fact, Seen, WindowEmptied
from sightline.model.line_range import LineRange
from sightline.model.marks import sendable, without_halves
from sightline.model.path import quoted
from sightline.model.results import FileView
from sightline.model.revision import UNKNOWN, revision_of
from sightline.model.spans import Span, Spans, carry, covers, spans, touched, union, whole
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
    """Show lines of a file (all, up to the limits of the settings) and record them as seen. A file of any
    size is read. PathRefused, FileMissing, LinesMissing, Unverifiable."""
    located = context.workspace.locate(path)
    asked = _asked(lines, context.settings.read_max_lines)
    for _ in range(TRIES):
        pieces = LineRange(asked, context.settings.read_max_bytes + 1)
        on_disk = context.look(located.path, pieces)
        text = decode(on_disk.data)
        is_large = on_disk.why == "too_large" and pieces.is_text
        if text is None and not is_large:
            context.append(detect_changes(context, on_disk), found=[on_disk])
            raise unreadable(on_disk, located.name or located.path)
        total = pieces.total if text is None else len(text.lines)
        if lines is not None and lines[0] > max(total, 1):
            raise beyond(located.name or located.path, lines, total)
        known = load_knowledge(context, located, on_disk)
        found = pieces.lines if text is None else text.lines[asked[0] - 1 : asked[1]]
        length = pieces.length if text is None else len(found[0]) if found else 0
        part = _cut(asked[0], found, length, context.settings.read_max_bytes)
        seen = spans([part.lines]) if part.is_whole else ()
        view = FileView(
            path=located.name or located.path,
            text=sendable(part.text),
            lines=part.lines,
            total_lines=total,
            revision=on_disk.revision,
            encoding=pieces.encoding if text is None else text.label,
            unchanged=False,
            diff=None,
            left_out=part.left_out,
        )
        if text is None:
            held_now = _held_of_large(known, on_disk)
            if _record_large(context, located, on_disk, total, "read", known, seen):
                return structs.replace(view, unchanged=bool(seen) and covers(held_now, seen))
            continue
        before = None if known.retargeted else known.held
        hunks = diff(before.lines, text.lines) if before else []
        is_told = before is not None and known.marks is None  # marks are for nobody's eyes
        changes = touched(before.shown, hunks, len(before.lines)) if before and is_told else ()
        held = look(before, text.lines, seen, changes) if before else first_look(text.lines, seen)
        if record(context, located, on_disk, text, held, "read", known, seen):
            return structs.replace(
                view,
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
        size = context.settings.read_max_bytes if text is None else len(text) + 1
        pieces = LineRange(lines or (1, 1), size)
        on_disk = context.look(located.path, pieces)
        disk = decode(on_disk.data)
        is_large = on_disk.why == "too_large" and pieces.is_text
        if is_large and (text is None or lines is not None):
            if text is not None and not _has_shown(pieces, text):
                raise unreadable(on_disk, located.name or path)
            total = pieces.total
            seen = seen_lines_of(total, lines, text)
            known = load_knowledge(context, located, on_disk)
            if _record_large(context, located, on_disk, total, via, known, seen):
                return
            continue
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
    gone = spans([lines]) if lines else None
    if path is not None:
        context.append([Dropped(context.workspace.locate(path).path, gone)])
    elif gone is None:
        context.append([WindowEmptied()])
    else:
        context.append([Dropped(each, gone) for each in context.store.known(context.session)])


def believed(context: SessionContext, path: str) -> str | None:
    """Return the text that this session's agent believes the file to have; None when it was never
    shown the file."""
    known = load_knowledge(context, context.workspace.locate(path))
    return None if known.believed is None or known.held is None else joined(known.held.lines)


def _asked(lines: Span | None, most: int) -> Span:
    """Return the lines to show, `most` at most."""
    first, last = lines or (1, most)
    first = max(first, 1)
    return first, min(last, first + most - 1)


class _Part(Struct, frozen=True):
    """Lines that there is room for. left_out: characters at the end of their only line that there is
    no room for."""

    lines: Span
    text: str
    left_out: int = 0

    @property
    def is_whole(self) -> bool:
        return self.lines[1] > 0 and not self.left_out


def _cut(first: int, lines: Sequence[str], length: int, room: int) -> _Part:
    """Return the lines from `first` on that fit into `room` characters; where none fits, the beginning of
    line `first`. length: of that line, which may be given in part."""
    if not lines:
        return _Part((0, 0), "")
    if length > room:
        return _Part((first, first), lines[0][:room], length - room)
    size = 0
    for number, line in enumerate(lines):
        size += len(line)
        if size > room:
            return _Part((first, first + number - 1), "".join(lines[:number]))
    return _Part((first, first + len(lines) - 1), "".join(lines))


def _held_of_large(known: Known, on_disk: FileState) -> Spans:
    """Return the lines of a file too large to be kept that are in the window, if it is unchanged."""
    belief = known.belief
    return belief.held if belief is not None and belief.text == on_disk.revision else ()


def _record_large(
    context: SessionContext,
    located: ResolvedPath,
    on_disk: FileState,
    total: int,
    via: str,
    known: Known,
    seen: Spans,
) -> bool:
    """Append Seen of lines of a file too large to be kept: its revision tells whether they are still
    true, and no text tells what changed. total: its lines. Return False as record() does."""
    revision, belief = on_disk.revision, known.belief
    shown = held = seen
    if belief is not None and belief.text == revision and not known.retargeted:
        shown, held = union(belief.shown, seen), union(belief.held, seen)
    put = Belief(revision, shown, held, total)
    return _append(
        context, located, on_disk, Seen(located.path, revision, seen, via, put, located.name), known
    )


def _has_shown(pieces: LineRange, text: str) -> bool:
    """Return whether the asked lines on disk are the text that a host showed."""
    shown = normal(text).removesuffix("\n")
    return "".join(pieces.lines)[: len(shown) + 1].removesuffix("\n") == shown


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
    shown = revision if live or covers(seen, whole(len(text.lines))) else UNKNOWN
    fact = Seen(located.path, shown, seen, via, belief, located.name)
    return _append(context, located, on_disk, fact, known, body)


def _append(
    context: SessionContext,
    located: ResolvedPath,
    on_disk: FileState,
    fact: Seen,
    known: Known,
    body: bytes | None = None,
) -> bool:
    facts: list[Fact] = [*detect_changes(context, on_disk), fact]
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
    if disk is None or not disk.encoding.startswith(("utf-16", "utf-32")):  # these can hold halves
        shown = without_halves(shown)
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
    return seen_lines_of(len(shown.lines), lines, text)


def seen_lines_of(total: int, lines: Span | None, text: str | None) -> Spans:
    """Return the lines that a host showed of so many. text: as it was shown, where it is known."""
    if lines is None:
        return whole(total)
    last = lines[1] if text is None else lines[0] + len(split(normal(text))) - 1
    return spans([(max(lines[0], 1), min(last, total))])


def beyond(path: str, lines: Span, total: int) -> LinesMissing:
    """Return the error for lines that begin beyond the end of a file."""
    return LinesMissing(
        path,
        f"{quoted(path)} has {count(total, 'line')}, and no line {lines[0]}.",
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


def shown_bytes(context: SessionContext, view: FileView) -> bytes:
    """Return the bytes of the lines that a view shows, with their own line ends: from the disk if it still
    holds that revision, else from the store, else encoded anew."""
    state = context.look(context.workspace.locate(view.path).path)
    data = state.data if state.revision == view.revision else context.store.blob(view.revision)
    first, last = view.lines
    if data is not None and (first, last) == (1, view.total_lines) and not view.left_out:
        return data
    wide = view.encoding.startswith("utf-16")
    if data is None or wide or not last or view.left_out:
        codec = "utf-8" if wide else view.encoding.removesuffix("-sig")
        try:
            return view.text.encode(codec)
        except (LookupError, UnicodeEncodeError):
            return view.text.encode()
    lines = data.split(b"\n")
    cut = b"\n".join(lines[first - 1 : last])
    return cut + b"\n" if last < len(lines) else cut
