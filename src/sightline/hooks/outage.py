"""Faults of hook calls, and outages of the guard: tell the user once a session, note an outage, and let
later hooks not wait for it again.

The guard is off while the store or the user's own settings cannot be used. The notes are in the run folder, or in
a folder for temporary files where the state folder cannot be written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from sightline.config.settings import LeftOut, Settings, user_settings_file
from sightline.errors import SettingsError, SightlineError, StoreError
from sightline.filesystem.deadline import DeadlinePassed, within
from sightline.filesystem.private_files import make_folder
from sightline.hooks import words
from sightline.hooks.protocol import (
    TOLD,
    is_private,
    outage_fields,
    outage_folders,
    outage_name,
    state_base,
)
from sightline.model import hook_events as events
from sightline.model.revision import revision_of
from sightline.store.identity import store_file
from sightline.store.opening import is_held
from sightline.text.command_words import as_command

FAULT_S = 1.0
"""Seconds for what a fault needs of a disk, which can be the very disk that does not answer."""


class NotJudged(SightlineError):
    """A hook call that Sightline cannot judge."""


class Late(NotJudged):
    """A hook call that missed its deadline, or that had nothing to wait for."""


class Held(Late):
    """A hook call that was not judged because another process holds the store."""


class Silent(NotJudged):
    """A hook call that a daemon took and did not answer."""


ONE = (Late, Silent, DeadlinePassed)
"""Faults that need not meet the next call."""

UNHEARD = (events.Instructed, events.ChangedOutside, events.Ended)
"""Events whose answer reaches no user."""


class Place(Struct, frozen=True):
    """The caller and the workspace of a hook call. settings, project: None until they are
    found. folder: the project as the host names it, "" for none."""

    environ: Mapping[str, str]
    home: str
    caller: events.Caller | None
    settings: Settings | None
    project: str | None
    folder: str = ""

    def tell(self, error: Exception, event: events.Event, fail: str) -> str:
        """Return the words about an outage for the user, once a session, by an event whose words reach the
        user; "" from then on. Note the outage for later hooks. fail: as the setting."""
        if self.caller is None or isinstance(event, UNHEARD):
            return ""
        session, why = self.caller.session.partition("/")[0], error_text(error)
        closed, is_one = fail == "closed", not isinstance(error, Held) and isinstance(error, ONE)
        is_new = tell_once(self.environ, self.home, session, "one" if is_one else "all")
        if is_new is None:  # the one event of which there are few
            is_new = isinstance(event, events.Began) and self.caller.parent is None
        if is_one:
            return words.unjudged(why, closed=closed) if is_new else ""
        note(self.environ, self.home, session, self.folder, self._needs(), fail=fail)
        return words.outage(why, closed=closed) if is_new else ""

    def tell_left_out(self, root: str, faults: Sequence[LeftOut], event: events.Event) -> str:
        """Return the words about a workspace's own settings that do not hold, for the user, once a session; ""
        from then on, and for an event whose words do not reach the user."""
        if self.caller is None or isinstance(event, UNHEARD):
            return ""
        session = self.caller.session.partition("/")[0]
        is_new = tell_once(self.environ, self.home, session, f"settings {root}")
        if is_new is None:  # as in tell()
            is_new = isinstance(event, events.Began) and self.caller.parent is None
        where = "" if root == self.project else root
        said = [f"{fault.message} {fault.hint}" for fault in faults]
        return words.left_out_of_settings(said, where) if is_new else ""

    def is_first(self, top: str) -> bool:
        """Return whether the agent was not told yet, in this conversation, of another checkout."""
        if self.caller is None:
            return False
        what = f"checkout {top}"
        return tell_once(self.environ, self.home, self.caller.session, what) is True

    def is_held(self) -> bool:
        """Return whether another process holds the project's store."""
        settings, root = self.settings, self.project
        if settings is None or root is None:
            return False
        url, home = settings.store, settings.state_home
        asked: list[bool] = []
        try:
            within(
                FAULT_S, lambda: asked.append(is_held(url, workspace_root=root, state_home=home))
            )
        except (DeadlinePassed, StoreError):  # the disk hangs, or the URL is none
            return False
        return asked == [True]

    def _needs(self) -> list[str]:
        """Return the files and folders whose change may end an outage."""
        root = self.project or (self.caller.cwd if self.caller else "")
        state = self.settings.state_home if self.settings else state_base(self.environ, self.home)
        paths = [user_settings_file(self.environ, self.home, sys.platform), state]
        try:
            return [*paths, store_file(state, root)]
        except SightlineError:
            return paths


