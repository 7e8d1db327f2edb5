"""Commands that find files: find, list, related, registry."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from sightline.briefing import words as briefing_words
from sightline.briefing.registry import LIMIT
from sightline.cli import output
from sightline.cli.failures import NO, Answered
from sightline.cli.options import verb
from sightline.cli.output import Call
from sightline.codegraph import words as codegraph_words
from sightline.search import words
from sightline.search.chains import Fallback


@verb()
@click.argument("patterns", metavar="PATTERN...", nargs=-1, required=True)
@click.option("--required", is_flag=True, help="The work cannot go on without it.")
@click.option(
    "--fallback",
    type=click.Choice(["ask_user", "skip", "create_new"]),
    default="skip",
    show_default=True,
    help="What is to be done where nothing matches.",
)
@click.pass_obj
def find(call: Call, patterns: tuple[str, ...], *, required: bool, fallback: Fallback) -> None:
    """Find files by up to five patterns, from exact to broad.

    The first pattern that matches wins. A name or a pattern without a slash is looked for in all
    folders; ** stands for any folders. Files that are ignored are not found. Where nothing
    matches, what may have been meant is listed with the reason. Exit code 1: nothing matches.
    """
    with call.open() as session, _asked(), output.progress(call, "Listing the files"):
        found = session.find(patterns, required=required, fallback=fallback)
    if call.json:
        output.json(words.find_json(found), schema=False)
    else:
        output.text(words.found(found))
    if not found.matches:
        raise Answered(NO)


@verb("list")
@click.argument("path", metavar="DIR", default=".")
@click.option("--recursive", is_flag=True, help="With the folders below it.")
@click.option("--filter", metavar="GLOB", help="Only files that match, such as '*.py'.")
@click.option("--depth", type=click.IntRange(1), default=3, show_default=True, help="Levels.")
@click.option("--limit", type=click.IntRange(1), default=200, show_default=True, help="Entries.")
@click.option("--next-turn", is_flag=True, help="Not now: the next briefing delivers it.")
@click.pass_obj
def list(  # noqa: A001  the command's name
    call: Call,
    path: str,
    *,
    recursive: bool,
    filter: str | None,
    depth: int,
    limit: int,
    next_turn: bool,
) -> None:
    """List a folder as an agent is shown it.

    The nearest first; what is ignored is counted, and what the limits cut off is told. With
    --next-turn it is made when the next briefing is, and delivered with it, once.
    """
    if next_turn:
        asked = {"path": call.path(path), "recursive": recursive, "filter": filter}
        with call.open() as session:
            session.request_listings([{**asked, "depth": depth, "limit": limit}])
        output.note(call, "The next briefing has it.")
        return
    with call.open() as session, _asked():
        found = session.list_directory(
            call.path(path), recursive=recursive, filter=filter, depth=depth, limit=limit
        )
    if call.json:
        output.json(words.listing_json(found), schema=False)
    else:
        output.text(words.listing(found))


@verb()
@click.argument("path")
@click.option("--no-imports", is_flag=True, help="Without what it imports.")
@click.option("--no-importers", is_flag=True, help="Without what imports it.")
@click.option("--no-tests", is_flag=True, help="Without its tests.")
@click.option("--no-siblings", is_flag=True, help="Without the files beside it.")
@click.option("--transitive", type=click.IntRange(0), default=0, help="Further steps of imports.")
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, help="Files.")
@click.pass_obj
def related(
    call: Call,
    path: str,
    *,
    no_imports: bool,
    no_importers: bool,
    no_tests: bool,
    no_siblings: bool,
    transitive: int,
    limit: int,
) -> None:
    """List the files that belong to one, and why.

    What it imports, its tests, what imports it, and the files beside it, the closest first.
    """
    with call.open() as session, output.progress(call, "Reading imports"):
        found = session.related(
            call.path(path),
            imports=not no_imports,
            importers=not no_importers,
            tests=not no_tests,
            siblings=not no_siblings,
            transitive=transitive,
            limit=limit,
        )
    if call.json:
        output.json(codegraph_words.as_json(found))
    else:
        output.text(codegraph_words.text(found))


@verb()
@click.option("--all", "every", is_flag=True, help="All files, however many.")
@click.option("--md5", is_flag=True, help="With MD5 sums, in JSON.")
@click.pass_obj
def registry(call: Call, *, every: bool, md5: bool) -> None:
    """Show the files that this session knows.

    The most useful first: how each came in, how it stands now, and who changed it.
    """
    with call.open() as session:
        found = session.registry(limit=None if every else LIMIT, with_md5=md5)
    if call.json:
        output.json(briefing_words.registry_json(found), schema=False)
    else:
        output.text("\n".join(briefing_words.lines(found)))


@contextmanager
def _asked() -> Iterator[None]:
    """What was asked for cannot be: that is how the command was called."""
    try:
        yield
    except ValueError as error:
        raise click.UsageError(str(error)) from error
