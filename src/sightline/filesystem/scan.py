"""Looking over many files: a stat each, a hash in doubt; and listing what is there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from msgspec import structs

from sightline.filesystem.file_state import FileState
from sightline.filesystem.folder import ASIDE
from sightline.filesystem.ignore.rules import Chain, IgnoreRules, ignored
from sightline.filesystem.read import failed, read, signature_of
from sightline.filesystem.system_calls import Calls
from sightline.model.revision import UNKNOWN, Stamp, StatSignature, compare

SECOND_NS = 1_000_000_000
TICK_NS = 10_000_000
"""The coarsest clock tick of a running kernel (HZ=100), which times of files step by."""

COARSE_NS = 2 * SECOND_NS
"""The step of a file system that keeps whole seconds only (FAT keeps even ones)."""


def tick_of(signature: StatSignature) -> int:
    """The step of the file system's times, told by the times themselves: both on a whole second
    means that it keeps no finer ones (by chance once in 10^18). Nothing is written to measure."""
    return _step(signature.mtime_ns, signature.ctime_ns)


def settled(modified_ns: int, changed_ns: int, at_ns: int) -> bool:
    """Whether what bears these times was not changed just before a moment, or after it."""
    return max(modified_ns, changed_ns) + 2 * _step(modified_ns, changed_ns) < at_ns


def _step(modified_ns: int, changed_ns: int) -> int:
    whole = modified_ns % SECOND_NS == 0 and changed_ns % SECOND_NS == 0
    return COARSE_NS if whole else TICK_NS


def scan(calls: Calls, root: str, stamps: Iterable[tuple[str, Stamp]]) -> Iterator[FileState]:
    """Of these paths, those whose stamp does not vouch for them, in the order given.

    A doubtful file is hashed and answered even when its content is the same: then its revision
    equals the stamp's, and the caller keeps the fresh signature, so that the next scan need not
    hash it again.
    """
    lstat, racy, second, under = os.lstat, 2 * TICK_NS, SECOND_NS, f"{root}/"
    for path, stamp in stamps:
        try:
            now = lstat(under + path)
        except OSError as error:
            yield failed(path, error, calls.time_ns())
            continue
        known = stamp.signature
        changed = now.st_ctime_ns
        settled = stamp.read_at_ns - racy
        # model.revision.compare in place: its common answer is "same", and a call and a
        # StatSignature per file would double the cost of the scan. test_scan holds the two equal.
        if (
            changed == known.ctime_ns
            and now.st_mtime_ns == known.mtime_ns
            and now.st_size == known.size
            and now.st_ino == known.ino
            and now.st_mode == known.mode
            and now.st_dev == known.dev
            and changed % second
            and changed < settled
            and known.mtime_ns < settled
        ):
            continue
        if compare(stamp, signature_of(now), tick_of(known)) != "same":
            yield _looked(read(calls, root, path, limit=0))


def _looked(found: FileState) -> FileState:
    # The limit of 0 bytes was ours: nobody asked for data that would be too large.
    return structs.replace(found, data=None, why=None) if found.kind == "file" else found


def unanswered(path: str, at_ns: int) -> FileState:
    """The answer for a path that the disk did not answer for in time."""
    return FileState(path, "unreadable", UNKNOWN, read_at_ns=at_ns, why="deadline")


def walk(
    root: str,
    rules: tuple[IgnoreRules, ...],
    since_ns: int = 0,
    under: str = "",
    *,
    links: bool = False,
) -> Iterator[tuple[str, StatSignature]]:
    """Every regular file that no rule ignores, in order of path; those changed since, if asked,
    and those below one folder ("" or ending in "/") that is not ignored itself. links: symlinks,
    too.

    No symlink is followed, nor is what belongs to a nested repository listed. A folder
    that may not be listed is answered itself, told by its mode, so that a caller can say so.
    """
    chains = tuple(rule.chain() for rule in rules)
    for end in [at + 1 for at, sign in enumerate(under) if sign == "/"]:
        chains = _deeper(rules, chains, under[:end])
    yield from _walk(root, under, rules, chains, since_ns, links=links)


def _deeper(
    rules: tuple[IgnoreRules, ...], chains: tuple[Chain, ...], folder: str
) -> tuple[Chain, ...]:
    pairs = zip(rules, chains, strict=True)
    return tuple(rule.extend(chain, rule.full(folder)) for rule, chain in pairs)


def _walk(
    root: str,
    folder: str,
    rules: tuple[IgnoreRules, ...],
    chains: tuple[Chain, ...],
    since_ns: int,
    *,
    links: bool,
) -> Iterator[tuple[str, StatSignature]]:
    try:
        with os.scandir(f"{root}/{folder}") as entries:
            listed = sorted((_sort_key(entry), entry) for entry in entries)
    except PermissionError:
        yield folder.rstrip("/") or ".", signature_of(os.lstat(f"{root}/{folder}"))
        return
    except (FileNotFoundError, NotADirectoryError):
        return  # gone since it was seen, and so are its files
    if folder and any(name in (".git", ".git/") for name, _ in listed):
        return
    for name, entry in listed:
        below = name.endswith("/")
        if since_ns and not below and not _changed_since(entry, since_ns):
            continue  # asked first: a stat takes less than the rules
        path = folder + entry.name
        if unlisted(entry.name) or any(
            ignored(chain, rule.full(path), folder=below)
            for rule, chain in zip(rules, chains, strict=True)
        ):
            continue
        if below:
            deeper = _deeper(rules, chains, f"{path}/")
            yield from _walk(root, f"{path}/", rules, deeper, since_ns, links=links)
        elif entry.is_file(follow_symlinks=False) or (links and entry.is_symlink()):
            try:
                yield path, signature_of(entry.stat(follow_symlinks=False))
            except FileNotFoundError:
                continue


def _changed_since(entry: os.DirEntry[str], since_ns: int) -> bool:
    try:
        found = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return False
    return found.st_ctime_ns >= since_ns or found.st_mtime_ns >= since_ns


def _sort_key(entry: os.DirEntry[str]) -> str:
    # With its "/", so that "a-b" comes before "a/b" here as it does among whole paths.
    return entry.name + "/" * entry.is_dir(follow_symlinks=False)


def unlisted(name: str) -> bool:
    """Whether no entry of this name is ever listed, whatever the ignore rules say."""
    # Not Unicode: such a name could neither be stored nor be put into an answer.
    return name in (".git", ".hg") or name.startswith(ASIDE) or not encodes(name)


def encodes(name: str) -> bool:
    """Whether a name is Unicode."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
