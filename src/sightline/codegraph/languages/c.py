"""Includes of C, C++ and Objective-C sources, and the files they mean.

An expression finds `#include` in every branch, because it stands at the beginning of a line; the text
before the last one is searched for comments and raw strings that hold lines which look alike. The
grammars of tree-sitter miss includes and invent others, so no parser reads these languages.

A file is looked up beside the source, then in the folders that `compile_commands.json` names for it,
then where projects keep their headers, from the source's folder upwards, and last by its name: the
nearest path with this ending. `compile_commands.json` names folders of the machine that wrote it; the
sources it lists tell which of them is the tree's own.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any

from sightline.codegraph.reference import (
    LONGEST,
    Affected,
    Reader,
    Reference,
    below,
    distance,
    joined,
    once,
    shared,
    upwards,
)

Places = tuple[str, ...]

LIMIT = 8_000_000
"""Bytes of a source that are looked at."""

MOST = 20_000
"""References of one source; none that people wrote has as many."""

_PLAIN = (".c", ".m")
"""Sources of languages without raw strings."""

_UNCLOSED_MOST = 16
"""Raw strings that nothing closes; after so many, what looks like one is none."""

# (?!) never matches. Before Python 3.11.5, a possessive repeat goes on from where its last, failed try
# got to; (?!) as the last choice fails where the try began.
_NOTE = rb"/\*(?:[^*]++|\*(?!/)|(?!))*+(?:\*/)?+"
_GAP = rb"(?:[ \t\f\v]|\\\r?\n|/\*(?:[^*\n]|\*(?!/)|(?!))*+\*/|(?!))*+"
_DIRECTIVE = re.compile(
    rb"""(?m)^[ \t\f\v]*+(\#|%%:)%b(include(?:_next)?|import)(?![\w$])%b(?:"([^"\n]++)"|<([^>\n]++)>)"""
    % (_GAP, _GAP)
)
_PASSED = (
    rb"//(?:[^\\\n]++|\\(?:\r\n|(?s:.))?+)*+|%b" % _NOTE
    + rb"""|"(?:[^"\\\n]++|\\(?:\r\n|(?s:.))?+)*+"?+"""
    + rb"""|(?<![0-9A-Fa-f])'(?:[^'\\\n]++|\\(?:\r\n|(?s:.))?+)*+'?+"""
)
_TOKEN = re.compile(_PASSED)
_TOKEN_OR_RAW = re.compile(
    rb"""(?<![\w$])(?:u8|[uUL])?+R"(?P<mark>[^()\\\s"]{0,16}+)\(|%b""" % _PASSED
)


def references(source: bytes, path: str) -> tuple[Reference, ...]:
    """Read the includes of a source, in its order.

    `level` is 1 for a name in quotes, which is looked up beside the source first; `names` is the last
    part of the name.
    """
    text = source[:LIMIT].removeprefix(b"\xef\xbb\xbf")
    found = list(islice(_DIRECTIVE.finditer(text), MOST))
    if not found:
        return ()
    raw = not path.lower().endswith(_PLAIN) and b'R"' in text
    return tuple(_placed(text, _outside(text, found, raw=raw)))


def _placed(text: bytes, found: Iterator[re.Match[bytes]]) -> Iterator[Reference]:
    """The references with their lines, counted on from one to the next."""
    counted, line = 0, 1
    for each in found:
        line += text.count(b"\n", counted, each.start())
        counted = each.start()
        quoted = each[3] is not None
        name = (each[3] or each[4]).decode("utf-8", "replace").strip().replace("\\", "/")
        beside = quoted and each[2] != b"include_next"
        last = name[name.rfind("/") + 1 :]
        yield Reference(name, line, int(beside), names=(last,), kind="include")


def _outside(text: bytes, found: list[re.Match[bytes]], *, raw: bool) -> Iterator[re.Match[bytes]]:
    """Return the directives outside of comments and strings."""
    passed = _passed(text, found[-1].start(1), raw=raw)
    start = end = 0
    for each in found:
        at = each.start(1)
        while end <= at and start < at:
            start, end = next(passed, (len(text), len(text)))
        if not start < at < end:
            yield each


def _passed(text: bytes, last: int, *, raw: bool) -> Iterator[tuple[int, int]]:
    """Return the ranges of comments and strings that begin before a place."""
    token, at, unclosed = (_TOKEN_OR_RAW if raw else _TOKEN), 0, 0
    while (found := token.search(text, at)) is not None and found.start() < last:
        at = found.end()
        mark = found["mark"] if raw else None
        if mark is None:
            yield found.start(), at
        elif unclosed < _UNCLOSED_MOST:
            end = text.find(b')%b"' % mark, at)
            unclosed += end < 0
            if end >= 0:
                at = end + len(mark) + 2
                yield found.start(), at


