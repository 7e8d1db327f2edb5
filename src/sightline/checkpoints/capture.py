"""Capture a tree for a checkpoint: its manifest, the texts to store, and what is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from stat import S_ISLNK, S_ISREG
from time import monotonic

from msgspec import Struct, structs

from sightline.changes.linked_secrets import secret_inodes
from sightline.changes.session_context import SessionContext
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.file_state import FileState
from sightline.filesystem.tree_index import CONTENT, DEV, INO, MODE, Row, Tree
from sightline.model import manifest
from sightline.model.manifest import Manifest, Step, file_row, link_row, step
from sightline.model.revision import Revision, revision_of
from sightline.text.phrases import size

StoreTexts = Callable[[dict[Revision, bytes]], None]

SECRET = "its text is never stored"  # noqa: S105
CHANGING = "it changed while it was read"
NO_TIME = "no time yet"

WORTH_REMEMBERING = 100
"""The number of files read from which on the tree index is saved for later processes."""

FEW_TEXTS = 64
"""Texts that are stored in the same transaction as the checkpoint's fact."""

BATCH_TEXTS, BATCH_BYTES = 1000, 2 << 20
"""Texts, and their bytes, of one transaction: other writers wait some milliseconds for it."""


class Capture(Struct, frozen=True):
    """A captured tree. texts: those that are not stored yet; step: the difference from the last
    manifest."""

    manifest: Manifest
    texts: tuple[bytes, ...]
    step: Step


def capture_tree(
    context: SessionContext, last: Manifest, store: StoreTexts, until: float | None = None
) -> Capture:
    """Capture all files that the ignore rules show. last: a manifest whose texts are stored.
    store: called with batches of texts where there are many. until: the time.monotonic() by which
    the capture should end; files that there is no time to read are left out. StoreError,
    Unverifiable, DeadlinePassed."""
    look = _Look(context, last, until)
    batch: dict[Revision, bytes] = {}
    read = room = 0
    stored = False
    for path, row, data in context.workspace.contents(look.unread_files()):
        read += 1
        if data is not None:
            row[CONTENT] = revision_of(data)
            look.rows[path] = (row[CONTENT], row[MODE])  # type: ignore[assignment]
        else:
            data = look.read_again(path, row)
        if data is not None:
            batch[row[CONTENT]] = data  # type: ignore[index]
            room += len(data)
        if room >= BATCH_BYTES or len(batch) == BATCH_TEXTS:
            store(batch)
            batch, room, stored = {}, 0, True
    if batch and (stored or len(batch) > FEW_TEXTS):
        store(batch)
        batch = {}
    lasting = bool(look.late) or read > WORTH_REMEMBERING
    context.workspace.remember(look.tree, lasting=lasting)
    look.omitted.update(dict.fromkeys(_by_folder(look.tree, look.late), NO_TIME))
    captured = Manifest(look.rows, look.omitted)
    return Capture(captured, tuple(batch.values()), step(last, captured))


