"""Functions that carry out the sub-tasks of the tests, and a process that runs a graph of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

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


def clash(work):
    """All edit the same line."""
    work.session.edit("app.py", "line 7\n", f"line of {work.task.id}\n")
    return "edited"


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
    settings = Settings(state_home=state, tasks_database=database or None, checkpoints="off")
    with sightline.open_session(root, id="p", settings=settings) as session:
        session.subtasks.run(
            runner=COMMAND if runner == "command" else six,
            isolation="shared" if runner == "shared" else None,
            concurrency=2,
        )


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.subtasks import carrying  # a name that every process can import

    os.environ["SIGHTLINE_ANSWERER"] = "off"
    carrying.main(*sys.argv[1:])
