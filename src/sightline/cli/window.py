"""The command window: what would be folded out of a history now."""

from __future__ import annotations

import os
from typing import Any

import click

from sightline.cli import output
from sightline.cli.failures import NO, Answered
from sightline.cli.options import verb
from sightline.cli.output import Call
from sightline.cli.replay_request import order
from sightline.cli.text_input import text_in
from sightline.conversation.token_counter import counter
from sightline.conversation.window import words
from sightline.conversation.window.folding_plan import Plan, plan
from sightline.conversation.window.history_reader import History, from_recording, read_history
from sightline.errors import FileMissing, HistoryError
from sightline.replay.played import Unread
from sightline.replay.recording_reader import read as read_recording

MODELS = {"anthropic": "claude"}
"""Format -> the model whose tokens are counted, where none is named."""


@verb()
@click.argument("file", metavar="FILE")
@click.option("--budget", type=click.IntRange(1), required=True, metavar="N", help="Tokens that all of it is to fit into.")  # fmt: skip
@click.option("--policy", default="default", metavar="P", help="By whose rules, as in 'sightline replay'. Default: default.")  # fmt: skip
@click.option("--price", default="0.10/1.25", metavar="P", help="Of reading and writing the prompt cache, as parts of the price of a token: 0.10/1.25 (default), 0.05/1.25, 0.02/1, none.")  # fmt: skip
@click.option("--model", metavar="M", help="Count tokens as this model does.")
@click.option("--output", "target", metavar="FILE", help="Write the messages as they would be sent.")  # fmt: skip
@click.pass_obj
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
    if target is not None and file != "-":
        _check_apart(file, target)
    history = _history(file, name)
    _refuse_broken(call, name, history)
    count = counter(model or MODELS.get(history.format.name))
    with output.progress(call, "Reading the messages"):
        made = plan(history, count, budget, policy, price)
    if target is not None:
        _write(target, history.dump(made.view))
    _print(call, name, history, made, target)


def _check_apart(file: str, target: str) -> None:
    """HistoryError where the view would be written over the history: what is folded would be lost."""
    if os.path.exists(target) and os.path.samefile(file, target):
        raise HistoryError(
            f"{target} is the history itself: its view was not written over it.",
            "Name another file with --output.",
        )


def _history(file: str, name: str) -> History:
    """The messages in a file, or those of a session that a product recorded there."""
    try:
        return read_history(text_in(file), name)
    except HistoryError:
        told = Unread(file, "stdin") if file == "-" else read_recording(order().readers, file)
        if isinstance(told, Unread) or not told.messages:
            raise
        return from_recording(told)


def _refuse_broken(call: Call, name: str, history: History) -> None:
    """What a provider would refuse is listed, and nothing is planned on it."""
    problems = history.problems()
    if not problems:
        return

    output.say("\n".join(words.refusal(name, problems)))
    output.say("Hint: mend it where it is written. Nothing was changed.")
    if call.json:
        told = [{"message": each.message, "why": each.why} for each in problems]
        error = {"kind": "malformed_history", "message": f"{name} would be refused.", "hint": ""}
        output.json({"error": error, "problems": told})
    raise Answered(NO)


def _print(call: Call, name: str, history: History, made: Plan, target: str | None) -> None:
    if call.json:
        output.json(shape(history, made))
        return
    lines = words.header(name, history.format.name, len(history.messages), made)
    output.text("\n".join([*lines, *words.summary(made)]))
    if target is not None:
        output.note(call, f"Wrote {target}.")


def shape(history: History, made: Plan) -> dict[str, Any]:
    """A plan as JSON."""
    return {
        "format": history.format.name,
        "messages": len(history.messages),
        "counted_by": made.counter,
        "margin": made.margin,
        "budget": made.budget,
        "policy": made.policy,
        "price": made.price,
        "tokens_before": made.before,
        "tokens_after": made.after,
        "minimum_clear": made.minimum,
        "fits": made.after <= made.budget,
        "folds": [
            {
                "message": fold.message,
                "part": fold.block.part,
                "kind": fold.block.kind,
                "tool": fold.block.tool,
                "paths": list(fold.block.paths),
                "tier": fold.tier,
                "tokens": fold.tokens,
                "stub_tokens": fold.stub_tokens,
                "stub": fold.stub,
            }
            for fold in made.folds
        ],
        "dropped": list(made.dropped),
        "tails": list(made.tails),
    }


def _write(path: str, text: str) -> None:
    """What was said is nobody else's: a file that was not there is for its owner alone."""
    try:
        with open(path, "wb", opener=_private) as file:
            file.write(text.encode("utf-8", "surrogatepass"))
    except OSError as error:
        raise HistoryError(
            f"The messages cannot be written to {path}: {error.strerror or error}.",
            "Name a file in a folder that is there.",
        ) from error


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
