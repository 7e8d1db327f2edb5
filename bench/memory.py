"""Memory over recorded sessions that are resumed: is all in the block that must be there?

    python bench/memory.py PATH... [--upto 0.6] [--json]

PATH is a recording of any product, or a folder of them. Its messages are said to a session up to
that part of them, the files it read and edited are read and edited (with texts of our own), the
session ends, somebody changes some of the files, and a new process asks for the memory. What must
be in it is taken from the recording and from what was put on disk, not from the library.
Exit 1 when something is missing, or the median block is over its budget.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
if not __package__:  # started as a script: the rest of bench, and the library of this checkout
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.subjects import settings_in  # noqa: E402 (needs the path above)

import sightline  # noqa: E402
from sightline.briefing.memory import BUDGET, memory  # noqa: E402
from sightline.errors import SightlineError  # noqa: E402
from sightline.messages.formats.format import FORMATS  # noqa: E402
from sightline.recordings.read_recordings import find_recordings, read_recording  # noqa: E402
from sightline.recordings.recorded_conversation import Unread  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sightline.briefing.contents import Memory
    from sightline.messages.blocks import Block
    from sightline.recordings.recorded_conversation import Conversation

BASELINE = 10
"""Modified files that earlier systems put in such a block: the last ones."""

EVERY = 3
"""Every so many of the known files is changed by somebody else before the session is resumed."""


class Resumed(NamedTuple):
    """One session, resumed. Counts are (found, of all). baseline: of the changed files by a list of
    the last ten."""

    agent: str
    path: str
    changed: tuple[int, int]
    baseline: int
    pending: tuple[int, int]
    stale: tuple[int, int]
    false_stale: int
    tokens: int
    left_out: int
    seconds: float

    @property
    def whole(self) -> bool:
        """Return whether nothing that must be there is missing, and nothing is called stale that is
        not."""
        pairs = (self.changed, self.pending, self.stale)
        return all(found == every for found, every in pairs) and not self.false_stale


def main(arguments: Sequence[str] | None = None) -> int:
    """Resume the chosen sessions and print the table. Exit 2 when there is no session."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--upto", type=float, default=0.6, help="part of the messages (0 to 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    rows = [row for path in find_recordings(options.paths) for row in resumed(path, options.upto)]
    if not rows:
        print(f"No recording with files in {' '.join(options.paths)}", file=sys.stderr)
        return 2
    tokens = median(row.tokens for row in rows)
    report = [*_table(rows), *_missing(rows)]
    said = {"rows": [row._asdict() for row in rows], "median_tokens": tokens}
    print(json.dumps(said) if options.json else "\n".join(report))
    return 0 if all(row.whole for row in rows) and tokens <= BUDGET else 1


def resumed(path: str, upto: float) -> Iterator[Resumed]:
    """The session in a file, resumed; none where it holds no recording, or touches no file."""
    told = read_recording(path)
    if isinstance(told, Unread):
        return
    with tempfile.TemporaryDirectory(prefix="sightline-memory-") as folder:
        played = Played(told, upto, Path(folder))
        if played.known:
            yield played.row()


class Played:
    """A recording played in a folder of its own."""

    def __init__(self, told: Conversation, upto: float, folder: Path) -> None:
        self.told = told
        self.folder = folder
        self.root = folder / "workspace"
        self.root.mkdir()
        self.messages = list(told.messages)[: max(int(len(told.messages) * upto), 1)]
        self.blocks = FORMATS[told.format].blocks(self.messages, len)
        self.base = _base(self.blocks)
        self.failed = {b.call for b in self.blocks if b.kind == "result" and b.error}
        self.known: dict[str, None] = {}
        self.edited: dict[str, None] = {}
        with self._session() as session:
            self._play(session)
        self.foreign = self._changed_by_somebody()

    def _session(self) -> sightline.Session:
        return sightline.open_session(
            str(self.root),
            id="recorded",
            agent=self.told.agent,
            store=f"sqlite:///{self.folder}/store.db",
            settings=settings_in(self.root, self.folder),
            approve=lambda _path, _diff: True,
        )

    def _play(self, session: sightline.Session) -> None:
        for message in self.messages:
            session.conversation.append(message)
        for number, block in enumerate(self.blocks):
            if block.kind != "call" or block.call in self.failed:
                continue
            names = (self._local(path) for path in block.paths)
            for name in (each for each in names if each):
                self._touch(session, name, f"text {number}\n" if _edits(block) else None)

    def _touch(self, session: sightline.Session, name: str, text: str | None) -> None:
        """Read a file, or write it; the one that a host shows is there."""
        there = self.root / name
        try:
            if text is None and not there.exists():
                there.parent.mkdir(parents=True, exist_ok=True)
                there.write_text("as it was\n", encoding="utf-8")
            if text is None:
                session.read(name)
            else:
                session.write(name, text)
                self.edited.pop(name, None)
                self.edited[name] = None
        except (SightlineError, OSError):
            return  # a folder, a name that is none here, a file where another's folder would be
        self.known[name] = None

    def _local(self, path: str) -> str | None:
        """A recorded path in our workspace."""
        plain = path.replace("\\", "/")
        plain = re.sub(r"^([A-Za-z]:)?/+", "", plain.removeprefix(self.base))
        parts = [part for part in plain.split("/") if part not in ("", ".")]
        odd = not parts or ".." in parts or any(c in plain for c in "\n*?$\"'`")
        return None if odd or ".git" in parts else "/".join(parts)

    def _changed_by_somebody(self) -> set[str]:
        chosen = [name for n, name in enumerate(self.known) if n % EVERY == 0]
        for number, name in enumerate(chosen):
            if number % 4 == 3:
                (self.root / name).unlink()
            else:
                with (self.root / name).open("a", encoding="utf-8") as file:
                    file.write("by somebody else\n")
        return set(chosen)

    def row(self) -> Resumed:
        """Return what a new process remembers, held against what must be there."""
        with self._session() as session:
            begun = perf_counter()
            found = memory(session._context)  # noqa: SLF001
            seconds = perf_counter() - begun
        return self._row(found, seconds)

    def _row(self, found: Memory, seconds: float) -> Resumed:
        lines = {line for line in found.text.split("\n") if line.startswith("- ")}
        made = {name for line in lines for name in _named(line)}
        stale = {each.path for each in found.refresh}
        said = [name for name in stale if any(f"- {name} " in line for line in lines)]
        todo = open_items(self.told.format, self.messages)
        texts = " ".join(found.text.split())
        pending = sum(" ".join(text[:200].split()) in texts for text in todo)
        return Resumed(
            self.told.agent,
            os.path.basename(self.told.source),
            (sum(name in made for name in self.edited), len(self.edited)),
            min(len(self.edited), BASELINE),
            (pending, len(todo)),
            (sum(name in self.foreign for name in said), len(self.foreign)),
            len(stale - self.foreign),
            found.tokens,
            sum(number for _, number in found.left_out),
            seconds,
        )


