"""Word the guard's verdicts, refusals and notices for a person or a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sightline.errors import Clause, Hint, NextCall, fenced
from sightline.guard.comparison import compared
from sightline.guard.edit_case import MARKS, Ruling
from sightline.model.attempts import EDIT_MAX
from sightline.model.nearest import Nearest
from sightline.model.path import quoted
from sightline.model.spans import Span, Spans
from sightline.model.text import UNKNOWN_ENCODING
from sightline.text.phrases import (
    by,
    count,
    is_one_line,
    joined,
    named,
    relocated,
    size,
    spans,
    times,
)
from sightline.text.printable import one_line

MISSING = "List the folder to find the right name."
MISSING_TEXT = "List the folder to find the right name, or create the file."
"""The next step for a path without a file, and for an edit of one."""

NAMES_MAX = 5
"""File names that one sentence holds."""

REFUSALS = {
    "stale": (
        "After you read them, the lines of {path} that you are editing were changed {by}.",
        "The diff shows what is there now. Make the edit against those lines.",
    ),
    "conflict": (
        "Your text of {path} and a later change {by} both rewrite the same lines.",
        "Put the change that the diff shows into your text, and write the file again.",
    ),
    "ambiguous": (
        "The text to replace occurs {found} in {path}, at {lines}.",
        "Add neighbouring lines to make the text unique.",
    ),
    "unseen": (
        "{path} has text that was never shown to this session: {lines}.",
        "Read {lines} of {path} first, or replace only text that was shown to you.",
    ),
    "deleted": (
        "After you read it, {path} was deleted {by}.",
        "If the file should exist again, create it. Sightline does not do so by itself.",
    ),
    "kind_changed": (
        "{path} is no longer a regular text file.",
        "Look at what is there now before you do anything with it.",
    ),
    "unverifiable": (
        "{path} cannot be read right now. Nothing was changed.",
        "Try again when the disk answers.",
    ),
    "exists": (
        "{path} exists already.",
        "Read the file and edit it, or choose another name for the new file.",
    ),
    "no_change": (
        "This edit changes nothing: {path} has the new text already.",
        "Go on, or make another edit if you meant another change.",
    ),
    "too_large": (
        f"{{path}} is larger than the limit for edits: {size(EDIT_MAX)}, or max_file_bytes where that is more.",
        "Change it with a command, for example sed, or raise max_file_bytes in your own settings above its size.",
    ),
    "binary": (
        "{path} cannot be edited safely as text: it holds NUL bytes, or its encoding is not known.",
        "Change it with a tool made for its format.",
    ),
    "placeholder": (
        "Your text of {path} has a placeholder instead of code, and would delete that code.",
        "Send the code itself in place of the placeholder. If you mean to delete the lines, send the same edit again.",
    ),
    "claimed": (
        "Another session claims {path}.",
        "Work on other files until that session releases it.",
    ),
    "scope": (
        "{path} is protected (setting `protect` or `policy`): a change needs the user's approval.",
        "Ask the user. Nothing was changed.",
    ),
}
"""Reason -> the message and the hint."""


def outside_scope(path: str, scopes: Sequence[Sequence[str]]) -> tuple[str, str]:
    """Word the refusal of a write outside of a sub-task's scope. scopes: the outer sub-task's first."""
    scope = ", within ".join(", ".join(map(quoted, each)) for each in reversed(scopes))
    return (
        f"{quoted(path)} is outside of this sub-task's scope: {scope}.",
        "Leave the file as it is, and say in your result that it needs a change.",
    )


def refusal(ruling: Ruling, path: str, who: str) -> tuple[str, Hint]:
    """Return the message and the hint of a refused attempt. who: changed the file."""
    message, said = _reason(ruling, path, who)
    hint = Hint(said)
    number, of = ruling.part
    if of > 1:
        message = f"{message.removesuffix('.')} (edit {number} of {of})."
    if number > 1 and ruling.lines:
        hint = Hint(hint, "\nThe line numbers are those after the earlier edits of this call.")
    return message, hint


def _reason(ruling: Ruling, path: str, who: str) -> tuple[str, str | Hint]:
    if ruling.reason == "not_found":
        return _not_found(ruling, path)
    message, hint = REFUSALS[ruling.reason or "stale"]
    if ruling.reason == "unseen" and not ruling.lines:
        message = "{path} was never shown to this session."
        hint = "Read {path} first, then try again."
    if ruling.sought is not None:
        message = (
            f"The old lines of hunk {ruling.sought.hunk} occur {{found}} in {{path}}, at {{lines}}."
        )
        hint = "Add neighbouring lines to the hunk, or name a line above it: @@ def name():"
    if ruling.encoding is not None:
        message, hint = _unfit(ruling.encoding)
    parts = {
        "path": quoted(path),
        "by": by(who),
        "lines": spans(ruling.lines),
        "found": times(ruling.found),
    }
    said = Hint(hint.format(**parts))
    if ruling.reason == "ambiguous" and ruling.sought is None:
        said = Hint(said, " ", _everywhere(ruling.found))
    return message.format(**parts), said


def _everywhere(found: int) -> Clause:
    """Word how a text that occurs several times is replaced at all places."""
    again = NextCall("session.edit", named={"count": found}, again=True)
    return ("To replace it everywhere, pass ", again, ".")


def _unfit(encoding: str) -> tuple[str, str]:
    message = f"The new text has characters that {{path}} cannot hold: it is {encoding} text."
    hint = "Write the text without these characters, or have the file converted to UTF-8 first."
    if encoding == MARKS:
        message = (
            "{path} has bytes that are no text, shown as �, and the new text does not say where each"
            " of them belongs."
        )
        hint = "Send each � where it stood, or leave its line out of the edit."
    if encoding == UNKNOWN_ENCODING:
        message = (
            "The encoding of {path} is not certain: it is not UTF-8, and its other bytes, shown as �,"
            " fit several encodings or none."
        )
        hint = (
            "Leave each � where it stands and write new text in ASCII, or have the file converted to"
            " UTF-8 first."
        )
    return message, hint


def _not_found(ruling: Ruling, path: str) -> tuple[str, str | Hint]:
    name, sought = quoted(path), ruling.sought
    if sought is None:  # lines beyond the end, counted in the text last read
        return (
            f"{name} has only {ruling.found} lines in the version you read.",
            f"Read {name}, or choose lines within it.",
        )
    if ruling.found:
        return (
            f"The text occurs {times(ruling.found)} in {name}, not as often as you asked.",
            Hint(
                "To replace it once, add neighbouring lines to the text. ",
                _everywhere(ruling.found),
            ),
        )
    message = f"The text to replace is not in {name}."
    if sought.anchor:
        message = (
            f"The line behind @@ of hunk {sought.hunk} is not in {name}: {one_line(sought.anchor)}"
        )
    elif sought.hunk and not sought.text:
        return (
            f"Hunk {sought.hunk} has only new lines, and does not say where in {name} they belong.",
            "Add a line of the file above or below them.",
        )
    elif sought.hunk:
        message = f"The old lines of hunk {sought.hunk} are not in {name}."
    elif not sought.text:
        return (
            f"The text to replace is empty in your edit of {name}.",
            "To insert lines, replace a line by the same line and the new ones. To fill the whole file, write it.",
        )
    if ruling.near is None:
        hint = f"No similar text was found. Read {name} and copy the exact text to replace."
        return message, hint
    sent = sought.anchor or sought.text
    return message, nearest(ruling.near, shown=ruling.near_shown, sent=sent)


def nearest(near: Nearest, *, shown: bool, sent: str) -> str:
    """Return a hint with the lines most like a text that was not found, and their differences from the
    text. sent: the text."""
    where = spans(((near.first, near.last),)).capitalize()
    is_one = near.first == near.last
    alike = f"{where} {'is' if is_one else 'are'} the most similar"
    if near.only_space:
        alike = f"{where} {'differs' if is_one else 'differ'} only in white space"
    known = "shown to this session" if shown else "never shown to this session"
    differences = compared(sent, near.text, near.first)
    if not differences:
        differences = "Your text ends with a line end, and the file ends without one."
    return f"{alike} ({known}). {differences}"


def not_free(path: str, name: str, *, is_folder: bool) -> tuple[str, str]:
    """Return message and hint for a new path of a file that is not free. name: the file's own."""
    if is_folder:
        inside = quoted(f"{path}/{name}")
        return f"{quoted(path)} is a folder.", f"To move the file into it, name {inside}."
    return f"{quoted(path)} exists already.", "Choose another name: a move replaces no file."


