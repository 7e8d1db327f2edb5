"""Show the agent what a user's text mentions: through the access check, and recorded as seen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct
from rapidfuzz import fuzz, process

from sightline.briefing import git_summary
from sightline.briefing.git_summary import ShownChanges
from sightline.briefing.mention_parser import Mention, parse_mentions
from sightline.changes.session_context import SessionContext
from sightline.errors import PathError, PathRefused, UnknownName, without_calls
from sightline.guard.reads import Look, saw
from sightline.guard.refusals import unreadable
from sightline.model.line_range import LineRange
from sightline.model.marks import sendable
from sightline.model.spans import Span
from sightline.model.text import decode
from sightline.search.cache import Shelf, shelf_of
from sightline.search.guesses import ENDINGS, Candidate
from sightline.search.listing import DirectoryListing, level, list_directory
from sightline.search.path_index import Index
from sightline.text.phrases import count

LIMIT_FILES, LIMIT_LINES, LIMIT_BYTES = 50, 250, 100_000

PREVIEW_LINES = 40
"""Lines shown of a file that is longer than the limit of lines."""

MENTIONS_MAX = 200
"""Mentions of one text that are answered."""

ENTRIES_MAX = 200
"""Entries of a folder that are listed, and files of a folder that are shown."""

READS_MAX = 200
"""Files that one text may have read, including those of which nothing can be shown."""

LOOKS_MAX = 20
"""Folders and commits that one text may open: each takes a process or a list."""

GUESSES_MAX = 20
"""Missing paths of one text that get guesses."""

NO_ROOM = "There was no room left: mention it alone to see it."

NEVER_STORED = "It is among the secrets (never_store): mention it alone to see it."

ALMOST = 75
"""Similarity, of 100, between a name and its misspelling."""


class ShownFile(Struct, frozen=True):
    """A file whose lines were shown. state: whole, lines (those asked for), preview (the first
    of many), or none, with why. text: the shown lines; lines: (0, 0) for none."""

    path: str
    state: str
    text: str = ""
    lines: Span = (0, 0)
    total_lines: int = 0
    revision: str = ""
    why: str = ""


class Resolved(Struct, frozen=True):
    """A mention and its answer. state: shown, missing, refused, unreadable, left_out (limits reached),
    elsewhere (another workspace), word (not a path), host (for the application); why: in words when
    nothing is shown. candidates: guesses for a missing path."""

    mention: Mention
    state: str
    why: str = ""
    files: tuple[ShownFile, ...] = ()
    folder: DirectoryListing | None = None
    changes: ShownChanges | None = None
    candidates: tuple[Candidate, ...] = ()


class MentionedView(Struct, frozen=True):
    """The mentions of a text as JSON has them: see Mentioned."""

    text: str
    found: tuple[Resolved, ...]
    left_out: int


class Mentioned(Struct, frozen=True):
    """The mentions of a text, in order, each once. left_out: number of further mentions; looks: the
    shown parts of files.

    found: each mention with what it names.
    """

    text: str
    found: tuple[Resolved, ...]
    left_out: int
    looks: tuple[Look, ...] = ()

    def as_view(self) -> MentionedView:
        """Return the mentions without the parts of files that were shown, which are texts of `found`."""
        return MentionedView(self.text, self.found, self.left_out)


def show_mentions(context: SessionContext, text: str, **limits: int) -> Mentioned:
    """Resolve the mentions of a text and record the shown lines as seen. limits: as in
    resolve_mentions()."""
    mentioned = resolve_mentions(context, text, **limits)
    for look in mentioned.looks:
        saw(context, look.path, look.lines, look.text, look.via)
    return mentioned


def resolve_mentions(
    context: SessionContext,
    text: str,
    *,
    limit_files: int = LIMIT_FILES,
    limit_lines: int = LIMIT_LINES,
    limit_bytes: int = LIMIT_BYTES,
) -> Mentioned:
    """Resolve the mentions of a text without recording anything as seen.

    limit_files, limit_bytes: for the whole text; limit_lines: for each file. The answer says what
    the limits leave out, and why a mention cannot be answered. ValueError for a limit below 1."""
    if min(limit_files, limit_lines, limit_bytes) < 1:
        raise ValueError("limit_files, limit_lines and limit_bytes are numbers from 1 on")
    text = sendable(text)
    mentions = parse_mentions(text)
    resolver = _Resolver(context, limit_files, limit_lines, limit_bytes)
    found = tuple([resolver.resolve(mention) for mention in mentions[:MENTIONS_MAX]])
    return Mentioned(text, found, max(len(mentions) - MENTIONS_MAX, 0), tuple(resolver.looks))


def _why(error: PathError) -> str:
    """Return why a path cannot be shown, for a model whose tools nobody knows."""
    return f"{error.message} {error.next_step.worded(without_calls)}"


class _Resolver:
    """Resolves the mentions of one text and counts down its limits."""

    def __init__(self, context: SessionContext, files: int, lines: int, room: int) -> None:
        self._context = context
        self._files = files
        self._lines = lines
        self._room = room
        self._reads = READS_MAX
        self._opens = LOOKS_MAX
        self._guesses = GUESSES_MAX
        self.looks: list[Look] = []

    def resolve(self, mention: Mention) -> Resolved:
        if mention.kind in ("url", "problems", "terminal"):
            return Resolved(
                mention, "host", "The application resolves mentions of this kind, not Sightline."
            )
        workspace = self._context.workspace.root.rpartition("/")[2]
        if mention.root is not None and mention.root.casefold() != workspace.casefold():
            why = f"{mention.root} is another workspace than {workspace}, which this session works in."
            return Resolved(mention, "elsewhere", why)
        try:
            if mention.kind in ("git-changes", "commit"):
                return self._resolve_git(mention)
            return self._resolve_path(mention)
        except PathRefused as error:
            return Resolved(mention, "refused", _why(error))
        except PathError as error:
            return Resolved(mention, "unreadable", _why(error))

    def _resolve_path(self, mention: Mention) -> Resolved:
        if self._full():
            return Resolved(mention, "left_out", NO_ROOM)
        names = _names(mention, self._context.workspace.root)
        for name in names:
            located = self._context.workspace.locate(name)
            found = self._context.look(located.path)
            if found.kind == "directory":
                return self._resolve_folder(mention, located.path)
            if found.kind != "missing":
                return Resolved(mention, "shown", files=(self._show(name, mention.lines),))

        bare = mention.root is None and mention.lines is None and mention.kind == "path"
        if bare and self._vocabulary.is_word(mention.value):
            return Resolved(mention, "word", f"Nothing here is called {mention.value}.")
        candidates: tuple[Candidate, ...] = ()
        if self._guesses:
            self._guesses -= 1
            shelf, seen = self._shelf, self._context.store.known(self._context.session)
            guesses = shelf.guesser.candidates(names[0], seen=seen, renamed=shelf.renamed())
            candidates = tuple(guesses)
        why = f"{names[0]} does not exist."
        return Resolved(mention, "missing", why, candidates=candidates)

    def _resolve_folder(self, mention: Mention, path: str) -> Resolved:
        """Show a folder's entries and its own files."""
        if not self._may_open():
            return Resolved(mention, "left_out", NO_ROOM)
        listing = list_directory(self._context, path, limit=ENTRIES_MAX)
        own = level(self._shelf.paths, "" if path == "." else f"{path}/").files
        files = tuple([self._show_of_folder(file) for file in own[:ENTRIES_MAX]])
        return Resolved(mention, "shown", folder=listing, files=files)

    def _resolve_git(self, mention: Mention) -> Resolved:
        if not self._may_open():
            return Resolved(mention, "left_out", NO_ROOM)
        try:
            name = mention.value if mention.kind == "commit" else None
            shown = git_summary.git_changes(self._context, name, self._room)
            if name is None:
                self.looks += git_summary.looks(self._context, shown.patch)
        except UnknownName as error:
            return Resolved(mention, "missing", error.message)
        self._room -= len(shown.patch.encode())
        return Resolved(mention, "shown", changes=shown)

    def _full(self) -> bool:
        return min(self._files, self._room, self._reads) < 1

    def _may_open(self) -> bool:
        self._opens -= 1
        return self._opens >= 0 and not self._full()

    def _show_of_folder(self, path: str) -> ShownFile:
        if self._full():
            return ShownFile(path, "none", why=NO_ROOM)
        if not self._context.may_store(path):
            return ShownFile(path, "none", why=NEVER_STORED)
        try:
            return self._show(path, None)
        except PathError as error:
            return ShownFile(path, "none", why=error.message)

    def _show(self, name: str, asked: Span | None) -> ShownFile:
        """Show lines of a file and add them to the looks."""
        self._reads -= 1
        located = self._context.workspace.locate(name)
        path = located.name or located.path
        pieces = LineRange(asked or (1, PREVIEW_LINES), self._room + 1)
        found = self._context.look(located.path, pieces)
        text = decode(found.data)
        if text is not None:
            known, before, total = text.lines, 0, len(text.lines)
        elif found.why == "too_large" and pieces.is_text:
            known, before, total = pieces.lines, pieces.asked[0] - 1, pieces.total
        else:
            raise unreadable(found, path)
        wanted = asked if text is not None else (1, len(known))
        first, last = choose_lines(known, wanted, self._lines, PREVIEW_LINES, self._room)
        lines = (first + before, last + before) if last else (0, 0)
        if total and not lines[1]:
            why = "Its next line is longer than there was room for: read it by other means."
            if asked is not None and asked[0] > total:
                why = f"It has {count(total, 'line')} only."
            return ShownFile(path, "none", "", lines, total, found.revision, why)
        body = "".join(known[first - 1 : last]) if total else ""
        complete = lines == (1, total) or not total
        self.looks.append(Look(path, None if complete else lines, body, "mention"))
        self._files -= 1
        self._room -= len(body.encode("utf-8", "surrogatepass"))
        state = "whole" if complete else "lines" if asked is not None else "preview"
        return ShownFile(path, state, sendable(body), lines, total, found.revision)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self._shelf.index)

    @cached_property
    def _shelf(self) -> Shelf:
        return shelf_of(self._context.workspace)


