"""Hints: each face words the calls in them, and no hint spells a call as text."""

import ast
import inspect
import json
import re
import shlex
from functools import cache
from pathlib import Path

import click
import pytest
from tests.support.verb_commands import WITHOUT_COMMAND

import sightline
from sightline.api.json_shapes import shape
from sightline.api.tools import OWNERS
from sightline.cli.group import COMMANDS, cli
from sightline.errors import Hint, NextCall, in_python, joined_hints, without_calls
from sightline.text.command_words import as_command

SOURCE = Path(sightline.__file__).parent
FACES = ("cli", "hooks", "agents", "reference_agent")
"""Packages whose words are for one reader: a person at a shell, or the model of a product."""

SOURCES = {
    str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8")
    for path in sorted(SOURCE.rglob("*.py"))
}

TEXTS = re.compile(
    r'"""(?:.|\n)*?"""|\#[^\n]*|"((?:[^"\\\n]|\\.)*)"'
    r"|'((?:[^'\\\n]|\\.)*)'"
)
"""Docstrings and comments; and the texts of a module, which alone have a group."""


def literal(node):
    """Return the value of a literal; "X" for what only a run knows."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return "X"


def calls(tree):
    """Yield each NextCall that a module makes, with "X" for what only a run knows."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "NextCall":
            given = dict(zip(NextCall._fields, node.args, strict=False))
            given |= {str(each.arg): each.value for each in node.keywords}
            made = {name: literal(value) for name, value in given.items()}
            for name, parts in (("arguments", ast.Tuple), ("named", ast.Dict)):
                value = given.get(name)
                if isinstance(value, ast.Tuple):
                    made[name] = tuple(map(literal, value.elts))
                elif isinstance(value, ast.Dict):
                    pairs = zip(value.keys, value.values, strict=True)
                    made[name] = {str(literal(key)): literal(each) for key, each in pairs}
                assert value is None or isinstance(value, parts), ast.unparse(node)
            yield node.lineno, NextCall(**made)


EVERY = [
    pytest.param(call, id=f"{name}:{line}")
    for name, text in SOURCES.items()
    if "NextCall(" in text
    for line, call in calls(ast.parse(text))
]


def parsed(words):
    """Return what is left of a command line, or of options of `status`, after click has read it."""
    if not words.startswith("sightline "):
        words = f"sightline status {words}"
    _, first, *rest = shlex.split(words)
    two = f"{first} {rest[0]}" if rest else first
    name, rest = (two, rest[1:]) if two in COMMANDS else (first, rest)
    command = cli.get_command(click.Context(cli), name)
    assert command is not None, words
    return command.make_parser(click.Context(command)).parse_args(rest)[1]


def test_there_are_hints_with_calls():
    assert len(EVERY) > 30


@pytest.mark.parametrize("call", EVERY)
def test_the_call_of_a_hint_is_a_verb_with_its_parameters_and_a_command_with_its_options(call):
    owner, _, verb = call.verb.partition(".")
    method = getattr(OWNERS[owner], verb) if verb else getattr(sightline, owner)
    signature = inspect.signature(method)
    if call.again:
        assert not call.arguments
        assert set(call.named) <= set(signature.parameters)
    else:
        signature.bind(*(["self"] if verb else []), *call.arguments, **call.named)
    words = as_command(call)
    if owner == "conversation":  # the command line has no conversation of its own
        assert words == ""
        return
    if call.again:
        named = as_command(call._replace(again=False, arguments=()))
        assert named.endswith(words)
        words = named
    assert verb not in WITHOUT_COMMAND
    assert parsed(words) == []


OF_LIBRARY = re.compile(
    r"\b(session|workspace|conversation|subtasks)\.\w+\(|\bopen_session\(|\b(?!store|wal_|keepalives_)[a-z]+=(True|False|None|\d)"
    r"|\b(load|save|recover|view|rewind|sessions|files)\((\w|\))"
)
"""Words of the library in a text."""

OF_COMMANDS = re.compile(r"\bsightline ([a-z-]+)|(?<![\w-])--([a-z][a-z-]+)")
"""Words of commands in a text."""

WITHOUT_VERB = {"doctor", "schema", "worker", "up"}
"""Commands that no verb stands for: the library names them, too."""

OTHER_PROGRAMS = (
    *(
        "filesystem/git/",
        "shell_parsing/",
        "subtasks/git_",
        "subtasks/worktree.py",
        "text/command_words.py",
    ),
    *("subtasks/worker_presence.py", "messages/written_files.py"),
)
"""Modules whose texts are command lines, most of other programs."""


