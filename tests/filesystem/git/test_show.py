"""git, asked what differs: in real repositories, without running anything of anybody's."""

from __future__ import annotations

import os
import subprocess

import pytest

from sightline.filesystem.git.repository import repository
from sightline.filesystem.git.show import ChangeReader, Touched

DEADLINE_S = 30.0


class Tree:
    def __init__(self, root):
        self.root = root
        root.mkdir()
        self.git("-c", "init.defaultBranch=main", "init", "--quiet")

    def git(self, *words):
        command = ["git", "-c", "protocol.file.allow=always", *words]
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def put(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    def commit(self, message="work"):
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", message)
        return self.git("rev-parse", "HEAD")

    def asked(self, folder="", deadline_s=DEADLINE_S):
        root = os.path.join(self.root, folder).rstrip("/")
        found = repository(root, ".")
        assert found is not None
        return ChangeReader(root, found, deadline_s)

    def script(self, name):
        """A program that leaves a trace when it is run."""
        trace = self.root.parent / f"ran-{name}"
        script = self.root.parent / name
        script.write_text(f"#!/bin/sh\ntouch '{trace}'\ncat\n")
        script.chmod(0o755)
        return script, trace


@pytest.fixture
def tree(tmp_path):
    made = Tree(tmp_path / "ws")
    made.put("a.py", "one\ntwo\nthree\n")
    made.put("sub/b.py", "b\n")
    made.commit()
    return made


def differing(told, before, after=None):
    found, more = told.touched(before, after)
    assert not more
    return sorted(found, key=lambda each: each.path)


def test_every_kind_of_difference_has_its_letter(tree):
    tree.put("long.py", "".join(f"{n}\n" for n in range(20)))
    tree.put("gone.py", "x\n")
    tree.put("bin", b"\0\1")
    tree.commit()
    tree.git("mv", "long.py", "moved.py")
    os.unlink(tree.root / "gone.py")
    tree.put("a.py", "one\n2\nthree\nfour\n")
    tree.put("bin", b"\0\2")
    tree.put("added.py", "new\n")
    tree.git("add", "added.py")
    tree.put("tab\tand\nline ö.py", "untracked\n")
    told = tree.asked()
    assert differing(told, told.head()) == [
        Touched("M", "a.py", None, 2, 1),
        Touched("A", "added.py", None, 1, 0),
        Touched("M", "bin", None, None, None),
        Touched("D", "gone.py", None, 0, 1),
        Touched("R", "moved.py", "long.py", 0, 0),
    ]
    assert told.untracked() == ([Touched("?", "tab\tand\nline ö.py")], False)


def test_before_the_first_commit_all_that_was_added_is_new(tmp_path):
    tree = Tree(tmp_path / "ws")
    tree.put("a.py", "a\n")
    tree.git("add", "a.py")
    told = tree.asked()
    assert differing(told, told.head()) == [Touched("A", "a.py", None, 1, 0)]


def test_a_folder_of_a_repository_is_told_of_itself_alone(tree):
    tree.put("a.py", "changed\n")
    tree.put("sub/b.py", "changed\n")
    told = tree.asked("sub")
    assert differing(told, told.head()) == [Touched("M", "b.py", None, 1, 1)]
    assert "a.py" not in told.patch(told.head(), None, ["b.py"], 10_000).text


def test_names_are_taken_as_they_are(tree):
    tree.put("*.py", "star\n")
    tree.commit()
    tree.put("*.py", "stars\n")
    tree.put("a.py", "changed\n")
    told = tree.asked()
    assert "a.py" not in told.patch(told.head(), None, ["*.py"], 10_000).text


def test_a_commit_is_told_by_its_beginning(tree):
    first = tree.git("rev-parse", "HEAD")
    tree.put("a.py", "other\n")
    second = tree.commit("what\n\nand why: ö")
    told = tree.asked()
    found = told.commit(second[:7])
    assert (found.id, found.before, found.parents) == (second, first, 1)
    assert (found.author, found.message) == ("Ada <ada@example.org>", "what\n\nand why: ö")
    assert differing(told, found.before, found.id) == [Touched("M", "a.py", None, 1, 3)]


def test_the_first_commit_is_compared_with_nothing(tree):
    told = tree.asked()
    found = told.commit(tree.git("rev-parse", "HEAD"))
    assert [each.letter for each in differing(told, found.before, found.id)] == ["A", "A"]


def test_a_merge_is_compared_with_its_first_parent(tree):
    tree.git("checkout", "--quiet", "-b", "other")
    tree.put("theirs.py", "x\n")
    tree.commit()
    tree.git("checkout", "--quiet", "main")
    tree.put("ours.py", "x\n")
    tree.commit()
    tree.git("merge", "--quiet", "--no-edit", "other")
    told = tree.asked()
    found = told.commit(tree.git("rev-parse", "HEAD"))
    assert found.parents == 2
    assert [each.path for each in differing(told, found.before, found.id)] == ["theirs.py"]


def test_what_is_no_commit_is_none(tree):
    blob = tree.git("rev-parse", "HEAD:a.py")
    told = tree.asked()
    assert told.commit("abcdef1") is None
    assert told.commit(blob) is None


def test_nobody_has_so_long_a_name(tree):
    tree.git("commit", "--quiet", "--allow-empty", "--author", f"{'a' * 30_000} <a@b>", "-m", "x")
    told = tree.asked()
    assert told.commit(told.head()) is None


def test_a_patch_is_cut_at_a_line(tree):
    tree.put("a.py", "".join(f"{n} ö\n" for n in range(1_000)))
    told = tree.asked()
    whole = told.patch(told.head(), None, ["a.py"], 1 << 20)
    some = told.patch(told.head(), None, ["a.py"], 500)
    assert (whole.cut, some.cut) == (False, True)
    assert whole.text.startswith(some.text)
    assert some.text.endswith("\n")
    assert len(some.text.encode()) <= 500


@pytest.mark.skipif(os.name == "nt", reason="the programs of this test are shell scripts")
def test_nothing_that_the_repository_names_is_run(tree, monkeypatch):
    traces = []
    filters = ("filter.f.clean", "filter.f.process", "filter.f.smudge", "filter.g=h.clean")
    for key in (*filters, "diff.d.textconv"):
        script, trace = tree.script(key)
        tree.git("config", key, str(script))
        traces.append(trace)
    for key in ("diff.external", "diff.d.command", "core.pager", "gpg.program", "core.fsmonitor"):
        script, trace = tree.script(key)
        tree.git("config", key, str(script))
        traces.append(trace)
    tree.git("config", "filter.f.required", "true")
    tree.git("config", "log.showSignature", "true")
    script, trace = tree.script("environment")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(script))
    tree.put(".gitattributes", "*.py filter=f diff=d\nsub/* filter=g=h\n")
    tree.put("a.py", "changed\n")
    tree.put("sub/b.py", "changed\n")
    header, _, message = tree.git("cat-file", "commit", "HEAD").partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n aQ==\n -----END PGP SIGNATURE-----"
    (tree.root.parent / "signed").write_text(f"{header}\n{signature}\n\n{message}\n")
    signed = tree.git("hash-object", "-t", "commit", "-w", "../signed")
    for each in traces:
        each.unlink(missing_ok=True)
    told = tree.asked()
    assert differing(told, told.head()) == [
        Touched("M", "a.py", None, 1, 3),
        Touched("M", "sub/b.py", None, 1, 1),
    ]
    assert "+changed" in told.patch(told.head(), None, ["a.py"], 10_000).text
    assert told.commit(told.head()) is not None
    assert told.commit(signed) is not None
    assert told.untracked() == ([Touched("?", ".gitattributes")], False)
    assert [each.name for each in [*traces, trace] if each.exists()] == []


def test_the_index_is_left_as_it_is(tree):
    """Nor does a file differ that was only saved again."""
    tree.put("sub/bin", b"\0\1")
    tree.put("sub/other", b"\0\1")
    tree.commit()
    tree.put("sub/other", b"\0\2")
    index = tree.root / ".git" / "index"
    for name in ("a.py", "sub/bin"):
        os.utime(tree.root / name, (1, 1))
    before = (index.read_bytes(), index.stat().st_mtime_ns)
    told = tree.asked()
    assert differing(told, told.head()) == [Touched("M", "sub/other")]
    told = tree.asked("sub")
    assert differing(told, told.head()) == [Touched("M", "other")]
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before


@pytest.mark.skipif(os.name == "nt", reason="the program of this test is a shell script")
def test_git_that_takes_too_long_is_no_answer(tree, tmp_path, monkeypatch):
    script = tmp_path / "bin" / "git"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o755)
    told = tree.asked(deadline_s=0.05)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    assert told.head() is None


def test_without_git_there_is_no_answer(tree, monkeypatch):
    told = tree.asked()
    monkeypatch.setenv("PATH", "")
    assert told.head() is None
    assert told.untracked() is None
