"""Session, Workspace, open_session: the verbs of the library, each written once."""

PUBLIC = (
    "folders",
    "json_shapes",
    "opening",
    "session",
    "subtask_verbs",
    "tools",
    "verbs",
    "workspace",
)
