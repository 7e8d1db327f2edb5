"""What an ignore file refuses is refused at every door."""

from __future__ import annotations

from typing import Any

import pytest
from tests.hooks.hooking import Host, refusal


@pytest.fixture
def host():
    made = Host()
    made.put("key.txt", "secret\n")
    made.put("a.py", "1\n")
    made.folder("project/sub", marked=False)
    made.put("sub/inner.txt", "secret\n")
    made.put("sub/.sightlineignore", "inner.txt\n")
    made.put(".sightlineignore", "key.txt\n")
    made.put(".rooignore", "roo.txt\n")
    made.put("roo.txt", "secret\n")
    yield made
    made.close()


def before(host, tool, **given):
    call: dict[str, Any] = {"tool_name": tool, "tool_use_id": "t1", "tool_input": given}
    return refusal(host.ask(host.payload("PreToolUse", **call)))


@pytest.mark.parametrize("name", ["key.txt", "sub/inner.txt"])
def test_a_hosts_read_of_an_ignored_file_is_refused(host, name):
    assert "refused by .sightlineignore" in before(host, "Read", file_path=str(host.root / name))
    assert before(host, "Read", file_path=str(host.root / "a.py")) == ""


@pytest.mark.parametrize(
    "command", ["cat key.txt", "cd sub && head -n 1 inner.txt", "make; tail key.txt | grep x"]
)
def test_a_shell_read_of_an_ignored_file_is_refused(host, command):
    assert "refused by .sightlineignore" in before(host, "Bash", command=command)


@pytest.mark.parametrize("command", ["cat a.py", "cat .git/HEAD", "cat roo.txt", "ls"])
def test_other_commands_go_on(host, command):
    assert before(host, "Bash", command=command) == ""


def test_the_ignore_files_of_agents_refuse_where_the_settings_say_so(host):
    path = str(host.root / "roo.txt")
    assert before(host, "Read", file_path=path) == ""
    host.put("sightline.toml", 'ignore_files = "refuse"\n')
    assert "refused by .rooignore" in before(host, "Read", file_path=path)
    assert "refused by .rooignore" in before(host, "Bash", command="cat roo.txt")
    assert "refused by .rooignore" in refusal(host.ask(host.write(path, "x")))


def test_no_door_of_the_library_shows_or_advises_an_ignored_file(place):
    place.put("sub/.sightlineignore", "inner.txt\n")
    place.put("sub/inner.txt", "secret\n")
    place.put(".rooignore", "roo.txt\n")
    place.put("roo.txt", "secret\n")
    s = place.session(ignore_files="refuse")
    for name in ("sub/inner.txt", "roo.txt"):
        found = s.find(name)
        assert (found.matches, found.candidates) == ((), ())
        assert "secret" not in s.briefing(f"look at @{name}").text
        assert s._context.workspace.refused([name]) == {name}
