"""The command up: show live what each agent has in context, and what went stale."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from time import monotonic

import click

from sightline.agents.products import connectable
from sightline.agents.settings_file import carry_out
from sightline.api import health
from sightline.api.json_shapes import shape
from sightline.api.live import Live
from sightline.api.workspace import Workspace
from sightline.api.workspace_words import seeing
from sightline.cli import connect, exclude, output
from sightline.cli.doctor import guard_off, words_of
from sightline.cli.live import loop
from sightline.cli.live.keys import keyboard
from sightline.cli.live.lines import Lines
from sightline.cli.live.screen import Quit, Screen, wall_time
from sightline.cli.live.terminal import Waiting, held, while_read
from sightline.cli.live.view import Head
from sightline.cli.options import command
from sightline.cli.output import Call
from sightline.cli.words import explained, status_lines
from sightline.errors import SightlineError, WorkspaceError
from sightline.hooks import archive
from sightline.hooks.fault_log import faults
from sightline.hooks.server import HookServer
from sightline.model.path import quoted
from sightline.recordings.product_readers import READERS
from sightline.recordings.reader import Reader, Recording
from sightline.text.phrases import count, size


@command(example="up --once")
@click.option("--once", is_flag=True, help="Print the state and exit.")
@click.option("--yes", is_flag=True, help="Connect the agents that are found.")
@click.option(
    "--import",
    "reading",
    is_flag=True,
    help="Import earlier recordings of agents here, as a read-only archive.",
)
def up(call: Call, *, once: bool, yes: bool, reading: bool) -> None:
    """Show live what each agent holds, and what went stale.

    Offers to connect the agents it finds, and stays until q or Ctrl-C; ? shows the other keys.
    Without a terminal it asks nothing and prints a line per event.
    """
    _ = call.root  # an error of the folder itself is said once
    off = alarm_of(call)
    if off and (once or not drawable(call)):
        output.say(off)
    with call.ask() as workspace:
        if not once:
            status = connected(call, workspace.root, yes=yes)
        if reading or not once:
            read_in(call, workspace, wanted=reading)
        if once:
            _once(call, workspace)
            return
        with answering(call, workspace.root):
            try:
                with workspace.live() as live:
                    eyes = live.eyes()
                    if eyes.mode != "events":  # changes are not seen as they happen
                        how = seeing(eyes.mode, eyes.why, eyes.folders)
                        status += f" Changes are seen {how}."
                    _show(call, workspace, live, status)
            except Quit:
                output.note(call, farewell(workspace.root))
            except KeyboardInterrupt:
                output.note(call, farewell(workspace.root))
                raise


def _once(call: Call, workspace: Workspace) -> None:
    with output.progress(call, "Looking at the files that sessions were shown"):
        shown = workspace.status(call.session)
    root, store = workspace.root, workspace.store_url
    agents = [*connect.connected_products(root)]
    if call.json:
        output.json({"store": store, "agents": agents, **shape(shown)})
        return
    first, *rest = status_lines(call, shown, workspace.name_of, call.session)
    named = ", ".join(agents) or "none connected. To connect one: sightline init"
    output.prose("\n".join([first, f"Store     {store}", f"Agents    {named}", *rest]))


def drawable(call: Call) -> bool:
    """Return whether the view can be drawn where stdout goes."""
    is_terminal = sys.stdout.isatty() and os.environ.get("TERM") not in (None, "", "dumb")
    return is_terminal and not call.json


def _show(call: Call, workspace: Workspace, live: Live, status: str) -> None:
    root = workspace.root
    if drawable(call):
        home = os.path.join(os.path.expanduser("~"), "")
        place = f"~/{root.removeprefix(home)}" if root.startswith(home) else root
        plain = call.no_color or os.environ.get("NO_COLOR")
        keys = keyboard()
        ends = "Ctrl-C ends" if keys is None else "? keys, q ends"
        alarm = Alarm(call, workspace)

        def why(session: str, path: str, width: int) -> list[str]:
            try:
                found = workspace.why(path, session)
            except SightlineError as error:
                return [error.message, output.worded(error.next_step)]
            return explained(workspace.names(), found, width)

        screen = Screen(
            sys.stdout,
            lambda: Head(place, status, ends, alarm.words()),
            wall_time,
            colour=not plain,
            why=why,
        )
        wait = Waiting(screen, keys)
        with wait.heeding(), held(screen, keys):
            loop.run(live, screen, wait)
    output.note(call, f"Watching {root}. {status} Ctrl-C ends this.")
    wait = Waiting()
    with while_read(), wait.heeding():
        loop.run(live, Lines(workspace.names(), json=call.json), wait)


ALARM_S = 5.0
"""Seconds between two looks at whether the guard works."""

FAULT_S = 3_600
"""A hook that failed longer ago is left to `doctor`."""


class Alarm:
    """Says why edits are not judged, while a view runs."""

    def __init__(self, call: Call, workspace: Workspace) -> None:
        self._call, self._workspace = call, workspace
        self._words, self._looked = "", -ALARM_S

    def words(self) -> str:
        """Return why the guard is off, else that it failed lately; empty while it works."""
        if monotonic() - self._looked >= ALARM_S:
            self._words = alarm_of(self._call) or self._failed()
            self._looked = monotonic()
        return self._words

    def _failed(self) -> str:
        """Return that a hook of a session of this workspace failed lately."""
        try:
            newest = faults(self._call.settings.state_home)
        except OSError as error:
            return f"The log of failed hooks cannot be read: {error.strerror}."
        for fault in reversed(newest):
            at = datetime.fromisoformat(fault.at)
            if (datetime.now(UTC) - at).total_seconds() > FAULT_S:
                break
            if not fault.session or self._workspace.agent_of(fault.session):
                when = f"{at.astimezone():%H:%M}"
                return (
                    f"The guard failed at {when} ({fault.event or 'no event'}): {fault.message}\n"
                    "See what to do: sightline doctor"
                )
        return ""


def alarm_of(call: Call) -> str:
    """Return why the guard is off, and what to do; empty while it works."""
    off = guard_off(list(health.needed(call.root, call.store)))
    if off is None:
        return ""
    return "\n".join(filter(None, words_of("guard", "off", off.facts)))


def connected(call: Call, root: str, *, yes: bool) -> str:
    """Connect the agents that are found, if the user agrees, and return who is connected.

    The user is asked once, on a terminal, unless `yes`. SettingsError.
    """
    there = connect.connected_products(root)
    found = [each for each in connect.found_products(root) if each.name not in there]
    for each in found:
        change, agreed = connect.plan(each, root, each.connection.scopes[-1]), yes
        if not yes and not call.json and output.can_ask():
            output.say(
                f"{each.title} is not connected here: its edits are not judged.\n"
                f"Its hooks would go into {quoted(change.path)}\n"
                "and come out again by 'sightline init --remove'."
            )
            agreed = output.confirmed("Connect it?", default=True)
        if agreed:
            carry_out(change)
            output.note(call, f"{each.title} is connected from its next session on.")
            exclude.offer(call, root, connect.private_files(root, change), yes=yes)
            there[each.name] = each
    without = " and ".join([each.title for each in found if each.name not in there])
    if there:
        named = " and ".join([each.title for each in there.values()])
        more = f" {without} is not: sightline init" if without else ""
        return f"{named} {'is' if len(there) == 1 else 'are'} connected.{more}"
    if found:
        return f"{without} is not connected, its edits are not judged. Connect it: sightline init"
    known = connectable()
    titles = " or ".join([each.title for each in known])
    return f"No agent found. To connect {titles}: sightline init {known[0].name}"


def farewell(root: str) -> str:
    """Return what guards the agents once the view has ended. SettingsError."""
    hooks = [
        hook
        for each in connectable()
        for scope in connect.connections(each, root).values()
        for hook in scope
    ]
    if not hooks:
        return "Ended. What was recorded stays: sightline log"
    if any(hook.url for hook in hooks):
        return "Ended. Hooks of the http kind are answered by nobody now: edits are not judged."
    return "Ended. Edits go on being judged, with or without this view."


@contextmanager
def answering(call: Call, root: str) -> Iterator[None]:
    """Answer hooks from this process. If another process does already, say so and go on."""
    environ = dict(os.environ)
    if call.store is not None:
        environ["SIGHTLINE_STORE"] = call.store
    server = HookServer(root, environ=environ, home=os.path.expanduser("~"))
    try:
        server.start()
    except WorkspaceError as error:
        output.say(f"{error.message} {output.worded(error.next_step)}")
    try:
        yield
    finally:
        server.stop()


def read_in(call: Call, workspace: Workspace, *, wanted: bool) -> None:
    """Read in the conversations that agents recorded in this workspace, if the user agrees.

    The user is asked on a terminal, while no session is on the timeline, unless `wanted`.
    Conversations of sessions that hooks reported are left out. OSError, StoreError.
    """
    if not wanted and (workspace.page_of_sessions(last=1).sessions or not output.can_ask()):
        return
    place = connect.place_of(workspace.root)
    recorded_here = [
        (reader, recording)
        for reader in READERS.values()
        for recording in reader.sessions(place.root, place.environ, place.home)
        if not workspace.agent_of(recording.session)
    ]
    if not recorded_here:
        if wanted:
            output.note(call, "No conversation was recorded here that is not known already.")
        return
    many = count(len(recorded_here), "conversation")
    if not wanted:
        amount = size(sum(recording.size for _, recording in recorded_here))
        titles = " and ".join(dict.fromkeys([each.title for each, _ in recorded_here]))
        output.say(f"{many} of {titles} recorded here before ({amount}).")
        if not output.confirmed("Read them in, to look at?"):
            return
    with output.progress(call, f"Reading in {many}"):
        facts = [_archive(workspace, *each) for each in recorded_here]
    new, total = count(sum(map(bool, facts)), "conversation"), count(sum(facts), "fact")
    output.note(call, f"Read in: {new}, {total}. See: sightline session list")


def _archive(workspace: Workspace, reader: Reader, recording: Recording) -> int:
    """Read in a recording, and return the number of new facts.

    Its digest is of the bytes that the recording had when it was found; it may grow meanwhile.
    """
    digest, left = sha256(), recording.size
    with open(recording.path, "rb") as file:
        while left and (part := file.read(min(left, 1 << 20))):
            digest.update(part)
            left -= len(part)
    origin = archive.Origin(
        agent=reader.name,
        source=recording.path,
        digest=digest.hexdigest(),
        session=recording.session,
        root=workspace.root,
        parent=recording.parent,
    )
    facts = reader.events(recording)
    with workspace.attending() as to:
        return archive.import_recording(to.store, to.clock, origin, facts, to.may_store)
