"""The host that called a hook, as the handlers know it: its product, and its answers to questions."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from sightline.agents.product import Capabilities, Limits
from sightline.errors import Wording, without_calls
from sightline.model.agent_work import RecordedWork
from sightline.model.attempts import WriteWhole
from sightline.model.hook_events import Event


def _nothing(_: bool) -> None:  # noqa: FBT001 - as catch_up has it
    return None


class Host(Struct, frozen=True):
    """A host, at one event. can, limits: of its product (agents.product). wording: of a call of its model's own tools.

    takes_words: words for the model may be in the answer to this event. Where they may not, nothing is said, and nothing
    counts as told: the next event that takes words has them.
    catch_up: records what the transcript shows; True: the session knows some lines of the file already.
    rewriters: returns the files with hooks of others that could put their own text in the place of a merge.
    read_work: reads the work that the host's own record of the conversation tells of.
    """

    can: Capabilities = Capabilities(
        before=True,
        after=True,
        deny=True,
        ask=True,
        rewrite=(WriteWhole,),
        inject=(Event,),
        client_matching="unique",
    )
    limits: Limits = Limits()
    wording: Wording = without_calls
    takes_words: bool = True
    catch_up: Callable[[bool], None] = _nothing
    rewriters: Callable[[], list[str]] = list
    read_work: Callable[[], RecordedWork] = RecordedWork

    @property
    def takes_refusals(self) -> bool:
        """Return whether the words of a refusal reach the model."""
        return self.can.deny or self.takes_words


ANY = Host()
"""A host that can all, and tells nothing of itself."""
