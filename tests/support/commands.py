"""Shell commands as facts name them."""

from sightline.changes.command_texts import bytes_of_command
from sightline.model.events import CommandStarted
from sightline.model.revision import revision_of


def command(text):
    """Return the revision that names a command."""
    return revision_of(bytes_of_command(text))


def begin(context, text, run="1", *more):
    """Record that a command begins, and more facts in the same append."""
    return context.append(
        [CommandStarted(command(text), run), *more], blobs=[bytes_of_command(text)]
    )
