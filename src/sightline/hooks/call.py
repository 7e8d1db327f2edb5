"""One hook call: the JSON a host gives its hook -> the JSON it is answered.

Nothing that goes wrong here may block an agent by accident. Every fault leaves a line in the log
(hooks.fault_log), and the setting `fail` decides: open, nothing is answered and the agent goes
on; closed, an attempt to change a file is refused with words that say why.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from time import monotonic
from typing import Any

from sightline.agents import dialect
from sightline.agents.dialect import Caller, Dialect
from sightline.agents.hook_events import NOTHING, Answer, Attempted, Ended, Event, Prompted, Stopped
from sightline.api.session import Session
from sightline.checkpoints.gc import keep_to_room
from sightline.config.settings import Settings
from sightline.errors import SettingsError, SightlineError, WorkspaceError
from sightline.filesystem.deadline import DeadlinePassed, within
from sightline.filesystem.process import behind_shell, owner_of
from sightline.hooks import fault_log, words
from sightline.hooks.dispatch import attend
from sightline.hooks.handlers.host_paths import spelled
from sightline.hooks.handlers.transcript import mark_of, reached, reconcile
from sightline.hooks.open_sessions import (
    OpenWorkspace,
    OpenWorkspaces,
    begins_empty,
    find_project,
    find_root,
)
from sightline.hooks.protocol import PAYLOAD_MAX, state_base
from sightline.hooks.words import (
    SILENT,
    USAGE,
    late,
    no_root,
    not_json,
    refused_unjudged,
    too_large,
    unknown_agent,
)
from sightline.model.json_text import compact_json
from sightline.model.spans import covers, whole

LOOKING_S = 5.0
"""How long finding the workspace and its settings may take; from then on settings say."""

FAULT_S = 1.0
"""How long the log may take, which can be on the very disk that does not answer."""


class NotJudged(SightlineError):
    """A hook call that tells nothing we could judge."""


class Stray(SightlineError):
    """An event about no workspace of ours: no fault, and nothing to refuse."""


def answered(
    agent: str,
    raw: bytes,
    *,
    environ: Mapping[str, str],
    home: str,
    event: str | None = None,
    owner: str | None = None,
    shared: OpenWorkspace | None = None,
    ending: bool = False,
) -> bytes:
    """Handle one hook call and return the bytes to print, or nothing. Never raise an Exception.

    raw: the payload. environ, home: of the user whose agent it is. event: its name, where the
    payload does not say it. owner: the host's process (filesystem.process). shared: a workspace
    that is open already. ending: the process ends with this call.
    """
    return Call(agent, environ, home, event, owner, shared, ending=ending).answered(raw)


def usage() -> str:
    """Return the usage of the hook command."""
    return USAGE.format(known=", ".join(dialect.AGENTS))


def host_process(pid: int | None) -> str | None:
    """Return the identity of the agent's process that calls hooks from `pid`; None where unknown."""
    return None if pid is None else owner_of(behind_shell(pid))


