"""Shell commands: what they changed, and what they showed.

Nothing tells what a command does. So the files of the timeline are compared before it and after
it, and between the two whatever changed counts as the command's. What it showed is read off its
output, line by line; its text only says where to look (core.shell).
"""

from __future__ import annotations

from time import monotonic

from sightline.core.causes import BACKGROUND, may_touch
from sightline.core.events import CommandEnded as Ended
from sightline.core.events import CommandStarted, GitMoved, SightLost
from sightline.core.reading_only import only_reads
from sightline.core.revision import MISSING, UNKNOWN
from sightline.render import shell as words
from sightline.services import unheard
from sightline.services.attend import NOTHING, Answer
from sightline.services.attend.output import note_shown, note_written
from sightline.services.attend.telling import news
from sightline.services.automatic import after_change, before_change
from sightline.services.runs import Changes, Stood, by_times, changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from sightline.core.events import Changed, Fact
    from sightline.core.manifest import Entry
    from sightline.core.revision import StatSignature
    from sightline.core.timeline import Recorded
    from sightline.services.attend import CommandBegan, CommandEnded
    from sightline.services.ground import Ground
    from sightline.services.runs import Before

RECENT = 64
"""Commands that are looked through for the one that began."""

WALK_S = 1.0
"""Seconds that may go by in looking for files that were never heard of."""

SLACK_NS = 20_000_000
"""The times of files step by the clock tick, and may lie that much before the clock."""


LOOKED_AT = 200
"""Files that others changed since the newest checkpoint, and that there is time to read before a
command. Where there are more, what the command did to such files is not sure."""


def began(ground: Ground, event: CommandBegan) -> Answer:
    """Record what changed before, and that the command begins; where it may change files, also
    what a checkpoint does not say of those that nobody has looked at."""
    named = words.short(event.command)
    gone: tuple[str, ...] | None = None
    if not only_reads(event.command, event.cwd):
        kept = before_change(ground, command=named)
        gone = () if kept else _gone(ground)
    changes(ground).record(ground, CommandStarted(named, event.call, gone))
    return NOTHING


def _gone(ground: Ground) -> tuple[str, ...] | None:
    """The files of the newest checkpoint that are gone, and that nobody had looked at; None where
    there is none, or no time to look."""
    if unheard.newest(ground, ground.store.position()) is None:
        return None
    walked: dict[str, StatSignature] = {}
    until = monotonic() + WALK_S
    for path, signature in ground.workspace.walk():
        walked[path] = signature
        if monotonic() > until:
            return None
    return unheard.look(ground, walked, LOOKED_AT)


def ended(ground: Ground, event: CommandEnded) -> Answer:
    """Record what the command changed and what it showed; tell which shown lines are old now."""
    started = _started(ground, event.call)
    reads = only_reads(event.command, event.cwd)
    # Where nobody looked when it began, what changed may have done so before.
    removed: tuple[str, ...] = ()
    if started is None or reads:
        made = changes(ground)
    else:
        made, removed = _made_by(ground, event, started)
    touched = (*made.paths, *removed)
    over: list[Fact] = [Ended(event.call, event.exit_code, touched)]
    if event.background:  # what it changes from now on, no tool call brackets
        named = words.short(event.command, background=True)
        over.append(CommandStarted(named, f"{event.call}{BACKGROUND}"))
    made.record(ground, *_lost(ground, made), *over)
    note_shown(ground, event)
    note_written(ground, event, made.found if started is not None else ())
    after_change(ground, *touched)
    return Answer(context=news(ground)) if made.found else NOTHING


def _made_by(
    ground: Ground, event: CommandEnded, started: Recorded
) -> tuple[Changes, tuple[str, ...]]:
    """What a command changed, and the files that it removed and that nobody had looked at."""
    from sightline.services.causes import by_bracket

    named = words.short(event.command, background=event.background)
    cause = by_bracket(ground, named, event.call, started.position)
    since_ns = started.happened_at * 1_000 - SLACK_NS
    taken = unheard.newest(ground, ground.store.position())
    gone = started.fact.gone if isinstance(started.fact, CommandStarted) else None
    entries = unheard.manifest(ground, taken) if taken is not None and gone is not None else None
    before = by_times if entries is None else _as_kept(ground, entries)
    made = changes(ground, cause, before, since_ns=since_ns, deadline_s=WALK_S)
    if taken is not None and entries is None:
        made = made.replace(facts=tuple(map(_unsure, made.facts)))
    if entries is None or gone is None or cause.confidence != "certain":
        return made, ()
    return made, _removed(ground, event.command, entries, gone)


def _as_kept(ground: Ground, entries: Mapping[str, Entry]) -> Before:
    """By a checkpoint, whatever changed between it and the command being on record."""

    def before(path: str, _: StatSignature) -> Stood:
        entry = entries.get(path)
        if entry is None:
            return Stood(MISSING if unheard.covers(ground, entries, path) else UNKNOWN)
        if entry.kind == "file":
            return Stood(entry.revision, entry.mode)
        return Stood(UNKNOWN, target=entry.target)

    return before


def _unsure(fact: Changed | GitMoved) -> Changed | GitMoved:
    """A change of a file that nobody had looked at: others may have made it before the command."""
    if isinstance(fact, GitMoved) or fact.before != UNKNOWN:
        return fact
    return fact.replace(cause=fact.cause.replace(confidence="likely"))


def _removed(
    ground: Ground, command: str, entries: Mapping[str, Entry], gone: tuple[str, ...]
) -> tuple[str, ...]:
    """Files of a checkpoint that were there before the command and are not any more. Only the
    checkpoint knows what they were."""
    heard = {*ground.store.paths(), *gone}
    return tuple(
        path
        for path in entries
        if path not in heard and may_touch(command, path) and unheard.is_gone(ground, path)
    )


def _started(ground: Ground, call: str) -> Recorded | None:
    kinds: list[type[Fact]] = [CommandStarted]
    newest = ground.store.timeline(session=ground.session, kinds=kinds, newest=RECENT)
    for recorded in newest:
        if isinstance(recorded.fact, CommandStarted) and recorded.fact.run == call:
            return recorded
    return None


def _lost(ground: Ground, made: Changes) -> list[SightLost]:
    """Said once in a session: the tree will not become smaller."""
    if made.complete:
        return []
    lost = SightLost(words.not_walked(WALK_S))
    said = ground.store.timeline(session=ground.session, kinds=[SightLost])
    return [] if any(recorded.fact == lost for recorded in said) else [lost]
