"""Functions that carry out the sub-tasks of the tests, and a process that runs a graph of them."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

import sightline
from sightline.config.settings import Settings


def six(work):
    """Each adds a line to a file of its own and to a file that all share."""
    if work.task.id == "bad":
        raise ValueError("this cannot be done")
    number = list("atdfb").index(work.task.id[0]) if work.task.id[0] in "atdfb" else 5
    work.session.create(f"src/{work.task.id}.txt", f"made by {work.task.id}\n")
    if not work.task.scope:
        work.session.edit("app.py", f"line {5 * number + 2}\n", f"line of {work.task.id}\n")
    return f"did {work.task.id}"


def nothing(work):
    return None


BOTH = threading.Barrier(2)


def clash(work):
    """Two edit the same line, and each began before the other ended."""
    BOTH.wait(60)
    work.session.edit("app.py", "line 7\n", f"line of {work.task.id}\n")
    return "edited"


def answered(task, asked):
    """A scripted model: it answers the hand-over of a sub-task with one structured answer."""
    changes = [{"path": f"src/{task}.txt", "create": True, "content": f"made by {task}\n"}]
    if not any("You may write only" in text for text in asked.texts):
        line = 5 * "atdfb".index(task[0]) + 2
        edit = {"old": f"line {line}\n", "new": f"line of {task}\n"}
        changes.append({"path": "app.py", "edits": [edit]})
    todos = [{"text": f"look at {task}", "status": "done"}]
    return {"summary": f"did {task}", "todos": todos, "fileChanges": changes}


def agent(work):
    """The reference agent with a scripted model."""
    from tests.reference_agent.providers import Script, function_model

    from sightline.reference_agent.runner import agent_runner

    task = work.task.id
    plan = {"fileRequests": [{"patterns": ["app.py"]}]}
    script = Script(lambda asked: answered(task, asked), plan=plan)
    if task == "bad":
        script = Script(*["There is no JSON in this."] * 10)
    return agent_runner(function_model(script))(work)


COMMAND = [
    sys.executable,
    "-c",
    """
import os, sys
from pathlib import Path
task, prompt = os.environ["SIGHTLINE_SUBTASK"], sys.stdin.read()
assert f"# Sub-task {task}" in prompt, prompt
if task == "bad":
    print("it cannot be done")
    sys.exit(3)
Path("src").mkdir(exist_ok=True)
Path(f"src/{task}.txt").write_text(f"made by {task}\\n")
number = "atdfb".index(task[0])
if "You may write only" not in prompt:
    lines = Path("app.py").read_text().splitlines(keepends=True)
    lines[5 * number + 1] = f"line of {task}\\n"
    Path("app.py").write_text("".join(lines))
print("did", task)
""",
]


def main(root, state, runner, database):
    """Run the graph of the session p to its end."""
    runners: dict[str, Any] = {"command": COMMAND, "agent": agent}
    settings = Settings(state_home=state, tasks_database=database or None, checkpoints="off")
    with sightline.open_session(root, id="p", settings=settings) as session:
        session.subtasks.run(
            runner=runners.get(runner, six),
            isolation=runner if runner in ("shared", "remote") else None,
            concurrency=2,
        )


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.subtasks import carrying  # a name that every process can import

    os.environ["SIGHTLINE_ANSWERER"] = "off"
    carrying.main(*sys.argv[1:])
