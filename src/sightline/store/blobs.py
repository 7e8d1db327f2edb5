"""Keep and read texts by the hash of their bytes: one zstd frame for each text.

A newer text of a file is an edit of the one before. Its frame names that text as its dictionary
where the frame is at most half as large so, and then holds little more than the edit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import local
from typing import Any

from msgspec import Struct

from sightline.errors import StoreError
from sightline.model.revision import Revision, named, revision_of
from sightline.store.retention import KeptText
from sightline.store.sqlite_errors import SAVE

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Run = Callable[[str, Sequence[Any]], list[Any]]

DEPTH_MAX = 16
"""Dictionaries from a text to one that needs none. Reading a text reads all of them."""

DICTIONARY_MIN_BYTES = 8
"""zstd takes no smaller dictionary."""

LARGE_BYTES, LARGE_LEVEL = 1 << 20, 1
"""Of texts from so many bytes on, the level of zstd. They are manifests of large trees for the most part: 5 MB
of hashes take 29 ms at this level and get smaller than at level 3, where they take 138 ms."""

EDIT_LEVEL = 4
"""Level of zstd where there is a dictionary. The long-distance matcher finds the unchanged parts."""

SMALL_SHARE = 32
"""A frame with a dictionary that is so many times smaller than its text is kept, whatever the text takes
without one: to find out is a third of the time of a save."""

WINDOW_LOG_MAX = 27
"""The largest window that zstd reads without being asked to."""

ROW_BYTES = 150
"""Room of a row beside its frame: the revision twice, and the other columns."""

CHUNK = 500
"""Bound values of one statement."""

PUT = "INSERT OR IGNORE INTO texts (revision, depth, frame) VALUES (?, 0, ?)"
PUT_EDIT = (
    "INSERT OR IGNORE INTO texts (revision, frame, dictionary, depth)"
    " SELECT ?, ?, id, depth + 1 FROM texts WHERE revision = ? AND depth < ? RETURNING 1"
)
PUT_AHEAD = (
    "INSERT OR REPLACE INTO kept_ahead"
    " SELECT id, (SELECT coalesce(max(position), 0) FROM events) FROM texts WHERE revision IN"
)
REPLACE = (
    "UPDATE texts SET frame = ?2, dictionary = (SELECT id FROM texts WHERE revision = ?3),"
    " depth = coalesce((SELECT depth + 1 FROM texts WHERE revision = ?3), 0) WHERE revision = ?1"
)
FRAMES = f"""
  WITH RECURSIVE step (depth, dictionary, frame) AS (
    SELECT 0, dictionary, frame FROM texts WHERE revision = ?
    UNION ALL
    SELECT step.depth + 1, texts.dictionary, texts.frame
    FROM step JOIN texts ON texts.id = step.dictionary WHERE step.depth < {DEPTH_MAX}
  )
  SELECT frame FROM step ORDER BY depth DESC
