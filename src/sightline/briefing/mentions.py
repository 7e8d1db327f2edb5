"""What a user's text mentions, put before the agent: each through the access check, and recorded.

What the files and folders of a workspace are called, to tell a word from a path in a text.

"@alice", "@pytest.fixture" and "@angular/core" are no files that went missing, unless something
here is called so.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property

from msgspec import Struct
from rapidfuzz import fuzz, process

from sightline.briefing import git_summary  # few texts ask git
from sightline.briefing.git_summary import ShownChanges
from sightline.briefing.mention_parser import Mention, named, part
from sightline.changes.session_context import SessionContext
from sightline.errors import PathError, PathRefused, UnknownName
from sightline.guard.reads import Look, saw
from sightline.guard.refusals import unreadable
from sightline.model.spans import Span
from sightline.model.text import decode
from sightline.search.cache import Shelf, shelf_of
from sightline.search.guesses import ENDINGS, Candidate
from sightline.search.listing import DirectoryListing, level, list_directory
from sightline.search.path_index import Index
from sightline.text.phrases import count

LIMIT_FILES, LIMIT_LINES, LIMIT_BYTES = 50, 250, 100_000

PREVIEW_LINES = 40
"""Of a file with more lines than are shown at once."""

MENTIONS_MAX = 200
"""Mentions of one text that are answered."""

ENTRIES_MAX = 200
"""Of a folder that are listed, and files of it that are shown at most."""

READS_MAX = 200
"""Files of one text that are read, also those of which nothing can be shown."""

LOOKS_MAX = 20
"""Folders and commits of one text that are looked into: each takes a process or a list."""

GUESSES_MAX = 20
"""Missing paths of one text for which others are looked for."""

FULL = "There was no room left: mention it alone to see it."

KEPT_BACK = "It is among the secrets (never_store): mention it alone to see it."

ALMOST = 75
"""The likeness, of 100, of a name and what it becomes by a slip."""

LEFT_TO_HOSTS = ("url", "problems", "terminal")


class ShownFile(Struct, frozen=True):
    """A file of which lines were shown. state: whole, lines (those asked for), preview (the first
    of many), or none, with why. text: those lines as they are; lines: (0, 0) for none."""

    path: str
    state: str
    text: str = ""
    lines: Span = (0, 0)
    total_lines: int = 0
    revision: str = ""
    why: str = ""


class Resolved(Struct, frozen=True):
    """A mention and what became of it. state: shown, missing, refused, unreadable, left_out (the
    limits were reached), elsewhere (of another root), word (no path at all), host (left to it);
    why: in words where nothing is shown. candidates: what a missing path may have meant."""

    mention: Mention
    state: str
    why: str = ""
    files: tuple[ShownFile, ...] = ()
    folder: DirectoryListing | None = None
    changes: ShownChanges | None = None
    candidates: tuple[Candidate, ...] = ()


class Mentioned(Struct, frozen=True):
    """What a text mentions, in order, each once. left_out: further mentions, not looked at; looks:
    what of files is shown."""

    text: str
    found: tuple[Resolved, ...]
    left_out: int
    looks: tuple[Look, ...] = ()


def mentioned(
    ground: SessionContext,
    text: str,
    *,
    limit_files: int = LIMIT_FILES,
    limit_lines: int = LIMIT_LINES,
    limit_bytes: int = LIMIT_BYTES,
) -> Mentioned:
    """Look at what a text mentions, and record what is shown of it as seen: as looks_at()."""
    found = looks_at(
        ground, text, limit_files=limit_files, limit_lines=limit_lines, limit_bytes=limit_bytes
    )
    for each in found.looks:
        saw(ground, each.path, each.lines, each.text, each.via)
    return found


def looks_at(
    ground: SessionContext,
    text: str,
    *,
    limit_files: int = LIMIT_FILES,
    limit_lines: int = LIMIT_LINES,
    limit_bytes: int = LIMIT_BYTES,
) -> Mentioned:
    """What a text mentions, of which nothing counts as seen yet.

    limit_files, limit_bytes: of all of it together; limit_lines: of one file; what they leave out
    is said in the answer. A mention that cannot be answered says why; none is raised for."""
    if min(limit_files, limit_lines, limit_bytes) < 1:
        raise ValueError("limit_files, limit_lines and limit_bytes are numbers from 1 on")
    every = named(text)
    answering = _Answering(ground, limit_files, limit_lines, limit_bytes)
    found = tuple([answering.answer(mention) for mention in every[:MENTIONS_MAX]])
    return Mentioned(text, found, max(len(every) - MENTIONS_MAX, 0), tuple(answering.shown))


class _Answering:
    """One text's mentions on their way, and what is left of the limits."""

    def __init__(self, ground: SessionContext, files: int, lines: int, room: int) -> None:
        self._ground = ground
        self._files = files
        self._lines = lines
        self._room = room
        self._reads = READS_MAX
        self._looks = LOOKS_MAX
        self.shown: list[Look] = []
        self._guesses = GUESSES_MAX
        self._shelf: Shelf | None = None

    def answer(self, mention: Mention) -> Resolved:
        if mention.kind in LEFT_TO_HOSTS:
            return Resolved(mention, "host", "This is left to the application.")
        here = self._ground.workspace.root.rpartition("/")[2]
        if mention.root is not None and mention.root.casefold() != here.casefold():
            why = f"{mention.root} is another workspace than {here}, which this session works in."
            return Resolved(mention, "elsewhere", why)
        try:
            if mention.kind in ("git-changes", "commit"):
                return self._of_git(mention)
            return self._of_path(mention)
        except PathRefused as error:
            return Resolved(mention, "refused", f"{error.message} {error.hint}")
        except PathError as error:
            return Resolved(mention, "unreadable", f"{error.message} {error.hint}")

    def _of_path(self, mention: Mention) -> Resolved:
        if self._full():
            return Resolved(mention, "left_out", FULL)
        for name in _names(mention, self._ground.workspace.root):
            located = self._ground.workspace.locate(name)
            found = self._ground.look(located.path)
            if found.kind == "directory":
                return self._folder(mention, located.path)
            if found.kind != "missing":
                return Resolved(mention, "shown", files=(self._show(name, mention.lines),))
        return self._missing(mention, _names(mention, self._ground.workspace.root)[0])

    def _folder(self, mention: Mention, path: str) -> Resolved:
        """A folder's entries, and what its own files hold."""
        if not self._may_look():
            return Resolved(mention, "left_out", FULL)
        listing = list_directory(self._ground, path, limit=ENTRIES_MAX)
        own = level(self._listed().paths, "" if path == "." else f"{path}/").files
        files = tuple([self._of_folder(each) for each in own[:ENTRIES_MAX]])
        return Resolved(mention, "shown", folder=listing, files=files)

    def _full(self) -> bool:
        """Whether the limits are reached."""
        return min(self._files, self._room, self._reads) < 1

    def _may_look(self) -> bool:
        self._looks -= 1
        return self._looks >= 0 and not self._full()

    def _of_folder(self, path: str) -> ShownFile:
        if self._full():
            return ShownFile(path, "none", why=FULL)
        if not self._ground.settings.may_store(path):
            return ShownFile(path, "none", why=KEPT_BACK)
        try:
            return self._show(path, None)
        except PathError as error:
            return ShownFile(path, "none", why=error.message)

    def _show(self, name: str, asked: Span | None) -> ShownFile:
        """Lines of a file, and that they are shown."""
        self._reads -= 1
        located = self._ground.workspace.locate(name)
        path = located.name or located.path
        found = self._ground.look(located.path)
        text = decode(found.data) if found.data is not None else None
        if text is None:
            raise unreadable(found, path)
        total = len(text.lines)
        lines = part(text.lines, asked, self._lines, PREVIEW_LINES, self._room)
        body = "".join(text.lines[lines[0] - 1 : lines[1]]) if lines[1] else ""
        if total and not lines[1]:
            return ShownFile(path, "none", "", lines, total, found.revision, _none(asked, total))
        complete = lines == (1, total) or not total
        self.shown.append(Look(path, None if complete else lines, body, "mention"))
        self._files -= 1
        self._room -= len(body.encode("utf-8", "surrogatepass"))
        state = "whole" if complete else "lines" if asked is not None else "preview"
        return ShownFile(path, state, body, lines, total, found.revision)

    def _missing(self, mention: Mention, asked: str) -> Resolved:
        if _is_word(mention, self._called):
            return Resolved(mention, "word", f"Nothing here is called {mention.value}.")
        near = self._guess(asked)
        return Resolved(mention, "missing", f"{asked} does not exist.", candidates=near)

    def _guess(self, asked: str) -> tuple[Candidate, ...]:
        if self._guesses < 1:
            return ()
        self._guesses -= 1
        shelf, seen = self._listed(), self._ground.store.known(self._ground.session)
        return tuple(shelf.guesser.candidates(asked, seen=seen, renamed=shelf.renamed()))

    @cached_property
    def _called(self) -> Called:
        return Called(self._listed().index)

    def _listed(self) -> Shelf:
        if self._shelf is None:
            self._shelf = shelf_of(self._ground.workspace)
        return self._shelf

    def _of_git(self, mention: Mention) -> Resolved:
        if not self._may_look():
            return Resolved(mention, "left_out", FULL)
        try:
            if mention.kind == "commit":
                shown = git_summary.committed(self._ground, mention.value, self._room)
            else:
                shown = git_summary.uncommitted(self._ground, self._room)
                self.shown += git_summary.looks(self._ground, shown.patch)
        except UnknownName as error:
            return Resolved(mention, "missing", error.message)
        self._room -= len(shown.patch.encode())
        return Resolved(mention, "shown", changes=shown)


