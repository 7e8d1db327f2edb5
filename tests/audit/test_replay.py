"""Recorded sessions played under all policies, over processes."""

from __future__ import annotations

import os

import pytest
from bench.policies.catalog import ALL
from msgspec import structs
from tests.recordings.claude_code.recorder import Recorder, use

from sightline.audit.costs import Outcome
from sightline.audit.policies import POLICIES, select
from sightline.audit.run_sessions import Played, play, replay, segments
from sightline.cli.replay import order, replay_shape
from sightline.errors import FileMissing, UnknownName
from sightline.messages.blocks import Decision
from sightline.recordings.recorded_conversation import Conversation


def session(name, reads=6, size=2_000):
    """Reads large files one after the other, and edits each; one is edited again at the end."""
    made = Recorder(name).typed("please go on")
    for at in range(reads):
        lines = "\n".join(f"line {at} {n} of {name}" for n in range(size // 8))
        made.read(f"/home/me/demo/f{at}.py", lines)
        made.edit(f"/home/me/demo/f{at}.py", f"line {at} 1 of {name}", f"changed {at}")
    made.edit("/home/me/demo/f0.py", f"line 0 5 of {name}", "late")
    made.said("done")
    return made


@pytest.fixture
def folder(tmp_path):
    for name in ("one", "two", "three"):
        session(name).write(tmp_path / "sessions" / f"{name}.jsonl")
    return tmp_path / "sessions"


def sums(sessions):
    return [
        [structs.replace(outcome, spent_s=0.0) for outcome in each.outcomes] for each in sessions
    ]


@pytest.mark.wide
def test_every_policy_has_its_say_and_every_view_is_valid(tmp_path):
    made = session("large", 20, 6_000)
    for at in range(4):
        made.ran("Bash", "\n".join(f"log {at} {n}" for n in range(800)), command="make")
    made.read("/home/me/demo/only_read.py", "\n".join(f"apart {n}" for n in range(3_000)))
    for at in range(10):
        made.read("/home/me/demo/f0.py", f"short {at}")
    for at in range(4):
        made.typed(f"and {at}").said("yes")
        made.read(f"/home/me/demo/f{at}.py", "\n".join(f"again {at} {n}" for n in range(3_000)))
    made.read("/home/me/demo/huge.py", "\n".join(f"much {n}" for n in range(12_000)))
    made.read("/home/me/demo/f1.py", "\n".join(f"line 1 {n} of large" for n in range(750)))
    made.said("done")
    made.write(tmp_path / "t.jsonl")
    wanted = order(among=ALL)
    wanted = structs.replace(wanted, setting=structs.replace(wanted.setting, window=100_000))
    rows = replay([str(tmp_path)], wanted).rows()
    assert [each.name for each in rows] == list(ALL)
    assert [each.name for each in rows if not each.total.changes] == ["none"]
    assert {each.name: (each.total.invalid, each.total.wrong) for each in rows} == dict.fromkeys(
        ALL, (0, "")
    )
    assert rows[0].total.edits == 21
    everything = next(each for each in rows if each.name == "all")
    assert everything.total.lost_edits == everything.total.edits
    assert everything.sent < 1


@pytest.mark.wide
def test_processes_make_no_difference(folder):
    wanted = order(["age-batch", "mask-10"], among=ALL)
    played = [play(wanted, str(path)) for path in folder.iterdir()]
    alone = sorted(
        (each for each in played if isinstance(each, Played)), key=lambda each: each.digest
    )
    together = replay([str(folder)], wanted).sessions
    assert sums(alone) == sums(together)
    assert [each.digest for each in alone] == [each.digest for each in together]


def test_policies_are_named_with_no_truncation_beside_them():
    assert list(select(["careful"])) == ["none", "careful"]
    assert list(select(["none", "careful", "careful"])) == ["none", "careful"]
    assert list(select([])) == list(POLICIES)
    with pytest.raises(UnknownName, match="no policy 'roo'"):
        select(["roo"])


@pytest.mark.wide
def test_small_sessions_are_left_out_and_counted(folder):
    session("small", 1, 40).write(folder / "small.jsonl")
    made = replay([str(folder)], order(["none"], least_tokens=25_000))
    assert ({each.session for each in made.sessions}, made.others) == ({"one", "two", "three"}, 1)
    assert all(each.tokens >= 25_000 for each in made.sessions)


@pytest.mark.wide
def test_a_session_that_is_there_twice_is_played_once(folder):
    session("one").write(folder / "sub" / "copy.jsonl")
    made = replay([str(folder)], order(["none"]))
    assert len(made.sessions) == 3
    assert len(made.again) == 1


@pytest.mark.wide
def test_of_a_session_in_two_files_the_longer_one_is_played(folder):
    longer = session("one")
    longer.ran("Bash", "more", command="ls").said("and more")
    longer.write(folder / "zz.jsonl")
    made = replay([str(folder)], order(["none"]))
    played = {each.session: os.path.basename(each.source) for each in made.sessions}
    assert played == {"one": "zz.jsonl", "two": "two.jsonl", "three": "three.jsonl"}
    assert [os.path.basename(path) for path in made.again] == ["one.jsonl"]


@pytest.mark.wide
def test_files_that_cannot_be_played_are_named_with_why(folder):
    (folder / "notes.md").write_text("# notes\n")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    made = replay([str(folder)], order(["none"]))
    assert [os.path.basename(each.path) for each in made.unread] == ["notes.md"]
    assert all(each.why for each in made.unread)


@pytest.mark.wide
def test_a_link_that_leads_nowhere_is_named(folder):
    (folder / "gone.jsonl").symlink_to(folder / "nowhere")
    made = replay([str(folder)], order(["none"]))
    assert [each.why for each in made.unread] == ["No such file or directory"]
    assert len(made.sessions) == 3


@pytest.mark.wide
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_is_named_and_not_waited_for(folder):
    os.mkfifo(folder / "pipe.jsonl")
    made = replay([str(folder)], order(["none"]))
    assert [os.path.basename(each.path) for each in made.unread] == ["pipe.jsonl"]
    assert made.unread[0].why.startswith("it is no file")
    assert len(made.sessions) == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(folder):
    (folder / "one.jsonl").chmod(0)
    made = replay([str(folder)], order(["none"]))
    assert [each.why for each in made.unread] == ["Permission denied"]


def test_a_path_where_nothing_is_is_refused(tmp_path):
    with pytest.raises(FileMissing, match="nowhere"):
        replay([str(tmp_path / "nowhere")], order(["none"]))


@pytest.mark.wide
def test_a_limit_is_on_files_and_progress_is_told(folder):
    told = []
    made = replay([str(folder)], order(["none"]), limit=2, progress=lambda *at: told.append(at))
    assert len(made.sessions) == 2
    assert told == [(0, 2), (1, 2), (2, 2)]


def test_a_broken_history_is_mended_first_and_said_so(tmp_path):
    made = Recorder("broken").typed("a")
    made.said(use("t1", "Bash", command="ls"))
    made.typed("never mind").said("ok")
    path = made.write(tmp_path / "t.jsonl")
    told = play(order(["none"]), path)
    assert isinstance(told, Played)
    assert told.mended == 1
    assert told.outcomes[0].calls == 2


def test_segments_are_played_one_after_the_other_and_added(tmp_path):
    made = Recorder("s").typed("a")
    made.said("b")
    made.compact("This session is being continued: b").typed("c").said("d")
    told = play(order(["none"]), made.write(tmp_path / "t.jsonl"))
    assert isinstance(told, Played)
    assert told.outcomes[0].calls == 2
    assert told.outcomes[0].costs[0] < 1.25 * told.outcomes[0].sent  # the prefix is in the cache


@pytest.mark.wide
def test_the_json_is_as_the_contract_has_it(folder):
    made = replay([str(folder)], order(["age-batch"], among=ALL))
    told = replay_shape(made, made.rows())
    assert (told["sessions"], told["calls"]) == (3, made.rows()[0].total.calls)
    assert [each["name"] for each in told["policies"]] == ["none", "age-batch"]
    none = told["policies"][0]
    assert none["cost"] == {"0.10/1.25": 1.0, "0.05/1.25": 1.0, "0.02/1": 1.0, "none": 1.0}
    assert (none["sent"], none["lost_edits"], none["lost_references"]) == (1.0, 0.0, 0.0)
    assert none["invalid_views"] == 0
    assert told["session_list"]["digest"] == made.digest


def test_no_session_makes_no_rows(tmp_path):
    made = replay([str(tmp_path)], order(["none"]))
    assert (made.sessions, made.rows()) == ((), [])
    assert replay_shape(made, [])["policies"] == []
    assert Outcome().calls == 0


def test_a_policy_is_not_blamed_for_what_the_recorded_messages_break():
    """A damaged recording, in which a result came after the next answer."""
    messages = (
        {"type": "message", "role": "user", "content": "go"},
        {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"},
        {"type": "message", "role": "assistant", "content": "hm"},
        {"type": "message", "role": "user", "content": "and?"},
        {"type": "function_call_output", "call_id": "c1", "output": "late"},
    )
    told = Conversation("responses", messages, (None,) * 5, (), "x", "codex", "s")
    (segment,) = segments(told, len)
    number = next(n for n, block in enumerate(segment.blocks) if block.kind == "result")
    assert segment.problem([], number) is None
    dropped = Decision(dropped=(number,))
    assert segment.problem([dropped], number + 1) is not None
