"""Find the commands that read files without naming them, and which files such a command leaves out:
searches of all files below a folder, patterns (`cat *.txt`), and what `find` hands to a program."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from operator import itemgetter

from msgspec import Struct, structs

from sightline.filesystem.file_state import HiddenByGit
from sightline.model.path import folders_above
from sightline.shell_parsing.command_line import (
    SimpleCommand,
    Word,
    absolute_path,
    git_words,
    last_name,
)
from sightline.shell_parsing.file_effects import all_pipelines
from sightline.shell_parsing.readers import parse_words

SEARCHES_MAX = 50

BRACES_MAX = 64
"""Patterns without braces that are made of one glob."""

GREPS = ("grep", "egrep", "fgrep", "rgrep")

TYPES = {
    "c": ("*.[chH]", "*.[chH].in", "*.cats"),
    "go": ("*.go",),
    "html": ("*.htm", "*.html", "*.ejs"),
    "java": ("*.java", "*.jsp", "*.jspx", "*.properties"),
    "js": ("*.cjs", "*.js", "*.jsx", "*.mjs", "*.vue"),
    "md": ("*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"),
    "py": ("*.py", "*.pyi"),
    "rust": ("*.rs",),
    "ts": ("*.cts", "*.mts", "*.ts", "*.tsx"),
    "yaml": ("*.yaml", "*.yml"),
}
"""The files of rg's types. A file of any other type counts as read."""

VALUED = {
    "grep": ("ABCmefdD", """
        after-context before-context context max-count regexp file directories devices exclude
        exclude-from exclude-dir include label binary-files"""),
    "rg": ("ABCEMTdefgjmrt", """
        after-context before-context context max-count regexp file glob iglob type type-not type-add
        type-clear max-depth maxdepth threads max-columns encoding replace ignore-file pre pre-glob
        sort sortr color colors max-filesize path-separator engine context-separator
        field-match-separator field-context-separator dfa-size-limit regex-size-limit
        hyperlink-format hostname-bin"""),
    "ag": ("ABCGgmpW", """
        after before context depth file-search-regex ignore ignore-dir max-count pager
        path-to-ignore width workers"""),
    "ack": ("ABCgm", """
        after-context before-context context ignore-dir ignore-directory ignore-file max-count type
        type-add type-set output pager match"""),
    "git": ("ABCOefm", "after-context before-context context max-count max-depth threads"),
}  # fmt: skip
"""Program -> its one-letter options and its long options that take a value."""

NAMERS = frozenset(
    ("[", "basename", "cd", "dirname", "echo", "for", "git", "ls", "printf", "test", "tree")
)
"""Programs that read and change no file that the shell names for them."""

NAMES_ONLY = {
    "rg": ("files", "type-list", "help", "version", "h", "V"),
    "ag": ("g", "help", "version", "list-file-types"),
    "ack": ("f", "g", "help", "version"),
}
"""Options with which a program reads no file."""

COMMIT = re.compile(r"HEAD|ORIG_HEAD|stash|[0-9a-f]{7,64}|.*[~^:@].*", re.DOTALL)
"""A word of `git grep` that names a commit, not a file."""


