"""A recorded session once more, through the library, on files in a throw-away workspace.

The recording says what was read, what was edited, and (for most edits) the whole file just before.
So the disk can be rebuilt: it changes by the recorded edits, and where the recording shows other
bytes than those left, somebody else changed them, and they are put there first.
"""

from __future__ import annotations

import posixpath
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.recordings.claude_code import Compacted, Edited, Event, Ran, Shown, read
from bench.recordings.tally import Tally
from bench.subjects import settings_in

import sightline

if TYPE_CHECKING:
    from collections.abc import Sequence

CAUSES = (
    ("has not been read yet", "unread"),
    ("has been modified since", "modified_since_read"),
    ("has been unexpectedly modified", "modified_since_read"),
    ("String to replace not found", "not_found"),
    ("matches of the string to replace", "ambiguous"),
    ("No changes to make", "no_change"),
    ("does not exist", "missing_file"),
    ("Sibling tool call errored", "sibling"),
    ("doesn't want to proceed", "rejected"),
)
NEVER_RAN = ("sibling", "rejected")
"""The product did not get as far as a verdict."""


def replay(path: Path) -> Tally:
    """Play one recording; each session in it has a workspace of its own."""
    recording = read(path)
    tally = Tally(recordings=1, unreadable=recording.unreadable)
    for events in recording.columns.values():
        with tempfile.TemporaryDirectory(prefix="sightline-replay-") as folder:
            root = Path(folder, "workspace")
            root.mkdir()
            with sightline.open_session(
                str(root),
                id="replay",
                agent="claude-code",
                store=f"sqlite:///{folder}/store.db",
                settings=settings_in(root, Path(folder)),
                approve=lambda _path, _diff: True,
            ) as session:
                _Replay(path.name, root, session, events, tally).run()
    return tally


