"""A commit on a new branch, made without the index, the tree, HEAD, hooks or anybody's settings.

By `git fast-import`: one process for any number of files, and nothing of the commit is visible
before its branch is, which is made last and only where there is none of that name.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from subprocess import CompletedProcess

from msgspec import Struct

from sightline.filesystem.git.binary_patch import no_id, quoted
from sightline.filesystem.git.repository import OURS, Repository, program

Tracked = dict[str, tuple[int, str]]
"""Workspace path -> mode and object id in a commit."""

GITLINK = 0o160000
"""The mode of a submodule in a tree."""

MADE = b"refs/sightline/export"
"""The name under which git makes the commit; removed before git writes any name to disk."""

DEADLINE_S = 60.0
"""Seconds for a command of git that only looks something up."""

SETTINGS = ("-c", "core.ignorecase=false", "-c", "core.quotepath=false")


class GitRefused(Exception):
    """git could not do it. The message has git's own words, or why git could not be run."""


class Head(Struct, frozen=True):
    """The commit of a repository's tree (None: there is none yet), and the repository's hash."""

    commit: str | None
    algorithm: str


class Commit(Struct, frozen=True):
    """A commit to make. after: where the repository stands; author: "Name <mail>"; at_s: seconds
    since 1970; gone: paths that are not in it, of those there; puts: (path, mode, data)."""

    after: Head
    author: str
    at_s: int
    message: str
    gone: Iterable[str]
    puts: Iterable[tuple[str, int, bytes]]


def head(repository: Repository) -> Head:
    """Return the commit that a repository's tree stands at. GitRefused."""
    algorithm = _ask(repository, ["rev-parse", "--show-object-format"]).decode().strip()
    found = _run(repository, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
    return Head(found.stdout.decode().strip() or None, algorithm)


def tracked(repository: Repository, at: Head) -> Tracked:
    """Return the workspace's files in a commit. GitRefused."""
    found: Tracked = {}
    if at.commit is None:
        return found
    below = ["--", repository.prefix.rstrip("/")] if repository.prefix else []
    output = _ask(repository, ["ls-tree", "-r", "-z", "--full-tree", at.commit, *below])
    for entry in output.split(b"\0")[:-1]:
        about, _, name = entry.partition(b"\t")
        mode, _, blob = about.decode().split()
        path = os.fsdecode(name)
        if path.startswith(repository.prefix):
            found[path.removeprefix(repository.prefix)] = (int(mode, 8), blob)
    return found


def sparse_paths(repository: Repository) -> set[str]:
    """Return the workspace's files that git tracks and leaves out of the tree (a sparse checkout).
    GitRefused."""
    output = _ask(repository, ["ls-files", "-z", "-t", "--full-name"])
    names = [os.fsdecode(each[2:]) for each in output.split(b"\0") if each.startswith(b"S ")]
    prefix = repository.prefix
    return {each.removeprefix(prefix) for each in names if each.startswith(prefix)}


def is_branch_name(repository: Repository, name: str) -> bool:
    """Return whether git accepts this as the name of a branch, as it is written. GitRefused."""
    done = _run(repository, ["check-ref-format", "--branch", name])
    return done.returncode == 0 and done.stdout == os.fsencode(name) + b"\n"


def has_branch(repository: Repository, name: str) -> bool:
    """Return whether there is a branch of this name. GitRefused."""
    done = _run(repository, ["show-ref", "--verify", "--quiet", f"refs/heads/{name}"])
    return done.returncode == 0


def write(repository: Repository, made: Commit) -> str:
    """Write a commit without a name, and return its id. GitRefused."""
    words = ["fast-import", "--quiet", "--done", "--date-format=raw"]
    with subprocess.Popen(
        _words(repository, words),
        env=repository.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.stdin is not None
        try:
            for part in _stream(repository.prefix, made):
                child.stdin.write(part)
        except BrokenPipeError:  # it output why
            pass
        except BaseException:
            child.kill()
            with suppress(BrokenPipeError):  # git may have ended before it read the last part
                child.stdin.close()
            raise
        output, wrong = child.communicate()
    if child.returncode != 0:
        _forget_report(repository, child.pid)
        raise GitRefused(_first(wrong))
    return output.decode().strip()


def name(repository: Repository, branch: str, commit: str, author: str) -> None:
    """Create a branch at a commit; a branch of that name must not exist. GitRefused."""
    none = "0" * len(commit)
    who, _, mail = author.partition("<")
    log = {"GIT_COMMITTER_NAME": who.strip(), "GIT_COMMITTER_EMAIL": mail.rstrip(">")}
    done = _run(repository, ["update-ref", f"refs/heads/{branch}", commit, none], log)
    if done.returncode != 0:
        raise GitRefused(_first(done.stderr))


def _stream(prefix: str, made: Commit) -> Iterable[bytes]:
    author = f"{made.author} {made.at_s} +0000\n".encode()
    yield b"commit %s\nmark :1\nauthor %scommitter %s" % (MADE, author, author)
    yield _data(made.message.encode("utf-8", "replace"))
    if made.after.commit is not None:
        yield f"from {made.after.commit}\n".encode()
    for path in made.gone:
        yield b"D %s\n" % quoted(os.fsencode(prefix + path))
    for path, mode, data in made.puts:
        yield b"M %o inline %s\n" % (mode, quoted(os.fsencode(prefix + path)))
        yield _data(data)
    none = no_id(made.after.algorithm).encode()
    yield b"get-mark :1\nreset %s\nfrom %s\n\ndone\n" % (MADE, none)


def _data(data: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(data), data)


def _ask(repository: Repository, words: Sequence[str]) -> bytes:
    done = _run(repository, words)
    if done.returncode != 0:
        raise GitRefused(_first(done.stderr))
    return done.stdout


def _run(
    repository: Repository, words: Sequence[str], more: dict[str, str] | None = None
) -> CompletedProcess[bytes]:
    try:
        return subprocess.run(
            _words(repository, words),
            env={**repository.environment(), **(more or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=DEADLINE_S,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise GitRefused(str(error)) from error


def _words(repository: Repository, words: Sequence[str]) -> list[str]:
    there = program()
    if there is None:
        raise GitRefused("git is not installed, or not on PATH")
    if not repository.is_owned():
        raise GitRefused("the repository belongs to another user of this machine")
    return [there, "-C", repository.top, *OURS, *SETTINGS, *words]


def _first(wrong: bytes) -> str:
    """Return the first line of git's errors."""
    lines = wrong.decode("utf-8", "replace").strip().splitlines()
    output = next((line for line in lines if line.startswith(("fatal:", "error:"))), "")
    return (output or (lines[0] if lines else "git says nothing")).partition(": ")[2] or output


def _forget_report(repository: Repository, pid: int) -> None:
    """Remove the long report that git leaves in its folder of an import that failed."""
    for folder in {repository.folder, repository.common}:
        try:
            os.unlink(f"{folder}/fast_import_crash_{pid}")
        except FileNotFoundError:
            continue