class FolderSearch(Struct, frozen=True):
    """A search of all files below folders. In doubt, it reads a file.

    program: grep, rg, ag, ack, git, find, or "" for another one. folders, base: absolute; globs with a
    slash start at the base. hidden: it reads names that begin with a dot. ignored: it reads what
    .gitignore hides. untracked: it reads what git does not track. globs: ("include" or "exclude", a
    glob; "/" ends one of folders alone); the last that matches a file decides. by_tool: a tool of the
    host takes the globs, no command line. patterns: absolute; the shell names the files, and the
    folders below which the search reads if it is deep.
    """

    program: str
    folders: tuple[str, ...]
    base: str
    hidden: bool = True
    ignored: bool = True
    untracked: bool = True
    globs: tuple[tuple[str, str], ...] = ()
    by_tool: bool = False
    patterns: tuple[str, ...] = ()
    deep: bool = True

    def reads(self, folder: str, path: str, hidden_by_git: HiddenByGit = "") -> bool:
        """Return whether the search reads a file. folder: the searched one that the file is below;
        path: the file; both absolute; hidden_by_git: as in RefusedFile."""
        if self.patterns:
            return any(self._reads_named(glob, path, hidden_by_git) for glob in self.patterns)
        is_ignored = bool(hidden_by_git) and not self.ignored
        chosen = next((kind for kind, glob in reversed(self.globs) if self._fits(glob, path)), "")
        if chosen == "include" and self.program == "rg":  # stronger than a dot and than .gitignore
            return not is_ignored or hidden_by_git == "file"
        if not chosen and self.globs and self.globs[0][0] == "include":
            return False
        inner = path[len(folder.rstrip("/")) + 1 :]
        return chosen != "exclude" and not is_ignored and (self.hidden or not _has_dot(inner))

    def option(self, entry: str) -> str:
        """Return the words that make the search leave out an entry ("/" ends a folder); "" where no
        words do."""
        is_folder, name = entry.endswith("/"), entry.rstrip("/").rpartition("/")[2]
        if not self.program or (self.patterns and (is_folder or self.program != "grep")):
            return ""  # the shell names the files, and a program passes over no named file
        plain = re.sub(r"[\\*?\[{}]", lambda sign: f"[{sign[0]}]".replace("\\", "\\\\"), name)
        if self.program == "grep":
            return shlex.quote(f"--exclude{'-dir' * is_folder}={plain}")
        if self.by_tool:
            return f'the glob "!{plain}{"/" * is_folder}"'
        if self.program == "find":
            return (
                f"-not -path {_quoted(f'*/{plain}/*')}"
                if is_folder
                else f"-not -name {_quoted(plain)}"
            )
        if self.program == "rg":
            return f"-g {_quoted('!' + plain + '/' * is_folder)}"
        if self.program == "ag":
            return f"--ignore {shlex.quote(plain)}"
        if self.program == "ack":
            return shlex.quote(f"--ignore-dir={name}" if is_folder else f"--ignore-file=is:{name}")
        return _quoted(f":(exclude,glob)**/{plain}{'/**' * is_folder}")

    def _reads_named(self, glob: str, path: str, hidden_by_git: HiddenByGit) -> bool:
        """Return whether the shell names a file, or a folder above the file that the search reads."""
        parts, wanted = path.split("/"), glob.split("/")
        if len(parts) < len(wanted) or not all(
            fnmatchcase(part, each) and (part[:1] != "." or each[:1] == ".")
            for part, each in zip(parts, wanted, strict=False)
        ):
            return False
        below = structs.replace(self, patterns=())
        if len(parts) == len(wanted):  # a named file is read whatever its name, but by grep
            return self.program != "grep" or below.reads("", path)
        return self.deep and below.reads("/".join(parts[: len(wanted)]), path, hidden_by_git)

    def _fits(self, glob: str, path: str) -> bool:
        """Return whether a glob matches a file, or a folder above it."""
        base = f"{self.base.rstrip('/')}/"
        inner = path.removeprefix(base) if path.startswith(base) else path.lstrip("/")
        places = [folder[:-1] for folder in folders_above(inner)]
        if not glob.endswith("/"):
            places = [inner, *(places if self.program in ("rg", "ag", "git") else ())]
        plain = glob.removeprefix("./").removeprefix("**/").rstrip("/")
        is_anywhere = glob.startswith("**/")
        if "/" not in plain and (self.program != "git" or is_anywhere):
            return any(fnmatchcase(place.rpartition("/")[2], plain) for place in places)
        globs = (plain.lstrip("/"), plain, *([f"*/{plain}"] if is_anywhere else ()))
        return plain in ("", ".") or any(
            fnmatchcase(place, globs[0])
            or any(
                fnmatchcase(f"{start}{place}", each) for start in ("./", base) for each in globs[1:]
            )
            for place in places
        )


def folder_searches(command: str, cwd: str) -> tuple[FolderSearch, ...]:
    """Return the searches below folders in a command line, SEARCHES_MAX at most. cwd: an absolute
    folder. Words that only the shell knows are passed over."""
    found: list[FolderSearch] = []
    for pipe in all_pipelines(command, cwd):
        for at, simple in enumerate(pipe):
            has_stdin = at > 0 or bool(simple.inputs or simple.bodies)
            found += _search(simple, has_stdin=has_stdin)
            found += _find(simple, pipe[at + 1 :])
            found += _listed(simple, pipe[at + 1 :])
    return tuple(found[:SEARCHES_MAX])


