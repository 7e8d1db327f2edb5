"""Condensing: replace all but the newest messages by a summary, which is checked first.

The summarizer gets plain text. What the recorded facts say for certain is not left to it: the user's
texts, files, commands and the open to-do list are added beside its words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from contextvars import copy_context
from itertools import accumulate
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Protocol

from msgspec import Struct, convert, structs

from sightline.changes.command_texts import shown_command
from sightline.changes.session_context import SessionContext
from sightline.errors import CondenseRefused
from sightline.messages.blocks import Block, Decision
from sightline.messages.message_chain import (
    branch_facts,
    leading_system,
    newest_facts,
    read_blob,
    read_message,
)
from sightline.messages.message_codec import message_id
from sightline.messages.progress import read_progress
from sightline.messages.todos import todos
from sightline.messages.tool_calls import field, parse_object
from sightline.messages.tool_names import plain_name
from sightline.messages.written_files import COMMANDS
from sightline.model.agent_work import Todo
from sightline.model.events import (
    AnswerGiven,
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
from sightline.window import words
from sightline.window.dropped_text import dropped_lines, path_of
from sightline.window.file_outlines import outline_sections
from sightline.window.fold_decisions import encode_decision, load_json
from sightline.window.sent_view import Window
from sightline.window.words import Command, File, Ledger

FAILURES_MAX = 3
"""Failures in a row after which no summary is requested until the user writes again."""

SUMMARY_TOKENS_MAX = 4_000
"""Tokens of the summarizer's text; the record comes on top."""

TIMEOUT_S = 180.0
"""How long a summarizer may take."""

MOVED = "the conversation went back, or was summed up by somebody else, while it was made"


class Summarizer(Protocol):
    """Sums up a conversation: takes a text that asks for a summary, returns the summary."""

    def __call__(self, request: str, /) -> str:
        """Return the summary that a request asks for."""


class Condensation(Struct, frozen=True):
    """A summary that the view begins with from now on. first, last: ids of the messages that it
    replaces; before, after: tokens of the view; added: changed files, open work, failed commands and
    quoted names that the summarizer left out, and the record has."""

    summary: str
    first: str
    last: str
    before: int
    after: int
    added: tuple[str, ...] = ()


class Part(Struct, frozen=True):
    """The messages to sum up. start: index of the first one; cut: index of the first message after
    them; blocks: of these messages, each with its text in the view; tip: id of the last one."""

    start: int
    cut: int
    blocks: list[tuple[Block, str]]
    ledger: Ledger
    tip: str


