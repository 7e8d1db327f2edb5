"""What a user's text mentions, put before the agent: each through the access check, and recorded."""

from __future__ import annotations

import re
from itertools import islice

from sightline.core.attempts import PatchSyntax, parse_patch
from sightline.core.mentioning import named, part
from sightline.core.text import decode
from sightline.core.value import Value
from sightline.errors import FileMissing, PathError, PathRefused
from sightline.services.looks import saw
from sightline.services.refusals import unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sightline.core.finding.guesses import Candidate, Guesser
    from sightline.core.mentioning import Mention
    from sightline.core.regions import Span
    from sightline.services.ground import Ground
    from sightline.workspace.gitshowing import Commit, Telling, Touched

LIMIT_FILES, LIMIT_LINES, LIMIT_BYTES = 50, 250, 100_000

PREVIEW_LINES = 40
"""Of a file with more lines than are shown at once."""

MENTIONS_MAX = 200
"""Mentions of one text that are answered."""

ENTRIES_MAX = 200
"""Of a folder that are named."""

RUNS_MAX = 100
"""Runs of lines in a patch that are recorded."""

GUESSES_MAX = 20
"""Missing paths of one text for which others are looked for."""

FULL = "There was no room left: mention it alone to see it."

LEFT_TO_HOSTS = ("url", "problems", "terminal")


class ShownFile(Value):
    """A file of which lines were shown. state: whole, lines (those asked for), preview (the first
    of many), or none, with why. text: those lines as they are; lines: (0, 0) for none."""

    path: str
    state: str
    text: str = ""
    lines: Span = (0, 0)
    total_lines: int = 0
    revision: str = ""
    why: str = ""


class ShownFolder(Value):
    """What a folder holds, one level of it. files: by their paths; left_out: entries not named."""

    path: str
    folders: tuple[str, ...]
    files: tuple[str, ...]
    left_out: int


class ShownChanges(Value):
    """What git says. commit: None for what is not committed yet; withheld: files that are not for
    this session; cut: there is more of the patch; more: there are more files than are listed."""

    commit: Commit | None
    files: tuple[Touched, ...]
    patch: str
    cut: bool
    more: bool
    withheld: int


class Resolved(Value):
    """A mention and what became of it. state: shown, missing, refused, unreadable, left_out (the
    limits were reached), elsewhere (of another root), word (no path at all), host (left to it);
    why: in words where nothing is shown. candidates: what a missing path may have meant."""

    mention: Mention
    state: str
    why: str = ""
    files: tuple[ShownFile, ...] = ()
    folder: ShownFolder | None = None
    changes: ShownChanges | None = None
    candidates: tuple[Candidate, ...] = ()


class Mentioned(Value):
    """What a text mentions, in order, each once. left_out: further mentions, not looked at."""

    text: str
    found: tuple[Resolved, ...]
    left_out: int


def mentioned(
    ground: Ground,
    text: str,
    *,
    limit_files: int = LIMIT_FILES,
    limit_lines: int = LIMIT_LINES,
    limit_bytes: int = LIMIT_BYTES,
) -> Mentioned:
    """Look at what a text mentions, and record what is shown of it as seen.

    limit_files, limit_bytes: of all of it together; limit_lines: of one file; what they leave out
    is said in the answer. A mention that cannot be answered says why; none is raised for."""
    if min(limit_files, limit_lines, limit_bytes) < 1:
        raise ValueError("limit_files, limit_lines and limit_bytes are numbers from 1 on")
    every = named(text)
    answering = _Answering(ground, limit_files, limit_lines, limit_bytes)
    found = tuple([answering.answer(mention) for mention in every[:MENTIONS_MAX]])
    return Mentioned(text, found, max(len(every) - MENTIONS_MAX, 0))


