"""One module a language: read a source's imports, and resolve them to files."""

PUBLIC = ()

PURE = ("c",)
