"""`sightline gc`: what it says would go is what goes."""

from __future__ import annotations

import pytest


@pytest.fixture
def written(sl):
    """A file with five kept versions, of which the newest two are needed. All but the first are kept
    as what was changed: a byte each, and 160 for where it stands."""
    sl.put("app.py", "a = 0\n")
    sl("read", "app.py")
    for number in range(4):
        assert (
            sl("edit", "app.py", "--old", f"a = {number}", "--new", f"a = {number + 1}").code == 0
        )
    return sl


def test_with_nothing_to_forget_it_says_so(written):
    done = written("gc")
    assert done.code == 0
    assert done.out.startswith("Nothing to forget: 5 texts (825 bytes) kept")


def test_a_dry_run_names_the_files_and_forgets_nothing(written):
    before = written("log", "--json").out
    said = written("gc", "--dry-run", "--max-size", "0").out
    assert "Would forget 3 texts (495 bytes)" in said
    assert "app.py  3 texts" in said
    assert written("log", "--json").out == before
    assert written("gc", "--dry-run", "--max-size", "0").out == said


def test_json_lists_every_text_and_the_run_does_as_it_said(written):
    said = written("gc", "--dry-run", "--max-size", "0", "--json").json
    done = written("gc", "--max-size", "0", "--json").json
    assert (said["schema"], said["dry_run"], done["dry_run"]) == (1, True, False)
    assert list(said["texts"][0]) == ["revision", "path", "bytes", "at", "reason"]
    assert (done["texts"], done["kept"], done["over"]) == (
        said["texts"],
        said["kept"],
        said["over"],
    )
    assert (len(done["texts"]), done["kept"]) == (3, {"texts": 2, "bytes": 330})
    assert written("check", "app.py").code == 0


def test_what_went_is_on_the_timeline(written):
    written("gc", "--older-than", "0d")
    last = written("log", "--newest", "1").out
    assert "older than the limit" in last


@pytest.mark.parametrize(
    ("option", "value"), [("--older-than", "soon"), ("--older-than", "-1d"), ("--max-size", "5X")]
)
def test_an_amount_that_is_none_is_wrong_usage(sl, option, value):
    done = sl("gc", option, value)
    assert done.code == 2
    assert value in done.err


def test_quiet_prints_nothing(written):
    assert written("gc", "--quiet") == (0, "", "")


def test_the_users_settings_say_how_much_is_kept(written, monkeypatch):
    monkeypatch.setenv("SIGHTLINE_KEEP_BYTES", "1")
    assert len(written("gc", "--json").json["texts"]) == 3


def test_a_workspace_may_not_have_texts_forgotten(sl):
    """Else a folder that was only cloned could take the way back."""
    sl.put("sightline.toml", "keep_bytes = 1\n")
    done = sl("gc", "--json")
    assert "Warning: sightline.toml, line 1: a workspace may not set keep_bytes" in done.err
    assert done.json["texts"] == []
