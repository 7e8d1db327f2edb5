"""What the benches of imports share: rows of figures, how they are printed, what was promised."""

from __future__ import annotations

import os
import subprocess
import tarfile
from statistics import median
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PRECISION, RECALL, MILLISECONDS = 0.98, 0.95, 2.5


class Row(Struct, frozen=True):
    """The counts of right answers of one way of reading a tree. times: milliseconds per file, from its bytes to
    its files; none of a way that promises nothing."""

    tree: str
    way: str
    right: int
    given: int
    wanted: int
    times: tuple[float, ...] = ()

    @property
    def precision(self) -> float:
        """The share of its answers that are the judge's."""
        return self.right / max(1, self.given)

    @property
    def recall(self) -> float:
        """The share of the judge's answers that it gives."""
        return self.right / max(1, self.wanted)

    @property
    def kept(self) -> bool:
        """Return whether it is as good as was promised."""
        right = self.precision >= PRECISION and self.recall >= RECALL
        return not self.times or (right and median(self.times) <= MILLISECONDS)


def printed(rows: Sequence[Row]) -> int:
    """Print the rows; the exit status."""
    print(f"{'tree':<16}{'way':<12}{'wanted':>8}{'given':>8}{'precision':>11}{'recall':>9}", end="")
    print(f"{'median ms':>11}{'mean ms':>9}{'p99 ms':>8}")
    for row in rows:
        print(f"{row.tree:<16}{row.way:<12}{row.wanted:>8}{row.given:>8}", end="")
        print(f"{row.precision:>11.4f}{row.recall:>9.4f}", end="")
        times = sorted(row.times)
        if times:
            print(f"{median(times):>11.3f}{sum(times) / len(times):>9.3f}", end="")
            print(f"{times[len(times) * 99 // 100]:>8.2f}", end="")
        print()
    return int(not all(row.kept for row in rows))


def fetched(package: str, folder: str) -> str:
    """A package of npm, unpacked; its folder. None of its scripts is run."""
    os.makedirs(folder)
    packing = ["npm", "pack", package, "--silent", "--pack-destination", folder]
    done = subprocess.run(packing, cwd=folder, check=True, capture_output=True, text=True)
    archive = os.path.join(folder, done.stdout.split()[-1])
    with tarfile.open(archive) as packed:
        for member in packed.getmembers():  # some archives call the folder otherwise
            member.name = member.name.partition("/")[2]
            if member.isfile() and member.name:
                packed.extract(member, folder, filter="data")
    os.remove(archive)
    return folder


def listing(tree: str) -> list[str]:
    """The files of a tree."""
    found = []
    for folder, folders, names in os.walk(tree):
        folders[:] = [each for each in folders if each != ".git"]
        found += [os.path.relpath(os.path.join(folder, name), tree) for name in names]
    return sorted(found)


def source_of(tree: str, path: str) -> bytes:
    """The bytes of a file."""
    with open(os.path.join(tree, path), "rb") as file:
        return file.read()


def some(found: Iterable[object], count: int) -> list[object]:
    """So many at even distances."""
    every = sorted(found, key=str)
    return every[:: max(1, len(every) // count)][:count] if count else []
