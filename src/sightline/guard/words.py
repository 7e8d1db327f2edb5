"""The only room with wording: views, notices and refusals as words for a person or a model."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.guard.edit_case import Ruling
from sightline.model.nearest import Nearest
from sightline.model.spans import Span, Spans
from sightline.text.phrases import count, is_one_line, spans, times, visible


def refusal(ruling: Ruling, path: str, who: str) -> tuple[str, str]:
    """The message and the hint of a refused attempt."""
    if ruling.reason == "not_found":
        return _not_found(ruling, path)
    message, hint = _REFUSALS[ruling.reason or "stale"]
    words: dict[str, object] = {
        "path": path,
        "who": who,
        "lines": spans(ruling.lines),
        "found": times(ruling.found),
        "state": ruling.state,
    }
    if ruling.reason == "unseen" and not ruling.lines:
        message, hint = _UNSEEN_WHOLE
    if ruling.encoding is not None:
        message, hint = _UNFIT
        words["encoding"] = ruling.encoding
    return message.format(**words), hint.format(**words)


_UNSEEN_WHOLE = (
    "{path} was never shown to this session.",
    "Read {path} first, then try again.",
)

_UNFIT = (
    "The new text has characters that {path} cannot hold: it is {encoding} text.",
    "Write it without them, or have the file converted to UTF-8 first.",
)

_REFUSALS = {
    "stale": (
        "{path} changed where this attempt applies, since it was last shown ({who}).",
        "The diff shows what stands there now; make the edit against those lines.",
    ),
    "conflict": (
        "Your text of {path} and a change made since ({who}) both rewrite the same lines.",
        "Keep the change shown in the diff in your text and write it again.",
    ),
    "ambiguous": (
        "The text to replace stands {found} in {path}, at {lines}.",
        "Add neighbouring lines to make it unique, or say how many to replace.",
    ),
    "unseen": (
        "{path} has text that this session was never shown: {lines}.",
        "Read {lines} of {path} first, or replace only text that was shown.",
    ),
    "deleted": (
        "{path} was deleted since it was last shown ({who}).",
        "If it should exist again, create it; nothing is recreated silently.",
    ),
    "kind_changed": (
        "{path} is no longer a regular text file.",
        "Look at what stands there now before doing anything with it.",
    ),
    "unverifiable": (
        "{path} cannot be read right now, so nothing can be said of it and nothing was changed.",
        "Try again when the disk answers.",
    ),
    "exists": (
        "{path} exists already.",
        "Read it and edit it, or choose another name.",
    ),
    "no_change": (
        "This would leave {path} as it is.",
        "Nothing to do, unless another change was meant.",
    ),
    "too_large": (
        "{path} is larger than Sightline edits.",
        "Raise max_file_bytes in your own settings, or change it with another tool.",
    ),
    "binary": (
        "{path} is not text that can be edited safely (NUL bytes, or no lossless decoding).",
        "Change it with a tool made for its format.",
    ),
    "claimed": (
        "{path} is claimed by another session.",
        "Work on other files until it is let go.",
    ),
    "scope": (
        "{path} is protected: a change needs the user's approval.",
        "Ask the user; nothing was changed.",
    ),
}


def _not_found(ruling: Ruling, path: str) -> tuple[str, str]:
    if ruling.state in ("unseen", "deleted") and ruling.near is None and not ruling.found:
        return f"Nothing to replace in {path}.", f"Read {path}, or create it if it does not exist."
    if ruling.found and not ruling.lines:  # lines beyond the end, counted in the text last shown
        return (
            f"{path} has no such lines: it had {ruling.found} when it was last shown.",
            f"Read {path}, or choose lines within it.",
        )
    if ruling.found:
        return (
            f"The text stands {times(ruling.found)} in {path}, not as often as asked.",
            "Say how many to replace, or add neighbouring lines.",
        )
    message = f"The text to replace is not in {path}."
    if ruling.near is None:
        return message, f"Nothing there is like it. Read {path} and use its own text."
    return message, nearest(ruling.near, shown=ruling.near_shown)


def nearest(near: Nearest, *, shown: bool) -> str:
    """The lines most like a text that was not found."""
    one = near.first == near.last
    where = spans(((near.first, near.last),)).capitalize()
    if near.only_space:
        alike = f"{where} differ{'s' if one else ''} only in white space"
    else:
        alike = f"{where} {'is' if one else 'are'} the most alike"
    known = "shown to this session" if shown else "never shown to this session as it stands"
    return f"{alike} ({known}). With blanks as · and tabs as →:\n" + visible(near.text)


def a_link(name: str, path: str) -> tuple[str, str]:
    """A symlink that was to be deleted or renamed."""
    return (
        f"{name} is a symlink to {path}; deleting or renaming it would do that to {path}.",
        f"Name {path} itself if that is meant; change the link with another tool.",
    )


def retargeted(name: str, path: str) -> tuple[str, str]:
    """A name that led to another file when it was shown."""
    now = "stands for itself" if name == path else f"leads to {path}"
    return (
        f"{name} {now} now, which is another file than the one that was shown.",
        f"Read {name} to see it; the file that was shown before is not touched through this name.",
    )


def repeated(path: str) -> tuple[str, str]:
    """An attempt that was refused, made once more with nothing looked at in between."""
    return (
        f"This very attempt on {path} was refused already, and the file is as the refusal said.",
        "The diff is what it would do now. Keep others' lines, or read the file and try again.",
    )


def moved(src: str, path: str) -> str:
    """A rename that was followed."""
    return f"{src} was renamed to {path}; the edit was made there."


PLACES = 3
"""Runs of moved lines that are named in one file."""


def relocated(places: Sequence[tuple[Span, Span]]) -> str:
    """Where lines stand now: "lines 10-40 stand at 52-82 now."; "" for none."""
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
    """How many files there was not even the room to name."""
    return f"{count(number, 'more file')} changed; the next notice tells of them."


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
    be = "was" if is_one_line(lines) else "were"
    return f"{path}: {spans(lines)} {be} never shown to this session; {_MATCHED}."


_MATCHED = "the text to replace matched exactly"
