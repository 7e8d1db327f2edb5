"""Lead from the names and options that people try to commands. Imported only where a name is unknown."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher, get_close_matches

import click

ALIKE = 0.8
"""How alike a misspelt name is to the command it means, from 0 to 1. A far-fetched guess misleads."""

BEGINNING = 3
"""How many letters a beginning of a command's name has at least."""

with open(os.path.join(os.path.dirname(__file__), "guesses.json"), encoding="utf-8") as _file:
    OTHER_NAMES, OPTIONS, OF_ALL, OF_CHECKPOINTS = (
        {tried: meant for meant, each in table.items() for tried in each}
        for table in json.load(_file).values()
    )
"""What people try -> the command that does it: names of commands; commands with an option; options of
any command, to an option of it; and words behind `checkpoint` that have a name behind them."""


TAKES = "checkpoint LABEL"
"""What words behind `checkpoint` mean that take a checkpoint."""


def no_such_command(name: str, known: Sequence[str], shown: Collection[str]) -> str:
    """Word that there is no command of a name. known: the commands; shown: those of the first help, which come
    first among names that are equally near."""
    meant = {each: each for each in known} | OTHER_NAMES
    alike = [name] if name in meant else _alike(name, meant)
    near = sorted(alike, key=lambda each: meant[each].split()[0] not in shown)  # stable
    guess = f" Did you mean 'sightline {meant[near[0]]}'?" if near else ""
    return f"There is no command '{name}'.{guess}"


def means_other_command(label: str) -> bool:
    """Return whether a label is the name of a command for checkpoints, not of one that takes a checkpoint."""
    meant: str = OF_CHECKPOINTS.get(label, TAKES)
    return meant != TAKES


def no_such_checkpoint_command(word: str) -> str:
    """Word that a word behind `checkpoint` is no command."""
    return (
        f"There is no command 'checkpoint {word}'. Did you mean 'sightline {OF_CHECKPOINTS[word]}'?"
    )


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
        if label in OF_CHECKPOINTS:
            return no_such_checkpoint_command(label)
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
