"""Call: one run of the command, what was asked for all of it, and what it stands on."""

from __future__ import annotations

import os
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sightline.config import Settings
    from sightline.services.ground import Ground
    from sightline.services.session import Session
    from sightline.store import Store
    from sightline.workspace import Workspace

AGENT = "cli"
"""The agent, and the session, of a person or a script at a shell."""


class Call:
    """The options of all commands (None and False: not given), and the root once it is known."""

    def __init__(self) -> None:
        self.workspace: str | None = None
        self.session: str | None = None
        self.store: str | None = None
        self.json = False
        self.quiet = False
        self.no_color = False
        self.debug = False
        self.root = ""

    @property
    def session_id(self) -> str:
        """Whose view is asked for."""
        if self.session is not None:
            return self.session
        return os.environ.get("SIGHTLINE_SESSION") or AGENT

    @contextmanager
    def open(self, *, finish: bool = True) -> Iterator[Session]:
        """The session asked for; one that another agent began is resumed as that agent's. finish:
        a rewind of it whose process died is finished, and that is said."""
        from sightline.interfaces.cli import output
        from sightline.interfaces.cli.asking import approver
        from sightline.services.opening import finish_rewind, start
        from sightline.workspace.process import holder_of, owner_of

        store, workspace, settings = self._ports()
        try:
            state = store.session(self.session_id)
            own = state is None or state.agent == AGENT
            session = start(
                store,
                workspace,
                settings,
                id=self.session_id,
                agent=state.agent if state else AGENT,
                approve=approver(self),
                # Who only asks for another agent's view does not hold its session.
                holder=owner_of(holder_of(os.getppid())) if own else None,
            )
            said = finish_rewind(session) if finish else ""
            if said:
                output.say(said)
            yield session
            _say_missed(session)
        finally:
            store.close()

    @contextmanager
    def survey(self) -> Iterator[Ground]:
        """Store and workspace, to look at all sessions and begin none."""
        from sightline.services.history import survey
        from sightline.services.opening import now_us

        store, workspace, settings = self._ports()
        try:
            yield survey(store, workspace, settings, now_us)
        finally:
            store.close()

    def path(self, name: str) -> str:
        """A path as it was typed (relative to the current folder, or to --workspace if given), as
        seen from the root of the workspace, which is open."""
        if self.workspace is not None or os.path.isabs(name):
            return name
        folder = os.path.relpath(os.getcwd(), self.root)
        return name if folder == "." else os.path.join(folder, name)

    def store_url(self, ground: Ground) -> str:
        """Where the facts are kept, as --store would take it."""
        from sightline.services.opening import settings_of
        from sightline.store.identity import store_file

        root = ground.workspace.root
        settings = settings_of(root, self.store)
        return settings.store or f"sqlite://{store_file(settings.state_home, root)}"

    def _ports(self) -> tuple[Store, Workspace, Settings]:
        from sightline.services.opening import ports, settings_of
        from sightline.workspace.discovery import discover

        root = self.root = discover(self.workspace)
        settings = settings_of(root, self.store)
        store, workspace = ports(root, settings, self.store)
        return store, workspace, settings


def _say_missed(session: Session) -> None:
    """That a checkpoint which was due could not be kept, where so."""
    from sightline.interfaces.cli import output

    missed = session._ground.missed  # noqa: SLF001 - what no verb answers
    if missed:
        output.say(missed)
