"""Wording for models: the request for a summary, the summary itself, and stubs of folded blocks.

A stub never changes after it is sent. So it says nothing that becomes wrong later: it names the step
as a number, and whether the agent changed the file until the block was folded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from math import ceil
from typing import Any

from msgspec import Struct

from sightline.messages.blocks import Block
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

    @property
    def has_failed(self) -> bool:
        """Return whether the command failed, as far as the record says."""
        return self.failed or self.exit_code not in (None, 0)


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


PIECES = (8_000, 2_000, 500, 120)
"""Characters to which the texts of tools are cut, one after the other, until a request for a summary fits."""


def summary_request(
    blocks: Sequence[tuple[Block, str]],
    count_tokens: Callable[[str], int] = len,
    room: int | None = None,
) -> str:
    """Write the request for a summary of blocks in plain text, without calls and pictures. Each
    block comes with its text or stub.

    room: tokens that the summarizer can read. Calls and answers of tools then keep their beginnings and
    ends; where that is not enough, the oldest texts but the first are left out, and counted."""
    lines = [_line(block, text) for block, text in blocks]
    if room is None or count_tokens(_request(lines)) <= room:
        return _request(lines)
    for piece in PIECES:
        lines = [
            _line(block, _cut(text, piece) if block.kind in ("call", "result") else text)
            for block, text in blocks
        ]
        if count_tokens(_request(lines)) <= room:
            return _request(lines)
    first, *others = (_cut(line, room) for line in lines if line)
    room -= count_tokens(_request([first, _left_out(len(others))]))
    kept: list[str] = []
    for line in reversed(others):
        room -= count_tokens(f"{line}\n\n")
        if room < 0:
            break
        kept.append(line)
    return _request([first, _left_out(len(others) - len(kept)), *reversed(kept)])


def _request(lines: Iterable[str]) -> str:
    text = "\n\n".join(filter(None, lines))
    return f"{REQUEST}\n--- the conversation ---\n\n{text}\n\n--- its end ---\n\nNow sum it up."


def _left_out(number: int) -> str:
    return f"[{count(number, 'older text')} left out here: too much for one request]"


def _cut(text: str, size: int) -> str:
    """Return the beginning and the end of a long text."""
    if len(text) <= size:
        return text
    half = size // 2
    return f"{text[:half]}\n[{len(text) - 2 * half:,} characters left out here]\n{text[-half:]}"


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


def summary(
    text: str,
    ledger: Ledger,
    count_tokens: Callable[[str], int],
    room: int | None = None,
    outlines: Sequence[str] = (),
) -> str:
    """Write the message that replaces summed-up messages: the summary's own text and the record.

    room: tokens that the message should have at most. Lists then lose their oldest entries, and say
    how many; what was only read or went well goes first. The user's first and last text, and the
    names of this record's headings, always stay. outlines: of files, as whole sections.
    """
    whole = _summary(text, ledger, count_tokens, TYPED_TOKENS_MAX, outlines=outlines)
    if room is None or count_tokens(whole) <= room:
        return whole
    text = shortened(text, max(room, 0))  # as many characters as tokens: about a quarter of them
    for share in SHARES:
        typed = min(int(room * share), TYPED_TOKENS_MAX)
        smaller = _summary(text, ledger, count_tokens, typed, share, is_short=True)
        if count_tokens(smaller) <= room:
            return smaller
    return smaller


SHARES = (1.0, 0.5, 0.25, 0.12, 0.06, 0.0)
"""Parts of the lists of a record that are tried until it fits."""

NAMES_MAX = 60
"""Names from the user's texts that are listed when the texts are left out."""

QUOTED = re.compile(r"`([^`\n]{2,80})`")


def _summary(
    text: str,
    ledger: Ledger,
    count_tokens: Callable[[str], int],
    typed_tokens: int,
    share: float = 1.0,
    *,
    is_short: bool = False,
    outlines: Sequence[str] = (),
) -> str:
    files = ledger.files
    changed = [_file(file) for file in files if file.deed != "read"]
    read = [_file(file) for file in files if file.deed == "read"]
    failed = [_command(command) for command in ledger.commands if command.has_failed]
    commands = failed if is_short else list(map(_command, ledger.commands))
    typed, left = _choose_typed(ledger.typed, count_tokens, typed_tokens)
    sections = [
        *_typed(typed, left),
        *_list("Files that you changed", changed, share),
        *_list("Files that you read", read[-FILES_MAX:], 0.0 if is_short else 1.0),
        *_list("Changed since you last saw them; read them again", ledger.stale, share),
        *_list("Commands that failed" if is_short else "Commands that were run", commands, share),
        *_list("Work that is open", ledger.open, share),
        *_list("Work that is done", ledger.done, 0.0 if is_short else 1.0),
    ]
    if not is_short:
        sections += outlines
        known = "\n\n".join([text, *sections])
        names = dict.fromkeys(name for each in left for name in QUOTED.findall(each))
        sections += _list("Names in messages that were left out", [n for n in names if n not in known][:NAMES_MAX])  # fmt: skip
        known = "\n\n".join([text, *sections])
        sections += _list("Also", missing(known, ledger))
    record = [RECORD, *sections] if sections else []
    return "\n\n".join([TITLE, text.strip(), *record])


