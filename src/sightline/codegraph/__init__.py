"""Which files import which: sources parsed by language, and the files related to one."""

PUBLIC = (
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
