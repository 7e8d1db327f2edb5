"""Notices: what others changed in lines that an agent was shown, in words for that agent."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.guard.words import relocated
from sightline.model.results import FileChange, FileWarning
from sightline.text.phrases import count, one_line


def summary(path: str, what: str, who: str, moved_to: str | None = None) -> str:
    """One line on a file that is not what was shown."""
    if what == "taken_back":
        return f"{path}: your edit was taken back ({who})"
    if what == "endings":
        return f"{path}: line endings or byte order mark only ({who})"
    where = f" to {moved_to}" if moved_to else ""
    return f"{path} {_DEEDS.get(what, 'changed')}{where} ({who})"


_DEEDS = {
    "deleted": "was deleted",
    "moved": "was renamed",
    "kind_changed": "is no longer a regular text file",
    "unverifiable": "cannot be read right now",
}


def heading(who: str, files: int) -> str:
    """What stands above the files that were changed by one cause."""
    many = f" ({files} files)" if files > 1 else ""
    return f"changed on disk since you were shown it, by {who}{many}:"


def part(change: FileChange) -> str:
    """One file under its heading."""
    path, places = change.path, relocated(change.moved_lines)
    if change.what in _DEEDS:
        where = f" to {change.moved_to}" if change.moved_to else ""
        return f"{path} {_DEEDS[change.what]}{where}."
    if change.what == "endings":
        return (
            f"{path}: only line endings or the byte order mark; the text is as you were shown it."
        )
    said = [f"{path}:"]
    if change.what == "taken_back":
        said.append("your edit was taken back, it is as it was before.")
    said += [places] if places else []
    if not change.diff and not change.moved_lines:
        said.append("its text is not kept, read it again.")
    return "\n".join(filter(None, [" ".join(said), change.diff.rstrip("\n")]))


def rest(names: Sequence[str]) -> str:
    """The files that there was no room to tell of."""
    return f"Also changed, read again before you rely on it: {', '.join(names)}"


PATHS_NAMED = 10
"""Paths that one sentence names; of the others the number is told."""

PATHS_WIDTH = 600
"""Characters for them."""

NAME_MAX = 60
"""Characters of a tool's name."""

AGENT_MAX = 2_900
"""Characters for the agent in one answer: one warning at least, and a notice has its room beside
it. Further ones are told with the next prompt."""


def went_back(
    files: int,
    mine: Sequence[str],
    others: Sequence[str],
    asked_for: Sequence[str] = (),
    unread: Sequence[str] = (),
) -> str:
    """The conversation went back, and the files did not. files: edited since; mine, others: which
    by the agent itself, and by anybody else. asked_for: those that only calls in deleted messages
    name; unread: the tools of such calls that do not tell which file they write."""
    first = f"The conversation went back, and the files did not{_edited(files, mine, others)}."
    known = 0 if unread else files + len(asked_for)
    last = _advice(known, certain=not (asked_for or unread))
    return " ".join([first, *_deleted(asked_for, unread), last])


def _advice(files: int, *, certain: bool) -> str:
    """files: how many it is about; 0 where that is not known."""
    what, them = ("it", "it") if files == 1 else ("them" if files else "files", "them")
    return (
        f"What the conversation says of {what} {'is' if certain else 'may be'} older than what"
        f" stands on disk: read {them} again before relying on {them}."
    )


def _edited(files: int, mine: Sequence[str], others: Sequence[str]) -> str:
    if not files:
        return ""
    by = [
        f"{whose}: {_listed(paths)}"
        for whose, paths in (("by this agent", mine), ("by others", others))
        if paths
    ]
    were = "was" if files == 1 else "were"
    return f": {count(files, 'file')} {were} edited after that point ({'; '.join(by)})"


def _deleted(asked_for: Sequence[str], unread: Sequence[str]) -> list[str]:
    """What calls in deleted messages say, and what they leave open."""
    said: list[str] = []
    if asked_for:
        said.append(
            f"Messages that were taken out of it ask for edits of {_listed(asked_for)}; whether"
            " those were made is not on record."
        )
    if unread:
        said.append(f"{unread_calls(unread)}.")
    return said


def unread_calls(tools: Sequence[str]) -> str:
    """Edits in deleted messages of which the files are not known, by their tools."""
    named = _listed([one_line(tool[-NAME_MAX:]) for tool in dict.fromkeys(tools)])
    return (
        f"{count(len(tools), 'edit')} in deleted messages cannot be read ({named}): which files"
        " were written there is not known"
    )


def for_agent(found: Sequence[FileWarning]) -> list[str]:
    """Warnings as an agent is told them, each with what it is about: as many as fit."""
    said: list[str] = []
    room = AGENT_MAX
    for each in found:
        words = f"Sightline warns you: {each.text}{_about(each)}"
        room -= len(words)
        if said and room < 0:
            break
        said.append(words)
    return said


def unknown(name: str) -> tuple[str, str]:
    """The message and the hint for an id that is no warning's."""
    return f"There is no warning {name}.", "List those that stand: sightline warnings."


def raised(warned: FileWarning) -> str:
    """A warning that was raised just now, for people."""
    return f"Warning {warned.id}: {in_line(warned)}"


def in_line(warned: FileWarning) -> str:
    """A warning for people, on one line."""
    return one_line(f"{warned.text}{_about(warned)}")


def _about(warned: FileWarning) -> str:
    """The files it is about, where its text does not name them all itself."""
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
        named.append(path)
    more = len(paths) - len(named)
    return f"{', '.join(named)}{f' and {more} more' if more else ''}"
