"""What an answerer does behind an answer, while nobody waits for it."""

from __future__ import annotations

from threading import Lock, Thread

from sightline.errors import SightlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Tidier(Protocol):
        """The part of an Answerer that is asked here."""

        def enter(self) -> None: ...
        def leave(self) -> None: ...
        def tidy(self) -> None: ...
        def note(self, error: Exception) -> None: ...


class Tidying:
    """At most one tidying up at a time, in a thread of its own."""

    def __init__(self, answerer: Tidier) -> None:
        self._answerer = answerer
        self._at_work = Lock()

    def begin(self) -> None:
        """Begin, unless one is under way."""
        if not self._at_work.acquire(blocking=False):
            return
        self._answerer.enter()
        Thread(target=self._tidy, name="sightline-tidying", daemon=True).start()

    def _tidy(self) -> None:
        try:
            self._answerer.tidy()
        except SightlineError as error:
            self._answerer.note(error)
        finally:
            self._at_work.release()
            self._answerer.leave()
