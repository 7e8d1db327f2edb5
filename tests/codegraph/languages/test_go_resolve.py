"""Which files an import of Go means."""

import pytest

from sightline.codegraph.language import Reference
from sightline.codegraph.languages.go import ANSWERED_MAX, Go, affected


def over(files):
    texts = files if isinstance(files, dict) else dict.fromkeys(files, "")
    read = {path: text.encode() for path, text in texts.items()}
    return Go(list(texts), read.get)


def meant(files, module, path="main.go", names=()):
    return over(files).targets(path, Reference(module, 1, names=names, kind="package"))


MODULE = {"go.mod": "module a.b/c // why\n\ngo 1.22\n", "main.go": ""}


@pytest.mark.parametrize(
    ("files", "module", "targets"),
    [
        (["x/y.go"], "a.b/c/x", ("x/y.go",)),
        (["x/y.go", "x/y_test.go", "x/_z.go", "x/.z.go"], "a.b/c/x", ("x/y.go",)),
        (["x/a.go", "x/b_windows.go"], "a.b/c/x", ("x/a.go", "x/b_windows.go")),
        (["x/y_test.go"], "a.b/c/x", ()),
        (["x/y/z.go"], "a.b/c/x", ()),
        (["y.go"], "a.b/c", ("y.go",)),
        (["x/y.go"], "a.b/cc/x", ()),
        (["fmt/y.go"], "fmt", ()),
        (["C/y.go"], "C", ()),
        (["x/y.go"], "./x", ("x/y.go",)),
        (["x/y.go"], "a.b/c/../c/x", ()),
        (["vendor/d.e/f/g.go", "vendor/modules.txt"], "d.e/f", ("vendor/d.e/f/g.go",)),
        (["x/y.go"], "a.b/c/" + "x/" * 5000, ()),
    ],
)
def test_a_path_is_a_folder_of_its_module(files, module, targets):
    assert meant(MODULE | dict.fromkeys(files, ""), module) == targets


def test_a_nested_module_is_another_one():
    files = MODULE | {"x/go.mod": "module a.b/c/x\n", "x/y.go": "", "x/z/z.go": ""}
    assert meant(files, "a.b/c/x") == ()
    assert meant(files, "a.b/c/x/z", "x/y.go") == ("x/z/z.go",)
    assert meant(files, "a.b/c", "x/y.go") == ()


@pytest.mark.parametrize(
    "said",
    [
        "module a.b/c\nreplace d.e/f => ./f\n",
        "module a.b/c\nreplace d.e/f v1.2.3 => ./f // for now\n",
        'module (\n"a.b/c"\n)\nreplace (\n\td.e/g => d.e/h v1.0.0\n\t"d.e/f" => "./f"\n)\n',
    ],
)
def test_a_folder_may_stand_for_a_module(said):
    files = {"go.mod": said, "f/go.mod": "module d.e/f\n", "f/x/y.go": "", "main.go": ""}
    assert meant(files, "d.e/f/x") == ("f/x/y.go",)


def test_modules_of_a_workspace_see_each_other():
    files = {
        "go.work": "go 1.22\nuse (\n\t./one\n\t./two/deep\n)\nreplace d.e/f => ./three\n",
        "one/go.mod": "module a.b/one\n",
        "one/main.go": "",
        "two/deep/go.mod": "module a.b/two/v2\n",
        "two/deep/x/x.go": "",
        "three/y.go": "",
        "four/go.mod": "module a.b/four\n",
        "four/z.go": "",
    }
    assert meant(files, "a.b/two/v2/x", "one/main.go") == ("two/deep/x/x.go",)
    assert meant(files, "d.e/f", "one/main.go") == ("three/y.go",)
    assert meant(files, "a.b/four", "one/main.go") == ()
    assert meant(files, "a.b/two/v2/x", "four/z.go") == ()


def test_what_is_vendored_goes_before_what_replaces():
    said = "module a.b/c\nreplace d.e/f => ./f\n"
    files = MODULE | {"go.mod": said, "f/go.mod": "module d.e/f\n", "f/y.go": ""}
    assert meant(files, "d.e/f") == ("f/y.go",)
    assert meant(files | {"vendor/d.e/f/z.go": ""}, "d.e/f") == ("vendor/d.e/f/z.go",)


def test_without_modules_paths_start_at_src():
    files = ["src/a.b/c/main.go", "src/a.b/d/d.go", "src/a.b/c/vendor/e.f/g/g.go"]
    assert meant(files, "a.b/d", files[0]) == (files[1],)
    assert meant(files, "e.f/g", files[0]) == (files[2],)


def test_the_files_come_as_they_fit_what_is_taken():
    names = ("a", "client", "doc", "options", "x", "zz_generated.all")
    files = MODULE | {f"x/{name}.go": "" for name in names}
    assert meant(files, "a.b/c/x")[:2] == ("x/x.go", "x/a.go")
    found = meant(files, "a.b/c/x", names=("NewClient", "WithOptions"))
    assert found[:3] == ("x/client.go", "x/options.go", "x/x.go")
    assert set(found[4:]) == {"x/doc.go", "x/zz_generated.all.go"}


def test_a_large_package_is_bounded():
    files = MODULE | {f"x/f{number:02}.go": "" for number in range(60)}
    found = meant(files, "a.b/c/x", names=("F59",))
    assert len(found) == ANSWERED_MAX
    assert found[0] == "x/f59.go"


def test_a_test_from_outside_means_the_package_it_is_in():
    files = MODULE | {"x/y.go": "", "x/y_test.go": ""}
    assert meant(files, "a.b/c/x", "x/y_test.go") == ("x/y.go",)


def test_sources_and_settings_concern_all_and_other_files_nobody():
    for path in ("x/y.go", "go.mod", "a/go.work", "vendor/modules.txt"):
        concerned = affected([path, "a.py"])
        assert concerned is not None
        assert concerned.every
    assert affected(["README.md", "a.py"]) is None
