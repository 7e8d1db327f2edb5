"""Word the guard's verdicts, refusals and notices for a person or a model."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.guard.edit_case import Ruling
from sightline.model.nearest import Nearest
from sightline.model.spans import Span, Spans
from sightline.text.phrases import count, is_one_line, spans, times, visible

PLACES = 3
"""Runs of moved lines that are named for one file."""

REFUSALS = {
    "stale": (
        "After you read them, {who} changed the lines of {path} that you are editing.",
        "The diff shows what is there now. Make the edit against those lines.",
    ),
    "conflict": (
        "Your text of {path} and a later change by {who} both rewrite the same lines.",
        "Keep the change shown in the diff in your text and write it again.",
    ),
    "ambiguous": (
        "The text to replace occurs {found} in {path}, at {lines}.",
        "Add neighbouring lines to make it unique, or say how many to replace.",
    ),
    "unseen": (
        "{path} has text that was never shown to this session: {lines}.",
        "Read {lines} of {path} first, or replace only text that was shown to you.",
    ),
    "deleted": (
        "After you read it, {who} deleted {path}.",
        "Create it if it should exist again. Sightline recreates nothing silently.",
    ),
    "kind_changed": (
        "{path} is no longer a regular text file.",
        "Look at what is there now before you do anything with it.",
    ),
    "unverifiable": (
        "{path} cannot be read right now. Nothing was changed.",
        "Try again when the disk answers.",
    ),
    "exists": ("{path} exists already.", "Read it and edit it, or choose another name."),
    "no_change": (
        "This attempt would leave {path} as it is.",
        "There is nothing to do, unless you meant another change.",
    ),
    "too_large": (
        "{path} is larger than Sightline edits.",
        "Raise max_file_bytes in your own settings, or change the file with another tool.",
    ),
    "binary": (
        "{path} is not text that can be edited safely (NUL bytes, or no lossless decoding).",
        "Change it with a tool made for its format.",
    ),
    "claimed": (
        "Another session claims {path}.",
        "Work on other files until that session releases it.",
    ),
    "scope": (
        "{path} is protected: a change needs the user's approval.",
        "Ask the user. Nothing was changed.",
    ),
}
"""Reason -> the message and the hint."""


def refusal(ruling: Ruling, path: str, who: str) -> tuple[str, str]:
    """Return the message and the hint of a refused attempt. who: changed the file."""
    if ruling.reason == "not_found":
        return _not_found(ruling, path)
    message, hint = REFUSALS[ruling.reason or "stale"]
    if ruling.reason == "unseen" and not ruling.lines:
        message = "{path} was never shown to this session."
        hint = "Read {path} first, then try again."
    if ruling.encoding is not None:
        message = (
            f"The new text has characters that {{path}} cannot hold: it is {ruling.encoding} text."
        )
        hint = "Write the text without these characters, or have the file converted to UTF-8 first."
    parts = {
        "path": path,
        "who": who,
        "lines": spans(ruling.lines),
        "found": times(ruling.found),
    }
    return message.format(**parts), hint.format(**parts)


def _not_found(ruling: Ruling, path: str) -> tuple[str, str]:
    if ruling.state in ("unseen", "deleted") and ruling.near is None and not ruling.found:
        return f"Nothing to replace in {path}.", f"Read {path}, or create it if it does not exist."
    if ruling.found and not ruling.lines:  # lines beyond the end, counted in the text last read
        return (
            f"{path} has only {ruling.found} lines in the version you read.",
            f"Read {path}, or choose lines within it.",
        )
    if ruling.found:
        return (
            f"The text occurs {times(ruling.found)} in {path}, not as often as you asked.",
            "Say how many to replace, or add neighbouring lines.",
        )
    message = f"The text to replace is not in {path}."
    if ruling.near is None:
        hint = f"No similar text was found. Read {path} and copy the exact text to replace."
        return message, hint
    return message, nearest(ruling.near, shown=ruling.near_shown)


def nearest(near: Nearest, *, shown: bool) -> str:
    """Return a hint with the lines most like a text that was not found."""
    single = near.first == near.last
    where = spans(((near.first, near.last),)).capitalize()
    if near.only_space:
        alike = f"{where} differ{'s' if single else ''} only in white space"
    else:
        alike = f"{where} {'is' if single else 'are'} the most similar"
    known = "shown to this session" if shown else "never shown to this session"
    return f"{alike} ({known}). Blanks are shown as · and tabs as →:\n" + visible(near.text)


def a_link(name: str, path: str) -> tuple[str, str]:
    """Return message and hint for a symlink that was to be deleted or renamed."""
    return (
        f"{name} is a symlink to {path}; deleting or renaming it would do that to {path}.",
        f"Name {path} itself if you mean it; change the link with another tool.",
    )


def retargeted(name: str, path: str) -> tuple[str, str]:
    """Return message and hint for a name that led to another file when it was read."""
    now = "is a file of its own" if name == path else f"leads to {path}"
    return (
        f"{name} {now} now, which is another file than the one you read.",
        f"Read {name} to see it. The file that you read before is not touched through this name.",
    )


def repeated(path: str) -> tuple[str, str]:
    """Return message and hint for an attempt that was refused, and made again unchanged."""
    return (
        f"This same attempt on {path} was refused already, and the file is as the refusal said.",
        "The diff shows what it would do now. Keep others' lines, or read the file and try again.",
    )


def moved(src: str, path: str) -> str:
    """Return the text on a rename that an edit followed."""
    return f"{src} was renamed to {path}; the edit was made there."


def relocated(places: Sequence[tuple[Span, Span]]) -> str:
    """Return where lines are now, such as "lines 10-40 stand at 52-82 now."; "" for none."""
    named = [
        f"{spans((was,))} {'stands' if is_one_line((was,)) else 'stand'} at {_range(now)}"
        for was, now in places[:PLACES]
    ]
    if not named:
        return ""
    more = f" and {len(places) - PLACES} more places" if len(places) > PLACES else ""
    return f"{', '.join(named)}{more} now."


def _range(lines: Span) -> str:
    return str(lines[0]) if lines[0] == lines[1] else f"{lines[0]}-{lines[1]}"


def more(number: int) -> str:
    """Return the text on changed files that a notice had no room to name."""
    return f"{count(number, 'more file')} changed; the next notice names them."


def beside(path: str, who: str, diff: str, moved: Sequence[tuple[Span, Span]] = ()) -> str:
    """Return the notice on others' changes to a file that was just edited."""
    places = relocated(moved)
    below = f"\n{places[:1].upper()}{places[1:]}" if places else ""
    changed = f"After you read it, {who} also changed other lines of {path}"
    return f"{changed}:\n{diff}{below}"


def endings(path: str, who: str) -> str:
    """Return the notice on a file whose text is the same, with other line endings or BOM."""
    return f"{path}: line endings or BOM only, changed by {who}; the text is as you read it."


def unseen(path: str, lines: Spans, *, kept: bool) -> str:
    """Return the notice on a replacement of text that matched, and that the agent has not read.
    kept: whether the text that the agent read is kept."""
    matched = "the text to replace matched exactly"
    if not kept:
        return f"{path} changed after you read it, and that text is not kept; {matched}."
    be = "was" if is_one_line(lines) else "were"
    return f"{path}: {spans(lines)} {be} never shown to this session; {matched}."
