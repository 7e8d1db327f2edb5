"""The agent: a planning pass, a briefing, one structured answer, one application; then the next turn.

The agent keeps nothing. The session holds the conversation, the to-dos, the texts that the model was shown,
and the checkpoints. So another process can go on where this one ended, however it ended."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

from msgspec import Struct, structs
from pydantic_ai.models import Model

import sightline
from sightline.answers.json_schema import PLAN_FILE, strict_schema
from sightline.model.embedded_json import TEXT_MAX
from sightline.model.path import quoted
from sightline.reference_agent.model_client import (
    Message,
    ModelClient,
    Reply,
    Show,
    Usage,
    by_program,
    user_message,
)

ROUNDS = 8
"""Answers of the model in one turn: one is usual, further ones mend a refusal or follow a request."""

TURNS = 12
"""Turns in which one goal is pursued."""

ROOM = 0.8
"""Part of the model's window that the messages may fill; the system text and the answer need the rest."""

SUMMARIZER = "You sum up the work of a coding agent."

RECOVERABLE = ("overflow", "overflow_output", "malformed_history")
"""Kinds of errors against which another view of the conversation helps."""

State = Literal["done", "open", "asking", "declined", "stopped"]
"""done: no to-do is open; open: the next turn can go on; asking: the user has to answer a question; declined:
the user did not agree to the changes; stopped: the turns, or the answers of a turn, are used up."""

Approve = Callable[[sightline.AnswerResult], bool]
"""Takes the preview of an answer, and returns whether it may be applied."""


