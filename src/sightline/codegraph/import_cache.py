"""What an index of imports keeps for the next process, in one file: all of it at once, and behind
that, look by look, what was learned since.

Each record is told by its sum. One that is damaged or half written is left out, with all that stands
behind it: it is a cache, and what it does not tell is learned anew.
"""

from __future__ import annotations

import os
import zlib
from array import array
from collections.abc import Iterator, Sequence
from json import loads
from typing import Any, TypeVar

from msgspec import Struct, structs

from sightline.codegraph.graph import NUMBER, TYPES, Frozen, Graph
from sightline.codegraph.language_table import edition, ending
from sightline.codegraph.reference import Reader
from sightline.codegraph.reference_packing import Key, References
from sightline.errors import PathError
from sightline.filesystem.file_state import FileState
from sightline.filesystem.port import Workspace
from sightline.filesystem.scan import tick_of
from sightline.filesystem.tree_index import Row, Tree
from sightline.model.json_text import compact_json
from sightline.model.revision import Revision, Stamp, StatSignature, compare

T = TypeVar("T")

Settings = dict[tuple[str, str], Stamp | None]
"""By the resolver's language and path: how it stood, None where there was none."""

NAME = "imports.z"

VERSION = 1

LEVEL = 1
"""Of zlib, as for the tree."""

WORTH_KEEPING = 100
"""Sources learned that cost the next process more to learn again than it costs to write."""

WORTH_ADDING = 10
"""The same where more is left, which the next look is to go on with."""

PART = 4
"""Where less than this part of all is new, it is written behind the rest."""

AHEAD_BYTES = 1 << 20
"""As much may stand behind the first record however small that is, and as much again as it has."""

PATH_S = 8e-6
"""What it takes for each path to write down all."""

_MAGIC = b"slimport"
_HEAD = len(_MAGIC) + 16
_SALT = 16
BEGINNING = _HEAD + _SALT
"""Bytes by which one first record is told from any other."""


class State(Struct, frozen=True):
    """An index as it is kept. revisions: of its sources; settings: stamps by language and path, None
    where nothing stood; beside: stamps of sources that the tree does not tell of; rows: of
    sources, as they were read since the tree was kept."""

    paths: Sequence[str]
    revisions: dict[str, Revision]
    references: References
    graph: Graph
    settings: dict[tuple[str, str], Stamp | None]
    beside: dict[str, Stamp]
    too_large: set[str]
    rows: dict[str, Row]


class Kept(Struct, frozen=True):
    """What was kept. beginning: of the file; sizes: of the first record, and of the file; torn:
    something at its end is not whole."""

    state: State
    beginning: bytes
    sizes: tuple[int, int]
    torn: bool


class Keeper:
    """Keeps an index for the next process where that is worth it. unkept: why it could not be
    written, "" where it could."""

    def __init__(self) -> None:
        self.unkept = ""
        self._edition = ""
        self._paths: Sequence[str] = ()
        self._beginning = b""
        self._sizes = 0, 0
        self._turned = True
        self._fresh: set[str] = set()

    def load(self, workspace: Workspace) -> State | None:
        """What an earlier process kept."""
        self._edition = self._edition or f"{workspace.root} {edition()}"
        self._fresh.clear()
        self._turned = True
        data = workspace.load_cache(NAME)
        kept = load(data, self._edition) if data is not None else None
        if kept is None:
            return None
        self._paths, self._turned = kept.state.paths, kept.torn
        self._beginning, self._sizes = kept.beginning, kept.sizes
        return kept.state

    def learned(self, path: str) -> None:
        """Something is known of a source that was not."""
        self._fresh.add(path)

    def turned(self) -> None:
        """Something that was known of imports does not hold any more."""
        self._turned = True

    def cost_s(self, paths: Sequence[str]) -> float:
        """About what it may take to write, before the answer."""
        return 0 if self._fits(paths) else len(paths) * PATH_S

    def keep(self, workspace: Workspace, state: State, tree: Tree | None, *, left: int) -> None:
        """Write down what was learned. tree: a look at all, where there was time for one; left:
        sources that are still to be learned."""
        if len(self._fresh) < (WORTH_ADDING if left else WORTH_KEEPING):
            return
        some = left > 0 or len(self._fresh) * PART < len(state.revisions)
        try:
            if not (some and self._fits(state.paths) and self._add(workspace, state)):
                self._begin(workspace, state, tree)
        except OSError as error:
            self.unkept = error.strerror or type(error).__name__
        else:
            self.unkept = ""
        self._fresh.clear()

    def _fits(self, paths: Sequence[str]) -> bool:
        """Whether more can stand behind what is kept."""
        size, whole = self._sizes
        return not self._turned and whole <= 2 * size + AHEAD_BYTES and paths == self._paths

    def _add(self, workspace: Workspace, state: State) -> bool:
        def fresh(known: dict[str, T]) -> dict[str, T]:
            return {path: known[path] for path in self._fresh if path in known}

        few = structs.replace(
            state,
            revisions=fresh(state.revisions),
            beside=fresh(state.beside),
            rows=fresh(state.rows),
            too_large=state.too_large & self._fresh,
        )
        data = later(few)
        self._sizes = self._sizes[0], self._sizes[1] + len(data)
        return workspace.save_cache(NAME, data, after=self._beginning)

    def _begin(self, workspace: Workspace, state: State, tree: Tree | None) -> None:
        if tree is not None:
            workspace.remember(tree)
            state.rows.clear()  # the tree tells of them
        data = first(state, state.graph.freeze(state.paths), self._edition)
        workspace.save_cache(NAME, data)
        self._paths, self._turned = state.paths, False
        self._beginning, self._sizes = data[:BEGINNING], (len(data), len(data))


