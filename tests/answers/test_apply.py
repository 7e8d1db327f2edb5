"""A structured answer applied: all or none, or item by item; and the preview that equals it."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from tests.support.examples import examples

import sightline
from sightline import AnswerInvalid
from sightline.model.events import AnswerGiven, CheckpointTaken, WriteIntended

TEXT = "".join(f"line {number}\n" for number in range(1, 11))


def edit(path, number=3, **more):
    return {"path": path, "edits": [{"old": f"line {number}\n", "new": f"mine {number}\n"}], **more}


@pytest.fixture
def files(place, s):
    s.turn()
    for name in ("a.py", "b.py", "c.py"):
        place.put(name, TEXT)
        s.read(name)
    return s


def states(result):
    return [change.state for change in result.changes]


def facts(session, kind):
    return [row.fact for row in session._context.store.timeline(kinds=[kind])]


def test_all_changes_are_one_application_behind_one_checkpoint(place, files):
    result = files.answer(
        {
            "summary": "Tidy up",
            "fileChanges": [
                edit("a.py"),
                {"path": "new/n.py", "content": "n\n", "create": True},
                {"path": "b.py", "moveTo": "moved.py", "edits": edit("b.py")["edits"]},
                {"path": "c.py", "delete": True},
            ],
        }
    )
    assert states(result) == ["applied"] * 4
    assert place.names() == ["a.py", "moved.py", "new"]
    assert place.text("moved.py") == TEXT.replace("line 3", "mine 3")
    [taken] = facts(files, CheckpointTaken)
    assert (taken.checkpoint, taken.label) == (result.checkpoint, "before: Tidy up")
    assert len({fact.batch for fact in facts(files, WriteIntended)}) == 1
    [given] = facts(files, AnswerGiven)
    assert (given.changes, given.applied, given.turn) == (4, (0, 1, 2, 3), 1)
    files.rewind(result.checkpoint)
    assert disk(place) == dict.fromkeys(["a.py", "b.py", "c.py"], TEXT)


def test_one_refused_change_holds_the_others(place, files):
    place.put("b.py", TEXT.replace("line 3", "theirs"))
    result = files.answer(
        {"todos": ["do it"], "fileChanges": [edit("a.py", todoIndex=0), edit("b.py")]}
    )
    assert states(result) == ["held", "refused"]
    assert place.text("a.py") == TEXT
    assert "-line 3\n+theirs" in result.changes[1].refusal.diff
    assert (result.checkpoint, facts(files, CheckpointTaken)) == (None, [])
    assert [todo.state for todo in result.todos] == ["proposed"]
    assert result.refused
    assert "Not applied, because another change was refused: a.py." in result.text
    assert "+theirs" in result.text


def test_item_by_item_every_change_that_can_be_is_applied(place, files):
    place.put("b.py", TEXT.replace("line 3", "theirs"))
    changes = [edit("a.py", todoIndex=0), edit("b.py", todoIndex=0), edit("c.py", todoIndex=1)]
    result = files.answer({"todos": ["one", "two"], "fileChanges": changes}, apply="each")
    assert states(result) == ["applied", "refused", "applied"]
    assert [todo.state for todo in result.todos] == ["in_progress", "done"]
    assert place.text("b.py") == TEXT.replace("line 3", "theirs")
    assert len(facts(files, CheckpointTaken)) == 1


def test_a_refusal_that_the_agent_has_lets_the_second_answer_through(place, files):
    place.put("b.py", TEXT.replace("line 3", "theirs"))
    refused = files.answer({"fileChanges": [edit("b.py")]})
    files.acknowledge(refused)
    second = {"path": "b.py", "edits": [{"old": "theirs\n", "new": "theirs\nmine\n"}]}
    assert states(files.answer({"fileChanges": [second]})) == ["applied"]
    assert place.text("b.py") == TEXT.replace("line 3", "theirs\nmine")


def test_changes_that_share_a_file_go_together_item_by_item(place, files):
    changes = [
        {"path": "b.py", "delete": True},
        {"path": "a.py", "moveTo": "b.py"},
        edit("c.py", 3),
        edit("c.py", 4),
        edit("./c.py", 99),
    ]
    result = files.answer({"fileChanges": changes}, apply="each")
    assert states(result) == ["applied", "applied", "refused", "refused", "refused"]
    assert place.names() == ["b.py", "c.py"]
    assert place.text("c.py") == TEXT


def test_two_edits_of_one_file_are_made_one_after_the_other(place, files):
    result = files.answer({"fileChanges": [edit("a.py", 3), edit("b.py"), edit("a.py", 4)]})
    assert states(result) == ["applied"] * 3
    assert result.changes[0].result is result.changes[2].result
    assert place.text("a.py") == TEXT.replace("line 3", "mine 3").replace("line 4", "mine 4")


def test_others_changes_elsewhere_are_merged_and_told(place, files):
    place.put("a.py", TEXT.replace("line 9", "theirs"))
    result = files.answer(
        {"fileChanges": [{"path": "a.py", "content": TEXT.replace("line 1\n", "")}]}
    )
    assert result.changes[0].result.merged
    assert "theirs" in place.text("a.py")
    assert "Merged with what others changed in a.py." in result.text
    files.acknowledge(result)
    assert files.changes() == []


def test_a_unified_diff_may_lack_the_names_of_its_file(place, files):
    change = {"path": "a.py", "patch": "@@ -3,1 +3,1 @@\n-line 3\n+mine\n"}
    assert states(files.answer({"fileChanges": [change]})) == ["applied"]
    assert "mine\n" in place.text("a.py")


# --- the revision that a change rests on


def test_a_revision_that_still_holds_changes_nothing(place, files):
    seen = files.read("a.py").revision
    assert states(files.answer({"fileChanges": [edit("a.py", basedOn=seen[:8])]})) == ["applied"]


def test_a_revision_that_was_never_shown_is_refused_in_words(place, files):
    place.put("a.py", TEXT + "more\n")
    on_disk = sightline.open_session(place.root, id="other", settings=place.settings())
    revision = on_disk.read("a.py").revision
    on_disk.close()
    for stated in (revision, "f" * 64, "no revision", ""):
        change = edit("a.py", basedOn=stated)
        if not stated:
            continue
        [judged] = files.answer({"fileChanges": [change]}).changes
        assert judged.state == "refused"
        assert "was never shown revision" in judged.refusal.message
    assert place.text("a.py") == TEXT + "more\n"


@pytest.fixture
def moved_on(place, files):
    """A file that the user changed in line 3, and that the session was shown since."""
    first = files.read("a.py").revision
    place.put("a.py", TEXT.replace("line 3", "theirs"))
    files.read("a.py")
    return files, first


def test_an_older_revision_refuses_what_touches_the_changed_lines(place, moved_on):
    session, first = moved_on
    whole = {"path": "a.py", "content": TEXT, "basedOn": first}
    removed = {"path": "a.py", "delete": True, "basedOn": first}
    renamed = {"path": "a.py", "moveTo": "z.py", "basedOn": first}
    for change in (whole, removed, renamed):
        [judged] = session.answer({"fileChanges": [change]}).changes
        assert judged.state == "refused"
        assert "-line 3\n+theirs" in judged.refusal.diff
        assert "not as in revision" in judged.refusal.message
    assert place.text("a.py") == TEXT.replace("line 3", "theirs")


def test_an_older_revision_allows_what_touches_other_lines(place, moved_on):
    session, first = moved_on
    assert states(session.answer({"fileChanges": [edit("a.py", 8, basedOn=first)]})) == ["applied"]
    assert place.text("a.py") == TEXT.replace("line 3", "theirs").replace("line 8", "mine 8")


# --- what is wrong with an answer as a whole


@pytest.mark.parametrize(
    ("changes", "place_", "what"),
    [
        ([edit("../x.py")], "fileChanges[0].path", "outside"),
        ([edit("/etc/passwd")], "fileChanges[0].path", "outside"),
        ([edit("a\0b")], "fileChanges[0].path", "NUL"),
        ([edit("a.py"), {"path": "b.py", "moveTo": "../b.py"}], "fileChanges[1].moveTo", "outside"),
        ([edit("a.py", todoIndex=5)], "fileChanges[0].todoIndex", "no to-do 5"),
        ([edit("a.py", basedOn="aaaaaa"), edit("a.py", 4, basedOn="bbbbbb")], "fileChanges[1].basedOn", "another revision"),
        ([edit("a.py"), {"path": "./a.py", "content": "x"}], "fileChanges[1].path", "only once"),
        ([{"path": "a.py", "delete": True}, edit("a.py")], "fileChanges[1].path", "only once"),
    ],
)  # fmt: skip
def test_an_impossible_answer_is_refused_as_a_whole(place, files, changes, place_, what):
    position = files._context.store.position()
    for mode in ("all", "each", "preview"):
        with pytest.raises(AnswerInvalid) as error:
            files.answer({"fileChanges": changes}, apply=mode)
        [(named, words)] = error.value.places
        assert named == place_
        assert what in words
    assert files._context.store.position() == position


def test_a_request_that_leads_out_is_refused_before_a_file_is_written(place, files):
    pattern = f"{place.root}/../x.py"
    with pytest.raises(AnswerInvalid) as error:
        files.answer({"fileChanges": [edit("a.py")], "filesToLoad": ["b.py", pattern]})
    assert error.value.place == "fileRequests[1].patterns"
    assert place.text("a.py") == TEXT


def test_a_path_that_an_ignore_file_refuses_is_one_refused_change(place, files):
    place.put(".sightlineignore", "secret.txt\n")
    place.put("secret.txt", "x\n")
    session = place.session("later")
    session.read("a.py")
    result = session.answer({"fileChanges": [edit("a.py"), edit("secret.txt")]}, apply="each")
    assert states(result) == ["applied", "refused"]


def test_commands_are_never_run(place, files):
    result = files.answer({"commands": ["touch ran", {"command": "rm a.py"}]})
    assert [each.command for each in result.answer.commands] == ["touch ran", "rm a.py"]
    assert place.names() == ["a.py", "b.py", "c.py"]


def test_an_async_host_applies_an_answer_as_well(place, files):
    result = asyncio.run(files.aio.answer({"fileChanges": [edit("a.py")]}))
    assert states(result) == ["applied"]


def test_a_text_that_ended_early_leaves_its_to_do_in_progress(place, files):
    text = (
        '{"todos": ["one"], "fileChanges": [{"path": "n.py", "content": "n", "todoIndex": 0}, {"pa'
    )
    result = files.answer(text)
    assert (result.is_cut, states(result)) == (True, ["applied"])
    assert result.todos[0].state == "in_progress"
    assert result.text.startswith("Your answer ended early.")


def test_the_result_names_the_slips_of_its_json_to_host_and_agent(files):
    result = files.answer('{"summary": "x", "commands": ["ls",]}')
    assert result.slips == ("a trailing comma (line 1, column 35)",)
    assert result.text.startswith(f"Your JSON was read without {result.slips[0]}")


# --- the preview


def outcome(change):
    if change.refusal is not None:
        return change.refusal.reason, change.refusal.message, change.refusal.diff
    done = change.result
    return done.path, done.revision, done.merged, done.diff, done.changed


def answer_at_random(random):
    """An answer over four files, of which somebody changed some, and new ones."""
    changes = []
    for name in random.sample(["a.py", "b.py", "c.py", "gone.py", "n.py", "sub/m.py"], 4):
        kind = random.choice(["edit", "edit", "write", "patch", "move", "delete", "create", "none"])
        number = random.randrange(1, 11)
        fields = {
            "edit": edit(name, number),
            "write": {"content": TEXT.replace(f"line {number}\n", "whole\n")},
            "patch": {"patch": f"@@ -{number},1 +{number},1 @@\n-line {number}\n+patched\n"},
            "move": {"moveTo": random.choice(["z.py", "a.py", "b.py"])},
            "delete": {"delete": True},
            "create": {"content": "new\n", "create": True},
            "none": {},
        }[kind]
        changes.append({**fields, "path": name})
        if kind == "edit" and random.random() < 0.3:
            changes.append(edit(name, random.randrange(1, 11)))
    return {"fileChanges": changes}


def disk(place):
    return {
        str(file.relative_to(place.root)): file.read_text()
        for file in place.root.rglob("*")
        if file.is_file()
    }


@pytest.mark.wide
def test_the_preview_is_what_happens(place, s):
    """Of random answers over a tree that others change, in both ways to apply them."""
    random = Random(22)
    for number in range(examples(120)):
        session = place.session(f"s{number}")
        for name in disk(place):
            (place.root / name).unlink()
        for name in ("a.py", "b.py", "c.py"):
            place.put(name, TEXT)
            session.read(name)
        for name in random.sample(["a.py", "b.py", "c.py"], 2):
            place.put(name, TEXT.replace(f"line {random.randrange(1, 11)}\n", "theirs\n"))
        answer, mode = answer_at_random(random), random.choice(["all", "each"])
        try:
            preview = session.answer(answer, apply="preview")
        except AnswerInvalid:
            with pytest.raises(AnswerInvalid):
                session.answer(answer, apply=mode)
            continue
        before, position = disk(place), session._context.store.position()
        assert session._context.store.position() == position
        done = session.answer(answer, apply=mode)
        assert [*map(outcome, done.changes)] == [*map(outcome, preview.changes)], answer
        if mode == "all" and preview.refused:
            assert disk(place) == before
            assert {change.state for change in done.changes} <= {"held", "refused"}
        else:
            expected = [c.state.replace("allowed", "applied") for c in preview.changes]
            assert states(done) == expected
        session.close()
