"""Wording for models: the request for a summary, the summary itself, and stubs of folded blocks.

A stub never changes after it is sent. So it says nothing that becomes wrong later: it names the step
as a number, and whether the agent changed the file until the block was folded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct

from sightline.conversation.window.blocks import Block
from sightline.model.path import quoted
from sightline.model.spans import Spans
from sightline.text import phrases
from sightline.text.phrases import count, shortened, spans

TITLE = "## Conversation Summary"
RECORD = "## From the record"
"""Heading of the sections of a summary that Sightline wrote from recorded facts."""

TYPED_TOKENS_MAX = 20_000
FILES_MAX = 200

COMMAND_MAX = 200
"""Characters of a command in the record."""

EXCERPTS_NAMED = 3
"""Excerpts of files that a stub names."""

REQUEST = """Sum up the conversation below, between a user and an agent that works on files, so that \
the agent can go on with the work from your words and the newest messages alone.

Say, each under a heading of its own: what the user wants, with every condition; what was done and \
why; what was found out that is not in the files; what is being done just now; what comes next. \
Name files by their paths, and names from the code as they are spelled. What the user said, the \
list of files and commands and the open work are kept beside your words: do not repeat them. Do not \
answer the conversation, and call no tool. At most 1,500 words.
"""


class File(Struct, frozen=True, array_like=True):
    """A file that the agent touched. deed: read, modified, created, deleted or moved; revision: of
    the text that the agent holds, None: unknown; lines: shown to the agent."""

    path: str
    deed: str
    revision: str | None = None
    lines: Spans = ()


class Command(Struct, frozen=True, array_like=True):
    """A command that the agent ran. exit_code: None: unknown; failed: known to have failed without
    an exit code."""

    text: str
    exit_code: int | None = None
    failed: bool = False


class Ledger(Struct, frozen=True):
    """The record beside a summary. typed: the user's texts, oldest first; open, done: items of the
    newest to-do list; stale: paths of files that differ from what the agent was shown."""

    typed: tuple[str, ...]
    files: tuple[File, ...]
    commands: tuple[Command, ...]
    open: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()

    def dump(self) -> dict[str, Any]:
        """Return the fields that the next summary cannot read from facts, as JSON."""
        return {
            "typed": self.typed,
            "files": [[file.path, file.deed] for file in self.files],
            "commands": [[c.text, c.exit_code, c.failed] for c in self.commands],
        }


def summary_request(blocks: Iterable[tuple[Block, str]]) -> str:
    """Write the request for a summary of blocks in plain text, without calls and pictures. Each
    block comes with its text or stub."""
    text = "\n\n".join(filter(None, (_line(block, text) for block, text in blocks)))
    return f"{REQUEST}\n--- the conversation ---\n\n{text}\n\n--- its end ---\n\nNow sum it up."


def _line(block: Block, text: str) -> str:
    tool = block.tool or "a tool"
    if block.kind == "thinking":
        return ""
    if block.kind == "summary":
        return f"Summary of what was before:\n{text.partition(RECORD)[0].strip()}"
    if block.kind in ("image", "document"):
        size = f", about {block.tokens} tokens" if block.tokens else ""
        return f"[{block.kind}{size}, left out here]"
    speakers = {
        "system": "Program:",
        "user": "User:",
        "text": "Agent:",
        "call": f"Agent calls {tool}:",
        "result": f"{tool} answers{' with an error' if block.error else ''}:",
    }
    return f"{speakers.get(block.kind, 'Something else:')}\n{text}" if text.strip() else ""


def summary(text: str, ledger: Ledger, count_tokens: Callable[[str], int]) -> str:
    """Write the message that replaces summed-up messages: the model's text and the record."""
    files = ledger.files
    changed = [_file(file) for file in files if file.deed != "read"]
    read = [_file(file) for file in files if file.deed == "read"]
    sections = [
        *_typed(ledger.typed, count_tokens),
        *_list("Files that you changed", changed),
        *_list("Files that you read", read[-FILES_MAX:]),
        *_list("Not as you last saw them; read them again", ledger.stale),
        *_list("Commands that were run", map(_command, ledger.commands)),
        *_list("Work that is open", ledger.open),
        *_list("Work that is done", ledger.done),
    ]
    record = [RECORD, *sections] if sections else []
    return "\n\n".join([TITLE, text.strip(), *record])


def _typed(texts: Sequence[str], count_tokens: Callable[[str], int]) -> Iterator[str]:
    """Quote the user's newest texts, as many as TYPED_TOKENS_MAX allows."""
    room = TYPED_TOKENS_MAX
    quoted: list[str] = []
    for text in reversed(texts):
        room -= count_tokens(text)
        if room < 0 and quoted:
            break
        quoted.append(f"<user>\n{text.strip()}\n</user>")
    if quoted:
        omitted = len(texts) - len(quoted)
        more = f" ({count(omitted, 'earlier message')} left out)" if omitted else ""
        yield f"### What the user said, word for word{more}\n\n" + "\n\n".join(reversed(quoted))


def _file(file: File) -> str:
    deed = "" if file.deed == "read" else f": {file.deed}"
    if file.revision is None or file.deed == "deleted":
        return f"{quoted(file.path)}{deed}"
    lines = f", {spans(file.lines)}" if file.lines else ""
    return f"{quoted(file.path)}{deed}, revision {file.revision[:8]}{lines}"


def _command(command: Command) -> str:
    text = shortened(" ".join(command.text.split()), COMMAND_MAX)
    if command.exit_code is not None:
        return f"{text} (exit code {command.exit_code})"
    return f"{text} (failed)" if command.failed else text


def _list(title: str, lines: Iterable[str]) -> Iterator[str]:
    items = [f"- {line}" for line in lines]
    if items:
        yield f"### {title}\n\n" + "\n".join(items)


NAME_LENGTH = 12
"""Digits in the name of a text. Of 50,000 conversations with 100,000 texts, one has two texts with
the same name."""

TITLE_MAX, LAST_MAX = 80, 200
"""Characters of a call's paths, and of the end of an error, in a stub."""


def name_of(text: str) -> str:
    """Return the short name under which `expand` finds a folded text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:NAME_LENGTH]


def stub(block: Block, changed: bool = False) -> str:  # noqa: FBT001, FBT002
    """Write the stub of a block. changed: the agent changed the file after the block."""
    since = " You changed the file since." if changed else ""
    end = f" It ended: {' '.join(block.text[-LAST_MAX:].split())}" if block.error else ""
    return (
        f"[{_describe(block)}, at step {block.step}, was removed to save context.{since}{end}"
        f" To see it again: expand {name_of(block.text)}]"
    )


def _describe(block: Block) -> str:
    tool = block.tool or "a tool"
    if block.excerpts:
        shown = [
            f"{quoted(e.path)} (all of it)"
            if e.whole
            else f"{quoted(e.path)} lines {e.first}-{e.last}"
            for e in block.excerpts
        ]
        return f"What {tool} showed of {phrases.named(shown, EXCERPTS_NAMED)}"
    size = count(block.text.count("\n") + 1, "line")
    if block.kind == "call":
        paths = ", ".join(dict.fromkeys(quoted(rewrite.path) for rewrite in block.rewrites))
        return f"What you gave {tool} for {paths or 'a command'}, {size}"
    about = (
        f" for {shortened(', '.join(map(quoted, block.paths)), TITLE_MAX)}" if block.paths else ""
    )
    return f"The answer of {tool}{about}, {size}"
