"""Split a shell's command line into pipelines of simple commands, as far as its text alone allows.

The values of substitutions, patterns and most variables are unknown here: such a word is None. Known are
$PWD, $(pwd) and variables that the command line itself sets. A loop over words is read once for each
word. Other control flow is not followed: every simple command counts as one that may have run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from tree_sitter import Node

Word = str | None

BYTES_MAX = 200_000
SECONDS_MAX = 0.25
"""Limits of parsing one command line. A command line over a limit has no pipelines."""

NESTING_MAX = 100
"""Levels of syntax that are followed. Deeper commands are left out."""

UNNAMED = "/\0"
"""A folder with an unknown name."""

UNNAMED_DEPTH = 16
"""Unknown folders above the start of a command: as many ".." as a command may use."""

COMMANDS = ("command", "declaration_command", "unset_command")
REDIRECTS = ("file_redirect", "heredoc_redirect", "herestring_redirect")
SUBSHELLS = ("subshell", "command_substitution", "process_substitution")
EXPANSIONS = ("simple_expansion", "expansion", "command_substitution")
ARITHMETIC = ("arithmetic_expansion", "test_command")
ENDS = (";", ";;", "&", "&&", "||", ")", "}", "then", "do", "done", "else", "fi", "esac")
"""Types of syntax nodes."""

SHELLS = ("bash", "sh", "zsh", "dash")
"""Programs that run command lines."""

ROUNDS_MAX = 50
"""Times in all that the bodies of loops are read. A further loop is read once, and its words are unknown."""

WRAPPERS = {
    "builtin": "", "command": "", "doas": "uC", "env": "uCS", "exec": "a", "ionice": "cnp", "nice": "n",
    "nohup": "", "setsid": "", "stdbuf": "ioe", "sudo": "CDghpRrTtUu", "time": "fo", "timeout": "sk",
}  # fmt: skip
"""Program that runs the command behind it -> its one-letter options that take a value."""


class SimpleCommand(Struct):
    """One command of a pipeline.

    words: without assignments, redirections and WRAPPERS. cwd: the folder it runs in, None where unknown.
    inputs: files that its stdin comes from. outputs: files that its stdout goes to, each with
    whether the output is appended; side_outputs: those of its other descriptors. bodies: texts that the command line
    hands to its stdin; piped: those that it may get from the command before it in the pipeline. globs:
    number of a word -> its text, where the word is None because the shell puts files in its place;
    redirected: such texts in the place of the file of a redirection.
    """

    cwd: str | None
    words: list[Word] = []
    inputs: list[Word] = []
    outputs: list[tuple[Word, bool]] = []
    bodies: list[str] = []
    globs: dict[int, str] = {}
    side_outputs: list[tuple[Word, bool]] = []
    piped: list[str] = []
    redirected: list[str] = []

    @property
    def program(self) -> str:
        """The name of the program, without its folder; "" where it is unknown."""
        return last_name(self.words[0]) if self.words else ""


def last_name(word: Word) -> str:
    """Return the last part of a path; "" for an unknown word."""
    return (word or "").rpartition("/")[2]


def parse_command(command: str) -> Node | None:
    """Return the syntax tree of a command line; None when it reaches a limit."""
    from tree_sitter import Language
    from tree_sitter_bash import language

    from sightline.shell_parsing.syntax_tree import parse

    source = command.encode("utf-8", "replace")
    bash = Language(language())
    return parse(bash, source, bytes_max=BYTES_MAX, seconds_max=SECONDS_MAX)


def pipelines(command: str, cwd: str) -> list[list[SimpleCommand]]:
    """Return the pipelines of a command line in order, each with its commands. cwd: an absolute
    folder. A part that is no valid syntax is left out."""
    return _Reader(command, cwd).pipelines


def all_commands(command: str, cwd: str) -> list[SimpleCommand]:
    """Return all commands of a command line; none where some syntax is not understood."""
    reader = _Reader(command, cwd)
    return [simple for pipe in reader.pipelines for simple in pipe] if reader.is_complete else []


def start_folders(command: str, cwd: str) -> tuple[str, ...]:
    """Return the folders that a command may have started in. cwd: the folder that a host names
    after the command, which is the folder before it or, for some hosts, the one it led to."""
    if "cd" not in command and "pushd" not in command:
        return (cwd,)
    unknown = UNNAMED * UNNAMED_DEPTH
    target = _Reader(command, unknown).cwd or ""
    below = target.rpartition(UNNAMED)[2]
    if not target.startswith(UNNAMED) or target == unknown or not cwd.endswith(below):
        return (cwd,)
    climbed = UNNAMED_DEPTH - target.count(UNNAMED)
    return (cwd, cwd.removesuffix(below) + UNNAMED * climbed)


def inner_line(simple: SimpleCommand) -> str | None:
    """Return the command line that a command passes to another shell; None for any other command."""
    words = list(simple.words)
    name = simple.program
    if name == "eval":
        return None if None in words else " ".join(map(str, words[1:]))
    if name not in SHELLS:
        return None
    for at, word in enumerate(words[1:], 1):
        if re.fullmatch("-[a-z]*c", word or ""):
            return words[at + 1] if at + 1 < len(words) else None
        if word is None or word[:1] != "-":
            return None  # a script in a file
        if word == "-s":
            break
    texts = simple.bodies or simple.piped
    return texts[-1] if texts else None


def printed_texts(simple: SimpleCommand) -> list[str]:
    """Return the texts that echo, printf or cat may print, where the command line holds them. Which one
    depends on the shell."""
    if simple.program in ("echo", "printf"):
        return _printed(simple.program, simple.words[1:])
    if simple.program == "cat" and len(simple.words) == 1 and not simple.inputs:
        return simple.bodies or simple.piped
    return []


def _printed(name: str, words: Sequence[Word]) -> list[str]:
    known = [word for word in words if word is not None]
    if not words or len(known) < len(words):
        return []
    if name == "echo":
        has_option = known[0] in ("-n", "-e", "-en", "-ne")
        text = " ".join(known[has_option:])
        ended = text if has_option and "n" in known[0] else text + "\n"
        return [ended, _with_signs(ended)]
    template = _with_signs(known[0]).replace("%%", "%")
    if "%s" not in template:
        return [] if "%" in known[0].replace("%%", "") else [template]
    if template.count("%") > 1:
        return []
    return ["".join(template.replace("%s", word) for word in known[1:] or [""])]


def _with_signs(text: str) -> str:
    signs = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
    return re.sub(r"\\([ntr\\])", lambda match: signs[match[1]], text)


def git_words(words: Sequence[Word], cwd: str | None) -> tuple[list[Word], str | None]:
    """Return git's command and its words, and the folder it runs in. words: behind "git"."""
    left = list(words)
    while left and left[0] is not None and left[0].startswith("-"):
        option = left.pop(0)
        if option in ("-C", "-c", "--git-dir", "--work-tree") and left:
            value = left.pop(0)
            if option == "-C":
                cwd = absolute_path(cwd, value)
    return left, cwd


