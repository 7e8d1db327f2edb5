"""Every command, in words and as JSON, against the golden files in commands/."""

from __future__ import annotations

import pytest
from tests.golden.commands import STORIES
from tests.golden.running import Place
from tests.golden.telling import Story
from tests.support.examples import widely

NEEDS_GIT = ("exports",)
START_PROGRAMS = ("commands_run", "others", "several", "watched")


@pytest.mark.parametrize("form", ["text", *widely("json")])
@pytest.mark.parametrize(
    "name",
    [*(name for name in STORIES if name not in START_PROGRAMS), *widely(*START_PROGRAMS)],
)
def test_a_story_is_told_as_it_was(name, form, golden):
    place = Place(git=name in NEEDS_GIT)
    try:
        story = Story(place, json=form == "json")
        STORIES[name](story)
        golden(f"commands/{name}.{form}.txt", story.text)
    finally:
        place.close()
