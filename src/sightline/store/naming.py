"""What a fact means for the rows kept beside the timeline: paths it names, intents it settles."""

from __future__ import annotations

from sightline.core.events import Changed, Moved, WriteAbandoned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sightline.core.events import Fact, WriteIntended

SINGLE = ("path", "src", "name")
SEVERAL = ("paths", "files")
"""Fields that name one path, and those that name several, in whatever fact they stand."""


def paths_of(fact: Fact) -> tuple[str, ...]:
    """Every path a fact names, each once; its own `path` first."""
    named = [getattr(fact, field, None) for field in SINGLE]
    for field in SEVERAL:
        named += getattr(fact, field, ())
    return tuple(dict.fromkeys(path for path in named if path is not None))


def settled(fact: Fact, intents: Mapping[int, WriteIntended]) -> Iterable[int]:
    """Positions of the pending intents that a fact settles: the one it names, and those whose
    very bytes it reports at their path."""
    if not isinstance(fact, (Changed, Moved, WriteAbandoned)):
        return ()
    named = {fact.intent} & intents.keys()
    if isinstance(fact, Changed):
        named |= {
            position
            for position, intent in intents.items()
            if (intent.path, intent.after) == (fact.path, fact.after)
        }
    return named
