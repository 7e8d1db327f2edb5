"""What a process keeps of imports, the next one answers as if it had read all anew."""

import os
import subprocess
import sys
import threading
import time
from itertools import count
from random import Random

import pytest

from sightline.codegraph import import_cache, import_index, language_table, source_files
from sightline.codegraph.graph import Graph
from sightline.codegraph.import_index import Importing, Targets, index_of, looked
from sightline.codegraph.reference import Reference
from sightline.codegraph.reference_packing import FEW, naming, packed, unpacked
from sightline.codegraph.source_files import Sources
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
        return self.state / import_cache.NAME


@pytest.fixture
def disk(tmp_path, monkeypatch):
    monkeypatch.setattr(import_cache, "WORTH_KEEPING", 1)
    monkeypatch.setattr(import_cache, "WORTH_ADDING", 1)
    monkeypatch.setattr(import_cache, "PART", 1)
    for looking in (tree_index, tree_index):
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


@pytest.mark.parametrize("seed", [0, 1, 18, 21, 29, 43, 72, 89, 99, 147])
def test_a_process_with_what_was_kept_answers_as_one_without(disk, seed, tmp_path, monkeypatch):
    random = Random(seed)
    monkeypatch.setattr(import_cache, "PART", random.choice([0, 1, 1]))
    for path in [*SETTINGS, *random.sample(NAMES, 5)]:
        some = (f"{path}.ts", SCRIPT) if random.random() < 0.6 else (f"{path}.py", PYTHON)
        disk.put(path if path in SETTINGS else some[0], (SETTINGS.get(path) or some[1])[0])
    index, workspace = Importing(), disk.process()
    index.refresh(workspace)
    for _ in range(8):
        for _ in range(random.randint(0, 2)):
            step(disk, random)
        if random.random() < 0.7:
            index, workspace = Importing(), disk.process()
        if random.random() < 0.1:
            damaged(disk.kept, random)
        if random.random() < 0.2:
            (disk.state / "tree.z").unlink(missing_ok=True)
        new = Importing()
        new.refresh(disk.process(tmp_path / "elsewhere"))
        (tmp_path / "elsewhere" / import_cache.NAME).unlink()
        every = told(new, new.sources.paths)
        if random.random() < 0.5:
            first = random.choice([*new.sources.paths, "none.py"])
            index.refresh(workspace, first, within_s=random.choice([-1.0, 0.0, 0.001]))
            for path in new.sources.paths:
                assert index.imports(path) in ((), every[path][0]), path
                assert set(index.importers(path)) <= set(every[path][1]), path
            if first.endswith((".py", ".ts")) and first in new.sources.paths:
                assert index.imports(first) == every[first][0]
            if random.random() < 0.5:
                index, workspace = Importing(), disk.process()
        index.refresh(workspace)
        assert told(index, new.sources.paths) == every
        assert index.left() == new.left() == 0


def damaged(file, random):
    data = bytearray(file.read_bytes())
    if random.random() < 0.3:
        del data[random.randrange(len(data)) :]
    else:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    file.write_bytes(data)


@pytest.fixture
def made(disk):
    """A tree whose index is kept in two records, and what it tells."""
    for name in ("aa", "bb", "cc"):
        disk.put(f"{name}.py", "import aa, bb\n")
    disk.put("dd/aa.ts", 'import "../bb"\n')
    Importing().refresh(disk.process())
    disk.put("cc.py", "import aa, bb, dd  # more\n")
    index, workspace = Importing(), disk.process()
    index.refresh(workspace)
    return told(index, workspace.paths())


def read_by(index, workspace, monkeypatch):
    """What a look reads."""
    read = []

    def learn(self, path, *rest):
        read.append(path)
        LEARN(self, path, *rest)

    monkeypatch.setattr(Sources, "_learn", learn)
    index.refresh(workspace)
    return read


LEARN = Sources._learn


