"""Phrases that several packages use: counts, lists, line numbers, sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sightline.errors import Hint, NextCall
from sightline.model.path import quoted
from sightline.model.spans import Span, Spans


def shown(lines: Spans, total: int) -> str:
    """Return the part of a file that was shown, in words. total: the number of its lines."""
    if not total:
        return "empty"
    if lines == ((1, total),):
        return "the only line" if total == 1 else f"all {total} lines"
    return f"{spans(lines)} of {total}"


def ago(seconds: float) -> str:
    """Return a time in the past, in the one unit that people would use."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    return "just now"


def lasted(seconds: float) -> str:
    """Return a length of time as people say it: "0.4 s", "12 s", "3 min 5 s", "2 h 10 min"."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3_600} h {whole % 3_600 // 60} min"


def by(author: str) -> str:
    """Put an author into a sentence: "by X", or "probably by X" where X is only probable."""
    sure = author.removeprefix("probably ")
    return f"by {author}" if sure == author else f"probably by {sure}"


def verdict(state: str, path: str, who: str) -> str:
    """Return a sentence on the meaning of a file's state for the agent."""
    return _STATES[state].format(path=quoted(path), by=by(who))


_STATES = {
    "fresh": "{path} is as it was shown.",
    "stale": "{path} is no longer what was shown: changed {by}.",
    "deleted": "{path} was deleted {by} since it was shown.",
    "moved": "{path} was renamed {by} since it was shown.",
    "kind_changed": "{path} is no longer a regular text file: it was changed {by}.",
    "unseen": "{path} was never shown to this session.",
    "unverifiable": "{path} cannot be read right now. Whether it changed is not known.",
}


def changed(state: str, who: str, when: str) -> str:
    """Return the reason why a file is not fresh, short enough for a table."""
    verbs = {"deleted": "deleted", "moved": "renamed", "kind_changed": "replaced"}
    return f"{verbs.get(state, 'changed')} {by(who)}{f', {when}' if when else ''}"


def count(number: int, noun: str) -> str:
    """Return a number with its noun: "1 file", "3 files"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def named(names: Sequence[str], most: int) -> str:
    """Return the first names and the number of others: "a, b and 3 more"."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def joined(names: Sequence[str], word: str = "and") -> str:
    """Return names as a list in a sentence: "a, b and c"."""
    return f"{', '.join(names[:-1])} {word} {names[-1]}" if len(names) > 1 else "".join(names)


def unfound(
    what: str,
    asked: str,
    several: Sequence[str],
    nearest: Sequence[str],
    list_all: NextCall | str,
) -> tuple[str, Hint]:
    """Word the error, and its hint, of a name that several things have or none. what: the kind of thing;
    several, nearest: the things in words; list_all: lists them all, or a sentence where there is none."""
    hint = Hint(list_all) if isinstance(list_all, str) else Hint("List them: ", list_all)
    if several:
        message = f"{asked!r} fits {count(len(several), what)}: {named(several, SEVERAL)}."
        return message, Hint("Type more of the one that you mean. ", hint)
    near = f" Nearest: {named(nearest, SEVERAL)}." if nearest else ""
    return f"There is no {what} {asked!r}.{near}", hint


SEVERAL = 5
"""The things that one error names."""


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters; "…" stands for the rest."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def first_lines(text: str, most: int, see_all: str) -> str:
    """Return the first lines of a text. A line behind them counts those that are left out, and names what
    shows them. see_all: a command or a call."""
    lines = text.removesuffix("\n").split("\n")
    more = len(lines) - most
    if more <= 1:
        return text
    return "\n".join([*lines[:most], f"… {more} more lines. See all: {see_all}\n"])


def table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return rows as lines, in columns as wide as their cells need."""
    cells = [list(row) for row in rows]
    columns = max((len(row) for row in cells), default=0)
    widths = [max(len(row[at]) for row in cells if at < len(row)) for at in range(columns)]
    return [
        "  ".join(cell.ljust(widths[at]) for at, cell in enumerate(row)).rstrip() for row in cells
    ]


SPANS_NAMED = 20


def spans(lines: Spans) -> str:
    """Return line numbers as people write them: "line 3", "lines 3-5, 9"; the first ones of many."""
    parts = [str(a) if a == b else f"{a}-{b}" for a, b in lines[:SPANS_NAMED]]
    if len(lines) > SPANS_NAMED:
        parts.append(f"and {len(lines) - SPANS_NAMED} more places")
    many = len(parts) > 1 or any(a != b for a, b in lines)
    return f"line{'s' if many else ''} {', '.join(parts)}" if parts else "no lines"


def is_one_line(lines: Spans) -> bool:
    """Return whether the spans name a single line."""
    return len(lines) == 1 and lines[0][0] == lines[0][1]


PLACES = 3
"""Runs of moved lines that are named for one file."""


def relocated(places: Sequence[tuple[Span, Span]]) -> str:
    """Return where lines are now, such as "lines 10-40 stand at 52-82 now."; "" for none."""
    moved = [
        f"{spans((was,))} {'stands' if is_one_line((was,)) else 'stand'} at {_range(now)}"
        for was, now in places[:PLACES]
    ]
    if not moved:
        return ""
    more = f" and {len(places) - PLACES} more places" if len(places) > PLACES else ""
    return f"{', '.join(moved)}{more} now."


def _range(lines: Span) -> str:
    return str(lines[0]) if lines[0] == lines[1] else f"{lines[0]}-{lines[1]}"


def size(number: int) -> str:
    """Return a number of bytes as people write it: "12 bytes", "1.5 KiB"."""
    if number == 1:
        return "1 byte"
    amount = float(number)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


def in_turn(who: Sequence[str]) -> str:
    """Return the names of who changed a file, the last one first; the last three of many."""
    if len(who) == 1:
        return who[0]
    more = " and others" if len(who) > 3 else ""
    return f"{who[0]}; before that {', '.join(who[1:3])}{more}"


def times(number: int) -> str:
    """Return a number of times in words: "once", "3 times"."""
    return "once" if number == 1 else f"{number} times"


def visible(text: str) -> str:
    """Return a text with visible white space; line ends stay."""
    return text.replace(" ", "·").replace("\t", "→").replace("\r", "␍")


def left_out(number: int, lines: Spans) -> str:
    """Return the line after a diff that leaves out `number` changes; "" where it leaves out none. lines:
    the new lines that the diff does not show."""
    if not number:
        return ""
    return f"… {count(number, 'more change')}{f': {spans(lines)}' if lines else ''}\n"


def lines_left_out(number: int) -> str:
    """Return the line after a diff that leaves out so many changed lines."""
    return f"… {count(number, 'more changed line')}\n" if number else ""


def too_long(lines: Spans) -> str:
    """Return the line in place of a change whose lines are too long. lines: the new ones."""
    return f"… too long to show{f': {spans(lines)}' if lines else ''}\n"


def says(words: str) -> str:
    """Return words with our name before them, for places where others write, too."""
    return f"Sightline: {words}"


REVISION = 12
"""The number of letters of a revision in a message."""


def numbered(text: str, first: int = 1) -> list[str]:
    """Return the lines of a text with their numbers, counting from `first`; [] for an empty text."""
    rows = text.removesuffix("\n").split("\n") if text else []
    return [f"{number:>6}\t{row}" for number, row in enumerate(rows, first)]


def short(revision: str) -> str:
    """Return the first letters of a revision, for a message."""
    return revision[:REVISION]
