"""Play recorded sessions under policies, one process for each core, and gather the outcomes.

An agent's behaviour with less in its window is modelled, not observed.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from hashlib import sha256
from time import process_time

from msgspec import Struct, structs

from sightline.audit.comparison import Row, compare_policies
from sightline.audit.costs import Outcome
from sightline.audit.engine import measure
from sightline.audit.policies import Maker, Setting
from sightline.audit.record import build_record
from sightline.messages.blocks import Block, Decision
from sightline.messages.formats.format import FORMATS, Format
from sightline.recordings.read_recordings import find_recordings, read_recording
from sightline.recordings.recorded_conversation import Conversation, Message, Unread


class Order(Struct, frozen=True):
    """The request for a replay. policies: name -> maker; least_tokens: sessions whose largest
    view has fewer are left out."""

    policies: Mapping[str, Maker]
    setting: Setting
    least_tokens: int = 0


class Played(Struct, frozen=True):
    """A session. digest: of its id; tokens: of its largest view without truncation; passed_over:
    damaged rows; mended: segments whose recorded messages break a rule of their format and were
    repaired; outcomes: one for each policy, empty for a session that
    does not count; set_aside: messages that the format cannot hold, with the reasons."""

    source: str
    agent: str
    session: str
    digest: str
    tokens: int
    passed_over: int
    mended: int = 0
    outcomes: tuple[Outcome, ...] = ()
    set_aside: tuple[str, ...] = ()


class Replay(Struct, frozen=True):
    """The result of a replay. sessions: those that count; others: number of sessions left out for
    their size; again: files with a session that another file holds at least as long;
    unread: files without a session; digest: of the list of sessions."""

    order: Order
    sessions: tuple[Played, ...]
    others: int
    again: tuple[str, ...]
    unread: tuple[Unread, ...]
    digest: str

    def outcomes(self) -> dict[str, list[Outcome]]:
        """Return policy -> the outcome of each session."""
        return {
            name: [session.outcomes[at] for session in self.sessions]
            for at, name in enumerate(self.order.policies)
        }

    def rows(self) -> list[Row]:
        """Return a row for each policy, in the order of the request; none without a session."""
        return compare_policies(self.outcomes()) if self.sessions else []


def replay(
    paths: Sequence[str],
    order: Order,
    *,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Replay:
    """Play the recordings in these files and folders. limit: files; progress: called with the
    number of files done and of all files. FileMissing."""
    files = find_recordings(paths)[:limit]
    show_progress = progress or (lambda *_: None)
    show_progress(0, len(files))
    results: dict[str, Played | Unread] = {}
    for path, result in _play_files(order, files):
        results[path] = result
        show_progress(len(results), len(files))

    sessions: dict[str, Played] = {}
    again: list[str] = []
    unread: list[Unread] = []
    for result in (results[path] for path in files):
        if isinstance(result, Unread):
            unread.append(result)
            continue
        other = sessions.get(result.digest, result)
        longer, shorter = (result, other) if result.tokens > other.tokens else (other, result)
        sessions[result.digest] = longer
        if other is not result:
            again.append(shorter.source)
    counted = tuple(sessions[mark] for mark in sorted(sessions) if sessions[mark].outcomes)
    digest = sha256("\n".join(session.digest for session in counted).encode()).hexdigest()
    others = len(sessions) - len(counted)
    return Replay(order, counted, others, tuple(again), tuple(unread), digest)


def _play_files(order: Order, paths: Sequence[str]) -> Iterator[tuple[str, Played | Unread]]:
    """Yield each file and its result as it finishes. The largest files start first, so that no core
    waits for the last one."""
    workers = min(os.cpu_count() or 1, len(paths))
    if workers <= 1:
        for path in paths:
            yield path, play(order, path)
        return

    pool = ProcessPoolExecutor(workers, initializer=_ignore_interrupt)
    try:
        largest = sorted(paths, key=_size, reverse=True)
        started = {pool.submit(play, order, path): path for path in largest}
        for done in as_completed(started):
            yield started[done], done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:  # reading the file reports the error
        return 0


def _ignore_interrupt() -> None:
    """Leave Ctrl-C to the parent process, which ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def play(order: Order, path: str) -> Played | Unread:
    """Play the session of a file under all policies, or return why the file holds no session."""
    found = read_recording(path)
    if isinstance(found, Unread):
        return found
    setting = structs.replace(order.setting, folder=found.folder)
    mark = sha256((found.session or path).encode("utf-8", "surrogatepass")).hexdigest()
    parts = list(segments(found, setting.count))
    tokens = max((part.tokens for part in parts), default=0) + setting.prefix
    mended = sum(part.mended for part in parts)
    played = Played(
        *(path, found.agent, found.session, mark, tokens, found.passed_over, mended),
        set_aside=found.set_aside,
    )
    if tokens < order.least_tokens:
        return played
    sums = [Outcome() for _ in order.policies]
    last_at: int | None = None
    for part in parts:
        record = build_record(part.blocks, part.times, last_at)
        last_at = next((turn.at for turn in reversed(record.turns) if turn.at), last_at)
        for number, make in enumerate(order.policies.values()):
            sums[number] += measure(record, make(setting), setting, part.problem, process_time)
    return structs.replace(played, outcomes=tuple(sums))


class Segment(Struct, frozen=True):
    """A part of a conversation between two compactions. mended: its recorded messages break a rule of
    their format and were repaired."""

    format: Format
    messages: tuple[Message, ...]
    times: tuple[int | None, ...]
    blocks: tuple[Block, ...]
    mended: bool

    @property
    def tokens(self) -> int:
        """Tokens of all blocks."""
        return sum(block.tokens for block in self.blocks)

    def problem(self, decisions: Sequence[Decision], added: int) -> str | None:
        """Return what the format does not allow in the view of the first `added` blocks after these
        decisions; None for a valid view, and where the recorded messages are no more valid."""
        upto = self.blocks[added].message if added < len(self.blocks) else len(self.messages)
        messages = self.messages[:upto]
        try:
            view = self.format.project(messages, self.blocks[:added], decisions)
        except ValueError as error:
            return str(error)
        problems = self.format.problems(view, sending=True)
        if not problems or self.format.problems(messages, sending=True):
            return None
        return f"{problems[0].invariant}: {problems[0].why}"


def segments(conversation: Conversation, count: Callable[[str], int]) -> Iterator[Segment]:
    """Yield a conversation's segments. count: tokens of a text."""
    shape = FORMATS[conversation.format]
    for messages, times in conversation.segments():
        mended = bool(shape.problems(messages))
        if mended:
            recorded = {id(message): at for message, at in zip(messages, times, strict=True)}
            messages = tuple(shape.repaired(messages))
            times = tuple(recorded.get(id(message)) for message in messages)
        yield Segment(shape, messages, times, tuple(shape.blocks(messages, count)), mended)
