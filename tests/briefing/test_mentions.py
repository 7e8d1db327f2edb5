"""What a text mentions is shown through the access check, within limits, and recorded as seen."""

from __future__ import annotations

import os

import pytest
from tests.briefing.mentions import lines, one, seen, told

from sightline.briefing.mentions import show_mentions
from sightline.briefing.words import blocks
from sightline.errors import EditRefused
from sightline.guard.reads import saw
from sightline.testing import make_session


@pytest.fixture
def tree(place, s):
    place.put("src/a.py", lines(1, 10))
    place.put("src/long.py", lines(1, 1_000))
    place.put("src/deep/b.py", "b\n")
    place.put("my notes.txt", "notes\n")
    place.put("[id]/#1.md", "odd\n")
    return s


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("@/src/a.py", "src/a.py"),
        ("@src/a.py,", "src/a.py"),
        ("@./src/a.py", "src/a.py"),
        ("@src/deep/../a.py", "src/a.py"),
        ("@ws:/src/a.py", "src/a.py"),
        ("@src\\a.py", "src/a.py"),
        ("@src/a.py#usage", "src/a.py"),
        ('@"my notes.txt"', "my notes.txt"),
        ("@my\\ notes.txt", "my notes.txt"),
        ("@/[id]/#1.md", "[id]/#1.md"),
    ],
)
def test_a_file_is_shown_whole_and_counts_as_seen(tree, place, text, path):
    found = one(tree, f"look at {text} please")
    [shown] = found.files
    assert (found.state, shown.path, shown.state) == ("shown", path, "whole")
    assert shown.text == place.text(path)
    assert shown.total_lines == shown.lines[1] == shown.text.count("\n")
    assert seen(tree) == {path: ("mention", ((1, shown.total_lines),))}


def test_an_absolute_path_of_the_workspace_is_one(tree, place):
    assert one(tree, f"@{place.root}/src/a.py").files[0].path == "src/a.py"


def test_asked_lines_are_shown_and_no_others_are_seen(tree):
    [shown] = one(tree, "@src/long.py#L3-5").files
    assert (shown.state, shown.lines, shown.total_lines) == ("lines", (3, 5), 1_000)
    assert shown.text == lines(3, 5)
    assert seen(tree) == {"src/long.py": ("mention", ((3, 5),))}


def test_more_lines_than_the_limit_are_a_preview(tree):
    found = told(tree, "@src/long.py")
    [shown] = found.found[0].files
    assert (shown.state, shown.lines, shown.total_lines) == ("preview", (1, 40), 1_000)
    assert "(lines 41-1000 not shown" in blocks(found)[0]
    assert seen(tree) == {"src/long.py": ("mention", ((1, 40),))}


def test_asked_lines_are_cut_to_the_limit_and_that_is_said(tree):
    found = told(tree, "@src/long.py:11-900", limit_lines=20)
    assert found.found[0].files[0].lines == (11, 30)
    assert "(lines 31-900 not shown" in blocks(found)[0]


def test_lines_behind_the_end_are_not_there(tree):
    found = told(tree, "@src/a.py#L11-12")
    assert (found.found[0].files[0].state, seen(tree)) == ("none", {})
    assert blocks(found) == ("src/a.py is not shown: It has 10 lines only.\n",)


def test_what_was_mentioned_is_guarded(tree, place):
    show_mentions(tree._context, "@src/a.py")
    place.put("src/a.py", lines(1, 10).replace("line 4", "line four"))
    with pytest.raises(EditRefused) as refused:
        tree.edit("src/a.py", "line 4\n", "line IV\n")
    assert refused.value.reason == "stale"


def test_a_line_that_was_not_shown_may_not_be_replaced_blindly(tree):
    show_mentions(tree._context, "@src/long.py")
    assert tree.check("src/long.py", old="line 7\n").decision == "allow"
    assert tree.check("src/long.py", old="line 700\n").reason == "unseen"


def test_every_file_shown_of_a_folder_is_seen(tree):
    found = one(tree, "@src/")
    entries = [(entry.path, entry.kind) for entry in found.folder.entries]
    assert entries == [("src/a.py", "file"), ("src/deep", "folder"), ("src/long.py", "file")]
    assert [(f.path, f.state) for f in found.files] == [
        ("src/a.py", "whole"),
        ("src/long.py", "preview"),
    ]
    assert set(seen(tree)) == {"src/a.py", "src/long.py"}


