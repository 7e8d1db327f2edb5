"""The tree of a scripted session: what a user, a formatter and git do to it, and who did it.

Every line is written once and bears a number of its own, so a line is its own identity: on disk, in
what a model was sent, and in a diff.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

Texts = dict[str, str]
"""The files of a tree by their paths."""

ITEM = re.compile(r"(?:import )?item_\d{5}(?: ?= ?\d+)?(?:  # unused)?")
"""A line, wherever it stands."""

NOTEBOOK = "study.ipynb"
CELLS = 4
FILES = ("app.py", "core.py", "lib/text.py", "lib/disk.py", "notes.txt", "settings.py")
LINES = 24
BRANCHES = ("main", "other")
SHOWN = """---
allowed-tools: Bash(cat:*)
---
You are $ARGUMENTS. These lines stand in {path}:
!`cat {path} 2>/dev/null || echo nothing`
That was all of it. Go on.
"""
"""A slash command whose `!` prints a file."""

FORMATTER = """\
import json, re, sys
path = json.load(sys.stdin)["tool_input"].get("file_path", "")
if path.endswith(".py"):
    with open(path, newline="") as file:
        before = file.read()
    kept = [line for line in before.splitlines(True) if not line.endswith("  # unused\\n")]
    after = "".join(re.sub(r"(?<=\\\\d)=(?=\\\\d)", " = ", line) for line in kept)
    if after != before:
        with open(JOURNAL, "a") as journal:
            journal.write(json.dumps([path, before, after]) + "\\n")
        with open(path, "w", newline="") as file:
            file.write(after)
""".replace("\\\\d", "\\d")
"""A hook of the user's: removes what is not used and sets blanks around equals signs. It runs beside
Sightline's hook, as the client runs them."""

REWRITER = """\
import json, re, sys
given = json.load(sys.stdin)["tool_input"]
before = given["content"]
if given["file_path"].endswith(".py"):
    kept = [line for line in before.splitlines(True) if not line.endswith("  # unused\\n")]
    given["content"] = "".join(re.sub(r"(?<=\\d)=(?=\\d)", " = ", line) for line in kept)
if given["content"] != before:
    with open(JOURNAL, "a") as journal:
        journal.write(json.dumps([given["file_path"], before, given["content"], "rewritten"]) + "\\n")
    answer = {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": given}
    print(json.dumps({"hookSpecificOutput": answer}))
"""
"""The same as a hook before a Write, which puts its own text in the place of the agent's."""


class Left(NamedTuple):
    """A path as somebody left it. revision: "" for no file; author: the word for who did it."""

    path: str
    revision: str
    author: str