_INCLUDED = (
    *(".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tcc", ".tpp", ".cuh", ".inc", ".def"),
    *(".c", ".cc", ".cpp", ".cxx", ".m", ".mm", ".cu"),
)
"""Endings of what is looked for by its name alone."""

_BELOW = ("", "include", "src", "inc", "lib", "source")
"""Where a project keeps headers, below its folder."""

HIGHEST = 40
"""So many folders above a file are looked into."""

ALIKE_MOST = 500
"""Where more files have a name, it tells too little to find one by it alone."""

_MADE = frozenset(["config.h", "autoconf.h", "acconfig.h"])
"""What a build makes: one that lies in another folder belongs to another program."""


_OTHER_ENDINGS = ".py .pyi .java .go .rs .js .jsx .ts .tsx .md .html .css"
_OTHER = tuple(_OTHER_ENDINGS.split())
"""Endings of what nobody includes."""


def affected(changed: Iterable[str]) -> Affected | None:
    """Return the includes that may lead elsewhere when these files came or went."""
    names = [path[path.rfind("/") + 1 :] for path in changed if not path.endswith(_OTHER)]
    return Affected(NAME in names, frozenset(names)) if names else None


class C:
    """The Resolver of C and its kin. read: the bytes of compile_commands.json."""

    def __init__(self, paths: Iterable[str], read: Reader) -> None:
        self._files = frozenset(paths)
        self._named: dict[str, list[str]] = {}
        for path in self._files:
            if path.lower().endswith(_INCLUDED):
                self._named.setdefault(path[path.rfind("/") + 1 :], []).append(path)
        self._commands = Commands(self._files, read)

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """Return the files that a reference leads to; see Resolver.targets."""
        name = reference.module
        if not name or len(name) > LONGEST or name.startswith("/"):
            return ()
        folder, last = path.rpartition("/")[0], name[name.rfind("/") + 1 :]
        beside = joined(folder, name) if reference.level == 1 else None
        if beside in self._files:
            return () if beside == path else (beside,)
        target = self._in(self._commands.places(path), path, name)
        if target is None and (reference.level == 1 or not is_standard(name)):
            if last in self._named or not last.endswith(_INCLUDED):
                target = self._in(self._homes(folder), path, name)
            if target is None and last in self._named and name not in _MADE:
                target = self._nearest(path, name)
        return () if target is None else (target,)

    def _in(self, folders: Iterable[str], path: str, name: str) -> str | None:
        """Return the first file of a name from these folders that is not the file at `path`."""
        files = (joined(folder, name) for folder in folders)
        return next((file for file in files if file in self._files and file != path), None)

    @once
    def _homes(self, folder: str) -> Places:
        """Return the folders where a project keeps headers, from a folder upwards."""
        above = islice(upwards(folder), HIGHEST)
        return tuple(dict.fromkeys(below(up, name).rstrip("/") for up in above for name in _BELOW))

    def _nearest(self, path: str, name: str) -> str | None:
        """Return the nearest file whose path ends so."""
        parts = name.split("/")
        while parts and parts[0] in ("..", "."):
            del parts[0]
        ending = "/".join(parts)
        namesakes = self._named.get(ending[ending.rfind("/") + 1 :], ())
        files = [
            file
            for file in (namesakes if len(namesakes) <= ALIKE_MOST else ())
            if file != path and (file == ending or file.endswith(f"/{ending}"))
        ]
        return min(files, key=lambda file: distance(path, file), default=None)


NAME = "compile_commands.json"

MADE = (NAME, f"build/{NAME}")
"""Where it mostly is. The second is asked for though git ignores it."""

ENTRIES_MOST, FILES_MOST = 50_000, 8
"""Sources of one file of commands that are looked at, and such files in a tree."""

FOLDERS_MOST = 300
"""In which one source's includes are looked for."""

_FLAG = re.compile(r"-(?:I|iquote|isystem|idirafter)")
_WORDS = re.compile(r"""(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+""")
_QUOTES = re.compile(r"""\\(.)|["']""")