class Call:
    """A hook call on its way. What is known of it so far is what a fault can tell.

    caller, events, settings, project: None or empty until the payload was read and they were found.
    sound: it told something, and was attended to without a fault.
    """

    def __init__(
        self,
        agent: str,
        environ: Mapping[str, str],
        home: str,
        event: str | None = None,
        owner: str | None = None,
        shared: OpenWorkspace | None = None,
        *,
        ending: bool = False,
    ) -> None:
        self.agent, self.event = agent, event
        self.environ, self.home, self.owner = environ, home, owner
        self._workspaces = OpenWorkspaces(environ, home, shared, ending=ending)
        self._ending = ending
        self._dialect: Dialect | None = None
        self._payload: dict[str, Any] = {}
        self.caller: Caller | None = None
        self.events: list[Event] = []
        self.settings: Settings | None = None
        self.project: str | None = None
        self.sound = False

    def answered(self, raw: bytes) -> bytes:
        """Return the bytes to print, whatever goes wrong. Never raise an Exception."""
        try:
            return self.answer(raw)
        except Exception as error:  # noqa: BLE001 - no error may block the agent
            return self.faulted(error)

    def unanswered(self, raw: bytes) -> bytes:
        """Return what `fail` says of a call that a daemon took and did not answer. Never raise an
        Exception."""
        try:
            self.read(raw)
        except Exception as error:  # noqa: BLE001 - as in answered()
            return self.faulted(error)
        return self.faulted(NotJudged(SILENT))

    def answer(self, raw: bytes) -> bytes:
        """The bytes to print. Any error."""
        started = monotonic()
        self.read(raw)
        if not self.events:
            return b""
        self.project = project = within(LOOKING_S, self._look)
        deadline_s = self.settings.deadline_s if self.settings else LOOKING_S
        left = max(0.0, deadline_s - (monotonic() - started))
        try:
            answers = within(left, lambda: self._attend(project))
        except DeadlinePassed:
            raise NotJudged(late(deadline_s)) from None
        printed = self._printed(answers)
        self.sound = True
        return printed

    def faulted(self, error: Exception) -> bytes:
        """Leave a line in the log; what `fail` makes of it. Never raises an Exception."""
        try:
            return within(FAULT_S, lambda: self._faulted(error))
        except DeadlinePassed:
            return b""

    @property
    def wants_daemon(self) -> bool:
        """Return whether further calls may come that a daemon could answer."""
        wanted = self.settings is not None and self.settings.answerer != "off"
        return wanted and self.sound and self.project is not None and not self.ended

    @property
    def ended(self) -> str:
        """Why its conversation is over with it; "" when it is not."""
        return next((event.reason for event in self.events if isinstance(event, Ended)), "")

    def read(self, raw: bytes) -> None:
        """Take in a payload. NotJudged, ValueError."""
        if len(raw) > PAYLOAD_MAX:
            raise NotJudged(too_large(PAYLOAD_MAX))
        self._dialect = _dialect(self.agent)
        self._payload = payload_of(raw)
        self.caller = self._dialect.caller(self._payload)
        told = self._dialect.events(self._payload, self.event)
        self.events = [spelled(each, self.caller.cwd, self.home) for each in told]

    def _faulted(self, error: Exception) -> bytes:
        try:
            self.note(error)
            if isinstance(error, Stray) or self._fail() != "closed" or not self._dialect:
                return b""
            refusal = Answer(refuse=refused_unjudged(in_words(error)))
            refused = [refusal for event in self.events if isinstance(event, Attempted)]
            return self._printed(refused[:1])
        except Exception as second:  # noqa: BLE001 - as in Call.answered()
            sys.stderr.write(f"sightline: {in_words(error)} {in_words(second)}\n")
            return b""

    def note(self, error: Exception) -> None:
        """Leave a line in the log, or on stderr where even that cannot be written."""
        session = self.caller.session if self.caller else ""
        event = self.event or str(self._payload.get("hook_event_name", ""))
        try:
            fault_log.note(self._state_home(), self.agent, event, session, in_words(error))
        except OSError as full:
            sys.stderr.write(f"sightline: {in_words(error)} {in_words(full)}\n")

    def _look(self) -> str | None:
        """Find the project and its settings; None where the agent works in no workspace."""
        assert self.caller is not None
        try:
            project = find_project(self.caller, self.environ, self.home)
        except WorkspaceError as error:
            if not any(find_root(each, None, self.home) for each in self.events):
                raise Stray(error.message) from None
            return None
        self.settings = self._workspaces.settings(project)
        return project

    def _attend(self, project: str | None) -> list[Answer]:
        try:
            found = [self._attend_one(event, project) for event in self.events]
            return [answer for answer in found if answer is not None]
        finally:
            self._workspaces.close()

    def _attend_one(self, event: Event, project: str | None) -> Answer | None:
        assert self.caller is not None
        root = find_root(event, project, self.home)
        if root is None:
            if isinstance(event, Attempted):
                self.note(Stray(no_root(event.path)))
            return None
        workspace = self._workspaces.workspace(root, self.settings if root == project else None)
        session, begun = workspace.session(self.caller, self.agent, self.owner)
        if begun and not begins_empty(event):
            self._begun_unseen(session)
        elif isinstance(event, Attempted) and self._may_have_seen_more(session, event.path):
            self._reconcile(session)
        try:
            answer = attend(session, event)
        finally:
            self._note_missed(session)
        if isinstance(event, (Prompted, Stopped, Ended)):
            self._reconcile(session)
        if self._ending and isinstance(event, Ended):
            self._tidy(workspace)
        return answer

    def _tidy(self, workspace: OpenWorkspace) -> None:
        """Let automatic checkpoints keep to their quota. A hook does so at the end of a conversation,
        when nobody waits; a daemon does so after its answers."""
        try:
            keep_to_room(workspace.ground(), workspace.settings)
        except SightlineError as error:
            self.note(error)

    def _note_missed(self, session: Session) -> None:
        """Leave a line where a checkpoint that was due could not be kept; the call goes on."""
        ground = session._context  # noqa: SLF001 - what no verb answers
        if ground.missed:
            self.note(SightlineError(ground.missed))
            ground.missed = ""

    def _begun_unseen(self, session: Session) -> None:
        if self.caller is not None and self.caller.transcript:
            reached(session, self.caller.transcript, 0, all_of_it=True)
            self._reconcile(session)

    def _may_have_seen_more(self, session: Session, path: str) -> bool:
        """Whether the transcript may show lines of a file that this session does not know."""
        ground = session._context  # noqa: SLF001 - a look that no verb offers
        try:
            located = ground.workspace.locate(path)
        except SightlineError:
            return False  # attend() says what is wrong with it
        known = ground.store.knowledge(ground.session, located.name or located.path)
        if known is None:
            return True
        belief, transcript = known.belief, self.caller.transcript if self.caller else None
        if not transcript or covers(belief.shown, whole(belief.lines)):
            return False

        return mark_of(session, transcript).all_of_it

    def _reconcile(self, session: Session) -> None:
        """Take over what the transcript shows. Where that fails the agent is known to have seen
        less than it has, which refuses more and never less."""
        dialect, transcript = self._dialect, self.caller.transcript if self.caller else None
        if dialect is None or not transcript or not os.path.exists(transcript):
            return

        try:
            reconcile(
                session,
                transcript,
                lambda offset, before: dialect.unhooked(transcript, offset, before=before),
            )
        except (OSError, ValueError) as error:
            self.note(error)

    def _printed(self, answers: list[Answer]) -> bytes:
        if all(answer == NOTHING for answer in answers):
            return b""
        assert self._dialect is not None
        said = self._dialect.answer(self._payload, answers)
        return compact_json(said).encode() if said else b""

    def _fail(self) -> str:
        settings = self.settings or self._users_own()
        return settings.fail if settings else self.environ.get("SIGHTLINE_FAIL", "open")

    def _state_home(self) -> str:
        settings = self.settings or self._users_own()
        return settings.state_home if settings else state_base(self.environ, self.home)

    def _users_own(self) -> Settings | None:
        """The user's settings where the workspace's are broken or not found: a repository must
        not open a closed guard by a file that cannot be read."""
        try:
            return self._workspaces.settings(os.devnull)
        except SettingsError:
            return None


