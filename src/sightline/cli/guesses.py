"""Lead from the names and options that people try to commands. Imported only where a name is unknown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import SequenceMatcher, get_close_matches

import click

OTHER_NAMES = {
    "restore": "undo PATH' or 'sightline rewind ID", "revert": "undo PATH' or 'sightline rewind ID",
    "checkout": "undo PATH' or 'sightline rewind ID", "recover": "undo PATH", "undelete": "undo PATH",
    "rollback": "rewind", "reset": "rewind", "redo": "rewind",
    "stale": "changes", "changed": "changes", "whatchanged": "changes", "what-changed": "changes",
    "who": "why", "annotate": "why", "whodunit": "why",
    "parallel": "task run", "conflicts": "task list", "task conflicts": "task list", "task status": "task list",
    "task ls": "task list", "task add": "task propose", "task create": "task propose",
    "task new": "task propose", "task start": "task run", "task exec": "task run", "task stop": "task cancel",
    "task rm": "task skip", "task delete": "task skip", "task accept": "task approve",
    "task apply": "task merge", "task resolve": "task merge", "task conflict": "task show",
    "session ls": "session list", "session rm": "session delete", "session end": "session delete",
    "workers": "worker", "ps": "status", "top": "up", "monitor": "up", "dashboard": "up", "live": "up", "ui": "up",
    "agents": "session list", "backup": "checkpoint", "protect": "claim", "freeze": "claim", "reserve": "claim",
    "off": "init --remove", "disable": "init --remove", "add": "init", "disconnect": "init --remove",
    "history": "log", "timeline": "log", "snapshot": "checkpoint", "save": "checkpoint",
    "checkpoints": "checkpoint list", "snapshots": "checkpoint list",
    "checkpoint-diff": "checkpoint diff", "checkpoint-export": "checkpoint export",
    "lock": "claim", "unlock": "claim release", "locks": "claim list",
    "tasks": "task list", "subtask": "task", "subtasks": "task list", "sub-task": "task",
    "propose": "task propose", "approve": "task approve", "delegate": "task propose",
    "claims": "claim list", "release": "claim release", "hand-over": "claim hand-over",
    "handover": "claim hand-over", "sessions": "session list", "fork": "session fork",
    "blame": "why", "explain": "why", "notice": "changes --for-agent", "edited-since": "changes --since",
    "acknowledge": "ack", "edit-lines": "edit --lines",
    "search": "find", "ls": "list", "cat": "read", "show": "read", "rm": "delete", "remove": "delete' or 'sightline init --remove",
    "mv": "move", "rename": "move", "replace": "edit", "verify": "check", "setup": "init",
    "install": "init", "connect": "init", "uninstall": "init --remove", "start": "up", "serve": "up",
    "settings": "doctor --verbose", "config": "doctor --verbose", "configure": "init",
    "export": "checkpoint export", "demo": "tour", "exec": "run", "answer": "apply", "clean": "gc", "prune": "gc",
    "purge": "forget", "erase": "forget", "wipe": "forget", "version": "--version",
}  # fmt: skip
"""What people try -> the command that does it."""

ALIKE = 0.8
"""How alike a misspelt name is to the command it means, from 0 to 1. A far-fetched guess misleads."""

BEGINNING = 3
"""How many letters a beginning of a command's name has at least."""

FILE = ("--file", "--path", "--only")
WHEN = ("--since", "--to", "--after", "--before", "--until")

OPTIONS: dict[str, str] = {
    **{f"{command} {name}": "rewind TIME" for command in ("undo", "rewind") for name in WHEN},
    **{f"{command} {name}": "undo PATH" for command in ("undo", "rewind") for name in FILE},
    **{
        f"{command} {name}": f"{command} PATH"
        for command in ("log", "why", "check", "diff", "claim", "read")
        for name in FILE
    },
    **{
        f"task run {name}": "task run --concurrency N"
        for name in ("--parallel", "--jobs", "--workers", "-j", "-n", "-p")
    },
    **{f"worker {name}": "worker --concurrency N" for name in ("--parallel", "--jobs", "-j", "-n")},
    **{
        f"checkpoint {name}": "checkpoint LABEL"
        for name in ("-m", "--message", "--label", "--name", "-n")
    },
    "undo --all": "rewind TIME", "rewind --last": "undo", "rewind -n": "undo", "undo -n": "rewind TIME",
    "undo --turns": "rewind TIME",
    **{f"status {name}": "changes" for name in ("--stale", "--changed", "--dirty", "--diff")},
    "watch --once": "changes", "log --stale": "changes", "delete --all": "forget",
    **{f"init {name}": "init --remove" for name in ("--undo", "--uninstall", "--delete", "--off")},
    "init --agent": "init AGENT", "claim --until": "claim --ttl", "task --all": "task list",
    "task show --diff": "task diff ID", "task merge --force": "task merge ID --keep PATH",
    "task merge --ours": "task merge ID --keep PATH", "task merge --theirs": "task retry ID",
}  # fmt: skip
"""A command with an option that people try -> the command that does it."""

