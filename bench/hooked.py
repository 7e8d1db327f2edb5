"""Sightline behind an agent's hooks: the host's own tools write, and ask and tell on the way.

The host played here is Claude Code as recorded: its Edit wants a text that occurs once on disk,
its Write replaces a file, both ask before and tell afterwards, and once all calls of a batch are
answered that is told, too. It looks at no file times: what is judged is what Sightline says.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bench.baselines import Answer
from bench.subjects import killed_batch
from bench.trial import Guard

import sightline
from sightline.hooks.call import Call
from sightline.model.events import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from bench.world import World

AGENT = "claude-code"
SESSION = "bench"

BESIDE = "notes.log"
"""A file that no scenario has, and no agent reads."""

READS = "mcp__files__read_text_file"

TO_OTHERS = "Your write made"
"""What the agent's write did to other sessions is no change that it is told of."""

STANDS = "Where this session stands"
"""How the agent's own record begins, behind the notices."""


class HookedAgent:
    """One conversation. Every verb is the calls of its hooks around the tool that does it."""

    def __init__(
        self, world: World, state: Path, source: str = "startup", session: str = SESSION
    ) -> None:
        self.world = world
        self.state = state
        self.session = session
        self.batches = True
        self.transcript: Transcript | None = None
        self._calls = 0
        if session == SESSION:
            self._hears_of_others()
        self._heard = self.said(self._says("SessionStart", source=source))
        if world.is_summarised:
            self.transcript = Transcript(state / f"{session}.jsonl")
            self._prompts()

    def _hears_of_others(self) -> None:
        world = self.world
        world.colleague = self._colleague
        world.command = self._command
        world.tool = self._foreign
        world.running = self._running
        world.batch = self._cut_off
        world.rival = self._rival
        world.summary = self._summarised
        self._other: Attempting | None = None

    def read(self, path: str, lines: tuple[int, int] | None = None) -> str:
        whole = self.world.load(path).decode().splitlines(keepends=True)
        first, last = lines or (1, len(whole))
        text = "".join(whole[first - 1 : last])
        if self.world.reads_by_tool:
            given = {"path": self._at(path)}
            self.calls("PreToolUse", READS, given)
            self.calls("PostToolUse", READS, given, [{"type": "text", "text": text}])
            self._batch()
            return text
        ends = last >= len(whole)  # the client counts the end of the text as a line
        content = text if ends else text.removesuffix("\n")
        file = {"filePath": self._at(path), "content": content, "startLine": first}
        file |= {"numLines": len(whole[first - 1 : last]) + ends, "totalLines": len(whole) + 1}
        shown = {"type": "text", "file": file}
        self.calls("PostToolUse", "Read", {"file_path": self._at(path)}, shown)
        self._batch()
        return text

    def edit(self, path: str, old: str, new: str) -> Answer:
        given = {"file_path": self._at(path), "old_string": old, "new_string": new}
        return self._attempt(path, "Edit", given, lambda text: _replaced(text, old, new))

    def edit_lines(self, path: str, start: int, end: int, new: str) -> Answer:
        """Edit by a shell command: the host has no tool for it."""
        given = {"command": f"sed -i '{start},{end}c\\\n{new.rstrip()}' {self._at(path)}"}
        refused = self.refusals()
        said = self.calls("PreToolUse", "Bash", given)
        if said.get("permissionDecision") == "deny":
            self._batch()
            words = said["permissionDecisionReason"]
            return Answer(accepted=False, reason=self.reason(refused), carries=True, text=words)
        rows = self.world.load(path).decode().splitlines(keepends=True)
        text = "".join([*rows[: start - 1], new, *rows[end:]])
        self.world.store(path, text.encode())
        said = self.calls("PostToolUse", "Bash", given, {"stdout": "", "stderr": ""})
        self._batch()
        return Answer(accepted=True, told=self.said(said))

    def write(self, path: str, content: str) -> Answer:
        given = {"file_path": self._at(path), "content": content}
        return self._attempt(path, "Write", given, lambda _: content)

    def warned(self, path: str) -> bool:
        """Return False: hooks push words beside other answers, and no list of files to look at."""
        return False

    def news(self) -> str:
        """Return what a command's answer says. The command and the attempt are calls of one answer, so the
        agent composed the attempt before."""
        if not self._heard:
            self._running("make notes", lambda: self.world.put(BESIDE, b"made\n"))
        return self._heard

    def informed(self, *, by_prompt: bool) -> str:
        """Return what the session's start, a command's answer, the end of its batch or the user's next
        message brings of changes: where the session stands is no news."""
        brought = self._prompts() if by_prompt else ""
        if not brought:  # an edit that was taken back is told with a turn's first calls
            brought = self.said(self._says("PostToolBatch", tool_calls=[]))
        texts = (self._heard, brought)
        return "\n".join(text.partition(STANDS)[0] for text in texts if text)

    def together(self) -> None:
        """The calls from here on are made at once."""
        self.batches = False

    def forget(self, path: str) -> None:
        self._says("SessionStart", source="compact")

    def rewind(self, path: str) -> None:
        raise NotImplementedError  # no hook tells of it

    def forked(self) -> HookedAgent:
        raise NotImplementedError  # nor of this

    def mark(self) -> None:
        with self._library(SESSION) as session:
            self._mark = session.checkpoint().id

    def take_back(self, path: str) -> Answer:
        """The user rewinds: no hook does."""
        from bench.subjects import taken_back

        with self._library(SESSION) as session:
            return taken_back(session.rewind(self._mark), path)

    def resumed(self) -> HookedAgent:
        return HookedAgent(self.world, self.state, "resume")

    def close(self) -> None:
        self._says("SessionEnd", reason="other")

    def _attempt(self, path: str, tool: str, given: dict[str, str], change: Any) -> Answer:
        mine = Attempting(self, path, tool, given, change)
        theirs, self._other = self._other, None
        if theirs is not None:
            theirs.is_judged()
        if mine.is_judged():
            self.world.approve()
        order = self.world.order or "fwt"
        steps = "fwt" + "FWT" * (theirs is not None)
        for letter in [each for each in order if each in steps]:
            who = mine if letter.islower() else theirs
            assert who is not None
            who.step(letter.lower())
        self._batch()
        return mine.answer

    def _rival(self, name: str, path: str, data: bytes) -> Callable[[], bool]:
        """Another conversation, which knows the file, is about to write it."""
        other = HookedAgent(self.world, self.state, session=name)
        other.read(path)
        given = {"file_path": self._at(path), "content": data.decode()}
        theirs = self._other = Attempting(other, path, "Write", given, lambda _: data.decode())
        self.world.told_rival = lambda: theirs.answer.told
        return lambda: theirs.answer.accepted

    def _summarised(self, *, from_here: bool) -> None:
        """A prompt tells what changed; then the conversation is replaced by a summary."""
        assert self.transcript is not None
        kept = self.transcript.answered()
        assert "@@" in self._prompts()
        self.transcript.summarise(kept if from_here else None)
        self._says("SessionStart", source="compact")

    def _prompts(self) -> str:
        """The user's next message. Return what it brings."""
        if self.transcript is not None:
            self.transcript.turns += 1
        brought = self.said(self._says("UserPromptSubmit", prompt="go on"))
        if self.transcript is not None:
            self.transcript.turn()
        return brought

    def reason(self, before: list[str]) -> str:
        """Why the newest attempt was refused; a rename is told and not recorded as refused."""
        after = self.refusals()
        return after[-1] if len(after) > len(before) else "moved"

    def refusals(self) -> list[str]:
        with self._library("observer") as session:
            facts = session._context.store.timeline(kinds=[Refused])  # noqa: SLF001
            return [each.fact.reason for each in facts if isinstance(each.fact, Refused)]

    def _colleague(self, name: str, path: str, data: bytes) -> None:
        """Another agent of the same user, or one that this one started, writes."""
        with self._library(name) as session:
            session.read(path)
            session.write(path, data.decode())

    def _cut_off(self, paths: tuple[str, ...]) -> None:
        (store,) = self.state.glob("**/store.db")
        killed_batch(self.world, self.state, f"sqlite://{store}", paths)

    def _command(self, command: str, path: str, data: bytes) -> None:
        """The agent's own shell command writes."""
        given = {"command": command}
        self.calls("PreToolUse", "Bash", given)
        self.world.put(path, data)
        said = self.calls("PostToolUse", "Bash", given, {"stdout": "", "stderr": ""})
        self._heard = self.said(said)  # and the next call is made in the same batch

    def _foreign(self, tool: str, path: str, data: bytes) -> None:
        """A tool of an MCP server writes."""
        given = {"path": self._at(path)}
        self.calls("PreToolUse", tool, given)
        self.world.put(path, data)
        said = self.calls("PostToolUse", tool, given, [{"type": "text", "text": "Done"}])
        self._heard = self.said(said)

    def _running(self, command: str, deed: Any) -> None:
        """Somebody does something while a command of its own runs."""
        given = {"command": command}
        self.calls("PreToolUse", "Bash", given)
        deed()
        said = self.calls("PostToolUse", "Bash", given, {"stdout": "", "stderr": ""})
        self._heard = self.said(said)

    def _library(self, id: str) -> sightline.Session:
        from bench.subjects import settings_in

        (store,) = self.state.glob("**/store.db")
        settings = settings_in(self.world.root, self.state)
        return sightline.open_session(
            str(self.world.root), id=id, store=f"sqlite://{store}", settings=settings
        )

    def _batch(self) -> None:
        if self.batches:
            self._says("PostToolBatch", tool_calls=[])

    def calls(
        self, event: str, tool: str, given: Mapping[str, str], response: Any = None, **more: Any
    ) -> dict[str, Any]:
        self._calls += event == "PreToolUse"
        call = {"tool_name": tool, "tool_input": given, "tool_use_id": f"t{self._calls}"}
        told = {} if response is None else {"tool_response": response}
        return self._says(event, **call, **told, **more)

    def _says(self, event: str, **fields: Any) -> dict[str, Any]:
        """Return what a hook prints for the host, of one event."""
        root, home = str(self.world.root), str(self.state)
        common = {"session_id": self.session, "cwd": root, "hook_event_name": event}
        payload = common | {"transcript_path": f"{home}/{self.session}.jsonl"} | fields
        if self.transcript is not None:
            payload["prompt_id"] = self.transcript.prompt
        environ = {"HOME": home, "SIGHTLINE_HOME": home}
        environ |= {"PATH": "", "XDG_CONFIG_HOME": home}
        printed = Call(AGENT, environ, home, given={"project": root}).answered(
            json.dumps(payload).encode()
        )
        told: dict[str, Any] = json.loads(printed or b"{}")
        self._tell = str(told.get("systemMessage", ""))
        found: dict[str, Any] = told.get("hookSpecificOutput", {})
        return found

    def said(self, said: Mapping[str, Any]) -> str:
        return str(said.get("additionalContext", ""))

    def way_back(self, path: str) -> Callable[[], bytes] | None:
        """Return how to follow the command that the person was told last; None where none was."""
        _, told, command = self._tell.rpartition("sightline rewind ")
        position = command.partition(" ")[0]

        def follow() -> bytes:
            with self._library("person") as person:
                person.rewind(int(position), force_paths=[path])
            return self.world.load(path)

        return follow if told else None

    def _at(self, path: str) -> str:
        return f"{self.world.root}/{path}"


