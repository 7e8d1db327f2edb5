"""Options and settings with which the client calls none of our hooks, and what doctor says of them."""

import json

import pytest
from tests.clients.acting import done
from tests.support.examples import fully

pytestmark = pytest.mark.client

OFF = '{"disableAllHooks": true}'


def doctors(claude):
    """What doctor finds wrong with the hooks."""
    found = json.loads(claude.sightline("doctor", "--json", code=1))["checks"]
    return [each["message"] for each in found if (each["name"], each["state"]) == HOOKS]


HOOKS = ("hooks", "problem")


@pytest.mark.parametrize(
    ("args", "named"),
    [
        pytest.param(("--bare",), "--bare", marks=pytest.mark.full),
        pytest.param(("--safe-mode",), "--safe-mode", marks=pytest.mark.full),
        pytest.param(("--restricted",), "--restricted", marks=pytest.mark.full),
        (("--setting-sources", "user,project"), "--setting-sources user,project"),
        (("--settings", OFF), "--settings, whose disableAllHooks is true"),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else "",
)
def test_an_option_that_leaves_hooks_out_is_found_while_the_client_runs(
    connected, model, args, named
):
    said = []
    model.script("Look", done(lambda: said.append(doctors(connected))))
    assert connected.run("Look", args=args).hooks == []
    ((message,),) = said
    assert f"started with {named}: it calls no hook of Sightline" in message


@pytest.mark.parametrize("variable", ["CLAUDE_CODE_SAFE_MODE", *fully("CLAUDE_CODE_SIMPLE")])
def test_a_variable_that_leaves_hooks_out_is_found(connected, model, variable):
    connected.settings[variable] = "1"
    model.script("Look", done())
    assert connected.run("Look").hooks == []
    (message,) = doctors(connected)
    assert f"The variable {variable} is set here" in message


@pytest.mark.parametrize(
    "args", [("--setting-sources=local,user",), *fully((), ("--setting-sources", "local"))]
)
def test_hooks_that_the_client_does_call_are_no_problem(connected, model, args):
    said = []
    model.script("Look", done(lambda: said.append(connected.sightline("doctor", "--json"))))
    assert connected.run("Look", args=args).hooks
    checks = json.loads(said[0])["checks"]
    assert HOOKS not in [(each["name"], each["state"]) for each in checks]
