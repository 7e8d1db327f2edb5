"""The command window: plan what would be folded out of a history."""

from __future__ import annotations

import os
from tempfile import NamedTemporaryFile
from typing import Any

import click
from msgspec import Struct

from sightline import Recovery, model_summarizer
from sightline.api.json_shapes import Shape, fields
from sightline.api.opening import open_session
from sightline.cli import completion, output
from sightline.cli.failures import NO, Answered, report
from sightline.cli.input import text_in
from sightline.cli.options import command, number_from
from sightline.cli.output import Call
from sightline.errors import FileMissing, HistoryError
from sightline.messages.token_counter import counter
from sightline.messages.tool_calls import parse_object
from sightline.messages.written_history import History
from sightline.model.path import quoted
from sightline.recordings.read_recordings import read_messages
from sightline.window import plan_words as words
from sightline.window.folding_plan import Plan, plan

UNKNOWN_MODEL = "unknown"

MODELS = {"anthropic": "anthropic"}
"""Format -> the maker or model whose tokens are counted, where none is named."""


@command(example="window history.json --budget 9000")
@click.argument("file", metavar="FILE")
@click.option("--budget", type=number_from(1), metavar="N", help="The largest number of tokens for the messages. Needed without --condense and --recover.")  # fmt: skip
@click.option("--condense", is_flag=True, help="Show the history summed up: the record of what was done, and the newest messages.")  # fmt: skip
@click.option("--recover", "error", metavar="ERROR", help="Show the smaller request for a provider's error: a file with it, its text, or - for stdin.")  # fmt: skip
@click.option("--summarizer", metavar="MODEL", help="Let this model write the summary of --condense or --recover, such as openai:gpt-5-mini. Needs the extra 'agent'; the model is sent the conversation.")  # fmt: skip
@click.option("--policy", default="default", metavar="P", shell_complete=completion.one_of(("default", "careful", "none")), help="The folding policy: default (taken if none is named), careful or none.")  # fmt: skip
@click.option("--price", default="0.10/1.25", metavar="P", help="Prices of cache reads and writes, relative to an uncached token: 0.10/1.25 (default), 0.05/1.25, 0.02/1, none.")  # fmt: skip
@click.option("--model", metavar="M", help="Count tokens as this model does.")
@click.option("--output", "target", metavar="FILE", help="Write the messages as they would be sent.")  # fmt: skip
def window(
    call: Call,
    file: str,
    budget: int | None,
    condense: bool,  # noqa: FBT001 - click passes it by its name
    error: str | None,
    summarizer: str | None,
    policy: str,
    price: str,
    model: str | None,
    target: str | None,
) -> None:
    """Show what would be folded out of a conversation, and why.

    FILE holds the messages as a program sends them to a model (Anthropic, Chat Completions,
    Responses, Gemini, LangChain, Pydantic AI): a JSON array, an object such as {"messages": [...]},
    or one message on each line. It may be a session that an agent recorded, as 'replay' takes them;
    - is stdin. FILE is not changed. Exit code 1: there is no history in FILE, or one that a
    provider would refuse.
    """
    _check_usage(file, target, error, summarizer, condense=condense, budget=budget)
    name = "stdin" if file == "-" else file
    history = _history(file, name)
    left_out = [f"Left out: {each}." for each in history.set_aside]
    if condense or error is not None:
        smaller = _recovered(call, history, model, budget, error, summarizer)
        lines, answer = [*left_out, *smaller.lines], {**smaller.shape, **_set_aside(history)}
        _answer(call, target, history.dump(smaller.messages), lines, answer)
        return
    assert budget is not None
    if problems := history.problems():
        for line in left_out:
            output.note(call, line)
        report(call, "malformed_history", *words.refusal(name, problems))
        raise Answered(NO)
    count = counter(model or MODELS.get(history.format.name))
    with output.progress(call, "Reading the messages"):
        folding = plan(history, count, budget, policy, price)
    kind = f"{history.agent} as {history.format.name}" if history.agent else history.format.name
    lines = words.header(name, kind, len(history.messages), folding)
    lines += [*left_out, *words.summary(folding)]
    _answer(call, target, history.dump(folding.view), lines, shape(history, folding))


def _check_usage(
    file: str,
    target: str | None,
    error: str | None,
    summarizer: str | None,
    *,
    condense: bool,
    budget: int | None,
) -> None:
    """UsageError, FileMissing or HistoryError for options that do not go together."""
    if condense and error is not None:
        raise click.UsageError("--condense or --recover, not both: --recover also sums up.")
    if file == error == "-":
        raise click.UsageError("Stdin holds the history or the error, not both.")
    if file != "-" and not os.path.exists(file):
        raise FileMissing(
            file, f"There is no file {file}.", "Look at the path, or use - for stdin."
        )
    if budget is None and not condense and error is None:
        raise click.UsageError("Missing option '--budget'.")
    if summarizer is not None and not condense and error is None:
        raise click.UsageError("--summarizer needs --condense or --recover.")
    if target and file != "-" and os.path.exists(target) and os.path.samefile(file, target):
        raise HistoryError(  # the texts that are folded would be lost
            f"{target} is the history itself, and was not overwritten.",
            "Name another file with --output.",
        )


