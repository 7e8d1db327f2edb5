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

_NOTE = rb"/\*(?:[^*]++|\*(?!/))*+(?:\*/)?+"
_GAP = rb"(?:[ \t\f\v]|\\\r?\n|/\*(?:[^*\n]|\*(?!/))*+\*/)*+"
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
    return Affected(NAME in names, frozenset(names), ()) if names else None


class C:
    """The Resolver of C and its kin. read: the bytes of compile_commands.json."""

    def __init__(self, paths: Iterable[str], read: Reader | None = None) -> None:
        self._files = frozenset(paths)
        self._named: dict[str, list[str]] = {}
        for path in self._files:
            if path.lower().endswith(_INCLUDED):
                self._named.setdefault(path[path.rfind("/") + 1 :], []).append(path)
        self._commands = Commands(self._files, read or (lambda _path: None))
        self._homes: dict[str, tuple[str, ...]] = {}

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """Return the files that a reference leads to; see Resolver.targets."""
        name = reference.module
        if not name or len(name) > LONGEST or name.startswith("/"):
            return ()
        found = self._lookup(path, name, beside=reference.level == 1)
        return () if found is None or found == path else (found,)

    def _lookup(self, path: str, name: str, *, beside: bool) -> str | None:
        folder = path.rpartition("/")[0]
        if beside:
            found = self._in(folder, name)
            if found is not None:
                return found
        for place in self._commands.places(path):
            found = self._in(place, name)
            if found is not None and found != path:
                return found
        if not beside and is_standard(name):
            return None
        return self._inferred(path, folder, name)

    def _in(self, folder: str, name: str) -> str | None:
        found = joined(folder, name)
        return found if found in self._files else None

    def _inferred(self, path: str, folder: str, name: str) -> str | None:
        """Without settings: upwards, then by its name."""
        last = name[name.rfind("/") + 1 :]
        if last not in self._named and not last.endswith(_INCLUDED):
            return self._upwards(path, folder, name)
        if last not in self._named:
            return None
        found = self._upwards(path, folder, name)
        if found is not None or name in _MADE:
            return found
        return self._ending(path, name)

    def _upwards(self, path: str, folder: str, name: str) -> str | None:
        for home in self._homes_of(folder):
            found = self._in(home, name)
            if found is not None and found != path:
                return found
        return None

    def _homes_of(self, folder: str) -> tuple[str, ...]:
        if folder not in self._homes:
            above = islice(upwards(folder), HIGHEST)
            every = (below(up, each) if each else up for up in above for each in _BELOW)
            self._homes[folder] = tuple(dict.fromkeys(every))
        return self._homes[folder]

    def _ending(self, path: str, name: str) -> str | None:
        """The nearest of the paths that end so."""
        parts = name.split("/")
        while parts and parts[0] in ("..", "."):
            del parts[0]
        ending = "/".join(parts)
        found = [each for each in self._candidates(ending) if each != path]
        return min(found, key=lambda each: distance(path, each), default=None)

    def _candidates(self, ending: str) -> Iterator[str]:
        alike = self._named.get(ending[ending.rfind("/") + 1 :], ())
        for each in alike if len(alike) <= ALIKE_MOST else ():
            if each == ending or each.endswith(f"/{ending}"):
                yield each


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
        self._places: dict[str, Places] | None = None
        self._common: Places = ()
        self._near: dict[str, Places] = {}

    def places(self, path: str) -> Places:
        """Return the search path of a source's includes.

        For a file that is not compiled by itself, such as a header, return the folders of all others,
        the nearest first, then the most frequent.
        """
        if self._places is None:
            self._places = dict(self._listed())
            counted = Counter(place for each in self._places.values() for place in each)
            self._common = tuple(place for place, _ in counted.most_common())
        if path in self._places or not self._common:
            return self._places.get(path, ())
        folder = path.rpartition("/")[0]
        if folder not in self._near:
            near = sorted(self._common, key=lambda place: -shared(path, f"{place}/"))
            self._near[folder] = tuple(near[:FOLDERS_MOST])
        return self._near[folder]

    def _listed(self) -> Iterator[tuple[str, Places]]:
        inside = (path for path in self._files if path.endswith(f"/{NAME}"))
        named = dict.fromkeys((*MADE, *sorted(inside)[:FILES_MOST]))
        for path in named:
            entries = _entries(self._read(path))
            sources = [_absolute(str(e.get("directory", "")), str(e["file"])) for e in entries]
            root = self._root(sources)
            if root is None:
                continue
            for entry, source in zip(entries, sources, strict=True):
                inner = _inside(root, source)
                if inner is not None and inner in self._files:
                    yield inner, tuple(_folders(entry, root))

    def _root(self, sources: Iterable[str]) -> str | None:
        """The folder that the tree was in."""
        roots = Counter(root for each in sources if (root := self._before(each)) is not None)
        return roots.most_common(1)[0][0] if roots else None

    def _before(self, source: str) -> str | None:
        at = source.find("/")
        while at >= 0:
            if source[at + 1 :] in self._files:
                return source[:at]
            at = source.find("/", at + 1)
        return None


def _entries(data: bytes | None) -> list[dict[str, Any]]:
    try:
        said = json.loads(data or b"[]")
    except (ValueError, RecursionError):
        return []
    every = said[:ENTRIES_MOST] if isinstance(said, list) else []
    return [each for each in every if isinstance(each, dict) and "file" in each]


def _folders(entry: dict[str, Any], root: str) -> Iterator[str]:
    """The folders of the tree that a command names, in its order."""
    given = entry.get("arguments")
    words = [str(each) for each in given] if isinstance(given, list) else _split(entry)
    directory = str(entry.get("directory", ""))
    met: dict[str, None] = {}
    flagged = False
    for word in words:
        flag = None if flagged else _FLAG.match(word)
        folder = word if flagged else word[flag.end() :] if flag else ""
        flagged = flag is not None and not folder
        inside = _inside(root, _absolute(directory, folder)) if folder else None
        if inside is not None and len(met) < FOLDERS_MOST:
            met[inside] = None
    yield from met


def _split(entry: dict[str, Any]) -> list[str]:
    command = str(entry.get("command", ""))
    return [_QUOTES.sub(lambda found: found[1] or "", word) for word in _WORDS.findall(command)]


def _absolute(directory: str, name: str) -> str:
    """A path of the machine it was made on, without dots."""
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
    """A path of the tree; None where it is none."""
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
