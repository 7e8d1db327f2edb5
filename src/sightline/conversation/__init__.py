"""The messages of a session: appended, condensed, counted, and folded to fit a context window."""

PUBLIC = (
    "calibration",
    "condense",
    "deleted_messages",
    "display",
    "log",
    "message_chain",
    "message_codec",
    "model_summarizer",
    "overflow",
    "overflow_recovery",
    "progress",
    "recorded_conversation",
    "recorded_work",
    "repeated_calls",
    "saved_file",
    "todos",
    "token_counter",
    "tool_calls",
    "sent_view",
    "words",
)

PURE = (
    "calibration",
    "message_codec",
    "overflow",
    "recorded_conversation",
    "recorded_work",
    "todos",
    "repeated_calls",
    "tool_calls",
    "tool_names",
    "words",
    "written_files",
)
