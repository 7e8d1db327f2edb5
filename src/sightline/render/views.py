"""Lines of the terminal: how files stand, in words that fit 80 columns."""

from __future__ import annotations

from sightline.render import spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sightline.core.regions import Spans


def shown(lines: Spans, total: int) -> str:
    """How much of a file was shown."""
    if not total:
        return "empty"
    if lines == ((1, total),):
        return "the only line" if total == 1 else f"all {total} lines"
    return f"{spans(lines)} of {total}"


def ago(seconds: float) -> str:
    """How long ago, in the one unit that people would say."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    return "just now"


def verdict(state: str, path: str, who: str) -> str:
    """What a state means for the agent that relies on the file."""
    return _STATES[state].format(path=path, who=who)


_STATES = {
    "fresh": "{path} is as it was shown.",
    "stale": "{path} is no longer what was shown: changed by {who}.",
    "deleted": "{path} was deleted since it was shown, by {who}.",
    "moved": "{path} was renamed since it was shown, by {who}.",
    "kind_changed": "{path} is no longer a regular text file, because of {who}.",
    "unseen": "{path} was never shown to this session.",
    "unverifiable": "{path} cannot be read right now; nothing can be said of it.",
}


def changed(state: str, who: str, when: str) -> str:
    """Why a file is not fresh, short enough for a table."""
    verbs = {"deleted": "deleted", "moved": "renamed", "kind_changed": "replaced"}
    return f"{verbs.get(state, 'changed')} by {who}{f', {when}' if when else ''}"


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 file", "3 files"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows in columns as wide as they need; the last column is free."""
    cells = [list(row) for row in rows]
    columns = max((len(row) for row in cells), default=0)
    widths = [max(len(row[at]) for row in cells if at < len(row)) for at in range(columns)]
    return [
        "  ".join(cell.ljust(widths[at]) for at, cell in enumerate(row)).rstrip() for row in cells
    ]


def printable(text: str) -> str:
    """Text that cannot steer a terminal: control characters become their pictures."""
    return text.translate(_CONTROLS)


def one_line(text: str) -> str:
    """The same on a line of its own, whatever a file or a command is called."""
    return printable(text).replace("\n", "␊").replace("\t", "␉")


_CONTROLS = {code: 0x2400 + code for code in range(32) if code not in (9, 10)} | {
    127: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys(range(0xDC80, 0xDD00), 0xFFFD),
}