def _names(mention: Mention, root: str) -> list[str]:
    """What a mention may be called on disk, as it is written first."""
    value = mention.value
    inside = value == root or value.startswith(f"{root}/")
    name = value if inside else value.lstrip("/")
    name = name.rstrip("/") or "."
    behind, _, heading = name.rpartition("#")
    more = [name.replace("\\", "/"), behind if heading else name]
    return list(dict.fromkeys([name, *filter(None, more)]))


def _none(asked: Span | None, total: int) -> str:
    """Why no line of a text is shown."""
    if asked is not None and asked[0] > total:
        return f"It has {count(total, 'line')} only."
    return "Its next line is longer than there was room for: read it by other means."


def _is_word(mention: Mention, called: Called) -> bool:
    """Whether it may as well be a person, a decorator or a package."""
    bare = mention.root is None and mention.lines is None and mention.kind == "path"
    return bare and called.word(mention.value)


CALL = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\((?:.*\)|[^)]*)", re.DOTALL)
"""A decorator with its arguments, as far as they came along. No file is called so."""


class Called:
    """The names in a list of paths. Made once, for all that a text mentions."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._inside: dict[str, set[str]] = {}

    def word(self, value: str) -> bool:
        """Whether what stands behind an @, and is no path, may never have been meant as one: a
        person, a decorator, a package with its scope."""
        if CALL.fullmatch(value):
            return True
        name = value.casefold()
        if name.startswith((".", "/")) or "\\" in name or " " in name:
            return False
        scope, slash, rest = name.partition("/")
        last = rest.rpartition("/")[2] if slash else name
        if "." in last and self._ending(last):
            return False
        if slash:
            return not self._holds(scope, _stem(last))
        if "." in name:
            return name not in self._stems and not self._module(name)
        return name not in self._first and name not in self._folders

    def _module(self, dotted: str) -> bool:
        """Whether there is a folder as the name begins, and a file as it ends: a.b.c for a/b/c.py."""
        parts = dotted.split(".")
        return parts[0] in self._folders and parts[-1] in self._first

    def _ending(self, name: str) -> bool:
        """Whether files end as this name does."""
        ending = name[name.rindex(".") :]
        return ending in ENDINGS or ending in self._endings

    def _holds(self, scope: str, stem: str) -> bool:
        """Whether there is such a folder on top, or one further down with a file almost so named."""
        if scope in self._top:
            return True
        if scope not in self._folders:
            return False
        return (
            process.extractOne(stem, self._below(scope), scorer=fuzz.ratio, score_cutoff=ALMOST)
            is not None
        )

    def _below(self, scope: str) -> Collection[str]:
        """The stems of what is in the folders of a name, at any depth."""
        if scope not in self._inside:
            within = [each for each in self._paths if f"/{scope}/" in each]
            parts = {part for each in within for part in each.split(f"/{scope}/", 1)[1].split("/")}
            self._inside[scope] = {_stem(part) for part in parts}
        return self._inside[scope]

    @cached_property
    def _paths(self) -> list[str]:
        return [path.casefold() for path in self._index.paths]

    @cached_property
    def _names(self) -> set[str]:
        return {path[path.rfind("/") + 1 :] for path in self._paths}

    @cached_property
    def _first(self) -> set[str]:
        """Names up to their first dot."""
        return {_stem(name) for name in self._names}

    @cached_property
    def _stems(self) -> set[str]:
        """Names without their ending: "user.service" of user.service.ts."""
        return {name.rpartition(".")[0] for name in self._names}

    @cached_property
    def _endings(self) -> set[str]:
        return {name[name.rfind(".") :] for name in self._names if "." in name}

    @cached_property
    def _top(self) -> set[str]:
        return {path.partition("/")[0] for path in self._paths if "/" in path}

    @cached_property
    def _folders(self) -> set[str]:
        """Names of folders, wherever they are."""
        return {folder[folder.rfind("/") + 1 :].casefold() for folder in self._index.folders}


def _stem(name: str) -> str:
    return name.partition(".")[0]
