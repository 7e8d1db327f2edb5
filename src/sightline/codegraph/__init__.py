"""Imports between files: sources parsed by language, and the files related to one file."""

PUBLIC = (
    "find_related",
    "outlines",
    "related_files",
    "words",
)

PURE = (
    "language",
    "related_files",
    "test_names",
    "words",
)
