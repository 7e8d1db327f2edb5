"""Which files import which: sources parsed by language, and the files related to one."""

PUBLIC = (
    "related",
    "words",
)

PURE = (
    "graph",
    "reference",
    "reference_packing",
    "test_names",
    "words",
)
