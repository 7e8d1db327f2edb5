"""What the ignore rules say of a tree's entries, asked folder by folder."""

from __future__ import annotations

import os

from sightline.filesystem.ignore.rules import Chain, IgnoreRules, ignored
from sightline.filesystem.scan import unlisted


class Ignoring:
    """Several kinds of ignore files together. Folders are named "" or with a "/" at the end."""

    def __init__(self, root: str, rules: tuple[IgnoreRules, ...]) -> None:
        self.root = root
        self._rules = rules
        self.names = frozenset(rule.name for rule in rules)
        """How ignore files are called."""
        self._telling = self.names | {".git"}

    def chains(self, folder: str) -> tuple[Chain, ...] | None:
        """What speaks for the entries of a folder; None when it is ignored itself."""
        chains = tuple(rule.chain() for rule in self._rules)
        end = folder.find("/")
        while end >= 0:
            if self.hides(chains, folder[:end], below=True):
                return None
            chains = self._deeper(chains, folder[: end + 1])
            end = folder.find("/", end + 1)
        return chains

    def hides(self, chains: tuple[Chain, ...], path: str, *, below: bool) -> bool:
        """Whether an entry is not listed. chains: of its folder; below: it is a folder."""
        return unlisted(path[path.rfind("/") + 1 :]) or any(
            ignored(chain, rule.full(path), folder=below)
            for rule, chain in zip(self._rules, chains, strict=True)
        )

    def below(
        self, folder: str, chains: tuple[Chain, ...]
    ) -> list[tuple[str, tuple[Chain, ...]]] | None:
        """The folders of a folder that are not ignored, each with what speaks for it from above;
        None when this is the top of a repository inside the tree. chains: from above too. Symlinks
        are no folders. OSError when it is gone or may not be listed."""
        names: list[str] = []
        telling: set[str] = set()
        with os.scandir(f"{self.root}/{folder}") as entries:
            for entry in entries:
                if entry.name in self._telling:
                    telling.add(entry.name)
                if entry.is_dir(follow_symlinks=False):
                    names.append(entry.name)
        if folder and telling:
            if ".git" in telling:
                return None
            chains = self._deeper(chains, folder)  # asked for only where it was seen to be
        paths = [folder + name for name in names]
        return [(f"{p}/", chains) for p in paths if not self.hides(chains, p, below=True)]

    def _deeper(self, chains: tuple[Chain, ...], folder: str) -> tuple[Chain, ...]:
        pairs = zip(self._rules, chains, strict=True)
        return tuple(rule.extend(chain, rule.full(folder)) for rule, chain in pairs)
