"""Notices: what others changed in lines that an agent was shown, in words for that agent."""

from __future__ import annotations

from sightline.render import spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from sightline.core.regions import Span, Spans

    class FileChange(Protocol):
        """The part of services.results.FileChange that is worded."""

        @property
        def path(self) -> str: ...
        @property
        def what(self) -> str: ...
        @property
        def diff(self) -> str: ...
        @property
        def moved_to(self) -> str | None: ...
        @property
        def moved_lines(self) -> tuple[tuple[Span, Span], ...]: ...


PLACES = 3
"""Runs of moved lines that are named in one file."""


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


def relocated(places: Sequence[tuple[Span, Span]]) -> str:
    """Where lines stand now: "lines 10-40 stand at 52-82 now."; "" for none."""
    named = [f"{_stand(was)} at {_range(now)}" for was, now in places[:PLACES]]
    if not named:
        return ""
    more = f" and {len(places) - PLACES} more places" if len(places) > PLACES else ""
    return f"{', '.join(named)}{more} now."


def _stand(lines: Span) -> str:
    return f"{spans((lines,))} {'stands' if lines[0] == lines[1] else 'stand'}"


def _range(lines: Span) -> str:
    return str(lines[0]) if lines[0] == lines[1] else f"{lines[0]}-{lines[1]}"


def rest(names: Sequence[str]) -> str:
    """The files that there was no room to tell of."""
    return f"Also changed, read again before you rely on it: {', '.join(names)}"


def more(count: int) -> str:
    """How many files there was not even the room to name."""
    return f"{count} more file{'' if count == 1 else 's'} changed; the next notice tells of them."


def beside(path: str, who: str, diff: str, moved: Sequence[tuple[Span, Span]] = ()) -> str:
    """What others changed in a file that was just edited."""
    places = relocated(moved)
    below = f"\n{places[:1].upper()}{places[1:]}" if places else ""
    return f"{path} was also changed elsewhere by {who} since it was shown:\n{diff}{below}"


def endings(path: str, who: str) -> str:
    """The same where the text is as it was shown."""
    return f"{path}: line endings or BOM only, changed by {who}; the text is as shown."


def unseen(path: str, lines: Spans, *, kept: bool) -> str:
    """A replace of text that matched but was never shown, or is not kept."""
    if not kept:
        return f"{path} changed since it was shown, and its text is not kept; {_MATCHED}."
    one = len(lines) == 1 and lines[0][0] == lines[0][1]
    be = "was" if one else "were"
    return f"{path}: {spans(lines)} {be} never shown to this session; {_MATCHED}."


_MATCHED = "the text to replace matched exactly"
