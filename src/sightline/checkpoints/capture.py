"""What a checkpoint covers: how the tree stands, the texts of it kept, and what is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from stat import S_ISLNK, S_ISREG
from time import monotonic
from typing import Self

from msgspec import Struct, structs

from sightline.changes.manifests import CapturedLook, differing_rows, folder_of
from sightline.changes.session_context import SessionContext, stamp_of
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.file_state import FileState
from sightline.filesystem.scan import tick_of
from sightline.filesystem.tree_index import Listing, Row, Tree
from sightline.model import manifest
from sightline.model.manifest import Manifest, Step, file_row, fold, link_row, step
from sightline.model.revision import Revision, StatSignature, compare, revision_of
from sightline.text.phrases import size

Standing = tuple[str, manifest.Row | None, str]
"""A path, its row, and why it has none; "" for no word: then it is gone."""

Keep = Callable[[dict[Revision, bytes]], None]

SECRET = "its text is never stored"  # noqa: S105
CHANGING = "it changed while it was read"
NO_TIME = "no time yet"

MODE, CONTENT = 5, 6
"""Of a row of the tree."""

NOTHING: Mapping[str, FileState] = {}
"""Nothing was looked at."""

WORTH_REMEMBERING = 100
"""New looks that cost the next process more to repeat than all of them cost to write down."""


class Covered(Struct, frozen=True):
    """How the tree stands. texts: those that are not kept yet; step: from the last manifest; seen:
    what it was made of, where that says all."""

    manifest: Manifest
    texts: tuple[bytes, ...]
    step: Step
    seen: CapturedLook | None = None


def capture_tree(
    ground: SessionContext,
    last: Manifest,
    keep: Keep,
    until: float | None = None,
    seen: CapturedLook | None = None,
    looked: Mapping[str, FileState] = NOTHING,
) -> Covered:
    """All that the ignore rules let us see. last: a manifest whose texts are kept. keep: called
    with texts where there are many, by several threads; few are answered. until: by
    time.monotonic(), all should be done by then; what there is no time to read is left out.
    seen: what the last manifest was made of. looked: what the caller read a moment ago.
    StoreError, Unverifiable, DeadlinePassed."""
    work = _Work(ground, last, until, seen, looked)
    rows, omitted = work.rows, work.omitted
    read = 0
    with Keeping(keep) as keeping:
        for path, row, data in ground.workspace.contents(work.unread()):
            read += 1
            if data is None:
                if (closer := _look(ground, rows, omitted, path, row)) is not None:
                    keeping.add(*closer)
                continue
            row[CONTENT] = revision = revision_of(data)
            rows[path] = file_row(revision, row[MODE])  # type: ignore[arg-type]
            keeping.add(revision, data)
        for there in work.vouched:
            keeping.add(*there)
        tree, late = work.tree, work.late
        ground.workspace.remember(tree, lasting=bool(late) or read > WORTH_REMEMBERING)
        omitted.update(dict.fromkeys(_folded(tree, late), NO_TIME))
        found = Manifest(rows, omitted)
        if seen is None:
            taken = step(last, found)
        else:
            taken = step(last.only(seen.paths(tree).union(rows, omitted)), found)
            found = fold(last, taken)
    texts = tuple(keeping.texts.values())
    return Covered(found, texts, taken, None if late else work.seen())


def capture_paths(
    ground: SessionContext, last: Manifest, paths: Iterable[str], seen: CapturedLook | None = None
) -> Covered | None:
    """The last manifest with what stands at these canonical paths now; None where that takes a
    look at all: of a folder or a symlink, and of what makes others seen or unseen. seen: as in
    everything."""
    rows: dict[str, manifest.Row] = {}
    omitted: dict[str, str] = {}
    asked = set(paths)
    texts: list[bytes] = []
    for path in asked:
        try:
            standing = ground.workspace.stat(path)
        except OSError:
            return None
        if path.endswith("ignore") or (standing and not S_ISREG(standing.mode)):
            return None
        if standing is None and path not in last and _holds(last, f"{path}/"):
            return None
        if standing is None:
            continue
        if path not in last and not ground.workspace.listed(path):
            return None
        if (why := left_out(ground, path, standing.size)) is not None:
            omitted[path] = why
            continue
        found = ground.workspace.read(path, limit=ground.settings.checkpoint_file_bytes)
        _put(rows, omitted, _standing(found))
        if found.data is not None:
            texts.append(found.data)
    old = last.only(asked)
    taken = step(old, Manifest(rows, omitted))
    seen = seen and structs.replace(seen, since=seen.since | asked)
    return Covered(fold(last, taken), tuple(texts), taken, seen)


def _holds(last: Manifest, folder: str) -> bool:
    """Whether a manifest says anything of what is in a folder."""
    return any(path.startswith(folder) for path in (*last.rows, *last.omitted))


def left_out(ground: SessionContext, path: str, bytes_: int) -> str | None:
    """Why the settings leave a file out; None when they do not."""
    if not ground.settings.may_store(path):
        return SECRET
    return too_large(ground, bytes_)


def too_large(ground: SessionContext, bytes_: int) -> str | None:
    """Why a file of this size is left out; None when it is not."""
    cap = ground.settings.checkpoint_file_bytes
    return f"{size(bytes_)}, more than {size(cap)}" if bytes_ > cap else None


class _Work:
    """A look at everything while it goes on. rows, omitted: what is known by now, but of folders
    of which the last manifest says all; late: files that there is no time to read; vouched: texts
    that the caller had read; tree: all, when it has ended."""

    def __init__(
        self,
        ground: SessionContext,
        last: Manifest,
        until: float | None,
        seen: CapturedLook | None,
        looked: Mapping[str, FileState],
    ) -> None:
        self.rows: dict[str, manifest.Row] = {}
        self.omitted: dict[str, str] = {}
        self.late: list[str] = []
        self.vouched: list[tuple[Revision, bytes]] = []
        self._looked = looked
        self.tree = ground.workspace.remembered()
        self._ground = ground
        self._last = last
        self._until = until
        self._seen = seen or CapturedLook({})
        self._compared: list[tuple[str, list[tuple[str, Row]]]] = []

    def unread(self) -> Iterator[tuple[str, Row]]:
        """The files that have to be read; of all others, what is known of them goes into rows and
        omitted."""
        kept, rows = self._last.row, self.rows
        known, doubtful = self._seen.listings.get, self._seen.doubtful()
        for folder, listing in self._folders():
            before = known(folder) if folder not in doubtful else None
            if before is listing:
                continue
            files = differing_rows(listing.files, before.files if before is not None else {})
            self._compared.append((folder, files))
            for name, reason in listing.hidden.items():
                self.omitted[folder + name] = reason
            secrets = self._ground.settings.secrets(folder, [name for name, _ in files])
            for name, row in files:
                path = folder + name
                mode, content = row[MODE], row[CONTENT]
                was = kept(path)
                if was is not None and was[0] == content and was[1] == mode:
                    rows[path] = was
                elif S_ISLNK(mode):  # type: ignore[arg-type]
                    rows[path] = link_row(content, mode)  # type: ignore[arg-type]
                elif name in secrets:
                    self.omitted[path] = SECRET
                elif (why := too_large(self._ground, row[0])) is not None:  # type: ignore[arg-type]
                    self.omitted[path] = why
                elif path in self._looked and self._vouches(self._looked[path], row):
                    rows[path] = file_row(row[CONTENT], mode)  # type: ignore[arg-type]
                elif self._until is not None and monotonic() > self._until:
                    self.late.append(path)
                else:
                    yield path, row

    def _vouches(self, there: FileState, row: Row) -> bool:
        """Whether what the caller read is what stands there, by its times; the row says so then."""
        stamp = stamp_of(there)
        if stamp is None or there.data is None:
            return False
        if compare(stamp, StatSignature(*row[:CONTENT]), tick_of(stamp.signature)) != "same":  # type: ignore[arg-type]
            return False
        row[CONTENT:] = [there.revision, there.read_at_ns]
        self.vouched.append((there.revision, there.data))
        return True

    def seen(self) -> CapturedLook:
        """What the manifest of all of it is made of."""
        unsure = [
            folder for folder, files in self._compared if not all(row[CONTENT] for _, row in files)
        ]
        return CapturedLook(self.tree.listings, frozenset(unsure))

    def _folders(self) -> Iterator[tuple[str, Listing]]:
        workspace, last = self._ground.workspace, self.tree
        started = monotonic()
        self.tree = workspace.tree(last, until=self._until)
        if self._until is not None:
            # To write down what was found takes about as long as to find it.
            self._until -= monotonic() - started
            if monotonic() > self._until:
                raise DeadlinePassed
        yield from self.tree.listings.items()


def _folded(tree: Tree, paths: Iterable[str]) -> Iterator[str]:
    """These files, by their folder where they are all that it holds: a tree may have a lot."""
    groups: dict[str, list[str]] = {}
    for path in paths:
        groups.setdefault(folder_of(path), []).append(path)
    for folder, below in groups.items():
        listing = tree.listings.get(folder)
        whole = listing is not None and len(listing.files) == len(below) and not listing.folders
        yield from [folder] if folder and whole else below


def _look(
    ground: SessionContext,
    rows: dict[str, manifest.Row],
    omitted: dict[str, str],
    path: str,
    row: Row,
) -> tuple[Revision, bytes] | None:
    """Take a closer look at a file, and note what was learned; its bytes with their revision, where
    it has any."""
    found = ground.workspace.read(path, limit=ground.settings.checkpoint_file_bytes)
    if found.data is not None and found.signature is not None:
        signature = list(structs.astuple(found.signature))
        row[:] = [*signature, found.revision, found.read_at_ns]  # at once: others look at it, too
    _put(rows, omitted, _standing(found))
    return None if found.data is None else (found.revision, found.data)


def _standing(found: FileState) -> Standing:
    """What a look comes to, whose bytes are kept if it has data."""
    path = found.path
    if found.data is not None and found.signature is not None:
        return path, file_row(found.revision, found.signature.mode), ""
    if found.kind == "unreadable" and found.why != "changing":
        return path, None, f"it cannot be read: {found.why}"
    return path, None, "" if found.kind == "missing" else CHANGING


def _put(rows: dict[str, manifest.Row], omitted: dict[str, str], standing: Standing) -> None:
    path, row, why = standing
    if row is not None:
        rows[path] = row
    elif why:
        omitted[path] = why


FEW = 64
"""Texts that go into the store with the fact that names them."""

AT_ONCE, BYTES_AT_ONCE = 1000, 2 << 20
"""Texts, and their bytes, of one transaction: some milliseconds for which other writers wait."""

THREADS = 2
"""They pack while others read and store; more find no more to do, because storing is one at a
time."""

WAITING = 4
"""Batches that were read and are not stored yet, at most."""


class Keeping:
    """Takes texts one after the other, and gives many to `keep`, in batches and other threads: all
    are kept when it ends, or the error of that is raised. texts: those that are not given, where
    all that came are few."""

    def __init__(self, keep: Keep) -> None:
        self.texts: dict[Revision, bytes] = {}
        self._keep = keep
        self._room = BYTES_AT_ONCE
        self._threads: ThreadPoolExecutor | None = None
        self._waiting: list[Future[None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and (self._threads or len(self.texts) > FEW):
            self._give()
        if self._threads:
            self._threads.shutdown()
        if kind is None:
            self._await(0)

    def add(self, revision: Revision, data: bytes) -> None:
        """Take one more; waits where too many are on their way."""
        self.texts[revision] = data
        self._room -= len(data)
        if self._room <= 0 or len(self.texts) == AT_ONCE:
            self._give()
            self._await(WAITING)

    def _give(self) -> None:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(THREADS)
        self._waiting.append(self._threads.submit(self._keep, self.texts))
        self.texts, self._room = {}, BYTES_AT_ONCE

    def _await(self, most: int) -> None:
        while len(self._waiting) > most:
            self._waiting.pop(0).result()
