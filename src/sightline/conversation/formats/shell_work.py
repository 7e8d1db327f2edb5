"""What a shell command does and shows, as far as it and its output tell."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, structs

from sightline.conversation import written_files
from sightline.conversation.formats.file_writes import of_patch
from sightline.conversation.tool_calls import Call, field
from sightline.conversation.window.blocks import Deed, Rewrite
from sightline.conversation.written_files import COMMANDS, FOLDERS, line_of, named
from sightline.shell_parsing.command_line import UNNAMED, SimpleCommand
from sightline.shell_parsing.file_effects import (
    SHELLS,
    Reading,
    all_pipelines,
    command_writings,
    pipeline_readings,
)

DEPTH = 16
QUIET = (
    "cd",
    "sleep",
    "set",
    "export",
    "true",
    ":",
    "source",
    ".",
    "mkdir",
    "unset",
    "ulimit",
    "umask",
)
"""Commands that print nothing."""

SEARCH = ("grep", "egrep", "fgrep", "rg", "ag", "ack", "git-grep")
LIST = ("ls", "tree", "find", "fd", "wc", "du", "stat", "file", "which", "pwd", "echo", "printf")
READERS = ("cat", "nl", "bat", "more", "less")
VIEWERS = ("open", "goto", "scroll_down", "scroll_up")
"""Of SWE-agent, whose shell has a window on a file."""

SIFT = (
    "sort",
    "uniq",
    "cut",
    "awk",
    "sed",
    "tr",
    "xargs",
    "head",
    "tail",
    "column",
    "jq",
    "xxd",
    "od",
)
"""Commands that only change what another one prints."""


class Work(Struct, frozen=True):
    """What a command does. readings: one for each file that it prints. between: the texts that it
    prints itself, None where it prints a reading. certain: it prints nothing else."""

    deed: Deed
    paths: tuple[str, ...]
    rewrites: tuple[Rewrite, ...]
    printed: tuple[Reading | str, ...] = ()
    certain: bool = False


def work(call: Call) -> Work:
    """Of a call of a shell."""
    line = command(call)
    start, strip = _start(call)
    pipes = [pipe for pipe in all_pipelines(line, start) if not _is_shell(pipe)]
    written = [_path(each, strip) for pipe in pipes for simple in pipe for each in named(simple)]
    rewrites = tuple(each for pipe in pipes for simple in pipe for each in _put(simple, strip))
    printed, certain = _printed(pipes, strip)
    told = [each.path for each in printed if isinstance(each, Reading) and not each.some]
    deed = _deed(pipes, told, [path for path in written if path is not None], rewrites)
    paths = written if deed in ("edit", "write") else told if deed == "read" else []
    known = tuple(dict.fromkeys(path for path in paths if path is not None))
    certain = certain and ("||" not in line or len(told) < 2)
    return Work(deed, known, rewrites, printed, certain)


def command(call: Call) -> str:
    """The command line; "" where the call has none."""
    if call.arguments is None:
        return call.text
    many = field(call.arguments, "commands")
    lines = [line_of(field(call.arguments, *COMMANDS))]
    lines += many if isinstance(many, list | tuple) else ()
    return "\n".join(line for line in lines if isinstance(line, str))


def _start(call: Call) -> tuple[str, str]:
    """Where a command begins, and what of that is not to be told: nobody knows the folder."""
    folder = field(call.arguments, *FOLDERS) if call.arguments else None
    if isinstance(folder, str) and folder.startswith("/"):
        return folder, ""
    return UNNAMED * DEPTH, UNNAMED * DEPTH


def _path(path: str, strip: str) -> str | None:
    """As the command spells it; None where that is above a folder that nobody knows."""
    if not strip or not path.startswith(UNNAMED):
        return path
    inner = path.removeprefix(strip + "/")
    return None if inner == path else inner


def _is_shell(pipe: list[SimpleCommand]) -> bool:
    word = pipe[0].words[:1]
    return len(pipe) == 1 and bool(word) and (word[0] or "").rpartition("/")[2] in SHELLS


def _put(simple: SimpleCommand, strip: str) -> Iterator[Rewrite]:
    for text in (*simple.bodies, *simple.words):
        if text and written_files.BEGIN in text:
            yield from of_patch(text)
    for each in command_writings(simple):
        path = _path(each.path, strip)
        if path is not None and not path.startswith("/dev/"):
            yield Rewrite(path, "" if each.appended else None, each.text)


def _printed(
    pipes: list[list[SimpleCommand]], strip: str
) -> tuple[tuple[Reading | str, ...], bool]:
    """What is printed in order, and whether that is all."""
    found: list[Reading | str] = []
    certain = True
    for pipe in pipes:
        first = pipe[0].words
        name = (first[0] or "").rpartition("/")[2] if first else ""
        if len(pipe) == 1 and (name in QUIET or (pipe[0].outputs and name != "tee")):
            continue
        if len(pipe) == 1 and name == "echo" and None not in first:
            found.append(" ".join(word or "" for word in first[1:]))
            continue
        readings = [(each, _path(each.path, strip)) for each in pipeline_readings(pipe)]
        found += [structs.replace(each, path=path) for each, path in readings if path is not None]
        certain = certain and bool(readings) and all(p and not e.some for e, p in readings)
    return tuple(found), certain


def _deed(
    pipes: list[list[SimpleCommand]],
    reads: list[str],
    written: list[str],
    rewrites: tuple[Rewrite, ...],
) -> Deed:
    if rewrites:
        return "write" if all(each.old is None for each in rewrites) else "edit"
    names = [_name(simple) for pipe in pipes for simple in pipe]
    if written and any(name in ("sed", "perl", "gsed") for name in names):
        return "edit"
    known = [name for name in names if name not in QUIET and name not in SIFT]
    if any(name in VIEWERS for name in known):
        return "read"
    if (
        written
        or not (known or reads)
        or any(name not in (*SEARCH, *LIST, *READERS) for name in known)
    ):
        return "run"
    if any(name in SEARCH for name in known) and not reads:
        return "search"
    return "read" if reads or any(name in READERS for name in known) else "list"


def _name(simple: SimpleCommand) -> str:
    words = simple.words
    name = (words[0] or "").rpartition("/")[2] if words else ""
    return "git-grep" if name == "git" and words[1:2] == ["grep"] else name
