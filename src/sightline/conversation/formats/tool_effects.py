"""What is known of the tools of coding agents: what a call of one does, to which files; what its
result shows of them.

What a command printed: its output apart from what hosts put around it, and the lines of files
in it. Only what command and output tell for certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from json import loads

from msgspec import Struct

from sightline.conversation.formats import file_excerpts
from sightline.conversation.formats.file_excerpts import CUT
from sightline.conversation.formats.file_writes import paths, rewrites
from sightline.conversation.formats.shell_work import Work, work
from sightline.conversation.tool_calls import Call, field
from sightline.conversation.window.blocks import Deed, Excerpt, Rewrite
from sightline.conversation.written_files import plain
from sightline.shell_parsing.file_effects import Reading

SHELLS = frozenset(
    [
        *("bash", "shell", "shellcommand", "localshell", "execcommand", "executecommand"),
        *("runshellcommand", "runcommand", "runterminalcmd", "runinterminal", "executebash"),
        *("terminal", "runterminalcommand", "powershell", "containerexec"),
    ]
)
ORDERED = frozenset(
    ["strreplaceeditor", "strreplacebasededittool", "texteditor", "fileeditor", "fswrite"]
)
"""Tools of several commands."""

ORDERS: dict[str, Deed] = {"view": "read", "create": "write"}

DEEDS: dict[str, tuple[str, ...]] = {
    "read": (
        *("read", "readfile", "view", "readmanyfiles", "notebookread", "viewfile", "openfile"),
        *("fsread", "readfiles", "viewimage", "readtextfile", "getfilecontents", "open"),
    ),
    "edit": (
        *("edit", "multiedit", "notebookedit", "replace", "strreplace", "applypatch", "patch"),
        *("editfile", "applydiff", "replaceinfile", "searchreplace", "searchandreplace"),
        *("insertcontent", "editnotebook", "replacestringinfile", "inserteditintofile"),
        *("multireplacestringinfile", "replacefilecontent", "multireplacefilecontent"),
        *("editnotebookfile", "applychanges", "deletefile", "movefile", "renamefile"),
    ),
    "write": (
        *("write", "create", "writefile", "writetofile", "createfile", "newrule", "savefile"),
    ),
    "search": (
        *("grep", "searchfiles", "searchfilecontent", "grepsearch", "codebasesearch", "search"),
        *("rg", "semanticsearch", "findinfiles", "searchcode", "searchtext", "codesearch"),
        *("searchdir", "searchfile", "toolsearch", "lsp"),
    ),
    "list": (
        *("glob", "ls", "list", "listdir", "listfiles", "listdirectory", "findfile", "filesearch"),
        *("listcodedefinitionnames", "globfilesearch", "findbyname", "findfiles"),
    ),
    "run": ("bashoutput", "killshell", "writestdin", "taskoutput", "killbash", "readbash"),
    "web": (
        *("webfetch", "websearch", "googlewebsearch", "fetch", "browseraction", "fetchurl"),
        *("fetchwebpage", "readurlcontent", "searchweb"),
    ),
    "plan": (
        *("todowrite", "todoread", "updateplan", "exitplanmode", "enterplanmode", "plan"),
        *("updatetodolist", "writetodos", "askuserquestion", "askuser", "askfollowupquestion"),
        *("attemptcompletion", "skill", "taskcreate", "taskupdate", "tasklist", "taskget"),
        *("planmoderespond", "switchmode", "newtask", "reportintent", "useskill", "question"),
        *("activateskill", "savememory", "think", "finish", "submit", "requestuserinput"),
    ),
}
KNOWN: dict[str, Deed] = {name: deed for deed, names in DEEDS.items() for name in names}  # type: ignore[misc]


class Told(Struct, frozen=True):
    """What a call says. work: of a command."""

    call: Call
    deed: Deed
    paths: tuple[str, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    work: Work | None = None


def told(call: Call) -> Told:
    """What a call does, as far as its tool is known and its arguments can be read."""
    name = plain(call.name)
    if name in SHELLS:
        done = work(call)
        return Told(call, done.deed, done.paths, done.rewrites, done)
    deed = KNOWN.get(name, "other")
    if name in ORDERED:
        deed = ORDERS.get(str(field(call.arguments, "command")), "edit")
    if deed not in ("read", "edit", "write"):
        return Told(call, deed)
    made = () if deed == "read" else rewrites(call, whole=deed == "write")
    return Told(call, deed, tuple(dict.fromkeys(paths(call))), made)


def shown(told: Told, text: str) -> tuple[Excerpt, ...]:
    """What a result shows of files; nothing where it is not sure."""
    if text.startswith("[File: "):
        return file_excerpts.window(text)
    if told.work is not None:
        return shown_by_command(told.work, text, trims=told.call.name == "Bash")
    if told.deed != "read" or ("<file>" not in text and len(told.paths) != 1):
        return ()
    return file_excerpts.shown(told.call, told.paths[0] if told.paths else None, text)


def failed(told: Told, text: str) -> bool:
    """Whether a result says that its call failed, where the format has no word for it."""
    if told.work is not None:
        return output(text)[1] not in (None, 0)
    head = text[:200].lstrip()
    return head.startswith(("<tool_use_error>", "apply_patch verification failed", "Error: "))


CODE = re.compile(
    r"\A(?:Chunk ID: [^\n]*\n|Wall time: [^\n]*\n|Process (?:exited|running) [^\n]*\n"
    r"|Exit code: [^\n]*\n|Original token count: [^\n]*\n|Total output lines: [^\n]*\n)+"
    r"(?:Output:\n)?"
)
"""What Codex says before an output."""

EXITED = re.compile(
    r"(?:Process exited with code|Exit code:|<returncode>|\"exit_code\":) ?(-?\d{1,9})"
)
ENDED = re.compile(
    r"\n?(?:<(?:shellId: \S+ completed|exited) with exit code (-?\d{1,9})>"
    r"|\[The command completed with exit code (-?\d{1,9})\.\])\s*\Z"
)
"""What Copilot and OpenHands say behind an output."""

TAGGED = re.compile(r"\A<returncode>-?\d+</returncode>\s*<output>\n?(.*?)\n?</output>", re.DOTALL)
RESET = re.compile(r"\nShell cwd was reset to [^\n]*\s*\Z")
NUMBERED = re.compile(r"[ \t]*(\d{1,9})\t(.*)")


def output(text: str) -> tuple[str, int | None]:
    """The output itself, and the exit code where the host tells it."""
    code = EXITED.search(text, 0, 400)
    exited = int(code[1]) if code else None
    if text.startswith('{"output"'):
        return _json(text, exited)
    if tagged := TAGGED.match(text):
        return tagged[1], exited
    if ended := ENDED.search(text, max(len(text) - 200, 0)):
        return text[: ended.start()], int(ended[1] or ended[2])
    head = CODE.match(text)
    return text[head.end() if head else 0 :], exited


def _json(text: str, exited: int | None) -> tuple[str, int | None]:
    """As Codex told it before."""
    try:
        told = loads(text)
    except ValueError:
        return text, exited
    code = (told.get("metadata") or {}).get("exit_code")
    return str(told.get("output") or ""), code if isinstance(code, int) else exited


def shown_by_command(work: Work, text: str, *, trims: bool) -> tuple[Excerpt, ...]:
    """The lines of files in the result of a command. trims: the host takes blank lines off both
    ends of what it prints."""
    readings = [each for each in work.printed if isinstance(each, Reading)]
    if not readings or not work.certain or CUT.search(text):
        return ()
    body, code = output(text)
    if code not in (None, 0) or not body.strip("\n"):
        return ()
    rows = RESET.sub("", body).split("\n")
    parts = _split(work.printed, rows if rows[-1] else rows[:-1])
    if parts is None:
        return ()
    found = zip(readings, parts, strict=True)
    return tuple(each for reading, part in found for each in _of(reading, part, trims=trims))


def _split(printed: Sequence[Reading | str], rows: list[str]) -> list[list[str]] | None:
    """The rows of each reading; None where it is not certain which are whose."""
    parts: list[list[str]] = []
    waiting = 0
    for each in printed:
        if isinstance(each, Reading):
            waiting += 1
            continue
        if waiting > 1 or rows.count(each) != 1:
            return None
        at = rows.index(each)
        if not waiting and at:
            return None
        parts += [rows[:at]] if waiting else []
        rows, waiting = rows[at + 1 :], 0
    left = [each for each in printed if isinstance(each, Reading)][len(parts) :]
    rest = [rows] if len(left) == 1 else _apart(left, rows)
    return None if rest is None else parts + rest


def _apart(readings: list[Reading], rows: list[str]) -> list[list[str]] | None:
    """Of several one after the other: by their lengths, where these are known and come to all."""
    if not readings:
        return [] if not rows else None
    counts = [_count(each) for each in readings]
    if None in counts or sum(filter(None, counts)) != len(rows):
        return None
    parts = []
    for count in counts:
        parts.append(rows[:count])
        rows = rows[count:]
    return parts


def _count(reading: Reading) -> int | None:
    """How many lines it prints of a file that is long enough."""
    if len(reading.cuts) != 1 or any(first < 1 or last < 1 for first, last in reading.cuts[0]):
        return None
    return sum(last - first + 1 for first, last in reading.cuts[0])


def _of(reading: Reading, rows: list[str], *, trims: bool) -> Iterator[Excerpt]:
    if reading.numbered:
        yield from _by_number(reading, rows)
    elif not reading.cuts:
        yield Excerpt(reading.path, 1, "\n".join(rows), len(rows), whole=True)
    elif (count := _count(reading)) is not None:
        cut = reading.cuts[0]
        if count == len(rows):
            for first, last in cut:
                yield Excerpt(reading.path, first, "\n".join(rows[: last - first + 1]))
                rows = rows[last - first + 1 :]
        elif len(rows) < count and len(cut) == 1 and rows and not (trims and cut[0][0] > 1):
            first = cut[0][0]
            total = first + len(rows) - 1
            yield Excerpt(reading.path, first, "\n".join(rows), total, first == 1)


def _by_number(reading: Reading, rows: list[str]) -> Iterator[Excerpt]:
    found = [NUMBERED.fullmatch(row) for row in rows]
    known = [(int(each[1]), each[2]) for each in found if each]
    if not known or len(known) != len(rows):
        return
    first = known[0][0]
    if [number for number, _ in known] != list(range(first, first + len(known))):
        return
    whole = first == 1 and not reading.cuts
    body = "\n".join(text for _, text in known)
    yield Excerpt(reading.path, first, body, len(known) if whole else None, whole)
