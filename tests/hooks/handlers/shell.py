"""An agent's shell, played: a command really runs, between the two events that tell of it."""

import subprocess

from sightline.hooks.dispatch import attend
from sightline.model.hook_events import CommandBegan, CommandEnded


def run(place, session, command, *, call="c1", during=None, cut=None, background=False, ends_in=""):
    """Return what its agent is answered. during: what somebody does while it runs; cut: what becomes of
    its output; ends_in: the folder that the host tells of at its end."""
    cwd = str(place.root)
    assert attend(session, CommandBegan(command, call, cwd)).context == ""
    done = subprocess.run(
        ["bash", "-c", command], cwd=cwd, capture_output=True, text=True, check=False
    )
    if during:
        during()
    output = "\n".join(part for part in (done.stdout, done.stderr) if part)
    output = output if cut is None else cut(output)
    there = str(place.root / ends_in)
    ended = CommandEnded(command, call, there, output, done.returncode, background)
    return attend(session, ended)


def seen(session, path):
    verdict = session.check(path)
    return verdict.seen_lines


def facts(session, *kinds):
    found = session._context.store.timeline(session=session.id, kinds=list(kinds))
    return [recorded.fact for recorded in found]
