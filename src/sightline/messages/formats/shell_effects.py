"""Work out what a shell command does to files and which files its output shows, as far as the command
and its output tell for certain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from json import loads

from msgspec import Struct, structs

from sightline.messages.blocks import Deed, Excerpt, Rewrite
from sightline.messages.formats.file_excerpts import CUT
from sightline.messages.formats.file_writes import patch_rewrites
from sightline.messages.tool_calls import Call, field
from sightline.messages.written_files import FOLDERS, command_lines, named_outputs
from sightline.model.patches import BEGIN_PATCH
from sightline.shell_parsing.command_line import (
    SHELLS,
    UNNAMED,
    UNNAMED_DEPTH,
    SimpleCommand,
)
from sightline.shell_parsing.file_effects import (
    Reading,
    all_pipelines,
    command_writings,
    pipeline_readings,
    restored_paths,
)

QUIET = (
    *("cd", "sleep", "set", "export", "true", ":", "source", ".", "mkdir", "unset", "ulimit"),
    "umask",
)
"""Commands that print nothing."""

SEARCH = ("grep", "egrep", "fgrep", "rg", "ag", "ack", "git-grep")
LIST = ("ls", "tree", "find", "fd", "wc", "du", "stat", "file", "which", "pwd", "echo", "printf")
READERS = ("cat", "nl", "bat", "more", "less")
VIEWERS = ("open", "goto", "scroll_down", "scroll_up")
"""Commands of SWE-agent, whose shell has a window on a file."""

WINDOW_EDIT = re.compile(r"\s*edit \d+:\d+[^\n]*\n(?:.*\n)?end_of_edit\s*", re.DOTALL)
CREATED = re.compile(r"\s*create ([\w./-]+)\s*")
"""Commands of SWE-agent that change a file. An edit is of the file in the window, which the answer
names; its text is no command."""

FILTERS = (
    *("sort", "uniq", "cut", "awk", "sed", "tr", "xargs", "head", "tail", "column", "jq", "xxd"),
    "od",
)
"""Commands that only change the output of another command."""

Pipeline = list[SimpleCommand]


class ShellEffect(Struct, frozen=True):
    """The effect of a command line. printed: what it prints, in order: a Reading for each file, and
    texts. certain: it prints nothing else. restored: files and folders that it takes back to their
    committed text."""

    deed: Deed
    paths: tuple[str, ...]
    rewrites: tuple[Rewrite, ...]
    printed: tuple[Reading | str, ...] = ()
    certain: bool = False
    restored: tuple[str, ...] = ()


def shell_effect(call: Call) -> ShellEffect:
    """Work out the effect of a shell's call."""
    line = call.text if call.arguments is None else "\n".join(command_lines(call))
    if WINDOW_EDIT.fullmatch(line):
        return ShellEffect("edit", (), ())
    if created := CREATED.fullmatch(line):
        return ShellEffect("write", (created[1],), ())
    folder = field(call.arguments, *FOLDERS) if call.arguments else None
    start = unknown = UNNAMED * UNNAMED_DEPTH
    if isinstance(folder, str) and folder.startswith("/"):
        start, unknown = folder, ""
    pipes = [p for p in all_pipelines(line, start) if len(p) > 1 or _name(p[0]) not in SHELLS]
    commands = [simple for pipe in pipes for simple in pipe]
    spelled = (_spelling(path, unknown) for simple in commands for path in named_outputs(simple))
    written = [path for path in spelled if path is not None]
    rewrites = tuple(rewrite for simple in commands for rewrite in _rewrites(simple, unknown))
    printed, certain = _printed(pipes, unknown)
    read = [item.path for item in printed if isinstance(item, Reading) and not item.some]
    deed = _deed({_name(simple) for simple in commands}, read, written)
    if rewrites:
        deed = "write" if all(rewrite.old is None for rewrite in rewrites) else "edit"
    paths = written if deed in ("edit", "write") else read if deed == "read" else []
    certain = certain and ("||" not in line or len(read) < 2)
    taken_back = (_spelling(path, unknown) for each in commands for path in restored_paths(each))
    restored = tuple(path for path in taken_back if path is not None)
    return ShellEffect(deed, tuple(dict.fromkeys(paths)), rewrites, printed, certain, restored)