class Commands:
    """The folders for every source of a tree; they are read when the first is asked for."""

    def __init__(self, files: Collection[str], read: Reader) -> None:
        self._files = files
        self._read = read

    def places(self, path: str) -> Places:
        """Return the search path of a source's includes.

        For a file that is not compiled by itself, such as a header, return the folders of all others,
        the nearest first, then the most frequent.
        """
        listed = self._listed.get(path)
        return self._near(path.rpartition("/")[0]) if listed is None else listed

    @once
    def _near(self, folder: str) -> Places:
        file = below(folder, NAME)
        near = sorted(self._common, key=lambda place: -shared(file, f"{place}/"))
        return tuple(near[:FOLDERS_MOST])

    @cached_property
    def _common(self) -> Places:
        """The folders of all sources, the most frequent first."""
        counted = Counter(place for places in self._listed.values() for place in places)
        return tuple(place for place, _ in counted.most_common())

    @cached_property
    def _listed(self) -> dict[str, Places]:
        """The search path of each source that a file of commands lists."""
        listed: dict[str, Places] = {}
        inside = (path for path in self._files if path.endswith(f"/{NAME}"))
        named = dict.fromkeys((*MADE, *sorted(inside)[:FILES_MOST]))
        for path in named:
            commands = _commands(self._read(path))
            sources = [_absolute(str(c.get("directory", "")), str(c["file"])) for c in commands]
            root = self._root(sources)
            if root is None:
                continue
            for command, source in zip(commands, sources, strict=True):
                inner = _inside(root, source)
                if inner is not None and inner in self._files:
                    listed[inner] = _folders(command, root)
        return listed

    def _root(self, sources: Iterable[str]) -> str | None:
        """Return the folder that the tree was in: most sources lie there."""
        roots: Counter[str] = Counter()
        for source in sources:
            slashes = (at for at, sign in enumerate(source) if sign == "/")
            roots.update(
                islice((source[:at] for at in slashes if source[at + 1 :] in self._files), 1)
            )
        return roots.most_common(1)[0][0] if roots else None


def _commands(data: bytes | None) -> list[dict[str, Any]]:
    """Read the commands in a compile_commands.json."""
    try:
        listed = json.loads(data or b"[]")
    except (ValueError, RecursionError):
        return []
    commands = listed[:ENTRIES_MOST] if isinstance(listed, list) else []
    return [command for command in commands if isinstance(command, dict) and "file" in command]


def _folders(command: dict[str, Any], root: str) -> Places:
    """Return the folders of the tree that a command names, in its order."""
    words = command.get("arguments")
    if not isinstance(words, list):
        written = _WORDS.findall(str(command.get("command", "")))
        words = [_QUOTES.sub(lambda quoted: quoted[1] or "", word) for word in written]
    directory = str(command.get("directory", ""))
    folders: dict[str, None] = {}
    flagged = False
    for word in map(str, words):
        flag = None if flagged else _FLAG.match(word)
        folder = word if flagged else word[flag.end() :] if flag else ""
        flagged = flag is not None and not folder
        inside = _inside(root, _absolute(directory, folder)) if folder else None
        if inside is not None and len(folders) < FOLDERS_MOST:
            folders[inside] = None
    return tuple(folders)


def _absolute(directory: str, name: str) -> str:
    """Return a path of the machine that wrote the command, without dots."""
    name = name.replace("\\", "/")
    whole = name if name[:1] == "/" or name[1:2] == ":" else f"{directory}/{name}"
    parts: list[str] = []
    for part in whole.replace("\\", "/").split("/"):
        if part == "..":
            parts[-1:] = []
        elif part not in ("", "."):
            parts.append(part)
    return f"/{'/'.join(parts)}"


def _inside(root: str, path: str) -> str | None:
    """Return a path of the tree; None for any other path."""
    if path == root:
        return ""
    return path[len(root) + 1 :] if path.startswith(f"{root}/") else None


_NAMES = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg
stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath threads time
uchar wchar wctype
aio alloca byteswap cpuid crypt dirent dlfcn elf endian err execinfo fcntl features fmtmsg fnmatch ftw
getopt glob grp iconv ifaddrs immintrin intrin io ioctl langinfo libgen libintl link malloc memory mntent
monetary mqueue ndbm netdb nl_types paths poll process pthread pty pwd regex resolv sched search semaphore
shadow spawn strings stropts sysexits syslog tar termio termios tirpc ucontext ulimit unistd utime utmp
utmpx values wait wordexp x86intrin xmmintrin emmintrin pmmintrin tmmintrin smmintrin nmmintrin arm_neon
windows winsock winsock2 ws2tcpip ws2def winbase windef winnt winternl direct shellapi shlobj tchar wincrypt
"""
STANDARD = frozenset(f"{name}.h" for name in _NAMES.split())

SYSTEM = ("sys/", "bits/", "asm/", "arpa/", "net/", "netinet/", "linux/", "mach/", "rpc/", "gnu/")
"""Folders of a system's headers."""


def is_standard(name: str) -> bool:
    """Return true for a name between angle brackets that is most likely a system's own.

    C++'s own headers have no ending and no folder.
    """
    return name in STANDARD or name.startswith(SYSTEM) or ("." not in name and "/" not in name)
