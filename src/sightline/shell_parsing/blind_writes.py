"""Find the writes of a shell command that hit the wrong text in a file which changed unseen.

A line number names another line once lines moved. A text in place of a whole file drops what stood
there, and so does a text that git puts back, a stash, and a command that removes the file. A command that
works on the text of the file itself does neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct, structs

from sightline.model.spans import Spans
from sightline.shell_parsing.command_line import SimpleCommand, Word, absolute_path, git_words
from sightline.shell_parsing.file_effects import (
    all_pipelines,
    command_writings,
    pipeline_readings,
)
from sightline.shell_parsing.named_writes import Rule, copies, edits_in_place, moves
from sightline.shell_parsing.read_only import HARMLESS
from sightline.shell_parsing.readers import parse_words
from sightline.shell_parsing.scripts import script_files

LAST = 1 << 30
"""The end of a range of lines that reaches to the end of the file."""


INDEX = ""
"""The commit of a text that git takes from its index."""


Removes = Literal["", "all", "untracked", "ignored", "untracked and ignored"]
"""Which files a command removes: untracked and ignored ones as git means them."""


class BlindWrite(Struct, frozen=True):
    """A write into a file at a path. lines: the numbers that the command names; None for a whole file.
    texts: the whole texts that may be written, where the command line has them. commit: git puts back
    the text of this commit, or of its INDEX, in the file; None for a write of another program.
    is_stash: git keeps in a stash what it takes. removes: the command removes the file.

    Where a commit is named or files are removed, the path may be a folder, which stands for all files
    below it, or a pattern. is_pattern: "*" stands for names within one folder, as a shell means it."""

    path: str
    lines: Spans | None = None
    texts: tuple[str, ...] = ()
    commit: str | None = None
    is_stash: bool = False
    removes: Removes = ""
    is_pattern: bool = False


def blind_writes(command: str, cwd: str) -> tuple[BlindWrite, ...]:
    """Return the writes of a command line by line number, and those of whole files whose text does not
    come from the file itself. cwd: an absolute folder."""
    found: list[BlindWrite] = []
    own: dict[str, Spans | None] = {}
    keeps_output = COMPUTED.search(command) is not None or "<(" in command
    for pipe in all_pipelines(command, cwd):
        if keeps_output or not _only_shows(pipe):
            own |= _sources(pipe)
        for simple in pipe:
            found += _by_number(simple)
            found += _removed(simple)
            words, folder = _of_git(simple)
            if words and words[0] == "stash" and set(words[1:2]) & {"pop", "apply"}:
                found = [each for each in found if not each.is_stash]  # it comes back
            elif words:
                found += _put_back(words, folder)
            for write in _whole(simple):
                lines = own.get(write.path, ())
                if lines != () or write.path not in own:
                    found.append(structs.replace(write, lines=lines or None))
                elif write.texts and not any(COMPUTED.search(text) for text in write.texts):
                    found.append(write)  # the file was named before, and its text is not used
    return tuple(dict.fromkeys(found))


def _only_shows(pipe: Sequence[SimpleCommand]) -> bool:
    """Return whether no other command can get what a pipeline prints, or finds out."""
    return all(each.program in HARMLESS and not each.outputs for each in pipe)


COMPUTED = re.compile(r"[$`]\(?")
"""Signs of a text in which the shell may put the output of a command."""

WRITERS = frozenset(("cp", "curl", "dd", "install", "ln", "mv", "rsync", "sponge", "tee", "truncate",
    "wget"))  # fmt: skip
"""Programs whose words name the file that they write, and no text of it."""


def _sources(pipe: Sequence[SimpleCommand]) -> dict[str, Spans | None]:
    """Return the files that a pipeline names, from whose text its output may be made: path -> the line
    numbers by which it takes them apart, None for a part of unknown lines."""
    named: dict[str, Spans | None] = {}
    for simple in pipe:
        if simple.program not in WRITERS:
            words = [*simple.words[1:], *simple.inputs]
            for word in _outputs(simple.program, simple.words[1:]):
                words.remove(word)
            numbers = _of_program(simple)
            named |= {path: numbers for word in words if (path := absolute_path(simple.cwd, word))}
    silent = [SimpleCommand(each.cwd, each.words, each.inputs) for each in pipe]
    cut = {each.path for each in pipeline_readings(silent) if each.cuts}
    return {path: None if path in cut and not lines else lines for path, lines in named.items()}


def _of_program(simple: SimpleCommand) -> Spans:
    """Return the line numbers in the program that a command gets."""
    name = simple.program
    if name == "sed":
        return _of_sed(simple.words[1:])[0]
    if name in ("perl", "awk", "gawk"):
        return _compared(" ".join(word or "" for word in simple.words[1:]))
    return ()


def _whole(simple: SimpleCommand) -> Iterator[BlindWrite]:
    texts: dict[str, list[str]] = {}
    for writing in command_writings(simple):
        if not writing.appended:
            texts.setdefault(writing.path, []).append(writing.text)
    targets = [word for word, appends in (*simple.outputs, *simple.side_outputs) if not appends]
    name = simple.program
    if name == "tee" and "-a" not in simple.words:
        targets += [word for word in simple.words[1:] if word and word[0] != "-"]
    for word in targets:
        path = absolute_path(simple.cwd, word)
        if path is not None:
            yield BlindWrite(path, None, tuple(texts.get(path, ())))
    yield from _copied(simple)
    for word in _outputs(name, simple.words[1:]):
        path = absolute_path(simple.cwd, word)
        if path is not None:
            yield BlindWrite(path)
    for file in script_files(simple):
        if file.is_whole and not file.is_read:
            yield BlindWrite(file.path, None, () if file.text is None else (file.text,))


def _copied(simple: SimpleCommand) -> Iterator[BlindWrite]:
    name = simple.program
    rule: Rule | None = COPIERS.get(name)
    is_link = name == "ln" and not any(
        re.fullmatch("-[a-z]*f[a-z]*|--force", word or "") for word in simple.words
    )
    if rule is not None and not is_link:
        for write in rule(simple, simple.words[1:]):
            if write.kind == "copy":
                yield BlindWrite(write.path)


COPIERS: dict[str, Rule] = {
    "cp": copies, "install": copies, "ln": copies, "mv": moves, "rsync": copies,
}  # fmt: skip


def _outputs(name: str, words: Sequence[Word]) -> Iterator[Word]:
    """Yield the files that a program writes over, as the options of the program say."""
    if name == "dd":
        yield from (word.removeprefix("of=") for word in words if word and word.startswith("of="))
    elif name in ("curl", "wget"):
        option = "-[a-zA-Z]*o|--output" if name == "curl" else "-[a-zA-Z]*O|--output-document"
        for at, word in enumerate(words[:-1]):
            if re.fullmatch(option, word or ""):
                yield words[at + 1]
    elif name == "sort":
        yield from (word for before, word in pairwise(words) if before in ("-o", "--output"))
    elif name in ("sponge", "truncate") and "-a" not in words:
        yield from (word for word in words if word and word[0] != "-")


def _removed(simple: SimpleCommand) -> Iterator[BlindWrite]:
    """Yield the files and folders that a program removes by name."""
    first = 1
    words, cwd = _of_git(simple)
    if words and words[0] == "rm" and "--cached" not in words:
        first = len(simple.words) - len(words) + 1
    elif simple.program not in ("rm", "shred", "unlink"):
        for file in script_files(simple):
            if file.is_removed:
                yield BlindWrite(file.path, removes="all")
        return
    else:
        cwd = simple.cwd
    behind = simple.words.index("--") if "--" in simple.words else len(simple.words)
    for at, word in enumerate(simple.words[first:], first):
        glob = simple.globs.get(at)
        if at == behind or (word and word[0] == "-" and at < behind):
            continue
        path = absolute_path(cwd, word if glob is None else glob)
        if path is not None:
            yield BlindWrite(path, removes="all", is_pattern=glob is not None)


def _of_git(simple: SimpleCommand) -> tuple[list[Word], str | None]:
    """Return the words of git from its verb on, and the folder where it runs; no words for another program."""
    return git_words(simple.words[1:], simple.cwd) if simple.program == "git" else ([], None)


def _put_back(words: Sequence[Word], cwd: str | None) -> Iterator[BlindWrite]:
    """Yield the files and folders that git takes back to a text that it has, or removes. words: from the verb on."""
    if cwd is None:
        return
    verb, rest = words[0], words[1:]
    at = rest.index("--") if "--" in rest else len(rest)
    options = {word for word in rest[:at] if word and word[0] == "-"}
    names = [word for word in rest[:at] if word not in options]
    behind = list(rest[at + 1 :])
    if options & {"-p", "--patch", "-i", "--interactive", "-n", "--dry-run"}:
        return
    commit, paths = INDEX, list[Word]()
    if verb == "checkout":
        commit, paths = _checked_out(options, names, behind)
    elif verb == "restore":
        commit, paths = _restored(rest[:at], options, [*names, *behind])
    elif (verb == "reset" and "--hard" in options) or (verb == "switch" and options & FORCING):
        commit, paths = (names or ["HEAD"])[-1] or "HEAD", [WHOLE_TREE]
    elif verb == "stash":
        yield from _stashed(rest[:at], [*names, *behind], cwd)
    elif verb == "clean":
        yield from _cleaned(rest[:at], [*names, *behind], cwd)
    for path in _places(paths, cwd):
        yield BlindWrite(path, commit=commit)


def _places(words: Sequence[Word], cwd: str) -> Iterator[str]:
    for word in words:
        path = word if word == WHOLE_TREE else absolute_path(cwd, word)
        if path is not None:
            yield path


def _stashed(words: Sequence[Word], names: Sequence[Word], cwd: str) -> Iterator[BlindWrite]:
    """Yield what git stash takes away. words: behind the verb, up to "--"; names: those that are no options."""
    verb = names[0] if names and names[0] in words else "push"
    paths = (
        names[1:] if verb == "push" and "push" in words else names if "push" not in words else []
    )
    if verb == "save":
        paths = []
    elif verb != "push" and verb in STASH_VERBS:
        return
    letters = {
        letter for word in words if word and re.fullmatch("-[a-z]+", word) for letter in word[1:]
    }
    if letters & {"S"} or "--staged" in words:
        return
    value = next(
        (words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-m", "--message")), None
    )
    paths = [path for path in paths if path != value]
    is_index = "k" in letters or "--keep-index" in words
    ignored = "a" in letters or "--all" in words
    untracked = ignored or "u" in letters or "--include-untracked" in words
    for path in _places(paths or [WHOLE_TREE], cwd):
        yield BlindWrite(path, commit=INDEX if is_index else "HEAD", is_stash=True)
        if untracked:
            removes: Removes = "untracked and ignored" if ignored else "untracked"
            yield BlindWrite(path, is_stash=True, removes=removes)


STASH_VERBS = frozenset(("apply", "branch", "clear", "create", "drop", "export", "import", "list", "pop", "show", "store"))  # fmt: skip
"""What git stash does with older stashes."""


def _cleaned(words: Sequence[Word], names: Sequence[Word], cwd: str) -> Iterator[BlindWrite]:
    """Yield what git clean removes. words: behind the verb, up to "--"; names: those that are no options."""
    letters = {
        letter for word in words if word and re.fullmatch("-[a-zA-Z]+", word) for letter in word[1:]
    }
    if letters & {"n", "i"}:
        return
    removes: Removes = "untracked"
    if "X" in letters:
        removes = "ignored"
    elif "x" in letters:
        removes = "untracked and ignored"
    for path in _places(names or ["."], cwd):
        yield BlindWrite(path, removes=removes)


FORCING = {"-f", "--force", "--discard-changes"}


def _checked_out(
    options: set[str], names: list[Word], behind: list[Word]
) -> tuple[str, list[Word]]:
    """Return the commit and the paths of git checkout. names: the words before "--"; behind: those behind
    it. Without "--" the only word may name a branch as well."""
    if options & {"-b", "-B", "--orphan", "--detach", "-t", "--track"}:
        return INDEX, []
    if options & {"-f", "--force"} and len(names) == 1 and not behind:
        return names[0] or "HEAD", [WHOLE_TREE]
    if not names and not behind:
        return "HEAD", [WHOLE_TREE] if options & FORCING else []
    if behind:
        return (names[0] or "HEAD") if names else INDEX, behind
    return (names[0] or "HEAD", names[1:]) if len(names) > 1 else (INDEX, names)


def _restored(
    words: Sequence[Word], options: set[str], paths: list[Word]
) -> tuple[str, list[Word]]:
    """Return the commit and the paths of git restore. words: those before "--"."""
    is_staged = bool(options & {"-S", "--staged"})
    if is_staged and not options & {"-W", "--worktree"}:
        return INDEX, []
    commit = "HEAD" if is_staged else INDEX
    for at, word in enumerate(words):
        if word and word.startswith("--source="):
            commit = word.partition("=")[2]
        elif word in ("-s", "--source") and words[at + 1 : at + 2]:
            commit = words[at + 1] or "HEAD"
            paths = [each for each in paths if each != words[at + 1]]
    return commit, paths


WHOLE_TREE = "/"
"""In place of the path where git takes back all files of its tree."""


def _by_number(simple: SimpleCommand) -> Iterator[BlindWrite]:
    name = simple.program
    files: Sequence[Word]
    if name == "sed":
        lines, operands = _of_sed(simple.words[1:])
        files = operands if any(True for _ in edits_in_place(simple)) else ()
    elif name in ("ed", "ex"):
        scripts = [word or "" for word in simple.words[1:]] if name == "ex" else []
        lines = _numbers("\n".join([*(simple.bodies or simple.piped), *scripts]))
        files = tuple(word for word in simple.words[1:] if word and word[:1] not in ("-", "+"))[-1:]
    elif name in ("perl", "awk", "gawk"):
        lines = _of_program(simple)
        is_inplace = name == "perl" and any(True for _ in edits_in_place(simple))
        is_inplace = is_inplace or "inplace" in simple.words
        files = simple.words[-1:] if is_inplace else ()
    else:
        for each in script_files(simple):
            if each.lines:
                yield BlindWrite(each.path, tuple((line, line) for line in each.lines))
        return
    for path in [absolute_path(simple.cwd, file) for file in files] if lines else ():
        if path is not None:
            yield BlindWrite(path, lines)


def _of_sed(words: Sequence[Word]) -> tuple[Spans, tuple[Word, ...]]:
    """Return the line numbers in the scripts of sed, and its files. On macOS an empty word behind -i says
    that no copy of the old file is kept."""
    words = [word for word in words if word != ""]
    options, operands = parse_words(words, "efl", ("expression", "file", "line-length"))
    scripts = [value for name, value in options if name in ("e", "expression")]
    if not scripts and not any(name in ("f", "file") for name, _ in options):
        scripts, operands = [operands[0] or ""] if operands else [], operands[1:]
    return _numbers("\n".join(scripts)), tuple(operands)


ADDRESS = re.compile(
    r"(?:^|[;{}\n])\s*(\d{1,9})(?:\s*,\s*(\d{1,9}|\$|\+\d{1,9}|/[^/\n]*/))?\s*!?\s*[a-zA-Z={]"
)
"""A command of sed or ed behind its line numbers."""

COMPARED = re.compile(r"(?:\$\.|\bF?NR)\s*(==|>=|<=|<|>|\.\.)\s*(\d{1,9})")
"""A line number in a program of perl or awk. A comparison is about the end of the file, too."""


def _numbers(script: str) -> Spans:
    """Return the lines that a script names by their numbers. What stands behind a pattern counts as the end
    of the file."""
    found: list[tuple[int, int]] = []
    for match in ADDRESS.finditer(script):
        first, last = int(match[1]), match[2]
        if last is None:
            found.append((first, first))
        elif last.startswith("+"):
            found.append((first, first + int(last[1:])))
        else:
            found.append((first, max(int(last), first) if last.isdigit() else LAST))
    return tuple(found)


def _compared(program: str) -> Spans:
    return tuple(
        (int(found[2]), int(found[2]) if found[1] == "==" else LAST)
        for found in COMPARED.finditer(program)
    )
