"""One hook call: turn the JSON that a host gives its hook into the JSON that the hook prints.

No fault here may block an agent by accident. Every fault leaves a line in the log
(hooks.fault_log), and the setting `fail` decides: with "open", the agent goes on, and is told only
that an attempt was not judged in time; with "closed", an attempt to change a file is refused with
the reason.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from time import monotonic
from typing import Any
from urllib.parse import unquote

from msgspec import structs

from sightline.agents.product import Product, fitted
from sightline.agents.products import PRODUCTS, product
from sightline.changes.attribution import OUTAGE
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.gc import keep_to_room
from sightline.config.settings import LeftOut, Settings
from sightline.errors import Hint, SettingsError, SightlineError, StoreError, WorkspaceError
from sightline.filesystem.deadline import DeadlinePassed, within
from sightline.filesystem.process import arguments_of, behind_shell, owner_of
from sightline.hooks import fault_log, outage, words
from sightline.hooks.dispatch import handle
from sightline.hooks.handlers.insertions import end_insertions, has_insertions
from sightline.hooks.handlers.shell_commands import printed_elsewhere
from sightline.hooks.handlers.transcript import (
    follow,
    is_summarised,
    is_sure,
    mark_of,
    name_in,
    reconcile,
    record_mark,
)
from sightline.hooks.handlers.turns import added_folders
from sightline.hooks.host import Host
from sightline.hooks.open_sessions import (
    OpenWorkspace,
    attempt_of,
    begins_empty,
    find_added,
    find_project,
    find_root,
    leads_out,
    paths_of,
    read_settings,
)
from sightline.hooks.other_checkout import Elsewhere, elsewhere
from sightline.hooks.outage import FAULT_S, ONE, Held, Late, NotJudged, Silent, error_text
from sightline.hooks.protocol import PAYLOAD_MAX, state_base
from sightline.model import hook_events as events
from sightline.model.agent_work import NO_WORK, RecordedWork
from sightline.model.attempts import Move
from sightline.model.events import SightLost
from sightline.model.hook_events import Answer, Event
from sightline.model.json_text import compact_json
from sightline.model.marks import all_sendable, sendable
from sightline.text.command_words import as_command

LOOKING_S = 5.0
"""Seconds for finding the workspace and its settings. Then the settings' deadline holds."""

URI = "file://"

NEUTRAL = ("project", "session")
"""The names among what an agent tells its hook that are no variables of the agent."""

NO_PRODUCT = Product(name="", title="")
"""Stands for a product that runs the hooks of another one, and that is not known."""

BESIDE = (
    *(events.Began, events.Prompted, events.Compacted, events.Ended),
    *(events.Instructed, events.ChangedOutside, events.Used, events.FolderAdded),
    events.InsertionBegan,
)
"""Events at which the transcript need not have the row of the newest prompt."""


class Stray(SightlineError):
    """An event outside every workspace: no fault, and nothing to refuse."""


def usage() -> str:
    """Return the usage of the hook command."""
    return words.USAGE.format(known=", ".join(PRODUCTS))


def host_process(pid: int | None) -> str | None:
    """Return the identity of the agent's process that calls hooks from `pid`; None where unknown."""
    return None if pid is None else owner_of(behind_shell(pid))