def test_a_folder_needs_no_slash_and_the_root_is_one(tree):
    assert one(tree, "@src").folder.path == "src"
    top = [entry.path for entry in one(tree, "@./").folder.entries]
    assert top == ["[id]", "my notes.txt", "src"]


def test_what_is_ignored_or_refused_does_not_come_with_its_folder(tree, place):
    place.put(".gitignore", "*.log\n")
    place.put(".sightlineignore", ".env\n")
    place.put("src/x.log", "noise\n")
    place.put("src/.env", "KEY=secret\n")
    found = told(tree, "@src/ and @src/.env and @src/x.log")
    folder, refused, named = found.found
    assert (folder.folder.files, folder.folder.ignored) == (2, 2)
    assert refused.state == "refused"
    assert named.files[0].text == "noise\n"  # what is only ignored is shown by its name
    assert "secret" not in "".join(blocks(found))
    assert "src/.env" not in seen(tree)


@pytest.mark.parametrize("text", ["@../outside.txt", "@src/../../outside.txt", "@/../outside.txt"])
def test_no_way_leads_out(tree, place, text):
    (place.home / "outside.txt").write_text("secret\n")
    assert one(tree, text).state == "refused"


def test_a_link_out_is_refused_and_one_inside_is_followed(tree, place):
    (place.home / "outside.txt").write_text("secret\n")
    os.symlink("../outside.txt", place.root / "out")
    os.symlink("src/a.py", place.root / "in")
    out, inside = told(tree, "@out @in").found
    assert (out.state, out.files) == ("refused", ())
    assert inside.files[0].text == lines(1, 10)
    assert one(tree, "@./").files[0].path != "out"


def test_one_that_fails_does_not_take_the_others_with_it(tree, place):
    place.put("x.bin", b"\0\1")
    found = told(tree, "@.git/config @x.bin @gone.py @src/a.py")
    assert [each.state for each in found.found] == ["refused", "refused", "missing", "shown"]
    assert "x.bin is not shown: x.bin is not text." in blocks(found)[1]


def test_a_missing_file_comes_with_what_may_have_been_meant(tree):
    found = told(tree, "@source/deep/b.py")
    assert found.found[0].state == "missing"
    assert [each.path for each in found.found[0].candidates][:1] == ["src/deep/b.py"]
    assert "source/deep/b.py does not exist" in blocks(found)[0]
    assert "perhaps src/deep/b.py" in blocks(found)[0]


def test_a_name_of_a_person_is_no_missing_file(tree):
    found = told(tree, "thanks @alice, see @https://example.org and @problems")
    assert [each.state for each in found.found] == ["word", "host", "host"]
    assert blocks(found) == ()


def test_a_package_is_a_word_until_there_is_a_file_of_that_name(tree, place):
    text = "why is @angular/core no peer of @types/node, and where is @pytest.fixture from?"
    assert [each.state for each in told(tree, text).found] == ["word"] * 3
    place.put("angular/core/index.ts", "export {}\n")
    assert [each.state for each in told(tree, text).found] == ["shown", "word", "word"]
    assert one(tree, "@angular/cor").state == "missing"


def test_a_bare_name_in_another_case_is_a_missing_file(tree, place):
    place.put("Makefile", "all:\n")
    assert one(tree, "see @makefil").state == "word"
    assert one(tree, "see @MAKEFILE").candidates[0].path == "Makefile"


def test_another_root_is_left_to_the_host(tree):
    found = one(tree, "@web:/src/a.py")
    assert (found.state, found.files) == ("elsewhere", ())
    assert "web" in found.why


def test_the_limits_hold_for_all_of_it_and_are_said(tree, place):
    for number in range(6):
        place.put(f"many/{number}.py", "x\n")
    found = told(tree, "@many/ @src/a.py", limit_files=4)
    assert [f.state for f in found.found[0].files] == ["whole"] * 4 + ["none"] * 2
    assert found.found[1].state == "left_out"
    assert "no room left" in blocks(found)[0]
    assert "no room left" in blocks(found)[1]
    assert set(seen(tree)) == {f"many/{number}.py" for number in range(4)}