def test_what_was_kept_is_not_read_again(disk, made, monkeypatch):
    index, workspace = Importing(), disk.process()
    assert read_by(index, workspace, monkeypatch) == []
    assert told(index, workspace.paths()) == made


def test_what_was_read_is_known_though_the_tree_was_not_kept(disk, made, monkeypatch):
    """Records that came later tell of their files by themselves."""
    (disk.state / "tree.z").unlink()
    index, workspace = Importing(), disk.process()
    assert "cc.py" not in read_by(index, workspace, monkeypatch)
    assert told(index, workspace.paths()) == made


def test_damage_at_any_place_is_never_believed(disk, made):
    whole = disk.kept.read_bytes()
    ends = [end for _, end in import_cache._records(whole)]
    for at in [*range(80), *range(80, len(whole), 23), len(whole) - 1]:
        changed = bytearray(whole)
        changed[at] ^= 0x5A
        kept = import_cache.load(bytes(changed), edition(disk))
        assert kept is None or kept.torn, at
        cut = import_cache.load(whole[:at], edition(disk))
        assert cut is None or cut.torn or at in ends, at


def edition(disk):
    return f"{disk.process().root} {language_table.edition()}"


def test_behind_what_is_torn_nothing_is_put(disk, made):
    disk.kept.write_bytes(disk.kept.read_bytes()[:-3])
    disk.put("aa.py", "import bb, cc\n")
    Importing().refresh(disk.process())
    kept = import_cache.load(disk.kept.read_bytes(), edition(disk))
    assert kept is not None
    assert not kept.torn
    assert kept.state.graph.plain("aa.py")[1][0] == "cc.py"


@pytest.mark.parametrize("other", ["grammar", "module"])
def test_other_readers_read_all_anew(disk, made, monkeypatch, other):
    if other == "grammar":
        monkeypatch.setattr(language_table, "GRAMMARS", (*language_table.GRAMMARS, "pytest"))
    else:
        monkeypatch.setattr(language_table, "_modules", lambda folder: [folder])
    assert len(read_by(Importing(), disk.process(), monkeypatch)) == 4


def test_a_grammar_that_is_installed_or_not_makes_another_edition(monkeypatch):
    here = language_table.edition()
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    assert language_table.edition() != here


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
    index = Importing()
    index.refresh(DiskWorkspace(str(tmp_path / "other"), str(disk.state)))
    assert index.sources.paths == ()


def test_where_nothing_can_be_written_the_answers_are_the_same_and_it_is_told(disk, made):
    disk.put("aa.py", "import cc\n")
    disk.state.joinpath("tree.z").unlink()
    disk.kept.unlink()
    disk.kept.mkdir()
    index, workspace = Importing(), disk.process()
    index.refresh(workspace)
    assert [each.path for each in index.imports("aa.py")] == ["cc.py"]
    assert index.keeper.unkept


def test_it_is_private_and_leaves_nothing_aside(disk, made):
    assert disk.kept.stat().st_mode & 0o777 == 0o600
    assert {each.name for each in disk.state.iterdir()} == {import_cache.NAME, "tree.z"}


def test_many_writers_at_once_leave_a_whole_file(disk, made):
    def work(number):
        for turn in range(3):
            index = Importing()
            index.refresh(disk.process())
            index._targets.renew(f"{'abc'[number % 3] * 2}.py")
            if turn % 2:
                index.keeper.turned()
            index.refresh(disk.process())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    kept = import_cache.load(disk.kept.read_bytes(), edition(disk))
    assert kept is not None
    assert not kept.torn
    index, workspace = Importing(), disk.process()
    index.refresh(workspace)
    assert told(index, workspace.paths()) == made


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
        for module in (import_index, source_files, import_index):
            monkeypatch.setattr(module, "monotonic", clock)
        index, workspace = Importing(), Unhurried(str(disk.root), str(disk.state))
        index.refresh(workspace, within_s=0.004)
        left.append(index.left())
        if not left[-1]:
            break
    assert left[-1] == 0
    assert left == sorted(left, reverse=True)
    assert len(left) > 3