def _search(simple: SimpleCommand, *, has_stdin: bool) -> Iterator[FolderSearch]:
    name, words, cwd = simple.program, _words(simple), simple.cwd
    if name == "git":
        words, cwd = git_words(words, cwd)
        if not words or words[0] != "grep":
            return
        words = words[1:]
    program = "grep" if name in GREPS else name
    if cwd is None:
        return
    redirected = [_Glob(glob) for glob in simple.redirected]
    yield from _by_patterns(FolderSearch("", (), cwd, deep=False), redirected)
    if program not in VALUED:
        is_reader = name not in NAMERS
        named = [word for word in words if isinstance(word, _Glob)] if is_reader else []
        yield from _by_patterns(FolderSearch("", (), cwd, deep=False), named)
        return
    short, long = VALUED[program]
    pairs, operands = parse_words(words, short, long.split())
    options = {option for option, _ in pairs}
    if not options.isdisjoint(NAMES_ONLY.get(program, ())):
        return
    files = _files(program, words, options, operands)
    if program == "grep" and name != "rgrep" and not _is_recursive(pairs):
        search = FolderSearch("grep", (), cwd, globs=tuple(_globs(program, pairs)), deep=False)
        yield from _by_patterns(search, files)
        return
    if has_stdin and not files and program in ("rg", "ag", "ack"):
        return
    globs = list(_globs(program, pairs))
    if program == "git":
        plain = [word for word in files if not isinstance(word, _Glob)]
        globs += _pathspecs([word for word in plain if word])
        folders: tuple[str, ...] = (cwd,) if plain or not files else ()
    elif files:
        plain = [word for word in files if word != "-" and not isinstance(word, _Glob)]
        paths = [absolute_path(cwd, word) for word in plain]
        folders = tuple(each for each in paths if each is not None)
    else:
        folders = (cwd,)
    loud = sum(option in ("u", "unrestricted") for option, _ in pairs)
    shows_all = not options.isdisjoint(_SHOWS_ALL.get(program, ()))
    search = FolderSearch(
        program,
        folders,
        cwd,
        hidden=program not in ("rg", "ag")
        or not options.isdisjoint(("hidden", "."))
        or loud >= (2 if program == "rg" else 1),
        ignored=program in ("grep", "ack")
        or shows_all
        or loud > 0
        or (program == "git" and "untracked" not in options),
        untracked=program != "git" or not options.isdisjoint(("untracked", "no-index")),
        globs=tuple(globs),
    )
    if folders:
        yield search
    yield from _by_patterns(search, files)


class _Glob(str):
    """A word in whose place the shell puts the names of files."""

    __slots__ = ()


def _words(simple: SimpleCommand) -> list[Word]:
    """Return the words after a command's name. Hardly a file has a name like an option with a pattern:
    such a word stays as it is."""
    globs = {at: glob if glob[:1] == "-" else _Glob(glob) for at, glob in simple.globs.items()}
    return [globs.get(at, word) for at, word in enumerate(simple.words)][1:]


def _by_patterns(search: FolderSearch, files: Sequence[Word]) -> Iterator[FolderSearch]:
    """Yield the search of the files that the patterns among the operands name."""
    globs = [each for word in files if isinstance(word, _Glob) for each in _without_braces(word)]
    patterns = [path for glob in globs if (path := absolute_path(search.base, glob)) is not None]
    if patterns:
        folders = dict.fromkeys(map(_start, patterns))
        yield structs.replace(search, folders=tuple(folders), patterns=tuple(patterns))


def _start(pattern: str) -> str:
    """Return the folder above all that a pattern names."""
    plain = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    return plain.rpartition("/")[0] or "/"


def _find(simple: SimpleCommand, after: Sequence[SimpleCommand]) -> Iterator[FolderSearch]:
    """Yield what `find` hands to a program that prints files, by -exec or by xargs."""
    words, cwd = _words(simple), simple.cwd
    if simple.program != "find" or cwd is None:
        return
    runs = [words[at + 1] for at, word in enumerate(words[:-1]) if word in RUNS]
    if after and after[0].program == "xargs":
        runs += [
            word for word in after[0].words[1:] if word and word[0] != "-" and not word.isdecimal()
        ]
    programs = {last_name(word) for word in runs[:1]}
    is_acting = not {"-delete", "-fprint"}.isdisjoint(word for word in words if word)
    if not is_acting and not programs - NAMERS:
        return
    first = next((at for at, word in enumerate(words) if (word or " ")[0] in "-(!"), len(words))
    paths = [absolute_path(cwd, word) for word in words[:first]] or [cwd]
    globs: list[tuple[str, str]] = []
    for at, word in enumerate(words[:-1]):
        if word in ("-name", "-iname", "-path", "-ipath", "-wholename"):
            is_pruned, is_negated = (
                "-prune" in words[at + 2 : at + 3],
                words[at - 1] in ("!", "-not"),
            )
            glob = f"{words[at + 1] or ''}{'/' * is_pruned}"
            globs.append(("exclude" if is_pruned or is_negated else "include", glob))
    globs.sort(key=itemgetter(0), reverse=True)  # a file has to fit all of them
    folders = tuple(path for path in paths if path is not None)
    if folders:
        yield FolderSearch("find", folders, cwd, globs=tuple(globs))


