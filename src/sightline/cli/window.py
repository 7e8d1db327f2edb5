"""The command window: plan what would be folded out of a history."""

from __future__ import annotations

import os
from tempfile import NamedTemporaryFile

import click

from sightline.agents.readers import read_messages
from sightline.api.json_shapes import Shape, fields
from sightline.cli import completion, output
from sightline.cli.failures import NO, Answered, report
from sightline.cli.input import text_in
from sightline.cli.options import command, number_from
from sightline.cli.output import Call
from sightline.conversation.token_counter import counter
from sightline.conversation.window import words
from sightline.conversation.window.folding_plan import Plan, plan
from sightline.conversation.window.history_reader import History
from sightline.errors import FileMissing, HistoryError
from sightline.model.path import quoted

MODELS = {"anthropic": "claude"}
"""Format -> the model whose tokens are counted, where none is named."""


@command(example="window history.json --budget 9000")
@click.argument("file", metavar="FILE")
@click.option("--budget", type=number_from(1), required=True, metavar="N", help="The largest number of tokens for the messages.")  # fmt: skip
@click.option("--policy", default="default", metavar="P", shell_complete=completion.one_of(("default", "careful", "none")), help="The folding policy: default, careful or none. Default: default.")  # fmt: skip
@click.option("--price", default="0.10/1.25", metavar="P", help="Prices of cache reads and writes, relative to an uncached token: 0.10/1.25 (default), 0.05/1.25, 0.02/1, none.")  # fmt: skip
@click.option("--model", metavar="M", help="Count tokens as this model does.")
@click.option("--output", "target", metavar="FILE", help="Write the messages as they would be sent.")  # fmt: skip
def window(
    call: Call,
    file: str,
    budget: int,
    policy: str,
    price: str,
    model: str | None,
    target: str | None,
) -> None:
    """Show what would be folded out of a conversation, and why.

    FILE holds the messages as a program sends them to a model (Anthropic, Chat Completions,
    Responses, Gemini, LangChain, Pydantic AI): a JSON array, an object such as {"messages": [...]},
    or one message on each line; - is stdin. It may be a session that an agent recorded, as 'replay'
    takes them. FILE is not changed, and nothing is sent anywhere.
    Exit code 1: there is no history in FILE, or one that a provider would refuse.
    """
    name = "stdin" if file == "-" else file
    if file != "-" and not os.path.exists(file):
        raise FileMissing(
            file, f"There is no file {file}.", "Look at the path, or use - for stdin."
        )
    if target and file != "-" and os.path.exists(target) and os.path.samefile(file, target):
        raise HistoryError(  # the texts that are folded would be lost
            f"{target} is the history itself: its view was not written over it.",
            "Name another file with --output.",
        )
    history = _history(file, name)
    if problems := history.problems():
        report(call, "malformed_history", *words.refusal(name, problems))
        raise Answered(NO)
    count = counter(model or MODELS.get(history.format.name))
    with output.progress(call, "Reading the messages"):
        folding = plan(history, count, budget, policy, price)
    if target is not None:
        _write(target, history.dump(folding.view))
    if call.json:
        output.json(shape(history, folding))
        return
    kind = f"{history.agent} as {history.format.name}" if history.agent else history.format.name
    lines = words.header(name, kind, len(history.messages), folding)
    lines += [f"Left out: {each}." for each in history.set_aside]
    output.text("\n".join([*lines, *words.summary(folding)]))
    if target is not None:
        output.note(call, f"Wrote {target}.")


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
        "set_aside": list(history.set_aside),
        "counted_by": folding.counter,
        **fields(folding, "margin", "budget", "policy", "price"),
        "tokens_before": folding.before,
        "tokens_after": folding.after,
        "minimum_clear": folding.minimum,
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