def test_a_look_that_was_broken_off_is_begun_anew(disk, made, monkeypatch):
    index, workspace = Importing(), disk.process()
    index.refresh(workspace)
    (disk.root / "bb.py").unlink()

    def broken(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Targets, "_unresolve", broken)
        with pytest.raises(KeyboardInterrupt):
            index.refresh(workspace)
    index.refresh(workspace)
    assert index.imports("aa.py") == ()


def test_a_language_whose_only_source_moved_is_resolved_anew():
    workspace, index = MemoryWorkspace({"aa.py": "import aa\n"}), Importing()
    index.refresh(workspace)
    workspace.remove("aa.py")
    workspace.put("bb/aa.py", "import aa\n")
    index.refresh(workspace)
    assert index.imports("bb/aa.py") == ()


def test_a_source_that_went_before_it_was_resolved_is_not_resolved():
    workspace, index = MemoryWorkspace({"aa.py": "import bb\n", "bb.py": ""}), Importing()
    index.refresh(workspace)
    index._targets.renew("aa.py")
    workspace.remove("aa.py")
    index.refresh(workspace)
    assert index.importers("bb.py") == ()
    assert index.left() == 0


def test_who_has_little_time_does_not_wait_for_another_look(disk, made):
    workspace = disk.process()
    with index_of(workspace).lock, looked(workspace, "aa.py", within_s=0) as index:
        assert [each.path for each in index.imports("aa.py")] == ["bb.py"]
        assert index.importers("aa.py") == ("bb.py", "cc.py")
        assert index.left() == 1


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_a_forked_process_does_not_wait_for_the_threads_of_its_parent():
    done = subprocess.run([sys.executable, "-c", FORKED], timeout=60, check=False)
    assert done.returncode == 7


def test_in_memory_it_is_kept_as_well(monkeypatch):
    monkeypatch.setattr(import_cache, "WORTH_KEEPING", 1)
    workspace = MemoryWorkspace({"a.py": "import b\n", "b.py": ""})
    Importing().refresh(workspace)
    index = Importing()
    assert read_by(index, workspace, monkeypatch) == []
    assert [each.path for each in index.imports("a.py")] == ["b.py"]


REFERENCES = (
    Reference("a.b", 1, 2, ("c", "d\N{GREEK SMALL LETTER SIGMA}"), "from"),
    Reference('x"y\\z', 3, kind="require"),
)


def test_references_are_unpacked_as_they_were():
    assert unpacked(packed(REFERENCES)) == REFERENCES
    assert "\n" not in packed([Reference("a\nb", 1)])


@pytest.mark.parametrize("more", [(), tuple(f"more{n}" for n in range(FEW))])
@pytest.mark.parametrize(
    ("word", "there"),
    [
        *(("a", True), ("b", True), ("c", True), ("d\N{GREEK SMALL LETTER SIGMA}", True)),
        *(("q", False), ("e", False), ("ab", False), ("", False)),
    ],
)
def test_words_are_found_in_packed_references(word, there, more):
    assert naming({word, *more} if word else more)(packed(REFERENCES)) == there


def test_a_graph_answers_the_same_when_it_is_frozen():
    graph = Graph()
    graph.put("a", [("b", 1, True, 1.0), ("c", 2, False, 0.5)])
    graph.put("b", [])
    graph.put("x", [("b", 3, True, 1.0)], importing=False)
    frozen = Graph(graph.freeze(("a", "b", "c")))
    assert frozen.imports("a") == graph.imports("a")
    assert list(frozen.importers("b")) == list(graph.importers("b")) == ["a"]
    assert [frozen.resolved(path) for path in "abcx"] == [True, True, False, False]
    frozen.drop("a")
    assert list(frozen.importers("b")) == []
    frozen.put("c", [("b", 1, True, 1.0)])
    again = Graph(frozen.freeze(("b", "c", "d")))
    assert list(again.importers("b")) == ["c"]
    assert again.imports("a") == ()
