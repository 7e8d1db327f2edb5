"""The agent: a planning pass, a briefing, one structured answer, one application; then the next turn.

The agent keeps nothing. The session holds the conversation, the to-dos, the texts that the model was shown,
and the checkpoints. So another process can go on where this one ended, however it ended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct, structs
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.models import Model

import sightline
from sightline.reference_agent.model_client import (
    Message,
    ModelClient,
    Reply,
    Show,
    Usage,
    by_program,
    failure,
    user_message,
)

NAME = "sightline-agent"
"""The agent's name on the timeline."""

ROUNDS = 8
"""Answers of the model in one turn: one is usual, further ones mend a refusal or follow a request."""

TURNS = 12
"""Turns in which one goal is pursued."""

ROOM = 0.8
"""Part of the model's window that the messages may fill; the system text and the answer need the rest."""

RECOVERABLE = ("overflow", "overflow_output", "malformed_history")
"""Kinds of errors against which another view of the conversation helps."""

State = Literal["done", "open", "asking", "declined", "stopped"]
"""done: no to-do is open; open: the next turn can go on; asking: the user has to answer a question; declined:
the user did not agree to the changes; stopped: the turns, or the answers of a turn, are used up."""

Approve = Callable[[sightline.AnswerResult], bool]
"""Takes the preview of an answer, and returns whether it may be applied."""


class AgentResult(Struct, frozen=True):
    """The result of one turn or of a whole run. answers: the structured answers with what became of each;
    plans: the results of the planning passes; question: for the user; usage: of all requests."""

    state: State
    answers: tuple[sightline.AnswerResult, ...] = ()
    plans: tuple[sightline.AnswerResult, ...] = ()
    question: str = ""
    usage: Usage = Usage()
    turns: int = 1

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
    def last(self) -> sightline.Answer:
        """The last answer, with the sub-tasks, commands and next steps that it proposes."""
        return self.answers[-1].answer if self.answers else sightline.Answer()

    @property
    def open_todos(self) -> tuple[str, ...]:
        """The texts of the to-dos that are open."""
        todos = self.answers[-1].todos if self.answers else ()
        return tuple(todo.text for todo in todos if todo.state in ("proposed", "in_progress"))


