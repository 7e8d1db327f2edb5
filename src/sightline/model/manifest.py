"""Manifests of checkpoints: the files of a tree, and the paths that are not covered.

A manifest is stored as a step from an earlier manifest, or whole, as a step from nothing: where ten
of ten thousand files changed, the step names ten.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeVar

from msgspec import Struct, structs

from sightline.model.json_text import json_bytes
from sightline.model.revision import Revision, as_link, revision_of

Kind = Literal["file", "symlink"]
Change = Literal["added", "removed", "changed", "mode", "kind"]

T = TypeVar("T")

Row = tuple[str, int] | tuple[str, int, str]
"""(revision, mode) of a file, (target, mode, "symlink") of a symlink."""

VERSION = 1

NOTHING_OVER: Mapping[str, Row | None] = {}

STEPS_MAX = 50
"""The most forerunners of a manifest. To read a manifest is to read its forerunners back to a whole
one. The next manifest is a step from the whole one again."""

LAYER = 16
"""A manifest shares the rows of an earlier one while fewer than one row in LAYER differs: to copy ten
thousand rows takes longer than everything else about one changed file."""


class Entry(Struct, frozen=True):
    """A file or a symlink. revision: of the file's bytes, or of the symlink's target; target: as the
    symlink has it; mode includes the kind bits."""

    revision: Revision
    mode: int
    kind: Kind = "file"
    target: str | None = None

    @property
    def content(self) -> Revision:
        """Return the revision of a file, or as_link for a symlink."""
        return self.revision if self.target is None else as_link(self.target)


class Manifest(Mapping[str, Entry]):
    """Path -> Entry. omitted: path of a file or a whole folder -> the reason why it is not covered.
    sizes: the files that are left out and those in such folders, as far as they are named -> their bytes; a
    folder, which ends in "/", -> 0 if its entries are named, else -1.
    over: rows that replace those in `rows`, None for a removed one. A manifest and its rows, which
    others share, never change."""

    __slots__ = ("_count", "_over", "_rows", "omitted", "sizes")

    def __init__(
        self,
        rows: dict[str, Row],
        omitted: dict[str, str] | None = None,
        over: Mapping[str, Row | None] = NOTHING_OVER,
        sizes: dict[str, int] | None = None,
    ) -> None:
        self.omitted = {} if omitted is None else omitted
        self.sizes = {} if sizes is None else sizes
        self._rows, self._over = rows, over
        came = [(row is not None) - (path in rows) for path, row in over.items()]
        self._count = len(rows) + sum(came)

    @property
    def rows(self) -> dict[str, Row]:
        """Return all rows. Do not change them."""
        over = self._over
        if not over:
            return self._rows
        rows = self._rows.copy()
        for path, row in over.items():
            if row is None:
                rows.pop(path, None)
            else:
                rows[path] = row
        # In this order a thread that reads between the two assignments gets the same rows.
        self._rows = rows
        self._over = NOTHING_OVER
        return rows

    def row(self, path: str) -> Row | None:
        """Return the row of a path; None where it is not covered."""
        over = self._over
        return over[path] if path in over else self._rows.get(path)

    def after(self, step: Step) -> Manifest:
        """Return the manifest after a step."""
        omitted = _after(self.omitted, step.omit, step.covered)
        sizes = _after(self.sizes, step.sized, step.unsized)
        over = {**self._over, **step.put, **dict.fromkeys(step.gone)}
        layered = Manifest(self._rows, omitted, over, sizes)
        if LAYER * len(over) < len(layered):
            return layered
        return Manifest(layered.rows, omitted, sizes=sizes)

    def __getitem__(self, path: str) -> Entry:
        row = self.row(path)
        if row is None:
            raise KeyError(path)
        if len(row) == 2:
            return Entry(row[0], row[1])
        target, mode, _ = row
        return Entry(revision_of(target.encode("utf-8", "surrogatepass")), mode, "symlink", target)

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
        is_same = self.rows == other.rows and self.omitted == other.omitted
        return is_same and self.sizes == other.sizes

    __hash__ = None  # type: ignore[assignment]

    def only(self, paths: Iterable[str]) -> Manifest:
        """Return the entries and omissions of these paths alone."""
        wanted = set(paths)
        rows = {path: row for path in wanted if (row := self.row(path)) is not None}
        return Manifest(rows, {path: self.omitted[path] for path in wanted if path in self.omitted})

    def __repr__(self) -> str:
        return f"<Manifest of {len(self)} files, {len(self.omitted)} not covered>"


class Step(Struct, frozen=True):
    """The difference from one manifest to the next. put: new rows; gone: removed ones; omit: new
    omissions; covered: removed ones; sized: new sizes; unsized: removed ones."""

    put: dict[str, Row]
    gone: tuple[str, ...] = ()
    omit: dict[str, str] = {}
    covered: tuple[str, ...] = ()
    sized: dict[str, int] = {}
    unsized: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Return the number of paths in the step."""
        left_out = len(self.omit) + len(self.covered) + len(self.sized) + len(self.unsized)
        return len(self.put) + len(self.gone) + left_out

    def with_sizes(self, old: dict[str, int], new: dict[str, int]) -> Step:
        """Return the step that also leads from some sizes to others."""
        sized, unsized = _between(old, new)
        return structs.replace(self, sized=sized, unsized=unsized)


