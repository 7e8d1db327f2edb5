"""Tests are found by how they are named, and their subjects by the same signs."""

import pytest

from sightline.codegraph import test_names

PAIRS = [
    ("src/pkg/core/text.py", "tests/core/test_text.py"),
    ("pkg/text.py", "pkg/text_test.py"),
    ("pkg/_core.py", "tests/test_core.py"),
    ("pkg/sub/a.py", "pkg/tests/test_a.py"),
    ("pkg/sub/__init__.py", "tests/test_sub.py"),
    ("src/x.ts", "src/x.test.ts"),
    ("src/utils/x.ts", "tests/utils/x.ts"),
    ("pkg/core/text.py", "tests/pkg/core/text.py"),
    ("src/ui/Button.tsx", "src/ui/Button.spec.tsx"),
    ("src/ui/x.ts", "src/ui/__tests__/x.ts"),
    ("src/ui/x.ts", "src/ui/__tests__/x.test.ts"),
    ("src/ui/x.js", "test/ui/x-test.js"),
    ("src/ui/index.ts", "src/ui/ui.test.ts"),
    ("src/main/java/org/acme/Foo.java", "src/test/java/org/acme/FooTest.java"),
    ("src/main/java/org/acme/Foo.java", "src/test/java/org/acme/TestFoo.java"),
    ("net/http.go", "net/http_test.go"),
    ("lib/a.rb", "spec/a_spec.rb"),
    ("src/parse.rs", "tests/parse.rs"),
    ("src/parse.rs", "tests/parse/main.rs"),
    ("crates/a/src/parse.rs", "crates/a/src/parse/tests.rs"),
    ("crates/a/src/parse/mod.rs", "crates/a/src/parse/tests/mod.rs"),
    ("crates/a/src/lib.rs", "crates/a/src/tests.rs"),
    ("src/Acme/Foo.php", "tests/Acme/FooTest.php"),
    ("src/base/log.cc", "src/base/log_unittest.cc"),
    ("src/base/log.cc", "src/base/log-test.cc"),
    ("lib/strbuf.c", "t/helper/test-strbuf.c"),
    ("src/base/log.c", "tests/base/test_log.c"),
    ("include/base/log.h", "test/base/log_test.cpp"),
    ("src/main/java/org/acme/Foo.java", "src/test/java/org/acme/FooTests.java"),
    ("src/main/java/org/acme/Foo.java", "src/test/java/org/acme/FooIT.java"),
    ("lib/shop/cart.ex", "test/shop/cart_test.exs"),
]


@pytest.mark.parametrize(("subject", "test"), PAIRS, ids=lambda path: path.rpartition("/")[2])
def test_a_test_and_its_subject_find_each_other(subject, test):
    paths = (subject, test, "other/place/unrelated.py", "README.md")
    assert test_names.Tests(paths).tests_of(subject) == (test,)
    assert test_names.Tests(paths).tested_by(test) == (subject,)
    assert test_names.is_test(test)
    assert not test_names.is_test(subject)


def test_the_mirror_goes_before_other_files_of_the_same_name():
    paths = ["pkg/a/utils.py", "pkg/b/utils.py", "tests/a/test_utils.py", "tests/b/test_utils.py"]
    assert test_names.Tests(paths).tests_of("pkg/a/utils.py") == ("tests/a/test_utils.py",)
    assert test_names.Tests(paths).tested_by("tests/b/test_utils.py") == ("pkg/b/utils.py",)


def test_a_test_of_another_place_or_language_is_none():
    paths = ["pkg/a/utils.py", "other/b/test_utils.py", "pkg/a/utils.test.ts", "pkg/a/utils.md"]
    assert test_names.Tests(paths).tests_of("pkg/a/utils.py") == ()


@pytest.mark.parametrize("name", ["contest.py", "latest.py", "testing.py", "test.py", ".py", "py"])
def test_words_that_only_look_so_are_no_tests(name):
    assert not test_names.is_test(f"pkg/{name}")


def test_a_file_without_a_known_language_has_no_tests():
    assert test_names.Tests(["tests/test_Makefile.py"]).tests_of("Makefile") == ()
    assert test_names.Tests(["notes.py"]).tested_by("notes.txt") == ()


@pytest.mark.parametrize(
    ("header", "source"),
    [
        ("src/a.h", "src/a.c"),
        ("include/base/log.h", "src/base/log.cc"),
        ("include/log.hpp", "lib/log.cpp"),
        ("base/log_test.h", "base/log_test.cc"),
    ],
)
def test_a_header_and_its_source_find_each_other(header, source):
    paths = (header, source, "other/a.c", "other/log.h", "tests/a_test.c", "src/a.py")
    made = test_names.Tests(paths)
    assert made.halves(header) == (source,)
    assert made.halves(source) == (header,)
    assert made.halves("src/a.py") == ()
    assert made.halves(header, ["other/x.c", source]) == (source,)


def test_a_source_that_includes_a_header_of_its_name_defines_it_wherever_it_lies():
    paths = ("include/acme/cache.h", "util/cache.cc", "include/acme/c/cache.cc")
    made = test_names.Tests(paths)
    assert made.halves(paths[0], ["db/x.cc", paths[1]]) == (paths[1],)
    assert made.halves(paths[1]) == ()
