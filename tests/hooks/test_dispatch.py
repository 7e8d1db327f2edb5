"""Each event of a host has one handler."""

from sightline.hooks.dispatch import HANDLERS, WITH_HOST
from sightline.model.hook_events import Event, Forked

OF_TRANSCRIPTS = {Forked}
"""Events that only a recording tells; handlers.transcript reads them."""


def test_every_event_has_one_handler():
    assert {*HANDLERS, *WITH_HOST} == {*Event.__subclasses__()} - OF_TRANSCRIPTS
    assert not HANDLERS.keys() & WITH_HOST.keys()