@cache
def sentences():
    """List each text that may be a sentence, with its module. X: what only a run knows."""
    texts = [
        (name, re.sub(r"\{[^{}]*\}", "X", found[1] or found[2] or ""))
        for name, source in SOURCES.items()
        if not name.startswith(OTHER_PROGRAMS)
        for found in TEXTS.finditer(source)
    ]
    return [(name, text) for name, text in texts if " " in text.strip()]


def is_library(name):
    return not name.startswith(FACES)


def of_commands(text):
    """Return the words of commands in a text for which the library has calls."""
    named = OF_COMMANDS.findall(text) if "sightline " in text or "--" in text else []
    return [command or option for command, option in named if option or command in OF_VERBS]


OF_VERBS = {each.partition(" ")[0] for each in COMMANDS} - WITHOUT_VERB


def test_no_text_of_the_library_names_a_command_that_a_verb_stands_for():
    found = [(name, text) for name, text in sentences() if is_library(name) and of_commands(text)]
    assert {text for name, text in found} == OF_GIT


OF_GIT = {
    "See what the ignore files hide (git status --ignored), then take the checkpoint again.",
    *("To look at it: git show --stat X", "^(?=diff --git )", "diff --git "),
    "no change of X below its 'diff --git' line",
}
"""Texts that name commands of git."""


def test_no_text_of_any_package_spells_a_call_of_the_library():
    assert [(name, text) for name, text in sentences() if OF_LIBRARY.search(text)] == []


def test_no_text_joins_a_hint_as_text():
    """An f-string would word the calls of a hint as the library does, for every reader."""
    joined = re.compile(r"\{[\w.]*\b(?:hint|next_step)\}")
    found = [(name, text) for name, text in SOURCES.items() if joined.search(text)]
    assert {name for name, _ in found} == OF_SETTINGS


OF_SETTINGS = {"api/folders.py", "hooks/outage.py"}
"""Modules that print hints of settings, which name no call."""


HINT = Hint(
    "Add lines.",
    (
        " To replace it everywhere, pass ",
        NextCall("session.edit", (), {"count": 3}, again=True),
        ".",
    ),
)


def test_each_face_words_the_call_in_a_hint_or_leaves_out_its_clause():
    assert str(HINT) == "Add lines. To replace it everywhere, pass count=3."
    assert HINT.worded(as_command) == "Add lines. To replace it everywhere, pass --count 3."
    assert HINT.worded(without_calls) == "Add lines."
    assert HINT
    assert not Hint("")


def test_hints_that_are_joined_keep_their_calls():
    listed = Hint("List: ", NextCall("workspace.sessions"))
    both = joined_hints([HINT, Hint("Or: ", listed)])
    assert [each.verb for each in both.calls()] == ["session.edit", "workspace.sessions"]
    assert both.worded(as_command).endswith("pass --count 3.\nOr: List: sightline session list")


COMMAND_LINES = {
    "sightline rewind cp-1 --session x": NextCall("session.rewind", ("cp-1",), session="x"),
    "sightline rewind 42": NextCall("session.rewind", (42,)),
    "sightline saw 'a b.py' --via handover": NextCall(
        "session.saw", ("a b.py",), {"via": "handover"}
    ),
    "sightline task merge api --keep a.py": NextCall("subtasks.merge", ("api",), {"keep": "a.py"}),
    "sightline checkpoint list": NextCall("session.checkpoints"),
    "--workspace DIR": NextCall("open_session", named={"workspace": "DIR"}),
    "--patch": NextCall("session.export", named={"branch": None}, again=True),
    "--force": NextCall("workspace.delete_session", named={"force": True}, again=True),
}


@pytest.mark.parametrize("words", COMMAND_LINES)
def test_a_call_is_worded_as_a_command(words):
    assert as_command(COMMAND_LINES[words]) == words


CALLS = {
    "open_session(id='x').rewind('cp-1')": NextCall("session.rewind", ("cp-1",), session="x"),
    "session.subtasks.merge('api', keep='a.py')": NextCall(
        "subtasks.merge", ("api",), {"keep": "a.py"}
    ),
    "open_session(workspace='DIR')": NextCall("open_session", named={"workspace": "DIR"}),
    "workspace.timeline()": NextCall("workspace.timeline"),
    "branch=None": NextCall("session.export", named={"branch": None}, again=True),
}


@pytest.mark.parametrize("words", CALLS)
def test_a_call_is_worded_as_a_call_in_python(words):
    assert in_python(CALLS[words]) == words


AMBIGUOUS = {"fileChanges": [{"path": "a.py", "edits": [{"old": "x", "new": "y"}]}]}


def test_an_answer_is_told_how_its_own_edit_replaces_all_places(place, s):
    place.put("a.py", "x\nx\n")
    s.read("a.py")
    result = s.answer(AMBIGUOUS)
    assert 'To replace it everywhere, pass "count": 2.' in result.text
    assert "count=" not in json.dumps(shape(result))
