"""The played model of bench/sessions.py believes what its requests say, and its judge sees what is lost."""

from random import Random

import pytest
from bench.session_model import Conversation, Use
from bench.session_tree import LINES, Tree, notebook
from bench.sessions import Player, parts_of

TEXT = [f"item_{at:05} = {at}" for at in range(1, 9)]
NOTICE = """Sightline: changed on disk since you were shown it, by the user or another program:
app.py:
```diff
@@ -1,3 +1,3 @@
 item_00001 = 1
-item_00002 = 2
+item_00099 = 99
 item_00003 = 3
```"""


def request(*blocks):
    return {"messages": [{"role": "user", "content": list(blocks)}]}


def result(text, failed=False):
    return {"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": failed}


@pytest.fixture
def talk():
    """A conversation that read a file."""
    made = Conversation("agent-A", "/r")
    made.uses = [Use("t", "Read", {"file_path": "/r/app.py"}, "app.py")]
    made.hear(request(result("".join(f"{at}\t{line}\n" for at, line in enumerate(TEXT, 1)))))
    made.messages = 0
    return made


@pytest.fixture
def player(tmp_path, talk):
    """The judge, with a tree of which the conversation knows app.py."""
    root = tmp_path / "project"
    root.mkdir()
    made = Player(1, 10)
    made.tree = Tree.__new__(Tree)
    made.tree.root, made.tree.left, made.tree.who = root, [], {}
    made.tree._journal, made.tree._formatted = tmp_path / "formatted.jsonl", 0
    made.talks["agent-A"] = talk
    return made


def test_a_belief_comes_from_a_read_a_notice_and_the_clients_rows(talk):
    assert talk.beliefs["app.py"] == TEXT
    talk.hear(request({"type": "text", "text": NOTICE}))
    assert talk.beliefs["app.py"][:3] == [TEXT[0], "item_00099 = 99", TEXT[2]]
    talk.messages = 0
    rows = "\n".join(
        f"{at}\t{line}" for at, line in enumerate([TEXT[4], "item_00050 = 50", TEXT[5]], 5)
    )
    note = f"Note: /r/app.py changed on disk since you last read it. Here are the changes:\n{rows}"
    talk.hear(request({"type": "text", "text": note}))
    assert "item_00050 = 50" in talk.beliefs["app.py"]
    assert {"item_00099 = 99", "item_00050 = 50"} <= talk.seen


@pytest.mark.parametrize("said", ["After that, git deleted app.py.\nIf", "app.py was deleted."])
def test_a_file_that_is_told_as_deleted_is_known_no_more(talk, said):
    talk.hear(request({"type": "text", "text": f"Sightline: {said}"}))
    assert "app.py" not in talk.beliefs


def test_a_line_of_others_that_goes_unseen_is_a_fault(player, talk):
    before = {"app.py": "".join(f"{line}\n" for line in [*TEXT, "item_00099 = 99"])}
    player.tree.save("app.py", "".join(f"{line}\n" for line in TEXT[1:]))
    player._before = before
    talk.uses = [Use("t", "Write", {"content": ""}, "app.py")]
    player._settle(talk)
    assert [fault.kind for fault in player.faults] == ["untold"]
    assert "item_00099" in player.faults[0].what  # line 1 was shown


def test_a_hunk_that_is_told_again_is_a_fault(player, talk):
    player._moves = {"item_00002 = 2": 1, "item_00099 = 99": 1}
    player._judge_notices(talk, [NOTICE])
    assert not player.faults
    player._judge_notices(talk, [NOTICE])
    assert [fault.kind for fault in player.faults] == ["told twice"]
    player._moves = {"item_00002 = 2": 3, "item_00099 = 99": 3}  # back, and gone again
    player._judge_notices(talk, [NOTICE])
    assert len(player.faults) == 1


def test_a_log_that_names_the_wrong_one_as_certain_is_a_fault(player):
    player.tree.record({}, {"app.py": "a\n"}, "git")
    (left,) = player.tree.left
    row = {
        "position": 1,
        "kind": "changed",
        "path": "app.py",
        "after": left.revision,
        "session": "s",
    }
    cause = {"kind": "external", "who": None, "confidence": "certain"}
    player.judge_log([row | {"cause": cause | {"confidence": "likely"}}], {})
    assert not player.faults
    player.judge_log([row | {"cause": cause}], {})
    assert [fault.kind for fault in player.faults] == ["wrong author"]


def test_a_refusal_of_what_stands_there_is_a_fault(player, talk):
    text = "".join(f"{line}\n" for line in TEXT)
    given = {"old_string": f"{TEXT[0]}\n", "new_string": "x\n"}
    use = Use("t", "Edit", given, "app.py")
    player._states["agent-A"] = ([use], {"app.py": text}, {"app.py": text})
    player._judge_results(talk, {"t": result("Sightline: refused", failed=True)})
    assert [fault.kind for fault in player.faults] == ["false refusal"]


def test_a_seed_makes_the_same_tree(tmp_path):
    texts = []
    for name in ("one", "two"):
        root = tmp_path / name
        root.mkdir()
        tree = Tree.__new__(Tree)
        tree.root, tree.random, tree.who, tree.left, tree.deeds = root, Random(3), {}, [], []
        tree._count = 0
        tree.save("app.py", "".join(tree.line("external") for _ in range(LINES)))
        tree.save("study.ipynb", notebook(["item_00001 = 1"]))
        for deed in (tree._changes, tree._adds, tree._removes, tree._notes):
            deed(tree.texts())
        texts.append(tree.texts())
    assert texts[0] == texts[1]


def test_each_thing_said_is_a_part():
    assert len(list(parts_of(f"PostToolUse: {NOTICE}\n\nSightline: more"))) == 2
