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


def test_a_hook_whose_answer_nobody_waits_for_leaves_the_merge(host, path):
    put(host.root, ".claude/settings.json", settings("Write", HEADER | {"async": True}))
    assert "updatedInput" in host.ask(host.write(path, MINE))["hookSpecificOutput"]


USUAL = """---
name: license
hooks:
  PostToolUse:
    - matcher: "Write"
      hooks: [{type: command, command: log}]
  PreToolUse:
    - matcher: %s
      hooks:
        - type: command
          command: "./header.sh"
  Stop:
    - matcher: "Read"
---
Write the header. PreToolUse: none.
"""
PLACES = [
    ".claude/skills/license/SKILL.md",
    ".claude/agents/writer.md",
    ".claude/commands/team/write.md",
]


@pytest.mark.parametrize("place", PLACES)
def test_hooks_of_skills_agents_and_commands_are_looked_at_too(host, path, place):
    put(host.root, place, USUAL % '"Edit|Write"')
    said = refusal(host.ask(host.write(path, MINE)))
    assert "another hook" in said
    assert place in said


def test_those_of_the_user_count_too(host, path):
    put(host.home, PLACES[0], USUAL % '"Write"')
    assert "another hook" in refusal(host.ask(host.write(path, MINE)))


RARE = [
    "---\nhooks: {PreToolUse: [{matcher: Write, hooks: [{type: command, command: x}]}]}\n---\n",
    "---\nhooks:\n  PreToolUse: [{matcher: Read}]\n---\n",
    "---\nhooks:\n  PreToolUse:\n  - hooks:\n    - type: command\n      command: x\n---\n",
    "---\nhooks:\n  'PreToolUse':\n  - hooks:\n    - command: x\n    matcher: >\n      Write\n---\n",
    "---\nhooks:\n  PreToolUse: *shared\n---\n",
]


@pytest.mark.parametrize(
    "text", [*(USUAL % m for m in ('"*"', "Write", "'Wri.*'", '"Write" # all', '""')), *RARE]
)
def test_any_form_that_may_hold_a_hook_before_the_tool_counts(host, path, text):
    put(host.root, PLACES[1], text)
    assert "another hook" in refusal(host.ask(host.write(path, MINE)))


@pytest.mark.parametrize(
    "text",
    [
        *(USUAL % m for m in ('"Bash"', "Read # and Write", "'Edit|Bash'")),
        "PreToolUse: Write\n",
        "---\nname: x\n---\nPreToolUse: Write\n",
        "---\nPreToolUse: never closed\n",
        "---\nhooks:\n  PreToolUse:\n  - matcher: Bash\n    hooks: []\n  Stop:\n  - hooks: []\n---\n",
        "",
    ],
)
def test_what_holds_no_hook_before_the_tool_leaves_the_merge(host, path, text):
    put(host.root, PLACES[1], text)
    assert "updatedInput" in host.ask(host.write(path, MINE))["hookSpecificOutput"]


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
