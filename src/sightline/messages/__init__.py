"""The messages of a session: formats, blocks, the chain that is kept, to-dos and tokens."""

PUBLIC = (
    "blocks",
    "deleted_messages",
    "histories",
    "message_chain",
    "message_codec",
    "progress",
    "recorded_work",
    "saved_file",
    "todos",
    "token_counter",
    "tool_calls",
    "tool_names",
    "written_files",
    "written_history",
)

PURE = (
    "blocks",
    "message_codec",
    "recorded_work",
    "todos",
    "tool_calls",
    "tool_names",
    "written_files",
    "written_history",
)
