"""Work that is not the agent's stands, whoever did it and whether git knows of it or not.

Threads: github/copilot-cli#1675 (`git clean` took a gigabyte), cline/cline#14367 (so did a restore
whose first file was .gitignore), anthropics/claude-code#28078 (another session's work undone),
anomalyco/opencode#3148 (siblings in a monorepo) and #49732 (a restore over all of the tree),
anthropics/claude-code#93045 and entireio/cli#1408 (deletions), openai/codex#19943 (line ends).
"""

from __future__ import annotations

import os


def picture(folder):
    """Every file below a folder with its bytes, its rights and its time."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {
        file: (file.read_bytes(), file.stat().st_mode, file.stat().st_mtime_ns) for file in files
    }


def test_untracked_and_ignored_data_is_kept_copilot_cli_1675(repository, agent):
    repository.put(".gitignore", "results/\n")
    then = repository.checkpoint()
    agent.edit("a.py", "two", "2")
    repository.put("data/big.bin", os.urandom(1 << 16))
    repository.put("results/run-1.csv", "1\n")
    repository.put("notes.txt", "the user's\n")
    before = [picture(repository.root / each) for each in ("data", "results")]
    told = repository.rewind(then)
    assert (told["restored"], told["removed"]) == (["a.py"], [])
    assert [picture(repository.root / each) for each in ("data", "results")] == before
    assert repository.text("notes.txt") == "the user's\n"


def test_what_stood_there_before_and_was_ignored_is_kept_copilot_cli_1675(repository, agent):
    repository.put(".gitignore", "results/\n")
    repository.put("results/run-1.csv", "1\n")
    then = repository.checkpoint()
    agent.edit("a.py", "two", "2")
    repository.put("results/run-1.csv", "2\n")
    repository.rewind(then)
    assert repository.text("results/run-1.csv") == "2\n"


def test_a_gitignore_that_goes_back_takes_nothing_with_it_cline_14367(repository, agent):
    repository.put(".gitignore", "*.log\n")
    agent.read(".gitignore")
    then = repository.checkpoint()
    agent.edit(".gitignore", "*.log\n", "*.log\nprivate/\n")
    agent.edit("a.py", "two", "2")
    repository.put("private/keys", "the user's\n")
    repository.put("run.log", "the user's\n")
    told = repository.rewind(then)
    assert repository.text(".gitignore") == "*.log\n"
    assert repository.text("private/keys") == repository.text("run.log") == "the user's\n"
    assert told["removed"] == []


def test_a_gitignore_that_the_agent_made_takes_nothing_with_it_cline_14367(repository, agent):
    then = repository.checkpoint()
    agent.create(".gitignore", "private/\n")
    repository.put("private/keys", "the user's\n")
    assert repository.rewind(then)["removed"] == [".gitignore"]
    assert repository.text("private/keys") == "the user's\n"


def test_another_sessions_work_is_kept_claude_code_28078(repository, agent):
    other = repository.session("other")
    then = repository.checkpoint()
    agent.edit("a.py", "one", "1")
    other.read("a.py")
    other.edit("a.py", "three", "3")
    other.create("two.py", "two's\n")
    other.read("b.py")
    other.delete("b.py")
    told = repository.rewind(then)
    assert repository.text("a.py") == "one\ntwo\n3\n"
    assert repository.text("two.py") == "two's\n"
    assert not (repository.root / "b.py").exists()
    assert (told["merged"], told["restored"], told["removed"]) == (["a.py"], [], [])


def test_a_session_without_changes_of_its_own_changes_nothing_claude_code_28078(repository, agent):
    idle = repository.session("idle")
    then = repository.user("checkpoint", "--json", session="idle").json["checkpoint"]["id"]
    agent.edit("a.py", "two", "2")
    agent.create("c.py", "c\n")
    said = repository.user("rewind", then, "--yes", session="idle").out
    assert "There is nothing to take back" in said
    assert (repository.text("a.py"), repository.text("c.py")) == ("one\n2\nthree\n", "c\n")
    assert idle.id == "idle"


def test_another_sessions_checkpoint_is_refused_in_words(repository, agent):
    repository.session("other")
    then = repository.user("checkpoint", "--json", session="other").json["checkpoint"]["id"]
    agent.edit("a.py", "two", "2")
    refused = repository.user("rewind", then, "--yes", code=1)
    assert "A rewind takes back the work of that session only" in refused.err
    assert repository.text("a.py") == "one\n2\nthree\n"


def test_the_siblings_in_a_monorepo_are_not_reverted_opencode_3148(repository, agent):
    repository.put("web/w.ts", "w\n")
    then = repository.checkpoint()
    agent.edit("a.py", "two", "2")
    repository.put("web/w.ts", "the user's later work\n")
    told = repository.rewind(then)
    assert repository.text("web/w.ts") == "the user's later work\n"
    assert told["restored"] == ["a.py"]


def test_a_users_edit_on_top_is_not_overwritten_opencode_49732(repository, agent):
    then = repository.checkpoint()
    agent.edit("a.py", "two", "2")
    repository.put("a.py", "one\n2\nthree\nthe user's\n")
    repository.rewind(then)
    assert repository.text("a.py") == "one\ntwo\nthree\nthe user's\n"


def test_a_line_that_a_user_wrote_over_is_the_users_opencode_49732(repository, agent):
    then = repository.checkpoint()
    agent.write("a.py", "alpha\nbeta\ngamma\n")
    repository.put("a.py", "alpha\nbeta, says the user\ngamma\n")
    assert repository.rewind(then)["merged"] == ["a.py"]
    assert repository.text("a.py") == "one\nbeta, says the user\nthree\n"


def test_lines_that_cannot_be_told_apart_are_left_alone_and_said_opencode_49732(repository, agent):
    then = repository.checkpoint()
    agent.edit("a.py", "two\nthree\n", "2\n3\n4\n5\n")
    repository.put("a.py", "one\n2\n3, says the user\n4\n5\n")
    said = repository.user("rewind", then, "--yes", code=1).out
    assert repository.text("a.py") == "one\n2\n3, says the user\n4\n5\n"
    assert "a.py: this session's changes and later ones by the user" in said
    assert "overlap in line 3" in said


def test_deletions_are_undone_and_done_again_claude_code_93045(repository, agent):
    then = repository.checkpoint()
    with agent.ran("rm -r ."):
        (repository.root / "a.py").unlink()
        (repository.root / "b.py").unlink()
    told = repository.rewind(then)
    assert repository.text("a.py") == "one\ntwo\nthree\n"
    assert repository.text("b.py") == "b, staged and more\n"
    assert told["restored"] == ["a.py", "b.py"]
    repository.rewind(told["safety_checkpoint"])  # entireio/cli#1408
    assert not (repository.root / "a.py").exists()
    assert not (repository.root / "b.py").exists()


def test_what_stands_where_the_agent_deleted_is_left_alone_claude_code_93045(repository, agent):
    then = repository.checkpoint()
    agent.delete("a.py")
    repository.put("a.py", "the user's\n")
    said = repository.user("rewind", then, "--yes", code=1).out
    assert "a.py: another file stands there now" in said
    assert repository.text("a.py") == "the user's\n"


def test_one_path_that_cannot_be_read_does_not_end_the_rest_gemini_cli_rewind(repository, agent):
    then = repository.checkpoint()
    agent.edit("a.py", "two", "2")
    agent.edit("b.py", "more", "less")
    (repository.root / "a.py").unlink()
    (repository.root / "a.py").symlink_to("a.py")  # a loop
    told = repository.rewind(then, code=1)
    assert repository.text("b.py") == "b, staged and more\n"
    assert [each["path"] for each in told["left_alone"]] == ["a.py"]


def test_a_rewrite_with_the_systems_line_ends_is_taken_back_whole_codex_19943(repository, agent):
    repository.put("w.txt", "one\r\ntwo\r\nthree\r\n")
    then = repository.checkpoint()
    with agent.ran("dos2unix w.txt"):
        repository.put("w.txt", "one\ntwo\nthree\n")
    repository.rewind(then)
    assert repository.text("w.txt") == "one\r\ntwo\r\nthree\r\n"