class Call:
    """A hook call, from its payload to its answer.

    environ, home: of the agent's user. event: the event's name, where the payload does not hold it.
    given: what the agent told its hook in variables: "project", the folder that it was started for; variables under
    their own names, which hold beside those of environ. owner: the host's process (host_process). shared: a workspace that is already open. ending: the
    process ends with this call.

    caller, events, settings, project: None or empty until `prepare` found them; a fault names what
    is known by then. is_sound: the call was handled without a fault.
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
        given: Mapping[str, str] | None = None,
        ending: bool = False,
    ) -> None:
        self.agent, self.event = agent, event
        given = {} if given is None else given
        self._folder = given.get("project", "")
        own = {name: value for name, value in given.items() if name not in NEUTRAL}
        self.environ, self.home, self.owner = {**environ, **own}, home, owner
        self._shared, self._ending = shared, ending
        self._opened: dict[str, OpenWorkspace] = {}
        self._product: Product | None = None
        self._payload: dict[str, Any] = {}
        self.caller: events.Caller | None = None
        self.events: list[Event] = []
        self.settings: Settings | None = None
        self._left_out: dict[str, tuple[LeftOut, ...]] = {}
        self.project: str | None = None
        self.is_sound = False
        self._notes: list[str] = []

    def answered(self, raw: bytes | None = None) -> bytes:
        """Return the bytes to print, whatever goes wrong. Never raise an Exception.

        raw: the payload; None when the call is prepared.
        """
        try:
            return self._answer(raw)
        except Exception as error:  # noqa: BLE001 - no error may block the agent
            return self._answer_to_fault(error)

    def unanswered(self, raw: bytes) -> bytes:
        """Return the answer to a call that a daemon took and did not answer: the setting `fail`
        decides. Never raise an Exception."""
        try:
            self._read(raw)
        except Exception as error:  # noqa: BLE001 - as in answered()
            return self._answer_to_fault(error)
        return self._answer_to_fault(Silent(words.SILENT))

    def prepare(self, raw: bytes) -> None:
        """Read the payload, and find the project and its settings. SightlineError, ValueError."""
        self._read(raw)
        self._look()

    @property
    def wants_daemon(self) -> bool:
        """Return whether a daemon could answer further calls of this conversation."""
        allowed = self.settings is not None and self.settings.answerer != "off"
        return allowed and self.is_sound and self.project is not None and not self.end_reason

    @property
    def end_reason(self) -> str:
        """Return why the conversation ends with this call; "" when it goes on."""
        return next((event.reason for event in self.events if isinstance(event, events.Ended)), "")

    def note(self, error: Exception) -> None:
        """Add a line to the log, or print it to stderr when the log cannot be written."""
        session = self.caller.session if self.caller else ""
        known = self._product
        event = self.event or ("" if known is None else known.dialect.event_name(self._payload))
        settings = self.settings or self._user_settings()
        folder = settings.state_home if settings else state_base(self.environ, self.home)
        try:
            fault_log.note(folder, self.agent, event, session, error_text(error))
        except (OSError, StoreError) as full:
            sys.stderr.write(f"sightline: {error_text(error)} {error_text(full)}\n")

    def _read(self, raw: bytes) -> None:
        if len(raw) > PAYLOAD_MAX:
            raise NotJudged(words.too_large(PAYLOAD_MAX))
        known = product(self.agent)
        if known is None:
            raise NotJudged(words.unknown_agent(self.agent, ", ".join(PRODUCTS)))
        self._product, self._payload = known, _parse(raw)
        speaker = known.dialect.speaker(self._payload)
        if speaker is not None:  # another product runs the hooks of this one
            self._product = known = product(speaker) or NO_PRODUCT
            self.agent = speaker
        self.caller = known.dialect.caller(self._payload)
        cwd, found = self.caller.cwd, known.dialect.events(self._payload, self.event)
        self.events = [with_absolute_paths(each, cwd, self.home) for each in found]

    def _look(self) -> None:
        """Find the project and its settings. No project: the agent works in no workspace, and some
        event is about a file in one."""
        assert self.caller is not None
        try:
            self.project = find_project(self.caller, self._folder, self.home)
        except WorkspaceError as error:
            paths = [path for event in self.events for path in paths_of(event)]
            if self.events and not any(find_root(path, None, self.home) for path in paths):
                raise Stray(error.message) from None
            return
        self.settings = self._read_settings(self.project)

    def _read_settings(self, root: str) -> Settings:
        settings = read_settings(root, self.environ, self.home)
        if settings.left_out:
            self._left_out[root] = settings.left_out
        return settings

    def _answer(self, raw: bytes | None) -> bytes:
        started = monotonic()
        if raw is not None:
            self._read(raw)
        if not self.events:
            return b""
        if raw is not None:
            within(LOOKING_S, self._look)
        self._notes = outage.noted(self.environ, self.home, self._folder)
        if self._notes and self._place().is_held():
            raise Held(words.HELD)
        deadline_s = self.settings.deadline_s if self.settings else LOOKING_S
        remaining = max(0.0, deadline_s - (monotonic() - started))
        try:
            answers = within(remaining, self._attend)
        except DeadlinePassed:
            if self._place().is_held():
                raise Held(f"{words.late(deadline_s)} {words.HELD}") from None
            raise Late(words.late(deadline_s)) from None
        printed = self._printed([*answers, self._told_of_settings()])
        self.is_sound = True
        return printed

    def _answer_to_fault(self, error: Exception) -> bytes:
        """Log a fault, and return the answer that the setting `fail` asks for."""
        try:
            return within(FAULT_S, lambda: self._refuse_or_pass(error))
        except DeadlinePassed:
            return b""

    def _refuse_or_pass(self, error: Exception) -> bytes:
        try:
            self.note(error)
            settings = self.settings or self._user_settings()
            fail = settings.fail if settings else self.environ.get("SIGHTLINE_FAIL", "open")
            if isinstance(error, Stray) or self._product is None:
                return b""
            answer, closed = events.NOTHING, fail == "closed"
            if any(isinstance(event, events.Attempted) for event in self.events):
                why = error_text(error)
                if closed:
                    answer = Answer(refuse=words.refused_unjudged(why))
                elif isinstance(error, (Late, DeadlinePassed)):
                    answer = Answer(context=words.passed_unjudged(why))
            if self.events and (isinstance(error, ONE) or outage.is_outage(error)):
                told = self._place().tell(error, self.events[0], fail)
                answer = structs.replace(answer, tell=told)
            return self._printed([self._fit(answer, self.events[0])] if self.events else [answer])
        except Exception as second:  # noqa: BLE001 - as in answered()
            sys.stderr.write(f"sightline: {error_text(error)} {error_text(second)}\n")
            return b""

    def _place(self) -> outage.Place:
        """Return what this call knows of the place where it was made."""
        known = self.caller, self.settings, self.project
        return outage.Place(self.environ, self.home, *known, self._folder)

    def _told_of_settings(self) -> Answer:
        """Return what the user learns, once a session, of workspaces whose own settings are wrong."""
        place = self._place()
        told = [
            place.tell_left_out(root, faults, self.events[0])
            for root, faults in self._left_out.items()
        ]
        return self._fit(Answer(tell="\n".join(filter(None, told))), self.events[0])

    def _attend(self) -> list[Answer]:
        try:
            answers = [(self._attend_event(event), event) for event in self.events]
            return [self._fit(answer, event) for answer, event in answers if answer is not None]
        finally:
            for workspace in self._opened.values():
                workspace.close()

    def _attend_event(self, event: Event) -> Answer | None:
        if isinstance(event, events.CommandEnded) and event.output:
            self._note_printed_elsewhere(event)
        found = self._in_other_checkout(event)
        if isinstance(event, events.Attempted):
            answer = self._attend_attempt(event)
        else:
            root = self._root_of(*paths_of(event))
            answer = None if root is None else self._attend_in(root, event)
        if answer is None:
            return None
        if isinstance(event, events.Answered):
            return self._answered_elsewhere(event, answer)
        assert self._product is not None
        can = self._product.can
        if (
            found is None
            or answer.refuse is not None
            or not (can.tell or isinstance(event, can.inject))
        ):
            return answer
        if not self._place().is_first(found.top):
            return answer
        place = words.checkout(found.top, is_main=found.is_main)
        said = words.other_checkout(found.path, place, found.own, exists=found.exists)
        return answer.behind(said, words.tells_other_checkout(found.path, place))

    def _attend_attempt(self, event: events.Attempted) -> Answer | None:
        """Judge what one call changes, in the workspaces of its files. Where one of them refuses, the others take
        back what they journalled. None for a call whose files are in no workspace."""
        answer: Answer | None = None
        places: dict[str, list[events.Target]] = {}
        for target in event.targets:
            path = target[0]
            if leads_out(path, self.project):
                # The project knows what its agent was shown at this name, and which names are protected.
                assert self.project is not None
                named = self._attend_in(self.project, structs.replace(event, targets=(target,)))
                if named != events.NOTHING:
                    answer = named if answer is None else answer.beside(named)
                    continue
            root = self._root_of(path)
            if root is None:
                self.note(Stray(words.no_root(path)))
            else:
                places.setdefault(root, []).append(target)
        allowed: list[tuple[str, events.Attempted]] = []
        for root, targets in places.items():
            part = structs.replace(event, targets=tuple(targets))
            judged = self._attend_in(root, part)
            allowed += [(root, part)] if judged.refuse is None else []
            answer = judged if answer is None else answer.beside(judged)
        if answer is not None and answer.refuse is not None:
            for root, part in allowed:
                for path in part.paths:
                    self._attend_in(root, events.Failed(path, event.call))
        return answer

    def _in_other_checkout(self, event: Event) -> Elsewhere | None:
        """Return what an event is about to write in another checkout than the agent works in."""
        if not isinstance(event, (events.Attempted, events.CommandBegan)) or self.caller is None:
            return None
        return elsewhere(event, self.caller.cwd or self.project or "")

    def _root_of(self, path: str = "") -> str | None:
        """Return the workspace of a file, "" for an event about none; None for a file in no folder with a marker and
        in none that the user added to the agent's project."""
        root = find_root(path, self.project, self.home)
        if root is not None or not path or self._product is None or self.caller is None:
            return root
        around = self._surroundings(self.caller)
        added = self._product.dialect.added_folders(around)
        if self.project is not None:
            context = self._workspace(self.project).context()
            added += added_folders(context, self.caller.parent or self.caller.session)
        start = around.roots[0]
        return find_added(path, [absolute(each, start, self.home) for each in added], self.home)

    def _surroundings(self, caller: events.Caller) -> events.Surroundings:
        start = self._folder or self.project or caller.cwd
        roots = list(dict.fromkeys([start, self.project or start]))
        arguments = arguments_of(self.owner) if self.owner else []
        return events.Surroundings(arguments, roots, self.environ, self.home)

    def _note_printed_elsewhere(self, event: events.CommandEnded) -> None:
        """Record what a command printed of files in other workspaces than the agent's own."""
        paths = printed_elsewhere(event, self.project) if self.project else []
        for root in dict.fromkeys([self._root_of(path) for path in paths]):
            if root is not None and root != self.project:
                self._attend_in(root, events.Printed(event.command, event.cwd, event.output))

    def _answered_elsewhere(self, event: events.Answered, answer: Answer) -> Answer:
        """Hand the end of a batch to the other workspaces whose files its calls name, and add what
        they answer."""
        roots = {path: self._root_of(path) for path in event.paths}
        for root in dict.fromkeys(roots.values()):
            if root is not None and root != self.project:
                failed = tuple([each for each in event.failed if roots.get(each.path) == root])
                done = tuple([_only_in(call, root, roots) for call in event.done])
                other = self._attend_in(root, events.Answered(failed, done))
                context = "\n\n".join(filter(None, [answer.context, other.context]))
                answer = structs.replace(answer, context=context)
        return answer

    def _end_outage(self, context: SessionContext) -> None:
        """Record that the guard was off until now. Where the store still takes nothing, the outage goes
        on, and the handler says so in its own words."""
        try:
            context.append([SightLost(OUTAGE)])
        except StoreError:
            return  # the notes stay
        outage.forget(self._notes)
        self._notes = []

    def _attend_in(self, root: str, event: Event) -> Answer:
        assert self.caller is not None
        workspace = self._workspace(root)
        session, is_new = workspace.session(self.caller, self.agent, self.owner)
        with session.attending() as context:
            if self._notes and root == self.project:
                self._end_outage(context)
            answer = self._handle(context, event, is_new=is_new)
        if self._ending and isinstance(event, events.Ended):  # a daemon does so after its answers
            try:
                keep_to_room(workspace.context(), workspace.settings)
            except SightlineError as error:
                self.note(error)
        return answer

    def _handle(self, context: SessionContext, event: Event, *, is_new: bool) -> Answer:
        """Handle an event of a held session. Record what the transcript shows before the event and after."""
        assert self.caller is not None
        if is_new and not begins_empty(event) and self.caller.transcript:
            record_mark(context, self.caller.transcript, 0, all_of_it=True)
            self._reconcile(context)
        if isinstance(event, events.Prompted) and is_summarised(context):
            self._reconcile(context)  # the texts that the host put back
        is_known = isinstance(event, BESIDE) or self._follow(context)
        if isinstance(event, events.Attempted) and not is_known:
            unsure = [path for path in event.paths if not is_sure(context, path)]
            if unsure:
                return Answer(refuse=words.unsure(name_in(context, unsure[0])))
        if isinstance(event, (events.CommandBegan, events.CallBegan)) and has_insertions(context):
            self._reconcile(context)  # which files the commands of the prompt printed
        host = self._host(context, event)
        lost = (
            ""
            if isinstance(event, events.InsertionBegan)
            else end_insertions(context, host.limits.diff)
        )
        try:
            answer = handle(context, event, host)
        finally:
            if context.missed:  # a checkpoint was due and could not be taken
                self.note(SightlineError(context.missed.worded(as_command)))
                context.missed = Hint()
        if lost:
            answer = answer.behind(lost)
        if isinstance(event, (events.Prompted, events.Stopped, events.Ended)):
            self._reconcile(context)
        return answer

    def _host(self, context: SessionContext, event: Event) -> Host:
        assert self._product is not None
        can = self._product.can
        return Host(
            can,
            self._product.limits,
            words.for_own_tools(self._product.everywhere),
            isinstance(event, can.inject),
            lambda knows: self._catch_up(context, knows=knows),
            self._rewriters,
            self._read_work,
        )

    def _workspace(self, root: str) -> OpenWorkspace:
        if root not in self._opened:
            settings = self.settings if root == self.project else None
            settings = settings or self._read_settings(root)
            shared = self._shared
            if shared is not None and shared.root == root and shared.follow(settings):
                return shared
            attempt = attempt_of(self.environ)
            self._opened[root] = OpenWorkspace(root, settings, attempt)
        return self._opened[root]

    def _catch_up(self, context: SessionContext, *, knows: bool) -> None:
        """Read the transcript before an attempt on a file with lines that the session does not
        know. knows: the session knows some lines; then only rows from before its beginning add to
        them, and the texts of slash commands and skills."""
        transcript = self.caller.transcript if self.caller else None
        is_late = bool(transcript) and mark_of(context, transcript or "").all_of_it
        if not knows or is_late or has_insertions(context):
            self._reconcile(context)

    def _rewriters(self) -> list[str]:
        """Return where hooks of others are that could put their own text in the place of a merge."""
        assert self.caller is not None
        assert self._product is not None
        return self._product.dialect.rewriters(self._payload, self._surroundings(self.caller))

    def _follow(self, context: SessionContext) -> bool:
        """Put the session's knowledge back where the user took the conversation back. Return False
        while the transcript does not show yet whether the user did."""
        known, caller = self._product, self.caller
        if known is None or caller is None or not caller.transcript or not caller.prompt:
            return True
        transcript, prompt = caller.transcript, caller.prompt
        if not os.path.exists(transcript):
            return True
        try:
            went_back = follow(
                context,
                transcript,
                prompt,
                lambda at: known.dialect.went_back(transcript, prompt, at),
            )
            if went_back:
                self._reconcile(context)
        except (OSError, ValueError) as error:
            self.note(error)
            return True
        return went_back is not None

    def _reconcile(self, context: SessionContext) -> None:
        """Record what the transcript shows. After a failure the session knows less than the agent
        has seen, which refuses more and never less."""
        known, transcript = self._product, self.caller.transcript if self.caller else None
        if known is None or not transcript or not os.path.exists(transcript):
            return
        try:
            reconcile(
                context,
                transcript,
                lambda offset, before: known.dialect.unhooked(transcript, offset, before=before),
            )
        except (OSError, ValueError) as error:
            self.note(error)

    def _read_work(self) -> RecordedWork:
        """Return the to-dos and reports in the transcript. After a failure the briefing is without
        them."""
        known, transcript = self._product, self.caller.transcript if self.caller else None
        if known is None or not transcript or not os.path.exists(transcript):
            return NO_WORK
        try:
            return known.dialect.recorded_work(transcript)
        except (OSError, ValueError) as error:
            self.note(error)
            return NO_WORK

    def _fit(self, answer: Answer, event: Event) -> Answer:
        assert self._product is not None
        return fitted(answer, event, self._product.can)

    def _printed(self, answers: list[Answer]) -> bytes:
        if all(answer == events.NOTHING for answer in answers):
            return b""
        assert self._product is not None
        output = self._product.dialect.answer(self._payload, answers, self.event)
        if isinstance(output, str):
            return sendable(output).encode()
        return compact_json(all_sendable(output)).encode() if output else b""

    def _user_settings(self) -> Settings | None:
        """Return the user's settings, for a call whose workspace was not found; None where they are broken."""
        try:
            return read_settings(os.devnull, self.environ, self.home)
        except SettingsError:
            return None


