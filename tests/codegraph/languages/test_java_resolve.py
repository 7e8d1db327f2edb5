"""Which files the types that a Java source names are declared in."""

import pytest

from sightline.codegraph.language import Affected, Reference
from sightline.codegraph.languages.java import Java, affected, references

MAIN, TEST = "m/src/main/java/org/acme", "m/src/test/java/org/acme"


def targets(files, source, path=f"{MAIN}/A.java"):
    made = Java([*files, path], lambda _: None)
    return [file for each in references(source.encode()) for file in made.targets(path, each)]


@pytest.mark.parametrize(
    ("files", "source", "found"),
    [
        ([f"{MAIN}/b/B.java"], "import org.acme.b.B;", [f"{MAIN}/b/B.java"]),
        ([f"{MAIN}/b/B.java"], "import org.acme.b.B.Inner.More;", [f"{MAIN}/b/B.java"]),
        ([f"{MAIN}/b/B.java"], "import static org.acme.b.B.m;", [f"{MAIN}/b/B.java"]),
        ([f"{MAIN}/b/B.java"], "import static org.acme.b.B.*;", [f"{MAIN}/b/B.java"]),
        ([f"{MAIN}/b/B.java"], "import org.acme.b.*;", []),
        ([f"{MAIN}/b/B.java"], "import org.acme.b.*; B b;", [f"{MAIN}/b/B.java"]),
        ([f"{MAIN}/b/B.java"], "Object o = org.acme.b.B.x;", [f"{MAIN}/b/B.java"]),
        ([f"{MAIN}/B.java"], "package org.acme; class A extends B {}", [f"{MAIN}/B.java"]),
        ([f"{TEST}/B.java"], "package org.acme; class A extends B {}", [f"{TEST}/B.java"]),
        ([f"{MAIN}/b/B.java"], "package org.acme; class A extends B {}", []),
        ([f"{MAIN}/b/B.java"], "import com.other.b.B;", []),
        ([f"{MAIN}/b/B.java"], "import acme.b.B;", []),
        ([f"{MAIN}/b/B.java"], "import b.B;", []),
        (["m/src/main/java/b/B.java"], "import b.B;", ["m/src/main/java/b/B.java"]),
        (["b/B.java"], "import b.B;", ["b/B.java"]),
        (["deep/in/x/b/B.java"], "import b.B;", ["deep/in/x/b/B.java"]),
        ([f"{MAIN}/String.java"], "package org.acme; String s;", [f"{MAIN}/String.java"]),
        ([f"{MAIN}/B.kt"], "import org.acme.B;", []),
        ([], "package org.acme; import org.acme.A; A a;", []),
    ],
)
def test_a_type_is_in_the_file_of_its_name_below_its_package(files, source, found):
    assert targets(files, source) == found


def test_the_own_package_goes_before_what_is_imported_on_demand():
    files = [f"{MAIN}/B.java", f"{MAIN}/c/B.java"]
    source = "package org.acme; import org.acme.c.*; B b;"
    assert targets(files, source) == [f"{MAIN}/B.java"]
    assert targets(files[1:], source) == [f"{MAIN}/c/B.java"]
    single = "package org.acme; import org.acme.c.B; B b;"
    assert targets(files, single) == [f"{MAIN}/c/B.java"]


def test_of_several_modules_the_own_comes_first_then_the_nearest():
    files = [f"{root}/src/main/java/org/acme/b/B.java" for root in ("a", "m", "x/y")]
    source = "import org.acme.b.B;"
    assert targets(files, source) == [files[1]]
    assert targets(files, source, f"{TEST}/ATest.java") == [files[1]]
    assert targets(files, source, "x/z/src/main/java/q/Q.java") == [files[2]]
    assert targets(files, source, "z/src/main/java/q/Q.java") == [files[0]]


def test_a_file_without_a_package_sees_its_folder():
    assert targets(["x/B.java", "B.java"], "class A { B b; }", "x/A.java") == ["x/B.java"]
    assert targets(["B.java"], "class A { B b; }", "x/A.java") == []


def test_no_list_and_no_name_break_it():
    for module in ("", ".", "..", "a..B", "A" * 10_000, "a." * 10_000, "a." * 400, "*"):
        for kind in ("import", "type"):
            assert (
                Java([], lambda _: None).targets(
                    "", Reference(module, 1, names=("", "."), kind=kind)
                )
                == ()
            )


def test_a_file_that_comes_or_goes_concerns_those_that_name_it():
    found = affected([f"{MAIN}/B.java", "README.md"])
    assert found is not None
    assert found == Affected(every=False, words=frozenset({"B"}), folders=())
    assert affected(["README.md", "a.py"]) is None
