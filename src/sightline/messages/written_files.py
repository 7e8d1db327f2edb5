"""Find the files that a tool call may write.

A tool that tool_names does not know writes nothing: a path in its arguments does not make it an edit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sightline.messages.tool_calls import Call, field
from sightline.messages.tool_names import MOVES, PATCHES, SHELLS, deed_of, plain_name
from sightline.model.patches import BEGIN_PATCH, PatchSyntax, parse_patch
from sightline.shell_parsing.command_line import SimpleCommand, absolute_path
from sightline.shell_parsing.file_effects import all_pipelines

PATHS = (
    *("file_path", "path", "filePath", "filepath", "absolutePath", "absolute_path", "target_file"),
    *("TargetFile", "notebook_path", "relative_path", "filename", "file"),
)
"""Arguments that name a file."""

LISTS = ("fileChanges", "file_changes", "files", "changes", "replacements", "edits")
"""Arguments that list several files, each with its path."""

PATH_LISTS = ("files", "paths")
"""Arguments that list paths."""

ENDS = (
    *("source", "destination", "old_path", "new_path", "oldPath", "newPath", "src", "dst"),
    *("from", "to", "path"),
)
"""Arguments with the two ends of a move."""

COMMANDS = ("command", "cmd", "CommandLine", "script")
FOLDERS = ("workdir", "working_directory", "working_dir", "cwd", "Cwd", "dir_path", "directory")
TEXTS = ("patch", "patchText", "patch_text", "input", "diff", "unified_diff")

FILE_TAG = re.compile(r"<file>\s*<path>([^<]*)</path>")
"""A file in an argument that holds further tags."""


def files_written(call: Call, cwd: str) -> tuple[str, ...] | None:
    """Return the files that a call may write, as its arguments spell them; for a shell, those that
    the command names. None for an edit that cannot be parsed. cwd: the absolute folder in which
    commands and relative paths start."""
    name = plain_name(call.name)
    if name in SHELLS:
        folder = field(call.arguments, *FOLDERS)
        start = absolute_path(cwd, folder) if isinstance(folder, str) else None
        lines = command_lines(call)
        paths = tuple(p for line in lines for p in files_written_by_command(line, start or cwd))
    elif deed_of(call) not in ("edit", "write"):
        return ()
    elif name in MOVES:
        ends = (field(call.arguments, end) for end in ENDS)
        paths = tuple(end for end in ends if isinstance(end, str) and end)
    elif name in PATCHES or call.arguments is not None:
        paths = paths_of(call)
    else:
        return None
    if not paths and name not in SHELLS:
        return None
    known = [path for path in paths if not path.startswith("~/")]  # of an unknown user
    return tuple(dict.fromkeys(absolute_path(cwd, path) or path for path in known))


def paths_of(call: Call) -> tuple[str, ...]:
    """Return the paths in the arguments of a call that reads or edits files."""
    arguments = call.arguments
    if arguments is None:
        return patch_paths(call.text)
    path, tags = field(arguments, *PATHS), field(arguments, "args")
    if isinstance(path, str):
        return (path.strip(),) if path.strip() else ()
    if isinstance(tags, str):
        return tuple(path.strip() for path in FILE_TAG.findall(tags))
    texts = [text for name in TEXTS if isinstance(text := field(arguments, name), str) and text]
    if texts:
        return tuple(path for text in texts for path in patch_paths(text))
    paths: list[object] = []
    for name in dict.fromkeys((*LISTS, *PATH_LISTS)):
        items = field(arguments, name)
        for item in items if isinstance(items, list | tuple) else ():
            is_path = isinstance(item, str) and name in PATH_LISTS
            paths.append(item if is_path else field(item, *PATHS))
    return tuple(path for path in paths if isinstance(path, str) and path)


def patch_paths(text: str) -> tuple[str, ...]:
    """Return the files that a patch creates, changes, deletes and renames, in order; none for a text
    that is no patch."""
    try:
        paths = [
            path for file in parse_patch(text, may_be_cut=True) for path in (file.old, file.new)
        ]
    except PatchSyntax:
        return ()
    return tuple(dict.fromkeys(path for path in paths if path is not None))


def command_lines(call: Call) -> list[str]:
    """Return the command lines in a shell's arguments. A list of words becomes a line that means
    the same."""
    command = field(call.arguments, *COMMANDS)
    if isinstance(command, list | tuple):
        is_text = all(isinstance(word, str) for word in command)
        quoted = ("'" + word.replace("'", "'\\''") + "'" for word in command) if is_text else ()
        command = " ".join(quoted)
    more = field(call.arguments, "commands")
    lines = [command, *(more if isinstance(more, list | tuple) else ())]
    return [line for line in lines if isinstance(line, str) and line]


def files_written_by_command(command: str, cwd: str) -> tuple[str, ...]:
    """Return the absolute paths that a command line says it writes, in order. cwd: an absolute
    folder. The command may write more files."""
    pipes = all_pipelines(command, cwd)
    paths = (path for pipe in pipes for simple in pipe for path in named_outputs(simple))
    return tuple(dict.fromkeys(paths))


def named_outputs(simple: SimpleCommand) -> Iterator[str]:
    """Return the files that one simple command says it writes."""
    targets = [target for target, _ in simple.outputs]
    for text in (*simple.words, *simple.bodies):
        targets += patch_paths(text) if text and BEGIN_PATCH in text else ()
    name = (simple.words[0] or "").rpartition("/")[2] if simple.words else ""
    words = [word for word in simple.words[1:] if word]
    operands = [word for word in words if not word.startswith("-")]
    if name in ("tee", "rm", "unlink", "touch"):
        targets += operands
    elif name in ("sed", "gsed", "perl"):
        targets += _edited_in_place(words)
    elif name in ("mv", "cp"):
        *sources, last = operands or [""]
        targets += sources if name == "mv" else ()
        if last.endswith("/"):
            targets += [f"{last}{source.rstrip('/').rpartition('/')[2]}" for source in sources]
        elif sources:
            targets.append(last)
    for target in targets:
        path = absolute_path(simple.cwd, target)
        if path is not None:
            yield path


SCRIPT_OPTIONS = ("-e", "-f", "-pe", "-pie", "-ne", "--expression", "--file")


def _edited_in_place(words: list[str]) -> list[str]:
    """Return the files that sed or perl edits: the words behind the script, if -i is given."""
    if not any(word.startswith("--in-place") or re.match("-[^-]*i", word) for word in words):
        return []
    files: list[str] = []
    has_script = is_script = False
    for word in words:
        if is_script or word.startswith("-"):
            has_script = has_script or is_script or word.startswith("--expression=")
            is_script = not is_script and word in SCRIPT_OPTIONS
        else:
            files.append(word)
    return files if has_script else files[1:]