def absolute_path(cwd: str | None, path: Word) -> str | None:
    """Return the absolute path that a command means by a word; None where it is unknown."""
    if not path:
        return None
    if not path.startswith("/") and path[1:3] not in (":/", ":\\"):
        if cwd is None:
            return None
        path = f"{cwd}/{path}"
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" * path.startswith("/") + "/".join(parts)


class _Reader:
    """Collects pipelines from a syntax tree, in the order of the text. cwd: where the commands
    read so far lead to. is_complete: no part of the command line was left out."""

    def __init__(self, command: str, cwd: str) -> None:
        self.cwd: str | None = cwd
        self.pipelines: list[list[SimpleCommand]] = []
        self._variables: dict[str, str] = {}
        self._patterns: dict[str, str] = {}  # variable -> the pattern of a loop's files
        self._rounds = 0
        self._pipeline: list[SimpleCommand] = []
        self._command: SimpleCommand | None = None
        self._continues = False
        self._is_herestring = False
        root = parse_command(command)
        self.is_complete = root is not None and not root.has_error
        if root is not None:
            self._source = command.encode("utf-8", "replace")
            self._read(root, 0)
            self._end_pipeline()

    def _read(self, node: Node, depth: int) -> None:
        kind = node.type
        if kind == "ERROR":
            self._is_herestring = _text(node) == "<<"
            if not self._is_herestring:
                self._pipeline, self._command = [], None
            return
        if node.has_error and kind in (*COMMANDS, "heredoc_redirect"):
            return
        if depth > NESTING_MAX:
            self.is_complete = False
        elif kind in COMMANDS:
            self._read_command(node, depth)
        elif kind in REDIRECTS:
            self._read_redirect(node, depth)
        elif kind in SUBSHELLS:
            self._read_subshell(node, depth)
        elif kind in (*ARITHMETIC, "variable_assignment"):
            self._assign(node)
            self._read_substitutions(node, depth)
        elif kind in ("|", "|&"):
            self._continues = bool(self._pipeline)
        elif kind in ENDS:
            self._end_pipeline(in_background=kind == "&")
        else:
            self._read_parts(node, depth)

    def _read_parts(self, node: Node, depth: int) -> None:
        if node.type == "for_statement":
            self._read_loop(node, depth)
            return
        for child in node.children:
            self._read(child, depth + 1)

    def _read_command(self, node: Node, depth: int) -> None:
        self._begin_command()
        for child in node.children:
            if child.type in REDIRECTS:
                self._read_redirect(child, depth)
            elif child.type == "variable_assignment" and node.type == "command":
                self._read_substitutions(child, depth + 1)
            else:
                if child.type == "variable_assignment":
                    self._assign(child)  # of export, declare or local
                self._add_word(child, depth)

    def _read_loop(self, node: Node, depth: int) -> None:
        """Read the body of `for` once for each word."""
        name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        for child in node.children:
            if child != body:
                self._read_substitutions(child, depth + 1)
        words = [
            each for value in node.children_by_field_name("value") for each in self._words(value)
        ]
        if (None, None) in words or self._rounds + len(words) > ROUNDS_MAX:
            words = []
        self._rounds += len(words)
        for word, glob in words or [(None, None)]:
            self._set(_text(name) if name else "", word, glob)
            if body is not None:
                self._read(body, depth + 1)

    def _set(self, name: str, value: str | None, pattern: str | None = None) -> None:
        """Remember the value of a variable, or the pattern of the files that it names; forget what is
        unknown."""
        self._variables.pop(name, None)
        self._patterns.pop(name, None)
        if value is not None:
            self._variables[name] = value
        elif pattern is not None:
            self._patterns[name] = pattern

    def _assign(self, node: Node) -> None:
        """Remember the value of a variable that the command line itself sets. The shell neither splits
        this value nor puts files in its place."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        sign = next((child.type for child in node.children if child.type in ("=", "+=")), "")
        if value is not None and value.type == "array":
            words = [each for child in value.named_children for each in self._words(child)]
            known = [word for word, _ in words if word is not None]
            self._set(f"{_text(name)}[@]", " ".join(known) if len(known) == len(words) else None)
        elif sign != "=" or name.type != "variable_name":
            self._set(_text(name), None)
        else:
            self._set(_text(name), "" if value is None else self._assigned(value))

    def _assigned(self, node: Node) -> Word:
        self._set("PWD", self.cwd)
        if node.type in EXPANSIONS:
            return _value(node, self._variables)
        parts = node.children if node.type == "concatenation" else [node]
        plain = [part.type == "word" and _text(part)[:1] != "~" for part in parts]
        words = [
            _without_escapes(_text(part)) if is_plain else self._decoded(part)
            for part, is_plain in zip(parts, plain, strict=True)
        ]
        return None if None in words else "".join(map(str, words))

    def _words(self, node: Node) -> Iterator[tuple[Word, str | None]]:
        """Yield the words that the shell makes of one, each with its pattern where it is None because the
        shell puts files in its place."""
        self._set("PWD", self.cwd)
        inner = node
        while inner.type in ("command_name", "string") and inner.named_child_count == 1:
            inner = inner.named_children[0]
        is_list = re.fullmatch(r"\$\{?(@|\*|\w+\[[@*]\])\}?", _text(inner)) is not None
        value = _value(inner, self._variables) if is_list or inner is node else None
        if value is not None and inner.type in EXPANSIONS:
            for part in value.split():
                yield (None, part) if _is_pattern(part) else (part, None)
            return
        word = self._decoded(node)
        yield word, None if word is not None else _glob(node, self._variables, self._patterns)

    def _decoded(self, node: Node) -> Word:
        self._set("PWD", self.cwd)
        return _decoded(node, self._variables)

    def _begin_command(self) -> SimpleCommand:
        if not self._continues:
            self._end_pipeline()
        self._continues = False
        self._command = SimpleCommand(self.cwd)
        self._pipeline.append(self._command)
        return self._command

    def _add_word(self, node: Node, depth: int) -> None:
        assert self._command is not None
        for word, glob in self._words(node):
            name, equals, _ = (word or "").partition("=")
            if self._command.words or not (equals and name.isidentifier()):
                if glob is not None:
                    self._command.globs[len(self._command.words)] = glob
                self._command.words.append(word)
            if word is None:
                self._read_substitutions(node, depth + 1)

    def _read_redirect(self, node: Node, depth: int) -> None:
        command = self._command or self._begin_command()
        if node.type == "herestring_redirect":
            command.bodies.append(f"{self._decoded(node.children[-1]) or ''}\n")
        elif node.type == "heredoc_redirect":
            self._read_heredoc(node, command, depth)
        else:
            self._read_file_redirect(node, command, depth)

    def _read_file_redirect(self, node: Node, command: SimpleCommand, depth: int) -> None:
        """The grammar also counts arguments after a redirection's target as its targets. It splits
        the sign of a herestring after a redirection: `<<` is an error before the redirection `<`."""
        descriptor = node.child_by_field_name("descriptor")
        sign = next(child.type for child in node.children if child != descriptor)
        targets = node.children_by_field_name("destination")
        if targets:
            word, glob = next(self._words(targets[0]), (None, None))
            if glob is not None:
                command.redirected.append(glob)
            to_stdout = descriptor is None or _text(descriptor) == "1"
            if self._is_herestring:
                command.bodies.append(f"{word or ''}\n")
            elif sign == "<":
                command.inputs.append(word)
            elif ">" in sign and not (sign == ">&" and re.fullmatch(r"\d+-?|-", word or "")):
                files = command.outputs if to_stdout else command.side_outputs
                files.append((word, sign in (">>", "&>>")))
            for target in targets[1:]:
                self._add_word(target, depth)
        self._is_herestring = False

    def _read_heredoc(self, node: Node, command: SimpleCommand, depth: int) -> None:
        """The rest of the command's line stands inside the heredoc's node. The grammar leaves
        blanks at the start of a body out, so the body is cut from the source."""
        for child in node.children:
            if child.type in ("word", "string", "raw_string", "concatenation"):
                self._add_word(child, depth)
            elif child.type == "heredoc_body":
                self._read_substitutions(child, depth + 1)
            else:
                self._read(child, depth + 1)
        body = ("heredoc_body", "heredoc_end")
        line_end = max(child.end_byte for child in node.children if child.type not in body)
        begin = self._source.find(b"\n", line_end) + 1
        end = self._source.rfind(b"\n", 0, node.children[-1].start_byte + 1) + 1
        text = self._source[begin:end].decode()
        strips_tabs = any(child.type == "<<-" for child in node.children)
        command.bodies.append(re.sub(r"(?m)^\t+", "", text) if strips_tabs else text)

    def _read_substitutions(self, node: Node, depth: int) -> None:
        if node.type in SUBSHELLS:
            self._read_subshell(node, depth)
        elif depth > NESTING_MAX:
            self.is_complete = False
        else:
            for child in node.children:
                self._read_substitutions(child, depth + 1)

    def _read_subshell(self, node: Node, depth: int) -> None:
        """Read the commands as pipelines of their own. A subshell's cd ends with the subshell."""
        if node.type == "subshell":
            self._end_pipeline()
        outer = self.cwd, self._pipeline, self._command
        self._pipeline, self._command = [], None
        for child in node.children:
            self._read(child, depth + 1)
        self._end_pipeline()
        self.cwd, self._pipeline, self._command = outer

    def _end_pipeline(self, *, in_background: bool = False) -> None:
        """Outside a pipeline and in the foreground, cd moves the commands after it."""
        for each in self._pipeline:
            _unwrap(each)
        commands = [
            each
            for each in self._pipeline
            if each.words or each.inputs or each.outputs or each.side_outputs
        ]
        for before, after in pairwise(commands):
            after.piped = [] if before.outputs else printed_texts(before)
        for each in commands:
            _hand_over(each)
        self._pipeline, self._command, self._continues = [], None, False
        if commands:
            self.pipelines.append(commands)
        if len(commands) != 1 or in_background:
            return
        words = [word for word in commands[0].words if word != "--"]
        if words[:1] in (["cd"], ["pushd"], ["popd"]):
            target = words[1] if words[0] != "popd" and len(words) == 2 else None
            self.cwd = None if target in (None, "-") else absolute_path(self.cwd, target)
        elif words[:1] == ["set"] and "--" in commands[0].words:
            operands = commands[0].words[commands[0].words.index("--") + 1 :]
            known = [word for word in operands if word is not None]
            self._set("@", " ".join(known) if len(known) == len(operands) else None)
            for at, word in enumerate(operands, 1):
                self._set(str(at), word)


