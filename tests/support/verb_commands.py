"""The commands of the verbs, by which the tests compare the library with the command line."""

WITHOUT_COMMAND = {
    *("apply", "believed", "dropped", "environment", "find_each", "fork", "mentioned", "renew"),
    *("request_listings", "warn", "writing", "wrote"),
}
"""Methods of Session that the command line lacks, or has as an option of another command."""

OTHER_COMMANDS = {
    "acknowledge": "ack",
    "export": "checkpoint-export",
    "files": "status",
    "list_directory": "list",
    "model_usage": "models",
    "ran": "run",
}
"""Method of Session -> its command, where that is not the method's name with dashes."""


def command_name(method):
    """Return the command of a method of Session, None where there is none."""
    if method in WITHOUT_COMMAND:
        return None
    return OTHER_COMMANDS.get(method, method.replace("_", "-"))
