"""The commands of the verbs, by which the tests compare the library with the command line."""

from sightline.cli.output import COMMANDS

WITHOUT_COMMAND = {
    *("apply", "believed", "dropped", "environment", "find_each", "mentioned", "request_listings"),
    *("warn", "writing", "wrote"),
}
"""Methods of Session that the command line lacks."""


def command_name(method):
    """Return the command of a method of Session, with the option that stands for it if there is one;
    None where there is no command."""
    return None if method in WITHOUT_COMMAND else COMMANDS.get(method, method)


def without_option(command):
    """Return a command without the option that stands for a verb."""
    return command.partition(" --")[0]
