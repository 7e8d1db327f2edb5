"""Another hook of the host that rewrites what is written: it takes the place of a merge."""

import json

import pytest
from tests.hooks.hooking import refusal

TEXT = "one\ntwo\nthree\n"
USERS = "one\ntwo\nthree, says the user\n"
MINE = "one, says the agent\ntwo\nthree\n"
HEADER = {"type": "command", "command": "add-header"}


def settings(matcher, hook=HEADER, event="PreToolUse"):
    return json.dumps({"hooks": {event: [{"matcher": matcher, "hooks": [hook]}]}})


def put(folder, name, text):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


@pytest.fixture
def path(host):
    path = host.put("a.txt", TEXT)
    host.ask(host.shown(path, TEXT))
    host.put("a.txt", USERS)
    return path


def test_a_merge_is_handed_over_where_no_other_hook_rewrites(host, path):
    put(host.root, ".claude/settings.json", settings("Bash|Read"))
    put(host.root, ".claude/settings.local.json", settings("Write", event="PostToolUse"))
    said = host.ask(host.write(path, MINE))["hookSpecificOutput"]
    assert said["updatedInput"]["content"] == MINE.replace("three", "three, says the user")


@pytest.mark.parametrize("matcher", ["", "*", "Write", "Edit|Write", "Wri.*", "(("])
def test_s43_where_another_hook_could_rewrite_the_write_is_refused_with_the_diff(
    host, path, matcher
):
    put(host.root, ".claude/settings.json", settings(matcher))
    said = refusal(host.ask(host.write(path, MINE)))
    assert "+three, says the user" in said
    assert "another hook" in said
    assert ".claude/settings.json" in said
    host.ask(host.payload("PostToolBatch", tool_calls=[]))
    assert host.ask(host.write(path, MINE.replace("three", "three, says the user"))) == {}


def test_other_settings_of_the_client_are_looked_at_too(host, path):
    put(host.home, ".claude/settings.json", settings("Write"))
    assert "another hook" in refusal(host.ask(host.write(path, MINE)))


def test_hooks_of_an_enabled_plugin_are_looked_at_too(host, path):
    plugin = host.folder("plugin", marked=False)
    put(plugin, "hooks/hooks.json", settings("Write"))
    installed = {"version": 2, "plugins": {"p@m": [{"installPath": str(plugin)}]}}
    put(host.home, ".claude/plugins/installed_plugins.json", json.dumps(installed))
    assert "updatedInput" in json.dumps(host.ask(host.write(path, MINE)))
    host.ask(host.payload("PostToolUseFailure", tool_name="Write", tool_input={"file_path": path}))
    put(host.root, ".claude/settings.json", json.dumps({"enabledPlugins": {"p@m": True}}))
    assert "another hook" in refusal(host.ask(host.write(path, MINE)))


def test_what_another_hook_wrote_in_place_of_a_merge_is_merged_afterwards(host, path):
    """A hook that no file names: of an agent's or a skill's own. Both texts are there after the write."""
    given = host.ask(host.write(path, MINE))["hookSpecificOutput"]["updatedInput"]
    written = f"# header\n{MINE}"
    host.put("a.txt", written)
    told = {"filePath": path, "type": "update", "content": written, "originalFile": USERS}
    call = {"tool_name": "Write", "tool_use_id": "t1", "tool_input": given | {"content": written}}
    done = host.ask(
        host.payload("PostToolUse", **call, tool_response=told | {"structuredPatch": []})
    )
    assert (host.root / "a.txt").read_text() == written.replace("three", "three, says the user")
    assert "+three, says the user" in done["hookSpecificOutput"]["additionalContext"]
    assert "a.txt" in done["systemMessage"]
