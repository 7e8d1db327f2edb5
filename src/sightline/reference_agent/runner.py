"""The reference agent as a runner of sub-tasks: the runner of "agent:MODEL" (pyproject.toml registers it)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sightline
from sightline.reference_agent.agent import run


class NotReached(Exception):
    """The agent ended without its goal. The message says why, for the result of the sub-task."""


def agent_runner(model: Any) -> Callable[[sightline.Work], sightline.TaskResult]:
    """Return a function that carries out a sub-task. It asks nobody: the sub-task was approved, and the
    guard holds the agent to its scope. model: a name or a model of Pydantic AI."""

    def carry_out(work: sightline.Work) -> sightline.TaskResult:
        result = run(work.session, work.prompt, model=model, approve=lambda _: not work.must_stop())
        if result.state != "done":
            why = f"with the question: {result.question}" if result.question else result.state
            raise NotReached(f"the agent ended {why}")
        todos = result.answers[-1].todos if result.answers else ()
        return sightline.TaskResult(
            result.summary,
            todos=tuple(sightline.ResultTodo(each.text, each.state, each.detail) for each in todos),
            tokens=result.usage.input_tokens + result.usage.output_tokens,
        )

    return carry_out