def first(state: State, frozen: Frozen, edition: str) -> bytes:
    """All of an index, as the record that a file begins with."""
    keys = {key: at for at, key in enumerate(dict.fromkeys(_keys(state)))}
    number = [
        keys[ending(path), state.revisions[path]] + 1 if path in state.revisions else 0
        for path in frozen.paths
    ]
    told = {"v": VERSION, "edition": edition, "keys": list(keys), "rows": state.rows}
    told |= _stamps(state)
    _, _, *graph = structs.astuple(frozen)
    arrays = [each.tobytes() for each in (*graph, array(NUMBER, number))]
    texts = "\n".join(map(state.references.text, keys)).encode()
    paths = "\0".join(frozen.paths).encode()
    return _record([compact_json(told).encode(), paths, frozen.resolved, *arrays, texts])


def later(state: State) -> bytes:
    """What was learned since, and of the files that it is about, as a record behind others."""
    told = {
        "revisions": state.revisions,
        "texts": [[*key, state.references.text(key)] for key in dict.fromkeys(_keys(state))],
        "edges": {
            path: state.graph.plain(path) for path in state.revisions if state.graph.resolved(path)
        },
        "rows": state.rows,
        **_stamps(state),
    }
    return _record([compact_json(told).encode()])


def load(data: bytes, edition: str) -> Kept | None:
    """What was kept by such an edition of the readers; None where that cannot be told."""
    records = _records(data)
    try:
        parts, size = next(records)
        state = _state(parts, edition)
        if state is None:
            return None
        end = size
        for (more, *_), at in records:
            if not _take(state, loads(zlib.decompress(more))):
                break
            end = at
    except (ValueError, KeyError, TypeError, IndexError, StopIteration, zlib.error):
        return None
    return Kept(state, data[:BEGINNING], (size, len(data)), torn=end != len(data))


def _keys(state: State) -> Iterator[Key]:
    return ((ending(path), revision) for path, revision in state.revisions.items())


def _stamps(state: State) -> dict[str, Any]:
    return {
        "settings": [[*key, _told(stamp)] for key, stamp in state.settings.items()],
        "beside": {path: _told(stamp) for path, stamp in state.beside.items()},
        "too_large": sorted(state.too_large),
    }


def _told(stamp: Stamp | None) -> list[Any] | None:
    if stamp is None:
        return None
    return [*structs.astuple(stamp.signature), stamp.revision, stamp.read_at_ns]


def _stamp(told: list[Any] | None) -> Stamp | None:
    return None if told is None else Stamp(StatSignature(*told[:6]), *told[6:])


def _state(parts: list[memoryview], edition: str) -> State | None:
    """An index from its first record; None where other readers made it."""
    told = loads(zlib.decompress(parts[0]))
    if (told["v"], told["edition"]) != (VERSION, edition):
        return None
    joined = zlib.decompress(parts[1]).decode()
    paths = tuple(joined.split("\0")) if joined else ()
    arrays: list[array[Any]] = [array(kind) for kind in TYPES + NUMBER]
    for each, packed in zip(arrays, parts[3:-1], strict=True):
        each.frombytes(zlib.decompress(packed))
    *graph, number = arrays
    keys: list[Key] = [(end, revision) for end, revision in told["keys"]]
    pairs, texts = zip(paths, number, strict=True), parts[-1]
    state = State(
        paths,
        {path: keys[at - 1][1] for path, at in pairs if at},
        References(keys, lambda: zlib.decompress(texts).decode().split("\n")),
        Graph(Frozen(paths, zlib.decompress(parts[2]), *graph)),
        {},
        {},
        set(),
        {},
    )
    state.rows.update(told["rows"])
    return state if _take_stamps(state, told) else None


