"""The disk behind one port: read, compare and replace files, lock paths, list and index a tree."""

PUBLIC = (
    "deadline",
    "discovery",
    "disk",
    "file_state",
    "git_control",
    "left_out",
    "lock",
    "mounts",
    "open_files",
    "path_list",
    "port",
    "private_files",
    "process",
    "scan",
    "submodules",
    "tree_index",
)

PURE = ("mounts",)
