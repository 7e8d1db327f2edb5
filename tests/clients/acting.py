"""What a scripted agent does, and the text it does it to."""

import json

from tests.clients.stub import Step

LINES = [f"line {number}\n" for number in range(1, 31)]
TEXT = "".join(LINES)
TWO_AT_ONCE = "cat notes.txt other.txt"
"""Of files printed like this the client's own guard knows nothing: it asks our hook."""

WAIT_S = 60
"""How long one agent waits for the other before the test fails."""


def read(path, before=None):
    return Step(tools=(("Read", {"file_path": path}),), before=before)


def edit(path, old, new, before=None):
    return Step(
        tools=(("Edit", {"file_path": path, "old_string": old, "new_string": new}),), before=before
    )


def write(path, content, before=None):
    return Step(tools=(("Write", {"file_path": path, "content": content}),), before=before)


def bash(command):
    return Step(tools=(("Bash", {"command": command}),))


def cell(path, id, source, before=None):
    given = {"notebook_path": path, "cell_id": id, "new_source": source}
    return Step(tools=(("NotebookEdit", given),), before=before)


def notebook(**sources):
    """A notebook of code cells by their ids."""
    code: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    cells = [{**code, "id": name, "source": [text]} for name, text in sources.items()]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def delegate(prompt):
    given = {"description": "a part", "prompt": prompt, "subagent_type": "general-purpose"}
    return Step(tools=(("Agent", given),))


def done(before=None):
    return Step("Done.", before=before)


def changed(**lines):
    """The text with some lines changed: changed(l3="three")."""
    new = {int(name[1:]): f"{text}\n" for name, text in lines.items()}
    return "".join(new.get(at, line) for at, line in enumerate(LINES, 1))


def saves(claude, path, text):
    """Return what a user does in an editor, for a step to be preceded by."""
    return lambda: claude.put(path, text)


def messages(run):
    """Return what the hooks told the user."""
    answers = [json.loads(hook["stdout"]) for hook in run.hooks if hook["stdout"].startswith("{")]
    return [each["systemMessage"] for each in answers if "systemMessage" in each]


def meet(*events):
    """Say that all but the last have come, and wait for the last."""
    *said, awaited = events
    for event in said:
        event.set()
    assert awaited.wait(WAIT_S), "the other agent did not come so far"
