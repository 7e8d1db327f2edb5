"""The answers of git, by git itself as the oracle."""

import os
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sightline.errors import Unverifiable
from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.ignore.gitignore import PATTERN_MAX, PatternSet, lines_of
from sightline.filesystem.ignore.rules import (
    BYTES_MAX,
    CHARACTERS_MAX,
    WILDCARDS_MAX,
    IgnoreRules,
    bounded,
)

ENVIRONMENT = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
PARTS = ["a", "b", "ab", "a.c", "b.a.c", ".a", "a b", "é", "a!", "#a", "a ", "[a]"]
PIECES = ["a", "b", ".c", "*", "**", "?", "/", "**/", "/**", "[ab]", "[!a]", "[^b-d]", "\\", "!"]
PIECES += [" ", "é", "#", "[", "]", "[]a]", "[[:alpha:]]", "[a-", "-", "***", "[[:nope:]]", "\\ "]
PIECES += ["*.", "[a.]", "\\#"]

patterns = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join)
ignore_files = st.lists(patterns, max_size=5).map("\n".join)
paths = st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map("/".join)


def git(root, *arguments, check=False, **options):
    return subprocess.run(
        ["git", "-C", str(root), *arguments],
        check=check,
        env=ENVIRONMENT,
        capture_output=True,
        **options,
    ).stdout


@pytest.fixture(scope="session")
def repository(tmp_path_factory):
    root = tmp_path_factory.mktemp("repository")
    git(root, "init", "-q", check=True)
    return root


def git_ignores(repository, files):
    asked = b"\0".join(os.fsencode(file) for file in files)
    answer = git(repository, "check-ignore", "--no-index", "-z", "--stdin", input=asked)
    return {os.fsdecode(name) for name in answer.split(b"\0") if name}


@pytest.mark.wide
@given(ignore=ignore_files, names=st.lists(paths, min_size=1, max_size=12, unique=True))
@example(ignore="a**/b", names=["ab/b", "a/b", "axx/yy/b"])
@example(ignore="*.c\n!a.c", names=["a.c", "b.a.c"])
@example(ignore="a/\n!a/b", names=["a/b"])
@example(ignore="a\\ \na ", names=["a ", "a"])
@example(ignore="?", names=["é", "a"])
@example(ignore="??", names=["é", "ab"])
@example(ignore="\\!a\n\\#a\n!#a", names=["#a", "a!"])
@example(ignore="/a\n/b/*\n!/b/a", names=["a/b", "b/a", "b/b", "ab/a"])
@example(ignore="a\r\n*.c\r", names=["a", "a.c"])
def test_a_pattern_set_matches_what_git_ignores(repository, ignore, names):
    (repository / ".gitignore").write_bytes(ignore.encode())
    patterns = PatternSet(lines_of(ignore.encode()))
    ours = {name for name in names if patterns.matches(name)}
    assert ours == git_ignores(repository, names)


@given(ignore=ignore_files, folder=st.sampled_from(["", "a/", "a/b/", "ab/a.c/b/"]))
@example(ignore="/*\n**/*.c", folder="")
@example(ignore="a/[ab].*", folder="a/")
def test_who_is_not_concerned_is_not_matched(ignore, folder):
    names = [*PARTS, "[b].c", "aab.c", "-", "é.a"]
    patterns = PatternSet(lines_of(ignore.encode()))
    concerned = set(patterns.concerned(folder, names))
    told = {name for name in names if patterns.verdict(folder + name, folder=False) is not None}
    assert told <= concerned <= set(names)


def test_few_are_concerned_by_common_patterns():
    """Else the whole of a tree would be asked about file by file."""
    lines = [
        "*.py[co]",
        "*~",
        "/build/*",
        "**/*.log",
        "[Dd]ebug/",
        "\\#*\\#",
        "docs/**/*.md",
        ".*.sw?",
    ]
    names = ["a.py", "b.log", "c.md", "d.txt", "Debug", "x.sass"]
    assert PatternSet(lines).concerned("src/", names) == ["b.log"]


def test_no_pattern_is_read_behind_one_wildcard_too_many():
    lines = iter(["a*b"] * 10)
    assert PatternSet(lines, 4).wildcards == 5
    assert len(list(lines)) == 5


def test_more_wildcards_than_can_be_compared_are_refused(tmp_path):
    (tmp_path / "a1").touch()
    ignore = tmp_path / ".sightlineignore"
    ignore.write_text("".join([f"a[0-9]{number}*\n" for number in range(WILDCARDS_MAX)]))
    assert DiskWorkspace(str(tmp_path), f"{tmp_path}-state").paths() == (".sightlineignore", "a1")
    with ignore.open("a") as file:
        file.write("b*c\n")
    with pytest.raises(
        Unverifiable, match=f"has more than {WILDCARDS_MAX:,} patterns with wildcards"
    ):
        DiskWorkspace(str(tmp_path), f"{tmp_path}-state").paths()


