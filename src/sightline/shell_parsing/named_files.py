"""Find the files that a command line names, whatever the programs do with each file.

Texts are no names: what `echo` prints, the message of a commit, a pattern of grep, what a search leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from sightline.shell_parsing.command_line import SimpleCommand, Word, absolute_path, git_words
from sightline.shell_parsing.file_effects import all_pipelines, possible_names
from sightline.shell_parsing.named_writes import QUICK
from sightline.shell_parsing.readers import PRINTERS
from sightline.shell_parsing.scripts import script_files, script_of

TEXTS = frozenset((
    "alias", "cd", "echo", "exit", "export", "false", "kill", "popd", "printf", "pushd", "read", "set",
    "sleep", "true", ":",
))  # fmt: skip
"""Programs whose words are texts, or folders to go to."""

SEARCHERS = frozenset(("ack", "ag", "egrep", "fgrep", "grep", "rg", "rgrep"))
"""Programs whose first word is a pattern. Folder searches and readings tell of their files."""

FILE_PROGRAMS = QUICK | PRINTERS | frozenset((
    ".", "base32", "base64", "bzip2", "cmp", "comm", "cpio", "dd", "du", "file", "fold", "gpg", "gunzip", "gzip",
    "hexdump", "install", "join", "less", "more", "od", "openssl", "rev", "rsync", "scp", "sha1sum", "sha256sum",
    "md5sum", "shred", "source", "split", "stat", "strings", "tar", "tree", "unzip", "xxd", "xz", "zip", "zstd",
))  # fmt: skip
"""Programs whose plain words are names of files. Elsewhere a word such as `build` may mean anything."""

MESSAGES = frozenset(("-m", "--message", "--author", "--grep", "-S", "-G", "--date", "-F"))
"""Options of git before a text."""

LEAVES_OUT = re.compile(r"--(?:exclude|ignore|skip|not)\b.*", re.DOTALL)
"""An option that leaves out what it names."""

BEHIND_UNKNOWN = re.compile(r"(?:\$\w+|\$\{[^}]*\}|\)|`)/([\w./+-]+)|\$\{\w+:?[-=+]([\w./+-]+)\}")
"""The rest of a name behind a variable, or behind the output of another program; what stands in for a
variable without a value."""

BELOW_HOME = re.compile(r"(?:\$HOME|\$\{HOME\})/([\w./+-]+)")


class NamedFile(Struct, frozen=True):
    """A file that a command line names. path: absolute. is_written: the command writes there, also where
    no file is. is_sure: false where a variable or another program makes the name."""

    path: str
    is_written: bool = False
    is_sure: bool = True


def named_files(command: str, cwd: str) -> tuple[NamedFile, ...]:
    """Return the files that a command line may name, in order; most are none. cwd: an absolute folder."""
    found: list[NamedFile] = []
    folders = {cwd: None}
    has_unknown = False
    for pipe in all_pipelines(command, cwd):
        for simple in pipe:
            if simple.cwd is None:
                continue
            folders[simple.cwd] = None
            files = [*simple.inputs, *(word for word, _ in (*simple.outputs, *simple.side_outputs))]
            has_unknown = has_unknown or None in (*simple.words, *files)
            for word, is_written in _names(simple):
                path = absolute_path(simple.cwd, word)
                if path is not None:
                    found.append(NamedFile(path, is_written))
            found += [NamedFile(each.path, each.is_written) for each in script_files(simple)]
    if has_unknown:
        names = [name for name in possible_names(command) if not LEAVES_OUT.fullmatch(name)]
        names += [part for parts in BEHIND_UNKNOWN.findall(command) for part in parts if part]
        names += [f"~/{part}" for part in BELOW_HOME.findall(command)]
        paths = [absolute_path(folder, name) for folder in folders for name in names]
        found += [NamedFile(path, is_sure=False) for path in paths if path is not None]
    return tuple(dict.fromkeys(found))


def _names(simple: SimpleCommand) -> Iterator[tuple[Word, bool]]:
    """Yield the words and parts of words that may be names, each with whether the shell writes there."""
    yield from ((word, False) for word in simple.inputs)
    yield from ((word, True) for word, _ in (*simple.outputs, *simple.side_outputs))
    name = simple.program
    words = list(simple.words[1:])
    if name in TEXTS:
        return
    if name in SEARCHERS:
        words = _patterns(words)
    elif name == "git":
        words = _of_git(words, simple.cwd)
    elif name == "find":
        words = _of_find(words)
    if script_of(simple) is not None or name not in ("cat", "tee", "git"):
        for body in simple.bodies:  # of piped texts those of scripts and xargs are followed
            yield from ((each, False) for each in possible_names(body))
    is_value = False
    for word in words:
        if word is not None and not is_value and not LEAVES_OUT.fullmatch(word):
            yield from ((part, False) for part in _parts(word, is_file=name in FILE_PROGRAMS))
        is_value = word in ("--exclude", "--ignore", "-x") and "=" not in (word or "")


def _parts(word: str, *, is_file: bool) -> Iterator[str]:
    """Yield what a word may name: itself, the value of an option, the file behind "@" or a colon, and
    the names in a program or a list."""
    if is_file or re.search(r"[./]", word):
        yield word
    if re.fullmatch(r"-[a-zA-Z].+", word):
        yield word[2:]
    if re.search(r"[=@:,]", word):
        yield from (part for part in re.split(r"[=@:,]+", word) if re.search(r"[./]", part))
    if re.search(r"[\s()\"']", word):
        yield from (part for part in possible_names(word) if re.search(r"[./]", part))


def _patterns(words: Sequence[Word]) -> list[Word]:
    """Return the files of patterns that a search reads."""
    files = [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-f", "--file")]
    return [
        *files,
        *(word.partition("=")[2] for word in words if word and word.startswith("--file=")),
    ]


def _of_git(words: Sequence[Word], cwd: str | None) -> list[Word]:
    """Return git's words without texts, and without the pattern of git grep."""
    left, _ = git_words(words, cwd)
    if left[:1] == ["grep"]:
        return []
    return [
        word
        for at, word in enumerate(left)
        if at and left[at - 1] not in MESSAGES and not (word or "").startswith(("--message=", "-m"))
        and not (word or "").startswith(":(exclude")
        and not (word or "").startswith((":!", ":^"))
    ]  # fmt: skip


def _of_find(words: Sequence[Word]) -> list[Word]:
    """Return the folders that find starts at, and the words of the programs that it runs."""
    first = next((at for at, word in enumerate(words) if (word or " ")[0] in "-(!"), len(words))
    runs = [at for at, word in enumerate(words) if word in ("-exec", "-execdir", "-ok", "-okdir")]
    return [*words[:first], *(words[runs[0] + 2 :] if runs else ())]
