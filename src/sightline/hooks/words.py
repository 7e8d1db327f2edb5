"""Words for when a hook could not judge: what an agent is told where the fail setting is closed.

What an agent is told through its host's hooks. Every answer says who speaks: the agent did not
call us.
"""

from __future__ import annotations

from sightline.errors import PathError


def refused_unjudged(why: str) -> str:
    """Why an attempt may not be made although nothing is known to be wrong with it. why: what
    happened, for a person."""
    return (
        "Sightline could not judge this edit, and it is set to refuse what it cannot judge "
        f"(fail = closed). What happened: {why} Nothing was written. Tell the user: "
        "`sightline doctor` says more, and SIGHTLINE_FAIL=open lets edits pass unjudged."
    )


def late(seconds: float | None) -> str:
    """The store or the disk did not answer in time."""
    within = "in time" if seconds is None else f"within {seconds:g} s"
    return f"The store or the disk did not answer {within}."


def unknown_agent(agent: str, known: str) -> str:
    """No dialect has that name."""
    return f"No agent is called {agent!r:.60}; known: {known}."


def not_json(why: str) -> str:
    """What came on stdin cannot be read."""
    return f"The hook's input is not a JSON object: {why}."


def too_large(limit: int) -> str:
    """More came on stdin than is read."""
    return f"The hook's input is larger than {limit >> 20} MiB and was not read."


def no_root(path: str) -> str:
    """A path that belongs to no workspace."""
    return f"{path} is in no workspace: it was not judged."


def unbriefed(why: str) -> str:
    """What else was due before a turn was not told."""
    return f"Listings, related files and memory were not told with this prompt: {why}"


def broken(kind: str, place: str) -> str:
    """An error nobody foresaw. The values it speaks of may be a file's text: they are left out."""
    return f"Sightline itself failed ({kind} at {place})."


SILENT = "The process that answers hooks took this event and did not answer in time."

USAGE = """\
Usage: sightline hook AGENT [EVENT]
Answers one hook call of an agent: its JSON on stdin, the answer on stdout.
Known agents: {known}. `sightline init` connects them. Nothing was checked.
"""


def refused(error: PathError) -> str:
    """Why an attempt may not be made, and the next step."""
    fresh = getattr(error, "text", None)
    again = f"\nThe file as it stands:\n{fresh}" if fresh else ""
    return f"Sightline refused this and left {error.path} alone. {error}{again}"


def why_it_failed(error: PathError, alike: str = "") -> str:
    """Why an attempt did not fit, that the host has already turned down. alike: on the lines that
    come nearest to the text it looked for."""
    return "\n".join(filter(None, [f"Sightline on the failed edit: {error}", alike]))


def moved_away(path: str, where: str) -> tuple[str, str]:
    """A file that was renamed since it was shown; the host would write at the old name."""
    return (f"{path} was renamed to {where} since it was shown.", f"Make the edit in {where}.")


def gone(hint: str, reason: str) -> str:
    """The next step where a file is gone: a host's tool that writes a file creates one, too."""
    if reason == "deleted":
        return "If it should exist again, write it once more."
    return f"{hint} If a new file of the old name is meant, write it once more."


def asks(path: str) -> str:
    """The user's own settings want to be asked."""
    return f"Sightline: {path} is protected by your settings; a change needs your approval."


def turned_down(summary: str, diff: str) -> str:
    """Why a host turned an attempt down that could have stood beside others' changes."""
    return (
        f"Sightline on the failed edit: {summary} since you were shown it. Read it again, and your"
        f" change can stand beside this one:\n{diff}"
    )


def merged(path: str) -> str:
    """A whole-file write that others' changes were put into."""
    return (
        f"Sightline: {path} had changed since you were shown it. Your text was merged with those"
        " changes; what was written holds both."
    )


def not_judged(path: str, reason: str) -> str:
    """An attempt that is let go on because nothing can be said of it; no words where it does
    nothing at all."""
    if reason == "no_change":
        return ""
    return f"Sightline: {path} is too large to be checked; nobody knows whether it changed."


def also_changed(summary: str, diff: str) -> str:
    """Others' changes to a file that was just edited."""
    return f"Sightline: {summary} since you were shown it; your edit stands beside it:\n{diff}"


def left_out(diff: str, path: str) -> str:
    """The beginning of a diff that is too long for one answer."""
    return f"{diff}\n… The rest is left out here: read {path} before you write to it again.\n"


def lost(path: str, diff: str, *, whole: bool) -> str:
    """A save that a whole-file write has taken away, because it came between check and write."""
    more = "" if whole else "\n… and more than fits here: tell the user. Sightline keeps all of it."
    return (
        f"Sightline: while {path} was being written, somebody else saved it, and that save is lost"
        f" now. Put these lines back before you go on:\n{diff}{more}"
    )


LENGTH = 200


def short(command: str, *, background: bool = False) -> str:
    """A command as its facts name it: its first line."""
    first, _, rest = command.strip().partition("\n")
    cut = first[:LENGTH]
    name = f"{cut}…" if rest or cut != first else cut
    return f"{name} (goes on in the background)" if background else name


def not_walked(seconds: float) -> str:
    """Why files that commands made are not looked for."""
    return f"the workspace could not be searched for what commands made within {seconds:g} s"