def _unwrap(command: SimpleCommand) -> None:
    """Take the words of WRAPPERS, with their options, from the front of a command."""
    words = command.words
    at = 0
    while at < len(words) and (name := last_name(words[at])) in WRAPPERS:
        option = words[at + 1] if at + 1 < len(words) else None
        if name == "command" and option in ("-v", "-V"):
            break
        at += 1
        while at < len(words) and (word := words[at] or "")[:1] == "-" and word != "-":
            at += 1
            if word == "--":
                break
            at += re.fullmatch(rf"-[a-zA-Z]*[{WRAPPERS[name]}]", word) is not None
        if name in ("env", "sudo"):
            while at < len(words) and re.match(r"[A-Za-z_]\w*=", words[at] or ""):
                at += 1
        at += name == "timeout"
    if at:
        command.words = words[at:]
        command.globs = {n - at: glob for n, glob in command.globs.items() if n >= at}


def _hand_over(command: SimpleCommand) -> None:
    """Put the words that xargs gets from a text of the command line behind those of its program."""
    texts = command.bodies or command.piped
    if command.program != "xargs" or not texts:
        return
    at, words, mark = 1, command.words, ""
    while at < len(words) and (word := words[at] or "")[:1] == "-":
        at += 1
        if re.fullmatch(r"-[I]", word) and at < len(words):
            mark = words[at] or ""
        elif word[:2] == "-I":
            mark = word[2:]
        at += re.fullmatch(r"-[a-zA-Z0-9]*[adEILnPs]", word) is not None
    given: list[Word] = [*re.split(r"[\s\0]+", texts[-1].strip())]
    if mark and len(given) == 1:
        command.words = [word and word.replace(mark, given[0] or "") for word in words[at:]]
    elif not mark:
        command.words = [*words[at:], *given]
    else:
        return
    command.globs, command.bodies, command.piped = {}, [], []


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _decoded(node: Node, variables: Mapping[str, str]) -> Word:
    """Return a word without its quotes; None where it stands for something else. variables: those with a
    known value."""
    text, kind = _text(node), node.type
    if kind == "command_name":
        return _decoded(node.children[0], variables)
    if kind == "raw_string":
        return text[1:-1]
    if kind == "string":
        return _in_quotes(node, variables)
    if kind in EXPANSIONS:
        value = _value(node, variables)
        return None if value is None or re.search(r"[\s*?\[]", value) else value
    if kind == "ansi_c_string" and "\\" not in text:
        return text[2:-1]
    if kind == "concatenation":
        parts = [_decoded(child, variables) for child in node.children]
        bare = "".join(_text(child) for child in node.children if child.type == "word")
        return None if None in parts or _is_pattern(bare) else "".join(map(str, parts))
    if node.children or kind in ("ansi_c_string", "translated_string") or _is_pattern(text):
        return None
    return _without_escapes(text)


