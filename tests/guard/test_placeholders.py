"""A placeholder in place of code is refused once, with the lines that would go."""

import pytest
from bench.placeholder_lines import WILD, lines
from tests.hooks.handlers.host import Host

from sightline import EditRefused
from sightline.model.placeholders import is_placeholder, left_out

CODE = "def one():\n    a = 1\n    return a\n\n\ndef two():\n    return 2\n"
SHORT = "def one():\n    a = 2\n    return a\n\n\n# ... rest of the code unchanged ...\n"


@pytest.mark.parametrize(
    "line",
    [
        "# ... rest of the code unchanged ...",
        "# … rest of the file stays the same …",
        "    // existing code",
        "// ... existing code ...",
        "// ...existing methods...",
        "/* rest of the component remains the same */",
        "{/* ... other props ... */}",
        "<!-- rest of the content unchanged -->",
        "-- remaining fields unchanged",
        "# [existing implementation here]",
        "[truncated]",
        "[... 120 lines omitted ...]",
        "... (rest of the function unchanged)",
        "# (keep existing code)",
        "// 40 lines omitted for brevity",
        "; same as before ...",
        "# Previous imports remain unchanged",
        "// the rest of your code goes here",
        "// Other methods remain unchanged",
        "# ... (Keep the exact same function as before) ...",
        "// ... QuizCard component remains the same ...",
        "[Previous content from line 1-305 remains exactly the same]",
        "// Lines 1-50 remain unchanged",
        "# No changes below this line",
        "// ... (otras funciones permanecen igual)",
        "# ... остальной код без изменений ...",
        "// 其他代码保持不变",
        "// Implementation omitted for brevity",
    ],
)
def test_a_line_that_stands_for_code_is_known(line):
    assert is_placeholder(line)


@pytest.mark.parametrize(
    "line",
    [
        "...",
        "    ...",
        "# ...",
        "def f(*args, **rest): ...",
        "print('rest of the code unchanged ...')",
        "# The rest of the arguments are passed on to the parser.",
        "# the existing code path is slow, so we cache",
        "const { a, ...rest } = props;",
        "return [...existing, code];",
        "# other",
        "// unchanged",
        "# Remaining tokens are counted below",
        ">>> x = ...",
        "x = [truncated]",
        '"[truncated]"',
        "# same",
        "...rest",
        "    ...rest,",
        "...existing.items,",
        "...(previous ?? []),",
        "...(isOther ? [other()] : [])",
        "<Rest>",
        "<Remaining />",
        "# ... and we got a line of input ...",
        "# (The rest of what it was saying when a result came is kept.)",
        "# No change is needed here, because the cache is cold",
        "",
    ],
)
def test_code_and_sentences_are_no_placeholders(line):
    assert not is_placeholder(line)


def test_few_of_the_placeholders_that_models_write_are_missed():
    """`python bench/placeholders.py` prints which."""
    every = list(lines())
    assert sum(map(is_placeholder, every)) > 0.96 * len(every)
    assert sum(map(is_placeholder, WILD)) > 0.9 * len(WILD)


def test_only_what_takes_the_place_of_code_counts():
    old, new = CODE.splitlines(keepends=True), SHORT.splitlines(keepends=True)
    assert len(left_out(old, new)) == 1
    assert left_out(old, [*old, "# ... rest of the code unchanged ...\n"]) == (), "nothing goes"
    assert left_out(new, [*new[:1], new[-1]]) == (), "it stood there before"
    comment = ["# nothing yet\n"]
    assert left_out(comment, ["# ... rest of the code ...\n"]) == (), "no code goes"


@pytest.mark.parametrize(
    "edit",
    [
        lambda s: s.write("a.py", SHORT),
        lambda s: s.edit("a.py", CODE[8:], SHORT[8:]),
        lambda s: s.edit_lines("a.py", 6, 7, "# ... rest of the code unchanged ...\n"),
    ],
)
def test_an_edit_with_a_placeholder_is_refused_once_with_the_lines_that_would_go(place, s, edit):
    place.put("a.py", CODE)
    s.read("a.py")
    with pytest.raises(EditRefused, match="a placeholder instead of code") as refused:
        edit(s)
    assert refused.value.reason == "placeholder"
    assert "-def two():\n-    return 2\n+# ... rest of the code unchanged ..." in refused.value.diff
    assert place.text("a.py") == CODE
    edit(s)
    assert "rest of the code unchanged" in place.text("a.py"), "sent again, it is meant"


def test_a_hosts_own_write_is_refused_alike(place):
    place.put("a.py", CODE)
    host = Host(place)
    host.read("a.py")
    asked, _ = host.write("a.py", SHORT)
    assert "-def two():" in asked.refuse
    asked, _ = host.write("a.py", SHORT)
    assert asked.refuse is None


def test_prose_and_new_files_may_have_such_lines(place, s):
    place.put("a.md", CODE)
    s.read("a.md")
    s.write("a.md", SHORT)
    s.create("b.py", SHORT)