class Attempting:
    """An edit that the host carries out in steps, between which others write: it asks (is_judged), finds the file
    (f), writes (w) and tells (t). change: what the tool makes of the text that it found."""

    def __init__(
        self, agent: HookedAgent, path: str, tool: str, given: dict[str, str], change: Any
    ) -> None:
        self.agent, self.path, self.tool, self.given = agent, path, tool, given
        self.change = change
        self.answer = Answer(accepted=True)

    def is_judged(self) -> bool:
        """Ask the hooks. Return whether the host may write."""
        agent = self.agent
        refused = agent.refusals()
        said = agent.calls("PreToolUse", self.tool, self.given)
        if said.get("permissionDecision") == "deny":
            words, reason = said["permissionDecisionReason"], agent.reason(refused)
            carries = "@@" in words
            self.answer = Answer(accepted=False, reason=reason, carries=carries, text=words)
            return False
        content = self.given.get("content")
        merged = "updatedInput" in said
        if content is not None and agent.session == SESSION:
            rewritten = agent.world.rewrite(content)
            merged = merged and rewritten == content  # the other hook's text takes its place
            handed = said.get("updatedInput", self.given)
            self.given = self.given | {"content": rewritten} if rewritten != content else handed
            after = self.given["content"]
            self.change = lambda _: after
        self.answer = Answer(accepted=True, merged=merged)
        return True

    def step(self, letter: str) -> None:
        """Carry out a step, unless the attempt was refused or failed."""
        if self.answer.accepted:
            {"f": self._find, "w": self._write, "t": self._end}[letter]()

    def _find(self) -> None:
        self._before = self.agent.world.load(self.path)
        self._text = self._before.decode("utf-8-sig").replace("\r\n", "\n")
        self._after = self.change(self._text)
        if self._after is None:
            self.agent.calls("PostToolUseFailure", self.tool, self.given, error="no such text")
            self.answer = Answer(accepted=False, reason="not_found")

    def _write(self) -> None:
        self._left = _dressed(self._after, self._before)
        self.agent.world.store(self.path, self._left)

    def _end(self) -> None:
        agent = self.agent
        response = _response(self.tool, self.given, self._text, self._after)
        stood = agent.world.load(self.path)
        told = agent.said(agent.calls("PostToolUse", self.tool, self.given, response))
        news = "".join(part for part in told.split("\n\n") if TO_OTHERS not in part)
        merged = self.answer.merged or agent.world.load(self.path) not in (stood, self._left)
        back = agent.way_back(self.path)
        self.answer = Answer(accepted=True, told=news, merged=merged, way_back=back)