def _without_escapes(text: str) -> str:
    return re.sub(r"\\(?:\n|(.))", r"\1", text)


def _in_quotes(node: Node, variables: Mapping[str, str]) -> Word:
    """Return the text between double quotes; None where a part of it is unknown."""
    source, at, parts = node.text or b"", 1, list[str]()
    for child in node.children:
        if child.type in ('"', "$", "string_content"):
            continue
        value = _value(child, variables)
        if value is None:
            return None
        begins, ends = child.start_byte - node.start_byte, child.end_byte - node.start_byte
        parts += [_unescaped(source[at:begins].decode()), value]
        at = ends
    return "".join([*parts, _unescaped(source[at:-1].decode())])


def _unescaped(text: str) -> str:
    return re.sub(r'\\(?:\n|([\\"$`]))', r"\1", text)


def _value(node: Node, variables: Mapping[str, str]) -> str | None:
    """Return what the shell puts in the place of a variable or of $(pwd); None where it is unknown."""
    if node.type not in EXPANSIONS:
        return None
    text = _text(node).strip("`$(){} ")
    if node.type == "command_substitution":
        return variables.get("PWD") if text == "pwd" else None
    return variables.get(text)


def _glob(node: Node, variables: Mapping[str, str], patterns: Mapping[str, str]) -> str | None:
    """Return the pattern of file names that a word is; None for any other word. variables: those with a
    known value; patterns: those that stand for files, each with its pattern."""
    if node.type in ("concatenation", "command_name", "string"):
        is_quoted = node.type == "string"
        parts = [
            _glob_part(child, variables, patterns, is_quoted=is_quoted)
            for child in node.children
            if child.type != '"'
        ]
        return None if None in parts else "".join(map(str, parts))
    return _glob_part(node, variables, patterns)