def condense(
    window: Window,
    lock: AbstractContextManager[object],
    summarizer: Summarizer | None,
    keep_tokens: int,
    *,
    target: int | None = None,
    timeout_s: float = TIMEOUT_S,
    outlines: bool = False,
    keeps_folds: bool = False,
    room: int | None = None,
) -> Condensation | None:
    """Sum up all but the newest messages. See Conversation.condense. The lock is not held while the
    summarizer works. keeps_folds: stubs among the newest messages stay stubs. room: tokens that the
    summarizer can read, with its answer; None where that is not known."""
    if keep_tokens < 0:
        raise ValueError(f"keep_tokens is a number of tokens, 0 or more, not {keep_tokens}")
    with lock:
        if summarizer is not None:
            _check_failures(window)
        part = choose_part(window, find_cut(window, keep_tokens))
    if part is None:
        return None
    answer: object = None
    if summarizer is None:
        answer = words.digest([block for block, _ in part.blocks])
    else:
        try:
            if room is not None:
                room = max(room - SUMMARY_TOKENS_MAX, room // 2)
            request = words.summary_request(part.blocks, window.count, room)
            answer = _ask(summarizer, request, timeout_s)
        except Exception as error:
            reason = f"the summarizer failed: {type(error).__name__}: {error}"[:500]
            with lock:
                raise _fail(window, reason) from error
    with lock:
        if answer is not None and not isinstance(answer, str):
            raise _fail(window, f"it is not a text, but of type {type(answer).__name__}")
        if not answer or not answer.strip():
            raise _fail(window, "it is empty")
        window.refresh()
        if window.ids[part.cut - 1 : part.cut] != [part.tip]:
            raise _fail(window, MOVED)
        length = window.count(answer)
        if length > SUMMARY_TOKENS_MAX:
            raise _fail(window, f"it has {length} tokens, {SUMMARY_TOKENS_MAX} are the most")
        blocks = [block for block, _ in part.blocks]
        shown = outline_sections(blocks, window.count) if outlines else ()
        text = words.summary(answer.strip(), part.ledger, window.count, outlines=shown)
        return record_summary(
            window,
            part,
            text,
            target=target,
            keeps_folds=keeps_folds,
            added=() if summarizer is None else words.missing(answer, part.ledger),
        )


def _ask(summarizer: Summarizer, request: str, timeout_s: float) -> object:
    """Return a summarizer's answer. TimeoutError when it takes too long: its thread is left alone."""
    answers: SimpleQueue[tuple[object, BaseException | None]] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put((summarizer(request), None))
        except BaseException as error:  # noqa: BLE001 - raised where the summary was asked for
            answers.put((None, error))

    Thread(target=copy_context().run, args=(ask,), daemon=True, name="summarizer").start()
    try:
        answer, error = answers.get(timeout=timeout_s)
    except Empty:
        raise TimeoutError(f"no answer in {timeout_s:g} s") from None
    if error is not None:
        raise error
    return answer


def choose_part(window: Window, cut: int) -> Part | None:
    """Return the messages before a cut; None where there is nothing to sum up."""
    if window.format is None:
        return None
    start = len(leading_system(window.rows))
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
    return Part(start, cut, texts, collect_record(window, blocks), window.ids[cut - 1])


def find_cut(window: Window, keep_tokens: int) -> int:
    """Return the index of the last message after which enough tokens stay, and before which a cut is
    valid; that of the first message but the system's where there is none."""
    start = len(leading_system(window.rows))
    sizes = [0] * len(window.messages)
    for block in window.blocks:
        sizes[block.message] += block.tokens
    behind = list(accumulate(reversed(sizes)))[::-1]
    cuts = (cut for cut in reversed(valid_cuts(window)) if behind[cut] >= keep_tokens)
    return next(cuts, start)


def valid_cuts(window: Window) -> list[int]:
    """Return the indexes of the messages before which a cut parts neither a call from its result nor
    an answer of the model."""
    if window.format is None:
        return []
    role = window.format.adapter.role
    called: dict[str | None, int] = {}
    joined: set[int] = set()  # messages between a call and its result
    for block in window.blocks:
        if block.kind == "call":
            called[block.call] = block.message
        elif block.kind == "result" and block.call in called:
            joined.update(range(called[block.call] + 1, block.message + 1))
    roles = [role(message) for message in window.messages]
    start = len(leading_system(window.rows))
    return [
        number
        for number in range(start + 1, len(roles))
        if number not in joined and not roles[number] == roles[number - 1] == "model"
    ]


def record_summary(
    window: Window,
    part: Part,
    text: str,
    *,
    target: int | None,
    keeps_folds: bool,
    added: tuple[str, ...] = (),
) -> Condensation:
    """Record a summary. target: tokens of the view, as the window counts them, that it may have.
    CondenseRefused for a summary that frees no tokens, or leaves more than the target."""
    assert window.format is not None
    sizes = window.sizes if keeps_folds else [block.tokens for block in window.blocks]
    staying = [n for n, b in enumerate(window.blocks) if not part.start <= b.message < part.cut]
    before = window.tokens
    after = sum(sizes[place] for place in staying) + window.count(text)
    if after >= before:
        reason = f"the view would have {after} tokens with it, and has {before} without"
        raise _fail(window, reason)
    if target is not None and after > target:
        raise _fail(window, f"the view would have {after} tokens with it, {target} are the most")
    message = window.format.adapter.user_message(text, window.messages[part.start])
    summary = message_id(message, window.ids[part.cut - 1])
    decision = _decision_behind(window, part.cut, message, keeps_folds=keeps_folds)
    content = {"message": message, "ledger": part.ledger.dump(), **decision}
    data = json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass")
    first, last = window.ids[part.start], window.ids[part.cut - 1]
    fact = Condensed(summary, first, last, revision_of(data), window.side)
    removed = window.removed
    visible = [block for place, block in enumerate(window.blocks) if place not in removed]
    summed_up = [block for block in visible if part.start <= block.message < part.cut]
    blocks = [window.blocks[place] for place in staying if not keeps_folds or place not in removed]
    lines = dropped_lines(window.context, summed_up, blocks)
    window.context.append([*lines, fact], blobs=[data])
    window.refresh()
    return Condensation(text, first, last, before, window.tokens, added)


def _decision_behind(
    window: Window, cut: int, message: Any, *, keeps_folds: bool
) -> dict[str, Any]:
    """Return, as an encoded decision, the thinking after the cut that may be dropped, which is bound
    to the messages before the cut, and the stubs after the cut that stay."""
    assert window.format is not None
    messages = [message, *window.messages[cut:]]
    blocks: list[Block] = window.format.blocks(messages, len)
    last_user = max((n for n, block in enumerate(blocks) if block.kind == "user"), default=0)
    loose = tuple(n for n, block in enumerate(blocks) if block.loose and n < last_user)
    places = {(block.message, block.part): place for place, block in enumerate(blocks)}
    folds = []
    for fold in (fold for each in window.decisions for fold in each.folds if keeps_folds):
        block = window.blocks[fold.block]
        if block.message >= cut:
            place = places[block.message - cut + 1, block.part]
            folds.append(structs.replace(fold, block=place))
    decision = Decision(tuple(folds), dropped=loose)
    try:
        window.format.project(messages, blocks, [decision])
    except ValueError:
        decision = Decision(tuple(folds))
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
        "Go on with the view; a smaller budget folds more without a model.",
    )


