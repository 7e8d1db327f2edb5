"""Capture a tree for a checkpoint: its manifest, the texts to store, and what is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from stat import S_ISLNK, S_ISREG
from time import monotonic

from msgspec import Struct

from sightline.changes import untracked
from sightline.changes.linked_secrets import secret_inodes
from sightline.changes.session_context import SessionContext
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.file_state import FileState
from sightline.filesystem.left_out import left_out_sizes
from sightline.filesystem.tree_index import CONTENT, DEV, INO, MODE, NO_LISTING, Row, Tree
from sightline.model import manifest
from sightline.model.manifest import Manifest, Step, file_row, link_row, step
from sightline.model.revision import Revision, revision_of
from sightline.text.phrases import size

StoreTexts = Callable[[dict[Revision, bytes]], None]
StoredAmong = Callable[[Iterable[Revision]], set[Revision]]

SECRET = "its text is never stored"  # noqa: S105
CHANGING = "it changed while it was read"
NO_TIME = "there was no time to read it yet"

WORTH_REMEMBERING = 100
"""The number of files read from which on the tree index is saved for later processes."""

FEW_TEXTS = 64
"""Texts that are stored in the same transaction as the checkpoint's fact."""

BATCH_TEXTS, BATCH_BYTES = 1000, 2 << 20
"""Texts, and their bytes, of one transaction: other writers wait some milliseconds for it."""


CHANGED_MAX = 1000
"""Changed files up to which a capture opens each by its path; a walk of the tree reads more in less time.
Their texts are in memory together, so they may have BATCH_BYTES in all."""

READING = 0.15
"""The share of a capture's time in which files are read. A daemon reads files ahead (keep_texts);
the files that are left out then come with the next capture."""

ALWAYS = 256
"""Files that are read whatever the time is: a small tree is covered on the busiest machine, too."""


class Capture(Struct, frozen=True):
    """A captured tree. texts: those that are not stored yet; step: the difference from the last
    manifest; tree: the look that named the files; None where the caller named them."""

    manifest: Manifest
    texts: tuple[bytes, ...]
    step: Step
    tree: Tree | None = None


def capture_tree(
    context: SessionContext,
    last: Manifest,
    store: StoreTexts,
    kept: StoredAmong,
    until: float | None = None,
) -> Capture:
    """Capture all files that the ignore rules show. last: a manifest whose texts are stored.
    store: called with batches of texts where there are many. kept: returns those of the revisions
    whose texts are stored. until: the time.monotonic() by which the capture should end; files that
    there is no time to read are left out. StoreError, Unverifiable, DeadlinePassed."""
    look = _Look(context, last, kept, until)
    few: dict[Revision, bytes] = {}
    for few in look.texts(BATCH_TEXTS):
        if look.read > FEW_TEXTS or sum(map(len, few.values())) >= BATCH_BYTES:
            store(few)
            few = {}
    lasting = bool(look.late) or look.read > WORTH_REMEMBERING
    context.workspace.remember(look.tree, lasting=lasting)
    look.omitted.update(dict.fromkeys(_by_folder(look.tree, look.late), NO_TIME))
    sizes = left_out_sizes(context.workspace.root, untracked.hidden(look.tree))
    captured = Manifest(look.rows, look.omitted, sizes=sizes)
    return Capture(captured, tuple(few.values()), step(last, captured), look.tree)


def capture_changed(
    context: SessionContext, last: Manifest, earlier: Tree, until: float | None = None
) -> Capture | None:
    """Capture the last manifest with the files that changed since it was captured: it costs what these
    files cost. earlier: the tree of the last capture, from this process. until: see capture_tree.
    Return None where the whole tree has to be walked. Unverifiable, DeadlinePassed."""
    tree = context.workspace.tree(until=until)
    if NO_TIME in last.omitted.values() or tree.ignore_files != earlier.ignore_files:
        return None
    # What was left out for another reason than an ignore file may be covered by now.
    changed = {path for path in last.omitted if tree.row(path) is not None}
    room = BATCH_BYTES
    for folder in earlier.listings.keys() | tree.listings.keys():
        before = earlier.listings.get(folder, NO_LISTING)
        now = tree.listings.get(folder, NO_LISTING)
        if now is before:
            continue
        # A look keeps the row of an unchanged file.
        names = {name for name, row in now.files.items() if before.files.get(name) is not row}
        if now.hidden != before.hidden or not names.isdisjoint(now.linked):
            return None  # a changed file may be another name of a secret one
        changed.update(folder + name for name in names | before.files.keys() - now.files.keys())
        sizes = [int(now.files[name][0]) for name in names]
        room -= sum([each for each in sizes if each <= context.settings.checkpoint_file_bytes])
        if len(changed) > CHANGED_MAX or room < 0:
            return None  # a walk of the tree stores the texts in batches, and ends in time
    captured = capture_paths(context, last, changed)
    if captured is None:
        return None
    in_folders = left_out_sizes(context.workspace.root, untracked.hidden(tree))
    taken = captured.step.with_sizes(last.sizes, in_folders)
    return Capture(last.after(taken), captured.texts, taken, tree)


