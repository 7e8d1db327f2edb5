"""Texts that were kept together, packed as one stream: they take less room so, and less time.

A text of a pack is found by its revision, as any other. When it is forgotten only its row goes; the
pack is written anew without it when less than half of it is still needed, or at once when the
bytes are a secret.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from sightline.errors import StoreError
from sightline.model.deflate import deflated
from sightline.model.revision import Revision, revision_of
from sightline.model.value import Value
from sightline.store.codec import raw
from sightline.store.lru import Held
from sightline.store.retention import KeptText
from sightline.store.sqlite_errors import SAVE

Run = Callable[[str, Sequence[Any]], list[Any]]

PACK_BYTES = 128 << 10
"""Of texts, before packing: four times what zlib looks back, and unpacked in half a millisecond.
Half as much takes 2 % more room, because the pages of each body are not all full."""

TEXTS_MAX = 128
"""Of one pack."""

PACKS_AT_ONCE = 32
"""Of one statement: each takes the interpreter's lock, and others want that."""

OPEN_BYTES = 4 << 20
"""Of unpacked texts that are held, so that neighbours are not unpacked again for each."""

PUT = "INSERT OR FAIL INTO packs VALUES "
PUT_TEXTS = "INSERT OR IGNORE INTO packed VALUES "
"""Not OR REPLACE, which SQLite may have to take back alone: for that it writes every page aside that
it is about to change, and a first checkpoint as many of them as the texts fill."""

DROP_TEXT = "DELETE FROM packed WHERE revision = ?"
LAST = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'packs'"
WHERE = "SELECT pack, place FROM packed WHERE revision = ?"
WITH_BODY = (
    "SELECT pack, place, lengths, body FROM packed LEFT JOIN packs ON id = pack WHERE revision = ?"
)
THIN = "INSERT INTO thinned VALUES (?1, ?2) ON CONFLICT (pack) DO UPDATE SET gone = gone + excluded.gone"
SPARSE = "SELECT pack FROM thinned JOIN packs ON id = pack WHERE 2 * gone > size LIMIT ?"


class Pack(Value):
    """Texts, and the body that they are kept as. None of them is empty."""

    texts: dict[Revision, bytes]
    body: bytes


def together(texts: Mapping[Revision, bytes]) -> list[Pack]:
    """Texts in packs, in the order they come in."""
    return [Pack(some, deflated(b"".join(some.values()))) for some in _cut(texts)]


def _cut(texts: Mapping[Revision, bytes]) -> Iterator[dict[Revision, bytes]]:
    some: dict[Revision, bytes] = {}
    room = PACK_BYTES
    for revision, data in texts.items():
        some[revision] = data
        room -= len(data)
        if room <= 0 or len(some) == TEXTS_MAX:
            yield some
            some, room = {}, PACK_BYTES
    if some:
        yield some


class Opened(Value):
    """A pack that was unpacked, or the beginning of it. ends: where each of its texts ends."""

    ends: list[int]
    data: bytes

    def end(self, place: int) -> int:
        """Where a text ends; behind all where there is none at this place."""
        return self.ends[place] if place < len(self.ends) else self.ends[-1] + 1


