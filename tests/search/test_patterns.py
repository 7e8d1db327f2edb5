"""What patterns match: against git's own globs on real files, and by hand."""

from __future__ import annotations

import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

from sightline.search.patterns import ALTERNATIVES_MAX, PATTERN_MAX, expand, pattern

FILES = (
    *("a.py", "b.ts", "ab.py", "été.py", "😀.md", ".env", "-a", "a-b", "x y.py", "a{b}.py"),
    *("src/a.py", "src/b/a.py", "src/b/ab.ts", "src/b/c/a.py", "src/b/c/b.tsx", "lib/src/a.py"),
    *("app/[id]/page.tsx", "app/i/page.tsx", "app/[...all]/x.ts", "a/b", "aa/ba/ab", "b/.hid/a.py"),
    *("new\nline/a.py", "new\nline.py", "*.py", "src/?.py"),
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A real repository with FILES in its index, for as long as the module runs."""
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", root], check=True)
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    subprocess.run(["git", "-C", root, "add", "-A"], check=True)
    return root


def by_git(root, glob: str) -> set[str]:
    """The files that git's own glob names."""
    spec = f":(glob){glob}"
    done = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--", spec], capture_output=True, check=True
    )
    return set(done.stdout.decode().split("\0")) - {""}


def ours(text: str, *, exactly: bool = True) -> set[str]:
    asked = pattern(text)
    return {path for path in FILES if asked.matches(path) and (exactly or asked.means(path))}


GLOBS = [
    *("src/*.py", "src/**/*.py", "**/*.py", "**/a.py", "src/**", "**/b/**", "**/b/*", "a*/b"),
    *("*/a.py", "*/*/a.py", "**/**/a.py", "src/**/**/a.py", "s*c/?/*.ts", "**/[ab].*", "**/[!a]*"),
    *("**/[^a-c]*", "**/?.py", "**/*.ts*", "**/.*", "**/*-*", "src/b/c/*", "**/*a*b*", "**/*?*?*"),
    *("app/\\[id\\]/*", "app/[[]id]/*", "**/\\*.py", "src/\\?.py", "**/[]-]*", "**/[-a]*", "b/**/a.py"),
    *("new*/a.py", "**/new?line*", "**/src/**/a.py", "**/*[0-9😀]*", "s**c/a.py", "**a.py"),
    *("**/[[:alpha:]]?.*", "**/[![:alnum:]]*", "**/[[:alpha:]-]*"),
]  # fmt: skip


@pytest.mark.parametrize("glob", GLOBS)
def test_globs_mean_what_git_says(repository, glob):
    anchored = glob if "/" in glob else f"./{glob}"  # git's are from the root
    assert ours(anchored, exactly=False) == by_git(repository, glob)