def test_bytes_are_bounded_at_line_ends(tree, place):
    place.put("wide.js", "x" * 5_000)
    first, second = told(tree, "@src/a.py @wide.js", limit_bytes=30).found
    assert first.files[0].text == lines(1, 4)
    assert first.files[0].lines == (1, 4)
    assert second.files[0].state == "none"
    assert set(seen(tree)) == {"src/a.py"}


def test_many_mentions_are_counted(tree):
    found = told(tree, " ".join(f"@f{number}" for number in range(250)))
    assert (len(found.found), found.left_out) == (200, 50)
    assert "50 further mentions" in blocks(found)[-1]


def test_secrets_are_named_in_their_folder_and_shown_by_their_own_name(tree, place):
    place.put("conf/.env", "KEY=secret\n")
    folder, file = told(tree, "@conf/ and @conf/.env").found
    assert [(each.path, each.state) for each in folder.files] == [("conf/.env", "none")]
    assert "mention it alone" in folder.files[0].why
    assert file.files[0].text == "KEY=secret\n"


def test_a_folder_of_many_things_is_bounded(tree, place):
    for number in range(150):
        place.put(f"wide/{number:03}/x.py", "x\n")
        place.put(f"wide/{number:03}.py", "x\n")
    found = one(tree, "@wide/", limit_files=2)
    assert (len(found.folder.entries), found.folder.left_out) == (200, 100)
    assert [file.path for file in found.files if file.text] == ["wide/000.py", "wide/001.py"]


def test_what_was_not_shown_of_a_folder_is_said_once_for_each_reason(tree, place):
    place.put("src/x.bin", b"\0")
    place.put("src/y.bin", b"\0")
    [block] = blocks(told(tree, "@src/"))
    assert "Not shown: src/x.bin, src/y.bin: is not text.\n" in block


def test_a_folder_that_only_holds_what_is_ignored_says_so(tree, place):
    place.put(".gitignore", "dist/\n")
    place.put("dist/a.js", "x\n")
    [block] = blocks(told(tree, "@dist/"))
    assert block == "dist/, a folder:\ndist/ holds nothing that is not ignored.\n(1 ignored)\n"


def test_a_file_that_changes_while_it_is_shown_counts_as_it_was_shown(tree, place, monkeypatch):
    def later(*given):
        place.put("src/a.py", "changed meanwhile\n")
        return saw(*given)

    monkeypatch.setattr("sightline.briefing.mentions.saw", later)
    assert one(tree, "@src/a.py").files[0].text == lines(1, 10)
    assert tree.believed("src/a.py") == lines(1, 10)
    assert tree.check("src/a.py").state == "stale"


def test_line_ends_and_marks_are_no_lines(tree, place):
    place.put("dos.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")
    [shown] = one(tree, "@dos.txt").files
    assert (shown.text, shown.total_lines) == ("one\ntwo\n", 2)
    assert tree.check("dos.txt").state == "fresh"
    assert tree.check("dos.txt").complete


def test_a_workspace_in_memory_is_answered_too():
    with make_session({"src/a.py": "a\n"}) as s:
        found = told(s, "@src/a.py @gone.py @git-changes")
        assert [each.state for each in found.found] == ["shown", "missing", "missing"]


def test_files_that_cannot_be_shown_are_not_read_without_end(tree, place):
    for number in range(150):
        place.put(f"one/{number:03}.bin", b"\0")
        place.put(f"two/{number:03}.bin", b"\0")
    first, second, third = told(tree, "@one/ @two/ @src/a.py").found
    assert {file.why for file in first.files} == {
        f"one/{n:03}.bin is not text." for n in range(150)
    }
    assert sum("is not text" in file.why for file in second.files) == 50
    assert third.state == "left_out"


def test_an_empty_file_is_shown_as_one(tree, place):
    place.put("empty.txt", "")
    found = told(tree, "@empty.txt")
    assert blocks(found)[0].startswith("empty.txt, an empty file, revision ")
    assert "empty.txt" in seen(tree)


def test_lines_are_numbered_as_they_stand_in_the_file(tree):
    [block] = blocks(told(tree, "@src/long.py#L9-10"))
    head, *rows = block.split("\n")
    assert head.startswith("src/long.py, lines 9-10 of 1000, revision ")
    assert rows == ["```", "     9\tline 9", "    10\tline 10", "```", ""]


def test_numbers_below_one_are_an_error(tree):
    with pytest.raises(ValueError, match="from 1 on"):
        show_mentions(tree._context, "@a", limit_files=0)
