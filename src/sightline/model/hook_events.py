"""Define the events that a host reports of its agent through hooks, and the answer it gets.

Every product has its own names and shapes for these events; its dialect (agents.dialect) translates
them, and translates an Answer back. Paths are absolute (hooks.call) or relative to
the workspace. Lines are 1-based and inclusive. `call` is the host's own id of one use of a tool: it
connects the event after the use with the event before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, structs

from sightline.model.attempts import Attempt, Move
from sightline.model.spans import Span

Source = Literal["startup", "resume", "clear", "fork", "compact"]


class Caller(Struct, frozen=True):
    """The agent that a hook was called for.

    session: our id, which is the product's own; "/name" follows for a sub-agent. parent: the
    session that started a sub-agent. cwd: an absolute folder. transcript: the file in which the
    product records this conversation. prompt: the product's id of the user's newest message.
    """

    session: str
    cwd: str
    parent: str | None = None
    transcript: str | None = None
    prompt: str | None = None


class Event(Struct, frozen=True):
    """Base of all events."""


class Began(Event, frozen=True):
    """A conversation begins, continues (resume), or was just compacted."""

    source: Source
    model: str | None = None


class Instructed(Event, frozen=True):
    """The host put a whole file among the agent's instructions."""

    path: str


class Used(Event, frozen=True):
    """The agent ran on this model, under this version of its host."""

    model: str | None = None
    host: str | None = None
    host_version: str | None = None


class Prompted(Event, frozen=True):
    """The user sent a message, which begins a turn. mentions: files whose text the host adds, whole
    (None) or some lines. mode: the host's word for the agent's permissions."""

    text: str
    mentions: tuple[tuple[str, Span | None], ...] = ()
    mode: str | None = None


class Shown(Event, frozen=True):
    """The agent was shown a file. text: exactly the shown text, of the whole file (lines None) or
    of these lines; None when only the place is known. via: read, mention, instructions, shell,
    search, notice, notebook, or the host's own word. at: the time in UTC microseconds, for an event
    that is reported later."""

    path: str
    lines: Span | None = None
    text: str | None = None
    via: str = "read"
    at: int | None = None


class Forked(Event, frozen=True):
    """The conversation began as a copy of another one. parent: the session of that one; at: the time of the
    last row that was copied, in UTC microseconds."""

    parent: str
    at: int


class Reading(Event, frozen=True):
    """The agent is about to read a file by a tool of the host."""

    path: str
    call: str


class Searching(Event, frozen=True):
    """The agent is about to search a file, or all files below a folder, by a tool of the host that
    follows .gitignore. place: absolute; globs: of file names, "!" before those to leave out; kind: a
    type of files."""

    place: str
    call: str
    globs: tuple[str, ...] = ()
    kind: str = ""


Target = tuple[str, Attempt]
"""A file, and what is to be done to it."""


class Attempted(Event, frozen=True):
    """The agent is about to change files by one call of a tool of the host. targets: in the order of the call.
    Several of one file are done one after the other, on the file at its old path where one of them is a Move."""

    targets: tuple[Target, ...]
    call: str

    @classmethod
    def single(cls, path: str, attempt: Attempt, call: str) -> Attempted:
        """Return a call that changes one file."""
        return cls(((path, attempt),), call)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that the call changes, and the new paths of files that it moves."""
        news = [attempt.target for _, attempt in self.targets if isinstance(attempt, Move)]
        return (*dict.fromkeys([path for path, _ in self.targets]), *news)


class Wrote(Event, frozen=True):
    """A tool of the host changed a file. before: the whole text it found, None for no file
    (created) or an unknown text (known_before False). content: the whole text it wrote, where
    known. whole: the agent gave the whole text, not a replacement. user_modified: the user changed
    the text before it was written."""

    path: str
    call: str
    before: str | None = None
    known_before: bool = True
    content: str | None = None
    whole: bool = False
    user_modified: bool = False


class Failed(Event, frozen=True):
    """The host did not carry out an attempt. attempt: only where no Attempted came before. why: the
    host's own words to the agent."""

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
    """A shell command ended, or continues in the background. output: as the agent was shown it.
    exit_code: None where unknown."""

    command: str
    call: str
    cwd: str
    output: str = ""
    exit_code: int | None = None
    background: bool = False


