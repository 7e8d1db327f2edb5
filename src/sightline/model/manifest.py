"""Manifests: how a tree stood at a checkpoint. path -> what stood there, and what is not covered.

Stored as a step from an earlier manifest, or from nothing (a whole one): a checkpoint of ten
thousand files of which ten changed names ten.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeVar

from msgspec import Struct

from sightline.model.json_text import compact_json
from sightline.model.revision import Revision, revision_of

Kind = Literal["file", "symlink"]
Change = Literal["added", "removed", "changed", "mode", "kind"]

T = TypeVar("T")

Row = tuple[str, int] | tuple[str, int, str]
"""(revision, mode) of a file, (target, mode, "symlink") of a symlink."""

VERSION = 1

NOTHING_OVER: Mapping[str, Row | None] = {}

STEPS_MAX = 50
"""Forerunners of a manifest: reading one reads them back to a whole one. The next one after that
is a step from the whole one again."""

LAYER = 16
"""A manifest shares the rows of an earlier one while it differs from that in fewer than one of so
many: to copy ten thousand rows takes longer than all else about a file that changed."""


class Entry(Struct, frozen=True):
    """What stands at a path. revision: of a file's bytes, or of where a symlink leads (target, as
    it is written there); mode with the kind bits."""

    revision: Revision
    mode: int
    kind: Kind = "file"
    target: str | None = None


class Manifest(Mapping[str, Entry]):
    """Path -> Entry. omitted: path (of a file, or of a folder with all in it) -> why it is not
    covered. over: rows that stand in place of those in rows, None where there is none any more.
    Never changed once made, nor is what it was made of, which others share."""

    __slots__ = ("_count", "_over", "_rows", "omitted")

    def __init__(
        self,
        rows: dict[str, Row],
        omitted: dict[str, str] | None = None,
        over: Mapping[str, Row | None] = NOTHING_OVER,
    ) -> None:
        self.omitted = {} if omitted is None else omitted
        self._rows, self._over = rows, over
        came = [(row is not None) - (path in rows) for path, row in over.items()]
        self._count = len(rows) + sum(came)

    @property
    def rows(self) -> dict[str, Row]:
        """All of them, only to be read."""
        over = self._over
        if not over:
            return self._rows
        rows = self._rows.copy()
        for path, row in over.items():
            if row is None:
                rows.pop(path, None)
            else:
                rows[path] = row
        # In this order: whoever looks in between, in another thread, finds the same in both.
        self._rows = rows
        self._over = NOTHING_OVER
        return rows

    def row(self, path: str) -> Row | None:
        """The row of a path; None where it is not covered."""
        over = self._over
        return over[path] if path in over else self._rows.get(path)

    def after(self, taken: Step) -> Manifest:
        """The manifest after a step."""
        omitted = self.omitted
        if taken.omit or taken.covered:
            omitted = {**omitted, **taken.omit}
            for path in taken.covered:
                omitted.pop(path, None)
        over = {**self._over, **taken.put, **dict.fromkeys(taken.gone)}
        made = Manifest(self._rows, omitted, over)
        return made if LAYER * len(over) < len(made) else Manifest(made.rows, omitted)

    def __getitem__(self, path: str) -> Entry:
        row = self.row(path)
        if row is None:
            raise KeyError(path)
        return _entry(row)

    def __contains__(self, path: object) -> bool:
        over = self._over
        return over[path] is not None if path in over else path in self._rows  # type: ignore[index]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.rows))

    def __len__(self) -> int:
        return self._count

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Manifest):
            return NotImplemented
        return self.rows == other.rows and self.omitted == other.omitted

    __hash__ = None  # type: ignore[assignment]

    def only(self, paths: Iterable[str]) -> Manifest:
        """The part of it that is about these paths."""
        wanted = set(paths)
        rows = {path: row for path in wanted if (row := self.row(path)) is not None}
        return Manifest(rows, {path: self.omitted[path] for path in wanted if path in self.omitted})

    def __repr__(self) -> str:
        return f"<Manifest of {len(self)} files, {len(self.omitted)} not covered>"


class Step(Struct, frozen=True):
    """What turns one manifest into the next: rows and omissions that come, and those that go."""

    put: dict[str, Row]
    gone: tuple[str, ...] = ()
    omit: dict[str, str] = {}
    covered: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many paths it names."""
        return len(self.put) + len(self.gone) + len(self.omit) + len(self.covered)


