"""Word notices and warnings for agents and for people."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.errors import Hint, NextCall, fenced
from sightline.model.path import quoted
from sightline.model.results import FileChange, FileWarning
from sightline.text.phrases import by, count, relocated
from sightline.text.printable import one_line


def summary(path: str, what: str, who: str, moved_to: str | None = None) -> str:
    """Describe in one line the change of a file since the agent read it."""
    if what == "taken_back":
        return f"{quoted(path)}: your edit was taken back {by(who)}"
    if what == "endings":
        return f"{quoted(path)}: only line endings or the byte order mark were changed, {by(who)}"
    where = f" to {quoted(moved_to)}" if moved_to else ""
    if what == "kind_changed":
        return f"{quoted(path)} is no longer a regular text file: it was changed {by(who)}"
    if what == "unverifiable":
        return f"{quoted(path)} cannot be read right now; it may have been changed"
    return f"{quoted(path)} {_CHANGES.get(what, 'was changed')}{where} {by(who)}"


_CHANGES = {
    "deleted": "was deleted",
    "moved": "was renamed",
    "kind_changed": "is no longer a regular text file",
    "unverifiable": "cannot be read right now",
}


def heading(who: str, files: int) -> str:
    """Return the heading of the files that one cause changed."""
    many = f" ({files} files)" if files > 1 else ""
    return f"changed on disk since you were shown it, {by(who)}{many}:"


def part(change: FileChange) -> str:
    """Describe the change of one file under its heading."""
    path, places = change.path, relocated(change.moved_lines)
    if change.what in _CHANGES:
        where = f" to {quoted(change.moved_to)}" if change.moved_to else ""
        return f"{quoted(path)} {_CHANGES[change.what]}{where}."
    if change.what == "endings":
        return f"{quoted(path)}: only line endings or the byte order mark; the text is as you were shown it."
    first = [f"{quoted(path)}:"]
    if change.what == "taken_back":
        first.append("your edit was taken back, it is as it was before.")
    if places:
        first.append(places)
    if not change.diff and not change.moved_lines:
        first.append("its text is not kept, read it again.")
    return "\n".join(
        filter(None, [" ".join(first), fenced(change.diff, "diff") if change.diff else ""])
    )


def omitted(names: Sequence[str]) -> str:
    """Name the changed files whose changes do not fit."""
    return f"Also changed, read again before you rely on it: {', '.join(map(quoted, names))}"


PATHS_NAMED = 10
"""The number of paths that one sentence names."""

PATHS_WIDTH = 600
"""Characters of the paths that one sentence names."""

NAME_MAX = 60
"""Characters of a tool's name."""

AGENT_MAX = 2_900
"""Characters of all warnings in one answer, of one warning at least: a notice has room beside them.
Further warnings come with the next prompt."""


def went_back(
    files: int,
    mine: Sequence[str],
    probable: Sequence[str],
    others: Sequence[str],
    from_messages: Sequence[str] = (),
    unread: Sequence[str] = (),
) -> str:
    """Word the warning that the conversation was rewound and the files were not. files: the number
    of files edited since; mine, probable, others: those that the agent, that probably the agent, and that
    anybody else edited;
    from_messages: files that only calls in deleted messages name; unread: the tools of such calls
    that do not name their files."""
    edited = ""
    if files:
        by = [
            f"{whose}: {_listed(paths)}"
            for whose, paths in (
                ("by this agent", mine),
                ("probably by this agent", probable),
                ("by others", others),
            )
            if paths
        ]
        were = "was" if files == 1 else "were"
        edited = f": {count(files, 'file')} {were} edited after that point ({'; '.join(by)})"
    sentences = [f"The conversation went back, and the files did not{edited}."]
    if from_messages:
        sentences.append(
            f"Messages that were removed from it ask for edits of {_listed(from_messages)}. Whether"
            " these edits were made is not recorded."
        )
    if unread:
        sentences.append(f"{unread_calls(unread)}.")
    known = 0 if unread else files + len(from_messages)
    what, them = ("it", "it") if known == 1 else ("them" if known else "files", "them")
    certain = "may be" if from_messages or unread else "is"
    sentences.append(
        f"What the conversation says of {what} {certain} older than what"
        f" stands on disk: read {them} again before relying on {them}."
    )
    return " ".join(sentences)


def unread_calls(tools: Sequence[str]) -> str:
    """Describe edits in deleted messages that do not name their files, by their tools."""
    named = _listed([one_line(tool[-NAME_MAX:]) for tool in dict.fromkeys(tools)])
    return (
        f"{count(len(tools), 'edit')} in deleted messages cannot be read ({named}): which files"
        " were written there is not known"
    )


def for_agent(found: Sequence[FileWarning]) -> list[str]:
    """Word warnings for an agent, as many as fit, each with the files that it is about."""
    lines: list[str] = []
    room = AGENT_MAX
    for each in found:
        line = f"Sightline warns you: {each.text}{_about(each)}"
        room -= len(line)
        if lines and room < 0:
            break
        lines.append(line)
    return lines


def unknown(name: str) -> tuple[str, Hint]:
    """Word the error of an id that no warning has."""
    return f"There is no warning {name}.", Hint("List them: ", NextCall("session.warnings"))


def raised(warned: FileWarning) -> str:
    """Word a new warning for people."""
    return f"Warning {warned.id}: {in_line(warned)}"


def in_line(warned: FileWarning) -> str:
    """Word a warning for people, on one line."""
    return one_line(f"{warned.text}{_about(warned)}")


def _about(warned: FileWarning) -> str:
    """Name the files of a warning whose text does not name them all."""
    if all(path in warned.text for path in warned.paths):
        return ""
    return f" ({_listed(warned.paths)})"


def _listed(paths: Sequence[str]) -> str:
    named: list[str] = []
    room = PATHS_WIDTH
    for path in paths[:PATHS_NAMED]:
        room -= len(path) + 2
        if named and room < 0:
            break
        named.append(quoted(path))
    more = len(paths) - len(named)
    return f"{', '.join(named)}{f' and {more} more' if more else ''}"
