"""Where a path went that somebody moved: itself, or the folder it lay in."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

FOLDERS_MAX = 64
"""Renamed folders that one guess is tried with."""


def moved(
    asked: Sequence[str], renamed: Mapping[str, str], there: Collection[str]
) -> Iterator[tuple[str, str]]:
    """The paths that a guess has now, each with the old path that git knows. A guess may begin with
    folders that lie above the workspace."""
    if not renamed:
        return
    tails = ["/".join(asked[at:]) for at in range(len(asked))]
    for tail in tails:
        if renamed.get(tail) in there:
            yield renamed[tail], tail
            return
    begins = tuple({f"{part}/" for part in asked[:-1]})
    folders = _folders({old: new for old, new in renamed.items() if old.startswith(begins)})
    for tail in tails:
        for old, new in folders.items():
            if tail.startswith(f"{old}/"):
                found = f"{new}{tail[len(old) :]}".lstrip("/")
                if found in there:
                    yield found, old


def _folders(renamed: Mapping[str, str]) -> dict[str, str]:
    """The folders that files which kept their names were moved out of, and where to; those with
    the most files come first."""
    counted: dict[tuple[str, str], int] = {}
    for old, new in renamed.items():
        pair = _differing(old, new)
        if pair[0]:
            counted[pair] = counted.get(pair, 0) + 1
    best = sorted(counted, key=lambda pair: -counted[pair])
    found: dict[str, str] = {}
    for old, new in best:
        found.setdefault(old, new)
    return dict(list(found.items())[:FOLDERS_MAX])


def _differing(old: str, new: str) -> tuple[str, str]:
    """Two paths without the end that they share; ("", "") where the file itself was renamed."""
    one, other = old.split("/"), new.split("/")
    if one[-1] != other[-1]:
        return "", ""
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return "/".join(one), "/".join(other)
