"""What a Rust source refers to, told from its text: `mod`, `use`, `extern crate`, `crate::a::b`.

One walk over the bytes passes strings and comments by and reads the words that begin a reference.
It reads what macros wrap, too, as `cfg_if!` does modules, where a grammar sees tokens alone; what
`macro_rules!` defines is left out. Every step goes forward, so time is linear.
"""

from __future__ import annotations

import re

from sightline.core.imports.reference import Reference
from sightline.core.imports.rust import Scope
from sightline.languages.rust_use import NAME, leaves, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.imports.reference import Kind
    from sightline.languages.rust_use import Path

    Key = tuple[int, Path, Kind]
    """How many modules up (1: here), the path from there, and the kind of a reference."""

READ_MOST = 8_000_000
"""Bytes of a source that are read."""

MOST = 20_000
"""References of one source; nobody wrote as many."""

DEEPEST = 64
"""Modules inside of one another in one source."""

_GAP = rb"(?:\s|//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z))*+"
_TOKENS = rb"""
    (?P<note>//[^\n]*+|/\*)
  | (?P<raw>\b(?:br|cr|r)\#*+")
  | "(?:[^"\\]|\\(?s:.))*+"?
  | '(?:[^'\\\n\x80-\xff]|[\xc0-\xff][\x80-\xbf]{1,3}|\\[^\n][^'\n]{0,8})'
  | \bpath\s*+=\s*+"(?P<path>[^"\\\n]++)"\s*+\)?\s*+\]
  | \binclude(?:_str|_bytes)?\s*+!\s*+[(\[{]\s*+"(?P<include>[^"\\\n]++)"
  | (?<![\w\#$.'\x80-\xff])(?:
      mod\b%(gap)b(?P<mod>%(name)b)%(gap)b(?P<ends>[;{])
    | (?P<use>use)\b(?!%(gap)b[<|(])
    | extern\b%(gap)bcrate\b%(gap)b(?P<crate>%(name)b)(?:\s++as\s++(?P<called>%(name)b))?
    | (?P<macro>macro_rules)\s*+!\s*+(?:%(name)b\s*+)?+\{
    | (?P<names>(?:crate|super|self)(?:\s*+::\s*+%(name)b)++)
    )
""" % {b"gap": _GAP, b"name": NAME}
_TOKEN = re.compile(_TOKENS, re.VERBOSE)
_NESTED = re.compile(_TOKENS + rb"| (?P<open>\{) | (?P<close>\})", re.VERBOSE)
_NOTES = re.compile(rb"/\*|\*/")
_PARTS = re.compile(NAME.replace(rb"\#", b"#"))
_BEFORE_MOD = re.compile(
    rb"(?:\s|//[^\n]*+|\#\s*+\[[^\]\n]*+\]|pub\b(?:\s*+\([^)\n]*+\))?)*+(?:\#\s*+\[[^\]\n]*+)?\Z",
    re.VERBOSE,
)


def references(source: bytes) -> tuple[Reference, ...]:
    """The references of a source, each module once, where it is first named.

    level: 1 for a path from the module itself, one more for each `super`; 0 where the path begins
    with a crate or with what an older Rust takes for one. Of kind include, `module` is a path from
    the folder of the file (level 0) or of the module (1).
    """
    return _Walk(source[:READ_MOST]).run()


def scope(source: bytes) -> Scope:
    """What a source has in its outermost module."""
    walk = _Walk(source[:READ_MOST])
    walk.run()
    own = frozenset(path[0] for path in walk.declared if len(path) == 1)
    return Scope(own, walk.called, tuple(walk.whole), walk.files)


