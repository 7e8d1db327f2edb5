"""Long sessions of the real client: two agents, a user, a formatter and git in one tree.

    python bench/sessions.py [--json] [--alone | --table] [--seed N]... [--steps N] [--random N]

A seed makes a session of so many answers of a played model (bench/session_model.py), which two clients
and their sub-agents ask in turns. Between two answers the tree may change (bench/session_tree.py), and while
one of the clients asks the user before an edit. The user takes conversations back, has them summarised, and
sends commands whose `!` prints a file; an MCP server reads and writes files; in some sessions a hook of the
user's rewrites what is written. The judging knows no Sightline: it compares the files around each answer's tool calls with the lines that
stood in the requests of that conversation. --alone plays the same without Sightline, --table
both; --random N adds N seeds. Exit 1 when a promise is broken.

- untold: a line of others is gone by an edit or a write of an agent that no request had shown it to, or
  a line that others removed is back.
- false refusal: an edit was refused although its text stood on disk exactly once, or a write although
  the file was as the agent believed.
- told twice: a notice gives a line of a diff that Sightline had told this conversation before.
- wrong author: the log names somebody as certain who did not do it.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from difflib import unified_diff
from functools import partial
from pathlib import Path
from random import Random
from threading import Condition, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

if not __package__:  # started as a script: the rest of bench, and the library of this checkout
    ROOT = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.oracle import Evidence, judge
from bench.session_model import (
    FENCE,
    NOTICE,
    SERVER,
    SIGHTLINE,
    Conversation,
    Use,
    hunks,
    news_of,
    text_of,
)
from bench.session_tree import FILES, ITEM, Texts, Tree, changed, items, show
from tests.clients import file_server
from tests.clients.claude import DEADLINE_S, Back, Claude
from tests.clients.stub import COMPACTION, Model, serving

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Body = dict[str, Any]
SEEDS = range(1, 10)
STEPS = 70
PROCESSES = ("agent-A", "agent-B")
SERVERS = "servers.json"
REWRITES = 0.4
"""Share of sessions in which a hook of the user's rewrites what is written."""

NAME = re.compile(r"agent-[AB](?:-sub\d+)?\b")
STEP_S = 8
"""How long a step may take on a loaded machine before the client counts as hanging."""

TURN = 5
"""Answers of the model in a turn, about."""
WRITERS = ("Edit", "Write", "NotebookEdit", f"{SERVER}edit_file", f"{SERVER}write_file")
CLIENTS_OWN = {
    "modified since read": "client: modified since read",
    "has not been read yet": "client: not read yet",
    "not found in file": "client: text not found",
    "does not exist": "client: no such file",
}
"""How the client refuses by itself."""
OTHER_PROGRAM = {"external": "formatter"}
"""A formatter that changes more than layout is told as "the user or another program"."""


PROMISES = ("untold", "false refusal", "told twice", "wrong author")
"""Kinds of fault that Sightline is to have none of."""
FIRST_RANDOM = 100
"""The first seed of those that --random adds."""
ROWS = {
    "edits and writes tried": ("tried ",),
    "went through": ("went through",),
    "refused by the client itself: the file was modified, or not read": (
        "refused, client: modified",
        "refused, client: not read",
    ),
    "… although the file was as the agent believed": ("client's false refusal",),
    "… although both changes of a whole file fit together": ("refused, mergeable",),
    "refused by the client itself: no such text, no such file": (
        "refused, client: text",
        "refused, client: no such",
    ),
    "lines of others overwritten or brought back, without a word to the agent": ("fault, untold",),
    "lines of others gone with a file that the agent's own command removed": ("own command",),
    "new lines of others in files that the agent knew whole": ("new lines",),
    "… in the next request": ("told at once",),
    "… still not told at the end": ("never told",),
    "Sightline refused": ("refused, sightline",),
    "Sightline refused wrongly": ("fault, false refusal",),
    "Sightline told a change twice": ("fault, told twice",),
    "Sightline's log names an author": ("authors, ",),
    "Sightline's log names a wrong author as certain": ("fault, wrong author",),
}
"""The rows of the table, and the counts that each adds up."""


