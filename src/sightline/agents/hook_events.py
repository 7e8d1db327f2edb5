"""What a host tells of its agent through hooks, and what it is answered.

Every product has its own names and shapes for these moments; its dialect (sightline.agents.dialect) turns
them into the events below, and an Answer back into what the product takes. Paths are absolute
(handlers.host_paths makes them so) or relative to the workspace. Lines are 1-based and inclusive. `call` is the
host's own id of one use of a tool: it ties what is told after to what was told before.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from sightline.model.attempts import Attempt
from sightline.model.spans import Span

Source = Literal["startup", "resume", "clear", "fork", "compact"]


class Event(Struct, frozen=True):
    """Base of all events."""


class Began(Event, frozen=True):
    """A conversation begins, goes on (resume), or has just been compacted."""

    source: Source
    model: str | None = None


class Instructed(Event, frozen=True):
    """The host put a whole file among the agent's instructions."""

    path: str


class Used(Event, frozen=True):
    """What the agent ran on just now: its model, and the version of the host, by its name."""

    model: str | None = None
    host: str | None = None
    host_version: str | None = None


class Prompted(Event, frozen=True):
    """The user said something: a turn begins. mentions: files whose text the host adds to it,
    whole (None) or some lines. mode: the host's word for what the agent may do by itself."""

    text: str
    mentions: tuple[tuple[str, Span | None], ...] = ()
    mode: str | None = None


class Shown(Event, frozen=True):
    """The agent was shown a file. text: exactly what it was shown, of the whole file (lines None)
    or of these lines; None when only the place is known. via: read, mention, instructions, shell,
    search, notice, notebook, or the host's own word. at: when that was, in UTC microseconds, where
    it is told of later."""

    path: str
    lines: Span | None = None
    text: str | None = None
    via: str = "read"
    at: int | None = None


class CellEdit(Struct, frozen=True):
    """What a notebook tool is about to do. cell: its id, or None for the first place; mode:
    replace, insert (after that cell) or delete."""

    cell: str | None
    mode: str
    source: str


class Attempted(Event, frozen=True):
    """The agent is about to change a file by a tool of the host."""

    path: str
    attempt: Attempt | CellEdit
    call: str


class Wrote(Event, frozen=True):
    """A tool of the host changed a file. before: the whole text it found there, None when there
    was no file (created) or it is not told (known_before False); content: the whole text it
    wrote, where that is told; whole: the agent itself gave that whole text, not a replacement;
    user_modified: the user changed the text before it was written."""

    path: str
    call: str
    before: str | None = None
    known_before: bool = True
    content: str | None = None
    whole: bool = False
    user_modified: bool = False


class Failed(Event, frozen=True):
    """An attempt was not carried out by the host. attempt: what it was, where no Attempted came
    before; why: the host's own words, as the agent was told them."""

    path: str
    call: str
    attempt: Attempt | None = None
    why: str = ""


class CommandBegan(Event, frozen=True):
    """The agent is about to run a shell command. cwd: an absolute folder."""

    command: str
    call: str
    cwd: str


class CommandEnded(Event, frozen=True):
    """A shell command ended, or went on in the background. output: what the agent was shown of
    it; exit_code None when it is not told."""

    command: str
    call: str
    cwd: str
    output: str = ""
    exit_code: int | None = None
    background: bool = False


class Answered(Event, frozen=True):
    """All that tools and hooks have said so far is with the model now. failed: attempts that no
    hook had told of."""

    failed: tuple[Failed, ...] = ()


class ChangedOutside(Event, frozen=True):
    """The host's own watcher saw a file change."""

    path: str


class Compacted(Event, frozen=True):
    """The conversation was folded into a summary: no text is in the window any more."""


class Stopped(Event, frozen=True):
    """The agent ended its turn."""


class Ended(Event, frozen=True):
    """The conversation was closed."""

    reason: str = "ended"


class Answer(Struct, frozen=True):
    """What the host is answered. refuse: why an attempt may not be made, for the model; ask: why
    the user has to approve it first; content: the whole text to write in place of the attempt's
    own; context: further words for the model; watch: absolute paths to watch for us."""

    refuse: str | None = None
    ask: str | None = None
    content: str | None = None
    context: str = ""
    watch: tuple[str, ...] = ()


NOTHING = Answer()

CONTEXT_MAX = 9_000
"""Characters of one answer: more than 10,000 is replaced by a preview (measured, Claude Code)."""

DIFF_MAX = 6_000
"""Characters of the diffs in one answer. Hosts show their model only the beginning of a long one,
and what is not shown must not count as shown."""