def is_outage(error: Exception) -> bool:
    """Return whether a fault of one hook call is likely to meet every call, so that the guard is off. A
    ValueError is about the payload of that call."""
    known = (StoreError, SettingsError, OSError, DeadlinePassed)
    return isinstance(error, known) or not isinstance(error, (SightlineError, ValueError))


def tell_once(environ: Mapping[str, str], home: str, session: str, what: str) -> bool | None:
    """Note that the user learns of something in this session. Return whether the note is new; None
    where no note can be written."""
    name = revision_of(f"{what} {session}".encode("utf-8", "surrogatepass"))[:16] + TOLD
    for folder in outage_folders(environ, home):
        try:
            _note(folder, name, b"", os.O_EXCL)
        except FileExistsError:
            return False
        except (OSError, SightlineError):
            continue
        return True
    return None


def note(
    environ: Mapping[str, str],
    home: str,
    session: str,
    project: str,
    paths: Sequence[str],
    *,
    fail: str,
) -> None:
    """Note that the user has learned of an outage in this session. project: as in noted(). paths: files and folders whose change
    may end the outage. fail: as the setting. Where no note can be written, each hook finds out by
    itself."""
    fields = outage_fields(fail, session, project, environ, paths)
    for folder in outage_folders(environ, home) if project else ():
        try:
            _note(folder, outage_name(project), os.fsencode("\0".join(fields)), os.O_TRUNC)
        except (OSError, SightlineError):
            continue
        return


def noted(environ: Mapping[str, str], home: str, project: str) -> list[str]:
    """Return the notes of an outage of a project. project: the folder as its host names it."""
    name = outage_name(project)
    paths = [os.path.join(folder, name) for folder in outage_folders(environ, home)]
    return [path for path in paths if os.path.exists(path)]


def forget(notes: Iterable[str]) -> None:
    """Remove notes of an outage that is over. Another hook may have removed them."""
    for note in notes:
        with suppress(OSError):
            os.unlink(note)


def _note(folder: str, name: str, data: bytes, flag: int) -> None:
    """Write a note. OSError, SightlineError; then no note is left by this call."""
    make_folder(folder)
    if not is_private(folder):
        raise PermissionError(1, "belongs to somebody else", folder)
    path = os.path.join(folder, name)
    descriptor = os.open(
        path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | flag, 0o600
    )
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
    except OSError:
        os.unlink(path)
        raise


def error_text(error: Exception) -> str:
    """Return an error's message for a person. Leave out texts that may come from a file. The host's tools
    change files, whatever a store says of itself."""
    if isinstance(error, SightlineError):
        message = error.message
        if isinstance(error, StoreError) and error.unchanged:
            message = f"{error.fault} {words.UNRECORDED}"
        return f"{message} {error.next_step.worded(as_command)}".strip()
    if isinstance(error, DeadlinePassed):
        return words.late(None)
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return f"{name}{error.strerror or type(error).__name__}."
    if isinstance(error, ImportError) or type(error) is ValueError:
        return str(error)
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return words.broken(type(error).__name__, "an unknown place")
    file = os.path.basename(trace.tb_frame.f_code.co_filename)
    return words.broken(type(error).__name__, f"{file}:{trace.tb_lineno}")
