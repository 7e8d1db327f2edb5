"""Words for when a hook could not judge: what an agent is told where the fail setting is closed."""

from __future__ import annotations


def not_judged(why: str) -> str:
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
