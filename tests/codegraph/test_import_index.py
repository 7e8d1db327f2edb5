"""What a process keeps of imports, the next one answers as if it had read all anew."""

import os
import subprocess
import sys
import time
from itertools import count
from random import Random

import pytest
from tests.support.examples import widely

from sightline.codegraph import import_index, language_table
from sightline.codegraph.import_index import ImportIndex, hold_index, index_of
from sightline.filesystem import tree_index
from sightline.filesystem.disk import DiskWorkspace
from sightline.testing import MemoryWorkspace

PYTHON = [
    *("import aa", "import bb.cc", "from . import aa, bb", "from .. import cc"),
    *("from aa import bb", "from bb import *", "from .bb.cc import aa"),
]
SCRIPT = ['import x from "@/aa"', 'import "./aa"', 'export * from "../bb/cc"', 'require("pkg")']
NAMES = ["aa", "bb", "cc", "aa/__init__", "aa/bb", "bb/aa", "bb/cc/aa", "dd/aa"]
MAPPED = '{"compilerOptions": {"paths": {"@/*": ["./FOLDER/*"]}}}'
SETTINGS = {
    "tsconfig.json": [MAPPED.replace("FOLDER", each) for each in ("bb", "dd")],
    "package.json": ['{"name": "pkg", "main": "aa.ts"}', '{"name": "pkg", "main": "bb.ts"}'],
    "bb/pyproject.toml": ["", "[project]"],
    ".gitignore": ["", "cc.*\n"],
}


class Disk:
    """A tree on disk, in which each write shows in the times."""

    def __init__(self, folder):
        self.root, self.state = folder / "root", folder / "state"
        self.root.mkdir()
        self._last_ns = 0

    def put(self, path, text):
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        while place.stat().st_ctime_ns <= self._last_ns:
            place.write_text(text)
        self._last_ns = place.stat().st_ctime_ns

    def swap(self, path):
        """Another text of the same size, with the same time of modification."""
        place = self.root / path
        was, text = place.stat(), place.read_text()
        self.put(path, text.replace("aa", "zz") if "aa" in text else text.replace("zz", "aa"))
        os.utime(place, ns=(was.st_atime_ns, was.st_mtime_ns))

    def files(self):
        return sorted(
            str(each.relative_to(self.root)) for each in self.root.rglob("*.*") if each.is_file()
        )

    def process(self, state=None):
        """The workspace as a new process opens it."""
        return DiskWorkspace(str(self.root), str(state or self.state))

    @property
    def kept(self):
        return self.state / import_index.NAME


@pytest.fixture
def disk(tmp_path, monkeypatch):
    for looking in (tree_index, import_index):
        monkeypatch.setattr(looking, "time_ns", lambda: time.time_ns() + 1_000_000_000)
    return Disk(tmp_path)


def told(index, paths):
    return {path: (index.imports(path), index.importers(path)) for path in paths}


def step(disk, random):
    """Something happens to the tree."""
    files = disk.files()
    script = random.random() < 0.5
    lines = random.sample(SCRIPT if script else PYTHON, random.randint(0, 3))
    what = random.choice(["put", "put", "swap", "remove", "move", "settings", "settings"])
    if what == "settings":
        path = random.choice(list(SETTINGS))
        disk.put(path, random.choice(SETTINGS[path]))
    elif what == "put" or not files:
        disk.put(random.choice(NAMES) + (".ts" if script else ".py"), "\n".join(lines) + "\n")
    elif what == "swap":
        disk.swap(random.choice(files))
    elif what == "remove":
        (disk.root / random.choice(files)).unlink()
    else:
        target = disk.root / (random.choice(NAMES) + random.choice([".py", ".ts"]))
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(disk.root / random.choice(files), target)


@pytest.mark.wide
@pytest.mark.parametrize("seed", [0, 1, 18, *widely(21, 29, 43, 72, 89, 99, 147)])
def test_a_process_with_what_was_kept_answers_as_one_without(disk, seed, tmp_path):
    random = Random(seed)
    for path in [*SETTINGS, *random.sample(NAMES, 5)]:
        some = (f"{path}.ts", SCRIPT) if random.random() < 0.6 else (f"{path}.py", PYTHON)
        disk.put(path if path in SETTINGS else some[0], (SETTINGS.get(path) or some[1])[0])
    index, workspace = ImportIndex(), disk.process()
    index.refresh(workspace)
    for _ in range(8):
        for _ in range(random.randint(0, 2)):
            step(disk, random)
        if random.random() < 0.7:
            index, workspace = ImportIndex(), disk.process()
        if random.random() < 0.1:
            damaged(disk.kept, random)
        if random.random() < 0.2:
            (disk.state / "tree.z").unlink(missing_ok=True)
        new = ImportIndex()
        new.refresh(disk.process(tmp_path / "elsewhere"))
        (tmp_path / "elsewhere" / import_index.NAME).unlink()
        every = told(new, new.paths)
        if random.random() < 0.5:
            first = random.choice([*new.paths, "none.py"])
            index.refresh(workspace, first, within_s=random.choice([-1.0, 0.0, 0.001]))
            for path in new.paths:
                assert index.imports(path) in ((), every[path][0]), path
                assert set(index.importers(path)) <= set(every[path][1]), path
            if first.endswith((".py", ".ts")) and first in new.paths:
                assert index.imports(first) == every[first][0]
            if random.random() < 0.5:
                index, workspace = ImportIndex(), disk.process()
        index.refresh(workspace)
        assert told(index, new.paths) == every
        assert index.pending_count() == new.pending_count() == 0


