"""One module a language: parse a source's imports, and resolve them to files."""

PUBLIC = ()

PURE = (
    "c",
    "go",
    "java",
    "javascript",
    "javascript_resolve",
    "python",
    "rust",
)
