"""Find the files that a program in a command line names, reads and writes: `python3 - <<EOF`, `node -e`.

A program in Python is parsed. Of other languages only the strings count, and the function that takes
them. What a program computes is unknown here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from sightline.shell_parsing.command_line import SimpleCommand, Word, absolute_path, last_name

LANGUAGES = {
    "bun": ("-e", "--eval"),
    "deno": ("eval",),
    "node": ("-e", "--eval", "-p", "--print", "-pe"),
    "perl": ("-e", "-E"),
    "php": ("-r",),
    "python": ("-c",),
    "ruby": ("-e",),
}
"""Interpreter -> its options before a program. A version may follow its name."""

RUNNERS = frozenset(("conda", "env", "hatch", "nice", "nohup", "pdm", "pipenv", "poetry", "stdbuf",
    "timeout", "uv"))  # fmt: skip
"""Programs that start another one, which their words name."""

CODE_MAX = 100_000
"""Characters of a program that are parsed."""


class Script(Struct, frozen=True):
    """A program in a command line. language: a name of LANGUAGES; code: its text, "" for a program in a
    file; operands: the words behind it."""

    language: str
    code: str
    operands: tuple[Word, ...] = ()


class ScriptFile(Struct, frozen=True):
    """A file that a program names, and what the program does to the file. path: absolute. is_read: it reads the file, too; is_written: it may
    change it; is_whole: it writes over all of it; is_removed: it removes it. text: the whole text, where the program holds it.
    lines: numbers of lines that it names, where it takes the file's lines apart."""

    path: str
    is_read: bool = False
    is_written: bool = False
    is_whole: bool = False
    text: str | None = None
    lines: tuple[int, ...] = ()
    is_removed: bool = False


def script_of(simple: SimpleCommand) -> Script | None:
    """Return the program that a command runs; None for a command that is no interpreter's."""
    words, texts = list(simple.words), simple.bodies or simple.piped
    if words and last_name(words[0]) in RUNNERS:
        words = words[next((at for at, word in enumerate(words) if _language(word)), len(words)) :]
    language = _language(words[0]) if words else ""
    if not language:
        return None
    for at, word in enumerate(words[1:], 1):
        is_code = word in LANGUAGES[language] or (
            language == "perl" and re.fullmatch(r"-[a-zA-Z]*[eE]", word or "")
        )
        if is_code:
            code = words[at + 1] if at + 1 < len(words) else None
            return Script(language, code or "", tuple(words[at + 2 :]))
        if word == "-m" and language == "python":
            return None  # a module: its words are its own
        if word == "-" or word is None or word[:1] != "-":
            if word == "-" and texts:
                return Script(language, texts[-1], tuple(words[at + 1 :]))
            return Script(language, "", tuple(words[at + 1 :]))
    return Script(language, texts[-1]) if texts else None


def script_files(simple: SimpleCommand) -> tuple[ScriptFile, ...]:
    """Return the files that the program of a command names."""
    script = script_of(simple)
    if script is None or not script.code or len(script.code) > CODE_MAX:
        return ()
    found = _of_python(script.code) if script.language == "python" else None
    if found is None:
        found = _of_strings(script.code)
    files: list[ScriptFile] = []
    for name, use in found.items():
        path = absolute_path(simple.cwd, name)
        if path is not None:
            files.append(use.named(path))
    return tuple(files)


def _language(word: Word) -> str:
    name = re.sub(r"[\d.]+$", "", last_name(word))
    return name if name in LANGUAGES else ""


class _Use:
    """The uses of one file in a program. is_emptied: it was opened to be written over. texts: what is
    written then, None for an unknown text."""

    def __init__(self) -> None:
        self.is_read = self.is_changed = self.is_emptied = self.is_removed = False
        self.texts: list[str | None] = []
        self.lines: set[int] = set()

    def named(self, path: str) -> ScriptFile:
        whole = self.is_emptied or bool(self.texts)
        is_known = bool(self.texts) and None not in self.texts
        text = "".join(filter(None, self.texts)) if is_known else None
        written = whole or self.is_changed
        lines = tuple(sorted(self.lines)) if written else ()
        return ScriptFile(path, self.is_read, written, whole, text, lines, self.is_removed)