def _glob_part(
    node: Node,
    variables: Mapping[str, str],
    patterns: Mapping[str, str],
    *,
    is_quoted: bool = False,
) -> str | None:
    if node.type in EXPANSIONS:
        name = _text(node).strip("`$(){} ")
        if name in patterns:
            return patterns[name]
        value = _value(node, variables)
        return value if value is None or not is_quoted else _escaped(value)
    if node.type in ("raw_string", "ansi_c_string"):
        word = _decoded(node, {})
        return None if word is None else _escaped(word)
    if node.type in ("concatenation", "string"):
        return _glob(node, variables, patterns)
    text = _text(node)
    if is_quoted:
        return _escaped(_unescaped(text))
    is_plain = not node.children or node.type == "brace_expression"
    return text if is_plain and text[:1] != "~" and not set(text) & set("$`\\") else None


def _escaped(text: str) -> str:
    """Return a pattern that stands for a text itself."""
    return re.sub(r"([*?\[{])", r"[\1]", text)


def _is_pattern(text: str) -> bool:
    """Return whether the shell puts something else in place of an unquoted text."""
    bare = re.sub(r"\\.|\{\}", "", text, flags=re.DOTALL)
    return text.startswith("~") or (
        bare not in ("{", "}", "[", "[[") and any(sign in bare for sign in "$`*?[{")
    )