def keep_texts(context: SessionContext, last: Manifest, pause: Callable[[], None]) -> None:
    """Store the texts that the next capture would have to read, as many as fit checkpoint_bytes. last:
    as in capture_tree. pause: called after each FEW_TEXTS texts; it returns when nobody waits for this
    process. StoreError, Unverifiable."""
    look = _Look(context, last, context.store.stored_among, None)
    room = context.settings.checkpoint_bytes
    for texts in look.texts(FEW_TEXTS):
        room -= sum(map(len, texts.values()))
        if room < 0:
            break
        context.store.keep(texts)
        pause()
    newest = context.workspace.remembered()  # it shares the rows of files that did not change since
    tree = newest if newest.listings else look.tree
    context.workspace.remember(tree, lasting=look.read > WORTH_REMEMBERING)


class _Look:
    """A walk of the whole tree. rows, omitted: the captured files and those left out, so far;
    late: files that there is no time to read; read: the number of files read; tree: the index of
    the tree, complete at the end."""

    def __init__(
        self, context: SessionContext, last: Manifest, kept: StoredAmong, until: float | None
    ) -> None:
        self.rows: dict[str, manifest.Row] = {}
        self.omitted: dict[str, str] = {}
        self.late: list[str] = []
        self.read = 0
        self.tree = context.workspace.remembered()
        self._context = context
        self._last = last
        self._kept = kept
        self._until = until

    def texts(self, most: int) -> Iterator[dict[Revision, bytes]]:
        """Read the files whose texts are not stored, and yield the texts in batches of `most` or of
        BATCH_BYTES; the last batch may have fewer."""
        batch: dict[Revision, bytes] = {}
        room = 0
        for path, row, data in self._context.workspace.contents(self._unread_files()):
            self.read += 1
            if data is not None:
                revision = row[CONTENT] = revision_of(data)
                self.rows[path] = (revision, row[MODE])  # type: ignore[assignment]
            else:  # it changed since the look: the next look gives it a new row
                found = _read(self._context, path)
                _add(self.rows, self.omitted, found)
                revision, data = found.revision, found.data
            if data is not None:
                batch[revision] = data
                room += len(data)
            if room >= BATCH_BYTES or len(batch) == most:
                yield batch
                batch, room = {}, 0
        if batch:
            yield batch

    def _unread_files(self) -> Iterator[tuple[str, Row]]:
        """Yield the files that have to be read; add all others to rows or omitted."""
        started, until = monotonic(), self._until
        self.tree = self._context.workspace.tree(self.tree, until=until)
        # Recording the tree takes about as long as walking it.
        if until is not None and 2 * (monotonic() - started) > until - started:
            raise DeadlinePassed
        unknown = list(self._unknown_files())
        kept = self._kept({str(row[CONTENT]) for _, row in unknown if row[CONTENT]})
        if until is not None:
            until = monotonic() + READING * (until - started)
        for path, row in unknown:
            if row[CONTENT] in kept:
                self.rows[path] = (row[CONTENT], row[MODE])  # type: ignore[assignment]
            elif until is not None and self.read >= ALWAYS and monotonic() > until:
                self.late.append(path)
            else:
                yield path, row

    def _unknown_files(self) -> Iterator[tuple[str, Row]]:
        """Yield the files that differ from the last manifest; add all others to rows or omitted."""
        last, settings = self._last.rows, self._context.settings
        linked = secret_inodes(self._context.workspace, settings, self.tree)
        for folder, listing in self.tree.listings.items():
            for name, reason in listing.hidden.items():
                self.omitted[folder + name] = reason
            for name, row in listing.files.items():
                path = folder + name
                mode, content = row[MODE], row[CONTENT]
                known = last.get(path)
                if known is not None and known[0] == content and known[1] == mode:
                    self.rows[path] = known
                elif S_ISLNK(mode):  # type: ignore[arg-type]
                    self.rows[path] = link_row(content, mode)  # type: ignore[arg-type]
                elif linked and (row[DEV], row[INO]) in linked:
                    self.omitted[path] = SECRET
                elif (too_large := _too_large(self._context, row[0])) is not None:  # type: ignore[arg-type]
                    self.omitted[path] = too_large
                else:
                    yield path, row


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
            names = () if path in last else (*last.rows, *last.omitted)
            if any(name.startswith(f"{path}/") for name in names):
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
