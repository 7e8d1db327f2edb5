"""Commands take their parameters and the help of each from the verbs of the library."""

from __future__ import annotations

from datetime import timedelta

import click
import pytest
from tests.support.verb_commands import command_of, without_option

from sightline.api.session import Session
from sightline.api.verbs import parameters, prose
from sightline.api.workspace import Workspace
from sightline.cli.group import COMMANDS, cli
from sightline.cli.options import VerbCommand, at_shell, command, usage

WITHOUT_VERB = {
    *("tour", "init", "up", "status", "diff"),
    *("session", "session list", "session show", "session delete", "watch"),
    *("doctor", "forget", "window", "replay", "completion", "help", "hook", "schema"),
    *("chat", "agent"),
    *("task", "task list", "worker", "settings", "settings get", "settings set"),
}
"""Commands about many sessions, about the command line itself, or of the reference agent."""

OF_WORKSPACE = {
    "log": Workspace.timeline,
    "gc": Workspace.gc,
    "why": Workspace.why,
    "checkpoint diff": Workspace.compare,
    "checkpoint delete": Workspace.drop_checkpoints,
}


def found(name):
    made = cli.get_command(click.Context(cli), name)
    assert made is not None
    return made


DERIVED = [name for name in COMMANDS if name not in WITHOUT_VERB]


def test_every_other_command_is_derived_from_the_verb_of_its_name():
    verbs = {name: getattr(found(name), "verbs", ()) for name in COMMANDS}
    assert {name for name, of in verbs.items() if not of} == WITHOUT_VERB
    for name, of in verbs.items():
        for verb in of:
            if verb is not OF_WORKSPACE.get(name):
                command = command_of(verb)
                assert without_option(command) == name
                option = command.removeprefix(name).strip()
                assert not option or option in {o for each in found(name).params for o in each.opts}


@pytest.mark.parametrize("name", DERIVED)
def test_no_command_spells_a_parameter_of_its_verb_by_hand(name):
    made = found(name)
    assert isinstance(made, VerbCommand)
    described = {
        each.name: each.description
        for verb in made.verbs[::-1]
        for each in parameters(verb)
        if not each.is_host_only
    }
    own = [each for each in made.params if each.expose_value]
    names = [each.name for each in own]
    assert len(names) == len(set(names))
    for each in own:
        if each.name in described:
            assert each.name not in made.without, f"{each.name} is spelled by hand"
            assert each.help == described[each.name] != ""
    assert set(described) - set(names) == set(made.without)


@pytest.mark.parametrize("name", DERIVED)
def test_the_help_of_a_command_begins_with_the_docstring_of_its_verb(name):
    made = found(name)
    assert made.help.startswith(at_shell(prose(made.verbs[0])))


def sample(
    self,
    path: str,
    texts: list[str],
    limit: int = 3,
    *,
    lines: tuple[int, int] | None = None,
    deep: bool = False,
    shallow: bool = True,
    age: timedelta | None = None,
):
    """Do it.

    More of it.

    Args:
        path: A path.
        texts: Some texts.
        limit: A limit, in
            two lines.
        lines: Some lines.
        deep: Deep.
        shallow: Shallow.
        age: Its age.

    Raises:
        ValueError.
    """


@command(sample, name="sample", example="sample a", without=("age",))
def made(_, **arguments):
    """And this."""
    click.echo(repr(sorted(arguments.items())))


def test_a_signature_becomes_arguments_and_options(sl):
    params = {each.name: each for each in made.params}
    assert made.help == "Do it.\n\nMore of it.\n\nAnd this."
    assert [type(params[name]) for name in ("path", "texts", "limit")] == [
        *(click.Argument, click.Argument, click.Option)
    ]
    assert (params["texts"].nargs, params["texts"].required) == (-1, True)
    assert params["limit"].help == "A limit, in two lines."
    assert params["shallow"].secondary_opts == ["--no-shallow"]
    assert params["deep"].secondary_opts == []
    assert params["lines"].metavar == "A-B"
    assert "age" not in params


def test_a_value_error_of_a_verb_is_wrong_usage():
    with pytest.raises(click.UsageError) as told, usage():
        raise ValueError("limit is 1 or more")
    assert told.value.format_message() == "Limit is 1 or more."
    with pytest.raises(click.BadParameter), usage("WHEN"):
        raise ValueError("when")


def test_session_verbs_are_those_of_the_commands():
    assert found("read").verbs == (Session.read,)
