"""Which files a call may have written, by a table of the tools that do.

A tool that is not in it says nothing: that it is given a path does not make it an edit.
"""

from __future__ import annotations

import re

from sightline.core.calls import commands, patches
from sightline.core.calls.call import field
from sightline.core.commandline import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from sightline.core.calls.call import Call

    Arguments = Mapping[str, Any]

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
    return tuple(dict.fromkeys(joined(cwd, path) or path for path in known))


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
    found = [path for text in texts if isinstance(text, str) for path in patches.paths(text)]
    return tuple(found) or _file(call, cwd)


def _moved(call: Call, _cwd: str) -> tuple[str, ...] | None:
    found = [field(call.arguments, end) for end in ENDS]
    return tuple(path for path in found if isinstance(path, str) and path) or None


def _ran(call: Call, cwd: str) -> tuple[str, ...]:
    """A shell's commands. One that cannot be read is no edit that is known of."""
    folder = field(call.arguments, *FOLDERS)
    start = joined(cwd, folder) if isinstance(folder, str) else cwd
    one, many = field(call.arguments, *COMMANDS), field(call.arguments, "commands")
    lines = [line_of(one), *(many if isinstance(many, list | tuple) else ())]
    return tuple(
        path
        for line in lines
        if isinstance(line, str) and line
        for path in commands.written(line, start or cwd)
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