class _Replay:
    def __init__(
        self,
        name: str,
        root: Path,
        session: sightline.Session,
        events: Sequence[Event],
        tally: Tally,
    ) -> None:
        self.name = name
        self.root = root
        self.session = session
        self.events = events
        self.tally = tally
        self.edited = {event.path for event in events if isinstance(event, Edited)}
        self.disk: dict[str, str] = {}
        self.foreign: dict[str, str] = {}
        self.guessed: set[str] = set()
        self.whole: set[str] = set()
        self.outside: dict[str, str] = {}
        self.commands: dict[str, list[str]] = {path: [] for path in self.edited}

    def run(self) -> None:
        """Everything the recording says, in its order."""
        for number, event in enumerate(self.events):
            if isinstance(event, Ran):
                for since in self.commands.values():
                    since.append(event.command)
            elif isinstance(event, Compacted):
                self.session.dropped()
            elif event.path in self.edited:
                self.tally.edits += isinstance(event, Edited)
                if event.path not in self.outside:
                    self._play(number, event)
                if event.path in self.outside and isinstance(event, Edited):
                    self.tally.not_judged[self.outside[event.path]] += 1

    def _play(self, number: int, event: Shown | Edited) -> None:
        """Play an event. A path that a session may not use, or that cannot exist here, is left
        alone from then on."""
        try:
            if isinstance(event, Shown):
                self._shown(number, event)
            else:
                self._edited(number, event)
        except sightline.PathRefused as refused:
            self.outside[event.path] = f"no path of a session: {refused.reason}"
        except (OSError, UnicodeError, ValueError) as error:
            self.outside[event.path] = f"no path here: {type(error).__name__}"

    def _shown(self, number: int, event: Shown) -> None:
        self._stands(event.path, self._text_for(number, event), event.via)
        rows = event.text.split("\n")
        total = len(self.disk[event.path].splitlines())
        first, last = event.start, min(event.start + len(rows) - 1, total)
        self.tally.reads += 1
        self.tally.shell_reads += event.via == "command"
        if event.whole or (first == 1 and last == total):
            self.whole.add(event.path)
        if event.via != "read":
            text = "".join(self.disk[event.path].splitlines(keepends=True)[first - 1 : last])
            self.session.saw(local(event.path), lines=(first, last), text=text, via=event.via)
            return
        if event.whole and not total:
            self.session.read(local(event.path))
        while first <= last:
            first = self.session.read(local(event.path), lines=(first, last)).lines[1] + 1

    def _text_for(self, number: int, event: Shown) -> str:
        """The whole file at the moment these lines of it were shown."""
        if event.whole:
            self.guessed.discard(event.path)
            return event.text
        now, later = self.disk.get(event.path), self._revealed(number, event.path)
        fitting = [text for text in (now, later) if text is not None and _shows(text, event)]
        if fitting:
            return fitting[0]
        self.guessed.add(event.path)
        rows = (now if now is not None else later or "").split("\n")
        shown = event.text.split("\n")
        rows += [""] * (event.start - 1 - len(rows))
        rows[event.start - 1 : event.start - 1 + len(shown)] = shown
        return "\n".join(rows)

    def _revealed(self, number: int, path: str) -> str | None:
        """The whole file as the recording next shows it, before anything else changes it."""
        for event in self.events[number:]:
            if isinstance(event, Edited) and event.path == path and not event.error:
                return event.original
            if isinstance(event, Shown) and event.path == path and event.whole:
                return event.text
        return None

    def _stands(self, path: str, text: str, shown_by: str) -> None:
        """Make the disk hold this text; where it held another, somebody else changed it."""
        if self.disk.get(path) == text:
            return
        if path in self.disk:
            self.foreign[path] = self._told_by(path, shown_by)
        self.disk[path] = text
        at = self.root / local(path)
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_bytes(text.encode())

    def _told_by(self, path: str, shown_by: str) -> str:
        """Return what in the recording, besides the bytes themselves, speaks of the change."""
        name = path.replace("\\", "/").rpartition("/")[2]
        if any(name in command for command in self.commands[path]):
            return "a command names it"
        if any("git " in command for command in self.commands[path]):
            return "git ran"
        return f"its {shown_by} shows it"

    def _edited(self, number: int, event: Edited) -> None:
        if event.error:
            self._refused_by_product(number, event)
            return
        if event.original is not None:
            self.guessed.discard(event.path)
            self._compare_belief(event, event.original)
        elif event.created:
            self._nothing_there(event.path)
        elif event.path not in self.disk or self.disk[event.path].count(event.old) == 0:
            self.tally.not_judged["file before it unknown"] += 1
            return
        before = "" if event.created else self.disk[event.path]
        after = _carried_out(event, before)
        refused = self._attempt(event)
        at = self.root / local(event.path)
        if refused is not None:
            if rule := self._explained(event, refused):
                self.tally.refused_by_rule[rule] += 1
            else:
                why = f"{refused.reason}: {refused.message}"
                self.tally.only_we_refused.append(f"{self._where(number, event)}: {why}")
            at.write_bytes(after.encode())
            self.session.wrote(local(event.path), before=before)
        else:
            self.tally.both_allowed += 1
            if at.read_bytes() == after.encode():
                self.tally.result_equal += 1
            else:
                self.tally.result_differs.append(self._where(number, event))
                at.write_bytes(after.encode())
        self.disk[event.path] = after
        self.commands[event.path].clear()
        if event.content is not None:
            self.whole.add(event.path)

    def _explained(self, event: Edited, refused: sightline.EditRefused) -> str:
        """Return what in the recording, and not in the verdict, explains a refusal of ours; "" for
        nothing."""
        if event.path in self.guessed:
            return "the file is only partly known from the recording"
        if refused.reason in ("stale", "conflict") and event.path in self.foreign:
            return f"others changed it before: {self.foreign[event.path]}"
        if refused.reason == "unseen" and event.path not in self.whole:
            return "the product wrote over lines that it never showed"
        return ""

    def _compare_belief(self, event: Edited, original: str) -> None:
        self.tally.originals += 1
        self._stands(event.path, original, "original")
        believed = self.session.believed(local(event.path))
        if believed == original:
            self.tally.belief_equal += 1
            self.foreign.pop(event.path, None)
        elif believed is None:
            self.tally.belief_none += 1
        elif event.path in self.foreign:
            self.tally.belief_differs_shown[self.foreign[event.path]] += 1
        else:
            self.tally.unexplained.append(f"{self.name} {event.path}")

    def _nothing_there(self, path: str) -> None:
        self.tally.created += 1
        self.disk.pop(path, None)
        (self.root / local(path)).unlink(missing_ok=True)

    def _attempt(self, event: Edited) -> sightline.EditRefused | None:
        """Our own verdict by doing it; None when it was not refused."""
        path = local(event.path)
        try:
            if event.content is None:
                count = None if event.every else 1
                self.session.edit(path, old=event.old, new=event.new, count=count)
            elif event.created:
                self.session.create(path, event.content)
            else:
                self.session.write(path, event.content)
        except sightline.EditRefused as refused:
            return refused
        return None

    def _refused_by_product(self, number: int, event: Edited) -> None:
        cause = next((name for words, name in CAUSES if words in event.error), "other")
        if cause in NEVER_RAN:
            self.tally.not_judged[cause] += 1
            return
        later = self._revealed(number, event.path)
        if cause == "modified_since_read" and later is not None:
            self._stands(event.path, later, "refusal")
        if event.path not in self.disk and later is not None:
            self._stands(event.path, later, "refusal")
        if event.path not in self.disk:
            self.tally.not_judged["file before it unknown"] += 1
            return
        path = local(event.path)
        if event.content is not None:
            verdict = self.session.check(path, content=event.content)
        else:
            verdict = self.session.check(path, old=event.old)
        if verdict.decision in ("refuse", "ask"):
            self.tally.both_refused[cause] += 1
        else:
            self.tally.only_product_refused[cause] += 1

    def _where(self, number: int, event: Edited) -> str:
        return f"{self.name} event {number} {event.path}"


def local(path: str) -> str:
    """A recorded path, of any system, as a path in the workspace."""
    inside = posixpath.normpath("/" + path.replace("\\", "/").replace(":", ""))
    return inside.lstrip("/")


def _shows(text: str, event: Shown) -> bool:
    rows = event.text.split("\n")
    return text.split("\n")[event.start - 1 : event.start - 1 + len(rows)] == rows


def _carried_out(event: Edited, before: str) -> str:
    """The file after the product's edit."""
    if event.content is not None:
        return event.content
    return before.replace(event.old, event.new, -1 if event.every else 1)
