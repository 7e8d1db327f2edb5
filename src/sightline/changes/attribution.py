"""Who made a change: the one place that says so, whoever found it. For wording only.

What fits first, by content: git, a command under way, an undo of an agent's edit, a formatter
behind it; else somebody outside. There is no grace time, and a wrong cause is a wrong word.
"""

from __future__ import annotations

from collections.abc import Sequence

from sightline.changes import git_operations
from sightline.changes.cause_rules import (
    PUT_BACK,
    Running,
    after_layout,
    by_command,
    by_formatter,
    may_touch,
    put_back,
    under_way,
)
from sightline.changes.detect import Difference, bytes_of, changed, differing
from sightline.changes.session_context import SessionContext
from sightline.filesystem.file_state import FileState
from sightline.filesystem.process import alive
from sightline.model.events import (
    Cause,
    Changed,
    CommandEnded,
    CommandStarted,
    Fact,
    GitMoved,
    Moved,
    TurnBegan,
    WriteIntended,
)
from sightline.model.text import decode
from sightline.model.timeline import archived

AT_WORK = 8
"""Sessions that are asked for a command under way: those heard of last."""

RECENT = 64
"""Facts on commands that are looked through in each."""

PAST = 8
"""Changes of a file that are looked through for the edit behind them."""

CHAIN = ("agent", "formatter", "command")
"""What a formatter's change, or an undo, may stand behind."""


def facts(
    ground: SessionContext, differences: Sequence[Difference], presumed: Cause | None = None
) -> list[Fact]:
    """The differences as facts with their causes; none of what a write under way is to tell.
    presumed: the cause of what git did not do, where the caller knows."""
    moved = git_operations.recognised(ground, differences)
    left = [each for each in differences if each.found.path not in moved.named]
    left = [each for each in left if not _being_written(ground, each)]
    for each in left:
        if each.found.data is None:  # a scan's: whoever records it has no text to keep
            text = bytes_of(ground, each)
            ground.store.keep(ground.keepable(each.found.path, text))
    commands = _commands(ground, presumed) if left else []
    return [
        *moved.facts,
        *(changed(each, _cause(ground, each, moved.likely, commands)) for each in left),
    ]


def cause_of(ground: SessionContext, difference: Difference) -> Cause:
    """The cause of one difference that git is not asked about."""
    return _cause(ground, difference, {}, _commands(ground))


def _cause(
    ground: SessionContext, difference: Difference, likely: dict[str, Cause], commands: list[Cause]
) -> Cause:
    path = difference.found.path
    by_git = [likely[path]] if path in likely else []
    by_commands = [each for each in commands if may_touch(each.detail or "", path)]
    return next(iter([*by_git, *by_commands]), None) or _by_content(ground, difference)


def of_mode(ground: SessionContext, path: str, presumed: Cause | None = None) -> Cause:
    """The cause of a change of a file's rights, which leaves no content to go by."""
    by = [each for each in _commands(ground, presumed) if may_touch(each.detail or "", path)]
    return by[0] if by else Cause("external")


def _commands(ground: SessionContext, presumed: Cause | None = None) -> list[Cause]:
    """The commands under way as causes, the likeliest first."""
    begun = [by_command(each) for each in reversed(running(ground))]
    return begun if presumed is None else [presumed, *begun]


def running(ground: SessionContext) -> tuple[Running, ...]:
    """The commands of all sessions of this tree that are under way, the newest last."""
    states = [s for s in ground.store.sessions() if s.ended is None and not archived(s.id)]
    newest = sorted(states, key=lambda state: state.position)[-AT_WORK:]
    kinds: list[type[Fact]] = [CommandStarted, CommandEnded, TurnBegan]
    found = [
        each
        for state in newest
        if state.owner is None or alive(state.owner)
        for each in under_way(ground.store.timeline(session=state.id, kinds=kinds, newest=RECENT))
    ]
    return tuple(sorted(found, key=lambda each: each.position))


def by_bracket(ground: SessionContext, command: str, run: str, since: int) -> Cause:
    """The cause of what is different when a command of this session ends. since: the position at
    which it began; certain when nobody else was at work meanwhile."""
    others = any(each.run != run for each in running(ground))
    sure = "likely" if others or _busy(ground, since) else "certain"
    return Cause("command", ground.session, command, sure)


def _busy(ground: SessionContext, since: int) -> bool:
    """Whether anybody else did anything since."""
    kinds: list[type[Fact]] = [Changed, Moved, GitMoved, WriteIntended, CommandStarted]
    for recorded in ground.store.timeline(after=since, kinds=kinds):
        made = getattr(recorded.fact, "cause", None)
        if isinstance(made, Cause) and made.who != ground.session:
            return True
        if made is None and recorded.session != ground.session:
            return True
    return False


def _by_content(ground: SessionContext, difference: Difference) -> Cause:
    """An undo of an agent's edit, a formatter behind one, or somebody outside."""
    row, found = difference.row, difference.found
    if found.kind != "file":
        return Cause("external", detail=found.kind)
    if row.cause is None or row.cause.kind not in CHAIN:
        return Cause("external")
    past = _past(ground, difference)
    if put_back(past, difference.after):
        return Cause("external", detail=PUT_BACK)
    before = _text(ground.store.blob(row.revision))
    return by_formatter(past, before, _text(bytes_of(ground, difference))) or Cause("external")


def after_write(
    ground: SessionContext, mine: bytes | None, found: bytes | None, detail: str | None = None
) -> Cause:
    """The cause of what stands there in place of what this session's host wrote just now."""
    if detail is not None:
        return Cause("external", detail=detail)
    return after_layout(_text(mine), _text(found), ground.session) or Cause("external")


def _past(ground: SessionContext, difference: Difference) -> list[Changed]:
    """The newest changes of a file, newest first, up to the one that left what the row says."""
    path, upto = difference.found.path, difference.row.position
    log = ground.store.timeline(path=path, kinds=[Changed], upto=upto, newest=PAST)
    kept = [each.fact for each in reversed(list(log)) if not archived(each.session)]
    return [fact for fact in kept if isinstance(fact, Changed)]


def _being_written(ground: SessionContext, difference: Difference) -> bool:
    """Whether this is what a write under way leaves, laid out anew before its writer told of it:
    the writer will, and tell the formatter apart."""
    for pending in ground.store.pending():
        fact = pending.fact
        if isinstance(fact, WriteIntended) and fact.path == difference.found.path:
            wanted = _text(ground.store.blob(fact.after))
            there = _text(bytes_of(ground, difference))
            if after_layout(wanted, there, pending.session) is not None:
                return True
    return False


def _text(data: bytes | None) -> str | None:
    text = decode(data) if data is not None else None
    return text.plain if text else None


def detect_changes(
    ground: SessionContext, *looked: FileState, presumed: Cause | None = None
) -> list[Fact]:
    """The facts that the disk is not what the timeline says, where so and where nobody is writing
    it. presumed: who is taken for the cause of what git did not do (changes.attribution)."""
    differences = [each for found in looked if (each := differing(ground, found)) is not None]
    if not differences:
        return []
    return facts(ground, differences, presumed)