def missing(text: str, ledger: Ledger) -> tuple[str, ...]:
    """Return what a summary does not name: changed files, open work, commands that failed, and names
    that the user quoted."""
    said = " ".join(text.split())
    names = [
        *(file.path for file in ledger.files if file.deed != "read"),
        *ledger.open,
        *(_line_of(command) for command in ledger.commands if command.has_failed),
        *(name for typed in ledger.typed for name in QUOTED.findall(typed)[:NAMES_MAX]),
    ]
    return tuple(name for name in dict.fromkeys(names) if " ".join(name.split()) not in said)


def _choose_typed(
    texts: Sequence[str], count_tokens: Callable[[str], int], room: int
) -> tuple[list[str], list[str]]:
    """Return the user's texts to quote, and those to leave out: the first and the last are quoted, and
    as many of the newest others as there is room for."""
    ends = {0, len(texts) - 1}
    room -= sum(count_tokens(texts[place]) for place in ends if texts)
    chosen = set(ends)
    for place in range(len(texts) - 2, 0, -1):
        room -= count_tokens(texts[place])
        if room < 0:
            break
        chosen.add(place)
    quoted = [text for place, text in enumerate(texts) if place in chosen]
    return quoted, [text for place, text in enumerate(texts) if place not in chosen]


def _typed(quoted: Sequence[str], left: Sequence[str]) -> Iterator[str]:
    if quoted:
        more = f" ({count(len(left), 'message')} between them left out)" if left else ""
        texts = "\n\n".join(f"<user>\n{text.strip()}\n</user>" for text in quoted)
        yield f"### What the user said, word for word{more}\n\n{texts}"


DIGEST = (
    "No model summed this up. {messages} left the context window; the record below is complete \
unless it says what is left out."
)
DIGEST_TEXTS, DIGEST_CHARACTERS = 3, 1_500
"""The agent's last texts in a digest, and their length."""


def digest(blocks: Sequence[Block]) -> str:
    """Sum up blocks without a model: the summary before them, and the agent's last words."""
    own = [block.text.strip() for block in blocks if block.kind == "text" and block.text.strip()]
    earlier = [block.text.partition(RECORD)[0] for block in blocks if block.kind == "summary"]
    earlier = [text.removeprefix(TITLE).strip() for text in earlier]
    messages = count(len({block.message for block in blocks}), "message")
    begin = DIGEST.partition("{")[0]
    lines = [DIGEST.format(messages=messages)]
    lines += [shortened(text, SUMMARY_CHARACTERS) for text in earlier if not text.startswith(begin)]
    if own:
        lines.append("Your last words before:")
        lines += [f"> {shortened(' '.join(t.split()), DIGEST_CHARACTERS)}" for t in own[-DIGEST_TEXTS:]]  # fmt: skip
    return "\n\n".join(lines)


SUMMARY_CHARACTERS = 8_000
"""Characters of an earlier summary that a digest repeats."""


def _file(file: File) -> str:
    deed = "" if file.deed == "read" else f": {file.deed}"
    if file.revision is None or file.deed == "deleted":
        return f"{quoted(file.path)}{deed}"
    lines = f", {spans(file.lines)}" if file.lines else ""
    return f"{quoted(file.path)}{deed}, revision {file.revision[:8]}{lines}"


def _line_of(command: Command) -> str:
    return shortened(" ".join(command.text.split()), COMMAND_MAX)


def _command(command: Command) -> str:
    text = _line_of(command)
    if command.exit_code is not None:
        return f"{text} (exit code {command.exit_code})"
    return f"{text} (failed)" if command.failed else text


def _list(title: str, lines: Iterable[str], share: float = 1.0) -> Iterator[str]:
    """Return a section. share: the part of the lines, the newest ones, that it has."""
    items = [f"- {line}" for line in lines]
    kept = items[len(items) - ceil(len(items) * share) :]
    if items:
        omitted = len(items) - len(kept)
        kept += [f"- ({omitted} more left out)"] if omitted else []
        yield f"### {title}\n\n" + "\n".join(kept)


NAME_LENGTH = 12
"""Digits in the name of a text. Of 50,000 conversations with 100,000 texts, one has two texts with
the same name."""

TITLE_MAX, LAST_MAX = 80, 200
"""Characters of a call's paths, and of the end of an error, in a stub."""


def name_of(text: str) -> str:
    """Return the short name under which `expand` finds a folded text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:NAME_LENGTH]


def clipped(block: Block, head: str, tail: str, outline: str = "") -> str:
    """Write what stays of a long answer of a tool: its head and its tail. outline: of a file."""
    lines = block.text.count("\n") - head.count("\n") - tail.count("\n")
    size = (
        f"{count(lines, 'line')} of this answer are"
        if lines > 0
        else "the middle of this answer is"
    )
    name = name_of(block.text)
    signatures = f" What it defines, by line:\n{outline}\n" if outline else ""
    return (
        f"{head}\n[Here {size} left out: the context window was full.{signatures} To see all of it: expand"
        f" {name}; some lines: expand {name} with lines]\n{tail}"
    )


def picture_left_out(block: Block, why: str = "the context window was full") -> str:
    """Write the stub of a picture or a document: the user's, or one in the answer of a tool."""
    if block.kind == "result":
        return f"[A picture or document of this answer was left out: {why}.]"
    return f"[The user put {'an image' if block.kind == 'image' else 'a document'} here; it was left out: {why}.]"  # fmt: skip


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
