"""Imports between files: sources parsed by language, and the files related to one file."""

PUBLIC = (
    "outlines",
    "related",
    "related_files",
    "words",
)

PURE = (
    "reference",
    "related_files",
    "test_names",
    "words",
)
