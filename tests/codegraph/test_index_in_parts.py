"""A large tree is read in parts: each look goes on where an earlier one stopped, whoever made it."""

import time
from itertools import count

import pytest
from msgspec import structs

from sightline.codegraph import import_index, language_table
from sightline.codegraph.find_related import Kinds, related, related_each
from sightline.codegraph.import_index import ImportIndex
from sightline.filesystem import tree_index
from sightline.filesystem.disk import DiskWorkspace
from sightline.testing import FixedClock, MemoryWorkspace, make_session

MANY = 24


class Tree:
    """Sources on disk that all import aa.py, and the paths that were parsed. Each look is a process
    of its own; `ticks` of the clock is the time that it has."""

    def __init__(self, folder, monkeypatch):
        self.root, self.state = folder / "root", folder / "state"
        self.root.mkdir()
        self.parsed: list[str] = []
        self._monkeypatch = monkeypatch
        self.names = [f"m{number}.py" for number in range(MANY)]
        for name in self.names:
            self.put(name, "import aa\n")
        self.put("aa.py", "import bb\n")
        self.put("bb.py", "")
        known = language_table.language_of

        def language_of(path):
            language = known(path)

            def references(data, path):
                self.parsed.append(path)
                return language.references(data, path)

            return structs.replace(language, references=references)

        monkeypatch.setattr(import_index, "language_of", language_of)

    def put(self, path, text):
        (self.root / path).write_text(text)

    def process(self, kind=DiskWorkspace):
        return kind(str(self.root), str(self.state))

    def look(self, ticks=None, *first, progress=None):
        index, workspace = ImportIndex(), self.process(Unhurried)
        self._monkeypatch.setattr(import_index, "monotonic", count().__next__)
        index.refresh(workspace, *first, within_s=ticks, progress=progress)
        return index

    def new(self, folder):
        """An index that reads all by itself."""
        parsed, index = list(self.parsed), ImportIndex()
        index.refresh(DiskWorkspace(str(self.root), str(folder)))
        self.parsed[:] = parsed
        return {path: (index.imports(path), index.importers(path)) for path in index.paths}


class Unhurried(DiskWorkspace):
    """A tree that is looked at within any time."""

    def tree(self, last=None, *, until=None):
        return super().tree(last)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for looking in (tree_index, import_index):  # so that the times vouch for what was just written
        monkeypatch.setattr(looking, "time_ns", lambda: time.time_ns() + 1_000_000_000)
    monkeypatch.setattr(import_index, "BATCH", 4)
    return Tree(tmp_path, monkeypatch)


def told(index):
    return {path: (index.imports(path), index.importers(path)) for path in index.paths}


def test_what_a_look_read_it_has_resolved_too(tree):
    index = tree.look(10, "aa.py")
    assert 0 < index.pending_count() < MANY
    assert index.source_count() - index.pending_count() == len(tree.parsed)
    assert tree.parsed[0] == "aa.py"
    assert [each.path for each in index.imports("aa.py")] == ["bb.py"]
    assert set(index.importers("aa.py")) == {*tree.parsed} - {"aa.py", "bb.py"}


def test_looks_go_on_where_others_stopped_and_parse_nothing_twice(tree, tmp_path):
    for _ in range(MANY):
        index = tree.look(6, "aa.py")
        if not index.pending_count():
            break
    assert len(tree.parsed) == len(set(tree.parsed)) == MANY + 2
    assert told(index) == tree.new(tmp_path / "new")


def test_an_interrupted_look_keeps_what_it_counted(tree, tmp_path):
    counted = []

    def interrupted(done, of):
        counted.append((done, of))
        if len(counted) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tree.look(None, "aa.py", progress=interrupted)
    done = counted[-1][0]
    assert counted == sorted(counted)
    assert {of for _, of in counted} == {MANY + 2}
    assert len(tree.parsed) == done > 4
    index = tree.look(None, "aa.py")
    assert len(tree.parsed) == len(set(tree.parsed))
    assert told(index) == tree.new(tmp_path / "new")


def test_what_changes_between_the_parts_is_followed(tree, tmp_path):
    tree.look(12, "aa.py")
    read = [path for path in tree.parsed if path.startswith("m")]
    unread = [path for path in tree.names if path not in read]
    tree.put(read[0], "import bb  # it is longer now\n")
    tree.put(unread[0], "import bb  # so is this\n")
    (tree.root / read[1]).unlink()
    (tree.root / unread[1]).unlink()
    tree.put(unread[2], "import aa\n(((\n\0 def")
    tree.put("cc.py", "import aa\n")
    index = tree.look(None, "aa.py")
    assert index.pending_count() == 0
    assert told(index) == tree.new(tmp_path / "new")
    assert {read[0], unread[0], "aa.py"} & {*index.importers("bb.py")} == {
        read[0],
        unread[0],
        "aa.py",
    }
    assert not {read[1], unread[1]} & {*index.importers("aa.py")}


class Refusing(Unhurried):
    """A disk that does not give one file."""

    def contents(self, asked):
        for path, row, data in super().contents(asked):
            yield path, row, None if path == "m3.py" else data

    def read(self, path, **more):
        state = super().read(path, **more)
        return structs.replace(state, kind="unreadable") if path == "m3.py" else state


def test_a_source_that_cannot_be_read_does_not_keep_the_answer_open(tree):
    index = ImportIndex()
    index.refresh(tree.process(Refusing), "aa.py")
    assert index.unreadable == {"m3.py"}
    assert index.pending_count() == 0
    index.refresh(tree.process(), "aa.py")
    assert index.unreadable == set()
    assert "m3.py" in index.importers("aa.py")


SOURCES = {f"m{number}.py": "import aa\n" for number in range(9)} | {
    "aa.py": "import bb\n",
    "bb.py": "x = 1\n",
}


def test_an_answer_without_time_has_the_imports_and_what_is_near_by_name():
    context = make_session(
        MemoryWorkspace({**SOURCES, "test_aa.py": "import aa\n"}), clock=FixedClock()
    )._context
    answer = related(context, "aa.py", within_s=0, limit=20)
    why = {each.path: each.why for each in answer}
    assert "imported in line 1" in why["bb.py"]
    assert "a test of it by name" in why["test_aa.py"]
    assert why.keys() == {*SOURCES, "test_aa.py"} - {"aa.py"}
    assert not answer.complete
    assert answer.sources == len(SOURCES) + 1
    whole = related(context, "aa.py")
    assert (whole.complete, whole.unread) == (True, 0)


def test_every_edited_file_is_read_before_the_rest_of_the_tree(monkeypatch):
    monkeypatch.setattr(import_index, "monotonic", count().__next__)
    context = make_session(MemoryWorkspace(SOURCES), clock=FixedClock())._context
    kinds = Kinds(importers=False, siblings=False)
    answers = related_each(context, ["aa.py", "m8.py"], kinds, limit=5, within_s=8)
    assert [[each.path for each in answer] for answer in answers] == [["bb.py"], ["aa.py"]]
    assert answers[0].unread
