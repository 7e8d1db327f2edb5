"""What git tells of a workspace is shown without what is refused, and counts as seen."""

from __future__ import annotations

import os
import subprocess

import pytest
from tests.briefing.mentions import lines, one, seen, told

from sightline.briefing.words import blocks


def git(place, *words):
    command = ["git", "-c", "init.defaultBranch=main", *words]
    done = subprocess.run(command, cwd=place.root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(place, s):
    git(place, "init", "--quiet")
    place.put("src/a.py", lines(1, 10))
    place.put("src/long.py", lines(1, 1_000))
    place.put(".sightlineignore", ".env\n")
    place.put(".env", "KEY=first\n")
    git(place, "add", "--all", "--force")
    git(place, "commit", "--quiet", "-m", "the beginning")
    return s


def test_changes_are_shown_without_what_is_refused(repository, place):
    place.put("src/a.py", lines(1, 10).replace("line 4\n", "line four\n"))
    place.put(".env", "KEY=secret\n")
    place.put("new.py", "new\n")
    found = told(repository, "review @git-changes")
    changes = found.found[0].changes
    assert {(each.letter, each.path) for each in changes.files} == {
        ("M", "src/a.py"),
        ("?", "new.py"),
    }
    assert changes.withheld == 1
    [block] = blocks(found)
    assert "+line four\n" in block
    assert "src/a.py: changed, +1 -1" in block
    assert "secret" not in block
    assert ".env" not in block


def test_lines_of_the_changes_count_as_seen(repository, place):
    place.put("src/a.py", lines(1, 10).replace("line 4\n", "line four\n"))
    one(repository, "@git-changes")
    assert seen(repository) == {"src/a.py": ("mention", ((1, 7),))}


def test_what_a_briefing_shows_of_the_changes_is_not_seen_before_it_arrived(repository, place):
    place.put("src/a.py", lines(1, 10).replace("line 4\n", "line four\n"))
    briefing = repository.briefing("review @git-changes")
    assert "+line four" in briefing.text
    assert seen(repository) == {}
    repository.acknowledge(briefing)
    assert seen(repository) == {"src/a.py": ("mention", ((1, 7),))}


def test_secrets_do_not_come_with_the_changes(repository, place):
    place.put("sub/.env", "KEY=first\n")
    git(place, "add", "--all", "--force")
    place.put("sub/.env", "KEY=secret\n")
    found = told(repository, "review @git-changes")
    assert found.found[0].changes.withheld == 1
    assert "KEY" not in blocks(found)[0]


def test_a_hard_link_to_a_secret_does_not_come_with_the_changes(repository, place):
    place.put("notes.txt", "KEY=first\n")
    git(place, "add", "--all", "--force")
    git(place, "commit", "--quiet", "-m", "notes")
    (place.root / "notes.txt").unlink()
    place.put("sub/.env", "KEY=secret\n")
    os.link(place.root / "sub/.env", place.root / "notes.txt")
    found = told(repository, "review @git-changes")
    assert [each.path for each in found.found[0].changes.files] == []
    assert found.found[0].changes.withheld == 2
    assert "KEY" not in blocks(found)[0]


def test_new_lines_are_counted_in_the_new_text(repository, place):
    text = place.text("src/long.py").split("\n")
    text[10:10] = ["new", "new"]
    del text[500:503]
    place.put("src/long.py", "\n".join(text))
    place.put("staged.py", "x\n")
    git(place, "add", "staged.py")
    one(repository, "@git-changes")
    assert seen(repository) == {
        "src/long.py": ("mention", ((8, 15), (498, 503))),
        "staged.py": ("mention", ((1, 1),)),
    }
    assert repository.check("src/long.py", old="new\nnew\n").decision == "allow"


def test_a_file_that_git_renamed_is_found_by_its_old_name(repository, place):
    git(place, "mv", "src/a.py", "src/quite_another.py")
    git(place, "commit", "--quiet", "-m", "renamed")
    [first, *_] = one(repository, "@src/a.py").candidates
    assert (first.path, first.reason) == ("src/quite_another.py", "renamed from src/a.py by git")


def test_a_commit_is_shown_with_its_message_and_patch(repository, place):
    place.put("src/a.py", "other\n")
    place.put(".env", "KEY=secret\n")
    git(place, "add", "--all", "--force")
    git(place, "commit", "--quiet", "-m", "another text\n\nwith a body")
    commit = git(place, "rev-parse", "HEAD")
    place.put("src/a.py", "changed since\n")
    found = told(repository, f"why @{commit[:9]}?")
    changes = found.found[0].changes
    assert changes.commit.id == commit
    assert (changes.commit.author, changes.commit.parents) == ("Ada <ada@example.org>", 1)
    assert changes.commit.message == "another text\n\nwith a body"
    assert "+other\n" in changes.patch
    assert "since" not in changes.patch
    assert "secret" not in blocks(found)[0]
    assert seen(repository) == {}  # it is not what stands there now


def test_the_patch_is_bounded(repository, place):
    place.put("src/long.py", lines(2_000, 9_000))
    found = told(repository, "@git-changes", limit_bytes=1_000)
    changes = found.found[0].changes
    assert changes.cut
    assert len(changes.patch) <= 1_000
    assert changes.patch.endswith("\n")
    assert "the patch goes on" in blocks(found)[0]


@pytest.mark.parametrize("text", ["@git-changes", "@a1b2c3d"])
def test_without_a_repository_there_are_neither(s, text):
    found = one(s, text)
    assert (found.state, found.why) == ("missing", "This workspace is not in a git repository.")


def test_a_commit_that_is_not_there_is_said(repository):
    assert "knows no commit abcdef1" in one(repository, "@abcdef1").why


def test_few_folders_and_commits_are_looked_into(repository, place):
    found = told(
        repository, " ".join(f"@{number:07x} @./{'x/../' * number}" for number in range(15))
    )
    states = [each.state for each in found.found]
    assert states == ["missing", "shown"] * 10 + ["left_out"] * 10
