"""The messages of a session: appended, condensed, counted, and folded to fit a context window."""

PUBLIC = (
    "condense",
    "deleted_messages",
    "display",
    "log",
    "message_chain",
    "message_codec",
    "overflow",
    "recorded_conversation",
    "saved_file",
    "todos",
    "token_counter",
    "sent_view",
    "words",
)

PURE = (
    "message_codec",
    "overflow",
    "recorded_conversation",
    "todos",
    "tool_calls",
    "tool_names",
    "words",
    "written_files",
)
