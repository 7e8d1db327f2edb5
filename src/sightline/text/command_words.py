"""Word the next call as a command, for a reader at a shell."""

from __future__ import annotations

from shlex import quote

from sightline.errors import NextCall
from sightline.model.session_ids import short_id

COMMANDS = {
    "acknowledge": "ack", "answer": "apply", "checkpoints": "checkpoint list", "claims": "claim list",
    "delete_session": "session delete", "edit_lines": "edit --lines",
    "edited_since": "changes --since", "export": "checkpoint export",
    "files": "status", "fork": "session fork", "hand_over": "claim hand-over",
    "list_directory": "list", "model_usage": "models", "notice": "changes --for-agent",
    "ran": "run", "release": "claim release", "renew": "claim --renew", "sessions": "session list",
    "timeline": "log",
}  # fmt: skip
"""Verb -> its command, where that is not the verb's name."""

OPTIONS = {"branch": "patch", "force_paths": "force-path"}
"""Argument -> its option, where the names differ. No hint gives a branch: a patch is an export without one."""


def as_command(call: NextCall, options: str = "") -> str:
    """Return a call as a command, or the options of one; "" where there is no such command. options: of every
    command, each after a space."""
    owner, _, verb = call.verb.partition(".")
    if owner == "conversation":
        return ""
    words = []
    if verb and not call.again:
        words = ["sightline", f"task {verb}" if owner == "subtasks" else COMMANDS.get(verb, verb)]
    words += [quote(str(value)) for value in call.arguments]
    for name, value in call.named.items():
        option = f"--{OPTIONS.get(name, name).replace('_', '-')}"
        for each in value if isinstance(value, list) else [value]:
            words += [option] if each is None or each is True else [option, quote(str(each))]
    words += ["--session", short_id(call.session)] if call.session else []
    return " ".join(words) + (options if verb and not call.again else "")
