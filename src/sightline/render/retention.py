"""What `gc` says: which kept texts went, or would go, and why."""

from __future__ import annotations

from itertools import groupby

from sightline.core.retention import AGE, SIZE
from sightline.render import size
from sightline.render.views import count, printable, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    from sightline.core.retention import Going

    class Swept(Protocol):
        """The part of services.retention.Swept that is worded."""

        @property
        def gone(self) -> tuple[Going, ...]: ...
        @property
        def kept(self) -> int: ...
        @property
        def kept_size(self) -> int: ...
        @property
        def over(self) -> int: ...
        @property
        def returned(self) -> int: ...
        @property
        def dry_run(self) -> bool: ...
        @property
        def dropped(self) -> Sequence[str]: ...
        @property
        def size(self) -> int: ...


FILES_NAMED = 20

WHY = {AGE: "not needed, and out of their time", SIZE: "not needed, and the oldest beyond the room"}
"""Reason -> what it says of texts."""


def swept(found: Swept) -> list[str]:
    """The whole answer, line by line."""
    stay = f"{count(found.kept, 'text')} ({size(found.kept_size)})"
    dropped = _dropped(found)
    if not found.gone:
        return [
            *dropped,
            f"Nothing to forget: {stay} kept, all of them needed or young.",
            *_over(found),
        ]
    verb = "Would forget" if found.dry_run else "Forgot"
    lines = [*dropped, f"{verb} {count(len(found.gone), 'text')} ({size(found.size)}):"]
    lines += [f"  {line}" for line in table(_reasons(found.gone))]
    if found.dry_run:
        lines += ["", *(f"  {line}" for line in table(_files(found.gone)))]
        files = len({each.path for each in found.gone})
        if files > FILES_NAMED:
            lines.append(f"  and of {files - FILES_NAMED} more: sightline gc --dry-run --json")
        lines.append("")
    lines.append(f"{stay} {'would stay' if found.dry_run else 'kept'}. Facts stay for ever.")
    if found.returned:
        lines.append(f"The store is {size(found.returned)} smaller on disk.")
    return [*lines, *_over(found)]


def _dropped(found: Swept) -> list[str]:
    if not found.dropped:
        return []
    verb = "Would drop" if found.dry_run else "Dropped"
    named = f"{count(len(found.dropped), 'checkpoint')}, the oldest without a label"
    return [f"{verb} {named}: all of them took more than checkpoint_bytes."]


def _over(found: Swept) -> list[str]:
    if not found.over:
        return []
    return [f"That is {size(found.over)} more than they should take, and every one is needed."]


def _reasons(gone: Sequence[Going]) -> Iterator[tuple[str, str]]:
    for why, group in groupby(gone, lambda each: each.why):
        texts = list(group)
        number = count(len(texts), "text")
        yield number, f"{WHY[why]} ({size(sum(each.size for each in texts))})"


def _files(gone: Sequence[Going]) -> list[tuple[str, str, str]]:
    """The files whose texts take most room first."""
    by_path: dict[str | None, list[int]] = {}
    for each in gone:
        by_path.setdefault(each.path, []).append(each.size)
    most = sorted(by_path.items(), key=lambda pair: (-sum(pair[1]), str(pair[0])))
    return [
        (printable(path or "(of no file)"), count(len(sizes), "text"), size(sum(sizes)))
        for path, sizes in most[:FILES_NAMED]
    ]