@pytest.mark.parametrize("unit", ["[a-z]*", "[a]", "*a", "[", "**/", "\\a[b]"])
def test_wildcards_that_take_long_to_read_are_refused_at_once(unit):
    most = PATTERN_MAX // len(unit)
    lines = iter(["*.log", *[unit * most] * (CHARACTERS_MAX // most + 9), "never read"])
    with pytest.raises(Unverifiable, match=f"of more than {CHARACTERS_MAX:,} characters"):
        bounded(".gitignore", lines)
    assert len(list(lines)) > 1


def test_an_ignore_file_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("sightline.filesystem.ignore.rules.BYTES_MAX", 1_000)
    (tmp_path / ".sightlineignore").write_text("x" * 1_001)
    with pytest.raises(Unverifiable, match="too large"):
        DiskWorkspace(str(tmp_path), f"{tmp_path}-state").paths()


@pytest.mark.parametrize("unit", ["[a-z]*", "[a]", "*a", "[", "**/", "\\a[b]", "a/", "?", "a"])
@pytest.mark.parametrize("name", [".gitignore", ".git/info/exclude"])
def test_one_pattern_of_a_million_characters_is_left_out_and_named(tmp_path, unit, name):
    (tmp_path / ".git/info").mkdir(parents=True)
    (tmp_path / name).write_text(f"*.log\n{unit * (1_000_000 // len(unit))}\n!b.log\n")
    for file in ("a.log", "b.log", "c.py"):
        (tmp_path / file).touch()
    workspace = DiskWorkspace(str(tmp_path), f"{tmp_path}-state")
    assert [path for path in workspace.paths() if path[0] != "."] == ["b.log", "c.py"]
    [told] = workspace.left_out()
    assert f"{name} has a pattern of more than {PATTERN_MAX:,} characters" in told


def test_what_a_gitignore_has_past_the_limits_is_left_out_and_named(tmp_path):
    for file in ("a.log", "b.log"):
        (tmp_path / file).touch()
    for rest in ("a*b[c]\n" * (WILDCARDS_MAX + 1), "x" * BYTES_MAX):
        (tmp_path / ".gitignore").write_text(f"a.log\n{rest}\nb.log\n")
        workspace = DiskWorkspace(str(tmp_path), f"{tmp_path}-state")
        assert workspace.paths() == (".gitignore", "b.log")
        [told] = workspace.left_out()
        assert "the rest of it is left out" in told


def test_a_gitignore_that_is_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / ".gitignore")
    os.mkfifo(tmp_path / ".sightlineignore")
    (tmp_path / "a.py").touch()
    workspace = DiskWorkspace(str(tmp_path), f"{tmp_path}-state")
    assert "a.py" in workspace.paths()
    assert workspace.locate("a.py").path == "a.py"


def files_below(parts):
    """Of any paths, those that can exist together: no file is a folder of another."""
    kept: list[str] = []
    for path in sorted(set(parts)):
        if not any(path.startswith(f"{file}/") for file in kept):
            kept.append(path)
    return kept


@pytest.mark.wide
@given(
    tree=st.lists(paths, min_size=1, max_size=15).map(files_below),
    ignores=st.dictionaries(st.sampled_from(["", "a", "b", "a/b", "ab"]), ignore_files, max_size=3),
    exclude=ignore_files,
)
def test_walk_lists_the_files_that_git_lists(tmp_path_factory, tree, ignores, exclude):
    root = tmp_path_factory.mktemp("tree")
    git(root, "init", "-q", check=True)
    (root / ".git/info/exclude").write_bytes(exclude.encode())
    for path in tree:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(b"")
    for folder, ignore in ignores.items():
        if (root / folder).is_dir():
            (root / folder / ".gitignore").write_bytes(ignore.encode())
    listed = git(root, "ls-files", "-o", "--exclude-standard", "-z", check=True)
    expected = sorted(os.fsdecode(name) for name in listed.split(b"\0") if name)
    workspace = DiskWorkspace(str(root), str(root / "state"))
    assert [path for path, _ in workspace.walk()] == expected
    assert [path for path in expected if not workspace.listed(path)] == []


def test_this_very_tree_is_listed_as_git_lists_it(tmp_path):
    top = git(os.path.dirname(__file__), "rev-parse", "--show-toplevel").decode().rstrip("\n")
    if not top:
        pytest.skip("the tests do not lie in a git tree")
    listed = git(top, "ls-files", "-co", "--exclude-standard", "-z").split(b"\0")
    expected = {os.fsdecode(name) for name in listed if name}
    ours = {path for path, _ in DiskWorkspace(top, str(tmp_path)).walk()}
    assert {path for path in expected if os.path.isfile(f"{top}/{path}")} == ours


def test_a_part_of_a_repository_follows_all_of_it(repository):
    (repository / ".gitignore").write_text("node_modules/\n/part/out\n/part/kept\n")
    part = repository / "part"
    for path in ("node_modules/x", "out/x", "src/x", "kept/x"):
        (part / path).parent.mkdir(parents=True, exist_ok=True)
        (part / path).write_text("")
    (part / ".gitignore").write_text("!/kept\n")
    workspace = DiskWorkspace(str(part), str(repository / "state"))
    assert [path for path, _ in workspace.walk()] == [".gitignore", "kept/x", "src/x"]


def test_walk_leaves_out_links_pipes_nested_repositories_and_our_own_asides(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real/file").write_text("")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "link.txt").symlink_to("real/file")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "nested/.git").mkdir(parents=True)
    (tmp_path / "nested/file").write_text("")
    (tmp_path / ".sightline-0-1.new").write_text("")
    workspace = DiskWorkspace(str(tmp_path), str(tmp_path / "state"))
    assert [path for path, _ in workspace.walk()] == ["real/file"]


def test_an_ignore_file_is_read_again_when_it_changes(tmp_path):
    workspace = DiskWorkspace(str(tmp_path), str(tmp_path / "state"))
    ignore = tmp_path / ".sightlineignore"
    ignore.write_text("a\n")
    assert not workspace.listed("a")
    ignore.write_text("b\n")
    os.utime(ignore, ns=(1, 1))
    assert workspace.listed("a")
    assert not workspace.listed("b")


def test_a_worktree_follows_the_exclude_file_of_its_repository(repository, tmp_path):
    git(
        repository, "-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m", "--allow-empty"
    )
    git(repository, "worktree", "add", "-q", "--detach", str(tmp_path / "tree"), check=True)
    (repository / ".git/info").mkdir(exist_ok=True)
    (repository / ".git/info/exclude").write_text("hidden\n")
    workspace = DiskWorkspace(str(tmp_path / "tree"), str(tmp_path / "state"))
    assert not workspace.listed("hidden")
    assert workspace.listed("seen")
    (repository / ".git/info/exclude").write_text("")


@pytest.mark.parametrize(
    "pattern",
    [
        "*a" * 30 + "b",
        "**/" * 30 + "x",
        "**/a*" * 20 + "/b",
        "**/a*b*/" * 15 + "z",
        "*?" * 25 + "x",
        "*[ab]" * 25 + "x",
        "**/[ab]*" * 25 + "/[cd]x",
    ],
)
def test_no_pattern_makes_matching_slow(pattern: str) -> None:
    """Backtracking over that many stars would not end in this universe's time."""
    assert not PatternSet([pattern]).matches("a" * 200 + "/" + "aab/" * 60 + "a" * 100)


@pytest.mark.parametrize(
    ("pattern", "path", "matched"),
    [
        ("**/.git/**", ".git/config", True),
        ("**/.git/**", "a/.git/config", True),
        ("**/.git/**", "a/git/config", False),
        ("id_rsa*", "id_rsa", True),
        ("a/**/b", "a/b", True),
        ("a?c*d", "abcxd", True),
        (r"\*x*", "*xy", True),
        ("[ab]x*", "bxy", True),
        ("*", "anything", True),
    ],
)
def test_what_a_pattern_needs_in_a_path_rules_out_nothing_it_matches(pattern, path, matched):
    assert PatternSet([pattern]).matches(path) is matched


@pytest.mark.parametrize("line", [b"?\xa9.txt", b"*\xa9?txt", b"**/*\xc3*", b"d?/*.t*\x83"])
def test_a_pattern_may_be_about_a_part_of_a_character(line, repository):
    names = ["é.txt", "e.txt", "dé/é.txt", "de/x.tÃ", "x.tÃ"]
    (repository / ".gitignore").write_bytes(line)
    asked = "\0".join(names).encode()
    told = git(repository, "check-ignore", "-z", "--stdin", "--no-index", input=asked)
    ignored = {name for name in names if PatternSet(lines_of(line)).matches(name)}
    assert ignored
    assert ignored == set(told.decode().split("\0")) - {""}


def test_an_ignore_file_that_went_after_it_was_seen_says_nothing(tmp_path, monkeypatch):
    file = tmp_path / ".gitignore"
    file.write_text("*.log\n")
    real = os.lstat

    def lstat(path):
        found = real(path)
        file.unlink()
        return found

    with monkeypatch.context() as patched:
        patched.setattr(os, "lstat", lstat)
        assert IgnoreRules(str(tmp_path), ".gitignore").chain() == ()
