"""Condensing: replace all but the newest messages by a summary, which is checked first.

The summarizer gets plain text. What the recorded facts say for certain is not left to it: the user's
texts, files, commands and the open to-do list are added beside its words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from msgspec import Struct, convert

from sightline.changes.session_context import SessionContext
from sightline.conversation import words
from sightline.conversation.dropped_text import dropped_lines, path_of
from sightline.conversation.fold_decisions import encode_decision, load_json
from sightline.conversation.message_chain import (
    branch_facts,
    leading_system,
    newest_facts,
    read_blob,
)
from sightline.conversation.message_codec import message_id
from sightline.conversation.sent_view import Window
from sightline.conversation.todos import todos
from sightline.conversation.tool_calls import field, parse_object
from sightline.conversation.window.blocks import Block, Decision
from sightline.conversation.words import Command, File, Ledger
from sightline.conversation.written_files import COMMANDS
from sightline.errors import CondenseRefused
from sightline.model.events import (
    Changed,
    CommandEnded,
    CommandStarted,
    Condensed,
    CondenseFailed,
    MessageAppended,
    Moved,
)
from sightline.model.path import quoted
from sightline.model.revision import revision_of
from sightline.model.timeline import of_kind
from sightline.notices import pending

FAILURES_MAX = 3
"""Failures in a row after which no summary is requested until the user writes again."""

SUMMARY_TOKENS_MAX = 4_000
"""Tokens of the summarizer's text; the record comes on top."""

MOVED = "the conversation went back, or was summed up by somebody else, while it was made"


class Condensation(Struct, frozen=True):
    """A summary that the view begins with from now on. first, last: ids of the messages that it
    replaces; before, after: tokens of the view."""

    summary: str
    first: str
    last: str
    before: int
    after: int


class Part(Struct, frozen=True):
    """The messages to sum up. start: index of the first one; cut: index of the first message after
    them; text: the request for the summarizer; tip: id of the last one."""

    start: int
    cut: int
    text: str
    ledger: Ledger
    tip: str


def condense(
    window: Window,
    lock: AbstractContextManager[object],
    summarizer: Callable[[str], str],
    keep_tokens: int,
) -> Condensation | None:
    """Sum up all but the newest messages. See Conversation.condense. The lock is not held while the
    summarizer works."""
    if keep_tokens < 0:
        raise ValueError(f"keep_tokens is a number of tokens, 0 or more, not {keep_tokens}")
    with lock:
        _check_failures(window)
        part = _choose_part(window, keep_tokens)
    if part is None:
        return None
    try:
        answer: object = summarizer(part.text)
    except Exception as error:
        reason = f"the summarizer failed: {type(error).__name__}: {error}"[:500]
        with lock:
            raise _fail(window, reason) from error
    with lock:
        if not isinstance(answer, str) or not answer.strip():
            raise _fail(window, "it is empty")
        window.refresh()
        if window.ids[part.cut - 1 : part.cut] != [part.tip]:
            raise _fail(window, MOVED)
        return _record(window, part, answer.strip())


def _choose_part(window: Window, keep_tokens: int) -> Part | None:
    """Choose the messages to sum up; None where there are none."""
    if window.format is None:
        return None
    start = len(leading_system(window.rows))
    cut = _find_cut(window, keep_tokens, start)
    blocks = [block for block in window.blocks if start <= block.message < cut]
    if cut <= start or all(block.kind == "summary" for block in blocks):
        return None
    stubs = {fold.block: fold.stub for decision in window.decisions for fold in decision.folds}
    dropped = {place for decision in window.decisions for place in decision.dropped}
    texts = [
        (block, stubs.get(place, block.text))
        for place, block in enumerate(window.blocks)
        if start <= block.message < cut and place not in dropped
    ]
    record = collect_record(window, blocks)
    return Part(start, cut, words.summary_request(texts), record, window.ids[cut - 1])


