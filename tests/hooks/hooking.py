"""Hook calls as a host makes them: real processes, real files, a home of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import sightline
from sightline.agents.claude_code.hook_command import posix_line
from sightline.api.folders import ports
from sightline.config.settings import load_settings
from sightline.hooks import fault_log, hook_entry
from sightline.hooks.call import Call

ENTRY = str(Path(hook_entry.__file__).resolve())


class Host:
    """A home, a project in it, and hooks that are called as Claude Code calls them."""

    def __init__(self) -> None:
        self.home = Path(os.path.realpath(tempfile.mkdtemp(prefix="sl-")))
        self.root = self.folder("project")
        self.python = sys.executable
        self.entry = ENTRY
        self.environ = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        self.environ["CLAUDE_PROJECT_DIR"] = str(self.root)
        self.environ["SIGHTLINE_ANSWERER"] = "off"  # each hook does its own work, unless asked for

    @property
    def state(self) -> Path:
        return self.home / ".local/state/sightline"

    @property
    def store(self) -> Path:
        """The project's store file."""
        (found,) = self.state.glob("workspaces/*/store.db")
        return found

    def folder(self, name: str, *, marked: bool = True) -> Path:
        made = self.home / name
        made.mkdir(parents=True)
        if marked:
            (made / ".git").mkdir()
        return made

    def put(self, name: str, text: str) -> str:
        (self.root / name).write_text(text)
        return str(self.root / name)

    def payload(self, event: str, session: str = "s1", **fields: Any) -> bytes:
        common = {"session_id": session, "transcript_path": str(self.home / f"{session}.jsonl")}
        named = {"cwd": str(self.root), "hook_event_name": event}
        return json.dumps(common | named | fields).encode()

    def edit(self, path: str, old: str, new: str, *, session: str = "s1") -> bytes:
        given = {"file_path": path, "old_string": old, "new_string": new}
        return self.payload(
            "PreToolUse", session, tool_name="Edit", tool_use_id="t1", tool_input=given
        )

    def write(self, path: str, content: str, *, session: str = "s1") -> bytes:
        given = {"file_path": path, "content": content}
        return self.payload(
            "PreToolUse", session, tool_name="Write", tool_use_id="t1", tool_input=given
        )

    def shown(self, path: str, text: str, *, session: str = "s1") -> bytes:
        lines = text.count("\n")
        file = {"filePath": path, "content": text, "startLine": 1}
        file |= {"numLines": lines + 1, "totalLines": lines + 1}
        return self.payload(
            "PostToolUse",
            session,
            tool_name="Read",
            tool_use_id="t0",
            tool_input={"file_path": path},
            tool_response={"type": "text", "file": file},
        )

    def given(self) -> dict[str, str]:
        """What the client tells its hooks in variables, under neutral names."""
        folder = self.environ.get("CLAUDE_PROJECT_DIR", "")
        return {"project": folder} if folder else {}

    def ask(self, raw: bytes, agent: str = "claude-code", **options: Any) -> dict[str, Any]:
        """In this process."""
        said = Call(agent, self.environ, str(self.home), given=self.given(), **options).answered(
            raw
        )
        found: dict[str, Any] = json.loads(said) if said else {}
        return found

    def spawn(self, *args: str, **options: Any) -> subprocess.Popen[bytes]:
        line = posix_line(self.python, self.entry, "claude-code")  # as `init` writes it
        words = [f"{name}={value}" for name, value in self.given().items()]
        asked = [self.python, "-I", "-S", self.entry, *args, *words]
        asked = asked if args else ["/bin/sh", "-c", line]
        return subprocess.Popen(
            asked,
            env=self.environ,
            cwd=self.root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def run(self, raw: bytes, *args: str) -> dict[str, Any]:
        """As a process of its own, which has to end well and say nothing on stderr."""
        with self.spawn(*args) as child:
            out, err = child.communicate(raw)
        assert (child.returncode, err) == (0, b""), err
        found: dict[str, Any] = json.loads(out) if out else {}
        return found

    def faults(self) -> list[str]:
        return [fault.message for fault in fault_log.faults(str(self.state))]

    def facts(self, root: Path | None = None) -> list[Any]:
        """The timeline as a list of Recorded."""
        where = str(root or self.root)
        settings = load_settings(
            where, environ=self.environ, home=str(self.home), platform=sys.platform
        )
        store, _ = ports(where, settings, None)
        try:
            assert store.verify() == []
            return list(store.timeline())
        finally:
            store.close()

    def session(self, id: str = "s1") -> sightline.Session:
        return sightline.open_session(self.root, id=id, store=f"sqlite://{self.store}")

    def close(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)


def refusal(answer: dict[str, Any]) -> str:
    """Why an attempt was refused; "" when it was not."""
    said = answer.get("hookSpecificOutput", {})
    return said["permissionDecisionReason"] if said.get("permissionDecision") == "deny" else ""