def same_target(path: str, target: str, other: str) -> tuple[str, str]:
    """Return message and hint for the second file that a batch moves to one path."""
    return (
        f"{quoted(path)} cannot be moved to {quoted(target)}: the same batch moves {quoted(other)} there.",
        "Choose another name for one of them.",
    )


def written_target(path: str, target: str) -> tuple[str, str]:
    """Return message and hint for a move to a path that the same batch writes."""
    return (
        f"{quoted(path)} cannot be moved to {quoted(target)}: the same batch writes {quoted(target)}.",
        "Choose another name for one of them.",
    )


def another_name(path: str, other: str) -> tuple[str, str]:
    """Return message and hint for the second of two names of one file."""
    return (
        f"{quoted(path)} is another name (a hard link) of {quoted(other)}, which the same batch changes, too.",
        f"Make all edits of this file in one change, of {quoted(other)}.",
    )


def file_and_folder(file: str, inside: str) -> tuple[str, str]:
    """Return message and hint for a batch that needs the same path as a file and as a folder. inside:
    a file in the folder."""
    return (
        f"{quoted(file)} cannot be both a file and the folder of {quoted(inside)}.",
        "Choose another name for one of them.",
    )


def onto_itself(path: str) -> tuple[str, str]:
    """Return message and hint for a move to the name that the file has."""
    return (
        f"{quoted(path)} cannot be moved to itself: it has this name already.",
        "Choose another name.",
    )


