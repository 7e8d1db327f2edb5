"""Tell an agent, once a conversation, that a file is of another checkout than it works in.

A conversation that works in a git worktree has read absolute names of the main checkout before, and goes
on to use them: its changes land in the wrong tree, and its own tests never see them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from sightline.filesystem.git.repository import repository
from sightline.filesystem.git_control import git_top
from sightline.model.hook_events import Attempted, CommandBegan, Event
from sightline.shell_parsing.command_line import absolute_path, git_words
from sightline.shell_parsing.file_effects import all_pipelines, possible_names
from sightline.shell_parsing.read_only import only_reads

WORDS_MAX = 50
"""Words of a command that are looked up."""


class Elsewhere(Struct, frozen=True):
    """A file of another checkout of the repository. path: from the top of that checkout; top: its folder;
    is_main: it is the repository's first one. own: the file of this name in the agent's checkout;
    exists: there is one."""

    path: str
    top: str
    is_main: bool
    own: str
    exists: bool


def elsewhere(event: Event, folder: str) -> Elsewhere | None:
    """Return the first file of another checkout that an event is about to write; None for none. folder:
    where the agent works."""
    for path in islice(_written(event), WORDS_MAX):
        found = of_another_checkout(path, folder)
        if found is not None:
            return found
    return None


def of_another_checkout(path: str, folder: str) -> Elsewhere | None:
    """Return what a file is in its checkout, where that is another one of the repository that a folder
    belongs to. path, folder: absolute."""
    real = os.path.realpath(path)
    if not os.path.isdir(above := os.path.dirname(real)):
        return None
    folder = os.path.realpath(folder)
    if git_top(above) == git_top(folder):
        return None
    theirs, ours = repository(above, ""), repository(folder, "")
    if theirs is None or ours is None or theirs.top == ours.top or theirs.common != ours.common:
        return None
    name = os.path.relpath(real, theirs.top)
    own = os.path.join(ours.top, name)
    is_main = theirs.folder == theirs.common
    return Elsewhere(name.replace(os.sep, "/"), theirs.top, is_main, own, os.path.lexists(own))


def _written(event: Event) -> Iterator[str]:
    if isinstance(event, Attempted):
        yield from filter(os.path.isabs, event.paths)
    if isinstance(event, CommandBegan) and not only_reads(event.command, event.cwd):
        for folder in _folders(event):
            for word in possible_names(event.command):
                path = absolute_path(folder, word)
                if path is not None and os.path.isfile(path):
                    yield path


def _folders(event: CommandBegan) -> Iterator[str | None]:
    """Yield the folders that the relative names in a command may start from: the folder that it starts in,
    if a word leads out of that folder, and the folders that it changes to. None stands for absolute names."""
    yield None
    if ".." in event.command:
        yield event.cwd
    commands = [simple for pipe in all_pipelines(event.command, event.cwd) for simple in pipe]
    folders = [simple.cwd for simple in commands]
    folders += [
        git_words(each.words[1:], each.cwd)[1] for each in commands if each.program == "git"
    ]
    yield from {folder: None for folder in folders if folder and folder != event.cwd}
