"""The conversations that agents recorded in a workspace themselves, read in as archives."""

from __future__ import annotations

import os
import sys
from hashlib import sha256

import click

from sightline.agents.claude_code.recordings import Recording, recordings
from sightline.changes.session_context import SessionContext
from sightline.cli import output
from sightline.cli.output import Call
from sightline.hooks import archive
from sightline.text.phrases import count, size


def read_in(call: Call, ground: SessionContext, *, wanted: bool) -> None:
    """Read recorded conversations in, if the user wants them. wanted: said so already; else asked
    on a terminal, while nothing was recorded here by ourselves. OSError, StoreError."""
    if not wanted and (ground.store.sessions() or not _terminal()):
        return
    found = [each for each in _recordings(ground) if ground.store.session(each.session) is None]
    if not found:
        if wanted:
            output.note(call, "No conversation was recorded here that is not known already.")
        return
    if wanted or _asked(found):
        with output.progress(call, f"Reading in {count(len(found), 'conversation')}"):
            made = [_read_in(ground, each) for each in found]
        new = sum(1 for each in made if each)
        facts = count(sum(made), "fact")
        output.note(
            call, f"Read in: {count(new, 'conversation')}, {facts}. See: sightline sessions"
        )


def _recordings(ground: SessionContext) -> list[Recording]:
    """All but those of sessions that our hooks were there for."""
    home, config = os.path.expanduser("~"), os.environ.get("CLAUDE_CONFIG_DIR")
    return recordings(ground.workspace.root, home, config)


def _asked(found: list[Recording]) -> bool:
    amount = size(sum(each.size for each in found))
    said = f"{count(len(found), 'conversation')} of Claude Code recorded here before ({amount})."
    click.echo(said, err=True)
    try:
        return click.confirm("Read them in, to look at?", default=False, err=True)
    except click.Abort:
        raise KeyboardInterrupt from None


def _terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def _read_in(ground: SessionContext, each: Recording) -> int:
    from sightline.agents.claude_code import recordings

    origin = archive.Origin(
        agent="claude-code",
        source=each.path,
        digest=_digest(each),
        session=each.session,
        root=ground.workspace.root,
        parent=each.parent,
    )
    told = recordings.told(each)
    return archive.read_in(ground.store, ground.clock, origin, told, ground.settings.may_store)


def _digest(each: Recording) -> str:
    """Of the bytes that were there when the recording was found: it may grow meanwhile."""
    digest, left = sha256(), each.size
    with open(each.path, "rb") as file:
        while left and (part := file.read(min(left, 1 << 20))):
            digest.update(part)
            left -= len(part)
    return digest.hexdigest()
