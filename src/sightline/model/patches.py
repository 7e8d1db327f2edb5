"""Parse patches, in both formats that models and git write, into one form.

A unified diff has `--- a/x`, `+++ b/x` and hunks below `@@ -1,3 +1,4 @@`. The other format stands
between `*** Begin Patch` and `*** End Patch`, and its hunks name a line above them: `@@ def f():`.
Both kinds of hunk headers are read in both formats. The lines of a hunk count; the numbers in its
header are a hint. Nothing of a text that changes a file is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct

from sightline.model.text import normal, split

BEGIN_PATCH = "*** Begin Patch"
END_PATCH = "*** End Patch"
END_OF_FILE = "*** End of File"
MOVE_TO = "*** Move to:"

SECTION = re.compile(r"\*\*\* (Add|Update|Delete) File:\s*(\S.*)")
NUMBERS = re.compile(r"-(\d+)(?:,(\d+))? \+\d+(?:,(\d+))?")
NO_ANCHOR = re.compile(r"[-+,.…\d\s]*")
"""What stands between `@@` and `@@` where the numbers are left out or wrong."""

BETWEEN_FILES = ("diff ", "index ", "Index: ", "From ", "commit ", "Only in ")
"""Beginnings of lines that no hunk has, and behind which text for people may stand."""

PREFIXES = ("a/", "b/", "c/", "i/", "o/", "w/")
"""Prefixes of names, as git writes them with and without diff.mnemonicPrefix."""


class PatchHunk(Struct, frozen=True):
    """`old` becomes `new`, both as lines with their newlines. start: the 1-based line of the old block,
    None where the patch does not say; anchors: lines above the block, in order, without the white
    space around them; at_end: the block is the end of the file."""

    start: int | None
    old: tuple[str, ...]
    new: tuple[str, ...]
    anchors: tuple[str, ...] = ()
    at_end: bool = False


class FilePatch(Struct, frozen=True):
    """One file of a patch. old is None for a new file, new for a deleted one. beyond: what the patch
    asks for and no edit of a text can do, in words; "" for nothing."""

    old: str | None
    new: str | None
    hunks: tuple[PatchHunk, ...]
    beyond: str = ""


class PatchSyntax(ValueError):
    """A patch that cannot be parsed. The message names the line and the reason."""


def parse_patch(text: str, *, may_be_cut: bool = False) -> list[FilePatch]:
    """Return the files of a patch, in order. may_be_cut: take a patch without its first
    or last line, too. Names come without the prefixes a/ and b/, and without a
    trailing date. Only git's own lines rename a file of a unified diff; else of two names (`diff -u
    file.orig file`) the second one counts. PatchSyntax."""
    lines = split(normal(text))
    begins = [at for at, line in enumerate(lines) if line.rstrip() == BEGIN_PATCH]
    if may_be_cut and not begins:
        heads = (at - 1 for at, line in enumerate(lines) if SECTION.fullmatch(line.rstrip()))
        begins = [*islice(heads, 1)]
    if begins:
        return [file for at in begins for file in _sections(lines, at + 1, may_be_cut=may_be_cut)]
    return _Unified(lines).files()


# --- between *** Begin Patch and *** End Patch ---------------------------------------------------


def _sections(lines: Sequence[str], at: int, *, may_be_cut: bool) -> Iterator[FilePatch]:
    while at < len(lines):
        line = lines[at].rstrip()
        if line == END_PATCH:
            return
        header = SECTION.fullmatch(line)
        if header is not None:
            file, at = _section(header[1], header[2], lines, at + 1)
            yield file
        elif line:
            raise PatchSyntax(
                f"line {at + 1}: expected '*** Update File: ', '*** Add File: ',"
                f" '*** Delete File: ' or '{END_PATCH}'"
            )
        else:
            at += 1
    if not may_be_cut:
        raise PatchSyntax(f"line {at}: the patch ends without '{END_PATCH}'")


def _section(verb: str, path: str, lines: Sequence[str], at: int) -> tuple[FilePatch, int]:
    if verb == "Delete":
        return FilePatch(path, None, ()), at
    if verb == "Add":
        content, at = _content(lines, at)
        return FilePatch(None, path, (PatchHunk(0, (), content),)), at
    new = path
    if lines[at : at + 1] and lines[at].startswith(MOVE_TO):
        new = lines[at].removeprefix(MOVE_TO).strip()
        at += 1
    hunks: list[PatchHunk] = []
    began = at
    while at < len(lines) and (lines[at].startswith("@@") or not lines[at].startswith("*** ")):
        if not lines[at].strip() and not _goes_on(lines, at):
            at += 1
            continue
        hunk, at = _hunk(lines, at)
        hunks += [hunk] if hunk else []
    if at == began and new == path:
        raise PatchSyntax(f"line {at}: no change of this file")
    return FilePatch(path, new, tuple(hunks)), at


def _content(lines: Sequence[str], at: int) -> tuple[tuple[str, ...], int]:
    """Return the lines of a new file, and the index behind them."""
    content: list[str] = []
    while at < len(lines) and not lines[at].startswith("*** "):
        if lines[at].startswith("+"):
            content.append(lines[at][1:].removesuffix("\n") + "\n")
        elif lines[at].strip():
            raise PatchSyntax(f"line {at + 1}: a line of a new file must begin with '+'")
        elif _goes_on(lines, at):
            content.append("\n")
        at += 1
    return tuple(content), at


def _goes_on(lines: Sequence[str], at: int) -> bool:
    """Return whether a line of a hunk or of a new file follows on empty lines."""
    after = next((line for line in lines[at:] if line != "\n"), "")
    return after[:1] in (" ", "+", "-", "@")


# --- hunks --------------------------------------------------------------------------------------


def _hunk(lines: Sequence[str], at: int) -> tuple[PatchHunk | None, int]:
    """Return the hunk that begins at a line, with one header, several or none; and the index behind it.
    Lines that do not change, between two headers, are anchors of the hunk below; None for such lines
    with no hunk below. PatchSyntax."""
    began, anchors = at, list[str]()
    while True:
        start, counts = None, None
        if lines[at].startswith("@@"):
            if lines[at].startswith("@@@"):
                raise PatchSyntax(
                    f"line {at + 1}: a combined diff, of a merge with several parents"
                )
            numbers, anchor = _header(lines[at])
            if numbers is not None:
                start, *counts = numbers
            anchors += [anchor] if anchor else []
            at += 1
        end = _end_by_counts(lines, at, *counts) if counts else None
        if end is None:
            end = _end_by_lines(lines, at)
        old, new = _blocks(lines, at, end)
        behind = _behind(lines, end)
        has_next = behind < len(lines) and lines[behind].startswith("@@")
        if old != new or start is not None or not has_next:
            break
        anchors += [line.strip() for line in old if line.strip()]
        at = behind
    if not old and not new:
        raise PatchSyntax(f"line {began + 1}: a hunk without lines")
    if counts and counts[0] and not old:
        start = None  # of a line that the hunk does not have
    at_end = behind < len(lines) and lines[behind].rstrip() == END_OF_FILE
    hunk = PatchHunk(start, tuple(old), tuple(new), tuple(anchors), at_end)
    return None if old == new else hunk, behind + at_end


def _header(line: str) -> tuple[tuple[int, int, int] | None, str]:
    """Return the numbers in a hunk's header, None without them, and its anchor, "" for none. What
    stands behind numbers is a heading for people."""
    inner, has_end, _ = line[2:].partition("@@")
    numbers = NUMBERS.fullmatch(inner.strip())
    if numbers is not None:
        start, old, new = numbers.groups()
        return (int(start), int(old or 1), int(new or 1)), ""
    if NO_ANCHOR.fullmatch(inner):
        return None, ""
    ended = has_end and inner[-1:].isspace() and line.rstrip().endswith("@@")
    return None, (inner if ended else line[2:]).strip()


def _end_by_counts(lines: Sequence[str], at: int, old: int, new: int) -> int | None:
    """Return the end of a hunk with as many lines as its header says; None where the lines are not
    such, or go on."""
    while at < len(lines) and (old > 0 or new > 0):
        mark = lines[at][0]
        if mark not in " +-\n":
            return None
        old -= mark != "+"
        new -= mark != "-"
        at += 1
        if at < len(lines) and lines[at].startswith("\\"):
            at += 1
    if old or new:
        return None
    behind = _behind(lines, at)
    if behind == len(lines) or lines[behind][0] not in " +-\\" or _is_file(lines, behind):
        return at
    return at if lines[behind].rstrip() == "--" else None  # the signature of a mail


def _end_by_lines(lines: Sequence[str], at: int) -> int:
    """Return the end of a hunk whose header does not count its lines. Empty lines at its end are no
    part of it. PatchSyntax."""
    began = at
    while at < len(lines) and not _is_file(lines, at):
        line = lines[at]
        if line.startswith(("@@", "*** ", *BETWEEN_FILES)) or _is_signature(lines, at):
            break
        if line[0] not in " +-\n\\":
            raise PatchSyntax(f"line {at + 1}: a hunk line must begin with ' ', '+' or '-'")
        at += 1
    end = at
    while at > began and lines[at - 1] == "\n":
        at -= 1
    return end if end < len(lines) and lines[end].rstrip() == END_OF_FILE else at


def _is_signature(lines: Sequence[str], at: int) -> bool:
    """Return whether the end of a mail begins at a line: "-- ", and below it a line as no hunk and no file
    has it. Else `--` is a removed line."""
    after = "".join(lines[at + 1 : at + 2])
    is_other = after[:1] not in ("", *" +-@\\\n")
    return (
        lines[at].rstrip() == "--" and is_other and not after.startswith(("*** ", *BETWEEN_FILES))
    )


def _behind(lines: Sequence[str], at: int) -> int:
    """Return the index of the next line that is not empty."""
    return next((n for n in range(at, len(lines)) if lines[n] != "\n"), len(lines))


def _is_file(lines: Sequence[str], at: int) -> bool:
    """Return whether the names of a file begin at a line."""
    names = lines[at : at + 2]
    return len(names) == 2 and names[0].startswith("--- ") and names[1].startswith("+++ ")


def _blocks(lines: Sequence[str], at: int, end: int) -> tuple[list[str], list[str]]:
    """Return the old and the new block of a hunk's lines."""
    old: list[str] = []
    new: list[str] = []
    mark = ""
    for line in lines[at:end]:
        if line.startswith("\\"):  # the line above has no newline
            for block in (old if mark in "- " else [], new if mark in "+ " else []):
                block[-1:] = [each.removesuffix("\n") for each in block[-1:]]
            continue
        mark, text = (" ", "\n") if line == "\n" else (line[0], line[1:].removesuffix("\n") + "\n")
        if mark != "+":
            old.append(text)
        if mark != "-":
            new.append(text)
    return old, new


# --- unified diffs ------------------------------------------------------------------------------


class _Unified:
    """Reads a unified diff. git's lines above the names of a file are collected in `_git`."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._git: dict[str, str] = {}
        self._files: list[FilePatch] = []

    def files(self) -> list[FilePatch]:
        """Return the files. PatchSyntax."""
        lines, at, was_hunk = self._lines, 0, False
        while at < len(lines):
            line = lines[at]
            if _is_file(lines, at):
                at = self._file(at)
                was_hunk = True
                continue
            if line.startswith("@@"):
                raise PatchSyntax(f"line {at + 1}: a hunk with no '--- ' and '+++ ' lines above it")
            if was_hunk and line[0] in "+-" and line.rstrip() != "--":
                raise PatchSyntax(f"line {at + 1}: a changed line that belongs to no hunk")
            was_hunk = was_hunk and not line.startswith(BETWEEN_FILES) and line.rstrip() != "--"
            self._git_line(line)
            at += 1
        self._end_section()
        if not self._files:
            raise PatchSyntax(
                "it names no file: a patch has lines with '--- ' and '+++ ', or '*** Begin Patch'"
            )
        return self._files

    def _git_line(self, line: str) -> None:
        """Note one of git's lines above the names of a file."""
        if line.startswith("diff --git "):
            self._end_section()
            self._git["names"] = line[11:].rstrip("\n")
        for name in GIT_LINES:
            if line.startswith(name):
                if name in self._git:
                    self._end_section()
                self._git[name] = line.removeprefix(name).strip()

    def _end_section(self) -> None:
        """Add the file of git's lines that no names and hunks follow."""
        git, beyond = self._git, self._beyond()
        self._git = {}
        if "rename from " in git and "rename to " in git:
            old, new = _unquoted(git["rename from "]), _unquoted(git["rename to "])
            self._files.append(FilePatch(old, new, (), beyond))
            return
        names = _git_names(git.get("names", ""))
        if names is None:
            return
        if "new file mode " in git:
            self._files.append(FilePatch(None, names[1], (), beyond))
        elif "deleted file mode " in git:
            self._files.append(FilePatch(names[0], None, (), beyond))
        elif beyond:
            self._files.append(FilePatch(names[0], names[1], (), beyond))
        else:
            raise PatchSyntax(f"no change of {names[1]!r} below its 'diff --git' line")

    def _beyond(self) -> str:
        """Name the change in git's lines that no edit of a text can make; "" for no such change."""
        git = self._git
        modes = {git.get("old mode ", ""), git.get("new mode ", "")} - {""}
        created = git.get("new file mode ", "100644")
        if any(name in git for name in ("GIT binary patch", "Binary files ")):
            return "a binary change"
        if "copy from " in git:
            return "a copy of another file"
        if any(mode.startswith("120") for mode in (created, *modes)):
            return "a symlink"
        if any(mode.startswith("160") for mode in (created, *modes)):
            return "a submodule"
        if modes or created != "100644":
            return f"the mode {git.get('new mode ', created)}"
        return ""

    def _file(self, at: int) -> int:
        """Add the file whose names begin at a line, and return the index behind it."""
        old, new = _names(self._lines[at], self._lines[at + 1], self._git.get("names", ""))
        if "rename to " not in self._git and old is not None and new is not None:
            old = new
        beyond = self._beyond()
        self._git = {}
        hunks: list[PatchHunk] = []
        began, at = at, at + 2
        while at < len(self._lines) and self._lines[at].startswith("@@"):
            header = at
            hunk, at = _hunk(self._lines, at)
            if hunk is None:
                raise PatchSyntax(f"line {header + 1}: a hunk that changes nothing")
            hunks.append(hunk)
        if not hunks:
            raise PatchSyntax(f"line {began + 3}: expected a hunk, which begins with '@@'")
        self._files.append(FilePatch(old, new, tuple(hunks), beyond))
        return at


GIT_LINES = (
    *("old mode ", "new mode ", "new file mode ", "deleted file mode ", "copy from "),
    *("rename from ", "rename to ", "GIT binary patch", "Binary files "),
)


def _names(old_line: str, new_line: str, git: str) -> tuple[str | None, str | None]:
    """Return the names of a file in its two lines. git: the names behind `diff --git`."""
    old, new = (_name(line) for line in (old_line, new_line))
    pair = old or new, new or old
    if git and (old is None or new is None):
        both = _git_pair(git)
        pair = both or pair
    bare = _without_prefixes(*pair)
    if bare is None:
        return old and old.removeprefix("a/"), new and new.removeprefix("b/")
    return old and bare[0], new and bare[1]


def _name(line: str) -> str | None:
    name = line[4:].rstrip("\n").split("\t")[0].strip()
    return None if name == "/dev/null" else _unquoted(name)


def _git_names(names: str) -> tuple[str, str] | None:
    """Return the two names behind `diff --git`, without prefixes; None where they cannot be told
    apart."""
    pair = _git_pair(names)
    return pair and (_without_prefixes(*pair) or pair)


def _git_pair(names: str) -> tuple[str, str] | None:
    quoted = re.fullmatch(r'("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)', names)
    if quoted is not None:
        return _unquoted(quoted[1]), _unquoted(quoted[2])
    half = len(names) // 2  # one name with blanks, twice
    old, new = names[:half], names[half + 1 :]
    return (old, new) if names[half : half + 1] == " " and old[2:] == new[2:] else None


def _without_prefixes(old: str | None, new: str | None) -> tuple[str, str] | None:
    """Return two names of one file without the different prefixes that they have; None where they have
    none such."""
    if old is None or new is None or old[:2] == new[:2] or old[2:] != new[2:]:
        return None
    return (old[2:], new[2:]) if {old[:2], new[:2]} <= set(PREFIXES) else None


_ESCAPED = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_SIGNS = dict(zip(b"abtnvfr", b"\a\b\t\n\v\f\r", strict=True))


def _unquoted(name: str) -> str:
    """Return a name that may be in quotes as git quotes one: each byte may be escaped, or none.
    PatchSyntax."""
    if len(name) < 2 or name[0] != '"' or name[-1] != '"':
        return name

    def plain(escaped: re.Match[bytes]) -> bytes:
        sign = escaped[1]
        code = int(sign, 8) if len(sign) == 3 else _SIGNS.get(sign[0], sign[0])
        return bytes([code])

    try:
        data = name[1:-1].encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise PatchSyntax("a name in quotes that is no Unicode") from None
    return _ESCAPED.sub(plain, data).decode("utf-8", "surrogateescape")
