"""The command stats: how searches for files went."""

from __future__ import annotations

import click

from sightline.cli import output
from sightline.cli.options import verb
from sightline.cli.output import Call
from sightline.search import words
from sightline.search.stats import stats as counted


@verb()
@click.pass_obj
def stats(call: Call) -> None:
    """Count how searches for files went, by kind of pattern.

    Of all sessions, or with --session of one. A pattern counts where it was tried: it matched as the
    first of its chain or further down, or it did not, and the session read one of the files that were
    offered instead (a guess), or not. Below stand the patterns that matched nothing most often.
    """
    with call.survey() as ground:
        found = counted(ground.store, call.session)
    if call.json:
        output.json(words.stats_json(found), schema=False)
    elif said := words.text(found):
        output.text(said)
    else:
        output.note(call, "No session looked for files yet.")
