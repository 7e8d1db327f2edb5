"""The hosts that an answerer lives for, and the conversations they have."""

from __future__ import annotations

from threading import Lock

from sightline.workspace.process import alive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.interfaces.hooks import Call

GOES_ON = ("clear", "resume")
"""Why a conversation ends after which its host begins another at once."""


class Hosts:
    """Processes, as workspace.process names them, each with those of its conversations that asked.
    Threads may share it."""

    def __init__(self, host: str, session: str) -> None:
        self._lock = Lock()
        self._known: dict[str, set[str]] = {host: {session}}

    def heard(self, call: Call) -> bool:
        """Keep account of a call. Whether nobody is left with it: a host whose last conversation
        is over counts as gone, and a sub-agent's conversation is that of its parent."""
        if call.owner is None or call.caller is None:
            return False
        session = call.caller.session.partition("/")[0]
        with self._lock:
            known = self._known.setdefault(call.owner, set())
            known.add(session)
            if call.ended:
                known.discard(session)
            if not known and call.ended not in GOES_ON:
                del self._known[call.owner]
            return not self._known

    def any_left(self) -> bool:
        """Whether one of them still runs."""
        with self._lock:
            self._known = {host: known for host, known in self._known.items() if alive(host)}
            return bool(self._known)