class Transcript:
    """The client's record of a conversation: each row names the row before it. turns: prompts so far."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._rows = 0
        self.last: str | None = None
        self.turns = 0

    @property
    def prompt(self) -> str:
        """The client's id of the newest prompt."""
        return f"p{self.turns}"

    def turn(self) -> None:
        """A prompt and the beginning of its answer."""
        self._add("user", promptId=self.prompt, promptSource="typed", message={"content": "go on"})
        self.answered()

    def answered(self) -> str:
        """An answer. Return the id of its row."""
        return self._add("assistant", message={"content": []})

    def summarise(self, kept: str | None) -> None:
        """Replace all rows by a summary, but those up to `kept`."""
        segment = {"compactMetadata": {"preservedSegment": {"tailUuid": kept}}}
        self.last = None
        self._add("system", subtype="compact_boundary", **(segment if kept else {}))
        more = {"summarizeMetadata": {"direction": "from"}} if kept else {}
        self._add("user", isCompactSummary=True, message={"content": "Work."}, **more)

    def _add(self, kind: str, **fields: Any) -> str:
        self._rows += 1
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        row = {"parentUuid": self.last, "isSidechain": False, "type": kind, **fields}
        self.last = f"row{self._rows}"
        with self._file.open("a") as file:
            row |= {"uuid": self.last, "timestamp": at}
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
        return self.last