def _spelling(path: str, unknown: str) -> str | None:
    """Return a path as the command spells it; None above the unknown folder that it starts in."""
    if not unknown or not path.startswith(UNNAMED):
        return path
    inner = path.removeprefix(unknown + "/")
    return None if inner == path else inner


def _name(simple: SimpleCommand) -> str:
    is_git_grep = simple.program == "git" and simple.words[1:2] == ["grep"]
    return "git-grep" if is_git_grep else simple.program


def _rewrites(simple: SimpleCommand, unknown: str) -> Iterator[Rewrite]:
    for text in (*simple.bodies, *simple.words):
        if text and BEGIN_PATCH in text:
            yield from patch_rewrites(text)
    for writing in command_writings(simple):
        path = _spelling(writing.path, unknown)
        if path is not None and not path.startswith("/dev/"):
            yield Rewrite(path, "" if writing.appended else None, writing.text)


def _printed(pipes: list[Pipeline], unknown: str) -> tuple[tuple[Reading | str, ...], bool]:
    """Return what is printed, in order, and whether that is all."""
    printed: list[Reading | str] = []
    certain = True
    for pipe in pipes:
        words, name = pipe[0].words, _name(pipe[0])
        if len(pipe) == 1 and (name in QUIET or (pipe[0].outputs and name != "tee")):
            continue
        if len(pipe) == 1 and name == "echo" and None not in words:
            printed.append(" ".join(word or "" for word in words[1:]))
            continue
        readings = pipeline_readings(pipe)
        paths = [_spelling(reading.path, unknown) for reading in readings]
        named = zip(readings, paths, strict=True)
        printed += [structs.replace(reading, path=path) for reading, path in named if path]
        certain = certain and bool(readings) and all(paths) and not any(r.some for r in readings)
    return tuple(printed), certain


def _deed(names: set[str], read: list[str], written: list[str]) -> Deed:
    """Return what commands do that write no known text."""
    if written and not names.isdisjoint(("sed", "perl", "gsed")):
        return "edit"
    names -= {*QUIET, *FILTERS}
    if not names.isdisjoint(VIEWERS):
        return "read"
    if written or not (names or read) or names - {*SEARCH, *LIST, *READERS}:
        return "run"
    if not names.isdisjoint(SEARCH) and not read:
        return "search"
    return "read" if read or not names.isdisjoint(READERS) else "list"


# --- outputs

HEAD = re.compile(
    r"\A(?:Chunk ID: [^\n]*\n|Wall time: [^\n]*\n|Process (?:exited|running) [^\n]*\n"
    r"|Exit code: [^\n]*\n|Original token count: [^\n]*\n|Total output lines: [^\n]*\n)+"
    r"(?:Output:\n)?"
)
"""Lines that Codex puts before an output."""

EXITED = re.compile(
    r"(?:Process exited with code|Exit code:|<returncode>|\"exit_code\":) ?(-?\d{1,9})"
)
ENDED = re.compile(
    r"\n?(?:<(?:shellId: \S+ completed|exited) with exit code (-?\d{1,9})>"
    r"|\[The command completed with exit code (-?\d{1,9})\.\])\s*\Z"
)
"""Lines that Copilot and OpenHands put behind an output."""

TAGGED = re.compile(r"\A<returncode>-?\d+</returncode>\s*<output>\n?(.*?)\n?</output>", re.DOTALL)
RESET = re.compile(r"\nShell cwd was reset to [^\n]*\s*\Z")
NUMBERED = re.compile(r"[ \t]*(\d{1,9})\t(.*)")


