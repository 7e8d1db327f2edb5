"""Session, Workspace, open_session: the verbs of the library, each written once."""

PUBLIC = (
    "folders",
    "health",
    "json_shapes",
    "live",
    "opening",
    "own_settings",
    "session",
    "still_running",
    "subtask_verbs",
    "tools",
    "verbs",
    "words",
    "workspace",
    "workspace_words",
)