class Agent:
    """An agent in one session. model, planner: names or models of Pydantic AI; the planner asks for files and
    may be a cheaper model. approve: asked before anything is written. show: takes the text of answers as it
    comes, and "" before each answer. note: takes a line about each step. window: tokens of the model's window, where Pydantic AI does
    not know them. ModelFailed, PromptError."""

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
        self._model = ModelClient(model)
        self._planner = self._model if planner is None else ModelClient(planner)
        self._approve = approve
        self._show, self._note = show, note
        self._window = window or self._model.window
        prompts = session.prompts()
        self._system, self._planning = prompts.render("system"), prompts.render("planning")
        self._prefix = len(self._system) // 4  # tokens, about
        self._usage = Usage()
        for each in prompts.replaced:
            note(f"This workspace's own prompt is used: {each.file}")
        for file in prompts.unused:
            note(f"This workspace's own prompt is not used: {file} ('sightline prompts' says more)")

    def turn(self, message: str) -> AgentResult:
        """Take a message of the user, and work until the model needs nothing more. ModelFailed, and
        WindowFull where the messages cannot be made to fit."""
        self._session.turn(model=self._model.name, provider=self._model.provider)
        self._usage = Usage()
        plans = self._plan(message)
        self._tell(message)
        answers: list[sightline.AnswerResult] = []
        question = _question_of(plans)
        for _ in range(0 if question else ROUNDS):
            result = self._apply(self._ask())
            if result is None:
                continue
            answers.append(result)
            question = _question_of([result])
            if result.mode == "preview":
                return self._result("declined", answers, plans)
            if question or not _wants_more(result):
                break
        else:
            return self._result("asking" if question else "stopped", answers, plans, question)
        return self._result("asking" if question else "done", answers, plans, question)

    # --- the two passes

    def _plan(self, message: str) -> list[sightline.AnswerResult]:
        """Ask the planner which files and folders the task needs. The next briefing brings them."""
        session = self._session
        listing = session.list_directory(recursive=True)
        entries = [f"{e.path}/" if e.kind == "folder" else e.path for e in listing.entries]
        more = [] if listing.complete else ["and more: ask for listings of folders"]
        known = [f"{file.path}: {file.state}" for file in session.files()] or ["none"]
        lines = ["Files and folders:", *entries, *more, "", "Files that you know:", *known]
        briefing = session.briefing(message)  # asking consumes nothing: the main pass gets it, too
        asked = user_message(message, by_program("\n".join(lines)), by_program(briefing.text))
        text = self._ask_planner(self._planning, asked)
        try:
            plan = sightline.read_plan(text)
        except sightline.AnswerInvalid as error:
            self._note(f"The plan cannot be read, and the work begins without it: {error.message}")
            return []
        if not (plan.file_requests or plan.directory_requests):
            return []
        result = session.answer(plan)
        for found in result.files:
            name = found.request.name or found.request.patterns[0]
            self._note(f"Looked for {name}: {', '.join(found.matches) or 'no file matches'}")
        return [result]

    def _ask_planner(self, system: str, message: Message) -> str:
        try:
            reply = self._planner.ask(system, [message], lambda _: None)
        except AgentRunError as error:
            raise failure(error) from error
        self._usage += reply.usage
        return reply.text

    def _ask(self) -> str:
        """Return the model's answer to the conversation, and append it. A request that is too long is made
        smaller, and sent again."""
        conversation = self._session.conversation
        messages = self._view()
        while True:
            problem: object
            self._show("")
            try:
                reply = self._model.ask(self._system, messages, self._show)
            except AgentRunError as error:
                if sightline.classify_error(error).kind not in RECOVERABLE:
                    raise failure(error) from error
                problem = error
            else:
                self._usage += reply.usage
                problem = self._unreported_overflow(reply)
                if problem is None:
                    if reply.text:
                        conversation.append(reply.message)
                    return reply.text
            messages = self._recover(problem)

    def _view(self) -> list[Message]:
        """Return the messages to send, folded where the window is too small for all of them."""
        hard = None if self._window is None else int(self._window * ROOM)
        budget = sightline.Budget(hard=hard, prefix=self._prefix)
        try:
            return self._session.conversation.view(budget)
        except sightline.WindowFull as full:
            return self._recover(full)

    def _unreported_overflow(self, reply: Reply) -> object:
        """Record the provider's count of tokens. Return the overflow of a provider that read only a part of
        the request and did not say so; None without one."""
        if not reply.usage.input_tokens:
            return None
        size = self._session.conversation.record_usage(
            reply.usage.input_tokens, limit=self._window, prefix=self._prefix
        )
        return size.problem

    def _recover(self, problem: object) -> list[Message]:
        recovery = self._session.conversation.recover(
            problem, summarizer=self._summarize, limit=self._window, prefix=self._prefix
        )
        self._note(f"The request was too long: {recovery.before:,} tokens, now {recovery.after:,}.")
        for step in recovery.steps:
            self._note(step.told)
        return recovery.messages

    def _summarize(self, request: str, /) -> str:
        return self._ask_planner("You sum up the work of a coding agent.", user_message(request))

    # --- from answer to work

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
        may_be_applied = any(change.state == "allowed" for change in preview.changes)
        if may_be_applied and not self._approve(preview):
            self._append(by_program("The user did not agree. Nothing of your answer was applied."))
            return preview
        result = session.answer(text)
        self._append(by_program(str(result)))
        session.acknowledge(result)
        for change in result.changes:
            why = f": {change.refusal.message}" if change.refusal else ""
            self._note(f"{change.path} {change.state}{why}")
        if _wants_more(result):
            self._tell()
        return result

    def _tell(self, message: str = "") -> None:
        """Append the user's message and the briefing. What the briefing shows counts as seen from then on."""
        briefing = self._session.briefing(message)
        self._append(message, by_program(briefing.text))
        self._session.acknowledge(briefing)

    def _append(self, *texts: str) -> None:
        if any(texts):
            self._session.conversation.append(user_message(*texts))

    def _result(
        self,
        state: State,
        answers: list[sightline.AnswerResult],
        plans: list[sightline.AnswerResult],
        question: str = "",
    ) -> AgentResult:
        result = AgentResult(state, tuple(answers), tuple(plans), question, self._usage)
        is_open = state == "done" and bool(result.open_todos)
        return structs.replace(result, state="open") if is_open else result


def run(
    session: sightline.Session,
    goal: str,
    *,
    model: Model | str,
    approve: Approve,
    planner: Model | str | None = None,
    show: Show = lambda _: None,
    note: Show = lambda _: None,
    window: int | None = None,
    turns: int = TURNS,
) -> AgentResult:
    """Pursue one goal in one session to its end, and return the result of all turns.

    After the first turn the agent goes on by itself while to-dos are open. It stops when a turn changed no file
    and no to-do. turns: the most; the others as for Agent. Blocking: an async host calls it in a thread.
    ModelFailed, WindowFull, PromptError.
    """
    agent = Agent(
        session,
        model,
        approve=approve,
        planner=planner,
        show=show,
        note=note,
        window=window,
    )
    result = agent.turn(goal)
    while result.state == "open":
        if result.turns >= turns:
            return structs.replace(result, state="stopped")
        more = agent.turn("continue")
        is_stuck = not more.files and more.open_todos == result.open_todos
        result = AgentResult(
            "stopped" if is_stuck and more.state == "open" else more.state,
            result.answers + more.answers,
            result.plans + more.plans,
            more.question,
            result.usage + more.usage,
            result.turns + 1,
        )
    return result


def _wants_more(result: sightline.AnswerResult) -> bool:
    """Return whether the model has to answer again: after a refusal, for files that it asked for, and after
    an answer that ended early."""
    asked = result.answer.file_requests or result.answer.directory_requests
    return bool(result.refused or result.is_cut or asked)


def _question_of(results: list[sightline.AnswerResult]) -> str:
    """Return a question to the user: where is a file without which the work cannot go on?"""
    files = (found for result in results for found in result.files)
    return "\n".join(found.question for found in files if found.fallback == "ask_user")