class Tree:
    """The files, and a record of who left them how. who: the author of each line."""

    def __init__(self, root: Path, home: Path, random: Random, *, rewrites: bool = False) -> None:
        self.root, self.random = root, random
        self.left: list[Left] = []
        self.who: dict[str, str] = {}
        self.deeds: list[str] = []
        self._journal = home / "formatted.jsonl"
        self._formatted = 0
        self._count = 0
        hooks: dict[str, object] = {}
        if rewrites:
            hooks["PreToolUse"] = [self._hook(home / "rewriter.py", REWRITER, "Write")]
        hooks["PostToolUse"] = [self._hook(home / "formatter.py", FORMATTER, "Edit|Write")]
        self._lay_out(hooks)

    def texts(self) -> Texts:
        """All files as they stand."""
        found = {}
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(set(folders) - {".git", ".claude"})
            for name in sorted(names):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8", newline="") as file:
                    found[os.path.relpath(path, self.root)] = file.read()
        return found

    def line(self, author: str, form: str = "item_{0:05} = {0}") -> str:
        """A line that nobody wrote before."""
        self._count += 1
        text = form.format(self._count)
        self.who[text] = author
        if form != "item_{0:05} = {0}":  # as a formatter would have it
            self.who[f"item_{self._count:05} = {self._count}"] = "formatter"
        return f"{text}\n"

    def act(self) -> None:
        """Something happens that no agent does."""
        deeds: list[Callable[[Texts], object]] = [
            *[self._changes] * 8,
            *[self._adds] * 4,
            *[self._removes] * 3,
            *[self._rewrites, self._touches, self._deletes, self._renames, self._creates],
            *[self._commits, self._switches, self._switches],
            self._notes,
        ]
        deed = self.random.choice(deeds)
        before = self.texts()
        deed(before)
        after = self.texts()
        author = "git" if deed in (self._switches, self._commits) else "external"
        self.deeds.append(f"{deed.__name__[1:]} {' '.join(changed(before, after))}".strip())
        self.record(before, after, author)

    def record(self, before: Texts, after: Texts, author: str) -> None:
        """Note who left the paths that differ as they are."""
        for path in changed(before, after):
            self.left.append(Left(path, revision(after.get(path)), author))

    def formatted(self, author: str) -> list[tuple[str, str, str]]:
        """Return what the user's hooks did since they were asked last: path, text before, text after.
        author: who writes a text that was rewritten before it was written."""
        if not self._journal.exists():
            return []
        rows = [json.loads(row) for row in self._journal.read_text().splitlines()]
        new = rows[self._formatted :]
        self._formatted = len(rows)
        for path, _, text, *rewritten in new:
            if rewritten:
                self.record({}, {os.path.relpath(path, self.root): text}, author)
        return [(os.path.relpath(path, self.root), old, text) for path, old, text, *_ in new]

    def save(self, path: str, text: str) -> None:
        """Write a file as an editor would."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")

    def git(self, *arguments: str) -> None:
        """Run git in the tree."""
        who = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
        subprocess.run(
            ["git", *who, *arguments],
            cwd=self.root,
            env=os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
            check=True,
            capture_output=True,
        )

    def _hook(self, program: Path, text: str, tools: str) -> dict[str, object]:
        program.write_text(f"JOURNAL = {str(self._journal)!r}\n{text}")
        command = f"{sys.executable} -I -S {program}"
        return {"matcher": tools, "hooks": [{"type": "command", "command": command}]}

    def _lay_out(self, hooks: dict[str, object]) -> None:
        (self.root / ".git/info").mkdir(parents=True, exist_ok=True)
        (self.root / ".git/info/exclude").write_text(".claude\n")
        for path in FILES:
            self.save(path, "".join(self.line("external") for _ in range(LINES)))
        self.save(NOTEBOOK, notebook([self.line("external").strip() for _ in range(CELLS)]))
        self.save(".claude/settings.json", json.dumps({"hooks": hooks}))
        for path in FILES:
            self.save(f".claude/commands/{show(path)}.md", SHOWN.format(path=path))
        main, other = BRANCHES
        self.git("checkout", "--quiet", "-b", main)
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", "one")
        self.git("switch", "--quiet", "-c", other)
        for path in FILES[::2]:
            self._change(path, self.texts()[path])
        self.git("commit", "--quiet", "-am", "two")
        self.git("switch", "--quiet", main)

    def _some(self, texts: Texts) -> str:
        return self.random.choice([path for path in sorted(texts) if path != NOTEBOOK])

    def _change(self, path: str, text: str) -> None:
        lines = text.splitlines(keepends=True) or ["\n"]
        lines[self.random.randrange(len(lines))] = self.line("external")
        self.save(path, "".join(lines))

    def _changes(self, texts: Texts) -> None:
        path = self._some(texts)
        self._change(path, texts[path])

    def _adds(self, texts: Texts) -> None:
        path = self._some(texts)
        lines = texts[path].splitlines(keepends=True)
        at = self.random.randint(0, len(lines))
        new = [self.line("external") for _ in range(self.random.randint(1, 3))]
        self.save(path, "".join([*lines[:at], *new, *lines[at:]]))

    def _removes(self, texts: Texts) -> None:
        path = self._some(texts)
        lines = texts[path].splitlines(keepends=True)
        at = self.random.randint(0, max(0, len(lines) - 2))
        self.save(path, "".join([*lines[:at], *lines[at + self.random.randint(1, 2) :]]))

    def _rewrites(self, texts: Texts) -> None:
        self.save(self._some(texts), "".join(self.line("external") for _ in range(LINES)))

    def _touches(self, texts: Texts) -> None:
        path = self._some(texts)
        self.save(path, texts[path])

    def _deletes(self, texts: Texts) -> None:
        if len(texts) > len(FILES) // 2:
            (self.root / self._some(texts)).unlink()

    def _renames(self, texts: Texts) -> None:
        path = self._some(texts)
        (self.root / path).rename(self.root / f"named{self._count}_{path.replace('/', '_')}")

    def _creates(self, texts: Texts) -> None:
        self.save(f"made{self._count}.py", "".join(self.line("external") for _ in range(LINES)))

    def _notes(self, texts: Texts) -> None:
        """A cell of the notebook changes."""
        if NOTEBOOK in texts:
            items = ITEM.findall(texts[NOTEBOOK])
            items[self.random.randrange(len(items))] = self.line("external").strip()
            self.save(NOTEBOOK, notebook(items))

    def _commits(self, texts: Texts) -> None:
        self.git("add", "-A")
        self.git("commit", "--quiet", "--allow-empty", "-m", "more")

    def _switches(self, texts: Texts) -> None:
        """The user commits what there is, and goes to the other branch."""
        self._commits(texts)
        head = (self.root / ".git/HEAD").read_text()
        self.git("switch", "--quiet", BRANCHES[head.strip().endswith(BRANCHES[0])])


def show(path: str) -> str:
    """The slash command that shows a file."""
    return f"show_{path.replace('/', '_').replace('.', '_')}"


def notebook(sources: list[str]) -> str:
    """A notebook of one line a cell; the cells are called c0, c1, …"""
    code: dict[str, object] = {"cell_type": "code", "execution_count": None, "metadata": {}}
    cells = [
        {**code, "id": f"c{at}", "outputs": [], "source": [text]} for at, text in enumerate(sources)
    ]
    whole = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1)


def items(texts: Texts) -> set[str]:
    """The lines of a tree."""
    return {item for text in texts.values() for item in ITEM.findall(text)}


def changed(before: Texts, after: Texts) -> list[str]:
    """The paths that differ."""
    return [p for p in sorted(before.keys() | after.keys()) if before.get(p) != after.get(p)]


def revision(text: str | None) -> str:
    """The hash that Sightline's log gives a file, "" where there is none."""
    return "" if text is None else sha256(text.encode()).hexdigest()
