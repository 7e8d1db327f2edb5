"""bench/watching.py runs, and both of its watchers see. Nothing here looks at a clock."""

import sys

import pytest

if sys.platform != "linux":
    pytest.skip("inotify is Linux's", allow_module_level=True)

from bench import watching


def test_a_name_that_no_figure_has_is_said(capsys):
    assert watching.main(["--only", "nothing"]) == 2
    assert "latency" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["ours", "bare"])
def test_a_watcher_says_what_changed(tmp_path, kind):
    root = watching.tree(str(tmp_path / "root"), 200)
    child = watching.Child(kind, root)
    with child.stopped():
        (tmp_path / "root/d0/e0/f3/31.txt").write_text("changed")
        child.ask("drained")
    said = child.answer()
    child.end()
    assert said == {"paths": ["d0/e0/f3/31.txt"], "everything": False}
    assert child.start["rss_kb"] > 0


def test_a_hint_stands_for_all_below_it():
    said = {"paths": ["a", "b/c"], "everything": False}
    assert watching.missed(said, ["a/x/y", "b/c", "b/d", "ab"]) == 2
    assert watching.missed({"paths": [], "everything": True}, ["a"]) == 0


def test_a_missed_limit_is_printed_and_ends_with_one(capsys, monkeypatch):
    row = watching.Row("slow", "w", "ms", 2.0, 1.0, "1.5 x", met=False)
    monkeypatch.setattr(watching, "FIGURES", {"slow": lambda _: iter([row])})
    assert watching.main([]) == 1
    assert "MISSED" in capsys.readouterr().out


def test_another_branch_is_5000_files_away(tmp_path):
    root = watching.tree(str(tmp_path / "root"), 2600)
    changed = watching.branches(root)
    watching.git(root, "diff", "--quiet", "HEAD")
    assert len(set(changed)) == 5000
