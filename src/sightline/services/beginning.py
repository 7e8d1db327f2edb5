"""How a rewind begins: nothing that stands is touched before its safety checkpoint is kept.

New bytes may be written aside while that is taken. All paths are locked as long, so that is done
only where the tree is known to be looked at in a moment.
"""

from __future__ import annotations

from sightline.errors import RewindRefused, SightlineError, StoreError
from sightline.render import rewind as words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from sightline.core.events import RewindStarted
    from sightline.services.ground import Ground
    from sightline.services.results import Checkpoint
    from sightline.workspace import Found

SMALL = 25_000
"""Files of a tree that others may have to wait for: a tenth of a second."""


class Beginning:
    """Begins a rewind when it is called; it does so once. name: where it leads, as it is told;
    looked: what was looked at for its plan; position: where it began, None as long as it did
    not."""

    def __init__(
        self, ground: Ground, fact: RewindStarted, name: str, looked: Mapping[str, Found]
    ) -> None:
        self._ground = ground
        self._fact = fact
        self._name = name
        self._looked = looked
        self._safety: Checkpoint | None = None
        self.position: int | None = None

    def __call__(self) -> None:
        if self.position is not None:
            return
        self._safety = self._taken()
        [started] = self._ground.append([self._fact], durable=True)
        self.position = started.position

    @property
    def safety(self) -> Checkpoint:
        """The checkpoint by which the rewind can be rewound; of one that was begun."""
        assert self._safety is not None
        return self._safety

    def failed(self, error: StoreError) -> SightlineError:
        """What it means that the store refused."""
        if self.position is None:
            return RewindRefused(*words.no_safety(error.message, error.hint))
        return StoreError(*words.unfinished(self._name, error.message, error.hint))

    def _taken(self) -> Checkpoint:
        from sightline.services import checkpoints

        label = f"before the rewind to {self._fact.checkpoint}"
        try:
            return checkpoints.take(self._ground, label, why="rewind", looked=self._looked)
        except SightlineError as error:
            raise RewindRefused(*words.no_safety(error.message, error.hint)) from error


def is_small(ground: Ground) -> bool:
    """Whether the tree was looked at before, and is looked at quickly."""
    return 0 < ground.workspace.remembered().count() <= SMALL
