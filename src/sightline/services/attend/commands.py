"""Shell commands: what they changed, and what they showed.

Nothing tells what a command does. So the files of the timeline are compared before it and after
it, and between the two whatever changed counts as the command's. What it showed is read off its
output, line by line; its text only says where to look (core.shell).
"""

from __future__ import annotations

from sightline.core.case import Case, Rules
from sightline.core.events import Cause, CommandStarted, SightLost, TurnBegan
from sightline.core.events import CommandEnded as Ended
from sightline.core.guard import judge
from sightline.core.revision import MISSING
from sightline.render import shell as words
from sightline.services.attend import NOTHING, Answer
from sightline.services.attend.output import note_shown, note_written
from sightline.services.ground import recall
from sightline.services.plans import sight_of
from sightline.services.runs import Changes, by_times, changes
from sightline.workspace import Located

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.events import Fact
    from sightline.core.timeline import Recorded
    from sightline.services.attend import CommandBegan, CommandEnded
    from sightline.services.ground import Ground
    from sightline.workspace import Found

RECENT = 64
"""Facts on commands that are looked through for the one that began."""

WALK_S = 1.0
"""Seconds that may go by in looking for files that were never heard of."""

SLACK_NS = 20_000_000
"""The times of files step by the clock tick, and may lie that much before the clock."""

CHECKED = 200
"""Changed files at most that are compared with what was shown of them."""


def began(ground: Ground, event: CommandBegan) -> Answer:
    """Record what changed before, and that the command begins."""
    running = _running(ground)
    detail = running.command if running else None
    cause = Cause("command", ground.session, detail, "likely") if running else None
    started = CommandStarted(words.short(event.command), event.call)
    changes(ground, cause).record(ground, started)
    return NOTHING


def ended(ground: Ground, event: CommandEnded) -> Answer:
    """Record what the command changed and what it showed; say which shown lines are old now."""
    started = _started(ground, event.call)
    if started is None:  # when it began nobody looked: what changed may have done so before
        made = changes(ground)
    else:
        named = words.short(event.command, background=event.background)
        made = _made_by(ground, Cause("command", ground.session, named), started)
    paths = tuple(sorted(fact.path for fact in made.facts))
    made.record(ground, *_lost(ground, made), Ended(event.call, event.exit_code, paths))
    note_shown(ground, event)
    note_written(ground, event, made.found if started is not None else ())
    old = _outdated(ground, event.command, made.found)
    return Answer(context=words.outdated(old)) if old else NOTHING


def _made_by(ground: Ground, cause: Cause, started: Recorded) -> Changes:
    since_ns = started.happened_at * 1_000 - SLACK_NS
    return changes(ground, cause, by_times, since_ns=since_ns, deadline_s=WALK_S)


def _recent(ground: Ground) -> list[Recorded]:
    """This session's facts on commands, newest first."""
    kinds: list[type[Fact]] = [CommandStarted, Ended, TurnBegan]
    facts = ground.store.timeline(session=ground.session, kinds=kinds, newest=RECENT)
    return list(reversed(list(facts)))


def _started(ground: Ground, call: str) -> Recorded | None:
    for recorded in _recent(ground):
        if isinstance(recorded.fact, CommandStarted) and recorded.fact.run == call:
            return recorded
    return None


def _running(ground: Ground) -> CommandStarted | None:
    """A command of this turn that has not ended: an agent may run several at once."""
    over: set[str] = set()
    for recorded in _recent(ground):
        fact = recorded.fact
        if isinstance(fact, TurnBegan):
            return None
        if isinstance(fact, Ended):
            over.add(fact.run)
        elif isinstance(fact, CommandStarted) and fact.run not in over:
            return fact
    return None


def _lost(ground: Ground, made: Changes) -> list[SightLost]:
    """Said once in a session: the tree will not become smaller."""
    if made.complete:
        return []
    lost = SightLost(words.not_walked(WALK_S))
    said = ground.store.timeline(session=ground.session, kinds=[SightLost])
    return [] if any(recorded.fact == lost for recorded in said) else [lost]


def _outdated(ground: Ground, command: str, found: tuple[Found, ...]) -> list[str]:
    """Those of the changed files whose shown lines are no longer what they were. That a file is
    gone is no news to who named it in the command."""
    old: list[str] = []
    for there in found[:CHECKED]:
        known = recall(ground, Located(there.path), there)
        if known.knowledge is None:
            continue
        name = known.knowledge.name or there.path
        if there.revision == MISSING and name.rpartition("/")[2] in command:
            continue
        state = judge(Case(sight_of(there, known), Rules()), None).state
        if state in ("stale", "deleted", "kind_changed"):
            old.append(name)
    return sorted(old)