def _parse(raw: bytes) -> dict[str, Any]:
    try:
        payload = json.loads(raw)
    except RecursionError:
        raise NotJudged(words.not_json("it is nested too deeply")) from None
    except UnicodeError:
        raise NotJudged(words.not_json("it is not UTF-8")) from None
    except ValueError as error:
        raise NotJudged(words.not_json(str(error))) from None
    if not isinstance(payload, dict):
        raise NotJudged(words.not_json("it is something else"))
    return payload


def with_absolute_paths(event: Event, cwd: str, home: str) -> Event:
    """Return the event with absolute paths. cwd: the agent's folder."""
    if isinstance(event, events.Answered):
        failed = [structs.replace(f, path=absolute(f.path, cwd, home)) for f in event.failed]
        done = [_with_absolute_targets(each, cwd, home) for each in event.done]
        paths = tuple([absolute(path, cwd, home) for path in event.paths])
        return structs.replace(event, failed=tuple(failed), done=tuple(done), paths=paths)
    if isinstance(event, events.Attempted):
        return _with_absolute_targets(event, cwd, home)
    if isinstance(event, events.Prompted):
        mentions = [(absolute(path, cwd, home), lines) for path, lines in event.mentions]
        return structs.replace(event, mentions=tuple(mentions))
    path = getattr(event, "path", None)
    return structs.replace(event, path=absolute(path, cwd, home)) if path else event


def _only_in(
    event: events.Attempted, root: str, roots: Mapping[str, str | None]
) -> events.Attempted:
    """Return what a call changes in a workspace. roots: path -> the workspace of the file."""
    targets = [target for target in event.targets if roots.get(target[0]) == root]
    return structs.replace(event, targets=tuple(targets))


def _with_absolute_targets(event: events.Attempted, cwd: str, home: str) -> events.Attempted:
    targets = [
        (
            absolute(path, cwd, home),
            Move(absolute(attempt.target, cwd, home)) if isinstance(attempt, Move) else attempt,
        )
        for path, attempt in event.targets
    ]
    return structs.replace(event, targets=tuple(targets))


def absolute(path: str, cwd: str, home: str) -> str:
    """Return a host's path in this system's spelling, absolute. A path may be a file URI (RFC 8089):
    the name of its host is left out. cwd: the folder that a relative path starts from."""
    if path.startswith(URI):
        path = unquote("/" + path[len(URI) :].partition("/")[2], errors="surrogateescape")
        path = path[1:] if os.name == "nt" and path[2:3] == ":" else path  # file:///C:/a
    elif path.startswith("~/"):
        path = os.path.join(home, path[2:])
    return os.path.join(cwd, path)