class Fault(NamedTuple):
    """A promise that was broken. step: of the session; what: for a person."""

    kind: str
    step: int
    what: str


class Player(Model):
    """Answers the requests of all conversations, one at a time, and judges what came of each."""

    def __init__(self, seed: int, steps: int) -> None:
        super().__init__()
        self.seed = seed
        self.random = Random(seed)  # noqa: S311  the same session each time
        self.steps = steps
        self.turns = max(1, steps // (TURN * len(PROCESSES)))
        self.step = 0
        self.faults: list[Fault] = []
        self.counts: Counter[str] = Counter()
        self.story: list[str] = []
        self.tree: Tree
        self.talks: dict[str, Conversation] = {}
        self.alive: set[str] = set(PROCESSES)
        self._waiting: dict[str, str] = {}
        self._active: Conversation | None = None
        self._chosen = ""
        self._turns = Condition()
        self._before: Texts = {}
        self._states: dict[str, tuple[list[Use], Texts, Texts]] = {}
        self._gone: dict[str, int] = {}
        self._moves: dict[str, int] = {}
        self._told: dict[tuple[str, str, str], tuple[int, int, str]] = {}
        self._subs = 0
        self._saves: list[tuple[Texts, Texts]] = []
        self._doubts: dict[str, list[tuple[str, str]]] = {}
        self._back: set[str] = set()
        self._doubled: set[str] = set()
        self.asks = self.random.choice(PROCESSES)
        self.rewrites = self.random.random() < REWRITES

    def answer(self, body: Body) -> tuple[str, list[Body]]:
        """The id and the content blocks of the next message of a conversation."""
        if not body.get("tools"):
            return "msg_title", [{"type": "text", "text": "A title"}]
        name = conversation_of(body)
        with self._turns:
            talk = self.talks.setdefault(name, Conversation(name, str(self.tree.root)))
            if self._active is not None and self._active.process == talk.process:
                self._settle(self._active)
            self._waiting[name] = talk.process
            self._turns.notify_all()
            while not self._is_turn_of(name):
                self._turns.wait()
            del self._waiting[name]
            self._chosen = ""
            self._active = talk
            if any(COMPACTION in text_of(each) for each in news_of(body)):
                return self._summary(talk)
            return self._answer(talk, body)

    def ended(self, process: str) -> None:
        """A client ended."""
        with self._turns:
            if self._active is not None and self._active.process == process:
                self._settle(self._active)
            self.alive.discard(process)
            self._turns.notify_all()

    def asked(self) -> None:
        """The client asks the user before an edit: meanwhile something may happen."""
        with self._turns:
            self.counts["asked"] += 1
            if self.random.random() < 0.4:
                before = self.tree.texts()
                self.tree.act()
                self._saves.append((before, self.tree.texts()))
                self.counts["saves while asked"] += 1
                self.story.append(f"{self.step} while asked: {self.tree.deeds[-1]}")

    def went_back(self, name: str, prompts: int) -> None:
        """The user took a conversation back to before one of its last prompts."""
        with self._turns:
            self.counts["taken back"] += 1
            step = self.talks[name].go_back(prompts)
            self._forget_told(name, step - 1)
            self._back.add(name)
            self.story.append(f"{self.step} {name} is taken back to {step}")

    def _summary(self, talk: Conversation) -> tuple[str, list[Body]]:
        self.counts["summaries"] += 1
        remembers = self.random.random() < 0.5
        talk.summarised(remembers=remembers)
        self._forget_told(talk.name, -1)
        self._before, self._saves = self.tree.texts(), []
        self.story.append(f"{self.step} {talk.name} is summarised, remembers: {remembers}")
        text = f"<summary>You are {talk.name}. Work.</summary>"
        return f"msg_{talk.name}_summary{self.step}", [{"type": "text", "text": text}]

    def _forget_told(self, name: str, step: int) -> None:
        """What a conversation was told since a step is in it no more."""
        for key in [key for key, (_, at, _) in self._told.items() if key[0] == name and at > step]:
            del self._told[key]

    def _is_turn_of(self, name: str) -> bool:
        if self._active is None and not self._chosen and self.alive <= {*self._waiting.values()}:
            self._chosen = self.random.choice(sorted(self._waiting))
            self._turns.notify_all()
        return self._active is None and self._chosen == name

    def _answer(self, talk: Conversation, body: Body) -> tuple[str, list[Body]]:
        results, texts = talk.hear(body)
        self.counts["new lines"] += len(talk.news)
        self.counts["told at once"] += len(talk.news & talk.seen)
        talk.late |= talk.news - talk.seen
        talk.news.clear()
        self._judge_results(talk, results)
        told = [*map(text_of, results.values()), *texts]
        self._judge_doubts(talk, told)
        self._judge_notices(talk, told)
        if talk.name in self._back:  # a prompt's hooks cannot know yet what its conversation lacks
            self._back.remove(talk.name)
            self._forget_told(talk.name, self.step - 1)
        if not talk.turn:
            talk.remember(self.step)
        self._saves = []
        if self.step >= self.steps:
            self._before = self.tree.texts()
            return f"msg_{talk.name}_end{talk.messages}", self._done(talk)
        self.step += 1
        if self.random.random() < 0.6:
            before = self.tree.texts()
            self.tree.act()
            self._moved(before, self.tree.texts())
            self.story.append(f"{self.step} {self.tree.deeds[-1]}")
        blocks = self._blocks(talk)
        self._before = self.tree.texts()
        message = f"msg_{talk.name}_{self.step}"
        return message, blocks

    def _blocks(self, talk: Conversation) -> list[Body]:
        talk.turn += 1
        last = "-sub" not in talk.name and talk.turns >= self.turns - 1
        longest = TURN - 1 if "-sub" in talk.name else TURN
        if talk.turn > longest and not last:
            return self._done(talk)
        if talk.name == "agent-A" and self.random.random() < 0.05:
            self._subs += 1
            prompt = f"You are agent-A-sub{self._subs}. Take a part."
            given: Body = {
                "description": "part",
                "prompt": prompt,
                "subagent_type": "general-purpose",
            }
            given |= {"run_in_background": False}
            talk.uses = [Use(f"toolu_sub_{self.step}", "Agent", given)]
        else:
            talk.batch(self.tree, self.random, self.step)
        self.story += [f"{self.step} {talk.name} {each.name} {each.given}" for each in talk.uses]
        return [
            {"type": "tool_use", "id": each.id, "name": each.name, "input": each.given}
            for each in talk.uses
        ]

    def _done(self, talk: Conversation) -> list[Body]:
        talk.turn, talk.turns, talk.uses = 0, talk.turns + 1, []
        self.story.append(f"{self.step} {talk.name} ends its turn")
        return [{"type": "text", "text": "Done."}]

    # Judging.

    def _settle(self, talk: Conversation) -> None:
        """Read the files that the tool calls of the last answer wrote."""
        self._active = None
        before, after = self._before, self.tree.texts()
        self._states[talk.name] = (talk.uses, before, after)
        formatted = self.tree.formatted(talk.name)
        removed = {
            item
            for _, old, new in formatted
            for item in set(ITEM.findall(old)) - set(ITEM.findall(new))
        }
        stood = before
        for saved, left in [*self._saves, (after, after)]:
            self._record(talk, stood, saved, formatted)
            self._judge_lines(talk, stood, saved, removed)
            if left is not saved:
                self._moved(saved, left)
            stood, formatted = left, []
        self._saves = []

    def _judge_lines(
        self, talk: Conversation, before: Texts, after: Texts, removed: set[str]
    ) -> None:
        """Judge what the tools of an answer did to lines of others. removed: by the formatter."""
        names = {use.name for use in talk.uses}
        commands = " ".join(use.given.get("command", "") for use in talk.uses)
        gone = items(before) - items(after)
        late: set[str] = set()  # what came, or went, while the user was asked
        for was, left in self._saves:
            late |= items(was) ^ items(left)
        if "git " not in commands:
            unseen = [
                (item, f"{talk.name} removed {item} by {sorted(names)}")
                for item in sorted(gone - removed - talk.seen)
                if self.tree.who.get(item) != talk.name
            ]
            unseen += [
                (item, f"{talk.name} brought {item} back by {sorted(names)}")
                for item in sorted((items(after) - items(before)) & self._gone.keys())
            ]
            for item, what in unseen:
                if item in late:
                    self._doubts.setdefault(talk.name, []).append((item, what))
                elif names & {*WRITERS}:
                    self._fault("untold", what)
                else:
                    self.counts["own command"] += 1
                    self.story.append(f"{self.step} own command: {what}")
        self._moved(before, after, talk)

    def _judge_doubts(self, talk: Conversation, told: list[str]) -> None:
        """A save while the user was asked may be lost where the answer to the call says so."""
        said = "\n".join(told)
        for item, what in self._doubts.pop(talk.name, []):
            if item in ITEM.findall(said):
                self.counts["lost while asked, and told"] += 1
                self.story.append(f"{self.step} told: {what}")
            else:
                self._fault("untold", f"{what}, while asked")

    def _record(
        self,
        talk: Conversation,
        before: Texts,
        after: Texts,
        formatted: list[tuple[str, str, str]],
    ) -> None:
        """Note who left the files as they are, and as they were for a moment."""
        for path, old, new in formatted:
            self.tree.record({}, {path: old}, talk.name)
            self.tree.record({}, {path: new}, "formatter")
        commands = " ".join(use.given.get("command", "") for use in talk.uses)
        author = talk.name
        if any(use.name.startswith(SERVER) for use in talk.uses):
            author = f"command of {talk.name}"
        elif commands:
            author = "git" if "git " in commands else f"command of {talk.name}"
        for path in changed(before, after):
            if not any(each == path and new == after.get(path) for each, _, new in formatted):
                self.tree.record(
                    {path: before[path]} if path in before else {},
                    {path: after[path]} if path in after else {},
                    author,
                )
        stood = dict(before)
        for use in talk.uses:
            text = stood.get(use.path)
            if use.replaces and text and text.count(use.replaces[0]) == 1:
                stood[use.path] = text.replace(*use.replaces)
                self.tree.record({}, {use.path: stood[use.path]}, talk.name)
            elif use.content is not None:
                self.tree.record({}, {use.path: use.content}, talk.name)

    def _moved(self, before: Texts, after: Texts, by: Conversation | None = None) -> None:
        """Count how often a line came and went, and what is new to whom in files that it knows."""
        for talk in self.talks.values():
            if talk is not by:
                for path in changed(before, after):
                    if path in talk.whole and path in after:
                        new = items({path: after[path]}) - items({path: before.get(path, "")})
                        talk.news |= new - talk.seen
        times = Counter(item for text in after.values() for item in {*ITEM.findall(text)})
        self._doubled |= {item for item, files in times.items() if files > 1}
        for item in items(after) - items(before):
            self._moves[item] = self._moves.get(item, 0) + 1
            self._gone.pop(item, None)
        for item in items(before) - items(after):
            self._moves[item] = self._moves.get(item, 0) + 1
            self._gone[item] = self.step

    def _judge_results(self, talk: Conversation, results: dict[str, Body]) -> None:
        uses, before, after = self._states.pop(talk.name, ([], {}, {}))
        stood = dict(before)
        failed: set[str] = set()
        for use in uses:
            if use.name not in WRITERS or use.id not in results:
                continue
            result = results[use.id]
            text = text_of(result)
            self.counts[f"tried {use.name}"] += 1
            if not result.get("is_error"):
                if use.replaces:
                    stood[use.path] = stood.get(use.path, "").replace(*use.replaces, 1)
                elif use.content is not None:
                    stood[use.path] = use.content
                self.counts["went through"] += 1
                continue
            failed.add(use.path)
            whose = next((kind for part, kind in CLIENTS_OWN.items() if part in text), "")
            whose = whose or ("sightline" if SIGHTLINE.search(text) else "other")
            self.counts[f"refused, {whose}"] += 1
            self.story.append(f"{self.step} refused {use.id}: {text!r}")
            if self._was_right(use, stood, after, failed):
                continue
            if whose == "sightline":
                what = f"{talk.name} {use.name} {use.path} {use.given}: {text[:200]}"
                self._fault("false refusal", what)
                known = [f"{line}\n" for line in talk.beliefs.get(use.path, [])]
                stands = stood[use.path].splitlines(keepends=True)
                self.story.append("".join(unified_diff(known, stands, "known", "on disk")))
            else:
                self.counts["client's false refusal"] += 1

    def _was_right(self, use: Use, stood: Texts, after: Texts, failed: set[str]) -> bool:
        """Return whether there was a reason to refuse."""
        text = stood.get(use.path)
        if text is None or use.name == "NotebookEdit":
            return True
        if use.replaces:
            old = use.replaces[0]
            return not (text.count(old) == 1 and after.get(use.path, "").count(old) == 1)
        if use.base is None or use.after_edit:
            return True
        assert use.content is not None
        ours, theirs = use.content.encode(), text.encode()
        seen = Evidence(
            use.base.encode(), None, ours, None, theirs, theirs, accepted=False, told=True
        )
        self.counts["refused, mergeable"] += judge(seen).missed_merge
        return not judge(seen).false_alarm

    def _judge_notices(self, talk: Conversation, texts: list[str]) -> None:
        for text in texts:
            for part in parts_of(text):
                self.counts["notices"] += NOTICE in part
                again = []
                for path, row in sorted(rows_of(part)):
                    found = ITEM.findall(row)
                    times = sum(self._moves.get(item, 0) for item in found)
                    if not times or self._doubled & {*found}:  # git brought a renamed file back
                        continue
                    first = self._told.get((talk.name, path, row))
                    if NOTICE in part and first and first[0] == times:
                        again.append(f"{row} (first at {first[1]}: {first[2]!r})")
                    self._told[talk.name, path, row] = (times, self.step, part[:90])
                if again:
                    self._fault("told twice", f"{talk.name}: {again}")
                    self.story.append(f"{self.step} told: {text}")

    def judge_silence(self) -> None:
        """Count the lines that stand in files known to a conversation, and that nothing told it."""
        texts = self.tree.texts()
        for talk in self.talks.values():
            stand = items({path: texts[path] for path in texts.keys() & talk.whole})
            if "-sub" not in talk.name:
                self.counts["never told"] += len((talk.late - talk.seen) & stand)

    def judge_log(self, rows: list[Body], sessions: dict[str, str]) -> None:
        """Hold the authors that the log names as certain against those who did it."""
        left: dict[tuple[str, str], list[str]] = {}
        for each in self.tree.left:
            left.setdefault((each.path, each.revision), []).append(each.author)
        for row in rows:
            self.story.append(f"log {json.dumps(row)}")
            for path, after, cause in causes_of(row):
                authors = left.get((path, after or ""), [])
                said = cause["kind"]
                who = cause.get("who") or row["session"] or ""
                who = "agent-A-sub" if "/" in who else sessions.get(who, who)
                if said == "agent":
                    said = who
                    authors = [each.removeprefix("command of ") for each in authors]
                elif said == "command":
                    said = f"command of {who}"
                authors = [re.sub(r"sub\d+", "sub", author) for author in authors]
                sure = cause["confidence"] == "certain"
                self.counts[f"authors, {'certain' if sure else 'probable'}"] += 1
                if not authors:
                    self.counts["log, of a state that nobody left"] += 1
                elif sure and not {said, OTHER_PROGRAM.get(said, said)} & {*authors}:
                    what = f"{row['position']} {path} by {said}, was {authors}"
                    self._fault("wrong author", what)

    def _fault(self, kind: str, what: str) -> None:
        self.faults.append(Fault(kind, self.step, what))
        self.story.append(f"{self.step} FAULT {kind}: {what}")


def conversation_of(body: Body) -> str:
    """The name that the first prompt of a conversation gives it."""
    for message in body["messages"]:
        named = NAME.search(text_of(message)) if message["role"] == "user" else None
        if named:
            return named[0]
    raise LookupError(f"whose request is this: {body['messages'][0]}")


def parts_of(text: str) -> Iterator[str]:
    """The parts of a text that Sightline says, each with its diffs."""
    starts = [match.start() for match in SIGHTLINE.finditer(text)]
    for at, start in enumerate(starts):
        yield text[start : starts[at + 1] if at + 1 < len(starts) else len(text)]


def rows_of(part: str) -> set[tuple[str, str]]:
    """The rows that went or came by the diffs of a part, each with the file that the line above its diff
    begins with, "" where it begins with none. A line may stand in two files: git brings a renamed file back."""
    rows = set()
    before = 0
    for fence in FENCE.finditer(part):
        named = part[before : fence.start()].rstrip("\n").rpartition("\n")[2]
        path = re.match(r"(?:Sightline: )?([\w./-]+\.\w+)(?=[: ])", named)
        changed = (row for hunk in hunks(fence[0]) for row in hunk if row[0] in "+-")
        rows |= {(path[1] if path else "", row) for row in changed}
        before = fence.end()
    return rows


def causes_of(row: Body) -> Iterator[tuple[str, str | None, Body]]:
    """The changes that a row of the log tells of: path, revision, cause."""
    if row["kind"] == "changed":
        yield row["path"], row["after"], row["cause"]
    elif row["kind"] == "git_moved":
        for change in row.get("changes", []):
            yield change["path"], change["after"], {"kind": "git", "confidence": "certain"}


class Played(NamedTuple):
    """A session that was played. hooks: the faults that Sightline's hooks logged."""

    seed: int
    steps: int
    seconds: float
    faults: list[Fault]
    counts: Counter[str]
    story: list[str]
    hooks: str

    @property
    def broken(self) -> list[Fault]:
        """The promises of Sightline that were broken."""
        return [fault for fault in self.faults if fault.kind in PROMISES]


def play(seed: int, steps: int, *, alone: bool = False) -> Played:
    """Play the session of a seed."""
    began = perf_counter()
    player = Player(seed, steps)
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="sessions-")))
        state = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="sessions-")))
        held.enter_context(serving(player))
        claude = Claude(folder, player, state)
        claude.deadline_s = max(DEADLINE_S, steps * STEP_S)
        player.tree = Tree(claude.root, claude.home, player.random, rewrites=player.rewrites)
        server = {"command": sys.executable, "args": [file_server.__file__]}
        (claude.home / SERVERS).write_text(json.dumps({"mcpServers": {file_server.NAME: server}}))
        if not alone:
            claude.sightline("init", "claude-code")
        runs = [copy.copy(claude) for _ in PROCESSES]
        threads = [
            Thread(target=_run, args=(run, name, player))
            for run, name in zip(runs, PROCESSES, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        player.judge_silence()
        if player.errors:
            raise RuntimeError("\n".join(player.errors))
        if not alone:
            claude.runs = [run for each in runs for run in each.runs]
            names = dict(zip((run.session for run in claude.runs), PROCESSES, strict=True))
            player.judge_log(claude.log(), names)
        left = "" if alone else claude.faults
        claude.left()
    took = perf_counter() - began
    return Played(seed, player.step, took, player.faults, player.counts, player.story, left)


def _run(claude: Claude, name: str, player: Player) -> None:
    claude.runs = []
    if name == player.asks:
        claude.meanwhile = player.asked
    server = (f"mcp__{file_server.NAME}", "--mcp-config", str(claude.home / SERVERS))
    try:
        claude.run(*_prompts(name, player), args=server)
    except BaseException as error:
        player.errors.append(f"{name}: {error!r}")
        raise
    finally:
        player.ended(name)


def _prompts(name: str, player: Player) -> list[str | Back]:
    """What the user says to an agent, and does to its conversation in between."""
    chance = Random(f"{player.seed} {name}")  # noqa: S311  as the session's own
    prompts: list[str | Back] = []
    since = 0
    for turn in range(player.turns):
        kind = chance.choice(["", "", "back", "summary"]) if since else ""
        if kind == "back":
            number = chance.randint(1, min(2, since))
            prompts.append(Back(number, partial(player.went_back, name, number)))
            since -= number
        elif kind == "summary":
            prompts.append("/compact")
            since = 0
        if chance.random() < 0.25:
            prompts.append(f"/{show(chance.choice(FILES))} {name}")
        else:
            prompts.append(f"You are {name}. Go on ({turn}).")
        since += 1
    return prompts


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the chosen sessions and print their outcomes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--alone", action="store_true", help="the client without Sightline")
    parser.add_argument("--table", action="store_true", help="both, as the table of the docs")
    parser.add_argument("--seed", action="append", type=int, metavar="N", help="this session")
    parser.add_argument("--steps", type=int, default=STEPS, help="answers of the model in each")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="so many seeds more")
    parser.add_argument("--story", action="store_true", help="print what happened")
    options = parser.parse_args(arguments)
    seeds = options.seed or ([] if options.random else SEEDS)
    seeds = [*seeds, *range(FIRST_RANDOM, FIRST_RANDOM + options.random)]
    ways = (True, False) if options.table else (options.alone,)
    played = {
        way: [_told(play(seed, options.steps, alone=way), options) for seed in seeds]
        for way in ways
    }
    counts = {way: count(sessions) for way, sessions in played.items()}
    if options.table:
        print(table(counts[True], counts[False]))
    elif options.json:
        print(json.dumps({"schema": 1, "counts": counts[options.alone]}))
    else:
        print("\n".join(f"{number:6} {name}" for name, number in sorted(counts[ways[0]].items())))
    guarded = played.get(False, [])
    return int(any(one.hooks or one.broken for one in guarded))


def _told(one: Played, options: argparse.Namespace) -> Played:
    """Print what came of one session to stderr, so that stdout has the figures only."""
    if options.story:
        print("\n".join(one.story), file=sys.stderr)
    kinds = dict(Counter(fault.kind for fault in one.faults))
    print(f"seed {one.seed}: {one.steps} steps, {one.seconds:.1f} s, {kinds}", file=sys.stderr)
    for fault in one.faults:
        print(f"  {fault.kind} at {fault.step}: {fault.what[:300]}", file=sys.stderr)
    if one.hooks:
        print(f"  hooks: {one.hooks[:2000]}", file=sys.stderr)
    return one


def count(sessions: Sequence[Played]) -> Counter[str]:
    """The counts of some sessions, with the faults by their kinds."""
    counts: Counter[str] = Counter()
    for one in sessions:
        counts += one.counts
        counts += Counter(f"fault, {fault.kind}" for fault in one.faults)
        counts["sessions"] += 1
        counts["steps"] += one.steps
    return counts


def table(alone: Counter[str], guarded: Counter[str]) -> str:
    """Return what the client does by itself, and with Sightline, as rows of Markdown."""
    head = f"{guarded['sessions']} sessions of {guarded['steps'] // guarded['sessions']} steps"
    rows = [f"| {head} | Claude Code alone | with Sightline |", "|---|--:|--:|"]
    for name, parts in ROWS.items():
        figures = [
            sum(n for key, n in one.items() if key.startswith(parts)) for one in (alone, guarded)
        ]
        if name.startswith("Sightline"):
            rows.append(f"| {name} | – | {figures[1]} |")
        else:
            rows.append(f"| {name} | {figures[0]} | {figures[1]} |")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(main())
