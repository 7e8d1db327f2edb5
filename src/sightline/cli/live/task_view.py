"""The graph of sub-tasks, drawn on a terminal while they are carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text

from sightline.subtasks import words
from sightline.subtasks.subtask import Graph
from sightline.text.phrases import shortened
from sightline.text.printable import one_line, printable

SAID = 50
"""Characters of a result, a reason or a goal in one line."""


@contextmanager
def drawing(
    *, plain: bool, colours: Mapping[str, str], marks: Mapping[str, str]
) -> Iterator[Callable[[Graph], object]]:
    """Draw a graph on stderr while the block runs; give the function that draws it anew. plain: without
    colours. colours, marks: by state."""

    def drawn(found: Graph) -> Text:
        text = Text()
        for depth, level in enumerate(found.levels()):
            for each in level:
                style = "" if plain else colours[each.state]
                text.append(f"{'  ' * depth}{marks[each.state]} ", style)
                text.append(f"{printable(each.id)} {each.state}", style)
                said = one_line(each.result or each.reason or each.goal)
                text.append(f"  {shortened(printable(said), SAID)}\n")
        return text.append(words.counted(found))

    with Live(console=Console(stderr=True, no_color=plain), refresh_per_second=8) as live:
        yield lambda found: live.update(drawn(found))