def changed_file(path: str, who: str) -> tuple[str, str]:
    """Return message and hint for a deletion of a file that others changed."""
    return (
        f"After you read it, {quoted(path)} was changed {by(who)}.",
        "The diff shows what is there now. If the file should still go, read it, then delete it.",
    )


def circle(paths: Sequence[str]) -> tuple[str, str]:
    """Return message and hint for moves of a batch that take each other's paths."""
    return (
        f"{joined([quoted(path) for path in paths])} would take each other's names.",
        "Move one of them to a third name first, and to its final name in the next batch.",
    )


def a_link(name: str, path: str) -> tuple[str, str]:
    """Return message and hint for a symlink that was to be deleted or renamed."""
    return (
        f"{quoted(name)} is a symlink to {quoted(path)}. To delete or rename the symlink would delete or rename {quoted(path)}.",
        f"If you mean {quoted(path)}, name that path. Change the symlink with another tool.",
    )


def retargeted(name: str, path: str) -> tuple[str, str]:
    """Return message and hint for a name that led to another file when it was read."""
    now = "is a file of its own" if name == path else f"leads to {quoted(path)}"
    return (
        f"{quoted(name)} {now} now. That is not the file that you read.",
        f"Read {quoted(name)} before you edit it. The file that you read stays as it is.",
    )


def repeated(path: str) -> tuple[str, str]:
    """Return message and hint for an attempt that was refused, and made again unchanged."""
    return (
        f"The same edit of {quoted(path)} was refused before, and the file has not changed since.",
        "The diff shows what the edit would change. Keep the lines of others, or read the file and try again.",
    )


def unknown_base(path: str, base: str) -> tuple[str, str]:
    """Return the message and the hint of an attempt that rests on a revision that was never shown."""
    return (
        f"This session was never shown revision {base[:16]} of {quoted(path)}.",
        f"Read {quoted(path)}, and name the revision that you are shown, or none.",
    )


