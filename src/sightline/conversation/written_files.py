"""Which files a call may have written, by a table of the tools that do.

A tool that is not in it says nothing: that it is given a path does not make it an edit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sightline.conversation.tool_calls import Call, field
from sightline.model.attempts import PatchSyntax, parse_patch
from sightline.shell_parsing.command_line import SimpleCommand, absolute_path
from sightline.shell_parsing.file_effects import all_pipelines

Words = list[str]

Arguments = Mapping[str, Any]


def written_by_command(command: str, cwd: str) -> tuple[str, ...]:
    """Absolute paths, in order. cwd: an absolute folder. A command may write more than it names."""
    found = (
        path for pipe in all_pipelines(command, cwd) for simple in pipe for path in named(simple)
    )
    return tuple(dict.fromkeys(found))


def named(simple: SimpleCommand) -> Iterator[str]:
    """The files that one command says it writes."""
    targets = [target for target, _ in simple.outputs]
    for text in (*simple.words, *simple.bodies):
        targets += paths(text) if text and BEGIN in text else ()
    name = (simple.words[0] or "").rpartition("/")[2] if simple.words else ""
    if name in _WRITERS:
        targets += _WRITERS[name]([word for word in simple.words[1:] if word])
    for target in targets:
        path = absolute_path(simple.cwd, target)
        if path is not None:
            yield path


def _operands(words: Words) -> Words:
    return [word for word in words if not word.startswith("-")]


def _in_place(words: Words) -> Words:
    """Of sed and perl: the files behind the script, with -i."""
    if not any(_is_in_place(word) for word in words):
        return []
    files: Words = []
    scripts = 0
    takes = False
    for word in words:
        if takes or word.startswith("-"):
            scripts += takes or word.startswith("--expression=")
            takes = not takes and word in (
                "-e",
                "-f",
                "-pe",
                "-pie",
                "-ne",
                "--expression",
                "--file",
            )
        else:
            files.append(word)
    return files if scripts else files[1:]


def _is_in_place(word: str) -> bool:
    short = word[:1] == "-" and word[1:2] != "-"
    return word.startswith("--in-place") or (short and "i" in word)


def _moved_operands(words: Words) -> Words:
    """Of mv: what goes, and what it becomes."""
    return [*_operands(words)[:-1], *_copied(words)]


def _copied(words: Words) -> Words:
    *sources, last = _operands(words) or [""]
    if last.endswith("/"):
        return [f"{last}{each.rstrip('/').rpartition('/')[2]}" for each in sources]
    return [last] if sources else []


_WRITERS: dict[str, Callable[[Words], Words]] = {
    "tee": _operands,
    "rm": _operands,
    "unlink": _operands,
    "touch": _operands,
    "sed": _in_place,
    "gsed": _in_place,
    "perl": _in_place,
    "mv": _moved_operands,
    "cp": _copied,
}

BEGIN = "*** Begin Patch"

HEADER = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): *(\S.*)$", re.MULTILINE)


def paths(text: str) -> tuple[str, ...]:
    """The files that it makes, changes, deletes and renames, in order; none where it cannot be
    read as a patch."""
    named = [path.strip() for path in HEADER.findall(text)]
    unified = [] if named else _unified(text)
    named += [path for each in unified for path in each if path is not None]
    return tuple(dict.fromkeys(named))


def _unified(text: str) -> list[tuple[str | None, str | None]]:
    try:
        return [(each.old, each.new) for each in parse_patch(text)]
    except PatchSyntax:
        return []


PATHS = (
    *("file_path", "path", "filePath", "filepath", "absolutePath", "absolute_path", "target_file"),
    *("TargetFile", "notebook_path", "relative_path", "filename", "file"),
)
"""What tools call the file that they write."""

LISTS = ("fileChanges", "file_changes", "files", "changes", "replacements", "edits")
"""Where tools have several files in one call, each with its path."""

ENDS = (
    *("source", "destination", "old_path", "new_path", "oldPath", "newPath", "src", "dst"),
    *("from", "to", "path"),
)
"""The two ends of a move."""

COMMANDS = ("command", "cmd", "CommandLine", "script")
FOLDERS = ("workdir", "working_directory", "working_dir", "cwd", "Cwd", "dir_path", "directory")
TEXTS = ("patch", "patchText", "patch_text", "input", "diff", "unified_diff")

IN_ARGS = re.compile(r"<file>\s*<path>([^<]*)</path>")
"""The files in a call whose tags hold further tags."""


def written(call: Call, cwd: str) -> tuple[str, ...] | None:
    """The files that a call may have written, by their paths as it spells them; of a command those
    that it names. None: it is an edit, and cannot be read. cwd: the absolute folder that commands
    and relative paths begin in."""
    read = _TOOLS.get(plain(call.name))
    found = () if read is None else read(call, cwd)
    if found is None:
        return None
    known = [path for path in found if not path.startswith("~/")]  # whose home, nobody knows
    return tuple(dict.fromkeys(absolute_path(cwd, path) or path for path in known))


def plain(name: str) -> str:
    """A tool's name without its server's, and however it is written."""
    return re.sub(r"[^a-z0-9]", "", re.split(r"__|[./:]", name)[-1].lower())


def _file(call: Call, _cwd: str) -> tuple[str, ...] | None:
    """One file, or several in a list."""
    given = call.arguments
    if given is None:
        return None
    named = field(given, *PATHS)
    if named is not None:
        return (named.strip(),) if isinstance(named, str) and named.strip() else None
    inner = field(given, "args")
    if isinstance(inner, str):
        return tuple(path.strip() for path in IN_ARGS.findall(inner)) or None
    return tuple(_listed(given)) or None


def _listed(given: Arguments) -> Iterator[str]:
    for name in LISTS:
        several = field(given, name)
        for each in several if isinstance(several, list | tuple) else ():
            named = None if isinstance(each, str) else field(each, *PATHS)
            if isinstance(named, str) and named:
                yield named


def _ordered(call: Call, cwd: str) -> tuple[str, ...] | None:
    """A tool of several commands, one of which only looks."""
    order = field(call.arguments, "command", "action")
    return () if order == "view" else _file(call, cwd)


def _patched(call: Call, cwd: str) -> tuple[str, ...] | None:
    texts = [field(call.arguments, each) for each in TEXTS] if call.arguments else [call.text]
    found = [path for text in texts if isinstance(text, str) for path in paths(text)]
    return tuple(found) or _file(call, cwd)


def _moved(call: Call, _cwd: str) -> tuple[str, ...] | None:
    found = [field(call.arguments, end) for end in ENDS]
    return tuple(path for path in found if isinstance(path, str) and path) or None


def _ran(call: Call, cwd: str) -> tuple[str, ...]:
    """A shell's commands. One that cannot be read is no edit that is known of."""
    folder = field(call.arguments, *FOLDERS)
    start = absolute_path(cwd, folder) if isinstance(folder, str) else cwd
    one, many = field(call.arguments, *COMMANDS), field(call.arguments, "commands")
    lines = [line_of(one), *(many if isinstance(many, list | tuple) else ())]
    return tuple(
        path
        for line in lines
        if isinstance(line, str) and line
        for path in written_by_command(line, start or cwd)
    )