class Packs:
    """The tables packs, packed and thinned. run: one statement on their connection."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._open = Held(OPEN_BYTES)

    def put(self, packs: Sequence[Pack], since: int) -> set[Revision]:
        """Keep packs; those of their texts that are in other packs already, and stay there. Inside
        a transaction. since: position of the newest fact, where none names them yet, else 0."""
        elsewhere: set[Revision] = set()
        for start in range(0, len(packs), PACKS_AT_ONCE):
            elsewhere |= self._put(packs[start : start + PACKS_AT_ONCE], since)
        return elsewhere

    def _put(self, packs: Sequence[Pack], since: int) -> set[Revision]:
        [(last,)] = self._run(LAST, ())
        rows: list[Any] = []
        texts: list[Any] = []
        for number, pack in enumerate(packs, last + 1):
            lengths = [len(data) for data in pack.texts.values()]
            rows += (number, since, sum(lengths), " ".join(map(str, lengths)), pack.body)
            for place, name in enumerate(pack.texts):
                texts += (raw(name), number, place)
        self._run(PUT + ",".join(["(?,?,?,?,?)"] * len(packs)), rows)
        count = len(texts) // 3
        self._run(PUT_TEXTS + ",".join(["(?,?,?)"] * count), texts)
        [(came,)] = self._run("SELECT changes()", ())
        return self._spared(packs, last + 1) if came < count else set()

    def _spared(self, packs: Sequence[Pack], first: int) -> set[Revision]:
        """The texts of new packs that other packs hold; here they count as forgotten."""
        elsewhere: set[Revision] = set()
        for number, pack in enumerate(packs, first):
            spare = [name for name in pack.texts if self._run(WHERE, (raw(name),))[0][0] != number]
            elsewhere.update(spare)
            if len(spare) == len(pack.texts):
                self._drop([number])
            elif spare:
                self._run(THIN, (number, sum([len(pack.texts[name]) for name in spare])))
        return elsewhere

    def get(self, revision: Revision) -> bytes | None:
        """The bytes of a text; None when it is in no pack, and others when its pack is damaged."""
        rows = self._run(WHERE, (raw(revision),))
        if not rows:
            return None
        number, place = rows[0]
        opened: Opened | None = self._open.get(number)
        if opened is None or opened.end(place) > len(opened.data):
            rows = self._run(WITH_BODY, (raw(revision),))
            if not rows:  # forgotten meanwhile
                return None
            number, place, lengths, body = rows[0]
            if body is None or place >= len(ends := _ends(lengths)):
                return b""
            # One text alone is not worth all that stands behind it; who asks twice gets all.
            opened = Opened(ends, _inflated(body, ends[-1] if opened else ends[place]))
            self._open.put(number, opened, len(opened.data))
        return opened.data[opened.ends[place - 1] if place else 0 : opened.ends[place]]

    def remove(self, revision: Revision) -> bool:
        """Forget a text; False when it is in no pack. Inside a transaction. Its bytes stay in the
        pack until that is written anew, or goes with its last text."""
        rows = self._run(WHERE, (raw(revision),))
        if not rows:
            return False
        number, place = rows[0]
        self._run(DROP_TEXT, (raw(revision),))
        [(size, lengths)] = self._run("SELECT size, lengths FROM packs WHERE id = ?", (number,))
        self._run(THIN, (number, int(lengths.split()[place])))
        [(gone,)] = self._run("SELECT gone FROM thinned WHERE pack = ?", (number,))
        if gone == size:
            self._drop([number])
        return True

    def erase(self, revisions: Iterable[Revision]) -> None:
        """Write packs anew that still hold the bytes of forgotten texts. Inside a transaction."""
        wanted = set(revisions)
        for (number,) in self._run("SELECT pack FROM thinned", ()):
            texts = self._texts(number)
            if any(revision_of(data) in wanted for data in texts):
                self.rewrite([number])

    def sparse(self, most: int) -> list[int]:
        """Packs, so many at most, of which less than half is still needed."""
        return [number for (number,) in self._run(SPARSE, (most,))]

    def rewrite(self, numbers: Sequence[int]) -> None:
        """Put what is still needed of these packs into new ones. Inside a transaction."""
        living: dict[Revision, bytes] = {}
        newest = 0
        for number in numbers:
            [(since,)] = self._run("SELECT since FROM packs WHERE id = ?", (number,))
            newest = max(newest, since)
            for place, data in enumerate(self._texts(number)):
                name = revision_of(data)
                if self._run(WHERE, (raw(name),)) == [(number, place)]:
                    living[name] = data
                    self._run(DROP_TEXT, (raw(name),))
        self.put(together(living), newest)
        self._drop(numbers)

    def kept(self) -> list[KeptText]:
        """Every text of a pack with its share of the room that the pack takes."""
        packs = {
            number: (since, size, [int(each) for each in lengths.split()], room)
            for number, since, size, lengths, room in self._run(
                "SELECT id, since, size, lengths, length(body) FROM packs", ()
            )
        }
        found = []
        for revision, number, place in self._run("SELECT revision, pack, place FROM packed", ()):
            since, size, lengths, room = packs[number]
            found.append(KeptText(revision.hex(), -(-lengths[place] * room // size), since))
        return found

    def names(self) -> list[Revision]:
        """Every text, those of a pack one after the other."""
        rows = self._run("SELECT revision FROM packed ORDER BY pack, place", ())
        return [revision.hex() for (revision,) in rows]

    def _texts(self, number: int) -> list[bytes]:
        [(lengths, body)] = self._run("SELECT lengths, body FROM packs WHERE id = ?", (number,))
        texts = _unpacked(lengths, body)
        if not texts:
            raise StoreError(f"The pack {number} of kept texts is damaged.", SAVE)
        return texts

    def _drop(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self._run("DELETE FROM packs WHERE id = ?", (number,))
            self._run("DELETE FROM thinned WHERE pack = ?", (number,))


def _ends(lengths: str) -> list[int]:
    """Where each text ends."""
    return list(accumulate(map(int, lengths.split())))


def _inflated(body: bytes, most: int) -> bytes:
    """The texts of a body, so many bytes at most; none when it is damaged."""
    try:
        return zlib.decompressobj().decompress(body, most)
    except zlib.error:
        return b""


def _unpacked(lengths: str, body: bytes) -> list[bytes]:
    """The texts of a body; none when it is damaged."""
    ends = _ends(lengths)
    data = _inflated(body, ends[-1] + 1)
    if len(data) != ends[-1]:
        return []
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]
