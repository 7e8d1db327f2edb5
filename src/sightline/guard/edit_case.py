"""Values that the rules judge: the evidence on a path, and the verdict on an attempt."""

from __future__ import annotations

from functools import cached_property
from itertools import chain

from msgspec import Struct, structs

from sightline.errors import RefusalReason
from sightline.model.belief import Held
from sightline.model.diff import diff
from sightline.model.events import Belief
from sightline.model.line_marks import is_mark
from sightline.model.nearest import Nearest
from sightline.model.relocation import Places
from sightline.model.results import Decision, State
from sightline.model.revision import UNKNOWN, Revision
from sightline.model.spans import Hunk, Spans, touched
from sightline.model.text import Text, decode


class Evidence(Struct, frozen=True):
    """Everything a verdict may rest on, of one path. kind, disk, why: kind, data and why of
    filesystem.file_state.FileState. belief: what the agent was shown. believed: the bytes of
    belief.text, None when they are not kept. retargeted: the path was a symlink when the agent
    was shown it, and leads elsewhere now. has_marks: believed is made of kept marks (model.line_marks):
    the lines that neither the disk nor the attempt has are marks. revision: of the file on disk, where it
    is too large to be read."""

    kind: str
    disk: bytes | None = None
    belief: Belief | None = None
    believed: bytes | None = None
    why: str | None = None
    retargeted: bool = False
    has_marks: bool = False
    revision: Revision = UNKNOWN


class Rules(Struct, frozen=True):
    """policy: block, warn, refresh or merge. unseen: what happens to a replacement of matching
    text in lines never shown, "notice" or "refuse"."""

    policy: str = "merge"
    unseen: str = "notice"


class Sought(Struct, frozen=True):
    """A text that has no place of its own. text: the text, or the lines of a hunk; hunk: its number in
    the patch, from 1 on, 0 for a replacement; anchor: the line behind its @@ that stands nowhere."""

    text: str
    hunk: int = 0
    anchor: str = ""


MARKS = "marks"
"""In place of an encoding: the new text has marks of bytes that are no text, in places of their own."""


class Ruling(Struct, frozen=True):
    """A verdict. new: the bytes to write (None: the file is removed). after: what the agent knows
    then. changes: others' hunks (base to disk) in lines that were shown. lines: lines of the
    disk's text that the reason is about. conflicts: pairs of hunks (ours, theirs). encoding: of a
    file that cannot hold the new text, or MARKS. sought, near, near_shown: what was sent, the lines most like
    it, and whether they were shown. part: number of the edit that the reason is about, and of all
    edits. cells, cell_diff: of the edit of a notebook's cell, the names of further cells whose source
    differs from what was shown, and the diff of the cell's source, believed to disk."""

    decision: Decision
    state: State
    reason: RefusalReason | None = None
    new: bytes | None = None
    after: Held | None = None
    changes: tuple[Hunk, ...] = ()
    lines: Spans = ()
    sought: Sought | None = None
    near: Nearest | None = None
    near_shown: bool = False
    conflicts: tuple[tuple[Hunk, Hunk], ...] = ()
    found: int = 0
    endings_only: bool = False
    encoding: str | None = None
    part: tuple[int, int] = (1, 1)
    cells: tuple[str, ...] = ()
    cell_diff: str = ""