class _Walk:
    """One walk over a text. nest: the modules it is in, None for a macro's definition."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.at = 0
        self.nest: list[str | None] = []
        self.braces: list[int] = []
        self.found: dict[Key, dict[str, None]] = {}
        self.places: dict[Key, int] = {}
        self.paths: list[bytes] = []
        self.paths_end = 0
        self.declared: set[Path] = set()
        self.called: dict[str, tuple[int, Path]] = {}
        self.whole: list[tuple[int, Path]] = []
        self.files: dict[str, str] = {}

    def run(self) -> tuple[Reference, ...]:
        steps = {
            "note": self._note,
            "raw": self._raw,
            "path": self._path,
            "include": self._include,
            "ends": self._mod,
            "use": self._use,
            "crate": self._crate,
            "called": self._crate,
            "macro": self._macro,
            "names": self._names,
            "open": self._open,
            "close": self._close,
        }
        while len(self.found) < MOST:
            token = (_NESTED if self.nest else _TOKEN).search(self.text, self.at)
            if token is None:
                break
            self.at = token.end()
            if token.lastgroup is not None:
                steps[token.lastgroup](token)
        return self._made()

    def _note(self, token: re.Match[bytes]) -> None:
        """Comments may stand in comments."""
        depth = int(token[0] == b"/*")
        while depth:
            sign = _NOTES.search(self.text, self.at)
            if sign is None:
                self.at = len(self.text)
                return
            self.at = sign.end()
            depth += 1 if sign[0] == b"/*" else -1

    def _raw(self, token: re.Match[bytes]) -> None:
        end = b'"' + b"#" * token[0].count(b"#")
        at = self.text.find(end, self.at)
        self.at = len(self.text) if at < 0 else at + len(end)

    def _open(self, token: re.Match[bytes]) -> None:
        self.braces[-1] += 1

    def _close(self, token: re.Match[bytes]) -> None:
        self.braces[-1] -= 1
        if not self.braces[-1]:
            self.braces.pop()
            self.nest.pop()

    def _macro(self, token: re.Match[bytes]) -> None:
        self._enter(None)

    def _enter(self, name: str | None) -> None:
        """Begin what ends with a brace. In what is hidden, all is."""
        if self._hidden():
            self.braces[-1] += 1
        else:
            self.nest.append(name if len(self.nest) < DEEPEST else None)
            self.braces.append(1)

    def _hidden(self) -> bool:
        return bool(self.nest) and self.nest[-1] is None

    def _path(self, token: re.Match[bytes]) -> None:
        if self.paths and not _BEFORE_MOD.match(self.text, self.paths_end, token.start()):
            self.paths.clear()
        self.paths.append(token["path"])
        self.paths_end = token.end()

    def _mod(self, token: re.Match[bytes]) -> None:
        paths, self.paths = self.paths, []
        name, at = plain(token["mod"]), token.start("mod")
        whole = (*(each or "" for each in self.nest), name)
        self.declared.add(whole)
        if token["ends"] == b"{":
            self._enter(name)
            return
        if paths and _BEFORE_MOD.match(self.text, self.paths_end, token.start()):
            for path in paths:
                self._file(path, at, nested=True)
            if not self.nest:
                self.files.setdefault(name, paths[0].decode("utf-8", "replace"))
        self._keep((1, whole, "mod"), "", at)

    def _include(self, token: re.Match[bytes]) -> None:
        self._file(token["include"], token.start("include"), nested=False)

    def _file(self, path: bytes, at: int, *, nested: bool) -> None:
        inside = tuple(each or "" for each in self.nest) if nested else ()
        name = "/".join((*inside, path.decode("utf-8", "replace")))
        self._keep((int(bool(inside)), (name,), "include"), "", at)

    def _crate(self, token: re.Match[bytes]) -> None:
        name = plain(token["crate"])
        if token["called"]:
            self.called[plain(token["called"])] = (0, (name,))
        if name != "self":
            self._keep((0, (name,), "import"), "", token.start("crate"))

    def _use(self, token: re.Match[bytes]) -> None:
        found, self.at = leaves(self.text, self.at)
        for at, path, called in found:
            level, names = self._place(path)
            self._reference(level, names, at)
            if called == "*" and not self.nest:
                self.whole.append((level, names[:-1]))
            elif called != "_" and not self.nest:
                self.called.setdefault(called, (level, names))

    def _names(self, token: re.Match[bytes]) -> None:
        path = tuple(plain(name) for name in _PARTS.findall(token["names"]))
        level, names = self._place(path)
        self._reference(level, names, token.start())

    def _place(self, path: Path) -> tuple[int, Path]:
        """A path as it is from the file's own module."""
        nest = tuple(each or "" for each in self.nest)
        if path[0] not in ("self", "super"):
            inside = (*nest, path[0])
            return (1, (*nest, *path)) if inside in self.declared else (0, path)
        ups = sum(1 for name in path if name == "super")
        rest = path[ups + (path[0] == "self") :]
        if ups <= len(nest):
            return 1, (*nest[: len(nest) - ups], *rest)
        return 1 + ups - len(nest), rest

    def _reference(self, level: int, names: Path, at: int) -> None:
        if level:
            self._keep((level, names[:-1], "import"), names[-1] if names else "", at)
        elif len(names) == 1 or names[:-1] == ("",):
            self._keep((0, names, "import"), "", at)
        else:
            self._keep((0, names[:-1], "import"), names[-1], at)

    def _keep(self, key: Key, name: str, at: int) -> None:
        if not self._hidden():
            self.places.setdefault(key, at)
            taken = self.found.setdefault(key, {})
            if name and len(taken) < MOST:
                taken[name] = None

    def _made(self) -> tuple[Reference, ...]:
        made, at, line = [], 0, 1
        for key, place in sorted(self.places.items(), key=lambda each: each[1]):
            line += self.text.count(b"\n", at, place)
            at = place
            level, path, kind = key
            if not level and kind == "import":
                level, path = self._meant(path)
            made.append(Reference("::".join(path), line, level, tuple(self.found[key]), kind))
        return tuple(made)

    def _meant(self, path: Path) -> tuple[int, Path]:
        """A path whose first name is a module of the file, or what another `use` brought in."""
        if path[:1] in self.declared:
            return 1, path
        level, before = self.called.get(path[0], (0, path[:1]))
        return (0, path) if before[:1] == path[:1] else (level, (*before, *path[1:]))
