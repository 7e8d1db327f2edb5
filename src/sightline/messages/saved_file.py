"""Save a conversation to a file, one message a line in the JSON that its provider takes; and load
such a file, or one that another program wrote."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.errors import Hint, HistoryError, NextCall
from sightline.filesystem.private_files import write_file
from sightline.messages import message_chain
from sightline.messages.histories import read_file_messages
from sightline.messages.message_codec import encode
from sightline.model.events import MessageAppended
from sightline.model.path import quoted
from sightline.model.timeline import of_kind
from sightline.text.phrases import named

NAMED_MAX = 5
"""Messages that could not be taken in that are named one by one."""


class Saved(Struct, frozen=True):
    """The result of a save. path: of the file; messages: in the file now; added: those that the file
    did not hold before."""

    path: str
    messages: int
    added: int


class Loaded(Struct, frozen=True):
    """The result of a load. messages: loaded now; there: in the file; warnings: sentences for a
    person; kept_as: the newer name of a file that has the name of an early version.

    path: of the file.
    """

    path: str
    messages: int
    there: int
    warnings: tuple[str, ...] = ()
    kept_as: str = ""


def save(
    context: SessionContext, path: str, *, side: str, root: str | None, replace: bool = False
) -> Saved:
    """Replace a file by the messages of a chain, at once. side, root: as in message_chain.append_behind;
    replace: whatever the file holds. HistoryError, with the file unchanged, when the file holds
    anything but messages of this session, or cannot be written."""
    real = os.path.realpath(path)
    with context.workspace.lock(f"conversation in {real}"):
        rows = message_chain.chain_facts(context, side, message_chain.MESSAGES)
        ids = [fact.message for fact in of_kind(MessageAppended, rows)]
        there = [] if replace else _ids_in(path, root)
        ever = context.store.timeline(session=context.session, kinds=message_chain.MESSAGES)
        known = {*ids, *(fact.message for fact in of_kind(MessageAppended, ever))}
        if not known.issuperset(there):
            raise HistoryError(
                f"{quoted(path)} is damaged, or holds messages that the session {context.session!r}"
                " never had. Nothing was saved.",
                Hint(
                    "Save to another file, or write over it: ",
                    NextCall("conversation.save", (path,), {"replace": True}),
                ),
            )
        messages = [message_chain.read_message(context, row) for row in rows]
        with _access(path, "written"):
            write_file(real, b"".join(f"{json.dumps(each)}\n".encode() for each in messages))
    return Saved(path, len(ids), len({*ids}.difference(there)))


def load(context: SessionContext, path: str, *, side: str, root: str | None) -> Loaded:
    """Append a file's messages to a chain, or those that are new; set aside by name what cannot be
    taken in. side, root: as in message_chain.append_behind. HistoryError, and nothing recorded, for
    another conversation, and for a file that holds no message but something else."""
    data = _read_bytes(path)
    if data is None:
        return Loaded(path, 0, 0, (f"There is no file {quoted(path)}: nothing was loaded.",))
    history = read_file_messages(path, data)
    rows = message_chain.chain_facts(context, side, message_chain.MESSAGES)
    known = [fact.message for fact in of_kind(MessageAppended, rows)]
    tip = message_chain.find_tip(context, side, None)
    parent = root
    loaded, shared, aside = 0, 0, []
    for number, (message, at) in enumerate(zip(history.messages, history.times, strict=True)):
        try:
            name = encode(message, parent).id
            if shared == len(known):
                tip = message_chain.append_behind(
                    context, message, tip, side=side, root=root, at=at
                )
                loaded += 1
            elif name == known[shared]:
                shared += 1
            else:
                raise HistoryError(
                    f"{quoted(path)} holds another conversation than the session"
                    f" {context.session!r}. Nothing was loaded.",
                    "Load it into a new session.",
                )
            parent = name
        except ValueError as error:
            aside.append(f"message {number} ({error})")
    warnings = list(history.warnings)
    if (aside or history.passed_over) and not loaded and not shared:
        why = named(aside, NAMED_MAX) or "its elements are no messages"
        raise HistoryError(
            f"No message of {quoted(path)} can be loaded: {why}. Nothing was loaded.",
            "Load the messages as a provider takes them, or a saved conversation. What an agent recorded is"
            " read with read_messages, and imported.",
        )
    if aside:
        warnings.append(f"Set aside: {named(aside, NAMED_MAX)}. The others were loaded.")
    if not history.messages:
        warnings.append(f"{quoted(path)} holds no message: nothing was loaded.")
    return Loaded(path, loaded, len(history.messages), tuple(warnings), history.kept_as)


def _ids_in(path: str, parent: str | None) -> list[str]:
    """Return the ids of the messages in a file, and "" for anything else that it holds. parent: of the
    first."""
    ids: list[str] = []
    data = _read_bytes(path) or b""
    try:
        history = read_file_messages(path, data)
        for message in history.messages:
            parent = encode(message, parent).id
            ids.append(parent)
    except (ValueError, HistoryError):
        return [""]
    return [*ids, ""] if history.warnings else ids


def _read_bytes(path: str) -> bytes | None:
    """Return the bytes of a file; None where there is none. HistoryError."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise _no_access(path, "used", "it is no file")
    with _access(path, "read"):
        try:
            with open(path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None


@contextmanager
def _access(path: str, verb: str) -> Iterator[None]:
    """Turn an OSError into a HistoryError: "PATH cannot be VERB"."""
    try:
        yield
    except OSError as error:
        raise _no_access(path, verb, error.strerror or str(error)) from error


def _no_access(path: str, verb: str, why: str) -> HistoryError:
    return HistoryError(
        f"{quoted(path)} cannot be {verb}: {why}.",
        "Check the folder, its permissions and the free space.",
    )
