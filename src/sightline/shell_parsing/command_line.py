"""Split a shell's command line into pipelines of simple commands, as far as its text alone allows.

The values of substitutions, patterns and most variables are unknown here: such a word is None. Known are
$PWD, $(pwd) and variables that the command line itself sets to a plain word. Control flow is not
followed: every simple command counts as one that may have run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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

PREFIXES = ("time", "sudo", "command", "builtin", "exec")
"""Words before a command that do not change its output."""


class SimpleCommand(Struct):
    """One command of a pipeline.

    words: without assignments and redirections. cwd: the folder it runs in, None where unknown.
    inputs: files that its stdin comes from. outputs: files that its stdout goes to, each with
    whether the output is appended. bodies: texts that the command line hands to its stdin. globs:
    number of a word -> its text, where the word is None because the shell puts files in its place.
    """

    cwd: str | None
    words: list[Word] = []
    inputs: list[Word] = []
    outputs: list[tuple[Word, bool]] = []
    bodies: list[str] = []
    globs: dict[int, str] = {}

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
    return simple.bodies[-1] if simple.bodies else None


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

    def _assign(self, node: Node) -> None:
        """Remember the value of a variable that the command line itself sets."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        word = "" if value is None else self._decoded(value)
        sign = next((child.type for child in node.children if child.type in ("=", "+=")), "")
        if word is None or sign != "=" or name.type != "variable_name":
            self._variables.pop(_text(name), None)
        else:
            self._variables[_text(name)] = word

    def _decoded(self, node: Node) -> Word:
        if self.cwd is None:
            self._variables.pop("PWD", None)
        else:
            self._variables["PWD"] = self.cwd
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
        word = self._decoded(node)
        name, equals, _ = (word or "").partition("=")
        is_prefix = word in PREFIXES or (equals and name.isidentifier())
        if self._command.words or not is_prefix:
            if word is None and (glob := _glob(node)) is not None:
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
            word = self._decoded(targets[0])
            to_stdout = descriptor is None or _text(descriptor) == "1"
            if self._is_herestring:
                command.bodies.append(f"{word or ''}\n")
            elif sign == "<":
                command.inputs.append(word)
            elif to_stdout and ">" in sign and not (sign == ">&" and (word or "").isdigit()):
                command.outputs.append((word, sign in (">>", "&>>")))
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
        commands = [each for each in self._pipeline if each.words or each.inputs or each.outputs]
        self._pipeline, self._command, self._continues = [], None, False
        if commands:
            self.pipelines.append(commands)
        if len(commands) != 1 or in_background:
            return
        words = [word for word in commands[0].words if word != "--"]
        if words[:1] in (["cd"], ["pushd"], ["popd"]):
            target = words[1] if words[0] != "popd" and len(words) == 2 else None
            self.cwd = None if target in (None, "-") else absolute_path(self.cwd, target)


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
    if kind == "concatenation":
        parts = [_decoded(child, variables) for child in node.children]
        bare = "".join(_text(child) for child in node.children if child.type == "word")
        return None if None in parts or _is_pattern(bare) else "".join(map(str, parts))
    if node.children or kind in ("ansi_c_string", "translated_string") or _is_pattern(text):
        return None
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


def _glob(node: Node) -> str | None:
    """Return the pattern of file names that a word is; None for any other word."""
    if node.type == "concatenation":
        parts = [_glob(child) for child in node.children]
        return None if None in parts else "".join(map(str, parts))
    if node.type in ("raw_string", "string"):
        word = _decoded(node, {})
        return None if word is None else re.sub(r"([*?\[{])", r"[\1]", word)
    text = _text(node)
    is_plain = not node.children or node.type == "brace_expression"
    return text if is_plain and text[:1] != "~" and not set(text) & set("$`\\") else None


def _is_pattern(text: str) -> bool:
    """Return whether the shell puts something else in place of an unquoted text."""
    bare = re.sub(r"\\.", "", text, flags=re.DOTALL)
    return text.startswith("~") or (
        bare not in ("{", "}", "[", "[[") and any(sign in bare for sign in "$`*?[{")
    )
