"""The stage: a throw-away workspace with a store of its own, and an agent's session in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from msgspec import Struct, structs

from sightline.api.opening import open_session
from sightline.api.session import Session
from sightline.changes.session_context import SessionContext
from sightline.cli.tour.recording import Edit
from sightline.config.settings import load_settings
from sightline.errors import EditRefused
from sightline.history.session_history import SessionFiles, status
from sightline.model.results import EditResult
from sightline.text import phrases

LATER_NS = 2_000_000_000
"""The time that saving again adds to a file; more than any file system rounds off."""


class Outcome(Struct, frozen=True):
    """The outcome of a verb of the library, in a word or two, with its messages."""

    ended: str
    message: str = ""
    diff: str = ""
    hint: str = ""


class Stage:
    """The agent's verbs, each with its Outcome, and the deeds of others behind its back.

    folder: an empty one, which the caller throws away. No setting or store of the user is used.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.root = os.path.join(folder, "project")
        os.mkdir(self.root)
        self.session = self._open("block")

    @property
    def ground(self) -> SessionContext:
        """The context of the session."""
        return self.session._context  # noqa: SLF001 - faces compose the parts

    def resume(self, policy: str) -> None:
        """Open the session again by its id, with another policy for stale edits."""
        self.session = self._open(policy)

    def put(self, path: str, text: str) -> None:
        """Save a file as somebody else."""
        file = os.path.join(self.root, *path.split("/"))
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "wb") as stream:
            stream.write(text.encode())

    def save_again(self, path: str) -> None:
        """Save the same bytes again as somebody else, so that only the file's time is new."""
        file = os.path.join(self.root, *path.split("/"))
        before = os.stat(file).st_mtime_ns
        with open(file, "rb") as stream:
            self.put(path, stream.read().decode())
        os.utime(file, ns=(before + LATER_NS, before + LATER_NS))

    def read(self, path: str) -> Outcome:
        view = self.session.read(path)
        return Outcome("shown", phrases.shown((view.lines,), view.total_lines), view.diff or "")

    def check(self, path: str) -> Outcome:
        verdict = self.session.check(path)
        return Outcome(verdict.state, phrases.verdict(verdict.state, path, "others"), verdict.diff)

    def status(self) -> list[SessionFiles]:
        """Return the status of this workspace."""
        return status(self.ground)

    def changes(self) -> Outcome:
        found = self.session.changes()
        states = ", ".join(change.state for change in found)
        return Outcome(states or "nothing", "\n".join(change.summary for change in found))

    def edit(self, path: str, *edits: Edit) -> Outcome:
        """Make these edits, up to the first that does not simply go through."""
        done = Outcome("nothing")
        diff = ""
        for edit in edits:
            try:
                done = _done(self.session.edit(path, edit.old, edit.new))
            except EditRefused as refusal:
                self.session.acknowledge(refusal)  # the agent gets it with its next message
                return _refused(refusal)
            diff += done.diff
            if done.ended != "applied":
                return done
        return structs.replace(done, message=f"{_size(diff)}, nothing to report", diff=diff)

    def write(self, path: str, text: str) -> Outcome:
        try:
            return _done(self.session.write(path, text))
        except EditRefused as refusal:
            self.session.acknowledge(refusal)
            return _refused(refusal)

    def compare(self, texts: Mapping[str, str]) -> Outcome:
        """Compare files with texts, byte for byte."""
        for path, text in texts.items():
            with open(os.path.join(self.root, *path.split("/")), "rb") as stream:
                if stream.read() != text.encode():
                    return Outcome("different", f"{path} differs.")
        return Outcome("identical", f"{phrases.count(len(texts), 'file')}, the same byte for byte")

    def _open(self, policy: str) -> Session:
        # The environment and home of the user are left out: their settings could change the story.
        settings = load_settings(
            self.root,
            environ={},
            home=self._folder,
            platform=sys.platform,
            flags={"policy": policy, "state_home": os.path.join(self._folder, "state")},
        )
        return open_session(self.root, id="tour", agent="claude-code", settings=settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.session.close()


def _done(result: EditResult) -> Outcome:
    if result.merged:
        return Outcome("merged", f"{_size(result.diff)}, what others changed stays", result.diff)
    if result.notice is None:
        return Outcome("applied", diff=result.diff)
    message, _, diff = result.notice.text.partition("\n")
    return Outcome("applied, with a notice", message, diff)


def _refused(refusal: EditRefused) -> Outcome:
    return Outcome(f"refused: {refusal.reason}", refusal.message, refusal.diff, refusal.hint)


def _size(diff: str) -> str:
    """Return the number of lines that a diff adds and removes: "+5 -2 lines"."""
    lines = [line for line in diff.splitlines() if not line.startswith(("+++ ", "--- "))]
    added = sum(line.startswith("+") for line in lines)
    return f"+{added} -{sum(line.startswith('-') for line in lines)} lines"
