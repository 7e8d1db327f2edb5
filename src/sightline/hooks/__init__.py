"""Answering the hooks of agents: a small client, a daemon, and one handler per event."""

PUBLIC = (
    "archive",
    "client",
    "daemon_entry",
    "daemon_status",
    "fault_log",
    "hook_entry",
    "http_endpoint",
    "protocol",
    "server",
    "session_transcripts",
)

PURE = ("words",)
