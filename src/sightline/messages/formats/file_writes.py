"""Read the texts that a call writes into files from the call's arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sightline.messages.blocks import Rewrite
from sightline.messages.tool_calls import Call, field
from sightline.messages.written_files import LISTS, PATHS, TEXTS
from sightline.model.patches import PatchSyntax, parse_patch

OLD = ("old_string", "old_str", "oldString", "oldText", "old_text", "search", "TargetContent")
NEW = (
    *("new_string", "new_str", "newString", "newText", "new_text", "replace", "new_source"),
    *("ReplacementContent", "replacement", "insert_text", "code_edit", "file_text", "content"),
)
WHOLE = ("content", "file_text", "contents", "CodeContent", "text", "fileText")
EDIT_LISTS = ("edits", "replacements", "operations")
"""Arguments that list several edits of one file."""

SEARCH = re.compile(
    r"^(?:<{5,9} ?SEARCH>?|-{5,9} ?SEARCH>?)[^\n]*\n"
    r"(?::start_line:[^\n]*\n)?(?::end_line:[^\n]*\n)?(?:-{5,}\n)?"
    r"(?P<old>.*?)^={5,9}\n(?P<new>.*?)^(?:>{5,9} ?REPLACE|\+{5,9} ?REPLACE)",
    re.MULTILINE | re.DOTALL,
)
"""A SEARCH/REPLACE block of Cline, Roo and aider."""


def rewrites(call: Call, *, whole: bool) -> tuple[Rewrite, ...]:
    """Return the rewrites of a call, in order; none where its arguments cannot be parsed. whole: the
    tool writes whole files."""
    arguments = call.arguments
    if arguments is None:
        return tuple(patch_rewrites(call.text))
    path = field(arguments, *PATHS)
    if isinstance(path, str):
        return tuple(_file_rewrites(path, arguments, whole=whole))
    text = next((field(arguments, name) for name in TEXTS if field(arguments, name)), None)
    if isinstance(text, str):
        return tuple(patch_rewrites(text))
    return tuple(_files_rewrites(arguments))


def _file_rewrites(path: str, arguments: Mapping[str, Any], *, whole: bool) -> Iterator[Rewrite]:
    path = path.strip()
    edits = field(arguments, *EDIT_LISTS)
    for edit in edits if isinstance(edits, list) else ():
        yield from _edit_rewrite(path, edit)
    diff = field(arguments, "diff", "patch")
    if isinstance(diff, str):
        yield from _diff_rewrites(path, diff)
    elif whole:
        text = field(arguments, *WHOLE)
        if isinstance(text, str):
            yield Rewrite(path, None, text)
    elif not edits:
        yield from _edit_rewrite(path, arguments)


def _edit_rewrite(path: str, edit: Any) -> Iterator[Rewrite]:
    old, new = field(edit, *OLD), field(edit, *NEW)
    if isinstance(new, str):
        yield Rewrite(path, old if isinstance(old, str) else "", new)


def _files_rewrites(arguments: Mapping[str, Any]) -> Iterator[Rewrite]:
    """Return the rewrites of several files: Roo's <args> with <file> tags, or a list of files."""
    tags = field(arguments, "args")
    for tag in tags.split("</file>") if isinstance(tags, str) else ():
        match = re.search(r"<path>\s*(.*?)\s*</path>", tag, re.DOTALL)
        if match:
            yield from _diff_rewrites(match[1], tag.replace("<![CDATA[", ""))
    for name in LISTS:
        files = field(arguments, name)
        for file in files if isinstance(files, list) else ():
            path = None if isinstance(file, str) else field(file, *PATHS)
            if isinstance(path, str):
                yield from _file_rewrites(path, file, whole=False)


def _diff_rewrites(path: str, diff: str) -> Iterator[Rewrite]:
    """Return the rewrites of a diff of one file."""
    matches = list(SEARCH.finditer(diff))
    for match in matches:
        yield Rewrite(path, match["old"], match["new"])
    if not matches and "@@" in diff:
        for old, new in _hunks(diff.splitlines()):
            yield Rewrite(path, old, new)


def patch_rewrites(text: str) -> Iterator[Rewrite]:
    """Return the rewrites of a patch; none of a text that cannot be read as one."""
    try:
        files = parse_patch(text, may_be_cut=True)
    except PatchSyntax:
        return
    for file in files:
        for hunk in file.hunks if file.new is not None else ():
            before = None if file.old is None else "".join(hunk.old)
            yield Rewrite(file.new or "", before, "".join(hunk.new))


def _hunks(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Return the old and new text of each hunk. A blank line in a hunk is context."""
    old = new = ""
    while lines and not lines[-1]:
        lines = lines[:-1]
    for line in [*lines, "@@"]:
        if line.startswith("@@"):
            if old != new:
                yield old, new
            old = new = ""
        elif line[:1] in ("-", "+", " ", ""):
            old += f"{line[1:]}\n" if line[:1] != "+" else ""
            new += f"{line[1:]}\n" if line[:1] != "-" else ""