"""  # noqa: S608  all ours
"""Select the frame of a text behind those of its dictionaries, in one statement: the text reads the
same before and after another process rewrites it."""

KEPT = (
    "SELECT revision, sum(size), max(since) FROM ("  # noqa: S608  all ours
    f"SELECT revision, length(frame) + {ROW_BYTES} AS size, coalesce(position, 0) AS since"
    " FROM texts LEFT JOIN kept_ahead ON text = id"
    f" UNION ALL SELECT revision, length(frame) + {ROW_BYTES}, since FROM marks"
    ") WHERE revision > ? GROUP BY revision ORDER BY revision LIMIT ?"
)
"""Select every text, and the marks of those that may not be kept, by the revision of the text."""

PUT_MARKS = (
    "INSERT OR IGNORE INTO marks (revision, since, frame)"
    " SELECT ?, coalesce(max(position), 0), ? FROM events"
)

_of_thread = local()
"""The compressor of each thread."""


class Packed(Struct, frozen=True):
    """A text ready to be kept. frame: None where the text was kept already; dictionary: the text
    that the frame needs."""

    revision: Revision
    data: bytes
    frame: bytes | None = None
    dictionary: Revision | None = None


class Blobs:
    """All texts of a store. run: one statement on its connection; place: its file, for errors.
    Call put(), replace() and remove() inside a transaction."""

    def __init__(self, run: Run, place: str) -> None:
        self._run = run
        self._place = place

    def pack(
        self,
        texts: Iterable[bytes] | dict[Revision, bytes],
        like: Mapping[Revision, Revision] | None = None,
    ) -> list[Packed]:
        """Compress the texts that are not kept yet. Compression takes most of the time of a put,
        and needs no transaction. like: text -> one that it resembles."""
        by_revision = named(texts)
        kept = self.stored_among(list(by_revision))
        return [
            Packed(revision, data)
            if revision in kept
            else self._pack(revision, data, (like or {}).get(revision), by_revision)
            for revision, data in by_revision.items()
        ]

    def put(self, batch: Sequence[Packed], *, ahead: bool = False) -> None:
        """Keep packed texts. Another process may have kept or forgotten some since pack(). ahead:
        no fact names these texts yet."""
        kept = self.stored_among([packed.revision for packed in batch if packed.frame is None])
        for packed in batch:
            if packed.revision not in kept:
                self._put(packed)
        if ahead:
            list(run_in_chunks(self._run, PUT_AHEAD, [packed.revision for packed in batch]))

    def replace(self, revision: Revision, data: bytes, like: Revision | None) -> None:
        """Write the frame of a kept text anew, with another dictionary or none."""
        packed = self._pack(revision, data, like, {})
        self._run(REPLACE, (revision, packed.frame, packed.dictionary))

    def remove(self, revision: Revision) -> bool:
        """Forget a text, and its marks; False where neither is kept. Texts that need it as their
        dictionary get another one first, or none."""
        marks = self._run("DELETE FROM marks WHERE revision = ? RETURNING 1", (revision,))
        rows = self._run("SELECT id, dictionary FROM texts WHERE revision = ?", (revision,))
        if not rows:
            return bool(marks)
        [(number, dictionary)] = rows
        like: Revision | None = None
        for (name,) in self._run("SELECT revision FROM texts WHERE id = ?", (dictionary,)):
            like = name
        for (name,) in self._run("SELECT revision FROM texts WHERE dictionary = ?", (number,)):
            data = self.sound(name)
            if data is not None:  # a damaged text stays as it is; reading it raises the error
                self.replace(name, data, like)
                like = like or name
        self._run("DELETE FROM kept_ahead WHERE text = ?", (number,))
        self._run("DELETE FROM texts WHERE id = ?", (number,))
        return True

    def get(self, revision: Revision) -> bytes | None:
        """Return the bytes of a revision, checked against it; None where they are not kept.
        StoreError where they are damaged."""
        frames = [frame for (frame,) in self._run(FRAMES, (revision,))]
        if not frames:
            return None
        try:
            data = zstd.decompress(frames[0])
            for frame in frames[1:]:  # each text before is the dictionary of the next frame
                data = zstd.decompress(frame, zstd_dict=_dictionary(data))
        except (zstd.ZstdError, ValueError, TypeError):
            data = None
        if data is None or revision_of(data) != revision:
            raise StoreError(
                f"The kept text {revision} in {self._place} is damaged.", SAVE, "damaged"
            )
        return data

    def sound(self, revision: Revision) -> bytes | None:
        """Return the bytes of a revision; None where they are not kept, or damaged."""
        try:
            return self.get(revision)
        except StoreError:
            return None

    def put_marks(self, revision: Revision, frame: bytes) -> None:
        """Keep the marks of a text as compress() packs them."""
        self._run(PUT_MARKS, (revision, frame))

    def marks(self, revision: Revision) -> bytes | None:
        """Return the marks of a text; None where none are kept. StoreError where they are damaged."""
        for (frame,) in self._run("SELECT frame FROM marks WHERE revision = ?", (revision,)):
            try:
                return zstd.decompress(frame)
            except (zstd.ZstdError, ValueError, TypeError) as error:
                message = f"The kept marks of the text {revision} in {self._place} are damaged."
                raise StoreError(message, SAVE, "damaged") from error
        return None

    def sizes(self, after: Revision, limit: int | None) -> list[KeptText]:
        """List the texts behind a revision, or their marks, with the bytes that each takes on disk."""
        return [KeptText(*row) for row in self._run(KEPT, (after, -1 if limit is None else limit))]

    def damaged(self) -> list[str]:
        """Read every text; return one sentence for each whose bytes do not match its revision."""
        wrong = []
        for (revision,) in self._run("SELECT revision FROM texts ORDER BY revision", ()):
            try:
                self.get(revision)
            except StoreError as error:
                wrong.append(error.message)
        return wrong

    def stored_among(self, revisions: Sequence[Revision]) -> set[Revision]:
        """Return those of the revisions whose texts are kept."""
        sql = "SELECT revision FROM texts WHERE revision IN"
        return {revision for (revision,) in run_in_chunks(self._run, sql, revisions)}

    def _pack(
        self,
        revision: Revision,
        data: bytes,
        like: Revision | None,
        beside: Mapping[Revision, bytes],
    ) -> Packed:
        """Compress a text. like: a similar text, which is kept or is in `beside`."""
        if like is None or like == revision:
            return Packed(revision, data, compress(data))
        before = beside.get(like) or self.sound(like)
        if before is None or len(before) < DICTIONARY_MIN_BYTES:
            return Packed(revision, data, compress(data))
        smaller = _compress_edit(data, before)
        if len(smaller) * SMALL_SHARE > len(data):
            frame = compress(data)
            if 2 * len(smaller) > len(frame):
                return Packed(revision, data, frame)
        return Packed(revision, data, smaller, like)

    def _put(self, packed: Packed) -> None:
        """Keep a text; without a dictionary where that is gone, or is DEPTH_MAX deep."""
        revision, frame = packed.revision, packed.frame
        if packed.dictionary is not None:
            put = self._run(PUT_EDIT, (revision, frame, packed.dictionary, DEPTH_MAX))
            if put or self.stored_among([revision]):
                return
            frame = None
        self._run(PUT, (revision, compress(packed.data) if frame is None else frame))


def compress(data: bytes) -> bytes:
    """Return the frame of a text that needs no dictionary."""
    if len(data) >= LARGE_BYTES:
        return zstd.compress(data, LARGE_LEVEL)
    try:
        compressor = _of_thread.compressor
    except AttributeError:  # making one takes ten times as long as a small text
        compressor = _of_thread.compressor = zstd.ZstdCompressor()
    return bytes(compressor.compress(data, zstd.ZstdCompressor.FLUSH_FRAME))


def _compress_edit(data: bytes, before: bytes) -> bytes:
    """Compress a text with another one as its dictionary."""
    reach = len(data) + len(before)
    options: dict[int, int] = {
        zstd.CompressionParameter.compression_level: EDIT_LEVEL,
        zstd.CompressionParameter.window_log: min(max(reach.bit_length(), 10), WINDOW_LOG_MAX),
        zstd.CompressionParameter.enable_long_distance_matching: 1,
    }
    return zstd.compress(data, options=options, zstd_dict=_dictionary(before))


def _dictionary(data: bytes) -> Any:
    return zstd.ZstdDict(data, is_raw=True).as_prefix


def run_in_chunks(run: Run, sql: str, values: Sequence[Any], end: str = "") -> Iterator[Any]:
    """Run a statement, which ends in IN, for each chunk of values, and yield all rows."""
    for start in range(0, len(values), CHUNK):
        chunk = values[start : start + CHUNK]
        yield from run(f"{sql} ({','.join('?' * len(chunk))}){end}", chunk)
