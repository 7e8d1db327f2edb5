"""What a call puts into files, as its arguments say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sightline.conversation import written_files
from sightline.conversation.tool_calls import Call, field
from sightline.conversation.window.blocks import Rewrite
from sightline.conversation.written_files import IN_ARGS, LISTS, PATHS, TEXTS
from sightline.model.attempts import PatchSyntax, parse_patch

OLD = ("old_string", "old_str", "oldString", "oldText", "old_text", "search", "TargetContent")
NEW = (
    *("new_string", "new_str", "newString", "newText", "new_text", "replace", "new_source"),
    *("ReplacementContent", "replacement", "insert_text", "code_edit", "file_text", "content"),
)
WHOLE = ("content", "file_text", "contents", "CodeContent", "text", "fileText")
LISTED = ("edits", "replacements", "operations")

SEARCH = re.compile(
    r"^(?:<{5,9} ?SEARCH>?|-{5,9} ?SEARCH>?)[^\n]*\n"
    r"(?::start_line:[^\n]*\n)?(?::end_line:[^\n]*\n)?(?:-{5,}\n)?"
    r"(?P<old>.*?)^={5,9}\n(?P<new>.*?)^(?:>{5,9} ?REPLACE|\+{5,9} ?REPLACE)",
    re.MULTILINE | re.DOTALL,
)
"""One piece of a diff as Cline, Roo and aider have models write it."""

MARK = "*** "


def rewrites(call: Call, *, whole: bool) -> tuple[Rewrite, ...]:
    """Of an edit, in order; none where its arguments cannot be read. whole: the tool puts all of a
    file's text."""
    given = call.arguments
    if given is None:
        return tuple(of_patch(call.text))
    path = field(given, *PATHS)
    if isinstance(path, str):
        return tuple(_of_file(path, given, whole=whole))
    text = next((field(given, each) for each in TEXTS if field(given, each)), None)
    if isinstance(text, str):
        return tuple(of_patch(text))
    return tuple(_of_files(given))


def paths(call: Call) -> tuple[str, ...]:
    """The files that a call names."""
    given = call.arguments
    if given is None:
        return written_files.paths(call.text)
    path = field(given, *PATHS)
    if isinstance(path, str):
        return (path.strip(),)
    args = field(given, "args")
    if isinstance(args, str):
        return tuple(path.strip() for path in IN_ARGS.findall(args))
    text = next((field(given, each) for each in TEXTS if field(given, each)), None)
    if isinstance(text, str):
        return written_files.paths(text)
    several = [field(given, each) for each in (*LISTS, "paths")]
    listed = next((each for each in several if isinstance(each, list)), [])
    named = (each if isinstance(each, str) else field(each, *PATHS) for each in listed)
    return tuple(each for each in named if isinstance(each, str))


def _of_file(path: str, given: Mapping[str, Any], *, whole: bool) -> Iterator[Rewrite]:
    path = path.strip()
    several = field(given, *LISTED)
    for each in several if isinstance(several, list) else ():
        yield from _one(path, each)
    diff = field(given, "diff", "patch")
    if isinstance(diff, str):
        yield from _searched(path, diff)
    elif whole:
        text = field(given, *WHOLE)
        if isinstance(text, str):
            yield Rewrite(path, None, text)
    elif not several:
        yield from _one(path, given)


def _one(path: str, given: Any) -> Iterator[Rewrite]:
    old, new = field(given, *OLD), field(given, *NEW)
    if isinstance(new, str):
        yield Rewrite(path, old if isinstance(old, str) else "", new)


def _of_files(given: Mapping[str, Any]) -> Iterator[Rewrite]:
    """Roo's <args> with a <file> for each, or a list of files with their edits."""
    args = field(given, "args")
    for each in re.split(r"</file>", args) if isinstance(args, str) else ():
        named = re.search(r"<path>\s*(.*?)\s*</path>", each, re.DOTALL)
        if named:
            yield from _searched(named[1], each.replace("<![CDATA[", ""))
    for name in LISTS:
        several = field(given, name)
        for each in several if isinstance(several, list) else ():
            path = None if isinstance(each, str) else field(each, *PATHS)
            if isinstance(path, str):
                yield from _of_file(path, each, whole=False)


def _searched(path: str, diff: str) -> Iterator[Rewrite]:
    """The pieces of a diff for one file."""
    pieces = list(SEARCH.finditer(diff))
    for each in pieces:
        yield Rewrite(path, each["old"], each["new"])
    if not pieces and "@@" in diff:
        for hunk in _hunks(diff.splitlines()):
            yield Rewrite(path, *hunk)


def of_patch(text: str) -> Iterator[Rewrite]:
    """The pieces of a patch between *** Begin Patch and *** End Patch, or of a unified diff."""
    if written_files.BEGIN not in text:
        yield from _unified(text)
        return
    for section in re.split(r"^(?=\*\*\* (?:Add|Update|Delete) File:)", text, flags=re.MULTILINE):
        head, _, body = section.partition("\n")
        verb, _, path = head.removeprefix(MARK).partition(" File:")
        lines = [line for line in body.split("\n") if not line.startswith(MARK)]
        if verb == "Add":
            new = "".join(f"{line[1:]}\n" for line in lines if line.startswith("+"))
            yield Rewrite(path.strip(), None, new)
        elif verb == "Update":
            yield from (Rewrite(path.strip(), *hunk) for hunk in _hunks(lines))


def _hunks(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Old and new text of each hunk; a blank line between is one of context."""
    old: list[str] = []
    new: list[str] = []
    while lines and not lines[-1]:
        lines = lines[:-1]
    for line in [*lines, "@@"]:
        if line.startswith("@@"):
            if old != new:
                yield _joined(old), _joined(new)
            old, new = [], []
        elif line[:1] in ("-", "+", " ", ""):
            old += [line[1:]] if line[:1] != "+" else []
            new += [line[1:]] if line[:1] != "-" else []


def _joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _unified(text: str) -> Iterator[Rewrite]:
    try:
        found = parse_patch(text)
    except PatchSyntax:
        return
    for each in found:
        for hunk in each.hunks if each.new else ():
            old = None if each.old is None else "".join(hunk.old)
            yield Rewrite(each.new or "", old, "".join(hunk.new))