def _find_cut(window: Window, keep_tokens: int, start: int) -> int:
    """Return the index of the last message after which enough tokens stay, and before which a cut
    parts neither a call from its result nor an answer of the model."""
    assert window.format is not None
    role = window.format.adapter.role
    sizes = [0] * len(window.messages)
    called: dict[str | None, int] = {}
    joined: set[int] = set()  # messages between a call and its result
    for block in window.blocks:
        sizes[block.message] += block.tokens
        if block.kind == "call":
            called[block.call] = block.message
        elif block.kind == "result" and block.call in called:
            joined.update(range(called[block.call] + 1, block.message + 1))
    kept = 0
    for number in range(len(window.messages) - 1, start, -1):
        kept += sizes[number]
        inside = role(window.messages[number]) == role(window.messages[number - 1]) == "model"
        if kept >= keep_tokens and number not in joined and not inside:
            return number
    return start


def _record(window: Window, part: Part, answer: str) -> Condensation:
    """Record a summary. CondenseRefused for one that is too long or frees no tokens."""
    assert window.format is not None
    length = window.count(answer)
    if length > SUMMARY_TOKENS_MAX:
        raise _fail(window, f"it has {length} tokens, {SUMMARY_TOKENS_MAX} are the most")
    text = words.summary(answer, part.ledger, window.count)
    staying = [b for b in window.blocks if not part.start <= b.message < part.cut]
    before, after = window.tokens, sum(block.tokens for block in staying) + window.count(text)
    if after >= before:
        reason = f"the view would have {after} tokens with it, and has {before} without"
        raise _fail(window, reason)
    message = window.format.adapter.user_message(text)
    summary = message_id(message, window.ids[part.cut - 1])
    thinking = _drop_thinking(window, part.cut, message)
    content = {"message": message, "ledger": part.ledger.dump(), **thinking}
    data = json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass")
    first, last = window.ids[part.start], window.ids[part.cut - 1]
    fact = Condensed(summary, first, last, revision_of(data), window.side)
    removed = window.removed
    visible = [block for place, block in enumerate(window.blocks) if place not in removed]
    summed_up = [block for block in visible if part.start <= block.message < part.cut]
    lines = dropped_lines(window.context, summed_up, staying)
    window.context.append([*lines, fact], blobs=[data])
    window.refresh()
    return Condensation(text, first, last, before, window.tokens)


def _drop_thinking(window: Window, cut: int, message: Any) -> dict[str, Any]:
    """Return, as an encoded decision, the thinking after the cut that may be dropped: it is bound to
    the messages before the cut."""
    assert window.format is not None
    messages = [message, *window.messages[cut:]]
    blocks: list[Block] = window.format.blocks(messages, len)
    last_user = max((n for n, block in enumerate(blocks) if block.kind == "user"), default=0)
    loose = tuple(n for n, block in enumerate(blocks) if block.loose and n < last_user)
    decision = Decision(dropped=loose)
    try:
        window.format.project(messages, blocks, [decision])
    except ValueError:
        decision = Decision()
    encoded: dict[str, Any] = json.loads(encode_decision(decision, blocks, ["", *window.ids[cut:]]))
    return encoded


def _check_failures(window: Window) -> None:
    """CondenseRefused after three failures in a row, until the user writes again."""
    failures = 0
    for fact in (row.fact for row in window.rows):
        if isinstance(fact, Condensed):
            failures = 0
        elif isinstance(fact, CondenseFailed):
            failures += 1
        elif isinstance(fact, MessageAppended) and fact.role == "user":
            failures = min(failures, FAILURES_MAX - 1)
    if failures >= FAILURES_MAX:
        raise CondenseRefused(
            f"The last {failures} summaries failed, so no further one was asked for.",
            "Look into the summarizer; the next try is made once the user said something new.",
        )


def _fail(window: Window, reason: str) -> CondenseRefused:
    """Record a failure; return the error to raise."""
    window.context.append([CondenseFailed(reason, window.side)])
    return CondenseRefused(
        f"No summary was taken: {reason}. The conversation and its view are as they were.",
        "Go on with view(); a smaller budget folds more without a model.",
    )


# --- the record beside a summary

COMMANDS_MAX = 40

COMMAND_FACTS = 10 * COMMANDS_MAX
"""The number of newest facts about commands to read."""


