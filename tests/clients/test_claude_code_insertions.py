"""What the `!` of a slash command and of a skill printed, and changed: Claude Code itself."""

import pytest
from tests.clients.acting import TEXT, done, write
from tests.clients.stub import Step

pytestmark = pytest.mark.client

COMMAND = """---
allowed-tools: Bash(cat:*), Bash(echo:*)
---
Show me !`cat notes.txt` and

```!
cat other.txt
echo new > made.txt
```

Do it.
"""


def test_what_a_slash_command_printed_may_be_written_over(guarded, model):
    files = [guarded.put("notes.txt", TEXT), guarded.put("other.txt", "alpha\nbeta\n")]
    guarded.put(".claude/commands/show.md", COMMAND)
    wholes = [tool for file in files for tool in write(file, "mine\n").tools]
    model.script("Show me", Step(tools=tuple(wholes)), done())
    guarded.run("/show")
    assert guarded.log("refused") == []
    assert [guarded.text(name) for name in ("notes.txt", "other.txt")] == ["mine\n"] * 2
    made = [row for row in guarded.log("changed") if row["path"] == "made.txt"]
    assert [row["cause"]["kind"] for row in made] == ["command"], guarded.log()


@pytest.mark.full
def test_what_a_skill_printed_may_be_written_over(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    guarded.put(
        ".claude/skills/look/SKILL.md",
        "---\nname: look\ndescription: looks\nallowed-tools: Bash(cat:*)\n---\nLook: !`cat notes.txt` and go on.\n",
    )
    model.script("Go", Step(tools=(("Skill", {"skill": "look"}),)), done())
    model.script("Look:", write(file, "mine\n"), done())
    guarded.run("Go", args=("--allowedTools", "Skill"))
    assert guarded.log("refused") == []
    assert guarded.text("notes.txt") == "mine\n"


def test_a_save_after_a_slash_command_printed_the_file_is_kept(guarded, model):
    file = guarded.put("notes.txt", TEXT)
    guarded.put(".claude/commands/show.md", COMMAND)
    guarded.put("other.txt", "alpha\n")
    theirs = TEXT.replace("line 3\n", "line 3, says the user\n")
    mine = write(file, TEXT + "mine\n", lambda: guarded.put("notes.txt", theirs))
    model.script("Show me", mine, done())
    guarded.run("/show")
    assert "line 3, says the user" in guarded.text("notes.txt")
