"""The command line: arguments, words and exit codes around the verbs of api."""

PUBLIC = ("entry",)