class _Answering:
    """One text's mentions on their way, and what is left of the limits."""

    def __init__(self, ground: Ground, files: int, lines: int, room: int) -> None:
        self._ground = ground
        self._files = files
        self._lines = lines
        self._room = room
        self._guesses = GUESSES_MAX
        self._guesser: Guesser | None = None
        self._paths: Sequence[str] | None = None

    def answer(self, mention: Mention) -> Resolved:
        if mention.kind in LEFT_TO_HOSTS:
            return Resolved(mention, "host", "This is left to the application.")
        if mention.kind in ("git-changes", "commit"):
            return self._of_git(mention)
        here = self._ground.workspace.root.rpartition("/")[2]
        if mention.root is not None and mention.root.casefold() != here.casefold():
            why = f"{mention.root} is another workspace than {here}, which this session works in."
            return Resolved(mention, "elsewhere", why)
        try:
            return self._of_path(mention)
        except FileMissing as error:
            return self._missing(mention, error)
        except PathRefused as error:
            return Resolved(mention, "refused", f"{error.message} {error.hint}")
        except PathError as error:
            return Resolved(mention, "unreadable", f"{error.message} {error.hint}")

    def _of_path(self, mention: Mention) -> Resolved:
        for name in _names(mention, self._ground.workspace.root):
            located = self._ground.workspace.locate(name)
            found = self._ground.look(located.path)
            if found.kind == "directory":
                return self._folder(mention, located.path)
            if found.kind != "missing":
                return self._file(mention, name)
        asked = _names(mention, self._ground.workspace.root)[0]
        raise FileMissing(asked, f"{asked} does not exist.")

    def _file(self, mention: Mention, name: str) -> Resolved:
        shown = self._show(name, mention.lines)
        if shown is None:
            return Resolved(mention, "left_out", FULL)
        return Resolved(mention, "shown", files=(shown,))

    def _folder(self, mention: Mention, path: str) -> Resolved:
        below = "" if path == "." else f"{path}/"
        inside = [each for each in self._listed() if each.startswith(below)]
        own = [each for each in inside if "/" not in each[len(below) :]]
        deep = {each[: each.index("/", len(below)) + 1] for each in set(inside).difference(own)}
        folders = sorted(deep)[:ENTRIES_MAX]
        files = own[: ENTRIES_MAX - len(folders)]
        left = len(deep) + len(own) - len(folders) - len(files)
        listing = ShownFolder(path, tuple(folders), tuple(files), left)
        shown = tuple([self._of_folder(each) for each in files])
        return Resolved(mention, "shown", folder=listing, files=shown)

    def _of_folder(self, path: str) -> ShownFile:
        try:
            return self._show(path, None) or ShownFile(path, "none", why=FULL)
        except PathError as error:
            return ShownFile(path, "none", why=error.message)

    def _show(self, name: str, asked: Span | None) -> ShownFile | None:
        """Lines of a file, which count as seen from here on; None when the limits are reached."""
        if self._files < 1 or self._room < 1:
            return None
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
        saw(self._ground, path, None if complete else lines, body, "mention")
        self._files -= 1
        self._room -= len(body.encode("utf-8", "surrogatepass"))
        state = "whole" if complete else "lines" if asked is not None else "preview"
        return ShownFile(path, state, body, lines, total, found.revision)

    def _missing(self, mention: Mention, error: FileMissing) -> Resolved:
        try:
            near = self._guess(error.path)
        except PathError as untold:  # the list of paths cannot be had
            return Resolved(mention, "missing", f"{error.message} {untold.message}")
        if _is_word(mention) and not any(_stem(each.path) == _stem(error.path) for each in near):
            return Resolved(mention, "word", f"Nothing here is called {mention.value}.")
        return Resolved(mention, "missing", error.message, candidates=near)

    def _guess(self, asked: str) -> tuple[Candidate, ...]:
        from sightline.core.finding.guesses import Guesser  # most mentions are right

        if self._guesses < 1:
            return ()
        self._guesses -= 1
        if self._guesser is None:
            self._guesser = Guesser(self._listed())
        seen = self._ground.store.known(self._ground.session)
        return tuple(self._guesser.candidates(asked, seen=seen))

    def _listed(self) -> Sequence[str]:
        if self._paths is None:
            self._paths = self._ground.workspace.paths()
        return self._paths

    def _of_git(self, mention: Mention) -> Resolved:
        from sightline.workspace.gitshowing import Telling

        ground = self._ground
        repository = ground.workspace.repository(".")
        if repository is None:
            return Resolved(mention, "missing", "This workspace is not in a git repository.")
        git = Telling(ground.workspace.root, repository, ground.settings.deadline_s)
        if mention.kind == "git-changes":
            return self._changes(mention, git, git.head(), None)
        commit = git.commit(mention.value)
        if commit is None:
            why = f"git knows no commit {mention.value} here, or more than one."
            return Resolved(mention, "missing", why)
        return self._changes(mention, git, commit.before, commit)

    def _changes(
        self, mention: Mention, git: Telling, before: str | None, commit: Commit | None
    ) -> Resolved:
        """What differs, without what is not for this session, in what is left of the room."""
        after = None if commit is None else commit.id
        touched = git.touched(before, after) if before is not None else None
        new = git.untracked() if commit is None else ([], False)
        if touched is None or new is None or before is None:
            return Resolved(mention, "unreadable", "git did not answer. Try again later.")
        ours, withheld = self._allowed([*touched[0], *new[0]])
        asked = [name for each in ours if each.letter != "?" for name in _both(each)]
        patch = git.patch(before, after, asked, max(self._room, 1)) if asked else None
        if asked and patch is None:
            return Resolved(mention, "unreadable", "git did not answer. Try again later.")
        text, cut = (patch.text, patch.cut) if patch is not None else ("", False)
        self._room -= len(text.encode("utf-8", "surrogatepass"))
        if commit is None:
            self._note(text)
        more = touched[1] or new[1] or len(ours) > ENTRIES_MAX
        shown = ShownChanges(commit, tuple(ours[:ENTRIES_MAX]), text, cut, more, withheld)
        return Resolved(mention, "shown", changes=shown)

    def _note(self, patch: str) -> None:
        """Record the lines of the files on disk that stand in a patch of what is not committed."""
        for path, first, new in islice(_new_sides(patch), RUNS_MAX):
            try:
                located = self._ground.workspace.locate(path)
                data = self._ground.look(located.path).data
            except PathError:
                continue  # it went away since git looked at it
            text = decode(data) if data is not None else None
            last = first + len(new) - 1
            if text is not None and tuple(text.lines[first - 1 : last]) == new:
                saw(self._ground, path, (first, last), "".join(new), "mention")

    def _allowed(self, touched: Sequence[Touched]) -> tuple[list[Touched], int]:
        """Those that a path of would be let through, and how many would not."""
        names = [name for each in touched for name in _both(each)]
        refused = self._ground.workspace.refused(names) | {n for n in names if not _is_unicode(n)}
        ours = [each for each in touched if refused.isdisjoint(_both(each))]
        return ours, len(touched) - len(ours)


def _new_sides(patch: str) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Of each hunk: the file, and where its new lines stand there. What is no text, or cut off,
    has none."""
    for section in re.split(r"^(?=diff --git )", patch, flags=re.MULTILINE):
        try:
            files = parse_patch(section)
        except PatchSyntax:
            continue
        for each in files:
            moved = 0
            for hunk in each.hunks:
                if each.new is not None and hunk.new:
                    yield each.new, hunk.start + moved + (not hunk.old), hunk.new
                moved += len(hunk.new) - len(hunk.old)


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
        return f"It has {total} line{'' if total == 1 else 's'} only."
    return "Its next line is longer than there was room for: read it by other means."


def _is_word(mention: Mention) -> bool:
    """Whether it may as well be a person, or a decorator."""
    bare = mention.root is None and mention.lines is None and mention.kind == "path"
    return bare and not any(sign in mention.value for sign in "/\\. ")


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].casefold()


def _both(touched: Touched) -> list[str]:
    return [touched.path] if touched.old is None else [touched.old, touched.path]


def _is_unicode(name: str) -> bool:
    return not any("\ud800" <= sign <= "\udfff" for sign in name)
