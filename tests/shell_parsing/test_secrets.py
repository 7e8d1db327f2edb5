"""A secret in a command is neither stored nor told."""

from __future__ import annotations

import pytest
from tests.hooks.hooking import Host
from tests.support.commands import command

from sightline.model.events import CommandStarted
from sightline.shell_parsing.secrets import without_secrets

RANDOM = "q7Zr4tX9vB2nM5kL8wP1sD6f"


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ('curl -H "Authorization: Bearer abc.def" x', 'curl -H "Authorization: [secret]" x'),
        ("curl -H 'X-Api-Key: abc' x", "curl -H 'X-Api-Key: [secret]' x"),
        ("git clone https://me:pass@host/r.git", "git clone https://[secret]@host/r.git"),
        ("API_TOKEN=abc make", "API_TOKEN=[secret] make"),
        ("export DB_PASSWORD='a b'; run", "export DB_PASSWORD=[secret]; run"),
        ("AWS_SECRET_ACCESS_KEY=x aws s3 ls", "AWS_SECRET_ACCESS_KEY=[secret] aws s3 ls"),
        ("tool --password hunter2 -v", "tool --password [secret] -v"),
        ("tool --api-key=hunter2", "tool --api-key=[secret]"),
        ("curl -u me:hunter2 x", "curl -u me:[secret] x"),
        ("curl x?access_token=abc&b=1", "curl x?access_token=[secret]&b=1"),
        ("""curl -d '{"password": "abc"}' x""", """curl -d '{"password": [secret]}' x"""),
        ("login ghp_abcdefghijklmnopqrst", "login [secret]"),
        ("login sk-ant-api03-abcdefghijklmnop", "login [secret]"),
        ("aws AKIAABCDEFGHIJKLMNOP", "aws [secret]"),
        (f"login {RANDOM}", "login [secret]"),
    ],
)
def test_a_secret_is_taken_out_of_a_command(command, told):
    assert without_secrets(command) == told


@pytest.mark.parametrize(
    "command",
    [
        "git checkout 0123456789abcdef0123456789abcdef01234567",
        "pytest tests/hooks/test_call.py::test_a_write_over_a_file_never_shown_is_refused -k x",
        "cat src/very_long_module_name_2024/another_long_name.py",
        "npm run build --workspace=packages/core && make -j8",
        "curl https://example.org/a?b=c",
        "docker run -p 8080:80 image",
    ],
)
def test_a_command_without_secrets_stays_as_it_is(command):
    assert without_secrets(command) == command


def test_no_fact_and_no_text_has_the_secret_of_a_command(place):
    s, other = place.session("s"), place.session("other")
    for each in (s, other):
        place.put("a.py", "1\n")
        each.read("a.py")
    with s.ran(f"TOKEN={RANDOM} make a.py"):
        place.put("a.py", "2\n")
    [started] = s._context.store.timeline(kinds=[CommandStarted])
    assert started.fact.command == command("TOKEN=[secret] make a.py")
    assert RANDOM not in str(other.notice())
    store = s._context.store
    assert RANDOM not in repr([*store.timeline()])
    assert not any(RANDOM.encode() in (store.blob(each.revision) or b"") for each in store.texts())


def test_a_hook_stores_no_secret_of_a_command():
    host = Host()
    try:
        given = {"command": f"curl -H 'Authorization: Bearer {RANDOM}' x"}
        call = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": given}
        host.ask(host.payload("PreToolUse", **call))  # type: ignore[arg-type]
        done = {"stdout": "", "stderr": ""}
        host.ask(host.payload("PostToolUse", **call, tool_response=done))  # type: ignore[arg-type]
        facts = host.facts()
        assert any(isinstance(each.fact, CommandStarted) for each in facts)
        assert RANDOM not in repr(facts)
    finally:
        host.close()
