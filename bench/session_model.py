"""The played model of a scripted session: it knows what its requests hold, and nothing else.

What it believes of a file comes from the results of its tools, from the diffs that Sightline tells and
from the rows that the client tells. It writes what it believes, with changes of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.session_tree import CELLS, ITEM, NOTEBOOK

if TYPE_CHECKING:
    from random import Random

    from bench.session_tree import Tree

Body = dict[str, Any]
SIGHTLINE = re.compile(r"(?<![\w/.-])Sightline\b")
NOTICE = "changed on disk since you were shown it, "
ROW = re.compile(r"^\s*(\d+)\t(.*)$")
CLIENTS_NOTE = re.compile(r"^Note: (\S+) changed on disk since you last read it\.", re.MULTILINE)
GONE = re.compile(r"([\w./-]*\w) was (?:deleted|renamed)|deleted ([\w./-]*\w)")
FENCE = re.compile(r"```diff\n(.*?)```", re.DOTALL)
HEADER = re.compile(r"^@@ .*@@.*$", re.MULTILINE)
PRINTED = re.compile(r"These lines stand in ([\w./-]+):\n(.*?)\nThat was all of it\.", re.DOTALL)
"""What the `!` of the slash command prints of a file."""

SERVER = "mcp__files__"
"""How the client names the tools of the server that reads and writes files."""

READERS = ("Read", f"{SERVER}read_text_file")


class Use(NamedTuple):
    """A call of a tool. path: of the tree; base: what was believed of the file, None when that was
    not the whole file; after_edit: an edit of the same file stands before it in its batch; effect: the
    line that a command replaces ("" to append) and its new line."""

    id: str
    name: str
    given: Body
    path: str = ""
    base: str | None = None
    after_edit: bool = False
    effect: tuple[str, str] | None = None

    @property
    def replaces(self) -> tuple[str, str] | None:
        """The old and the new text of an edit; None for what is no edit."""
        old, new = ("old", "new") if self.name.startswith(SERVER) else ("old_string", "new_string")
        return (self.given[old], self.given[new]) if old in self.given else None

    @property
    def content(self) -> str | None:
        """The text of a write of a whole file; None for what is no such write."""
        return self.given.get("content")


class Then(NamedTuple):
    """A conversation as it was before a prompt. step: of the session."""

    step: int
    seen: set[str]
    beliefs: dict[str, list[str]]
    whole: set[str]
    cells: list[str]


class Conversation:
    """One conversation of a client, with the requests it has sent so far."""

    def __init__(self, name: str, root: str) -> None:
        self.name, self.root = name, root
        self.process = name[: len("agent-A")]
        self.seen: set[str] = set()
        self.news: set[str] = set()
        self.late: set[str] = set()
        self.beliefs: dict[str, list[str]] = {}
        self.whole: set[str] = set()
        self.cells: list[str] = []
        self.before: list[Then] = []
        self.is_cut = False
        self.messages = 0
        self.turn = 0
        self.turns = 0
        self.uses: list[Use] = []

    # What a request brings.

    def hear(self, body: Body) -> tuple[dict[str, Body], list[str]]:
        """Read the new messages of a request: the results by their calls, and the other texts."""
        messages, news = body["messages"], news_of(body)
        self.messages = len(messages)
        results, texts = {}, []
        for message in news:
            blocks = message["content"]
            blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
            for block in blocks:
                if block["type"] == "tool_result":
                    results[block["tool_use_id"]] = block
                else:
                    texts.append(block.get("text", ""))
        for use in self.uses:
            if use.id in results:
                self._result(use, results[use.id])
        for message in news:
            if (
                message["role"] == "user"
            ):  # the client repeats old ones after a summary, and says so
                self._printed(text_of(message))
        for text in [*map(text_of, results.values()), *texts]:
            self._told(text)
        self.uses = []
        for message in messages if self.is_cut else news:
            self.seen.update(ITEM.findall(text_of(message)))
        self.is_cut = False
        return results, texts

    def remember(self, step: int) -> None:
        """Keep what is known before a prompt."""
        beliefs = {path: [*lines] for path, lines in self.beliefs.items()}
        then = Then(step, {*self.seen}, beliefs, {*self.whole}, [*self.cells])
        self.before.append(then)

    def go_back(self, prompts: int) -> int:
        """Know what was known before one of the last prompts; the step at which it was."""
        then = self.before[-prompts]
        del self.before[-prompts:]
        self.seen, self.beliefs, self.whole, self.cells = then[1:]
        return then.step

    def summarised(self, *, remembers: bool) -> None:
        """A summary takes the place of all messages. remembers: it holds what the files hold."""
        self.before.clear()
        self.is_cut = True
        if not remembers:
            self.seen.clear()
            self.beliefs.clear()
            self.whole.clear()
            self.cells.clear()

    def _result(self, use: Use, result: Body) -> None:
        text = text_of(result)
        if result.get("is_error"):
            self._failed(use, text)
        elif use.name == "Read":
            self._read(use, text)
        elif use.effect:
            old, new = use.effect
            if old:
                self._replace(use.path, [old], [new])
            elif use.path in self.beliefs:
                self.beliefs[use.path].append(new)
        elif use.path and use.name in ("Bash", f"{SERVER}read_text_file"):
            self.beliefs[use.path] = ITEM.findall(text)
            self.whole.add(use.path)
        elif use.replaces:
            self._replace(use.path, *(each.splitlines() for each in use.replaces))
        elif use.content is not None:
            self.beliefs[use.path] = use.content.splitlines()
            self.whole.add(use.path)
        elif use.name == "NotebookEdit":
            self.cells[int(use.given["cell_id"][1:])] = use.given["new_source"]

    def _failed(self, use: Use, text: str) -> None:
        if use.path == NOTEBOOK:
            self.cells = []
        elif use.name in READERS or "does not exist" in text or "No such file" in text:
            self.forget(use.path)

    def _read(self, use: Use, text: str) -> None:
        rows = [row for row in map(ROW.match, text.splitlines()) if row]
        if use.path == NOTEBOOK:
            self.cells = ITEM.findall(text)
        elif rows:
            lines = [row[2] for row in rows]
            self.beliefs[use.path] = lines[:-1] if lines[-1] == "" else lines
            self.whole.discard(use.path)
            if "limit" not in use.given:
                self.whole.add(use.path)
        elif "unchanged" not in text:
            self.forget(use.path)

    def _printed(self, text: str) -> None:
        for path, lines in PRINTED.findall(text):
            self.forget(path)
            if printed := ITEM.findall(lines):
                self.beliefs[path] = printed
                self.whole.add(path)

    def _told(self, text: str) -> None:
        """Take in the diffs and the rows that a text tells."""
        for each in GONE.findall(text):
            self.forget(each[0] or each[1])
        if SIGHTLINE.search(text):
            for hunk in hunks(text):
                self._apply(hunk)
        for note in CLIENTS_NOTE.finditer(text):
            path = note[1].removeprefix(f"{self.root}/")
            rows = []
            for line in text[note.end() :].splitlines()[1:]:
                row = ROW.match(line)
                if row is None:
                    break
                rows.append(row[2])
            if path in self.beliefs:
                self._splice(path, [row for row in rows if row])

    def _apply(self, hunk: list[str]) -> None:
        old = [line[1:] for line in hunk if line[0] in " -"]
        new = [line[1:] for line in hunk if line[0] in " +"]
        for path, lines in self.beliefs.items():
            if set(old) & set(lines) and not self._replace(path, old, new):
                gone = {line[1:] for line in hunk if line[0] == "-"}
                if gone & set(lines) or not set(new) <= set(lines):
                    self.forget(path)
                return

    def _replace(self, path: str, old: list[str], new: list[str]) -> bool:
        lines = self.beliefs.get(path, [])
        for at in range(len(lines) - len(old) + 1):
            if lines[at : at + len(old)] == old:
                lines[at : at + len(old)] = new
                return True
        return False

    def _splice(self, path: str, rows: list[str]) -> None:
        """Put rows that stand together in the place where their ends stand."""
        lines = self.beliefs[path]
        if len(rows) < 2 or rows[0] not in lines or rows[-1] not in lines:
            self.forget(path)
            return
        first, last = lines.index(rows[0]), lines.index(rows[-1])
        lines[first : last + 1] = rows

    def forget(self, path: str) -> None:
        """Know nothing more of a file."""
        self.beliefs.pop(path, None)
        self.whole.discard(path)

    # What it answers.

    def batch(self, tree: Tree, random: Random, step: int) -> list[Use]:
        """The calls of one answer."""
        kinds = [self._look] * 3 + [self._shell_look] + [self._edit] * 4 + [self._edits] * 3
        kinds += [self._write] * 3 + [self._write_anew, self._command, self._command, self._notes]
        kinds += [self._served_look, self._served_edit, self._served_write]
        made = random.choice(kinds)(tree, random) or self._look(tree, random)
        self.uses = [
            use._replace(id=f"toolu_{self.name}_{step}_{at}") for at, use in enumerate(made)
        ]
        return self.uses

    def _at(self, path: str) -> str:
        return f"{self.root}/{path}"

    def _line(self, tree: Tree, random: Random) -> str:
        form = random.choice(
            ["item_{0:05} = {0}"] * 6 + ["item_{0:05}={0}", "import item_{0:05}  # unused"]
        )
        return tree.line(self.name, form)

    def _look(self, tree: Tree, random: Random) -> list[Use]:
        known = [path for path in sorted(tree.texts()) if path != NOTEBOOK]
        unread = [path for path in known if path not in self.beliefs]
        paths = random.sample(unread, 1) if unread else []
        paths += [p for p in random.sample(known, min(2, len(known))) if p not in paths]
        uses = []
        for path in paths[: random.randint(1, 2)]:
            given: Body = {"file_path": self._at(path)}
            if path not in self.beliefs and random.random() < 0.2:
                given |= {"offset": random.randint(1, 8), "limit": 8}
            uses.append(Use("", "Read", given, path))
        return uses

    def _shell_look(self, tree: Tree, random: Random) -> list[Use]:
        path = random.choice([path for path in sorted(tree.texts()) if path != NOTEBOOK])
        return [bash(f"cat {path}", path)]

    def _served_look(self, tree: Tree, random: Random) -> list[Use]:
        path = random.choice([path for path in sorted(tree.texts()) if path != NOTEBOOK])
        return [Use("", f"{SERVER}read_text_file", {"path": self._at(path)}, path)]

    def _served_edit(self, tree: Tree, random: Random) -> list[Use]:
        return [self._served("edit_file", use) for use in self._edit(tree, random)]

    def _served_write(self, tree: Tree, random: Random) -> list[Use]:
        return [self._served("write_file", use) for use in self._write(tree, random)]

    def _served(self, tool: str, use: Use) -> Use:
        """The call of the server's tool that does the same."""
        given: Body = {"path": use.given["file_path"]}
        if use.replaces:
            given |= dict(zip(("old", "new"), use.replaces, strict=True))
        else:
            given |= {"content": use.content}
        return use._replace(name=f"{SERVER}{tool}", given=given)

    def _edit(self, tree: Tree, random: Random) -> list[Use]:
        known = [path for path in sorted(self.beliefs) if self.beliefs[path]]
        if not known:
            return []
        return [self._edit_of(random.choice(known), tree, random, set())]

    def _edit_of(self, path: str, tree: Tree, random: Random, taken: set[str]) -> Use:
        lines = self.beliefs[path]
        at = random.randrange(len(lines))
        old = lines[at : at + random.choice([1, 1, 2])]
        if taken & set(old):
            old = [next(line for line in lines if line not in taken)]
        taken.update(old)
        new = [self._line(tree, random) for _ in range(random.choice([1, 1, 2]))]
        given = {
            "file_path": self._at(path),
            "old_string": "".join(f"{each}\n" for each in old),
            "new_string": "".join(new),
        }
        return Use("", "Edit", given, path)

    def _edits(self, tree: Tree, random: Random) -> list[Use]:
        """Several edits at once, and at times a whole file after them."""
        known = [path for path in sorted(self.beliefs) if len(self.beliefs[path]) > 8]
        taken: set[str] = set()
        uses = [
            self._edit_of(random.choice(known), tree, random, taken)
            for _ in range(random.randint(2, 3) if known else 0)
        ]
        if random.random() < 0.3:
            uses += [
                use._replace(after_edit=any(each.path == use.path for each in uses))
                for use in self._write(tree, random)
                if not any(each.path == use.path for each in uses)
            ]
        return uses

    def _write(self, tree: Tree, random: Random) -> list[Use]:
        known = [path for path in sorted(self.beliefs) if path in self.whole and self.beliefs[path]]
        if not known:
            return []
        path = random.choice(known)
        lines = [f"{line}\n" for line in self.beliefs[path]]
        base = "".join(lines)
        at = random.randrange(len(lines))
        lines[at : at + random.choice([0, 1, 1, 2])] = [self._line(tree, random)]
        given = {"file_path": self._at(path), "content": "".join(lines)}
        return [Use("", "Write", given, path, base)]

    def _write_anew(self, tree: Tree, random: Random) -> list[Use]:
        lines = [self._line(tree, random) for _ in range(12)]
        path = f"new{len(tree.who)}.py"
        given = {"file_path": self._at(path), "content": "".join(lines)}
        return [Use("", "Write", given, path, "")]

    def _notes(self, tree: Tree, random: Random) -> list[Use]:
        if len(self.cells) != CELLS:
            return [Use("", "Read", {"file_path": self._at(NOTEBOOK)}, NOTEBOOK)]
        cell = random.randrange(CELLS)
        given = {
            "notebook_path": self._at(NOTEBOOK),
            "cell_id": f"c{cell}",
            "new_source": tree.line(self.name).strip(),
        }
        return [Use("", "NotebookEdit", given, NOTEBOOK)]

    def _command(self, tree: Tree, random: Random) -> list[Use]:
        known = [path for path in sorted(self.beliefs) if self.beliefs[path]]
        if not known:
            return []
        path = random.choice(known)
        old = random.choice(self.beliefs[path])
        kind = random.choice(["sed"] * 4 + ["append"] * 3 + ["mv", "rm", "commit", "switch"])
        if kind == "sed":
            new = tree.line(self.name).strip()
            return [bash(f"sed -i 's/^{old}$/{new}/' {path}", path, (old, new))]
        if kind == "append":
            new = tree.line(self.name).strip()
            return [bash(f"echo '{new}' >> {path}", path, ("", new))]
        who = "git -c user.name=agent -c user.email=agent@example.invalid"
        if kind == "commit":
            return [bash(f"git add -A && {who} commit -qm work")]
        if kind == "switch":
            return [bash(f"git add -A && {who} commit -qm work; git switch -q -")]
        self.forget(path)
        if kind == "mv":
            return [bash(f"mv {path} moved{len(tree.who)}.py")]
        return [bash(f"rm {path}")]


def bash(command: str, path: str = "", effect: tuple[str, str] | None = None) -> Use:
    """A shell command; path: the file that it prints, or has an effect on."""
    given = {"command": command, "description": "work"}
    return Use("", "Bash", given, path, effect=effect)


def news_of(body: Body) -> list[Body]:
    """Return the messages of a request since the model's own last words."""
    messages: list[Body] = body["messages"]
    spoke = [at for at, each in enumerate(messages) if each["role"] == "assistant"]
    return messages[spoke[-1] + 1 if spoke else 0 :]


def text_of(block: Body | str) -> str:
    """All text of a message or block."""
    if isinstance(block, str):
        return block
    content = block.get("text") or block.get("content") or block.get("input") or ""
    if isinstance(content, dict):
        return "\n".join(str(each) for each in content.values())
    return content if isinstance(content, str) else "\n".join(map(text_of, content))


def hunks(text: str) -> list[list[str]]:
    """The hunks of the diffs in a text, as their rows."""
    parts = [part for fence in FENCE.findall(text) for part in HEADER.split(fence)[1:]]
    return [[row for row in part.splitlines() if row[:1] in {"+", "-", " "}] for part in parts]