PARTS = st.lists(st.sampled_from(["a", "b", "*", "?", "[ab]", "[!a]", ".", "\\*", "[a-c]"]), min_size=1, max_size=4).map(lambda parts: re.sub(r"\*+", "*", "".join(parts)))  # fmt: skip
"""No "a**": git takes the stars after the literal beginning for leading ones."""


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.one_of(st.just("**"), PARTS), min_size=2, max_size=4))
def test_any_glob_means_what_git_says(repository, parts):
    glob = "/".join(part if part.strip(".") else "a" for part in parts)
    if not {"*", "?", "["} & set(glob.replace("\\*", "")):
        glob += "*"  # without magic git lists what is in a folder of that name
    assert ours(glob, exactly=False) == by_git(repository, glob)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a.py", {"a.py", *[path for path in FILES if path.endswith("/a.py")]}),
        ("./a.py", {"a.py"}),
        ("src/a.py", {"src/a.py"}),
        ("src//./b/../a.py", {"src/a.py"}),
        ("src\\a.py", {"src/a.py"}),
        ("src\\b\\*.ts", {"src/b/ab.ts"}),
        ("src\\\\a.py", {"src/a.py"}),
        ("src/b/", {path for path in FILES if path.startswith("src/b/")}),
        ("?.{py,ts}", {p for p in FILES if re.fullmatch(r".\.(py|ts)", p.rpartition("/")[2])}),
        ("{src,lib}/**/a.py", {"src/a.py", "src/b/a.py", "src/b/c/a.py", "lib/src/a.py"}),
        ("src/{a.py,b/{a.py,c/b.tsx}}", {"src/a.py", "src/b/a.py", "src/b/c/b.tsx"}),
        ("src/b/{,c/}a.py", {"src/b/a.py", "src/b/c/a.py"}),
        ("src/{a}.py", set()),
        ("a{b}.py", {"a{b}.py"}),
        ("a\\{b\\}.py", {"a{b}.py"}),
        ("[a", set()),
        ("app/[id]/page.tsx", {"app/[id]/page.tsx", "app/i/page.tsx"}),
        ("new\nline.py", {"new\nline.py"}),
        ("😀*", {"😀.md"}),
        ("A.PY", set()),
        ("a**", {path for path in FILES if path.rpartition("/")[2].startswith("a")}),
        ("**", set(FILES)),
        (".", set(FILES)),
        ("{,}", set()),
        ("src/\\", set()),
    ],
)
def test_what_a_pattern_means(text, found):
    assert ours(text) == found


@given(st.sampled_from(FILES))
def test_a_path_matches_itself_whatever_is_in_it(path):
    assert pattern(path).matches(path)


@given(st.one_of(st.text(), st.text("*?[]{}!-^,\\/.ab&~|:", max_size=30)))
def test_any_text_is_a_pattern_or_said_not_to_be(text):
    try:
        asked = pattern(text)
    except ValueError as error:
        said = str(error)
    else:
        assert asked.matches(text)
        return
    assert said.endswith(".")
    assert len(said) < 500


@pytest.mark.parametrize(
    ("text", "kind"), [("a/b.py", "path"), ("b.py", "name"), ("b\\*.py", "name"), ("*.py", "glob")]
)
def test_kinds(text, kind):
    assert pattern(text).kind == kind


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("a" * (PATTERN_MAX + 1), "1,001 characters"),
        ("a\0b", "NUL"),
        ("a\ud800", "Unicode"),
        ("/etc/passwd", "absolute"),
        ("C:\\x.py", "absolute"),
        ("c:/x.py", "absolute"),
        ("\\\\server\\share", "absolute"),
        ("{a,/etc}/x", "absolute"),
        ("../a", "leads out"),
        ("a/../../b", "leads out"),
        ("a\\..\\..\\b", "leads out"),
        ("**/../a", "leads out"),
        ("{a,b}" * 7, "more than 64"),
        ("{a,b}" * 190, "more than 64"),
    ],
)
def test_what_is_no_pattern(text, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        pattern(text)


def test_braces():
    assert expand("{a,b}{c,d}") == ("ac", "ad", "bc", "bd")
    assert expand("{a,{b,c}d}") == ("a", "bd", "cd")
    assert expand("x{a,b") == ("x{a,b",)
    assert expand("{{a,b}") == ("{a", "{b")
    assert expand("[{,}]") == ("[{,}]",)
    assert expand("{a\\,b,c}") == ("a\\,b", "c")
    assert expand("{a,a}") == ("a",)
    assert len(expand("{a,b}" * 6)) == ALTERNATIVES_MAX


HARD = (
    *("**/**/**/a*a*a*a*b", "*a" * 499 + "b", "**/" * 300 + "b", "**/a/" * 190 + "b"),
    *("*?" * 400 + "b", "[a-z]*" * 100 + "b", "**/*a*/*a*/" * 80 + "b", "{a*,*a}*a*a*b"),
)


@pytest.mark.parametrize("text", HARD, ids=range(len(HARD)))
def test_no_pattern_takes_other_than_linear_time(text):
    """With ways left that could be tried again, these would not end."""
    assert not pattern(text).matches("a" * 4000)
    assert not pattern(text).matches("a/" * 2000 + "a")
