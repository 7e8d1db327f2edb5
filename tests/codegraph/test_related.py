"""Related files are those that a file imports, is imported by, is tested by, and stands beside."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.codegraph import import_index
from sightline.codegraph.find_related import related
from sightline.codegraph.import_index import index_of
from sightline.codegraph.related_files import Related, RelatedFile
from sightline.errors import FileMissing, PathRefused
from sightline.testing import FixedClock, MemoryWorkspace, make_session

FILES = {
    "src/pkg/__init__.py": "",
    "src/pkg/a.py": "from .b import thing\nimport pkg.deep.c\n",
    "src/pkg/b.py": "from . import a  # a cycle\nfrom .far import x\n",
    "src/pkg/far.py": "import os\n",
    "src/pkg/user.py": "import os\nfrom pkg.a import thing\n",
    "src/pkg/deep/__init__.py": "'a package that says something'\n",
    "src/pkg/deep/c.py": "x = 1\n",
    "src/pkg/alone.py": "y = 1\n",
    "tests/test_a.py": "import pytest\n",
    "tests/test_more.py": "from pkg.a import thing\n",
    "README.md": "words\n",
}


@pytest.fixture
def ground():
    return make_session(MemoryWorkspace(FILES), clock=FixedClock())._context


@pytest.fixture
def on_disk(place):
    for path, text in FILES.items():
        place.put(path, text)
    return place.session()._context


def paths(found):
    return [each.path for each in found]


def why(found, path):
    return next(each.why for each in found if each.path == path)


def test_every_way_of_being_related_is_found_and_said(ground):
    found = related(ground, "src/pkg/a.py", limit=20)
    assert why(found, "src/pkg/b.py") == (
        "imported in line 1",
        "imports it in line 1",
        "in the same folder",
    )
    assert why(found, "src/pkg/deep/c.py") == ("imported in line 2",)
    assert why(found, "src/pkg/deep/__init__.py") == ("the package of what is imported in line 2",)
    assert why(found, "src/pkg/user.py")[0] == "imports it in line 2"
    assert why(found, "tests/test_a.py") == ("a test of it by name",)
    assert why(found, "tests/test_more.py") == ("a test that imports it in line 1",)
    assert why(found, "src/pkg/alone.py") == ("in the same folder",)
    assert "README.md" not in paths(found)
    assert "src/pkg/__init__.py" not in paths(found), "it is empty"
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert (found.left_out, found.unread, found.too_large) == (0, 0, 0)


def test_the_closest_come_first(ground):
    found = paths(related(ground, "src/pkg/a.py"))
    assert found[0] == "src/pkg/b.py"
    assert found.index("tests/test_a.py") < found.index("tests/test_more.py")
    assert found.index("src/pkg/user.py") < found.index("src/pkg/alone.py")


def test_a_test_leads_to_what_it_tests(ground):
    assert paths(related(ground, "tests/test_a.py"))[0] == "src/pkg/a.py"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("imports", {"src/pkg/b.py", "src/pkg/deep/c.py", "src/pkg/deep/__init__.py"}),
        ("tests", {"tests/test_a.py", "tests/test_more.py"}),
        ("importers", {"src/pkg/b.py", "src/pkg/user.py"}),
        ("siblings", {f"src/pkg/{name}.py" for name in ("b", "far", "user", "alone")}),
    ],
)
def test_each_kind_can_be_asked_for_alone(ground, asked, expected):
    kinds = dict.fromkeys(("imports", "tests", "importers", "siblings"), False) | {asked: True}
    assert set(paths(related(ground, "src/pkg/a.py", **kinds))) == expected


def test_imports_of_imports_are_followed_as_far_as_asked_and_cycles_end(ground):
    only: dict[str, Any] = {"tests": False, "importers": False, "siblings": False}
    assert "src/pkg/far.py" not in paths(related(ground, "src/pkg/a.py", **only))
    found = related(ground, "src/pkg/a.py", transitive=1, **only)
    assert why(found, "src/pkg/far.py") == ("imported by src/pkg/b.py in line 2",)
    assert paths(found) == paths(related(ground, "src/pkg/a.py", transitive=10**6, **only))
    assert found[-1].path == "src/pkg/far.py" or found[-1].path.endswith("__init__.py")


def test_limits_hold_and_what_they_leave_out_is_told(ground):
    every = related(ground, "src/pkg/a.py", limit=100)
    two = related(ground, "src/pkg/a.py", limit=2)
    assert (len(two), two.left_out) == (2, len(every) - 2)
    small = related(ground, "src/pkg/a.py", limit=100, max_bytes=60)
    assert sum(each.size for each in small) <= 60
    assert len(small) + small.left_out == len(every)
    few = related(ground, "src/pkg/a.py", limit=100, max_tokens=20)
    assert sum(each.tokens_estimate for each in few) <= 20 < sum(e.tokens_estimate for e in every)


def test_what_changes_on_disk_is_followed(place, on_disk):
    assert "src/pkg/alone.py" in paths(related(on_disk, "src/pkg/a.py"))
    place.put("src/pkg/alone.py", "from .a import thing\n")
    assert "imports it in line 1" in why(related(on_disk, "src/pkg/a.py"), "src/pkg/alone.py")
    place.put("src/pkg/new.py", "\nimport pkg.a\n")
    assert "imports it in line 2" in why(related(on_disk, "src/pkg/a.py"), "src/pkg/new.py")
    (place.root / "src/pkg/new.py").unlink()
    (place.root / "src/pkg/b.py").unlink()
    found = paths(related(on_disk, "src/pkg/a.py", limit=20))
    assert not {"src/pkg/new.py", "src/pkg/b.py"} & set(found)


def test_an_edit_that_keeps_size_and_time_a_moment_after_the_first_is_seen(place, on_disk):
    place.put("src/pkg/alone.py", "import pkg.a\n")
    related(on_disk, "src/pkg/a.py")
    place.put("src/pkg/alone.py", "import pkg.b\n")
    found = related(on_disk, "src/pkg/a.py", siblings=False)
    assert "src/pkg/alone.py" not in paths(found)


def test_a_source_is_read_once_while_it_stands(ground, monkeypatch):
    related(ground, "src/pkg/a.py")
    learned = []
    source = import_index.ImportIndex._source

    def read(self, path, *rest, **more):
        learned.append(path)
        return source(self, path, *rest, **more)

    monkeypatch.setattr(import_index.ImportIndex, "_source", read)
    young = [path for path, row in ground.workspace.remembered().files() if not row[6]]
    related(ground, "src/pkg/b.py")
    assert set(learned) <= set(young)


def test_a_file_that_git_tracks_though_it_is_ignored_is_related(place, on_disk):
    place.put(".gitignore", "dist/\n")
    place.put("dist/made.py", "import pkg.a\n")
    assert "dist/made.py" not in paths(related(on_disk, "src/pkg/a.py"))
    index = index_of(on_disk.workspace)
    every = (*on_disk.workspace.paths(), "dist/made.py")
    on_disk.workspace.paths = lambda: tuple(sorted(every))
    assert "dist/made.py" in paths(related(on_disk, "src/pkg/a.py"))
    place.put("dist/made.py", "import pkg.b\n")
    assert "dist/made.py" not in paths(related(on_disk, "src/pkg/a.py"))
    assert index.pending_count() == 0


def test_an_ignored_file_has_related_files_and_is_none_itself(place, on_disk):
    place.put(".gitignore", "dist/\n")
    place.put("dist/made.py", "import pkg.a\n")
    found = related(on_disk, "dist/made.py")
    assert paths(found) == ["src/pkg/a.py"]
    assert "dist/made.py" not in paths(related(on_disk, "src/pkg/a.py", limit=20))
    place.put("dist/made.py", "import pkg.far\n")
    assert paths(related(on_disk, "dist/made.py")) == ["src/pkg/far.py"]


def test_a_source_that_is_too_large_is_told(on_disk, place, monkeypatch):
    monkeypatch.setattr(import_index, "SOURCE_BYTES", 30)
    found = related(on_disk, "src/pkg/user.py")
    assert found.too_large == sum(
        len(text) > 30 for path, text in FILES.items() if path.endswith(".py")
    )


def test_what_there_was_no_time_for_is_told_and_done_by_the_next_look(ground):
    first = related(ground, "src/pkg/a.py", within_s=-1.0)
    assert first.unread > 0
    assert not first.complete
    assert related(ground, "src/pkg/a.py").unread == 0


def test_a_path_that_cannot_have_related_files_is_refused_in_words(ground):
    with pytest.raises(FileMissing, match="does not exist"):
        related(ground, "src/pkg/gone.py")
    with pytest.raises(PathRefused, match="directory"):
        related(ground, "src/pkg")
    with pytest.raises(PathRefused):
        related(ground, "../outside.py")


def test_a_file_of_no_known_language_has_neighbours_and_nothing_else(place, on_disk):
    place.put("OTHER.md", "more words\n")
    found = related(on_disk, "README.md")
    assert [(each.path, each.why) for each in found] == [("OTHER.md", ("in the same folder",))]


def test_on_disk_it_answers_the_same_list_of_values(ground, on_disk):
    found = related(on_disk, "src/pkg/a.py")
    assert found == related(ground, "src/pkg/a.py")
    assert isinstance(found, Related)
    assert {type(each) for each in found} == {RelatedFile}
    assert found[0].path == "src/pkg/b.py"
    assert found[0].size == len(FILES["src/pkg/b.py"])


def test_sources_of_two_languages_are_each_resolved_by_its_own(place, on_disk):
    place.put("web/main.ts", 'import { x } from "./part"\nimport type { A } from "./a.js"\n')
    place.put("web/part.ts", "export const x = 1\n")
    place.put("web/a.ts", "export type A = string\n")
    place.put("web/main.test.ts", 'import { x } from "./main"\n')
    found = related(on_disk, "web/main.ts")
    assert why(found, "web/part.ts")[0] == "imported in line 1"
    assert why(found, "web/a.ts")[0] == "imported in line 2"
    assert why(found, "web/main.test.ts")[0] == "a test of it by name"


def test_a_changed_settings_file_resolves_anew(place, on_disk):
    place.put("web/main.ts", 'import { x } from "@/part"\n')
    place.put("web/one/part.ts", "export const x = 1\n")
    place.put("web/two/part.ts", "export const x = 2\n")
    mapped = '{"compilerOptions": {"paths": {"@/*": ["./%s/*"]}}}'
    place.put("web/tsconfig.json", mapped % "one")
    assert paths(related(on_disk, "web/main.ts")) == ["web/one/part.ts"]
    place.put("web/tsconfig.json", mapped % "two")
    assert paths(related(on_disk, "web/main.ts")) == ["web/two/part.ts"]


NAMES = st.sampled_from(["aa", "bb", "cc", "aa/__init__", "aa/bb", "bb/__init__", "bb/cc/aa"])
LINES = st.sampled_from(
    [
        *("import aa", "import bb.cc.aa", "from . import aa, bb", "from .. import cc"),
        *("from aa import bb", "from bb import *", "from . import *", "from .bb.cc import aa"),
    ]
)
STEPS = st.lists(
    st.tuples(NAMES, st.one_of(st.none(), st.lists(LINES, max_size=2))), min_size=1, max_size=4
)


@pytest.mark.wide
@given(st.lists(STEPS, min_size=1, max_size=4))
def test_an_index_that_followed_is_the_same_as_a_new_one(looks):
    workspace = MemoryWorkspace({"start.py": "import aa\n", "pyproject.toml": ""})
    kept = import_index.ImportIndex()
    for steps in looks:
        for name, lines in steps:
            path = f"{name}.py"
            if lines is not None:
                workspace.put(path, "\n".join(lines) + "\n")
            elif path in workspace.paths():
                workspace.remove(path)
        kept.refresh(workspace)
        new = import_index.ImportIndex()
        new.refresh(workspace)
        every = workspace.paths()
        assert {p: kept.imports(p) for p in every} == {p: new.imports(p) for p in every}
        assert {p: kept.importers(p) for p in every} == {p: new.importers(p) for p in every}
        assert kept.pending_count() == 0


@pytest.mark.parametrize("name", ["./a\\u0000b", "./\\ud800", "./" + "a" * 300, "./.git/config"])
def test_settings_that_name_what_no_file_can_be_called(place, on_disk, name):
    place.put("a.ts", "import './b'\n")
    place.put("b.ts", "x\n")
    place.put("tsconfig.json", f'{{"extends": "{name}"}}')
    for _ in range(2):
        assert "imported in line 1" in why(related(on_disk, "a.ts"), "b.ts")


def test_steps_without_end_end_where_nothing_more_is_imported(ground):
    found = related(ground, "src/pkg/a.py", transitive=10**18, limit=20)
    assert "src/pkg/far.py" in paths(found)
