"""Words about conversations: what is wrong with one, and what a model is asked for and told when
its messages are summed up.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

UPKEEP = "Nothing was recorded."


def no_json(why: str) -> str:
    """A message that cannot be written down."""
    return f"the message is nothing that JSON can hold: {why}. {UPKEEP}"


def too_deep(most: int) -> str:
    """A message that could not be read again everywhere."""
    return f"the message is nested more than {most} deep, or holds itself. {UPKEEP}"


def no_base64(place: Iterable[str | int], why: str) -> str:
    """A picture that no provider would take."""
    where = ".".join(map(str, place))
    return f"what stands at {where} of the message is no base64: {why}. {UPKEEP}"


def no_mapping(kind: str) -> str:
    """Something that is no message."""
    return f"a message is a mapping, as its provider has it in JSON, not {kind}. {UPKEEP}"


def no_format(message: Mapping[Any, Any], before: Sequence[str], others: Sequence[str]) -> str:
    """A message that does not go with those before it, or with none."""
    if others:
        return (
            f"the message is of format {' or '.join(others)}, those before it of"
            f" {' or '.join(before)}: one conversation has one format. {UPKEEP}"
        )
    role = f"role {message['role']!r}, with " if "role" in message else ""
    has = ", ".join(sorted(map(str, message))) or "nothing in it"
    return f"the message is of no known format: it has {role}{has}. {UPKEEP}"


def not_kept(revision: str) -> tuple[str, str]:
    """A text of the conversation that is gone."""
    return (
        f"A text of this conversation, {revision[:12]}, is not kept any more.",
        "It was purged, or the store is damaged: sightline doctor says which.",
    )


def never_kept(message: str) -> tuple[str, str]:
    """A message that was only named."""
    return (
        f"The message {message} was recorded by its name alone, without what it says.",
        "Take the conversation from its host, or from a file that was saved.",
    )


def no_such_block(message: str) -> tuple[str, str]:
    """A decision about something that is not in the conversation."""
    return (
        f"A decision on record is about the message {message}, which is not in this conversation.",
        "The store may be damaged, or written by a newer sightline: sightline doctor says which.",
    )


def no_message(id: str) -> tuple[str, str]:
    """An id that no message has."""
    return (
        f"There is no message {id!r} in this session's conversation.",
        "append() answers the id of each message, and display() lists them.",
    )


def nothing_to_expand(name: str) -> tuple[str, str]:
    """A name that stands in no stub."""
    return (
        f"No text of the name {name!r} was removed from this conversation.",
        "Give the name that stands behind 'expand' in the stub.",
    )


# --- files

HEAD = {"sightline": "conversation", "version": 1}
"""The first line of a file."""


def no_file(path: str) -> str:
    """There is nothing to load."""
    return f"There is no file {path}: nothing was loaded."


def empty_file(path: str) -> str:
    """There is nothing in it."""
    return f"{path} holds no message: nothing was loaded."


def torn(path: str, messages: int) -> str:
    """Its last line was being written when somebody stopped it."""
    return (
        f"The last line of {path} was never finished, so it was never acknowledged. It was left"
        f" out; the {messages} messages before it are whole."
    )


def of_another_version(path: str, version: object) -> tuple[str, str]:
    """It may be whole, but nobody here can tell."""
    known = HEAD["version"]
    return (
        f"{path} is of version {version}, and this sightline knows {known}. It is left as it is.",
        "Use the sightline that wrote it, or a newer one; or name another file.",
    )


def _damage(path: str, damage: tuple[int, str]) -> str:
    line, why = damage
    return f"{path} is damaged in line {line}: {why}."


def damaged(path: str, damage: tuple[int, str], messages: int) -> tuple[str, str]:
    """It cannot be loaded as it is."""
    whole = f"The {messages} messages before it are whole" if messages else "No message is whole"
    hint = "load(path, salvage=True) takes them in" if messages else "Load another copy of it"
    return (
        f"{_damage(path, damage)} {whole}. Nothing was loaded.",
        f"{hint}; the file stays as it is.",
    )


def salvaged(path: str, damage: tuple[int, str], messages: int, kept: str) -> str:
    """Something of it was."""
    return (
        f"{_damage(path, damage)} The {messages} messages before it were loaded; {kept} is a copy."
    )


def not_over_damaged(path: str, damage: tuple[int, str], kept: str) -> tuple[str, str]:
    """A damaged file is not written over."""
    return (
        f"{_damage(path, damage)} It was left as it is, and nothing was saved.",
        f"save(path, replace=True) keeps it as {kept} first; or save to another file.",
    )


def not_over_other(path: str, session: str) -> tuple[str, str]:
    """Another conversation is not written over."""
    return (
        f"{path} holds the conversation of the session {session!r}. Nothing was saved.",
        "Save to another file; save(path, replace=True) writes over it.",
    )


def another(path: str, session: str) -> tuple[str, str]:
    """Two conversations do not become one."""
    return (
        f"{path} holds another conversation than the session {session!r}. Nothing was loaded.",
        "Load it into a new session.",
    )


def not_taken(path: str, message: str, why: str, before: int) -> tuple[str, str]:
    """A message of a file that does not go with the others."""
    return (
        f"The message {message} of {path} was not taken in: {why} {before} records before it were.",
        "The file was put together from several: load each of them into a session of its own.",
    )


def kept_already(path: str, kept: str) -> tuple[str, str]:
    """Two damaged files of one name."""
    return (
        f"{path} is damaged, and {kept} keeps another damaged one. Nothing was changed.",
        f"Move {kept} away first.",
    )


def no_access(path: str, verb: str, why: str) -> tuple[str, str]:
    """The system says no."""
    return f"{path} cannot be {verb}: {why}.", "Check the folder, its rights and the room on it."
