"""Turn the name of a file into a canonical workspace path.

A canonical path is relative to the root, uses "/", has no "." or ".." and never leaves the root;
the root itself is ".". This module compares spellings alone; the workspace follows symlinks. The
flavour of the system is an argument, so that every rule runs on every system.
"""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import normalize

from msgspec import Struct

from sightline.errors import PathRefused
from sightline.model.marks import sendable

NAME_LIMIT = 255
PATH_LIMIT = 4096
"""Bytes: what Linux takes, and no system takes more in practice."""

_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{n}" for port in ("com", "lpt") for n in "123456789¹²³"]
)
_WINDOWS_FORBIDDEN = frozenset('<>:"|?*') | {chr(code) for code in range(32)}


class Flavour(Struct, frozen=True):
    """Rules of a kind of system for paths. drives: a backslash is a separator, too, and a path may
    begin with a drive or a share; folds: names that differ in case or Unicode form are one file."""

    name: str
    drives: bool
    folds: bool


POSIX = Flavour("posix", drives=False, folds=False)
WINDOWS = Flavour("windows", drives=True, folds=True)
MACOS = Flavour("macos", drives=False, folds=True)


def flavour_of(platform: str) -> Flavour:
    """Return the flavour of a `sys.platform`."""
    return WINDOWS if platform == "win32" else MACOS if platform == "darwin" else POSIX


def canonical(name: str, root: str, flavour: Flavour = POSIX) -> str:
    """Return the canonical path of a name. root: absolute, as the system spells it.

    PathRefused: empty, invalid (no system of this flavour has such a file), or outside.
    """
    if not name:
        raise PathRefused(name, "empty", "The path is empty.", "Name a file of the workspace.")
    anchor, parts = split(name, flavour)
    inside = _resolve(name, parts)
    if anchor:
        root_anchor, root_parts = split(root, flavour)
        ours = [key(part, flavour) for part in _resolve(name, root_parts)]
        theirs = [key(part, flavour) for part in inside[: len(ours)]]
        if (anchor, theirs) != (root_anchor, ours):
            raise _outside(name)
        inside = inside[len(ours) :]
    for part in inside:
        _check(name, part, flavour)
    path = "/".join(inside) or "."
    if len(path.encode()) > PATH_LIMIT:
        raise _invalid(name, f"is longer than {PATH_LIMIT} bytes")
    return path


def key(path: str, flavour: Flavour = POSIX) -> str:
    """Return the same key for every spelling of one file."""
    if not flavour.folds:
        return path
    if path.isascii():
        return path.lower()

    # Unicode's canonical caseless match: folding can undo a normal form, so it is done in between.
    return normalize("NFC", normalize("NFD", normalize("NFD", path).casefold()).casefold())


def composed(path: str) -> str:
    """Return a path in Unicode's composed form (NFC). Editors and models send names in that form;
    macOS, and archives made there, store them decomposed."""
    return path if path.isascii() else normalize("NFC", path)


def folders_above(path: str) -> list[str]:
    """Return the folders above a path, each ending in "/": "a/b/c" has "a/" and "a/b/"."""
    return [path[: at + 1] for at, sign in enumerate(path) if sign == "/"]


def is_at_or_below(path: str, places: Iterable[str]) -> bool:
    """Return whether a canonical path is one of these places, or is below one."""
    return any(path == place or path.startswith(f"{place}/") for place in places)


def split(name: str, flavour: Flavour = POSIX) -> tuple[str, list[str]]:
    """Return the anchor ("" for a relative name, "/", "c:" or "//server/share") and the parts after
    it."""
    if not flavour.drives:
        return ("/" if name.startswith("/") else ""), name.split("/")
    plain = name.replace("\\", "/")
    for prefix, instead in (("//?/unc/", "//"), ("//?/", ""), ("//./", "")):
        if plain.lower().startswith(prefix):
            plain = instead + plain[len(prefix) :]
            break
    if plain.startswith("//"):
        server, _, below = plain[2:].partition("/")
        share, _, below = below.partition("/")
        return f"//{server}/{share}".lower(), below.split("/")
    if plain[1:2] == ":" and plain[0].isalpha():
        if plain[2:3] not in ("", "/"):
            raise _invalid(name, "is relative to the current folder of a drive")
        return plain[:2].lower(), plain[2:].split("/")
    if plain.startswith("/"):
        # The shells that come with git for Windows write drive c as /c; other rooted names
        # are on the current drive, which this module does not know, so no root ever matches them.
        drive, *rest = plain[1:].split("/")
        letter = len(drive) == 1 and drive.isascii() and drive.isalpha()
        return (f"{drive.lower()}:", rest) if letter else ("/", plain.split("/"))
    return "", plain.split("/")


def quoted(name: str) -> str:
    """Return a file's name as a text shows it to a model or on a terminal: as it is where all its
    signs are printable, else in quotes and escaped as git does (core.quotePath). A name may hold
    line ends, escapes and marks of direction, and would else speak for us. Letters of any script
    stay readable."""
    if name.isprintable() and '"' not in name and "\\" not in name:
        return name
    return '"' + "".join(sign if _is_plain(sign) else _escaped(sign) for sign in name) + '"'


def _is_plain(sign: str) -> bool:
    return sign.isprintable() and sign not in '"\\'


def _escaped(sign: str) -> str:
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    is_byte = "\udc80" <= sign <= "\udcff"  # of a name that is not UTF-8
    data = sign.encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")
    return "".join(f"\\{byte:03o}" for byte in data)


_ESCAPES = dict(
    zip('"\\\a\b\t\n\v\f\r', ('\\"', "\\\\", *(f"\\{c}" for c in "abtnvfr")), strict=True)
)


def _resolve(name: str, parts: list[str]) -> list[str]:
    inside: list[str] = []
    for part in parts:
        if part == "..":
            if not inside:
                raise _outside(name)
            inside.pop()
        elif part not in ("", "."):
            inside.append(part)
    return inside


def _check(name: str, part: str, flavour: Flavour) -> None:
    if "\0" in part:
        raise _invalid(name, "holds a NUL character")
    try:
        size = len(part.encode())
    except UnicodeEncodeError:
        # A name that is not Unicode could be opened, but neither stored nor put into an answer.
        raise _invalid(sendable(name), "is not valid Unicode") from None
    if size > NAME_LIMIT:
        raise _invalid(name, f"has a part longer than {NAME_LIMIT} bytes")
    if not flavour.drives:
        return
    # Windows would open another file, a stream or a device for these, without an error.
    if not _WINDOWS_FORBIDDEN.isdisjoint(part):
        raise _invalid(name, "holds a character that Windows does not allow in names")
    if part[-1] in ". ":
        raise _invalid(name, "has a part that ends in a dot or a space")
    if part.partition(".")[0].rstrip().lower() in _DEVICES:
        raise _invalid(name, "names a device")


def _outside(name: str) -> PathRefused:
    return PathRefused(
        name,
        "outside",
        f"{quoted(name)} is outside the workspace.",
        "Use a path inside the workspace, or open the other folder as a workspace of its own.",
    )


def _invalid(name: str, why: str) -> PathRefused:
    return PathRefused(name, "invalid", f"The path {name[:200]!r} {why}.", "Use another name.")