def _response(tool: str, given: dict[str, str], before: str, after: str) -> dict[str, Any]:
    """Return what the host's tool says it did."""
    told = {"filePath": given["file_path"], "originalFile": before, "userModified": False}
    if tool == "Write":
        return told | {"type": "update", "content": after}
    old, new = before.splitlines(), after.splitlines()
    lines = [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    hunk = {"oldStart": 1, "oldLines": len(old), "newStart": 1, "newLines": len(new)}
    edit = {"oldString": given["old_string"], "newString": given["new_string"]}
    return told | edit | {"replaceAll": False, "structuredPatch": [hunk | {"lines": lines}]}


def _replaced(text: str, old: str, new: str) -> str | None:
    return text.replace(old, new) if text.count(old) == 1 else None


def _dressed(text: str, before: bytes) -> bytes:
    """A text as the host writes it: with the line ends and the byte order mark of the file."""
    data = text.encode()
    if b"\r\n" in before:
        data = data.replace(b"\n", b"\r\n")
    return b"\xef\xbb\xbf" + data if before.startswith(b"\xef\xbb\xbf") else data


NOT_ITS = {19, 24, 26, 35}
"""S19: the host writes what the user approved, and looks at nothing in between; what is lost then
is told (tests/services/attend). S24, S26: no hook tells of them. S35: a disk that hangs needs a
process of its own (tests/hooks/test_call.py)."""

HOOKED = Guard(
    "sightline-hook",
    "the same, around an agent's own tools",
    HookedAgent,
    frozenset(f"S{number}" for number in {*range(1, 49), 50, 51} - NOT_ITS),
    lines=False,
    rewinds=True,
    informs=True,
)
