"""watch: changes of files as they happen, one a line."""

from __future__ import annotations

from time import monotonic

import click

from sightline.interfaces.cli import output
from sightline.interfaces.cli.options import verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sightline.interfaces.cli.call import Call
    from sightline.services.entries import Entry
    from sightline.services.watching import Watching


@verb()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.pass_obj
def watch(call: Call, paths: Sequence[str]) -> None:
    """Print changes of files as they happen, until Ctrl-C.

    All files that .gitignore does not hide, or only the given ones and what is in them. With
    --json an object a line, as 'sightline log --json' has them; one of a file that no agent was
    shown stands on no timeline, and its position is null. Such a file that changes all the time
    is told of once a second.
    """
    from sightline.interfaces.live.calm import Calm
    from sightline.interfaces.live.lines import Lines
    from sightline.interfaces.live.terminal import Waiting, while_read
    from sightline.services.watching import Watching

    with call.survey() as ground:
        named = tuple(ground.workspace.locate(call.path(path)).path for path in paths)
        with output.progress(call, "Looking at all files"):
            watching = Watching(ground, unshown=True)
        lines, wait = Lines(json=call.json), Waiting()
        calm = Calm(ground.workspace.root)
        with while_read(), watching, wait.heeding():
            output.note(call, _begun(ground.workspace.root, watching))
            while True:
                glance = watching.wait(0)
                entries = glance.entries if glance is not None else ()
                asked = [entry for entry in entries if _asked(entry, named)]
                lines.tell(calm.heard(asked, monotonic()))
                wait(watching.patience_s(), watching.fileno())


def _begun(root: str, watching: Watching) -> str:
    from sightline.render.seeing import seeing

    eyes = watching.eyes()
    how = seeing(eyes.mode, eyes.why, eyes.folders)
    return f"Watching {root}, {how}. Ctrl-C ends it."


def _asked(entry: Entry, named: tuple[str, ...]) -> bool:
    from sightline.services.entries import OF_FILES

    if entry.kind not in OF_FILES:
        return False
    about = [path for path in (entry.path, entry.src, *entry.paths) if path is not None]
    if not named or not about:
        return True
    return any(p == name or p.startswith(f"{name}/") for p in about for name in named)