def older_base(path: str, base: str) -> tuple[str, str]:
    """Return the message and the hint of an attempt on lines that changed since its revision."""
    return (
        f"The lines of {quoted(path)} that you are changing are not as in revision {base[:16]} any more.",
        "The diff shows what is there now. Make the change against those lines.",
    )


def moved(src: str, path: str) -> str:
    """Return the text on a rename that an edit followed."""
    return f"{quoted(src)} was renamed to {quoted(path)}; the edit was made there."


def more(number: int) -> str:
    """Return the text on changed files that a notice had no room to name."""
    return f"{count(number, 'more file')} changed; the next notice names them."


def beside(path: str, who: str, diff: str, moved: Sequence[tuple[Span, Span]] = ()) -> str:
    """Return the notice on others' changes to a file that was just edited."""
    places = relocated(moved)
    below = f"\n{places[:1].upper()}{places[1:]}" if places else ""
    changed = f"After you read it, other lines of {quoted(path)} were also changed {by(who)}"
    return f"{changed}:\n{fenced(diff, 'diff')}{below}"


def endings(path: str, who: str) -> str:
    """Return the notice on a file whose text is the same, with other line endings or BOM."""
    return (
        f"{quoted(path)}: only line endings or the byte order mark were changed, {by(who)};"
        " the text is as you read it."
    )


def unseen(path: str, lines: Spans) -> str:
    """Return the notice on a replacement of text that matched, and that the agent has not read."""
    be = "was" if is_one_line(lines) else "were"
    return f"{quoted(path)}: {spans(lines)} {be} never shown to this session; the text to replace matched exactly."


AS_IT_WAS = " The file is as it was."
"""What the error for a refused write says at its end. Of a file that could not be set back that is not so."""

SAVED = "somebody saved it since"
MAYBE_SAVED = "somebody may have saved it since"
NOT_KEPT = "its earlier text is not kept any more"
FOLDER = "a folder with other files stands in its place"
"""Why a file is not set back. Another reason is the message of the disk."""


def cut_off(names: Sequence[str], undone: Sequence[str], kept: Mapping[str, str]) -> str:
    """Say that the process of a write died during the write. names: all files of the write; undone:
    files that were set back; kept: the reason for each file that was left as it is."""
    what = f"A change of {_some(names)} was cut off when its process ended."
    if undone:
        what += f" It was undone: {_some(undone)} {'is' if len(undone) == 1 else 'are'} as before."
    elif not kept:
        what += " Nothing was written."
    if kept:
        what += f" {_not_back(kept)} Look at {_some(sorted(kept))}."
    return f"{what} Make the change again if it is still wanted."


def not_set_back(kept: Mapping[str, str]) -> tuple[str, str]:
    """Return the message and the hint of a failed batch. kept: the reason for each file that stays
    written."""
    message = f"The batch could not be written as a whole. {_not_back(kept)} All other files are as they were."
    return message, f"Read {_some(sorted(kept))} before the next attempt."


def _not_back(kept: Mapping[str, str]) -> str:
    """Return a sentence for each reason why files could not be set back."""
    names: dict[str, list[str]] = {}
    for path, why in sorted(kept.items()):
        names.setdefault(why, []).append(path)
    return " ".join(
        f"{_some(paths)} could not be restored: {why.rstrip('.')}." for why, paths in names.items()
    )


def not_recorded(names: Iterable[str], fault: str, hint: Hint) -> tuple[str, Hint]:
    """Return the message and the hint of a store that failed after files were written. names: of the files;
    fault, hint: of the store's error."""
    some = sorted(set(names))
    was = "was" if len(some) == 1 else "were"
    return (
        f"{_some(some)} {was} written, but the store could not record it: {fault}",
        Hint(
            "Do not repeat the change: it stands, and is recorded once the store has room. ", hint
        ),
    )


def _some(names: Sequence[str]) -> str:
    return named([quoted(name) for name in names], NAMES_MAX)
