"""A path or pattern that somebody names: what exists is that path, anything else is a pattern."""

from __future__ import annotations

import pytest

from sightline.config.settings import Settings, Source
from sightline.errors import PathRefused, SubtaskError
from sightline.sessions.path_patterns import covers, path_pattern

HERE = [
    "app/[id]/page.tsx",
    "app/i/page.tsx",
    "[x].py",
    "x.py",
    "#a/[b]",
    "c[1] ",
    "lib/a.py",
    "!n",
]


@pytest.fixture
def tree(place, s):
    for path in HERE:
        place.put(path, "1\n")
    (place.root / "link").symlink_to("lib")
    return s


BOTH = pytest.mark.parametrize("taken_by", ["claim", "scope"])


def pattern_of(session, name, taken_by):
    """Return what a claim, or the scope of a sub-task, records for a name."""
    if taken_by == "claim":
        return session.claim(name, ttl=1).paths[0]
    session.subtasks.propose([{"id": "a", "goal": "A", "scope": [name]}])
    return session.subtasks.show("a").task.scope[0]


@BOTH
@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("app/[id]/page.tsx", ["app/[id]/page.tsx"], ["app/i/page.tsx", "app/d/page.tsx"]),
        ("./app/[id]/", ["app/[id]/page.tsx", "app/[id]/new.tsx"], ["app/i/page.tsx"]),
        ("app/[id]/*.tsx", ["app/[id]/page.tsx"], ["app/i/page.tsx", "app/[id]/a.py"]),
        ("app/[id]/new.tsx", ["app/[id]/new.tsx"], ["app/i/new.tsx"]),
        (
            "app/[id]/[to]/new.tsx",
            ["app/[id]/[to]/new.tsx", "app/[id]/t/new.tsx"],
            ["app/i/t/new.tsx"],
        ),
        ("app/[new]/page.tsx", ["app/[new]/page.tsx", "app/n/page.tsx"], ["app/new/page.tsx"]),
        ("[x].py", ["[x].py"], ["x.py", "lib/[x].py"]),
        ("*.py", ["[x].py", "x.py", "lib/a.py"], ["app/i/page.tsx"]),
        ("./*.py", ["x.py"], ["lib/a.py"]),
        ("#a/[b]", ["#a/[b]"], ["#a/b"]),
        ("#a/*", ["#a/[b]"], ["a/b"]),
        ("#*", ["#a/[b]"], ["a"]),
        ("c[1] ", ["c[1] "], ["c1 ", "c[1]", "c1"]),
        ("./!n", ["!n"], ["n"]),
        ("link/*.py", ["lib/a.py"], ["link/a.py"]),
        ("lib/**", ["lib/a.py", "lib/b/c.py"], ["x.py"]),
        (".", ["x.py", "app/[id]/page.tsx"], []),
    ],
)
def test_a_path_that_exists_is_that_path_and_a_pattern_is_a_pattern(
    tree, name, inside, outside, taken_by
):
    pattern = pattern_of(tree, name, taken_by)
    assert [path for path in inside if not covers(pattern, path)] == []
    assert [path for path in outside if covers(pattern, path)] == []


@BOTH
@pytest.mark.parametrize(
    "name", ["", " ", "\t", "lib/../x.py", "lib/../*.py", "../*.py", "!x.py", "/etc/*"]
)
def test_a_blank_name_and_one_that_goes_up_is_refused(tree, name, taken_by):
    with pytest.raises((PathRefused, SubtaskError)):
        pattern_of(tree, name, taken_by)


def test_a_file_whose_name_is_blank_can_be_named(place, s):
    place.put(" ", "1\n")
    assert covers(path_pattern(s._context, " "), " ")


def test_an_absolute_pattern_of_one_name_is_of_the_root_alone(tree, place):
    pattern = path_pattern(tree._context, f"{place.root}/*.py")
    assert covers(pattern, "x.py")
    assert not covers(pattern, "lib/a.py")


def test_the_files_of_a_proposal_and_a_search_take_brackets_of_a_folder_as_they_are(tree, place):
    place.put("app/[id]/new/deep.tsx", "1\n")
    tree.subtasks.propose([{"id": "a", "goal": "A", "files": ["app/[id]/*.tsx"]}])
    assert "app/[id]/page.tsx" in tree.subtasks.show("a").task.files
    assert "app/[id]/page.tsx" in tree.find("app/[id]/*.tsx").matches
    assert tree.find("app/[id]/**/deep.tsx").matches == ("app/[id]/new/deep.tsx",)


@pytest.mark.parametrize("pattern", ["app/[id]/page.tsx", "app/[id]/*.tsx", "app/[id]"])
def test_a_protected_file_is_named_by_its_own_name(pattern):
    named = Source(protect=(pattern,), never_store=(pattern,), policies=((pattern, "warn"),))
    settings = Settings("", (named,))
    assert settings.policy_for("app/[id]/page.tsx") == "ask"
    assert not settings.may_store("app/[ID]/page.tsx")
    assert (
        Settings("", (Source(policies=((pattern, "block"),)),)).policy_for("app/[id]/page.tsx")
        == "block"
    )