def _named(line: str) -> Iterator[str]:
    """The files that a line on changed ones names."""
    said = line.split(" ", 2)[-1]
    folder, _, names = said.rpartition("/: ")
    begin = f"{folder.removeprefix('in ')}/" if folder else ""
    yield from (f"{begin}{name}" for name in (names if folder else said).split(", "))


def _edits(block: Block) -> bool:
    return block.deed in ("edit", "write")


def _base(blocks: Sequence[Block]) -> str:
    """The folder that a recording's absolute paths have in common."""
    every = {path.replace("\\", "/") for block in blocks for path in block.paths}
    found = [path for path in every if path.startswith("/")]
    found = found or [path for path in every if re.match(r"[A-Za-z]:/", path)]
    shared = os.path.commonpath([os.path.dirname(path) for path in found]) if found else ""
    return f"{shared.rstrip('/')}/" if shared else ""


def open_items(format: str, messages: Sequence[Any]) -> list[str]:
    """Return what is open in the newest to-do list of a recording: by a reading of our own."""
    lists: list[tuple[str, str]] = []
    tasks: dict[str, tuple[str, str]] = {}
    for name, given in _calls(format, messages):
        items = given.get("todos") if name in ("TodoWrite", "todowrite") else given.get("plan")
        if name in ("TodoWrite", "todowrite", "update_plan") and isinstance(items, list):
            lists = [(i.get("content") or i.get("step"), i["status"]) for i in items]
            tasks = {}
        elif name == "TaskCreate":
            tasks[str(len(tasks) + 1)] = (given["subject"], "pending")
        elif name == "TaskUpdate" and given.get("taskId") in tasks:
            text, status = tasks[given["taskId"]]
            tasks[given["taskId"]] = (given.get("subject", text), given.get("status", status))
    newest = list(tasks.values()) or lists
    return [text for text, status in newest if status in ("pending", "in_progress")]


def _calls(format: str, messages: Sequence[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls of these tools, in the formats in which recordings have them."""
    for message in messages:
        content = message.get("content")
        for part in content if isinstance(content, list) else [message]:
            if isinstance(part, dict) and part.get("type") in ("tool_use", "function_call"):
                yield part["name"], _object(part.get("input", part.get("arguments")))
        for each in message.get("tool_calls") or () if format == "chat" else ():
            function = each.get("function", {})
            yield function.get("name", ""), _object(function.get("arguments"))


def _object(given: Any) -> dict[str, Any]:
    try:
        found = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _table(rows: Sequence[Resumed]) -> Iterator[str]:
    head = ("product", "sessions", "changed", "last 10", "to-dos", "stale", "false")
    yield "{:<15}{:>9}{:>11}{:>9}{:>9}{:>11}{:>6}".format(*head) + (
        f"{'tokens p50':>11}{'p90':>7}{'max':>7}{'ms p50':>8}"
    )
    for agent in [*sorted({row.agent for row in rows}), None]:
        own = [row for row in rows if agent in (row.agent, None)]
        tokens = [row.tokens for row in own]
        p90 = quantiles(tokens, n=10)[-1] if len(tokens) > 1 else tokens[0]
        ms = 1_000 * median(row.seconds for row in own)
        yield (
            f"{agent or 'all':<15}{len(own):>9}{_sum(own, 'changed'):>11}"
            f"{sum(row.baseline for row in own):>9}{_sum(own, 'pending'):>9}"
            f"{_sum(own, 'stale'):>11}{sum(row.false_stale for row in own):>6}"
            f"{median(tokens):>11.0f}{p90:>7.0f}{max(tokens):>7}{ms:>8.1f}"
        )


def _sum(rows: Sequence[Resumed], field: str) -> str:
    pairs = [getattr(row, field) for row in rows]
    return f"{sum(found for found, _ in pairs)}/{sum(every for _, every in pairs)}"


def _missing(rows: Sequence[Resumed]) -> Iterator[str]:
    for row in rows:
        if not row.whole:
            yield (
                f"MISSING in {row.agent} {row.path}: changed {row.changed}, to-dos {row.pending},"
                f" stale {row.stale}, false {row.false_stale}, left out {row.left_out}"
            )


if __name__ == "__main__":
    sys.exit(main())
