"""Which checkpoints are dropped so that the texts of the others fit into their room."""

from __future__ import annotations

from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sightline.core.revision import Revision


class Held(Value):
    """A checkpoint and the texts that it names. stays: it is never dropped (somebody gave it a
    label); unasked: it was taken by itself."""

    checkpoint: str
    texts: frozenset[Revision]
    stays: bool = False
    unasked: bool = False


def dropping(held: Iterable[Held], sizes: Mapping[Revision, int], room: int) -> list[str]:
    """The checkpoints to drop until the texts of all others take no more than `room` bytes: first
    those that nobody asked for, oldest first, then others. held: oldest first; those that stay do
    so whatever they take, and the newest does. sizes: of the texts that are kept."""
    every = list(held)
    may_go = [each for each in every[:-1] if not each.stays]
    leaving = sorted(may_go, key=lambda each: not each.unasked)
    staying = [each for each in every[:-1] if each.stays] + every[-1:]
    needed_by: dict[Revision, int] = {}
    for index, each in enumerate(leaving + staying):
        needed_by.update(dict.fromkeys(each.texts, index))
    freed = [0] * len(every)
    for revision, index in needed_by.items():
        freed[index] += sizes.get(revision, 0)
    total, gone = sum(freed), []
    for each, size in zip(leaving, freed, strict=False):
        if total <= room:
            break
        gone.append(each.checkpoint)
        total -= size
    return gone
