"""Commands for a model's structured answer: apply, schema, prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import click

from sightline import AnswerResult, ApplyMode, Prompts
from sightline.api import words
from sightline.api.json_shapes import shape
from sightline.api.session import Session
from sightline.api.tools import answer_schema, tools
from sightline.api.words import in_answer
from sightline.cli import output
from sightline.cli.failures import NO, Answered
from sightline.cli.input import from_stdin
from sightline.cli.options import command
from sightline.cli.output import Call
from sightline.errors import EditRefused, NextCall
from sightline.model.path import quoted
from sightline.text.command_words import as_command
from sightline.text.printable import printable

SUMMARY = re.compile(r'"summary"\s*:\s*"((?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*)("?)')
"""The summary in an answer whose end may not have come yet."""

HALF = re.compile("[\ud800-\udbff]$")
"""The first half of a character whose second half has not come yet."""


@command(Session.answer, name="apply", example="apply < answer.json", without=("answer", "apply"))
@click.option("--each", is_flag=True, help="Apply every change that is not refused.")
@click.option("--preview", is_flag=True, help="Show what would happen; change nothing.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
def apply(call: Call, *, each: bool, preview: bool, yes: bool) -> None:
    """The answer comes from stdin; 'sightline schema' describes it. At a terminal the changes are
    shown first, and applied if you agree. Exit code 1: a change was refused, or the answer cannot be
    read.
    """
    if each and preview:
        raise click.UsageError("--preview shows every change: leave out --each.")
    text = from_stdin(call, "the answer")
    asking = not (preview or yes or call.json) and output.can_ask()
    mode: ApplyMode = "each" if each else "all"
    with call.look() if preview else call.open() as session:
        result = session.answer(text, apply="preview" if preview or asking else mode)
        if asking:
            show_answer(call, result)
            allowed = {change.state for change in result.changes} & {"allowed", "held"}
            if (result.refused and not each) or (result.changes and not allowed):
                raise Answered(NO)
            if result.changes and not output.confirmed("Apply this?"):
                output.say("Nothing was changed.")
                raise Answered(NO)
            result = session.answer(text, apply=mode)
    if call.json:
        output.json(shape(result))
    else:
        show_answer(call, result)
    if result.refused:
        raise Answered(NO)


@command(example="schema --strict")
@click.option(
    "--plan",
    is_flag=True,
    help="Print the schema for a planning pass, which only asks for files and folders.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Print it as providers take it for strict structured output: every field is required.",
)
@click.option(
    "--tools",
    "of_tools",
    is_flag=True,
    help="Print the table of tools: each verb that a program can call with JSON, with its schemas.",
)
def schema(call: Call, *, plan: bool, strict: bool, of_tools: bool) -> None:
    """Print the JSON Schema of a structured answer.

    For a model, or for a host that asks one for structured output.
    """
    if of_tools and (plan or strict):
        raise click.UsageError("Pass --tools alone: it has no other form.")
    if of_tools:
        output.json({"tools": [tool.described() for tool in tools().values()]})
        return
    text = answer_schema(plan=plan, strict=strict)
    if call.json:
        output.json(json.loads(text))
    else:
        output.text(text, end="")


@command(Session.prompts, example="prompts planning")
@click.argument("name", required=False)
@click.option("--raw", is_flag=True, help="Print the text with its placeholders, as in its file.")
def prompts(call: Call, *, name: str | None, raw: bool) -> None:
    """NAME prints the text that a model is sent. Without a name, all prompts are listed."""
    with call.look() as session:
        known = session.prompts()
    if name is None:
        if raw:
            raise click.UsageError("--raw prints one prompt: name it.")
        shape_of = {"prompts": [shape(each) for each in known.used], "unused": list(known.unused)}
        output.answer(call, shape_of, "\n".join(_listed(known)))
    else:
        text = known.source(name) if raw else known.render(name)
        output.answer(call, {"name": name, "text": text}, text)
    for line in known.remarks:
        output.note(call, printable(line))


def _listed(known: Prompts) -> Iterator[str]:
    """Yield a line for each prompt."""
    for each in known.used:
        yield f"{each.name:<13} version {each.version}  {printable(each.about)}"
        if each.file:
            old = f", written for version {each.version} of {each.built_in}"
            yield f"{'':<13} from {printable(each.file)}{old if each.version != each.built_in else ''}"


def _wording(call: NextCall) -> str:
    """Return a call as the answer that makes it, or as a command."""
    return in_answer(call) if call.again else as_command(call)


def show_answer(call: Call, result: AnswerResult) -> None:
    """Print what became of an answer: the diffs, the refusals, and a line for each state."""
    for line in words.how_read(result):
        output.say(line)
    shown: set[int] = set()  # changes of one file have one result
    for change in result.changes:
        outcome = change.result or change.refusal
        if id(outcome) in shown:
            continue
        shown.add(id(outcome))
        if change.refusal is not None:
            diff = change.refusal.diff if isinstance(change.refusal, EditRefused) else ""
            refusal = change.refusal
            output.failure(call, refusal.message, refusal.next_step, diff=diff, by=_wording)
        elif change.result is not None:
            if change.result.diff and (change.state != "held" or result.mode == "preview"):
                output.done(call, output.coloured(call, change.result.diff))
            if change.result.merged:
                output.note(call, f"Merged with what others changed in {quoted(change.path)}.")
            if change.result.notice is not None:
                output.say(printable(change.result.notice.text.rstrip("\n")))
    for line in (*words.heads(result), *words.requests(result)):
        output.note(call, printable(line))
    if result.checkpoint is not None:
        output.note(call, f"To take this back: sightline rewind {result.checkpoint}")


def summary_printer() -> Callable[[str], None]:
    """Return a function that prints the summary of an answer while the pieces of the answer come."""
    text, printed = "", 0

    def show(piece: str) -> None:
        nonlocal text, printed
        text, printed = (text + piece, printed) if piece else ("", 0)  # "": a new answer begins
        found = SUMMARY.search(text)
        if found is None or printed < 0:
            return
        summary = printable(HALF.sub("", json.loads(f'"{found[1]}"', strict=False)))
        shown = output.fitted(summary if found[2] else summary.rpartition(" ")[0])
        output.text(shown[printed:], end="\n" if found[2] else "")
        printed = -1 if found[2] else len(shown)

    return show