def _answer(call: Call, target: str | None, view: str, lines: list[str], shape: Shape) -> None:
    """Write the view to the file of --output, where one is named, and print the answer."""
    if target is not None:
        _write(target, view)
    if call.json:
        output.json(shape)
        return
    output.text("\n".join(lines))
    if target is not None:
        output.note(call, f"Wrote {target}.")


class Smaller(Struct):
    """A smaller history. lines, shape: for people and for programs."""

    messages: list[Any]
    lines: list[str]
    shape: Shape


def _recovered(
    call: Call,
    history: History,
    model: str | None,
    budget: int | None,
    error: str | None,
    summarizer: str | None,
) -> Smaller:
    """Sum up a history, or recover it from an error, in a session that ends with the command.
    CondenseRefused, WindowFull, RecoveryRefused; SightlineError without the extra `agent`."""
    summarize = None if summarizer is None else model_summarizer(summarizer)
    with open_session(call.root, store="memory:", id="window") as session:
        session.turn(model=model or MODELS.get(history.format.name) or UNKNOWN_MODEL)
        conversation = session.conversation
        with output.progress(call, "Reading the messages"):
            for number, message in enumerate(history.messages):
                try:
                    conversation.append(message)
                except ValueError as unfit:
                    raise HistoryError(
                        f"Message {number} of the history cannot be read: {unfit}",
                        "Repair the history in the program that writes it. Nothing was changed.",
                    ) from unfit
        if error is not None:
            recovery = conversation.recover(_error(error), summarizer=summarize, limit=budget)
            return Smaller(recovery.messages, *_of_recovery(recovery))
        made = conversation.condense(summarize, target=budget, outlines=True)
        view = conversation.view(10**9)
        if made is None:
            lines = ["There is nothing to sum up: all of it is among the newest 20,000 tokens."]
            return Smaller(view, lines, {"condensed": False, "messages": len(view)})
        lines = [f"Summed up: {made.after:,} tokens left of {made.before:,}.", "", made.summary]
        shown = fields(made, "summary", "before", "after")
        return Smaller(view, lines, {"condensed": True, **shown, "messages": len(view)})


def _error(error: str) -> Any:
    """Return the error in a file, on stdin or in the option itself: parsed, where it is JSON."""
    text = text_in(error) if error == "-" or os.path.isfile(error) else error
    return parse_object(text) or text


def _of_recovery(recovery: Recovery) -> tuple[list[str], Shape]:
    told = recovery.error
    unit = "bytes" if told.kind == "payload_bytes" else "tokens"
    numbers = [
        f"{value:,} {what}"
        for value, what in ((told.used, f"{unit} sent"), (told.limit, "at most"))
        if value is not None
    ]
    named = f" ({', '.join(numbers)})" if numbers else ""
    lines = [f"The error is: {told.kind}{named}."]
    lines += [f"{step.stage}: {step.before:,} to {step.after:,} {unit}. {step.told}" for step in recovery.steps]  # fmt: skip
    lines.append(
        f"{len(recovery.messages)} messages to send, about {recovery.after:,} {unit} of"
        f" {recovery.before:,}; the target was {recovery.target:,}."
    )
    steps = [fields(step, "stage", "before", "after", "told") for step in recovery.steps]
    shown = {
        "provider_error": fields(told, "kind", "used", "limit"),
        **fields(recovery, "attempt", "before", "after", "target"),
        "steps": steps,
        "messages": len(recovery.messages),
    }
    return lines, shown


def _history(file: str, name: str) -> History:
    """Return the messages in a file or on stdin."""
    if file != "-":
        return read_messages(file, name)
    with NamedTemporaryFile(prefix="sightline-") as copy:
        copy.write(text_in(file).encode("utf-8", "surrogateescape"))
        copy.flush()
        return read_messages(copy.name, name)


def shape(history: History, folding: Plan) -> Shape:
    """Return a plan as JSON."""
    return {
        "format": history.format.name,
        "agent": history.agent or None,
        "messages": len(history.messages),
        **_set_aside(history),
        "counted_by": folding.counter,
        **fields(folding, "margin", "budget", "policy", "price"),
        "tokens_before": folding.before,
        "tokens_after": folding.after,
        "pays_after": folding.pays_after,
        "fits": folding.after <= folding.budget,
        "folds": [
            {
                "message": fold.message,
                **fields(fold.block, "part", "kind", "tool", "paths"),
                **fields(fold, "tier", "tokens", "stub_tokens", "stub"),
            }
            for fold in folding.folds
        ],
        **fields(folding, "dropped", "tails"),
    }


def _set_aside(history: History) -> Shape:
    """Return the lines and messages of a history that are left out, for programs."""
    return {"set_aside": list(history.set_aside)}


def _write(path: str, text: str) -> None:
    """Write the messages; a new file is for its owner alone."""

    def private(path: str, flags: int) -> int:
        return os.open(path, flags, 0o600)

    try:
        with open(path, "wb", opener=private) as file:
            file.write(text.encode("utf-8", "surrogatepass"))
    except OSError as error:
        raise HistoryError(
            f"The messages cannot be written to {quoted(path)}: {error.strerror or error}.",
            "Name a file in a folder that is there.",
        ) from error
