"""Library, async face and command line agree on the verbs, which are written once."""

import inspect

import pytest
from tests.support.verb_commands import WITHOUT_COMMAND, command_name, without_option

from sightline.api.async_verbs import AsyncConversation
from sightline.api.conversation import Conversation
from sightline.api.session import AsyncSession, Session
from sightline.api.subtask_verbs import AsyncSubtasks, Subtasks
from sightline.api.verbs import REQUIRED, parameters, prose
from sightline.cli.group import COMMANDS
from sightline.text.command_words import COMMANDS as OTHER_NAMES

ABOUT_MANY = {
    *(
        "up",
        "watch",
        "log",
        "why",
        "diff",
        "checkpoint diff",
        "checkpoint delete",
        "window",
        "replay",
    ),
    *("session", "session list", "session show", "session delete"),
}
"""Commands that show what no single method does: all sessions, the timeline, a verdict's reasons.
`diff` is what `check` answers, printed as a diff."""

OF_WORKSPACE = {"sessions", "timeline", "delete_session"}

OF_SUBTASKS = {
    *("task", "task list", "task propose", "task approve", "task show", "task graph", "task run"),
    *("task complete", "task fail", "task skip", "task cancel", "task retry", "task merge"),
    "task diff",
    "worker",
}
"""Commands of the verbs of sub-tasks."""

OF_ITSELF = {
    *(
        "tour",
        "init",
        "doctor",
        "forget",
        "gc",
        "completion",
        *("settings", "settings get", "settings set"),
        "hook",
        "schema",
        "chat",
        "agent",
        "help",
    ),
}
"""Commands of the command itself, and of the reference agent."""


def verbs(kind):
    """The public methods of a class, by name."""
    return {
        name: method
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
        and name not in ("close", "as_view", "running_engine", "attending")
    }


VERBS = verbs(Session)


@pytest.mark.parametrize(
    ("face", "source"),
    [(AsyncSession, Session), (AsyncConversation, Conversation), (AsyncSubtasks, Subtasks)],
)
def test_the_async_face_has_every_verb_with_its_parameters_and_docstring(face, source):
    assert set(verbs(face)) == set(verbs(source))
    for name, method in verbs(face).items():
        original = getattr(source, name)
        ours, theirs = inspect.signature(method), inspect.signature(original)
        assert list(ours.parameters.values())[1:] == list(theirs.parameters.values())[1:], name
        assert inspect.getdoc(method) == inspect.getdoc(original)


def test_every_verb_has_a_command_or_stands_in_the_list_of_those_without():
    commands = {without_option(command_name(name) or "") for name in VERBS} - {""}
    assert commands | ABOUT_MANY | OF_ITSELF | OF_SUBTASKS == set(COMMANDS)
    assert not commands & (ABOUT_MANY | OF_ITSELF)
    assert set(VERBS) | OF_WORKSPACE >= WITHOUT_COMMAND | set(OTHER_NAMES)


def test_no_name_stands_for_two_verbs():
    commands = [command_name(name) for name in VERBS if name not in WITHOUT_COMMAND]
    assert len(commands) == len(set(commands))


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_describes_itself_and_every_parameter_of_a_command(name):
    assert prose(VERBS[name])
    described = {each.name: each.description for each in parameters(VERBS[name])}
    assert name in WITHOUT_COMMAND or all(described.values()), described


def test_parameters_are_read_from_the_signature_and_the_docstring():
    path, lines = parameters(Session.read)
    assert (path.name, path.annotation, path.default) == ("path", str, REQUIRED)
    assert (lines.default, lines.description) == (
        None,
        "Show only lines A to B, both included. B may lie beyond the end.",
    )
    assert [each.is_keyword for each in parameters(Session.edit)] == [False, False, False, True]
    long = {each.name: each.description for each in parameters(Session.saw)}["via"]
    assert (
        long
        == "How the agent saw it: read, mention, preview, search, handover, refusal, or a word of your own."
    )


def test_prose_ends_where_the_sections_begin():
    assert prose(Session.release) == "Give up a claim of this session."
