"""The command replay, as a user meets it."""

from __future__ import annotations

import re

import pytest
from tests.recordings.claude_code.recorder import Recorder

from sightline.audit.policies import POLICIES
from sightline.messages.blocks import Decision, Fold


def record(folder, name="s1", reads=12, tool="Read"):
    made = Recorder(name).typed("please <b>go</b> on")
    for at in range(reads):
        made.ran(tool, "\n".join(f"line {at} {n}" for n in range(300)), file_path=f"/a/f{at}.py")
    made.edit("/a/f0.py", "line 0 5", "late")
    made.said("done")
    return made.write(folder / f"{name}.jsonl")


@pytest.fixture
def recorded(sl, tmp_path):
    record(tmp_path / "rec")
    record(tmp_path / "rec", "<i>two</i>")
    return str(tmp_path / "rec")


def test_it_compares_all_policies_in_one_table(sl, recorded):
    answer = sl("replay", recorded)
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.split("\n")
    assert lines[0].startswith("2 recorded sessions, ")
    names = [line.split("  ")[0] for line in lines[4:] if re.match(r"[a-z].*\d\.\d{3} ", line)]
    assert names == ["none", "default", "careful", "anthropic", "mask-10"]
    assert "is modelled here, not observed." in answer.out


def test_policies_and_prices_are_chosen(sl, recorded):
    answer = sl("replay", recorded, "--policy", "careful", "--price", "none")
    assert "cost uncached" in answer.out
    assert "0.05/1.25" not in answer.out
    assert "careful " in answer.out
    assert "default " not in answer.out


def test_json_is_one_object(sl, recorded):
    answer = sl("replay", recorded, "--policy", "careful", "--soft-budget", "21000", "--json")
    assert (answer.code, answer.json["schema"], answer.json["sessions"]) == (0, 1, 2)
    none, careful = answer.json["policies"]
    assert (none["name"], careful["name"]) == ("none", "careful")
    assert none["sent"] == 1
    assert [len(policy["cost_per_session"]) for policy in (none, careful)] == [2, 2]


def test_a_small_one_can_be_left_out(sl, recorded):
    answer = sl("replay", recorded, "--min-tokens", "10000000")
    assert answer.code == 1
    assert answer.out == ""
    assert "No recorded session was found to play. 2 sessions did not count" in answer.err


def test_where_nothing_is_recorded_it_says_what_to_name(sl, tmp_path):
    (tmp_path / "rec").mkdir()
    (tmp_path / "rec" / "x.json").write_text("{}")
    answer = sl("replay", str(tmp_path / "rec"))
    assert answer.code == 1
    assert "Not played: 1 file." in answer.err
    assert "x.json: " in answer.err
    assert "Name recordings of a coding agent" in answer.err
    told = sl("replay", str(tmp_path / "rec"), "--json")
    assert (told.code, told.json["policies"], len(told.json["unreadable"])) == (1, [], 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--policy", "rooo"], "There is no policy 'rooo'"),
        (["--price", "1/2"], "There are no prices '1/2'"),
        (["--policy", "roo"], "There are: none, default, careful, anthropic, mask-10"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_played(sl, recorded, options, said):
    answer = sl("replay", recorded, *options)
    assert answer.code != 0
    assert said in answer.err
    assert "Hint:" in answer.err
    assert answer.out == ""


@pytest.mark.parametrize(
    "options", [["--min-tokens", "-1"], ["--soft-budget", "0"], ["--limit", "0"]]
)
def test_numbers_have_to_make_sense(sl, recorded, options):
    assert sl("replay", recorded, *options).code == 2


def test_a_path_where_nothing_is_is_named(sl):
    answer = sl("replay", "nowhere.jsonl")
    assert answer.code == 1
    assert "nowhere.jsonl does not exist." in answer.err


class Careless:
    """Folds what was typed."""

    name = "careless"

    def __init__(self, setting):
        self.setting = setting

    def add(self, block):
        pass

    def decide(self, ask):
        return Decision((Fold(0, "gone", 1, "x"),)) if ask.number == 2 else Decision()


def test_a_policy_whose_view_no_provider_takes_is_told_loudly(sl, tmp_path, monkeypatch):
    monkeypatch.setitem(POLICIES, "careless", Careless)
    recorded = record(tmp_path)
    answer = sl("replay", recorded, "--policy", "careless")
    assert answer.code == 0
    assert "\ncareless!" in answer.out
    assert "\n!: a provider would refuse views of this policy.\n" in answer.out
    assert "INVALID views: 1. The first: careless, call 2: block 0 (user) may never" in answer.out
    told = sl("replay", recorded, "--policy", "careless", "--json")
    assert (told.code, told.json["policies"][1]["invalid_views"]) == (0, 1)


def test_a_policy_of_our_own_whose_view_no_provider_takes_is_a_failure(sl, tmp_path, monkeypatch):
    monkeypatch.setitem(POLICIES, "default", Careless)
    assert sl("replay", record(tmp_path), "--policy", "default").code == 1


def test_a_soft_budget_is_our_policies(sl, tmp_path):
    recorded = record(tmp_path, reads=60, tool="Grep")
    wide, narrow = (
        sl("replay", recorded, "--soft-budget", str(budget), "--policy", "default", "--json").json
        for budget in (10_000_000, 21_000)
    )
    assert wide["policies"][1]["changes"] == 0
    assert narrow["policies"][1]["changes"] > 0
    assert narrow["parameters"]["soft_budget"] == 21_000


@pytest.mark.wide
def test_nothing_but_the_answer_goes_into_a_pipe(sl, recorded):
    done = sl.spawn("replay", recorded, "--policy", "none")
    out, err = done.communicate()
    assert done.returncode == 0
    assert b"\r" not in out + err
    assert err == b""
