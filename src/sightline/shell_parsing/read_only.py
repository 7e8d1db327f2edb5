"""Which command lines are known to change no file. Of all others it is not known."""

from __future__ import annotations

from re import search, sub

from sightline.shell_parsing.command_line import Simple, Word, pipelines
from sightline.shell_parsing.readers import filter_of

NOWHERE = r"(?:\d|&)?>{1,2}\s*(?:/dev/null\b|&\d)"
"""Redirections that leave no file."""

HIDING = r"`|\$\(|[<>]\(|(?:^|[\s;&|({])\w+="
"""What may run or steer a command that its words do not tell."""

HARMLESS = frozenset((
    "[", "ag", "basename", "cat", "cd", "cksum", "cmp", "comm", "cut", "date", "df", "diff",
    "dirname", "done", "du", "echo", "egrep", "exit", "false", "fgrep", "fi", "file", "for", "grep",
    "head", "hostname", "id", "jq", "ls", "md5sum", "nl", "od", "printf", "ps", "pwd", "readlink",
    "realpath", "seq",
    "sha1sum", "sha256sum", "sleep", "stat", "strings", "tail", "test", "tr", "true", "type",
    "uname", "wc", "which", "whoami",
))  # fmt: skip
"""Programs, and words of the shell, that change no file whatever they are told."""

GIT = frozenset((
    "blame", "cat-file", "describe", "diff", "grep", "log", "ls-files", "ls-tree", "rev-list",
    "rev-parse", "shortlog", "show", "status",
))  # fmt: skip
"""What git does without touching a file of the tree."""

ACTING = ("-delete", "-exec", "-ok", "-fprint", "-fls")
"""How options of find begin that do something with what was found."""


def only_reads(command: str, cwd: str) -> bool:
    """Whether a command line is known to change no file. cwd: an absolute folder."""
    left = sub(NOWHERE, "", command)
    if ">" in left or search(HIDING, left):
        return False
    pipes = pipelines(left, cwd)
    return bool(pipes) and all(_reads(simple) for pipe in pipes for simple in pipe)


def _reads(simple: Simple) -> bool:
    name, *words = simple.words or (None,)
    if name in HARMLESS:
        return True
    if None in words:
        return False  # it may stand for an option
    if name == "find":
        return not any(word.startswith(ACTING) for word in words if word)
    if name == "sed":
        shown = filter_of(simple.words)
        return shown is not None and not shown.some
    if name in ("rg", "sort"):
        return not any(_writes(word, name) for word in words)
    return name == "git" and _git_reads(words)


def _writes(word: Word, name: str) -> bool:
    """Whether an option names a file to write, or a program to run."""
    if word is None or not word.startswith("-"):
        return False
    long = word.startswith(("--output", "--compress-program", "--pre"))
    return long or (name == "sort" and "o" in word and not word.startswith("--"))


def _git_reads(words: list[Word]) -> bool:
    told = [word for word in words if word not in (None, "--no-pager")]
    named = told[0] if told else None
    writing = any(word.startswith(("--output", "-O", "--open-files")) for word in told if word)
    return named in GIT and not writing
