"""Includes of C, C++ and Objective-C sources, and the files they mean.

An expression finds `#include` in every branch, because it stands at the beginning of a line; the text
before the last one is searched for comments and raw strings that hold lines which look alike. The
grammars of tree-sitter miss includes and invent others, so no parser reads these languages.

A file is looked up beside the source, then where projects keep their headers, from the source's folder
upwards, and last by its name: the nearest path with this ending.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from sightline.codegraph.language import (
    LONGEST,
    Affected,
    Reference,
    SettingsReader,
    below,
    distance,
    joined,
    once,
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
    return Affected(words=frozenset(names)) if names else None


class C:
    """The Resolver of C and its kin."""

    def __init__(self, paths: Iterable[str], _read: SettingsReader) -> None:
        self._files = frozenset(paths)
        self._named: dict[str, list[str]] = {}
        for path in self._files:
            if path.lower().endswith(_INCLUDED):
                self._named.setdefault(path[path.rfind("/") + 1 :], []).append(path)

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """Return the files that a reference leads to; see Resolver.targets."""
        name = reference.module
        if not name or len(name) > LONGEST or name.startswith("/"):
            return ()
        folder, last = path.rpartition("/")[0], name[name.rfind("/") + 1 :]
        beside = joined(folder, name) if reference.level == 1 else None
        if beside in self._files:
            return () if beside == path else (beside,)
        if reference.level == 0 and is_standard(name):
            return ()
        target = None
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
