"""The graph of sub-tasks, drawn on a terminal while they are carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from sightline import Graph
from sightline.api.words import subtask_words as words
from sightline.cli.task_tree import tree_lines


@contextmanager
def drawing(*, plain: bool, columns: int) -> Iterator[Callable[[Graph], object]]:
    """Draw a graph on stderr while the block runs; give the function that draws it anew. plain: without
    colours. columns: of a line."""

    def style(said: str, colour: str) -> str:
        return said if plain else click.style(said, fg=colour)

    def drawn(found: Graph) -> Text:
        lines = tree_lines(found, style, columns)
        return Text.from_ansi("\n".join([*lines, words.counted(found)]), no_wrap=True)

    console = Console(stderr=True, no_color=plain)
    with Live(console=console, refresh_per_second=8, transient=True) as live:
        yield lambda found: live.update(drawn(found))