_CALLS = (
    r"(?:write(?:_?[tT]ext)?(?:_?[fF]ile)?(?:Sync)?|file_put_contents|outputFile(?:Sync)?"
    r"|createWriteStream)\s*\(\s*$"
)
"""What stands before the name of a file that a program writes over."""

_REMOVES = r"(?:unlink|remove|rm|delete)(?:Sync)?\s*\(?\s*$"
"""What stands before the name of a file that a program removes."""

_CHANGES = r"(?:append|unlink|remove|rename|copy|cp|mv|rm|delete|chmod|truncate)\w*\s*\(?\s*$"
"""What stands before the name of a file that a program changes otherwise."""

_OPENS = r"\bopen\b[^;\n]{0,60}$"

_STRING = re.compile(
    r""""((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\$]|\\.)*)`""", re.DOTALL
)


_ASSIGNED = re.compile(r"""(\$?\b[A-Za-z_]\w*)\s*=\s*("[^"\\\n$]+"|'[^'\\\n]+')\s*[;\n]""")
"""A variable that is given a plain string."""


def _of_strings(code: str) -> dict[str, _Use]:
    """Return the uses of files by the strings of a program, and what stands before each."""
    uses: dict[str, _Use] = {}
    assigned = dict(_ASSIGNED.findall(code))
    code = _ASSIGNED.sub(";", code)
    for name, quoted in assigned.items():
        code = re.sub(
            rf"(?<![\w$.]){re.escape(name)}(?![\w(=])(?!\s*=[^=])", _escaped(quoted), code
        )
    for found in _STRING.finditer(code):
        text = next(each for each in found.groups() if each is not None)
        mode, name = re.fullmatch(r"(\+?[<>]{0,2})\s*(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
        if not name or "\n" in name or len(name) > 1_000:
            continue
        use = uses.setdefault(name, _Use())
        before, after = code[max(found.start() - 80, 0) : found.start()], code[found.end() :]
        if re.search(_CALLS, before):
            use.texts.append(_argument(after))
        elif re.search(_CHANGES, before):
            use.is_changed = True
            use.is_removed = re.search(_REMOVES, before) is not None
        elif re.search(_OPENS, before):
            way = re.match(r"""\s*,\s*["']([rwax+bt]+)["']""", after)
            is_writing = mode == ">" or (way is not None and way[1][:1] in "wx")
            if is_writing or re.search(r""">["']\s*,\s*$""", before):
                use.texts.append(None)
            elif ">" in mode or (way is not None and set(way[1]) & set("a+")):
                use.is_changed = True
            else:
                use.is_read = True
        else:
            use.is_read = True
    return uses


def _escaped(text: str) -> str:
    """Return a text as re.sub puts it in."""
    return text.replace("\\", r"\\")


def _argument(after: str) -> str | None:
    """Return the string that follows as the next argument, and is the last; None for any other text."""
    found = re.match(r"\s*,\s*", after)
    string = _STRING.match(after, found.end()) if found else None
    if string is None or not re.match(r"\s*[,)]", after[string.end() :]):
        return None
    text = next(each for each in string.groups() if each is not None)
    signs = {"n": "\n", "t": "\t", "r": "\r"}
    return re.sub(r"\\(.)", lambda sign: signs.get(sign[1], sign[1]), text, flags=re.DOTALL)


def _of_python(code: str) -> dict[str, _Use] | None:
    """Return the uses of files in a program in Python; None where it cannot be parsed."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    reader = _PythonReader()
    try:
        reader.visit(tree)
    except RecursionError:
        return None
    return reader.uses


READERS = ("read_text", "read_bytes")
WRITERS = ("write_text", "write_bytes")
MODULES = ("os", "shutil", "pathlib", "io", "codecs", "builtins")
REMOVERS = ("remove", "unlink", "rename", "replace", "move", "copy", "copy2", "copyfile", "rmtree")


class _PythonReader(ast.NodeVisitor):
    """Collects the uses of files. The variables hold what the program gave them last, in the order of its
    text."""

    def __init__(self) -> None:
        self.uses: dict[str, _Use] = {}
        self._texts: dict[str, str] = {}
        self._handles: dict[str, tuple[str, str]] = {}
        self._lists: dict[str, str] = {}

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self._set(target.id, node.value)

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            self.visit(item.context_expr)
            if isinstance(item.optional_vars, ast.Name):
                self._set(item.optional_vars.id, item.context_expr)
        for each in node.body:
            self.visit(each)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        if (opened := self._opened(node)) is not None:
            self._open(*opened)
            return
        if not isinstance(node.func, ast.Attribute):
            self._print(node)
            return
        name, owner = node.func.attr, node.func.value
        if name in ("write", "writelines"):
            handle = self._handle(owner)
            if handle is not None and handle[1][:1] in ("w", "x"):
                text = self._text(node.args[0]) if name == "write" and node.args else None
                self._use(handle[0]).texts.append(text)
        elif name in ("insert", "pop") and isinstance(owner, ast.Name) and owner.id in self._lists:
            self._number(owner.id, node.args[0] if node.args else None)
        elif name in WRITERS or name in READERS:
            path_read = self._text(owner)
            if path_read is not None and name in READERS:
                self._use(path_read).is_read = True
            elif path_read is not None:
                self._use(path_read).texts.append(self._text(node.args[0]) if node.args else None)
        elif name in REMOVERS:
            self._moved(name, owner, node.args)

    def _open(self, path: str, mode: str) -> None:
        use = self._use(path)
        if mode[:1] in ("r", ""):
            use.is_read = True
        elif mode[:1] in ("w", "x"):
            use.is_emptied = True
        if set(mode) & {"a", "+"}:
            use.is_changed = True

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in self._lists:
            parts = (
                (node.slice.lower, node.slice.upper)
                if isinstance(node.slice, ast.Slice)
                else (node.slice,)
            )
            for part in parts:
                self._number(node.value.id, part)

    def _number(self, name: str, at: ast.expr | None) -> None:
        if isinstance(at, ast.Constant) and isinstance(at.value, int) and at.value >= 0:
            self._use(self._lists[name]).lines.add(at.value + 1)

    def _print(self, node: ast.Call) -> None:
        """Count what print writes into an opened file."""
        handle = next((self._handle(k.value) for k in node.keywords if k.arg == "file"), None)
        if handle is not None and handle[1][:1] in ("w", "x"):
            self._use(handle[0]).texts.append(None)

    def _moved(self, name: str, owner: ast.expr, args: Sequence[ast.expr]) -> None:
        """Count what the functions of os and shutil, and the methods of a Path, do to files."""
        paths = [self._text(each) for each in args]
        if not (isinstance(owner, ast.Name) and owner.id in MODULES):
            if name not in ("unlink", "rename", "replace"):
                return
            own = self._text(owner)
            if own is None or (name == "replace" and len(args) > 1):
                return  # of a text
            paths.insert(0, own)
        is_copy = name.startswith("copy")
        for at, path in enumerate(paths[:2]):
            if path is not None and at:
                self._use(path).texts.append(None)
            elif path is not None and is_copy:
                self._use(path).is_read = True
            elif path is not None:
                self._use(path).is_changed = True
                self._use(path).is_removed = name in ("remove", "unlink", "rmtree")

    def _set(self, name: str, value: ast.expr) -> None:
        for values in (self._texts, self._handles, self._lists):
            values.pop(name, None)
        text, handle = self._text(value), self._handle(value)
        lines = next(self._lines_of(value), None)
        if text is not None:
            self._texts[name] = text
        elif handle is not None:
            self._handles[name] = handle
        if lines is not None:
            self._lists[name] = lines

    def _lines_of(self, value: ast.expr) -> Iterator[str]:
        """Yield the file whose lines a value holds: of readlines(), splitlines(), split or list()."""
        if not isinstance(value, ast.Call):
            return
        if isinstance(value.func, ast.Name) and value.func.id == "list" and value.args:
            handle = self._handle(value.args[0])
        elif isinstance(value.func, ast.Attribute) and value.func.attr == "readlines":
            handle = self._handle(value.func.value)
        elif isinstance(value.func, ast.Attribute) and value.func.attr in ("splitlines", "split"):
            inner = value.func.value
            whole = inner.func if isinstance(inner, ast.Call) else None
            if isinstance(inner, ast.Name) and inner.id in self._lists:
                yield self._lists[inner.id]
                return
            if not isinstance(whole, ast.Attribute) or whole.attr not in ("read", *READERS):
                return
            path = self._text(whole.value) if whole.attr in READERS else None
            handle = (path, "r") if path is not None else self._handle(whole.value)
        elif isinstance(value.func, ast.Attribute) and value.func.attr in ("read", *READERS):
            owner = value.func.value
            path = self._text(owner) if value.func.attr in READERS else None
            handle = (path, "r") if path is not None else self._handle(owner)
        else:
            return
        if handle is not None:
            yield handle[0]

    def _handle(self, value: ast.expr) -> tuple[str, str] | None:
        """Return the file and the mode that a value is opened with; None for any other value."""
        if isinstance(value, ast.Name):
            return self._handles.get(value.id)
        return self._opened(value) if isinstance(value, ast.Call) else None

    def _opened(self, call: ast.Call) -> tuple[str, str] | None:
        function, args = call.func, list(call.args)
        is_method = isinstance(function, ast.Attribute) and function.attr == "open"
        if isinstance(function, ast.Name) and function.id == "open":
            path = self._text(args.pop(0)) if args else None
        elif is_method and isinstance(function, ast.Attribute):
            owner = function.value
            is_module = isinstance(owner, ast.Name) and owner.id in MODULES
            path = (self._text(args.pop(0)) if args else None) if is_module else self._text(owner)
        else:
            return None
        modes = [*args[:1], *(each.value for each in call.keywords if each.arg == "mode")]
        mode = self._text(modes[0]) if modes else "r"
        return (
            None if path is None or mode is None else (path, mode.replace("b", "").replace("t", ""))
        )

    def _text(self, value: ast.expr) -> str | None:
        """Return the text, or the path, that a value is; None where it is unknown."""
        if isinstance(value, ast.Constant):
            if isinstance(value.value, bytes):
                return value.value.decode("utf-8", "replace")
            return value.value if isinstance(value.value, str) else None
        if isinstance(value, ast.Name):
            return self._texts.get(value.id)
        if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Div)):
            left, right = self._text(value.left), self._text(value.right)
            if left is None or right is None:
                return None
            return left + right if isinstance(value.op, ast.Add) else f"{left}/{right}"
        if not isinstance(value, ast.Call):
            return None
        name = value.func.attr if isinstance(value.func, ast.Attribute) else ""
        name = value.func.id if isinstance(value.func, ast.Name) else name
        if name in ("Path", "PurePath", "PosixPath", "join", "str", "fspath") and value.args:
            is_text = isinstance(value.func, ast.Attribute) and isinstance(
                value.func.value, ast.Constant
            )
            parts = [self._text(each) for each in value.args]
            return None if is_text or None in parts else "/".join(map(str, parts))
        if name in ("encode", "lstrip", "resolve", "absolute") and isinstance(
            value.func, ast.Attribute
        ):
            text = self._text(value.func.value)
            return text.lstrip() if text is not None and name == "lstrip" else text
        return None

    def _use(self, path: str) -> _Use:
        return self.uses.setdefault(path, _Use())
