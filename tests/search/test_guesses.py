"""Wrong guesses at paths, and what is told of them."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from bench.guesses import made
from bench.mistakes import MISTAKES
from hypothesis import given
from hypothesis import strategies as st

from sightline.search.guesses import Candidate, Guesser

SAMPLE = Path(__file__).with_name("sample.txt").read_text(encoding="utf-8").split()
"""Names of files of the standard library, pytest, tRPC, tldraw, RxJS, Django and React Native."""

TREE = (
    "README.md",
    "config/settings.yaml",
    "packages/ui/src/Button/index.tsx",
    "src/api/user_profile.py",
    "src/api/users.py",
    "src/components/UserCard.tsx",
    "src/core/__init__.py",
    "src/core/paths.py",
    "src/engine/render.hpp",
    "src/utils/format.ts",
    "src/utils/index.ts",
    "tests/api/test_users.py",
)


def candidates(asked, paths, **options):
    return Guesser(paths).candidates(asked, **options)


@pytest.mark.parametrize(
    ("asked", "meant", "reason"),
    [
        ("src/core/Paths.py", "src/core/paths.py", "other case"),
        ("SRC/core/paths.py", "src/core/paths.py", "other case"),
        ("src/api/userProfile.py", "src/api/user_profile.py", "another spelling"),
        ("src/api/user-profile.py", "src/api/user_profile.py", "another spelling"),
        (
            "src/components/user_card.tsx",
            "src/components/UserCard.tsx",
            "another spelling",
        ),
        ("src/utils/format", "src/utils/format.ts", "with its ending .ts"),
        ("src/utils/format.js", "src/utils/format.ts", "other ending .ts"),
        ("src/engine/render.h", "src/engine/render.hpp", "other ending .hpp"),
        ("config/settings.yml", "config/settings.yaml", "other ending .yaml"),
        ("src/api/user.py", "src/api/users.py", "a similar name"),
        ("src/core/path.py", "src/core/paths.py", "a similar name"),
        ("src/core/pahts.py", "src/core/paths.py", "a similar name"),
        ("src/cor/paths.py", "src/core/paths.py", "the same name in src/core"),
        ("src/utils/paths.py", "src/core/paths.py", "the same name in src/core"),
        ("paths.py", "src/core/paths.py", "the same name in src/core"),
        ("core/paths.py", "src/core/paths.py", "below src/"),
        ("app/src/core/paths.py", "src/core/paths.py", "without app/"),
        ("/Users/ada/app/src/core/paths.py", "src/core/paths.py", "without Users/ada/app/"),
        ("C:\\app\\src\\core\\paths.py", "src/core/paths.py", "without app/"),
        ("src\\core\\paths.py", "src/core/paths.py", "the path itself"),
        ("src/utils.ts", "src/utils/index.ts", "the index file of that folder"),
        ("src/core.py", "src/core/__init__.py", "the index file of that folder"),
        ("src/core/paths/__init__.py", "src/core/paths.py", "a file, not a folder"),
        ("tests/api/users_test.py", "tests/api/test_users.py", "a similar name"),
        ("src/core/pahts", "src/core/paths.py", "a similar name"),
    ],
)
def test_what_was_meant_comes_first_and_says_why(asked, meant, reason):
    first = candidates(asked, TREE)[0]
    assert (first.path, first.reason) == (meant, reason)


SLASH = "a slash at another place"


@pytest.mark.parametrize(
    ("asked", "there", "reason"),
    [
        ("httpServer.py", "http/server.py", SLASH),
        ("http_server.py", "http/server.py", SLASH),
        ("httpserver.py", "http/server.py", SLASH),
        ("src/http-server.ts", "src/http/server.ts", SLASH),
        ("apiHttpServer.py", "api/http/server.py", SLASH),
        ("httpServer.ts", "http/server/index.ts", SLASH),
        ("httpServer.js", "http/server.ts", SLASH),
        ("httpServer.py", "src/http/server.py", "a similar name in src/http"),
        ("http/server.py", "http_server.py", SLASH),
        ("http/server.py", "httpServer.py", SLASH),
        ("src/http/server.py", "src/http-server.py", SLASH),
        ("api/http/server.py", "apiHttpServer.py", SLASH),
        ("http/server", "http-server/index.ts", SLASH),
        ("http/server/index.ts", "httpServer.ts", SLASH),
        ("http/server.py", "src/http_server.py", "a similar name in src"),
        ("models/user.py", "models/user/__init__.py", "the index file of that folder"),
        ("utils", "utils/index.ts", "the index file of that folder"),
    ],
)
def test_words_stand_on_the_other_side_of_a_slash(asked, there, reason):
    others = ("server.py", "ftp/server.py", "http/client.py", "user/views.py", "x/index.ts")
    first = candidates(asked, [*others, there])[0]
    assert (first.path, first.reason) == (there, reason)


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ("httpServer.py", "ftp/server.py"),
        ("ahttpServer.py", "http/server.py"),
        ("http/__init__.ts", "http/index.ts"),
    ],
)
def test_half_a_name_is_not_the_folder(asked, there):
    assert not any(each.reason == SLASH for each in candidates(asked, [there]))


def test_a_name_that_ends_as_very_many_do_is_found_in_its_folder():
    crowd = [f"pkg{number}/src/server.py" for number in range(3_000)]
    for there in ("http/server.py", "http/server/__init__.py"):
        assert candidates("httpServer.py", [*crowd, there])[0].path == there


@given(
    st.sampled_from(["loadUser", "savePage", "findUser"]),
    st.integers(0, 7),
    st.sampled_from("xyzuse"),
    st.sampled_from(["more", "less", "other", "swapped"]),
)
def test_a_name_a_slip_away_is_offered(name, at, letter, how):
    slipped = {
        "more": name[:at] + letter + name[at:],
        "less": name[:at] + name[at + 1 :],
        "other": name[:at] + letter + name[at + 1 :],
        "swapped": name[:at] + name[at : at + 2][::-1] + name[at + 2 :],
    }[how]
    tree = [f"src/{each.lower()}/{each}.ts" for each in ("loadUser", "savePage", "findUser")]
    found = candidates(f"{slipped}.ts", tree)
    assert f"src/{name.lower()}/{name}.ts" in [each.path for each in found]


def test_a_longer_name_is_offered():
    assert candidates("handlers.go", ["cli/hooks_handlers_all.go", "cli/x.go"])[0].path == (
        "cli/hooks_handlers_all.go"
    )


def test_a_line_end_in_a_name_moves_no_other_name():
    assert candidates("c.py", ["a\nb.py", "x/c.py"])[0].path == "x/c.py"


@pytest.mark.parametrize(
    "written",
    [
        "./src/core/paths.py",
        "src\\core\\paths.py",
        "/src//core/paths.py",
        "C:\\src\\core\\paths.py",
        "'src/core/paths.py'",
        "`src/core/paths.py:12`",
        "src/core/paths.py:3:14",
        "src/core/paths.py#L3-L9",
        "file:///src/core/paths.py",
        "src/b/../core/paths.py",
        "~/src/core/paths.py",
        "src/core/paths.py\n",
    ],
)
def test_a_guess_is_read_generously(written):
    assert candidates(written, TREE)[0] == Candidate("src/core/paths.py", 1.0, "the path itself")


def test_a_module_is_asked_for_by_its_dotted_name():
    assert candidates("src.core.paths", TREE)[0].path == "src/core/paths.py"


def test_what_git_renamed_comes_first():
    [first, *_] = candidates("src/api/users.ts", TREE, renamed={"src/api/users.ts": "README.md"})
    assert first == Candidate("README.md", 0.995, "renamed from src/api/users.ts by git")


def test_of_two_alike_the_one_that_was_read_comes_first():
    tree = ("a/x.py", "b/x.py")
    assert [one.path for one in candidates("c/x.py", tree)] == ["a/x.py", "b/x.py"]
    [first, _] = candidates("c/x.py", tree, seen={"b/x.py"})
    assert first.path == "b/x.py"
    assert first.reason.endswith("this session read it")


def test_nothing_alike_is_nothing_said():
    assert candidates("zebra/quagga.rs", TREE) == []
    assert candidates("", TREE) == []
    assert candidates("src/core/paths.py", ()) == []


def test_no_more_is_said_than_asked_for():
    tree = [f"f{n}/x.py" for n in range(30)]
    assert len(candidates("x.py", tree)) == 5
    assert len(candidates("x.py", tree, limit=2)) == 2


@given(st.text(), st.lists(st.text(), max_size=6, unique=True))
def test_any_guess_at_any_tree_is_answered(asked, paths):
    found = Guesser(paths).candidates(asked)
    assert {one.path for one in found} <= set(paths)
    assert all(0 < one.score <= 1 and one.reason for one in found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


@given(st.sampled_from(SAMPLE))
def test_a_path_that_is_there_is_its_own_best_guess(path):
    assert GUESSER.candidates(path)[0] == Candidate(path, 1.0, "the path itself")


@given(st.randoms(use_true_random=False))
def test_the_order_of_the_list_does_not_matter(shuffling: random.Random):
    shuffled = list(TREE)
    shuffling.shuffle(shuffled)
    assert candidates("src/api/user.py", shuffled) == candidates("src/api/user.py", TREE)


GUESSER = Guesser(SAMPLE)


@pytest.mark.parametrize("kind", MISTAKES)
def test_real_names_are_found_again_after_each_mistake(kind):
    """In 85 of 100 the right one is first, in 95 among the first five, as in bench/guesses.py."""
    counted: Counter[str] = Counter()
    guesses = made(SAMPLE, kind, 40)
    for asked, right in guesses:
        renamed = {asked: right} if kind == "renamed" else {}
        found = [one.path for one in GUESSER.candidates(asked, renamed=renamed)]
        counted["first"] += found[:1] == [right]
        counted["five"] += right in found
    assert len(guesses) >= 30
    assert counted["first"] >= 0.85 * len(guesses), counted
    assert counted["five"] >= 0.95 * len(guesses), counted


@pytest.fixture(scope="module")
def crowded() -> Guesser:
    crowd = [f"packages/p{n % 100}/mod{n // 100}/index.ts" for n in range(10_000)]
    alike = [f"packages/p{n % 100}/{'ab' * 30}{n}.ts" for n in range(10_000)]
    return Guesser(crowd + alike)


@pytest.mark.wide
@pytest.mark.parametrize(
    "asked",
    [
        "index.ts",
        "packages/p7/mod9/index.tsx",
        "ab" * 30 + "7x7.ts",
        "ab" * 5_000,
        "a/" * 5_000 + "index.ts",
        "a\n" * 5_000,
        "\N{GRINNING FACE}" * 10_000,
        "." * 10_000,
        "_-" * 5_000,
        "a.b" * 3_333,
    ],
    ids=lambda asked: asked[:8].encode("unicode_escape").decode(),
)
def test_any_guess_is_answered(crowded, asked):
    """What compared it with all there is, letter by letter, would take minutes."""
    assert len(crowded.candidates(asked)) <= 5


def test_in_a_crowd_the_folders_decide(crowded):
    assert crowded.candidates("src/p7/mod9/index.tsx")[0].path == "packages/p7/mod9/index.ts"


@pytest.mark.parametrize(
    ("asked", "paths"),
    [
        ("nope.py", ["py.typed", "src/py/a.md"]),
        ("nope.Ts", ["ts.config"]),
        ("app.main.py", ["py.typed"]),
    ],
)
def test_an_ending_is_no_name(asked, paths):
    assert candidates(asked, paths) == []


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("app.main.py", "app/main.py"),
        ("app.main", "app/main.py"),
        ("shop.io.load", "shop/io/load.py"),
    ],
)
def test_dots_may_stand_for_slashes(asked, meant):
    assert candidates(asked, ["app/main.py", "shop/io/load.py", "other.py"])[0].path == meant
