"""Library, command line and tools agree on their verbs."""

from msgspec import structs

from sightline.api.session import Seeking, Session
from sightline.api.verbs import ABOUT_MANY, OF_ITSELF, VERBS
from sightline.cli.group import COMMANDS

NO_VERB = {"close"}


def test_every_method_of_a_session_is_a_verb_and_no_other_is():
    public = {
        name
        for name, made in {**vars(Seeking), **vars(Session)}.items()
        if not name.startswith("_") and not isinstance(made, property)
    }
    assert {verb.method for verb in VERBS} == public - NO_VERB


def test_every_command_is_a_verb_or_says_why_it_is_none():
    commands = {verb.command for verb in VERBS if verb.command}
    assert commands | {*ABOUT_MANY, *OF_ITSELF} == set(COMMANDS)
    assert not commands & {*ABOUT_MANY, *OF_ITSELF}


def test_no_name_stands_for_two_verbs():
    for names in zip(*map(structs.astuple, VERBS), strict=True):
        given = [name for name in names if name]
        assert len(given) == len(set(given))