class EditCase:
    """Evidence and rules, with the texts decoded once. disk: the text on disk. base: the text that
    the agent believes, None where no text is known. held: base with its spans. same: base and
    disk have the same characters. Lists of lines and hunks are of `plain` text (model.text)."""

    def __init__(self, sight: Evidence, rules: Rules) -> None:
        self.sight = sight
        self.rules = rules
        self.disk = decode(sight.disk)
        belief = sight.belief
        self.base: Text | None = None
        self.held: Held | None = None
        if belief is not None and sight.believed is not None:
            same_bytes = sight.believed == sight.disk
            self.base = self.disk if same_bytes else decode(sight.believed)
        if belief is not None and self.base is not None:
            self.held = Held(self.base.lines, belief.shown, belief.held)
        self.same = bool(self.base and self.disk and self.base.plain == self.disk.plain)
        self._theirs: list[Hunk] | None = [] if self.same else None
        self._places: Places | None = None
        self._places_but_blanks: Places | None = None

    @property
    def disk_text(self) -> Text:
        """The text on disk, where the caller knows that there is one."""
        assert self.disk is not None
        return self.disk

    @property
    def theirs(self) -> list[Hunk]:
        """Others' hunks, base to disk."""
        if self._theirs is None:
            assert self.base is not None
            self._theirs = diff(self.base.lines, self.disk_text.lines)
        return self._theirs

    def place(self, start: int, end: int, *, exactly: bool = True) -> int | None:
        """Return where base lines [start, end) begin in the disk's text; None where others changed
        them, or where nothing shows which of several equal lines they are. exactly: count white
        space at the ends of lines as a change, too."""
        if self.same:
            return start
        place = self.places.find(start, end)
        if place is not None or exactly:
            return place
        if self._places_but_blanks is None:
            assert self.base is not None
            texts = self.base.lines, self.disk_text.lines
            base, disk = ([line.rstrip() for line in lines] for lines in texts)
            self._places_but_blanks = Places(base, disk, diff(base, disk))
        return self._places_but_blanks.find(start, end)

    @property
    def places(self) -> Places:
        """The places of base lines in the disk's text."""
        if self._places is None:
            assert self.base is not None
            self._places = Places(self.base.lines, self.disk_text.lines, self.theirs)
        return self._places

    @property
    def changes(self) -> tuple[Hunk, ...]:
        """Others' hunks in lines that were shown."""
        if self.held is None or self.disk is None or not self.theirs:
            return ()
        return touched(self.held.shown, self.theirs, len(self.held.lines))

    @cached_property
    def hidden(self) -> tuple[int, ...]:
        """The indexes of base lines that were shown and whose characters are not known: others changed
        them in a file whose text is never stored."""
        if not self.sight.has_marks or self.held is None:
            return ()
        shown = chain.from_iterable(range(first - 1, last) for first, last in self.held.shown)
        return tuple([at for at in shown if is_mark(self.held.lines[at])])

    @property
    def is_forgotten(self) -> bool:
        """True where the agent was shown text lines, and neither the text nor its marks are kept."""
        belief = self.sight.belief
        return belief is not None and bool(belief.shown) and self.sight.believed is None

    @property
    def endings_only(self) -> bool:
        """True where the bytes differ in line ends or BOM only."""
        if self.sight.has_marks and self.base is not None and self.same:
            base, disk = self.base, self.disk_text
            return (base.crlf, base.bom) != (disk.crlf, disk.bom)
        return self.same and self.sight.believed != self.sight.disk

    @property
    def state(self) -> State:
        """The comparison of the file with the text that the agent was shown."""
        sight = self.sight
        if sight.kind == "unreadable":
            return "unverifiable"
        if sight.belief is None:
            return "unseen"
        if sight.why == "too_large":
            return "fresh" if sight.belief.text == sight.revision else "stale"
        if sight.kind == "missing":
            return "deleted"
        is_no_text = self.disk is None and sight.disk is not None  # it was text when it was shown
        if sight.kind != "file" or is_no_text:
            return "kind_changed"
        if self.disk is None or self.base is None:  # no text is kept
            return "stale"
        return "stale" if self.changes else "fresh"

    def allow(self, new: bytes | None, after: Held | None) -> Ruling:
        """Return the verdict that lets the attempt write `new`, with a notice where others changed
        something the agent was shown."""
        changes, endings_only = self.changes, self.endings_only
        return Ruling(
            "notice" if changes or endings_only else "allow",
            self.state,
            new=new,
            after=after,
            changes=changes,
            endings_only=endings_only,
        )

    def refuse(self, reason: RefusalReason, **details: object) -> Ruling:
        """Return the verdict that refuses the attempt. details: further fields of Ruling."""
        ruling = Ruling(
            "refuse",
            self.state,
            reason,
            changes=self.changes,
            endings_only=self.endings_only,
        )
        return structs.replace(ruling, **details) if details else ruling
