"""The errors of Sightline, one class per kind, and their hints: the next step in words, with the calls of
verbs in it as values that each face words in its own way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any, Literal, NamedTuple

PathReason = Literal[
    "outside", "ignored", "directory", "special", "binary", "too_large", "empty", "invalid"
]
"""The reasons of PathRefused."""

RefusalReason = Literal[
    "stale", "ambiguous", "not_found", "unseen", "deleted", "moved", "kind_changed", "conflict",
    "unverifiable", "claimed", "scope", "exists", "no_change", "too_large", "binary",
    "placeholder",
]  # fmt: skip
"""The reasons of EditRefused."""

StoreFault = Literal[
    "damaged", "not_a_store", "other_version", "full", "read_only", "locked", "unreachable", "too_large",
    "bad_url", "closed", "other",
]  # fmt: skip
"""The kinds of StoreError."""


class NextCall(NamedTuple):
    """A call of a verb to make next.

    verb: with its owner, as in "session.rewind"; "open_session" for the function. arguments: those without a
    name; named: the others; session: the id of the session to call it on, "" for the caller's own; again: make
    the last call again, with these arguments.
    """

    verb: str
    arguments: tuple[Any, ...] = ()
    named: Mapping[str, Any] = {}
    session: str = ""
    again: bool = False


Wording = Callable[[NextCall], str]
"""How a face words a call; "" for a call that its reader cannot make."""

Clause = tuple[str | NextCall, ...]
"""Words that are left out where the reader cannot make a call in them."""


class Hint:
    """A hint: words, calls, and clauses. Use Hint(a, b) to join hints: an f-string would lose their calls."""

    __slots__ = ("parts",)

    def __init__(self, *parts: str | NextCall | Clause | Hint) -> None:
        each = (part.parts if isinstance(part, Hint) else (part,) for part in parts)
        self.parts: tuple[str | NextCall | Clause, ...] = tuple(filter(None, chain(*each)))

    def __bool__(self) -> bool:
        return bool(self.parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hint) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]  # the arguments of a call may be lists

    def __repr__(self) -> str:
        return f"Hint{self.parts!r}"

    def __str__(self) -> str:
        """Return the hint as the library words it."""
        return self.worded(in_python)

    def as_view(self) -> str:
        """Return the hint as JSON has it."""
        return str(self)

    def calls(self) -> list[NextCall]:
        """Return the calls in the hint, in order."""
        each = chain(*map(_clause, self.parts))
        return [part for part in each if isinstance(part, NextCall)]

    def worded(self, by: Wording) -> str:
        """Return the hint as a face words it."""
        said: list[str] = []
        for part in self.parts:
            words = [each if isinstance(each, str) else by(each) for each in _clause(part)]
            said += words if all(words) else []
        return "".join(said)


def _clause(part: str | NextCall | Clause) -> Clause:
    return (part,) if isinstance(part, str | NextCall) else part


def joined_hints(hints: Iterable[str | Hint]) -> Hint:
    """Return hints as one, each on a line of its own."""
    return Hint(*[part for hint in hints for part in ("\n", hint)][1:])


def in_python(call: NextCall) -> str:
    """Return a call as a program in Python makes it."""
    given = [
        *map(repr, call.arguments),
        *(f"{name}={value!r}" for name, value in call.named.items()),
    ]
    if call.again:
        return ", ".join(given)
    name = call.verb if call.verb.partition(".")[0] in TOP else f"session.{call.verb}"
    if call.session:
        name = f"open_session(id={call.session!r}).{name.removeprefix('session.')}"
    return f"{name}({', '.join(given)})"


def without_calls(_: NextCall) -> str:
    """Return no words for a call, for a model whose tools nobody knows."""
    return ""


TOP = ("open_session", "session", "workspace")
"""What a call in Python may begin with. Other objects belong to a session."""


class SightlineError(Exception):
    """Base of all errors. `hint` says what to do next; `next_step` is the hint with its calls as values."""

    def __init__(self, message: str, hint: str | Hint = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = Hint(hint)

    @property
    def hint(self) -> str:
        """The hint in the words of the library."""
        return str(self.next_step)

    def __str__(self) -> str:
        return self.worded(in_python)

    def worded(self, by: Wording) -> str:
        """Return the message and the hint. by: words a call in the hint."""
        return "\n".join(filter(None, (self.message, self.next_step.worded(by))))


class StoreError(SightlineError):
    """The store cannot be opened, read or written. Nothing in it was changed.

    kind: what is wrong. fault: the message without the sentence that nothing was changed; unchanged:
    whether the message has that sentence. A caller that has changed something else says so itself."""

    def __init__(
        self,
        fault: str,
        hint: str | Hint = "",
        kind: StoreFault = "other",
        *,
        unchanged: bool = False,
    ) -> None:
        super().__init__(f"{fault} Nothing was changed." if unchanged else fault, hint)
        self.fault = fault
        self.kind = kind
        self.unchanged = unchanged


class StoreConflict(StoreError):
    """Another process appended first; read again and decide again."""


class TooManyOpenFiles(SightlineError):
    """This process, or the machine, has no file descriptor left. What a verb began, the next verb
    settles."""


class WorkspaceError(SightlineError):
    """The folder cannot be a workspace."""


class SettingsError(SightlineError):
    """A settings file, variable or argument is wrong."""


class SessionError(SightlineError):
    """The session cannot be opened as asked."""


class UnknownName(SightlineError):
    """No notice, warning, checkpoint or policy has this name."""


class CheckpointFailed(SightlineError):
    """Sightline could not take or read a checkpoint. Nothing was recorded."""


class RewindRefused(SightlineError):
    """The rewind was not begun; no file was touched."""


class RewindInterrupted(KeyboardInterrupt):
    """A rewind was interrupted. Each file is either untouched or rewound.

    `message` says how many files were rewound, `hint` how to finish or undo the rewind.
    """

    def __init__(self, message: str, hint: str | Hint = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = Hint(hint)

    @property
    def hint(self) -> str:
        """The hint in the words of the library."""
        return str(self.next_step)


class ClaimRefused(SightlineError):
    """Sightline cannot take, renew or release the claim.

    claims: the claims of others in the way, as Session.claims() returns them.
    """

    def __init__(self, message: str, hint: str | Hint = "", claims: tuple[Any, ...] = ()) -> None:
        super().__init__(message, hint)
        self.claims = claims


class CondenseRefused(SightlineError):
    """A summary could not be made, or was rejected. Conversation and view did not change."""


class WindowFull(SightlineError):
    """The messages cannot be made to fit into the context window. tokens: of the smallest request
    that could be made; limit: of the window, or the hard budget; None where it is unknown."""

    def __init__(
        self, message: str, hint: str | Hint = "", *, tokens: int, limit: int | None
    ) -> None:
        super().__init__(message, hint)
        self.tokens = tokens
        self.limit = limit


class RecoveryRefused(SightlineError):
    """A smaller request does not help against this error. kind: as in ProviderError."""

    def __init__(self, message: str, hint: str | Hint = "", *, kind: str) -> None:
        super().__init__(message, hint)
        self.kind = kind


class HistoryError(SightlineError):
    """The input holds no readable conversation. It was not changed."""


class AnswerInvalid(SightlineError, ValueError):
    """A structured answer, or a request in one, cannot be used. Nothing was done.

    places: the wrong places, such as "fileChanges[2].todoIndex", with what is wrong there; "" is the
    answer as a whole.
    """

    def __init__(self, places: tuple[tuple[str, str], ...], hint: str | Hint = "") -> None:
        lines = [f"{place}: {what}" if place else what for place, what in places]
        super().__init__("\n".join(lines), hint)
        self.places = places

    @property
    def place(self) -> str:
        """The first wrong place."""
        return self.places[0][0]


class PromptError(SightlineError):
    """A prompt cannot be read or rendered. The message names its file, and the line where it can."""


class ModelFailed(SightlineError):
    """The model of the reference agent cannot be used, or its provider did not answer."""


SubtaskProblem = Literal[
    "cycle", "unknown_dependency", "self_dependency", "duplicate_id", "invalid_id", "empty_goal",
    "no_match", "invalid", "unknown", "move", "runner", "engine",
]  # fmt: skip
"""The kinds of SubtaskError."""


class SubtaskError(SightlineError):
    """A sub-task cannot be proposed, moved or run as asked. Nothing was recorded.

    kind: of the first problem; subtask: its id, "" where none is meant; problems: every (kind, id,
    message); diff: of a conflict, both sides of each file.
    """

    def __init__(
        self,
        kind: SubtaskProblem,
        subtask: str,
        message: str,
        hint: str | Hint = "",
        problems: tuple[tuple[SubtaskProblem, str, str], ...] = (),
        *,
        diff: str = "",
    ) -> None:
        super().__init__(message, hint)
        self.kind: SubtaskProblem = kind
        self.subtask = subtask
        self.diff = diff
        self.problems = problems or ((kind, subtask, message),)


class PathError(SightlineError):
    """Something is wrong with one path; `path` is the path of the call."""

    def __init__(self, path: str, message: str, hint: str | Hint = "") -> None:
        super().__init__(message, hint)
        self.path = path


class FileMissing(PathError):
    """No file exists at this path."""


class LinesMissing(PathError, ValueError):
    """The file ends before the first of the lines. total_lines: of the file."""

    def __init__(
        self, path: str, message: str, hint: str | Hint = "", *, total_lines: int = 0
    ) -> None:
        super().__init__(path, message, hint)
        self.total_lines = total_lines


class PathRefused(PathError):
    """The session may not use this path.

    reason: one of PathReason. control: where
    the path leads in a folder of version control, for a path that is refused for that; "" for others.
    """

    def __init__(
        self,
        path: str,
        reason: PathReason,
        message: str,
        hint: str | Hint = "",
        *,
        control: str = "",
    ) -> None:
        super().__init__(path, message, hint)
        self.reason: PathReason = reason  # pyright takes it for a str otherwise
        self.control = control


class Unverifiable(PathError):
    """The file cannot be read right now. Nothing was changed."""


class EditRefused(PathError):
    """The edit was refused; the file did not change.

    reason: one of RefusalReason. diff: what changed since the agent saw it.
    lines: the lines that the reason is about. text: fresh text, under the policy "refresh".
    others: further paths of the same batch that could not be changed, with their reasons.
    told: what Session.acknowledge takes from it once the agent got this answer.
    """

    def __init__(
        self,
        reason: RefusalReason,
        path: str,
        message: str,
        *,
        diff: str = "",
        hint: str | Hint = "",
        lines: tuple[tuple[int, int], ...] = (),
        text: str | None = None,
        others: tuple[EditRefused, ...] = (),
    ) -> None:
        super().__init__(path, message, hint)
        self.reason: RefusalReason = reason
        self.diff = diff
        self.lines = lines
        self.text = text
        self.others = others
        self.told: object | None = None

    def worded(self, by: Wording) -> str:
        """Return the answer for the model: the message, the diff between fences, and the hint. by: words a
        call in the hint."""
        diff = fenced(self.diff, "diff") if self.diff else ""
        return "\n".join(filter(None, (self.message, diff, self.next_step.worded(by))))


def fenced(text: str, kind: str = "") -> str:
    """Return a file's text, or a diff of the file, between fences: whatever the text says is data.
    The fence is longer than every fence in the text. kind: a word behind the first fence."""
    runs = re.findall("`{3,}", text)
    fence = "`" * (max(map(len, runs), default=2) + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}{kind}\n{text}{end}{fence}"
