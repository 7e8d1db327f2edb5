"""Words about conversations: what is wrong with one, and what a model is asked for and told when
its messages are summed up.

The words that stand in a conversation where a text was folded away.

They never change once they stand there, so they say nothing that would be other words later: the
step is a number, and whether a file changed is as of when it was folded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from sightline.conversation.summary_ledger import Command, File, Ledger
from sightline.conversation.window.blocks import Block, Excerpt
from sightline.text import phrases
from sightline.text.phrases import count, shortened, spans

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


TITLE = "## Conversation Summary"
RECORD = "## From the record"
"""Behind it stands what no model wrote."""

TYPED_TOKENS_MAX = 20_000
FILES_MAX = 200

COMMAND_MAX = 200
"""Characters of a command that the record repeats."""

EXCERPTS_NAMED = 3
"""Excerpts of files that a stub names."""

ASKED = """Sum up the conversation below, between a user and an agent that works on files, so that \
the agent can go on with the work from your words and the newest messages alone.

Say, each under a heading of its own: what the user wants, with every condition; what was done and \
why; what was found out that is not in the files; what is being done just now; what comes next. \
Name files by their paths, and names from the code as they are spelled. What the user said, the \
list of files and commands and the open work are kept beside your words: do not repeat them. Do not \
answer the conversation, and call no tool. At most 1,500 words.
"""


def request(blocks: Iterable[tuple[Block, str]]) -> str:
    """What a model is asked, with all that it needs in plain text: no call, no picture."""
    told = "\n\n".join(filter(None, (_line(*each) for each in blocks)))
    return f"{ASKED}\n--- the conversation ---\n\n{told}\n\n--- its end ---\n\nNow sum it up."


def _line(block: Block, text: str) -> str:
    tool = block.tool or "a tool"
    if block.kind == "thinking":
        return ""
    if block.kind == "summary":
        return f"Summary of what was before:\n{text.partition(RECORD)[0].strip()}"
    if block.kind in ("image", "document"):
        size = f", about {block.tokens} tokens" if block.tokens else ""
        return f"[{block.kind}{size}, left out here]"
    begins = {
        "system": "Program:",
        "user": "User:",
        "text": "Agent:",
        "call": f"Agent calls {tool}:",
        "result": f"{tool} answers{' with an error' if block.error else ''}:",
    }
    return f"{begins.get(block.kind, 'Something else:')}\n{text}" if text.strip() else ""


def summary(said: str, ledger: Ledger, count_tokens: Callable[[str], int]) -> str:
    """What stands for the messages: the model's words, and what is on record."""
    parts = [
        *_typed(ledger.typed, count_tokens),
        *_files(ledger.files),
        *_listed("Not as you last saw them; read them again", ledger.stale),
        *_listed("Commands that were run", map(_command, ledger.commands)),
        *_listed("Work that is open", ledger.open),
        *_listed("Work that is done", ledger.done),
    ]
    record = [RECORD, *parts] if parts else []
    return "\n\n".join([TITLE, said.strip(), *record])


def _typed(texts: Sequence[str], count_tokens: Callable[[str], int]) -> Iterator[str]:
    """What the user said, as it was said: the newest of it, as far as there is room."""
    room = TYPED_TOKENS_MAX
    kept: list[str] = []
    for text in reversed(texts):
        room -= count_tokens(text)
        if room < 0 and kept:
            break
        kept.append(text.strip())
    if kept:
        left = len(texts) - len(kept)
        more = f" ({count(left, 'earlier message')} left out)" if left else ""
        yield f"### What the user said, word for word{more}\n\n" + "\n\n".join(
            f"<user>\n{text}\n</user>" for text in reversed(kept)
        )


def _files(files: Sequence[File]) -> Iterator[str]:
    changed = [each for each in files if each.deed != "read"]
    read = [each for each in files if each.deed == "read"]
    yield from _listed("Files that you changed", map(_file, changed))
    yield from _listed("Files that you read", map(_file, read[-FILES_MAX:]))


def _file(file: File) -> str:
    deed = "" if file.deed == "read" else f": {file.deed}"
    if file.revision is None or file.deed == "deleted":
        return f"{file.path}{deed}"
    lines = f", {spans(file.lines)}" if file.lines else ""
    return f"{file.path}{deed}, revision {file.revision[:8]}{lines}"


def _command(command: Command) -> str:
    text = shortened(" ".join(command.text.split()), COMMAND_MAX)
    if command.exit_code is not None:
        return f"{text} (exit code {command.exit_code})"
    return f"{text} (failed)" if command.failed else text


def _listed(title: str, lines: Iterable[str]) -> Iterator[str]:
    told = [f"- {line}" for line in lines]
    if told:
        yield f"### {title}\n\n" + "\n".join(told)


# --- why there is none


def moved() -> str:
    """The conversation is another one by now."""
    return "the conversation went back, or was summed up by somebody else, while it was made"


def raised(error: BaseException) -> str:
    """The summarizer failed."""
    return f"the summarizer failed: {type(error).__name__}: {error}"[:500]


def empty() -> str:
    """It said nothing."""
    return "it is empty"


def too_long(tokens: int, most: int) -> str:
    """It said too much."""
    return f"it has {tokens} tokens, {most} are the most"


def not_smaller(before: int, after: int) -> str:
    """It wins nothing."""
    return f"the view would have {after} tokens with it, and has {before} without"


def refused(why: str) -> tuple[str, str]:
    """There is no summary."""
    return (
        f"No summary was taken: {why}. The conversation and its view are as they were.",
        "Go on with view(); a smaller budget folds more without a model.",
    )


def given_up(failures: int) -> tuple[str, str]:
    """Nobody is asked any more."""
    return (
        f"The last {failures} summaries failed, so no further one was asked for.",
        "Look into the summarizer; the next try is made once the user said something new.",
    )


NAME_LENGTH = 12
"""Digits that name a text: two of 100,000 texts share them in one of 50,000 conversations."""

TITLE_MAX, LAST_MAX = 80, 200
"""Characters of what a call was given, and of the last lines of an error, that a stub repeats."""


def named(text: str) -> str:
    """The short name of a folded text, by which it can be had again."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:NAME_LENGTH]


def stub(block: Block, changed: bool = False) -> str:  # noqa: FBT001, FBT002
    """The words for a block. changed: its file was changed by the agent since."""
    since = " You changed the file since." if changed else ""
    last = f" It ended: {' '.join(block.text[-LAST_MAX:].split())}" if block.error else ""
    return (
        f"[{_what(block)}, at step {block.step}, was removed to save context.{since}{last}"
        f" To see it again: expand {named(block.text)}]"
    )


def _what(block: Block) -> str:
    if block.excerpts:
        shown = phrases.named([_lines(each) for each in block.excerpts], EXCERPTS_NAMED)
        return f"What {_tool(block)} showed of {shown}"
    size = count(block.text.count("\n") + 1, "line")
    if block.kind == "call":
        paths = ", ".join(dict.fromkeys(each.path for each in block.rewrites)) or "a command"
        return f"What you gave {_tool(block)} for {paths}, {size}"
    about = f" for {shortened(', '.join(block.paths), TITLE_MAX)}" if block.paths else ""
    return f"The answer of {_tool(block)}{about}, {size}"


def _lines(excerpt: Excerpt) -> str:
    if excerpt.whole:
        return f"{excerpt.path} (all of it)"
    return f"{excerpt.path} lines {excerpt.first}-{excerpt.last}"


def _tool(block: Block) -> str:
    return block.tool or "a tool"
