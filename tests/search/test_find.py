"""Chains over real files: who wins, what is said where nothing matches."""

from __future__ import annotations

import os
import subprocess

import pytest

from sightline.errors import PathRefused
from sightline.search.cache import shelf_of
from sightline.search.chains import Request
from sightline.search.find import find, find_each
from sightline.search.words import FOLDER, HIDDEN, LINKED


@pytest.fixture
def ground(place):
    """A session's ground over a small tree."""
    for name in ("src/app.py", "src/utils/names.py", "lib/app.py", "docs/a b.md", "app/[id]/p.tsx"):
        place.put(name, "x\n")
    return place.session()._context


def test_the_first_pattern_that_matches_wins(ground):
    told: list[tuple[int, int, str]] = []
    chain = ["source/app.py", "src/app.py", "**/app.py"]
    result = find(ground, chain, progress=lambda *each: told.append(each))
    assert (result.matches, result.pattern, result.tried) == (("src/app.py",), "src/app.py", 2)
    assert (result.fallback, result.candidates, result.total) == (None, (), 1)
    assert told == [(1, 3, "source/app.py"), (2, 3, "src/app.py")]


def test_the_broad_one_is_used_when_the_exact_one_is_not_there(ground):
    result = find(ground, ["server/app.py", "**/app.py"], limit=1)
    assert result.matches == ("lib/app.py",)
    assert (result.pattern, result.truncated, result.total) == ("**/app.py", True, 2)


def test_names_with_anything_in_them(ground, place):
    for name in ("new\nline.py", "😀 x.md", "[a].py"):
        place.put(name, "")
        assert find(ground, name).matches == (name,)
    assert find(ground, "app/[id]/p.tsx").matches == ("app/[id]/p.tsx",)


def test_a_file_added_a_moment_ago_is_found(ground, place):
    assert find(ground, "fresh.py").matches == ()
    place.put("fresh.py", "")
    assert find(ground, "fresh.py").matches == ("fresh.py",)
    (place.root / "fresh.py").unlink()
    assert find(ground, "fresh.py").matches == ()


def test_the_list_is_made_ready_once(ground):
    first = shelf_of(ground.workspace)
    assert shelf_of(ground.workspace) is first


def test_a_file_that_comes_is_guessed_and_git_is_not_asked_again(ground, place):
    first = shelf_of(ground.workspace)
    assert find(ground, "src/utils/name.py").candidates
    place.put("src/utils/named.py", "")
    later = shelf_of(ground.workspace)
    assert later is not first
    assert find(ground, "src/utils/naned.py").candidates[0].path == "src/utils/named.py"
    assert later.history is first.history is not None


def test_an_absolute_path_of_this_workspace(ground):
    assert find(ground, os.path.join(ground.workspace.root, "src/app.py")).matches == (
        "src/app.py",
    )


def test_an_absolute_path_of_another_machine_goes_on_to_the_next_pattern(ground):
    elsewhere = "/home/ada/project/src/utils/names.py"
    assert find(ground, [elsewhere, "**/names.py"]).tried == 2
    result = find(ground, elsewhere)
    assert result.matches == ()
    assert result.candidates[0].path == "src/utils/names.py"


@pytest.mark.parametrize("text", ["../x", "a/../../x", "src\\..\\..\\x"])
def test_a_way_out_is_refused(ground, text):
    with pytest.raises(PathRefused) as refused:
        find(ground, ["src/app.py", text])
    assert refused.value.reason == "outside"


@pytest.mark.parametrize(
    ("patterns", "more"),
    [
        ([], {}),
        (["a"] * 6, {}),
        ("", {}),
        ("a", {"fallback": "no"}),
    ],
)
def test_what_is_no_chain(ground, patterns, more):
    with pytest.raises(ValueError, match=r"\."):
        find(ground, patterns, **more)


def test_skipping_says_what_may_have_been_meant(ground):
    result = find(ground, "src/utils/name.py")
    assert (result.fallback, result.tried, result.question) == ("skip", 1, "")
    assert result.candidates[0].path == "src/utils/names.py"
    assert result.candidates[0].reason


def test_a_glob_that_matches_nothing_is_guessed_about_too(ground):
    result = find(ground, "source/**/names?*.{pyi,ts}")
    assert result.candidates[0].path == "src/utils/names.py"


def test_what_is_required_is_asked_about_rather_than_skipped(ground):
    result = find(ground, "src/utils/name.py", required=True, name="the names", reason="a rename")
    assert result.fallback == "ask_user"
    assert result.question.startswith("Which file is the names? It is needed for: a rename.")