def split_output(text: str) -> tuple[str, int | None]:
    """Split a result into the command's output and its exit code, None where unknown."""
    match = EXITED.search(text, 0, 400)
    code = int(match[1]) if match else None
    if text.startswith('{"output"'):  # older versions of Codex
        try:
            result = loads(text)
        except ValueError:
            return text, code
        own = (result.get("metadata") or {}).get("exit_code")
        return str(result.get("output") or ""), own if isinstance(own, int) else code
    if tagged := TAGGED.match(text):
        return tagged[1], code
    if ended := ENDED.search(text, max(len(text) - 200, 0)):
        return text[: ended.start()], int(ended[1] or ended[2])
    head = HEAD.match(text)
    return text[head.end() if head else 0 :], code


def output_excerpts(effect: ShellEffect, text: str, *, trims: bool) -> tuple[Excerpt, ...]:
    """Return the lines of files in a command's result. trims: the host removes blank lines from both
    ends of an output."""
    readings = [item for item in effect.printed if isinstance(item, Reading)]
    if not readings or not effect.certain or CUT.search(text):
        return ()
    output, code = split_output(text)
    if code not in (None, 0) or not output.strip("\n"):
        return ()
    rows = RESET.sub("", output).split("\n")
    pieces = _split_rows(effect.printed, rows if rows[-1] else rows[:-1])
    pairs = zip(readings, pieces, strict=True) if pieces is not None else ()
    return tuple(e for reading, piece in pairs for e in _excerpts(reading, piece, trims=trims))


def _split_rows(printed: Sequence[Reading | str], rows: list[str]) -> list[list[str]] | None:
    """Return the rows of each reading; None where that is not certain."""
    pieces: list[list[str]] = []
    waiting = 0
    for item in printed:
        if isinstance(item, Reading):
            waiting += 1
            continue
        if waiting > 1 or rows.count(item) != 1:
            return None
        position = rows.index(item)
        if not waiting and position:
            return None
        pieces += [rows[:position]] if waiting else []
        rows, waiting = rows[position + 1 :], 0
    rest = [item for item in printed if isinstance(item, Reading)][len(pieces) :]
    if len(rest) == 1:
        return [*pieces, rows]
    counts = [_line_count(reading) for reading in rest]
    if sum(filter(None, counts)) != len(rows) or None in counts:
        return None
    for count in counts:
        pieces.append(rows[:count])
        rows = rows[count:]
    return pieces


def _line_count(reading: Reading) -> int | None:
    """Return how many lines a reading prints of a file that is long enough."""
    if len(reading.cuts) != 1 or any(first < 1 or last < 1 for first, last in reading.cuts[0]):
        return None
    return sum(last - first + 1 for first, last in reading.cuts[0])


def _excerpts(reading: Reading, rows: list[str], *, trims: bool) -> Iterator[Excerpt]:
    if reading.numbered:
        matches = [match for row in rows if (match := NUMBERED.fullmatch(row))]
        numbers = [int(match[1]) for match in matches]
        first = numbers[0] if numbers else 0
        if numbers and len(numbers) == len(rows) and numbers == [*range(first, first + len(rows))]:
            whole = first == 1 and not reading.cuts
            text = "\n".join(match[2] for match in matches)
            yield Excerpt(reading.path, first, text, len(rows) if whole else None, whole)
    elif not reading.cuts:
        yield Excerpt(reading.path, 1, "\n".join(rows), len(rows), whole=True)
    elif (count := _line_count(reading)) is not None:
        cut = reading.cuts[0]
        if count == len(rows):
            for first, last in cut:
                yield Excerpt(reading.path, first, "\n".join(rows[: last - first + 1]))
                rows = rows[last - first + 1 :]
        elif len(rows) < count and len(cut) == 1 and rows and not (trims and cut[0][0] > 1):
            first = cut[0][0]
            total = first + len(rows) - 1
            yield Excerpt(reading.path, first, "\n".join(rows), total, first == 1)
