import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.model.locate import applied, place_hunks
from sightline.model.patches import FilePatch, PatchHunk, PatchSyntax, parse_patch
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
    edits = place_hunks(file.hunks, split(old))
    assert isinstance(edits, list)
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
        ("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n", "line 3: a hunk that changes nothing"),
        ("--- a/x\n+++ b/x\n@@ one two @@\n", "line 3: a hunk without lines"),
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


# --- the numbers are a hint ----------------------------------------------------------------------


def applied_to(text, patch):
    """Return a text after a patch of one file; None where a hunk has no place."""
    [file] = parse_patch(patch)
    edits = place_hunks(file.hunks, split(text))
    return "".join(applied(split(text), edits)) if isinstance(edits, list) else None


HEAD = "--- a/x\n+++ b/x\n"
SIX = "a\nb\nc\nd\ne\nf\n"


@pytest.mark.parametrize(
    "header",
    ["@@ -2,3 +2,3 @@", "@@ -2 +2 @@", "@@ -2,1 +2,9 @@", "@@ -2,99 +2,99 @@", "@@", "@@ @@", "@@ ... @@",
     "@@ -2,3 @@", "@@ a", "@@ a @@", "@@ -2,3 +2,3 @@ class X:"],
)  # fmt: skip
def test_the_lines_of_a_hunk_count_whatever_its_header_says(header):
    more = "@@\n e\n-f\n+F\n"
    assert applied_to(SIX, f"{HEAD}{header}\n b\n-c\n+C\n d\n{more}") == "a\nb\nC\nd\ne\nF\n"


def test_a_last_line_whose_missing_newline_is_not_marked_is_found():
    assert applied_to("a\nb", f"{HEAD}@@ -1,2 +1,2 @@\n a\n-b\n+B\n") == "a\nB"
    assert applied_to("a\nb", f"{HEAD}@@ -2,1 +2,2 @@\n b\n+c\n") == "a\nb\nc"
    assert applied_to("b\na\nb", f"{HEAD}@@ -3 +3 @@\n-b\n+B\n") == "b\na\nB", "not the first line"
    assert applied_to("b\na\nb", f"{HEAD}@@\n-b\n+B\n") is None, "two places"


@pytest.mark.parametrize("prefixes", ["ab", "iw", "ci", "cw", "ow", "ba", "wi"])
def test_the_prefixes_of_git_are_no_part_of_a_name(prefixes):
    old, new = prefixes
    for git in ("", f"diff --git {old}/c/x.py {new}/c/x.py\nindex 1..2 100644\n"):
        [file] = parse_patch(f"{git}--- {old}/c/x.py\n+++ {new}/c/x.py\n@@ -1 +1 @@\n-a\n+b\n")
        assert (file.old, file.new) == ("c/x.py", "c/x.py")
    created = f"diff --git {old}/c/x.py {new}/c/x.py\nnew file mode 100644\n"
    [file] = parse_patch(f"{created}--- /dev/null\n+++ {new}/c/x.py\n@@ -0,0 +1 @@\n+b\n")
    assert (file.old, file.new) == (None, "c/x.py")


def test_a_folder_that_is_named_like_a_prefix_stays():
    [file] = parse_patch("--- c/x.py\n+++ c/x.py\n@@ -1 +1 @@\n-a\n+b\n")
    assert (file.old, file.new) == ("c/x.py", "c/x.py")


def test_empty_files_and_their_deletion_are_read():
    text = (
        "diff --git a/new.py b/new.py\nnew file mode 100644\nindex 0000000..e69de29\n"
        "diff --git a/old.py b/old.py\ndeleted file mode 100644\nindex e69de29..0000000\n"
    )
    assert parse_patch(text) == [FilePatch(None, "new.py", ()), FilePatch("old.py", None, ())]


@pytest.mark.parametrize(
    ("lines", "beyond"),
    [
        ("old mode 100644\nnew mode 100755\n", "the mode 100755"),
        ("new file mode 120000\n", "a symlink"),
        ("new file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "the mode 100755"),
        ("new file mode 160000\n", "a submodule"),
        ("similarity index 100%\ncopy from x\ncopy to y\n", "a copy of another file"),
        ("index 1..2\nGIT binary patch\nliteral 3\nKcmZQzWMTjS0096102\n", "a binary change"),
        ("index 1..2\nBinary files a/x and b/x differ\n", "a binary change"),
    ],
)
def test_what_no_edit_can_do_is_named(lines, beyond):
    [file] = parse_patch(f"diff --git a/x b/x\n{lines}")
    assert file.beyond == beyond


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("@@ -1 +1 @@\n-a\n+b\nlost mark\n+c\n", "line 7: a changed line that belongs to no hunk"),
        ("@@ -1,9 +1,9 @@\n-a\n+b\nlost mark\n+c\n", "line 6: a hunk line must begin"),
        ("@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n", "line 6: a hunk without lines"),
        ("", "line 3: expected a hunk"),
        ("@@@ -1,2 -1,2 +1,2 @@@\n  a\n++b\n", "line 3: a combined diff"),
    ],
)
def test_nothing_that_changes_a_file_is_passed_over(body, why):
    with pytest.raises(PatchSyntax, match=why):
        parse_patch(HEAD + body)


def test_a_section_of_git_without_a_change_is_refused():
    with pytest.raises(PatchSyntax, match="no change of 'x'"):
        parse_patch("diff --git a/x b/x\nindex 1..2 100644\n")


