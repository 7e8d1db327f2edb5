"""Decide whether a command line certainly changes no file. Any other command line may change
one."""

from __future__ import annotations

from sightline.shell_parsing.command_line import (
    SimpleCommand,
    Word,
    all_commands,
    parse_command,
)
from sightline.shell_parsing.readers import filter_of

HIDING = ("command_substitution", "process_substitution", "variable_assignment")
"""Syntax that may run or steer a command without a word of that command."""

HARMLESS = frozenset((
    "ag", "basename", "cat", "cd", "cksum", "cmp", "comm", "cut", "date", "df", "diff", "dirname",
    "du", "echo", "egrep", "exit", "false", "fgrep", "file", "grep", "head", "hostname", "id", "jq",
    "ls", "md5sum", "nl", "od", "printf", "ps", "pwd", "readlink", "realpath", "seq", "sha1sum",
    "sha256sum", "sleep", "stat", "strings", "tail", "test", "tr", "true", "type", "uname", "wc",
    "which", "whoami",
))  # fmt: skip
"""Programs that change no file, whatever their arguments are."""

GIT = frozenset((
    "blame", "cat-file", "describe", "diff", "grep", "log", "ls-files", "ls-tree", "rev-list",
    "rev-parse", "shortlog", "show", "status",
))  # fmt: skip
"""Commands of git that touch no file of the tree."""

ACTING = ("-delete", "-exec", "-ok", "-fprint", "-fls")
"""Beginnings of find's options that change files or run programs."""


def only_reads(command: str, cwd: str) -> bool:
    """Return whether a command line certainly changes no file. cwd: an absolute folder."""
    root = parse_command(command)
    if root is None:
        return False
    nodes = [root]
    while nodes:
        node = nodes.pop()
        nodes += node.children
        if node.type in HIDING:
            return False
        if node.type == "file_redirect" and any(">" in child.type for child in node.children):
            targets = node.children_by_field_name("destination")[:1]  # a number is a descriptor
            if any(each.type != "number" and each.text != b"/dev/null" for each in targets):
                return False
    commands = all_commands(command, cwd)
    return bool(commands) and all(map(_reads, commands))


def _reads(simple: SimpleCommand) -> bool:
    name, *words = simple.words or (None,)
    if name in HARMLESS:
        return True
    if None in words:
        return False  # an unknown word may be an option
    if name == "find":
        return not any(word.startswith(ACTING) for word in words if word)
    if name == "sed":
        printed = filter_of(simple.words)
        return printed is not None and not printed.some
    if name in ("rg", "sort"):
        return not any(_acts(word or "", name) for word in words)
    return name == "git" and _git_reads(words)


def _acts(word: str, name: str) -> bool:
    """Return whether an option names a file to write, or a program to run."""
    if word.startswith(("--output", "--compress-program", "--pre")):
        return True
    return name == "sort" and word.startswith("-") and "o" in word and not word.startswith("--")


def _git_reads(words: list[Word]) -> bool:
    arguments = [word for word in words if word and word != "--no-pager"]
    writes = any(word.startswith(("--output", "-O", "--open-files")) for word in arguments)
    return arguments[:1] != [] and arguments[0] in GIT and not writes