class Stored(Struct, frozen=True):
    """A manifest as it is kept. base: the revision of its forerunner, None of a whole one; steps:
    forerunners back to a whole one."""

    step: Step
    base: Revision | None = None
    steps: int = 0


class Whole(Struct, frozen=True):
    """A manifest that is kept whole."""

    revision: Revision
    manifest: Manifest


class Difference(Struct, frozen=True):
    """A path at which two manifests differ; mode: the same bytes with other rights."""

    path: str
    change: Change
    before: Entry | None
    after: Entry | None


EMPTY = Manifest({})


def file_row(revision: Revision, mode: int) -> Row:
    """The row of a file."""
    return revision, mode


def link_row(target: str, mode: int) -> Row:
    """The row of a symlink."""
    return target, mode, "symlink"


def step(old: Manifest, new: Manifest) -> Step:
    """What turns old into new."""
    put, gone = _between(old.rows, new.rows)
    omit, covered = _between(old.omitted, new.omitted)
    return Step(put, gone, omit, covered)


def _between(old: dict[str, T], new: dict[str, T]) -> tuple[dict[str, T], tuple[str, ...]]:
    """What of new is not so in old, and what is gone."""
    if not old:
        return new, ()
    known = old.get
    put = {path: value for path, value in new.items() if known(path) != value}
    came = sum(path not in old for path in put)
    gone = sorted(old.keys() - new.keys()) if len(old) + came != len(new) else []
    return put, tuple(gone)


def fold(old: Manifest, taken: Step) -> Manifest:
    """The manifest after a step."""
    return old.after(taken)


def replaced(old: Manifest, taken: Step) -> dict[Revision, Revision]:
    """The texts that a step brings in place of others at their paths -> those."""
    if not old:
        return {}
    return {
        row[0]: was[0]
        for path, row in taken.put.items()
        if (was := old.row(path)) is not None and row[0] != was[0]
    }


def stored(
    new: Manifest, taken: Step, base: Revision | None, steps: int, whole: Whole | None = None
) -> Stored:
    """The form to keep it in: the step from `base`, which has `steps` forerunners itself; that from
    the whole one they begin with where the way back is long; the whole where there is none, or the
    step says half as much. base None: there is none."""
    if steps >= STEPS_MAX:
        base, steps = None, 0
        if whole is not None:
            base, taken = whole.revision, step(whole.manifest, new)
    if base is None or 2 * taken.size > len(new):
        return Stored(step(EMPTY, new))
    return Stored(taken, base, steps + 1)


def encode(made: Stored) -> bytes:
    """As bytes; of equal values the same bytes."""
    taken = made.step
    return compact_json(
        {
            "v": VERSION,
            "base": made.base,
            "steps": made.steps,
            "put": dict(sorted(taken.put.items())),
            "gone": list(taken.gone),
            "omit": dict(sorted(taken.omit.items())),
            "covered": list(taken.covered),
        }
    ).encode()


def decode(data: bytes) -> Stored:
    """From bytes. ValueError when they are no manifest, or one that a newer version made."""
    try:
        raw = json.loads(data)
        if raw["v"] != VERSION:
            raise ValueError(f"a manifest of version {raw['v']}")
        put = {path: _row(row) for path, row in raw["put"].items()}
        taken = Step(put, tuple(raw["gone"]), dict(raw["omit"]), tuple(raw["covered"]))
        return Stored(taken, raw["base"], raw["steps"])
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a manifest: {error!r}") from error


def differences(old: Manifest, new: Manifest) -> list[Difference]:
    """Where two manifests differ, in order of path."""
    taken = step(old, new)
    return [
        Difference(path, _change(before, after), before, after)
        for path in sorted([*taken.put, *taken.gone])
        for before, after in [(old.get(path), new.get(path))]
    ]


def _change(before: Entry | None, after: Entry | None) -> Change:
    if before is None:
        return "added"
    if after is None:
        return "removed"
    if before.kind != after.kind:
        return "kind"
    return "mode" if before.revision == after.revision else "changed"


def _entry(row: Row) -> Entry:
    if len(row) == 2:
        return Entry(row[0], row[1])
    return Entry(revision_of(row[0].encode("utf-8", "surrogatepass")), row[1], "symlink", row[0])


def _row(raw: Any) -> Any:
    row = tuple(raw)
    if len(row) not in (2, 3) or not isinstance(row[0], str) or not isinstance(row[1], int):
        raise TypeError(f"{raw!r} is no row")
    return row
