"""One verb, three names: what a library method is called at a shell and by an agent's tools."""

from __future__ import annotations

from msgspec import Struct


class Verb(Struct, frozen=True):
    """A method of Session; the command, and the MCP tool, that does the same where there is one."""

    method: str
    command: str | None = None
    tool: str | None = None


VERBS = (
    Verb("read", "read", "read_file"),
    Verb("saw", "saw"),
    Verb("dropped"),
    Verb("believed"),
    Verb("edit", "edit", "edit_file"),
    Verb("edit_lines", "edit-lines"),
    Verb("write", "write", "write_file"),
    Verb("create", "create"),
    Verb("delete", "delete"),
    Verb("move", "move"),
    Verb("patch", "patch"),
    Verb("apply", None, "apply_changes"),
    Verb("wrote"),
    Verb("writing"),
    Verb("ran", "run"),
    Verb("check", "check"),
    Verb("files", "status", "context_status"),
    Verb("changes", "changes", "file_changes"),
    Verb("notice", "notice"),
    Verb("acknowledge", "ack"),
    Verb("edited_since", "edited-since"),
    Verb("checkpoint", "checkpoint", "checkpoint"),
    Verb("checkpoints", "checkpoints"),
    Verb("export", "checkpoint-export"),
    Verb("rewind", "rewind", "rewind"),
    Verb("claim", "claim", "claim_files"),
    Verb("renew"),
    Verb("release", "release"),
    Verb("claims", "claims"),
    Verb("fork"),
    Verb("hand_over", "hand-over"),
    Verb("environment"),
    Verb("turn", "turn"),
    Verb("model_usage", "models"),
    Verb("warn"),
    Verb("warnings", "warnings"),
    Verb("find", "find", "find_files"),
    Verb("find_each"),
    Verb("list_directory", "list", "list_directory"),
    Verb("related", "related", "related_files"),
    Verb("registry", "registry"),
    Verb("stats", "stats"),
    Verb("mentioned"),
    Verb("request_listings"),
    Verb("briefing", "briefing", "briefing"),
)

ABOUT_MANY = (
    *("up", "watch", "log", "why", "sessions", "diff"),
    *("checkpoint-diff", "window", "replay"),
)
"""Commands that show what no single method does: all sessions, the timeline, a verdict's reasons.
`diff` is what `check` answers, printed as a diff."""

OF_ITSELF = ("tour", "init", "doctor", "gc", "completion", "hook")
"""Commands of the command itself."""