def _listed(simple: SimpleCommand, after: Sequence[SimpleCommand]) -> Iterator[FolderSearch]:
    """Yield the files that `ls` hands to a program, by xargs."""
    if simple.program != "ls" or simple.cwd is None or not after or after[0].program != "xargs":
        return
    words = [word for word in after[0].words[1:] if word and word[0] != "-"]
    if words and not NAMERS.issuperset(words):
        names = [word for word in _words(simple) if word is None or word[:1] != "-"]
        yield from _by_patterns(FolderSearch("", (), simple.cwd, deep=False), names or [_Glob("*")])


RUNS = ("-exec", "-execdir", "-ok", "-okdir")
"""Options of find before the name of a program."""

_SHOWS_ALL = {
    "rg": ("no-ignore", "no-ignore-vcs"),
    "ag": ("U", "skip-vcs-ignores", "t", "all-text", "a", "all-types"),
    "git": ("no-index", "no-exclude-standard"),
}
"""Options with which a program reads what git ignores, beside -u."""


def _is_recursive(pairs: Sequence[tuple[str, str]]) -> bool:
    plain = {option for option, _ in pairs}
    return not plain.isdisjoint(("r", "R", "recursive", "dereference-recursive")) or any(
        option in ("d", "directories") and value == "recurse" for option, value in pairs
    )


def _files(
    program: str, words: Sequence[Word], options: set[str], operands: Sequence[Word]
) -> list[Word]:
    """Return the operands that name files; the first operand is the pattern elsewhere."""
    has_pattern = not options.isdisjoint(("e", "f", "regexp", "file", "match"))
    if program == "git":
        has_pattern = "e" in options or "f" in options
    files = [*operands] if has_pattern else [*operands[1:]]
    if program == "git" and "--" in words:
        after = list(words)[list(words).index("--") + 1 :]
        return after if has_pattern or len(operands) > len(after) else after[1:]
    if program == "git":
        return [word for word in files if word and not (COMMIT.fullmatch(word) and word[0] != ":")]
    return files


def _globs(program: str, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for option, value in pairs:
        if program == "rg" and option in ("t", "type"):
            yield from globs_of_type(value)
    for option, value in pairs:
        if program == "grep" and option in ("include", "exclude") and "/" not in value:
            yield option, value
        elif program == "grep" and option == "exclude-dir":
            yield "exclude", f"{value.rstrip('/')}/"
        elif program == "rg" and option in ("g", "glob"):
            yield from globs_of(value)
        elif program == "rg" and option in ("T", "type-not"):
            yield from (("exclude", glob) for _, glob in globs_of_type(value))
        elif program in ("ag", "ack") and option == "ignore":
            yield "exclude", value
        elif program in ("ag", "ack") and option in ("ignore-dir", "ignore-directory"):
            yield "exclude", f"{value.removeprefix('is:').rstrip('/')}/"
        elif program == "ack" and option == "ignore-file" and value.startswith("is:"):
            yield "exclude", value[3:]


def globs_of(value: str) -> Iterator[tuple[str, str]]:
    """Yield one of rg's globs as FolderSearch has it: "!" before a glob excludes."""
    kind = "exclude" if value.startswith("!") else "include"
    yield from ((kind, glob) for glob in _without_braces(value.removeprefix("!")))


def globs_of_type(name: str) -> Iterator[tuple[str, str]]:
    """Yield the globs of one of rg's types; none for a type that we do not know, so that it is no limit."""
    yield from (("include", glob) for glob in TYPES.get(name, ()))


def _pathspecs(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return git's pathspecs, those that exclude last: they win."""
    globs: list[tuple[str, str]] = []
    for word in words:
        magic = re.match(r":(?:\(([a-z,]*)\)|[!^/])", word)
        is_excluded = magic is not None and ("exclude" in (magic[1] or "") or magic[0][1] in "!^")
        plain = word[magic.end() :] if magic else word
        plain = "" if magic is not None and magic[0] == ":/" else plain
        globs.append(("exclude" if is_excluded else "include", plain))
    return sorted(globs, key=itemgetter(0), reverse=True)


def _without_braces(glob: str) -> list[str]:
    """Return the globs that {a,b} stands for, without braces."""
    done: list[str] = []
    waiting = [glob]
    while waiting and len(done) + len(waiting) <= BRACES_MAX:
        each = waiting.pop(0)
        inner = re.search(r"\{([^{}]*)\}", each)
        if inner is None:
            done.append(each)
        else:
            rest = each[inner.end() :]
            waiting += [f"{each[: inner.start()]}{part}{rest}" for part in inner[1].split(",")]
    return done + waiting


def _has_dot(inner: str) -> bool:
    return any(part.startswith(".") for part in inner.split("/"))


def _quoted(text: str) -> str:
    """Return a word in single quotes: an interactive shell changes a bare "!"."""
    return "'" + text.replace("'", "'\\''") + "'"
