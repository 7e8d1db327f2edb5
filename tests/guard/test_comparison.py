"""What a refusal shows where a text was not found: the differing lines, by number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sightline
from sightline.guard.comparison import ROWS, WIDTH, compared

TWENTY_FIVE = [f"    value_{n} = compute({n})\n" for n in range(1, 26)]


def refused(s, path, old):
    with pytest.raises(sightline.EditRefused) as caught:
        s.edit(path, old, "mine\n")
    return caught.value


def test_of_25_lines_the_one_that_differs_is_named_and_shown(place, s):
    place.put("a.py", "import x\n" + "".join(TWENTY_FIVE))
    s.read("a.py")
    sent = [*TWENTY_FIVE[:20], "    value_21 = compute(22)\n", *TWENTY_FIVE[21:]]
    error = refused(s, "a.py", "".join(sent))
    assert "your line 21, line 22 of the file" in error.hint
    assert error.hint.split("```")[1].splitlines()[1:] == [
        "  20      value_19 = compute(19)",
        "  21      value_20 = compute(20)",
        "- 21      value_21 = compute(22)",
        "+ 22      value_21 = compute(21)",
        "  23      value_22 = compute(22)",
        "  24      value_23 = compute(23)",
    ]


def test_a_hunk_of_a_patch_that_has_no_place_is_compared_and_numbered(place, s):
    place.put("a.py", "".join(TWENTY_FIVE))
    s.read("a.py")
    hunks = "@@ -1 +1 @@\n-    value_1 = compute(1)\n+    value_1 = 1\n"
    hunks += "@@ -9,3 +9,2 @@\n     value_9 = compute(9)\n-    value_10 = compute(0)\n     value_11 = compute(11)\n"
    with pytest.raises(sightline.EditRefused) as caught:
        s.patch(f"--- a/a.py\n+++ b/a.py\n{hunks}")
    assert caught.value.message == "The old lines of hunk 2 are not in a.py."
    assert "your line 2, line 10 of the file" in caught.value.hint
    assert (
        "-  2      value_10 = compute(0)\n+ 10      value_10 = compute(10)\n" in caught.value.hint
    )


def test_an_answer_says_which_of_its_edits_has_no_place(place, s):
    place.put("a.py", "a = 1\nb = 2\n")
    s.read("a.py")
    edits = [{"old": "a = 1\n", "new": "a = 1\ncc = 33\n"}, {"old": "b = 3\n", "new": ""}]
    result = s.answer({"fileChanges": [{"path": "a.py", "edits": edits}]})
    assert "The text to replace is not in a.py (edit 2 of 2)." in result.text
    assert "- 1  b = 3\n+ 3  b = 2\n" in result.text
    assert "The line numbers are those after the earlier edits of this call." in result.text


def test_an_empty_old_text_is_called_that(place, s):
    place.put("a.py", "a = 1\n")
    s.read("a.py")
    assert "The text to replace is empty" in refused(s, "a.py", "").message


def test_lines_that_all_lack_the_same_indentation_are_said_in_one_sentence():
    there = "".join(f"\t\tcall({n});\n" for n in range(30))
    said = compared("\n" + there.replace("\t\t", "\t"), "\n" + there, 4)
    assert "Each of the 30 lines that differ lacks 1 tab at its beginning." in said
    assert "- 2  →call(0);\n+ 5  →→call(0);\n" in said
    assert said.count("\n") < 16


def test_a_line_that_was_left_out_or_put_in_moves_no_other_line():
    there = "".join(TWENTY_FIVE)
    said = compared("".join(TWENTY_FIVE[:9] + TWENTY_FIVE[10:]), there, 1)
    assert "your text lacks line 10 of the file" in said
    assert [row[:1] for row in said.split("```")[1].splitlines()[1:]] == [*"  +  "]
    said = compared("".join([*TWENTY_FIVE[:9], "extra\n", *TWENTY_FIVE[9:]]), there, 1)
    assert "your line 10 does not stand there" in said


def test_a_long_line_is_shown_around_its_difference():
    there = "x" * 5_000 + "a" + "y" * 5_000 + "\n"
    said = compared(there.replace("xay", "xby"), there, 1)
    assert "from column 5001 on" in said
    rows = said.split("```")[1].splitlines()[1:]
    assert ["xby" in rows[0], "xay" in rows[1]] == [True, True]
    assert max(map(len, rows)) < WIDTH + 20


def test_a_last_line_without_a_newline_is_called_that(place, s):
    place.put("a.py", "a = 1\nb = 2")
    s.read("a.py")
    hint = refused(s, "a.py", "a = 1\nb = 2\n").hint
    assert "Your text ends with a line end, and the file ends without one." in hint


@pytest.mark.parametrize(
    ("sent", "there", "what"),
    [
        ("port = 80\n", "port\xa0= 80\n", "column 5 you sent a space, and there is no-break space (U+00A0)"),
        ("port = 80\n", "port\u2009= 80\n", "thin space (U+2009)"),
        ("port = 80\n", "port = \u200b80\n", "zero width space (U+200B)"),
        ("naive\n", "na\xadive\n", "soft hyphen (U+00AD)"),
        ("a = 'x'\n", "a = \u2018x\u2019\n", "you sent \"'\", and there is left single quotation mark (U+2018)"),
        ('a = "x"\n', "a = \u201cx\u201d\n", "left double quotation mark (U+201C)"),
        ("a = \u201cx\u201d\n", 'a = "x"\n', "you sent left double quotation mark (U+201C), and there is '\"'"),
        ("a - b\n", "a \u2013 b\n", "en dash (U+2013)"),
        ("wait...\n", "wait\u2026\n", "horizontal ellipsis (U+2026)"),
        ("scope\n", "s\u0441ope\n", "cyrillic small letter es (U+0441)"),
        ("caf\xe9\n", "cafe\u0301\n", "latin small letter e with acute (U+00E9)"),
        ("a = 1\n", "\ufeffa = 1\n", "byte order mark (U+FEFF)"),
        ("if a:\n", "if \u202ea:\n", "right-to-left override (U+202E)"),
        ("a\u3164b\n", "a b\n", "hangul filler (U+3164)"),
        ("a\n", "a\x0c\n", "form feed (U+000C)"),
    ],
)  # fmt: skip
def test_a_character_that_cannot_be_told_apart_is_named(sent, there, what):
    said = compared(f"first = 1\n{sent}last = 2\n", f"first = 1\n{there}last = 2\n", 1)
    assert what in said.split("Below")[0]
    odd = what.rpartition(" (U+")[0].split("is ")[-1].split("sent ")[-1]
    assert f"⟨{odd}" in said.split("```")[1]


def test_no_invisible_character_is_printed_raw_in_lines_around_either():
    there = "a\u200bb\nx = 1\n"
    assert "\u200b" not in compared("a\u200bb\nx = 2\n", there, 1)


def test_a_user_s_change_of_a_blank_is_named_beside_the_diff(place, s):
    place.put("a.py", "port = 80\n")
    s.read("a.py")
    place.put("a.py", "port\xa0= 80\n")
    error = refused(s, "a.py", "port = 80\n")
    assert error.reason == "stale"
    assert "Line 1 has no-break space (U+00A0) at column 5 now, where it had a space." in error.hint


texts = st.lists(st.sampled_from(["a = 1", "\ta = 1", "b", "", "x\xa0y"]), min_size=1, max_size=60)


@given(texts, texts)
def test_a_comparison_is_bounded_and_its_numbers_are_true(mine, theirs):
    said = compared("\n".join(mine) + "\n", "\n".join(theirs) + "\n", 1)
    if mine == theirs or not said:
        assert not said
        assert theirs[0].endswith(mine[0])
        assert theirs[1:] == mine[1:]
        return
    rows = said.split("```")[1].splitlines()[1:]
    assert 0 < len(rows) <= ROWS + 4
    for row in rows:
        if row.startswith("…"):
            continue
        mark, (number, _, text) = row[0], row[1:].lstrip(" ").partition("  ")
        lines = mine if mark == "-" else theirs
        plain = (
            text.replace("·", " ").replace("→", "\t").replace("⟨no-break space (U+00A0)⟩", "\xa0")
        )
        assert lines[int(number) - 1].strip() == plain.strip()
