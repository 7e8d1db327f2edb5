"""Show the files that the agent asked for in its answers, before its next turn."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, structs

from sightline.briefing import words
from sightline.briefing.bundle import LINES_MAX, unseen_file
from sightline.briefing.contents import BundledFile
from sightline.changes.session_context import SessionContext
from sightline.errors import PathError
from sightline.guard.reads import Look
from sightline.messages import message_chain
from sightline.messages.progress import SoughtFiles, read_record
from sightline.model.events import AnswerGiven
from sightline.model.text import decode
from sightline.notices.delivery import delivered_digests

PART = "files"
"""Name of the requested files among the parts of a briefing."""

SHOWN = 5
"""Files of one request that are shown; further ones are only named."""


class Requested(Struct, frozen=True):
    """A request for files. files: those that the agent does not have as they are now; held: those that
    the agent has; unshown: those that went since, are no text, or may not be shown."""

    asked: SoughtFiles
    files: tuple[BundledFile, ...] = ()
    held: tuple[str, ...] = ()
    unshown: tuple[str, ...] = ()


class Due(Struct, frozen=True):
    """The requests that are due. digests: identifiers of their delivery."""

    requests: tuple[Requested, ...]
    digests: tuple[str, ...]

    def looks(self) -> tuple[Look, ...]:
        """Return the files whose text is shown."""
        files = (file for request in self.requests for file in request.files)
        return tuple(Look(f.path, None, f.text, PART) for f in files if f.text is not None)

    def text(self) -> str:
        """Return the text of the part."""
        return "\n".join(line for each in self.requests for line in _lines(each))


def due(context: SessionContext, *, texts: bool = True) -> Due | None:
    """Return the requests of answers that were not delivered yet; None without any. texts: False names
    the files only."""
    rows = [
        row
        for row in message_chain.branch_facts(context, [AnswerGiven])
        if isinstance(row.fact, AnswerGiven) and row.fact.sought
    ]
    delivered = delivered_digests(context, PART) if rows else set()
    new = [row for row in rows if str(row.position) not in delivered]
    records = [record for row in new if (record := read_record(context, row))]
    newest = {sought.patterns: sought for record in records for sought in record.sought}
    requests = [_requested(context, sought, texts=texts) for sought in newest.values()]
    digests = tuple(str(record.position) for record in records)
    return Due(tuple(requests), digests) if requests else None


def fits(due: Due) -> Iterator[Due]:
    """Yield the part with fewer and fewer texts: files, from the last one on, are only named."""
    count = sum(file.text is not None for request in due.requests for file in request.files)
    for most in range(count, -1, -1):
        left = most
        requests = []
        for request in due.requests:
            files = []
            for file in request.files:
                is_shown = file.text is not None and left > 0
                left -= is_shown
                files.append(file if is_shown else structs.replace(file, text=None))
            requests.append(structs.replace(request, files=tuple(files)))
        yield structs.replace(due, requests=tuple(requests))


def _requested(context: SessionContext, asked: SoughtFiles, *, texts: bool) -> Requested:
    files: list[BundledFile] = []
    held: list[str] = []
    unshown: list[str] = []
    for path in asked.paths[:SHOWN]:
        try:
            has_text = decode(context.look(path).data) is not None
            file = unseen_file(context, path, (), texts=texts) if has_text else None
        except PathError:
            has_text, file = False, None
        known = context.store.knowledge(context.session, path)
        if file is not None:
            files.append(file)
        else:
            (held if has_text and known is not None else unshown).append(path)
    return Requested(asked, tuple(files), tuple(held), tuple(unshown))


def _lines(request: Requested) -> Iterator[str]:
    asked = request.asked
    yield words.request(asked.name, asked.patterns, found=bool(asked.paths))
    for file in request.files:
        yield from words.requested_file(file, LINES_MAX)
    if request.held:
        yield words.at_hand(request.held)
    if request.unshown:
        yield words.unshown(request.unshown)
    if asked.paths[SHOWN:]:
        yield words.further(asked.paths[SHOWN:])
    if asked.offered:
        yield words.offered(asked.offered)