def line_of(command: object) -> object:
    """A command line; of a list of words one that means the same."""
    if not isinstance(command, list | tuple):
        return command
    if not all(isinstance(word, str) for word in command):
        return None
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in command)


_TOOLS: dict[str, Callable[[Call, str], tuple[str, ...] | None]] = {
    **dict.fromkeys(
        (
            *("edit", "write", "multiedit", "notebookedit", "replace", "create", "strreplace"),
            *("editfile", "writefile", "createfile", "deletefile", "editnotebook"),
            *("editnotebookfile", "writetofile", "replaceinfile", "applydiff", "insertcontent"),
            *("searchandreplace", "searchreplace", "newrule", "applychanges"),
            *("inserteditintofile", "replacestringinfile", "multireplacestringinfile"),
            *("replacefilecontent", "multireplacefilecontent", "fsappend"),
            *("editedexistingfile", "newfilecreated", "filedeleted", "applieddiff"),
        ),
        _file,
    ),
    **dict.fromkeys(
        ("strreplaceeditor", "strreplacebasededittool", "texteditor", "fileeditor", "fswrite"),
        _ordered,
    ),
    **dict.fromkeys(("applypatch", "patch"), _patched),
    **dict.fromkeys(("movefile", "renamefile"), _moved),
    **dict.fromkeys(
        (
            *("bash", "shell", "shellcommand", "localshell", "execcommand", "executecommand"),
            *("runshellcommand", "runcommand", "runterminalcmd", "runinterminal", "executebash"),
            *("terminal", "runterminalcommand"),
        ),
        _ran,
    ),
}
