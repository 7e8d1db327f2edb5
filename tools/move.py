"""Rebuild the layout of the package by a table: move, merge and split modules, rename symbols.

    python tools/move.py [TABLE] [--check] [--force] [--report FILE]

The table (tools/move.tsv) has tab-separated rows; a line that starts with # is a comment:

    m  old.module  new.module                 a module moves; several olds of one new are merged
    s  old.module  name  new.module  newname  a top-level definition moves and/or is renamed;
                                              "=": where its module goes / the name it has
    t  old/path    new/path                   any other file moves (tests, bench, tools, data)
    d  old.module                             a module without code goes

Modules are written below `sightline`; the content of `a/b/__init__.py` is `a.b`; "." is
`sightline/__init__.py`. What the table does not name stays. Everything is read and resolved before
anything is written, and nothing is written when the report has an error.
"""

# ruff: noqa: PGH004
# ruff: noqa
# mypy: ignore-errors
from __future__ import annotations

import argparse
import ast
import builtins
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path.cwd()
TOP = "sightline"
TREES = {"sightline": "src/", "tests": "", "bench": "", "tools": ""}
PROSE = {".md", ".toml", ".txt", ".sh", ""}
NO_PROSE = re.compile(
    r"(^|/)(samples|data|recordings)/.*\.(md|txt|toml)$|hook_closure\.txt$|^LICENSE$"
)
BUILTINS = set(dir(builtins)) | {"__file__", "__name__", "__doc__", "__package__", "__spec__"}


class Report:
    """What the architect has to know. Sections in the order in which they are asked for."""

    ORDER = (
        "error",
        "warning",
        "shadow",
        "import name",
        "merge",
        "cycle",
        "by hand",
        "prose",
        "left",
    )

    def __init__(self):
        self.said = defaultdict(dict)

    def __call__(self, kind, text):
        self.said[kind][text] = None

    def __str__(self):
        out = []
        for kind in (*self.ORDER, *(set(self.said) - set(self.ORDER))):
            if self.said[kind]:
                out.append(f"== {kind} ({len(self.said[kind])})")
                out += [f"  {text}" for text in self.said[kind]]
        return "\n".join(out)


report = Report()


# ---------------------------------------------------------------- reading one file


class Scope:
    """A place of names. names: name -> its bindings, an Import or None for any other."""

    def __init__(self, kind, parent, node, source):
        self.kind, self.parent, self.node, self.source = kind, parent, node, source
        self.names = defaultdict(list)
        self.globals, self.nonlocals = set(), set()
        self.groups = {}
        self.keys = {}  # of a function or class: what is imported in it afterwards
        self.insert = []  # keys that get a new late import here

    def outward(self, *, beyond=False):
        """The scopes that are asked for a name, from here to the module."""
        scope, first = self, not beyond
        while scope is not None:
            if scope.kind != "class" or first:
                yield scope
            scope, first = scope.parent, False

    def find(self, name, *, beyond=False):
        for scope in self.outward(beyond=beyond):
            if name in scope.globals:
                return self.source.top
            if name in scope.names and name not in scope.nonlocals:
                return scope
        return None

    def function(self):
        """The outermost function around, None at module level."""
        found, scope = None, self
        while scope is not None:
            if scope.kind == "function":
                found = scope
            scope = scope.parent
        return found


class Import:
    """One alias of an import statement. target: what it names, in words of the old tree."""

    def __init__(self, name, target, stmt, alias, kind, item, scope):
        self.name, self.target, self.stmt, self.alias = name, target, stmt, alias
        self.kind, self.item, self.scope = kind, item, scope


class Group:
    """All import bindings of one name in one scope."""

    def __init__(self, scope, name, imports):
        self.scope, self.name, self.imports = scope, name, imports
        self.uses = []
        self.keys = defaultdict(list)  # new module -> Keys
        self.targets = {b.target for b in imports}
        tops = {b.target[0] for b in imports} <= {"top", "exttop"}
        self.mixed = None in scope.names[name] or (len(self.targets) > 1 and not tops)

    @property
    def target(self):
        return self.imports[0].target


class Use:
    """A place in the text that names a definition or module of the project, or an import."""

    def __init__(self, source, node, name, start, end, scope, item):
        self.source, self.node, self.name, self.start, self.end = source, node, name, start, end
        self.scope, self.item = scope, item
        self.attrs = []  # (name, end) of the chain behind it
        self.store = self.typing = self.deferred = self.annotation = False
        self.patch = None  # (text, start, end) of the string in setattr(module, "text")
        self.group = self.entity = self.key = self.via = None
        self.tail = ""
        self.beyond = False  # used in a class before the class binds this name
        self.home = None


class Item:
    """A top-level statement with the comments before it and the string after it."""

    def __init__(self, source, nodes, kind):
        self.source, self.nodes, self.kind = source, nodes, kind
        self.names, self.bound = [], set()
        self.start = self.end = 0
        self.uses = []
        self.dest = None
        self.gone = False
        self.aliases = []

    def __repr__(self):
        return f"{self.source.module}:{self.nodes[0].lineno}"


class Places:
    """Turns line and UTF-8 column into an offset."""

    def __init__(self, text):
        self.lines = text.splitlines(keepends=True) if text else [""]
        if "\x0c" in text or "\x1c" in text or "\u2028" in text or "\x85" in text:
            self.lines = re.findall(r"[^\n]*\n|[^\n]+$", text)
        self.starts, at = [], 0
        for line in self.lines:
            self.starts.append(at)
            at += len(line)
        self.starts.append(at)
        self.lines.append("")

    def __call__(self, line, col):
        text = self.lines[line - 1]
        if not text.isascii():
            col = len(text.encode()[:col].decode())
        return self.starts[line - 1] + col

    def chars(self, line, col):
        return self.starts[line - 1] + col