class AgentResult(Struct, frozen=True):
    """The result of one turn or of a whole run. answers: the structured answers, each with what became of its
    changes; plans: the results of the planning passes; usage: of all requests."""

    state: State
    answers: tuple[sightline.AnswerResult, ...]
    plans: tuple[sightline.AnswerResult, ...]
    usage: Usage
    turns: int = 1

    @property
    def last(self) -> sightline.Answer:
        """The last answer, with the sub-tasks, commands and next steps that it proposes."""
        return self.answers[-1].answer if self.answers else sightline.Answer()

    @property
    def summary(self) -> str:
        """The model's own last words on its work."""
        return next((e.answer.summary for e in reversed(self.answers) if e.answer.summary), "")

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of the files that changed."""
        changes = (change for each in self.answers for change in each.changes)
        return tuple(dict.fromkeys(each.path for each in changes if each.state == "applied"))

    @property
    def open_todos(self) -> tuple[str, ...]:
        """The texts of the to-dos that are open."""
        return _open(self.answers[-1]) if self.answers else ()

    @property
    def question(self) -> str:
        """The question to the user, in the state "asking"; else ""."""
        return _question_of([*self.plans, *self.answers][-1]) if self.state == "asking" else ""


class Agent:
    """An agent in one session. model, planner: names or models of Pydantic AI; the planner asks for files and
    may be a cheaper model. approve: asked before anything is written. show: takes the text of answers as it
    comes, and "" before each answer. note: takes a line about each step. window: tokens of the model's window,
    where Pydantic AI does not know them. ModelFailed, PromptError."""

    def __init__(
        self,
        session: sightline.Session,
        model: Model | str,
        *,
        approve: Approve,
        planner: Model | str | None = None,
        show: Show = lambda _: None,
        note: Show = lambda _: None,
        window: int | None = None,
    ) -> None:
        self._session = session
        self._model = ModelClient(model, strict_schema())
        self._planner = ModelClient(planner or model, strict_schema(PLAN_FILE))
        self._summarizer = ModelClient(planner or model)
        self._approve = approve
        self._show, self._note = show, note
        self._window = window or self._model.window
        prompts = session.prompts()
        self._system, self._planning = prompts.render("system"), prompts.render("planning")
        self._prefix = len(self._system) // 4  # tokens, about
        for line in prompts.remarks:
            note(line)

    def turn(self, message: str) -> AgentResult:
        """Take a message of the user, and work until the model needs nothing more. ModelFailed, and WindowFull
        where the messages cannot be made to fit."""
        self._session.turn(model=self._model.name, provider=self._model.provider)
        self._usage = Usage()
        self._append(message)  # before the first request: Ctrl-C does not lose it
        plan = self._plan(message)
        self._brief(message)
        answers: list[sightline.AnswerResult] = []
        state: State = "asking" if plan and _question_of(plan) else "stopped"
        for _ in range(ROUNDS if state == "stopped" else 0):
            result = self._apply(self._ask())
            if result is None:
                continue
            answers.append(result)
            if result.mode == "preview":
                state = "declined"
            elif _question_of(result):
                state = "asking"
            elif not _wants_more(result):
                state = "open" if _open(result) else "done"
            if state != "stopped":
                break
        return AgentResult(state, tuple(answers), (plan,) if plan else (), self._usage)

    def _plan(self, message: str) -> sightline.AnswerResult | None:
        """Ask the planner which files and folders the task needs. The next briefing brings them."""
        session = self._session
        listing = session.list_directory(recursive=True)
        entries = [f"{quoted(e.path)}{'/' * (e.kind == 'folder')}" for e in listing.entries]
        entries += [] if listing.complete else ["and more: ask for listings of folders"]
        known = [f"{quoted(file.path)}: {file.state}" for file in session.files()] or ["none"]
        lines = ["Files and folders:", *entries, "", "Files that you know:", *known]
        briefing = session.briefing(message)  # asking consumes nothing: the main pass gets it, too
        asked = user_message(message, by_program("\n".join(lines)), by_program(briefing.text))
        reply = self._planner.ask(self._planning, [asked], lambda _: None)
        self._usage += reply.usage
        try:
            plan = sightline.read_plan(reply.text)
            if not (plan.file_requests or plan.directory_requests):
                return None
            result = session.answer(plan)
        except sightline.AnswerInvalid as error:
            self._note(f"The plan cannot be used, and the work begins without it: {error.message}")
            return None
        for found in result.files:
            name = found.request.name or found.request.patterns[0]
            self._note(f"Looked for {name}: {', '.join(found.matches) or 'no file matches'}")
        return result

    def _summary(self, text: str, /) -> str:
        reply = self._summarizer.ask(SUMMARIZER, [user_message(text)], lambda _: None)
        self._usage += reply.usage
        return reply.text

    def _ask(self) -> str:
        """Return the model's answer to the conversation, and append it. A request that is too long is made
        smaller, and sent again."""
        conversation = self._session.conversation
        messages = self._view()
        while True:
            self._show("")
            try:
                reply = self._model.ask(self._system, messages, self._show)
            except sightline.ModelFailed as failed:
                problem: object = failed.__cause__
                if sightline.classify_error(problem).kind not in RECOVERABLE:
                    raise
            else:
                self._usage += reply.usage
                problem = self._silent_overflow(reply)
                if problem is None:
                    if 0 < len(reply.text) <= TEXT_MAX:  # a longer one is refused by its length
                        conversation.append(reply.message)
                    return reply.text
            messages = self._recover(problem)

    def _view(self) -> list[Message]:
        """Return the messages to send. Old content is folded when the window has no room."""
        hard = None if self._window is None else int(self._window * ROOM)
        budget = sightline.Budget(hard=hard, prefix=self._prefix)
        try:
            return self._session.conversation.view(budget)
        except sightline.WindowFull as full:
            return self._recover(full)

    def _silent_overflow(self, reply: Reply) -> object:
        """Record the provider's count of tokens. Return the overflow of a provider that read only a part of
        the request and did not say so; None without one. A model whose answer is whole read it all."""
        session, used = self._session, reply.usage.input_tokens
        if not used:
            return None
        size = session.conversation.record_usage(used, limit=self._window, prefix=self._prefix)
        with suppress(sightline.AnswerInvalid):
            if size.problem and not session.answer(reply.text, apply="preview").is_cut:
                return None
        return size.problem

    def _recover(self, problem: object) -> list[Message]:
        recovery = self._session.conversation.recover(
            problem,
            summarizer=self._summary,
            limit=self._window,
            prefix=self._prefix,
        )
        self._note(f"The request was too long: {recovery.before:,} tokens, now {recovery.after:,}.")
        for step in recovery.steps:
            self._note(step.told)
        return recovery.messages

    def _apply(self, text: str) -> sightline.AnswerResult | None:
        """Apply an answer if the user agrees, and append the result for the model. Return the preview where the
        user does not agree, and None for an answer that cannot be read."""
        session = self._session
        try:
            preview = session.answer(text, apply="preview")
        except sightline.AnswerInvalid as error:
            self._note(f"The answer cannot be read: {error.message}")
            self._append(by_program(f"Nothing of your answer was applied.\n{error}\nAnswer again."))
            return None
        if preview.changes and not preview.refused and not self._approve(preview):
            self._append(by_program("The user did not agree. Nothing of your answer was applied."))
            return preview
        result = session.answer(text)
        self._append(by_program(str(result)))
        session.acknowledge(result)
        if result.text:
            self._note(result.text)
        if _wants_more(result):
            self._brief("")
        return result

    def _brief(self, message: str) -> None:
        """Append the briefing for a message. What it shows counts as seen from then on."""
        briefing = self._session.briefing(message)
        self._append(by_program(briefing.text))
        self._session.acknowledge(briefing)

    def _append(self, text: str) -> None:
        if text:
            self._session.conversation.append(user_message(text))


def run(
    session: sightline.Session,
    goal: str,
    *,
    model: Model | str,
    approve: Approve,
    turns: int = TURNS,
    **more: Any,
) -> AgentResult:
    """Pursue one goal in one session to its end. After the first turn the agent goes on by itself while to-dos
    are open, until a turn changes no file and no to-do. turns: the most; more: further arguments of Agent.
    Blocks: an async host calls it in a thread, with a name as model: a model belongs to one event loop."""
    agent = Agent(session, model, approve=approve, **more)
    result = agent.turn(goal)
    while result.state == "open":
        if result.turns >= turns:
            return structs.replace(result, state="stopped")
        last = agent.turn("continue")
        is_stuck = last.state == "open" and not last.files and last.open_todos == result.open_todos
        result = AgentResult(
            "stopped" if is_stuck else last.state,
            result.answers + last.answers,
            result.plans + last.plans,
            result.usage + last.usage,
            result.turns + 1,
        )
    return result


def _wants_more(result: sightline.AnswerResult) -> bool:
    """Return whether the model has to answer again: after a refusal, for files that it asked for, and after
    an answer that ended early."""
    asks = result.answer
    return bool(result.refused or result.is_cut or asks.file_requests or asks.directory_requests)


def _open(result: sightline.AnswerResult) -> tuple[str, ...]:
    return tuple(todo.text for todo in result.todos if todo.state in ("proposed", "in_progress"))


def _question_of(result: sightline.AnswerResult) -> str:
    """Return a question to the user: where is a file without which the work cannot go on?"""
    return "\n".join(each.question for each in result.files if each.fallback == "ask_user")
