import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.model.attempts import FilePatch, PatchHunk, PatchSyntax, parse_patch
from sightline.model.locate import applied, located
from sightline.model.text import split

lines = st.lists(st.sampled_from(["a\n", "b\n", "}\n", "\n", "-- x\n", "++ y\n"]), max_size=12)


def text_of(lines, *, ends):
    return "".join(lines) if ends else "".join(lines).removesuffix("\n")


@given(lines, lines, st.booleans(), st.booleans(), st.integers(0, 3))
def test_a_diff_of_git_applied_is_the_new_text(tmp_path, a, b, a_ends, b_ends, context):
    old, new = text_of(a, ends=a_ends), text_of(b, ends=b_ends)
    if old == new:
        return
    (tmp_path / "a").write_bytes(old.encode())
    (tmp_path / "b").write_bytes(new.encode())
    printed = subprocess.run(
        ["git", "diff", "--no-index", f"-U{context}", "a", "b"],
        cwd=tmp_path, capture_output=True, check=False,
    ).stdout.decode()  # fmt: skip
    [file] = parse_patch(printed)
    assert file.new == "b"
    edits = located(file.hunks, split(old))
    assert edits is not None
    assert "".join(applied(split(old), edits)) == new


def test_all_files_of_a_patch_are_read():
    text = (
        "diff --git a/one.py b/one.py\nindex 1..2 100644\n"
        "--- a/one.py\n+++ b/one.py\n@@ -1,2 +1,2 @@ def f():\n-a\n+A\n b\n"
        "diff --git a/new b/new\nnew file mode 100644\n"
        "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
        "--- a/gone\t2026-01-01 00:00:00\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    )
    assert parse_patch(text) == [
        FilePatch("one.py", "one.py", (PatchHunk(1, ("a\n", "b\n"), ("A\n", "b\n")),)),
        FilePatch(None, "new", (PatchHunk(0, (), ("x",)),)),
        FilePatch("gone", None, (PatchHunk(1, ("x\n",), ()),)),
    ]


def test_a_rename_without_changes_is_read():
    text = (
        "diff --git a/old.py b/new.py\nsimilarity index 100%\n"
        "rename from old.py\nrename to new.py\n"
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    )
    assert [(file.old, file.new, len(file.hunks)) for file in parse_patch(text)] == [
        ("old.py", "new.py", 0),
        ("x", "x", 1),
    ]


@pytest.mark.parametrize(
    ("quoted", "name"),
    [
        ('"a/\\033\\342\\200\\256.py"', "\x1b\u202e.py"),  # core.quotePath
        ('"a/\\033\u202e\u65e5 \\"x\\\\y\\n"', '\x1b\u202e\u65e5 "x\\y\n'),  # without it
        ('"a/\\377\udcfe"', "\udcff\udcfe"),
        ('"a/\\x4\\u1\\N{\\8"', "x4u1N{8"),
    ],
)
def test_names_in_quotes_are_read_whatever_they_hold(quoted, name):
    [file] = parse_patch(f"--- {quoted}\n+++ {quoted.replace('a/', 'b/')}\n@@ -1 +1 @@\n-a\n+b\n")
    assert (file.old, file.new) == (name, name)
    plain = quoted.replace("a/", "")
    [file] = parse_patch(f"rename from {plain}\nrename to {plain}2\n".replace('"2', '2"'))
    assert (file.old, file.new) == (name, f"{name}2")


def test_names_in_quotes_and_stripped_context_lines_are_read():
    text = '--- a/y\n+++ "b/caf\\303\\251 \\"x\\".py"\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n'
    [file] = parse_patch(text)
    assert file.new == 'café "x".py'
    assert file.hunks[0].old == ("a\n", "\n", "b\n")


def test_windows_line_ends_of_a_patch_are_no_part_of_it():
    [file] = parse_patch("--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n")
    assert (file.old, file.hunks[0].new) == ("x", ("b\n",))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no file"),
        ("hello\n", "no file"),
        ("@@ -1 +1 @@\n-a\n+b\n", "line 1: a hunk with no"),
        ("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n", "ends inside a hunk"),
        ("--- a/x\n+++ b/x\n@@ one two @@\n", "line 3: not a hunk header"),
        ('--- a/x\n+++ "b/\ud800"\n@@ -1 +1 @@\n-a\n+b\n', "no Unicode"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n!b\n", "line 5: a hunk line must begin"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(text, why):
    with pytest.raises(PatchSyntax, match=why):
        parse_patch(text)


def test_two_names_without_a_rename_mean_the_second():
    """As `diff -u file.orig file` prints it."""
    file = parse_patch("--- file.orig\t2026-01-01\n+++ file\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n")[0]
    assert (file.old, file.new) == ("file", "file")