def _take(state: State, told: dict[str, Any]) -> bool:
    """Learn from a later record; whether it fits: another settings file than the last one may
    have led imports elsewhere."""
    state.too_large.difference_update(told["revisions"])
    if not _take_stamps(state, told):
        return False
    state.revisions.update(told["revisions"])
    state.rows.update(told["rows"])
    for end, revision, text in told["texts"]:
        state.references.put((end, revision), text)
    for path in told["revisions"]:
        state.graph.drop(path)
    for path, edges in told["edges"].items():
        state.graph.put(path, [tuple(each) for each in edges])
    return True


def _take_stamps(state: State, told: dict[str, Any]) -> bool:
    settings = {(name, path): _stamp(stamp) for name, path, stamp in told["settings"]}
    for key, stamp in settings.items():
        was = state.settings.get(key, stamp)
        if not same(was, stamp):
            return False
    state.settings.update(settings)
    for path, stamp in told["beside"].items():
        made = _stamp(stamp)
        if made is not None:
            state.beside[path] = made
    state.too_large.update(told["too_large"])
    return True


def _record(parts: Sequence[bytes]) -> bytes:
    """Parts in one record: its sum and its length, something that no other has, the lengths of
    the parts, and the parts."""
    packed = [zlib.compress(part, LEVEL) for part in parts]
    lengths = array("Q", [len(packed), *map(len, packed)])
    body = b"".join([os.urandom(_SALT), lengths.tobytes(), *packed])
    head = array("Q", [zlib.crc32(body), len(body)]).tobytes()
    return _MAGIC + head + body


def _records(data: bytes) -> Iterator[tuple[list[memoryview], int]]:
    """The whole records that bytes begin with, and where each ends."""
    view, at = memoryview(data), 0
    while at + BEGINNING <= len(data):
        checked, length = array("Q", data[at + len(_MAGIC) : at + _HEAD])
        body = view[at + _HEAD : at + _HEAD + length]
        known = data.startswith(_MAGIC, at) and len(body) == length
        if not known or zlib.crc32(body) != checked:
            return
        at += _HEAD + length
        yield _parts(body[_SALT:]), at


def _parts(body: memoryview) -> list[memoryview]:
    lengths = array("Q")
    step = lengths.itemsize
    lengths.frombytes(body[:step])
    count = lengths[0]
    lengths.frombytes(body[step : step * (1 + count)])
    parts, at = [], step * (1 + count)
    for length in lengths[1:]:
        parts.append(body[at : at + length])
        at += length
    return parts


SETTINGS_BYTES = 8_000_000
"""A larger settings file is not read."""

ASK_S = 1.0
"""How long the disk may take to answer for one file."""


def changed(workspace: Workspace, settings: Settings) -> set[str]:
    """The languages one of whose settings files is another one now."""
    return {name for name, path in list(settings) if _differs(workspace, settings, name, path)}


def reader(workspace: Workspace, settings: Settings, name: str) -> Reader:
    """Reads settings files for a language's resolver, and notes how they stand."""

    def read(path: str) -> bytes | None:
        try:
            workspace.locate(path)
        except (PathError, OSError):
            return None  # settings may name what no file can be called
        found = workspace.read(path, limit=SETTINGS_BYTES, deadline_s=ASK_S)
        stamp = _standing(workspace, found)
        was = settings.get((name, path), stamp)
        if same(was, stamp):
            settings[name, path] = stamp  # else what was noted tells the next look of the change
        return found.data

    return read


def same(one: Stamp | None, other: Stamp | None) -> bool:
    """Whether both are of the same content."""
    return (one and one.revision) == (other and other.revision)


def _differs(workspace: Workspace, settings: Settings, name: str, path: str) -> bool:
    was, now = settings[name, path], workspace.stat(path)
    if was is None or now is None:
        return (was is None) != (now is None)
    if compare(was, now, tick_of(now)) == "same":
        return False
    stamp = _standing(workspace, workspace.read(path, limit=0, deadline_s=ASK_S))
    if stamp is None or not same(was, stamp):
        return True
    settings[name, path] = stamp
    return False


def _standing(workspace: Workspace, found: FileState) -> Stamp | None:
    """How a settings file stands; None where there is none. The revision of one that cannot be
    read is UNKNOWN."""
    if found.kind == "missing":
        return None
    signature = found.signature or workspace.stat(found.path)
    if signature is None:
        return None
    return Stamp(signature, found.revision, found.read_at_ns)
