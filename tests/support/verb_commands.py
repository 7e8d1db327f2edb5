"""The commands of the verbs, by which the tests compare the library with the command line."""

from sightline.text.command_words import COMMANDS

WITHOUT_COMMAND = {
    *("apply", "believed", "dropped", "environment", "find_each", "mentioned", "request_listings"),
    *(
        "finish_interrupted",
        "name_of",
        "newest_notice",
        "shown_bytes",
        "transcript",
        "warn",
        "writing",
        "wrote",
    ),
}
"""Methods of Session that the command line lacks."""


def command_of(verb):
    """Return the command of a verb, of sub-tasks too, as command_name does."""
    kind, _, name = verb.__qualname__.rpartition(".")
    return f"task {name}" if kind == "Subtasks" else command_name(name)


def command_name(method):
    """Return the command of a method of Session, with the option that stands for it if there is one;
    None where there is no command."""
    return None if method in WITHOUT_COMMAND else COMMANDS.get(method, method)


def without_option(command):
    """Return a command without the option that stands for a verb."""
    return command.partition(" --")[0]
