"""The commands find, list, related and registry: what they print, and their exit codes."""

from __future__ import annotations

from itertools import count

import pytest

from sightline.codegraph import import_index
from sightline.codegraph.import_index import ImportIndex


@pytest.fixture
def tree(sl):
    sl.put("src/app/__init__.py", "")
    sl.put("src/app/main.py", "from app import util\n")
    sl.put("src/app/util.py", "x = 1\n")
    sl.put("tests/test_main.py", "from app.main import run\n")
    sl.put("build/out.py", "")
    sl.put(".gitignore", "build/\n")
    return sl


def test_the_first_pattern_that_matches_wins_and_is_named(tree):
    done = tree("find", "nothing.py", "**/main.py", "*.py")
    assert (done.code, done.err) == (0, "")
    assert done.out == "src/app/main.py\n(found by **/main.py; nothing matched before it)\n"
    told = tree("find", "nothing.py", "**/main.py", "--json").json
    assert told["schema"] == 1
    assert (told["matches"], told["pattern"], told["tried"]) == (
        ["src/app/main.py"],
        "**/main.py",
        2,
    )


def test_what_may_have_been_meant_is_listed_with_the_reason(tree):
    done = tree("find", "app/Main.py")
    assert done.code == 1
    assert "src/app/main.py (" in done.out
    told = tree("find", "app/Main.py", "--fallback", "ask_user", "--json")
    assert (told.code, told.json["fallback"]) == (1, "ask_user")
    assert told.json["candidates"][0]["path"] == "src/app/main.py"
    assert set(told.json["candidates"][0]) == {"path", "score", "reason"}


def test_nothing_is_created(tree):
    done = tree("find", "src/app/new.ts", "--fallback", "create_new")
    assert done.code == 1
    assert "If you mean a new file, create src/app/new.ts. Nothing was created." in done.out
    assert not (tree.root / "src/app/new.ts").exists()


def test_what_is_no_chain_is_refused_with_words(tree):
    assert tree("find", *"abcdef").code == 2
    assert tree("find", "../elsewhere.py").code != 0
    assert tree("find").code == 2


def test_searches_are_counted_by_kind_of_pattern(tree):
    assert "No session looked for files yet." in tree("stats").err
    for session in ("cli", "other"):
        tree("turn", "--session", session)
    tree("find", "nothing.py", "**/main.py", "*.py")
    tree("--session", "other", "find", "src/app/mains.py")
    tree("--session", "other", "read", "src/app/main.py")
    told = tree("stats", "--json").json
    assert told["schema"] == 1
    assert told["find"]["searches"] == {
        "asked": 2,
        "found_first": 0,
        "found_further": 1,
        "helped": 1,
        "not_found": 0,
    }
    done = tree("stats", "--session", "other")
    assert "1 search for files" in done.out
    assert "src/app/mains.py (1 time)" in done.out
    assert "files were looked for: nothing.py, **/main.py, *.py" in tree("log").out


def test_a_folder_is_listed_without_what_is_ignored(tree):
    done = tree("list")
    assert done.code == 0
    assert done.out.splitlines()[:3] == [".gitignore  7 bytes", "src/", "tests/"]
    assert "(1 ignored)" in done.out
    below = tree("list", "src", "--recursive", "--filter", "ut*.py", "--json").json
    assert [each["path"] for each in below["entries"] if each["kind"] == "file"] == [
        "src/app/util.py"
    ]
    assert tree("list", "..").code == 1


def test_related_files_are_listed_with_why(tree):
    done = tree("related", "src/app/main.py")
    assert done.code == 0
    assert "  src/app/util.py (" in done.out
    assert "imported in line 1" in done.out
    told = tree("related", "src/app/main.py", "--no-tests", "--no-importers", "--json").json
    assert "tests/test_main.py" not in [each["path"] for each in told["files"]]
    assert tree("related", "src/app/none.py").code == 1


def test_without_time_for_all_sources_the_answer_says_so_and_the_next_goes_on(tree, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(import_index, "monotonic", count().__next__)
        part = tree("related", "src/app/main.py", "--json").json
        assert (part["complete"], part["sources"]) == (False, 4)
        assert part["unread"] > 0
        assert "src/app/util.py" in [each["path"] for each in part["files"]]
        words = tree("related", "src/app/main.py").out
        assert "of 4 sources, so importers may be missing." in words
        whole = tree("related", "src/app/main.py", "--json", "--complete").json
    assert (whole["complete"], whole["unread"]) == (True, 0)


def test_an_interrupt_prints_what_is_known_so_far(tree, monkeypatch):
    counts = ImportIndex._count

    def interrupted(index):
        monkeypatch.setattr(ImportIndex, "_count", counts)
        raise KeyboardInterrupt

    monkeypatch.setattr(ImportIndex, "_count", interrupted)
    done = tree("related", "src/app/main.py", "--complete")
    assert done.code == 130
    assert "  src/app/util.py (" in done.out


def test_the_registry_tells_what_the_session_knows(tree):
    assert tree("registry").out == "No file was shown to this session yet.\n"
    tree("read", "src/app/util.py")
    done = tree("registry")
    assert "src/app/util.py" in done.out
    told = tree("registry", "--json", "--md5").json
    assert told["known"] == 1
    assert told["entries"][0]["path"] == "src/app/util.py"


def test_a_briefing_is_told_until_it_is_acknowledged(tree):
    assert tree("briefing").err == "The agent needs no briefing now.\n"
    tree("read", "src/app/util.py")
    tree.put("src/app/util.py", "x = 2\n")
    told = tree("briefing", "--message", "rename it")
    assert "+x = 2" in told.out
    shown = tree("briefing", "--message", "continue", "--json").json
    assert [each["name"] for each in shown["parts"]] == ["changes"]
    assert (shown["schema"], shown["left_out"]) == (1, [])
    tree("briefing", "--message", "rename it", "--ack")
    assert tree("briefing", "--message", "rename it").err == "The agent needs no briefing now.\n"
    assert tree("briefing", "--budget", "3").code == 2
