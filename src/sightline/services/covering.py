"""What a checkpoint covers: how the tree stands, the texts of it kept, and what is left out."""

from __future__ import annotations

from functools import partial
from stat import S_ISLNK, S_ISREG
from time import monotonic

from sightline.core.manifest import Manifest, Step, file_row, fold, link_row, step
from sightline.core.value import Value
from sightline.render import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sightline.core import manifest
    from sightline.services.ground import Ground
    from sightline.workspace import Found
    from sightline.workspace.tree import Row

    Job = tuple[str, Row]
    Standing = tuple[str, manifest.Row | None, str]
    """A path, its row, and why it has none; "" for no word: then it is gone."""
    Keep = Callable[[list[bytes]], None]

SECRET = "its text is never stored"  # noqa: S105
CHANGING = "it changed while it was read"
NO_TIME = "no time yet"

AT_ONCE, BYTES_AT_ONCE = 64, 2 << 20
"""Texts, and their bytes, of one transaction: some milliseconds for which other writers wait."""

THREADS = 2
"""Hashing and packing go on beside the reading and the storing of others; more find no more to
do, because storing is one at a time."""

WORTH_REMEMBERING = 100
"""New looks that cost the next process more to repeat than all of them cost to write down."""


class Covered(Value):
    """How the tree stands. texts: those that are not kept yet; step: from the last manifest."""

    manifest: Manifest
    texts: tuple[bytes, ...]
    step: Step


def everything(ground: Ground, last: Manifest, keep: Keep, until: float | None = None) -> Covered:
    """All that the ignore rules let us see. last: a manifest whose texts are kept. keep: called
    with texts where there are many, by several threads; few are answered. until: by
    time.monotonic(), from then on nothing is read any more. StoreError, Unverifiable,
    DeadlinePassed."""
    tree = ground.workspace.tree(ground.workspace.remembered(), until=until)
    rows: dict[str, manifest.Row] = {}
    omitted = tree.hidden()
    jobs: list[Job] = []
    kept = last.rows
    for path, row in tree.files():
        mode, content = row[5], row[6]
        was = kept.get(path)
        if was is not None and was[0] == content and was[1] == mode:
            rows[path] = was
        elif S_ISLNK(mode):  # type: ignore[arg-type]
            rows[path] = link_row(content, mode)  # type: ignore[arg-type]
        elif (why := left_out(ground, path, row[0])) is not None:  # type: ignore[arg-type]
            omitted[path] = why
        else:
            jobs.append((path, row))
    texts: list[bytes] = []
    for there in _read(ground, jobs, texts.extend if len(jobs) <= AT_ONCE else keep, until):
        _put(rows, omitted, there)
    ground.workspace.remember(tree, lasting=len(jobs) > WORTH_REMEMBERING)
    found = Manifest(rows, omitted)
    return Covered(found, tuple(texts), step(last, found))


def these(ground: Ground, last: Manifest, paths: Iterable[str]) -> Covered | None:
    """The last manifest with what stands at these canonical paths now; None where that takes a
    look at all: of a folder or a symlink, and of what makes others seen or unseen."""
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
        if standing is None:
            continue
        if path not in last.rows and not ground.workspace.listed(path):
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
    return Covered(fold(last, taken), tuple(texts), taken)


def left_out(ground: Ground, path: str, bytes_: int) -> str | None:
    """Why the settings leave a file out; None when they do not."""
    cap = ground.settings.checkpoint_file_bytes
    if bytes_ > cap:
        return f"{size(bytes_)}, more than {size(cap)}"
    return None if ground.settings.may_store(path) else SECRET


def _read(
    ground: Ground, jobs: Sequence[Job], keep: Keep, until: float | None
) -> Iterator[Standing]:
    read = partial(_read_batch, ground, keep, until)
    if len(jobs) <= AT_ONCE:
        yield from read(jobs)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(THREADS) as threads:
        for found in threads.map(read, _batches(jobs)):
            yield from found


def _read_batch(
    ground: Ground, keep: Keep, until: float | None, jobs: Sequence[Job]
) -> list[Standing]:
    """Read files while there is time, keep their texts, and note in their rows what was learned."""
    looked: list[Found] = []
    for path, row in jobs:
        if until is not None and monotonic() > until:
            break
        looked.append(_look(ground, path, row))
    keep([found.data for found in looked if found.data is not None])
    left = [(path, None, NO_TIME) for path, _ in jobs[len(looked) :]]
    return [*map(_standing, looked), *left]


def _look(ground: Ground, path: str, row: Row) -> Found:
    found = ground.workspace.read(path, limit=ground.settings.checkpoint_file_bytes)
    if found.data is not None and found.signature is not None:
        row[:] = [value for _, value in found.signature.items()]
        row += [found.revision, found.read_at_ns]
    return found


def _batches(jobs: Sequence[Job]) -> Iterator[list[Job]]:
    batch: list[Job] = []
    room = BYTES_AT_ONCE
    for job in jobs:
        batch.append(job)
        room -= job[1][0]  # type: ignore[operator]
        if room <= 0 or len(batch) == AT_ONCE:
            yield batch
            batch, room = [], BYTES_AT_ONCE
    if batch:
        yield batch


def _standing(found: Found) -> Standing:
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
