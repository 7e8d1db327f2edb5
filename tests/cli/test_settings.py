"""The settings at a shell: each with its source, and one written into the user's file."""

from __future__ import annotations

import json
import os
import tomllib

import pytest

from sightline.config.schema import KEYS

COMMENTED = """# what I like
policy = "block"  # be strict

# big files, too
max_file_bytes = 20_000_000
[policies]
"gen/**" = "warn"   # made by a script
"""


@pytest.fixture
def users(sl, tmp_path, monkeypatch):
    """The user's settings file, which is not there yet."""
    home = tmp_path / "own-home"
    for variable in ("HOME", "USERPROFILE", "APPDATA", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(home))
    return home / "sightline" / "config.toml"


def test_every_setting_is_shown_with_its_value_and_source(sl, users):
    users.parent.mkdir(parents=True)
    users.write_text(COMMENTED)
    (sl.root / "sightline.toml").write_text('unseen = "refuse"\nprotect = ["docs/**"]\n')
    shown = {each["name"]: each for each in sl("settings", "--json").json["settings"]}
    assert [*shown] == [*KEYS]
    sources = {name: (each["value"], each["source"]) for name, each in shown.items()}
    assert sources["policy"] == ("block", [str(users)])
    assert sources["policies"] == ({"gen/**": "warn"}, [str(users)])
    assert sources["unseen"] == ("refuse", ["sightline.toml"])
    assert sources["protect"][0][-1] == "docs/**"
    assert sources["protect"][1] == ["built in", "sightline.toml"]
    assert sources["fail"] == ("open", ["built in"])
    assert (shown["policy"]["may_tighten"], shown["fail"]["may_tighten"]) == (True, False)
    out = sl("settings").out
    assert 'policy                 "block"' in out
    assert out.rstrip().endswith(str(users))


def test_a_variable_and_an_option_are_sources(sl, users, monkeypatch):
    monkeypatch.setenv("SIGHTLINE_KEEP_DAYS", "3")
    got = sl("settings", "get", "keep_days", "--json").json
    assert (got["value"], got["source"]) == (3, ["$SIGHTLINE_KEEP_DAYS"])
    got = sl("--store", "memory:", "settings", "get", "store", "--json").json
    assert (got["value"], got["source"]) == ("memory:", ["the command line"])


def test_a_workspace_s_looser_value_is_no_source(sl, users):
    users.parent.mkdir(parents=True)
    users.write_text('unseen = "refuse"\n')
    (sl.root / "sightline.toml").write_text('unseen = "notice"\n')
    got = sl("settings", "get", "unseen", "--json").json
    assert (got["value"], got["source"]) == ("refuse", [str(users)])


def test_a_setting_is_written_and_the_comments_stay(sl, users):
    users.parent.mkdir(parents=True)
    users.write_text(COMMENTED)
    assert sl("settings", "set", "max_file_bytes", "5").code == 0
    assert users.read_text() == COMMENTED.replace("20_000_000", "5")
    assert sl("settings", "set", "policies", '{"a b/**" = "ask"}').code == 0
    table = tomllib.loads(users.read_text())
    assert table["policies"] == {"a b/**": "ask"}
    assert "# be strict" in users.read_text()
    assert sl("settings", "set", "policy", "--default").code == 0
    assert "policy" not in tomllib.loads(users.read_text())
    assert sl("settings", "get", "policy").out == '"merge"\n'


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("policy", "refresh", "refresh"),
        ("policy", '"refresh"', "refresh"),
        ("deadline_s", "2.5", 2.5),
        ("protect", '["a/**", "b"]', ["a/**", "b"]),
        ("continue_phrases", '["Përpara"]', ["Përpara"]),
        ("state_home", "~/elsewhere", "~/elsewhere"),
    ],
)
def test_a_value_is_toml_or_a_text(sl, users, name, text, value):
    assert sl("settings", "set", name, text).code == 0
    assert tomllib.loads(users.read_text()) == {name: value}
    if os.name != "nt":
        assert users.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["set", "polcy", "block"], "Did you mean policy?"),
        (["set", "policy", "blok"], "policy must be one of"),
        (["set", "keep_days", "many"], "must be a whole number"),
        (["set", "protect", "docs/**"], "must be a list"),
        (["set", "protect", '["a"'], "must be a list"),
        (["set", "policy"], "Give a value, or --default."),
        (["set", "policy", "block", "--default"], "Give a value, or --default."),
        (["set", "polcy", "--default"], "Did you mean policy?"),
        (["get", "polcy"], "Did you mean policy?"),
        (["get"], "Missing argument"),
        (["drop", "policy"], "drop"),
    ],
)
def test_a_wrong_call_is_answered_in_words_and_writes_nothing(sl, users, given, said):
    wrong = sl("settings", *given)
    assert (wrong.code, said in wrong.err, users.exists()) == (2, True, False), wrong.err


@pytest.mark.parametrize("text", ["policy = ", "policy = 'no such'\nunseen = 3\n", "\x00"])
def test_a_file_that_is_not_right_stays_as_it_is(sl, users, text):
    users.parent.mkdir(parents=True)
    users.write_text(text)
    wrong = sl("settings", "set", "keep_days", "5")
    assert wrong.code == 2
    assert str(users) in wrong.err
    assert users.read_text() == text


def test_a_wrong_value_is_mended_by_setting_it(sl, users):
    users.parent.mkdir(parents=True)
    users.write_text("policy = 'no such'  # oops\n")
    assert sl("settings", "set", "policy", "block").code == 0
    assert tomllib.loads(users.read_text()) == {"policy": "block"}


@pytest.mark.skipif(os.name == "nt", reason="symlinks need rights there")
def test_a_linked_file_stays_a_link(sl, users):
    users.parent.mkdir(parents=True)
    kept = sl.root / "dotfiles.toml"
    kept.write_text("# mine\n")
    users.symlink_to(kept)
    assert sl("settings", "set", "keep_days", "5").code == 0
    assert users.is_symlink()
    assert kept.read_text() == "# mine\nkeep_days = 5\n"


@pytest.mark.usefixtures("users")
def test_what_was_set_holds(sl):
    assert json.loads(sl("settings", "set", "read_max_lines", "1", "--json").out)["value"] == 1
    sl.put("a.txt", "one\ntwo\n")
    assert "two" not in sl("read", "a.txt").out
