"""Words for a summary: what the model that makes it is asked, and what stands in its place then."""

from __future__ import annotations

from sightline.render import spans
from sightline.render.views import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from sightline.core.window.blocks import Block

TITLE = "## Conversation Summary"
RECORD = "## From the record"
"""Behind it stands what no model wrote."""

TYPED_TOKENS_MAX = 20_000
FILES_MAX = 200

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


def summary(said: str, ledger: Any, count_tokens: Callable[[str], int]) -> str:
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


def _files(files: Sequence[Any]) -> Iterator[str]:
    changed = [each for each in files if each.deed != "read"]
    read = [each for each in files if each.deed == "read"]
    yield from _listed("Files that you changed", map(_file, changed))
    yield from _listed("Files that you read", map(_file, read[-FILES_MAX:]))


def _file(file: Any) -> str:
    deed = "" if file.deed == "read" else f": {file.deed}"
    lines = f", {spans(file.lines)}" if file.lines else ""
    known = file.revision is not None and file.deed != "deleted"
    return f"{file.path}{deed}{f', revision {file.revision[:8]}{lines}' if known else ''}"


def _command(command: Any) -> str:
    text = " ".join(command.text.split())
    text = text if len(text) <= 200 else f"{text[:199]}…"
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
