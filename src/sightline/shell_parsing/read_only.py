"""Decide whether a command line certainly changes no file. Any other command line may change
one."""

from __future__ import annotations

from re import DOTALL, match

from sightline.shell_parsing.command_line import SimpleCommand, all_commands, parse_command
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

ACTING = {
    "find": ("-delete", "-exec", "-ok", "-fprint", "-fls"),
    "git": ("--output", "-O", "--open-files"),
    "rg": ("--output", "--compress-program", "--pre"),
    "sort": ("--output", "--compress-program", "--pre"),
}
"""Programs that change no file without an option that begins like these. Sort has -o as well."""


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
    if name == "sed":
        printed = filter_of(simple.words)
        return printed is not None and not printed.some
    arguments = [word for word in words if word and word != "--no-pager"]
    if name == "git" and (not arguments or arguments[0] not in GIT):
        return False
    if name == "sort" and any(match("-(?!-).*o", word, DOTALL) for word in arguments):
        return False
    return name in ACTING and not any(word.startswith(ACTING[name]) for word in arguments)
