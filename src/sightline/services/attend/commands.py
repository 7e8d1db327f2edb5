"""Shell commands: what they changed, and what they showed.

Nothing tells what a command does. So the files of the timeline are compared before it and after
it, and between the two whatever changed counts as the command's. What it showed is read off its
output, line by line; its text only says where to look (core.shell).
"""

from __future__ import annotations

from sightline.core.causes import BACKGROUND
from sightline.core.events import CommandEnded as Ended
from sightline.core.events import CommandStarted, SightLost
from sightline.render import shell as words
from sightline.services.attend import NOTHING, Answer
from sightline.services.attend.output import note_shown, note_written
from sightline.services.attend.telling import news
from sightline.services.runs import Changes, by_times, changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.events import Fact
    from sightline.core.timeline import Recorded
    from sightline.services.attend import CommandBegan, CommandEnded
    from sightline.services.ground import Ground

RECENT = 64
"""Commands that are looked through for the one that began."""

WALK_S = 1.0
"""Seconds that may go by in looking for files that were never heard of."""

SLACK_NS = 20_000_000
"""The times of files step by the clock tick, and may lie that much before the clock."""


def began(ground: Ground, event: CommandBegan) -> Answer:
    """Record what changed before, and that the command begins."""
    started = CommandStarted(words.short(event.command), event.call)
    changes(ground).record(ground, started)
    return NOTHING


def ended(ground: Ground, event: CommandEnded) -> Answer:
    """Record what the command changed and what it showed; tell which shown lines are old now."""
    started = _started(ground, event.call)
    # Where nobody looked when it began, what changed may have done so before.
    made = changes(ground) if started is None else _made_by(ground, event, started)
    over: list[Fact] = [Ended(event.call, event.exit_code, made.paths)]
    if event.background:  # what it changes from now on, no tool call brackets
        named = words.short(event.command, background=True)
        over.append(CommandStarted(named, f"{event.call}{BACKGROUND}"))
    made.record(ground, *_lost(ground, made), *over)
    note_shown(ground, event)
    note_written(ground, event, made.found if started is not None else ())
    return Answer(context=news(ground)) if made.found else NOTHING


def _made_by(ground: Ground, event: CommandEnded, started: Recorded) -> Changes:
    from sightline.services.causes import by_bracket

    named = words.short(event.command, background=event.background)
    cause = by_bracket(ground, named, event.call, started.position)
    since_ns = started.happened_at * 1_000 - SLACK_NS
    return changes(ground, cause, by_times, since_ns=since_ns, deadline_s=WALK_S)


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