def test_creating_is_a_plan_and_nothing_is_done(ground, place):
    result = find(ground, ["src/new/thing.py", "**/thing.py"], fallback="create_new")
    assert (result.fallback, result.create) == ("create_new", "src/new/thing.py")
    assert not (place.root / "src/new").exists()


@pytest.mark.parametrize("text", ["**/thing*.py", ".git/config", "src", "src/app.py/x", "x" * 300])
def test_what_cannot_be_created_is_asked_about(ground, text):
    result = find(ground, text, fallback="create_new")
    assert (result.fallback, result.create) == ("ask_user", None)
    assert result.question


def test_a_file_that_is_only_hidden_is_told_and_not_created(ground, place):
    place.put(".gitignore", "out/\n")
    place.put("out/x.js", "")
    result = find(ground, "out/x.js", fallback="create_new")
    assert (result.matches, result.create, result.fallback) == ((), None, "ask_user")
    assert (result.candidates[0].path, result.candidates[0].reason) == ("out/x.js", HIDDEN)


def test_a_folder_is_told(ground):
    assert find(ground, "src/utils").candidates[0].reason == FOLDER


def test_what_a_session_may_not_touch_is_not_told(ground, place):
    place.put(".sightlineignore", "secret.txt\n")
    place.put("secret.txt", "")
    result = find(ground, "secret.txt", fallback="create_new")
    assert (result.matches, result.candidates, result.create) == ((), (), None)


def test_time_that_ran_out_is_told(ground):
    result = find(ground, ["a.py", "**/app.py"], deadline_s=-1, fallback="create_new")
    assert (result.matches, result.tried, result.timed_out) == ((), 1, True)
    assert (result.create, result.fallback) == (None, "ask_user")
    assert "before 1 more pattern could be tried" in result.question


def test_a_pattern_that_takes_too_long_is_stopped(place):
    for number in range(200):
        place.put(f"{number}{'a' * 200}", "")
    result = find(place.session()._context, "**/*" + "a?" * 50 + "b*", deadline_s=-1)
    assert (result.tried, result.timed_out, result.fallback) == (0, True, "skip")


def test_what_git_renamed_is_told(place):
    place.put("old_name.py", "".join(f"line {n}\n" for n in range(20)))
    run = ["git", "-C", str(place.root), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["commit", "-qm", "1"],
        ["mv", "old_name.py", "quite_other.py"],
        ["commit", "-qm", "2"],
    ):
        subprocess.run([*run, *command], check=True, capture_output=True)
    best = find(place.session()._context, "old_name.py").candidates[0]
    assert best.path == "quite_other.py"
    assert "renamed" in best.reason


def test_named_requests_are_answered_in_order(ground):
    asked = [Request(("src/app.py",), "the app"), Request(("no", "nil"))]
    first, second = find_each(ground, asked)
    assert (first.matches, first.request.name) == (("src/app.py",), "the app")
    assert second.request == Request(("no", "nil"))
    assert second.fallback == "skip"


@pytest.mark.skipif(os.name == "nt", reason="symlinks need rights there")
def test_a_path_through_a_symlink_is_told_as_the_file_that_it_leads_to(ground, place):
    (place.root / "way").symlink_to("src")
    (place.root / "circle").symlink_to("circle")
    best = find(ground, "way/app.py").candidates[0]
    assert (best.path, best.reason) == ("src/app.py", LINKED)
    assert find(ground, "circle").candidates == ()


def test_a_session_takes_the_requests_of_a_structured_answer_and_tells_its_progress(place, s):
    place.put("src/shop/cart.py", "x\n")
    told = []
    first, second = s.find_each(
        {
            "requests": [
                {"name": "cart", "reason": "to edit it", "patterns": ["cart.ts", "**/cart.py"]},
                {"pattern": "none.py", "required": True},
            ]
        },
        progress=lambda number, of, pattern: told.append((number, of, pattern)),
    )
    assert (first.request.name, first.request.reason) == ("cart", "to edit it")
    assert first.matches == ("src/shop/cart.py",)
    assert (second.matches, second.request.fallback) == ((), "ask_user")
    assert told == [(1, 2, "cart.ts"), (2, 2, "**/cart.py"), (1, 1, "none.py")]
    assert s.find("cart.py", name="cart", reason="why not").request.reason == "why not"