def _after(old: dict[str, T], put: Mapping[str, T], gone: Iterable[str]) -> dict[str, T]:
    """Return a mapping with new items and without removed ones; the same where there are none."""
    if not (put or gone):
        return old
    new = {**old, **put}
    for path in gone:
        new.pop(path, None)
    return new


class Stored(Struct, frozen=True):
    """A manifest in its stored form. base: the revision of its forerunner, None for a whole one;
    steps: the number of forerunners back to a whole one."""

    step: Step
    base: Revision | None = None
    steps: int = 0


class Whole(Struct, frozen=True):
    """A manifest that is stored whole."""

    revision: Revision
    manifest: Manifest


class FileDifference(Struct, frozen=True):
    """The difference of a path between two times. change: added removed changed mode (the same bytes
    with another mode) kind. diff: unified; None where nobody compared the texts, a text is not kept,
    or a file is no text. added, removed: numbers of lines."""

    path: str
    change: Change
    before: Entry | None
    after: Entry | None
    diff: str | None = None
    added: int = 0
    removed: int = 0


class PathChange(Struct, frozen=True):
    """The difference of one path from a checkpoint."""

    path: str
    change: Change

    def __iter__(self) -> Iterator[Any]:
        """Yield the path and the change."""
        yield from (self.path, self.change)


EMPTY = Manifest({})


def file_row(revision: Revision, mode: int) -> Row:
    """Return the row of a file."""
    return revision, mode


def link_row(target: str, mode: int) -> Row:
    """Return the row of a symlink."""
    return target, mode, "symlink"


def step(old: Manifest, new: Manifest) -> Step:
    """Return the step from one manifest to another."""
    put, removed = _between(old.rows, new.rows)
    omit, covered = _between(old.omitted, new.omitted)
    sized, unsized = _between(old.sizes, new.sizes)
    return Step(put, removed, omit, covered, sized, unsized)


def _between(old: dict[str, T], new: dict[str, T]) -> tuple[dict[str, T], tuple[str, ...]]:
    """Return the items of new that old does not have, and the keys that new does not have."""
    if not old:
        return new, ()
    known = old.get
    put = {path: value for path, value in new.items() if known(path) != value}
    return put, tuple(sorted(old.keys() - new.keys()))


def replaced(old: Manifest, step: Step) -> dict[Revision, Revision]:
    """Return the new texts of a step -> the texts that they replace at their paths."""
    if not old.rows:
        return {}
    return {
        row[0]: before[0]
        for path, row in step.put.items()
        if (before := old.row(path)) is not None and row[0] != before[0]
    }


def stored(
    new: Manifest, taken: Step, base: Revision | None, steps: int, whole: Whole | None = None
) -> Stored:
    """Return the stored form of a manifest. That is the step from `base`, which has `steps`
    forerunners; with STEPS_MAX forerunners the step from the whole one that they begin with; and the
    whole manifest where there is no base, or the step is half as large. taken: the step from base."""
    if steps >= STEPS_MAX:
        base, steps = None, 0
        if whole is not None:
            base, taken = whole.revision, step(whole.manifest, new)
    if base is None or 2 * taken.size > len(new):
        return Stored(step(EMPTY, new))
    return Stored(taken, base, steps + 1)


def encode(manifest: Stored) -> bytes:
    """Return the bytes of a stored manifest; equal values have the same bytes."""
    step = manifest.step
    raw: dict[str, object] = {
        "v": VERSION,
        "base": manifest.base,
        "steps": manifest.steps,
        "put": dict(sorted(step.put.items())),
        "gone": list(step.gone),
        "omit": dict(sorted(step.omit.items())),
        "covered": list(step.covered),
    }
    if step.sized or step.unsized:
        raw |= {"sized": dict(sorted(step.sized.items())), "unsized": list(step.unsized)}
    return json_bytes(raw)


def decode(data: bytes) -> Stored:
    """Return a stored manifest from its bytes. ValueError where they are no manifest, or that of a
    newer version."""
    try:
        raw = json.loads(data)
        if raw["v"] != VERSION:
            raise ValueError(f"a manifest of version {raw['v']}")
        put = {path: _row(row) for path, row in raw["put"].items()}
        left_out = dict(raw["omit"]), tuple(raw["covered"])
        sizes = dict(raw.get("sized", {})), tuple(raw.get("unsized", ()))
        step = Step(put, tuple(raw["gone"]), *left_out, *sizes)
        return Stored(step, raw["base"], raw["steps"])
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a manifest: {error!r}") from error


def differences(old: Manifest, new: Manifest) -> list[FileDifference]:
    """Return the differences of two manifests, in order of path."""
    changed = step(old, new)
    return [
        FileDifference(path, _change(before, after), before, after)
        for path in sorted([*changed.put, *changed.gone])
        for before, after in [(old.get(path), new.get(path))]
    ]


def _change(before: Entry | None, after: Entry | None) -> Change:
    if before is None or after is None:
        return "added" if before is None else "removed"
    if before.kind != after.kind:
        return "kind"
    return "mode" if before.revision == after.revision else "changed"


def _row(raw: Any) -> Any:
    row = tuple(raw)
    if len(row) not in (2, 3) or not isinstance(row[0], str) or not isinstance(row[1], int):
        raise TypeError(f"{raw!r} is no row")
    return row
