"""Sightline behind an agent's hooks: the host's own tools write, and ask and tell on the way.

The host played here is Claude Code as recorded: its Edit wants a text that occurs once on disk,
its Write replaces a file, both ask before and tell afterwards, and once all calls of a batch are
answered that is told, too. It looks at no file times: what is judged is what Sightline says.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bench.baselines import Answer
from bench.subjects import killed_batch
from bench.trial import Guard

import sightline
from sightline.hooks.call import Call
from sightline.model.events import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping
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

    def __init__(self, world: World, state: Path, source: str = "startup") -> None:
        self.world = world
        self.state = state
        self.batches = True
        world.colleague = self._colleague
        world.command = self._command
        world.tool = self._foreign
        world.running = self._running
        world.batch = self._cut_off
        self._calls = 0
        self._heard = self._words(self._says("SessionStart", source=source))

    def read(self, path: str, lines: tuple[int, int] | None = None) -> str:
        whole = self.world.load(path).decode().splitlines(keepends=True)
        first, last = lines or (1, len(whole))
        text = "".join(whole[first - 1 : last])
        if self.world.reads_by_tool:
            given = {"path": self._at(path)}
            self._tool("PreToolUse", READS, given)
            self._tool("PostToolUse", READS, given, [{"type": "text", "text": text}])
            self._batch()
            return text
        ends = last >= len(whole)  # the client counts the end of the text as a line
        content = text if ends else text.removesuffix("\n")
        file = {"filePath": self._at(path), "content": content, "startLine": first}
        file |= {"numLines": len(whole[first - 1 : last]) + ends, "totalLines": len(whole) + 1}
        shown = {"type": "text", "file": file}
        self._tool("PostToolUse", "Read", {"file_path": self._at(path)}, shown)
        self._batch()
        return text

    def edit(self, path: str, old: str, new: str) -> Answer:
        given = {"file_path": self._at(path), "old_string": old, "new_string": new}
        return self._attempt(path, "Edit", given, lambda text: _replaced(text, old, new))

    def edit_lines(self, path: str, start: int, end: int, new: str) -> Answer:
        """Edit by a shell command: the host has no tool for it."""
        given = {"command": f"sed -i '{start},{end}c\\\n{new.rstrip()}' {self._at(path)}"}
        refused = self._refusals()
        said = self._tool("PreToolUse", "Bash", given)
        if said.get("permissionDecision") == "deny":
            self._batch()
            words = said["permissionDecisionReason"]
            return Answer(accepted=False, reason=self._reason(refused), carries=True, text=words)
        rows = self.world.load(path).decode().splitlines(keepends=True)
        text = "".join([*rows[: start - 1], new, *rows[end:]])
        self.world.store(path, text.encode())
        said = self._tool("PostToolUse", "Bash", given, {"stdout": "", "stderr": ""})
        self._batch()
        return Answer(accepted=True, told=self._words(said))

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
        brought = self._words(self._says("UserPromptSubmit", prompt="go on")) if by_prompt else ""
        if not brought:  # an edit that was taken back is told with a turn's first calls
            brought = self._words(self._says("PostToolBatch", tool_calls=[]))
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
        refused = self._refusals()
        said = self._tool("PreToolUse", tool, given)
        if said.get("permissionDecision") == "deny":
            self._batch()
            words = said["permissionDecisionReason"]
            reason = self._reason(refused)
            return Answer(accepted=False, reason=reason, carries="@@" in words, text=words)
        merged = "updatedInput" in said
        given = said.get("updatedInput", given)
        before = self.world.load(path)
        text = before.decode("utf-8-sig").replace("\r\n", "\n")
        after = given["content"] if merged else change(text)
        if after is None:
            self._tool("PostToolUseFailure", tool, given, error="String to replace not found")
            self._batch()
            return Answer(accepted=False, reason="not_found")
        self.world.store(path, _dressed(after, before))
        told = self._tool("PostToolUse", tool, given, _response(tool, given, text, after))
        self._batch()
        news = "".join(part for part in self._words(told).split("\n\n") if TO_OTHERS not in part)
        return Answer(accepted=True, told=news, merged=merged)

    def _reason(self, before: list[str]) -> str:
        """Why the newest attempt was refused; a rename is told and not recorded as refused."""
        after = self._refusals()
        return after[-1] if len(after) > len(before) else "moved"

    def _refusals(self) -> list[str]:
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
        self._tool("PreToolUse", "Bash", given)
        self.world.put(path, data)
        said = self._tool("PostToolUse", "Bash", given, {"stdout": "", "stderr": ""})
        self._heard = self._words(said)  # and the next call is made in the same batch

    def _foreign(self, tool: str, path: str, data: bytes) -> None:
        """A tool of an MCP server writes."""
        given = {"path": self._at(path)}
        self._tool("PreToolUse", tool, given)
        self.world.put(path, data)
        said = self._tool("PostToolUse", tool, given, [{"type": "text", "text": "Done"}])
        self._heard = self._words(said)

    def _running(self, command: str, deed: Any) -> None:
        """Somebody does something while a command of its own runs."""
        given = {"command": command}
        self._tool("PreToolUse", "Bash", given)
        deed()
        said = self._tool("PostToolUse", "Bash", given, {"stdout": "", "stderr": ""})
        self._heard = self._words(said)

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

    def _tool(
        self, event: str, tool: str, given: Mapping[str, str], response: Any = None, **more: Any
    ) -> dict[str, Any]:
        self._calls += event == "PreToolUse"
        call = {"tool_name": tool, "tool_input": given, "tool_use_id": f"t{self._calls}"}
        told = {} if response is None else {"tool_response": response}
        return self._says(event, **call, **told, **more)

    def _says(self, event: str, **fields: Any) -> dict[str, Any]:
        """Return what a hook prints for the host, of one event."""
        root, home = str(self.world.root), str(self.state)
        common = {"session_id": SESSION, "cwd": root, "hook_event_name": event}
        payload = common | {"transcript_path": f"{home}/{SESSION}.jsonl"} | fields
        environ = {"HOME": home, "CLAUDE_PROJECT_DIR": root, "SIGHTLINE_HOME": home}
        environ |= {"PATH": "", "XDG_CONFIG_HOME": home}
        printed = Call(AGENT, environ, home).answered(json.dumps(payload).encode())
        found: dict[str, Any] = json.loads(printed or b"{}").get("hookSpecificOutput", {})
        return found

    def _words(self, said: Mapping[str, Any]) -> str:
        return str(said.get("additionalContext", ""))

    def _at(self, path: str) -> str:
        return f"{self.world.root}/{path}"


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
    frozenset(
        {f"S{number}" for number in (*range(1, 43), 47, 48, 50, 51) if number not in NOT_ITS}
    ),
    lines=False,
    rewinds=True,
    informs=True,
)