class _Look:
    """A walk of the whole tree. rows, omitted: the captured files and those left out, so far;
    late: files that there is no time to read; tree: the index of the tree, complete at the end."""

    def __init__(self, context: SessionContext, last: Manifest, until: float | None) -> None:
        self.rows: dict[str, manifest.Row] = {}
        self.omitted: dict[str, str] = {}
        self.late: list[str] = []
        self.tree = context.workspace.remembered()
        self._context = context
        self._last = last
        self._until = until

    def unread_files(self) -> Iterator[tuple[str, Row]]:
        """Yield the files that have to be read; add all others to rows or omitted."""
        last, settings = self._last.rows, self._context.settings
        started = monotonic()
        self.tree = self._context.workspace.tree(self.tree, until=self._until)
        if self._until is not None:
            # Recording the tree takes about as long as walking it.
            self._until -= monotonic() - started
            if monotonic() > self._until:
                raise DeadlinePassed
        linked = secret_inodes(self._context.workspace, settings, self.tree)
        for folder, listing in self.tree.listings.items():
            for name, reason in listing.hidden.items():
                self.omitted[folder + name] = reason
            secrets = settings.secrets(folder, list(listing.files))
            for name, row in listing.files.items():
                path = folder + name
                mode, content = row[MODE], row[CONTENT]
                known = last.get(path)
                if known is not None and known[0] == content and known[1] == mode:
                    self.rows[path] = known
                elif S_ISLNK(mode):  # type: ignore[arg-type]
                    self.rows[path] = link_row(content, mode)  # type: ignore[arg-type]
                elif name in secrets or (linked and (row[DEV], row[INO]) in linked):
                    self.omitted[path] = SECRET
                elif (too_large := _too_large(self._context, row[0])) is not None:  # type: ignore[arg-type]
                    self.omitted[path] = too_large
                elif self._until is not None and monotonic() > self._until:
                    self.late.append(path)
                else:
                    yield path, row

    def read_again(self, path: str, row: Row) -> bytes | None:
        """Read a file that did not match its row, and return its bytes, where it has any."""
        found = _read(self._context, path)
        if found.data is not None and found.signature is not None:
            signature = list(structs.astuple(found.signature))
            # In one assignment, because other threads read the row.
            row[:] = [*signature, found.revision, found.read_at_ns]
        _add(self.rows, self.omitted, found)
        return found.data


def capture_paths(context: SessionContext, last: Manifest, paths: Iterable[str]) -> Capture | None:
    """Capture the last manifest with the current files at these canonical paths. Return None where
    the whole tree has to be walked: for a folder, a symlink, an ignore file."""
    rows: dict[str, manifest.Row] = {}
    omitted: dict[str, str] = {}
    asked = set(paths)
    texts: list[bytes] = []
    for path in asked:
        try:
            current = context.workspace.stat(path)
        except OSError:
            return None
        if path.endswith("ignore") or (current and not S_ISREG(current.mode)):
            return None
        if current is None:
            below = (each for each in (*last.rows, *last.omitted) if each.startswith(f"{path}/"))
            if path not in last and any(below):
                return None
            continue
        if path not in last and not context.workspace.listed(path):
            return None
        secret = None if context.may_store(path) else SECRET
        if (reason := secret or _too_large(context, current.size)) is not None:
            omitted[path] = reason
            continue
        found = _read(context, path)
        _add(rows, omitted, found)
        if found.data is not None:
            texts.append(found.data)
    taken = step(last.only(asked), Manifest(rows, omitted))
    return Capture(last.after(taken), tuple(texts), taken)


def _too_large(context: SessionContext, file_size: int) -> str | None:
    cap = context.settings.checkpoint_file_bytes
    return f"{size(file_size)}, more than {size(cap)}" if file_size > cap else None


def _by_folder(tree: Tree, paths: Iterable[str]) -> Iterator[str]:
    """Yield paths, and a folder instead of its files where they are all that it has: there may be
    very many."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(path[: path.rfind("/") + 1], []).append(path)
    for folder, below in folders.items():
        listing = tree.listings.get(folder)
        whole = listing is not None and len(listing.files) == len(below) and not listing.folders
        yield from [folder] if folder and whole else below


def _read(context: SessionContext, path: str) -> FileState:
    return context.workspace.read(path, limit=context.settings.checkpoint_file_bytes)


def _add(rows: dict[str, manifest.Row], omitted: dict[str, str], found: FileState) -> None:
    """Add a file to the rows, or to the omitted paths with the reason; a missing file to none."""
    if found.data is not None and found.signature is not None:
        rows[found.path] = file_row(found.revision, found.signature.mode)
    elif found.kind == "unreadable" and found.why != "changing":
        omitted[found.path] = f"it cannot be read: {found.why}"
    elif found.kind != "missing":
        omitted[found.path] = CHANGING