class InsertionBegan(Event, frozen=True):
    """The host is about to run a shell command whose output it puts into the text of a slash command or
    a skill. No event reports its end. cwd: an absolute folder."""

    command: str
    call: str
    cwd: str


class Inserted(Event, frozen=True):
    """The text of a slash command or a skill reached the agent, with the outputs of its shell commands
    in their places. at: the time in UTC microseconds. cwd: an absolute folder."""

    text: str
    cwd: str
    at: int


class CallBegan(Event, frozen=True):
    """The agent is about to call a tool of another program, such as an MCP server. given: all texts of
    its input, also those inside lists and objects. cwd: an absolute folder."""

    tool: str
    given: tuple[str, ...]
    call: str
    cwd: str


class CallEnded(Event, frozen=True):
    """A call of a tool of another program ended. texts: what the agent was shown of its result, where
    that is text. has_failed: the tool answered with an error."""

    tool: str
    given: tuple[str, ...]
    call: str
    cwd: str
    texts: tuple[str, ...] = ()
    has_failed: bool = False


class Printed(Event, frozen=True):
    """A shell command printed this before the session began in this workspace, or printed files of
    another workspace than the agent's own."""

    command: str
    cwd: str
    output: str


class Answered(Event, frozen=True):
    """Every answer of tools and hooks up to now reached the model. failed: attempts that no hook
    reported. done: attempts that the host carried out, whether a hook reported them or not. paths: of
    the files that the answered calls name."""

    failed: tuple[Failed, ...] = ()
    done: tuple[Attempted, ...] = ()
    paths: tuple[str, ...] = ()


class ChangedOutside(Event, frozen=True):
    """The host's own watcher saw a file change."""

    path: str


class FolderAdded(Event, frozen=True):
    """The user added a folder to the agent's project in mid-conversation. folder: absolute."""

    folder: str


class Compacted(Event, frozen=True):
    """The conversation was replaced by a summary: no file's text is in the window any more."""


class Stopped(Event, frozen=True):
    """The agent ended its turn."""


class Ended(Event, frozen=True):
    """The conversation was closed."""

    reason: str = "ended"


class Surroundings(Struct, frozen=True):
    """The places where a host's settings may be. arguments: the host's command line, none where the system
    does not tell it. roots: folders of the project that may hold settings. environ, home: of the agent's
    user."""

    arguments: Sequence[str]
    roots: Sequence[str]
    environ: Mapping[str, str]
    home: str


class Answer(Struct, frozen=True):
    """The answer to a host. refuse: why the attempt may not be made, for the model. ask: why the
    user must approve it first. contents: the file, as the event names it -> the whole text to write there in place of
    what the tool would write. context: further text for the model. watch: absolute paths that the host is asked to watch. tell:
    a line for the user."""

    refuse: str | None = None
    ask: str | None = None
    contents: Mapping[str, str] = {}
    context: str = ""
    watch: tuple[str, ...] = ()
    tell: str = ""

    def behind(self, context: str, tell: str = "") -> Answer:
        """Return this answer behind other words for the model, and behind a line for the user."""
        return structs.replace(
            self,
            context=_joined(context, self.context),
            tell="\n".join(filter(None, [tell, self.tell])),
        )

    def beside(self, other: Answer) -> Answer:
        """Return one answer to two parts of an event."""
        return Answer(
            _joined(self.refuse, other.refuse) or None,
            _joined(self.ask, other.ask) or None,
            {**self.contents, **other.contents},
            _joined(self.context, other.context),
            (*self.watch, *other.watch),
            "\n".join(filter(None, [self.tell, other.tell])),
        )


def _joined(*texts: str | None) -> str:
    return "\n\n".join(filter(None, texts))


NOTHING = Answer()