def test_text_for_people_around_the_files_of_a_mailed_patch_is_passed_over():
    text = (
        "From 1234 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n\n- a point\n+ another\n---\n x | 2 +-\n\n"
        f"diff --git a/x b/x\nindex 1..2 100644\n{HEAD}@@ -1,2 +1,2 @@\n-a\n+A\n b\n-- \n2.39.0\n\n"
        f"From 1234 Mon Sep 17 00:00:00 2001\n\n- more\n---\n{HEAD}@@ -3 +3 @@\n-c\n+C\n-- \n2.39.0\n"
    )
    assert [len(file.hunks) for file in parse_patch(text)] == [1, 1]


# --- between *** Begin Patch and *** End Patch ----------------------------------------------------


def section(body, verb="Update", path="x"):
    return f"*** Begin Patch\n*** {verb} File: {path}\n{body}*** End Patch\n"


CLASSES = (
    "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n"
)


def test_all_sections_between_begin_and_end_are_read():
    text = (
        "apply_patch <<'EOF'\n*** Begin Patch\n"
        "*** Add File: new.py\n+a\n+\n+b\n"
        "*** Delete File: old.py\n"
        "*** Update File: app.py\n*** Move to: main.py\n@@ def f():\n-    x\n+    y\n@@\n z\n+q\n*** End of File\n"
        "*** Update File: pure.py\n*** Move to: moved.py\n"
        "*** End Patch\nEOF\n"
    )
    assert parse_patch(text) == [
        FilePatch(None, "new.py", (PatchHunk(0, (), ("a\n", "\n", "b\n")),)),
        FilePatch("old.py", None, ()),
        FilePatch(
            "app.py",
            "main.py",
            (
                PatchHunk(None, ("    x\n",), ("    y\n",), ("def f():",)),
                PatchHunk(None, ("z\n",), ("z\n", "q\n"), (), at_end=True),
            ),
        ),
        FilePatch("pure.py", "moved.py", ()),
    ]


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("@@ class B:\n-        return 1\n+        return 2\n", CLASSES[::-1].replace("1", "2", 1)[::-1]),
        ("@@ class A:\n-        return 1\n+        return 2\n", CLASSES.replace("1", "2", 1)),
        ("@@ class B:\n@@     def f(self):\n-        return 1\n+        return 2\n", CLASSES[::-1].replace("1", "2", 1)[::-1]),
        ("@@\n class B:\n@@\n-        return 1\n+        return 2\n", CLASSES[::-1].replace("1", "2", 1)[::-1]),
        ("@@ class B:\n class B:\n-    def f(self):\n+    def g(self):\n", CLASSES[::-1].replace("f fed", "g fed", 1)[::-1]),
        ("@@ class B:\n+    x = 1\n", CLASSES.replace("class B:\n", "class B:\n    x = 1\n")),
        (" class A:\n-    def f(self):\n+    def g(self):\n", CLASSES.replace("f(", "g(", 1)),
        ("@@\n-        return 1\n+        return 2\n*** End of File\n", CLASSES[::-1].replace("1", "2", 1)[::-1]),
        ("@@\n+class C: ...\n*** End of File\n", CLASSES + "class C: ...\n"),
        ("@@\n         return 1\n\n-class B:\n+class C:\n", CLASSES.replace("B", "C")),
        ("@@ -99,7 +99,7 @@ def f\n-class B:\n+class C:\n\n", CLASSES.replace("B", "C")),
        ("@@ class Z:\n-class B:\n+class C:\n", None),
        ("@@     def f(self):\n-        return 1\n+        return 2\n", None),
        ("@@\n-        return 1\n+        return 2\n", None),
        ("@@\n+class C: ...\n", None),
        ("@@ class B:\n-class A:\n+class C:\n", None),
    ],
)  # fmt: skip
def test_a_hunk_stands_below_its_anchors_and_nowhere_by_chance(body, after):
    assert applied_to(CLASSES, section(body)) == after


@pytest.mark.parametrize(
    ("anchor", "after"),
    [
        ("def f(", "def f(\n    a,\n):\n    y\n\n    b\ndef g():\n    x\n    x\n"),
        ("def g():", None),
        ("    b", None),
        ("    a,", "def f(\n    a,\n):\n    y\n\n    b\ndef g():\n    x\n    x\n"),
    ],
)
def test_lines_that_stand_twice_in_the_block_of_their_anchor_have_no_place(anchor, after):
    before = "def f(\n    a,\n):\n    x\n\n    b\ndef g():\n    x\n    x\n"
    assert applied_to(before, section(f"@@ {anchor}\n-    x\n+    y\n")) == after


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n", "line 5: the patch ends without"),
        (section("@@\n-a\n+b\nlost mark\n"), "line 6: a hunk line must begin"),
        (section("a\n", "Add"), "line 3: a line of a new file must begin with '\\+'"),
        (section("", "Update"), "line 2: no change of this file"),
        (section("", "Rename"), "line 2: expected "),
        (section("@@\n-a\n+b\n*** Environment: y\n"), "line 6: expected "),
        (section("@@\n"), "line 3: a hunk without lines"),
    ],
)
def test_what_a_section_cannot_mean_is_said_with_its_line(text, why):
    with pytest.raises(PatchSyntax, match=why):
        parse_patch(text)