def damaged(file, random):
    """Leave half of a file, junk, or nothing."""
    data = file.read_bytes()
    file.write_bytes(random.choice([data[: len(data) // 2], b"junk" * 1_000, b""]))


@pytest.fixture
def made(disk):
    """A tree whose index is kept after two looks, and what it tells."""
    for name in ("aa", "bb", "cc"):
        disk.put(f"{name}.py", "import aa, bb\n")
    disk.put("dd/aa.ts", 'import "../bb"\n')
    ImportIndex().refresh(disk.process())
    disk.put("cc.py", "import aa, bb, dd  # more\n")
    index, workspace = ImportIndex(), disk.process()
    index.refresh(workspace)
    return told(index, workspace.paths())


def read_by(index, workspace, monkeypatch):
    """The sources that a look reads."""
    read = []

    def source(self, path, *rest, **more):
        read.append(path)
        return SOURCE(self, path, *rest, **more)

    monkeypatch.setattr(ImportIndex, "_source", source)
    index.refresh(workspace)
    return read


SOURCE = ImportIndex._source


def test_what_was_kept_is_not_read_again(disk, made, monkeypatch):
    index, workspace = ImportIndex(), disk.process()
    assert read_by(index, workspace, monkeypatch) == []
    assert told(index, workspace.paths()) == made


def test_what_was_read_is_known_though_the_tree_was_not_kept(disk, made, monkeypatch):
    (disk.state / "tree.z").unlink(missing_ok=True)
    index, workspace = ImportIndex(), disk.process()
    assert "cc.py" not in read_by(index, workspace, monkeypatch)
    assert told(index, workspace.paths()) == made


@pytest.mark.parametrize("data", [b"", b"junk" * 2_000, "half"])
def test_a_damaged_file_is_begun_anew(disk, made, data):
    whole = disk.kept.read_bytes()
    disk.kept.write_bytes(whole[: len(whole) // 2] if data == "half" else data)
    for _ in range(2):
        index, workspace = ImportIndex(), disk.process()
        index.refresh(workspace)
        assert told(index, workspace.paths()) == made
    assert not index.unkept


@pytest.mark.parametrize("other", ["grammar", "module"])
def test_other_readers_read_all_anew(disk, made, monkeypatch, other):
    if other == "grammar":
        monkeypatch.setattr(language_table, "GRAMMARS", (*language_table.GRAMMARS, "pytest"))
    else:
        monkeypatch.setattr(language_table, "_stamp", lambda file: (file, 1, 1))
    assert len(read_by(ImportIndex(), disk.process(), monkeypatch)) == 4


def test_every_grammar_that_a_reader_uses_is_told_apart():
    folder = os.path.dirname(language_table.__file__) + "/languages"
    used = set()
    for name in os.listdir(folder):
        if name.endswith(".py"):
            with open(f"{folder}/{name}", encoding="utf-8") as module:
                used |= {w for w in module.read().split() if w.startswith("tree_sitter")}
    assert {word.partition(".")[0] for word in used if word.isidentifier()} <= {
        *language_table.GRAMMARS
    }


def test_what_was_kept_of_another_root_is_not_taken(disk, made, tmp_path):
    (tmp_path / "other").mkdir()
    index = ImportIndex()
    index.refresh(DiskWorkspace(str(tmp_path / "other"), str(disk.state)))
    assert index.paths == ()


def test_where_nothing_can_be_written_the_answers_are_the_same_and_it_is_told(disk, made):
    disk.put("aa.py", "import cc\n")
    disk.kept.unlink()
    disk.kept.mkdir()
    index, workspace = ImportIndex(), disk.process()
    index.refresh(workspace)
    assert [each.path for each in index.imports("aa.py")] == ["cc.py"]
    assert index.unkept


def test_it_is_private_and_leaves_nothing_aside(disk, made):
    assert disk.kept.stat().st_mode & 0o777 == 0o600
    assert {each.name for each in disk.state.iterdir()} == {import_index.NAME}


class Unhurried(DiskWorkspace):
    """A tree that is looked at within any time."""

    def tree(self, last=None, *, until=None):
        return super().tree(last)


def test_looks_without_time_get_to_the_end(disk, monkeypatch):
    for number in range(30):
        disk.put(f"m{number}.py", f"import m{number // 2}\n")
    left = []
    for _ in range(70):
        clock = count(0, 0.001).__next__
        monkeypatch.setattr(import_index, "monotonic", clock)
        index, workspace = ImportIndex(), Unhurried(str(disk.root), str(disk.state))
        index.refresh(workspace, within_s=0.004)
        left.append(index.pending_count())
        if not left[-1]:
            break
    assert left[-1] == 0
    assert left == sorted(left, reverse=True)
    assert len(left) > 3


def test_a_look_that_was_broken_off_is_begun_anew(disk, made, monkeypatch):
    index, workspace = ImportIndex(), disk.process()
    index.refresh(workspace)
    (disk.root / "bb.py").unlink()

    def broken(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ImportIndex, "_unresolve", broken)
        with pytest.raises(KeyboardInterrupt):
            index.refresh(workspace)
    index.refresh(workspace)
    assert index.imports("aa.py") == ()


def test_a_language_whose_only_source_moved_is_resolved_anew():
    workspace, index = MemoryWorkspace({"aa.py": "import aa\n"}), ImportIndex()
    index.refresh(workspace)
    workspace.remove("aa.py")
    workspace.put("bb/aa.py", "import aa\n")
    index.refresh(workspace)
    assert index.imports("bb/aa.py") == ()


def test_a_source_that_went_before_it_was_resolved_is_not_resolved():
    workspace, index = MemoryWorkspace({"aa.py": "import bb\n", "bb.py": ""}), ImportIndex()
    index.refresh(workspace)
    workspace.put("aa.py", "import bb, cc\n")
    workspace.remove("aa.py")
    index.refresh(workspace)
    assert index.importers("bb.py") == ()
    assert index.pending_count() == 0


def test_who_has_little_time_does_not_wait_for_another_look(disk, made):
    workspace = disk.process()
    with index_of(workspace).lock, hold_index(workspace, "aa.py", within_s=0) as index:
        assert [each.path for each in index.imports("aa.py")] == ["bb.py"]
        assert index.importers("aa.py") == ("bb.py", "cc.py")
        assert index.pending_count() == 1


FORKED = """
import os, sys
from sightline.codegraph.import_index import index_of
from sightline.testing import MemoryWorkspace
workspace = MemoryWorkspace({})
with index_of(workspace).lock:
    child = os.fork()
    if not child:
        index_of(workspace).lock.acquire()
        os._exit(7)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.wide
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_a_forked_process_does_not_wait_for_the_threads_of_its_parent():
    done = subprocess.run([sys.executable, "-c", FORKED], timeout=60, check=False)
    assert done.returncode == 7


def test_only_imports_that_name_a_file_that_came_are_resolved_again(disk, made, monkeypatch):
    resolved = []
    edges = ImportIndex._edges

    def noted(self, workspace, path, source):
        resolved.append(path)
        return edges(self, workspace, path, source)

    disk.put("ff.py", "import ee, zz\n")
    index, workspace = ImportIndex(), disk.process()
    index.refresh(workspace)
    monkeypatch.setattr(ImportIndex, "_edges", noted)
    disk.put("ee.py", "")
    index.refresh(workspace)
    assert sorted(resolved) == ["ee.py", "ff.py"]
    resolved.clear()
    for number in range(import_index.WORDS_MOST + 1):
        disk.put(f"g{number}.py", "")
    index.refresh(workspace)
    assert {"aa.py", "bb.py", "cc.py", "ff.py"} < {*resolved}


def test_the_last_of_two_that_read_at_once_stays_and_is_true(disk, made):
    disk.put("ee.py", "import aa\n")
    one, two = ImportIndex(), ImportIndex()
    workspace, other = disk.process(), disk.process()
    one.refresh(workspace)
    disk.put("ff.py", "import aa\n")
    two.refresh(other)
    (disk.root / "bb.py").unlink()
    one.refresh(workspace)
    new = ImportIndex()
    new.refresh(disk.process())
    assert new.importers("aa.py") == one.importers("aa.py") == ("cc.py", "ee.py", "ff.py")
    assert not [edge for edge in new.imports("aa.py") if edge.path == "bb.py"]
