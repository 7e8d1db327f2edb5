"""sightline agent and sightline chat: real processes, against local servers of providers."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from pathlib import Path

import pytest
from tests.cli.test_terminal import at_terminal
from tests.reference_agent.providers import Cut, Script, serving
from tests.reference_agent.test_agent import BATCH, GOAL, NAMES, NEW, OLD, PLAN, SECOND, TWO
from tests.support.examples import fully

from sightline.cli.answering import summary_printer

MODELS = ["anthropic:claude-haiku-4-5", "openai:gpt-5-mini", "openai-chat:gpt-5-mini"]


def environment(url):
    return {
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": f"{url}/v1",
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": url,
    }


@pytest.fixture
def shell(sl):
    for name in NAMES:
        sl.put(f"scripts/{name}", OLD)
    return sl


def texts(shell):
    return [(shell.root / "scripts" / name).read_text() for name in NAMES]


def started(shell, url, *words):
    before = {name: os.environ.get(name) for name in environment(url)}
    os.environ.update(environment(url))
    try:
        return shell.spawn(*words, own_group=True)
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def ran(shell, script, *words):
    """Run a command to its end: its exit code, its output, and what it wrote to stderr."""
    with serving(script) as url, started(shell, url, *words) as child:
        out, err = child.communicate()
    return child.returncode, out.decode(), err.decode()


def agent(model, goal, *more):
    return ("agent", "--yes", "--model", model, *more, goal)


@pytest.mark.wide
@pytest.mark.parametrize("model", [MODELS[0], *fully(*MODELS[1:])])
def test_a_goal_is_reached_by_one_command(shell, model):
    code, out, err = ran(shell, Script(BATCH, plan=PLAN), *agent(model, GOAL))
    assert (code, texts(shell)) == (0, [NEW] * 3), err
    assert out.count(BATCH["summary"]) == 1
    assert "+print(3)" in out
    assert re.search(
        r"^Done after 2 requests, [\d,]+ tokens in, [\d,]+ out, \$0\.\d{4}\.$", err, re.MULTILINE
    )
    back = re.search(r"To take this back: sightline (rewind .*)$", err, re.MULTILINE)
    assert back is not None
    assert shell(*back[1].split(), "--yes").code == 0
    assert texts(shell) == [OLD] * 3


@pytest.mark.full
@pytest.mark.wide
def test_the_json_of_a_goal_has_its_cost_and_what_is_proposed(shell):
    task = {"id": "docs", "goal": "Write it down"}
    answer = {**BATCH, "subTasks": [task], "commands": ["make test"], "nextSteps": ["Shall I?"]}
    code, out, _ = ran(shell, Script(answer, plan=PLAN), "--json", *agent(MODELS[0], GOAL))
    told = json.loads(out)
    assert (code, told["state"], told["requests"]) == (0, "done", 2)
    assert told["files"] == [f"scripts/{name}" for name in NAMES]
    assert (told["sub_tasks"][0]["id"], told["commands"][0]["command"]) == ("docs", "make test")
    assert float(told["cost"]) > 0
    assert told["schema"] == 1


@pytest.mark.wide
@pytest.mark.parametrize(
    ("model", "sign"),
    [
        pytest.param(MODELS[0], signal.SIGINT, marks=pytest.mark.full),
        pytest.param(MODELS[1], signal.SIGINT, marks=pytest.mark.full),
        (MODELS[2], signal.SIGKILL),
    ],
)
def test_a_goal_that_is_stopped_in_the_middle_of_a_stream_goes_on(shell, model, sign):
    script = Script(Cut(json.dumps(BATCH)), plan=PLAN)
    with serving(script) as url, started(shell, url, *agent(model, GOAL, "--session", "work")) as child:  # fmt: skip
        assert child.stdout.readline().decode() == f"{BATCH['summary']}\n"  # streamed
        os.killpg(child.pid, sign)
        _, err = child.communicate()
    assert texts(shell) == [OLD] * 3
    if sign == signal.SIGINT:
        assert child.returncode == 130, err
        again = f"sightline agent continue --model {model} --session work"
        assert err.decode().splitlines()[-1] == f"Stopped. To go on: {again}"

    resumed = Script(BATCH, plan=PLAN)
    code, _, told = ran(shell, resumed, *agent(model, "continue", "--session", "work"))
    assert (code, texts(shell)) == (0, [NEW] * 3), told
    [main] = resumed.main
    assert GOAL in main.texts  # the task, though nothing answered it
    assert f"The user asked last:\n- {GOAL}" in main.last


@pytest.mark.wide
def test_a_chat_asks_before_it_writes_and_goes_on_after_a_restart(shell):
    first, again = Script(TWO, plan=PLAN), Script(SECOND)
    words = ("chat", "--model", MODELS[2], "--session", "talk")
    with serving(first) as url:
        code, seen = at_terminal(shell, *words, answer=b"Change two scripts\ny\n\x04", env=environment(url))  # fmt: skip
    assert code == 0, seen
    assert texts(shell) == [NEW, OLD, OLD]
    for line in ("Did the first script.", "+print(3)", "Apply this?", "To do:\n- Change the second", "Next:\n- Shall I do the second?"):  # fmt: skip
        assert line in seen
    with serving(again) as url:
        code, seen = at_terminal(shell, *words, answer=b"continue\nn\ncontinue\n\x04", env=environment(url))  # fmt: skip
    assert texts(shell) == [NEW, OLD, OLD]
    assert "Apply this?" in seen


def test_without_a_terminal_nobody_can_be_asked(shell):
    for words in (("agent", "--model", "test", GOAL), ("chat", "--model", "test")):
        done = shell(*words)
        assert done.code == 2
        assert "The command has to ask, and stdin is no terminal. Pass --yes." in done.err
    assert shell("chat", "--yes", "--model", "test", "--json").code == 2
    assert shell("agent", "--yes", GOAL).code == 2


def test_without_the_extra_its_install_is_named(shell, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("sightline.reference_agent")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    monkeypatch.setitem(sys.modules, "pydantic_ai.models", None)
    monkeypatch.setitem(sys.modules, "pydantic_ai.direct", None)
    done = shell(*agent("test", GOAL))
    assert done.code == 1
    assert "Pydantic AI, which is not installed" in done.err
    assert "pip install '.[agent]'" in done.err


def test_a_model_that_answers_nonsense_ends_with_1(shell):
    done = shell(*agent("test", GOAL))  # a model of Pydantic AI that says "success (no tool calls)"
    assert (done.code, texts(shell)) == (1, [OLD] * 3)
    assert "The plan cannot be used" in done.err
    assert "The answer cannot be read" in done.err


def test_a_chat_goes_on_after_a_failure_and_ends_with_the_input(shell):
    done = shell("chat", "--yes", "--model", "test", stdin="hello\n\n")
    assert (done.code, texts(shell)) == (0, [OLD] * 3)
    assert "Stopped after 9 requests, " in done.err
    assert re.search(r"To go on: sightline chat --model test --session s-\w+$", done.err.rstrip())


def test_an_unknown_model_is_an_error_in_words(shell):
    done = shell(*agent("nowhere:x", GOAL))
    assert (done.code, done.err.splitlines()[-2]) == (
        1,
        "Error: The model nowhere:x cannot be used: Unknown model: nowhere:x",
    )


def test_a_session_of_another_agent_is_not_taken(shell):
    shell("read", "scripts/script1.py", "--session", "theirs")
    done = shell(*agent("test", GOAL, "--session", "theirs"))
    assert done.code == 2
    assert "belongs to the agent 'cli'" in done.err


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_the_summary_is_printed_as_it_comes(capsys, size):
    summary = 'Two "lines"\nand \\ a tab\t, a smile \U0001f600, and \x1b[31m red.'
    show = summary_printer()
    for answer in ({"summary": summary, "todos": ['"summary": "no"']}, {"summary": "Again."}):
        show("")
        text = json.dumps(answer)
        for at in range(0, len(text), size):
            show(text[at : at + size])
    assert capsys.readouterr().out == summary.replace("\x1b", "␛") + "\nAgain.\n"


def test_the_whole_agent_has_fewer_than_600_lines():
    source = Path(__file__).parents[2] / "src" / "sightline"
    files = {*(source / "reference_agent").glob("*.py"), source / "cli" / "chat.py"}
    files.remove(source / "reference_agent" / "runner.py")  # a sub-task's way to the agent
    assert sum(len(file.read_text().splitlines()) for file in files) < 600