# --- the record beside a summary

DELETES = ("deletefile", "filedeleted")
DELETED = "*** Delete File: "
"""How tools, and patches, delete a file."""

COMMANDS_MAX = 40


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
    items = _todos(window)
    return Ledger(
        typed=(*before.typed, *(block.text for block in blocks if block.kind == "user")),
        files=tuple(_files(context, before, blocks, after)),
        commands=_newest_commands(_commands(context, before, blocks)),
        open=tuple(item.text for item in items if item.state in ("proposed", "in_progress")),
        done=tuple(item.text for item in items if item.state in ("done", "dropped")),
        stale=tuple(change.path for change in pending.changes(context, told=True)),
    )


def _todos(window: Window) -> tuple[Todo, ...]:
    """Return the newest to-do list of the whole conversation: an item that was written before an
    earlier summary may still be open. Structured answers have to-dos, too."""
    if not window.side and newest_facts(window.context, [AnswerGiven], 1):
        return read_progress(window.context).todos
    assert window.format is not None
    if not any(isinstance(row.fact, Condensed) for row in window.rows):
        return todos(window.blocks)
    rows = [row for row in window.rows if isinstance(row.fact, MessageAppended)]
    messages = [read_message(window.context, row) for row in rows]
    return todos(window.format.blocks(messages, len))


def _written(block: Block) -> Iterator[str]:
    """Return the paths of the files that a block writes, changes or deletes."""
    yield from (rewrite.path for rewrite in block.rewrites)
    if block.kind == "call" and block.deed in ("edit", "write"):
        yield from block.paths


def _newest_commands(commands: Sequence[Command]) -> tuple[Command, ...]:
    """Return the newest commands, and as many of the newest that failed."""
    failed = [n for n, command in enumerate(commands) if command.has_failed][-COMMANDS_MAX:]
    first = len(commands) - COMMANDS_MAX
    return tuple(c for n, c in enumerate(commands) if n >= first or n in failed)


def _files(
    context: SessionContext, before: Ledger, blocks: Sequence[Block], after: int
) -> Iterator[File]:
    """Return each file once: the last change, and the text that the agent holds. after: `before` has
    all changes up to this position, and maybe later ones; a change counts once however often it is
    read."""
    deeds = {file.path: file.deed for file in before.files}
    failed = {block.call for block in blocks if block.kind == "result" and block.error}
    for block in blocks:
        paths = [excerpt.path for excerpt in block.excerpts]
        paths += block.paths if block.deed == "read" and not block.error else ()
        for path in paths:
            deeds.setdefault(path_of(context, path) or path, "read")
        for spelling in _written(block) if block.call not in failed else ():
            path = path_of(context, spelling) or spelling
            if plain_name(block.tool or "") in DELETES or f"{DELETED}{spelling}" in block.text:
                deeds[path] = "deleted"
            else:
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
    for row in branch_facts(context, [CommandStarted, CommandEnded]):
        if isinstance(row.fact, CommandStarted):
            started[row.fact.run] = shown_command(context.store, row.fact.command)
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