def choose_lines(lines: Sequence[str], asked: Span | None, most: int, few: int, room: int) -> Span:
    """Return the lines to show of a text: those asked for, else the whole text, else the first `few`
    of more than `most` lines; cut to `room` bytes. (0, 0) for none."""
    total = len(lines)
    first, last = asked if asked is not None else (1, total if total <= most else min(few, most))
    last = min(last, total, first + most - 1)
    for number in range(first, last + 1):
        room -= len(lines[number - 1].encode("utf-8", "surrogatepass"))
        if room < 0:
            last = number - 1
            break
    return (first, last) if first <= last else (0, 0)


def _names(mention: Mention, root: str) -> list[str]:
    """Return the paths that a mention may stand for, the literal one first."""
    value = mention.value
    absolute = value == root or value.startswith(f"{root}/")
    name = value if absolute else value.lstrip("/")
    name = name.rstrip("/") or "."
    path, _, heading = name.rpartition("#")
    more = [name.replace("\\", "/"), path if heading else name]
    return list(dict.fromkeys([name, *filter(None, more)]))


CALL = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\((?:.*\)|[^)]*)", re.DOTALL)
"""A decorator with its arguments, perhaps cut off. No file has such a name."""


class Vocabulary:
    """The names of files and folders of a workspace, to tell a word from a path in a text.

    "@alice", "@pytest.fixture" and "@angular/core" are no missing files, unless the workspace has
    something of that name.
    """

    def __init__(self, index: Index) -> None:
        self._paths = [path.casefold() for path in index.paths]
        names = {path.rpartition("/")[2] for path in self._paths}
        self._stems = {_stem(name) for name in names}
        self._without_ending = {name.rpartition(".")[0] for name in names}
        self._endings = {f".{name.rpartition('.')[2]}" for name in names if "." in name}
        self._endings.update(ENDINGS)
        self._folders = {folder.rpartition("/")[2].casefold() for folder in index.folders}

    def is_word(self, value: str) -> bool:
        """Return whether a missing name after an @ may be a person, a decorator, or a scoped package
        rather than a path."""
        if CALL.fullmatch(value):
            return True
        name = value.casefold()
        if name.startswith((".", "/")) or "\\" in name or " " in name:
            return False
        scope, slash, below = name.partition("/")
        last = below.rpartition("/")[2] if slash else name
        if "." in last and f".{last.rpartition('.')[2]}" in self._endings:
            return False
        if slash:
            return not self._has_similar(scope, _stem(last))
        if "." in name:
            parts = name.split(".")  # a module such as a.b.c, for a/b/c.py
            is_module = parts[0] in self._folders and parts[-1] in self._stems
            return name not in self._without_ending and not is_module
        return name not in self._stems and name not in self._folders

    def _has_similar(self, scope: str, stem: str) -> bool:
        """Return whether the workspace has this folder at its top, or deeper with an entry of almost
        this name."""
        if any(path.startswith(f"{scope}/") for path in self._paths):
            return True
        if scope not in self._folders:
            return False
        inside = (path.split(f"/{scope}/", 1)[1] for path in self._paths if f"/{scope}/" in path)
        stems = {_stem(part) for path in inside for part in path.split("/")}
        found = process.extractOne(stem, stems, scorer=fuzz.ratio, score_cutoff=ALMOST)
        return found is not None


def _stem(name: str) -> str:
    return name.partition(".")[0]
