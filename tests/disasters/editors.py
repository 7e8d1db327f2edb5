"""Editors of a user: text in memory, and how each of them saves it."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread


class Editor:
    """Holds the text of a file since it was opened. How it saves is its kind's."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.text = file.read_text() if file.exists() else ""
        self.waiting: list[Thread] = []

    def type(self, text: str) -> None:
        """At the end."""
        self.text += text

    def save(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """When every save has come through."""
        for thread in self.waiting:
            thread.join()


class InPlace(Editor):
    """Empties the file and fills it again, as VS Code does. While somebody holds a lease on it the
    system has this wait, which must not keep the holder from going on: they share a process."""

    def save(self) -> None:
        try:
            self._write(os.O_NONBLOCK)
        except BlockingIOError:
            self.waiting.append(Thread(target=self._write))
            self.waiting[-1].start()

    def _write(self, flags: int = 0) -> None:
        fd = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | flags, 0o644)
        with os.fdopen(fd, "w") as opened:
            opened.write(self.text)


class ByRename(Editor):
    """Writes another file and renames it, as Vim and JetBrains do."""

    def save(self) -> None:
        aside = self.file.with_name(f"{self.file.name}~")
        aside.write_text(self.text)
        os.replace(aside, self.file)
