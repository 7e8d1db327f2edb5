"""What a text mentions, in words: whatever names and commits hold, nothing is left unsaid."""

from __future__ import annotations

from msgspec import structs

from sightline.briefing.git_summary import ShownChanges
from sightline.briefing.mention_parser import parse_mentions
from sightline.briefing.mentions import Mentioned, Resolved, ShownFile
from sightline.briefing.words import blocks
from sightline.filesystem.git.show import Commit, Touched
from sightline.search.guesses import Candidate
from sightline.search.listing import DirectoryListing, Entry

REVISION = "ab" * 32


def answer(text, *ways, left_out=0):
    """Return what would be answered of a text's mentions, each with the rest of a Resolved."""
    found = [
        Resolved(mention, *way) for mention, way in zip(parse_mentions(text), ways, strict=True)
    ]
    return Mentioned(text, tuple(found), left_out)


def block(text, *way):
    [only] = blocks(answer(text, way))
    return only


def changes(commit=None, *files, patch="", cut=False, more=False, withheld=0):
    return ("shown", "", (), None, ShownChanges(commit, files, patch, cut, more, withheld))


COMMIT = Commit("c0ffee" * 6 + "abcd", "Ada <ada@example.org>", "2026-01-02T03:04:05Z", "", "b", 1)


def test_a_file_has_its_path_lines_total_and_revision_above_it():
    file = ShownFile("a.py", "lines", "x\n\ny\n", (9, 11), 20, REVISION)
    assert block("@a.py#L9-30", "shown", "", (file,)) == (
        "a.py, lines 9-11 of 20, revision abababababab:\n"
        "```\n     9\tx\n"
        "    10\t\n"
        "    11\ty\n```\n"
        "(lines 12-20 not shown: read them if you need them)\n"
    )


def test_a_whole_file_says_so():
    file = ShownFile("a.py", "whole", "x", (1, 1), 1, REVISION)
    assert block("@a.py", "shown", "", (file,)) == (
        "a.py, whole, 1 line, revision abababababab:\n```\n     1\tx\n```\n"
    )


def test_no_name_breaks_a_line_or_steers_a_terminal():
    file = ShownFile("a\nb\x1b[2J.py", "whole", "x\n", (1, 1), 1, REVISION)
    assert block('@"x.py"', "shown", "", (file,)).startswith('"a\\nb\\033[2J.py", whole, 1 line')


def test_what_is_not_shown_says_why_and_what_may_have_been_meant():
    near = (Candidate("src/a.py", 0.9, "another folder"),)
    assert block("@a.py", "missing", "a.py does not exist.", (), None, None, near) == (
        "a.py is not shown: a.py does not exist.\n  perhaps src/a.py (another folder)\n"
    )


def test_what_is_the_hosts_or_nothing_at_all_takes_no_words():
    said = answer("@problems @alice", ("host", "x"), ("word", "x"), left_out=1)
    [only] = blocks(said)
    assert only.startswith("Too many mentions. Not shown: 1 further mention. Read")


def test_a_folder_names_what_it_holds_and_how_much_more():
    files = [ShownFile("d/0.py", "whole", "x\n", (1, 1), 1, REVISION)]
    files += [ShownFile(f"d/{n}.bin", "none", why=f"d/{n}.bin is not text.") for n in range(12)]
    entries = (Entry("d/deep", "folder"), Entry("d/0.py", "file", 2))
    folder = DirectoryListing("d", entries, 1, 1, 3, 7, 1, 2)
    said = block("@d/", "shown", "", tuple(files), folder)
    assert said.startswith("d/, a folder:\nd/deep/\nd/0.py  2 bytes\n(7 more left out")
    assert "\n(3 ignored)\n" in said
    assert "\nd/0.py, whole, 1 line" in said
    assert said.endswith("d/8.bin, d/9.bin and 2 more: is not text.\n")
    assert said.count("is not text") == 1


def test_changes_say_what_git_said_and_what_is_kept_back():
    said = changes(
        None,
        Touched("R", "b.py", "a.py", 1, 0),
        Touched("M", "pic.png"),
        Touched("?", "new.py"),
        patch="diff --git a/b.py b/b.py\n+x\n",
        cut=True,
        more=True,
        withheld=1,
    )
    assert block("@git-changes", *said) == (
        "Changes not committed yet: 3 files\n"
        "  b.py: renamed from a.py, +1 -0\n"
        "  pic.png: changed\n"
        "  new.py: not tracked\n"
        "  and more: ask git for them\n"
        "  and 1 file that this session may not see\n"
        "```diff\ndiff --git a/b.py b/b.py\n"
        "+x\n```\n"
        "(the patch goes on: ask git for the files you need)\n"
    )


def test_a_commit_says_who_when_and_why():
    made = structs.replace(COMMIT, message="why\n\nbecause", parents=2)
    said = block("@c0ffeec", *changes(made, Touched("D", "a.py", None, 0, 3)))
    assert said.startswith(
        f"Commit {made.id} by Ada <ada@example.org>, 2026-01-02T03:04:05Z (a merge"
    )
    assert "\n```\nwhy\n\nbecause\n```\nIt changes 1 file of this workspace\n" in said
    assert said.endswith("  a.py: deleted, +0 -3\n")
