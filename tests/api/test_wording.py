"""What is said of a refusal or a notice is true of the very case at hand."""

from __future__ import annotations

import pytest

from sightline import EditRefused

VERBS = {
    "edit": lambda s, path: s.edit(path, "a", "b"),
    "edit_lines": lambda s, path: s.edit_lines(path, 1, 1, "b\n"),
    "delete": lambda s, path: s.delete(path),
    "move": lambda s, path: s.move(path, "elsewhere"),
    "patch": lambda s, path: s.patch(f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n"),
}
SECRET = "".join(f"KEY_{n}=value {n}\n" for n in range(1, 9))


def refused(verb, *args):
    with pytest.raises(EditRefused) as error:
        verb(*args)
    return error.value


@pytest.mark.parametrize("verb", VERBS)
def test_what_was_never_there_is_not_said_to_have_been(place, s, verb):
    (place.root / "folder").mkdir()
    missing = refused(VERBS[verb], s, "nope")
    assert (missing.reason, missing.message) == ("not_found", "nope does not exist.")
    folder = refused(VERBS[verb], s, "folder")
    assert (folder.reason, folder.message) == ("kind_changed", "folder is a directory.")


def test_once_is_not_one_times(ten):
    error = refused(lambda: ten.edit("a.py", "line 2\n", "x", count=2))
    assert "occurs once in a.py" in error.message


def test_a_text_that_is_not_kept_was_shown_all_the_same(place, s):
    """A file of secrets that somebody changed: no line of it is called never shown."""
    place.put(".env", SECRET)
    s.read(".env")
    place.put(".env", SECRET.replace("value 8", "value eight"))
    verbs = [VERBS["delete"], lambda s, path: s.write(path, "x\n")]
    verbs += [lambda s, path: s.edit_lines(path, 8, 8, "x"), lambda s, path: s.edit(path, "8", "9")]
    for verb in verbs:
        error = refused(verb, s, ".env")
        assert error.reason in ("stale", "conflict")
        assert error.diff == ""
        assert error.hint.startswith("Read .env again")
    notice = s.edit(".env", "KEY_2=value 2", "KEY_2=value two").notice
    assert "never shown" not in notice.text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("a.py", "Expected `object`, got `str`"),
        ({"content": "x"}, "required field `path`"),
        ({"path": "a.py", "text": "x"}, "unknown field `text`"),
        ({"path": "a.py", "content": 5}, "content"),
        ({"path": "a.py", "edits": "x"}, "edits"),
        ({"path": "a.py", "edits": [{"old": "line 1"}]}, "required field `new`"),
        ({"path": "a.py", "edits": [{"old": "line 1", "new": "x", "count": "2"}]}, "count"),
        ({"path": "a.py", "edits": [("line 1",)]}, "required field `new`"),
        ({"path": "a.py"}, "content, or edits, or delete"),
        ({"path": "a.py", "content": "x", "edits": [("line 1", "x", 1)]}, "content, or edits"),
    ],
)
def test_a_change_that_makes_no_sense_is_named_and_nothing_is_done(place, ten, given, said):
    before = place.bytes("a.py")
    with pytest.raises(ValueError, match="a change") as error:
        ten.apply([{"path": "new.py", "content": "x"}, given])
    assert said in str(error.value)
    assert (place.bytes("a.py"), place.names()) == (before, ["a.py"])


def test_of_very_many_places_the_first_are_named(place, s):
    place.put("a.py", "}\nx\n" * 100)
    s.read("a.py")
    error = refused(lambda: s.edit("a.py", "}", ")"))
    assert len(error.lines) == 100
    assert "occurs 100 times in a.py, at lines 1, 3, 5" in error.message
    assert error.message.endswith("39, and 80 more places.")