def collect_record(window: Window, blocks: Sequence[Block]) -> Ledger:
    """Collect the record of blocks before a summary replaces them, and of earlier summaries."""
    context = window.context
    before, after = Ledger((), (), ()), 0
    summaries = [*of_kind(Condensed, window.rows)]
    if summaries and summaries[-1].text is not None:
        content = load_json(read_blob(context, summaries[-1].text))
        before = convert(content["ledger"], Ledger)
        facts = ((row.position, row.fact) for row in window.rows)
        messages = ((at, fact) for at, fact in facts if isinstance(fact, MessageAppended))
        after = next((at for at, fact in messages if fact.message == summaries[-1].last), 0)
    items = todos(window.blocks)
    return Ledger(
        typed=(*before.typed, *(block.text for block in blocks if block.kind == "user")),
        files=tuple(_files(context, before, blocks, after)),
        commands=_commands(context, before, blocks)[-COMMANDS_MAX:],
        open=tuple(item.text for item in items if item.state in ("pending", "doing")),
        done=tuple(item.text for item in items if item.state in ("done", "cancelled")),
        stale=tuple(change.path for change in pending.changes(context, told=True)),
    )


def _files(
    context: SessionContext, before: Ledger, blocks: Iterable[Block], after: int
) -> Iterator[File]:
    """Return each file once: the last change, and the text that the agent holds. after: `before` has
    all changes up to this position, and maybe later ones; a change counts once however often it is
    read."""
    deeds = {file.path: file.deed for file in before.files}
    for block in blocks:
        paths = [excerpt.path for excerpt in block.excerpts]
        paths += block.paths if block.deed == "read" and not block.error else ()
        for path in paths:
            deeds.setdefault(path_of(context, path) or path, "read")
        for rewrite in block.rewrites:
            path = path_of(context, rewrite.path) or rewrite.path
            deeds[path] = "created" if deeds.get(path) == "created" else "modified"
    known = context.store.known(context.session)
    for path in known:
        deeds.setdefault(path, "read")
    for row in branch_facts(context, [Changed, Moved], after=after):
        fact = row.fact
        if isinstance(fact, Moved) and fact.cause.kind == "agent":
            deeds[fact.path] = f"moved from {quoted(fact.src)}"
        elif isinstance(fact, Changed) and fact.cause.kind in ("agent", "command"):
            created = fact.change == "content" and deeds.get(fact.path) == "created"
            if fact.change in ("created", "deleted", "content") and not created:
                deeds[fact.path] = "modified" if fact.change == "content" else fact.change
    for path, deed in deeds.items():
        belief = known[path].belief if path in known else None
        yield File(path, deed, belief.text if belief else None, belief.shown if belief else ())


def _commands(
    context: SessionContext, before: Ledger, blocks: Iterable[Block]
) -> tuple[Command, ...]:
    """Return the newest commands in the recorded facts, else those in the messages, which have no exit
    codes."""
    started: dict[str, str] = {}
    commands: list[Command] = []
    for row in newest_facts(context, [CommandStarted, CommandEnded], COMMAND_FACTS):
        if isinstance(row.fact, CommandStarted):
            started[row.fact.run] = row.fact.command
        elif isinstance(row.fact, CommandEnded) and row.fact.run in started:
            commands.append(Command(started.pop(row.fact.run), row.fact.exit_code))
    if commands:
        return tuple(commands)
    called: dict[str | None, str] = {}
    for block in blocks:
        command = _command_line(block) if block.kind == "call" else None
        if command is not None:
            called[block.call] = command
        elif block.kind == "result" and block.call in called:
            commands.append(Command(called.pop(block.call), failed=block.error))
    return (*before.commands, *commands)


def _command_line(block: Block) -> str | None:
    """Return the command line in a call's arguments, None for a call that runs none."""
    arguments = parse_object(block.text)
    if arguments is None:
        return block.text if block.deed == "run" else None
    line = field(arguments, *COMMANDS)
    return " ".join(map(str, line)) if isinstance(line, list) else line and str(line)
