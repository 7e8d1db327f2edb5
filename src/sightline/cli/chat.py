"""Commands of the reference agent: chat, agent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from sightline.answers.answer import AnswerResult
from sightline.api.json_shapes import fields
from sightline.api.opening import open_session
from sightline.api.session import Session
from sightline.cli import output
from sightline.cli.answering import show_answer, summary_printer
from sightline.cli.failures import INTERRUPTED, NO, Answered
from sightline.cli.options import command, number_from
from sightline.cli.output import Call
from sightline.errors import SightlineError
from sightline.text import phrases, printable
from sightline.window.model_summarizer import needing_pydantic_ai

NAME = "sightline-agent"
"""The agent's name on the timeline."""


def model_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of both commands."""
    for option in (
        click.option("--yes", is_flag=True, help="Apply every answer without asking."),
        click.option("--window", type=number_from(1), metavar="N", help="Tokens of the model's context window, if they are not known."),
        click.option("--planner", metavar="MODEL", help="A cheaper model that says which files are needed."),
        click.option("--model", metavar="MODEL", required=True, envvar="SIGHTLINE_MODEL", help="The model, such as openai:gpt-5. Default: $SIGHTLINE_MODEL."),
    ):  # fmt: skip
        function = option(function)
    return function


@command(example='agent --model openai:gpt-5 "Rename total to sum_of"')
@click.argument("goal")
@model_options
def agent(call: Call, *, goal: str, **options: Any) -> None:
    """Let a model do a task, and apply its changes of files.

    The changes are shown, and applied if you agree. Ctrl-C stops at any time; the goal "continue"
    goes on in the same --session. Exit code 1: the goal was not reached.
    """
    with _opened(call, options) as (reference_agent, session):
        try:
            result = reference_agent.run(session, goal, **_parts(call, options))
        except KeyboardInterrupt:
            again = f"agent continue --model {options['model']}{call.options_for(session.id)}"
            output.say(f"\nStopped. To go on: sightline {again}")
            raise Answered(INTERRUPTED) from None
        _finish(call, session, result)
    if result.state != "done":
        raise Answered(NO)


@command(example="chat --model openai:gpt-5")
@model_options
def chat(call: Call, **options: Any) -> None:
    """Talk with a model that changes files of the workspace.

    The changes are shown, and applied if you agree. "continue" goes on with open to-dos, also after a restart
    in the same --session. Ctrl-C stops an answer; Ctrl-D ends the chat.
    """
    if call.json:
        raise click.UsageError("A chat is for people. Use 'sightline agent' with --json.")
    with _opened(call, options) as (reference_agent, session):
        talker = reference_agent.Agent(session, **_parts(call, options))
        while (message := _next_message()) is not None:
            try:
                if message.strip():
                    _finish(call, session, talker.turn(message))
            except KeyboardInterrupt:
                output.say("\nStopped. To go on, type: continue")
            except SightlineError as error:
                output.failure(call, error.message, error.next_step)
        again = f"chat --model {options['model']}{call.options_for(session.id)}"
        output.note(call, f"To go on: sightline {again}")


@contextmanager
def _opened(call: Call, options: Mapping[str, Any]) -> Iterator[tuple[Any, Session]]:
    """Return the agent's module, and the session that the user named, or a new one. UsageError where
    nobody can be asked; SightlineError without Pydantic AI."""
    if not options["yes"] and (call.json or not output.can_ask()):
        raise click.UsageError("The command has to ask, and stdin is no terminal. Pass --yes.")
    more: Any = {"store": call.store, "settings": call.settings, "approve": output.approver(call)}
    with open_session(call.root, id=call.named_session, agent=NAME, **more) as session:
        with needing_pydantic_ai():  # of the extra `agent`
            from sightline.reference_agent import agent as reference_agent
        output.note(call, f"Session {session.id}")
        yield reference_agent, session


def _parts(call: Call, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the agent: its models, and functions that show and ask."""

    def approve(preview: AnswerResult) -> bool:
        if not call.json:
            show_answer(call, preview)
        return options["yes"] or output.confirmed("Apply this?")

    return {
        **{name: options[name] for name in ("model", "planner", "window")},
        "approve": approve,
        "show": (lambda _: None) if call.json else summary_printer(),
        "note": lambda line: output.note(call, printable.printable(line)),
    }


def _next_message() -> str | None:
    """Return the user's next message; None at the end."""
    try:
        return str(click.prompt("you", "", prompt_suffix="> ", show_default=False, err=True))
    except click.Abort:
        output.say("")
        return None


def _finish(call: Call, session: Session, result: Any) -> None:
    """Print the end of a turn or of a run."""
    last, usage = result.last, result.usage
    if call.json:
        shown = fields(result, "state", "summary", "files", "question", "open_todos", "turns")
        shown |= fields(last, "next_steps", "commands", "sub_tasks")
        spent = fields(usage, "requests", "input_tokens", "output_tokens", "unpriced")
        output.json({"session": session.id, **shown, **spent, "cost": str(usage.cost)})
        return
    for heading, lines in (
        ("Question:", [result.question] if result.question else []),
        ("To do:", result.open_todos),
        ("Commands to run yourself:", [each.command for each in last.commands]),
        ("Proposed sub-tasks:", [f"{each.id}: {each.goal}" for each in last.sub_tasks]),
        ("Next:", [each.html for each in last.next_steps]),
    ):
        if lines:
            output.text("\n".join([heading, *(f"- {printable.printable(line)}" for line in lines)]))
    checkpoint = next((each.checkpoint for each in result.answers if each.checkpoint), None)
    if checkpoint is not None:
        back = f"rewind {checkpoint}{call.options_for(session.id)}"
        output.note(call, f"To take this back: sightline {back}")
    price = f"${usage.cost:.4f}" if not usage.unpriced else "cost not known"
    tokens = f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"
    ended = f"{result.state.capitalize()} after {phrases.count(usage.requests, 'request')}"
    output.note(call, f"{ended}, {tokens}, {price}.")