OF_ALL = {
    "--agent": "--session NAME", "--dir": "--workspace DIR", "-C": "--workspace DIR",
    "--cwd": "--workspace DIR", "--root": "--workspace DIR", "-q": "--quiet", "-s": "--session NAME",
}  # fmt: skip
"""An option that people try -> the option of every command that does it."""


OF_CHECKPOINTS = {
    "show": "checkpoint diff ID", "view": "checkpoint diff ID", "compare": "checkpoint diff A B",
    "create": "checkpoint LABEL", "new": "checkpoint LABEL", "add": "checkpoint LABEL",
    "take": "checkpoint LABEL", "save": "checkpoint LABEL", "restore": "rewind LABEL",
    "apply": "rewind LABEL", "load": "rewind LABEL", "rm": "checkpoint delete ID",
    "remove": "checkpoint delete ID", "drop": "checkpoint delete ID",
}  # fmt: skip
"""A word that people try behind `checkpoint`, with a name behind it -> the command that does it."""


def no_such_command(name: str, known: Sequence[str], shown: Collection[str]) -> str:
    """Word that there is no command of a name. known: the commands; shown: those of the first help, which come
    first among names that are equally near."""
    meant = {each: each for each in known} | OTHER_NAMES
    alike = [name] if name in meant else _alike(name, meant)
    near = sorted(alike, key=lambda each: meant[each].split()[0] not in shown)  # stable
    guess = f" Did you mean 'sightline {meant[near[0]]}'?" if near else ""
    return f"There is no command '{name}'.{guess}"


def _alike(name: str, known: Collection[str]) -> list[str]:
    """Return the known names nearest to one, the nearest first: those with its letters in another order, those
    like it, and those that begin with it."""
    swapped = [each for each in known if sorted(each) == sorted(name)]
    longer = [each for each in known if each.startswith(name)] if len(name) >= BEGINNING else []
    return [*swapped, *get_close_matches(name, known, n=5, cutoff=ALIKE), *longer]


def reworded(error: click.UsageError) -> str:
    """Return the message of wrong usage, with the command that somebody may have meant."""
    if isinstance(error, click.NoSuchOption):
        return _no_such_option(error)
    message = error.format_message()
    command = error.ctx.command.name if error.ctx is not None else ""
    if command == "checkpoint" and message.startswith("Got unexpected extra"):
        label = (error.ctx.params.get("label") or "") if error.ctx is not None else ""
        if meant := OF_CHECKPOINTS.get(label):
            return f"There is no command 'checkpoint {label}'. Did you mean 'sightline {meant}'?"
        return (
            "A label is one word, or stands in quotes: 'sightline checkpoint LABEL' takes a checkpoint, and"
            " 'sightline rewind LABEL' goes back to one."
        )
    return message


def _no_such_option(error: click.NoSuchOption) -> str:
    name = error.option_name
    command = error.ctx.command.name or "" if error.ctx is not None else ""
    meant = OPTIONS.get(f"{command} {name}")
    if meant is None and name in OF_ALL:
        meant = f"{command} {OF_ALL[name]}"
    if meant is not None:
        return f"No such option '{name}'. Did you mean 'sightline {meant}'?"
    alike = {each: SequenceMatcher(None, name, each).ratio() for each in error.possibilities or ()}
    near = max(alike, key=alike.__getitem__, default="")
    guess = f" Did you mean '{near}'?" if near and alike[near] >= ALIKE else ""
    return f"No such option '{name}'.{guess}"