def _dialect(agent: str) -> Dialect:
    try:
        return dialect.dialect(agent)
    except KeyError:
        raise NotJudged(unknown_agent(agent, ", ".join(dialect.AGENTS))) from None


def payload_of(raw: bytes) -> dict[str, Any]:
    """A payload's JSON object. NotJudged."""
    try:
        payload = json.loads(raw)
    except (ValueError, RecursionError) as broken:
        raise NotJudged(not_json(reason(broken))) from None
    if not isinstance(payload, dict):
        raise NotJudged(not_json("it is something else"))
    return payload


def in_words(error: Exception) -> str:
    """What went wrong, for a person; never a text that may come from a file."""
    if isinstance(error, SightlineError):
        return f"{error.message} {error.hint}".strip()
    if isinstance(error, DeadlinePassed):
        return words.late(None)
    if isinstance(error, OSError):
        named = f"{error.filename}: " if error.filename else ""
        return f"{named}{error.strerror or type(error).__name__}."
    if isinstance(error, ImportError) or type(error) is ValueError:
        return str(error)
    return words.broken(type(error).__name__, _place(error))


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "an unknown place"
    return f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"


def reason(error: Exception) -> str:
    """Of a text that is no JSON, without a piece of it."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, UnicodeError):
        return "it is not UTF-8"
    return str(error)
