"""What a conversation shows of files, with its own edits in place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.audit.histories import Talk

from sightline.messages.blocks import Excerpt, Rewrite
from sightline.window.file_index import CurrentText, Files

FOUR = "one\ntwo\nthree\nfour"


def current(talk: Talk) -> CurrentText:
    files = Files()
    for place, block in enumerate(talk.blocks):
        files.add(place, block)
    return files.current


def runs(talk: Talk, path: str = "a.py") -> list[tuple[int, str]]:
    return [(first, "\n".join(lines)) for first, lines in current(talk).runs(path)]


def whole(talk: Talk, text: str) -> Talk:
    shown = (Excerpt("a.py", 1, text, None, whole=True),)
    return talk.called("Read", "read", {}, text, excerpts=shown)


def written(talk: Talk, text: str) -> Talk:
    return talk.called("Write", "write", {}, "done", rewrites=(Rewrite("a.py", None, text),))


def test_what_was_read_stands_where_it_was_read():
    talk = Talk().read("a.py", FOUR, first=11).read("a.py", "x", first=1).read("b.py", "y")
    assert runs(talk) == [(1, "x"), (11, FOUR)]
    assert runs(talk, "b.py") == [(1, "y")]
    assert runs(talk, "c.py") == []


def test_pieces_that_touch_or_overlap_are_one():
    talk = Talk().read("a.py", "five\nsix", first=5).read("a.py", FOUR)
    assert runs(talk) == [(1, f"{FOUR}\nfive\nsix")]
    assert runs(talk.read("a.py", "four\nfive\nsix\nseven", first=4)) == [
        (1, f"{FOUR}\nfive\nsix\nseven")
    ]


def test_an_edit_moves_what_stands_below_it():
    talk = Talk().read("a.py", FOUR).read("a.py", "far", first=50)
    talk.edit("a.py", "two\nthree\n", "2\n2a\n2b\n3\n")
    assert runs(talk) == [(1, "one\n2\n2a\n2b\n3\nfour"), (52, "far")]
    assert runs(talk.edit("a.py", "one\n2\n2a\n2b\n3\nfour\n", "")) == [(46, "far")]


def test_an_edit_that_failed_or_has_no_answer_yet_changes_nothing():
    talk = Talk().read("a.py", FOUR).edit("a.py", "two", "2", error=True)
    assert runs(talk) == [(1, FOUR)]
    talk.edit("a.py", "two", "2")
    talk.blocks.pop()
    assert runs(talk) == [(1, FOUR)]


def test_several_replacements_of_one_call_come_in_their_order():
    both = (Rewrite("a.py", "one", "two and one"), Rewrite("a.py", "two and", "3"))
    talk = Talk().read("a.py", FOUR)
    assert runs(talk.called("MultiEdit", "edit", {}, "done", rewrites=both)) == [
        (1, "3 one\ntwo\nthree\nfour")
    ]


def test_a_whole_write_or_read_is_all_there_is():
    talk = Talk().read("a.py", FOUR, first=50)
    assert runs(written(talk, "new\ntext\n")) == [(1, "new\ntext")]
    assert runs(whole(talk, "other")) == [(1, "other")]


def test_a_read_that_contradicts_what_was_known_ends_it():
    talk = Talk().typed("go").read("a.py", FOUR).read("a.py", "zwei\nthree", first=2)
    assert runs(talk) == [(2, "zwei\nthree")]
    assert current(talk).complete_from("a.py") == 4


def test_a_read_that_says_the_file_is_shorter_ends_it_too():
    talk = Talk().typed("go").read("a.py", FOUR).read("a.py", "two", first=2, total=2)
    assert runs(talk) == [(2, "two")]
    assert runs(Talk().read("a.py", FOUR).read("a.py", "two", first=2, total=4)) == [(1, FOUR)]


def test_an_edit_whose_place_cannot_be_told_leaves_nothing_that_is_sure():
    """Somewhere else, at several places, across what was shown, or with no old text at all."""
    for old in ("nowhere", "o", "four\nfive", ""):
        talk = Talk().typed("go").read("a.py", FOUR).edit("a.py", old, "x")
        assert runs(talk) == []
        assert current(talk).complete_from("a.py") == 5
        assert runs(talk.read("a.py", "y")) == [(1, "y")]


def test_what_a_whole_text_was_told_after_is_all_in_it_again():
    talk = Talk().typed("go").read("a.py", FOUR).edit("a.py", "nowhere", "x")
    assert current(whole(talk, FOUR)).complete_from("a.py") == 0


def test_lines_end_where_files_end_them_and_nowhere_else():
    text = "a\x0cb\u2028c\x85d\r\ne"
    talk = Talk().read("a.py", f"{text}\nf").edit("a.py", "f", "g")
    assert runs(talk) == [(1, f"{text}\ng")]


class Disk:
    """A file, as tools would read and edit it."""

    def __init__(self, path, lines):
        self._path = path
        self._put("".join(f"{line}\n" for line in lines))

    def _put(self, text):
        self._path.write_text(text, newline="")

    @property
    def text(self):
        return self._path.read_text()

    @property
    def lines(self):
        return self.text.split("\n")[:-1]

    def write(self, text):
        self._put(text)

    def edit(self, old, new):
        if not old or self.text.count(old) != 1:
            return False
        self._put(self.text.replace(old, new))
        return True


LINE = st.text("ab", max_size=2)
PIECE = st.text("ab\n", max_size=5)
DEEDS = st.one_of(
    st.tuples(st.just("read"), st.integers(1, 9), st.integers(0, 9)),
    st.tuples(st.just("edit"), PIECE, PIECE),
    st.tuples(st.just("edit"), PIECE, PIECE),
    st.tuples(st.just("whole"), st.none(), st.none()),
    st.tuples(st.just("write"), PIECE, st.none()),
)


@given(st.lists(LINE, max_size=12), st.lists(DEEDS, max_size=12))
def test_every_line_that_is_known_stands_in_the_real_file(tmp_path, lines, deeds):
    disk = Disk(tmp_path / "a.py", lines)
    talk = Talk()
    for deed, one, two in deeds:
        if deed == "read" and one + two <= len(disk.lines):
            talk.read("a.py", "\n".join(disk.lines[one - 1 : one + two]), first=one)
        elif deed == "edit":
            talk.edit("a.py", one, two, error=not disk.edit(one, two))
        elif deed == "whole" and disk.text.endswith("\n"):
            whole(talk, disk.text[:-1])
        elif deed == "write":
            disk.write(f"{one}\n")
            written(talk, disk.text)
    for first, known in runs(talk):
        last = first + known.count("\n")
        assert "\n".join(disk.lines[first - 1 : last]) == known


@given(st.lists(LINE, min_size=1, max_size=12), st.lists(st.tuples(PIECE, PIECE), max_size=8))
def test_a_file_that_was_shown_whole_is_known_whole_through_all_edits(tmp_path, lines, edits):
    disk = Disk(tmp_path / "a.py", lines)
    talk = whole(Talk(), disk.text[:-1])
    for old, new in edits:
        if disk.text.replace(old, new).endswith("\n"):
            talk.edit("a.py", old, new, error=not disk.edit(old, new))
    assert runs(talk) == [(1, disk.text[:-1])]
