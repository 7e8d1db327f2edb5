"""git at work on the list of files that it tracks, beside whatever else is done meanwhile."""

from __future__ import annotations

import os
from subprocess import DEVNULL, Popen
from tempfile import TemporaryFile
from threading import Timer
from typing import IO, Self

from sightline.filesystem.git.repository import OURS, Repository, environment, program, repository

DEADLINE_S = 60.0

LISTING = ("ls-files", "-c", "-z")


class GitNames:
    """git, asked for the names below a root. Within it the program ends, whatever happens."""

    def __init__(self, repository: Repository, git: Popen[bytes], answer: IO[bytes]) -> None:
        self.index = f"{repository.folder}/index"
        self._git = git
        self._answer = answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._git.kill()
        self._git.wait()
        self._answer.close()

    def text(self) -> str | None:
        """The tracked names in order, each ended by a NUL. None when git does not answer."""
        if self._ended() != 0:
            return None
        self._answer.seek(0)
        return os.fsdecode(self._answer.read())

    def _ended(self) -> int:
        """How git ended; it is ended itself when its time is up."""
        ended = self._git.poll()
        if ended is not None:
            return ended

        late = Timer(DEADLINE_S, self._git.kill)  # wait(timeout) would sleep past the end
        late.start()
        try:
            return self._git.wait()
        finally:
            late.cancel()


def ask(root: str, top: str) -> GitNames | None:
    """Start git on the tree of `top`; None where it cannot be asked."""
    there, found = program(), repository(root, ".")
    if there is None or found is None or found.top != top:
        return None

    try:
        # A file, not a pipe: git is not to wait for a reader who is at work elsewhere.
        answer = TemporaryFile()  # noqa: SIM115  it lives as long as git does
    except OSError:
        return None
    try:
        return GitNames(found, _started(there, root, top, answer), answer)
    except OSError:
        answer.close()
        return None


def _started(program: str, root: str, top: str, answer: IO[bytes]) -> Popen[bytes]:
    return Popen(
        [program, "-C", root, *OURS, *LISTING],
        env=environment() | {"GIT_CEILING_DIRECTORIES": os.path.dirname(top)},
        stdin=DEVNULL,
        stdout=answer,
        stderr=DEVNULL,
    )