class Source:
    """One Python file: its statements, scopes and uses."""

    def __init__(self, module, path, text):
        self.module, self.path, self.text = module, path, text
        self.package = path.endswith("__init__.py")
        self.at = Places(text)
        self.tree = ast.parse(text)
        self.tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        self.top = Scope("module", None, self.tree, self)
        self.scopes = [self.top]
        self.uses, self.all_strings, self.unresolved = [], [], defaultdict(set)
        self.items, self.header = [], []
        self.doc = self.future = self.flag = self.checking = None
        self.edits = []
        self.imports_at = {}  # statement -> its Imports
        self.base = None
        self.item, self.kind = None, "body"
        self.defs, self.duals = {}, {}
        self.split()

    def pos(self, node):
        if self.base is not None:
            at, base = self.base
            return base + at(node.lineno, node.col_offset), base + at(
                node.end_lineno, node.end_col_offset
            )
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def first(self, node):
        """Where a statement begins, its decorators included."""
        lines = [d for d in getattr(node, "decorator_list", ())]
        return min([self.pos(node)[0], *(self.pos(d)[0] - 1 for d in lines)])

    # ---- the statements

    def split(self):
        body = list(self.tree.body)
        if body and is_string(body[0]):
            self.doc = body.pop(0)
        previous = self.pos(self.doc)[1] if self.doc else 0
        previous = self.line_end(previous) if self.doc else 0
        seen = False
        for node in body:
            if not seen and isinstance(node, ast.ImportFrom) and node.module == "__future__":
                self.future = node
                self.visit_import(node, self.top, "future", None)
            elif not seen and isinstance(node, (ast.Import, ast.ImportFrom)):
                self.header.append((node, previous, "run"))
                self.visit_import(node, self.top, "run", None)
            elif not seen and ast.unparse(node) == "TYPE_CHECKING = False":
                self.flag = node
                self.top.names["TYPE_CHECKING"].append(None)
            elif not seen and self.checking is None and is_checking(node):
                self.checking = node
                self.split_checking(node)
            else:
                seen = True
                self.add(self.items, node, previous, "body")
            previous = self.line_end(self.pos(node)[1])
        if self.items and self.items[-1].kind == "body":
            self.items[-1].end = len(self.text)
        self.trailing = "" if seen else self.text[previous:]
        for item in self.items:
            self.item, self.kind = item, "body"
            for node in item.nodes:
                self.visit(node, self.top)
        self.item = None

    def split_checking(self, node):
        previous = self.line_end(self.pos(node.test)[1])
        for child in node.body:
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                self.header.append((child, previous, "typing"))
                self.visit_import(child, self.top, "typing", None)
            else:
                self.add(self.items, child, previous, "typing")
            previous = self.line_end(self.pos(child)[1])
        if node.orelse:
            colon = self.text.index("else", previous)
            previous = self.line_end(self.text.index(":", colon) + 1)
            comment = self.text[self.text.index(":", colon) + 1 : previous].strip()
            self.else_comment = comment
            for child in node.orelse:
                self.add(self.items, child, previous, "orelse")
                previous = self.line_end(self.pos(child)[1])

    else_comment = ""

    def add(self, items, node, previous, kind):
        last = items[-1] if items else None
        target = last and last.nodes[0]
        follows = (
            last is not None
            and last.kind == kind
            and is_string(node)
            and isinstance(target, (ast.Assign, ast.AnnAssign, ast.AugAssign))
            and not is_string(last.nodes[-1])
        )
        if follows:
            last.nodes.append(node)
            last.end = self.line_end(self.pos(node)[1])
            return
        item = Item(self, [node], kind)
        item.start, item.end = previous, self.line_end(self.pos(node)[1])
        items.append(item)

    def line_end(self, at):
        """Behind the line on which `at` is, its comment and newline included."""
        end = self.text.find("\n", at)
        rest = self.text[at : end if end >= 0 else len(self.text)]
        if rest.strip().startswith(";"):
            report("error", f"{self.path}: two statements on one line: {rest.strip()}")
        return end + 1 if end >= 0 else len(self.text)

    # ---- names

    def bind(self, scope, name, binding=None):
        if name in scope.globals:
            scope = self.top
        while binding is None and scope.kind == "walrus":
            scope = scope.parent
        scope.names[name].append(binding)
        if scope is self.top and self.item is not None:
            self.item.bound.add(name)
            if name not in self.item.names:
                self.item.names.append(name)

    def visit_import(self, node, scope, kind, item):
        out = self.imports_at[node] = []
        for alias in node.names:
            if isinstance(node, ast.Import):
                top = alias.name.split(".")[0]
                if alias.asname:
                    name, target = alias.asname, ("name", alias.name, None)
                else:
                    name, target = top, ("top" if top in TREES else "exttop", alias.name)
            else:
                if alias.name == "*":
                    report("error", f"{self.path}:{node.lineno}: import *")
                module = node.module or ""
                if node.level:
                    parts = self.module.split(".")
                    parts = parts[: len(parts) - node.level + self.package]
                    module = ".".join([*parts, *([module] if module else [])])
                name, target = alias.asname or alias.name, ("name", module, alias.name)
            out.append(Import(name, target, node, alias, kind, item, scope))
            if kind != "future":
                self.bind(scope, name, out[-1])

    def use(self, node, name, start, end, scope):
        made = Use(self, node, name, start, end, scope, self.item)
        made.deferred = scope.function() is not None or in_lambda(scope)
        self.uses.append(made)
        if self.text[start:end] != name:
            report("error", f"{self.path}: cannot find {name!r} at offset {start}")
        return made

    def visit(self, node, scope, ann=False):  # noqa: C901
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            self.visit_function(node, scope)
        elif isinstance(node, ast.ClassDef):
            self.define(node, scope, "class")
            for child in (*node.decorator_list, *node.bases, *node.keywords):
                self.visit(child, scope)
            inner = self.scope("class", scope, node)
            for child in node.body:
                self.visit(child, inner)
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            inner = self.scope("comp", scope, node)
            for i, comp in enumerate(node.generators):
                self.visit(comp.iter, inner if i else scope, ann)
                self.visit(comp.target, inner, ann)
                for test in comp.ifs:
                    self.visit(test, inner, ann)
            parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
            for part in parts:
                self.visit(part, inner, ann)
        elif isinstance(node, ast.NamedExpr):
            home = scope
            while home.kind == "comp":
                home = home.parent
            self.visit(node.value, scope, ann)
            self.visit(node.target, home, ann)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            self.visit_chain(node, scope, ann)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            start, end = self.pos(node)
            for name in node.names:
                if isinstance(node, ast.Global):
                    scope.globals.add(name)
                    found = re.search(rf"\b{name}\b", self.text[start + 6 : end])
                    at = start + 6 + found.start()
                    self.use(node, name, at, at + len(name), scope).store = True
                    self.top.names.setdefault(name, [])
                else:
                    scope.nonlocals.add(name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            kind = "body" if scope is self.top else "local"
            self.visit_import(node, scope, kind, self.item)
        elif isinstance(node, ast.AnnAssign):
            if node.value:
                self.visit(node.value, scope)
            self.visit(node.target, scope)
            self.visit(node.annotation, scope, ann=True)
        elif isinstance(node, ast.Assign):  # the value is read before the name is bound
            if scope is self.top:
                self.visit_all_list(node)
            for child in (node.value, *node.targets):
                self.visit(child, scope, ann)
        elif isinstance(node, ast.Call):
            self.visit_call(node, scope, ann)
        elif isinstance(node, ast.JoinedStr):
            self.visit_fstring(node, scope, ann)
        elif isinstance(node, ast.Constant):
            if ann and isinstance(node.value, str):
                self.visit_quoted(node, scope)
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Literal"):
            self.visit(node.value, scope, ann)
            self.visit(node.slice, scope)
        else:
            name = getattr(node, "name", None) or getattr(node, "rest", None)
            if isinstance(name, str):  # except … as name, case … as name
                self.bind(scope, name)
            for child in ast.iter_child_nodes(node):
                self.visit(child, scope, ann)

    def scope(self, kind, parent, node):
        made = Scope(kind, parent, node, self)
        self.scopes.append(made)
        return made

    def visit_function(self, node, scope):
        args = node.args
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        if not isinstance(node, ast.Lambda):
            self.define(node, scope, "def")
            for child in node.decorator_list:
                self.visit(child, scope)
            if node.returns:
                self.visit(node.returns, scope, ann=True)
        for child in (*args.defaults, *(d for d in args.kw_defaults if d)):
            self.visit(child, scope)
        kind = "lambda" if isinstance(node, ast.Lambda) else "function"
        inner = self.scope(kind, scope, node)
        for arg in every:
            if arg is not None:
                self.bind(inner, arg.arg)
                if arg.annotation:
                    self.visit(arg.annotation, scope, ann=True)
        for child in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(child, inner)

    def define(self, node, scope, word):
        self.bind(scope, node.name)
        if scope is self.top:
            start = self.pos(node)[0]
            found = re.compile(rf"\b{word}\s+({node.name})\b").search(self.text, start)
            self.use(node, node.name, found.start(1), found.end(1), scope).store = True

    def visit_chain(self, node, scope, ann):
        chain = []
        while isinstance(node, ast.Attribute):
            chain.append(node)
            node = node.value
        if not isinstance(node, ast.Name):
            self.visit(node, scope, ann)
            return None
        stored = isinstance(node.ctx, (ast.Store, ast.Del))
        if stored:
            self.bind(scope, node.id)
        start, end = self.pos(node)
        use = self.use(node, node.id, start, end, scope)
        use.store, use.typing, use.annotation = stored, ann, ann
        use.beyond = scope.kind == "class" and not stored and not ann and node.id not in scope.names
        use.attrs = [(a.attr, self.pos(a)[1], isinstance(a.ctx, ast.Store)) for a in chain[::-1]]
        return use

    def visit_call(self, node, scope, ann):
        rest = node.args
        if node.args and isinstance(node.args[0], (ast.Name, ast.Attribute)):
            use = self.visit_chain(node.args[0], scope, ann)
            rest = node.args[1:]
            second = rest[0] if rest else None
            if use and isinstance(second, ast.Constant) and isinstance(second.value, str):
                start, end = self.pos(second)
                inside = self.text[start:end]
                if second.value.isidentifier() and inside[1:-1] == second.value:
                    use.patch = (second.value, start + 1, end - 1)
        elif node.args and ast.unparse(node.func).endswith("cast"):
            self.visit(node.args[0], scope, ann=True)
            rest = node.args[1:]
        self.visit(node.func, scope, ann)
        for child in (*rest, *node.keywords):
            quoted = isinstance(child, ast.keyword) and child.arg == "bound"
            self.visit(child, scope, ann or quoted)

    def visit_quoted(self, node, scope):
        start, end = self.pos(node)
        if self.text[start + 1 : end - 1] != node.value or self.base is not None:
            return
        try:
            tree = ast.parse(node.value, mode="eval")
        except SyntaxError:
            return
        self.base = (Places(node.value), start + 1)
        self.visit(tree.body, scope, ann=True)
        self.base = None

    def visit_fstring(self, node, scope, ann):
        """Positions inside f-strings are not to be relied on before 3.12: parse them here."""
        if sys.version_info >= (3, 12) or self.base is not None:
            for child in ast.iter_child_nodes(node):
                self.visit(child, scope, ann)
            return
        start, end = self.pos(node)
        for low, high in self.fstring_parts(start, end):
            text = self.text[low:high]
            tree = ast.parse(f"({text}\n)", mode="eval")
            self.base = (Places(f"({text}\n)"), low - 1)
            self.visit(tree.body, scope, ann)
            self.base = None

    def fstring_parts(self, start, end):
        """The code parts of the f-strings between two offsets."""
        for token in self.tokens:
            if token.type != tokenize.STRING:
                continue
            low = self.at.chars(*token.start)
            prefix = re.match(r"[A-Za-z]*", token.string)[0]
            if start <= low < end and "f" in prefix.lower():
                quotes = 3 if token.string[len(prefix) :][:3] in {'"""', "'''"} else 1
                body = low + len(prefix) + quotes
                yield from braces(self.text, body, low + len(token.string) - quotes)

    def visit_all_list(self, node):
        if ast.unparse(node.targets[0]) == "__all__":
            for child in ast.walk(node.value):
                if isinstance(child, ast.Constant) and isinstance(child.value, str):
                    start, end = self.pos(child)
                    self.all_strings.append((child.value, start + 1, end - 1))


def braces(text, at, end, *, spec=False):
    """The (start, end) of each expression of an f-string's inside."""
    while at < end:
        sign = text[at]
        if sign == "{" and text[at + 1] == "{" and not spec:
            at += 2
        elif sign == "{":
            low, depth, quote = at + 1, 0, None
            at += 1
            while True:
                sign = text[at]
                if quote:
                    quote = None if sign == quote else quote
                elif sign in "\"'":
                    quote = sign
                elif sign in "([{":
                    depth += 1
                elif depth and sign in ")]}":
                    depth -= 1
                elif not depth and (
                    sign in "}:"
                    or (sign == "!" and text[at + 1] != "=")
                    or (sign == "=" and text[at + 1] in "}:!" and text[at - 1] not in "=!<>")
                ):
                    break
                at += 1
            yield low, at
            while text[at] not in "}:":
                at += 1
            if text[at] == ":":
                low = at + 1
                depth = 0
                while depth or text[at] != "}":
                    depth += (text[at] == "{") - (text[at] == "}")
                    at += 1
                yield from braces(text, low, at, spec=True)
            at += 1
        else:
            at += 1


def is_string(node):
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def is_checking(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) in {
        "TYPE_CHECKING",
        "typing.TYPE_CHECKING",
    }


def in_lambda(scope):
    while scope is not None:
        if scope.kind == "lambda":
            return True
        scope = scope.parent
    return False


# ---------------------------------------------------------------- the old tree


def git(*args):
    return subprocess.run(
        ["git", *args], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def module_of(path):
    for top, prefix in TREES.items():
        if path.startswith(f"{prefix}{top}/") and path.endswith(".py"):
            return path[len(prefix) : -3].removesuffix("/__init__").replace("/", ".")
    return None


class Old:
    """The tree as it is, and what every name in it means."""

    def __init__(self):
        self.paths = git("ls-files").splitlines()
        self.sources, self.by_path = {}, {}
        for path in self.paths:
            module = module_of(path)
            if module and (ROOT / path).exists() and path != "tools/move.py":
                text = (ROOT / path).read_text(encoding="utf-8")
                if "\r" in text:
                    report("warning", f"{path}: has carriage returns; left alone as text")
                self.sources[module] = self.by_path[path] = Source(module, path, text)
        self.modules = set(self.sources)
        for module in list(self.modules):  # folders without __init__.py
            while "." in module:
                module = module.rpartition(".")[0]
                self.modules.add(module)
        self.homes = self.read_homes()
        for source in self.sources.values():
            self.name_definitions(source)
        for source in self.sources.values():
            self.resolve_uses(source)

    def read_homes(self):
        root = self.sources.get(TOP)
        for node in root.tree.body if root else ():
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
                self.homes_node = node
                table = ast.literal_eval(node.value)
                return {n: f"{TOP}.{home}" for home, names in table.items() for n in names.split()}
        return {}

    def name_definitions(self, source):
        for scope in source.scopes:
            for name, bindings in scope.names.items():
                imports = [b for b in bindings if b is not None]
                if imports:
                    scope.groups[name] = Group(scope, name, imports)
        by_name = defaultdict(list)
        for item in source.items:
            for name in item.names:
                by_name[name].append(item)
        for name, items in by_name.items():
            group = source.top.groups.get(name)
            if group and not group.mixed:
                continue
            in_header = group and any(b.kind in {"run", "typing"} for b in group.imports)
            if in_header and all(i.kind == "orelse" for i in items):
                source.duals[name] = items
            elif in_header:
                report("error", f"{source.path}: {name} is imported and also defined")
            else:
                source.defs[name] = items

    def final(self, target):
        """What an import's target is: ("mod", m), ("sym", m, n), ("facade", n) or ("ext", …)."""
        kind, module, *rest = target
        if kind == "exttop":
            return ("ext", target)
        if kind == "top":
            return ("mod", module.split(".")[0])
        name = rest[0]
        if module.split(".")[0] not in TREES or module not in self.modules:
            if module.split(".")[0] == TOP:
                report("error", f"an import names {module}, which is not there")
            return ("ext", target)
        if name is None:
            return ("mod", module)
        found = self.attribute(module, name)
        if found is None:
            report("error", f"an import names {module}.{name}, which is not there")
            return ("ext", target)
        return found

    def attribute(self, module, name, seen=()):
        """What `module.name` is; ("bind", m, n) for what m itself imported from elsewhere."""
        source = self.sources.get(module)
        below = f"{module}.{name}"
        if (module, name) in seen:
            return None
        if source is not None:
            if name in source.defs:
                if below in self.modules:
                    report("warning", f"{below} is a definition and a module")
                return ("sym", module, name)
            if module == TOP and name in self.homes:
                return ("facade", name)
            group = source.top.groups.get(name)
            if group is not None and name not in source.duals:
                target = group.target
                if target[0] == "name" and target[1] in self.modules:
                    if target[2] is None:
                        return ("mod", target[1])
                    found = self.attribute(target[1], target[2], (*seen, (module, name)))
                    if found is not None and found[0] != "bind":
                        return found
                if below not in self.modules:
                    return ("bind", module, name)
            elif name in source.duals:
                return ("bind", module, name)
        return ("mod", below) if below in self.modules else None

    def patched(self, module, name):
        """What setattr(module, name) changes: the module's own binding."""
        source = self.sources.get(module)
        if source is not None and name in source.defs:
            return ("sym", module, name)
        if source is not None and name in source.top.groups:
            return ("bind", module, name)
        if module == TOP and name in self.homes:
            return ("facade", name)
        return None

    def resolve_uses(self, source):
        for use in source.uses:
            scope = use.scope.find(use.name, beyond=use.beyond)
            if use.item is not None:
                use.item.uses.append(use)
                use.typing = use.typing or use.item.kind == "typing"
            use.home = scope
            if scope is None:
                source.unresolved[use.name].add(use.item)
                continue
            group = scope.groups.get(use.name)
            if group is not None and (scope is not source.top or use.name not in source.defs):
                use.group = group
                group.uses.append(use)
                self.follow(use, group)
            elif scope is source.top and use.name in source.defs:
                use.entity = ("sym", source.module, use.name)

    def follow(self, use, group):
        """Walk the attributes behind a module's name."""
        if group.mixed:
            return
        found = self.final(group.target)
        end, taken = use.end, []
        while found[0] == "mod" and use.attrs:
            name, stop, store = use.attrs[0]
            below = self.patched(found[1], name) if store else None
            below = below or self.attribute(found[1], name)
            if below is None:
                if not (name.startswith("__") and name.endswith("__")):
                    line = use.source.text.count("\n", 0, use.start) + 1
                    report("warning", f"{use.source.path}:{line}: {found[1]}.{name} is unknown")
                break
            found, end = below, stop
            taken.append(name)
            use.attrs.pop(0)
        if use.patch and not use.attrs and found[0] == "mod":
            target = self.patched(found[1], use.patch[0])
            if target is not None:
                found = ("patch", found[1], use.patch[0], target)
        use.entity, use.end, use.via = found, end, tuple(taken)


# ---------------------------------------------------------------- the table


class Table:
    """Where everything goes."""

    def __init__(self, path, old):
        self.old = old
        self.moved, self.symbols, self.files, self.deleted = {}, {}, {}, set()
        self.rank = {}
        self.new_symbol_rows = []
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            if line.strip() and not line.startswith("#"):
                self.row(number, line.rstrip().split("\t"))
        self.check()

    def full(self, module):
        return TOP if module in {".", "__init__", TOP} else f"{TOP}.{module}"

    def row(self, number, cells):
        def wrong(why):
            report("error", f"row {number}: {why}: {cells}")

        kind, *rest = cells
        if kind == "m" and len(rest) == 2:
            old, new = map(self.full, rest)
            if old not in self.old.sources:
                wrong("no such module")
            elif old in self.moved:
                wrong("a second row for this module")
            elif not all(p.isidentifier() for p in new.split(".")):
                wrong("no name of a module")
            else:
                self.moved[old] = new
                self.rank[old] = number
        elif kind == "s" and len(rest) in {3, 4}:
            old, name, new = self.full(rest[0]), rest[1], rest[2]
            source = self.old.sources.get(old)
            renamed = rest[3] if len(rest) == 4 and rest[3] != "=" else name
            if source is None or name not in source.defs:
                wrong("no such definition")
            elif (old, name) in self.symbols:
                wrong("a second row for this definition")
            elif not renamed.isidentifier():
                wrong("no name")
            else:
                self.symbols[old, name] = (None if new == "=" else self.full(new), renamed)
                if new != "=":
                    self.rank.setdefault(self.full(new), number)
        elif kind == "t" and len(rest) == 2:
            if rest[0] not in self.old.paths:
                wrong("no such file")
            elif rest[0].startswith(f"src/{TOP}/") and rest[0].endswith(".py"):
                wrong("modules move by m rows")
            else:
                self.files[rest[0]] = rest[1]
        elif kind == "d" and len(rest) == 1:
            source = self.old.sources.get(self.full(rest[0]))
            if source is None:
                wrong("no such module")
            elif source.items or source.header:
                wrong("the module has code")
            else:
                self.deleted.add(source.module)
        else:
            wrong("not understood")

    def check(self):
        targets = defaultdict(list)
        for path in self.old.paths:
            targets[self.files.get(path, path)].append(path)
        for new, olds in targets.items():
            if len(olds) > 1:
                report("error", f"several files would be {new}: {olds}")

    def module(self, old):
        """The new module of an old one; None when nothing is left of it."""
        if old in self.deleted:
            return None
        if old in self.moved:
            return self.moved[old]
        source = self.old.sources.get(old)
        if source is not None and source.path in self.files:
            return module_of(self.files[source.path])
        return old


# ---------------------------------------------------------------- the new tree


class Key:
    """One name that a new module (or a scope in it) imports. target, in words of the new tree:
    ("mod", m), ("sym", m, n), ("top", m), or ("ext", old target)."""

    def __init__(self, target, wanted, old):
        self.target, self.wanted, self.old = target, wanted, {old}
        self.name = None
        self.run = self.body = False
        self.header = False
        self.forced = False
        self.uses, self.files = [], set()

    @property
    def identity(self):
        if self.target[0] == "top" or self.target[0] == "ext" and self.target[1][0] == "exttop":
            dotted = self.target[1] if self.target[0] == "top" else self.target[1][1]
            return ("package", dotted.split(".")[0])
        if self.target[0] == "ext" and self.target[1][2] is None:
            return ("package", self.target[1][1])
        return self.target

    def render(self):
        if self.target[0] == "top":
            return f"import {self.target[1]}"
        if self.target[0] == "mod":
            package, _, name = self.target[1].rpartition(".")
        elif self.target[0] == "sym":
            _, package, name = self.target
        else:
            what = self.target[1]
            if what[0] == "exttop":
                if self.name != what[1].split(".")[0]:
                    return f"import {what[1]} as {self.name}"
                return f"import {what[1]}"
            _, package, name = what
            if name is None:
                return f"import {package} as {self.name}"
        if not package:
            return f"import {name}" + ("" if name == self.name else f" as {self.name}")
        return f"from {package} import {name}" + ("" if name == self.name else f" as {self.name}")


class Dest:
    """A module of the new tree."""

    def __init__(self, module):
        self.module = module
        self.sources = []  # the old modules that go here
        self.items = []
        self.keys = {}
        self.names = {}  # name -> the item that defines it
        self.text = None
        self.path = None
        self.duals = {}

    def whole(self, source):
        return source in self.sources


class Mover:
    def __init__(self, old, table):
        self.old, self.table = old, table
        self.dests = {}
        self.home = {}  # (old module, name) -> (new module, name)
        self.patched_symbols = set()

    def dest(self, module):
        return self.dests.setdefault(module, Dest(module))

    def run(self):
        self.place()
        self.collide()
        self.want()
        self.loosen()
        for dest in list(self.dests.values()):
            self.choose(dest)
        for dest in list(self.dests.values()):
            self.choose_inside(dest)
        if report.said["error"]:
            return
        self.edit()
        Prose(self).run()
        self.lay_out()
        for dest in self.dests.values():
            self.assemble(dest)
        self.look_for_cycles()
        self.look_for_losses()
        self.by_hand()

    # ---- where definitions go

    def place(self):
        children = defaultdict(set)
        for module in self.old.sources:
            new = self.table.module(module)
            if new and "." in new:
                children[new.rpartition(".")[0]].add(new)
        for (module, name), (new, _) in self.table.symbols.items():
            if new and "." in new:
                children[new.rpartition(".")[0]].add(new)
        self.emptied = set()
        going = sorted(self.old.sources, key=len, reverse=True)
        for module in going:
            source = self.old.sources[module]
            inside = [m for m in self.old.sources if m.startswith(f"{module}.")]
            bare = source.package and not source.items and not source.header
            if bare and module not in self.table.moved and inside and module != TOP:
                alive = any(c not in self.emptied for c in children[module])
                if not alive:
                    self.emptied.add(module)
                    report("left", f"{source.path} goes: nothing is left in its folder")
        order = sorted(
            self.old.sources.values(),
            key=lambda s: (s.module in self.table.moved, self.table.rank.get(s.module, 0), s.path),
        )
        for source in order:
            new = self.table.module(source.module)
            if source.module in self.emptied:
                new = None
            if new is None:
                continue
            self.dest(new).sources.append(source)
            for item in source.items:
                self.place_item(source, item, new)
        for dest in self.dests.values():
            if len(dest.sources) > 1 and not dest.module.startswith(TOP):
                report("error", f"only modules of {TOP} can be merged: {dest.module}")

    def new(self, module):
        return None if module in self.emptied else self.table.module(module)

    def place_item(self, source, item, new):
        rows = {n: self.table.symbols.get((source.module, n)) for n in item.names}
        places = {row[0] or new if row else new for row in rows.values()} or {new}
        if len(places) > 1:
            report("error", f"{source.path}: {', '.join(rows)} are one statement, with two homes")
        item.dest = places.pop()
        if item.kind == "orelse" and all(n in source.duals for n in item.names):
            item.dest = new
            return
        dest = self.dest(item.dest)
        dest.items.append(item)
        for name, row in rows.items():
            if name in source.defs:
                self.home[source.module, name] = (item.dest, row[1] if row else name)

    def alias(self, item):
        """What `Name = module.Name` stands for, (module, name)."""
        node = item.nodes[0]
        if not isinstance(node, ast.Assign) or len(node.targets) > 1 or len(item.names) != 1:
            return None
        if not isinstance(node.value, (ast.Name, ast.Attribute)):
            return None
        used = [u for u in item.uses if not u.store]
        whole = len(used) == 1 and not used[0].attrs and used[0].entity
        return used[0].entity[1:] if whole and used[0].entity[0] == "sym" else None

    def join_aliases(self):
        """`Name = module.Name` goes when that module is merged into this one."""
        for dest in self.dests.values():
            for item in dest.items:
                meant = self.alias(item)
                own = (item.source.module, item.names[0]) if meant else None
                if meant and self.home[meant] == self.home.get(own):
                    item.gone = True
                    if len(item.nodes) > 1:
                        report(
                            "by hand",
                            f"{dest.module}: the string behind {item.names[0]} goes with it",
                        )
                    report("merge", f"{dest.module}: {item.names[0]} = … goes: it is here itself")

    def collide(self):
        self.join_aliases()
        for dest in self.dests.values():
            homes = defaultdict(dict)
            for item in dest.items:
                for name in item.names:
                    if not item.gone and (item.source.module, name) in self.home:
                        homes[self.home[item.source.module, name][1]][item.source.module, name] = (
                            item
                        )
            for name, owners in homes.items():
                if len(owners) > 1:
                    self.join(dest, name, owners)
            for item in dest.items:
                for name in item.names:
                    if (item.source.module, name) in self.home:
                        new = self.home[item.source.module, name][1]
                        if not item.gone:
                            dest.names[new] = item
        for dest in self.dests.values():
            for name in dest.names:
                if f"{dest.module}.{name}" in self.dests:
                    report(
                        "warning", f"{dest.module}.{name}: a definition and a module of one name"
                    )

    def join(self, dest, name, owners):
        """One name, several definitions: the largest module keeps it."""
        ranked = sorted(owners, key=lambda o: -len(self.old.sources[o[0]].text))
        first = owners[ranked[0]]
        for owner in ranked[1:]:
            item = owners[owner]
            if self.same(first, item):
                item.gone = True
                self.home[owner] = self.home[ranked[0]]
                report("merge", f"{dest.module}: {name} of {owner[0]} is that of {ranked[0][0]}")
            elif (
                name.startswith("_")
                and not name.startswith("__")
                and owner not in self.table.symbols
            ):
                leaf = owner[0].rpartition(".")[2]
                new = f"{name}_of_{leaf}"
                self.home[owner] = (dest.module, new)
                report(
                    "merge",
                    f"{dest.module}: {name} of {owner[0]} is {new} now: name it by an s row",
                )
            else:
                report(
                    "error", f"{dest.module}: {name} is defined by {ranked[0][0]} and {owner[0]}"
                )

    def same(self, one, two):
        def shape(item):
            return [ast.dump(n) for n in item.nodes]

        def means(item):
            return [
                self.home.get(u.entity[1:], u.entity) if u.entity else u.name
                for u in item.uses
                if not (u.store and u.name in item.names) and u.home is item.source.top
            ]

        if one.kind != two.kind or shape(one) != shape(two):
            return False
        return [m for m in means(one)] == [m for m in means(two)]

    # ---- what every new module imports

    def want(self):
        for source in self.old.sources.values():
            new = self.new(source.module)
            for scope in source.scopes:
                for group in scope.groups.values():
                    if scope is source.top and group.name in source.defs:
                        self.keep_mixed(group)
                        continue
                    if group.mixed:
                        self.keep_mixed(group)
                    for use in group.uses:
                        if not group.mixed:
                            self.want_use(use, group)
                        elif scope is source.top and use.item is not None:
                            self.want_dual(use, group)
                    if not group.uses and not group.mixed and new is not None:
                        self.want_unused(group, new)
                        self.say_unused(group)
            for use in source.uses:
                if use.group is None and use.entity is not None and use.item is not None:
                    self.want_own(use)

    def loosen(self):
        """What only annotations use, where a file is split, is imported for the type checker."""
        for dest in self.dests.values():
            for key in dest.keys.values():
                split = any(i.dest != self.new(s.module) for s in key.files for i in s.items)
                if split and key.uses and all(u.typing for u in key.uses) and not key.forced:
                    key.run = False

    def key(self, holder, target, wanted, old, group=None, dest=None):
        found = holder.keys.get((target, wanted))
        if found is None:
            found = holder.keys[target, wanted] = Key(target, wanted, old)
        found.old.add(old)
        if group is not None:
            found.files.add(group.scope.source)
            found.run = found.run or any(b.kind in {"run", "body", "local"} for b in group.imports)
            found.header = found.header or any(b.kind in {"run", "typing"} for b in group.imports)
            if found not in group.keys[dest]:
                group.keys[dest].append(found)
        return found

    def keep_mixed(self, group):
        """A name with several meanings keeps its name; each import statement is moved alone."""
        for use in group.uses:
            found = {self.old.final(b.target) for b in group.imports}
            modules = [f for f in found if f[0] == "mod"]
            if modules and use.attrs:
                report("by hand", f"{group.scope.source.path}: {group.name} has several meanings")

    def want_dual(self, use, group):
        """A name that the type checker imports and the run time defines."""
        dest = self.dest(use.item.dest)
        for binding in group.imports:
            if binding.kind == "typing":
                target = self.target_of(binding)
                key = self.key(dest, target, group.name, group.name, None)
                key.forced = key.header = True
                key.files.add(use.source)
                if key not in group.keys[dest.module]:
                    group.keys[dest.module].append(key)
        for item in use.source.duals.get(group.name, ()):
            dest.duals.setdefault(group.name, item)

    def target_of(self, binding):
        """The new target of an import as it stands; None when it is nowhere."""
        found = self.old.final(binding.target)
        if binding.target[0] == "top":
            new = self.new(binding.target[1])
            return ("top", new) if new else None
        if found[0] == "mod":
            new = self.new(found[1])
            return ("mod", new) if new else None
        if found[0] == "sym":
            return ("sym", *self.home[found[1:]])
        if found[0] == "facade":
            return ("sym", TOP, self.facade(found[1]))
        if found[0] == "bind":
            return ("sym", *self.bound(found[1], found[2]))
        return found

    def facade(self, name):
        found = self.old.attribute(self.old.homes[name], name)
        if found is None or found[0] != "sym":
            return name
        return self.home[found[1:]][1]

    def bound(self, module, name):
        """Where the import binding `name` of an old module is afterwards."""
        source = self.old.sources[module]
        new = self.new(module)
        group = source.top.groups[name]
        if name in source.duals:
            return new, name
        found = self.old.final(group.target)
        if found[0] == "sym" and self.home[found[1:]][0] == new:
            return self.home[found[1:]]
        if found[0] == "mod":
            keys = group.keys.get(new, [])
            names = {k.name or k.wanted for k in keys}
            return new, names.pop() if len(names) == 1 else name
        if found[0] == "sym":
            keys = group.keys.get(new, [])
            return new, (keys[0].name or keys[0].wanted) if keys else self.home[found[1:]][1]
        keys = group.keys.get(new, [])
        return new, (keys[0].name or keys[0].wanted) if keys else name

    def leaf(self, group, old, new):
        """The name by which a new module would be known, for a name of an old one."""
        if group.name == old.rpartition(".")[2]:
            return new.rpartition(".")[2]
        return group.name

    def want_use(self, use, group):
        dest = self.dest(self.new(use.source.module) if use.item is None else use.item.dest)
        found, target = use.entity, group.target
        holder = dest if group.scope is use.source.top else group.scope
        say = f"{use.source.path}: {use.source.text[use.start : use.end]}"
        if found[0] == "ext":
            key = self.key(holder, found, group.name, group.name, group, dest.module)
            self.attach(use, key, "")
            return
        by_module = target[0] == "top" or self.old.final(target)[0] == "mod"
        if found[0] == "mod":
            home, name = self.new(found[1]), None
            if home is None:
                report("error", f"{say}: {found[1]} has no place afterwards")
                return
            said = self.old.sources.get(found[1])
            if said is not None and said.package and not self.stays_package(home):
                report("by hand", f"{say}: {found[1]} is no package any more: its __path__ goes")
            if home == dest.module:
                report("error", f"{say}: the module {found[1]} is used by itself, within itself")
                return
        elif found[0] == "patch":
            _, module, _, what = found
            home, name = self.landing(what)
            use.patch = (name, *use.patch[1:])
            use.tail = None
            if what[0] == "sym":
                self.patched_symbols.add(what[1:])
            if home == dest.module:
                report("error", f"{say}: a module cannot be patched in itself")
                return
        else:
            home, name = self.landing(found)
        if not by_module:
            if home == dest.module:
                use.key, use.direct = None, name
                return
            wanted = name if group.name == target[2] else group.name
            key = self.key(holder, ("sym", home, name), wanted, group.name, group, dest.module)
            self.attach(use, key, "")
            return
        if target[0] == "top":
            self.want_top(use, group, holder, dest, home, name)
            return
        if home == dest.module and name is not None:
            use.key, use.direct = None, name
            return
        tail = "" if name is None or use.tail is None else f".{name}"
        start = self.old.final(target)[1]
        package = self.new(start)
        lazy = self.lazy(start) and use.via and f"{start}.{use.via[0]}" in self.old.modules
        if lazy:
            if package is not None and home.startswith(f"{package}.") and package == start:
                tail = f".{home[len(package) + 1 :]}{tail}"
                wanted = self.leaf(group, start, package)
                key = self.key(holder, ("mod", package), wanted, group.name, group, dest.module)
                self.attach(use, key, tail)
                return
            function = use.scope.function()
            if function is not None and group.scope is use.source.top and not use.typing:
                wanted = home.rpartition(".")[2]
                key = self.key(function, ("mod", home), wanted, f"{wanted}_module")
                if key not in function.insert:
                    function.insert.append(key)
                self.attach(use, key, tail)
                report("warning", f"{say}: was loaded through {start}, is imported late now")
                return
        last = ".".join(
            [start, *use.via[: len(use.via) - (name is not None and found[0] != "patch")]]
        )
        wanted = self.leaf(group, last, home) if last == start else home.rpartition(".")[2]
        if last == start and package is not None and home != package:
            wanted = home.rpartition(".")[2]
        key = self.key(holder, ("mod", home), wanted, group.name, group, dest.module)
        self.attach(use, key, tail)

    def stays_package(self, new):
        return any(d.startswith(f"{new}.") for d in self.dests)

    def want_top(self, use, group, holder, dest, home, name):
        facade = use.entity[0] == "facade"
        if home == dest.module and name is not None:
            use.key, use.direct = None, name
            return
        key = self.key(
            holder, ("top", TOP if facade else home), group.name, group.name, group, dest.module
        )
        tail = "" if name is None or use.tail is None else f".{name}"
        self.attach(use, key, home[len(group.name) :] + tail)

    def landing(self, found):
        if found[0] == "sym":
            return self.home[found[1:]]
        if found[0] == "facade":
            return TOP, self.facade(found[1])
        return self.bound(found[1], found[2])

    def lazy(self, module):
        source = self.old.sources.get(module)
        return source is not None and "__getattr__" in source.defs

    def attach(self, use, key, tail):
        use.key, use.tail = key, tail
        key.uses.append(use)
        key.files.add(use.source)

    def want_unused(self, group, new):
        dest = self.dest(new)
        holder = dest if group.scope is group.scope.source.top else group.scope
        for binding in group.imports:
            target = self.target_of(binding)
            where = new if binding.item is None else binding.item.dest
            if target is None:
                report(
                    "by hand",
                    f"{binding.scope.source.path}: {group.name} named a package that goes",
                )
                continue
            home = target[1] if target[0] in {"mod", "sym", "top"} else None
            if home == where:
                continue
            wanted = group.name
            if target[0] == "mod":
                wanted = self.leaf(group, self.old.final(binding.target)[1], target[1])
            elif target[0] == "sym" and binding.target[2] == group.name:
                wanted = target[2]
            self.key(holder, target, wanted, group.name, group, dest.module)

    def say_unused(self, group):
        source = group.scope.source
        line = source.text[slice(*source.pos(group.imports[0].stmt))]
        own = group.name in {n for n, _, _ in source.all_strings}
        if (
            source.path.startswith("src/")
            and not own
            and "noqa" not in line
            and source.module != TOP
        ):
            report(
                "left",
                f"{source.path}: {group.name} was imported for others, who go to its home now",
            )

    def want_own(self, use):
        """A name of the file's own: an s row may have taken it elsewhere."""
        home, name = self.home[use.entity[1:]]
        dest = self.dest(use.item.dest)
        if home == dest.module:
            use.direct = name
            return
        old = use.entity[2]
        if use.store:
            report(
                "error", f"{use.source.path}: {old} is set in {dest.module}, but lives in {home}"
            )
        mine = (use.source.module, old) in self.table.symbols
        if old.startswith("_") and not (mine and not name.startswith("_")):
            report(
                "error", f"{home}.{name} is private, and {dest.module} uses it: move or rename it"
            )
        key = self.key(dest, ("sym", home, name), name, old)
        key.header = True
        key.run = key.run or not use.typing
        self.attach(use, key, "")

    # ---- names that do not collide

    def choose(self, dest):
        free = defaultdict(set)
        for item in dest.items:
            for name, items in item.source.unresolved.items():
                if item in items:
                    free[name].add(item.source)
        for name, item in dest.names.items():
            others = free[name] - {item.source}
            if others:
                report(
                    "error",
                    f"{dest.module}: {name} is defined, and a builtin for {[o.module for o in others]}",
                )
        taken = {name: None for name in dest.names}
        if any(s.flag for s in dest.sources):
            taken["TYPE_CHECKING"] = None

        def rank(key):
            unchanged = key.wanted in key.old
            return (
                not key.forced,
                key.target[0] != "ext" or not unchanged,
                not unchanged,
                str(key.target),
            )

        for key in sorted(dest.keys.values(), key=rank):
            for name in self.candidates(key):
                if name in taken and taken[name] != key.identity:
                    continue
                if free[name] - key.files if name in key.old else free[name]:
                    continue
                if self.clear(name, key.uses, dest, None):
                    key.name = name
                    break
            else:
                report("error", f"{dest.module}: no free name for {key.target}")
                continue
            taken.setdefault(key.name, key.identity)
            if key.name != key.wanted:
                report("import name", f"{dest.module}: {key.render()} ({key.wanted} is taken)")
        self.aliases(dest, taken)

    def candidates(self, key):
        yield key.wanted
        if key.forced:
            return
        yield from sorted(key.old)
        if key.target[0] in {"mod", "sym"}:
            parts = key.target[1].split(".")
            if key.target[0] == "mod":
                yield "_".join(parts[-2:])
                yield f"{parts[-1]}_module"
            else:
                yield f"{parts[-1]}_{key.target[2]}"
        elif key.target[0] == "ext":
            yield (
                f"{key.wanted}_module"
                if key.target[1][-1] is None
                else f"{key.wanted}_of_{key.target[1][1].split('.')[-1]}"
            )
            yield f"{key.wanted}_module"

    def clear(self, name, uses, dest, until):
        """Whether no scope between the uses and the module (or `until`) has this name itself."""
        for use in uses:
            for scope in use.scope.outward(beyond=use.beyond):
                if scope is until or scope is use.source.top:
                    break
                if name in scope.names and scope is not (use.group and use.group.scope):
                    return False
                group = scope.groups.get(name)
                if name in scope.names and (group is None or group is not use.group):
                    return False
                if any(
                    (k.name or k.wanted) == name for k in scope.keys.values() if k is not use.key
                ):
                    return False
        return True

    def aliases(self, dest, taken):
        """What was mod.name is name now: where a local name hides it, it gets a second name."""
        for item in dest.items:
            for use in item.uses:
                name = getattr(use, "direct", None)
                if name is None or use.store or (use.group is None and name == use.name):
                    continue
                if not self.hidden(name, use, dest):
                    continue
                owner = dest.names[name]
                alias = f"_{name.lstrip('_')}"
                if taken.get(alias, alias) != ("alias", name) and (
                    alias in taken or not self.clear(alias, [use], dest, None)
                ):
                    alias = f"_{name.lstrip('_')}_of_{owner.source.module.rpartition('.')[2]}"
                if alias in taken and taken[alias] != ("alias", name):
                    report("error", f"{dest.module}: no second name for {name}")
                if alias not in owner.aliases:
                    owner.aliases.append(alias)
                owner.alias_of = name
                taken[alias] = ("alias", name)
                use.direct = alias
                line = use.source.text.count("\n", 0, use.start) + 1
                report(
                    "shadow",
                    f"{dest.module}: {name} is hidden by a local name in {use.source.path}:{line}; {alias} = {name} helps out",
                )

    def hidden(self, name, use, dest):
        for scope in use.scope.outward(beyond=use.beyond):
            if scope is use.source.top:
                return False
            if name in scope.names:
                group = scope.groups.get(name)
                if group is None or group is not use.group or group.mixed:
                    return True
                if any(getattr(u, "direct", None) is None for u in group.uses):
                    return True
            if any((k.name or k.wanted) == name for k in scope.keys.values()):
                return True
        return False

    def choose_inside(self, dest):
        for source in self.old.sources.values():
            if not any(i.source is source for i in dest.items):
                continue
            for scope in source.scopes[1:]:
                if scope.keys and not getattr(scope, "done", False):
                    scope.done = True
                    self.choose_scope(scope, dest)

    def choose_scope(self, scope, dest):
        inside = {scope}
        for other in scope.source.scopes:
            if other.parent in inside:
                inside.add(other)
        keys = list(scope.keys.values())
        used = set()
        for use in scope.source.uses:
            if use.scope in inside and use.key not in keys:
                if use.home not in inside or getattr(use, "direct", None):
                    used.add(use.key.name if use.key else getattr(use, "direct", None) or use.name)
        taken = {}
        for name, bindings in scope.names.items():
            if None in bindings:
                taken[name] = None
            group = scope.groups.get(name)
            if group is not None and group.mixed:
                taken[name] = None
        for key in sorted(keys, key=lambda k: (k.wanted not in k.old, str(k.target))):
            for name in self.candidates(key):
                if name in taken and taken[name] != key.identity:
                    continue
                if name in used or not self.clear(name, key.uses, dest, scope):
                    continue
                key.name = name
                break
            else:
                report("error", f"{scope.source.path}: no free name for {key.target} in a function")
                continue
            taken[key.name] = key.identity
            if key.name != key.wanted:
                report(
                    "import name", f"{scope.source.path}: {key.render()} ({key.wanted} is taken)"
                )

    # ---- the text

    def edit(self):
        for source in self.old.sources.values():
            for use in source.uses:
                self.edit_use(source, use)
            for node, imports in source.imports_at.items():
                if imports and imports[0].kind in {"body", "local"}:
                    self.edit_import(source, node, imports)
            for scope in source.scopes:
                if scope.insert:
                    self.insert_late(source, scope)
            for name, start, end in source.all_strings:
                self.edit_all(source, name, start, end)
        if TOP in self.old.sources and self.old.homes:
            self.edit_homes()

    def edit_use(self, source, use):
        direct = getattr(use, "direct", None)
        if use.key is not None:
            new = f"{use.key.name}{use.tail or ''}"
            if use.entity and use.entity[0] == "patch":
                home, name = self.landing(use.entity[3])
                source.edits.append((use.patch[1], use.patch[2], name))
                new = use.key.name if use.key.target[0] != "top" else home
        elif direct is not None:
            new = direct
        else:
            return
        if use.entity and use.entity[0] == "bind" and use.key is not None:
            home, name = self.landing(use.entity)  # its name is known only now
            if use.key.target[0] == "mod":
                new = f"{use.key.name}.{name}"
        if new != source.text[use.start : use.end]:
            source.edits.append((use.start, use.end, new))

    def lines_of(self, source, binding, dest):
        """The import lines that one alias becomes, where it stands."""
        group = binding.scope.groups[binding.name]
        if group.mixed:
            target = self.target_of(binding)
            if target is None:
                report("by hand", f"{source.path}: {binding.name} named a package that goes")
                return []
            key = Key(target, binding.name, binding.name)
            key.name = binding.name
            return [key]
        inserted = [k for k in binding.scope.insert]
        keys = [k for k in group.keys.get(dest, ()) if k not in inserted]
        if len(group.imports) > 1 and len(group.targets) > 1:  # import a.b; import a.c
            mine = self.target_of(binding)
            others = {self.target_of(b) for b in group.imports}
            keys = [k for k in keys if k.target == mine or k.target not in others] or keys[:0]
        return keys

    def unchanged(self, source, binding, keys):
        if len(keys) != 1 or keys[0].name != binding.name:
            return False
        key, target = keys[0], binding.target
        if target[0] == "top":
            return key.target == ("top", target[1])
        if key.target[0] == "ext":
            return True
        if getattr(binding.stmt, "level", 0) and self.new(source.module) != source.module:
            return False
        if key.target[0] == "mod":
            old = f"{target[1]}.{target[2]}" if target[2] else target[1]
            return key.target[1] == old
        return key.target == ("sym", target[1], target[2])

    def edit_import(self, source, node, imports):
        dest = imports[0].item.dest
        made, same = [], True
        for binding in imports:
            keys = self.lines_of(source, binding, dest)
            same = same and self.unchanged(source, binding, keys)
            made += [k.render() for k in keys]
        if same:
            return
        start, end = source.pos(node)
        line = source.text.rfind("\n", 0, start) + 1
        indent = source.text[line:start]
        made = list(dict.fromkeys(made))
        if not indent.strip():
            if made:
                comment = source.text[end : source.line_end(end)].strip()
                source.edits.append((start, end, f"\n{indent}".join(spread(joined(made), comment))))
            elif self.alone(source, node):
                source.edits.append((start, end, "pass"))
            else:
                stop = source.line_end(end)
                stop += source.text[stop : stop + 1] == "\n"
                source.edits.append((line, stop, ""))
        else:
            source.edits.append((start, end, "; ".join(joined(made)) or "pass"))

    def alone(self, source, node):
        for parent in ast.walk(source.tree):
            for field in ("body", "orelse", "finalbody"):
                body = getattr(parent, field, None)
                if isinstance(body, list) and node in body:
                    left = [s for s in body if s is not node and not self.vanishes(source, s)]
                    left = [s for s in left if not (is_string(s) and len(left) == 1)] or left
                    first = next(s for s in body if s is node or self.vanishes(source, s))
                    return not left and first is node
        return False

    def vanishes(self, source, node):
        imports = source.imports_at.get(node)
        if not imports or imports[0].kind not in {"body", "local"}:
            return False
        return not any(self.lines_of(source, b, b.item.dest) for b in imports)

    def insert_late(self, source, scope):
        body = scope.node.body
        first = body[1] if is_string(body[0]) and len(body) > 1 else body[0]
        start = source.first(first)
        line = source.text.rfind("\n", 0, start) + 1
        indent = source.text[line:start]
        if indent.strip() or is_string(body[0]) and len(body) == 1:
            report("error", f"{source.path}:{scope.node.lineno}: no room for a late import")
            return
        there = set()
        lines = [k.render() for k in scope.insert if k.render() not in there]
        source.edits.append(
            (line, line, "".join(f"{indent}{text}\n" for text in joined(lines)) + "\n")
        )

    def edit_all(self, source, name, start, end):
        new = self.new(source.module)
        if source.module == TOP and name in self.old.homes:
            source.edits.append((start, end, self.facade(name)))
        elif name in source.defs:
            home, renamed = self.home[source.module, name]
            if home != new:
                report("by hand", f"{source.path}: __all__ names {name}, which goes to {home}")
            source.edits.append((start, end, renamed))
        elif name in source.top.groups and self.lazy(source.module):
            if self.new(f"{source.module}.{name}") != f"{source.module}.{name}":
                report("by hand", f"{source.path}: __all__ names the module {name}")
        elif name in source.top.groups:
            source.edits.append((start, end, self.bound(source.module, name)[1]))

    def edit_homes(self):
        source = self.old.sources[TOP]
        table = defaultdict(list)
        for name, home in self.old.homes.items():
            found = self.old.attribute(home, name)
            if found is None or found[0] != "sym":
                report("error", f"_HOMES: {home} has no {name}")
                continue
            module, new = self.home[found[1:]]
            table[module.partition(".")[2]].append(new)
        lines = [
            f'    "{m}": "{" ".join(sorted(n, key=all_order))}",' for m, n in sorted(table.items())
        ]
        start, end = source.pos(self.old.homes_node.value)
        text = "{\n" + "\n".join(lines) + "\n}"
        if text != source.text[start:end]:
            source.edits.append((start, end, text))

    def lay_out(self):
        """A path for every new module."""
        names = set(self.dests)
        for name in list(names):
            while "." in name:
                name = name.rpartition(".")[0]
                if name not in names and name.startswith(TOP):
                    names.add(name)
                    made = self.dest(name)
                    made.text = '"""TODO: package docstring"""\n'
                    report("by hand", f"{name}: a docstring for the new package")
        parents = {n.rpartition(".")[0] for n in names}
        for name, dest in self.dests.items():
            if not name.startswith(TOP):
                dest.path = self.table.files.get(dest.sources[0].path, dest.sources[0].path)
                continue
            stays = any(s.package and s.module == name for s in dest.sources)
            dest.path = "src/" + name.replace(".", "/")
            dest.path += "/__init__.py" if name in parents or stays else ".py"

    def apply(self, source, start, end):
        """The text between two offsets with its edits."""
        out, at = [], start
        for low, high, new in sorted(set(source.edits)):
            if low >= start and high <= end and (low >= at) and (low < end or low == high < end):
                out += [source.text[at:low], new]
                at = high
            elif low < end and high > start and low >= start and low < at:
                report("error", f"{source.path}: two edits of one place: {source.text[low:high]!r}")
        out.append(source.text[at:end])
        return "".join(out)

    def assemble(self, dest):
        if dest.text is not None:
            return
        if len(dest.sources) == 1 and self.is_as_it_was(dest):
            source = dest.sources[0]
            dest.text = self.apply(source, 0, len(source.text))
            return
        parts = [self.docstring(dest)]
        contributors = list(dict.fromkeys([*dest.sources, *(i.source for i in dest.items)]))
        if any(s.future for s in contributors):
            parts.append("from __future__ import annotations\n\n")
        self.emitted = set()
        run = "".join(self.header_lines(dest, contributors, "run"))
        typing = "".join(self.header_lines(dest, contributors, "typing"))
        order = self.order(dest)
        kinds = {k: [i for i in order if i.kind == k] for k in ("typing", "orelse", "body")}
        runtime_names = {k.name for k in dest.keys.values() if k.run and not k.forced}
        duals = [i for n, i in dest.duals.items() if n not in runtime_names]
        orelse = kinds["orelse"] + list({ast.dump(i.nodes[0]): i for i in duals}.values())
        parts.append(run)
        late = self.late_types(dest, kinds["typing"], kinds["body"])
        checked = [self.item_text(i) for i in kinds["typing"] if i not in late]
        flagged = any(s.flag for s in contributors)
        need = typing or checked or orelse
        still = bool(late) or "TYPE_CHECKING" in {u.name for i in dest.items for u in i.uses}
        if need or still:
            own = [k for k in dest.keys.values() if k.name == "TYPE_CHECKING"]
            if flagged or not own:
                parts.append("\nTYPE_CHECKING = False\n")
        if need:
            parts.append(f"if TYPE_CHECKING:\n{typing}" + "".join(checked))
            if not typing and not checked:
                parts.append("    pass\n")
            if orelse:
                comment = next((i.source.else_comment for i in orelse if i.source.else_comment), "")
                parts.append(f"else:  {comment}\n" if comment else "else:\n")
                parts += [self.item_text(i) for i in orelse]
        body = []
        for item in kinds["body"]:
            body.append(self.item_text(item))
            here = [t for t in kinds["typing"] if late.get(t) is item]
            if here:
                body.append("\n\nif TYPE_CHECKING:\n" + "".join(map(self.item_text, here)))
        parts += body
        if not body:
            parts += [s.trailing for s in dest.sources if s.trailing.strip()]
        dest.text = "\n\n".join(p for p in ["".join(parts[:1]), "".join(parts[1:])] if p.strip())
        if not dest.text.endswith("\n"):
            dest.text += "\n"
        ast.parse(dest.text)

    def late_types(self, dest, types, body):
        """Types that are made of classes of the same module -> the last class they are made of."""
        late = {}
        if len(dest.sources) < 2 and not any(i.source not in dest.sources for i in dest.items):
            return late
        at = {item: i for i, item in enumerate(body)}
        for _ in types:
            for item in types:
                needed = []
                for use in item.uses:
                    plain = use.entity and use.entity[0] == "sym" and not use.store
                    if not plain or use.annotation or use.deferred:
                        continue
                    found = dest.names.get(self.home[use.entity[1:]][1])
                    if self.home[use.entity[1:]][0] == dest.module and found is not None:
                        needed += [late.get(found, found)] if found is not item else []
                needed = [n for n in needed if n in at]
                if needed:
                    late[item] = max(needed, key=at.get)
        for item in late:
            report(
                "merge",
                f"{dest.module}: the type {', '.join(item.names)} stands behind its classes",
            )
        return late

    def is_as_it_was(self, dest):
        """Whether the file can be edited in place: no header line comes, goes or changes kind."""
        source = dest.sources[0]
        if any(i.dest != dest.module or i.gone or i.aliases for i in source.items):
            return False
        if any(i.source is not source for i in dest.items):
            return False
        expected, edits = set(), []
        emitted = set()
        for node, _, kind in source.header:
            lines, same = [], True
            for binding in source.imports_at[node]:
                keys = self.lines_of(source, binding, dest.module)
                same = same and self.unchanged(source, binding, keys)
                for key in keys:
                    if (
                        key.target[0] != "ext"
                        and (kind == "typing") == key.run
                        and not self.dual(binding)
                    ):
                        return False
                    if key in emitted:
                        return False
                    emitted.add(key)
                    lines.append(key.render())
                expected |= {k for k in keys}
            if not same:
                if not lines:
                    return False
                start, end = source.pos(node)
                comments = re.findall(r"#.*", source.text[start:end])
                indent = "    " if kind == "typing" else ""
                comment = source.text[end : source.line_end(end)].strip()
                made = f"\n{indent}".join(spread(joined(lines), comment))
                edits.append((start, end, f"{'  '.join([made, *comments])}"))
        if any(k.header and k not in expected for k in dest.keys.values()):
            return False
        source.edits += edits
        return True

    def dual(self, binding):
        return binding.scope.groups[binding.name].mixed

    def docstring(self, dest):
        first, *others = [s for s in dest.sources] or [None]
        if first is None:
            report("by hand", f"{dest.module}: a docstring for the new module")
            return '"""TODO: module docstring"""\n'
        if first.doc is None:
            if others and others[0].doc:
                report("warning", f"{dest.module}: {first.module} has no docstring")
            text, lead = "", self.apply(first, 0, 0)
        else:
            start, end = first.pos(first.doc)
            lead = self.apply(first, 0, start)
            text = self.apply(first, start, end)
        for other in others:
            if other.doc is None:
                continue
            start, end = other.pos(other.doc)
            more = self.apply(other, start, end)
            said = other.doc.value.value.strip()
            report("merge", f"{dest.module}: docstring of {other.module}: {said.splitlines()[0]}")
            if "\n" in said:
                if not (text.startswith('"""') and more.startswith('"""')):
                    report(
                        "by hand", f"{dest.module}: the docstring of {other.module} is not joined"
                    )
                    continue
                text = f"{text[:-3].rstrip()}\n\n{more[3:-3].strip()}\n" + '"""'
        return f"{lead}{text}\n"

    def header_lines(self, dest, contributors, want):
        indent = "    " if want == "typing" else ""
        for source in contributors:
            for node, previous, kind in source.header:
                if kind != want and not (kind == "typing" and want == "run"):
                    continue
                start, end = source.pos(node)
                keys, same = [], dest.whole(source) and kind == want
                for binding in source.imports_at[node]:
                    mine = self.lines_of(source, binding, dest.module)
                    if self.dual(binding):
                        mine = list(source.top.groups[binding.name].keys.get(dest.module, ()))
                    same = same and self.unchanged(source, binding, mine)
                    keys += mine
                here = [k for k in keys if (k.run and not k.forced) == (want == "run")]
                fresh = [k for k in here if k.render() not in self.emitted]
                self.emitted |= {k.render() for k in fresh}
                lead = source.text[previous:start].strip()
                if lead and dest.whole(source) and kind == want:
                    yield "".join(f"{indent}{line.strip()}\n" for line in lead.splitlines())
                if same and len(fresh) == len(keys):
                    yield f"{indent}{self.apply(source, start, source.line_end(end)).rstrip()}\n"
                elif fresh:
                    text = source.text[start : source.line_end(end)]
                    comments = re.findall(r"#.*", text) if kind == want else []
                    made = joined([k.render() for k in fresh])
                    comment = " ".join(comments)
                    *some, last = spread(made, comment)
                    yield from (
                        f"{indent}{line}\n" for line in [*some, f"{last}  {comment}".rstrip()]
                    )
        rest = [
            k
            for k in dest.keys.values()
            if k.header and (k.run and not k.forced) == (want == "run")
        ]
        for line in sorted({k.render() for k in rest} - self.emitted):
            self.emitted.add(line)
            yield f"{indent}{line}\n"

    def item_text(self, item):
        text = self.apply(item.source, item.start, item.end)
        for alias in item.aliases:
            text = f"{text.rstrip()}\n\n{alias} = {item.alias_of}\n"
        return text if text.endswith("\n") else f"{text}\n"

    # ---- the order of a merge

    def order(self, dest):
        """Items in an order in which every one finds what it needs when it is imported."""
        items = [i for i in dest.items if not i.gone]
        groups = defaultdict(list)
        for item in items:
            groups[item.source].append(item)
        if not groups:
            return []
        primary = next((s for s in dest.sources if s in groups), None) or next(iter(groups))
        ranked = [primary, *(s for s in dest.sources if s in groups and s is not primary)]
        ranked += [s for s in groups if s not in ranked]
        needs = self.needs(dest, items)
        between = defaultdict(set)
        for item, wanted in needs.items():
            between[item.source] |= {w.source for w in wanted} - {item.source}
        seen, out, state = set(), [], {}

        def put(source):
            if state.get(source) == "open":
                return False
            if source in state:
                return True
            state[source] = "open"
            fine = all([put(other) for other in ranked if other in between[source]])
            state[source] = "done"
            out.append(source)
            return fine

        fine = all([put(source) for source in ranked])
        sequence = [i for s in (out if fine else ranked) for i in groups[s]]
        if fine and self.stands(sequence, needs):
            return sequence
        report(
            "merge",
            f"{dest.module}: modules need each other at import; definitions are interleaved",
        )
        result = []

        def emit(item, path=()):
            if item in seen:
                return
            if item in path:
                report("error", f"{dest.module}: {item} and {path[-1]} need each other at import")
                return
            for other in [i for i in sequence if i in needs[item]]:
                emit(other, (*path, item))
            if item not in seen:
                seen.add(item)
                result.append(item)

        for item in sequence:
            emit(item)
        return result

    def stands(self, sequence, needs):
        at = {item: i for i, item in enumerate(sequence)}
        return all(at[w] < at[i] for i in sequence for w in needs[i] if w.source is not i.source)

    def needs(self, dest, items):
        """Item -> the items that have to stand before it."""
        makers = defaultdict(list)
        for item in items:
            for name in item.names:
                if (item.source.module, name) in self.home:
                    makers[self.home[item.source.module, name]].append(item)
        direct, deep = {}, {}
        for item in items:
            direct[item], deep[item] = set(), set()
            for use in item.uses:
                entity = use.entity
                if entity is None or entity[0] != "sym" or use.store:
                    continue
                found = set(makers.get(self.home[entity[1:]], ())) - {item}
                if item.kind != "body":
                    continue
                deep[item] |= found
                if not use.deferred and not (use.typing and item.source.future):
                    direct[item] |= found
        needs = {}
        for item in items:
            wanted, queue = set(), list(direct[item])
            while queue:
                other = queue.pop()
                if other not in wanted and other is not item:
                    wanted.add(other)
                    queue += deep[other] | direct[other]
            if item in deep and any(
                item in deep[w] for w in wanted
            ):  # recursion: only what is sure
                wanted = set(direct[item])
            mine = [i for i in items if i.source is item.source]
            if not isinstance(item.nodes[0], (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                before = mine[: mine.index(item)]
                if not isinstance(item.nodes[0], (ast.Assign, ast.AnnAssign)):
                    wanted |= set(before)
            needs[item] = {w for w in wanted if w.kind == item.kind}
        return needs

    # ---- afterwards

    def look_for_cycles(self):
        new, old = defaultdict(set), defaultdict(set)
        for name, dest in self.dests.items():
            for key in dest.keys.values():
                if key.run and key.target[0] in {"mod", "sym", "top"}:
                    new[name] |= chain(key.target[1], name, self.dests)
        for source in self.old.sources.values():
            for group in source.top.groups.values():
                if any(b.kind in {"run", "body"} for b in group.imports):
                    for target in group.targets:
                        found = self.old.final(target)
                        if found[0] in {"mod", "sym", "bind"}:
                            old[source.module] |= chain(found[1], source.module, self.old.sources)
        known = [set(map(self.new, c)) for c in components(old)]
        for cycle in components(new):
            today = any(set(cycle) <= k for k in known)
            report("cycle", f"{'(also today) ' if today else ''}{' '.join(sorted(cycle))}")

    def look_for_losses(self):
        """Every comment of the old tree has to be in the new one, but for those that were edited."""
        left = Counter()
        for dest in self.dests.values():
            for token in tokenize.generate_tokens(io.StringIO(dest.text).readline):
                if token.type == tokenize.COMMENT:
                    left[token.string.strip()] += 1
        for source in self.old.sources.values():
            for token in source.tokens:
                if token.type != tokenize.COMMENT:
                    continue
                start, end = source.at.chars(*token.start), source.at.chars(*token.end)
                text = self.apply(source, start, end).strip()
                left[text] -= 1
                if left[text] < 0:
                    report(
                        "by hand", f"{source.path}:{token.start[0]}: this comment is lost: {text}"
                    )

    def by_hand(self):
        for source in self.old.sources.values():
            if not source.path.startswith("src/"):
                continue
            for node in ast.walk(source.tree):
                if isinstance(node, ast.Name) and node.id == "__file__":
                    report(
                        "by hand",
                        f"{source.path}:{node.lineno}: __file__ (goes to {self.new(source.module)})",
                    )
                if isinstance(node, ast.Call):
                    name = ast.unparse(node.func).rpartition(".")[2]
                    package = name == "files" and TOP in said_of(node)
                    if package or (name in {"import_module", "__import__", "module"} and node.args):
                        said = ast.unparse(node)
                        if source.module != TOP:
                            self.dispatched(source)
                        report("by hand", f"{source.path}:{node.lineno}: {said}")
                        for used in ast.walk(node.args[0]):
                            if isinstance(used, ast.Name) and used.id in source.defs:
                                at = source.defs[used.id][0].nodes[0].lineno
                                report("by hand", f"{source.path}:{at}: {used.id} takes part in it")
        self.pieces_of_paths()
        for path in self.old.paths:
            if (
                path.startswith("src/")
                and not path.endswith(".py")
                and path not in self.table.files
            ):
                report("left", f"{path}: data, moves only by a t row")
        for module, name in sorted(self.patched_symbols):
            if self.home[module, name][0] != self.new(module):
                report(
                    "warning",
                    f"{module}.{name} is patched by tests, and does not go with its module",
                )

    def dispatched(self, source):
        """The strings by which a dispatcher names modules that have moved."""
        around = (source.module, source.module.rpartition(".")[0], TOP)
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named = [
                    f"{a}.{node.value}" for a in around if f"{a}.{node.value}" in self.old.sources
                ]
                if named and self.new(named[0]) != named[0]:
                    report(
                        "by hand",
                        f"{source.path}:{node.lineno}: {node.value!r} means {self.new(named[0])} now",
                    )

    def pieces_of_paths(self):
        """Strings such as "staying.py", or / "interfaces" /, that may name what has moved."""
        files, folders = defaultdict(set), set()
        for source in self.old.sources.values():
            new = self.new(source.module)
            if new != source.module:
                name = source.module.rpartition(".")[2]
                if source.package:
                    folders.add(name)
                elif len(name) > 2:
                    files[f"{name}.py"].add(new)
                    files["/".join(source.module.split(".")[-2:]) + ".py"].add(new)
        for source in self.old.sources.values():
            for node in ast.walk(source.tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    news = files.get("/".join(node.value.split("/")[-2:]))
                    if news and len(news) < 3:
                        new = " or ".join(sorted(news))
                        report("maybe a path", f"{source.path}: {node.value!r} may be {new}")
                div = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
                if div and isinstance(node.right, ast.Constant) and node.right.value in folders:
                    report(
                        "by hand",
                        f"{source.path}:{node.lineno}: a path through {node.right.value!r}",
                    )

    def write(self):
        old = {s.path for s in self.old.sources.values()}
        new = {d.path: d.text for d in self.dests.values()}
        if len(new) < len(self.dests):
            report("error", "two modules would be one file")
            return []
        changed = []
        for path in old - set(new):
            (ROOT / path).unlink()
        for before, after in self.table.files.items():
            if before not in old:
                (ROOT / after).parent.mkdir(parents=True, exist_ok=True)
                git("mv", before, after)
        for path, text in new.items():
            file = ROOT / path
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.exists() or file.read_text(encoding="utf-8") != text:
                file.write_text(text, encoding="utf-8")
                changed.append(path)
        for path, text in self.prose.items():
            (ROOT / self.table.files.get(path, path)).write_text(text, encoding="utf-8")
        for path in old:
            folder = (ROOT / path).parent
            while folder != ROOT and folder.is_dir() and not left_in(folder):
                for cache in folder.rglob("*.pyc"):
                    cache.unlink()
                for inner in sorted(folder.rglob("*"), reverse=True):
                    inner.rmdir()
                folder.rmdir()
                folder = folder.parent
        return changed


def said_of(node):
    return [a.value for a in node.args if isinstance(a, ast.Constant)]


def left_in(folder):
    return any(f.is_file() and f.suffix != ".pyc" for f in folder.rglob("*"))


def all_order(name):
    """CONSTANTS, Classes, rest."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2, name.casefold())


def joined(lines):
    """Imports from one module as one statement."""
    out = {}
    for line in lines:
        found = re.fullmatch(r"(from \S+ import )(.*)", line)
        head, tail = found.groups() if found else (line, "")
        out.setdefault(head, []).append(tail)
    return [head + ", ".join(dict.fromkeys(t for t in tails if t)) for head, tails in out.items()]


def spread(lines, comment):
    """Lines that will be followed by a comment, which all of them need where it is for ruff."""
    again = f"  {comment}" if comment.startswith("# noqa") else ""
    return [*(f"{line}{again}" for line in lines[:-1]), lines[-1]]


def chain(module, own, every):
    """A module and the packages that are run before it."""
    parts = module.split(".")
    found = {".".join(parts[:i]) for i in range(1, len(parts) + 1)}
    return {m for m in found if m in every and m != own and not own.startswith(f"{m}.")} | (
        {module} if module in every and module != own else set()
    )


def components(graph):
    """Strongly connected sets of more than one (Tarjan, without recursion)."""
    index, low, stack, on, out = {}, {}, [], set(), []
    for root in list(graph):
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, children = work[-1]
            for child in children:
                if child not in index:
                    index[child] = low[child] = len(index)
                    stack.append(child)
                    on.add(child)
                    work.append((child, iter(sorted(graph.get(child, ())))))
                    break
                if child in on:
                    low[node] = min(low[node], index[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found = []
                    while True:
                        other = stack.pop()
                        on.discard(other)
                        found.append(other)
                        if other == node:
                            break
                    if len(found) > 1:
                        out.append(found)
    return out


# ---------------------------------------------------------------- names in prose and strings


class Prose:
    """Rewrites dotted names and paths in comments, strings and texts."""

    IMPORT = re.compile(
        r"\bfrom ((?:sightline|tests|bench|tools)(?:\.\w+)*) import (\([^)]*\)|\w+(?: as \w+)?(?:, *\w+(?: as \w+)?)*)"
    )
    DOTTED = re.compile(
        r"(?<![\w./\\@-])([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?::([A-Za-z_]\w*))?(?![\w/])"
    )
    PATH = re.compile(r"(?<![\w.-])((?:[\w-]+/)+[\w-]+(?:\.\w+)?)(?![\w-])")

    def __init__(self, mover):
        self.mover, self.old = mover, mover.old
        mover.prose = {}
        self.tails = defaultdict(set)
        for module in self.old.sources:
            parts = module.split(".")
            if parts[0] == TOP:
                for i in range(1, len(parts)):
                    self.tails[tuple(parts[i:])].add(module)

    def run(self):
        for source in self.old.sources.values():
            self.source(source)
        for path in self.old.paths:
            file = ROOT / path
            wanted = (
                file.suffix in PROSE and not NO_PROSE.search(path) and not path.startswith("src/")
            )
            if wanted and file.is_file() and not file.is_symlink():
                try:
                    text = file.read_text(encoding="utf-8")
                except UnicodeDecodeError:
                    continue
                new = self.text(text, path)
                if new != text:
                    self.mover.prose[path] = new

    def text(self, text, path):
        out, at = [], 0
        fences = [(m.start(), m.end()) for m in re.finditer(r"(?ms)^ *```.*?^ *```", text)]
        for low, high, new in self.hits(text, path, doc=True):
            fenced = any(a <= low < b for a, b in fences)
            if fenced and TOP not in text[low:high] or low < at:
                continue
            out += [text[at:low], new]
            at = high
        return "".join([*out, text[at:]])

    def source(self, source):
        taken = sorted((low, high) for low, high, _ in source.edits)
        docs = [source.pos(n) for n in ast.walk(source.tree) if is_string(n)]
        for token in source.tokens:
            fstring = tokenize.tok_name[token.type] == "FSTRING_MIDDLE"
            if token.type not in {tokenize.STRING, tokenize.COMMENT} and not fstring:
                continue
            start = source.at.chars(*token.start)
            end = source.at.chars(*token.end)
            if any(a <= start and end <= b for a, b in taken):
                continue
            doc = token.type == tokenize.COMMENT or any(a <= start < b for a, b in docs)
            code = []
            if token.type == tokenize.STRING and "f" in re.match(r"\w*", token.string)[0].lower():
                code = list(source.fstring_parts(start, end))
            for low, high, new in self.hits(
                source.text[start:end], source.path, doc=doc, source=source
            ):
                low, high = low + start, high + start
                if any(a < high and low < b for a, b in (*taken, *code)):
                    continue
                source.edits.append((low, high, new))

    def hits(self, text, path, *, doc, source=None):
        """(start, end, new) of every name that changes."""
        out, masked = [], []
        for found in self.IMPORT.finditer(text):
            new = self.importing(found, path)
            masked.append(found.span())
            if new is not None and new != found[0]:
                out.append((*found.span(), new))
        for regex, rule in ((self.DOTTED, self.dotted), (self.PATH, self.path)):
            for found in regex.finditer(text):
                if any(a < found.end() and found.start() < b for a, b in masked):
                    continue
                new = rule(found, path, doc, source)
                if new is not None and new != found[0]:
                    out.append((*found.span(), new))
                    if rule == self.dotted and not found[0].startswith(TOP):
                        report("prose", f"{path}: {found[0]} -> {new}")
        out.sort()
        return [h for i, h in enumerate(out) if i == 0 or h[0] >= out[i - 1][1]]

    def importing(self, found, path):
        module, names = found[1], found[2]
        if module not in self.old.modules:
            return None
        groups = defaultdict(list)
        for part in names.strip("()").replace("\\n", " ").split(","):
            words = part.split()
            if not words:
                continue
            known = self.old.attribute(module, words[0])
            if known is None:
                return None
            asname = words[2] if len(words) == 3 else None
            if known[0] == "mod":
                new = self.mover.new(known[1])
                if new is None:
                    report("by hand", f"{path}: {found[0]}")
                    return None
                home, _, name = new.rpartition(".")
                asname = asname or words[0]
            else:
                home, name = self.mover.landing(known)
                if name != words[0] and asname is None:
                    said = re.sub(r"\s+", " ", found[0])
                    report(
                        "by hand",
                        f"{path}: {said}: {words[0]} is {name} now, its uses are not changed",
                    )
                    asname = words[0]
            groups[home].append(name if asname in {None, name} else f"{name} as {asname}")
        if len(groups) > 1:
            report("by hand", f"{path}: {found[0]}: goes to {', '.join(groups)}")
            return None
        home, parts = next(iter(groups.items()))
        plain = names.strip("()").replace("\\n", " ").split(",")
        if parts == [" ".join(part.split()) for part in plain if part.split()]:
            return f"from {home} import {names}"  # as it is laid out
        made = ", ".join(parts)
        if names.startswith("(") and made != names.strip("() \n"):
            made = f"({made})"
        if home == module and re.sub(r"\s", "", made) == re.sub(r"\s", "", names).rstrip(",)"):
            return None
        return f"from {home} import {made}"

    def split(self, full):
        """The longest old module at the beginning of a dotted name, and what is behind it."""
        for i in range(len(full), 0, -1):
            if ".".join(full[:i]) in self.old.modules:
                return ".".join(full[:i]), full[i:]
        return None, full

    def renamed(self, module, rest):
        """The new (module, rest)."""
        known = self.old.patched(module, rest[0]) if rest else None
        if known is not None:
            home, name = self.mover.landing(known)
            return home, [name, *rest[1:]]
        return self.mover.new(module) if module in self.old.sources else None, rest

    def dotted(self, found, path, doc, source):
        parts = found[1].split(".")
        prefixed = parts[0] in TREES
        full = parts if prefixed else [TOP, *parts]
        module, rest = self.split(full)
        behind = [found[2]] if found[2] else []
        depth = module.count(".") if module else 0
        exact = depth >= 2 or prefixed and depth >= 1
        if depth == 1 and not prefixed and rest:
            exact = self.old.patched(module, rest[0]) is not None
        if prefixed and depth == 0:
            if module == TOP and rest and rest[0] in self.old.homes:
                return ".".join([TOP, self.mover.facade(rest[0]), *rest[1:]])
            return None
        if not exact:
            return (
                self.relative(parts, source, path) if doc and not prefixed and not behind else None
            )
        home, tail = self.renamed(module, rest + behind)
        if home is None:
            if any(m.startswith(f"{module}.") and self.mover.new(m) != m for m in self.old.sources):
                report(
                    "by hand",
                    f"{path}: {found[0]}: the package is not there any more, or not the same",
                )
            return None
        dangling = found.string[found.end() :][:1] == "." and not rest
        if prefixed and not doc and dangling and home != module:
            report("by hand", f"{path}: the string {found[0] + '.'!r} is the beginning of a name")
            return None
        if not prefixed and not doc:
            if home != module:
                report("by hand", f"{path}: the string {found[0]!r} may mean {home}")
            return None
        colon = len(behind) and tail[-len(behind) :]
        tail = tail[: len(tail) - len(behind)]
        new = ".".join([home, *tail]) + (f":{colon[0]}" if behind else "")
        return new if prefixed else new.partition(".")[2]

    def relative(self, parts, source, path):
        for i in range(len(parts), 1, -1):
            modules = self.tails.get(tuple(parts[:i]), ())
            if len(modules) == 1:
                module = next(iter(modules))
                home, tail = self.renamed(module, parts[i:])
                if home is None or (home == module and tail == parts[i:]):
                    return None
                return ".".join([*home.split(".")[1:][-max(i, 2) :], *tail])
        fits = [m for m in self.tails.get((parts[0],), ()) if parts[1] in self.old.sources[m].defs]
        if len(fits) == 1 and source is not None:
            module = fits[0]
            near = module.rpartition(".")[0] in {source.module, source.module.rpartition(".")[0]}
            if near or parts[0] in source.top.groups or parts[1][0].isupper():
                home, tail = self.renamed(module, parts[1:])
                if home != module or tail != parts[1:]:
                    if home == self.mover.new(source.module):
                        return ".".join(tail)
                    return ".".join([home.rpartition(".")[2], *tail])
        return None

    def path(self, found, path, doc, source):
        whole = found[1]
        if whole in self.mover.table.files:
            return self.mover.table.files[whole]
        parts = whole.split("/")
        if TOP in parts:
            at = parts.index(TOP)
            lead, inner, prefixed = parts[: at + 1], parts[at + 1 :], True
        else:
            lead, inner, prefixed = [], parts, False
        if not inner or not (doc or prefixed):
            return None
        name, dot, ending = inner[-1].partition(".")
        if dot and ending != "py":
            return None
        dotted = [*inner[:-1], *([name] if name != "__init__" else [])]
        module = ".".join([TOP, *dotted])
        if module not in self.old.modules or (len(dotted) < 2 and not prefixed):
            return None
        if dot and module not in self.old.sources:
            return None
        home = self.mover.new(module) if module in self.old.sources else None
        if home is None:
            report("by hand", f"{path}: {whole}: the folder is not there any more, or not the same")
            return None
        if home == module:
            return None
        if found.string[found.end() :][:1] == "/":
            report("by hand", f"{path}: {whole}/ is a folder; the module is {home} now")
            return None
        below = home.split(".")[1:]
        if dot:
            package = any(m.startswith(f"{home}.") for m in self.mover.dests)
            return "/".join([*lead, *below]) + ("/__init__.py" if package else ".py")
        return "/".join([*lead, *below])


# ---------------------------------------------------------------- the command


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("table", nargs="?", default="tools/move.tsv")
    parser.add_argument("--check", action="store_true", help="only print the report")
    parser.add_argument("--force", action="store_true", help="run on a tree with changes")
    parser.add_argument("--report", help="write the report to this file too")
    args = parser.parse_args()
    dirty = [
        line for line in git("status", "--porcelain").splitlines() if not line.startswith("??")
    ]
    if dirty and not args.force and not args.check:
        sys.exit("The tree has changes: commit them first, or say --force.")
    sys.setrecursionlimit(10_000)
    old = Old()
    table = Table(args.table, old)
    mover = Mover(old, table)
    if not report.said["error"]:
        mover.run()
    wrong = bool(report.said["error"])
    if not wrong and not args.check:
        changed = mover.write()
        python = [p for p in changed if p.endswith(".py")]
        ruff = [sys.executable, "-m", "ruff"]
        for command in (
            ["check", "--select", "I,F401,RUF022,D202", "--fix", "-q"],
            ["format", "-q"],
        ):
            for at in range(0, len(python), 200):
                done = subprocess.run(
                    [*ruff, *command, *python[at : at + 200]],
                    cwd=ROOT,
                    check=False,
                    capture_output=True,
                    text=True,
                )
                if done.returncode:
                    report("warning", f"ruff {command[0]}: {done.stdout}{done.stderr}")
        tops = {p.split("/")[0] for p in (*old.paths, *mover.prose)}
        git("add", "-u", "--", *sorted(t for t in tops if (ROOT / t).exists()))
        git(
            "add", "--", *sorted({d.path for d in mover.dests.values()} | set(table.files.values()))
        )
    text = str(report)
    print(text)
    if args.report:
        Path(args.report).write_text(f"{text}\n", encoding="utf-8")
    if wrong:
        sys.exit("There are errors: nothing is written.")


if __name__ == "__main__":
    main()
